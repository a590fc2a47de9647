"""How likely each step is in a simulated run, and the faults of each profile.

A weight is a whole number, so that the same seed gives the same run on every machine. A weight may
look at the world: what leads out of a standstill is likely, what only repeats itself is rare.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from impl.sim.world_of_steps import Step, Weight
from impl.world.partition_world import World


@dataclass(frozen=True)
class FaultProfile:
    """Weights of what goes wrong: crashes, expiring sessions of live processes, lost messages.

    Without ``clients`` nobody waits for acknowledgements, and nobody reads. ``without``: steps that
    never happen. ``fetch_sessions``: of answers within a session, to another epoch (KAFKA-9338).
    """

    crashes: int = 0
    sessions: int = 0
    losses: int = 0
    clients: bool = True
    fetch_sessions: int = 0
    without: frozenset[str] = frozenset()


PROFILES: dict[str, FaultProfile] = {
    "none": FaultProfile(),
    "crashes": FaultProfile(crashes=6),
    "sessions": FaultProfile(sessions=6),
    "lossy": FaultProfile(losses=60),
    "everything": FaultProfile(crashes=4, sessions=5, losses=30),
    "everything but clients": FaultProfile(crashes=4, sessions=5, losses=30, clients=False),
    "fetch sessions": FaultProfile(sessions=6, losses=30, fetch_sessions=300),
}

LIKELY = 300
USUAL = 100
SELDOM = 20
RARE = 3

USUAL_WEIGHTS: dict[str, int] = {
    "broker_starts": USUAL,
    "broker_reconnects": USUAL // 2,
    "broker_checkpoints_hw": SELDOM,
    "controller_registers": LIKELY,
    "controller_learns_outcome": LIKELY,
    "controller_checks_outcome": USUAL,
    "controller_resigns": USUAL // 2,
    "controller_removes_replica": USUAL,
    "leader_and_isr_arrives": LIKELY // 2,
    "follower_sends_epoch_request": LIKELY,
    "leader_answers_epoch": LIKELY,
    "follower_truncates": LIKELY,
    "follower_sends_fetch": LIKELY,
    "leader_answers_fetch": LIKELY,
    "follower_appends": LIKELY,
    "leader_advances_hw": LIKELY,
    "leader_learns_isr_is_written": LIKELY,
    "leader_reads_isr_back": USUAL,
    "leader_gives_up_isr_write": USUAL // 2,
    "leader_shrink_is_refused": SELDOM,
    "leader_expands_isr": LIKELY,
    "leader_expand_is_refused": SELDOM,
}

ENOUGH_UNCOMMITTED = 3
"""A leader with so many records above its high watermark is rarely given another one."""


JOINED_BY = "+"
SWARM = "swarm"


def profile_named(name: str, seed: int = 0) -> FaultProfile:
    """A fault profile by name, or several, as in ``crashes+lossy``; ValueError lists the names.

    ``swarm`` is another one for each seed.
    """
    if name == SWARM:
        return swarm(seed)
    parts = name.split(JOINED_BY)
    if not {*parts} <= {*PROFILES}:
        known = ", ".join((*PROFILES, SWARM))
        raise ValueError(f"no fault profile {name!r}; there are {known}")
    chosen = [PROFILES[part] for part in parts]
    return FaultProfile(
        crashes=max(one.crashes for one in chosen),
        sessions=max(one.sessions for one in chosen),
        losses=max(one.losses for one in chosen),
        clients=all(one.clients for one in chosen),
        fetch_sessions=max(one.fetch_sessions for one in chosen),
    )


MOST_OFTEN = FaultProfile(crashes=12, sessions=12, losses=120)
"""How often each kind of fault is at most, in a swarm."""

LEFT_OUT = ("broker_checkpoints_hw", "controller_removes_replica", "leader_shrinks_isr",
            "leader_expands_isr")  # fmt: skip
"""Steps that a run may do without; a bug that another one of them hides shows itself then."""


def swarm(seed: int) -> FaultProfile:
    """The profile of one run of a swarm: every fault is there or not, often or seldom.

    Runs in which all faults strike at once are all alike: crashes end what losses began. Groce et
    al., "Swarm testing" (2012): leave out half of what may happen, another half each time.
    """
    chance = random.Random(f"swarm {seed}")

    def some(most: int) -> int:
        return chance.choice((0, most // 12, most // 4, most))

    return FaultProfile(
        crashes=some(MOST_OFTEN.crashes),
        sessions=some(MOST_OFTEN.sessions),
        losses=some(MOST_OFTEN.losses),
        clients=chance.random() < 0.5,
        without=frozenset(one for one in LEFT_OUT if chance.random() < 0.25),
    )


@cache
def settled_weights(faults: FaultProfile) -> dict[str, int]:
    """The weights that a profile settles once and for all, whatever the world is like."""
    lost = (
        "controller_reply_to_registration_is_lost",
        "isr_answer_is_lost",
        "leader_and_isr_is_lost",
    )
    heard = ("leader_acknowledges", "leader_acknowledges_acks_all", "consumer_reads")
    settled = {
        **USUAL_WEIGHTS,
        "broker_crashes": faults.crashes,
        "leader_answers_fetch_in_session": faults.fetch_sessions,
        "controller_node_is_deleted": min(faults.sessions, 1),
        **dict.fromkeys((*lost, "fetch_is_lost"), faults.losses),
        **dict.fromkeys(heard, RARE * 3 if faults.clients else 0),
    }
    if not faults.clients:
        settled["leader_appends_acks_all"] = 0
    return {**settled, **dict.fromkeys(faults.without, 0)}


def weight(world: World, step: Step, faults: FaultProfile) -> int:
    """How likely an enabled step is to be taken next, relative to the others; 0 is never."""
    settled = settled_weights(faults).get(step.name)
    return _BY_LOOKING[step.name](world, step, faults) if settled is None else settled


def weights_in(world: World, faults: FaultProfile) -> list[tuple[str, Weight]]:
    """The names of the steps that are taken at all, each with its weight in a world."""
    settled = settled_weights(faults)
    by_looking: Weight = lambda step: _BY_LOOKING[step.name](world, step, faults)  # noqa: E731
    each = ((name, settled.get(name, by_looking)) for name in world.kinds)
    return [(name, weight) for name, weight in each if weight]


def _expires(world: World, step: Step, faults: FaultProfile) -> int:
    return faults.sessions if world.hosts[step.args[0]].up else USUAL


def _reads_epoch(world: World, step: Step, _: FaultProfile) -> int:
    return LIKELY if world.controllers[step.args[0]].candidacy is None else RARE


def _reads_partition(world: World, step: Step, _: FaultProfile) -> int:
    return LIKELY if world.controllers[step.args[0]].cached is None else SELDOM


def _elects(world: World, step: Step, _: FaultProfile) -> int:
    return USUAL if _leaderless(world, step.args[0]) else RARE


def _informs(world: World, step: Step, _: FaultProfile) -> int:
    return USUAL if _uninformed(world, step.args[1]) else RARE


def _appends(world: World, step: Step, _: FaultProfile) -> int:
    log = world.hosts[step.args[0]].log
    return USUAL if log.log_end - log.high_watermark < ENOUGH_UNCOMMITTED else RARE


def _shrinks(world: World, step: Step, _: FaultProfile) -> int:
    return RARE if world.hosts[step.args[1]].up else USUAL


_BY_LOOKING: dict[str, Callable[[World, Step, FaultProfile], int]] = {
    "session_expires": _expires,
    "controller_reads_epoch": _reads_epoch,
    "controller_reads_partition": _reads_partition,
    "controller_elects_leader": _elects,
    "controller_issues_leader_and_isr": _informs,
    "leader_appends": _appends,
    "leader_appends_acks_all": _appends,
    "leader_shrinks_isr": _shrinks,
}


def _leaderless(world: World, broker: int) -> bool:
    cached = world.controllers[broker].cached
    return cached is None or cached.state.leader not in cached.live_ids


def _uninformed(world: World, replica: int) -> bool:
    epoch = world.registered_state.leader_epoch
    return world.hosts[replica].partition.leader_epoch < epoch

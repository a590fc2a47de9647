"""How likely each step is in a simulated run, and what goes wrong in which profile.

A weight is a whole number, so that the same seed gives the same run on every machine. A weight may
look at the world: what leads out of a standstill is likely, what only repeats itself is rare.
"""

from __future__ import annotations

from dataclasses import dataclass

from impl.world.steps import Step
from impl.world.world import World


@dataclass(frozen=True)
class FaultProfile:
    """Weights of what goes wrong: crashes, expiring sessions of live processes, lost messages.

    Without ``clients`` nobody waits for acknowledgements, and nobody reads.
    """

    crashes: int = 0
    sessions: int = 0
    losses: int = 0
    clients: bool = True


PROFILES: dict[str, FaultProfile] = {
    "none": FaultProfile(),
    "crashes": FaultProfile(crashes=6),
    "sessions": FaultProfile(sessions=6),
    "lossy": FaultProfile(losses=60),
    "everything": FaultProfile(crashes=4, sessions=5, losses=30),
    "everything but clients": FaultProfile(crashes=4, sessions=5, losses=30, clients=False),
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
    "follower_asks_epoch": LIKELY,
    "leader_answers_epoch": LIKELY,
    "follower_truncates": LIKELY,
    "follower_asks_records": LIKELY,
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


def profile_named(name: str) -> FaultProfile:
    """A fault profile by name, or several, as in ``crashes+lossy``; ValueError lists the names."""
    parts = name.split(JOINED_BY)
    if not {*parts} <= {*PROFILES}:
        raise ValueError(f"no fault profile {name!r}; there are {', '.join(PROFILES)}")
    chosen = [PROFILES[part] for part in parts]
    return FaultProfile(
        crashes=max(one.crashes for one in chosen),
        sessions=max(one.sessions for one in chosen),
        losses=max(one.losses for one in chosen),
        clients=all(one.clients for one in chosen),
    )


def weight(world: World, step: Step, faults: FaultProfile) -> int:
    """How likely an enabled step is to be taken next, relative to the others; 0 is never."""
    usual = USUAL_WEIGHTS.get(step.name)
    if usual is not None:
        return usual
    if step.name == "controller_node_is_deleted":
        return min(faults.sessions, 1)
    broker = world.brokers[step.args[0]]
    controller = broker.controller
    match step.name:
        case "broker_crashes":
            return faults.crashes
        case "session_expires":
            return faults.sessions if broker.up else USUAL
        case (
            "controller_reply_is_lost"
            | "isr_answer_is_lost"
            | "leader_and_isr_is_lost"
            | "fetch_is_lost"
        ):
            return faults.losses
        case "controller_reads_epoch":
            return LIKELY if controller.read is None else RARE
        case "controller_reads_partition":
            return LIKELY if controller.cached is None else SELDOM
        case "controller_elects_leader":
            return USUAL if _leaderless(world, step.args[0]) else RARE
        case "controller_informs":
            return USUAL if _uninformed(world, step.args[1]) else RARE
        case "leader_acknowledges" | "leader_acknowledges_for_isr" | "consumer_reads":
            return RARE * 3 if faults.clients else 0
        case "leader_appends_for_isr" if not faults.clients:
            return 0
        case "leader_appends" | "leader_appends_for_isr":
            partition = broker.replicas.partition
            waiting = partition.log.end - partition.hw
            return USUAL if waiting < ENOUGH_UNCOMMITTED else RARE
        case "leader_shrinks_isr":
            return RARE if world.brokers[step.args[1]].up else USUAL
    raise ValueError(f"no weight for {step.name}")


def _leaderless(world: World, broker: int) -> bool:
    cached = world.brokers[broker].controller.cached
    return cached is None or cached.state.leader not in cached.live_ids


def _uninformed(world: World, replica: int) -> bool:
    state, _ = world.client.partition_state()
    return world.brokers[replica].replicas.partition.leader_epoch < state.leader_epoch

"""Weights of the steps in a run of one partition, and the faults of each profile.

A weight may depend on the world: steps out of a standstill are likely, repetitions are rare.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from impl.sim.simulation import Step
from impl.sim.simulator import Faults, Profiles, Weight
from impl.world.cluster import PartitionCluster

PROFILES: dict[str, Faults] = {
    "none": {},
    "crashes": {"crashes": 6},
    "sessions": {"sessions": 6},
    "lossy": {"losses": 60},
    "everything": {"crashes": 4, "sessions": 5, "losses": 30},
    "everything but clients": {"crashes": 4, "sessions": 5, "losses": 30, "clients": 0},
    "fetch sessions": {"sessions": 6, "losses": 30, "fetch_sessions": 300},
}
"""Crashes, expiring sessions of live processes, lost messages; ``fetch_sessions`` are answers
within a session, to another epoch (KAFKA-9338). Without ``clients`` nobody waits for
acknowledgements, and nobody reads."""

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


LEFT_OUT = ("broker_checkpoints_hw", "controller_removes_replica", "leader_shrinks_isr",
            "leader_expands_isr")  # fmt: skip
"""Steps that a run may do without; a bug that another one of them hides shows itself then."""


def _swarm(chance: random.Random) -> Faults:
    """The profile of one run of a swarm: every fault is there or not, often or seldom."""
    most = {"crashes": 12, "sessions": 12, "losses": 120}
    some = {one: chance.choice((0, top // 12, top // 4, top)) for one, top in most.items()}
    clients = {} if chance.random() < 0.5 else {"clients": 0}
    return some | clients | {one: 0 for one in LEFT_OUT if chance.random() < 0.25}


REPLICATION_FAULTS = Profiles("", PROFILES, _swarm)


def weights_in(world: PartitionCluster, faults: Faults) -> dict[str, Weight]:
    """The weights of the steps by name; some depend on the world."""
    sessions, losses = faults.get("sessions", 0), faults.get("losses", 0)
    lost = (
        "controller_reply_to_registration_is_lost",
        "isr_answer_is_lost",
        "leader_and_isr_is_lost",
        "fetch_is_lost",
    )
    heard = ("leader_acknowledges", "leader_acknowledges_acks_all", "consumer_reads")
    weights: dict[str, Weight] = {
        **{name: partial(by_looking, world) for name, by_looking in _BY_LOOKING.items()},
        **USUAL_WEIGHTS,
        "broker_crashes": faults.get("crashes", 0),
        "session_expires": lambda step: sessions if world.hosts[step.args[0]].up else USUAL,
        "leader_answers_fetch_in_session": faults.get("fetch_sessions", 0),
        "controller_node_is_deleted": min(sessions, 1),
        **dict.fromkeys(lost, losses),
        **dict.fromkeys(heard, RARE * 3),
    }
    if "clients" in faults:
        weights |= dict.fromkeys((*heard, "leader_appends_acks_all"), 0)
    weights |= {name: weight for name, weight in faults.items() if name in weights}
    return {name: weights[name] for name in world.kinds}


def _epoch_read_weight(world: PartitionCluster, step: Step) -> int:
    return LIKELY if world.controllers[step.args[0]].candidacy is None else RARE


def _partition_read_weight(world: PartitionCluster, step: Step) -> int:
    return LIKELY if world.controllers[step.args[0]].cached is None else SELDOM


def _election_weight(world: PartitionCluster, step: Step) -> int:
    return USUAL if _leaderless(world, step.args[0]) else RARE


def _leader_and_isr_weight(world: PartitionCluster, step: Step) -> int:
    return USUAL if _uninformed(world, step.args[1]) else RARE


def _append_weight(world: PartitionCluster, step: Step) -> int:
    log = world.hosts[step.args[0]].log
    return USUAL if log.log_end - log.high_watermark < ENOUGH_UNCOMMITTED else RARE


def _isr_shrink_weight(world: PartitionCluster, step: Step) -> int:
    return RARE if world.hosts[step.args[1]].up else USUAL


_BY_LOOKING: dict[str, Callable[[PartitionCluster, Step], int]] = {
    "controller_reads_epoch": _epoch_read_weight,
    "controller_reads_partition": _partition_read_weight,
    "controller_elects_leader": _election_weight,
    "controller_issues_leader_and_isr": _leader_and_isr_weight,
    "leader_appends": _append_weight,
    "leader_appends_acks_all": _append_weight,
    "leader_shrinks_isr": _isr_shrink_weight,
}


def _leaderless(world: PartitionCluster, broker: int) -> bool:
    cached = world.controllers[broker].cached
    return cached is None or cached.state.leader not in cached.live_ids


def _uninformed(world: PartitionCluster, replica: int) -> bool:
    epoch = world.registered_state.leader_epoch
    return world.hosts[replica].partition.leader_epoch < epoch

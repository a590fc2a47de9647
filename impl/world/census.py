"""Who does what in a world at this moment: so that only steps worth asking about are asked about.

A group is a list of arguments, sorted. A step that is not among its group's is refused by the very
first thing that its refusal looks at (a role, a controllership, what is on a connection); whether
one that is among them may be taken, its refusal says. So a group only saves time, and a test holds
every answer to the full grid.
"""

from __future__ import annotations

from impl.world.clients import WORTH_ASKING
from impl.world.cluster import PartitionCluster
from impl.world.replicas import Replicas

Arguments = tuple[int, ...]
Census = dict[str, list[Arguments]]

GROUP_OF: dict[str, str] = {
    "broker_crashes": "up",
    "broker_starts": "down",
    "broker_reconnects": "cut off",
    "broker_checkpoints_hw": "ahead of their checkpoints",
    "session_expires": "with a session",
    "controller_reads_epoch": "candidates",
    "controller_registers": "readers",
    "controller_learns_outcome": "answered",
    "controller_reply_is_lost": "answered",
    "controller_checks_outcome": "answered",
    "controller_resigns": "controllers",
    "controller_reads_partition": "controllers",
    "controller_elects_leader": "controllers and members",
    "controller_removes_replica": "controllers and members",
    "controller_informs": "registered controllers and each",
    "leader_appends": "leaders",
    "leader_appends_for_isr": "leaders",
    "leader_advances_hw": "leaders",
    "leader_acknowledges": "leaders and offsets",
    "leader_acknowledges_for_isr": "leaders and offsets",
    "consumer_reads": "leaders and offsets",
    "leader_shrinks_isr": "leaders and members",
    "leader_shrink_is_refused": "leaders and members",
    "leader_expands_isr": "leaders and strangers",
    "leader_expand_is_refused": "leaders and strangers",
    "leader_learns_isr_is_written": "isr writers",
    "isr_answer_is_lost": "isr writers",
    "leader_reads_isr_back": "isr writers",
    "leader_gives_up_isr_write": "isr writers",
    "follower_asks_epoch": "followers",
    "follower_asks_records": "followers",
    "leader_answers_epoch": "asked epoch",
    "follower_truncates": "answered epoch",
    "leader_answers_fetch": "asked records",
    "leader_answers_fetch_in_session": "asked records",
    "follower_appends": "answered records",
    "fetch_is_lost": "connections in use",
}
"""Step -> the group that its arguments are of; a step that is not here is asked about always."""

NOBODY: list[Arguments] = []


def census(world: PartitionCluster) -> Census:
    """The groups; one that is missing is empty."""
    up: list[Arguments] = []
    down: list[Arguments] = []
    cut_off: list[Arguments] = []
    with_session: list[Arguments] = []
    ahead: list[Arguments] = []
    candidates: list[Arguments] = []
    answered: list[Arguments] = []
    readers: list[Arguments] = []
    followers: list[Arguments] = []
    writers: list[Arguments] = []
    found: Census = {
        "up": up, "down": down, "cut off": cut_off, "with a session": with_session,
        "ahead of their checkpoints": ahead, "candidates": candidates, "answered": answered,
        "readers": readers, "followers": followers, "isr writers": writers,
    }  # fmt: skip
    sessions, owner = world.zookeeper.sessions, world.controller_session
    for number, broker in world.brokers.items():
        one = (number,)
        controller, replicas = broker.controller, broker.replicas
        if broker.session in sessions:
            with_session.append(one)
        elif broker.up:
            cut_off.append(one)
        if broker.up:
            up.append(one)
            if broker.checkpoint.offset != replicas.log.high_watermark:
                ahead.append(one)
        else:
            down.append(one)
        if controller.belief is not None:
            _controller(world, number, owner == broker.session, found)
        elif owner is None and broker.up:
            candidates.append(one)
        if controller.reply is not None:
            answered.append(one)
        elif controller.candidacy is not None:
            readers.append(one)
        if replicas.role == "follower":
            followers.append(one)
        elif replicas.role == "leader":
            if replicas.isr_write is None:
                _leader(number, world.assignment, replicas, found)
            else:
                writers.append(one)
            end = len(broker.log.records)  # a locked leader still answers producers of before
            found.setdefault("leaders and offsets", []).extend(
                [(number, offset) for offset in range(max(end - WORTH_ASKING, 0), end)]
            )
    _connections(world, found)
    return found


def _controller(world: PartitionCluster, number: int, is_registered: bool, found: Census) -> None:
    found.setdefault("controllers", []).append((number,))
    if is_registered:
        found["registered controllers and each"] = [(number, one) for one in world.assignment]
    cached = world.brokers[number].controller.cached
    if cached is not None:
        found.setdefault("controllers and members", []).extend(
            [(number, one) for one in sorted(cached.state.isr)]
        )


def _leader(number: int, everybody: tuple[int, ...], replicas: Replicas, found: Census) -> None:
    found.setdefault("leaders", []).append((number,))
    isr = replicas.partition.isr
    for other in everybody:
        if other != number:
            group = "leaders and members" if other in isr else "leaders and strangers"
            found.setdefault(group, []).append((number, other))


def _connections(world: PartitionCluster, found: Census) -> None:
    for (follower, leader), slot in world.network.fetch.items():
        if slot is None:
            continue
        found.setdefault("connections in use", []).append((follower, leader))
        what = "epoch" if slot.asks_epoch else "records"
        if slot.reply is None:
            found.setdefault(f"asked {what}", []).append((leader, follower))
        else:
            found.setdefault(f"answered {what}", []).append((follower, leader))
    for group in ("asked records", "asked epoch"):
        if group in found:
            found[group].sort()

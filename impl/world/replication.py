"""Steps of replication: epoch questions, fetches, the high watermark."""

from __future__ import annotations

from impl.broker.partition import Role
from impl.requests import AnsweredEpoch, AnsweredRecords, AskedEpoch, AskedRecords, Errors
from impl.world.cluster import Cluster
from impl.world.steps import (
    ISR_IS_UNLOCKED,
    LEADS,
    PROCESS_IS_UP,
    StepKind,
    each_broker,
    each_pair,
)

FOLLOWS = "the broker follows a leader"
IDLE = "the connection to the leader is idle"


def _leads_refusal(world: Cluster, broker: int) -> str | None:
    partition = world.brokers[broker].replicas.partition
    if not partition.leads:
        return LEADS
    return ISR_IS_UNLOCKED if partition.locked else None


def _answers_refusal(world: Cluster, leader: int) -> str | None:
    """A process answers nothing while it is down, nor about a partition that is locked."""
    server = world.brokers[leader]
    if not server.up:
        return PROCESS_IS_UP
    return ISR_IS_UNLOCKED if server.replicas.partition.locked else None


# A follower asks


def _asks_epoch_refusal(world: Cluster, broker: int) -> str | None:
    partition = world.brokers[broker].replicas.partition
    if partition.role is not Role.FOLLOWER:
        return FOLLOWS
    if not partition.truncating:
        return "the follower has yet to compare its log with the leader's"
    return None if world.network.fetch[broker, partition.leader] is None else IDLE


def follower_asks_epoch(world: Cluster, broker: int) -> None:
    """OffsetForLeaderEpoch goes out."""
    replicas = world.brokers[broker].replicas
    world.network.fetch[broker, replicas.partition.leader] = replicas.fetcher.ask_epoch()


def _asks_records_refusal(world: Cluster, broker: int) -> str | None:
    partition = world.brokers[broker].replicas.partition
    if partition.role is not Role.FOLLOWER:
        return FOLLOWS
    if partition.truncating:
        return "the follower has compared its log with the leader's"
    return None if world.network.fetch[broker, partition.leader] is None else IDLE


def follower_asks_records(world: Cluster, broker: int) -> None:
    """A fetch from the log end goes out."""
    replicas = world.brokers[broker].replicas
    world.network.fetch[broker, replicas.partition.leader] = replicas.fetcher.ask_records()


# A leader answers


def _answers_epoch_refusal(world: Cluster, leader: int, follower: int) -> str | None:
    if not isinstance(world.network.fetch[follower, leader], AskedEpoch):
        return "the follower has asked for the end of an epoch"
    return _answers_refusal(world, leader)


def leader_answers_epoch(world: Cluster, leader: int, follower: int) -> None:
    """The answer goes out; an error makes the follower ask again."""
    question = world.network.fetch[follower, leader]
    assert isinstance(question, AskedEpoch)
    answer = world.brokers[leader].replicas.last_offset_for_leader_epoch(question)
    world.network.fetch[follower, leader] = None if isinstance(answer, Errors) else answer


def _answers_fetch_refusal(world: Cluster, leader: int, follower: int) -> str | None:
    if not isinstance(world.network.fetch[follower, leader], AskedRecords):
        return "the follower has asked for records"
    return _answers_refusal(world, leader)


def leader_answers_fetch(world: Cluster, leader: int, follower: int) -> None:
    """The answer goes out, and the leader notes where the follower is."""
    question = world.network.fetch[follower, leader]
    assert isinstance(question, AskedRecords)
    answer = world.brokers[leader].replicas.fetch_for_follower(follower, question)
    world.network.fetch[follower, leader] = None if isinstance(answer, Errors) else answer


# The follower applies the answer


def _truncates_refusal(world: Cluster, follower: int, leader: int) -> str | None:
    if not isinstance(world.network.fetch[follower, leader], AnsweredEpoch):
        return "the leader's answer about an epoch is on its way to the follower"
    return None if world.brokers[follower].up else PROCESS_IS_UP


def follower_truncates(world: Cluster, follower: int, leader: int) -> None:
    """KIP-101, KIP-279: cut what the leader does not have."""
    answer = world.network.fetch[follower, leader]
    assert isinstance(answer, AnsweredEpoch)
    world.network.fetch[follower, leader] = None
    world.brokers[follower].replicas.fetcher.truncate(leader, answer)


def _appends_refusal(world: Cluster, follower: int, leader: int) -> str | None:
    if not isinstance(world.network.fetch[follower, leader], AnsweredRecords):
        return "the leader's answer to a fetch is on its way to the follower"
    return None if world.brokers[follower].up else PROCESS_IS_UP


def follower_appends(world: Cluster, follower: int, leader: int) -> None:
    """Append what was fetched; take the high watermark along."""
    answer = world.network.fetch[follower, leader]
    assert isinstance(answer, AnsweredRecords)
    world.network.fetch[follower, leader] = None
    world.brokers[follower].replicas.fetcher.append(leader, answer)


def _fetch_is_lost_refusal(world: Cluster, follower: int, leader: int) -> str | None:
    if world.network.fetch[follower, leader] is None:
        return "something is on the connection from the follower to the leader"
    return None


def fetch_is_lost(world: Cluster, follower: int, leader: int) -> None:
    """A question or an answer never arrives; the follower may ask again."""
    world.network.fetch[follower, leader] = None


# The leader's timers


def _advances_refusal(world: Cluster, broker: int) -> str | None:
    partition = world.brokers[broker].replicas.partition
    refused = _leads_refusal(world, broker)
    if refused is None and partition.high_watermark_candidate() <= partition.hw:
        return "every ISR member is known to reach beyond the high watermark"
    return refused


def leader_advances_hw(world: Cluster, broker: int) -> None:
    """Commit what every ISR member is known to have."""
    world.brokers[broker].replicas.partition.advance_high_watermark()


BROKER = ("broker",)
TO_FOLLOWER = ("leader", "follower")
TO_LEADER = ("follower", "leader")

KINDS = (
    StepKind("follower_asks_epoch", BROKER, each_broker, _asks_epoch_refusal, follower_asks_epoch),
    StepKind(
        "leader_answers_epoch", TO_FOLLOWER, each_pair, _answers_epoch_refusal, leader_answers_epoch
    ),
    StepKind("follower_truncates", TO_LEADER, each_pair, _truncates_refusal, follower_truncates),
    StepKind(
        "follower_asks_records", BROKER, each_broker, _asks_records_refusal, follower_asks_records
    ),
    StepKind(
        "leader_answers_fetch", TO_FOLLOWER, each_pair, _answers_fetch_refusal, leader_answers_fetch
    ),
    StepKind("follower_appends", TO_LEADER, each_pair, _appends_refusal, follower_appends),
    StepKind("fetch_is_lost", TO_LEADER, each_pair, _fetch_is_lost_refusal, fetch_is_lost),
    StepKind("leader_advances_hw", BROKER, each_broker, _advances_refusal, leader_advances_hw),
)

"""Steps of replication: appends, epoch questions, fetches, the high watermark and the ISR."""

from __future__ import annotations

from impl.broker.partition import Role
from impl.requests import AnsweredEpoch, AnsweredRecords, AskedEpoch, AskedRecords, Errors
from impl.world.cluster import Cluster
from impl.world.steps import (
    LEADS,
    PROCESS_IS_UP,
    SESSION_IS_ALIVE,
    VERSION_IS_CURRENT,
    VERSION_IS_OLD,
    StepKind,
    each_broker,
    each_pair,
)

FOLLOWS = "the broker follows a leader"
IDLE = "the connection to the leader is idle"


def _leads_refusal(world: Cluster, broker: int) -> str | None:
    return None if world.brokers[broker].replicas.partition.leads else LEADS


def leader_appends(world: Cluster, broker: int) -> None:
    """A producer's record: the next id of the world, in the leader's epoch."""
    partition = world.brokers[broker].replicas.partition
    partition.log.append((world.next_record, partition.leader_epoch))
    world.next_record += 1


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
    return None if world.brokers[leader].up else PROCESS_IS_UP


def leader_answers_epoch(world: Cluster, leader: int, follower: int) -> None:
    """The answer goes out; an error makes the follower ask again."""
    question = world.network.fetch[follower, leader]
    assert isinstance(question, AskedEpoch)
    answer = world.brokers[leader].replicas.last_offset_for_leader_epoch(question)
    world.network.fetch[follower, leader] = None if isinstance(answer, Errors) else answer


def _answers_fetch_refusal(world: Cluster, leader: int, follower: int) -> str | None:
    if not isinstance(world.network.fetch[follower, leader], AskedRecords):
        return "the follower has asked for records"
    return None if world.brokers[leader].up else PROCESS_IS_UP


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
    if not partition.leads:
        return LEADS
    if partition.high_watermark_candidate() <= partition.hw:
        return "every ISR member is known to reach beyond the high watermark"
    return None


def leader_advances_hw(world: Cluster, broker: int) -> None:
    """Commit what every ISR member is known to have."""
    world.brokers[broker].replicas.partition.advance_high_watermark()


def _lagging_refusal(world: Cluster, leader: int, replica: int) -> str | None:
    server = world.brokers[leader]
    partition = server.replicas.partition
    if not partition.leads:
        return LEADS
    if not server.session_alive:
        return SESSION_IS_ALIVE
    if replica not in partition.isr:
        return "the replica is in the leader's ISR"
    if not partition.lags(replica):
        return "the replica is not known to reach the leader's log end"
    return None


def _joining_refusal(world: Cluster, leader: int, replica: int) -> str | None:
    server = world.brokers[leader]
    partition = server.replicas.partition
    if not partition.leads:
        return LEADS
    if not server.session_alive:
        return SESSION_IS_ALIVE
    if replica in partition.isr:
        return "the replica is not in the leader's ISR"
    if not partition.may_join(replica):
        return "the replica reaches the high watermark and the start of the leader's epoch"
    return None


def version_is_current(world: Cluster, leader: int) -> bool:
    """The race that a conditional write is about: who wrote the state last?"""
    return world.client.partition_version() == world.brokers[leader].replicas.partition.zk_version


def _shrinks_refusal(world: Cluster, leader: int, replica: int) -> str | None:
    refused = _lagging_refusal(world, leader, replica)
    return refused or (None if version_is_current(world, leader) else VERSION_IS_CURRENT)


def _shrink_is_refused_refusal(world: Cluster, leader: int, replica: int) -> str | None:
    refused = _lagging_refusal(world, leader, replica)
    return refused or (VERSION_IS_OLD if version_is_current(world, leader) else None)


def shrinks(world: Cluster, leader: int, replica: int) -> None:
    """Drop a lagging follower by a conditional write; a stale version is refused."""
    world.brokers[leader].replicas.shrink_isr(replica)


def _expands_refusal(world: Cluster, leader: int, replica: int) -> str | None:
    refused = _joining_refusal(world, leader, replica)
    return refused or (None if version_is_current(world, leader) else VERSION_IS_CURRENT)


def _expand_is_refused_refusal(world: Cluster, leader: int, replica: int) -> str | None:
    refused = _joining_refusal(world, leader, replica)
    return refused or (VERSION_IS_OLD if version_is_current(world, leader) else None)


def expands(world: Cluster, leader: int, replica: int) -> None:
    """Take in a follower that caught up, likewise."""
    world.brokers[leader].replicas.expand_isr(replica)


BROKER = ("broker",)
TO_FOLLOWER = ("leader", "follower")
TO_LEADER = ("follower", "leader")
MEMBER = ("leader", "replica")

KINDS = (
    StepKind("leader_appends", BROKER, each_broker, _leads_refusal, leader_appends),
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
    StepKind("leader_shrinks_isr", MEMBER, each_pair, _shrinks_refusal, shrinks),
    StepKind("leader_shrink_is_refused", MEMBER, each_pair, _shrink_is_refused_refusal, shrinks),
    StepKind("leader_expands_isr", MEMBER, each_pair, _expands_refusal, expands),
    StepKind("leader_expand_is_refused", MEMBER, each_pair, _expand_is_refused_refusal, expands),
)

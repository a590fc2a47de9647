"""Answers about a broker's decision on a request (truncation, replica_manager)."""

from __future__ import annotations

from typing import Any

from conformance.vectors.implementation.batch_log import LogEnds, no_client
from conformance.vectors.implementation.fetching import fetch_state
from conformance.vectors.implementation.hosted_broker import (
    DIRECTORY,
    ME,
    OTHER,
    PARTITION,
    HostedBroker,
)
from conformance.vectors.implementation.stage import shown_state, state_of
from conformance.vectors.questions import (
    Answer,
    Question,
    given,
    refused_truncation,
    release,
    under,
)
from impl.core import answers
from impl.core.partition import Partition
from impl.core.requests import PartitionMetadata, PartitionStop, StopReplica, UpdateMetadata
from impl.core.truncation import (
    EpochEnd,
    FetchOutOfRange,
    divergence,
    follower_truncation,
)
from impl.log.checkpoint_file import OffsetCheckpoint
from impl.log.leader_epoch_cache import UNDEFINED, LeaderEpochFileCache
from impl.znodes import TopicPartition


def truncation(question: Question) -> dict[str, Any]:
    """Where a follower truncates its log after its leader's answer."""
    asked = given(question)
    if "error" in asked:
        return refused_truncation(question, fetch_state)
    known = {int(epoch): tuple(end) for epoch, end in asked["followerEndOffsetFor"].items()}
    offset, done = follower_truncation(
        EpochEnd(asked["leaderReply"]["epoch"], asked["leaderReply"]["endOffset"]),
        asked["followerLeo"],
        asked["followerHw"],
        asked["followerLatestEpoch"],
        lambda epoch: known.get(epoch, (UNDEFINED, UNDEFINED)),
        release(question),
    )
    return {"truncateTo": offset, "completed": done}


def leader_fetch_validation(question: Question) -> dict[str, Any]:
    """Whether a follower's log diverges from its leader's, by a fetch response."""
    asked = given(question)
    cache = LeaderEpochFileCache(tuple((epoch, start) for epoch, start in asked["epochCache"]))
    last, offset = asked["lastFetchedEpoch"], asked["fetchOffset"]
    if last is None:  # it has no epoch: the offset alone is looked at, when the log is read
        inside = asked["logStart"] <= offset <= asked["leo"]
        return {"diverging": None} if inside else {"error": "OFFSET_OUT_OF_RANGE"}
    try:
        found = divergence(
            last, offset, asked["logStart"], lambda epoch: cache.end_offset_for(epoch, asked["leo"])
        )
    except FetchOutOfRange:
        return {"error": "OFFSET_OUT_OF_RANGE"}
    return {"diverging": None if found is None else list(found)}


def broker_epoch(question: Question) -> dict[str, Any]:
    """A request with the broker epoch that its sender knows."""
    asked = given(question)
    try:
        error = answers.broker_epoch_error(asked["request"], asked["current"], release(question))
    except answers.EpochFromTheFuture:
        error = "IllegalStateException"
    return {"result": error, "error": error}


def leader_and_isr(question: Question) -> dict[str, Any]:
    """LeaderAndIsr for one partition."""
    asked = given(question)
    known, sent = asked.get("knownControllerEpoch", 0), asked.get("requestControllerEpoch", 0)
    leader = asked.get("leader", ME if asked["inReplicas"] else OTHER)
    broker = HostedBroker(release(question))
    broker.knows(known, asked.get("aliveBrokers", [leader]))
    if asked["currentLeaderEpoch"] >= 0:
        broker.ordered(known, ME, asked["currentLeaderEpoch"])
        if asked["knownTopicId"] is not None:  # of the request after the one that made the log
            broker.ordered(known, ME, asked["currentLeaderEpoch"], topic_id=asked["knownTopicId"])
    if asked.get("offlineDir"):
        broker.logs.create(PARTITION)
        broker.logs.fail(DIRECTORY, "the disk is gone")
    top, errors = broker.ordered(
        sent, leader, asked["requestLeaderEpoch"], asked["inReplicas"], asked["requestTopicId"]
    )
    return {
        "topError": top,
        "partitionError": errors.get(PARTITION),
        "knownControllerEpochAfter": broker.manager.controller_epoch,
        "fetcherAdded": PARTITION in broker.followed.partitions,
        "leaderEpochAfter": broker.leader_epoch,
    }


def update_metadata(question: Question) -> dict[str, Any]:
    """UpdateMetadata: the live brokers, and the partitions in it, after one that had no brokers."""
    asked, broker = given(question), HostedBroker(release(question))
    for which, field, live in (("known", "cached", ()), ("request", "partitions", asked["live"])):
        partitions = {
            TopicPartition.of(name): PartitionMetadata(state_of(one, 1), tuple(one["isr"]), ())
            for name, one in asked[field].items()
        }
        epoch = asked[f"{which}ControllerEpoch"]
        top, _ = broker.hears(UpdateMetadata(0, OTHER, epoch, -1, partitions, tuple(live)))
    cache = broker.manager.metadata
    return {
        "topError": top,
        "knownControllerEpochAfter": broker.manager.controller_epoch,
        "cachedAfter": {str(one): shown_state(of.state) for one, of in cache.partitions.items()},
        "aliveBrokers": sorted(cache.alive),
    }


_DELETION_CHECKPOINTS = ("recovery-point", "log-start-offset")


def stop_replica(question: Question) -> dict[str, Any]:
    """StopReplica for one partition."""
    asked = given(question)
    known, sent = asked.get("knownControllerEpoch", 0), asked.get("requestControllerEpoch", 0)
    where = asked.get("partition", "hosted")
    broker = HostedBroker(release(question))
    broker.knows(known, [ME])
    if where == "hosted":
        broker.ordered(known, ME, asked["currentLeaderEpoch"])
    elif where == "offline" or asked.get("strayLog"):
        broker.logs.create(PARTITION)
    broker.logs.checkpoint()
    if where == "offline":
        broker.logs.fail(DIRECTORY, "the disk is gone")
    if asked.get("ioException"):
        broker.disk.failing.add(DIRECTORY)
    stop = PartitionStop(asked["delete"], asked.get("requestLeaderEpoch", -1))
    request = StopReplica(0, OTHER, sent, -1, {PARTITION: stop})
    top, errors = broker.hears(request)
    broker.disk.failing.clear()
    gone = asked["delete"] and top == answers.NONE and not broker.has_log
    return {
        "topError": top,
        "partitionError": errors.get(PARTITION),
        "knownControllerEpochAfter": broker.manager.controller_epoch,
        "partitionHosted": PARTITION in broker.manager.partitions,
        "logDeleted": gone,
        "logStillThere": broker.has_log,
        "checkpointEntriesRemoved": [
            name for name in _DELETION_CHECKPOINTS if gone and not _is_in(broker, name)
        ],
    }


def _is_in(broker: HostedBroker, name: str) -> bool:
    checkpoint = OffsetCheckpoint(broker.disk, f"{DIRECTORY}/{name}-offset-checkpoint")
    if name == "log-start-offset":
        checkpoint = OffsetCheckpoint(broker.disk, f"{DIRECTORY}/{name}-checkpoint")
    return (PARTITION.topic, PARTITION.partition) in checkpoint.read()


def fetch_visibility(question: Question) -> dict[str, Any]:
    """How far consumers and followers may read."""
    asked = given(question)
    log = LogEnds(asked["leo"], asked["hw"])
    partition = Partition(0, TopicPartition("t", 0), log, 30_000, release(question), no_client)
    return {
        "consumerMaxOffset": partition.list_offset(earliest=False, for_consumer=True),
        "followerMaxOffset": partition.list_offset(earliest=False, for_consumer=False),
    }


def fetcher_id(question: Question) -> dict[str, Any]:
    """The fetcher of a partition."""
    asked = given(question)
    topic = asked["topic"]
    return {
        "topicHash": answers.java_hash(topic),
        "fetcherId": answers.fetcher_id(topic, asked["partition"], asked["numFetchers"]),
    }


ANSWERS: dict[tuple[str, str], Answer] = {
    **under(
        "truncation",
        offsetTruncationState=truncation,
        offsetTruncationStateOld=truncation,
        leaderFetchValidation=leader_fetch_validation,
    ),
    **under(
        "replica_manager",
        brokerEpoch=broker_epoch,
        leaderAndIsr=leader_and_isr,
        stopReplica=stop_replica,
        updateMetadata=update_metadata,
        fetchVisibility=fetch_visibility,
        fetcherId=fetcher_id,
    ),
}

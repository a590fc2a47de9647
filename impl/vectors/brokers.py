"""Answers about what a broker decides on a request (truncation, replica_manager)."""

from __future__ import annotations

from typing import Any

from impl.core import answers
from impl.core.partition import Partition
from impl.core.truncation import (
    EpochEnd,
    FetchOutOfRange,
    divergence,
    follower_truncation,
)
from impl.log.leader_epoch_cache import UNDEFINED, LeaderEpochFileCache
from impl.vectors.batch_log import LogEnds
from impl.vectors.questions import Answer, Question, given, release, under
from impl.znodes import TopicPartition


def truncation(question: Question) -> dict[str, Any]:
    """Where a follower cuts its log after its leader's answer."""
    asked = given(question)
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


def old_truncation(question: Question) -> dict[str, Any]:
    """The same by the rules of KIP-101, whose answers have no epoch."""
    asked = given(question)
    offset, done = follower_truncation(
        EpochEnd(UNDEFINED, asked["leaderReplyEndOffset"]),
        asked["followerLeo"],
        asked["followerHw"],
        asked["followerLatestEpoch"],
        lambda _epoch: (UNDEFINED, UNDEFINED),
        release(question),
    )
    return {"truncateTo": offset, "completed": done}


def leader_fetch_validation(question: Question) -> dict[str, Any]:
    """Whether a follower's log has left its leader's, told at a fetch."""
    asked = given(question)
    cache = LeaderEpochFileCache(tuple((epoch, start) for epoch, start in asked["epochCache"]))
    try:
        found = divergence(
            asked["lastFetchedEpoch"],
            asked["fetchOffset"],
            asked["logStart"],
            lambda epoch: cache.end_offset_for(epoch, asked["leo"]),
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
    return {"result": error}


def leader_and_isr(question: Question) -> dict[str, Any]:
    """LeaderAndIsr for one partition."""
    asked = given(question)
    known, sent = asked.get("knownControllerEpoch", 0), asked.get("requestControllerEpoch", 0)
    error = answers.controller_epoch_error(sent, known)
    if error != answers.NONE:
        return {"topError": error, "knownControllerEpochAfter": known}
    current = asked["currentLeaderEpoch"]
    refused = answers.leader_and_isr_error(
        current,
        asked["requestLeaderEpoch"],
        asked["inReplicas"],
        asked.get("offlineDir", False),
        release(question),
    )
    follows = refused == answers.NONE and answers.leader_is_known(
        asked.get("leader"), asked.get("aliveBrokers")
    )
    return {
        "topError": answers.NONE,
        "partitionError": refused,
        "knownControllerEpochAfter": sent,
        "fetcherAdded": follows and "leader" in asked,
        "leaderEpochAfter": asked["requestLeaderEpoch"] if follows else current,
    }


def stop_replica(question: Question) -> dict[str, Any]:
    """StopReplica for one partition."""
    asked = given(question)
    error = answers.controller_epoch_error(
        asked.get("requestControllerEpoch", 0), asked.get("knownControllerEpoch", 0)
    )
    if error != answers.NONE:
        return {"topError": error}
    where = asked.get("partition", "hosted")
    outcome = answers.stop_replica(
        asked["currentLeaderEpoch"] if where == "hosted" else None,
        asked.get("requestLeaderEpoch", -1),
        asked["delete"],
        where == "offline",
        asked.get("ioException", False),
        release(question),
    )
    return {
        "topError": answers.NONE,
        "partitionError": outcome.error,
        "partitionHosted": where == "hosted" and not outcome.gone,
        "logDeleted": outcome.gone,
        "logStillThere": not outcome.gone,
        "checkpointEntriesRemoved": (
            ["recovery-point", "log-start-offset"] if outcome.gone else []
        ),
    }


def fetch_visibility(question: Question) -> dict[str, Any]:
    """How far consumers and followers may read."""
    asked = given(question)
    log = LogEnds(asked["leo"], asked["hw"])
    partition = Partition(0, TopicPartition("t", 0), log, 30_000, release(question))
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
        offsetTruncationStateOld=old_truncation,
        leaderFetchValidation=leader_fetch_validation,
    ),
    **under(
        "replica_manager",
        brokerEpoch=broker_epoch,
        leaderAndIsr=leader_and_isr,
        stopReplica=stop_replica,
        fetchVisibility=fetch_visibility,
        fetcherId=fetcher_id,
    ),
}

"""Formats partition states as Kafka logs them in requests, by release (fact sheet m)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from impl.core.requests import LeaderAndIsrPartitionState, PartitionMetadata
from impl.releases import Release
from impl.wire import Fields
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition


def ids(values: Iterable[int], by: str = ",") -> str:
    """Ids in the format of Kafka's lists."""
    return by.join(map(str, values))


def short(state: LeaderIsrAndControllerEpoch) -> str:
    """Leader, ISR and the two epochs; up to 0.11 requests log no more."""
    return (
        f"(Leader:{state.leader},ISR:{ids(state.isr)},LeaderEpoch:{state.leader_epoch},"
        f"ControllerEpoch:{state.controller_epoch})"
    )


def sent_state_text(
    partition: TopicPartition, entry: LeaderAndIsrPartitionState, release: Release
) -> str:
    """One partition of a LeaderAndIsr, as the controller logs it."""
    if not release.since("1.0"):
        return short(entry.state)
    return received_state_text(partition, entry, release)


def received_state_text(
    partition: TopicPartition, entry: LeaderAndIsrPartitionState, release: Release
) -> str:
    """One partition of a LeaderAndIsr, as the broker logs it."""
    if not release.since("1.0"):
        return f"PartitionState({_fields(entry.state, entry.replicas, bracketed=True)})"
    new = "true" if entry.is_new else "false"
    if not release.since("2.4"):
        return f"PartitionState({_fields(entry.state, entry.replicas)}, isNew={new})"
    return (
        f"LeaderAndIsrPartitionState({_named(partition)}"
        f"{_fields(entry.state, entry.replicas, bracketed=True)}, addingReplicas=[], "
        f"removingReplicas=[], isNew={new})"
    )


def metadata(partition: TopicPartition, cached: PartitionMetadata, release: Release) -> str:
    """One partition of an UpdateMetadata."""
    if not release.since("1.0"):
        return short(cached.state)
    offline = f"offlineReplicas=[{ids(cached.offline_replicas, ', ')}]"
    if not release.since("2.4"):
        return f"PartitionState({_fields(cached.state, cached.replicas)}, {offline})"
    fields = _fields(cached.state, cached.replicas, bracketed=True)
    return f"UpdateMetadataPartitionState({_named(partition)}{fields}, {offline})"


def _named(partition: TopicPartition) -> str:
    return f"topicName='{partition.topic}', partitionIndex={partition.partition}, "


def _fields(
    state: LeaderIsrAndControllerEpoch, replicas: Sequence[int], bracketed: bool = False
) -> str:
    isr, assigned = ids(state.isr), ids(replicas)
    if bracketed:
        isr, assigned = f"[{ids(state.isr, ', ')}]", f"[{ids(replicas, ', ')}]"
    return (
        f"controllerEpoch={state.controller_epoch}, leader={state.leader}, "
        f"leaderEpoch={state.leader_epoch}, isr={isr}, zkVersion={state.zk_version}, "
        f"replicas={assigned}"
    )


def fetch_request_text(body: Fields, release: Release) -> str:
    """A follower's Fetch in its builder's format (``FetchRequest.Builder``)."""
    epochs, starts = release.since("2.1"), release.since("0.11")
    parts = []
    for topic in body.topics:
        for one in topic.partitions:
            start = f", logStartOffset={one.log_start_offset}" if starts else ""
            epoch = _optional(one.current_leader_epoch)
            parts.append(
                f"{topic.topic}-{one.partition}=({'fetchOffset' if epochs else 'offset'}="
                f"{one.fetch_offset}{start}, maxBytes={one.partition_max_bytes}"
                f"{f', currentLeaderEpoch={epoch}' if epochs else ''})"
            )
    text = (
        f"(type{'=' if starts else ':'}FetchRequest, replicaId={body.replica_id}, "
        f"maxWait={body.max_wait // timedelta(milliseconds=1)}, minBytes={body.min_bytes}, "
        f"maxBytes={body.max_bytes}, fetchData={{{', '.join(parts)}}}"
    )
    if release.since("1.0"):
        text += ", isolationLevel=READ_UNCOMMITTED"
    if release.since("1.1"):
        gone = (f"{one.topic}-{number}" for one in body.forgotten_topics_data
                for number in one.partitions)  # fmt: skip
        number = body.session_id or "INVALID"
        epoch = {0: "INITIAL", -1: "FINAL"}.get(body.session_epoch, str(body.session_epoch))
        text += f", toForget={', '.join(gone)}, metadata=(sessionId={number}, epoch={epoch})"
    return f"{text}, rackId=)" if release.since("2.3") else f"{text})"


def epoch_question_texts(body: Fields, release: Release) -> list[str]:
    """The partitions of an OffsetsForLeaderEpoch, each with its question."""
    return [
        f"{topic.topic}-{one.partition} -> "
        + (
            f"(currentLeaderEpoch={_optional(one.current_leader_epoch)}, "
            f"leaderEpoch={one.leader_epoch})"
            if release.since("2.1")
            else str(one.leader_epoch)
        )
        for topic in body.topics
        for one in topic.partitions
    ]


def _optional(epoch: int) -> str:
    return "Optional.empty" if epoch < 0 else f"Optional[{epoch}]"

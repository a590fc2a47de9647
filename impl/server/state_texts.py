"""Partition states as requests show them in logs, by release (fact sheet m)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from impl.core.requests import LeaderAndIsrPartitionState, PartitionMetadata
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition


def ids(values: Iterable[int], by: str = ",") -> str:
    """Ids as Kafka lists them."""
    return by.join(map(str, values))


def short(state: LeaderIsrAndControllerEpoch) -> str:
    """Up to 0.11: leader, ISR and the two epochs."""
    return (
        f"(Leader:{state.leader},ISR:{ids(state.isr)},LeaderEpoch:{state.leader_epoch},"
        f"ControllerEpoch:{state.controller_epoch})"
    )


def sent_state_text(
    partition: TopicPartition, entry: LeaderAndIsrPartitionState, release: Release
) -> str:
    """One partition of a LeaderAndIsr, as the controller shows it."""
    if not release.since("1.0"):
        return short(entry.state)
    return received_state_text(partition, entry, release)


def received_state_text(
    partition: TopicPartition, entry: LeaderAndIsrPartitionState, release: Release
) -> str:
    """One partition of a LeaderAndIsr, as the broker shows it."""
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

"""Automatic preferred leader election (``auto.leader.rebalance.enable``; fact sheet k.3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from impl.core.cluster_context import ClusterContext
from impl.releases import Release
from impl.znodes import TopicPartition


def is_imbalanced(led_by_others: int, preferred: int, percentage: int) -> bool:
    """More than the percentage of the partitions that prefer a broker are led by others.

    The comparison is strict: exactly the percentage is still fine.
    """
    return led_by_others / preferred > percentage / 100


def by_preferred_leader(context: ClusterContext) -> dict[int, list[TopicPartition]]:
    """The partitions by their preferred leader, without topics that are queued for deletion."""
    groups: dict[int, list[TopicPartition]] = {}
    for partition in context.partitions():
        replicas = context.replicas(partition)
        if replicas and partition.topic not in context.queued_for_deletion:
            groups.setdefault(replicas[0], []).append(partition)
    return dict(sorted(groups.items()))


def led_by_others(
    broker: int, partitions: Iterable[TopicPartition], context: ClusterContext
) -> list[TopicPartition]:
    """The partitions among these whose leader is known and is another broker."""
    return [
        partition
        for partition in partitions
        if partition in context.leadership and context.leadership[partition].leader != broker
    ]


def candidates(
    context: ClusterContext,
    percentage: int,
    reassigning: Collection[TopicPartition],
    release: Release,
) -> Mapping[int, list[TopicPartition]]:
    """By imbalanced broker, the partitions for which a preferred election is due.

    None at all while anything is reassigned anywhere. A partition without a known leader counts
    among those that a broker should lead, and not among those that it does not lead. Since 2.6 who
    is not in the known ISR is not asked for (KAFKA-9866).
    """
    due: dict[int, list[TopicPartition]] = {}
    for broker, partitions in by_preferred_leader(context).items():
        elsewhere = led_by_others(broker, partitions, context)
        if is_imbalanced(len(elsewhere), len(partitions), percentage):
            due[broker] = [
                one
                for one in elsewhere
                if not reassigning
                and context.is_replica_online(broker, one)
                and (broker in context.leadership[one].isr or not release.since("2.6"))
            ]
    return due

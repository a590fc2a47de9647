"""Compares replicas of one partition: where they diverge, and what a restart would truncate.

Two batches of one offset and one leader epoch are the same, because one leader wrote them. So if
epochs differ, the logs have diverged; if epochs are the same and bytes differ, a log was changed.
Batches that log cleaning may have thinned are not compared byte by byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from conformance.disks.findings import DiskFinding, Severity
from conformance.disks.predicted_truncation import truncated_end
from conformance.disks.read_directories import InspectedDirectory, ReplicaOnDisk, replica_of
from impl.log.checkpoint_file import TopicPartition
from specs.rendering import COUNTED


@dataclass(frozen=True)
class PredictedTruncation:
    """The truncation of `follower` from `end` to `to` when `leader` leads.

    `clean`: the leader has all records known to be committed, so it may be in the ISR.
    """

    leader: int | None
    follower: int | None
    end: int
    to: int
    clean: bool


@dataclass(frozen=True)
class ReplicaRow:
    """A replica in the report; offsets, None where no checkpoint has one."""

    broker: int | None
    folder: str
    start: int
    end: int
    high_watermark: int | None
    leader_epoch: int | None
    epochs: tuple[tuple[int, int], ...]
    batches: int
    bytes: int


@dataclass(frozen=True)
class InspectedPartition:
    """The findings about one partition."""

    topic: str
    partition: int
    replicas: tuple[ReplicaRow, ...]
    cuts: tuple[PredictedTruncation, ...]
    findings: tuple[DiskFinding, ...] = field(metadata=COUNTED)


def inspect_partition(
    tp: TopicPartition, directories: Sequence[InspectedDirectory], preset: str
) -> InspectedPartition:
    """Inspects all replicas of one partition, under a preset's rules of truncation."""
    found: list[DiskFinding] = []
    replicas: list[ReplicaOnDisk] = []
    brokers: dict[int, str] = {}
    for directory in directories:
        path = directory.replicas[tp]
        if directory.broker is not None and directory.broker in brokers:
            twin = brokers[directory.broker]
            why = f"broker {directory.broker} has this partition in {twin} as well"
            found.append(directory.finding(Severity.BROKEN, "one_replica_a_broker", tp, path, why))
            continue
        try:
            replica = replica_of(directory, tp)
        except OSError as error:
            why = f"{(error.strerror or str(error)).lower()}; the replica is not judged"
            file = error.filename or path
            found.append(directory.finding(Severity.AT_RISK, "files_can_be_read", tp, file, why))
            continue
        if directory.broker is not None:
            brokers[directory.broker] = path
        replicas.append(replica)
        found += replica.findings
    for one, other in combinations(replicas, 2):
        found += _agree(one, other)
    found += _on_one_disk_only(replicas)
    cuts = _cuts(replicas, preset)
    found += _committed_but_truncated(replicas, cuts, preset)
    found.sort(key=lambda finding: finding.order)
    rows = tuple(
        ReplicaRow(
            each.broker,
            each.path,
            each.start,
            each.end,
            each.hw,
            each.runs[-1][0] if each.runs else None,
            tuple((epoch, first) for epoch, first, _ in each.runs),
            len(each.batches),
            each.size,
        )
        for each in replicas
    )
    return InspectedPartition(*tp, rows, cuts, tuple(found))


# --- do they agree?


def _agree(one: ReplicaOnDisk, other: ReplicaOnDisk) -> list[DiskFinding]:
    """The first offset at which two logs have different records."""
    parted = _parted(one, other)
    if parted is None:
        return []
    offset, why = parted
    both = offset < one.committed and offset < other.committed
    either = offset < max(one.committed, other.committed)
    kind = Severity.BROKEN if both else Severity.AT_RISK if either else Severity.USUAL
    if both:
        more = f"both say that it is committed (high watermarks {one.hw} and {other.hw})"
    elif either:
        whose = one if offset < one.committed else other
        more = f"broker {whose.broker} says that it is committed (high watermark {whose.hw})"
    else:
        more = "it was not committed, and a follower cuts it when it starts"
    why = f"{why}; {more}"
    return [one.finding(kind, "replicas_agree", f"offset {offset}", why, other.path)]


def _parted(one: ReplicaOnDisk, other: ReplicaOnDisk) -> tuple[int, str] | None:
    low, high = max(one.start, other.start), min(one.end, other.end)
    found: list[tuple[int, str]] = []
    for epoch, first, end in one.runs:
        for another, begin, until in other.runs:
            since = max(first, begin, low)
            if since < min(end, until, high) and epoch != another and min(epoch, another) >= 0:
                why = (
                    f"brokers {one.broker} and {other.broker} part here: leader epoch {epoch} "
                    f"and {another}"
                )
                found.append((since, why))
    found += _changed(one, other)
    return min(found, default=None)


def _changed(one: ReplicaOnDisk, other: ReplicaOnDisk) -> list[tuple[int, str]]:
    """The first batch that both logs have, of one epoch, with different bytes."""
    if not len(one.batches) or not len(other.batches):
        return []
    _, mine, theirs = np.intersect1d(one.batches[:, 0], other.batches[:, 0], return_indices=True)
    a, b = one.batches[mine], other.batches[theirs]
    alike = (a[:, 2] == b[:, 2]) & (a[:, 2] >= 0) & (a[:, 1] == b[:, 1])
    alike &= (a[:, 4] == 1) & (b[:, 4] == 1) & (a[:, 3] != b[:, 3])
    at = np.flatnonzero(alike)
    if not len(at):
        return []
    offset, last, epoch = (int(a[at[0], column]) for column in (0, 1, 2))
    why = (
        f"brokers {one.broker} and {other.broker} have other records in the batch of offsets "
        f"{offset} to {last}, both of leader epoch {epoch}"
    )
    return [(offset, why)]


# --- who has what is committed?


def _on_one_disk_only(replicas: Sequence[ReplicaOnDisk]) -> list[DiskFinding]:
    """Committed records that are on only one of the disks."""
    if len(replicas) < 2:
        return []
    longest = max(replicas, key=lambda each: (each.end, each.committed))
    committed = min(max(each.hw or 0 for each in replicas), longest.end)
    others = [each for each in replicas if each is not longest]
    end = max(each.end for each in others)
    if end >= committed:
        return []
    who = ", ".join(f"{each.broker} ends at {each.end}" for each in others)
    return [
        longest.finding(
            Severity.AT_RISK,
            "more_than_one_has_it",
            f"offsets {end} to {committed - 1}",
            f"they are committed (high watermark {committed}), and of these disks only broker "
            f"{longest.broker} has them: broker {who}",
        )
    ]


# --- what does a start cut?


def _cuts(replicas: Sequence[ReplicaOnDisk], preset: str) -> tuple[PredictedTruncation, ...]:
    """Every truncation of a follower under every other replica as leader."""
    committed = max((each.hw or 0 for each in replicas), default=0)
    found = []
    for leader in replicas:
        for follower in replicas:
            if leader is follower or follower.end <= follower.start:
                continue
            to = max(truncated_end(follower.held, leader.held, preset), follower.start)
            if to < follower.end:
                clean = leader.end >= committed
                found.append(
                    PredictedTruncation(leader.broker, follower.broker, follower.end, to, clean)
                )
    return tuple(found)


def _committed_but_truncated(
    replicas: Sequence[ReplicaOnDisk], cuts: Sequence[PredictedTruncation], preset: str
) -> list[DiskFinding]:
    """Truncations of committed records, under a leader that may have been in the ISR."""
    named = {each.broker: each for each in replicas}
    committed = max((each.hw or 0 for each in replicas), default=0)
    found = []
    for cut in cuts:
        follower = named[cut.follower]
        if not cut.clean or cut.to >= min(committed, follower.end):
            continue  # who lacks what is committed leads only if it is elected uncleanly
        found.append(
            follower.finding(
                Severity.AT_RISK,
                "a_restart_keeps_what_is_committed",
                f"offset {cut.to}",
                f"if broker {cut.leader} leads, broker {cut.follower} cuts its log from {cut.end} "
                f"to {cut.to} by the rules of {preset}, and {committed} is committed: until it "
                "has fetched it again, one disk less holds it",
            )
        )
    return found

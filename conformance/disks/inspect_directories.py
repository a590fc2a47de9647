"""Inspects all partitions of log directories, in this process or one per task on Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from conformance.disks.compare_replicas import InspectedPartition, inspect_partition
from conformance.disks.findings import RULES, DiskFinding, verdict_of
from conformance.disks.read_directories import (
    InspectedDirectory,
    directories_in,
    replicas_by_partition,
)
from impl.log.checkpoint_file import TopicPartition
from specs.rendering import parts, under_key
from specs.verdict import Verdict

Progress = Callable[[str], None]
Job = tuple[TopicPartition, tuple[InspectedDirectory, ...]]


class TwoClustersError(Exception):
    """The directories belong to two clusters; the message names one of each."""


@dataclass(frozen=True)
class Inspection:
    """The findings about all of them, under the rules of `preset`."""

    ALSO: ClassVar = parts("verdict", "findings", "rules")
    rules: ClassVar = RULES

    preset: str = field(metadata=under_key("rules_of"))
    directories: tuple[InspectedDirectory, ...]
    partitions: tuple[InspectedPartition, ...]

    @property
    def findings(self) -> tuple[DiskFinding, ...]:
        """All findings, the worst first."""
        found = [one for directory in self.directories for one in directory.findings]
        found += [one for partition in self.partitions for one in partition.findings]
        return tuple(sorted(found, key=lambda finding: finding.order))

    @property
    def verdict(self) -> Verdict:
        """The verdict, by `findings.verdict_of`."""
        return verdict_of(self.findings, sum(len(each.replicas) for each in self.partitions))


def inspect(
    paths: Sequence[str], preset: str, progress: Progress, master: str | None = None,
    spark: bool = False,
) -> Inspection:  # fmt: skip
    """Inspects everything in these log directories.

    Raises NothingHereError, TwoClustersError, OSError; with `spark`, also its session's errors.
    """
    directories = directories_in(paths)
    clusters = {each.cluster: each.path for each in reversed(directories) if each.cluster}
    if len(clusters) > 1:
        (one, here), (other, there) = sorted(clusters.items())[:2]
        raise TwoClustersError(
            f"{here} is of cluster {one}, {there} of {other}; name the directories of one cluster"
        )
    jobs: list[Job] = [
        (tp, tuple(where)) for tp, where in replicas_by_partition(directories).items()
    ]
    found = _on_spark(jobs, preset, master) if spark else _in_this_process(jobs, preset, progress)
    return Inspection(preset, tuple(directories), tuple(found))


def _in_this_process(
    jobs: Sequence[Job], preset: str, progress: Progress
) -> Iterable[InspectedPartition]:
    for number, ((topic, partition), where) in enumerate(jobs, 1):
        progress(f"{number} of {len(jobs)} partitions: {topic}-{partition}")
        yield inspect_partition((topic, partition), where, preset)


def _on_spark(jobs: Sequence[Job], preset: str, master: str | None) -> Iterable[InspectedPartition]:
    from conformance.pipeline.session import spark_session

    def one(job: Job) -> InspectedPartition:
        return inspect_partition(*job, preset)

    if not jobs:
        return []
    context = spark_session(master).sparkContext
    slices = min(len(jobs), 4 * context.defaultParallelism)
    found: list[InspectedPartition] = context.parallelize(jobs, slices).map(one).collect()
    return found

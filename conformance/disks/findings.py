"""Findings about log directories, and their severity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from specs.verdict import Verdict


class Severity(Enum):
    """How bad a finding is."""

    BROKEN = "broken"  # it contradicts itself or another replica, and no start repairs it
    AT_RISK = "at risk"  # the protocol allows it, and what was committed may be lost
    USUAL = "usual"  # a killed broker leaves it, and its next start repairs it


@dataclass(frozen=True)
class DiskFinding:
    """One fault. `file` with `place` in it (a line, a byte), or a folder; `rule` is what fails.

    `topic` is None if the fault is about a whole log directory.
    """

    kind: str
    rule: str
    broker: int | None
    topic: str | None
    partition: int | None
    file: str
    place: str
    why: str

    @property
    def order(self) -> tuple[object, ...]:
        """Sort key: the worst first, then by partition and file."""
        number = -1 if self.partition is None else self.partition
        rank = [kind.value for kind in Severity].index(self.kind)
        return rank, self.topic or "", number, self.file, self.place, self.rule, self.why

    @property
    def where(self) -> str:
        """File and place."""
        return f"{self.file}: {self.place}" if self.place else self.file


RULES: dict[str, str] = {
    "batches_are_whole": "a batch is there whole, its checksum is that of its bytes",
    "offsets_grow": "batches and segments follow one another in the order of their offsets",
    "epochs_fit_batches": "leader-epoch-checkpoint says where each epoch of the batches begins",
    "epochs_grow": "leader epochs never fall from one batch to the next",
    "high_watermark_is_in_the_log": "replication-offset-checkpoint is not above the log's end",
    "checkpoints_are_in_the_log": "recovery point and log start are not above the log's end",
    "files_can_be_read": "checkpoints and meta.properties are whole",
    "indexes_fit_segments": "entries of indexes lead to batches of their segment",
    "snapshots_are_whole": "a producers' snapshot has the checksum of its bytes",
    "nothing_is_left_over": "no file of a cleaning, a swap or a removal that was not finished",
    "one_replica_a_broker": "a partition lies in one log directory of a broker",
    "replicas_agree": "at one offset of one epoch all replicas have the same records",
    "more_than_one_has_it": "what is committed lies on more than one of the disks shown",
    "a_restart_keeps_what_is_committed": "no follower cuts what is committed when it starts",
}
"""Every rule, in words."""


def verdict_of(findings: Iterable[DiskFinding], replicas: int) -> Verdict:
    """`broken` if anything is, `not checked` without replicas, `unknown` at risk, else `holds`."""
    kinds = {finding.kind for finding in findings}
    if Severity.BROKEN.value in kinds:
        return Verdict.BROKEN
    if not replicas:
        return Verdict.NOT_CHECKED
    return Verdict.UNKNOWN if Severity.AT_RISK.value in kinds else Verdict.HOLDS

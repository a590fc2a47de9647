"""What clients saw of a topic: records that they sent and read, and records found at the end.

Times are seconds since the run began. A send with an error may or may not have been carried out:
its records may be in the log once (for a plain producer, as often as it tried), or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

from specs.rendering import HIDDEN

ALL = -1
"""acks=all, as a number."""


class ProducerKind(NamedTuple):
    """A producer: its name (which its records contain), its acks, and whether it is idempotent."""

    name: str
    acks: int
    idempotent: bool = False


@dataclass
class ProduceAttempt:
    """A batch of records of one writer to one partition, numbered from ``first`` on."""

    writer: str
    partition: int
    first: int
    count: int
    acks: int
    idempotent: bool
    began: float
    ended: float = 0.0
    offset: int = -1
    error: str = ""

    @property
    def acknowledged(self) -> bool:
        """Whether a response says that the records are there; at ``offset``, if it is not -1.

        With acks=0 there is no response; a batch that came twice is there, at an unknown offset.
        """
        return not self.error and self.acks != 0 and self.ended > 0

    @property
    def values(self) -> list[str]:
        """The records' values."""
        return [f"{self.writer}-{self.first + at}" for at in range(self.count)]


@dataclass(frozen=True)
class ReadRecords:
    """The offsets and values a reader got at a position. ``joined``: how often it had joined."""

    reader: str
    joined: int
    partition: int
    position: int
    records: tuple[tuple[int, str], ...]
    at: float
    error: str = ""


@dataclass(frozen=True)
class OffsetCommit:
    """A committed position of the group, as its coordinator acknowledged."""

    reader: str
    partition: int
    offset: int
    began: float
    ended: float
    group: str = ""


@dataclass(frozen=True)
class RestoredPosition:
    """The committed position that a member found when it joined; -1 if there was none."""

    reader: str
    partition: int
    offset: int
    began: float
    group: str = ""


@dataclass
class ClientHistory:
    """The whole history. ``final`` is the log at the end: by partition, values by offset.

    ``clients``: by library, the names of its writers and readers.
    """

    sends: list[ProduceAttempt] = field(default_factory=list)
    reads: list[ReadRecords] = field(default_factory=list)
    commits: list[OffsetCommit] = field(default_factory=list)
    restored: list[RestoredPosition] = field(default_factory=list)
    final: dict[int, dict[int, str]] = field(default_factory=dict)
    clients: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock, repr=False, metadata=HIDDEN)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> ClientHistory:
        """Restores the result of ``as_data``. Raises KeyError, TypeError for something else."""

        def read(row: dict[str, Any]) -> ReadRecords:
            records = tuple((offset, value) for offset, value in row["records"])
            return ReadRecords(**{**row, "records": records})

        final = {
            int(partition): {int(offset): value for offset, value in log.items()}
            for partition, log in data["final"].items()
        }
        return cls(
            [ProduceAttempt(**row) for row in data["sends"]], [read(row) for row in data["reads"]],
            [OffsetCommit(**row) for row in data["commits"]],
            [RestoredPosition(**row) for row in data["restored"]], final,
            {client: tuple(names) for client, names in data["clients"].items()},
        )  # fmt: skip

    def counts(self) -> dict[str, int]:
        """The number of entries of each sort."""
        acknowledged = [one for one in self.sends if one.acknowledged]
        return {
            "sent": sum(one.count for one in self.sends),
            "acknowledged": sum(one.count for one in acknowledged),
            "acknowledged_by_all": sum(one.count for one in acknowledged if one.acks == -1),
            "unknown": sum(one.count for one in self.sends if one.error),
            "read": sum(len(one.records) for one in self.reads),
            "commits": len(self.commits),
            "joins": len({(one.reader, one.joined) for one in self.reads}),
            "found": sum(len(one) for one in self.final.values()),
        }

    def by_client(self) -> dict[str, dict[str, int]]:
        """The numbers of records that each library wrote and read."""
        whose = {name: client for client, names in self.clients.items() for name in names}
        found = {
            client: {"acknowledged": 0, "acknowledged_by_all": 0, "read": 0}
            for client in self.clients
        }
        for send in self.sends:
            if send.acknowledged and send.writer in whose:
                found[whose[send.writer]]["acknowledged"] += send.count
                found[whose[send.writer]]["acknowledged_by_all"] += send.count * (send.acks == -1)
        for read in self.reads:
            if read.reader in whose:
                found[whose[read.reader]]["read"] += len(read.records)
        return found

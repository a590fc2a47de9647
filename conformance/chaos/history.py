"""What clients saw of a topic: records that were sent, read and found at the end.

Times are seconds since the run began. A send whose error is not empty may have been carried out or
not: its records may be there once (as often as it was tried, of a plain producer), or not at all.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from threading import Lock
from typing import Any


@dataclass
class Send:
    """A batch of records of one writer, numbered from ``first`` on, to one partition."""

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
        """Somebody said that the records are there, and where."""
        return not self.error and self.offset >= 0

    @property
    def values(self) -> list[str]:
        """The records' values."""
        return [f"{self.writer}-{self.first + at}" for at in range(self.count)]


@dataclass(frozen=True)
class Read:
    """What a reader got at a position: offsets and values. ``joined``: how often it had joined."""

    reader: str
    joined: int
    partition: int
    position: int
    records: tuple[tuple[int, str], ...]
    at: float
    error: str = ""


@dataclass(frozen=True)
class Commit:
    """A position that the group keeps, as its coordinator acknowledged."""

    reader: str
    partition: int
    offset: int
    began: float
    ended: float


@dataclass(frozen=True)
class Restored:
    """A position that a member found kept when it joined; -1 where there was none."""

    reader: str
    partition: int
    offset: int
    began: float


@dataclass
class History:
    """All of it. ``final`` is what the log holds at the end: by partition, values by offset."""

    sends: list[Send] = field(default_factory=list)
    reads: list[Read] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    restored: list[Restored] = field(default_factory=list)
    final: dict[int, dict[int, str]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock, repr=False)

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            name: [asdict(one) for one in getattr(self, name)]
            for name in ("sends", "reads", "commits", "restored")
        } | {"final": self.final}

    def counts(self) -> dict[str, int]:
        """How much there is of what."""
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

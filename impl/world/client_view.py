"""What clients received, recorded beside the cluster; brokers do not read it."""

from __future__ import annotations

from dataclasses import dataclass, field

from impl.log import Record

SavedClientView = tuple[
    tuple[tuple[int, str], ...],
    tuple[int, ...],
    tuple[tuple[int, Record], ...],
    tuple[int, ...],
]


@dataclass
class ClientView:
    """Producers and consumers as one memory.

    ``acks`` is what a record was sent with ("one" for acks=0 and 1, or "all"), ``acknowledged`` the
    records whose producers heard that they are written, ``read`` the record at each offset that a
    consumer read, and ``differed`` the offsets at which two reads gave two records.
    """

    acks: dict[int, str] = field(default_factory=dict)
    acknowledged: set[int] = field(default_factory=set)
    read: dict[int, Record] = field(default_factory=dict)
    differed: set[int] = field(default_factory=set)

    def hears(self, record: int, acks: str) -> None:
        """The producer of a record hears that it is written, if that is what it asked for."""
        if self.acks[record] == acks:
            self.acknowledged.add(record)

    def reads(self, offset: int, record: Record) -> None:
        """A consumer is given a record at an offset."""
        if self.read.setdefault(offset, record) != record:
            self.differed.add(offset)

    def save(self) -> SavedClientView:
        """Everything, as an immutable value."""
        return (
            tuple(sorted(self.acks.items())),
            tuple(sorted(self.acknowledged)),
            tuple(sorted(self.read.items())),
            tuple(sorted(self.differed)),
        )

    def load(self, saved: SavedClientView) -> None:
        """Become what was saved."""
        acks, acknowledged, read, differed = saved
        self.acks, self.read = dict(acks), dict(read)
        self.acknowledged, self.differed = set(acknowledged), set(differed)

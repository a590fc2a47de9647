"""Orders events from ZooKeeper's transaction log, and finds the gaps of the log.

Rows are those of `ingest.znode_rows`, of all files and all servers of an ensemble.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from conformance.ingest.schema import Event
from conformance.ingest.znode_rows import SESSION_CLOSED, STATE_WRITTEN, TRANSACTIONS_READ

_PLACED = re.compile(
    r"(?P<root>.*?)(?P<path>/(?:controller|controller_epoch|migration|brokers/(?:ids|topics)/.+"
    r"|admin/reassign_partitions|isr_change_notification/.+))"
)


def in_zxid_order(events: Iterable[Event]) -> list[Event]:
    """Operations by zxid, in their order within a transaction; each once.

    States get the columns of their partition.
    """
    order = sorted(events, key=lambda each: (each.offset or 0, each.file, each.line))
    for each in order:
        if each.kind == STATE_WRITTEN:
            fields = json.loads(each.detail or "{}")
            each.topic, each.partition = fields["topic"], fields["partition"]
    return list({each.digest: each for each in reversed(order)}.values())[::-1]


@dataclass(frozen=True)
class Operation:
    """One operation on a znode, or the end of a session; `root` is the cluster's chroot."""

    event: Event
    op: str
    root: str
    path: str
    fields: dict[str, Any]

    @property
    def zxid(self) -> int:
        """The zxid of its transaction."""
        return self.event.offset or 0

    @property
    def session(self) -> int:
        """The session of its client."""
        return self.event.correlation or 0

    @property
    def data(self) -> Any:
        """The data of a Create or SetData, read as JSON; None if it is not JSON."""
        try:
            return json.loads(self.fields.get("data") or "null")
        except ValueError:
            return None


class GaplessRanges:
    """The runs of zxids without a missing transaction."""

    def __init__(self, transactions: Iterable[Event]) -> None:
        ends: dict[int, int] = defaultdict(int)
        for each in transactions:
            since = each.high_watermark or 0
            ends[since] = max(ends[since], each.offset or 0)
        self._begins: list[int] = []
        last = -1
        for since, until in sorted(ends.items()):
            if not self._begins or since > last + 1:
                self._begins.append(since)
            last = max(last, until)

    def of(self, zxid: int) -> int:
        """The number of the stretch of a transaction."""
        return bisect_right(self._begins, zxid)


@dataclass(frozen=True)
class StateZnodeLifetime:
    """The states of a partition in order, from its creation on, or from a gap on."""

    root: str
    topic: str
    partition: int
    created: bool
    events: Sequence[Event]


class ZnodeHistory:
    """The transactions of one folder's files."""

    def __init__(self, transactions: Sequence[Event]) -> None:
        self.transactions = transactions
        self.stretches = GaplessRanges(transactions)

    def mixed(self) -> tuple[Event, Event] | None:
        """Two transactions under one zxid: the logs of two ZooKeepers are in one folder."""
        known: dict[int, Event] = {}
        for each in self.transactions:
            if each.kind != TRANSACTIONS_READ:
                first = known.setdefault(each.offset or 0, each)
                if (first.at, first.correlation) != (each.at, each.correlation):
                    return first, each
        return None

    @cached_property
    def operations(self) -> list[Operation]:
        """All operations, in order."""
        return [found for each in self.transactions if (found := operation(each)) is not None]

    def roots(self) -> list[str]:
        """The chroots of the clusters in this ZooKeeper."""
        return sorted({one.root for one in self.operations if one.path})

    def lifetimes(self) -> Iterator[StateZnodeLifetime]:
        """Each lifetime of each partition's state; none if two ZooKeepers' logs are mixed."""
        if self.mixed() is not None:
            return
        running: dict[tuple[str, str, int], tuple[int, bool, list[Event]]] = {}
        for one in self.operations:
            event = one.event
            if event.kind != STATE_WRITTEN or event.tp is None:
                continue
            key, stretch = (one.root, *event.tp), self.stretches.of(one.zxid)
            before = running.get(key)
            if before is None or one.op == "Create" or before[0] != stretch:
                if before is not None:
                    yield StateZnodeLifetime(*key, before[1], before[2])
                running[key] = stretch, one.op == "Create", []
            running[key][2].append(event)
        for key, (_, created, events) in sorted(running.items()):
            yield StateZnodeLifetime(*key, created, events)


def operation(event: Event) -> Operation | None:
    """The operation in a row; None for the end of a file."""
    if event.kind == TRANSACTIONS_READ:
        return None
    fields = json.loads(event.detail or "{}")
    if event.kind == SESSION_CLOSED:
        return Operation(event, "Close", "", "", fields)
    found = _PLACED.fullmatch(fields["path"])
    root, path = (found["root"], found["path"]) if found else ("", fields["path"])
    return Operation(event, fields["op"], root, path, fields)

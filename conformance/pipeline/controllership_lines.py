"""Lines about controllers, in the order in which each broker's threads wrote them.

A broker has a thread that stands for election and acts as controller, and threads that obey
controllers; the order of lines between these is not used. A controller thread's lines in several
logs are merged by the broker's own clock; lines within a second of each other are tried in any
order. Lines of different brokers are ordered only by epochs and requests.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from conformance.ingest.schema import Event
from conformance.pipeline.history import History
from conformance.pipeline.rules_controllers import WRITES

JITTER = 1000  # milliseconds


class ControllershipEventKind(StrEnum):
    """What a line shows about controllers."""

    WINS = "wins"  # is elected, with an epoch
    ACTS = "acts"  # does what only a controller does, with an epoch
    LEAVES = "leaves"  # resigns, or has a new session
    SEES = "sees"  # finds another controller
    READS = "reads"  # reads the epoch in ZooKeeper
    IS_FENCED = "is fenced"  # a write of it is refused: there is a newer controller
    OBEYS = "obeys"  # carries out a request
    REFUSES = "refuses"  # does not, for it knows a newer controller


ELECTION = frozenset(
    (
        ControllershipEventKind.WINS,
        ControllershipEventKind.LEAVES,
        ControllershipEventKind.SEES,
        ControllershipEventKind.READS,
    )
)
"""What goes to the log in which an election would be seen as well."""

_MERGED = frozenset((ControllershipEventKind.ACTS, ControllershipEventKind.OBEYS))
_WRITES_STATE = frozenset(("partition_changed", "isr_removed"))
_LEAVES = frozenset(("controller_resigned", "broker_registered"))
_OBEYED = frozenset(
    (
        "obeyed",
        "metadata_cached",
        "leader_and_isr_handling",
        "leader_and_isr_applied",
        "same_epoch_refused",
        "old_epoch_refused",
    )
)


@dataclass(slots=True)
class ControllershipEvent:
    """A line, or consecutive lines of one log that show the same; `event` is the first of them.

    `other` is the broker that it mentions. `after` is an epoch that was won before this line's
    write, as the partition's versions show; `witness` is the line that shows it.
    """

    what: ControllershipEventKind
    broker: int
    epoch: int
    event: Event
    last: Event
    other: int = -1
    lines: int = 1
    writes: int = 0
    after: int = 0
    witness: Event | None = None
    term: int = 0
    blamed: bool = False

    @property
    def same(self) -> tuple[ControllershipEventKind, int, int, int, int, int, bool]:
        """Equal for lines that show the same; `term` counts earlier resignations."""
        return (
            self.what, self.broker, self.epoch, self.other, self.after, self.term, self.blamed
        )  # fmt: skip


@dataclass
class ThreadLines:
    """A broker's lines of one kind of thread, by log, each log in its order."""

    logs: dict[str, deque[ControllershipEvent]] = field(default_factory=dict)

    def heads(self) -> list[ControllershipEvent]:
        """The lines that may be next, the earliest first."""
        first = [(log[0].event.at, name, log[0]) for name, log in self.logs.items() if log]
        if not first:
            return []
        earliest = min(at for at, _, _ in first)
        return [head for at, _, head in sorted(first, key=_order) if at <= earliest + JITTER]

    def drop(self, head: ControllershipEvent) -> None:
        """Removes a line that was dealt with."""
        for log in self.logs.values():
            if log and log[0] is head:
                log.popleft()

    def waiting(self) -> Iterable[ControllershipEvent]:
        """All lines that are left."""
        for log in self.logs.values():
            yield from log


def _order(one: tuple[int, str, ControllershipEvent]) -> tuple[int, bool, str]:
    """Orders by time; within one instant, in which logs have no order, resignations come last."""
    at, name, shown = one
    return at, shown.what is ControllershipEventKind.LEAVES, name


def controllership_event(event: Event) -> ControllershipEvent | None:
    """What one line shows about controllers; None if nothing."""
    kind, broker, epoch = event.kind, event.broker, event.controller_epoch
    if broker is None:
        return None
    if kind in WRITES or kind == "controller_ready":
        if epoch is None or epoch <= 0 or (kind in WRITES and event.controller != broker):
            return None
        writes = kind in _WRITES_STATE and event.leader is not None
        return ControllershipEvent(
            ControllershipEventKind.ACTS, broker, epoch, event, event, writes=int(writes)
        )
    if kind in _OBEYED or kind == "old_controller_refused":
        if epoch is None or epoch <= 0 or event.controller is None or event.controller < 0:
            return None
        what = ControllershipEventKind.OBEYS if kind in _OBEYED else ControllershipEventKind.REFUSES
        return ControllershipEvent(what, broker, epoch, event, event, event.controller)
    if kind == "controller_elected" and epoch is not None:
        return ControllershipEvent(ControllershipEventKind.WINS, broker, epoch, event, event)
    if kind == "controller_epoch_read" and epoch is not None:
        return ControllershipEvent(ControllershipEventKind.READS, broker, epoch, event, event)
    if kind in _LEAVES:
        return ControllershipEvent(ControllershipEventKind.LEAVES, broker, 0, event, event)
    if kind == "controller_moved":
        return ControllershipEvent(ControllershipEventKind.IS_FENCED, broker, 0, event, event)
    if kind == "controller_lost" and event.controller not in (None, broker):
        return ControllershipEvent(
            ControllershipEventKind.SEES, broker, 0, event, event, event.controller or 0
        )
    return None


@dataclass
class ControllershipLines:
    """All lines about the controllers of one ZooKeeper.

    `owners`: the broker of each epoch, by most lines. `elections`: by broker, the lines that show
    when it stands for election and when it resigns, in the order of each log; only logs count that
    show an election of that broker.
    """

    threads: dict[tuple[int, str], ThreadLines] = field(default_factory=dict)
    owners: dict[int, int] = field(default_factory=dict)
    elections: dict[int, dict[str, list[Event]]] = field(default_factory=dict)
    brokers: list[int] = field(default_factory=list)
    events: int = 0
    _votes: dict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, stream: str, shown: ControllershipEvent, innocent: bool) -> None:
        """A line of the log `stream`; those of one log come in order."""
        self.events += 1
        shown.blamed = not innocent
        obeying = shown.what in (ControllershipEventKind.OBEYS, ControllershipEventKind.REFUSES)
        if shown.epoch and innocent and shown.what is not ControllershipEventKind.READS:
            self._votes[shown.epoch][shown.other if obeying else shown.broker] += 1
        if shown.what in ELECTION and shown.event.kind != "broker_registered":
            logs = self.elections.setdefault(shown.broker, {})
            logs.setdefault(stream, []).append(shown.event)
        thread = self.threads.setdefault((shown.broker, stream if obeying else ""), ThreadLines())
        log = thread.logs.setdefault(stream, deque())
        last = log[-1] if log else shown
        if last is not shown and last.same == shown.same and shown.what in _MERGED:
            last.lines += 1
            last.writes += shown.writes
            last.last = shown.event
        else:
            log.append(shown)

    def finish(self) -> None:
        """Completes the result, after all lines were added."""
        for (broker, _), thread in self.threads.items():
            logs = self.elections.get(broker, {})
            for name, log in thread.logs.items():
                if not any(shown.what is ControllershipEventKind.WINS for shown in log):
                    logs.pop(name, None)
        for epoch, owners in self._votes.items():
            self.owners[epoch] = min(owners, key=lambda each: (-owners[each], each))
        found = {broker for broker, _ in self.threads}
        for thread in self.threads.values():
            found.update(shown.other for shown in thread.waiting() if shown.other >= 0)
        self.brokers = sorted(found)


def gather(
    history: History, events: Iterable[Event], blamed: set[int], place: Callable[[Event], Any],
    floors: Mapping[int, tuple[int, Event]],
) -> dict[Any, ControllershipLines]:  # fmt: skip
    """Groups lines by their ZooKeeper, as `place` gives it; None leaves a line out.

    `floors` has, by the identity of a line that shows a write, an epoch that was won before it.
    """
    found: dict[Any, ControllershipLines] = {}
    shown_events: list[tuple[Any, str, ControllershipEvent]] = []
    left: dict[tuple[Any, int], list[int]] = defaultdict(list)
    for event in events:
        shown = controllership_event(event)
        where = None if shown is None else place(event)
        if shown is None or where is None:
            continue
        shown_events.append((where, history.places[event.file].stream, shown))
        if shown.what is ControllershipEventKind.LEAVES:
            left[where, shown.broker].append(event.at)
        shown.after, shown.witness = floors.get(id(event), (0, None))
    for times in left.values():
        times.sort()
    for where, stream, shown in shown_events:
        lines = found.setdefault(where, ControllershipLines())
        shown.term = bisect_right(left.get((where, shown.broker), ()), shown.event.at)
        lines.add(stream, shown, id(shown.event) not in blamed)
    for lines in found.values():
        lines.finish()
    return found

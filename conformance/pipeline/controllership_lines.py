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


class What(StrEnum):
    """What a line shows about controllers."""

    WINS = "wins"  # is elected, with an epoch
    ACTS = "acts"  # does what only a controller does, with an epoch
    LEAVES = "leaves"  # resigns, or has a new session
    SEES = "sees"  # finds another controller
    READS = "reads"  # reads the epoch in ZooKeeper
    IS_FENCED = "is fenced"  # a write of it is refused: there is a newer controller
    OBEYS = "obeys"  # carries out a request
    REFUSES = "refuses"  # does not, for it knows a newer controller


ELECTION = frozenset((What.WINS, What.LEAVES, What.SEES, What.READS))
"""What goes to the log in which an election would be seen as well."""

_MERGED = frozenset((What.ACTS, What.OBEYS))
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
class Sight:
    """A line, or consecutive lines of one log that show the same; `event` is the first of them.

    `other` is the broker that it mentions. `after` is an epoch that was won before this line's
    write, as the partition's versions show; `witness` is the line that shows it.
    """

    what: What
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
    def same(self) -> tuple[What, int, int, int, int, int, bool]:
        """Equal for lines that show the same; `term` counts earlier resignations."""
        return (
            self.what, self.broker, self.epoch, self.other, self.after, self.term, self.blamed
        )  # fmt: skip


@dataclass
class ThreadLines:
    """A broker's lines of one kind of thread, by log, each log in its order."""

    logs: dict[str, deque[Sight]] = field(default_factory=dict)

    def heads(self) -> list[Sight]:
        """The lines that may be next, the earliest first."""
        first = [(log[0].event.at, name, log[0]) for name, log in self.logs.items() if log]
        if not first:
            return []
        earliest = min(at for at, _, _ in first)
        return [head for at, _, head in sorted(first, key=_order) if at <= earliest + JITTER]

    def drop(self, head: Sight) -> None:
        """Removes a line that was dealt with."""
        for log in self.logs.values():
            if log and log[0] is head:
                log.popleft()

    def waiting(self) -> Iterable[Sight]:
        """All lines that are left."""
        for log in self.logs.values():
            yield from log


def _order(one: tuple[int, str, Sight]) -> tuple[int, bool, str]:
    """Orders by time; within one instant, in which logs have no order, resignations come last."""
    at, name, sight = one
    return at, sight.what is What.LEAVES, name


def sighted(event: Event) -> Sight | None:
    """What one line shows about controllers; None if nothing."""
    kind, broker, epoch = event.kind, event.broker, event.controller_epoch
    if broker is None:
        return None
    if kind in WRITES or kind == "controller_ready":
        if epoch is None or epoch <= 0 or (kind in WRITES and event.controller != broker):
            return None
        writes = kind in _WRITES_STATE and event.leader is not None
        return Sight(What.ACTS, broker, epoch, event, event, writes=int(writes))
    if kind in _OBEYED or kind == "old_controller_refused":
        if epoch is None or epoch <= 0 or event.controller is None or event.controller < 0:
            return None
        what = What.OBEYS if kind in _OBEYED else What.REFUSES
        return Sight(what, broker, epoch, event, event, event.controller)
    if kind == "controller_elected" and epoch is not None:
        return Sight(What.WINS, broker, epoch, event, event)
    if kind == "controller_epoch_read" and epoch is not None:
        return Sight(What.READS, broker, epoch, event, event)
    if kind in _LEAVES:
        return Sight(What.LEAVES, broker, 0, event, event)
    if kind == "controller_moved":
        return Sight(What.IS_FENCED, broker, 0, event, event)
    if kind == "controller_lost" and event.controller not in (None, broker):
        return Sight(What.SEES, broker, 0, event, event, event.controller or 0)
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
    sighted: int = 0
    _votes: dict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, stream: str, sight: Sight, innocent: bool) -> None:
        """A line of the log `stream`; those of one log come in order."""
        self.sighted += 1
        sight.blamed = not innocent
        obeying = sight.what in (What.OBEYS, What.REFUSES)
        if sight.epoch and innocent and sight.what is not What.READS:
            self._votes[sight.epoch][sight.other if obeying else sight.broker] += 1
        if sight.what in ELECTION and sight.event.kind != "broker_registered":
            logs = self.elections.setdefault(sight.broker, {})
            logs.setdefault(stream, []).append(sight.event)
        thread = self.threads.setdefault((sight.broker, stream if obeying else ""), ThreadLines())
        log = thread.logs.setdefault(stream, deque())
        last = log[-1] if log else sight
        if last is not sight and last.same == sight.same and sight.what in _MERGED:
            last.lines += 1
            last.writes += sight.writes
            last.last = sight.event
        else:
            log.append(sight)

    def finish(self) -> None:
        """Completes the result, after all lines were added."""
        for (broker, _), thread in self.threads.items():
            logs = self.elections.get(broker, {})
            for name, log in thread.logs.items():
                if not any(sight.what is What.WINS for sight in log):
                    logs.pop(name, None)
        for epoch, owners in self._votes.items():
            self.owners[epoch] = min(owners, key=lambda each: (-owners[each], each))
        found = {broker for broker, _ in self.threads}
        for thread in self.threads.values():
            found.update(sight.other for sight in thread.waiting() if sight.other >= 0)
        self.brokers = sorted(found)


def gather(
    history: History, events: Iterable[Event], blamed: set[int], place: Callable[[Event], Any],
    floors: Mapping[int, tuple[int, Event]],
) -> dict[Any, ControllershipLines]:  # fmt: skip
    """Groups lines by their ZooKeeper, as `place` gives it; None leaves a line out.

    `floors` has, by the identity of a line that shows a write, an epoch that was won before it.
    """
    found: dict[Any, ControllershipLines] = {}
    sights: list[tuple[Any, str, Sight]] = []
    left: dict[tuple[Any, int], list[int]] = defaultdict(list)
    for event in events:
        sight = sighted(event)
        where = None if sight is None else place(event)
        if sight is None or where is None:
            continue
        sights.append((where, history.places[event.file].stream, sight))
        if sight.what is What.LEAVES:
            left[where, sight.broker].append(event.at)
        sight.after, sight.witness = floors.get(id(event), (0, None))
    for times in left.values():
        times.sort()
    for where, stream, sight in sights:
        lines = found.setdefault(where, ControllershipLines())
        sight.term = bisect_right(left.get((where, sight.broker), ()), sight.event.at)
        lines.add(stream, sight, id(sight.event) not in blamed)
    for lines in found.values():
        lines.finish()
    return found

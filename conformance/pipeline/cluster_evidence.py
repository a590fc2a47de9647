"""Reduces a cluster's lines, however many, to those that the rules about a whole cluster need.

Most lines are about one partition, and are judged with the others of that partition (`screen`).
Kept are the lines about no partition, which are few (processes, registrations, elections, topics),
and, of the lines that show which controller a broker knows or that it is the controller, the first
and last lines of each run with one epoch: the lines in between add nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from conformance.pipeline.rules_controllers import SAYS

OBEYED = (
    "leader_and_isr_applied", "leader_and_isr_handling", "leader_and_isr_received",
    "metadata_cached", "obeyed", "old_epoch_refused", "request_refused", "same_epoch_refused",
)  # fmt: skip
SIGHTED = tuple(sorted({*SAYS, *OBEYED}))
"""Kinds of lines of which the ends of each run are kept."""

UNUSED = ("leader_and_isr_batch_handled",)
"""Kinds without a partition that nothing is read from."""

ANCHORS = ("log_created", "log_removed")
"""Kinds of a partition that show as well which log is a broker's server log: one a file is kept."""

FOR_CLOCKS = (
    "leader_and_isr_applied", "leader_and_isr_handling", "leader_and_isr_received",
    "leader_and_isr_sent", "obeyed", "response_received",
)  # fmt: skip
"""Kinds by which clocks are compared."""

SAMPLE = 16  # one request in so many, by its number, is kept to compare clocks by
BLOCK = 200_000  # lines of one file that are looked at together
_TELLS_BEGINNINGS = ("leader_and_isr_applied", "leader_and_isr_received")
"""Kinds by which a log's creation is compared with what its broker does next, by the clock."""
_WITH_STATE = frozenset(("leader_and_isr_sent", "leader_and_isr_received"))
_HOUR = 3_600_000
_COLUMNS = (
    "kind", "line", "at", "broker", "controller", "controller_epoch", "known_epoch", "correlation",
    "version", "partition",
)  # fmt: skip


def kept_of_file(events: pa.Table, for_clocks: bool = True) -> pa.Table:
    """Selects the lines of one file that the rules about the whole cluster need.

    Another controller, another epoch and each new hour begin a new run. `for_clocks`: also keep the
    lines by which clocks are compared.
    """
    order = pa.array(_by_line(events["line"].to_pylist()), pa.int64())
    events = events.take(order)
    rows = list(zip(*(events[name].to_pylist() for name in _COLUMNS), strict=True))
    kept: set[int] = set()
    value: dict[int | None, tuple[object, ...]] = {}
    seen: dict[int | None, dict[str, list[int]]] = {}
    anchored: set[tuple[object, ...]] = set()
    for number, row in enumerate(rows):
        kind, _, at, broker, controller, epoch, known, correlation, version, partition = row
        if kind in ANCHORS:
            if (kind, broker) not in anchored:
                anchored.add((kind, broker))
                kept.add(number)
            continue
        if kind not in SIGHTED:
            if partition is None and (kind not in UNUSED or (for_clocks and _sampled(correlation))):
                kept.add(number)
            continue
        if for_clocks and (_sampled(correlation) or (kind in _WITH_STATE and _sampled(version))):
            kept.add(number)
        now = controller, epoch, known, at // _HOUR
        if value.get(broker) != now:
            kept.update(_ends(seen.get(broker, {})))
            value[broker], seen[broker] = now, {}
        run = seen[broker].setdefault(kind, [])
        if len(run) < 3:
            run.append(number)
        else:
            run[2] = number
    for runs in seen.values():
        kept.update(_ends(runs))
    return events.take(pa.array(sorted(kept), pa.int64()))


def for_parts(events: pa.Table) -> pa.Table:
    """Selects, from the result of `kept_of_file`, the lines that the parts of a cluster need.

    Two thirds of that result show which controller a broker knows, or that it is the controller.
    Of these, parts need only whom a broker obeys (`History.obeyed_before`), the first act of each
    term, who writes at all, and what follows the creation of a log.
    """
    of_runs = pc.is_in(events["kind"], pa.array([kind for kind in SIGHTED if kind != "obeyed"]))
    made = events.filter(pc.is_in(events["kind"], pa.array(ANCHORS)))
    names = ("broker", "topic", "partition")
    anchored = set(zip(*(made[name].to_pylist() for name in names), strict=True))
    earliest = pc.min(events["at"]).as_py()
    columns = ("kind", "broker", *names[1:], "controller", "controller_epoch", "file", "line")
    rows = zip(*(events[name].to_pylist() for name in (*columns, "at", "to_state")), strict=True)
    first: dict[tuple[object, ...], tuple[int, int]] = {}
    writers: set[int | None] = set()
    kept = set()
    for number, (in_run, row) in enumerate(zip(of_runs.to_pylist(), rows, strict=True)):
        kind, broker, topic, partition, controller, epoch, file, line, at, state = row
        beginning = kind in _TELLS_BEGINNINGS and (broker, topic, partition) in anchored
        new = state in ("NewPartition", "Stopped") or broker not in writers
        if not in_run or beginning or new or at == earliest:
            kept.add(number)
        if in_run and kind in SAYS and controller == broker:
            term = broker, epoch, file, kind
            first[term] = min(first.get(term, (line, number)), (line, number))
        writers.add(broker)
    kept.update(number for _, number in first.values())
    return events.take(pa.array(sorted(kept), pa.int64()))


def for_clocks(events: pa.Table) -> pa.Table:
    """Selects all lines of one request in `SAMPLE`, so that their pairs stay complete."""
    columns = (events[name].to_pylist() for name in ("kind", "correlation", "version"))
    kept = [
        (kind in FOR_CLOCKS and kind != "leader_and_isr_sent" and _sampled(correlation))
        or (kind in _WITH_STATE and _sampled(version))
        for kind, correlation, version in zip(*columns, strict=True)
    ]
    return events.filter(pa.array(kept, pa.bool_()))


def _ends(runs: dict[str, list[int]]) -> Iterable[int]:
    """The first two and the last line of each kind."""
    for run in runs.values():
        yield from run


def _sampled(number: int | None) -> bool:
    return number is not None and number % SAMPLE == 0


def _by_line(lines: list[int]) -> list[int]:
    return sorted(range(len(lines)), key=lines.__getitem__)

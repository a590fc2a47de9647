"""The state of one cluster whose logs grow: events that still matter, and what was reported.

Each judgement is that of `insync check` on everything that was kept, so a watched cluster is judged
by the same rules. A finding is reported when it has stood in two judgements, because a line of
another log that explains it may arrive a moment later; if such a line comes later still, the
finding is withdrawn.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from conformance.ingest.parse import FileCounts, jumps_back, what_is_wrong
from conformance.ingest.pieces import ParsedChunk, pack, unpack
from conformance.ingest.schema import EVENTS, events_of
from conformance.pipeline.clocks import Clock, clocks
from conformance.pipeline.cluster_evidence import for_clocks
from conformance.pipeline.corpus import Corpus, Figures, JudgedCorpus, UnknownShape
from conformance.pipeline.history import PROCESS
from conformance.pipeline.kernels import judge_cluster, judged_of
from conformance.pipeline.places import owners_of, places_of
from conformance.pipeline.repeats import merge_repeats
from conformance.pipeline.report import disordered, unread
from conformance.pipeline.rules import Finding, FindingKind

MOST_KEPT = 40_000  # events; above it, old ones go that cannot be compared with any to come
_NEWEST = MOST_KEPT // 2  # are all kept
_OF_EACH = 3  # of each kind of line about the same thing, however old
_KEPT = PROCESS | frozenset(  # all: who is elected twice has left its controllership in between
    ("controller_elected", "controller_resigned", "session_expired", "broker_registered")
)
_MOST_SHAPES = 1000
_PLACE = ("file", "line")

FINDING, WITHDRAWN = "finding", "withdrawn"


@dataclass(frozen=True)
class ReportedFinding:
    """A finding that is reported, or withdrawn."""

    what: str
    finding: Finding

    @property
    def order(self) -> tuple[object, ...]:
        """New findings first, then withdrawn ones; both in the order of findings."""
        return self.what, self.finding.order

    def as_row(self) -> dict[str, Any]:
        """As plain data."""
        return {"what": self.what} | asdict(self.finding)


_FORMER = {"told": "reported", "office": "election_steps"}
"""Names under which states that were kept by earlier versions have these fields."""


@dataclass
class StreamingState:
    """The state of one cluster's judgement, kept between two triggers of the stream."""

    cluster: str = ""
    events: pa.Table = field(default_factory=EVENTS.empty_table)
    logs: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    unknown: dict[str, dict[str, Any]] = field(default_factory=dict)
    checked: dict[str, int] = field(default_factory=dict)
    fired: dict[str, int] = field(default_factory=dict)
    election_steps: dict[str, int] = field(default_factory=dict)
    sequences: int = 0
    clocks: list[dict[str, Any]] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    reported: dict[str, dict[str, Any]] = field(default_factory=dict)
    found: dict[str, dict[str, Any]] = field(default_factory=dict)  # by the last judgement
    settled: list[str] = field(default_factory=list)  # of these nothing more can be known
    looked: dict[str, dict[str, int]] = field(default_factory=dict)  # where partitions are kept

    # -- between triggers -----------------------------------------------------------------------

    def packed(self) -> tuple[bytes, bytes]:
        """The events as an Arrow stream, and the rest as JSON."""
        book = {name: each for name, each in vars(self).items() if name != "events"}
        return pack(self.events), json.dumps(book).encode()

    @classmethod
    def unpacked(cls, events: bytes, book: bytes) -> StreamingState:
        """Restores the result of `packed`."""
        found = cls.of_book(book)
        found.events = unpack(events)
        return found

    @classmethod
    def of_book(cls, book: bytes | str) -> StreamingState:
        """Restores all but the events: the second part of the result of `packed`."""
        said = {_FORMER.get(name, name): each for name, each in json.loads(book).items()}
        return cls(**said | {"kinds": Counter(said["kinds"])})

    # -- a trigger ------------------------------------------------------------------------------

    def advance(self, pieces: Iterable[ParsedChunk]) -> list[ReportedFinding]:
        """Adds new lines, judges, and reports findings of two judgements in a row, or withdraws
        findings."""
        pieces = list(pieces)
        new = sorted(
            (piece for piece in pieces if piece.file),
            key=lambda piece: (piece.log["stream"], piece.log["roll"]),
        )
        for piece in new:
            self._take(piece)
        more = [piece for piece in pieces if not piece.file and piece.looked]
        for piece in more:
            for what, counts in piece.looked.items():
                self.looked[what] = dict(Counter(self.looked.get(what, {})) + Counter(counts))
        if not new and not self.pending and not any(piece.events.num_rows for piece in more):
            return []
        self._add([piece.events for piece in (*new, *more)])
        said = self._compare(self._judged())
        if self.events.num_rows > MOST_KEPT:
            said += self._thin()
        return said

    def _add(self, tables: list[pa.Table]) -> None:
        """Adds lines to those kept; a line may come twice, alone and with its neighbours.

        Only the line that was handed on names the line it contradicts, so that copy is kept.
        """
        marked = {
            place
            for table in tables
            for place, other in zip(
                zip(*(table[name].to_pylist() for name in _PLACE), strict=True),
                table["beside"].to_pylist(),
                strict=True,
            )
            if other is not None
        }
        if marked:
            tables = [_without(table, marked) for table in tables]
            self.events = _without(self.events, marked)
        places = set(zip(*(self.events[name].to_pylist() for name in _PLACE), strict=True))
        for table in tables:
            fresh = []
            for place in zip(*(table[name].to_pylist() for name in _PLACE), strict=True):
                fresh.append(place not in places)
                places.add(place)
            kept = table.filter(pa.array(fresh, pa.bool_()))
            self.events = pa.concat_tables([self.events, kept])

    def _thin(self) -> list[ReportedFinding]:
        """Drops old lines. A finding that can no longer be judged again stays as it is."""
        self.events = thinned(self.events, _NEWEST)
        waiting = {key: row for key, row in self.found.items() if key not in self.reported}
        again = {_key(finding) for finding in self._judged()}
        lost = [key for key in waiting if key not in again and key not in self.settled]
        self.reported |= {key: waiting[key] for key in lost}
        self.settled = sorted({*self.settled, *(set(self.found) ^ again)})
        said = {f"{waiting[key]['kind']} {key}" for key in lost}
        self.pending = [each for each in self.pending if each not in said]
        return [ReportedFinding(FINDING, _finding(waiting[key])) for key in lost]

    def corpus(self) -> Corpus:
        """The figures, as `insync check` reports them."""
        unknown = [UnknownShape(**each) for each in self.unknown.values()]
        unknown.sort(key=lambda each: (each.cluster, each.reason, each.template))
        figures = Figures(Counter(self.kinds), self.kinds.total(), unknown)
        files = [row | {"reason": self._wrong(row)} for row in self.files.values()]
        return Corpus(list(self.logs.values()), files, None, None, figures)

    def judged(self) -> JudgedCorpus:
        """The current findings, and the number of comparisons.

        The comparisons are those of the last judgement of the cluster and of all its partitions.
        """
        findings = [_finding(each) for each in self.reported.values()]
        clocks = [(self.cluster, Clock(**row)) for row in self.clocks]
        looked = {name: Counter(self.looked.get(name, {})) for name in ("checked", "fired")}
        if not self.checked and any(each.kind == FindingKind.NOT_JUDGED.value for each in findings):
            looked = {name: Counter() for name in looked}  # all of it was KRaft's
        return JudgedCorpus(
            findings,
            looked["checked"] + Counter(self.checked),
            looked["fired"] + Counter(self.fired),
            Counter(self.election_steps),
            self.sequences,
            clocks,
        )

    def _take(self, piece: ParsedChunk) -> None:
        name = piece.log["name"]
        self.logs[name] = piece.log | {"roll": self.logs.get(name, piece.log)["roll"]}
        known = self.files.get(name)
        self.files[name] = piece.file if known is None else _added(known, piece.file)
        self.kinds.update(piece.kinds)
        for reason, shape, count, line in piece.unknown:
            key = f"{reason}\n{shape}"
            if key not in self.unknown and len(self.unknown) >= _MOST_SHAPES:
                key, shape = f"{reason}\n", "other shapes"
            fresh = UnknownShape(self.cluster, reason, shape, 0, name, line)
            self.unknown.setdefault(key, asdict(fresh))["count"] += count

    def _wrong(self, row: dict[str, Any]) -> str | None:
        if row["reason"] is not None:
            return str(row["reason"])
        fields = ("stamped", "kafka", "events", "continuation", "rejected")
        return what_is_wrong(FileCounts(**{name: row[name] for name in fields}))

    def _judged(self) -> list[Finding]:
        logs, files = list(self.logs.values()), self.corpus().files
        folders = {log["name"]: log["folder"] for log in logs}
        merged = merge_repeats(self.events, owners_of(logs, files), folders)
        judged = judged_of(judge_cluster(merged, places_of(logs, files), reduced=True).to_pylist())
        self.checked, self.fired = dict(judged.checked), dict(judged.fired)
        self.election_steps = dict(judged.election_steps)
        self.sequences = judged.sequences
        self.clocks = [asdict(clock) for clock in clocks(events_of(for_clocks(merged)))]
        corpus = self.corpus()
        return [*judged.findings, *unread([corpus]), *disordered([corpus])]

    def _compare(self, findings: list[Finding]) -> list[ReportedFinding]:
        stand = {_key(finding): finding for finding in findings}
        self.found = {key: asdict(finding) for key, finding in stand.items()}
        for key in self.settled:
            stand.pop(key, None)
        said = []
        for key, finding in stand.items():
            known = self.reported.get(key)
            if known is not None and known["kind"] == finding.kind:
                self.reported[key] = asdict(finding)  # its words may have changed
            elif f"{finding.kind} {key}" in self.pending:
                self.reported[key] = asdict(finding)
                said.append(ReportedFinding(FINDING, finding))
        for key in [key for key in self.reported if key not in stand and key not in self.settled]:
            said.append(ReportedFinding(WITHDRAWN, _finding(self.reported.pop(key))))
        reported = {f"{each['kind']} {key}" for key, each in self.reported.items()}
        pending = {f"{finding.kind} {key}" for key, finding in stand.items()}
        self.pending = sorted(pending - reported)
        return sorted(said, key=lambda each: each.order)


def _without(events: pa.Table, marked: AbstractSet[tuple[str, int]]) -> pa.Table:
    """Removes the lines at these places; a line that names the one it contradicts stays."""
    rows = zip(
        zip(*(events[name].to_pylist() for name in _PLACE), strict=True),
        events["beside"].to_pylist(),
        strict=True,
    )
    kept = [place not in marked or other is not None for place, other in rows]
    return events.filter(pa.array(kept, pa.bool_()))


def thinned(events: pa.Table, newest: int) -> pa.Table:
    """Keeps the newest events, and of older ones the last few of each kind about the same thing.

    Rules compare a line with earlier ones about the same thing by the same writer; those stay
    however old they are, so that a value that goes back after a week is still found.
    """
    rows = events.select(["at", "kind", "file", "broker", "topic", "partition", "replica"])
    table = rows.to_pylist()
    order = sorted(range(len(table)), key=lambda n: (-table[n]["at"], -n))
    seen: Counter[tuple[Any, ...]] = Counter()
    kept = []
    for place, number in enumerate(order):
        row = table[number]
        about = tuple(row[name] for name in rows.column_names if name != "at")
        seen[about] += 1
        if place < newest or seen[about] <= _OF_EACH or row["kind"] in _KEPT:
            kept.append(number)
    return events.take(pa.array(sorted(kept), pa.int64())).combine_chunks()


def _added(known: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Merges the rows of two parts of a file, the later one second."""
    row = dict(known)
    for name in (
        "read", "events", "continuation", "rejected", "protocol", "stamped", "kafka", "nuls",
        "turns",
    ):  # fmt: skip
        row[name] += more[name]
    for name in ("since", "release", "stated_id", "reason"):
        row[name] = known[name] if known[name] is not None else more[name]
    row["until"] = more["until"] if more["until"] is not None else known["until"]
    counted = Counter(dict(zip(known["brokers"], known["named"], strict=True)))
    counted.update(dict(zip(more["brokers"], more["named"], strict=True)))
    row["brokers"] = sorted(counted)
    row["named"] = [counted[broker] for broker in sorted(counted)]
    row["one_writer"] = known["one_writer"] or more["one_writer"]
    jumps = jumps_back(known["until"], more["since"])
    row["jumps"] = known["jumps"] + [known["read"] + 1] * jumps + more["jumps"]
    row["holes"] = known["holes"] + more["holes"]
    row["hole_times"] = known["hole_times"] + [
        time or known["until"] or 0 for time in more["hole_times"]
    ]
    return row


def _key(finding: Finding) -> str:
    return f"{finding.rule} {finding.file}:{finding.line}"


def _finding(row: dict[str, Any]) -> Finding:
    return Finding(**row | {"positions": tuple(row["positions"])})

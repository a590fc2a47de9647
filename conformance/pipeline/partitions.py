"""Keeps one partition's lines while its logs grow: which to keep, and which to hand on.

The state of a partition is its last lines, a few of each kind about the same thing. They are
screened together with new lines (`screen`): contradictory lines are handed on, once, to the state
of the cluster.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from conformance.ingest.pieces import ParsedChunk
from conformance.ingest.schema import EVENT_FIELDS, EVENTS, Event
from conformance.pipeline.cluster_evidence import kept_of_file
from conformance.pipeline.model_writes import presets_for
from conformance.pipeline.places import Place, owners_of
from conformance.pipeline.suspect_lines import screen, tail

NEWEST = 60  # lines of a partition that are kept, whatever they tell
NO_PARTITION = -1
_NAMELESS = frozenset(("log_truncated", "truncation_chosen", "replica_loaded"))
"""May not name their broker: they are looked at where it is known whose file it is."""

Row = tuple[str, str, int, bytes, str]


def rows_of(piece: ParsedChunk) -> Iterator[Row]:
    """A piece as rows: what the cluster needs, and its lines by topic and partition.

    A row is cluster, topic, partition, events and book; the topic is empty in the cluster's own,
    which are in the form of `ParsedChunk.packed`.
    """
    whole = piece.events
    piece.events = kept_of_file(whole) if whole.num_rows else whole
    cluster, events, book = piece.packed()
    yield cluster, "", NO_PARTITION, events, book
    found: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in whole.to_pylist():
        if row["topic"] is not None and row["partition"] is not None:
            said = {name: value for name, value in row.items() if value is not None}
            found[row["topic"], row["partition"]].append(said)
    if found:
        owner = owners_of([piece.log], [piece.file])[piece.log["name"]]
        log = {name: piece.log[name] for name in ("name", "stream", "folder", "roll")}
        stands = json.dumps(log | {"owner": owner})
        for (topic, partition), rows in found.items():
            yield cluster, topic, partition, json.dumps(rows).encode(), stands


@dataclass
class KeptPartition:
    """The state of one partition, as kept between two triggers.

    `events` are the last lines, oldest first; `logs` gives the places of their files; `sent` names
    the lines that were handed on before.
    """

    events: list[dict[str, Any]] = field(default_factory=list)
    logs: dict[str, dict[str, Any]] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)

    def packed(self) -> str:
        """As JSON."""
        return json.dumps(vars(self))

    @classmethod
    def unpacked(cls, said: str) -> KeptPartition:
        """Restores the result of `packed`."""
        return cls(**json.loads(said))

    def advance(
        self, cluster: str, rows: Iterable[tuple[bytes, str]], release: str | None
    ) -> ParsedChunk:
        """Takes in new lines; returns counts, and the lines to hand on among all known ones."""
        inside = [Event(**row) for row in self.events]
        known = {(event.file, event.line) for event in inside}
        for events, book in rows:
            log = json.loads(book)
            self.logs[log["name"]] = log
            fresh = [Event(**row) for row in json.loads(events)]
            inside += [event for event in fresh if (event.file, event.line) not in known]
            known.update((event.file, event.line) for event in fresh)
        nameless = [event for event in inside if event.broker is None]
        for event in nameless:  # for now; whose file it is may turn out otherwise
            event.broker = self.logs[event.file]["owner"]
        cuts = {(event.file, event.line) for event in nameless if event.kind in _NAMELESS}
        releases = (release,) if release else presets_for(None)
        found = screen(inside, self._places(), releases, suspects=cuts)
        for event in nameless:
            event.broker = None
        sent = set(self.sent)
        evidence = [event for event in found.evidence if event.where not in sent]
        kept = tail(inside, self._places(), NEWEST)
        places = {event.where for event in kept}
        self.sent = sorted(places & (sent | {event.where for event in evidence}))
        self.events = [_row(event) for event in kept]
        files = {event.file for event in kept}
        self.logs = {name: log for name, log in self.logs.items() if name in files}
        rows_on = [{name: getattr(event, name) for name in EVENTS.names} for event in evidence]
        return ParsedChunk(
            cluster,
            pa.Table.from_pylist(rows_on, schema=EVENTS),
            looked={"checked": dict(found.checked), "fired": dict(found.fired)},
        )

    def _places(self) -> dict[str, Place]:
        return {
            name: Place(log["stream"], log["folder"], log["roll"])
            for name, log in self.logs.items()
        }


def _row(event: Event) -> dict[str, Any]:
    values = ((name, getattr(event, name)) for name in EVENT_FIELDS if name != "positions")
    return {name: value for name, value in values if value is not None}

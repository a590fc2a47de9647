"""Rows of request logs about one partition: requests, responses, order on a connection."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from conformance.ingest.request_log import EPOCHS, FETCHES, served_of
from conformance.ingest.schema import Event
from conformance.pipeline.places import Place

_FINE = 0

REQUESTS = frozenset((FETCHES, EPOCHS))

Served = tuple[int, str, str, int]
"""A broker, its log, and a partition of which it answers requests."""


@dataclass(frozen=True, slots=True)
class RequestRow:
    """The request and the response about one partition, from one line of a request log.

    `event` names the partition; the line itself names several. `before` is the line of the previous
    request on its connection, `run` the number of that connection's first request after which none
    is missing. In a fetch session (KIP-227) a request has only what changed: `asked` is the last
    request about this partition.
    """

    event: Event
    before: Event | None
    run: tuple[str, int]
    fetch: bool
    asked: Mapping[str, int]
    answered: Mapping[str, int]
    size: int | None
    diverging: bool
    insession: bool

    def compared(self, fenced: bool) -> bool:
        """Whether the leader checks the leader epoch in the request.

        Up to 2.4 it did not within a fetch session (KAFKA-9338).
        """
        return self.current_leader_epoch >= 0 and (fenced or not self.insession)

    @property
    def current_leader_epoch(self) -> int:
        """The leader epoch in the request; -1 if it has none (up to 2.0)."""
        return self.asked.get("currentleaderepoch", -1)

    @property
    def fine(self) -> bool:
        """Whether the response has no error."""
        return self.answered.get("errorcode") == _FINE


def rows_by_partition(
    events: Iterable[Event], places: Mapping[str, Place]
) -> dict[Served, list[RequestRow]]:
    """The rows of every partition, by the broker that answers. The events are given in order."""
    found: dict[Served, list[RequestRow]] = defaultdict(list)
    last: dict[tuple[str, str], tuple[Event, int]] = {}
    sessions: dict[tuple[str, str], dict[tuple[str, int], Mapping[str, int]]] = {}
    for event in events:
        if event.kind not in REQUESTS or event.broker is None:
            continue
        place = places[event.file]
        connection, rows = served_of(event.detail)
        number = event.correlation or 0
        before, first = last.get((place.stream, connection), (None, number))
        if before is not None:
            one = before.correlation or 0
            if not connection or one >= number or before.at > event.at or place.jumps:
                before = None  # another connection, or lines in another order than were written
            if before is None or one + 1 != number:
                first = number
        last[place.stream, connection] = event, first
        session = sessions.setdefault((place.stream, connection), {})
        if first == number:
            session.clear()
        for row in rows:
            tp = row["topic"], row["partition"]
            asked = row.get("asked", {})
            if event.kind == FETCHES:
                session[tp] = asked = asked or session.get(tp, {})
            found[event.broker, place.stream, *tp].append(
                RequestRow(
                    replace(event, topic=tp[0], partition=tp[1]), before, (connection, first),
                    event.kind == FETCHES, asked, row.get("answered", {}), row.get("bytes"),
                    "diverging" in row, "insession" in row)
            )  # fmt: skip
    return found


def fences_sessions(release: str | None) -> bool:
    """Whether brokers of a release check the leader epoch of every fetch (KAFKA-9338)."""
    return release is not None and release_number(release) >= (2, 5)


def release_number(release: str) -> tuple[int, ...]:
    """A release's name as numbers that can be compared."""
    return tuple(int(part) for part in release.split(".") if part.isdigit())

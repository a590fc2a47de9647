"""Finds anomalies in a history of clients, in the terms of Jepsen's workload for Kafka.

Each anomaly has a kind, with the place and the records that show it. A record that its leader
alone acknowledged (acks=1) may be lost when leaders change; this is counted, but is no anomaly. A
plain producer may write a record again when it gets no response; an idempotent one may not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from conformance.chaos.history import ClientHistory, ProduceAttempt
from specs.verdict import Verdict

LOST = "lost"
DUPLICATE = "duplicate"
REORDERED = "reordered"
TORN = "torn batch"
UNWRITTEN = "never written"
DIVERGED = "diverged"
LOST_READ = "read and lost"
WENT_BACK = "offset went back"
SKIPPED = "skipped"
ON_DISK = "broken on a disk"

KINDS = {
    LOST: "a record was acknowledged with acks=all, and is not in the log at the end",
    DUPLICATE: "an idempotent producer's record is in the log twice",
    REORDERED: "an idempotent producer's records are not in the order in which it sent them",
    TORN: "of the records of one batch some are in the log and others not, or not together",
    UNWRITTEN: "a record is read that nobody has sent there",
    DIVERGED: "two records were seen at one offset of one partition",
    LOST_READ: "a record was read, and is not in the log at the end",
    WENT_BACK: "a reader, or the group's position, is before where it was",
    SKIPPED: "a reader passed over records that are in the log",
    ON_DISK: "what is in the log directories contradicts itself",
}


@dataclass(frozen=True)
class Anomaly:
    """One anomaly; ``offset`` is -1 if it has none. ``entry``: the historic bug that caused it."""

    kind: str
    partition: int
    offset: int
    why: str
    at: float = 0.0
    entry: str = ""
    because: str = ""


@dataclass
class ClientAnomalies:
    """The anomalies, and the counts of allowed events."""

    anomalies: list[Anomaly] = field(default_factory=list)
    allowed: Counter[str] = field(default_factory=Counter)


def find_anomalies(history: ClientHistory) -> ClientAnomalies:
    """Looks for every kind of anomaly."""
    judged = ClientAnomalies()
    places = _places(history)
    seen = _seen(history, judged)
    given_up = _given_up(history)
    for send in history.sends:
        _judge_send(send, places, given_up, judged)
    _judge_orders(history, places, judged)
    _judge_unwritten(history, seen, judged)
    _judge_reads(history, judged)
    _judge_commits(history, judged)
    judged.anomalies.sort(key=lambda one: (list(KINDS).index(one.kind), one.partition, one.offset))
    return judged


def verdict_on(
    history: ClientHistory, anomalies: Sequence[Anomaly], unfinished: str
) -> Verdict:  # fmt: skip
    """The verdict on a whole run. ``unfinished`` says why the log could not be read at the end.

    A client that got no acks=all acknowledgement, or that read nothing, checked nothing.
    """
    counts = history.counts()
    if anomalies:
        return Verdict.BROKEN
    if unfinished:
        return Verdict.UNKNOWN
    if not all((counts["acknowledged_by_all"], counts["read"], counts["found"])) or not all(
        one["acknowledged_by_all"] and one["read"] for one in history.by_client().values()
    ):
        return Verdict.NOT_CHECKED
    return Verdict.HOLDS


Places = dict[tuple[int, str], list[int]]
Seen = dict[tuple[int, int], str]


def _places(history: ClientHistory) -> Places:
    """By partition and value, the offsets of the value at the end."""
    found: Places = defaultdict(list)
    for partition, log in history.final.items():
        for offset in sorted(log):
            found[partition, log[offset]].append(offset)
    return found


def _seen(history: ClientHistory, judged: ClientAnomalies) -> Seen:
    """The value at each offset, by whoever saw it first: the final log, reads, responses."""
    seen: Seen = {
        (partition, offset): value
        for partition, log in history.final.items()
        for offset, value in log.items()
    }
    reported: set[tuple[int, int]] = set()
    for read in history.reads:
        for offset, value in read.records:
            where = read.partition, offset
            if where not in seen:
                seen[where] = value
                why = f"{value} was read by {read.reader}, and is not there any more"
                judged.anomalies.append(Anomaly(LOST_READ, *where, why, read.at))
            elif seen[where] != value and where not in reported:
                reported.add(where)
                why = f"{value} was read by {read.reader}, and {seen[where]} is there as well"
                judged.anomalies.append(Anomaly(DIVERGED, *where, why, read.at))
    return seen


GivenUp = dict[tuple[str, int], list[ProduceAttempt]]


def _given_up(history: ClientHistory) -> GivenUp:
    """By writer and partition, the batches that an idempotent producer has given up."""
    found: GivenUp = defaultdict(list)
    for send in history.sends:
        if send.idempotent and send.error:
            found[send.writer, send.partition].append(send)
    return found


def _was_renumbered(send: ProduceAttempt, given_up: GivenUp) -> bool:
    """Whether the batch was in flight while another batch of its producer was given up.

    A producer that gives a record up gets another id, or epoch, with which it sends what is still
    in its queue; no broker can know that it has some of that already.
    """
    return any(
        other is not send and other.began <= send.ended and send.began <= other.ended
        for other in given_up.get((send.writer, send.partition), ())
    )


def _judge_send(
    send: ProduceAttempt, places: Places, given_up: GivenUp, judged: ClientAnomalies
) -> None:
    found = {value: places.get((send.partition, value), []) for value in send.values}
    if send.acknowledged:
        missing = [value for value, offsets in found.items() if not offsets]
        if missing and send.acks == -1:
            why = f"{', '.join(missing)} of {send.writer} is not in the log; acks=all had said so"
            judged.anomalies.append(Anomaly(LOST, send.partition, send.offset, why, send.ended))
            return
        if missing:
            judged.allowed["lost, as the leader alone had acknowledged it"] += len(missing)
            if len(missing) == send.count:
                return
        elsewhere = (
            send.acks == -1
            and send.offset >= 0
            and any(send.offset + at not in found[value] for at, value in enumerate(send.values))
        )
        if elsewhere and not missing:
            why = f"{send.values[0]} was acknowledged at offset {send.offset}, and is not there"
            judged.anomalies.append(Anomaly(DIVERGED, send.partition, send.offset, why, send.ended))
    times = max(map(len, found.values()))
    if times > 1 and send.idempotent and _was_renumbered(send, given_up):
        judged.allowed["written again by an idempotent producer that had given others up"] += 1
    elif times > 1 and send.idempotent:
        value, offsets = max(found.items(), key=lambda one: len(one[1]))
        why = f"{value} of {send.writer} is at offsets {', '.join(map(str, offsets))}"
        judged.anomalies.append(Anomaly(DUPLICATE, send.partition, offsets[1], why, send.ended))
    elif times > 1:
        judged.allowed["written again by a plain producer"] += times - 1
    if not _is_contiguous(list(found.values())):
        counts = ", ".join(f"{value}: {len(offsets)}" for value, offsets in found.items())
        why = f"a batch of {send.count} records of {send.writer} is there in part ({counts})"
        offset = next((offsets[0] for offsets in found.values() if offsets), send.offset)
        judged.anomalies.append(Anomaly(TORN, send.partition, offset, why, send.ended))


def _is_contiguous(offsets: list[list[int]]) -> bool:
    """Whether the batch's records are consecutive each time that the batch is there."""
    firsts = offsets[0]
    return all(one == [first + at for first in firsts] for at, one in enumerate(offsets))


def _judge_orders(history: ClientHistory, places: Places, judged: ClientAnomalies) -> None:
    """Checks the order of an idempotent producer's acknowledged records, by partition."""
    last: dict[tuple[str, int], tuple[int, str]] = {}
    for send in history.sends:
        if not (send.idempotent and send.acknowledged):
            continue
        for value in send.values:
            offsets = places.get((send.partition, value))
            if not offsets:
                continue
            before = last.get((send.writer, send.partition))
            if before is not None and offsets[0] < before[0]:
                why = f"{value} is before {before[1]} (offset {before[0]}), which was sent before"
                judged.anomalies.append(
                    Anomaly(REORDERED, send.partition, offsets[0], why, send.ended)
                )
            last[send.writer, send.partition] = offsets[0], value


def _judge_unwritten(history: ClientHistory, seen: Seen, judged: ClientAnomalies) -> None:
    sent = {(send.partition, value) for send in history.sends for value in send.values}
    for (partition, offset), value in sorted(seen.items()):
        if (partition, value) not in sent:
            why = f"{value!r} is there, and nobody sent it to partition {partition}"
            judged.anomalies.append(Anomaly(UNWRITTEN, partition, offset, why))


def _judge_reads(history: ClientHistory, judged: ClientAnomalies) -> None:
    """A reader that keeps a partition continues where it was, and skips nothing."""
    last: dict[tuple[str, int, int], int] = {}
    for read in history.reads:
        key = read.reader, read.joined, read.partition
        log = history.final.get(read.partition, {})
        following = last.get(key, read.position)
        for offset, value in read.records:
            if offset < following:
                why = f"{read.reader} read {value} at {offset}, and was at {following} before"
                judged.anomalies.append(Anomaly(WENT_BACK, read.partition, offset, why, read.at))
            passed = [one for one in range(following, offset) if one in log]
            if passed:
                why = (
                    f"{read.reader} went from {following} to {offset}: {log[passed[0]]} is between"
                )
                judged.anomalies.append(Anomaly(SKIPPED, read.partition, passed[0], why, read.at))
            following = offset + 1
        last[key] = following
        if read.error:  # its position was beyond the log: what it had read there is gone
            judged.allowed[f"answered {read.error}"] += 1
            last.pop(key)


def _judge_commits(history: ClientHistory, judged: ClientAnomalies) -> None:
    """A joining member finds at least the positions acknowledged as committed before it asked.

    A position that was itself set back because the log had become shorter does not count.
    """
    kept: dict[tuple[str, int], list[tuple[float, float, int]]] = defaultdict(list)
    for one in history.commits:
        kept[one.group, one.partition].append((one.ended, one.began, one.offset))
    for found in history.restored:
        before = [one for one in kept[found.group, found.partition] if one[0] < found.began]
        if not before:
            continue
        latest = max(one[1] for one in before)
        least = min(one[2] for one in before if one[0] >= latest)  # those of the last moment
        if found.offset < least:
            why = f"{found.reader} joined at {found.offset}; {least} had been committed before"
            judged.anomalies.append(
                Anomaly(WENT_BACK, found.partition, found.offset, why, found.began)
            )

"""Determines each file's place in its cluster (its broker and kind) from all files together."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from conformance.ingest.files import usual_name
from conformance.ingest.parse import NOT_KAFKA

_NUMBERED = re.compile(r"(?:broker|kafka|server|node)[-_]?(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """A file in the order of its log.

    `sole` means that one broker wrote all files of the log: then rolling loses no file. Several
    processes that share one log overwrite each other's rolled files.
    """

    stream: str
    folder: str
    roll: int
    gap_before: bool = False
    damaged: bool = False
    sole: bool = True
    since: int | None = None  # milliseconds since 1970
    until: int | None = None
    jumps: tuple[int, ...] = ()
    tangled: bool = False
    """Stamps of the log's files overlap: in which order they were written nothing says."""
    live: bool = True
    """The file that is still written: what does not stand in it was not yet written."""
    quiet_until: int = 1 << 62
    """Up to when a live file that says nothing more was quiet, as far as its neighbours tell."""
    holes: tuple[tuple[int, int], ...] = ()
    """Lines that could not be read, each with the stamp before it: others may have stood there."""
    writers: tuple[tuple[int, int], ...] = ()
    """The brokers that its lines name as their writers, and how many lines each."""


_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
_DATED = re.compile(r"\.\d{4}-\d\d-\d\d(?P<hour>-\d\d)?(?P<minute>-\d\d)?(?:\.|$)")
_COPYING = 10_000  # milliseconds: files of one folder are copied one after another
_TURNS = 3  # of which some are within a millisecond, if one process wrote the file
_OVERLAP = 1000  # milliseconds by which threads that write one log may be out of order


@dataclass(frozen=True)
class Order:
    """A log's files in stamp order: `rolls` is the position by name; `tangled` if undecided."""

    rolls: Mapping[str, int]
    turned: bool = False  # it is the other way round than the names say
    tangled: bool = False  # stamps overlap, so that nothing says which file is the older
    shared: bool = False  # several brokers write it, so that it is no wonder


def order_of(rows: Sequence[tuple[str, int | None, int | None]]) -> Order:
    """The order of one log's files: (name, first stamp, last stamp), given in the order of names.

    log4j counts up or down (`fileIndex`), and files are renamed: if the stamps give one order, that
    order is used.
    """
    names = [name for name, _, _ in rows]
    timed = [(since, until, name) for name, since, until in rows if since is not None]
    if _ascends(timed):
        return Order({name: n for n, name in enumerate(names)})
    by_time = sorted(timed, key=lambda each: (each[0], each[1]))
    if not _ascends(by_time):
        return Order({name: n for n, name in enumerate(names)}, tangled=True)
    silent = [name for name, since, _ in rows if since is None]
    ordered = [*silent, *(name for _, _, name in by_time)]
    return Order({name: n for n, name in enumerate(ordered)}, turned=True)


def _ascends(rows: Sequence[tuple[Any, Any, str]]) -> bool:
    return all(a[1] is None or b[0] >= a[1] - _OVERLAP for a, b in pairwise(rows))


def places_of(
    logs: Iterable[Mapping[str, Any]], files: Iterable[Mapping[str, Any]]
) -> dict[str, Place]:
    """Places by file name, from the rows of the discovered logs and of `FILES`."""
    read = {row["file"]: row for row in files}
    logs = list(logs)
    writers: dict[str, set[int]] = defaultdict(set)
    for log in logs:
        row = read.get(log["name"])
        if row is not None:
            writers[log["stream"]] |= set(row["brokers"] or ())
    nothing: Mapping[str, Any] = {"reason": "was not read", "since": None, "until": None}
    places = {}
    orders = file_order_by_log(logs, files)
    undated = _after_a_pause(logs, read, orders)
    last_of: dict[str, int] = defaultdict(int)
    for log in logs:
        last_of[log["folder"]] = max(
            last_of[log["folder"]], read.get(log["name"], nothing)["until"] or 0
        )
    newest = {stream: max(order.rolls.values()) for stream, order in orders.items()}
    for log in logs:
        order = orders[log["stream"]]
        roll = order.rolls[log["name"]]
        row = read.get(log["name"], nothing)
        holes = list(zip(row.get("holes") or (), row.get("hole_times") or (), strict=True))
        cut = bool(holes) and holes[-1][0] == row["read"]
        places[log["name"]] = Place(
            stream=log["stream"],
            folder=log["folder"],
            roll=roll,
            # Names that count the other way have their gaps behind them.
            gap_before=log["name"] in undated
            or (
                any(each["gap_before"] for each in logs if each["stream"] == log["stream"])
                if order.turned
                else log["gap_before"]
            ),
            damaged=row["reason"] not in (None, NOT_KAFKA),  # that was read whole
            sole=len(writers[log["stream"]]) <= 1,
            since=row["since"],
            until=row["until"],
            jumps=tuple(row.get("jumps") or ()) or ((0,) if _is_merged(row) else ()),
            # The last line of a log is being written, and the rest of it will be right.
            holes=tuple(
                hole
                for hole in holes
                if not (roll == newest[log["stream"]] and hole[0] == row["read"])
            ),
            tangled=order.tangled,
            live=roll == newest[log["stream"]] and is_live(log["name"]) and not cut,
            quiet_until=max(row["until"] or 0, last_of[log["folder"]] - _COPYING),
            writers=tuple(zip(row.get("brokers") or (), row.get("named") or (), strict=False)),
        )
    return places


def _is_merged(row: Mapping[str, Any]) -> bool:
    """Whether a file may have been merged from several by their stamps: some may be missing."""
    return (row.get("turns") or 0) >= _TURNS and not row["one_writer"]


def _after_a_pause(
    logs: Sequence[Mapping[str, Any]],
    read: Mapping[str, Mapping[str, Any]],
    orders: Mapping[str, Order],
) -> set[str]:
    """Files of logs rolled by minute, hour or day that follow on a period without a file.

    Either the log was quiet in that period, or its file is missing; the names do not tell which.
    """
    streams: dict[str, list[str]] = defaultdict(list)
    for log in logs:
        streams[log["stream"]].append(log["name"])
    found = set()
    for stream, names in streams.items():
        dated = [
            each
            for each in (_DATED.search(usual_name(os.path.basename(one))) for one in names)
            if each
        ]
        if not dated:
            continue
        period = _HOUR if any(each["hour"] for each in dated) else _DAY
        period = _MINUTE if any(each["minute"] for each in dated) else period
        names.sort(key=orders[stream].rolls.__getitem__)
        until: int | None = None
        for name in names:
            row = read.get(name, {})
            since = row.get("since")
            if until is not None and since is not None and since // period > until // period + 1:
                found.add(name)
            until = row.get("until") or until
    return found


def file_order_by_log(
    logs: Iterable[Mapping[str, Any]], files: Iterable[Mapping[str, Any]]
) -> dict[str, Order]:
    """The order of each log's files, by the log's name.

    Brokers that share a log roll it independently: there, only the names give an order.
    """
    read = {row["file"]: row for row in files}
    streams: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for log in logs:
        streams[log["stream"]].append(log)
    found = {}
    for stream, some in streams.items():
        some.sort(key=lambda log: (log["roll"], log["name"]))
        rows = [(log["name"], read.get(log["name"], {})) for log in some]
        if len({broker for _, row in rows for broker in row.get("brokers") or ()}) > 1:
            timed = [
                (row["since"], row.get("until"), name) for name, row in rows if row.get("since")
            ]
            rolls = {name: n for n, (name, _) in enumerate(rows)}
            found[stream] = Order(rolls, tangled=not _ascends(timed), shared=True)
        else:
            found[stream] = order_of([(n, row.get("since"), row.get("until")) for n, row in rows])
    return found


def is_live(name: str) -> bool:
    """Whether a log file has a plain name, `server.log`, as only the newest of a log has."""
    plain = usual_name(os.path.basename(name))
    return re.fullmatch(r"[^/]+\.(?:log|out)|[^/.]+", plain) is not None


def follow_on(files: Sequence[Place]) -> bool:
    """Whether no line between the first and the last of a log's files is lost.

    Lines that could not be read are not considered: callers know their places.
    """
    return (
        all(place.sole and not place.jumps and not place.tangled for place in files)
        and not any(place.damaged for place in files[:-1])
        and not any(place.gap_before for place in files[1:])
    )


def files_cover_interval(files: Sequence[Place], low: int, high: int) -> bool:
    """Whether the files of one log hold everything written to it from `low` to `high`."""
    begun = [n for n, place in enumerate(files) if place.since is not None and place.since <= low]
    if not begun:
        return False
    ended = (n for n in range(begun[-1], len(files)) if (files[n].until or 0) >= high)
    last = min(ended, default=None)
    some = files[begun[-1] : None if last is None else last + 1]
    if any(low <= (time or low) <= high for place in some for _, time in place.holes):
        return False
    if last is None and (
        some[-1].damaged
        or some[-1].tangled
        or not some[-1].live
        or some[-1].quiet_until + _OVERLAP < high
    ):
        return False  # else what is quiet after the live file's last line was quiet
    return not some[0].jumps if len(some) == 1 else follow_on(some)


def owners_of(
    logs: Iterable[Mapping[str, Any]], files: Iterable[Mapping[str, Any]]
) -> dict[str, int | None]:
    """The broker that a file belongs to, where this is certain.

    It is the one broker that the file's lines name; else the one that the log's other files
    name; else the number in the file's or its folder's name, such as `server2.log` or
    `broker-2/`; else the one broker that the folder's other files name.
    """
    named: dict[str, set[int]] = {row["file"]: set(row["brokers"] or ()) for row in files}
    streams: dict[str, set[int]] = defaultdict(set)
    folders: dict[str, set[int]] = defaultdict(set)
    logs = list(logs)
    for log in logs:
        streams[log["stream"]] |= named.get(log["name"], set())
        folders[log["folder"]] |= named.get(log["name"], set())
    owners: dict[str, int | None] = {}
    for log in logs:
        owner: int | None = None
        for brokers in (named.get(log["name"], set()), streams[log["stream"]]):
            if brokers:
                owner = next(iter(brokers)) if len(brokers) == 1 else None
                break
        else:
            owner = _numbered(log["name"])
            if owner is None and len(folders[log["folder"]]) == 1:
                owner = next(iter(folders[log["folder"]]))
        owners[log["name"]] = owner
    return owners


def _numbered(name: str) -> int | None:
    """The number in the name of the file or its nearest folder."""
    parts = name.split(os.sep)
    file = parts[-1].split(".", 1)[0]
    for part in (file, *reversed(parts[-3:-1])):
        found = _NUMBERED.fullmatch(part)
        if found is not None:
            return int(found[1])
    return None

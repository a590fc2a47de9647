"""Where each file stands in its cluster, and whose it is, from what was read of all of them."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.ingest.parse import NOT_KAFKA

_NUMBERED = re.compile(r"(?:broker|kafka|server|node)[-_]?(\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """A file in the order of its log.

    `sole` means that one broker wrote all files of the log: then nothing is lost when a file is
    rolled. Several processes that share one log overwrite each other's rolled files.
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
    holes: tuple[tuple[int, int], ...] = ()
    """Lines that could not be read, each with the stamp before it: others may have stood there."""


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
    newest = {log["stream"]: log["roll"] for log in sorted(logs, key=lambda log: log["roll"])}
    for log in logs:
        row = read.get(log["name"], nothing)
        holes = zip(row.get("holes") or (), row.get("hole_times") or (), strict=True)
        places[log["name"]] = Place(
            stream=log["stream"],
            folder=log["folder"],
            roll=log["roll"],
            gap_before=log["gap_before"],
            damaged=row["reason"] not in (None, NOT_KAFKA),  # that was read whole
            sole=len(writers[log["stream"]]) <= 1,
            since=row["since"],
            until=row["until"],
            jumps=tuple(row.get("jumps") or ()),
            # The last line of a log is being written, and the rest of it will be right.
            holes=tuple(
                hole
                for hole in holes
                if not (log["roll"] == newest[log["stream"]] and hole[0] == row["read"])
            ),
        )
    return places


def follow_on(files: Sequence[Place]) -> bool:
    """Whether nothing that was written between the first and the last of a log's files is lost.

    Lines that could not be read are not looked at: the callers know between which places.
    """
    return (
        all(place.sole and not place.jumps for place in files)
        and not any(place.damaged for place in files[:-1])
        and not any(place.gap_before for place in files[1:])
    )


def cover(files: Sequence[Place], low: int, high: int) -> bool:
    """Whether the files of one log hold all that was written to it from `low` to `high`."""
    begun = [n for n, place in enumerate(files) if place.since is not None and place.since <= low]
    if not begun:
        return False
    ended = (n for n in range(begun[-1], len(files)) if (files[n].until or 0) >= high)
    last = min(ended, default=None)
    some = files[begun[-1] : None if last is None else last + 1]
    if any(low <= (time or low) <= high for place in some for _, time in place.holes):
        return False
    if last is None and some[-1].damaged:
        return False  # else what is quiet after the newest file's last line was quiet
    return not some[0].jumps if len(some) == 1 else follow_on(some)


def owners_of(
    logs: Iterable[Mapping[str, Any]], files: Iterable[Mapping[str, Any]]
) -> dict[str, int | None]:
    """The broker whose file it is, where that is beyond doubt.

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
    """The number that the file or the nearest folder is named with."""
    parts = name.split(os.sep)
    file = parts[-1].split(".", 1)[0]
    for part in (file, *reversed(parts[-3:-1])):
        found = _NUMBERED.fullmatch(part)
        if found is not None:
            return int(found[1])
    return None

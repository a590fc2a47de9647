"""Where each file stands in its cluster, and whose it is, from what was read of all of them."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

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
    for log in logs:
        row = read.get(log["name"], nothing)
        places[log["name"]] = Place(
            stream=log["stream"],
            folder=log["folder"],
            roll=log["roll"],
            gap_before=log["gap_before"],
            damaged=row["reason"] is not None,
            sole=len(writers[log["stream"]]) <= 1,
            since=row["since"],
            until=row["until"],
            jumps=tuple(row.get("jumps") or ()),
        )
    return places


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

"""Months of one cluster's logs, made of some days that were really written.

python -m tests.bench.pipeline.shifted LOGS OUT --lines 20_000_000 --seed 1

LOGS is the folder of one cluster. Its days follow each other again and again: stamps move on, and
controller epochs, leader epochs and versions of znodes go on where they were, so that all of it
is one cluster. Files are rolled by the hour, as Kafka's own configuration has it. Between two
rounds the cluster stands still for a while, by seed.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from conformance.ingest.files import discover
from conformance.ingest.reader import lines_of

_STAMP = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)([,.]\d{3}\])")
_NUMBER = re.compile(
    r"(epoch zk version|and zk version|leader[_ ]?epoch|older epoch|broker ?epoch|"
    r"(?:zk ?)?version|epoch)"
    r'(["):=\s\[(]*(?:was|is now|updated to|incremented to|->|to)?["):=\s\[(]*)'
    r"(\d+)(?!\d|\.\d)",
    re.IGNORECASE,
)
_SESSION = "sessionId="  # of fetches, whose epoch counts requests
_ROLLED = re.compile(r"(.+?\.(?:log|out))\b.*", re.DOTALL)
_APART = 5  # of what one round ends with and the next begins with
_OF_EPOCH = ("epoch zk version", "and zk version")  # /controller_epoch's, which rises with it
_LEADER, _VERSION, _BROKER, _CONTROLLER = range(4)


@dataclass
class Source:
    """Logs as they were written: lines by file, and how far they reach."""

    files: dict[str, list[str]]
    since: datetime
    until: datetime
    most: tuple[int, ...]  # the largest leader epoch, version, broker epoch, controller epoch

    @property
    def lines(self) -> int:
        """Of all files."""
        return sum(map(len, self.files.values()))


def source_of(folder: Path) -> Source:
    """The logs of one cluster, in memory."""
    files, most = {}, [0, 0, 0, 0]
    times: list[str] = []
    for log in discover([str(folder)]).logs:
        lines = list(lines_of(log.path))
        files[str(Path(log.path).relative_to(folder))] = lines
        for line in lines:
            stamp = _STAMP.match(line)
            if stamp is not None:
                times.append(stamp[1])
            for found in () if _SESSION in line else _NUMBER.finditer(line):
                kind = _kind(found[1])
                most[kind] = max(most[kind], int(found[3]))
    if not times:
        raise SystemExit(f"{folder} holds no stamped line; name the folder of a cluster's logs")
    first, last = (datetime.fromisoformat(each) for each in (min(times), max(times)))
    return Source(files, first, last, tuple(most))


def write(source: Source, out: Path, lines: int, seed: int = 1) -> int:
    """Write at least so many lines into the new folder `out`; how many were written."""
    chosen = random.Random(seed)
    written, rounds, shift = 0, 0, timedelta()
    span = source.until - source.since
    while written < lines:
        more = tuple(rounds * (each + _APART) for each in source.most)
        for name, text in sorted(source.files.items()):
            written += _write_round(out, name, text, shift, more)
        rounds += 1
        pause = timedelta(hours=2 + chosen.randrange(4))
        shift += timedelta(hours=span // timedelta(hours=1)) + pause
    return written


def _write_round(
    out: Path, name: str, lines: list[str], shift: timedelta, more: Sequence[int]
) -> int:
    rolled = _ROLLED.fullmatch(Path(name).name)
    stem = rolled[1] if rolled is not None else Path(name).name
    folder = out / Path(name).parent
    folder.mkdir(parents=True, exist_ok=True)
    waiting: list[str] = []
    hour = ""
    for line, at in _moved(lines, shift, more):
        if at and at != hour:
            if hour:
                _append(folder / f"{stem}.{hour}", waiting)
                waiting = []
            hour = at
        waiting.append(line)
    _append(folder / (f"{stem}.{hour}" if hour else stem), waiting)
    return len(lines)


def _append(path: Path, lines: list[str]) -> None:
    if lines:
        with path.open("a", encoding="utf-8", errors="surrogateescape") as file:
            file.write("\n".join(lines) + "\n")


def _moved(
    lines: Iterator[str] | list[str], shift: timedelta, more: Sequence[int]
) -> Iterator[tuple[str, str]]:
    """Lines moved in time and epoch, each with its hour as in a rolled file's name, if stamped."""

    def larger(found: re.Match[str]) -> str:
        return f"{found[1]}{found[2]}{int(found[3]) + more[_kind(found[1])]}"

    known: dict[str, tuple[str, str]] = {}
    newest = ""
    for line in lines:
        stamp = _STAMP.match(line)
        if stamp is None:
            yield line, ""
            continue
        moved = known.get(stamp[1])
        if moved is None:
            at = datetime.fromisoformat(stamp[1]).replace(tzinfo=UTC) + shift
            moved = known[stamp[1]] = (f"[{at:%Y-%m-%d %H:%M:%S}", f"{at:%Y-%m-%d-%H}")
        newest = max(newest, moved[1])
        text = line[stamp.end() :]
        if ("poch" in text or "ersion" in text) and _SESSION not in text:
            text = _NUMBER.sub(larger, text)
        yield f"{moved[0]}{stamp[2]}{text}", newest


def _kind(word: str) -> int:
    word = word.lower()
    if word in _OF_EPOCH:
        return _CONTROLLER
    if word.startswith(("leader", "older")):
        return _LEADER
    return _VERSION if "version" in word else _BROKER if "broker" in word else _CONTROLLER


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the logs, and says how many lines."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pipeline.shifted")
    parser.add_argument("logs", type=Path, help="the folder of one cluster's logs")
    parser.add_argument("out", type=Path, help="a new folder")
    parser.add_argument("--lines", type=int, default=20_000_000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    if chosen.out.exists():
        parser.error(f"{chosen.out} is there already; name a new folder")
    print(f"{write(source_of(chosen.logs), chosen.out, chosen.lines, chosen.seed):,} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())

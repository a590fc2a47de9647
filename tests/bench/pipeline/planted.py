"""One number of one line is changed, by seed, again and again: how many are found, and where.

python -m tests.bench.pipeline.planted LOGS_OF_A_CLUSTER --seed 7 --plants 90

Each plant is by itself: a kind of line is drawn, a line of that kind, and a number in its text (not
in its stamp), which becomes a little larger or smaller. A line is `found` where a finding stands
at it that the unchanged logs have not, `near` where one stands elsewhere. Some changes leave lines
that a right cluster could have written, such as a number that stands once: no rule finds those.
"""

from __future__ import annotations

import argparse
import gzip
import random
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.ingest.dialects import NOTE
from conformance.ingest.files import discover
from conformance.ingest.reader import lines_of
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.rules import BREAKS

_STAMP = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[,.]\d{3}\] ")
_NUMBER = re.compile(r"(?<![\w.:/-])-?\d+(?![\w.:/]|\.\d)|(?<=[a-z]-)\d+(?=[ ,)\]:]|$)")
_STEPS = (1, 2, 3, 5, -1, -2, -3)
_SURE = frozenset(kind.value for kind in BREAKS)

Found = frozenset[tuple[str, str, int, str]]


@dataclass(frozen=True)
class Plant:
    """A changed line: where it is, its event's kind, its text before and after."""

    file: Path
    line: int
    kind: str
    before: str
    after: str
    at: int


def findings(folder: Path) -> Found:
    """Kind, file within the folder, line and rule of all that is found."""
    engine = LocalEngine()
    judged = engine.judge(engine.ingest(discover([str(folder)]), None))
    prefix = f"{folder}/"
    return frozenset(
        (each.kind, each.file.removeprefix(prefix), each.line, each.rule)
        for each in judged.findings
    )


def lines_by_kind(folder: Path) -> dict[str, list[tuple[Path, int]]]:
    """The lines of one stretch that are understood and read by rules, by kind."""
    corpus = LocalEngine().ingest(discover([str(folder)]), None)
    found: dict[str, list[tuple[Path, int]]] = defaultdict(list)
    names = ("kind", "file", "line")
    rows = zip(*(corpus.events[name].to_pylist() for name in names), strict=True)
    for kind, file, line in sorted(rows):
        if kind != NOTE:
            found[kind].append((Path(file).relative_to(folder), line))
    return found


def plants(folder: Path, seed: int, count: int) -> list[Plant]:
    """So many changes of the logs, by seed."""
    chosen = random.Random(seed)
    kinds = lines_by_kind(folder)
    texts: dict[Path, list[str]] = {}
    found: list[Plant] = []
    while len(found) < count:
        kind = chosen.choice(sorted(kinds))
        file, line = chosen.choice(kinds[kind])
        if file not in texts:
            texts[file] = list(lines_of(str(folder / file)))
        text = texts[file][line - 1]
        stamp = _STAMP.match(text)
        numbers = list(_NUMBER.finditer(text, stamp.end() if stamp else 0))
        if not numbers:
            continue
        number = chosen.choice(numbers)
        value = int(number[0]) + chosen.choice(_STEPS)
        if value < 0:
            continue
        after = f"{text[: number.start()]}{value}{text[number.end() :]}"
        found.append(Plant(file, line, kind, text, after, number.start()))
    return found


def copied(folder: Path, out: Path, plant: Plant) -> None:
    """The logs with a plant in them; files that stay as they are, are the same files."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        copy = out / path.relative_to(folder)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if path.relative_to(folder) != plant.file:
            copy.symlink_to(path.resolve())
            continue
        lines = list(lines_of(str(path)))
        lines[plant.line - 1] = plant.after
        text = "\n".join(lines) + "\n"
        if copy.suffix == ".gz":
            copy.write_bytes(gzip.compress(text.encode("utf-8", "surrogateescape")))
        else:
            copy.write_text(text, encoding="utf-8", errors="surrogateescape")


def main(arguments: Sequence[str] | None = None) -> int:
    """Plants, checks, and says what was found; what was not, with its line."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pipeline.planted")
    parser.add_argument("logs", type=Path, help="the folder of one cluster's logs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plants", type=int, default=90)
    chosen = parser.parse_args(arguments)
    unchanged = findings(chosen.logs)
    counts: Counter[str] = Counter()
    for plant in plants(chosen.logs, chosen.seed, chosen.plants):
        with tempfile.TemporaryDirectory(prefix="insync-planted-") as name:
            folder = Path(name) / chosen.logs.name
            copied(chosen.logs, folder, plant)
            new = findings(folder) - unchanged
        here = {each for each in new if each[1:3] == (str(plant.file), plant.line)}
        where = "found" if here else "near" if new else "missed"
        sure = any(each[0] in _SURE for each in here or new)
        counts[where] += 1
        counts[f"{where}, broken"] += sure
        if where != "found":
            cause = (
                f" ({sorted(new)[0][3]} at {sorted(new)[0][1]}:{sorted(new)[0][2]})" if new else ""
            )
            print(f"{where}{cause} {plant.kind} {plant.file}:{plant.line}")
            print(f"    {plant.before}")
            print(f"    {plant.after[: plant.at]}>>{plant.after[plant.at :]}")
    print(
        f"{chosen.logs.name}, seed {chosen.seed}: {counts['found']} of {chosen.plants} found at "
        f"their line ({counts['found, broken']} as broken), {counts['near']} elsewhere, "
        f"{counts['missed']} not found"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

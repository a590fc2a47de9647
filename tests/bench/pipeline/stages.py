"""Each step of the pipeline by itself, in one process: lines a second of one core.

What a step takes in is made before its clock starts, so that a figure is of that step only; the
median of several rounds counts, in processor seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from conformance.ingest.dialects import NOTE, dialect_for
from conformance.ingest.files import discover
from conformance.ingest.parse import FileCounts, batches, parsed_file, parsed_lines
from conformance.ingest.reader import lines_of
from conformance.ingest.schema import EVENT, EVENTS, FILE, FILES, LINES, events_of
from conformance.pipeline.check_rules import judge
from conformance.pipeline.history import History
from conformance.pipeline.places import owners_of, places_of
from conformance.pipeline.repeats import merge_repeats


def figures(folder: Path, rounds: int) -> dict[str, float]:
    """Lines a second of one core, by step; `whole` is all of them, one after another."""
    logs = discover([str(folder)]).logs
    rows = [asdict(log) for log in logs]
    texts = [(log, list(lines_of(log.path))) for log in logs]
    count = sum(len(text) for _, text in texts)

    def read() -> None:
        for log in logs:
            for _ in lines_of(log.path):
                pass

    def parse() -> None:
        for log, text in texts:
            parsed = parsed_lines(log.cluster, log.name, text, dialect_for(None), FileCounts())
            for _ in batches(parsed):
                pass

    parse()  # patterns are compiled once a process; that is no part of the rate
    found = [
        batch for log in logs for batch in batches(parsed_file(log.cluster, log.name, log.path))
    ]
    table = pa.Table.from_batches(found, schema=LINES)
    files = table.filter(pc.equal(table["what"], FILE)).select(FILES.names).to_pylist()
    events = table.filter(pc.equal(table["what"], EVENT)).select(EVENTS.names)
    owners, folders = owners_of(rows, files), {log.name: log.folder for log in logs}
    places = places_of(rows, files)
    merged = merge_repeats(events, owners, folders)
    merged = merged.filter(pc.not_equal(merged["kind"], NOTE))

    def order() -> None:
        merge_repeats(events, owners, folders)
        History(events_of(merged), places)

    def check() -> None:
        judge(inside, places)

    inside = events_of(merged)
    judge(inside, places)  # what the solver answers is kept; a long run asks it nothing new
    seconds = {
        name: _median(step, rounds)
        for name, step in (("read", read), ("parse", parse), ("order", order), ("check", check))
    }
    seconds["whole"] = sum(seconds.values())
    return {name: count / each for name, each in seconds.items()}


def as_json(folder: Path, rounds: int) -> dict[str, Any]:
    """The figures, rounded to lines."""
    return {name: round(rate) for name, rate in figures(folder, rounds).items()}


def _median(step: Callable[[], None], rounds: int) -> float:
    seconds = []
    for _ in range(rounds):
        began = time.process_time()
        step()
        seconds.append(time.process_time() - began)
    return max(median(seconds), 1e-6)

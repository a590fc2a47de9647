"""Logs as strangers hand them over: behind prefixes, in JSON objects, in other patterns.

What is read of them is what is read of the same lines in Kafka's own layout.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance.ingest.dialects import dialect_for
from conformance.ingest.layouts import in_kafkas_layout
from conformance.ingest.parse import FileCounts, rows_of_lines
from conformance.ingest.reader import lines_of, split
from tests.pipeline.strangers import OBJECTS, OWN, PACKED, PATTERNS, PREFIXES, Layout, records
from tests.pipeline.written import REALLOGS, checked

SHIPPED = Path(__file__).parents[1] / "data" / "logs" / "planted"
LAYOUTS = {
    **PREFIXES,
    **PATTERNS,
    **{f"JSON: {name}": each for name, each in OBJECTS.items()},
    **{f"in JSON: {name}": each for name, each in PACKED.items()},
}
REAL = REALLOGS / "kafka-2.7.0-b" / "broker1" / "logs"
LOGS = [
    *((SHIPPED / "broker1" / name, 70) for name in ("controller.log", "state-change.log")),
    *((REAL / name, 110) for name in ("kafkaServer.out.gz", "state-change.log.gz")),
]


@cache
def lines_read() -> list[str]:
    """Lines of several logs: those that are shipped, and where they are, a real cluster's."""
    found: list[str] = []
    for log, count in LOGS:
        if log.exists():
            for each in records(lines_of(str(log)))[:count]:
                found += each.lines
    return found


def understood(layout: Layout) -> tuple[list[dict[str, Any]], FileCounts]:
    """The events of the lines in a layout, at the places that they have in Kafka's."""
    lines = layout(records(lines_read()))
    text = "".join(f"{line}\n" for line, _ in lines)
    tally = FileCounts()
    given = in_kafkas_layout(split(iter([text])))
    rows = [dict(row) for row in rows_of_lines("c", "f", given, dialect_for(None), tally)]
    for row in rows:
        row["line"] = lines[row["line"] - 1][1]
        for name in ("digest", "lines"):  # of the text, and of lines that JSON has in one
            row.pop(name, None)
        if row.get("level") == "TRACE":
            row["level"] = "DEBUG"  # GELF has the levels of syslog, which are fewer
    return [row for row in rows if row["what"] == "event"], tally


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_same_is_understood_as_in_kafkas_own_layout(layout: Layout):
    own, expected = understood(OWN)
    found, tally = understood(layout)

    assert found == own
    assert (tally.protocol, tally.brokers) == (expected.protocol, expected.brokers)
    assert tally.release == expected.release
    assert tally.protocol > 100


@pytest.mark.parametrize("name", ["compose in colours with times", "JSON: Docker, of logstash"])
def test_what_is_planted_is_found_at_its_line(name: str, tmp_path: Path):
    numbers: dict[str, list[int]] = {}
    for log in sorted(SHIPPED.rglob("*.log")):
        lines = LAYOUTS[name](records(lines_of(str(log))))
        copy = tmp_path / log.relative_to(SHIPPED)
        copy.parent.mkdir(exist_ok=True)
        copy.write_text("".join(f"{line}\n" for line, _ in lines))
        numbers[str(copy)] = [number for _, number in lines]

    said, own = checked(tmp_path), checked(SHIPPED)

    assert said["verdict"] == own["verdict"] == "broken"
    assert [numbers[each["file"]][each["line"] - 1] for each in said["findings"]] == [
        each["line"] for each in own["findings"]
    ]

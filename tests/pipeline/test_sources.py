"""Several brokers in one file: each line is of the process that stands around it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.ingest.parse import rows_of_file
from conformance.ingest.sources import sources_of
from tests.pipeline.strangers import records
from tests.pipeline.test_layouts_of_strangers import SHIPPED
from tests.pipeline.written import checked

Around = Callable[[int, str], str]

AROUND: dict[str, Around] = {
    "compose": lambda broker, line: f"broker-{broker}  | {line}",
    "compose with times": lambda broker, line: f"kafka_{broker}  | 2020-01-01T00:00:00.1Z {line}",
    "compose in colours": lambda broker, line: f"\x1b[3{broker}mb{broker}  | \x1b[0m{line}",
    "kubectl": lambda broker, line: f"[pod/kafka-{broker}/kafka] 2020-01-01T00:00:00.1Z {line}",
    "journal": lambda broker, line: f"Jan 01 00:00:0{broker} h{broker} k[{77 + broker}]: {line}",
    "Loki": lambda broker, line: json.dumps({"labels": {"app": "k", "pod": f"k-{broker}"},
                                             "line": line, "timestamp": "2020-01-01T00:00:00Z"}),
}  # fmt: skip


def lines_of_all(around: Around) -> tuple[list[str], list[int]]:
    """The shipped lines of three brokers in one file by the clock, records mingled; and whose."""
    every = sorted(
        (each.second, each.thousandths, broker, log.name, each.line, each.lines)
        for broker in (1, 2, 3)
        for log in sorted((SHIPPED / f"broker{broker}").glob("*.log"))
        for each in records(log.read_text().splitlines())
    )
    found: list[tuple[int, str]] = []
    rest: list[tuple[int, str]] = []
    for _, _, broker, _, _, lines in every:
        if any(other == broker for other, _ in rest):
            found += rest  # a process writes one record after another
            rest = []
        found += [(broker, lines[0]), *rest[:1]]
        rest = [*rest[1:], *((broker, line) for line in lines[1:])]
    found += rest
    return [around(*each) for each in found], [broker for broker, _ in found]


@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
def test_the_broker_of_each_line_is_told_by_what_stands_around_it(around: Around, tmp_path: Path):
    lines, brokers = lines_of_all(around)
    path = tmp_path / "all.log"
    path.write_text("".join(f"{each}\n" for each in lines))

    found = sources_of(str(path))

    assert found is not None
    assert [found.broker(number) for number in range(1, len(lines) + 1)] == brokers
    *rows, file = rows_of_file("c", "all.log", str(path))
    assert file["rejected"] == 0
    assert file["read"] == file["events"] + file["continuation"]
    unlike = [
        row for row in rows if row.get("broker") not in (None, brokers[row["line"] - 1])
    ]  # fmt: skip
    assert unlike == []
    assert {row["broker"] for row in rows if row["kind"] == "process_starting"} == {1, 2, 3}


def test_one_file_of_three_brokers_is_judged_as_their_folders_are(tmp_path: Path):
    lines, _ = lines_of_all(AROUND["compose"])
    (tmp_path / "compose.log").write_text("".join(f"{each}\n" for each in lines))

    def outcome(result: dict[str, Any]) -> tuple[str, set[tuple[str, str, str]]]:
        return result["verdict"], {
            (each["kind"], each["rule"], re.sub(r"\S+:\d+", "", each["why"]))
            for each in result["findings"]
        }

    assert outcome(checked(tmp_path)) == outcome(checked(SHIPPED))


def test_a_file_of_one_broker_and_one_in_kafkas_own_layout_have_no_sources(tmp_path: Path):
    own = (SHIPPED / "broker1" / "state-change.log").read_text()
    (tmp_path / "own.log").write_text(own)
    alone = "".join(f"broker-1  | {line}\n" for line in own.splitlines())
    (tmp_path / "alone.log").write_text(alone)

    assert sources_of(str(tmp_path / "own.log")) is None
    assert sources_of(str(tmp_path / "alone.log")) is None
    assert sources_of(str(tmp_path / "none.log")) is None

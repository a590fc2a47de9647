"""A cluster judged while its logs grow: the findings of the whole logs, each reported once."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from conformance.pipeline.streaming_state import (
    FINDING,
    WITHDRAWN,
    ReportedFinding,
    StreamingState,
    thinned,
)
from tests.pipeline.test_growing import FolderReader
from tests.pipeline.written import REALLOGS, changed, checked, elected, leads, line, starting, write

SHIPPED = Path(__file__).parents[1] / "data" / "logs"


def followed(
    folder: Path, seed: int, into: Path, cuts: int = 5
) -> tuple[StreamingState, list[ReportedFinding]]:
    """Copy a folder's logs bit by bit, and judge after each bit."""
    random_cuts = random.Random(seed)
    texts = {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*.log*"))}
    places = {
        name: sorted([random_cuts.randint(0, len(data)) for _ in range(cuts)] + [len(data)])
        for name, data in texts.items()
    }
    state, said, reader = StreamingState(folder.name), [], FolderReader(into)
    for step in range(cuts + 1):
        for name, data in texts.items():
            (into / name).parent.mkdir(parents=True, exist_ok=True)
            (into / name).write_bytes(data[: places[name][step]])
        said += state.advance(reader.trigger())
        state = StreamingState.unpacked(*state.packed())
    while True:
        before = reader.offset
        said += state.advance(reader.trigger(final=True))
        if reader.offset == before:
            return state, said


def places(findings: list[Any]) -> set[tuple[str, str, str, int]]:
    rows = [each if isinstance(each, dict) else vars(each) for each in findings]
    return {
        (row["kind"], row["rule"], Path(row["file"].split("@")[0]).name, row["line"])
        for row in rows
    }


@pytest.mark.parametrize("seed", range(3))
def test_logs_that_came_in_parts_are_judged_as_when_they_are_whole(tmp_path: Path, seed: int):
    state, said = followed(SHIPPED / "planted", seed, tmp_path)

    whole = checked(SHIPPED / "planted")["findings"]
    reported = [each.finding for each in said if each.what == FINDING]
    back = [each.finding for each in said if each.what == WITHDRAWN]
    assert places(state.judged().findings) == places(whole)
    assert places(reported) - places(back) == places(whole)
    assert len(reported) == len(places(reported))


def test_a_real_cluster_that_is_followed_is_never_said_to_have_broken_the_protocol(tmp_path: Path):
    folder = REALLOGS / "kafka-2.7.0-b"
    if not folder.is_dir():
        pytest.skip("the real logs are not beside this repository")

    _, said = followed(unpacked(folder, tmp_path / "plain"), 7, tmp_path / "copy")

    assert [each for each in said if each.finding.kind == "violation"] == []


def unpacked(folder: Path, into: Path) -> Path:
    for path in folder.rglob("*.gz"):
        to = into / path.relative_to(folder).with_suffix("")
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(gzip.decompress(path.read_bytes()))
    return into


def test_a_state_that_an_earlier_version_kept_is_read(tmp_path: Path):
    write(tmp_path, {"state-change.log": [changed(2, (1, 4), 3, 6, "1,2")]})
    state, reader = StreamingState("logs"), FolderReader(tmp_path)
    state.advance(reader.trigger())
    state.advance(reader.trigger())
    events, book = state.packed()
    former = json.loads(book)
    former |= {"told": former.pop("reported"), "office": former.pop("election_steps")}

    read = StreamingState.unpacked(events, json.dumps(former).encode())

    assert read.reported
    assert read.packed()[1] == book


def test_a_finding_is_reported_when_it_has_stood_twice(tmp_path: Path):
    write(tmp_path, {"state-change.log": [changed(2, (1, 4), 3, 6, "1,2")]})
    state, reader = StreamingState("logs"), FolderReader(tmp_path)

    first = state.advance(reader.trigger())
    second = state.advance(reader.trigger())
    third = state.advance(reader.trigger())

    assert first == []
    assert [each.what for each in second] == [FINDING]
    assert third == []


def test_a_finding_that_a_later_line_explains_is_taken_back(tmp_path: Path):
    lines = [leads(1, 1, 7, 6), leads(60, 1, 3, -1)]
    write(tmp_path, {"b1/state-change.log": lines, "b1/server.log": starting(0, 1)})
    state, reader = StreamingState("logs"), FolderReader(tmp_path)
    reported = [each for _ in range(3) for each in state.advance(reader.trigger())]

    created = line(
        30, "Created log for partition orders-0 in /d with properties {}", "kafka.log.LogManager"
    )
    write(tmp_path, {"b1/server.log": [*starting(0, 1), created]})
    back = state.advance(reader.trigger())

    assert [(each.what, each.finding.rule) for each in reported] == [
        (FINDING, "no_older_leader_epoch_is_applied")
    ]
    assert [(each.what, each.finding.line) for each in back] == [(WITHDRAWN, 2)]
    assert state.judged().findings == []


def test_what_is_thinned_out_still_shows_a_value_that_goes_back(tmp_path: Path):
    lines = [elected(0, 1, 9), changed(1, (1, 9), 1, 7, "1,2", tp="old-0")]
    lines += [changed(n, (1, 9), 1, n, "1,2") for n in range(2, 900)]
    write(tmp_path, {"state-change.log": lines})
    state, reader = StreamingState("logs"), FolderReader(tmp_path)
    state.advance(reader.trigger())

    state.events = thinned(state.events, 100)
    write(tmp_path, {"state-change.log": [*lines, changed(900, (1, 9), 1, 3, "1,2", tp="old-0")]})
    said = [each for _ in range(2) for each in state.advance(reader.trigger())]

    assert state.events.num_rows < 110
    assert [(each.finding.rule, each.finding.line) for each in said] == [
        ("leader_epochs_never_go_back", 901)
    ]

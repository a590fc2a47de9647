"""A cluster that is judged part by part is found to have done what it is found to have done whole.

Parts are made far too small on purpose, so that every comparison crosses from one to another.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.ingest.files import discover
from conformance.ingest.schema import events_of
from conformance.pipeline import large
from conformance.pipeline.cluster_evidence import kept_of_file
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.places import places_of
from conformance.pipeline.report import check_result
from conformance.pipeline.spark import SparkEngine
from conformance.pipeline.suspect_lines import screen, tail
from tests.bench.pipeline import generated
from tests.bench.pipeline.generated import LogSize
from tests.pipeline.written import changed, elected, leads, obeys, write

SHIPPED = Path(__file__).parents[1] / "data" / "logs"


def whole(*folders: Path) -> dict[str, Any]:
    return _answer(LocalEngine(), *folders)


def in_parts(spark: SparkEngine, *folders: Path) -> dict[str, Any]:
    return _answer(SparkEngine(spark._master, whole=0), *folders)


def _answer(engine: Any, *folders: Path) -> dict[str, Any]:
    corpus = engine.ingest(discover([str(folder) for folder in folders]), None)
    return check_result([corpus], engine.judge(corpus))


@pytest.mark.spark
@pytest.mark.parametrize("skew", [pytest.param(False, marks=pytest.mark.deep), True])
def test_all_that_was_planted_is_found_in_parts_and_nothing_else(
    spark: SparkEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, skew: bool
):
    written = generated.write(LogSize(6000, 7, skew), tmp_path)
    monkeypatch.setattr(large, "PART", 250)

    found, expected = in_parts(spark, tmp_path), whole(tmp_path)

    places = {(Path(each["file"]), each["line"]) for each in found["findings"]}
    assert places == {(tmp_path / each.file, each.line) for each in written.planted}
    assert json.dumps(found["findings"]) == json.dumps(expected["findings"])
    assert found["lines"] == expected["lines"]
    assert found["verdict"] == "broken"


@pytest.mark.spark
def test_real_logs_are_judged_the_same_in_parts(
    spark: SparkEngine, real_2_7: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(large, "PART", 100)

    found, expected = (
        in_parts(spark, real_2_7, SHIPPED / "planted"),
        whole(real_2_7, SHIPPED / "planted"),
    )

    assert found["findings"] == expected["findings"] != []
    # Nothing was left out: each line that one partition's rules look at was looked at.
    for rule in ("leader_is_in_its_isr", "state_carries_its_writers_epoch"):
        assert found["coverage"]["rules"][rule] == expected["coverage"]["rules"][rule] > 0


def parted(folder: Path) -> tuple[list[Any], Any]:
    engine = LocalEngine()
    corpus = engine.ingest(discover([str(folder)]), None)
    return events_of(corpus.events), places_of(corpus.logs, corpus.files)


def test_a_partition_whose_lines_go_together_hands_nothing_on(tmp_path: Path):
    lines = [changed(n, (1, 4), 1, n, "1,2") for n in range(1, 60)]
    events, places = parted(write(tmp_path, {"state-change.log": lines}))

    found = screen(events, places, ["2.3.0"])

    assert found.evidence == []
    assert found.checked["leader_epochs_never_go_back"] == 58


def test_what_does_not_go_together_is_handed_on_with_its_neighbours(tmp_path: Path):
    lines = [changed(n, (1, 4), 1, n, "1,2") for n in range(1, 60)]
    lines[40] = changed(41, (1, 4), 1, 7, "1,2")
    events, places = parted(write(tmp_path, {"state-change.log": lines}))

    found = screen(events, places, ["2.3.0"])

    assert [event.line for event in found.evidence] == [38, 39, 40, 41, 42, 43, 44]


def test_a_restart_that_only_other_lines_show_excuses_nothing_here(tmp_path: Path):
    lines = [leads(1, 1, 7, 6), leads(60, 1, 3, -1)]
    events, places = parted(write(tmp_path, {"b1/state-change.log": lines}))

    found = screen(events, places, [None])

    assert [event.line for event in found.evidence] == [1, 2]


def test_of_a_run_of_lines_under_one_controller_the_ends_are_kept(tmp_path: Path):
    lines = [elected(0, 1, 9), *(obeys(n, 2, 1, 9) for n in range(1, 90))]
    lines += [obeys(n, 2, 3, 10) for n in range(90, 95)]
    lines[50] = obeys(50, 2, 1, 8)
    engine = LocalEngine()
    corpus = engine.ingest(discover([str(write(tmp_path, {"state-change.log": lines}))]), None)

    kept = kept_of_file(corpus.events)["line"].to_pylist()

    assert kept == [1, 2, 3, 50, 51, 52, 53, 90, 91, 92, 95]


def test_the_last_lines_of_each_kind_stay_however_old_they_are(tmp_path: Path):
    lines = [leads(1, 1, 7, 6), *(changed(n, (1, 4), 1, n, "1,2") for n in range(2, 90))]
    events, places = parted(write(tmp_path, {"state-change.log": lines}))

    kept = tail(events, places, 5)

    assert [event.line for event in kept] == [1, 85, 86, 87, 88, 89]

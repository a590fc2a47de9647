"""What parts hand on is enough: judged by itself it has the findings of all lines, to the word."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from conformance.ingest.dialects import NOTE
from conformance.ingest.files import discover
from conformance.ingest.schema import Event, events_of
from conformance.pipeline.check_rules import judge
from conformance.pipeline.cluster_evidence import kept_of_file
from conformance.pipeline.history import History
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.places import places_of
from conformance.pipeline.rules import Finding
from conformance.pipeline.suspect_lines import screen
from tests.bench.pipeline import generated
from tests.bench.pipeline.generated import LogSize
from tests.pipeline.written import changed, leads, line, starting, write

SHIPPED = Path(__file__).parents[1] / "data" / "logs"


def both(
    folder: Path, size: int, known: bool = False
) -> tuple[list[Finding], list[Finding], int, int]:
    """Findings of all lines, and of what parts of so many lines hand on; lines of both.

    `known`: parts know what the whole cluster needs, as with all but growing logs.
    """
    engine = LocalEngine()
    corpus = engine.ingest(discover([str(folder)]), None)
    table = corpus.events.filter(pc.not_equal(corpus.events["kind"], NOTE))
    events, places = events_of(table), places_of(corpus.logs, corpus.files)
    reported = {event.detail for event in events if event.kind == "release"}
    partitions: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for event in events:
        if event.tp is not None:
            partitions[event.tp].append(event)
    kept = [event for file in _files(table) for event in events_of(kept_of_file(file))]
    rest = {(event.file, event.line): event for event in kept}
    loose = [event for event in events if event.tp is None]
    rest |= {(event.file, event.line): event for event in loose}
    cluster = History(rest.values(), places) if known else None
    for inside in partitions.values():
        inside.sort(key=lambda event: event.at)
        cut = len(inside) > size
        for start in range(0, len(inside), size):
            part = inside[start : start + size]
            releases: list[str | None] = [*sorted(filter(None, reported))] or [None]
            kept += screen(part, places, releases, ends=cut, cluster=cluster).evidence
    fewer = {(event.file, event.line): event for event in kept}
    names = {(event.file, event.line): event for event in events_of(table)}
    whole = judge(names.values(), places).findings
    return whole, judge(fewer.values(), places, reduced=True).findings, len(names), len(fewer)


def _files(table: pa.Table) -> list[pa.Table]:
    names = sorted(set(table["file"].to_pylist()))
    return [table.filter(pc.equal(table["file"], name)) for name in names]


@pytest.mark.parametrize("size, skew", [(200, True), (100_000, False)])
def test_of_a_large_cluster_a_part_is_handed_on_and_all_is_found(
    tmp_path: Path, size: int, skew: bool
):
    written = generated.write(LogSize(4000, 7, skew), tmp_path)

    whole, found, lines, fewer = both(tmp_path, size)

    places = {(Path(each.file), each.line) for each in found}
    assert places == {(tmp_path / each.file, each.line) for each in written.planted}
    assert found == whole
    assert fewer < lines


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("size", [5, 50])
@pytest.mark.parametrize("name", ["correct", "planted"])
def test_the_shipped_logs_are_judged_the_same(name: str, size: int, known: bool):
    whole, found, _, _ = both(SHIPPED / name, size, known)

    assert found == whole
    assert bool(whole) == (name == "planted")


@pytest.mark.parametrize("known", [False, True])
def test_real_logs_are_judged_the_same(real_2_7: Path, known: bool):
    whole, found, lines, fewer = both(real_2_7, 100, known)

    assert found == whole
    assert fewer < lines


def test_what_the_whole_cluster_explains_is_not_handed_on(tmp_path: Path):
    """A part knows of restarts elsewhere; without that knowledge it has to doubt its lines."""
    files = {
        "b1/state-change.log": [leads(10, 1, 3, -1), leads(100, 1, 3, -1)],
        "b1/server.log": [*starting(0, 1), *starting(90, 1)],
    }
    found = discover([str(write(tmp_path, files))])
    corpus = LocalEngine().ingest(found, None)
    places = places_of(corpus.logs, corpus.files)
    events = events_of(corpus.events)
    inside = [event for event in events if event.tp is not None]
    rest = History([event for event in events if event.tp is None], places)

    assert len(screen(inside, places, ("2.7",)).evidence) == 2
    assert screen(inside, places, ("2.7",), cluster=rest).evidence == []


def test_a_part_knows_of_its_topics_deletion(tmp_path: Path):
    deletion = line(
        40, "[Topic Deletion Manager 1] Deletion of topic orders successfully completed",
        "kafka.controller.TopicDeletionManager",
    )  # fmt: skip
    files = {
        "b1/state-change.log": [
            changed(2, (1, 4), 1, 0, "1", frm="NewPartition"),
            changed(90, (1, 4), 1, 1, "1"),
        ],
        "b1/controller.log": [deletion],
    }
    whole, found, _, _ = both(write(tmp_path, files), 100, known=True)

    assert found == whole
    assert "partition_state_changes_are_valid" in {each.rule for each in whole}


def test_at_info_the_steps_before_a_refusal_are_in_no_part(tmp_path: Path):
    """That most lines of the log lack them is not known where only suspects are handed on."""

    def refused(second: int, tp: str) -> str:
        text = "Ignoring LeaderAndIsr request from controller 1 with correlation id"
        return line(second, f"[Broker id=2] {text} {second} epoch 5 for partition {tp} since its "
                    "associated leader epoch 3 matches the current leader epoch")  # fmt: skip

    files = {"b2/state-change.log": [refused(n, f"orders-{n % 2}") for n in range(2, 5)],
             "b2/server.log": starting(0, 2)}  # fmt: skip
    whole, found, _, _ = both(write(tmp_path, files), 100, known=True)

    assert whole == found == []

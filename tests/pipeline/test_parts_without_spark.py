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
from conformance.pipeline.cluster_evidence import kept_of_file
from conformance.pipeline.findings import Finding
from conformance.pipeline.judge import judge
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.places import places_of
from conformance.pipeline.screen import screen
from tests.bench.pipeline import generated
from tests.bench.pipeline.generated import Size

SHIPPED = Path(__file__).parents[1] / "data" / "logs"


def both(folder: Path, size: int) -> tuple[list[Finding], list[Finding], int, int]:
    """Findings of all lines, and of what parts of so many lines hand on; lines of both."""
    engine = LocalEngine()
    corpus = engine.ingest(discover([str(folder)]), None)
    table = corpus.events.filter(pc.not_equal(corpus.events["kind"], NOTE))
    events, places = events_of(table), places_of(corpus.logs, corpus.files)
    told = {event.detail for event in events if event.kind == "release"}
    partitions: dict[tuple[str, int], list[Event]] = defaultdict(list)
    for event in events:
        if event.tp is not None:
            partitions[event.tp].append(event)
    kept = [event for file in _files(table) for event in events_of(kept_of_file(file))]
    for inside in partitions.values():
        inside.sort(key=lambda event: event.at)
        cut = len(inside) > size
        for start in range(0, len(inside), size):
            part = inside[start : start + size]
            kept += screen(part, places, sorted(filter(None, told)) or [None], ends=cut).evidence
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
    written = generated.write(Size(4000, 7, skew), tmp_path)

    whole, found, lines, fewer = both(tmp_path, size)

    places = {(Path(each.file), each.line) for each in found}
    assert places == {(tmp_path / each.file, each.line) for each in written.planted}
    assert found == whole
    assert fewer < lines


@pytest.mark.parametrize("size", [5, 50])
@pytest.mark.parametrize("name", ["correct", "planted"])
def test_the_shipped_logs_are_judged_the_same(name: str, size: int):
    whole, found, _, _ = both(SHIPPED / name, size)

    assert found == whole
    assert bool(whole) == (name == "planted")


def test_real_logs_are_judged_the_same(real_2_7: Path):
    whole, found, lines, fewer = both(real_2_7, 100)

    assert found == whole
    assert fewer < lines

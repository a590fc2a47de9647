"""Parts get of their cluster what they ask for: as much of it follows as of all its lines."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pytest

from conformance.ingest.files import discover
from conformance.ingest.schema import events_of
from conformance.pipeline.cluster_evidence import for_parts, kept_of_file
from conformance.pipeline.history import History, Within
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.places import places_of
from tests.pipeline.test_real_logs import cluster

SHIPPED = Path(__file__).parents[1] / "data" / "logs"
CLUSTERS = ["correct", "planted", "kafka-1.0.0-a", "kafka-2.7.0-a"]

ASKED = sorted(
    name
    for name, each in vars(Within).items()
    if isinstance(each, cached_property) and hasattr(History, name) and name != "_joined_lines"
)


@pytest.mark.parametrize("name", CLUSTERS)
def test_what_parts_get_of_a_cluster_says_as_much_as_all_that_is_kept(name: str):
    folder = SHIPPED / name if (SHIPPED / name).is_dir() else cluster(name)
    corpus = LocalEngine().ingest(discover([str(folder)]), None)
    places = places_of(corpus.logs, corpus.files)
    kept = kept_of_file(corpus.events, for_clocks=False)
    fewer = for_parts(kept)

    whole, handed_on = History(events_of(kept), places), History(events_of(fewer), places)

    assert fewer.num_rows < kept.num_rows
    assert len(ASKED) > 15
    for each in (*ASKED, "_twice", "_stops", "_topic_lines"):
        assert getattr(handed_on, each) == getattr(whole, each), each

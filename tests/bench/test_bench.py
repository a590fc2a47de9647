"""The benchmarks run, and would notice engines that disagree. Their figures are nobody's test."""

from __future__ import annotations

import json

import pytest

from tests.bench.__main__ import disagreements, main
from tests.bench.measure import QUICK, Measured


def test_a_quick_run_tells_every_size_in_a_table_and_in_json(tmp_path, capsys):
    code = main(["--quick", "--json", str(tmp_path / "bench.json")])

    reported = json.loads((tmp_path / "bench.json").read_text())
    shown = capsys.readouterr().out
    assert (code, reported["wrong"]) == (0, [])
    assert [one["size"]["name"] for one in reported["explored"]] == [
        one.name for one in QUICK.sizes
    ]
    for one in reported["explored"]:
        assert one["size"]["name"] in shown
        assert one["states_per_second"] > 0
        assert one["bytes_per_state"] > 8
    assert reported["explored"][0]["states"] == 6_787
    assert reported["explored"][0]["ratio"] > 1
    assert [(one["caches"], one["from_cache"]) for one in reported["set_up"]] == [
        ("loops", False),
        ("all", True),
    ]
    assert len(reported["load_before"]) == len(reported["load_after"]) == 3


def test_engines_that_disagree_are_noticed():
    one, other = (Measured(QUICK.sizes[0], counts=[(6_787, 15_898, 18)]) for _ in range(2))

    assert disagreements([one, other]) == []
    one.counts.append((6_786, 15_898, 18))
    other.counts[0] = (6_788, 15_898, 18)

    assert len(disagreements([one, other])) == 3


def test_a_size_that_there_is_not_is_refused_with_those_that_there_are(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--quick", "--only", "raft"])

    assert left.value.code == 2
    assert "no size is called like 'raft'; there are kip_320 (1,1,1)" in capsys.readouterr().err

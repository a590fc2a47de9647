"""Naming a system, its version, switches and bounds: what is taken."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("line", "version", "changed", "bounds"),
    [
        ("classic", "kip_320", {}, {"brokers": 3, "log": 2, "records": 2, "epoch": 1}),
        ("classic --brokers 2", "kip_320", {}, {"brokers": 2, "log": 2, "records": 2, "epoch": 1}),
        ("election --version 1.1", "1.1", {}, {"brokers": 2, "epoch": 2, "writes": 1}),
        (
            "election --without zk_writes_fenced --bound writes=2",
            "2.3",
            {"zk_writes_fenced": False},
            {"brokers": 2, "epoch": 2, "writes": 2},
        ),
        (
            "election --version 1.1 --set zk_writes_fenced=True",
            "1.1",
            {"zk_writes_fenced": True},
            {"brokers": 2, "epoch": 2, "writes": 1},
        ),
        (
            "replication --set truncation=kip_101 --bound crashes=0",
            "2.5",
            {"truncation": "kip_101"},
            {
                "brokers": 2,
                "log": 1,
                "records": 1,
                "epoch": 2,
                "controllers": 1,
                "versions": 2,
                "crashes": 0,
                "expiries": 1,
                "losses": 0,
            },
        ),
    ],
)
def test_what_was_chosen_is_what_is_explored(answer, line, version, changed, bounds):
    _, found = answer(f"explore {line} --max-states 50")

    assert found["version"] == version
    assert found["without"] == changed
    assert found["bounds"] == bounds


def test_a_release_before_the_fix_is_the_same_as_the_fix_thrown_back(answer):
    _, before = answer("find single_writer election --version 1.1")
    _, without = answer("find single_writer election --without zk_writes_fenced")

    assert before["steps"] == without["steps"]
    assert before["verdict"] == without["verdict"] == "broken"


def test_a_replay_line_leads_to_the_same_choice(answer):
    _, first = answer(
        "find two_brokers_believe_they_are_controller election --version 1.1 "
        "--set zk_writes_fenced=true"
    )

    _, again = answer(first["replay"].removeprefix("insync "))

    assert {**again, "seconds": 0} == {**first, "seconds": 0}

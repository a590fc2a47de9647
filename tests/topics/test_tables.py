"""The two state machines as tables: Kafka's own matrices, and what a wrong entry does."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from model.topics import SYSTEM, replicas, tables
from model.topics.state import PARTITION_STATES, REPLICA_STATES
from model.topics.tables import PARTITION_TABLE, REPLICA_TABLE, REPLICA_TABLE_BEFORE, Table, rows
from specs.explorer import find
from specs.verdict import Verdict

VECTORS = Path(__file__).parents[3] / "shared" / "kafka" / "vectors"


def transitions(file: str) -> list[Any]:
    path = VECTORS / file
    if not path.exists():
        reason = f"shared/kafka/vectors/{file} is not beside the repository"
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason), id="absent")]
    cases = json.loads(path.read_text(encoding="utf-8"))
    chosen = [case for case in cases if case["input"]["op"] == "transition"]
    return [pytest.param(case, id=case["case"]) for case in chosen]


def has(table: Table, case: dict[str, Any]) -> bool:
    return case["input"]["from"] in table[case["input"]["to"]]


@pytest.mark.parametrize("case", transitions("partition_state_machine.json"))
def test_a_partition_takes_the_transitions_that_kafkas_does(case):
    assert has(PARTITION_TABLE, case) == case["expected"]["valid"]


@pytest.mark.parametrize("case", transitions("replica_state_machine.json"))
def test_a_replica_takes_the_transitions_that_kafkas_does(case):
    by_release = {"OfflineReplica", "ReplicaDeletionIneligible"}
    differs = {case["input"]["from"], case["input"]["to"]} == by_release
    before = differs and case["input"]["to"] == "ReplicaDeletionIneligible"

    assert has(REPLICA_TABLE, case) == case["expected"]["valid"]
    assert has(REPLICA_TABLE_BEFORE, case) == (case["expected"]["valid"] and not before)


@pytest.mark.parametrize(
    ("table", "states"), [(PARTITION_TABLE, PARTITION_STATES), (REPLICA_TABLE, REPLICA_STATES)]
)
def test_a_table_has_every_state_once_and_no_other(table, states):
    assert sorted(table) == sorted(states.values)
    assert {before for befores in table.values() for before in befores} <= set(states.values)


def test_a_table_is_reported_a_line_for_each_target():
    reported = list(rows(PARTITION_TABLE))

    assert reported[1] == (
        "OnlinePartition      <- NewPartition, OnlinePartition, OfflinePartition"
    )
    assert len(reported) == len(PARTITION_TABLE)


def test_a_transition_that_the_table_does_not_have_is_noticed(monkeypatch):
    claims = SYSTEM.recorded().claims
    wrong = {**REPLICA_TABLE, "ReplicaDeletionIneligible": ("OnlineReplica", "OfflineReplica")}
    monkeypatch.setattr(tables, "REPLICA_TABLE", wrong)
    monkeypatch.setattr(replicas, "replica_table", lambda: wrong)
    altered = dataclasses.replace(SYSTEM).recorded()  # one that was not recorded before
    altered.claims.update(claims)  # the claim is judged by the table as it should be

    found, run = find(altered, SYSTEM.limits({"crashes": 0}), "state_changes_are_valid")

    assert found.claims["state_changes_are_valid"].verdict is Verdict.BROKEN
    assert run is not None

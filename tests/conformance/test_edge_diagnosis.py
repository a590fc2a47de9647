"""What a walk over edges finds is explained like the mismatch of a run, for systems of any map."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.diagnosis import Diagnosis, LockstepSetup, diagnose_edge
from conformance.edges import walk_edges
from conformance.mapping import map_of
from impl.core.replica_machine import ReplicaMachine
from impl.world.stepped.stepped_steps import STEPPED_CLUSTER_STEPS
from specs.verdict import Verdict
from tests.conformance.test_diagnosis import plays
from tests.planting import deletes_any_controller


def diagnosed(system: str, max_states: int) -> Diagnosis:
    about = map_of(system)
    report = walk_edges(about.small, max_states=max_states, about=about)
    assert report.first is not None
    reported = diagnose_edge(report.first, LockstepSetup(about, about.small))
    assert reported is not None
    return reported


def test_a_wrong_end_in_election_is_reported_from_the_start_by_a_short_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deletes_any_controller(monkeypatch)

    reported = diagnosed("election", 1_000)

    assert "zk.controller: the model says 2, the implementation none" in reported.as_text()
    assert len(reported.steps) <= 14
    assert reported.steps[-1].startswith("controller_event_fails(")
    assert reported.story.startswith("# controller_event_fails(")
    assert "system election" in reported.story
    assert plays(reported.story, tmp_path) is Verdict.HOLDS


def test_a_step_of_election_that_cannot_be_driven_is_reported_the_other_way_round(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kinds, name = STEPPED_CLUSTER_STEPS, "broker_runs_for_controller"
    monkeypatch.setitem(kinds, name, replace(kinds[name], unmet=lambda *_: "it rains"))

    reported = diagnosed("election", 50)

    assert reported.what.startswith("the model allows ")
    assert "the implementation says: not possible: it rains" in reported.candidates[0]
    assert plays(reported.story, tmp_path) is Verdict.HOLDS


def test_a_batch_that_is_left_out_in_topics_is_reported_with_its_story(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def leaves_out(self: ReplicaMachine, broker: int, partitions: object) -> None:
        pass

    monkeypatch.setattr(ReplicaMachine, "_become_new", leaves_out)

    reported = diagnosed("topics", 600)

    assert "the model says NewReplica, the implementation NonExistentReplica" in reported.as_text()
    assert any(step.startswith("admin_creates_topic(") for step in reported.steps)
    assert "system topics" in reported.story
    assert plays(reported.story, tmp_path) is Verdict.HOLDS

"""A mismatch is explained from both sides, by a run that is shorter and a story that plays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.diagnosis import diagnose, explained
from conformance.lockstep import Lockstep, Mismatch
from conformance.mutants import first_mismatch
from conformance.walks import walk
from impl.sim.simulation import Step
from impl.world.partition_steps import KINDS
from specs.story import play, read_story
from specs.verdict import Verdict
from tests.planting import plant, takes_anybody


def mismatch_of_a_walk(seeds: int) -> Mismatch:
    for seed in range(seeds):
        try:
            walk(seed, 150, enabledness_every=5)
        except Mismatch as mismatch:
            return mismatch
    raise AssertionError("no walk noticed anything")


def plays(text: str, folder: Path) -> Verdict:
    path = folder / "mismatch.story"
    path.write_text(text, encoding="utf-8")
    return play(read_story(path)).verdict


def test_a_wrong_end_is_reported_leaf_by_leaf_with_a_short_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plant(monkeypatch, "KIP-101")
    with pytest.raises(Mismatch) as raised:
        walk(52, 220, enabledness_every=0)

    reported = explained(raised.value)

    assert reported is not None
    assert len(reported.steps) < len(raised.value.steps) / 2
    assert reported.steps[-1].startswith("follower_truncates(")
    assert any("log[" in line and "the implementation" in line for line in reported.candidates)
    assert "which differs in" in reported.nearest
    assert reported.last_accepted == reported.steps[-2]
    assert plays(reported.story, tmp_path) is Verdict.HOLDS


def test_a_step_that_the_model_refuses_is_reported_with_the_values_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    takes_anybody(monkeypatch)
    found = first_mismatch()
    assert found is not None

    reported = explained(*found)

    assert reported is not None
    assert "leader_expands_isr" in reported.steps[-1]
    assert any("not possible: " in line and "known_end[" in line for line in reported.candidates)
    assert "refused leader_expands_isr" in reported.story
    assert plays(reported.story, tmp_path) is Verdict.HOLDS
    assert "nearest accepted alternative" in reported.as_text()


def test_a_step_that_the_implementation_refuses_is_reported_the_other_way_round(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kind = KINDS["leader_appends"]
    monkeypatch.setitem(KINDS, kind.name, replace(kind, unmet=lambda *_: "it rains"))
    mismatch = mismatch_of_a_walk(3)

    reported = explained(mismatch)

    assert reported is not None
    assert reported.what.startswith("the model allows leader_appends(")
    assert "the implementation says: not possible: it rains" in reported.candidates[0]
    assert len(reported.steps) <= 6
    assert plays(reported.story, tmp_path) is Verdict.HOLDS


def test_a_run_that_stays_in_step_has_no_diagnosis() -> None:
    steps = [Step(name, (1,)) for name in ("controller_reads_epoch", "controller_registers")]

    assert diagnose(steps) is None
    assert Lockstep().last is None

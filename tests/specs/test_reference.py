"""The reference is read off the model: nothing of it can be forgotten or grow old."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from model.bugs import HISTORIC_BUGS
from model.systems import SYSTEMS
from specs.reference import TransitionPage, markdown, pages

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def every() -> dict[str, list[TransitionPage]]:
    return {name: pages(system) for name, system in SYSTEMS.items()}


def insync(*words: str) -> Result:
    return CliRunner().invoke(main, ["reference", *words])


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_transition_and_every_reason_is_there(every, name):
    recorded = SYSTEMS[name].recorded()
    text = markdown(SYSTEMS[name], every[name])

    assert [page.name for page in every[name]] == [one.name for one in SYSTEMS[name].transitions]
    assert all(
        requirement.reason in text for step in recorded.steps for requirement in step.requires
    )
    assert all(claim in text for claim in recorded.claims)


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_first_line_about_a_transition_is_a_whole_sentence(name):
    cut = [one.name for one in SYSTEMS[name].transitions if not one.summary.endswith(".")]

    assert not cut, "pages and cards show the first line alone"


def test_a_step_of_several_systems_is_of_one_kind_in_all_of_them():
    kinds: dict[str, list[tuple[str, str | None, bool]]] = {}
    for system in SYSTEMS.values():
        for one in system.transitions:
            kinds.setdefault(one.name, []).append((one.ends, one.shows, one.fault))

    assert sum(len(found) > 1 for found in kinds.values()) > 30
    assert {name for name, found in kinds.items() if len(set(found)) > 1} == set()


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_text_of_a_transition_stands_where_the_reference_says(every, name):
    for page in every[name]:
        file, line = page.source.rsplit(":", 1)
        below = (ROOT / file).read_text(encoding="utf-8").splitlines()[int(line) - 1 :]
        declared = next(text for text in below if text.startswith("def "))

        assert declared.startswith(f"def {page.name}("), page.source


def test_every_bug_with_a_switch_of_its_own_changes_some_transition(every):
    reverted = {one.id for one in HISTORIC_BUGS if one.shown and one.shown.reverted}

    reported = {bug.id for found in every.values() for page in found for bug in page.bugs}

    assert reverted
    assert reported == reverted


def test_the_fence_of_kip_320_is_reported_with_its_bug_and_its_releases(every):
    write = next(page for page in every["election"] if page.name == "write_is_applied")

    assert "KAFKA-6082" in [bug.id for bug in write.bugs]
    fence = next(one for one in write.guards if "/controller_epoch is as it was won" in one.reason)
    assert fence.versions != write.versions


def test_the_command_prints_one_transition_and_writes_files(tmp_path):
    one = insync("election", "write_is_applied", "--json", "-")
    written = insync("election", "--out", str(tmp_path / "election.md"))

    assert one.exit_code == written.exit_code == 0
    assert [page["name"] for page in json.loads(one.stdout)["transitions"]] == ["write_is_applied"]
    assert "## Claims" in (tmp_path / "election.md").read_text()


def test_an_unknown_transition_is_answered_with_the_nearest():
    result = insync("election", "write_is_aplied")

    assert result.exit_code == 64
    assert "did you mean 'write_is_applied'" in result.output

"""What was renamed is known by its former name: in stories that people keep, and their output."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli.main import main
from conformance.cli.prove import PROGRESS
from conformance.cli.theorems import NAMES
from conformance.mapping import map_of
from model import language
from model.former_names import (
    CLAIMS,
    CLAIMS_OF,
    EXERCISES,
    FAMILIES,
    FIELDS,
    STEPS,
    STEPS_OF,
    claim_now,
    family_now,
    field_now,
    line_now,
    step_now,
)
from model.systems import SYSTEMS
from specs.story import parse, play
from specs.verdict import Verdict

STORIES = Path(__file__).parents[2] / "specs" / "stories"


@pytest.mark.parametrize(
    ("story", "now", "former"),
    [
        ("cluster_refused_before_events_were_dropped", "controller_is_still_active",
         "controller_is_still_in_office"),
        ("three_brokers_start", "controller_sends_update_metadata_for_new_brokers",
         "controller_welcomes_brokers"),
        ("late_stop_replica", "announcing_new", "welcoming"),
        ("dead_broker_is_taken_back", "offlining", "burying"),
        ("elected_broker_assumes_another_controller", "registered_controller_is_active",
         "controller_is_in_office"),
        ("log_directory_fails", "failure_unreported", "untold"),
        ("reassign_clients_know_the_old_epoch", "metadata_epoch", "told"),
        ("addition_is_undone", ".fired.", ".told."),
        ("cached_version_for_ever", "idle_partitions_have_leaders", "no_wedge"),
        ("deletion_is_not_resumed", "requested_deletions_end", "no_wedge"),
        ("reassign_six_stages", "controller_moves_leader_to_target", "controller_moves_leader"),
        ("refused_around_an_election", "leader_and_isr_is_lost", "request_is_lost"),
        ("cluster_refused_around_a_controllership", "controller_write_is_fenced",
         "controller_is_fenced"),
        ("deposed_controller_writes_fenced", "controller_resigns_and_deletes_znode",
         "controller_resigns"),
    ],
)  # fmt: skip
def test_a_story_of_before_is_played_as_it_was(story: str, now: str, former: str) -> None:
    text = (STORIES / f"{story}.story").read_text(encoding="utf-8")
    assert now in text

    outcome = play(parse(text.replace(now, former)))

    assert outcome.verdict is Verdict.HOLDS


def test_a_field_is_shown_by_its_former_path():
    shown = parse("system topics brokers 2\nshow cache[1].told.topics\n----\n")

    assert play(shown).lines == [["cache[1].fired.topics: false"]]


def test_words_of_a_sentence_are_left_alone():
    line = "    nobody was told, none at all (told 3, log none)"

    assert line_now("reassignment", line) == line.replace("(told 3", "(metadata_epoch 3")
    assert line_now("classic", line) == line
    sentence = "    the metadata of broker 1 converges: in the end"
    assert line_now("cluster", sentence) == sentence
    assert line_now("cluster", "converges: holds") == "idle_metadata_agrees_with_zookeeper: holds"


def test_former_names_are_gone_and_the_names_of_now_are_there():
    steps = {step.name for system in SYSTEMS.values() for step in system.transitions}
    claims = {claim.name for system in SYSTEMS.values() for claim in system.claims}
    claims |= {*NAMES, *PROGRESS}
    for old, new in STEPS.items():
        assert old not in steps | claims
        assert step_now(old, "") == new in steps
    for name, renamed in STEPS_OF.items():
        own = {step.name for step in SYSTEMS[name].transitions}
        for old, new in renamed.items():
            assert old not in own
            assert step_now(old, name) == new in own
    for old, new in CLAIMS.items():
        assert old not in steps | claims
        assert claim_now(old) == new in claims
    for name, renamed in CLAIMS_OF.items():
        own = {claim.name for claim in SYSTEMS[name].claims}
        for old, new in renamed.items():
            assert old not in own
            assert claim_now(old, name) == new in own
    for system, renamed in FAMILIES.items():
        for old, new in renamed.items():
            assert old not in map_of(system).families
            assert family_now(system, old) == new in map_of(system).families
    for system, renamed in FIELDS.items():
        fields = SYSTEMS[system].recorded().fields
        for old, new in renamed.items():
            known = [name for name in fields if re.match(rf"{new}(\.|$)", name)]
            assert known
            assert not any(re.match(rf"{old}(\.|$)", name) for name in fields)
            assert field_now(system, old + known[0][len(new) :]) == known[0]


def test_commands_know_a_claim_by_its_former_name():
    found = CliRunner().invoke(main, ["find", "controller_is_in_office", "replication"])

    assert found.exit_code == 0
    assert "registered_controller_is_active" in found.output


def test_an_exercise_is_known_by_its_former_name():
    former, now = (
        CliRunner().invoke(main, ["grade", name]) for name in next(iter(EXERCISES.items()))
    )

    assert former.exit_code == now.exit_code == 0
    assert former.stdout == now.stdout


def test_commands_know_a_part_of_a_graph_by_its_former_name():
    asked = ["edges", "reassignment", "--max-states", "1", "--json", "-", "--family"]

    former, now = (CliRunner().invoke(main, [*asked, name]) for name in ("office", "deposed"))

    assert former.exit_code == now.exit_code == 2
    assert json.loads(former.stdout)["fired"] == json.loads(now.stdout)["fired"]
    assert CliRunner().invoke(main, [*asked, "offices"]).exit_code == 64


def test_a_system_of_ones_own_may_call_its_progress_claims_as_before():
    assert language.eventually is language.always_eventually

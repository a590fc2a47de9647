"""`--fault NAME`: an adversary that strikes, by the same name for every command."""

from __future__ import annotations

import pytest

from conformance.cli.simulate import PROFILE_OF
from impl.world.faults import PROFILES, REPLICATION_FAULTS
from model.bugs import entry
from model.faults import FAULTS
from model.systems import SYSTEMS
from model.versions import SWITCHES

STORY = """# A broker crashes, in a world where none does.
# Shows: the limit that a story sets.
system replication version 2.3 brokers 2 crashes 0

quietly broker_crashes broker=1
check leader_in_isr
----
leader_in_isr: holds
"""


def test_every_fault_names_systems_switches_and_bounds_that_there_are():
    for fault in FAULTS.values():
        assert fault.about
        assert fault.systems
        for name, means in fault.systems.items():
            system = SYSTEMS[name]
            assert set(means.switches) <= set(system.switches)
            assert set(means.bounds) <= set(system.bounds)
            assert all(value in SWITCHES[one].values for one, value in means.switches.items())
            assert all(least > system.bounds[one].least for one, least in means.bounds.items())


@pytest.mark.parametrize(
    ("fault", "system"), [(name, of) for name, one in FAULTS.items() for of in one.systems]
)
def test_a_system_with_a_fault_has_steps_that_it_would_not_have_without(fault, system):
    chosen, means = SYSTEMS[system], FAULTS[fault].systems[system]

    changed = chosen.recorded(None, means.switches)

    more = {one.transition.name for one in changed.steps}
    more -= {one.transition.name for one in chosen.recorded().steps}
    assert bool(more) == bool(means.switches)
    counted = {name for one in changed.steps for name in one_spends(one)}
    assert set(means.bounds) <= counted


def one_spends(step) -> set[str]:
    """The budgets that a step counts on, by the bound that limits them."""
    names = {"expiries": {"expiries", "faults"}}
    spent = {one.field.removeprefix("spent.") for one in step.writes
             if one.field.startswith("spent.")}  # fmt: skip
    return {name for one in spent for name in names.get(one, {one})}


def test_a_lost_disk_loses_what_was_committed_and_the_answer_can_be_asked_for_again(answer):
    code, found = answer("find no_message_loss replication --fault disk_loss")

    assert (code, found["verdict"]) == (1, "broken")
    assert found["without"] == {"disk_lost": "by_any"}
    assert found["bounds"]["crashes"] == 1
    assert "--set disk_lost=by_any" in found["replay"]
    assert "--bound crashes=1" in found["replay"]


def test_a_fault_makes_room_for_one_strike_and_leaves_larger_bounds_alone(answer):
    line = "explore replication --claim leader_in_isr --max-states 50 --fault message_loss"

    _, struck = answer(line)
    _, larger = answer(f"{line} --bound losses=2")

    assert (struck["bounds"]["losses"], larger["bounds"]["losses"]) == (1, 2)


def test_what_a_system_has_in_any_case_changes_nothing(answer):
    line = "explore election --claim single_writer --max-states 100"

    _, plain = answer(line)
    _, struck = answer(f"{line} --fault session_expiry")

    assert struck["bounds"] == plain["bounds"]
    assert struck["levels"] == plain["levels"]


def test_a_proof_says_which_fault_its_system_has(answer, insync):
    code, found = answer("prove single_controller --fault session_expiry")
    refused = insync("prove no_message_loss --fault disk_loss")

    assert (code, found["verdict"]) == (0, "holds")
    assert refused.exit_code == 64
    assert "disk_loss is no fault of replication_history, but of replication" in refused.stderr


def test_only_the_faults_that_are_named_strike_a_simulated_run(answer):
    code, found = answer("simulate --seed 3 --steps 300 --fault broker_crash")

    assert (code, found["faults"]) == (0, "crashes")
    assert found["runs"][0]["crashes"] > 0
    assert {"controller_reply_to_registration_is_lost", "fetch_is_lost"} <= set(
        found["never_taken"]
    )


def test_several_faults_strike_one_simulated_run(answer):
    _, found = answer("simulate --seed 3 --steps 400 --fault message_loss --fault session_expiry")

    assert found["faults"] == "lossy+sessions"
    assert (found["runs"][0]["crashes"], found["runs"][0]["expiries"] > 0) == (0, True)
    assert "fetch_is_lost" not in found["never_taken"]


def test_joined_profiles_are_as_bad_as_the_worse_of_them():
    joined = REPLICATION_FAULTS.named("crashes+lossy")

    assert joined == {**PROFILES["crashes"], **PROFILES["lossy"]}
    assert REPLICATION_FAULTS.named("lossy+everything")["losses"] == PROFILES["lossy"]["losses"]
    assert set(PROFILE_OF) <= set(FAULTS)
    assert set(PROFILE_OF.values()) <= set(PROFILES)


def test_a_story_is_played_where_more_goes_wrong_and_is_not_recorded_so(insync, tmp_path):
    path = tmp_path / "a.story"
    path.write_text(STORY)

    result = insync(f"story {path}")
    struck = insync(f"story {path} --fault broker_crash")
    kept = insync(f"story {path} --fault broker_crash --accept")

    assert (result.exit_code, f"{path}:5: " in result.stdout) == (1, True)
    assert struck.exit_code == 0
    assert (kept.exit_code, "either --accept or --fault" in kept.stderr) == (64, True)


def test_a_bug_is_hunted_in_a_world_where_more_goes_wrong_and_its_fix_need_not_help(answer):
    code, found = answer("bugs KAFKA-1382 --max-states 20000 --fault disk_loss")

    one = found["entries"][0]
    shown = entry("KAFKA-1382").shown
    assert shown is not None
    assert code in (1, 2)
    assert one["bounds"] == {**shown.limits, "crashes": max(shown.limits["crashes"], 1)}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("explore replication --fault disk", ["unknown fault 'disk'", "disk_loss"]),
        ("explore topics --fault lost_fsync", ["no fault of topics, but of replication",
                                               "the system has broker_crash"]),
        ("explore classic --fault broker_crash", ["nothing goes wrong in the system"]),
        ("explore replication --fault broker_crash --bound crashes=0",
         ["crashes=0 leaves no room for --fault broker_crash", "--bound crashes=1"]),
        ("explore replication --fault disk_loss --set disk_lost=never",
         ["--fault disk_loss is disk_lost=by_any", "the line says disk_lost=never"]),
        ("simulate --fault disk_loss", ["the simulator has broker_crash",
                                        "insync explore replication --fault disk_loss"]),
        ("simulate --fault lossy", ["unknown fault 'lossy'"]),
        ("simulate --fault broker_crash --faults none", ["write one of them"]),
        ("bugs --fault broker_crash", ["insync bugs ID --fault broker_crash"]),
        ("bugs KAFKA-1382 --fault disk_failure", ["no fault of replication, but of topics"]),
    ],
)  # fmt: skip
def test_a_wrong_fault_is_answered_in_one_line_with_what_is_right(insync, line, words):
    result = insync(line)

    assert (result.exit_code, result.stdout) == (64, "")
    assert result.stderr.count("\n") == 1
    assert [word for word in words if word not in result.stderr] == []


@pytest.mark.parametrize("command", ["explore", "find", "prove", "simulate", "story", "bugs"])
def test_every_command_that_runs_the_protocol_says_which_faults_there_are(insync, command):
    text = " ".join(insync(f"{command} --help").stdout.split())

    assert "--fault NAME" in text
    assert "session_expiry" in text

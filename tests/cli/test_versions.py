"""`insync versions`: the table is the model's own, and so is what it says can be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.bugs.flags import FLAGS
from model.language import ProtocolError
from model.systems import SYSTEMS
from model.versions import INCOMPATIBLE_SWITCHES, RELEASES, SWITCHES

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide.md"


def test_every_release_and_switch_of_the_model_is_listed(answer):
    code, found = answer("versions")

    assert code == 0
    assert {one["name"]: one["switches"] for one in found["releases"]} == {
        name: switches for name, (_, switches) in RELEASES.items()
    }
    assert [one["name"] for one in found["switches"]] == list(SWITCHES)
    assert all(one["source"] for one in found["switches"])


def test_a_switch_names_the_systems_that_use_it(answer):
    _, found = answer("versions")

    users = {one["name"]: one["systems"] for one in found["switches"]}
    assert "election" in users["zk_writes_fenced"]
    assert "replication" in users["truncation"]
    assert "election" not in users["truncation"]


def test_every_system_lists_its_versions_and_bounds(answer):
    _, found = answer("versions")

    listed = {one["name"]: one for one in found["systems"]}
    assert list(listed) == list(SYSTEMS)
    for name, system in SYSTEMS.items():
        assert [one["name"] for one in listed[name]["versions"]] == list(system.versions)
        assert [
            (one["name"], one["default"], one["least"], one["what"])
            for one in listed[name]["bounds"]
        ] == [(name, one.default, one.least, one.what) for name, one in system.bounds.items()]


def test_a_first_patch_has_not_what_a_later_one_of_its_line_mended():
    model = SYSTEMS["replication"]

    assert {
        first: {name for name, value in model.recorded(first).switches.items()
                if value != model.recorded(first.rpartition(".")[0]).switches[name]}
        for first in ("2.0.0", "2.1.0", "2.3.0")
    } == {
        "2.0.0": {"truncates_again", "epoch_recorded", "isr_join_needs_epoch_start"},
        "2.1.0": {"late_answers_ignored"},
        "2.3.0": set(),
    }  # fmt: skip


def test_the_table_shows_sources_defaults_and_claims(insync):
    result = insync("versions").stdout

    assert "KAFKA-6082 (2.1)" in result
    assert "version kip_320 (default): everything is fenced by the leader epoch (2.1)" in result
    assert "versions: the releases (default 2.3)" in result
    assert "claims: strong_isr, weak_isr" in result
    assert [name for name in [*RELEASES, *SWITCHES, *SYSTEMS] if name not in result] == []


def test_what_the_guide_shows_of_the_releases_is_what_the_command_prints(insync):
    result = [" ".join(line.split()) for line in insync("versions").stdout.splitlines()]
    block = GUIDE.read_text(encoding="utf-8").split("\nswitch ", 1)[1].split("```", 1)[0]
    rows = [" ".join(line.split()) for line in f"switch {block}".splitlines()]

    shown = [row for row in rows if row.strip("─ ")]
    assert len(shown) > 5
    assert [row for row in shown if row != "..." and row not in result] == []


def test_the_flags_of_the_sheet_are_listed_when_asked_for(insync, answer):
    result = insync("versions --flags").stdout
    _, found = answer("versions")

    assert [name for name in FLAGS if name not in result] == []
    assert "truncate_to_hw" not in insync("versions").stdout
    switches = {one["name"]: one["switches"] for one in found["flags"]}
    assert switches["truncate_to_hw"] == {"truncation": "hw"}
    assert switches["lai_may_drop"] == {}


# -- what does not go together ---------------------------------------------------------------------


@pytest.mark.parametrize("name", RELEASES)
def test_no_release_has_switches_that_do_not_go_together(name):
    switches = RELEASES[name][1]

    assert set(switches) == set(SWITCHES)
    assert [clash for clash in INCOMPATIBLE_SWITCHES if clash.is_in(switches)] == []
    assert all(switches[name] in SWITCHES[name].values for name in SWITCHES)


@pytest.mark.parametrize(
    "clash", INCOMPATIBLE_SWITCHES, ids=lambda clash: f"{clash.one}-{clash.other}"
)
def test_a_clash_is_between_values_that_there_are_and_leaves_some_over(clash):
    one, other = SWITCHES[clash.one], SWITCHES[clash.other]

    assert set(clash.ones) < set(one.values)
    assert set(clash.others) < set(other.values)


def test_a_clash_is_gone_when_either_of_the_two_is_chosen_otherwise():
    replication = SYSTEMS["replication"]

    fenced = replication.recorded("2.3", {"truncation": "kip_101"})
    unfenced = replication.recorded("2.3", {"truncation": "hw", "fetch_fencing": False})

    assert fenced.without == {"truncation": "kip_101"}
    assert unfenced.without == {"truncation": "hw", "fetch_fencing": False}


@pytest.mark.parametrize(
    ("system", "changed", "message"),
    [
        ("replication", {"truncation": "kip_100"}, "did you mean 'kip_101'"),
        ("replication", {"truncation": True}, "one of: hw, kip_101, kip_279"),
        ("replication", {"truncates_again": "never"}, "one of: every_epoch, missed_epoch, new_l"),
        ("election", {"broker_epoch": 0}, "unknown value of broker_epoch '0': one of: false, true"),
        ("classic", {"design": "kip_999"}, "kip_320_first_try"),
    ],
)
def test_the_notation_itself_refuses_a_value_that_a_switch_cannot_have(system, changed, message):
    with pytest.raises(ProtocolError, match=message):
        SYSTEMS[system].recorded(None, changed)


def test_a_design_may_be_changed_for_another_that_is_a_version():
    changed = SYSTEMS["classic"].recorded("kip_320", {"design": "kip_279"})

    assert changed.switches == {"design": "kip_279"}

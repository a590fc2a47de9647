"""Every flag of the sheet of bugs is a switch with a value, or says why it is none."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest

from model.bugs import HISTORIC_BUGS
from model.bugs.flags import BESIDE, FLAGS, PublishedFlag, bug_flags_of
from model.language import ProtocolError
from model.systems import SYSTEMS

SHEET = Path(__file__).resolve().parents[3] / "shared" / "kafka" / "bugzoo.md"
ROW = re.compile(r"^\| (\d+) \|.*?\| ((?:`[a-z_]+`[^|`]*)+)", re.MULTILINE)
IN_WORDS = re.compile(r"[Ff]lags?:?\*? ((?:`[a-z_]+`[,/+ ]*)+)(?:\(two sub-flags: (`[a-z_]+`))?")
NAME = re.compile(r"`([a-z_]+)`")


@pytest.fixture(scope="module")
def sheet() -> str:
    if not SHEET.exists():
        pytest.skip("needs the shared folder beside the repository")
    return SHEET.read_text(encoding="utf-8")


def test_every_flag_of_the_sheets_table_is_the_flag_of_that_entry(sheet):
    rows = {int(number): set(NAME.findall(cell)) for number, cell in ROW.findall(sheet)}

    ours = {one.number: set(bug_flags_of(one)) for one in HISTORIC_BUGS if one.flag}
    assert rows == ours


def test_every_flag_that_the_sheet_names_in_its_text_is_mapped_or_excused(sheet):
    reported = {name for groups in IN_WORDS.findall(sheet) for text in groups
            for name in NAME.findall(text)}  # fmt: skip

    assert {"unfenced_ofle", "disk_swap", "lai_may_drop", "no_isr_notification"} <= reported
    assert sorted(reported - set(FLAGS)) == []


def test_a_flag_is_a_switch_of_its_system_with_a_value_that_it_can_have_or_is_excused():
    for flag in FLAGS.values():
        assert (flag.system is None) == (not flag.settings) == bool(flag.excuse), flag.name
        if flag.system is not None:
            assert any(may_be(flag, version) for version in SYSTEMS[flag.system].versions)


def may_be(flag: PublishedFlag, version: str) -> bool:
    """Can the version have the flag's switches so? Not all go together."""
    assert flag.system is not None
    with contextlib.suppress(ProtocolError):
        recorded = SYSTEMS[flag.system].recorded(version, flag.settings)
        return flag.settings.items() <= recorded.switches.items()
    return False


def test_a_flag_says_the_same_as_the_entries_that_are_shown_by_it():
    for entry in HISTORIC_BUGS:
        names = [name for name in bug_flags_of(entry) if name not in {one.name for one in BESIDE}]
        if entry.shown and entry.flag:
            reverted = entry.shown.reverted or {"design": entry.shown.base}
            reported = [item for name in names for item in FLAGS[name].settings.items()]
            assert [item for item in reverted.items() if item not in reported] == []


def test_flags_beside_the_table_are_about_entries_that_there_are():
    known = {one.id for one in HISTORIC_BUGS}

    assert {name for flag in BESIDE for name in flag.entries} <= known

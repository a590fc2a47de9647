"""Historic bugs are found, and gone with their fix; and a search that fails says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from conformance.cli import bugs as commands
from conformance.cli import main
from conformance.cli.bugs import search_bug
from model.bugs import HISTORIC_BUGS, entry
from specs.verdict import Verdict

LOOPS = ("KAFKA-1097", "KAFKA-1681", "KAFKA-4214", "KAFKA-6193")
"""They look through whole graphs for loops, ten seconds each; other tests look through smaller."""

LARGE = ("KIP-380-a", "KIP-320", "KAFKA-428", "KAFKA-708", "KAFKA-4443", "KAFKA-14140",
         "KAFKA-12686", "KIP-516", "acknowledged-without-isr")  # fmt: skip
"""Their graphs are large; the bugs that stay are searched in the same systems and releases."""

QUICK = [
    one for one in HISTORIC_BUGS if one.shown and one.shown.quick and one.id not in LOOPS + LARGE
]
LONG = [one for one in HISTORIC_BUGS if one.shown and one not in QUICK]

STEPS = {
    "KIP-101": 18, "KIP-320": 21, "KIP-320-first-try": 12, "KAFKA-1647": 14, "KAFKA-532": 12,
    "KAFKA-6082": 10, "KAFKA-1188": 21, "KAFKA-1382": 8, "KAFKA-428": 13, "KIP-497": 9,
    "KAFKA-708": 9, "KAFKA-9307": 8, "KAFKA-13407": 3, "KIP-966": 9, "unclean-election": 12,
    "KAFKA-12686": 10,
    "KAFKA-4443": 16, "KIP-380-c": 14, "KAFKA-14140": 22, "KAFKA-2729": 23, "KAFKA-3143": 24,
    "KAFKA-1681": 7, "KIP-516": 32, "KAFKA-6612": 12,
    "KAFKA-1097": 19, "KAFKA-9672": 11, "KAFKA-5310": 12, "KAFKA-6193": 6, "KAFKA-4214": 12,
    "KAFKA-9212": 10,
    "KAFKA-4447": 13, "KIP-380-a": 43, "KIP-380-d": 29, "KAFKA-1387": 3, "KAFKA-7482": 24,
    "KIP-279": 22, "KAFKA-7415": 23, "KAFKA-7128": 18, "KAFKA-7786": 13, "KIP-380": 18,
    "KAFKA-9338": 21, "acknowledged-without-isr": 23,
}  # fmt: skip
"""Entry -> steps of its shortest run."""


def silent(_line: str) -> None:
    """Nobody watches."""


@pytest.fixture(scope="module")
def insync() -> Callable[[str], Result]:
    return lambda line: CliRunner().invoke(main, line.split())


@pytest.mark.parametrize(
    "one",
    [*QUICK, *(pytest.param(one, marks=pytest.mark.deep) for one in LONG)],
    ids=lambda one: one.id,
)
def test_the_bug_is_found_as_short_as_it_ever_was_and_its_fix_holds(one):
    done = search_bug(one, None, silent)

    assert done.verdict is Verdict.HOLDS
    assert done.run is not None
    assert len(done.run.steps) == STEPS[one.id]


def test_all_the_quick_ones_are_hunted_by_one_command(insync, monkeypatch):
    few = [entry(name) for name in ("KAFKA-6082", "KAFKA-532", "KIP-320-first-try", "KAFKA-6517")]
    monkeypatch.setattr(commands, "HISTORIC_BUGS", few)

    result = insync("bugs --quick --json -")

    found = {one["id"]: one for one in json.loads(result.stdout)["entries"]}
    assert result.exit_code == 0
    assert list(found) == ["KAFKA-6082", "KAFKA-532", "KIP-320-first-try"]
    assert {one["verdict"] for one in found.values()} == {"found"}
    assert {one["fixed"]["verdict"] for one in found.values()} == {"holds"}
    assert {name: len(one["steps"]) for name, one in found.items()}.items() <= STEPS.items()


def test_the_list_has_every_entry_and_what_it_would_take_to_show_the_others(insync):
    result = insync("bugs").stdout
    listed = json.loads(insync("bugs --json -").stdout)["entries"]

    assert [one["id"] for one in listed] == [one.id for one in HISTORIC_BUGS]
    assert all(one.excuse in result for one in HISTORIC_BUGS)
    assert f"{len(QUICK) + len(LONG)} of {len(HISTORIC_BUGS)} are shown by a system" in result


def test_one_entry_is_reported_with_its_run_and_its_fix(insync):
    result = insync("bugs 14")

    assert result.exit_code == 0
    assert "found, a shortest run of 12 steps" in result.stdout
    assert "12  broker_handles_request(" in result.stdout
    assert "as history fixed it, election 2.3: holds within the same bounds" in result.stdout
    assert (
        "again: insync find no_older_controller_is_obeyed election --version 2.3" in result.stdout
    )


def test_an_entry_that_no_system_shows_is_not_checked(insync):
    result = insync("bugs KAFKA-6517")

    assert result.exit_code == 3
    assert f"not shown by any system: {entry('KAFKA-6517').excuse}" in result.stdout


def test_a_search_that_is_cut_short_is_unknown(insync):
    result = insync("bugs KAFKA-6082 --max-states 10")

    assert result.exit_code == 2
    assert "not found" in result.stdout


def test_a_bug_that_is_not_found_is_as_bad_as_a_fix_that_does_not_help():
    one = entry("KIP-320-first-try")
    assert one.shown is not None
    nothing_thrown = replace(one, shown=replace(one.shown, base="kip_320"))
    no_fix = replace(one, shown=replace(one.shown, fixed="kip_279"))

    missed, still_there = search_bug(nothing_thrown, None, silent), search_bug(no_fix, None, silent)

    assert missed.run is None
    assert missed.verdict is still_there.verdict is Verdict.BROKEN
    assert still_there.counter is not None

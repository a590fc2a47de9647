"""What every preset assumes: shown to users, the same in all releases, broken when reverted."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli.versions import versions
from model.assumptions import ASSUMPTIONS, Assumption
from model.bugs import HISTORIC_BUGS
from model.systems import SYSTEMS
from model.versions import RELEASES, SWITCHES
from tests.specs.planted import BUGS

STORIES = sorted((Path(__file__).parents[2] / "specs" / "stories").glob("*.story"))
BY_NAME = {one.switch: one for one in ASSUMPTIONS}
each = pytest.mark.parametrize("one", ASSUMPTIONS, ids=lambda one: one.switch)


@each
def test_every_release_assumes_the_value_after_the_fix(one: Assumption):
    values = {switches[one.switch] for _, switches in RELEASES.values()}

    assert values == {SWITCHES[one.switch].values[-1]}


@each
def test_the_claim_that_it_protects_has_a_bug_or_a_story_that_throws_it(one: Assumption):
    assert one.switch in SYSTEMS[one.system].switches
    planted = any(
        one.switch in bug.without or one.switch in bug.changed
        for bug in BUGS[one.system, one.claim]
    )
    historic = any(
        one.switch in run.reverted and (run.system, run.claim) == (one.system, one.claim)
        for entry in HISTORIC_BUGS
        for run in [entry.shown]
        if run is not None
    )
    reported = any(
        f"without {one.switch} " in text and f"\n{one.claim}: broken" in text
        for text in (path.read_text(encoding="utf-8") for path in STORIES)
    )
    assert planted or historic or reported


def test_no_switch_that_is_called_an_assumption_is_left_out():
    called = {name for name, switch in SWITCHES.items() if "an assumption" in switch.source}

    assert called <= set(BY_NAME)


def test_the_command_says_where_each_is_untrue_and_what_is_lost_then():
    result = " ".join(CliRunner().invoke(versions).stdout.split())

    assert "assumed in every release" in result
    assert [one.switch for one in ASSUMPTIONS if one.untrue not in result] == []
    assert [one.switch for one in ASSUMPTIONS if one.limit not in result] == []

"""A change in the texts of the refinement opens an obligation, or is vacuous and said to be, or is
proved all the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from specs.verdict import Verdict
from tests.proofs.planted_in_texts import CHANGES, ChangedText

SAMPLE = ("expansion_is_a_shrink", "write_is_only_sent")
"""A second each; the others are `deep`."""

PAGE = Path(__file__).parents[2] / "docs" / "planted-in-the-refinement.md"


@pytest.mark.parametrize("change", [
    pytest.param(one, id=one.name, marks=() if one.name in SAMPLE else pytest.mark.deep)
    for one in CHANGES
])  # fmt: skip
def test_a_changed_text_is_noticed_or_called_vacuous_or_proved_all_the_same(change: ChangedText):
    result = change.asked()

    left_open = [(one.step, one.invariant) for one in result.open]
    if change.opens is not None:
        assert change.opens in left_open
        return
    assert left_open == []
    assert result.obligations
    if change.harmless:
        assert not result.contradictory
        assert not result.idle
    else:
        assert result.verdict is Verdict.UNKNOWN
        assert change.vacuous in (*result.idle, "contradictory" if result.contradictory else "")


def outcome(change: ChangedText) -> str:
    if change.opens is not None:
        return f"noticed: {'`' + change.opens[0] + '`, ' if '_' in change.opens[0] else ''}"
    return f"harmless: {change.harmless}" if change.harmless else "vacuous"


def test_the_page_has_a_row_for_every_changed_text_with_its_outcome():
    section = PAGE.read_text().split("## In the texts of the refinement", 1)[1]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (noticed|vacuous|harmless)", section, re.M)

    assert rows == [(one.name, one.what, outcome(one).split(":")[0]) for one in CHANGES]

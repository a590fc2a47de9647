"""The four verdicts, their exit codes, and the rule that the worst one wins."""

from __future__ import annotations

import itertools

import pytest

from specs.verdict import Verdict, combine

WORST_FIRST = [Verdict.BROKEN, Verdict.UNKNOWN, Verdict.NOT_CHECKED, Verdict.HOLDS]


def test_each_verdict_has_its_word_and_its_exit_code():
    assert {str(verdict): verdict.exit_code for verdict in Verdict} == {
        "holds": 0,
        "broken": 1,
        "unknown": 2,
        "not checked": 3,
    }


@pytest.mark.parametrize("pair", list(itertools.product(WORST_FIRST, repeat=2)), ids=str)
def test_the_worse_of_two_verdicts_wins(pair: tuple[Verdict, Verdict]):
    worse = WORST_FIRST[min(WORST_FIRST.index(verdict) for verdict in pair)]

    assert combine(pair) is worse


def test_nothing_checked_is_never_green():
    assert combine([]) is Verdict.NOT_CHECKED
    assert combine(iter([])) is Verdict.NOT_CHECKED

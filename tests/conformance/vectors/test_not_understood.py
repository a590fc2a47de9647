"""What a case says, and no answer takes account of, is named instead of being left out."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.vectors.case_results import SIDES, answers_of
from conformance.vectors.remaining import ADDED_LOGS, LOGS, REQUEST, TOPIC, Remaining
from conformance.vectors.shapes import NotUnderstood

CHANGED = {"now": 9_000, "lastChange": 1_000, "lastPropagation": 0, "leaderFailed": True}
BEGINS = {"epochCache": [[0, 5]], "leo": 9, "logStart": 5, "lastFetchedEpoch": 0, "fetchOffset": 4}


@pytest.mark.parametrize("side", SIDES)
def test_what_no_answer_takes_account_of_is_named(side: str):
    asks = answers_of(side)["controller_flow", "isrPropagation"]

    with pytest.raises(NotUnderstood, match="not understood: field 'leaderFailed'"):
        asks(_question(CHANGED))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", ["logBegin", "startOfTheLog", "leaderLogStartOffset"])
def test_a_field_that_nobody_reads_is_the_missing_one_whose_words_it_shares(side: str, name: str):
    asks = answers_of(side)["truncation", "leaderFetchValidation"]
    named = {name if one == "logStart" else one: value for one, value in BEGINS.items()}

    assert asks(_question(named)) == asks(_question(BEGINS)) == {"error": "OFFSET_OUT_OF_RANGE"}


def test_an_answer_that_stumbles_over_a_field_names_it():
    of_no_form: dict[str, Any] = {"encode": [7]}

    with pytest.raises(NotUnderstood, match="not understood: field 'encode'"):
        answers_of("impl")["zk_store", "encode"](_question(of_no_form))


def _question(given: dict[str, Any]) -> dict[str, Any]:
    return {"input": given, "release": "2.7", "versions": "2.7"}


@pytest.mark.parametrize(
    ("words", "agrees"),
    [
        ("topic znode, logs gone but delete znode stays", True),
        ("all logs deleted", True),
        ("the deletion completes", False),
        ("no logs of the added partition", True),
        ("logs not deleted", False),
        ("delete znode", False),
        ("everybody is content", False),
    ],
)
def test_what_a_case_says_in_words_is_compared_thing_by_thing(words, agrees):
    found = Remaining({TOPIC: False, REQUEST: True, LOGS: False, ADDED_LOGS: False})

    assert found.agrees(words) is agrees

"""What a case says, and no answer takes account of, is named instead of being left out."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.vectors.case_results import SIDES, answers_of
from conformance.vectors.remaining import ADDED_LOGS, LOGS, REQUEST, TOPIC, Remaining
from conformance.vectors.shapes import NotUnderstood

CHANGED = {"now": 9_000, "lastChange": 1_000, "lastPropagation": 0, "leaderFailed": True}
BEGINS = {"epochCache": [[0, 5]], "leo": 9, "logBegin": 5, "lastFetchedEpoch": 0, "fetchOffset": 4}
SAID: dict[str, tuple[str, str, dict[str, Any], str]] = {
    "a condition that is met": ("controller_flow", "isrPropagation", CHANGED, "leaderFailed"),
    "a value like one that is natural": ("truncation", "leaderFetchValidation", BEGINS, "logBegin"),
}


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("said", SAID)
def test_what_no_answer_takes_account_of_is_named(side: str, said: str):
    file, operation, given, field = SAID[said]

    with pytest.raises(NotUnderstood, match=f"{file} {operation}: not understood: field '{field}'"):
        answers_of(side)[file, operation](_question(given))


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

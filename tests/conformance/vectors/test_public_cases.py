"""The implementation answers the public cases as Kafka does."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.vectors.case_results import Outcome, answers_of, judge
from conformance.vectors.cases import FILES, read_cases
from conformance.vectors.implementation import ANSWERS
from conformance.vectors.not_applicable import NOT_APPLICABLE
from conformance.vectors.shapes import completed
from impl.releases import PRESETS

VECTORS = Path(__file__).parents[2] / "data" / "vectors"
MORE = VECTORS / "more"
"""Cases of our own, from Kafka's tests and rules by release, in the shapes of the public ones."""


CASES = [*sorted(VECTORS.glob("*.json")), *sorted(MORE.glob("*.json"))]


def test_there_are_cases_of_every_known_file():
    assert {path.stem for path in CASES} == set(FILES)


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_case_is_answered_as_kafka_does(path: Path):
    row = judge(path.name, read_cases(path), "impl", answers_of("impl"))

    wrong = [
        (one.case.number, one.case.name, one.case.expected, one.got)
        for one in row.judged
        if one.outcome in (Outcome.FAILED, Outcome.UNANSWERED)
    ]
    assert wrong == []
    assert row.count(Outcome.PASSED)


def test_at_least_460_of_the_cases_apply():
    rows = [
        judge(path.name, read_cases(path), "impl", answers_of("impl"))
        for path in sorted(VECTORS.glob("*.json"))
    ]

    assert sum(row.count(Outcome.PASSED) for row in rows) >= 460


def test_answers_do_not_depend_on_who_asked_before():
    cases = [case for path in sorted(VECTORS.glob("*.json")) for case in read_cases(path)]
    answered = [case for case in cases if (case.file, case.operation) in ANSWERS]

    first = [ANSWERS[case.file, case.operation](case.question) for case in answered]
    second = [ANSWERS[case.file, case.operation](case.question) for case in reversed(answered)]

    assert first == second[::-1]


def test_no_answer_stumbles_under_any_release_that_its_case_does_not_name():
    cases = [case for path in sorted(VECTORS.glob("*.json")) for case in read_cases(path)]

    answered = [case for case in cases if (case.file, case.operation) in ANSWERS]

    answers = [
        ANSWERS[case.file, case.operation]({**case.question, "release": release})
        for case in answered
        for release in PRESETS
    ]

    assert len(answers) > 400 * len(PRESETS)
    assert [one for one in answers if one is None] == []


def test_what_is_answered_is_not_declared_to_be_unanswered():
    assert not set(NOT_APPLICABLE["impl"]) & set(ANSWERS)


def test_declared_operations_belong_to_known_files_and_say_why():
    for side in ("impl", "model"):
        for (file, _), why in NOT_APPLICABLE[side].items():
            assert file in FILES
            assert len(why) > 20


def test_how_long_a_follower_may_lag_is_the_releases_default():
    given = {"self": 1, "replicas": [1, 2], "steps": []}

    lags = [
        completed("partition_replication", "leader", given, release)["replicaLagTimeMaxMs"]
        for release in ("2.4", "2.5", None)
    ]

    assert lags == [10_000, 30_000, 30_000]

"""The model answers what it can of Kafka's cases, and agrees with the implementation."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.plain_rules import elections
from conformance.vectors import model
from conformance.vectors.case_results import FileResult, Outcome, answers_of, disagreements, judge
from conformance.vectors.cases import Case, read_cases
from conformance.vectors.model import admin, followers, machines
from conformance.vectors.model.stage import ModelStage, Ranks, preset_of
from conformance.vectors.not_applicable import EXCEPTIONS, NOT_APPLICABLE
from conformance.vectors.shapes import completed

VECTORS = Path(__file__).parents[1] / "data" / "vectors"


MORE = VECTORS / "more"


def rows(side: str, folder: Path = VECTORS) -> list[FileResult]:
    return [
        judge(path.name, read_cases(path), side, answers_of(side))
        for path in sorted(folder.glob("*.json"))
    ]


def cases(file: str, operation: str) -> list[Case]:
    found = read_cases(VECTORS / f"{file}.json")
    return [case for case in found if case.operation == operation]


@pytest.mark.parametrize(
    ("folder", "least"),
    [(VECTORS, 416), pytest.param(MORE, 1_156, marks=pytest.mark.deep)],
    ids=["public", "more"],
)
def test_what_the_model_answers_is_right_and_the_implementation_says_the_same(
    folder: Path, least: int
):
    model, impl = rows("model", folder), rows("impl", folder)

    wrong = [
        (one.case.file, one.case.number, one.got)
        for row in model
        for one in row.judged
        if one.outcome in (Outcome.FAILED, Outcome.UNANSWERED)
    ]
    assert wrong == []
    assert [disagreements(*pair) for pair in zip(model, impl, strict=True)] == [[]] * len(model)
    assert sum(row.count(Outcome.PASSED) for row in model) >= least


def test_the_rules_of_another_release_do_not_pass():
    """KIP-101 knows no second round: what is asked of 2.7 shows the difference."""
    case = next(
        case for case in cases("truncation", "offsetTruncationState") if "round 1" in case.name
    )

    of_its_own = followers.truncation(case.question)
    of_1_1 = followers.truncation({**case.question, "release": "1.1"})

    assert of_its_own == case.expected
    assert of_1_1 != case.expected


def test_what_is_answered_is_not_declared_to_be_unanswered_and_exceptions_are_of_what_is():
    assert not set(NOT_APPLICABLE["model"]) & set(model.ANSWERS)
    for one in EXCEPTIONS["model"]:
        assert (one.file, one.operation) in model.ANSWERS
        ours = read_cases(MORE / f"{one.file}.json")
        inputs = [
            completed(one.file, one.operation, case.input)
            for case in (*cases(one.file, one.operation), *ours)
            if case.operation == one.operation
        ]
        without_leader = [{**each, "leader": -1} for each in inputs]  # no public case has that
        assert any(one.when(each) for each in (*inputs, *without_leader))


def test_an_exception_is_known_by_what_a_case_leaves_unsaid_too():
    """`to` is another word for `target`: asking for the field itself once ended the whole run."""
    offline = {"op": "effects", "from": "OnlineReplica", "to": "OfflineReplica", "broker": 7,
               "replicas": [7, 8],
               "zkState": {"leader": 8, "isr": [8, 7], "leaderEpoch": 3}}  # fmt: skip
    case = Case("replica_state_machine", 0, "other names", "here", "2.7", "2.7", "effects", offline,
                {"zkSetState": {"leader": 8, "isr": [8], "leaderEpoch": 4}})  # fmt: skip

    row = judge("replica_state_machine.json", [case], "model", answers_of("model"))

    assert row.count(Outcome.PASSED) == 1


def test_what_a_walk_comes_to_that_no_step_of_the_model_has_is_not_applicable():
    fetches = {"op": "scenario", "follower": {"log": [[0, 0, 2]], "epoch": 1, "hw": 1},
               "leader": {"log": [], "epoch": 1, "hw": 0}}  # fmt: skip
    case = Case("truncation", 0, "shorter", "here", "2.7", "2.7", "scenario", fetches, {"leo": 0})

    (judged,) = judge("truncation.json", [case], "model", answers_of("model")).judged

    assert judged.outcome is Outcome.NOT_APPLICABLE
    assert "beyond its leader's log" in judged.got


def test_a_case_of_texts_alone_is_not_asked_of_the_model():
    (created,) = [one for one in cases("topic_admin", "create") if one.versions == "2.2+"]

    (judged,) = judge("topic_admin.json", [created], "model", answers_of("model")).judged

    assert judged.outcome is Outcome.NOT_APPLICABLE
    assert "knows no texts" in judged.got


def test_two_forms_of_a_rule_that_differ_are_no_answer(monkeypatch: pytest.MonkeyPatch):
    case = next(case for case in cases("election", "elect") if case.input["strategy"] == "Offline")
    nobody = staticmethod(lambda *_, **__: None)

    monkeypatch.setattr(elections, "for_offline", nobody)
    row = judge("election.json", [case], "model", answers_of("model"))

    assert row.count(Outcome.FAILED) == 1
    assert "TwoAnswers: the strategy says" in row.judged[0].got


def test_a_release_is_asked_of_itself_and_a_later_or_earlier_one_of_the_nearest():
    assert preset_of("replication", "2.6") == "2.6"
    assert preset_of("replication", "3.0") == "2.7"
    assert preset_of("replication", "0.9") == "0.10"


def test_more_brokers_than_usual_are_no_hindrance():
    many = {"strategy": "Offline", "assignment": [9, 8, 7, 6, 5], "isr": [6, 5], "live": [6, 7],
            "uncleanEnabled": False, "leaderEpoch": 3}  # fmt: skip

    answer = machines.elect({"input": many, "release": "2.7", "versions": "2.7"})

    assert answer["leader"] == 6
    assert answer["isr"] == [6]
    assert answer["recipients"] == [7, 6]


def test_a_transition_beyond_the_bounds_is_named():
    stage = ModelStage.of("replication", "2.3", (followers.STEP,), followers.BOUNDS)

    with pytest.raises(KeyError, match=r"follower_truncates\(9,\) is beyond the bounds"):
        stage.step(followers.STEP, stage.state({}), 9)


def test_ranks_keep_the_order_and_give_the_numbers_back():
    ranks = Ranks([200, 0, 120, 120], first=1)

    assert [ranks.of(number) for number in (0, 120, 200)] == [1, 2, 3]
    assert ranks.value(2) == 120
    assert ranks.last == 3


@pytest.mark.parametrize("side", ["model", "impl"])
@pytest.mark.parametrize("trigger", ["TopicCreation", "TopicDeletion"])
def test_a_controller_is_moved_where_its_write_is_fenced_and_nowhere_else(side: str, trigger: str):
    ask = answers_of(side)["controller_flow", "moved"]

    def reported(release: str, bumped: bool) -> tuple[object, bool]:
        given = {"trigger": trigger, "externalEpochBump": bumped}
        found = ask({"input": given, "release": release, "versions": release})
        return found["exception"], found["resigned"]

    assert reported("2.3", True) == ("ControllerMovedException", True)
    assert reported("2.3", False) == (None, False)
    assert reported("2.0", True) == (None, False)


def test_a_deletion_that_does_not_come_to_rest_is_an_error_and_no_answer(monkeypatch):
    monkeypatch.setattr(admin, "MOST_ROUNDS", 1)
    asked = {"assignment": [0, 1], "live": [0, 1], "thenStart": []}

    with pytest.raises(admin.NotQuiescent, match="round 1"):
        model.ANSWERS["topic_deletion", "delete"](
            {"input": asked, "release": "2.3", "versions": "2.3"}
        )

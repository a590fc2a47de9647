"""A case names what matters to it: what it leaves unsaid is natural, or is named in one line."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.vectors.case_results import SIDES, answers_of, not_answered
from conformance.vectors.cases import Case, read_cases
from conformance.vectors.compare import agrees
from conformance.vectors.implementation import answer
from conformance.vectors.meanings import meaning
from conformance.vectors.not_applicable import EXCEPTIONS
from conformance.vectors.questions import NotInModel
from conformance.vectors.shapes import NULLS, Lacks, completed

VECTORS = Path(__file__).parents[2] / "data" / "vectors"
MOST_REFUSALS = {"impl": 95, "model": 67}
"""Fields without which a question has no meaning; 296 and 146 made an answer stumble once."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all fields."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield (*path, name)
            yield from places(one, (*path, name))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from places(one, (*path, number))


def without(given: Any, path: tuple[Any, ...]) -> Any:
    """An input without one field."""
    left = copy.deepcopy(given)
    inner = left
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return left


def asked_of(side: str) -> Iterator[Case]:
    """The public cases that a side answers."""
    answers, apart = answers_of(side), EXCEPTIONS[side]
    for path in sorted(VECTORS.glob("*.json")):
        for case in read_cases(path):
            key = (case.file, case.operation)
            if key in answers and not not_answered(apart, key, case.release, case.input):
                yield case


def changed(given: Any, path: tuple[Any, ...], value: Any) -> Any:
    """An input with another value of one field."""
    other = copy.deepcopy(given)
    inner = other
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return other


@pytest.mark.parametrize("side", SIDES)
def test_a_field_that_is_missing_or_null_is_natural_or_is_named(side: str):
    answers, seen, refused, stumbled = answers_of(side), set(), [], []

    def reported(case: Case, given: Any) -> Any:
        key = case.file, case.operation
        try:
            why = not_answered(EXCEPTIONS[side], key, case.release, given)
            return why or answers[key]({**case.question, "input": given})
        except NotInModel as reason:
            return str(reason)
        except Lacks as lacking:
            return lacking

    for case in asked_of(side):
        nulls = NULLS.get((case.file, case.operation), frozenset())
        for path in places(case.input):
            kind = (case.file, case.operation, *(one for one in path if isinstance(one, str)))
            if path[-1] == "op" or kind in seen:
                continue
            seen.add(kind)
            missing = reported(case, without(case.input, path))
            if isinstance(missing, Lacks):
                refused.append((kind, str(missing)))
            # The leader of a registered state is nobody where it is null.
            elif path[-1] != "leader" and nulls.isdisjoint(
                (meaning(str(path[-1])), f"{meaning(str(path[-2:][0]))}.")
            ):
                null = reported(case, changed(case.input, path, None))
                if null != missing:
                    stumbled.append((kind, missing, null))

    assert all(kind[1] in line and "\n" not in line for kind, line in refused)
    assert len(seen) > 250
    assert len(refused) <= MOST_REFUSALS[side]
    assert stumbled == []


@pytest.mark.parametrize("side", SIDES)
def test_a_field_that_nobody_knows_changes_no_answer(side: str):
    answers, seen = answers_of(side), set()
    for case in asked_of(side):
        key = (case.file, case.operation)
        if key not in seen:
            seen.add(key)
            more = {**case.input, "note": "said beside it", "jira": ["KAFKA-1"], "seed": {"at": 1}}
            assert answers[key]({**case.question, "input": more}) == answers[key](case.question)
    assert len(seen) > 40


def in_snake_case(value: Any) -> Any:
    """A value with the names of its fields written so; keys that are data stay."""
    if isinstance(value, dict):
        return {
            re.sub("[A-Z]", lambda upper: f"_{upper[0].lower()}", name)
            if re.fullmatch("[a-z][a-zA-Z]+", name) else name: in_snake_case(one)
            for name, one in value.items()
        }  # fmt: skip
    return [in_snake_case(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("side", SIDES)
def test_a_field_means_the_same_in_snake_case(side: str, tmp_path: Path):
    answers, seen = answers_of(side), set()
    for case in asked_of(side):
        kind = case.file, case.operation, *sorted(case.input)
        if kind in seen or "json" in case.input:  # what a tool reads stays as it is
            continue
        seen.add(kind)
        path = tmp_path / f"{case.file}.json"
        said = {"source": case.source, "case": case.name, "versions": case.versions}
        said |= {"input": in_snake_case(case.input), "expected": case.expected}
        path.write_text(json.dumps([said]))

        (other,) = read_cases(path)

        assert other.operation == case.operation
        assert answers[case.file, case.operation](other.question) == answers[
            case.file, case.operation
        ](case.question), said
    assert len(seen) > 60


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("liveBrokers", "alive_broker_ids"),
        ("isr", "inSyncReplicas"),
        ("leaderLeo", "leader_log_end_offset"),
        ("queuedForDeletion", "topicsToBeDeleted"),
        ("nPartitions", "numPartitions"),
        ("currentLeaderEpoch", "leaderEpochCurrent"),
        ("truncateTo", "truncationOffset"),
        ("error", "exception"),
        ("zkSetResult", "zkSetResults"),
    ],
)
def test_kafkas_words_for_one_thing_mean_the_same(name: str, other: str):
    assert meaning(name) == meaning(other)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("brokers", "broker"),
        ("currentLeaderEpoch", "requestLeaderEpoch"),
        ("leader", "leaderEpoch"),
        ("foo-0", "foo_0"),
    ],
)
def test_words_that_differ_in_a_case_stay_apart(name: str, other: str):
    assert meaning(name) != meaning(other)


def test_entries_may_be_listed_where_an_object_has_them_by_name():
    remotes = [{"replica": 2, "leo": 9}, {"replica": 3, "leo": 7}]

    assert ask("partition_replication", "hw", leaderLeo=12, isr=[1, 2, 3], remotes=remotes) == {
        "hw": 7
    }


def test_steps_may_be_called_as_kafkas_methods_are():
    leads: dict[str, Any] = {"self": 1, "replicas": [1, 2], "isr": [1, 2], "leaderEpoch": 5}
    steps = [
        {"op": "appendRecordsToLeader", "records": 4},
        {"op": "update_follower_fetch_state", "replica": 2, "offset": 3},
    ]

    assert ask("partition_replication", "leader", steps=steps, **leads)["hw"] == 3


def test_who_is_late_may_be_asked_by_a_leaders_steps():
    steps = [{"do": "followerFetch", "offset": 19}, {"do": "sleep", "ms": 150}, {"do": "check"}]

    late = ask("partition_replication", "outOfSync", lagMs=100, leaderLeo=20, isr=[0, 1],
               steps=steps)  # fmt: skip

    assert late == {"outOfSyncAtChecks": [[1]]}


@pytest.mark.parametrize("side", SIDES)
def test_completing_a_case_leaves_what_it_says(side: str):
    for case in asked_of(side):
        before = copy.deepcopy(case.input)

        completed(case.file, case.operation, case.input)

        assert case.input == before


def test_a_case_that_names_no_operation_is_understood_by_what_it_is_about(tmp_path: Path):
    reported = {"source": "s", "case": "c", "versions": "2.3+", "expected": {"leader": 2}}
    path = tmp_path / "election.json"
    path.write_text(json.dumps([{**reported, "input": {"assignment": [1, 2], "live": [2]}}]))

    (case,) = read_cases(path)

    assert case.operation == "elect"
    assert answer(case.file, case.operation, case.question)["leader"] == 2


@pytest.mark.parametrize("file", ["partition_state_machine", "truncation", "replica_manager"])
def test_most_public_cases_tell_their_operation_without_its_name(file: str, tmp_path: Path):
    cases = json.loads((VECTORS / f"{file}.json").read_text())
    for case in cases:
        case["input"].pop("op", None)
    path = tmp_path / f"{file}.json"
    path.write_text(json.dumps(cases))

    named, unnamed = read_cases(VECTORS / f"{file}.json"), read_cases(path)

    same = [one.operation == two.operation for one, two in zip(named, unnamed, strict=True)]
    assert sum(same) >= 0.75 * len(same)


def ask(file: str, operation: str, release: str = "2.3", **given: Any) -> Any:
    """The implementation's answer to an input."""
    return answer(file, operation, {"input": given, "release": release, "versions": release})


def test_an_isr_that_is_not_named_is_the_assignment_and_all_brokers_live():
    assert ask("election", "elect", assignment=[3, 1, 2])["leader"] == 3


def test_one_thing_has_the_names_that_other_files_give_it():
    named = ask("election", "elect", replicas=[1, 2], liveBrokers=[2], unclean=False)

    assert named["leader"] == 2
    assert ask("replica_manager", "fetchVisibility", logEndOffset=20, highWatermark=5) == {
        "consumerMaxOffset": 5,
        "followerMaxOffset": 20,
    }


def test_the_controller_of_a_case_without_one_has_an_epoch_of_its_own():
    state = {"leader": 5, "isr": [5, 6]}

    reported = ask("replica_state_machine", "effects", replica=5, target="OfflineReplica",
               zkState=state)  # fmt: skip

    assert reported["zkSetState"]["isr"] == [6]
    assert reported["zkSetState"]["leaderEpoch"] == 1


def test_what_a_case_lacks_is_named_with_its_operation():
    with pytest.raises(Lacks, match="replica_state_machine effects: the case lacks 'target'"):
        ask("replica_state_machine", "effects", replica=5, assignment=[5])


def test_an_event_that_no_sequence_is_known_of_is_not_taken_for_a_startup():
    with pytest.raises(Lacks, match="neither a startup of a broker nor a failover"):
        ask("request_sequences", "sequence", brokers=[0, 1], event="failure of broker 1")


def test_a_replica_that_the_request_does_not_list_is_known_by_the_list():
    said = ask("replica_manager", "leaderAndIsr", self=1, replicas=[2, 3], leader=2)

    assert said["partitionError"] == "UNKNOWN_TOPIC_OR_PARTITION"


def test_what_is_encoded_may_stand_beside_its_path():
    said = ask("zk_store", "encode", znode="/controller", brokerId=3, timestamp=1700000000000)

    assert json.loads(said["json"]) == {"version": 1, "brokerid": 3, "timestamp": "1700000000000"}


def test_fields_that_a_case_puts_together_are_compared_side_by_side():
    case = read_cases(VECTORS / "election.json")[0]
    got = {"leader": 1, "isr": [1], "leaderEpoch": 5}

    assert agrees({"leaderAndIsr": {"leader": 1, "leaderEpoch": 5}}, got, case)
    assert not agrees({"leaderAndIsr": {"leader": 1, "leaderEpoch": 4}}, got, case)
    assert not agrees({"leaderAndIsr": {"leader": 1, "zkVersion": 4}}, got, case)


def test_an_epoch_and_its_offset_are_compared_by_name_and_not_by_order():
    case = read_cases(VECTORS / "leader_epoch_cache.json")[0]

    assert agrees({"epoch": 3, "startOffset": 5}, [3, 5], case)
    assert agrees({"endOffset": 5, "leaderEpoch": 3}, [3, 5], case)
    assert not agrees({"offset": 3, "epoch": 5}, [3, 5], case)
    assert not agrees({"leader": 3, "isr": 5}, [3, 5], case)

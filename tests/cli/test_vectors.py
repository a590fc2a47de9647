"""`insync vectors`: the table, the exit codes, and how wrong files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.vectors import case_results as judging
from conformance.vectors.case_results import Outcome, judge, overall
from conformance.vectors.cases import FILES, Case, read_cases
from conformance.vectors.compare import agrees
from conformance.vectors.releases import bounds, release_of, spans
from specs.verdict import Verdict

ELECTED: dict[str, Any] = {
    "source": "here",
    "case": "the second replica leads",
    "versions": "1.1+",
    "input": {
        "strategy": "Offline",
        "assignment": [2, 4],
        "isr": [2, 4],
        "live": [4],
        "uncleanEnabled": False,
    },
    "expected": {"leader": 4},
}
PARSED: dict[str, Any] = {
    "source": "here",
    "case": "two partitions",
    "versions": "0.10+",
    "input": {"op": "parseReplicaAssignment", "arg": "1:2,2:1"},
    "expected": {"assignment": {"0": [1, 2], "1": [2, 1]}},
}


def write(folder: Path, file: str, *cases: dict[str, Any]) -> str:
    path = folder / f"{file}.json"
    path.write_text(json.dumps(cases))
    return str(path)


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["vectors", *args])


def test_a_right_answer_is_exit_0_and_a_row_with_the_counts(tmp_path: Path):
    result = run(write(tmp_path, "election", ELECTED))

    assert result.exit_code == 0
    assert "election.json impl holds" in " ".join(result.stdout.split())


def test_a_wrong_answer_is_exit_1_with_what_was_expected_and_what_came(tmp_path: Path):
    wrong = {**ELECTED, "expected": {"leader": 2}}

    result = run(write(tmp_path, "election", ELECTED, wrong))

    assert result.exit_code == 1
    assert "election.json, case 1 on impl, as 2.7: the second replica leads" in result.stdout
    assert 'expected  {"leader": 2}' in result.stdout
    assert '"leader": 4' in result.stdout


def test_what_stands_in_brackets_behind_an_error_and_names_no_release_is_for_readers(
    tmp_path: Path,
):
    short = {"source": "here", "case": "one line of two", "versions": "0.11+",
             "input": {"fileContent": "0\n2\nfoo 1 5\n"},
             "expected": {"error": "IOException (2 expected, 1 found)"}}  # fmt: skip

    result = run(write(tmp_path, "checkpoint_files", short))

    assert result.exit_code == 0


def test_the_json_has_the_keys_that_others_rely_on(tmp_path: Path):
    wrong = {**ELECTED, "expected": {"leader": 2}}

    result = run(write(tmp_path, "election", ELECTED, wrong), "--json", "-")

    payload = json.loads(result.stdout)
    (row,) = payload["files"]
    assert payload["verdict"] == "broken"
    assert {key: row[key] for key in ("file", "on", "passed", "failed", "not_applicable")} == {
        "file": "election.json",
        "on": "impl",
        "passed": 1,
        "failed": 1,
        "not_applicable": 0,
    }
    assert row["failures"][0]["case"] == "the second replica leads"
    assert row["failures"][0]["expected"] == {"leader": 2}
    assert row["failures"][0]["got"]["leader"] == 4


def test_both_sides_are_asked_and_agree(tmp_path: Path):
    files = write(tmp_path, "election", ELECTED), write(tmp_path, "topic_admin", PARSED)

    result = run(*files, "--on", "both", "--json", "-")

    payload = json.loads(result.stdout)
    assert result.exit_code == 0
    found = [(row["on"], row["passed"], row["not_applicable"]) for row in payload["files"]]
    assert found == [("model", 1, 0), ("impl", 1, 0), ("model", 1, 0), ("impl", 1, 0)]
    assert payload["disagreements"] == []


def test_a_disagreement_is_a_verdict_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    honest = judging.answers_of

    def lying_model(side: str) -> judging.Answers:
        if side == "impl":
            return honest(side)
        return {("topic_admin", "parseReplicaAssignment"): lambda _question: {"assignment": {}}}

    monkeypatch.setattr(judging, "answers_of", lying_model)
    path = write(tmp_path, "topic_admin", PARSED)

    shown = run(path, "--on", "both")
    payload = json.loads(run(path, "--on", "both", "--json", "-").stdout)

    assert shown.exit_code == 1
    assert "disagree: topic_admin.json, case 0 (two partitions): model failed" in shown.stdout
    assert payload["verdict"] == "disagree"
    assert payload["disagreements"][0]["impl"]["outcome"] == "passed"


def test_nothing_checked_is_never_green(tmp_path: Path):
    text = {**PARSED, "input": {"op": "encode"}}

    empty = run(write(tmp_path, "election"))
    declared = run(write(tmp_path, "zk_store", text), "--on", "model")

    assert (empty.exit_code, declared.exit_code) == (3, 3)
    assert "1 × model: the model knows no texts" in declared.stdout


def test_an_expectation_that_says_nothing_is_not_met(tmp_path: Path):
    result = run(write(tmp_path, "election", {**ELECTED, "expected": {}}))

    assert result.exit_code == 1


def test_what_nobody_answers_is_unknown_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(judging, "answers_of", lambda _side: {})

    result = run(write(tmp_path, "election", ELECTED))

    assert result.exit_code == 2
    assert "nobody answers elect" in result.stdout


def test_one_unknown_operation_leaves_the_others_of_its_file_judged(tmp_path: Path):
    guessed = {**PARSED, "input": {"op": "guess"}}

    result = run(write(tmp_path, "topic_admin", PARSED, guessed), "--json", "-")

    (row,) = json.loads(result.stdout)["files"]
    assert result.exit_code == 2
    assert (row["passed"], row["failed"], row["unanswered"]) == (1, 0, 1)


def test_an_answer_that_stumbles_has_failed_and_the_others_are_asked(tmp_path: Path):
    stumbles = {**ELECTED, "input": {**ELECTED["input"], "strategy": "Lottery"}}

    result = run(write(tmp_path, "election", stumbles, ELECTED), "--json", "-")

    (row,) = json.loads(result.stdout)["files"]
    assert (row["passed"], row["failed"]) == (1, 1)
    assert "no election strategy is called 'Lottery'" in row["failures"][0]["got"]


@pytest.mark.parametrize(
    ("name", "text", "reported"),
    [
        ("elections.json", "[]", "is no file of vectors; there are assignment,"),
        ("election.txt", "[]", "is no file of vectors"),
        ("election.json", "[", "is no JSON: Expecting value: line 1 column 2"),
        pytest.param("election.json", "[" * 100_000, "is no JSON", id="nested too deep"),
        ("election.json", "{}", "holds no list"),
        ("election.json", "[3]", "case 0: is no object; a case has source, case,"),
        ("election.json", '[{"case":"x"}]', "case 0: lacks source, versions, input, expected"),
        (
            "election.json",
            '[{"source":"","case":"","versions":"soon","input":{},"expected":{}}]',
            'case 0: versions are such as "2.0+"',
        ),
        (
            "truncation.json",
            '[{"source":"","case":"","versions":"2.0+","input":{"op":"guess"},"expected":{}}]',
            "op 'guess' is no operation of truncation, and no case has another",
        ),
        (
            "election.json",
            '[{"source":"","case":"","versions":"2.0+","input":{"shoe":[]},"expected":{}}]',
            "an input of shoe is no operation of election, and no case has another",
        ),
        (
            "zk_store.json",
            '[{"source":"","case":"","versions":"2.0+","input":{"calls":[]},"expected":{}}]',
            "an input of calls is no operation of zk_store, and no case has another",
        ),
    ],
)
def test_a_wrong_file_is_exit_64_with_what_is_right(
    tmp_path: Path, name: str, text: str, reported: str
):
    path = tmp_path / name
    path.write_text(text)

    result = run(str(path))

    assert result.exit_code == 64
    assert reported in result.stderr
    assert result.stdout == ""


def test_a_folder_and_a_missing_file_are_answered_with_what_to_write(tmp_path: Path):
    folder, missing = run(str(tmp_path)), run(str(tmp_path / "election.json"))

    assert (folder.exit_code, missing.exit_code) == (64, 64)
    assert "is a folder; write" in folder.stderr
    assert "does not exist; name files of vectors" in missing.stderr


@pytest.mark.parametrize(
    ("versions", "release"),
    [
        ("2.0+", "2.7"),
        ("0.10-1.0", "0.11"),
        ("0.10-2.3", "2.3"),
        ("<=2.2", "2.1"),
        ("0.11-1.1", "1.1"),
        ("0.9-2.x ZK ISR", "2.7"),
        ("0.10-3.x ZK", "2.7"),
        ("2.3+ (2.0-2.2 without the UpdateMetadata)", "2.7"),
        ("2.3+ valid; <=2.2 invalid", "2.7"),
        ("0.11-2.6 or IBP<2.7", "2.4"),
        ("0.9-0.10.0", "0.10.0"),
        ("2.8 code", "2.8"),
        ("2.8+ (previousEpoch); ops valid 2.0+", "2.8"),
        ("2.4-2.7", "2.7"),
        ("1.0-2.1", "2.1"),
    ],
)
def test_a_case_is_asked_under_the_newest_supported_release_of_its_versions(
    versions: str, release: str
):
    assert release_of(versions) == release


def test_bounds_are_inclusive_and_a_line_includes_its_patches():
    assert bounds("0.10-1.0")[0] == (0, 10)
    assert bounds("0.10-1.0")[1] > (1, 0, 99)
    assert spans("0.11+", "2.7")
    assert not spans("2.7+", "2.7")


def a_case(expected: object, given: dict[str, Any] | None = None) -> Case:
    return Case("reassignment", 0, "", "", "0.10+", "2.7", "list", given or {}, expected)


@pytest.mark.parametrize(
    ("expected", "got", "right"),
    [
        ({"leader": 1}, {"leader": 1, "isr": [1]}, True),
        ({"leader": 1}, {"isr": [1]}, False),
        ({"leader": True}, {"leader": 1}, False),
        ({"leader": None}, {}, False),
        ({"added": {"1": [2]}}, {"added": {"1": [2], "2": [3]}}, False),
        ({"replicas": {}}, {"replicas": {"OnlineReplica": []}}, False),
        ({"replicas": {"a": [1]}}, {"replicas": {"a": [1], "b": [2]}}, True),
        ({"isrSet": [1, 2]}, {"isr": [2, 1]}, True),
        ({"isrSet": [1, 2]}, {"isr": [2]}, False),
        ({"isr": [1, 2]}, {"isr": [2, 1]}, False),
        ({"lines": ["a"]}, {"lines": ["a", "b"]}, False),
        ({"epochs": [4, "...", 5]}, {"epochs": [4, 5]}, True),
        ({"epochs": [4, "...", 5]}, {"epochs": [4, 2, 3, 5]}, True),
        ({"epochs": [4, "...", 5]}, {"epochs": [5]}, False),
        ({"json": '{"a":1,"b":2}'}, {"json": '{"b":2,"a":1}'}, True),
        ({"note": "x", "leader": 1}, {"leader": 1}, True),
        ({"messageContains": "b c"}, {"message": "a b c"}, True),
        ({"messageStartsWith": "b"}, {"message": "a b"}, False),
        ({"messageContains": "of 'x' is"}, {"message": "of 'y' is"}, True),
        ({"error": "A (<=0.11) / B (1.0+)"}, {"error": "B"}, True),
        ({"error": "A (<=0.11) / B (1.0+)"}, {"error": "A"}, False),
        ({"error": "IOException (malformed line)"}, {"error": "IOException"}, True),
        ({"error": "NONE"}, {"error": None}, True),
        ({"partitionError": "NONE"}, {"partitionError": None}, False),
        ({"error": "NOT_ENOUGH_REPLICAS"}, {"error": "NotEnoughReplicasException"}, True),
        ({"high_watermark": 3}, {"hw": 3}, True),
        ({"state": "Online"}, {"state": "OnlinePartition"}, True),
    ],
)
def test_answers_are_compared_as_the_schema_says(expected: object, got: object, right: bool):
    assert agrees(expected, got, a_case(expected)) is right


def test_names_in_quotes_count_where_the_case_gives_the_topic():
    case = a_case({"messageContains": "of 'x' is"}, {"topic": "x"})

    assert not agrees(case.expected, {"message": "of 'y' is"}, case)


def test_a_run_is_as_bad_as_its_worst_file(tmp_path: Path):
    cases = read_cases(Path(write(tmp_path, "election", ELECTED)))
    answers: judging.Answers = {("election", "elect"): lambda _question: {"leader": 4}}
    good, unanswered = judge("e", cases, "impl", answers), judge("e", cases, "impl", {})
    bad = judge("e", cases, "impl", {("election", "elect"): lambda _question: {"leader": 2}})

    assert overall([good]) is Verdict.HOLDS
    assert overall([good, unanswered]) is Verdict.UNKNOWN
    assert overall([unanswered, bad, good]) is Verdict.BROKEN
    assert overall([]) is Verdict.NOT_CHECKED
    assert good.count(Outcome.PASSED) == 1


def test_the_files_are_those_of_the_sheet():
    assert len(FILES) == 19


ARTICLES = sorted(
    (Path(__file__).parents[2] / "conformance" / "vectors" / "articles").glob("*.json")
)


def test_the_articles_worked_examples_hold_on_both_sides():
    result = run(*map(str, ARTICLES), "--on", "both", "--json", "-")

    payload = json.loads(result.stdout)
    passed = {
        side: sum(row["passed"] for row in payload["files"] if row["on"] == side)
        for side in ("model", "impl")
    }
    assert result.exit_code == 0
    assert payload["disagreements"] == []
    assert passed["impl"] == sum(len(read_cases(path)) for path in ARTICLES) >= 19
    assert passed["model"] >= 4

"""Exercises can be solved, in the steps that they allow; a wrong answer is explained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from specs.explorer import find
from specs.grading import Exercise, ExerciseError, exercise, exercises, grade, read_answer
from specs.story import story_from_run
from specs.story.heading import heading_line
from specs.verdict import Verdict

RUNS = [one for one in exercises() if one.task in ("reach", "break")]
REPAIRED = {
    "fence-the-write": "system election version 0.10 with zk_writes_fenced=true",
    "read-your-own-write": "system replication version 2.3",
}
PROVED = {
    "node-and-version": """
@invariant("the node and its version move together", why="comparing one is comparing the other")
def together(now):
    return now.zk.epoch == now.zk.epoch_version
""",
    "what-belief-rests-on": """
@invariant("who believes to be the controller won that epoch", why="belief is late, not wrong")
def believed_was_won(now):
    return every(BROKERS, lambda b: implies(now.belief[b].held, all_of(
        now.won.has(b, now.belief[b].epoch), now.belief[b].epoch == now.belief[b].version)))
""",
}
IMPORTS = """from model.election.state import BROKERS
from model.language import all_of, every, implies
from specs.invariants import invariant
"""


@pytest.fixture
def answer(tmp_path: Path):
    """Writes an answer to a file: its exercise in the first line."""

    def written(name: str, text: str) -> Path:
        path = tmp_path / f"{name}.txt"
        path.write_text(f"# exercise {name}\n{text}")
        return path

    return written


def shortest(asked: Exercise) -> list[str]:
    """The lines of the shortest run that does what the exercise asks."""
    heading = asked.heading
    bounds = heading.recorded.system.limits(heading.given)
    run = find(heading.recorded, bounds, asked.claim)[1]
    assert run is not None
    lines = story_from_run(run).splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("system ")) + 1
    body = lines[begin : lines.index("----")]
    return [line for line in body if line and not line.startswith(("#", "check"))]


def insync(*words: object) -> Result:
    return CliRunner().invoke(main, ["grade", *map(str, words)])


@pytest.mark.parametrize("asked", RUNS, ids=lambda one: one.name)
def test_the_shortest_run_is_right_and_one_step_less_is_not(asked, answer):
    steps = shortest(asked)

    whole = grade(answer(asked.name, "\n".join([asked.opening, *steps])))
    short = grade(answer(asked.name, "\n".join([asked.opening, *steps[:-1]])))

    assert (whole.verdict, asked.most) == (Verdict.HOLDS, len(steps))
    assert short.verdict is Verdict.BROKEN
    assert "every step is possible" in short.lines[0]


@pytest.mark.parametrize("name", sorted(REPAIRED))
def test_the_fix_of_history_repairs_and_the_design_as_it_was_gives_the_run(name, answer):
    bounds = exercise(name).opening.partition(" brokers ")[2]

    mended = grade(answer(name, f"{REPAIRED[name]} brokers {bounds}\n"))
    as_it_was = grade(answer(name, f"{exercise(name).opening}\n"))

    assert mended.verdict is Verdict.HOLDS
    assert as_it_was.verdict is Verdict.BROKEN
    assert as_it_was.lines[0].startswith("still broken: ")
    assert as_it_was.lines[1].startswith(" 1  ") or as_it_was.lines[1].startswith("1  ")


@pytest.mark.parametrize("name", sorted(PROVED))
def test_the_missing_invariant_closes_the_proof(name, answer):
    done = grade(answer(name, IMPORTS + PROVED[name]))

    assert done.verdict is Verdict.HOLDS
    assert "for any number of brokers" in done.lines[0]


def test_an_invariant_that_is_too_weak_is_answered_by_a_state_and_a_step(answer):
    weak = PROVED["node-and-version"].replace("==", ">=")

    done = grade(answer("node-and-version", IMPORTS + weak))

    assert done.verdict is Verdict.BROKEN
    assert any(line.startswith("not shown: ") for line in done.lines)
    assert "in a state that obeys every invariant:" in done.lines


def test_the_invariant_that_was_kept_cannot_be_handed_in(answer):
    kept = PROVED["node-and-version"].replace("together", "one_broker_per_epoch")

    done = grade(answer("node-and-version", IMPORTS + kept))

    assert done.verdict is Verdict.BROKEN
    assert "has an invariant one_broker_per_epoch already" in done.lines[0]


def test_a_step_that_is_not_possible_is_refused_with_its_line_and_reason(answer):
    asked = exercise("elected-and-not-aware")
    path = answer(asked.name, f"{asked.opening}\nbroker_wins_election broker=1\n")

    done = grade(path)

    assert done.verdict is Verdict.BROKEN
    assert done.lines[0].startswith(f"{path}:3: broker_wins_election(broker=1) is not possi")


def test_a_run_that_is_longer_than_asked_is_not_right(answer):
    asked = exercise("elected-and-not-aware")
    detour = ["broker_connects broker=2", "session_expires broker=2"]

    done = grade(answer(asked.name, "\n".join([asked.opening, *detour, *shortest(asked)])))

    assert done.verdict is Verdict.BROKEN
    assert "after 5 steps; 3 are enough" in done.lines[0]


def test_a_run_of_an_easier_system_is_not_right(answer):
    asked = exercise("the-unclean-one")
    easier = asked.opening.replace("crashes 0", "crashes 1")

    done = grade(answer(asked.name, "\n".join([easier, *shortest(asked)])))

    assert done.verdict is Verdict.BROKEN
    assert "it plays another system" in done.lines[0]


def test_more_changes_than_allowed_are_not_right(answer):
    bounds = exercise("fence-the-write").opening.partition(" brokers ")[2]
    line = f"system election version 2.3 brokers {bounds}\n"

    done = grade(answer("fence-the-write", line))

    assert done.verdict is Verdict.BROKEN
    assert "1 is enough" in done.lines[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "names no exercise"),
        ("# exercise two-leaders\n# exercise node-and-version\n", "names 2 exercises"),
        ("# exercise two-leeders\n", "did you mean 'two-leaders'"),
    ],
)
def test_a_file_that_names_no_exercise_is_wrong_use(text, said, tmp_path):
    path = tmp_path / "answer.story"
    path.write_text(text)

    result = insync(path)

    assert result.exit_code == 64
    assert said in result.output


def test_a_file_that_is_no_text_is_wrong_use(tmp_path):
    path = tmp_path / "answer.story"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(ExerciseError, match="is not text"):
        read_answer(path)


def test_python_that_fails_is_named_with_its_line(answer):
    path = answer("node-and-version", "x = 1\nraise ValueError('no')\n")

    result = insync(path)

    assert result.exit_code == 64
    assert f"{path}:3: ValueError: no" in result.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys\nsys.exit(0)\n", ":3: SystemExit: 0; an answer only declares"),
        ("import os\nos._exit(0)\n", "the answer ended its own process (exit code 0)"),
        ("import os\nos.kill(os.getpid(), 9)\n", "ended its own process (exit code -9)"),
        ("x = [0] * 10**11\n", ":2: MemoryError: "),
        ("def f(:\n", ":2: SyntaxError: "),
        (
            PROVED["node-and-version"],
            ":3: NameError: name 'invariant' is not defined; "
            "add the line: from specs.invariants import invariant",
        ),
        (
            IMPORTS.replace("every, ", "") + PROVED["what-belief-rests-on"],
            ":8: NameError: name 'every' is not defined; "
            "add the line: from model.language import every",
        ),
    ],
)
def test_an_answer_that_goes_wrong_is_one_line_and_the_next_is_judged(text, said, answer):
    wrong = answer("what-belief-rests-on", text)
    right = answer("node-and-version", IMPORTS + PROVED["node-and-version"])

    result = insync(wrong, right)

    assert result.exit_code == 64
    assert result.stderr.startswith(f"insync: {wrong}:")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert f"{right}: right (node-and-version)" in result.stdout


def test_an_answer_without_end_is_cut_short_and_cannot_be_judged(answer):
    endless = answer("node-and-version", "while True:\n    pass\n")
    right = answer("what-belief-rests-on", IMPORTS + PROVED["what-belief-rests-on"])

    result = insync(endless, right, "--limit", "5")

    assert result.exit_code == 2
    assert f"{endless}: cannot tell (node-and-version)\n    no end after 5 s" in result.stdout
    assert f"{right}: right (what-belief-rests-on)" in result.stdout


def test_what_an_answer_prints_is_not_taken_for_a_verdict(answer):
    loud = answer("node-and-version", 'print("right")\n' + IMPORTS + PROVED["node-and-version"])

    result = insync(loud, "--json", "-")

    assert json.loads(result.stdout)["verdict"] == "holds"


def test_an_answer_that_is_empty_is_not_judged(answer):
    assert insync(answer("two-leaders", "")).exit_code == 3


def test_the_command_lists_shows_and_judges(answer):
    asked = exercise("elected-and-not-aware")
    path = answer(asked.name, "\n".join([asked.opening, *shortest(asked)]))

    listed, shown, judged = insync(), insync(asked.name), insync(path, "--json", "-")

    assert listed.exit_code == shown.exit_code == judged.exit_code == 0
    assert all(one.name in listed.stdout for one in exercises())
    assert f"    # exercise {asked.name}\n    {asked.opening}" in shown.stdout
    assert json.loads(judged.stdout)["verdict"] == "holds"


def test_the_system_of_an_exercise_is_reported_in_full():
    for one in RUNS:
        assert heading_line(one.heading.recorded, one.heading.given).startswith("system ")

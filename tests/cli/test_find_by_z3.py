"""`insync find --engine z3`: the same report as the explorer's, by the length of runs."""

from __future__ import annotations

from conformance.cli import bounded
from specs.bounded import MAX_STEPS, WORK

UNFENCED = "find single_writer election --without zk_writes_fenced"
CONTRACT = [
    "claim", "system", "version", "without", "bounds", "verdict", "steps", "loop", "replay",
]  # fmt: skip


def test_a_run_is_reported_as_the_explorer_tells_it(insync, answer):
    result = insync(f"{UNFENCED} --engine z3").stdout.splitlines()
    code, run = answer(f"{UNFENCED} --engine z3")
    _, explored = answer(UNFENCED)

    assert result[0] == "single_writer of election 2.3 without zk_writes_fenced"
    assert result[2] == "broken after 10 steps (brokers=2, epoch=2, writes=1)"
    assert result[3].startswith("no run is shorter: every run of up to 10 steps in ")
    assert (code, run["verdict"], run["depth"]) == (1, "broken", explored["depth"])
    assert run["steps"] == explored["steps"]
    assert [key for key in CONTRACT if key not in run] == []
    assert (run["engine"], run["looked_at"], run["lifted"]) == ("z3", 10, [])


def test_the_line_under_the_run_finds_it_again(insync):
    first = insync(f"{UNFENCED} --engine z3 --bound epoch=none").stdout.splitlines()

    again = insync(first[-1].removeprefix("again: insync ")).stdout.splitlines()

    assert first[-1].endswith("--brokers 2 --bound writes=1 --engine z3 --bound epoch=none")
    assert first[2] == "broken after 10 steps (brokers=2, writes=1, epoch without bound)"
    assert again[4:] == first[4:]


def test_a_run_without_a_bound_becomes_a_story_that_plays(insync, tmp_path):
    story = tmp_path / "unfenced.story"

    kept = insync(f"{UNFENCED} --engine z3 --bound epoch=none --save-story {story}")
    played = insync(f"story {story}")

    assert kept.exit_code == 1
    assert played.exit_code == 0, played.output


def test_faults_need_no_budget(answer):
    line = "find a_high_watermark_is_checkpointed replication --engine z3 --bound expiries=none"
    code, run = answer(line)

    assert (code, run["verdict"], run["lifted"]) == (0, "holds", ["expiries"])
    assert run["bounds"]["expiries"] == 1  # what this run spends


def test_a_limit_of_steps_is_unknown(insync, answer):
    result = insync("find strong_isr classic --engine z3 --max-steps 2").stdout
    code, found = answer("find strong_isr classic --engine z3 --max-steps 2")

    assert "unknown (--max-steps 2 is reached" in result
    assert "every run of up to 2 steps in" in result
    assert (code, found["verdict"], found["complete"], found["steps"]) == (2, "unknown", False, [])
    assert found["replay"].endswith(" --engine z3 --max-steps 2")


def test_a_limit_of_work_is_unknown(insync, answer):
    result = insync("find strong_isr classic --engine z3 --rlimit 1").stdout
    code, found = answer("find strong_isr classic --engine z3 --rlimit 1")

    assert "unknown (--rlimit 1 was used up; not even the initial state was judged" in result
    assert "no run at all in" in result
    assert (code, found["verdict"]) == (2, "unknown")


def test_the_help_names_the_defaults_of_the_engine():
    assert (bounded.MAX_STEPS, bounded.RLIMIT) == (MAX_STEPS, WORK)

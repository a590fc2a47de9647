"""A run is shown in plain words, as data, and as the command that shows the same run again."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from click.testing import CliRunner

from conformance.cli import main
from model.classic import SYSTEM as CLASSIC
from model.election import SYSTEM as ELECTION
from model.language import System
from model.replication import SYSTEM as REPLICATION
from specs.explorer import find
from specs.rendering import as_data
from specs.runs import Run, build_run, replay_command
from specs.state_text import shown_arguments
from specs.verdict import Verdict


def run_of(model: System, claim: str, version: str | None = None, **changed: object) -> Run:
    _, run = find(model.recorded(version, changed), model.limits({}), claim)
    assert run is not None
    return run


def test_a_run_is_reported_a_line_a_step_and_only_what_changed():
    run = run_of(ELECTION, "winner_has_not_learned_it_won")

    assert run.as_text().splitlines() == [
        "1  broker_connects(broker=1)",
        "       session[1]: false → true",
        "2  broker_reads_epoch(broker=1)",
        "       read[1].done: false → true",
        "3  broker_wins_election(broker=1)",
        "       zk.controller: none → 1",
        "       zk.epoch: 0 → 1",
        "       zk.epoch_version: 0 → 1",
    ]


def test_logs_and_sets_are_reported_as_an_engineer_writes_them():
    result = run_of(CLASSIC, "strong_isr", "hw_truncation").as_text()

    assert "log[3]: [id 0 epoch 1] → []" in result
    assert "quorum.isr: {1,2,3} → {1," in result
    assert "view[3].epoch: none → 0" in result


def test_numbers_of_steps_are_aligned():
    lines = run_of(ELECTION, "single_writer", zk_writes_fenced=False).as_text().splitlines()

    numbered = [line for line in lines if not line.startswith("    ")]
    assert [line[:4] for line in numbered[:1]] == [" 1  "]
    assert [line[:4] for line in numbered[-1:]] == ["10  "]


def test_the_data_of_a_run_says_what_it_is_about():
    run = run_of(ELECTION, "single_writer", zk_writes_fenced=False)

    reported = json.loads(json.dumps(as_data(run)))

    assert reported["format"] == "insync.verdict/1"
    assert (
        reported["sentence"]
        == "ZooKeeper accepts no controller write from an older controller epoch"
    )
    assert (reported["system"], reported["version"], reported["without"]) == (
        "election", "2.3", {"zk_writes_fenced": False},
    )  # fmt: skip
    assert reported["bounds"] == {"brokers": 2, "epoch": 2, "writes": 1}
    assert (reported["verdict"], reported["depth"], len(reported["steps"]), reported["loop"]) == (
        "broken", 11, 10, None,
    )  # fmt: skip
    assert reported["steps"][-1]["step"] == "write_is_applied"
    assert reported["steps"][-1]["changes"]["stale_write"] == [False, True]


def test_a_step_that_is_not_possible_cannot_be_part_of_a_run():
    found, run = find(ELECTION.recorded(), ELECTION.limits({}), "winner_has_not_learned_it_won")
    assert run is not None
    numbers = {
        (one.step.transition.name, str(shown_arguments(one))): one.number
        for one in found.grounded.instances
    }
    instances = [numbers[step.step, str(step.args)] for step in run.steps]

    same = build_run(
        found.grounded, found.code, instances, "winner_has_not_learned_it_won", Verdict.HOLDS
    )
    twice = [instances[0], *instances]

    assert same == run
    with pytest.raises(AssertionError, match=r"cannot be replayed at broker_connects\(broker=1\)"):
        build_run(found.grounded, found.code, twice, "winner_has_not_learned_it_won", Verdict.HOLDS)


# -- the command under a run ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "version", "claim", "changed"),
    [
        (CLASSIC, "kip_101", "strong_isr", {}),
        (CLASSIC, "hw_truncation", "weak_isr", {}),
        (ELECTION, "2.3", "single_controller", {"requests_fenced": False}),
        (ELECTION, "0.10", "no_older_controller_is_obeyed", {"zk_writes_fenced": True}),
        (
            REPLICATION,
            "2.3",
            "two_brokers_believe_they_lead",
            {"truncation": "kip_101", "fetch_fencing": False},
        ),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_the_command_under_a_run_shows_the_same_run(model, version, claim, changed):
    run = run_of(model, claim, version, **changed)
    program, *line = shlex.split(run.replay)

    result = CliRunner().invoke(main, [*line, "--json", "-"])

    again: dict[str, Any] = json.loads(result.stdout)
    assert program == "insync"
    assert result.exit_code == run.verdict.exit_code
    assert {key: again[key] for key in as_data(run)} == json.loads(json.dumps(as_data(run)))


def test_a_switch_thrown_back_has_an_option_whatever_its_value_was():
    fixed = {"zk_writes_fenced": True, "unclean_leader_election": False}
    before = {"zk_writes_fenced": False, "unclean_leader_election": True, "truncation": "hw"}

    forward = replay_command("find", "election", "2.3", fixed, {}, "single_writer")
    back = replay_command("explore", "election", "2.3", before, {"brokers": 3, "epoch": 2})

    assert forward == (
        "insync find single_writer election --version 2.3 "
        "--set unclean_leader_election=False --set zk_writes_fenced=True"
    )
    assert back == (
        "insync explore election --version 2.3 --set truncation=hw --without "
        "unclean_leader_election --without zk_writes_fenced --brokers 3 --bound epoch=2"
    )

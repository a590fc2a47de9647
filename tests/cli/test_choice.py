"""Naming a system, its version, switches and bounds: what is taken, and what is answered."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("explore clasic", ["unknown system 'clasic'", "did you mean 'classic'?", "replication"]),
        ("explore", ["name a system, one of classic, election", "insync explore [OPTIONS] SYSTEM"]),
        ("find strong_isr", ["name a system", "insync find [OPTIONS] CLAIM SYSTEM"]),
        ("explore classic --version kip320", ["version of classic", "did you mean 'kip_320'?"]),
        ("explore classic --version ''", ["version of classic ''"]),
        ("explore election --version 3.9", ["version of election '3.9'", "2.3"]),
        ("explore classic --claim strong", ["claim of classic", "did you mean 'strong_isr'?"]),
        ("explore classic --claim single_writer", ["is a claim of election"]),
        ("explore classic --bound lag=1", ["bound of classic 'lag'", "did you mean 'log'?"]),
        ("explore classic --bound log=x", ["'x' is not a whole number", "makes sense is log=1"]),
        ("explore classic --bound log=", ["'' is not a whole number", "makes sense is log=1"]),
        ("explore classic --bound log=1.5", ["'1.5' is not a whole number"]),
        ("explore classic --bound log=1_0", ["'1_0' is not a whole number"]),
        ("explore classic --bound log", ["write NAME=N, such as --bound log=1"]),
        ("explore classic --bound =2", ["write NAME=N, such as --bound brokers=1"]),
        ("explore classic --bound log=0", ["log=0 is too small", "makes sense is log=1"]),
        ("explore classic --bound log=-1", ["log=-1 is too small", "makes sense is log=1"]),
        ("explore classic --bound log=99999999999", ["no bound goes beyond"]),
        ("explore classic --bound log=2 --bound log=3", ["given as 2 and as 3"]),
        ("explore classic --brokers 2 --bound brokers=3", ["given as 2 and as 3"]),
        ("explore replication --brokers 1", ["brokers=1 is too small", "makes sense is brokers=2"]),
        ("explore classic --brokers many", ["--brokers many", "makes sense is brokers=1"]),
        ("explore classic --without design", ["chosen by its version", "--version kip_320"]),
        ("explore classic --set design=kip_101", ["chosen by its version"]),
        ("explore classic --without truncation", ["classic has no switch", "--version kip_320"]),
        ("explore election --without zk_writes", ["did you mean 'zk_writes_fenced'?"]),
        ("explore election --without truncation", ["truncation is a switch of replication"]),
        ("explore replication --without truncation", ["--set truncation=hw"]),
        ("explore replication --set truncation", ["SWITCH=VALUE", "--set truncation=hw"]),
        ("explore replication --set truncation=kip_102", ["did you mean 'kip_101'?"]),
        ("explore election --set zk_writes_fenced=maybe", ["one of: false, true"]),
        (
            "explore election --without zk_writes_fenced --set zk_writes_fenced=true",
            ["given twice"],
        ),
    ],
)
def test_a_wrong_choice_is_answered_in_one_line_with_what_is_right(insync, line, words):
    result = insync(line)

    assert result.exit_code == 64
    assert result.stdout == ""
    assert result.stderr.startswith("insync: ")
    assert result.stderr.count("\n") == 1
    assert [word for word in words if word not in result.stderr] == []


@pytest.mark.parametrize(
    ("line", "version", "changed", "bounds"),
    [
        ("classic", "kip_320", {}, {"brokers": 3, "log": 2, "records": 2, "epoch": 1}),
        ("classic --brokers 2", "kip_320", {}, {"brokers": 2, "log": 2, "records": 2, "epoch": 1}),
        ("election --version 1.1", "1.1", {}, {"brokers": 2, "epoch": 2, "writes": 1}),
        (
            "election --without zk_writes_fenced --bound writes=2",
            "2.3",
            {"zk_writes_fenced": False},
            {"brokers": 2, "epoch": 2, "writes": 2},
        ),
        (
            "election --version 1.1 --set zk_writes_fenced=True",
            "1.1",
            {"zk_writes_fenced": True},
            {"brokers": 2, "epoch": 2, "writes": 1},
        ),
        (
            "replication --set truncation=kip_101 --bound crashes=0",
            "2.5",
            {"truncation": "kip_101"},
            {
                "brokers": 2,
                "log": 1,
                "records": 1,
                "epoch": 2,
                "controllers": 1,
                "versions": 2,
                "crashes": 0,
                "expiries": 1,
                "losses": 0,
            },
        ),
    ],
)
def test_what_was_chosen_is_what_is_explored(answer, line, version, changed, bounds):
    _, found = answer(f"explore {line} --max-states 50")

    assert found["version"] == version
    assert found["without"] == changed
    assert found["bounds"] == bounds


def test_a_release_before_the_fix_is_the_same_as_the_fix_thrown_back(answer):
    _, before = answer("find single_writer election --version 1.1")
    _, without = answer("find single_writer election --without zk_writes_fenced")

    assert before["steps"] == without["steps"]
    assert before["verdict"] == without["verdict"] == "broken"


def test_a_replay_line_leads_to_the_same_choice(answer):
    _, first = answer("find zombies_overlap election --version 1.1 --set zk_writes_fenced=true")

    _, again = answer(first["replay"].removeprefix("insync "))

    assert {**again, "seconds": 0} == {**first, "seconds": 0}

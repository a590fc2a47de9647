"""Wrong use of any command is one line on standard error that says what to write, and code 64."""

from __future__ import annotations

import pytest
from click.testing import Result


def assert_wrong_use(result: Result, words: list[str]) -> None:
    """One line on standard error, which says what to write instead."""
    assert result.exit_code == 64
    assert result.stdout == ""
    assert result.stderr.startswith("insync: ")
    assert result.stderr.count("\n") == 1
    assert [word for word in words if word not in result.stderr] == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        # The system, its version, switches and bounds, which many commands take
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
        # `find`
        (
            "find classic strong_isr",
            ["the claim comes first; write: insync find strong_isr classic"],
        ),
        (
            "find no_message_loss replication --version 2.3 --set truncation=hw",
            ["fetch_fencing=true does not go with truncation=hw", "KIP-320", "kip_101 or kip_279"],
        ),
        (
            "find no_message_loss replication --version 2.0 --without late_answers_ignored",
            ["late_answers_ignored=false does not go with fetch_fencing=false", "KAFKA-7786"],
        ),
        (
            "find no_message_loss replication --version 2.3 --without fetch_fencing "
            "--without late_answers_ignored",
            ["late_answers_ignored=false does not go with fetch_fencing=false"],
        ),
        ("find strong_isr classic --bound log=none", ["write --bound log=N, or add --engine z3"]),
        ("find strong_isr classic --engine z3 --bound log=none", ["says least over every offset"]),
        (
            "find strong_isr classic --engine z3 --max-states 5",
            ["with --engine z3 write --max-steps"],
        ),
        ("find strong_isr classic --engine z3 --symmetry", ["--symmetry is for --engine native"]),
        ("find strong_isr classic --max-steps 5", ["--max-steps is for --engine z3"]),
        ("find strong_isr classic --rlimit 5", ["--rlimit is for --engine z3"]),
        ("find strong_isr classic --engine z3 --bound nothing=none", ["unknown bound of classic"]),
        (
            "find strong_isr classic --engine z3 --bound epoch=2 --bound epoch=none",
            ["given as a number and as none"],
        ),
        (
            "find requested_deletions_end topics --engine z3",
            ["not at loops; leave --engine z3 out"],
        ),
        # `explore`
        ("explore classic --max-states 0", ["0 is not in the range x>=1"]),
        ("explore classic --engine java", ["'java' is not one of 'native', 'python'"]),
        ("explore classic election", ["unexpected extra argument"]),
        ("explore classic --engine python --symmetry", ["--symmetry is for --engine native"]),
        ("explore classic --engine python --workers 2", ["--workers is for --engine native"]),
        ("explore classic --workers 0", ["0 is not in the range"]),
        ("explore classic --memory 0", ["0.0 is not in the range"]),
        ("explore classic --shards 3", ["--shards is for --engine spark"]),
        (
            "explore classic --engine spark --checkpoint kept",
            ["--checkpoint is for --engine native"],
        ),
        ("explore classic --engine spark --master spark://host:7077", ["that every executor sees"]),
        ("explore classic --engine spark --field-values", ["--engine native"]),
        # `prove`
        ("prove single_controler", ["did you mean 'single_controller'?"]),
        (
            "prove single_writer",
            ["no proof yet", "single_controller", "insync find single_writer elec"],
        ),
        ("prove --all single_controller", ["write either --all or names"]),
        ("prove --brokers 0", ["brokers=0 is too small", "brokers=1"]),
        ("prove --brokers few", ["write a number, or 'any'"]),
        ("prove --version 9.9", ["version of election '9.9'"]),
        ("prove --without truncation", ["truncation is a switch of replication"]),
        (
            "prove --unfair broker_handles_request single_controller",
            ["for claims of progress", "is none"],
        ),
        (
            "prove all_brokers_know_the_controller --unfair broker_crashes",
            ["unknown fair step", "one of"],
        ),
        (
            "prove all_brokers_know_the_controller --find",
            ["--find and --graph are for single_controller"],
        ),
        ("prove --solver cvc4", ["'cvc4' is not one of", "z3", "cvc5", "both"]),
        ("prove single_controller --smt2 model", ["not empty", "name a new folder"]),
        ("prove placement_is_distinct --brokers 3", ["is proved for any number; leave it out"]),
        ("prove placement_is_distinct --smt2 folder", ["is a theorem"]),
        ("prove placement_is_distnct", ["did you mean 'placement_is_distinct'?"]),
        ("prove --deep", ["--deep goes with --refinement"]),
        ("prove single_controller --refinement", ["a claim's name does not go with --refinement"]),
        ("prove --refinement --all", ["--all does not go with --refinement"]),
        ("prove --refinement --brokers 3", ["--brokers does not go with --refinement"]),
        ("prove --refinement --find", ["--find does not go with --refinement"]),
        ("prove --smt2 one --certificate other", ["give one of the two"]),
        ("prove --refinement --certificate other", ["--certificate does not go with --refinement"]),
        ("prove --smt2 one --checker ethos", ["--checker goes with --certificate"]),
        ("prove --certificate one --checker no-such-program", ["there is no such program"]),
        ("prove cluster_leader_unique --find", ["cluster_leader_unique is a theorem beside them"]),
        ("prove single_controller --find --drop-invariants beleif", ["beleif"]),
        # Other commands
        ("surgery", ["name a system"]),
        ("surgery elections", ["did you mean 'election'"]),
        ("surgery election --guard nothing", ["unknown guard of election 'nothing'"]),
        ("surgery election --bound epoch=0", ["epoch=0 is too small"]),
        ("surgery election --without zk_writes_fenced", ["breaks with every guard in place"]),
        ("simulate --seeds 5..1", ["write --seeds 1..5"]),
        ("simulate --seeds 1-5", ["write A..B"]),
        ("simulate --seeds 1..", ["write A..B"]),
        ("simulate --seed -1", ["-1 is not in the range x>=0"]),
        ("simulate --seed 1 --seeds 1..2", ["write one of them"]),
        ("simulate --steps 0", ["0 is not in the range x>=1"]),
        ("simulate --faults crash", ["did you mean 'crashes'? one of: crashes, everything"]),
        ("simulate --brokers 1", ["1 is not in the range 2<=x<=9"]),
        ("simulate --brokers 10", ["10 is not in the range 2<=x<=9"]),
        ("simulate --logs", ["write --cluster --out DIR --logs"]),
        ("simulate --cluster --out runs", ["--out is of the world of one partition"]),
        ("simulate --cluster --fault broker_crash", ["--fault is of the world of one partition"]),
        ("simulate --cluster --faults chaos", ["one of: clients, crashes, denials, deposed"]),
        ("simulate --planted KIP-101", ["write --engine spark or --engine local"]),
        ("simulate --engine local --planted KIP-1", ["unknown bug to plant 'KIP-1'"]),
        ("simulate --engine local --faults none,rain", ["unknown fault profile 'rain'"]),
        ("simulate --engine local --master 'local[1]'", ["write --engine spark"]),
        ("lockstep --version 3.0", ["no release 3.0 from 0.10.0 to 2.8"]),
        ("lockstep --version newest", ["a release looks like 2.3 or 0.10.1"]),
        ("lockstep --system cluster --version 0.10", ["--system cluster begins with 0.11"]),
        ("lockstep --faults rain", ["no fault profile 'rain'"]),
        (
            "lockstep --system cluster --faults gremlins",
            ["there are none, crashes, sessions, lossy, operators, slow"],
        ),
        ("chaos --faults kil", ["did you mean 'kill'"]),
        ("chaos --faults depose --trace", ["leave out --trace"]),
        ("chaos --version 2.7 --trace", ["write --version 2.4"]),
        ("chaos --version 1.9", ["1.9"]),
        ("chaos --brokers 2 --min-isr 3", ["a partition has 2 replicas here"]),
        ("chaos --rounds 0", ["0 is not in the range"]),
        ("chaos --minutes 0", ["0.0 is not in the range"]),
        ("chaos --clients ours,kcat", ["'kcat' is no client; write ours, librdkafka"]),
        ("story", ["write: insync story specs/stories"]),
        ("story no_such.story", ["there is no such file"]),
        ("story tests", ["there is no file *.story in this folder"]),
        ("story --on disk specs/stories", ["is not one of 'model', 'impl', 'both'"]),
        ("story --on impl --accept specs/stories", ["leave out either --accept or --on impl"]),
        ("story --on both --fault broker_crash specs/stories", ["leave out either --fault"]),
        ("find strong_isr classic --save-story no/x.story", ["there is no such folder"]),
        ("bugs --quick --save-story x.story", ["keep one run"]),
        ("compare specs/stories/m2_is_lost.story 9.9", ["unknown version of replication '9.9'"]),
        ("compare specs/stories/m2_is_lost.story nowhere.story", ["nowhere.story: No such file"]),
        ("compare nowhere.story 2.3", ["nowhere.story: No such file"]),
        ("compare specs/stories/m2_is_lost.story 0.11 --out x.pdf", ["a comparison is a page"]),
        (
            "compare specs/stories/m2_is_lost.story 'without fencing_by_hope'",
            ["unknown switch of replication"],
        ),
        ("explain nowhere.json --out x.pdf", [".html, .svg, .md, .mmd, .py"]),
        ("explain specs/stories/m2_is_lost.story --cards --out x.svg", ["--cards --out FILE.html"]),
        ("bugs KAFKA-1189", ["did you mean 'KAFKA-1188'"]),
        ("bugs KAFKA-532 --all", []),
        ("grade two-leeders.story", ["insync grade lists them"]),
    ],
)
def test_wrong_use_is_answered_in_one_line_with_what_is_right(insync, line, words):
    result = insync(line)

    assert_wrong_use(result, words)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("chaos --out HERE", "not empty"),
        ("docs --markdown --out HERE", "holds other things than a site"),
        ("prove single_controller --certificate HERE", "--certificate"),
        ("simulate --steps 50 --out HERE", "already holds thesis.tex; name a new or an empty fold"),
        ("simulate --steps 50 --out HERE/thesis.tex", "is a file; name a folder"),
    ],
)
def test_what_holds_something_else_is_left_alone(insync, tmp_path, line, why):
    (tmp_path / "thesis.tex").write_text("years of work")

    result = insync(line.replace("HERE", str(tmp_path)))

    assert (result.exit_code, why in result.stderr) == (64, True)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [
        ("thesis.tex", "years of work")
    ]

"""`insync explore`: counts, verdicts, coverage, and exit codes that never flatter."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from model.election import SYSTEM as ELECTION
from model.language import ProtocolError, always, always_eventually, always_step
from model.systems import SYSTEMS

CONTRACT = {
    "system", "version", "bounds", "symmetry", "engine", "complete", "distinct", "generated",
    "depth", "seconds", "setup_seconds", "peak_memory_mb", "claims",
}  # fmt: skip
TINY = "classic --bound log=1 --bound records=1 --bound epoch=0"


@pytest.mark.parametrize(
    ("version", "distinct", "depth", "strong", "weak"),
    [
        ("hw_truncation", 67807, 21, ("broken", 9), ("broken", 9)),
        ("kip_101", 59788, 22, ("broken", 12), ("holds", None)),
        ("kip_279", 60106, 22, ("broken", 12), ("holds", None)),
        ("kip_320_first_try", 59092, 22, ("holds", None), ("holds", None)),
        ("kip_320", 39619, 22, ("holds", None), ("holds", None)),
    ],
)
def test_the_five_designs_have_their_counts_and_verdicts(
    answer, version, distinct, depth, strong, weak
):
    code, found = answer(
        f"explore classic --version {version} --bound log=2 --bound records=2 --bound epoch=1"
    )

    assert (found["distinct"], found["depth"], found["complete"]) == (distinct, depth, True)
    assert (found["claims"]["strong_isr"]["verdict"], found["claims"]["strong_isr"]["depth"]) == (
        strong
    )
    assert (found["claims"]["weak_isr"]["verdict"], found["claims"]["weak_isr"]["depth"]) == weak
    assert found["claims"]["leader_in_isr"]["verdict"] == "holds"
    assert code == (1 if "broken" in (strong[0], weak[0]) else 0)


def test_the_json_keeps_the_contract_and_carries_the_shortest_run(answer):
    _, found = answer("explore election --without zk_writes_fenced")

    broken = found["claims"]["single_writer"]
    assert set(found) >= CONTRACT
    assert set(broken) >= {"verdict", "depth", "trace"}
    assert len(broken["trace"]) == broken["depth"] - 1 == 10
    assert set(broken["trace"][0]) == {"step", "args", "changes"}
    assert found["claims"]["no_older_controller_is_obeyed"]["trace"] is None


def test_a_broken_claim_does_not_end_the_visit(answer):
    _, whole = answer("explore election --without zk_writes_fenced")

    assert whole["complete"]
    assert whole["depth"] > whole["claims"]["single_writer"]["depth"]


def test_a_claim_brings_its_companion_so_that_vacuity_is_noticed(answer):
    code, found = answer("explore election --brokers 1 --claim single_controller")

    assert set(found["claims"]) == {"single_controller", "two_brokers_believe_they_are_controller"}
    assert (
        found["claims"]["single_controller"]["why"]
        == "vacuous: two_brokers_believe_they_are_controller is never reached"
    )
    assert found["verdict"] == "unknown"
    assert code == 2


def test_only_the_claims_asked_for_decide_the_exit_code(answer):
    code, found = answer(
        "explore election --without zk_writes_fenced --claim no_older_controller_is_obeyed"
    )

    assert (code, found["verdict"]) == (0, "holds")


def test_a_visit_cut_short_is_unknown_even_where_nothing_broke(answer):
    code, found = answer("explore classic --max-states 1000")

    assert (code, found["verdict"], found["complete"]) == (2, "unknown", False)
    assert found["stopped"] == "the bound of 1000 states is reached"
    assert sum(found["levels"]) == found["distinct"] == 655  # whole levels only
    assert found["replay"].endswith(" --max-states 1000")


def test_what_broke_before_the_visit_was_cut_short_stays_broken(answer):
    code, found = answer("explore classic --version hw_truncation --max-states 20000")

    assert (code, found["complete"]) == (1, False)
    assert found["claims"]["strong_isr"]["verdict"] == "broken"


def test_as_many_states_as_there_are_is_complete(answer):
    _, all_of_them = answer(f"explore {TINY}")
    count = all_of_them["distinct"]

    _, enough = answer(f"explore {TINY} --max-states {count}")
    _, one_less = answer(f"explore {TINY} --max-states {count - 1}")

    assert enough["complete"]
    assert not one_less["complete"]


@always_eventually("somebody is the controller in the end", fair=("broker_wins_election",))
def somebody_wins(now):
    return now.zk.epoch > 0


@pytest.fixture
def with_an_eventually(monkeypatch):
    more = replace(ELECTION, claims=(*ELECTION.claims, somebody_wins))
    monkeypatch.setitem(SYSTEMS, "election", more)


def test_an_eventually_is_judged_and_decides_the_exit_code(insync, answer, with_an_eventually):
    alone, found = answer("explore election --claim somebody_wins")
    beside, _ = answer("explore election --claim somebody_wins --claim single_writer")
    spoken = insync("explore election --claim somebody_wins").stdout

    reported = found["claims"]["somebody_wins"]
    assert (alone, beside, found["verdict"]) == (1, 1, "broken")
    assert (reported["depth"], reported["trace"], reported["loop"]) == (
        1,
        [],
        0,
    )  # nobody has to connect
    assert "always eventually: somebody is the controller in the end" in " ".join(spoken.split())
    assert "to see how somebody_wins breaks: insync find somebody_wins election" in spoken


def test_under_symmetry_an_eventually_is_not_checked_and_beside_others_does_not_count(
    insync, answer, with_an_eventually
):
    alone, found = answer("explore election --symmetry --claim somebody_wins")
    beside, _ = answer("explore election --symmetry --claim somebody_wins --claim single_writer")
    spoken = insync("explore election --symmetry --claim somebody_wins").stdout

    assert (alone, found["verdict"]) == (3, "not checked")
    assert beside == 0
    assert "somebody_wins is not checked: what is fair to one broker is lost" in spoken


def test_a_dead_end_comes_with_the_command_that_shows_it(insync, answer):
    spoken = insync("explore classic").stdout
    line = next(line for line in spoken.splitlines() if "without any possible step" in line)

    code, run = answer(line[line.index("find deadlock") :])

    assert line.startswith("891 states are without any possible step")
    assert (code, run["claim"], run["depth"]) == (1, "deadlock", 3)
    assert "without any possible step" not in insync("explore election").stdout


def test_what_grew_is_shown_when_asked_for_and_offered_when_a_visit_was_cut_short(insync, answer):
    asked = insync("explore classic --max-states 1000 --field-values").stdout
    _, found = answer("explore classic --max-states 1000 --field-values")
    cut_short = insync("explore classic --max-states 1000").stdout
    whole = insync(f"explore {TINY}").stdout

    fullest = found["grew"][0]
    assert f"  {fullest['field']}: " in asked
    assert fullest["share_at_bound"] == max(one["share_at_bound"] or 0 for one in found["grew"])
    assert "to see which fields grew: the same again with --field-values" in cut_short
    assert "grew" not in whole
    assert "grew" not in answer(f"explore {TINY}")[1]


def test_the_report_says_what_was_seen_pruned_and_never_tried(insync):
    result = insync("explore election --brokers 1")

    assert (
        "438 distinct states, 1,578 generated, no state further than 17 steps, complete"
        in result.stdout
    )
    assert "pruned beyond a bound: epoch 24, writes 114" in result.stdout
    assert "transitions that never fired: write_is_refused" in result.stdout
    assert "refusals never the first to fail: 5 (--coverage lists them)" in result.stdout
    assert (
        "two_brokers_believe_they_are_controller is broken: no reachable state within the bounds"
        in result.stdout
    )
    assert result.stdout.endswith("broken (brokers=1, epoch=2, writes=1)\n")
    assert result.exit_code == 1


def test_coverage_lists_the_refusals_that_never_came_first(insync):
    folded = insync("explore election --brokers 1").stdout
    listed = insync("explore election --brokers 1 --coverage").stdout

    more = [line for line in listed.splitlines() if line not in folded.splitlines()]
    assert [line for line in more if line.startswith("  ")] == [
        "  broker_wins_election: /controller_epoch is as it was read",
        "  broker_learns_it_won: the epoch is the one that it wrote",
        "  controller_starts_write: no newer controller has written the state",
        "  write_is_applied: the state is as it was read",
        "  write_is_applied: /controller_epoch is as it was won",
    ]


def test_each_broken_claim_comes_with_the_command_that_shows_it(insync, answer):
    spoken = insync("explore election --without zk_writes_fenced").stdout
    lines = [line for line in spoken.splitlines() if "insync find" in line]
    commands = [line[line.index("insync find") :] for line in lines]

    shown = [answer(command.removeprefix("insync ")) for command in commands]

    assert [(code, found["claim"]) for code, found in shown] == [
        (1, "single_controller"),
        (1, "single_writer"),
    ]


def test_names_are_never_cut_in_the_table(insync):
    spoken = insync("explore election").stdout

    assert "a_deposed_controller_has_a_write_in_flight" in spoken
    assert "…" not in spoken


def test_json_in_a_file_leaves_the_table_where_it_was(insync, tmp_path):
    target = tmp_path / "found.json"

    result = insync(f"explore {TINY} --json {target}")

    assert "strong_isr" in result.stdout
    assert json.loads(target.read_text())["system"] == "classic"


@pytest.mark.parametrize("kind", [always, always_step])
def test_a_claim_without_a_companion_is_refused_with_the_line_to_write(kind):
    with pytest.raises(ProtocolError, match=r"test_explore.py:\d+: it_holds has no companion"):

        @kind("it holds")
        def it_holds(now, after=None): ...


def test_a_companion_that_is_no_claim_is_wrong_use_and_one_line(insync, monkeypatch):
    @always("it holds", companion="two_brokers_beleive_they_are_controller")
    def it_holds(now):
        return now.zk.epoch >= 0

    claims = (*ELECTION.claims, it_holds)
    monkeypatch.setitem(SYSTEMS, "election", replace(ELECTION, claims=claims))

    result = insync("explore election")

    assert result.exit_code == 64
    assert result.stderr.count("\n") == 1
    assert (
        "it_holds: unknown companion 'two_brokers_beleive_they_are_controller': "
        "did you mean 'two_brokers_believe" in result.stderr
    )


@pytest.mark.parametrize("line", ["", " --workers 2", " --fingerprints"])
def test_memory_that_is_less_than_one_table_is_unknown_and_nothing_worse(insync, line):
    result = insync(f"explore classic --memory 0.0001{line}")

    assert result.exit_code == 2
    assert "memory: " in result.stdout

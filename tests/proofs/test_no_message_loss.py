"""Nothing is lost, for any number of brokers: the proof goes through, and each fix is needed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import conformance.verify as verifying
from conformance.cli import main
from conformance.verify import EXPLORATIONS, FINDINGS, PROGRESS, PROOFS
from model.language import Claim, ProtocolError, RecordedSystem, all_of, below, every, implies
from model.replication.history import SYSTEM
from model.replication.history.state import BROKERS, ENDS, OFFSETS
from specs import prover
from specs.explorer import explore, find
from specs.induction_counterexamples import SmallScope, counterexample_to_induction
from specs.invariants import Proof, lemma
from specs.lowering.z3_code import Z3Code
from specs.obligations import Obligation, ProofFormulas
from specs.proofs.no_message_loss import GROUPS, PROOF, kip_279
from specs.prover import DOMAINS, IMPLIED, INITIALLY, LEMMA, ProofResult, prove
from specs.verdict import Verdict

ENOUGH = 5_000_000
"""Half of it suffices for every obligation that holds: the rest is for those that do not."""

ISR_MEMBERSHIP = {
    "members_are_in_older_isrs", "candidates_are_in_older_isrs", "members_are_long_enough",
    "members_have_what_may_be_committed", "candidates_are_long_enough",
    "candidates_have_what_may_be_committed"}  # fmt: skip
WITHOUT_ANCESTRY = {
    "members_were_in_older_requests",
    "candidates_were_in_older_requests",
    *ISR_MEMBERSHIP,
}
LATER_EPOCHS = {"later_epochs_start_beyond", "later_epochs_have_what_may_be_committed"}

# What is changed, and where the proof then fails: each of these obligations stays open.
OPEN = [
    ("unclean_leader_election", True, "controller_elects_leader", WITHOUT_ANCESTRY),
    ("isr_join_needs_epoch_start", False, "leader_expands_isr",
     {"replicas_that_join_have_caught_up"}),
    ("truncation", "hw", "follower_truncates_to_hw", {
        "followers_are_in_epochs_that_began", "a_followers_log_ends_in_history",
        "a_followers_log_is_history", "answers_are_for_who_asked", "what_was_asked_is_long_enough",
        "members_are_long_enough", "candidates_are_long_enough"}),
    ("isr_write_conditional", False, "isr_write_is_executed", {
        "current_versions_are_of_the_registered_epoch",
        "the_current_leaders_isr_includes_the_registered_isr",
        "an_unled_epochs_request_has_the_registered_version",
        "an_unled_epochs_request_has_the_registered_isr", "older_epochs_have_older_versions",
        "the_registered_leader_is_in_the_isr", "members_were_in_older_requests",
        "a_member_of_each_older_epoch_has_left", *LATER_EPOCHS, *ISR_MEMBERSHIP}),
    ("fetch_fencing", False, "leader_answers_truncation_offset", {
        "answers_are_for_who_asked", "answers_keep_what_is_common",
        "last_answers_cut_within_history", "last_answers_leave_history"}),
    ("fetch_fencing", False, "leader_learns_end", {"known_ends_were_asked_for"}),
    ("fetch_session_caches_epoch", False, "leader_learns_end", {"known_ends_were_asked_for"}),
    ("fetch_session_caches_epoch", False, "follower_appends", {
        "followers_are_in_epochs_that_began", "a_followers_log_ends_in_history",
        "a_followers_log_is_history", "records_come_from_epochs", "logs_match_histories"}),
    ("broker_epoch", False, "broker_crashes", {
        "leaders_keep_their_epoch", "records_come_from_epochs", "fetches_are_within_history",
        "a_member_of_each_older_epoch_has_left", *LATER_EPOCHS, *WITHOUT_ANCESTRY}),
    ("leader_epoch_checked", False, "broker_becomes_leader", {
        "leaders_keep_their_epoch", "what_was_asked_is_held", "data_is_history",
        "histories_match", "sent_hw_is_committed", "one_epoch_committed_it_all",
        "a_member_of_each_older_epoch_has_left", *LATER_EPOCHS, *ISR_MEMBERSHIP}),
    ("lost_isr_answer_blocks", False, "leader_gives_up_isr_write", {
        "the_current_leaders_isr_includes_the_registered_isr", "leaders_are_in_their_isr",
        "a_member_of_each_older_epoch_has_left",
        *LATER_EPOCHS, *ISR_MEMBERSHIP}),
]  # fmt: skip


# The runs that are short enough to be found here; bugs and replication have those of the others.
RUNS = [
    ("unclean_leader_election", True, {}, 5),
    ("truncation", "hw", {}, 13),
    ("isr_write_conditional", False, {"versions": 3}, 8),
    ("broker_epoch", False, {}, 10),
    ("leader_epoch_checked", False, {}, 9),
]


@pytest.fixture(scope="module", autouse=True)
def each_proof_once() -> Iterator[None]:
    """A whole proof that two commands ask for is discharged once here: these take their time."""
    kept: dict[tuple[str, str, str], ProofResult] = {}

    def once(
        proof: Proof, recorded: RecordedSystem, brokers: int | None = None,
        each: Callable[[Obligation], None] = lambda one: None, **options: Any,
    ) -> ProofResult:  # fmt: skip
        asked = {name: given for name, given in options.items() if given is not None}
        if brokers is not None or asked not in ({}, {"solvers": ("z3",)}):
            return prove(proof, recorded, brokers, each, **options)
        whose = proof.system, proof.claim, recorded.version
        if whose not in kept:
            kept[whose] = prove(proof, recorded)
        for one in kept[whose].obligations:
            each(one)
        return kept[whose]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(prover, "prove", once)
        patched.setattr(verifying, "prove", once)
        yield


@pytest.fixture(scope="module")
def proved() -> ProofResult:
    """By the command that README shows, which is not run there again: it takes its time."""
    done = CliRunner().invoke(main, ["prove", "no_message_loss", "--json", "-"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)["obligations"]
    obligations = [
        Obligation(one["step"], one["invariant"], one["result"], one["seconds"])
        for one in rows
        if one["system"] == PROOF.system
    ]
    return ProofResult(PROOF, SYSTEM.recorded(), None, obligations)


def test_every_step_keeps_every_invariant_and_they_imply_the_claims(proved):
    steps = [step.transition.name for step in SYSTEM.recorded().steps]
    names = [one.name for one in PROOF.invariants]

    asked = [(one.step, one.invariant) for one in proved.obligations]

    assert (proved.verdict, proved.open) == (Verdict.HOLDS, [])
    assert asked == [
        *((where, name) for where in (INITIALLY, *steps) for name in (*names, DOMAINS)),
        *((LEMMA, one.statement.name) for one in PROOF.lemmas),
        *((IMPLIED, name) for name in (PROOF.claim, *PROOF.also)),
    ]
    assert (len(steps), len(names), len(asked), proved.solver_calls) == (29, 69, 2111, 583)


def test_the_whole_table_of_verify_is_as_expected(tmp_path: Path):
    target = tmp_path / "verdicts.json"

    result = CliRunner().invoke(main, ["verify", "--json", str(target)])

    said = json.loads(target.read_text(encoding="utf-8"))
    rows = {(r["claim"], r["system"], r["version"], bool(r["without"])): r for r in said["rows"]}
    expected = sum(len(one.claims) for one in EXPLORATIONS) + len(FINDINGS)
    assert (result.exit_code, said["verdict"]) == (0, "holds"), result.stderr
    # Beside them: the proofs and the refinement, lock-step, replay, mutants, two log folders.
    assert len(said["rows"]) == expected + len(PROOFS) + 1 + len(PROGRESS) + 10
    assert rows["replication_refines_its_proof", "replication", "2.5", False]["note"] == "proved"
    assert all(r["as_expected"] and r["seconds"] >= 0 and r["words"] for r in said["rows"])
    assert [d for (c, s, d, _), r in rows.items() if s == "classic" and r["verdict"] == "holds"
            and c == "strong_isr"] == ["kip_320"]  # fmt: skip
    assert "as planted, planted/broker1/" in said["rows"][-1]["note"]
    assert "every row is as expected" in result.stdout


def test_the_frame_rule_is_used_only_where_nothing_that_is_read_is_written(proved):
    recorded = SYSTEM.recorded()
    formulas = ProofFormulas(PROOF, recorded, Z3Code(recorded))
    reads = {one.name: formulas.reads(formulas.invariant(one).term) for one in PROOF.invariants}
    writes = {s.transition.name: {w.field for w in s.writes} for s in recorded.steps}

    framed = [one for one in proved.obligations if one.by == "frame" and one.invariant != DOMAINS]

    assert len(framed) > 1000
    assert [one for one in framed if reads[one.invariant] & writes[one.step]] == []


def test_what_may_be_committed_is_read_wherever_its_definition_reads():
    recorded = SYSTEM.recorded()
    formulas = ProofFormulas(PROOF, recorded, Z3Code(recorded))
    invariants = {one.name: one for one in PROOF.invariants}

    read = formulas.reads(formulas.invariant(invariants["what_is_committed_may_be"]).term)

    assert {"leader.isr", "replica.epoch", "asked", "began", "history.end", "request.leader",
            "committed_in"} == read  # fmt: skip


@pytest.mark.deep
def test_every_invariant_holds_in_every_reachable_state_of_a_small_instance():
    # Seven seconds: some million states. The proof says so too; here no solver is asked.
    claims = tuple(
        Claim(
            heading.replace(" ", "_"), "always", heading,
            lambda now, group=group: all_of(*(one.function(now) for one in group)),
            companion="a_deposed_leader_commits_beside_its_successor",
        )
        for heading, group in {**GROUPS, "lemmas": [x.statement for x in PROOF.lemmas]}.items()
    )  # fmt: skip
    reported = replace(SYSTEM, claims=(*claims, *SYSTEM.claims)).recorded()

    found = explore(reported, SYSTEM.limits({}))

    assert found.complete
    assert found.distinct > 1_000_000
    assert {one.verdict for one in found.claims.values()} == {Verdict.HOLDS}


@pytest.mark.parametrize(("switch", "value", "step", "expected"), OPEN)
def test_without_a_fix_the_proof_fails_where_the_fix_was_needed(switch, value, step, expected):
    recorded = SYSTEM.recorded(None, {switch: value})

    result = prove(PROOF, recorded, rlimit=ENOUGH, steps=[step])

    assert result.verdict is Verdict.UNKNOWN
    assert expected <= {one.invariant for one in result.open}
    assert {one.step for one in result.open} == {step}
    assert counterexample_to_induction(PROOF, recorded, result.open) is not None


@pytest.mark.parametrize(("switch", "value", "bounds", "steps"), RUNS)
def test_without_a_fix_a_run_loses_a_record(switch, value, bounds, steps):
    recorded = SYSTEM.recorded(None, {switch: value})

    found, run = find(recorded, SYSTEM.limits(bounds), "no_message_loss")

    assert found.claims["no_message_loss"].verdict is Verdict.BROKEN
    assert run is not None
    assert len(run.steps) == steps


def test_every_step_is_possible_under_the_invariants_with_a_commit_and_a_zombie_about():
    recorded = SYSTEM.recorded()
    bounds = {"brokers": 3, "epoch": 3, "log": 2, "records": 2, "versions": 4}
    zombie = recorded.claim("a_deposed_leader_commits_beside_its_successor")[1]

    scope = SmallScope(PROOF, recorded, SYSTEM.limits(bounds), also=[zombie])

    steps = [step.transition.name for step in recorded.steps]
    assert [name for name in steps if not scope.enabled(name)] == []


NOT_NEEDED = {
    ("controller_writes_no_leader", "the ISR keeps a member"),
    ("controller_resends_state", "it was notified of nothing since it started"),
    ("controller_resends_state", "it led in the registered epoch before"),
    ("broker_leads_again", "it was notified of nothing since it started"),
    ("follower_truncates_and_asks_again", "the rest may not be common to both logs"),
    ("epoch_answer_is_lost", "the leader answered"),
    ("leader_learns_end", "the broker believes it leads"),
    ("leader_shrinks_isr", "none of its ISR writes is under way"),
    ("leader_expands_isr", "none of its ISR writes is under way"),
    ("isr_write_response_arrives", "the write was executed, and answered"),
    ("leader_reads_its_isr_back", "the write's answer was lost"),
    ("leader_reads_its_isr_back", "the state has the leader's epoch"),
    ("leader_reads_its_isr_back", "it has the ISR that was written"),
}


@pytest.mark.deep
def test_the_proof_needs_every_guard_but_those_that_say_why_not():
    recorded = SYSTEM.recorded()
    idle = set()

    for position, step in enumerate(recorded.steps):
        for dropped in step.requires:
            reported = SYSTEM.recorded()
            kept = [one for one in step.requires if one is not dropped]
            reported.steps[position] = replace(step, requires=kept)
            name = step.transition.name
            if not prove(PROOF, reported, rlimit=ENOUGH, steps=[name]).open:
                idle.add((name, dropped.reason))

    assert idle == NOT_NEEDED


@lemma("as if the follower always had the answer's epoch", why="it is false",
       over=(BROKERS, BROKERS, ENDS, ENDS), using=kip_279.BOTH)  # fmt: skip
def a_careless_follower_is_done(now, follower, leader, theirs, mine):
    return implies(
        kip_279.is_looked_up(now, follower, leader, theirs, mine),
        every(below(OFFSETS, mine), lambda o: now.log[follower][o] == now.log[leader][o]),
    )


@lemma("as if KIP-101's single answer kept what is common", why="it is false",
       over=(BROKERS, BROKERS, ENDS, ENDS), using=kip_279.OF_LOGS[:1])  # fmt: skip
def nothing_is_known_of_logs(now, follower, leader, theirs, mine):
    return kip_279.its_older_epochs_keep_what_is_common.statement.matrix(
        now, follower, leader, theirs, mine
    )


@pytest.mark.parametrize("wrong", [a_careless_follower_is_done, nothing_is_known_of_logs])
def test_a_lemma_that_is_wrong_stays_open(wrong):
    lean = replace(PROOF, lemmas=(kip_279.epochs_never_fall_along_a_log, wrong), also=())

    result = prove_lemmas(lean)

    assert result == [("epochs_never_fall_along_a_log", True), (wrong.statement.name, False)]


def prove_lemmas(proof: Proof) -> list[tuple[str, bool]]:
    result = prove(proof, SYSTEM.recorded(), rlimit=ENOUGH, steps=[LEMMA])
    return [(one.invariant, one.proved) for one in result.obligations]


def test_a_lemma_may_use_only_what_is_proved_before_it():
    backwards = replace(PROOF, lemmas=kip_279.LEMMAS[::-1])

    with pytest.raises(ProtocolError, match="uses epochs_never_fall_along_a_log, which is no"):
        prove(backwards, SYSTEM.recorded(), steps=[LEMMA])


def test_steps_asked_about_alone_prove_nothing():
    result = prove(PROOF, SYSTEM.recorded(), steps=["leader_sends_record"])

    assert (result.open, result.verdict) == ([], Verdict.NOT_CHECKED)


def test_a_number_of_brokers_closes_their_sort_and_leaves_records_open():
    closed, left_open = Z3Code(SYSTEM.recorded(), 3), Z3Code(SYSTEM.recorded())

    for code in (closed, left_open):
        code.state()

    assert left_open.axioms == []
    assert len(closed.axioms) == 2
    assert "record" not in str(closed.axioms)
    assert "no_broker" not in str(closed.axioms)  # nowhere is none allowed, so there is none


def test_every_invariant_stands_in_one_group():
    grouped = [one.name for group in GROUPS.values() for one in group]

    assert grouped == [one.name for one in PROOF.invariants]
    assert len(set(grouped)) == len(grouped)

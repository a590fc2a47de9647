"""Progress for any number of brokers: rankings prove it, and each fairness is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from model.election import SYSTEM as ELECTION
from model.election.state import BROKERS
from model.language import ProtocolError, all_of, always_eventually, any_of, every, not_
from model.replication.history import SYSTEM as HISTORY
from model.replication.history.state import OFFSETS
from specs.explorer import explore, find
from specs.invariants import Proof, invariant
from specs.progress.after_faults import after_faults, always_a_fault
from specs.progress.loops import loop, unfair
from specs.progress.obligations import WAITS
from specs.progress.ranking import AwaitedStep, Rank, Ranking
from specs.proofs.no_message_loss import PROOF as NO_MESSAGE_LOSS
from specs.proofs.progress import controllers, executable, isr, leaders, progress, records
from specs.proofs.single_controller import PROOF as SINGLE_CONTROLLER
from specs.prover import ProofResult, prove
from specs.solvers import has_cvc5
from specs.verdict import Verdict

ENOUGH = 5_000_000

EXISTS = (WAITS, "some fair instance is awaited")

ALONE = {"brokers": 1, "epoch": 2, "writes": 3}
TWO = {"brokers": 2, "epoch": 2, "writes": 3}

WITHOUT = [
    ("session_expires", 5),
    ("broker_loses_controller_election", 4),
    ("broker_connects", 1),
    ("broker_reads_epoch", 2),
    ("broker_wins_election", 3),
    ("broker_learns_it_won", 4),
    ("controller_sends_request", 5),
    ("broker_handles_request", 6),
    ("write_is_applied", 9),
    ("controller_resigns_and_deletes_znode", 9),
]
"""A fair step of controllers, and the steps into the shortest loop of one broker without it."""


def proved(proof: Proof, solvers: tuple[str, ...] = ("z3",)) -> ProofResult:
    assert proof.form is not None
    return prove(proof, proof.form.recorded(), solvers=solvers)


def left_open(result: ProofResult) -> list[tuple[str, str]]:
    return [(one.step, one.invariant) for one in result.open]


@pytest.fixture(scope="module")
def heard() -> ProofResult:
    return proved(controllers.PROOF)


# -- what is proved -----------------------------------------------------------------------------


def test_every_broker_hears_of_one_controller_once_faults_have_ended(heard):
    assert heard.verdict is Verdict.HOLDS
    assert heard.idle == []
    assert (len(heard.obligations), heard.solver_calls) == (480, 238)


def test_every_awaited_step_is_possible_and_falls_and_every_step_is_asked_of_every_rank(heard):
    asked = {(one.step, one.invariant) for one in heard.obligations}
    ranking = controllers.RANKING
    steps = [step.transition.name for step in heard.recorded.steps]

    assert EXISTS in asked
    for one in ranking.awaited:
        assert (one.step, f"{one.step} is possible") in asked
        assert (one.step, f"{one.step}, taken, takes a member away") in asked
    assert {
        (step, f"{rank.name} gains nothing") for step in steps for rank in ranking.ranks
    } < asked
    assert {
        (step, f"{one.step} stays awaited") for step in steps for one in ranking.awaited
    } < asked
    assert {(step, "what is reached stays") for step in steps} < asked


def test_a_live_isr_member_suffices_for_a_leader_that_every_live_replica_follows():
    result = proved(leaders.PROOF)

    assert result.verdict is Verdict.HOLDS
    assert (len(result.obligations), result.solver_calls) == (589, 207)


@pytest.mark.deep
@pytest.mark.parametrize("part", [records, isr])
def test_what_is_sent_is_committed_and_the_isr_recovers(part):
    assert proved(part.PROOF).verdict is Verdict.HOLDS


@pytest.mark.deep
@pytest.mark.skipif(not has_cvc5(), reason="cvc5 is not installed")
@pytest.mark.parametrize("claim", list(progress()))
def test_cvc5_says_so_too(claim):
    assert proved(progress()[claim], ("cvc5",)).verdict is Verdict.HOLDS


def test_the_claims_name_as_fair_just_what_their_rankings_await():
    for proof in progress().values():
        assert proof.form is not None
        assert proof.ranking is not None
        (claim,) = (one for one in proof.form.claims if one.name == proof.claim)

        assert set(claim.fair) == set(proof.ranking.fair)


def test_what_is_assumed_is_an_invariant_of_the_proof_of_safety():
    assert controllers.PROOF.premises == SINGLE_CONTROLLER.invariants
    for part in (leaders, records, isr):
        assert set(part.PROOF.premises) <= set(NO_MESSAGE_LOSS.invariants)


def test_the_steps_are_the_systems_own_and_no_fault_is_left_out():
    for system, part in ((ELECTION, controllers), (HISTORY, leaders), (HISTORY, isr)):
        own = {step.transition.name: step for step in system.recorded().steps}
        derived = {step.transition.name: step for step in part.SYSTEM.recorded().steps}

        assert derived.keys() - own.keys() == {"faults_end"}
        for name, step in own.items():
            assert derived[name].writes == step.writes
            more = [one for one in derived[name].requires if one not in step.requires]
            assert len(more) == (name in part.FAULTS)


# -- the explorer's word ------------------------------------------------------------------------


def test_an_explorer_says_so_within_its_bounds():
    ending, run = loop(replace(controllers.PROOF, ranking=replace(controllers.RANKING, bounds=TWO)))

    assert (ending.verdict, run) == (Verdict.HOLDS, None)


@pytest.mark.deep
@pytest.mark.parametrize("claim", list(progress()))
def test_an_explorer_says_so_of_every_claim(claim):
    ending, _ = loop(progress()[claim])

    assert ending.verdict is Verdict.HOLDS


@pytest.mark.parametrize(("step", "depth"), WITHOUT[-1:])
def test_without_a_fairness_the_proof_fails_and_there_is_a_loop(step, depth):
    cut = unfair(controllers.PROOF, (step,))
    assert cut.ranking is not None
    ending, run = loop(replace(cut, ranking=replace(cut.ranking, bounds=ALONE)))

    assert EXISTS in left_open(proved(cut))
    assert ending.verdict is Verdict.BROKEN
    assert run is not None
    assert run.loop == depth


@pytest.mark.deep
@pytest.mark.parametrize(("step", "depth"), WITHOUT)
def test_without_any_fairness_the_proof_fails_and_there_is_a_loop(step, depth):
    test_without_a_fairness_the_proof_fails_and_there_is_a_loop(step, depth)


def test_each_fairness_of_controllers_is_tried():
    assert {step for step, _ in WITHOUT} == set(controllers.RANKING.fair)


@pytest.mark.deep
@pytest.mark.parametrize("step", leaders.RANKING.fair)
def test_without_any_fairness_of_leaders_the_proof_fails_and_there_is_a_loop(step):
    cut = unfair(leaders.PROOF, (step,))
    ending, _ = loop(cut)

    assert EXISTS in left_open(proved(cut))
    assert ending.verdict is Verdict.BROKEN


@always_eventually(
    "every live replica comes back into the ISR, whatever the leader lost", fair=isr.FAIR
)
def the_isr_always_recovers(now):
    return any_of(
        not_(now.faults_ended),
        not_(leaders.has_live_member(now)),
        all_of(leaders.is_led(now), isr.isr_is_full(now)),
    )


@pytest.mark.deep
def test_a_leader_that_lost_the_zkversion_leaves_the_isr_as_it_is():
    """KAFKA-2729: the claim that does not except it is broken."""
    broken = after_faults(
        HISTORY, isr.FAULTS, (the_isr_always_recovers,), leaders.CHOSEN, leaders.LEFT_OVER
    )

    _, run = find(broken.recorded(), isr.RANKING.bounds, "the_isr_always_recovers")

    assert run is not None
    assert "isr_answer_is_lost" in {one.step for one in run.steps}


# -- what is refused ----------------------------------------------------------------------------


def test_a_step_that_nothing_awaits_cannot_be_unfair():
    with pytest.raises(ProtocolError, match="unknown fair step of all_brokers_know_the_controller"):
        unfair(controllers.PROOF, ("broker_crashes",))


# -- what is assumed of faults, and the executable ----------------------------------------------


def needless(part: Any) -> list[str]:
    """The steps of which it is assumed that they are faults, and whose obligations are proved
    without it. Of each step its own obligations tell: its guard stands in no other's."""
    proof = part.PROOF
    own = {"election": ELECTION, "replication_history": HISTORY}[proof.system]
    chosen = getattr(part, "CHOSEN", None) or (leaders.CHOSEN if own is HISTORY else None)
    bare = after_faults(own, {}, proof.form.claims, chosen)
    asked = prove(proof, bare.recorded(), steps=list(part.FAULTS), rlimit=ENOUGH)
    open_ = {one.step for one in asked.open}
    return [step for step in part.FAULTS if step not in open_]


@pytest.mark.parametrize("part", [
    controllers, leaders, pytest.param(records, marks=pytest.mark.deep),
    pytest.param(isr, marks=pytest.mark.deep),
])  # fmt: skip
def test_every_step_that_is_called_a_fault_would_break_the_proof(part):
    assert needless(part) == []


def test_a_step_that_is_called_a_fault_for_nothing_is_noticed(monkeypatch):
    monkeypatch.setitem(leaders.FAULTS, "leader_sends_hw", always_a_fault)

    assert needless(leaders) == ["leader_sends_hw"]


@pytest.mark.deep
def test_the_executable_comes_to_the_same_on_every_fair_run_within_bounds():
    names = [one.name for one in executable.CLAIMS]
    found = explore(executable.SYSTEM.recorded(), executable.BOUNDS, names)

    assert {name: found.eventually_results[name].verdict for name in names} == dict.fromkeys(
        names, Verdict.HOLDS
    )
    assert sum(found.tally.levels) > 1_000_000


def test_a_ranking_that_gains_is_not_proved():
    ranking = controllers.RANKING
    upside_down = replace(ranking, ranks=tuple(reversed(ranking.ranks)))

    result = proved(replace(controllers.PROOF, ranking=upside_down))

    assert ("broker_wins_election", "unaware gains nothing") in left_open(result)


@invariant("every broker believes, and does not, that it is the controller", why="planted")
def everybody_believes(now):
    return every(BROKERS, lambda b: all_of(now.belief[b].held, not_(now.belief[b].held)))


def test_a_ranking_under_assumptions_that_contradict_each_other_is_not_proved():
    planted = replace(controllers.PROOF, premises=(*controllers.PROOF.premises, everybody_believes))

    result = proved(planted)

    assert result.open == []
    assert result.verdict is Verdict.UNKNOWN


def test_a_step_that_is_awaited_nowhere_is_named():
    never = AwaitedStep(
        "broker_connects",
        lambda now, b: all_of(now.session[b], not_(now.session[b])),
        lambda now, b: {"broker": b},
        (BROKERS,),
    )
    ranking = controllers.RANKING

    result = proved(
        replace(controllers.PROOF, ranking=replace(ranking, awaited=(*ranking.awaited, never)))
    )

    assert result.open == []
    assert result.idle == ["broker_connects"]
    assert result.verdict is Verdict.UNKNOWN


def test_numbers_without_a_limit_are_refused():
    endless = Rank("endless", "all offsets", (OFFSETS,), lambda now, o: o >= 0, {})

    with pytest.raises(AssertionError, match="say in `limits`"):
        proved(replace(leaders.PROOF, ranking=Ranking((endless,), leaders.AWAITED)))

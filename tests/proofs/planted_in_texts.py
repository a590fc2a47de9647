"""Changes of the texts that the refinement and the proofs of progress consist of, one each.

A line of the refinement map, an invariant of the relation, a set of a ranking, what is awaited,
what is called a fault, the claim itself.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from model.language import all_of, any_of, implies, not_
from model.replication.history import SYSTEM as HISTORY
from specs.invariants import Invariant, Proof
from specs.progress.after_faults import after_faults, always_a_fault
from specs.progress.ranking import Ranking
from specs.proofs.progress import leaders
from specs.prover import ProofResult, prove
from specs.refinement import compose, refinement_map, refinement_proof
from specs.refinement.refinement_map import LINES, MapLine

relation = importlib.import_module("specs.refinement.proof")
"""The module; the package has the function of the same name."""

ENOUGH = 5_000_000


@dataclass(frozen=True)
class ChangedText:
    """`asked` makes the change and asks. `opens`: an obligation that is open then; or, where all
    are proved, `vacuous`: what the answer says; or `harmless`: why it is so."""

    name: str
    what: str
    asked: Callable[[], ProofResult]
    opens: tuple[str, str] | None = None
    vacuous: str = ""
    harmless: str = ""
    takes_long: bool = False


# -- the refinement map and the relation ----------------------------------------------------------


def mapped(transition: str, **changed: Any) -> Callable[[], ProofResult]:
    """One line of the map says something else: the step of `replication` that it is about."""

    def asked() -> ProofResult:
        made: list[MapLine] = [
            replace(line, **changed) if line.transition == transition else line for line in LINES
        ]
        both = compose(lines=made)
        return prove(refinement_proof(both), both.recorded, steps=[transition], rlimit=ENOUGH)

    return asked


def related(
    name: str, matrix: Any, steps: list[str] | None = None
) -> Callable[[], ProofResult]:  # fmt: skip
    """One invariant of the relation says something else, or (None) is left out."""

    def asked() -> ProofResult:
        made: list[Invariant] = []
        for one in relation.INVARIANTS:
            if one.name != name:
                made.append(one)
            elif matrix is not None:
                made.append(replace(one, matrix=matrix))
        both = compose()
        return prove(refinement_proof(both, made), both.recorded, steps=steps, rlimit=ENOUGH)

    return asked


def assumed() -> ProofResult:
    """What is taken over from the proof's form contradicts itself."""
    both = compose()
    proof = refinement_proof(both)
    planted = Invariant(
        "planted", "planted", "planted",
        lambda now: all_of(now.committed_twice, not_(now.committed_twice)),
    )  # fmt: skip
    proof = replace(proof, premises=(*proof.premises, planted))
    return prove(proof, both.recorded, rlimit=ENOUGH)


STAGES = {line.transition: line.stages for line in LINES}

# -- rankings -------------------------------------------------------------------------------------


def ranked(ranking: Ranking) -> Callable[[], ProofResult]:
    return lambda: progress(replace(leaders.PROOF, ranking=ranking))


def progress(proof: Proof) -> ProofResult:
    assert proof.form is not None
    return prove(proof, proof.form.recorded())


def rank(name: str, **changed: Any) -> Ranking:
    return replace(leaders.RANKING, ranks=tuple(
        replace(one, **changed) if one.name == name else one for one in leaders.RANKS))  # fmt: skip


def awaited(step: str, when: Any) -> Ranking:
    return replace(leaders.RANKING, awaited=tuple(
        replace(one, when=when) if one.step == step else one for one in leaders.AWAITED
    ))  # fmt: skip


def claimed(function: Any) -> Callable[[], ProofResult]:
    claim = replace(leaders.a_leader_is_followed_by_all, function=function)
    form = after_faults(HISTORY, leaders.FAULTS, (claim,), leaders.CHOSEN)
    return lambda: progress(replace(leaders.PROOF, form=form))


def ended(step: str) -> Callable[[], ProofResult]:
    """A step that the claim needs is called a fault."""
    faults = {**leaders.FAULTS, step: always_a_fault}
    form = after_faults(HISTORY, faults, leaders.CLAIMS, leaders.CHOSEN)
    return lambda: progress(replace(leaders.PROOF, form=form))


def is_led_or(now: Any, more: Any) -> Any:
    return any_of(
        not_(now.faults_ended), not_(leaders.has_live_member(now)), more,
        leaders.is_followed_by_all(now))  # fmt: skip


CHANGES = (
    ChangedText(
        "append_is_nothing", "the map takes an append for no step of the form",
        mapped("leader_appends", stages=()), ("leader_appends", "log_ends_are_the_same")),
    ChangedText(
        "commit_is_nothing", "the map takes a rise of the high watermark for no step",
        mapped("leader_advances_hw", stages=()), ("leader_advances_hw",
                                                  "as_many_records_are_committed")),
    ChangedText(
        "expansion_is_a_shrink", "the map takes an expansion of the ISR for a shrink",
        mapped("leader_expands_isr", stages=(refinement_map.SMALLER, refinement_map.EXECUTED)),
        ("leader_expands_isr", "leader_shrinks_isr: no broker is added")),
    ChangedText(
        "write_is_only_sent", "the map lets an ISR write be sent, and not executed",
        mapped("leader_shrinks_isr", stages=(refinement_map.SMALLER,)),
        ("leader_shrinks_isr", "the_registered_isr_is_the_same")),
    ChangedText(
        "executed_before_sent", "the map has an ISR write executed before it is sent",
        mapped("leader_shrinks_isr", stages=(refinement_map.EXECUTED, refinement_map.SMALLER)),
        ("leader_shrinks_isr", "isr_writes_are_in_the_same_phase")),
    ChangedText(
        "question_is_nothing", "the map takes a fetch request for no step",
        mapped("follower_sends_fetch", stages=()),
        ("follower_sends_fetch", "fetches_were_sent")),
    ChangedText(
        "hw_taken_always", "the map has a follower take every high watermark it is sent",
        mapped("follower_appends", stages=(
            STAGES["follower_appends"][0],
            tuple(replace(one, only_if=None) for one in STAGES["follower_appends"][1]))),
        ("follower_appends", "high_watermarks_are_no_higher")),
    ChangedText(
        "refusal_for_certain", "the map takes each refusal for one of a write that is still sent",
        mapped("leader_learns_isr_is_refused", stages=(
            (replace(refinement_map.GONE_ON[0], only_if=None),),)),
        ("leader_learns_isr_is_refused", "isr_write_is_refused: an ISR write is on its way")),
    ChangedText(
        "alternatives_swapped", "the map asks first whether the answer ends the search",
        mapped("leader_answers_epoch", stages=(
            tuple(reversed(STAGES["leader_answers_epoch"][0])),)),
        harmless="the two exclude each other"),
    ChangedText(
        "crash_keeps_hw", "the map leaves the high watermark there as it is when a broker crashes",
        mapped("broker_crashes", stages=((replace(
            STAGES["broker_crashes"][0][0], parameters=lambda e: {
                "broker": e["broker"], "hw": e.there.replica[e["broker"]].hw}),),)),
        harmless="a high watermark there may be higher"),
    ChangedText(
        "any_hw", "the relation says nothing of high watermarks and checkpoints",
        related("high_watermarks_are_no_higher", lambda now, b: now.replica[b].hw >= 0,
                ["broker_crashes"]),
        ("broker_crashes", "broker_crashes: the checkpoint is not newer than the HW")),
    ChangedText(
        "isr_of_others", "the relation compares the ISR of those who do not lead, with itself",
        related("leaders_know_their_isr", lambda now, b, m: implies(
            not_(relation.leads(now, b)), now.replica[b].isr.has(m) == now.replica[b].isr.has(m)),
            ["leader_advances_hw"]),
        ("leader_advances_hw",
         "leader_advances_hw: every other ISR member is known to have them")),
    ChangedText(
        "answers_forgotten", "the relation does not say that an answer about epochs is given there",
        related("epoch_answers_are_the_same", None, ["fetch_is_lost"]),
        ("fetch_is_lost", "epoch_answer_is_lost: the leader answered")),
    ChangedText(
        "commits_forgotten", "the relation does not say that the same is committed",
        related("the_same_is_committed", None),
        ("implies the claim", "no_message_loss"), takes_long=True),
    ChangedText(
        "contradiction_assumed", "what is taken over from the form's proof contradicts itself",
        assumed, vacuous="contradictory", takes_long=True),
    ChangedText(
        "ranks_reversed", "the lightest set is the weightiest",
        ranked(replace(leaders.RANKING, ranks=tuple(reversed(leaders.RANKS)))),
        ("controller_elects_leader", "unaware gains nothing")),
    ChangedText(
        "nobody_credited", "who hears whom to follow leaves no set",
        ranked(rank("unaware", taken_by={})),
        ("broker_becomes_follower", "broker_becomes_follower, taken, takes a member away")),
    ChangedText(
        "stranger_credited", "a step is credited with a set that it does not change",
        ranked(rank("idle_leader", taken_by={
            **leaders.RANKS[2].taken_by, "broker_becomes_follower": leaders.nothing})),
        harmless="a step is credited only where the set has lost the member"),
    ChangedText(
        "limit_too_low", "a set of numbers is said to end one earlier",
        ranked(rank("to_be_cut", limits={1: lambda now, b: now.log[b].end - 1})),
        ("while the claim does not hold", "to_be_cut is finite")),
    ChangedText(
        "set_is_empty", "a set has no member",
        ranked(rank("cutting", holds=lambda now, b: all_of(
            leaders.is_cutting(now, b), not_(leaders.is_cutting(now, b))))),
        ("follower_truncates", "follower_truncates, taken, takes a member away")),
    ChangedText(
        "restarted_not_awaited", "nobody waits for a restarted follower to hear whom to follow",
        ranked(awaited("broker_becomes_follower", lambda now, b: all_of(
            leaders.is_to_follow(now, b), now.replica[b].epoch < now.zk.epoch))),
        ("while the claim does not hold", "some fair instance is awaited")),
    ChangedText(
        "outsider_awaited", "the election of a live broker is awaited, in the ISR or not",
        ranked(awaited("controller_elects_leader", lambda now, b: all_of(
            not_(leaders.has_live_leader(now)), now.live.has(b)))),
        ("controller_elects_leader", "controller_elects_leader is possible")),
    ChangedText(
        "following_is_a_fault", "a step that the claim needs is called a fault",
        ended("broker_becomes_follower"),
        ("broker_becomes_follower", "broker_becomes_follower is possible")),
    ChangedText(
        "claim_is_true", "the claim is true of every state",
        claimed(lambda now: any_of(now.faults_ended, not_(now.faults_ended))),
        vacuous="controller_elects_leader"),
    ChangedText(
        "claim_given_a_leader", "the claim is about states that have a live leader already",
        claimed(lambda now: is_led_or(now, not_(leaders.has_live_leader(now)))),
        vacuous="controller_elects_leader"),
    ChangedText(
        "alive_is_enough", "the claim asks for no more than that the registered leader is alive",
        claimed(lambda now: is_led_or(now, leaders.has_live_leader(now))),
        vacuous="broker_becomes_leader"),
)  # fmt: skip

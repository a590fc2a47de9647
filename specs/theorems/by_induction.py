"""Proves claims of controllers by induction: invariants that every step keeps, and corollaries.

The invariants hold initially and every step keeps them, for any number of brokers and partitions,
and the claim follows from them. The initial state of `cluster` names brokers by number, so no
formula covers it for any number of brokers: there the invariants are evaluated, for every number of
brokers that the system can number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import z3

from model.cluster.start import MOST
from model.language import RecordedSystem
from model.language.evaluate import Evaluator
from model.language.recording import record_condition
from model.systems import system
from specs.invariants import Invariant, Proof
from specs.lowering.z3_code import Z3Code
from specs.obligations import ProofFormulas
from specs.proofs import at_rest, cluster, directories, topics
from specs.prover import INITIALLY
from specs.solvers import RLIMIT, SeparateContext, SolverQuery
from specs.theorems.corollaries import in_every_state, of_every_step
from specs.theorems.theorem import Part, Theorem

RestsOn = Mapping[str | tuple[str, str], Sequence[Invariant]]


def kept(
    proof: Proof,
    recorded: RecordedSystem,
    rests_on: RestsOn = MappingProxyType({}),
) -> Iterator[Part]:
    """Every step from a state that obeys the invariants keeps each of them.

    `rests_on` names invariants, alone or with a step, that are asked from the listed invariants and
    themselves only; the other invariants are asked from all.
    """
    code = Z3Code(recorded)
    formulas = ProofFormulas(proof, recorded, code)
    state = formulas.state()
    matrices = {one.name: formulas.invariant(one) for one in proof.invariants}
    domains = (code.domains(state, leaf) for leaf in recorded.fields.values())
    inside = [fact for fact in domains if fact is not None]
    assumed = {name: formulas.hypothesis(one, state) for name, one in matrices.items()}

    def given(step: str, name: str) -> list[Any]:
        rests = rests_on.get((step, name), rests_on.get(name, proof.invariants))
        needed = {name, *(one.name for one in rests)}
        return [*(one for other, one in assumed.items() if other in needed), *inside]

    for step in recorded.steps:
        parameters = code.parameters(step)
        environment = parameters.environment
        after = code.after(step, state, environment)
        guard = [*parameters.facts, *code.guard(step, state, environment)]
        written = {write.field for write in step.writes}
        separate = SeparateContext()
        for name, matrix in matrices.items():
            if formulas.reads(matrix.term) & written:
                for goal in formulas.goals(matrix, after, apart=True):
                    assumed_here = given(step.transition.name, name)
                    premises = [*code.axioms, *assumed_here, *guard, *goal.facts]
                    asked = SolverQuery(premises, goal.formula, False, RLIMIT, separate)
                    yield step.transition.name, name, asked


def _initially(proof: Proof, recorded: RecordedSystem) -> Iterator[Part]:
    code = Z3Code(recorded)
    formulas = ProofFormulas(proof, recorded, code)
    blank = {**formulas.state(), **code.blank_state()}
    for one in proof.invariants:
        for goal in formulas.goals(formulas.invariant(one), blank):
            premises = [*code.axioms, *goal.facts]
            yield INITIALLY, one.name, SolverQuery(premises, goal.formula, False, RLIMIT)


def _initially_by_number(proof: Proof, recorded: RecordedSystem) -> Iterator[Part]:
    for brokers in range(1, MOST + 1):
        for partitions in sorted({1, brokers}):
            sizes = {"brokers": brokers, "partitions": partitions, "replicas": brokers}
            evaluator = Evaluator(recorded, recorded.system.limits(sizes))
            state = evaluator.initial()
            for one in proof.invariants:
                term = record_condition(one.function, recorded.system.state, recorded.switches)
                holds = bool(evaluator.value(term, state, {}))
                yield INITIALLY, one.name, SolverQuery([], z3.BoolVal(holds), False, RLIMIT)


NUMBERED = "cluster"
"""The system whose initial state says which broker is which."""


def _lasting(
    of: str,
    claim_name: str,
    name: str,
    invariants: Sequence[Invariant],
    rests_on: RestsOn = MappingProxyType({}),
    thrown: Mapping[str, object] = MappingProxyType({}),
) -> Theorem:
    """`thrown`: switches without which the claim is not so, whatever the version."""
    claim: Any = next(one for one in system(of).claims if one.name == claim_name)
    proof = Proof(claim_name, of, tuple(invariants), ())

    def given(version: str | None, switches: Any) -> tuple[Proof, RecordedSystem]:
        return proof, system(of).recorded(version, {**thrown, **switches})

    def parts(version: str | None, switches: Any) -> Iterator[Part]:
        _, recorded = given(version, switches)
        yield from (_initially_by_number if of == NUMBERED else _initially)(proof, recorded)
        yield from kept(proof, recorded, rests_on)
        yield from _follows(proof, claim, recorded)

    numbered = (
        f"initially the invariants are evaluated, with 1 to {MOST} brokers, and as many "
        "partitions or one: the model numbers no more"
    )
    assumed = [f"{switch}, of the model's switches" for switch in thrown]
    return Theorem(
        name,
        claim.sentence,
        f"every state of {of}, by induction: {len(invariants)} invariants; any number of brokers, "
        "partitions and epochs",
        parts,
        (numbered,) if of == NUMBERED else tuple(assumed),
        of,
        given,
    )


def _corollary_of(of: str, claim_name: str, invariants: Sequence[Invariant], proved: Theorem,
           thrown: Mapping[str, object] = MappingProxyType({})) -> Theorem:  # fmt: skip
    """What follows from some of the invariants of another theorem."""
    claim: Any = next(one for one in system(of).claims if one.name == claim_name)
    proof = Proof(claim_name, of, tuple(invariants), ())

    def given(version: str | None, switches: Any) -> tuple[Proof, RecordedSystem]:
        return proof, system(of).recorded(version, {**thrown, **switches})

    return Theorem(
        claim_name,
        claim.sentence,
        f"every {'step' if claim.is_about_steps else 'state'} of {of}, any number of brokers, "
        f"partitions and epochs; given the invariants of {proved.claim}",
        lambda version, switches: _follows(proof, claim, given(version, switches)[1]),
        proved.assumes,
        of,
        given,
    )


def _follows(proof: Proof, claim: Any, recorded: RecordedSystem) -> Iterator[Part]:
    follows = of_every_step if claim.is_about_steps else in_every_state
    return follows(proof, claim.function, claim.name, recorded)


KEPT_EPOCH = {"controller_epoch_kept": True}

_NO_RESURRECTION = _lasting(
    "topics", "deleted_data_is_never_served", "deleted_data_is_never_served",
    directories.DIRECTORIES, directories.RESTS_ON, KEPT_EPOCH,
)  # fmt: skip

_AT_REST = _lasting("cluster", "no_event_is_missed", "no_event_is_missed", at_rest.AT_REST)

INDUCTIVE_CLAIMS = (
    _lasting("cluster", "leader_unique", "cluster_leader_unique", cluster.LEADERS),
    _lasting("cluster", "leader_in_isr", "cluster_leader_in_isr", cluster.ELECTIONS),
    _lasting("cluster", "registered_brokers_stay_registered", "registered_brokers_stay_registered",
             cluster.REGISTRATIONS),
    _lasting("cluster", "resigned_controllers_write_nothing", "resigned_controllers_write_nothing",
             cluster.RESIGNATIONS),
    _AT_REST,
    _corollary_of("cluster", "dead_leaders_are_noticed", at_rest.AT_REST, _AT_REST),
    _lasting("topics", "leader_in_isr", "topics_leader_in_isr", topics.ELECTIONS),
    _lasting("topics", "stopped_brokers_do_nothing", "stopped_brokers_do_nothing", topics.DEAD),
    _lasting("topics", "only_controllers_have_tasks", "only_controllers_have_tasks",
             topics.CONTROLLERSHIP),
    _lasting("topics", "replica_lists_are_valid", "replica_lists_are_valid", topics.LISTS),
    _lasting("topics", "topics_are_deleted_only_on_request", "topics_are_deleted_only_on_request",
             topics.DELETIONS),
    _lasting("topics", "idle_controller_knows_zookeeper", "idle_controller_knows_zookeeper",
             topics.KNOWN, topics.KNOWN_RESTS_ON),
    _lasting("topics", "brokers_shutting_down_are_not_elected",
             "brokers_shutting_down_are_not_elected", topics.DEPARTURES),
    _lasting("topics", "state_writes_are_conditional", "state_writes_are_conditional",
             topics.READ_AGAIN),
    _lasting("topics", "no_leader_and_isr_for_topics_being_deleted",
             "no_leader_and_isr_for_topics_being_deleted", topics.OF_LEADER_AND_ISR),
    _NO_RESURRECTION,
    _corollary_of("topics", "deleted_data_returns_only_after_reassignment",
                  directories.NEVER_SERVED,
           _NO_RESURRECTION, KEPT_EPOCH),
    _corollary_of("topics", "deleted_topics_leave_no_data", directories.NO_DIRECTORY_IS_LEFT,
                  _NO_RESURRECTION,
           KEPT_EPOCH),
    _lasting("topics", "deleted_data_is_never_served", "ids_prevent_resurrection",
             directories.NEVER_SERVED,
             thrown={"topics_have_ids": True}),
)  # fmt: skip

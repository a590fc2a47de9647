"""`insync prove --refinement`: the executable `replication` refines the form that is proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from conformance.cli.chosen_system import Variant, described, refusals, system_named
from conformance.cli.common import Progress, emit_json, finish, say, show_table
from specs.prover import claim_report
from specs.rendering import as_data, rows
from specs.verdict import Verdict, combine

if TYPE_CHECKING:
    from specs.induction_counterexamples import InductionCounterexample
    from specs.obligations import Obligation
    from specs.prover import ProofResult
    from specs.refinement import ComposedSystem, RefinementExploration

REFINES = "replication_refines_its_proof"

SENTENCE = (
    "every step of replication corresponds to one step, several steps or no step of "
    "replication_history; both have the same logs, registered state, leaders and committed "
    "records; so the claims proved for replication_history hold for replication"
)


def prove_refinement(
    variant: Variant, deep: bool, each: bool, solvers: Sequence[str], json_target: str | None
) -> None:
    """Prove that `replication` refines `replication_history`, and that elections are as the proof
    assumes; check the refinement in every state of small instances as well. Prints one row each and
    exits with the verdict's code."""
    # z3 takes a while to load: only now that the line is understood.
    from specs.induction_counterexamples import counterexample_to_induction
    from specs.proofs.elections import PROOF, composed
    from specs.prover import prove
    from specs.refinement import DEEP, QUICK, compose, explore_refinement, refinement_proof

    system = system_named("replication")
    recorded = variant.recorded(system)
    spaces = QUICK + (DEEP if deep else ())
    with Progress() as progress, refusals():

        def shown(one: Obligation) -> None:
            progress(f"{one.step}: {one.invariant} {one.answer}")

        elections = prove(
            PROOF,
            composed(recorded.without, recorded.version),
            each=shown,
            solvers=solvers,
        )
        both = compose(version=recorded.version, changed=recorded.without)
        proof = refinement_proof(both)
        refines = prove(
            proof,
            both.recorded,
            each=shown,
            solvers=solvers,
        )
        why = counterexample_to_induction(proof, both.recorded, refines.open)
        alike = compose(version=recorded.version, changed=recorded.without, alike=True)
        followed = [
            explore_refinement(alike, system.limits(bounds), symmetry=True, report=progress)
            for bounds in spaces
        ]
    verdict = combine([elections.verdict, refines.verdict, *(one.verdict for one in followed)])
    proofs = {"elections_are_as_assumed": elections, REFINES: refines}
    _show(proofs, followed, solvers, json_target)
    _explain(proofs, why, followed, json_target)
    if each:
        _show_each(both, followed, json_target)
    emit_json(
        json_target,
        {
            "verdict": verdict,
            "claims": rows(
                claim_report(result, _sentence(name, result), claim=name, system="replication")
                for name, result in proofs.items()
            ),
            "obligations": [
                row
                for name, result in proofs.items()
                for row in rows(result.obligations, claim=name)
            ],
            "counterexample": as_data(why),
            "chain": rows(followed),
        },
    )
    finish(verdict)


def _sentence(name: str, result: ProofResult) -> str:
    return SENTENCE if name == REFINES else result.recorded.claim(name)[0].sentence


def _show(
    proofs: dict[str, ProofResult], followed: Sequence[RefinementExploration],
    solvers: Sequence[str], json_target: str | None,
) -> None:  # fmt: skip
    solved = " and ".join({"z3": "Z3"}.get(one, one) for one in solvers)
    table = [
        (
            name, result.verdict, "any number of brokers, records and epochs",
            f"{len(result.obligations)} obligations, {result.solver_calls} by {solved}",
            result.seconds,
        )
        for name, result in proofs.items()
    ]  # fmt: skip
    table += [
        ("explored", one.verdict, _bounds(one), _counts(one), one.seconds) for one in followed
    ]
    show_table(
        ["claim", "verdict", "within", "counts", "seconds"],
        [(*row[:4], f"{row[4]:.1f}") for row in table],
        json_target,
        right=["seconds"],
        prose=["within", "counts"],
    )
    for name, result in proofs.items():
        say(f"{name} of {described(result.recorded)}", json_target)
        say(f"  {_sentence(name, result)}", json_target)
        say("it is assumed that", json_target)
        for assumption in result.proof.assumes:
            say(f"  {assumption}", json_target)
    say("explored: the same, asked of every state modulo the names of brokers", json_target)


def _explain(
    proofs: dict[str, ProofResult],
    why: InductionCounterexample | None,
    followed: Sequence[RefinementExploration],
    json_target: str | None,
) -> None:
    for result in proofs.values():
        for one in result.open:
            answers = ", ".join(f"{said} by {solver}" for solver, said in one.answers.items())
            say(f"not proved: {one.step} · {one.invariant}: {answers}", json_target)
    if why is not None:
        say(f"\n{why.as_text()}", json_target)
        say(
            "The verdict is unknown, not broken, because this state may be unreachable.",
            json_target,
        )
    for space in followed:
        if space.verdict is Verdict.BROKEN:
            say(f"\nwithin {_bounds(space)}:", json_target)
            for line in space.lines():
                say(line, json_target)
        if space.verdict is Verdict.UNKNOWN:
            stopped = space.exploration.stopped or "some rule was never checked"
            say(f"within {_bounds(space)}: {stopped}", json_target)


def _show_each(
    both: ComposedSystem, followed: Sequence[RefinementExploration], json_target: str | None
) -> None:
    taken: dict[str, int] = {}
    for one in followed:
        for name, count in one.taken.items():
            taken[name] = taken.get(name, 0) + count
    table = []
    for name, count in sorted(taken.items()):
        line = both.taken.get(name)
        table.append((
            name,
            "nothing" if line is None else " then ".join(line.steps) or "a stutter",
            f"{count:,}",
            "it has no counterpart" if line is None else line.why,
        ))  # fmt: skip
    show_table(
        ["transition", "is there", "times", "why"], table, json_target,
        right=["times"], prose=["is there", "why"],
    )  # fmt: skip


def _bounds(one: RefinementExploration) -> str:
    return ", ".join(f"{name} {size}" for name, size in one.bounds.items())


def _counts(one: RefinementExploration) -> str:
    asked = sum(len(found) for found in one.asked.values())
    return f"{one.edges:,} steps from {one.states:,} states, {asked} rules"

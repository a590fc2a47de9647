"""`insync prove --chain`: from the executable `replication` to the form of it that is proved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from conformance.cli.choice import Variant, described, refusals, system_named
from conformance.cli.common import Progress, emit_json, finish, say
from conformance.cli.tables import show_table
from specs.verdict import Verdict, combine

if TYPE_CHECKING:
    from specs.chain import ChainResult
    from specs.prover import ProofResult

SENTENCE = (
    "every step of replication is a step of replication_history, some of its steps, or a stutter; "
    "then logs, the registered state, leaders and commits are the same on both sides, and every "
    "invariant of the proof holds"
)


def prove_chain(variant: Variant, deep: bool, each: bool, json_target: str | None) -> None:
    """Follows every step of small state spaces through the map, and proves what is assumed of
    elections; shows a row for each, and ends with the verdict's exit code."""
    # z3 takes a while to load: only now that the line is understood.
    from specs.chain import DEEP, QUICK, follow_everywhere
    from specs.proofs.elections import PROOF, composed
    from specs.prover import prove

    system = system_named("replication")
    recorded = variant.recorded(system)
    spaces = QUICK + (DEEP if deep else ())
    with Progress() as progress, refusals():
        elections = prove(
            PROOF,
            composed(recorded.without, recorded.version),
            each=lambda one: progress(f"{one.step}: {one.invariant} {one.answer}"),
        )
        followed = [
            follow_everywhere(recorded, system.limits(bounds), report=progress) for bounds in spaces
        ]
    verdict = combine([elections.verdict, *(one.verdict for one in followed)])
    _show(elections, followed, each, json_target)
    emit_json(
        json_target,
        {
            "verdict": verdict,
            "claims": [_claim(elections)],
            "obligations": [
                {"claim": "elections_are_as_assumed", **one.as_json()}
                for one in elections.obligations
            ],
            "chain": [one.as_json() for one in followed],
        },
    )
    finish(verdict)


def _claim(elections: ProofResult) -> dict[str, Any]:
    return {
        "claim": "elections_are_as_assumed",
        "sentence": elections.recorded.claim("elections_are_as_assumed")[0].sentence,
        "system": "replication",
        "version": elections.recorded.version,
        "without": elections.recorded.without,
        "verdict": elections.verdict,
        "brokers": "any",
        "obligations": len(elections.obligations),
        "solver_calls": elections.solver_calls,
        "seconds": round(elections.seconds, 3),
        "open": [{"step": one.step, "invariant": one.invariant} for one in elections.open],
        "assumes": list(elections.proof.assumes),
    }


def _show(
    elections: ProofResult, followed: Sequence[ChainResult], each: bool, json_target: str | None
) -> None:
    solved = f"{len(elections.obligations)} obligations, {elections.solver_calls} by Z3"
    rows = [("elections_are_as_assumed", elections.verdict, "any", solved, elections.seconds)]
    rows += [("chain", one.verdict, _bounds(one), _counts(one), one.seconds) for one in followed]
    show_table(
        ["claim", "verdict", "within", "counts", "seconds"],
        [(*row[:4], f"{row[4]:.1f}") for row in rows],
        json_target,
        right=["seconds"],
        prose=["within", "counts"],
    )
    claim = elections.recorded.claim("elections_are_as_assumed")[0]
    say(f"elections_are_as_assumed of {described(elections.recorded)}", json_target)
    say(f"  {claim.sentence}", json_target)
    say("it is assumed that", json_target)
    for assumption in elections.proof.assumes:
        say(f"  {assumption}", json_target)
    say(f"chain: {SENTENCE}", json_target)
    for open_ in elections.open:
        say(f"not proved: {open_.step} · {open_.invariant}", json_target)
    if each:
        _show_each(followed, json_target)
    for one in followed:
        if one.failure is not None:
            say(f"\nwithin {_bounds(one)}, after {len(one.run)} steps:", json_target)
            for line in one.lines:
                say(line, json_target)
        if one.verdict is Verdict.UNKNOWN:
            say(f"within {_bounds(one)}: {one.stopped}", json_target)


def _show_each(followed: Sequence[ChainResult], json_target: str | None) -> None:
    from specs.chain import MAP

    taken: dict[tuple[str, str], int] = {}
    for one in followed:
        for (transition, steps), count in one.taken.items():
            what = " then ".join(steps) if steps else "a stutter"
            taken[transition, what] = taken.get((transition, what), 0) + count
    show_table(
        ["transition", "is there", "times", "why"],
        [(*key, f"{count:,}", MAP[key[0]].why) for key, count in sorted(taken.items())],
        json_target,
        right=["times"],
        prose=["is there", "why"],
    )


def _bounds(one: ChainResult) -> str:
    return ", ".join(f"{name} {size}" for name, size in one.bounds.items())


def _counts(one: ChainResult) -> str:
    return (
        f"{one.edges:,} steps from {one.states:,} states; {one.invariants} invariants in "
        f"{one.forms:,} states of the proof's form"
    )

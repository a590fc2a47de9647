"""`insync prove CLAIM --find`: the invariants of a proof, looked for; and the graph of a proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from conformance.cli.chosen_system import Variant, described, refusals, system_named
from conformance.cli.common import (
    Progress,
    WrongUse,
    emit_json,
    finish,
    say,
    show_table,
    write_atomically,
)
from model.language.errors import unknown_name
from specs.invariants import Proof
from specs.rendering import as_data
from specs.runs import replay_command
from specs.verdict import Verdict

if TYPE_CHECKING:
    from model.language import RecordedSystem
    from specs.finding.search import InvariantSearchResult


STATES = 250_000
"""States in which candidates have to hold at first, by default."""


@dataclass(frozen=True)
class InvariantOptions:
    """The values of --find, --drop-invariants, --write, --resume, --states and --graph."""

    find: bool
    forget: str | None
    write: str | None
    resume: str | None
    states: int
    graph: str | None
    seed: int = 0

    def refuse_alone(self) -> None:
        """The options that only --find has a use for."""
        for name, given in (("--drop-invariants", self.forget is not None),
                            ("--write", self.write is not None),
                            ("--resume", self.resume is not None),
                            ("--states", self.states != STATES), ("--seed", self.seed != 0)
                            ):  # fmt: skip
            if given and not self.find:
                raise WrongUse(f"{name} goes with --find: it is about invariants to be found")

    def __post_init__(self) -> None:
        if self.graph is not None and Path(self.graph).suffix not in (".dot", ".svg"):
            raise WrongUse(f"--graph {self.graph}: write FILE.dot or FILE.svg")
        for name, value in (("--graph", self.graph), ("--write", self.write),
                            ("--resume", self.resume)):  # fmt: skip
            if value is not None and not Path(value).resolve().parent.is_dir():
                raise WrongUse(f"{name} {value}: there is no such folder; create it first")


def find_proof(
    proof: Proof, variant: Variant, wanted: InvariantOptions, json_target: str | None
) -> None:
    """Looks for the invariants of one claim, from the claim alone or from those not forgotten.

    Z3 looks; where cvc5 is installed, it proves in the end what Z3 has proved.
    """
    from specs.finding.search import Effort, find_invariants
    from specs.solvers import has_cvc5

    solvers = ("z3", "cvc5") if has_cvc5() else ("z3",)
    given = _proof_without_dropped(proof, wanted)
    recorded = variant.recorded(system_named(proof.system))
    resume = None if wanted.resume is None else Path(wanted.resume)
    with Progress() as progress, refusals():
        found = find_invariants(given, recorded, Effort(states=wanted.states, seed=wanted.seed),
                                progress, resume, solvers)  # fmt: skip
    dropped = sorted({one.name for one in proof.invariants}
                     - {one.name for one in given.invariants})  # fmt: skip
    if given.invariants:
        say(f"without {', '.join(dropped)}:", json_target)
    _show(found, solvers, json_target)
    if found.verdict is Verdict.HOLDS:
        _written(found, wanted.write, json_target)
        if wanted.graph is not None:
            draw(found.proof, recorded, wanted.graph, json_target)
    shown = found.counterexample
    emit_json(json_target, {
        "verdict": found.verdict, "claim": proof.claim, "system": proof.system,
        "version": recorded.version, "without": recorded.without, "dropped": dropped,
        "counts": found.counts,
        "found": [{"name": one.name, "sentence": one.sentence,
                   "needed_by": sorted(found.needed_by.get(one.name, ()))}
                  for one in found.found],
        "hinted": found.hinted, "lost": found.lost, "false": found.false, "solvers": solvers,
        "counterexample": as_data(shown), "reached": found.reached,
        "seconds": round(found.seconds, 1),
    })  # fmt: skip
    finish(found.verdict)


def _proof_without_dropped(proof: Proof, wanted: InvariantOptions) -> Proof:
    if wanted.forget is None:
        # From the claim alone: nothing that people wrote is left, no hint and no lemma either.
        return Proof(proof.claim, proof.system, (), proof.assumes)
    known = [one.name for one in proof.invariants]
    names = [name.strip() for name in wanted.forget.split(",") if name.strip()]
    if wanted.forget.isdecimal():
        if int(wanted.forget) not in range(1, len(known)):
            raise WrongUse(f"--drop-invariants {wanted.forget}: the proof has {len(known)}, and "
                           "one at least has to stay")  # fmt: skip
        names = Random(wanted.seed).sample(known, int(wanted.forget))
    for name in names:
        if name not in known:
            raise WrongUse(unknown_name(f"invariant of {proof.claim}", name, known))
    if not names:
        raise WrongUse("--drop-invariants: name invariants of the proof, with commas between")
    # A lemma may lean on what is forgotten; no invariant leans on a lemma.
    left = tuple(one for one in proof.invariants if one.name not in names)
    return replace(proof, invariants=left, lemmas=())


def _show(found: InvariantSearchResult, solvers: Sequence[str], json_target: str | None) -> None:
    claim = found.recorded.claim(found.proof.claim)[0]
    say(f"{claim.name} of {described(found.recorded)}: {found.verdict}, "
        f"{found.seconds:.0f} s", json_target)  # fmt: skip
    say(f"  {claim.sentence}", json_target)
    counts = found.counts
    if "states" in counts:
        say(f"from {counts['states']:,} states that were reached, {counts['literals']:,} literals: "
            f"{counts['candidates']:,} candidates, of which steps keep {counts.get('kept', 0):,} "
            "together", json_target)  # fmt: skip
    for part in found.false:
        say(f"it is no invariant, for a reached state breaks it: {part}", json_target)
    if found.false:
        recorded = found.recorded
        command = replay_command("find", recorded.system.name, recorded.version,
                                 recorded.without, {}, found.proof.claim)  # fmt: skip
        say(f"to see the shortest run to one: {command}", json_target)
        return
    if found.result is not None and found.found:
        show_table(
            ["invariant", "it says", "needed by"],
            [(one.name, one.sentence, ", ".join(sorted(
                found.needed_by.get(one.name, set()) - {one.name})) or "-")
             for one in found.found],
            json_target, prose=["invariant", "it says", "needed by"],
        )  # fmt: skip
    if found.verdict is Verdict.HOLDS and found.result is not None:
        names = " and by ".join("Z3" if one == "z3" else one for one in solvers)
        say(
            f"proved for any number of brokers: {len(found.result.obligations)} obligations, "
            f"{found.result.solver_calls} by {names}; none of the invariants can go",
            json_target,
        )
        if found.hinted:
            say("with what definitions say of fields in mind (Definitions.of_fields), after "
                f"{', '.join(found.hinted)}", json_target)  # fmt: skip
    elif found.result is not None:
        for one in found.result.open:
            said = ", ".join(f"{answer} by {solver}" for solver, answer in one.answers.items())
            say(f"not proved: {one.step} · {one.invariant}: {said}", json_target)
    for name in found.lost:
        say(f"no set of candidates keeps: {name}", json_target)
    if found.counterexample is not None:
        say(f"\n{found.counterexample.as_text()}", json_target)
        say(f"This alone means unknown. Of that state: {found.reached}.", json_target)


def _written(found: InvariantSearchResult, target: str | None, json_target: str | None) -> None:
    from specs.finding.notation import as_file

    if target is None:
        return
    write_atomically(Path(target), as_file(found))
    say(f"written: {target}, ready to stand in specs/proofs", json_target)


def draw(proof: Proof, recorded: RecordedSystem, target: str, json_target: str | None) -> None:
    """Writes the graph of a proof's invariants, as .dot or .svg."""
    from specs.finding.graph import dot, svg, who_needs_whom

    with Progress() as progress:
        needs = who_needs_whom(proof, recorded, progress)
    text: Any = (dot if target.endswith(".dot") else svg)(needs, f"{proof.claim}: who needs whom")
    write_atomically(Path(target), text)
    edges = sum(map(len, needs.values()))
    say(f"written: {target}, {len(needs)} nodes and {edges} needs", json_target)

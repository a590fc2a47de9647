"""`insync prove`: inductive proofs, for any number of brokers unless one is named."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.chosen_system import (
    Size,
    Variant,
    described,
    refusals,
    system_named,
    systems_with,
)
from conformance.cli.common import (
    Progress,
    RenamedOption,
    WrongUse,
    emit_json,
    finish,
    json_option,
    say,
    show_table,
    unknown,
)
from conformance.cli.find_invariants import STATES, InvariantOptions, draw, find_proof
from conformance.cli.keep_results import open_option, show_comparison
from conformance.cli.options import variant_options
from conformance.cli.refinement import prove_refinement
from conformance.cli.theorems import (
    CONTRADICTION,
    NAMES,
    show_theorems,
    theorems_among,
    try_theorems,
)
from model.former_names import claim_now, step_now
from model.language import RecordedSystem, System
from model.replication.alter_isr import SYSTEM as BY_ALTER_ISR
from specs.invariants import Proof
from specs.progress.loops import loop, unfair
from specs.proofs import proofs
from specs.proofs.before_2_7 import PROOF as BEFORE_2_7
from specs.proofs.progress import progress
from specs.proofs.since_2_7 import PROOF as SINCE_2_7
from specs.prover import ProofResult, claim_report
from specs.refinement import compose, refinement_proof
from specs.refinement.since_2_7 import compose_since_2_7, refinement_since_2_7
from specs.rendering import rows
from specs.runs import Run, replay_command
from specs.verdict import ClaimReport, Verdict, combine

if TYPE_CHECKING:
    from specs.induction_counterexamples import InductionCounterexample
    from specs.smt2 import Smt2Folder

PROOFS: dict[str, Proof] = proofs()
"""Every proof of safety, by the claim that it proves."""

PROGRESS: dict[str, Proof] = progress()
"""Every proof of progress, by the claim that it proves; `progress` names them all."""

ASKED_FOR: dict[str, Proof] = {
    **PROGRESS, **{one.claim: one for one in (BEFORE_2_7, SINCE_2_7)},
}  # fmt: skip
"""Every proof that is made only where it is named, or with --all."""

ALL_OF_PROGRESS = "progress"
ANY = "any"
SOLVERS = ("z3", "cvc5")
MANIFEST = "manifest.json"


@dataclass
class ProofAttempt:
    """The result of a proof; a counterexample with small values shows why it is open."""

    result: ProofResult
    counterexample: InductionCounterexample | None
    run: Run | None = None
    """Of a claim of progress: a run into a loop, by which it is broken."""

    @property
    def verdict(self) -> Verdict:
        """What is known of the claim: a loop that is reached outweighs what is open."""
        return self.result.verdict if self.run is None else Verdict.BROKEN

    def report(self) -> ClaimReport:
        """One entry of `claims`."""
        result = self.result
        return claim_report(
            result, result.recorded.claim(result.proof.claim)[0].sentence, verdict=self.verdict,
            counterexample=self.run or self.counterexample,
        )  # fmt: skip


@click.command()
@click.argument("claims", metavar="[CLAIM]...", nargs=-1)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Prove the two main claims, the claims of progress, and the further theorems.",
)
@variant_options
@click.option(
    "--brokers", metavar="N|any", default=ANY, show_default=True, help="Prove for N only."
)
@click.option("--each", is_flag=True, help="Show every obligation: one step and one invariant.")
@click.option(
    "--solver",
    type=click.Choice(["z3", "cvc5", "both"]),
    default="z3",
    show_default=True,
    help="The solver; both: an obligation is proved only if both prove it. With --find, Z3 "
    "searches, and both prove the result.",
)
@click.option(
    "--smt2",
    "smt2_target",
    metavar="DIR",
    help="Also write every question as an SMT-LIB file into a new folder, with a manifest.",
)
@click.option(
    "--certificate",
    "certificate",
    metavar="DIR",
    help="Like --smt2, with a page on how to check it without insync, and with cvc5's "
    "answers and proofs if cvc5 is installed (minutes).",
)
@click.option(
    "--checker",
    metavar="COMMAND",
    help="With --certificate: have each proof checked by this command of Ethos, given with its "
    "rules.",
)
@click.option(
    "--refinement",
    "refines",
    cls=RenamedOption,
    former="--chain",
    is_flag=True,
    help="Instead: prove that the executable replication refines the form that is proved.",
)
@click.option("--deep", is_flag=True, help="With --refinement: in larger state spaces, too.")
@click.option(
    "--find",
    "find",
    is_flag=True,
    help="Instead: search the invariants, from the claim alone.",
)
@click.option(
    "--drop-invariants",
    "forget",
    cls=RenamedOption,
    former="--forget",
    metavar="A,B,C",
    help="With --find: start from the proof's invariants without these; a number drops "
    "that many, which --seed chooses.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="With --find: the seed of random walks, and of the dropped invariants.",
)
@click.option("--write", metavar="FILE.py", help="With --find: write the result as a proof.")
@click.option(
    "--resume",
    metavar="FILE",
    help="With --find: save the state after each round in FILE, and continue from it.",
)
@click.option(
    "--states",
    type=click.IntRange(1),
    default=STATES,
    show_default=True,
    help="With --find: the number of states in which candidates must hold at first.",
)
@click.option(
    "--unfair",
    metavar="STEP",
    multiple=True,
    help="For a claim of progress: drop the fairness of this step, and search the loop by "
    "exploration.",
)
@click.option("--graph", metavar="FILE.dot|.svg", help="Draw which invariant needs which.")
@open_option
@json_option
def prove(
    claims: tuple[str, ...],
    everything: bool,
    variant: Variant,
    brokers: str,
    each: bool,
    solver: str,
    smt2_target: str | None,
    certificate: str | None,
    checker: str | None,
    refines: bool,
    deep: bool,
    find: bool,
    forget: str | None,
    seed: int,
    write: str | None,
    resume: str | None,
    states: int,
    unfair: tuple[str, ...],
    graph: str | None,
    opens: bool,
    json_target: str | None,
) -> None:
    """Prove claims by induction: true initially, kept by every step, without bounds.

    A proof that does not go through is unknown (exit code 2), never broken: the state that its
    counterexample starts from need not be reachable. `insync find` looks for a run. --open shows
    that state, and the step after which an invariant does not hold.

    \b
    Example:
      insync prove single_controller
      insync prove single_controller --without zk_writes_fenced
      insync prove single_controller --brokers 3 --each --json -
      insync prove --solver both --smt2 obligations
      insync prove single_controller --certificate certificate
      insync prove single_controller --certificate checked --checker "ethos --include=Cpc.eo"
      insync prove --all
      insync prove progress
      insync prove all_brokers_know_the_controller --unfair broker_handles_request
      insync prove --refinement
      insync prove single_controller --find --write found.py
      insync prove no_message_loss --find --drop-invariants hw_is_within_the_log
      insync prove single_controller --graph who-needs-whom.svg
    """
    wanted = InvariantOptions(find, forget, write, resume, states, graph, seed)
    wanted.refuse_alone()
    if certificate is not None and smt2_target is not None:
        raise WrongUse("--certificate writes all that --smt2 does: give one of the two")
    if checker is not None and certificate is None:
        raise WrongUse("--checker goes with --certificate: it checks the proofs that stand there")
    checked_by = _command(checker)
    target = certificate if certificate is not None else smt2_target
    if deep and not refines:
        raise WrongUse("--deep goes with --refinement: proofs have no bounds to widen")
    solvers = SOLVERS if solver == "both" else (solver,)
    if refines:
        _refuse_beside_refinement(
            claims, everything, brokers, smt2_target, certificate, unfair, wanted
        )
        prove_refinement(variant, deep, each, solvers, json_target)
        return
    claims = tuple(
        name
        for given in claims
        for name in (PROGRESS if given == ALL_OF_PROGRESS else (claim_now(given),))
    )
    if find or graph is not None:
        if len(claims) != 1 or everything or target is not None or brokers != ANY:
            raise WrongUse("--find and --graph are about one claim, for any number of brokers: "
                           "insync prove single_controller --find")  # fmt: skip
        if claims[0] in NAMES:
            raise WrongUse(f"--find and --graph are for {' and '.join(PROOFS)}: "
                           f"{claims[0]} is a theorem beside them")  # fmt: skip
        (asked_for,) = chosen(claims, everything)
        if asked_for.form is not None:
            raise WrongUse(f"--find and --graph are for {' and '.join(PROOFS)}: "
                           f"{asked_for.claim} leans on their invariants")  # fmt: skip
        if find:
            find_proof(asked_for, variant, wanted, json_target)
            return
    further = theorems_among(claims, everything, brokers, target)
    main = tuple(name for name in claims if name not in further)
    proofs = chosen(main, everything) if main or everything or not further else []
    proofs = [_unfair(proof, unfair) for proof in proofs]
    asked = [one for proof in proofs for one in _understood(proof, variant, brokers)]
    with _folder(target, certificate is not None, checked_by) as folder, Progress() as progress:
        attempts: list[ProofAttempt] = []
        for one in asked:
            if one.given is not None and _is_open(one.given, attempts):
                attempts.append(
                    ProofAttempt(ProofResult(one.proof, one.recorded, one.brokers), None)
                )
            else:
                attempts.append(_attempt(one, solvers, folder, progress))
        tried = try_theorems(further, variant, solvers, progress)
    _show(attempts, solvers, each, json_target)
    show_theorems(tried, solvers, each, json_target)
    verdict = combine([*(a.verdict for a in attempts), *(t.result.verdict for t in tried)])
    if target is not None:
        say(f"written: {target}/{MANIFEST}, and the questions it lists", json_target)
    if certificate is not None and folder is not None:
        verdict = combine([verdict, _second_opinion(folder, certificate, json_target)])
    emit_json(
        json_target,
        {
            "verdict": verdict,
            "claims": rows([*(one.report() for one in attempts), *(one.report() for one in tried)]),
            "obligations": [
                row
                for one in attempts
                for row in rows(
                    one.result.obligations,
                    claim=one.result.proof.claim,
                    system=one.result.proof.system,
                )
            ]
            + [
                row
                for one in tried
                for row in rows(one.result.obligations, claim=one.result.theorem.claim)
            ],
        },
    )
    if graph is not None:
        draw(asked_for, attempts[0].result.recorded, graph, json_target)
    if opens:
        _show_in_the_browser(attempts, json_target)
    finish(verdict)


def _second_opinion(folder: Smt2Folder, target: str, json_target: str | None) -> Verdict:
    """What cvc5 said of the files of a certificate; a file that it does not answer is unknown."""
    say(f"to be read first: {target}/index.md", json_target)
    if not folder.by_cvc5:
        say("cvc5 is not installed: there is no second opinion in it", json_target)
    for name in folder.unproved:
        say(f"not proved by cvc5: {target}/{name}", json_target)
    if folder.checker:
        say(f"checked by {folder.checker[0]}: {folder.checked} proofs are correct, "
            f"{len(folder.refused)} are not", json_target)  # fmt: skip
    for name, why in folder.refused.items():
        say(f"not found correct: {target}/{name}: {why}", json_target)
    return Verdict.UNKNOWN if folder.unproved or folder.refused else Verdict.HOLDS


def _is_open(proof: Proof, attempts: list[ProofAttempt]) -> bool:
    return any(one.result.proof is proof and one.result.open for one in attempts)


def _show_in_the_browser(attempts: list[ProofAttempt], json_target: str | None) -> None:
    """The first counterexample to induction, as a state and the step after it."""
    for one in attempts:
        if one.counterexample is not None:
            from conformance.web.findings import of_induction

            result = of_induction(one.counterexample, one.result.recorded)
            show_comparison(result, f"system {one.result.proof.system}")
            return
    say("there is no counterexample to show", json_target)


def _refuse_beside_refinement(
    claims: tuple[str, ...], everything: bool, brokers: str, smt2_target: str | None,
    certificate: str | None, unfair: tuple[str, ...], wanted: InvariantOptions,
) -> None:  # fmt: skip
    beside = {
        "a claim's name": bool(claims), "--all": everything, "--brokers": brokers != ANY,
        "--smt2": smt2_target is not None, "--certificate": certificate is not None,
        "--unfair": bool(unfair), "--find": wanted.find, "--graph": wanted.graph is not None,
    }  # fmt: skip
    for name, given in beside.items():
        if given:
            raise WrongUse(
                f"{name} does not go with --refinement, which ties the model to every proof at "
                "once; write insync prove --refinement alone, or with --version, --set and "
                "--without"
            )


def chosen(claims: tuple[str, ...], everything: bool) -> list[Proof]:
    """The proofs that a line asks for; without a name, all that there are."""
    if claims and everything:
        raise WrongUse("--all proves every claim; write either --all or names")
    for name in claims:
        if name in PROOFS or name in ASKED_FOR:
            continue
        homes = systems_with(name)
        if not homes:
            raise unknown("proof", name, [*PROOFS, ALL_OF_PROGRESS, *ASKED_FOR, *NAMES])
        raise WrongUse(
            f"{name} has no proof yet (there is one of {', '.join(PROOFS)}); "
            f"to look for a run that breaks it: insync find {name} {homes[0]}"
        )
    known = {**PROOFS, **ASKED_FOR}
    if everything:
        return list(known.values())
    return [known[name] for name in dict.fromkeys(claims)] or list(PROOFS.values())


def _unfair(proof: Proof, steps: tuple[str, ...]) -> Proof:
    if not steps:
        return proof
    if proof.ranking is None:
        raise WrongUse(f"--unfair is for claims of progress, and {proof.claim} is none; "
                       f"write insync prove {next(iter(PROGRESS))} --unfair STEP")  # fmt: skip
    with refusals():
        return unfair(proof, tuple(step_now(step, proof.system) for step in steps))


@dataclass(frozen=True)
class ProofRequest:
    """A proof to try, of a version, for a number of brokers or any.

    `given` is the proof whose invariants it assumes: while that is open, it says nothing.
    """

    proof: Proof
    recorded: RecordedSystem
    brokers: int | None
    given: Proof | None = None


def _understood(proof: Proof, variant: Variant, brokers: str) -> list[ProofRequest]:
    system = proof.form or system_named(proof.system)
    recorded = variant.recorded(system)
    number = _number_of_brokers(brokers, variant, system)
    asked = [ProofRequest(proof, recorded, number)]
    if proof.claim == "no_message_loss":
        # What is proved of a form is claimed of what runs only by the refinement of the one by
        # the other.
        executable = variant.recorded(system_named("replication"))
        composed = compose(version=executable.version, changed=executable.without)
        asked.append(
            ProofRequest(refinement_proof(composed), composed.recorded, number, given=proof)
        )
    if proof.claim == SINCE_2_7.claim:
        executable = variant.recorded(BY_ALTER_ISR)
        composed = compose_since_2_7(version=executable.version, changed=executable.without)
        refines = refinement_since_2_7(composed)
        asked.append(ProofRequest(refines, composed.recorded, number, given=proof))
    return asked


def _number_of_brokers(brokers: str, variant: Variant, system: System) -> int | None:
    if brokers == ANY:
        return None
    if not re.fullmatch(r"-?[0-9]+", brokers):
        raise WrongUse(f"--brokers {brokers}: write a number, or 'any' for all of them at once")
    return Size(brokers, (), variant.faults).limits(system)["brokers"]


def _command(checker: str | None) -> tuple[str, ...]:
    """The words of a checker's command; refused where it is none, or has no proof to check."""
    words = tuple(shlex.split(checker or ""))
    if checker is None:
        return ()
    if not words or shutil.which(words[0]) is None:
        raise WrongUse(f"--checker {checker}: there is no such program; build Ethos, and write "
                       '--checker "ethos --include=cvc5/proofs/eo/cpc/Cpc.eo"')  # fmt: skip
    from specs.solvers import has_cvc5

    if not has_cvc5():
        raise WrongUse("--checker checks the proofs of cvc5, which is not installed: "
                       "pip install 'insync[solvers]'")  # fmt: skip
    return words


@contextmanager
def _folder(
    target: str | None, certificate: bool, checker: tuple[str, ...]
) -> Iterator[Smt2Folder | None]:
    """The folder for the questions: whole under its name at the end, or not there at all."""
    if target is None:
        yield None
        return
    from specs.smt2 import Smt2Folder

    try:
        folder = Smt2Folder(Path(target), certificate, checker)
    except OSError as error:
        option = "--certificate" if certificate else "--smt2"
        raise WrongUse(
            f"{option} {target}: {error.strerror or error}; name a new folder"
        ) from error
    try:
        yield folder
        folder.close()
    finally:
        folder.discard()


def _attempt(
    asked: ProofRequest, solvers: tuple[str, ...], folder: Smt2Folder | None, progress: Progress
) -> ProofAttempt:
    # z3 takes a while to load: only now that the line is understood.
    from specs.induction_counterexamples import counterexample_to_induction
    from specs.prover import prove as discharge

    proof, recorded = asked.proof, asked.recorded
    if folder is not None:
        folder.of(proof)
    with refusals():
        result = discharge(
            proof,
            recorded,
            asked.brokers,
            lambda one: progress(f"{one.step}: {one.invariant} {one.answer}"),
            solvers=solvers,
            export=None if folder is None else folder.add,
        )
    if folder is not None:
        folder.proved(result)
    if proof.ranking is not None and result.open:
        progress("looking for a loop")
        with refusals():
            _, run = loop(proof, recorded.version, recorded.without, progress)
        return ProofAttempt(result, None, run)
    shown = counterexample_to_induction(proof, recorded, result.open) if result.open else None
    return ProofAttempt(result, shown)


def _show(
    attempts: list[ProofAttempt], solvers: tuple[str, ...], each: bool, json_target: str | None
) -> None:
    if not attempts:
        return
    solved = f"by {' and '.join(solvers)}"
    show_table(
        [
            "claim",
            "of",
            "verdict",
            "brokers",
            "obligations",
            solved,
            "by the frame rule",
            "seconds",
        ],
        [
            (
                one.proof.claim,
                one.proof.system,
                attempt.verdict,
                one.brokers or ANY,
                len(one.obligations),
                one.solver_calls,
                len(one.obligations) - one.solver_calls,
                f"{one.seconds:.1f}",
            )
            for attempt in attempts
            for one in (attempt.result,)
        ],
        json_target,
        right=["brokers", "obligations", solved, "by the frame rule", "seconds"],
    )
    for attempt in attempts:
        if each:
            _show_each(attempt.result, json_target)
        for line in [*_result_lines(attempt.result), *_open(attempt)]:
            say(line, json_target)


def _result_lines(result: ProofResult) -> list[str]:
    claim = result.recorded.claim(result.proof.claim)[0]
    if not result.obligations:
        return [f"{claim.name} of {described(result.recorded)}: not tried, for the form that it "
                "refines is not proved"]  # fmt: skip
    extent = "any number of brokers" if result.brokers is None else f"brokers={result.brokers}"
    return [
        f"{claim.name} of {described(result.recorded)}, {extent}, epochs without bound",
        f"  {claim.sentence}",
        *(f"  {words}" for words in result.proof.about),
        "it is assumed that",
        *(f"  {assumption}" for assumption in result.proof.assumes),
    ]


def _looped(attempt: ProofAttempt) -> list[str]:
    """What an explorer says of a claim of progress that is not proved."""
    ranking = attempt.result.proof.ranking
    assert ranking is not None
    bounds = ranking.bounds if attempt.run is None else attempt.run.bounds
    within = ", ".join(f"{name}={size}" for name, size in bounds.items())
    if attempt.run is None:
        return [f"an explorer finds no loop without it ({within})"]
    return [f"broken, for the claim is never true on this run ({within}):", attempt.run.as_text()]


def _show_each(result: ProofResult, json_target: str | None) -> None:
    show_table(
        ["step", "invariant", "answer", "by", "seconds"],
        [
            (
                one.step,
                one.invariant,
                one.answer,
                " and ".join(one.answers),
                f"{one.seconds:.3f}",
            )
            for one in result.obligations
        ],
        json_target,
        right=["seconds"],
    )


def _open(attempt: ProofAttempt) -> list[str]:
    result = attempt.result
    if result.contradictory:
        return ["", CONTRADICTION]
    if result.idle:
        return ["", "not proved: no small state awaits " + ", ".join(result.idle)]
    if not result.open:
        return []
    recorded = result.recorded
    lines = ["", f"not proved: {len(result.open)} of {len(result.obligations)} obligations"]
    lines += [
        f"  {one.step} · {one.invariant}: "
        + ", ".join(f"{answer} by {solver}" for solver, answer in one.answers.items())
        for one in result.open
    ]
    if result.proof.ranking is not None:
        return [*lines, "", *_looped(attempt)]
    if attempt.counterexample is None:
        lines += ["", "no state with 2 or 3 brokers and small numbers shows why"]
    else:
        lines += ["", attempt.counterexample.as_text(), ""]
        lines += [
            "This alone means unknown (not inductive): that state need not be reachable.",
        ]
    find = replay_command(
        "find", recorded.system.name, recorded.version, recorded.without, {}, result.proof.claim
    )
    return [*lines, f"to look for a run that is reachable: {find}"]

"""`insync find`: the shortest run that breaks a claim, or that reaches a `sometimes`."""

from __future__ import annotations

from typing import NoReturn

import click

from conformance.cli.choice import Size, Variant, claims_named, described, listed, system_named
from conformance.cli.common import Progress, WrongUse, emit_json, finish, json_option, say
from conformance.cli.options import (
    Searching,
    search_options,
    size_options,
    system_argument,
    variant_options,
)
from model.language import RecordedSystem
from model.systems import SYSTEMS
from specs.explorer import Exploration
from specs.explorer import find as shortest
from specs.runs import Run, replay_command
from specs.verdict import Verdict


@click.command()
@click.argument("claim", metavar="CLAIM")
@system_argument
@variant_options
@size_options
@search_options
@json_option
def find(
    claim: str,
    system: str,
    variant: Variant,
    size: Size,
    search: Searching,
    json_target: str | None,
) -> None:
    """Print the shortest run of SYSTEM that breaks CLAIM.

    A claim that something can happen (a `sometimes`) is answered with the shortest run that
    reaches it. Where there is no such run within the bounds, the counts say how many states were
    looked at. Exit code 1 says broken, 0 holds (or reached), 2 that --max-states came first.

    \b
    Example:
      insync find strong_isr classic --version kip_101
      insync find single_writer election --without zk_writes_fenced
    """
    if claim in SYSTEMS and system not in SYSTEMS:
        raise WrongUse(f"the claim comes first; write: insync find {system} {claim}")
    chosen = system_named(system)
    recorded = variant.recorded(chosen)
    limits = size.limits(chosen)
    claims_named(recorded, [claim])
    if recorded.claim(claim)[0].kind == "eventually":
        _not_checked(recorded, limits, claim, json_target)
    with Progress() as progress:
        exploration, run = shortest(
            recorded, limits, claim, search.max_states, progress, search.engine, search.symmetry,
            search.workers, search.memory_bytes,
        )  # fmt: skip
    verdict = exploration.claims[claim].verdict
    replay = _replay(exploration, claim, run, search)
    for line in _report(exploration, claim, run, replay):
        say(line, json_target)
    emit_json(json_target, _payload(exploration, claim, run, replay))
    finish(verdict)


def _not_checked(
    recorded: RecordedSystem, limits: dict[str, int], claim: str, json_target: str | None
) -> NoReturn:
    why = "what happens in the end needs an engine that looks for loops; this one looks for states"
    empty = _without_run(recorded, limits, claim, Verdict.NOT_CHECKED, "")
    empty.replay = replay_command(
        "find", empty.system, empty.version, empty.without, empty.bounds, claim
    )
    say(
        f"{claim} of {described(recorded)}\n  {empty.sentence}\n{empty.verdict}: {why}", json_target
    )
    emit_json(json_target, {**empty.as_json(), "depth": None, "kind": "eventually", "why": why})
    finish(Verdict.NOT_CHECKED)


def _without_run(
    recorded: RecordedSystem, bounds: dict[str, int], claim: str, verdict: Verdict, replay: str
) -> Run:
    return Run(
        claim=claim,
        sentence=recorded.claim(claim)[0].sentence,
        system=recorded.system.name,
        version=recorded.version,
        without=recorded.without,
        bounds=bounds,
        verdict=verdict,
        steps=[],
        replay=replay,
    )


def _replay(found: Exploration, claim: str, run: Run | None, search: Searching) -> str:
    recorded, bounds = found.grounded.recorded, found.grounded.bounds
    command = replay_command(
        "find", recorded.system.name, recorded.version, recorded.without, bounds, claim
    )
    # A run is the same with a limit or without; what was not found depends on it.
    return command if run else command + search.words()


def _report(found: Exploration, claim: str, run: Run | None, replay: str) -> list[str]:
    result, bounds = found.claims[claim], listed(found.grounded.bounds)
    lines = [f"{claim} of {described(found.grounded.recorded)}", f"  {result.sentence}"]
    looked = f"{found.distinct:,} states in {found.seconds:.1f} s"
    if run is not None:
        word = "broken" if result.verdict is Verdict.BROKEN else "holds: reached"
        steps = f"{len(run.steps)} step{'' if len(run.steps) == 1 else 's'}"
        lines += [f"{word} after {steps} ({bounds})", f"no run is shorter: {looked}", ""]
        lines += [run.as_text(), ""] if run.steps else ["in the initial state, before any step", ""]
    elif result.verdict is Verdict.HOLDS:
        lines += [f"holds ({bounds}): all {looked}, depth {found.depth}"]
    else:
        lines += [f"{result.verdict} ({result.why}; {bounds}): {looked}"]
    return [*lines, f"again: {replay}"]


def _payload(found: Exploration, claim: str, run: Run | None, replay: str) -> dict[str, object]:
    recorded, result = found.grounded.recorded, found.claims[claim]
    whole = run or _without_run(recorded, found.grounded.bounds, claim, result.verdict, replay)
    return {
        **whole.as_json(),
        "depth": result.depth,
        "kind": result.kind,
        "why": result.why,
        "engine": found.engine.name,
        "complete": found.complete,
        "distinct": found.distinct,
        "generated": found.generated,
        "seconds": round(found.seconds, 3),
    }

"""`insync find`: the shortest run that breaks a claim, or that reaches a `sometimes`."""

from __future__ import annotations

import click

from conformance.cli.choice import (
    Size,
    Variant,
    claims_named,
    described,
    listed,
    refusals,
    system_named,
)
from conformance.cli.common import Progress, WrongUse, emit_json, finish, json_option, say
from conformance.cli.kept import Keeping, keep_options
from conformance.cli.options import (
    Searching,
    search_options,
    size_options,
    system_argument,
    variant_options,
)
from model.language import RecordedSystem
from model.systems import SYSTEMS
from specs.explorer import DEADLOCK, ClaimResult, Exploration
from specs.explorer import find as shortest
from specs.runs import Run, replay_command
from specs.verdict import Verdict


@click.command()
@click.argument("claim", metavar="CLAIM")
@system_argument
@variant_options
@size_options
@search_options
@keep_options
@json_option
def find(
    claim: str,
    system: str,
    variant: Variant,
    size: Size,
    search: Searching,
    keeping: Keeping,
    json_target: str | None,
) -> None:
    """Print the shortest run of SYSTEM that breaks CLAIM.

    A claim that something can happen (a `sometimes`) is answered with the shortest run that
    reaches it, one that something happens in the end (an `eventually`) with a run into a loop
    without it. For CLAIM `deadlock` it is the shortest run to a state from which no step is
    possible. Where there is no such run within the bounds, the counts say how many states were
    looked at. Exit code 1 says broken, 0 holds (or reached), 2 that --max-states came first.

    \b
    Example:
      insync find strong_isr classic --version kip_101
      insync find single_writer election --without zk_writes_fenced
      insync find deadlock classic
      insync find strong_isr classic --version kip_101 --save-story lost.story
    """
    if claim in SYSTEMS and system not in SYSTEMS:
        raise WrongUse(f"the claim comes first; write: insync find {system} {claim}")
    chosen = system_named(system)
    recorded = variant.recorded(chosen)
    limits = size.limits(chosen)
    if claim != DEADLOCK:
        claims_named(recorded, [claim])
    with refusals(), Progress() as progress:
        exploration, run = shortest(
            recorded, limits, claim, search.max_states, progress, search.engine, search.symmetry,
            search.workers, search.memory_bytes,
        )  # fmt: skip
    verdict = _result(exploration, claim).verdict
    replay = _replay(exploration, claim, run, search)
    for line in _report(exploration, claim, run, replay):
        say(line, json_target)
    emit_json(json_target, _payload(exploration, claim, run, replay))
    keeping.keep(run, json_target)
    finish(verdict)


def _result(found: Exploration, claim: str) -> ClaimResult:
    return found.deadlock if claim == DEADLOCK else found.claims[claim]


def _without_run(
    recorded: RecordedSystem, bounds: dict[str, int], result: ClaimResult, replay: str
) -> Run:
    return Run(
        claim=result.name,
        sentence=result.sentence,
        system=recorded.system.name,
        version=recorded.version,
        without=recorded.without,
        bounds=bounds,
        verdict=result.verdict,
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
    result, bounds = _result(found, claim), listed(found.grounded.bounds)
    lines = [f"{claim} of {described(found.grounded.recorded)}", f"  {result.sentence}"]
    looked = f"{found.distinct:,} states in {found.seconds:.1f} s"
    if run is not None:
        word = "broken" if result.verdict is Verdict.BROKEN else "holds: reached"
        lines += [f"{word} {_after(run)} ({bounds})", _why_this_one(run, looked), ""]
        lines += [run.as_text(), ""] if run.steps else ["in the initial state, before any step", ""]
    elif result.verdict is Verdict.HOLDS:
        lines += [f"holds ({bounds}): all {looked}, depth {found.depth}"]
    else:
        lines += [f"{result.verdict} ({result.why}; {bounds}): {looked}"]
    return [*lines, f"again: {replay}"]


def _steps(number: int) -> str:
    return f"{number} step{'' if number == 1 else 's'}"


def _after(run: Run) -> str:
    if run.loop is None:
        return f"after {_steps(len(run.steps))}"
    turn = len(run.steps) - run.loop
    back = f"by a loop of {_steps(turn)}" if turn else "for ever"
    return f"after {_steps(run.loop)}, {back}"


def _why_this_one(run: Run, looked: str) -> str:
    if run.loop is None:
        return f"no run is shorter: {looked}"
    return f"no such loop begins earlier: {looked}"


def _payload(found: Exploration, claim: str, run: Run | None, replay: str) -> dict[str, object]:
    recorded, result = found.grounded.recorded, _result(found, claim)
    whole = run or _without_run(recorded, found.grounded.bounds, result, replay)
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

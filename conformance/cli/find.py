"""`insync find`: the shortest run that breaks a claim, or that reaches a `sometimes`."""

from __future__ import annotations

import functools
from dataclasses import replace

import click

from conformance.cli.bounded import (
    ENGINE,
    MAX_STEPS,
    NONE,
    RLIMIT,
    SearchLimits,
    bounded_options,
    refuse_what_does_not_fit,
    split_lifted,
)
from conformance.cli.chosen_system import (
    Size,
    Variant,
    claims_named,
    described,
    listed,
    refusals,
    system_named,
)
from conformance.cli.claim_answer import ClaimAnswer, steps
from conformance.cli.common import Progress, WrongUse, emit_json, finish, json_option, say
from conformance.cli.keep_results import KeepOptions, keep_options
from conformance.cli.options import (
    Searching,
    search_options,
    size_options,
    system_argument,
    variant_options,
)
from model.language import RecordedSystem
from model.systems import SYSTEMS
from specs.explorer import DEADLOCK
from specs.explorer import find as shortest
from specs.rendering import as_data
from specs.runs import Run, replay_command
from specs.verdict import Verdict


@click.command()
@click.argument("claim", metavar="CLAIM")
@system_argument
@variant_options
@size_options
@functools.partial(search_options, more_engines=(ENGINE,))
@bounded_options
@keep_options
@json_option
def find(
    claim: str,
    system: str,
    variant: Variant,
    size: Size,
    search: Searching,
    bounded: SearchLimits,
    keeping: KeepOptions,
    json_target: str | None,
) -> None:
    """Print the shortest run of SYSTEM that breaks CLAIM.

    For a `sometimes` (something can happen) it prints the shortest run that reaches it; for an
    `eventually`, a run into a loop in which it does not happen; for `deadlock`, the shortest run
    to a state in which no step is possible. Where there is no such run within the bounds, the
    counts say how many states were visited. Exit code 1 says broken, 0 holds (or reached), 2 that
    --max-states was reached first.

    With --engine z3 runs are looked at by their length, whatever the number of states, up to
    --max-steps or until --rlimit is spent (then exit code 2); a bound can be lifted by =none.

    \b
    Example:
      insync find strong_isr classic --version kip_101
      insync find single_writer election --without zk_writes_fenced
      insync find deadlock classic
      insync find strong_isr classic --version kip_101 --save-story lost.story
      insync find strong_isr classic --version hw_truncation --engine z3 --bound epoch=none
    """
    if claim in SYSTEMS and system not in SYSTEMS:
        raise WrongUse(f"the claim comes first; write: insync find {system} {claim}")
    chosen = system_named(system)
    recorded = variant.recorded(chosen)
    size, lifted = split_lifted(size)
    refuse_what_does_not_fit(search, bounded, lifted)
    limits, known = size.limits(chosen), None
    if claim != DEADLOCK:
        (claim,) = claims_named(recorded, [claim])
        limits, known = size.showing(recorded, claim)
    with refusals(), Progress() as progress:
        if search.engine == ENGINE:
            found = _by_z3(recorded, limits, claim, lifted, bounded, progress)
        else:
            found = _explored(recorded, limits, claim, search, progress)
    if known is not None:
        raised = ", ".join(f"{name}={number}" for name, number in known.raised.items())
        least = " ".join(f"--bound {name}={chosen.limits({})[name]}" for name in known.raised)
        found.because = (
            f"{raised}, for {described(recorded)} is known for {known.entry.id}: "
            f"{known.entry.title} (without: {least})"
        )
    for line in found.lines():
        say(line, json_target)
    emit_json(json_target, as_data(found))
    keeping.keep(found.run, json_target)
    finish(found.result.verdict)


def _explored(
    recorded: RecordedSystem,
    limits: dict[str, int],
    claim: str,
    search: Searching,
    progress: Progress,
) -> ClaimAnswer:
    found, run = shortest(
        recorded, limits, claim, search.max_states, progress, search.engine, search.symmetry,
        search.workers, search.memory_bytes,
    )  # fmt: skip
    again = _command_again(recorded, limits, claim)
    looked = f"{found.distinct:,} states in {found.seconds:.1f} s"
    result = found.deadlock if claim == DEADLOCK else found.claims[claim]
    every = result.verdict is Verdict.HOLDS
    return ClaimAnswer(
        found.grounded,
        result,
        run,
        listed(limits),
        "" if run is None else _why_this_one(run, looked),
        f"all {looked}, none further than {steps(found.depth - 1)}" if every else looked,
        # A run is the same with a limit or without; what was not found depends on it.
        again if run else again + search.words(),
        more={
            "engine": found.engine.name,
            "complete": found.complete,
            "distinct": found.distinct,
            "generated": found.generated,
            "seconds": round(found.seconds, 3),
        },
    )


def _why_this_one(run: Run, looked: str) -> str:
    if run.loop is None:
        return f"no run is shorter: {looked}"
    return f"no such loop begins earlier: {looked}"


def _by_z3(
    recorded: RecordedSystem,
    limits: dict[str, int],
    claim: str,
    lifted: tuple[str, ...],
    bounded: SearchLimits,
    progress: Progress,
) -> ClaimAnswer:
    # Z3 takes a while to load: only now that the line is understood.
    from specs.bounded import find_by_z3

    max_steps = MAX_STEPS if bounded.max_steps is None else bounded.max_steps
    rlimit = RLIMIT if bounded.rlimit is None else bounded.rlimit
    found = find_by_z3(recorded, limits, claim, lifted, max_steps, rlimit, progress)
    free = dict.fromkeys(lifted, "none")
    replay = _command_again(recorded, {k: v for k, v in limits.items() if k not in free}, claim)
    replay += f" --engine {ENGINE}" + "".join(f" --bound {name}={NONE}" for name in lifted)
    replay += "" if found.run else bounded.words()
    fixed = {name: number for name, number in limits.items() if name not in free}
    within = ", ".join(filter(None, [listed(fixed), *(f"{name} without bound" for name in lifted)]))
    every = f"every run of up to {steps(found.length)}" if found.length >= 0 else "no run at all"
    looked = f"{every} in {found.seconds:.1f} s"
    run = None if found.run is None else replace(found.run, replay=replay)
    return ClaimAnswer(
        found.grounded,
        found.result,
        run,
        within,
        f"no run is shorter: {looked}",
        looked + (", and none is longer" if found.ended else ""),
        replay,
        more={
            "engine": ENGINE,
            "complete": found.ended,
            "lifted": list(lifted),
            "looked_at": found.length,
            "questions": found.asked,
            "rlimit": found.work,
            "seconds": round(found.seconds, 3),
        },
    )


def _command_again(recorded: RecordedSystem, bounds: dict[str, int], claim: str) -> str:
    return replay_command(
        "find", recorded.system.name, recorded.version, recorded.without, bounds, claim
    )

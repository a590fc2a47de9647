"""`insync explore`: every reachable state of a system within bounds."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from pathlib import Path

import click

from conformance.cli.chosen_system import (
    Size,
    Variant,
    claims_named,
    described,
    listed,
    refusals,
    ruled_out,
    ruled_out_in_words,
    system_named,
)
from conformance.cli.claim_answer import steps
from conformance.cli.common import (
    Progress,
    RenamedOption,
    WrongUse,
    emit_json,
    finish,
    json_option,
    say,
    show_table,
)
from conformance.cli.interrupts import interrupts
from conformance.cli.keep_results import KeepOptions, keep_options
from conformance.cli.on_spark import SPARK, OnSpark, spark_options
from conformance.cli.options import (
    Searching,
    checkpoint_option,
    search_options,
    size_options,
    system_argument,
    variant_options,
)
from specs.explorer import DEADLOCK, Exploration, with_companions
from specs.explorer import explore as visit
from specs.rendering import as_data
from specs.runs import replay_command
from specs.verdict import Verdict, combine


@click.command()
@system_argument
@variant_options
@size_options
@click.option(
    "--claim", "claims", metavar="C", multiple=True, help="Check C; default: every claim."
)
@functools.partial(search_options, more_engines=(SPARK,))
@checkpoint_option
@spark_options
@click.option("--coverage", is_flag=True, help="List every refusal that was never first to fail.")
@click.option("--field-values", "grew", is_flag=True, cls=RenamedOption, former="--grew",
              help="Show which values each field holds, and how often.")  # fmt: skip
@keep_options
@json_option
def explore(
    system: str,
    variant: Variant,
    size: Size,
    claims: tuple[str, ...],
    search: Searching,
    on_spark: OnSpark,
    coverage: bool,
    grew: bool,
    keeping: KeepOptions,
    json_target: str | None,
) -> None:
    """Visit every reachable state of SYSTEM, and check its claims on the way.

    A broken claim does not end the visit. Exit code: the verdict of the claims asked for; 2 where
    --max-states or the memory ended the visit before anything broke. What happens in the end (an
    `eventually`) is judged once every state is known; under --symmetry it is not checked, and
    counts for the exit code only where nothing else was asked for.

    \b
    Example:
      insync explore classic --version kip_101 --bound epoch=1
      insync explore election --without zk_writes_fenced --claim single_writer
      insync explore classic --bound epoch=2 --symmetry
      insync explore election --brokers 3 --bound epoch=3 --checkpoint kept
      insync explore classic --bound log=4 --max-states 1000000 --field-values
      insync explore classic --json -
      insync explore classic --engine spark --master spark://HOST:7077 --segments /shared/visited
    """
    on_spark.refuse_unless(search.engine, grew)
    if grew and search.fingerprints:
        raise WrongUse(
            "fingerprints keep no states to count; write one of --field-values, --fingerprints"
        )
    chosen = system_named(system)
    recorded = variant.recorded(chosen)
    limits = size.limits(chosen)
    asked = claims_named(recorded, claims) or list(recorded.claims)
    with _keeping_levels(search.checkpoint), refusals(), Progress() as progress:
        judged = with_companions(recorded, asked) if claims else None
        found = on_spark.visit(recorded, limits, judged, search, progress) or visit(
            recorded, limits, judged, search.max_states, progress,
            engine=search.engine, symmetry=search.symmetry, workers=search.workers,
            checkpoint=search.checkpoint, memory_bytes=search.memory_bytes,
            fingerprints=search.fingerprints,
        )  # fmt: skip
        verdict = settled(found, asked)
        lines = [*_figures(found), *_coverage(found, coverage), *_growth(found, grew)]
    _show(found, verdict, lines, json_target)
    payload = _payload(found, verdict, asked if claims else [], search)
    if grew:
        payload["grew"] = as_data(found.growth)
    emit_json(json_target, payload)
    broken = (name for name in asked if found.claims[name].verdict is Verdict.BROKEN)
    keeping.keep(next((found.run(name) for name in broken), None), json_target)
    finish(verdict)


@contextlib.contextmanager
def _keeping_levels(checkpoint: Path | None) -> Iterator[None]:
    """Where levels are kept, Ctrl-C waits until they are, and the line says so."""
    if checkpoint is not None:
        interrupts.end_as_usual()
    try:
        yield
    except KeyboardInterrupt:
        if checkpoint is None or not any(checkpoint.glob("*")):
            raise
        raise KeyboardInterrupt(
            f"what was visited is kept in {checkpoint}; the same command goes on from there"
        ) from None


def settled(found: Exploration, asked: list[str]) -> Verdict:
    """The verdict of the asked claims together.

    An `eventually` that was not checked neither helps nor harms the others. A visit that was cut
    short settles nothing but what it broke.
    """
    results = [found.claims[name] for name in asked]
    verdict = combine(one.verdict for one in results if one.verdict is not Verdict.NOT_CHECKED)
    return Verdict.UNKNOWN if verdict is Verdict.HOLDS and not found.complete else verdict


def _payload(
    found: Exploration, verdict: Verdict, asked: list[str], search: Searching
) -> dict[str, object]:
    payload = {**as_data(found), "verdict": verdict}
    payload["ruled_out"] = ruled_out(found.grounded.recorded.system, found.grounded.bounds)
    payload["replay"] += "".join(f" --claim {name}" for name in asked)
    payload["replay"] += search.words()
    return payload


def _show(found: Exploration, verdict: Verdict, lines: list[str], json_target: str | None) -> None:
    recorded, bounds = found.grounded.recorded, listed(found.grounded.bounds)
    about = recorded.system.versions[recorded.version].about
    say(f"{described(recorded)}: {about}", json_target)
    say(f"bounds: {bounds}", json_target)
    results = found.claims.values()
    show_table(
        ["claim", "sentence", "verdict", "steps"],
        [
            (one.name, _sentence(found, one.name), one.verdict, one.depth and one.depth - 1)
            for one in results
        ],
        json_target,
        right=["steps"],
        prose=["sentence"],
    )
    for line in [*lines, *_hints(found)]:
        say(line, json_target)
    for line in ruled_out_in_words(recorded.system, found.grounded.bounds):
        say(line, json_target)
    say(f"{verdict} ({bounds})", json_target)


def _sentence(found: Exploration, name: str) -> str:
    claim, _ = found.grounded.recorded.claim(name)
    return f"{claim.kind_in_words}: {claim.sentence}"


def _figures(found: Exploration) -> list[str]:
    whole = "complete" if found.complete else f"not complete: {found.stopped}"
    rate = found.distinct / max(found.seconds, 1e-9)
    pruned = ", ".join(f"{name} {count:,}" for name, count in found.pruned.items())
    return [
        f"{found.distinct:,} distinct {'orbits' if found.engine.symmetry else 'states'}, "
        f"{found.generated:,} generated, "
        f"no state further than {steps(found.depth - 1)}, {whole}",
        f"{found.seconds:.1f} s ({rate:,.0f} states/s){_loops(found)}, "
        f"set-up {found.setup_seconds:.1f} s, "
        f"peak memory {found.peak_memory_mb:.0f} MB{_engine(found)}",
        f"pruned beyond a bound: {pruned or 'nothing'}",
    ]


def _loops(found: Exploration) -> str:
    return f", loops {found.loop_seconds:.1f} s" if found.eventually_results else ""


def _engine(found: Exploration) -> str:
    engine = found.engine
    if engine.bytes_per_state is None:
        return ", plain Python"
    threads = f", {engine.workers} workers" if engine.workers > 1 else ""
    return f", {engine.bytes_per_state:g} bytes a state{threads}"


def _coverage(found: Exploration, coverage: bool) -> list[str]:
    never = ", ".join(found.never_fired)
    lines = [f"transitions that never fired: {never}" if never else "every transition fired"]
    unseen = found.unseen_refusals
    if not unseen:
        return [*lines, "every refusal was once the first to fail"]
    shown = ":" if coverage else " (--coverage lists them)"
    lines.append(f"refusals never the first to fail: {len(unseen)}{shown}")
    if coverage:
        lines += [f"  {step}: {reason}" for step, reason in unseen]
    return lines


def _growth(found: Exploration, grew: bool) -> list[str]:
    if grew:
        what = "orbits" if found.engine.symmetry else "states"
        return [f"values of each field, over its indices and all {what}:"] + [
            f"  {one.as_text()}" for one in found.growth
        ]
    if found.complete:
        return []
    return ["to see which fields grew: the same again with --field-values"]


def _hints(found: Exploration) -> list[str]:
    lines = [f"{one.name} is {one.verdict}: {one.why}" for one in found.claims.values() if one.why]
    for one in found.claims.values():
        if one.verdict is Verdict.BROKEN and one.depth is not None:
            lines.append(f"to see how {one.name} breaks: {_find(found, one.name)}")
    if found.dead_ends:
        ends = "a state is" if found.dead_ends == 1 else f"{found.dead_ends:,} states are"
        lines.append(
            f"{ends} without any possible step; the shortest run there: {_find(found, DEADLOCK)}"
        )
    return [*lines, *_known(found)]


def _known(found: Exploration) -> list[str]:
    """What this version is known to break, where the bounds were too small to show it."""
    from model.bugs.known import known_for

    recorded, lines = found.grounded.recorded, []
    for one in found.claims.values():
        known = known_for(recorded, one.name)
        if known is not None and one.verdict is not Verdict.BROKEN:
            lines.append(
                f"{one.name} breaks with larger bounds ({known.entry.id}: {known.entry.title}): "
                f"insync bugs {known.entry.id}"
            )
    return lines


def _find(found: Exploration, claim: str) -> str:
    recorded = found.grounded.recorded
    return replay_command(
        "find", recorded.system.name, recorded.version, recorded.without, found.grounded.bounds,
        claim,
    )  # fmt: skip

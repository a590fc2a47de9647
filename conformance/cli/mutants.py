"""`insync mutants`: faults put into the implementation, and whether conformance catches them."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

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
from conformance.cli.keep_results import keep_story_text, open_option, story_option
from conformance.cli.keep_results import show as show_run
from conformance.cli.remaining_time import left_of
from specs.rendering import as_data, rows
from specs.verdict import Verdict

if TYPE_CHECKING:
    from conformance.mutants import KeptTrials, MutantTrial

SAMPLE = 40
DEEP = 400
ASKED = 0.85
"""The share of systematic mutants that must be caught."""


@click.command()
@click.option("--all", "everything", is_flag=True, help="Every systematic mutant.")
@click.option("--deep", is_flag=True, help=f"A sample of {DEEP}, or all if there are fewer.")
@click.option(
    "--resume", "resume", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path),
    help="Save each trial in FILE, and each judge's measurements in FILE.reach; skip those "
    "that are there.",
)  # fmt: skip
@click.option(
    "--sample", "size", metavar="N", type=click.IntRange(min=0),
    help=f"Systematic mutants to try; {SAMPLE} by default. 0: the old bugs alone.",
)  # fmt: skip
@click.option(
    "--save-score", "keep", is_flag=True, cls=RenamedOption, former="--keep",
    help="Write the score into the tree, by module, for insync verify.",
)  # fmt: skip
@click.option(
    "--at-once", metavar="N", type=click.IntRange(min=1),
    help="Mutants that are tried at the same time; default: one per processor.",
)  # fmt: skip
@click.option("--show", metavar="ID", help="Plant one old bug and explain the first mismatch.")
@click.option(
    "--seed", metavar="N", type=int, default=1, show_default=True, help="The seed of the sample."
)
@story_option
@open_option
@json_option
def mutants(
    everything: bool, deep: bool, resume: Path | None, size: int | None, keep: bool,
    at_once: int | None, show: str | None, seed: int, save_story: str | None, opens: bool,
    json_target: str | None,
) -> None:  # fmt: skip
    """Plant Kafka's old bugs, and systematic mutants, in the implementation; count those detected.

    They are judged by comparison with the model alone: its rules for every small input, stories on
    both sides, edges of the graphs of all systems, walks in lock-step, and the traces and logs of
    simulated clusters. Each mutant is judged by those of these checks that run its line.
    Systematic mutants change one comparison, condition, connective, constant, result or statement
    of impl/core, or of what the model has of a log; they are drawn from every file and kind in
    proportion. A mutant in a line that no check runs survives, too. A table explains survivors;
    others are listed as unexplained. --show ID --open shows the run to a mismatch,
    and --show ID --save-story FILE keeps it. Exits 0 when every old bug and enough of the others
    are caught, 1 when not, and 3 when the implementation as it is fails already.

    \b
    Example:
      insync mutants --sample 0
      insync mutants --show KIP-101
      insync mutants --all --resume trials.ndjson --save-score
    """
    from conformance import mutants as all_of

    if show is not None:
        finish(_show(show, save_story, opens, json_target))
    if opens or save_story is not None:
        asked = "--open" if opens else f"--save-story {save_story}"
        raise WrongUse(f"{asked} is of one old bug; write --show ID {asked}")
    if everything and size is not None:
        raise WrongUse("--all is every mutant; write --all or --sample N")
    if keep and size == 0:
        raise WrongUse("--save-score is of systematic mutants; write it with --all or --sample N")
    kept = _kept(resume)
    wanted = size if size is not None else DEEP if deep else SAMPLE
    began = time.monotonic()
    with Progress() as progress:
        said, run = all_of.reach(progress, resume and Path(f"{resume}.reach"))
    if said[0]:
        say(f"not checked: the implementation as it is fails ({said[0]}: {said[1]})", json_target)
        emit_json(json_target, {"verdict": Verdict.NOT_CHECKED, "why": f"{said[0]}: {said[1]}"})
        finish(Verdict.NOT_CHECKED)
    every = [one for module in all_of.MODULES for one in all_of.mutants_of(module)]
    drawn = all_of.sample(every, len(every) if everything else wanted, seed)
    planted: list[all_of.MutantTrial] = []
    tried: list[all_of.MutantTrial] = []
    with Progress() as progress:
        workers = at_once or os.cpu_count() or 1
        for trial in all_of.try_planted(at_once=workers):
            planted.append(trial)
            progress(f"{len(planted)} of {len(all_of.PLANTED)} old bugs")
        known = {} if kept is None else kept.trials
        tried += [known[one.key] for one in drawn if one.key in known]
        before, start = len(tried), time.monotonic()
        left_over = (one for one in drawn if one.key not in known)
        for trial in all_of.try_sample(left_over, run, workers):
            tried.append(trial)
            if kept is not None:
                kept.add(trial)
            left = left_of(start, len(tried) - before, len(drawn) - before)
            progress(f"{len(tried)} of {len(drawn)} mutants, {_survivors(tried)} survive{left}")
    verdict = _verdict(planted, tried)
    old, new = all_of.score(planted), all_of.score(tried)
    show_table(
        ("old bug", "caught by"), [(one.label, one.by or "nobody") for one in planted], json_target
    )
    if keep:
        all_of.keep_score(tried, len(every))
    because = all_of.survivors()
    survivors = sorted((one for one in tried if not one.caught), key=lambda one: one.label)
    for one in survivors:
        say(f"survives: {one.label}", json_target)
        say(f"          {because.get(one.key) or one.why or 'not explained'}", json_target)
    for entry, reason in all_of.NOT_PLANTED.items():
        say(f"not planted: {entry}: {reason}", json_target)
    seconds = round(time.monotonic() - began, 1)
    say(f"old bugs: {old.caught} of {old.tried} caught", json_target)
    if tried:
        say(
            f"mutants: {new.caught} of {new.tried} caught, {new.caught / new.tried:.1%} "
            f"(95 %: {new.low:.1%} to {new.high:.1%}), drawn with seed {seed} from {len(every):,}; "
            f"of {len(survivors)} survivors {sum(one.key in because for one in survivors)} have a "
            f"reason, {sum(one.why == all_of.NOT_RUN for one in survivors)} are in lines that no "
            f"walk runs; of those caught {all_of.by_logs(tried)} by logs or claims, "
            f"{all_of.by_rule(tried)} by plain rules alone",
            json_target,
        )
    say(f"{verdict}, {seconds} s", json_target)
    emit_json(
        json_target,
        {
            "verdict": verdict,
            "seed": seed,
            "planted": rows(planted),
            "not_planted": all_of.NOT_PLANTED,
            "mutants": rows(tried),
            "explained": {one.key: because[one.key] for one in survivors if one.key in because},
            "not_explained": [one.key for one in survivors if one.key not in because],
            "population": len(every),
            "caught": new.caught,
            "by_logs": all_of.by_logs(tried),
            "by_rule": all_of.by_rule(tried),
            "tried": new.tried,
            "interval": [round(new.low, 4), round(new.high, 4)],
            "seconds": seconds,
        },
    )
    finish(verdict)


def _kept(resume: Path | None) -> KeptTrials | None:
    from conformance.mutants import KeptTrials, NoSuchTrials

    try:
        return None if resume is None else KeptTrials(resume)
    except NoSuchTrials as error:
        raise WrongUse(str(error)) from error
    except OSError as error:
        raise WrongUse(f"{resume} cannot be used: {error.strerror}") from error


def _show(name: str, save_story: str | None, opens: bool, json_target: str | None) -> Verdict:
    """What a person sees of one old bug: broken, with the diagnosis."""
    from conformance.diagnosis import explained
    from conformance.mutants import PLANTED, first_mismatch

    planted = {one.id: one for one in PLANTED}
    if name not in planted:
        raise unknown("planted bug", name, planted)
    planted[name].apply()
    found = first_mismatch()
    diagnosis = None if found is None else explained(*found)
    if diagnosis is None:
        say(f"{name} is not noticed by tours and walks", json_target)
        emit_json(json_target, {"verdict": Verdict.HOLDS, "planted": name})
        return Verdict.HOLDS
    say(diagnosis.as_text(), json_target)
    emit_json(json_target, {"verdict": Verdict.BROKEN, "planted": name, **as_data(diagnosis)})
    if save_story is not None:
        keep_story_text(save_story, diagnosis.story, json_target)
    if opens:
        from conformance.web.findings import of_story_text

        show_run(of_story_text(diagnosis.story))
    return Verdict.BROKEN


def _survivors(trials: list[MutantTrial]) -> int:
    return sum(not trial.caught for trial in trials)


def _verdict(planted: list[MutantTrial], tried: list[MutantTrial]) -> Verdict:
    if not all(one.caught for one in planted):
        return Verdict.BROKEN
    caught = sum(one.caught for one in tried)
    return Verdict.HOLDS if not tried or caught >= ASKED * len(tried) else Verdict.BROKEN

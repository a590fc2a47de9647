"""Breadth-first exploration: exact, deterministic, shortest counterexamples; two engines.

A broken claim never stops `explore`; `find` stops after the level that settles its claim. Both
engines give the same counts, levels, coverage, verdicts and runs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from model.language import ProtocolError, RecordedSystem
from model.language.properties import DEADLOCK
from specs.exploration import (
    ClaimResult,
    EngineRun,
    Exploration,
    Report,
    SearchTally,
    grounded_for,
    with_companions,
)
from specs.runs import Run

ENGINES = ("native", "python")


def explore(
    recorded: RecordedSystem,
    bounds: Mapping[str, int],
    claims: Sequence[str] | None = None,
    max_states: int | None = None,
    report: Report = lambda line: None,
    stop_at: str | None = None,
    engine: str = "native",
    symmetry: bool = False,
    workers: int | None = None,
    checkpoint: Path | None = None,
    memory_bytes: int | None = None,
    fingerprints: bool = False,
) -> Exploration:
    """Visits every reachable state within the bounds; `claims` None means all of the system's.

    The companion of each `always` is explored with it, to detect vacuous claims. `max_states` and
    `memory_bytes` end the exploration early, after the last whole level within them (`complete` is
    then False and nothing is green). `stop_at` names a claim: the level that settles it is the
    last. `symmetry`, `workers`, `checkpoint` and `memory_bytes` need the native engine.
    `fingerprints` keeps hashes instead of states: a claim that it does not settle is unknown.
    Raises ProtocolError for invalid options, ImpossibleValue if a step would leave a field's
    domain.
    """
    if max_states is not None and max_states < 1:
        raise ProtocolError(
            f"max_states={max_states} is too small: the smallest that makes sense is 1 "
            "(the initial state)"
        )
    if stop_at is not None and symmetry and stop_at in recorded.claims:
        _refuse_symmetry(recorded, stop_at)
    if engine not in ENGINES:
        raise ProtocolError(f"engine {engine!r} is unknown; write one of {', '.join(ENGINES)}")
    started = time.perf_counter()
    grounded = grounded_for(recorded, bounds, claims)
    if engine == "native":
        # Imported here: numba and LLVM take half a second, and not every command explores.
        from specs.native.search import SearchOptions, native_search

        report("preparing machine code, which is kept for the next time")
        options = SearchOptions(max_states, stop_at, symmetry, workers, checkpoint, memory_bytes)
        if fingerprints:
            from specs.native.fingerprints import fingerprint_search

            return fingerprint_search(grounded, options, report, started)
        return native_search(grounded, options, report, started)
    for name, given in (
        ("symmetry", symmetry),
        ("checkpoint", checkpoint),
        ("fingerprints", fingerprints),
    ):
        if given:
            raise ProtocolError(f"the python engine has no {name}: leave it out, or use native")
    from specs.plain import PlainSearch  # networkx with it, which the native engine has no use for

    search = PlainSearch(grounded, max_states, report, stop_at)
    set_up = time.perf_counter()
    search.run()
    return search.result(time.perf_counter() - set_up, set_up - started)


def _refuse_symmetry(recorded: RecordedSystem, claim: str) -> None:
    if recorded.claim(claim)[0].kind == "eventually":
        raise ProtocolError(
            f"{claim} is about loops, and a loop of states that differ by brokers' names is none: "
            "what is fair to one broker is lost there; leave --symmetry out"
        )


def find(
    recorded: RecordedSystem,
    bounds: Mapping[str, int],
    claim: str,
    max_states: int | None = None,
    report: Report = lambda line: None,
    engine: str = "native",
    symmetry: bool = False,
    workers: int | None = None,
    memory_bytes: int | None = None,
) -> tuple[Exploration, Run | None]:
    """Returns the shortest run that breaks a claim or reaches a `sometimes`; None if none exists.

    An `eventually` is broken by a run into a loop. For the claim `DEADLOCK` it is the shortest run
    to a state in which no step is possible, within the bounds or beyond them.
    """
    claims = [] if claim == DEADLOCK else [claim]
    exploration = explore(
        recorded, bounds, claims, max_states, report, claim, engine, symmetry, workers,
        memory_bytes=memory_bytes,
    )  # fmt: skip
    return exploration, exploration.run(claim)


__all__ = [
    "DEADLOCK",
    "ENGINES",
    "ClaimResult",
    "EngineRun",
    "Exploration",
    "Report",
    "SearchTally",
    "explore",
    "find",
    "with_companions",
]

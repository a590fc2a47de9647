"""A theorem: obligations for a solver, and a label that says exactly what they cover."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from model.language import RecordedSystem
from specs.induction_counterexamples import contradicts_itself
from specs.invariants import Proof
from specs.obligations import Obligation
from specs.solvers import PROVED, RLIMIT, SolverQuery
from specs.verdict import Verdict

Part = tuple[str, str, SolverQuery]
"""Where, what is to be shown there, and the question."""

Switches = Mapping[str, object]


@dataclass(frozen=True)
class Theorem:
    """`parts` gives the obligations; parts of the same name form one obligation.

    `label` says what the theorem covers; `system` is the system whose claim it is, if any.
    `given` are the invariants from which it is proved, if any, and their system.
    """

    claim: str
    sentence: str
    label: str
    parts: Callable[[str | None, Switches], Iterable[Part]]
    assumes: tuple[str, ...] = ()
    system: str | None = None
    given: Callable[[str | None, Switches], tuple[Proof, RecordedSystem]] | None = None


@dataclass
class TheoremResult:
    """All obligations of a theorem."""

    theorem: Theorem
    obligations: list[Obligation] = field(default_factory=list)
    contradictory: bool = False
    """Can the invariants that are given not be so together? Then nothing is proved."""

    @property
    def open(self) -> list[Obligation]:
        """The obligations that are not proved."""
        return [one for one in self.obligations if not one.proved]

    @property
    def seconds(self) -> float:
        """The sum over all obligations."""
        return sum(one.seconds for one in self.obligations)

    @property
    def verdict(self) -> Verdict:
        """HOLDS if every obligation is proved, else UNKNOWN; NOT_CHECKED if there are none."""
        if self.open or self.contradictory:
            return Verdict.UNKNOWN
        return Verdict.HOLDS if self.obligations else Verdict.NOT_CHECKED


def prove_theorem(
    theorem: Theorem,
    version: str | None = None,
    changed: Switches | None = None,
    solvers: Sequence[str] = ("z3",),
    each: Callable[[Obligation], None] = lambda one: None,
    export: Callable[[str, str, SolverQuery], None] | None = None,
) -> TheoremResult:
    """Discharges every part; a part is proved if all `solvers` prove it.

    `version` and `changed` switches are for the claims of a system. Raises ProtocolError for a
    version or switch that the system does not have.
    """
    answers: dict[tuple[str, str], dict[str, str]] = {}
    seconds: dict[tuple[str, str], float] = {}
    for where, what, question in theorem.parts(version, changed or {}):
        started = time.perf_counter()
        if export is not None:
            export(where, what, question)
        found = answers.setdefault((where, what), dict.fromkeys(solvers, PROVED))
        for solver in [one for one in solvers if found[one] == PROVED]:
            found[solver] = question.answer(solver)
        spent = time.perf_counter() - started
        seconds[where, what] = seconds.get((where, what), 0.0) + spent
    result = TheoremResult(theorem)
    for (where, what), found in answers.items():
        result.obligations.append(Obligation(where, what, found, seconds[where, what]))
        each(result.obligations[-1])
    if theorem.given is not None and not result.open:
        result.contradictory = contradicts_itself(*theorem.given(version, changed or {}))
    return result


def question(premises: Iterable[Any], goal: Any) -> SolverQuery:
    """A question of its own, without hints."""
    return SolverQuery(list(premises), goal, False, RLIMIT)

"""Searches runs of zero, one, two and more steps, up to the first length that settles the claim."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from model.language import ProtocolError, RecordedSystem
from model.language.properties import DEADLOCK
from specs.bounded.lifted_bounds import LiftedBounds
from specs.bounded.unrolling import RlimitSpent, Solver, Unrolling
from specs.exploration import NO_DEADLOCK, ClaimResult, Report
from specs.lowering.grounding import Grounded
from specs.lowering.python_code import PythonCode
from specs.runs import Run, build_run
from specs.verdict import Verdict

MAX_STEPS = 20
"""The longest runs that are looked at, unless more are asked for."""

WORK = 1_000_000_000
"""Z3's own unit of work, for all questions together: some minutes."""


@dataclass
class BoundedAnswer:
    """The result of the search.

    `length`: all runs of up to this many steps were searched. `work` is Z3's work in its own unit;
    `ended` means that no run is longer. `lifted` are the bounds that were left out: the bounds of
    `grounded` are so large that no run of this length reaches them.
    """

    grounded: Grounded
    result: ClaimResult
    run: Run | None
    length: int
    ended: bool
    work: int
    asked: int
    seconds: float
    lifted: tuple[str, ...] = ()


def find_by_z3(
    recorded: RecordedSystem,
    bounds: Mapping[str, int],
    claim: str,
    lifted: Sequence[str] = (),
    max_steps: int = MAX_STEPS,
    work: int = WORK,
    report: Report = lambda line: None,
) -> BoundedAnswer:
    """The shortest run that breaks a claim or reaches a `sometimes`, up to `max_steps` steps.

    The run is as short as the explorer's, and among the shortest the first by the numbers of its
    instances; the generated Python replays it as a check. `lifted` names bounds to leave out.
    Without a run the verdict is unknown, unless no run is longer than those searched. Raises
    ProtocolError for a claim about loops and for bounds that cannot be lifted, ImpossibleValue if a
    step would leave a field's domain.
    """
    return _BoundedSearch(recorded, bounds, claim, lifted, max_steps, work, report).run()


class _BoundedSearch:
    def __init__(
        self,
        recorded: RecordedSystem,
        bounds: Mapping[str, int],
        claim: str,
        lifted: Sequence[str],
        max_steps: int,
        work: int,
        report: Report,
    ) -> None:
        self.recorded, self.claim, self.max_steps, self.report = recorded, claim, max_steps, report
        self.claims = [] if claim == DEADLOCK else [claim]
        self.kind = "always" if claim == DEADLOCK else recorded.claim(claim)[0].kind
        if self.kind == "eventually":
            raise ProtocolError(
                f"{claim} is about what happens in the end, and Z3 looks at runs, not at loops; "
                "leave --engine z3 out"
            )
        self.lifting = LiftedBounds(recorded, lifted, bounds, self.claims)
        self.solver = Solver(work)
        self.limit = work
        self.began = time.perf_counter()
        self.runs = self._unrolling_within(self.lifting.bounds)

    def _unrolling_within(self, bounds: Mapping[str, int]) -> Unrolling:
        return Unrolling(Grounded(self.recorded, bounds, self.claims), self.claim, self.solver)

    def run(self) -> BoundedAnswer:
        """Searches longer and longer runs until one settles the claim or a limit is reached."""
        looked_at = -1
        try:
            while self.runs.length <= self.max_steps:
                self._report_progress()
                if self.runs.is_over():
                    return self._answer_without_run(looked_at)
                found = self._settling_run()
                if found is not None:
                    return self._answer(found, self.runs.length)
                looked_at = self.runs.length
                if looked_at < self.max_steps:
                    self._make_room()
                self.runs.grow()
        except RlimitSpent:
            why = f"--rlimit {self.limit} was used up; {_all_runs(looked_at)}"
            return self._unsettled(Verdict.UNKNOWN, why, looked_at)
        why = f"--max-steps {self.max_steps} is reached: no such run has fewer steps or as many"
        return self._unsettled(Verdict.UNKNOWN, why, looked_at)

    def _report_progress(self) -> None:
        self.report(
            f"runs of {self.runs.length} steps, {len(self.runs.instances)} instances, "
            f"{self.solver.used:,} units of work"
        )

    def _settling_run(self) -> list[int] | None:
        mark = self.runs.ask(self.runs.settled_here(), "settled")
        if mark is not None:
            return self.runs.first_run(mark)
        leaves = self.runs.leaves_domains()
        if leaves is not None and self.runs.ask(leaves, "leaves domains") is not None:
            self._refuse_impossible(self.runs.found_run())
        return None

    def _refuse_impossible(self, positions: list[int]) -> None:
        """Lets the generated Python say which value it is, and of which step."""
        code = PythonCode(self.runs.grounded)
        state = code.initial
        for position in positions:
            state = code.attempt(self.runs.instances[position], state)
        code.successors(state, [0] * len(code.grounded.instances),
                        bytearray(len(code.grounded.reasons)), {})  # fmt: skip
        raise AssertionError("Z3 finds an impossible value where the generated Python finds none")

    def _make_room(self) -> None:
        """Raises what is lifted until no run of this length meets it; what is known stays so."""
        while (met := self.lifting.reached_bounds(self.runs)) is not None:
            length = self.runs.length
            self.lifting.increase_bounds(met, length)
            self.report(f"runs of {length} steps: room for more, {self.lifting.as_text()}")
            wider = self._unrolling_within(self.lifting.bounds)
            for number in range(length + 1):
                wider.rule_out(wider.settled_here())
                if number < length:
                    wider.grow()
            self.runs = wider

    # -- answers --------------------------------------------------------------------------------

    def _answer(self, path: list[int], length: int) -> BoundedAnswer:
        verdict = Verdict.HOLDS if self.kind == "sometimes" else Verdict.BROKEN
        grounded = self.lifting.with_budgets(self.runs.grounded, path, self.claims)
        code = PythonCode(grounded)
        result = self._result(verdict, None, depth=length + 1)
        run = build_run(grounded, code, path, self.claim, verdict, None, result.sentence)
        self._judge_anew(code, path)
        return replace(self._bounded_answer(result, run, length), grounded=grounded)

    def _judge_anew(self, code: PythonCode, path: list[int]) -> None:
        """Does the run settle the claim for the generated Python, too?"""
        states = [code.initial]
        for number in path:
            states.append(code.attempt(code.grounded.instances[number], states[-1]))
        if self.claim == DEADLOCK:
            spare = [0] * len(code.grounded.instances), bytearray(len(code.grounded.reasons))
            beyond: dict[str, int] = {}
            settled = not code.successors(states[-1], *spare, beyond) and not beyond
        elif self.kind == "always_step":
            settled = not code.step_claims[self.claim](states[-2], states[-1])
        else:
            settled = bool(code.claims[self.claim](states[-1])) is (self.kind == "sometimes")
        if not settled:
            raise AssertionError(f"Z3's run does not settle {self.claim} when it is replayed")

    def _answer_without_run(self, length: int) -> BoundedAnswer:
        """No run is longer, and none settles the claim: every run was looked at."""
        if self.kind == "sometimes":
            return self._unsettled(Verdict.BROKEN, f"no run of up to {length} steps reaches it, "
                                   "and none is longer", length)  # fmt: skip
        companion = None if self.claim == DEADLOCK else self.recorded.claim(self.claim)[0].companion
        if companion is not None:
            left = max(self.limit - self.solver.used, 1)
            also = find_by_z3(
                self.recorded, self.lifting.bounds, companion, (), length, left, self.report
            )
            if also.run is None:
                return self._unsettled(
                    Verdict.UNKNOWN, f"vacuous: {companion} is never reached", length
                )
        return self._unsettled(Verdict.HOLDS, None, length)

    def _unsettled(self, verdict: Verdict, why: str | None, length: int) -> BoundedAnswer:
        return self._bounded_answer(self._result(verdict, why), None, length)

    def _result(self, verdict: Verdict, why: str | None, depth: int | None = None) -> ClaimResult:
        known = self.claim != DEADLOCK
        sentence = self.recorded.claim(self.claim)[0].sentence if known else NO_DEADLOCK
        return ClaimResult(self.claim, self.kind, sentence, verdict, depth, why)

    def _bounded_answer(self, result: ClaimResult, run: Run | None, length: int) -> BoundedAnswer:
        return BoundedAnswer(
            self.runs.grounded, result, run, length, self.runs.ended, self.solver.used,
            self.solver.asked, time.perf_counter() - self.began, self.lifting.names,
        )  # fmt: skip


def _all_runs(length: int) -> str:
    if length < 0:
        return "not even the initial state was judged"
    return f"no such run has up to {length} step{'' if length == 1 else 's'}"

"""Unrolls recorded transitions into one formula that grows by one step at a time.

Every position of a run has its own state and a choice of one instance; a solution is a run.
The solver keeps what it learned about shorter runs.
"""

from __future__ import annotations

from typing import Any

import z3

from model.language.properties import DEADLOCK
from model.language.terms import FALSE, Term
from specs.bounded.bits import Bits, Frame
from specs.bounded.normal_form import FirstOccurrences
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance

z3.set_param("ctrl_c", False)  # Z3 would take Ctrl-C for itself, and answer `unknown`


class RlimitSpent(Exception):
    """Raised if the solver's deterministic limit of work is used up without an answer."""


class Solver:
    """Z3 with a budget of work that all questions share; the unit is Z3's own, never time."""

    def __init__(self, work: int) -> None:
        self._left = work
        self.used = 0
        self.asked = 0

    def fresh(self, context: Any) -> Any:
        """A new, empty solver for bit vectors."""
        solver = z3.SolverFor("QF_FD", ctx=context)
        solver.set("random_seed", 0)
        return solver

    def check(self, solver: Any, *assumed: Any) -> bool:
        """Is there a solution? Raises RlimitSpent if the budget did not suffice."""
        if self._left <= 0:
            raise RlimitSpent
        before = _rlimit_count(solver)
        solver.set("rlimit", self._left)
        self.asked += 1
        answer = solver.check(*assumed)
        spent = max(_rlimit_count(solver) - before, 1)
        self.used, self._left = self.used + spent, self._left - spent
        if answer == z3.unknown:
            raise RlimitSpent
        return bool(answer == z3.sat)


def _rlimit_count(solver: Any) -> int:
    statistics = solver.statistics()
    known = "rlimit count" in statistics.keys()  # noqa: SIM118 - it is no mapping
    return int(statistics.get_key_value("rlimit count")) if known else 0


class Unrolling:
    """All runs of a growing number of steps, within the bounds of a grounded system.

    `ended` is true once no run has the current length.
    """

    def __init__(self, grounded: Grounded, claim: str, solver: Solver) -> None:
        self.grounded, self.claim, self._rlimit_count = grounded, claim, solver
        self.bits = Bits(grounded)
        self.instances = [
            one for one in grounded.instances
            if all(condition is not FALSE for condition, _ in one.requires)
        ]  # fmt: skip
        self._about_steps = claim != DEADLOCK and grounded.is_about_steps(claim)
        self._introductions = FirstOccurrences(grounded, claim)
        self._spoken: dict[int, Any] = {
            b: self.bits.literal(False) for b in self._introductions.all
        }
        self._solver = solver.fresh(self.bits.context)
        self.frames = [Frame(self.bits, self.bits.state("0"))]
        self.chosen: list[list[Any]] = []
        for cell, value in zip(grounded.cells, self.frames[0].cells, strict=True):
            self._solver.add(value == self.bits.code(cell, grounded.initial[cell.number]))
        self.ended = False

    @property
    def length(self) -> int:
        """The current number of steps of the runs."""
        return len(self.chosen)

    # -- one more step --------------------------------------------------------------------------

    def grow(self) -> None:
        """Adds one step: exactly one instance that is possible in the last state of the runs."""
        number = self.length
        before = self.frames[-1]
        after = Frame(self.bits, self.bits.state(str(number + 1)))
        context = self.bits.context
        chosen = [z3.Bool(f"{one.label} at {number}", context) for one in self.instances]
        self._solver.add(any_of(chosen), z3.AtMost(*chosen, 1))
        required: dict[Term, list[Any]] = {}
        written: dict[tuple[int, Term], list[Any]] = {}
        writers: dict[int, list[Any]] = {}
        for taken, instance in zip(chosen, self.instances, strict=True):
            for condition in _conditions(instance):
                required.setdefault(condition, []).append(taken)
            for cell, value in instance.writes.items():
                written.setdefault((cell, value), []).append(taken)
                writers.setdefault(cell, []).append(taken)
        # Many instances ask the same, and write the same: each of it is said once.
        for condition, several in required.items():
            self._solver.add(z3.Implies(any_of(several), before.formula(condition)))
        for (cell, value), several in written.items():
            made = after.cells[cell] == before.formula(value)
            self._solver.add(z3.Implies(any_of(several), made))
        for here, (old, new) in enumerate(zip(before.cells, after.cells, strict=True)):
            self._solver.add(any_of([*writers.get(here, ()), new == old]))
        self._track_named_brokers(chosen)
        self.chosen.append(chosen)
        self.frames.append(after)

    def _track_named_brokers(self, chosen: list[Any]) -> None:
        names = self._introductions
        if not names.all:
            return
        saying: dict[int, list[Any]] = {broker: [known] for broker, known in self._spoken.items()}
        for taken, instance in zip(chosen, self.instances, strict=True):
            for broker in names.presumed(instance):
                self._solver.add(z3.Implies(taken, self._spoken[broker]))
            for broker in names.spoken_of(instance):
                saying[broker].append(taken)
        self._spoken = {broker: any_of(said) for broker, said in saying.items()}

    # -- questions ------------------------------------------------------------------------------

    def settled_here(self) -> Any:
        """A formula: the claim is settled in the last state of the runs."""
        last = self.frames[-1]
        if self.claim == DEADLOCK:
            return z3.Not(any_of([self._is_possible(one) for one in self.instances]))
        term = self.grounded.claims[self.claim]
        if not self._about_steps:
            holds = last.formula(term)
            kind = self.grounded.recorded.claim(self.claim)[0].kind
            return holds if kind == "sometimes" else z3.Not(holds)
        if not self.length:
            return self.bits.literal(False)
        return z3.Not(Frame(self.bits, [*self.frames[-2].cells, *last.cells]).formula(term))

    def leaves_domains(self) -> Any:
        """A formula: some step from the last state makes an impossible value; None if none can."""
        last = self.frames[-1]
        leaving = [
            z3.And(self._is_possible(one), z3.Not(last.formula(check.fine)))
            for one in self.instances
            for check in one.checks
            if check.bound is None
        ]
        return any_of(leaving) if leaving else None

    def _is_possible(self, instance: Instance) -> Any:
        """A formula: an instance's requirements hold in the last state, within bounds or beyond."""
        last = self.frames[-1]
        asked = [last.formula(condition) for condition, _ in instance.requires]
        return z3.And(asked) if asked else self.bits.literal(True)

    def is_over(self) -> bool:
        """Does no run have the current length? Raises RlimitSpent."""
        self.ended = self.ended or not self._rlimit_count.check(self._solver)
        return self.ended

    def ask(self, goal: Any, name: str) -> Any:
        """A mark under which the goal is assumed, if a run reaches it; else None, and rules it out.

        Raises RlimitSpent.
        """
        mark = z3.Bool(f"{name} after {self.length}", self.bits.context)
        self._solver.add(z3.Implies(mark, goal))
        if self._rlimit_count.check(self._solver, mark):
            return mark
        self.rule_out(goal)
        return None

    def rule_out(self, goal: Any) -> None:
        """Asserts that no run so far reaches the goal, for the solver to use."""
        self._solver.add(z3.Not(goal))

    def is_so(self, formula: Any) -> bool:
        """Does the formula hold in the run that was found last?"""
        return bool(z3.is_true(self._solver.model().eval(formula, model_completion=True)))

    def found_run(self) -> list[int]:
        """The positions among `instances` of the run that was found last."""
        return [
            next(position for position, taken in enumerate(chosen) if self.is_so(taken))
            for chosen in self.chosen
        ]

    def first_run(self, mark: Any) -> list[int]:
        """The first run with a mark, in the order of instances, as instance numbers.

        The same question therefore has the same answer, whatever run the solver found first. If the
        work does not suffice, returns another run of the same length.
        """
        context = self.bits.context
        best = self.found_run()
        fixed = [mark]
        try:
            for number, chosen in enumerate(self.chosen):
                while best[number]:
                    lower = z3.Bool(f"lower than {best[number]} at {number}", context)
                    self._solver.add(z3.Implies(lower, any_of(chosen[: best[number]])))
                    if not self._rlimit_count.check(self._solver, *fixed, lower):
                        break
                    best = self.found_run()
                fixed.append(chosen[best[number]])
        except RlimitSpent:
            pass
        return [self.instances[position].number for position in best]


def any_of(parts: list[Any]) -> Any:
    """A disjunction of Booleans; Z3's own Python checks each argument, which is slow for many."""
    if len(parts) == 1:
        return parts[0]
    context = parts[0].ctx
    array = (z3.Ast * len(parts))(*(part.as_ast() for part in parts))
    return z3.BoolRef(z3.Z3_mk_or(context.ref(), len(parts), array), context)


def _conditions(instance: Instance) -> list[Term]:
    return [
        *(condition for condition, _ in instance.requires),
        *(check.fine for check in instance.checks),
    ]

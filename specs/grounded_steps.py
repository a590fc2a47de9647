"""Steps of a system within small bounds, as Z3 formulas over the cells of a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import z3

from model.language import RecordedSystem
from model.language.sorts import BOOL
from model.language.terms import Term
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance
from specs.lowering.z3_code import lower_grounded

State = tuple[int, ...]

BLOCK = 16
"""Cells that are tried to be blank all at once."""


class GroundedSteps:
    """One Z3 variable with a domain for each cell; `also` are further terms that will be grounded.

    The formulas have a Z3 context of their own: in the context of the process the states that Z3
    finds depend on everything that was created there before.
    """

    def __init__(
        self, recorded: RecordedSystem, bounds: Mapping[str, int], also: Sequence[Term]
    ) -> None:
        self.grounded = Grounded(recorded, bounds, [], also=also)
        self._formulas()

    def _formulas(self) -> None:
        self.context = z3.Context()
        self.cells = [
            (z3.Bool if cell.field.sort is BOOL else z3.Int)(cell.name, self.context)
            for cell in self.grounded.cells
        ]
        self.domains = [
            z3.And(self.cells[cell.number] >= cell.domain[0],
                   self.cells[cell.number] <= cell.domain[-1])
            for cell in self.grounded.cells if cell.field.sort is not BOOL
        ]  # fmt: skip
        self._memo: dict[Term, Any] = {}

    def lower(self, term: Term) -> Any:
        """A grounded term about the state before."""
        return lower_grounded(term, lambda number: self.cells[number], self._memo, self.context)

    def written(self, instance: Instance) -> dict[int, Any]:
        """The values that an instance writes, by cell."""
        return {number: self.lower(term) for number, term in instance.writes.items()}

    def lower_after(self, term: Term, written: Mapping[int, Any], memo: dict[Term, Any]) -> Any:
        """A grounded term about the state after; `memo` is kept for the same `written`."""
        return lower_grounded(
            term, lambda number: written.get(number, self.cells[number]), memo, self.context
        )

    def guard(self, instance: Instance) -> list[Any]:
        """The conditions under which the instance is possible and stays within the bounds."""
        return [
            *(self.lower(condition) for condition, _ in instance.requires),
            *(self.lower(check.fine) for check in instance.checks),
        ]

    def codes(self, model: Any) -> State:
        """The state in a model that a solver returned."""
        found = []
        for cell, symbol in zip(self.grounded.cells, self.cells, strict=True):
            value = model.eval(symbol, model_completion=True)
            found.append(int(z3.is_true(value)) if cell.field.sort is BOOL else value.as_long())
        return tuple(found)

    def blanker(self, solver: Any) -> State:
        """A state that satisfies the solver's assertions, with as many blank cells as possible, so
        that only the cells that matter remain. The solver keeps the blank cells as assertions."""
        solver.check()
        state = self.codes(solver.model())
        todo = [range(begin, min(begin + BLOCK, len(self.cells)))
                for begin in range(0, len(self.cells), BLOCK)]  # fmt: skip
        while todo:
            block = todo.pop(0)
            same = [self._is_blank(number) for number in block]
            if any(state[number] != self.grounded.initial[number] for number in block):
                if solver.check(*same) != z3.sat:
                    half = len(block) // 2
                    todo[:0] = [block[:half], block[half:]] if half else []
                    continue
                state = self.codes(solver.model())
            solver.add(*same)
        return state

    def _is_blank(self, number: int) -> Any:
        symbol, blank = self.cells[number], self.grounded.initial[number]
        is_bool = self.grounded.cells[number].field.sort is BOOL
        return symbol == (bool(blank) if is_bool else blank)

"""Reachable states of small instances, whole or as seeded samples, and as the twin reads them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from model.language import ImpossibleValue, System
from model.language.evaluate import Evaluator, SparseState, blank_code
from model.language.sorts import BOOL
from model.language.terms import Term
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Cell, Instance
from specs.lowering.python_code import PythonCode


class Small:
    """A small instance of a system: generated code, the twin, and some of its reachable states."""

    def __init__(
        self,
        system: System,
        version: str | None,
        bounds: Mapping[str, int],
        changed: Mapping[str, object] | None = None,
    ) -> None:
        self.recorded = system.recorded(version, changed)
        self.bounds = system.limits(bounds)
        self.grounded = Grounded(self.recorded, self.bounds)
        self.code = PythonCode(self.grounded)
        self.twin = Evaluator(self.recorded, self.bounds)

    def successors(self, state: Any) -> dict[int, Any]:
        """Instance number -> next state."""
        fired = [0] * len(self.grounded.instances)
        refused = bytearray(len(self.grounded.reasons))
        return dict(self.code.successors(state, fired, refused, {}))

    def reachable(self, at_most: int) -> list[Any]:
        """The first states in breadth-first order."""
        order, seen = [self.code.initial], {self.code.initial}
        for state in order:
            for after in self.successors(state).values():
                if len(order) < at_most and after not in seen:
                    seen.add(after)
                    order.append(after)
        return order

    def covering(self, seed: int, walks: int, each: int, twists: int = 0) -> list[Any]:
        """States of seeded random walks: up to `each` for every step that is possible there, and
        for every reason that is the first to refuse there.

        A walk prefers transitions that are rare so far. `twists` states more are made by changing
        a few cells of one of them: they need not be reachable, and lowerings agree on them too.
        """
        chance = random.Random(seed)
        shows: Counter[Any] = Counter()
        sample: dict[Any, None] = {}

        def consider(state: Any) -> list[tuple[int, Any]]:
            look, nexts = self._shown(state)
            if any(shows[name] < each for name in look):
                sample[state] = None
                shows.update(look)
            return nexts

        taken: Counter[str] = Counter()
        for _ in range(walks):
            state = self.code.initial
            for _ in range(60):
                nexts = consider(state)
                if not nexts:
                    break
                weights = [1 / (1 + taken[self._step(number)]) for number, _ in nexts]
                number, state = chance.choices(nexts, weights)[0]
                taken[self._step(number)] += 1
        for _ in range(twists):
            state = self._twisted(chance.choice(list(sample)), self.grounded.cells, chance)
            with suppress(ImpossibleValue):
                consider(state)
        for reason in sorted(n for n in self._everything() - set(shows) if isinstance(n, int)):
            for state in self._nearly_refused(reason, list(sample), chance):
                with suppress(ImpossibleValue):
                    consider(state)
        return list(sample)

    def _everything(self) -> set[Any]:
        """Every step by name, and the number of every reason that a state can decide."""
        numbers = set(range(len(self.grounded.reasons))) - self.grounded.refused_by_parameters
        return {step.transition.name for step in self.recorded.steps} | numbers

    def _nearly_refused(
        self, reason: int, states: list[Any], chance: random.Random
    ) -> Iterator[Any]:
        """Where a step is possible, what one of its requirements looks at is changed."""
        for instance in self.grounded.instances:
            conditions = [condition for condition, number in instance.requires if number == reason]
            cells = [self.grounded.cells[n] for c in conditions for n in sorted(cells_read(c))]
            for state in states if cells else []:
                if self.code.first_refusal(instance, state) is None:
                    for _ in range(20):
                        yield self._twisted(state, cells, chance)

    def _twisted(self, state: Any, among: list[Cell], chance: random.Random) -> Any:
        """The state with a few cells changed within their domains; logs keep no junk."""
        codes = list(self.code.decode(state))
        for cell in chance.sample(among, min(len(among), chance.randint(1, 4))):
            codes[cell.number] = chance.choice(cell.domain)
        for cell in self.grounded.cells:
            if cell.field.log is not None:
                keys = len(self.recorded.fields[f"{cell.field.log}.end"].dims)
                end = self.grounded.cell(f"{cell.field.log}.end", *cell.index[:keys])
                if cell.index[keys] >= codes[end.number]:
                    codes[cell.number] = blank_code(cell.field.sort)
        return self.code.encode(codes)

    def _shown(self, state: Any) -> tuple[frozenset[Any], list[tuple[int, Any]]]:
        """The steps possible in a state and the reasons first to refuse; and the successors."""
        refused = bytearray(len(self.grounded.reasons))
        nexts = self.code.successors(state, [0] * len(self.grounded.instances), refused, {})
        names: set[Any] = {self._step(number) for number, _ in nexts}
        names |= {number for number, mark in enumerate(refused) if mark}
        return frozenset(names), sorted(nexts)

    def _step(self, number: int) -> str:
        return self.grounded.instances[number].step.transition.name

    def uncovered(self, states: list[Any]) -> set[str]:
        """Steps that are possible in none of the states, and reasons that are first in none."""
        seen: set[Any] = set()
        for state in states:
            seen |= self._shown(state)[0]
        reasons = self.grounded.reasons
        return {
            name if isinstance(name, str) else ": ".join(reasons[name])
            for name in self._everything() - seen
        }

    def sparse(self, state: Any) -> SparseState:
        """A packed state as the twin reads it."""
        read: SparseState = {}
        codes = self.code.decode(state)
        for cell in self.grounded.cells:
            value = codes[cell.number]
            if cell.field.sort is BOOL:
                value = bool(value)
            if value != blank_code(cell.field.sort):
                read.setdefault(cell.field.name, {})[cell.index] = value
        return read

    def kept(self, state: SparseState) -> SparseState:
        """A sparse state without the ghosts that this instance leaves out."""
        return {k: v for k, v in state.items() if k not in self.grounded.dropped_ghosts}

    @staticmethod
    def arguments(instance: Instance) -> dict[str, int | frozenset[int]]:
        """The arguments of an instance as the twin takes them."""
        return dict(zip(instance.step.parameters, instance.arguments, strict=True))


def cells_read(term: Term) -> set[int]:
    """The numbers of the cells that a grounded term reads."""
    if term.op == "cell":
        return {term.args[0]}
    parts = [arg for arg in term.args if isinstance(arg, Term)]
    return set().union(*(cells_read(part) for part in parts))

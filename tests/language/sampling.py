"""Reachable states of small instances, whole or as seeded samples, and as the twin reads them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from model.language import ImpossibleValue, System
from model.language.evaluate import Evaluator, SparseState, blank_code
from model.language.grounding import Grounded, Instance
from model.language.python_code import PythonCode
from model.language.sorts import BOOL


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

        A walk prefers transitions that are rare so far. `twists` states more (up to ten times as
        many, while something has not come up) are made by changing a few cells of one of them:
        they need not be reachable, and lowerings agree on them too.
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
        wanted = self._everything()
        for number in range(10 * twists):
            if number >= twists and wanted <= set(shows):
                break
            state = self._twisted(chance.choice(list(sample)), chance)
            with suppress(ImpossibleValue):
                consider(state)
        return list(sample)

    def _everything(self) -> set[Any]:
        """Every step by name, and the number of every reason that a state can decide."""
        numbers = set(range(len(self.grounded.reasons))) - self.grounded.refused_by_parameters
        return {step.transition.name for step in self.recorded.steps} | numbers

    def _twisted(self, state: Any, chance: random.Random) -> Any:
        """The state with a few cells changed within their domains; logs keep no junk."""
        codes = list(self.code.decode(state))
        for cell in chance.sample(self.grounded.cells, chance.randint(1, 4)):
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

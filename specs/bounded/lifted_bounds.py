"""Lifts bounds: numbers without an upper end, for runs of a given length.

A finite run has finitely many numbers. A lifted bound starts at its least value and is raised
whenever some run of the current length reaches it. Then the bound excludes no step of any such run,
and the search is the same as without the bound. A budget of faults is not counted at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import z3

from model.language import ProtocolError, RecordedSystem
from model.language import terms as t
from model.language.errors import unknown_name
from model.language.recording import bounds_read, nodes
from model.language.scalars import blank_term
from model.language.schema import SetOf
from model.language.sorts import Bounded, Numbers, Sort
from model.language.terms import Term
from specs.bounded.unrolling import Unrolling, any_of
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Cell, Instance
from specs.lowering.python_code import PythonCode


class LiftedBounds:
    """The bounds of a search, some of them lifted: `bounds` has their current values."""

    def __init__(
        self,
        recorded: RecordedSystem,
        names: Sequence[str],
        bounds: Mapping[str, int],
        claims: Sequence[str],
    ) -> None:
        self.recorded, self.names = recorded, tuple(names)
        self.bounds = dict(bounds)
        counters = {leaf.budget: leaf.name for leaf in recorded.fields.values() if leaf.budget}
        self._raised: dict[str, int] = {}
        self._uncounted: dict[str, str] = {}
        for name in self.names:
            if name not in recorded.system.bounds:
                raise ProtocolError(
                    unknown_name(f"bound of {recorded.system.name}", name, recorded.system.bounds)
                )
            if name in counters:
                self.bounds.pop(name, None)
                self._uncounted[name] = counters[name]
                continue
            _refuse_what_has_no_unbounded_form(recorded, name, claims)
            self.bounds[name] = self._raised[name] = recorded.system.bounds[name].least

    def as_text(self) -> str:
        """`epoch=3, log=2`: the current values of the lifted bounds."""
        return ", ".join(f"{name}={number}" for name, number in self._raised.items())

    def reached_bounds(self, runs: Unrolling) -> list[str] | None:
        """The lifted bounds that some run of the current length reaches; None if there are none.

        Raises RlimitSpent.
        """
        if not self._raised:
            return None
        each = {name: any_of(list(_at_the_top(runs, name))) for name in self._raised}
        if runs.ask(any_of(list(each.values())), f"{self.as_text()} met") is None:
            return None
        return [name for name, formula in each.items() if runs.is_so(formula)]

    def increase_bounds(self, names: Sequence[str], length: int) -> None:
        """Raises each bound by one; refuses a bound that is reached faster than steps can count."""
        for name in names:
            self.bounds[name] += 1
            self._raised[name] += 1
            least = self.recorded.system.bounds[name].least
            if self._raised[name] > least + 2 * (length + 1):
                raise ProtocolError(
                    f"the bound {name} is met however high it is: a step chooses such a number "
                    f"freely, so there is no form without it; write --bound {name}=N"
                )

    def with_budgets(
        self, grounded: Grounded, path: Sequence[int], claims: Sequence[str]
    ) -> Grounded:
        """The same system with the budgets that a run needs, where budgets were not counted."""
        if not self._uncounted:
            return grounded
        ample = {**grounded.bounds, **dict.fromkeys(self._uncounted, len(path))}
        counted = Grounded(self.recorded, ample, claims)
        code = PythonCode(counted)
        state = code.initial
        for number in path:
            state = code.attempt(counted.instances[number], state)
        codes = code.decode(state)
        spent = {name: codes[counted.cell(field).number] for name, field in self._uncounted.items()}
        return Grounded(self.recorded, {**ample, **spent}, claims)


def _refuse_what_has_no_unbounded_form(
    recorded: RecordedSystem, name: str, claims: Sequence[str]
) -> None:
    sorts = {sort for leaf in recorded.fields.values() for sort in (*leaf.dims, leaf.sort)}
    if not any(_limits(name, sort) for sort in sorts):
        raise ProtocolError(
            f"the bound {name} of {recorded.system.name} limits no number that could do without; "
            f"write --bound {name}=N"
        )
    for where, term in _terms(recorded, claims):
        for part in nodes(term):
            if part.op in ("count", "least") and _limits(name, part.args[0].sort):
                word = "how_many" if part.op == "count" else "least"
                raise ProtocolError(
                    f"{where} says {word} over every {part.args[0].sort.name}, which has no form "
                    f"without the bound {name}; write --bound {name}=N"
                )
        if name in bounds_read(term) and not _is_upper_limit(term):
            raise ProtocolError(
                f"{where} mentions the bound {name} itself, which has no form without it; "
                f"write --bound {name}=N"
            )


def _is_upper_limit(term: Term) -> bool:
    """Is it `number < bound` or `number <= bound`, and nothing else?"""
    return term.op in ("lt", "le") and term.args[1].op == "bound" and not bounds_read(term.args[0])


def _terms(recorded: RecordedSystem, claims: Sequence[str]) -> Iterator[tuple[str, Term]]:
    for step in recorded.steps:
        for requirement in step.requires:
            yield f"{step.transition.name} requires that {requirement.reason}, which", \
                requirement.condition  # fmt: skip
        for write in step.writes:
            for term in (*write.keys, write.value):
                yield f"{step.transition.name} writes {write.field}, which", term
    for claim in claims:
        yield f"the claim {claim}", recorded.claim(claim)[1]


def _limits(name: str, sort: Sort) -> bool:
    return isinstance(sort, Numbers) and isinstance(sort.high, Bounded) and sort.high.bound == name


def _at_the_top(runs: Unrolling, name: str) -> Iterator[Any]:
    """What is so where a step might not be taken, or not wholly, because of a bound."""
    frame, bits = runs.frames[-1], runs.bits
    reach = _most_added(runs.instances)
    for cell in runs.grounded.cells:
        value = frame.cells[cell.number]
        if _limits(name, cell.field.sort):
            yield value > bits.literal(cell.domain[-1] - reach)
        elif _has_top_index(runs, cell, name):
            blank = blank_term(cell.field.sort).args[0]
            yield value != bits.code(cell, int(blank))
    for instance in runs.instances:
        for requirement in instance.step.requires:
            if name in bounds_read(requirement.condition):
                condition = runs.grounded.ground(requirement.condition, _chosen(instance))
                yield z3.Not(frame.formula(condition))


def _has_top_index(runs: Unrolling, cell: Cell, name: str) -> bool:
    return any(
        _limits(name, sort) and index == sort.domain(runs.grounded.bounds)[-1]
        for sort, index in zip(cell.field.dims, cell.index, strict=True)
    )


def _most_added(instances: Sequence[Instance]) -> int:
    """How far beyond the numbers that there are a step can take one."""
    return max(
        (
            part.args[1].args[0]
            for instance in instances
            for value in instance.writes.values()
            for part in nodes(value)
            if part.op == "add"
        ),
        default=1,
    )


def _chosen(instance: Instance) -> dict[str, Term]:
    """The parameters as literals, sets of them left out: no limit is about a set."""
    return {
        f"${name}": t.const(value)
        for (name, sort), value in zip(
            instance.step.parameters.items(), instance.arguments, strict=True
        )
        if not isinstance(sort, SetOf) and not isinstance(value, frozenset)
    }

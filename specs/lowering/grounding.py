"""Grounds a system within bounds: every field becomes cells, every transition its instances.

Parameters take every value of their sorts. Guards and writes become terms over `cell`s only
(`enumerated`), with a check wherever a value could leave its domain.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from model.language import terms as t
from model.language.errors import ImpossibleValue, ProtocolError, a
from model.language.recording import Recorded, Write
from model.language.scalars import blank_term
from model.language.schema import Field
from model.language.sorts import BOOL, Bounded, Numbers, Sort
from model.language.system import RecordedSystem
from model.language.terms import Term
from specs.lowering.bounded_cells import BoundedCells, Environment
from specs.lowering.instances import Instance, SuccessorCheck, argument_choices


class _Choice(NamedTuple):
    """A step with its parameters chosen, whatever number it gets among the instances.

    `requires` and `refused_by` name requirements by their place in the step; the latter is the one
    that the parameters alone refuse.
    """

    arguments: tuple[int | frozenset[int], ...]
    requires: list[tuple[Term, int]]
    refused_by: int | None
    writes: dict[int, Term]
    checks: list[SuccessorCheck]


_MADE: dict[tuple[Any, ...], list[_Choice]] = {}
"""Steps that were enumerated, by all that they depend on: systems that differ in a switch or in a
requirement share most of them. Terms are kept for ever in any case."""

_MOST_MADE = 4096


class Grounded(BoundedCells):
    """A recorded system with concrete bounds.

    `cells` are the leaves; `instances` are the steps with chosen parameters; `reasons` numbers
    every (transition, reason) pair; `claims` are over cells; `initial` is the code of every cell.
    A claim about steps is over two copies of the cells: see `cell_after`.
    Ghosts that neither a claim nor a term of `also` depends on are left out.
    """

    def __init__(
        self,
        recorded: RecordedSystem,
        bounds: Mapping[str, int],
        claims: Sequence[str] | None = None,
        also: Sequence[Term] = (),
    ) -> None:
        chosen = list(recorded.claims) if claims is None else list(claims)
        judged = [*(recorded.claim(name)[1] for name in chosen), *also]
        needed = recorded.fields_needed(judged, dict(bounds))
        self._kept = needed & set(recorded.fields)
        self.dropped_ghosts = sorted(set(recorded.fields) - needed)
        super().__init__(recorded, bounds, self._kept)
        self._compared: dict[tuple[Term, Term], list[Term]] = {}
        self.reasons: list[tuple[str, str]] = []
        self._reason_number: dict[tuple[str, str], int] = {}
        for step in recorded.steps:
            for requirement in step.requires:
                key = (step.transition.name, requirement.reason)
                self._reason_number[key] = len(self.reasons)
                self.reasons.append(key)
        self._layout = (
            tuple(recorded.fields.values()), frozenset(self._kept), tuple(sorted(bounds.items()))
        )  # fmt: skip
        self.refused_by_parameters: set[int] = set()
        self.instances: list[Instance] = []
        for step in recorded.steps:
            self._add_instances(step)
        self.claims: dict[str, Term] = {
            name: self.ground(recorded.claim(name)[1], {}) for name in chosen
        }
        self.initial: tuple[int, ...] = self._initial_codes()

    def is_about_steps(self, claim: str) -> bool:
        """Is the claim over the states before and after a step?"""
        return self.recorded.claim(claim)[0].is_about_steps

    def fair_instances(self, claim: str) -> list[int]:
        """The numbers of the instances that an `eventually` treats fairly; else none."""
        fair = self.recorded.claim(claim)[0].fair
        return [one.number for one in self.instances if one.step.transition.name in fair]

    def _initial_codes(self) -> tuple[int, ...]:
        codes: list[int] = []
        writes: dict[int, Term] = {}
        for write in self.recorded.initial:
            self._apply(write, {}, writes, [])
        for made in self.cells:
            term = writes.get(made.number, blank_term(made.field.sort))
            if term.op != "const":
                raise ProtocolError(f"the initial value of {made.name} is not a literal: {term}")
            code = int(term.args[0])
            if code not in made.domain:
                raise ImpossibleValue(f"initially {made.name} would be {code}")
            codes.append(code)
        return tuple(codes)

    # -- steps ------------------------------------------------------------------------------

    def _add_instances(self, step: Recorded) -> None:
        """The step's instances, made once for all systems that share the step and the cells."""
        key = (
            self._layout, tuple(step.parameters.items()),
            tuple(one.condition for one in step.requires), tuple(step.writes),
        )  # fmt: skip
        found = _MADE.get(key)
        if found is None:
            if len(_MADE) >= _MOST_MADE:
                _MADE.clear()
            chosen = argument_choices(step, self._domain)
            found = _MADE[key] = [self._choice_of(step, one) for one in chosen]
        numbers = [self._reason_number[step.transition.name, one.reason] for one in step.requires]
        for one in found:
            if one.refused_by is not None:
                self.refused_by_parameters.add(numbers[one.refused_by])
            requires = [(condition, numbers[place]) for condition, place in one.requires]
            self.instances.append(
                Instance(
                    len(self.instances), step, one.arguments, requires, dict(one.writes),
                    list(one.checks),
                )
            )  # fmt: skip

    def _choice_of(self, step: Recorded, chosen: tuple[int | frozenset[int], ...]) -> _Choice:
        """A step with its parameters chosen."""
        environment: Environment = {}
        for name, value in zip(step.parameters, chosen, strict=True):
            if isinstance(value, frozenset):
                environment[f"${name}"] = t.make("set", (value,), BOOL)
            else:
                environment[f"${name}"] = t.const(value)
        requires: list[tuple[Term, int]] = []
        for place, requirement in enumerate(step.requires):
            condition = self.ground(requirement.condition, environment)
            if condition is t.TRUE:
                continue
            requires.append((condition, place))
            if condition is t.FALSE:
                return _Choice(chosen, requires, place, {}, [])
        writes: dict[int, Term] = {}
        checks: list[SuccessorCheck] = []
        for write in step.writes:
            self._apply(write, environment, writes, checks)
        self._zero_junk(writes)
        self._check_domains(writes, checks)
        # An always-false check belongs first; the same check twice only costs time.
        checks = list({(check.fine, check.bound): check for check in checks}.values())
        return _Choice(chosen, requires, None, writes, checks)

    def _apply(
        self,
        write: Write,
        environment: Environment,
        into: dict[int, Term],
        checks: list[SuccessorCheck],
    ) -> None:
        leaf = self.recorded.fields[write.field]
        if write.field not in self._kept:
            return  # a ghost that nobody reads
        keys = [self.ground(key, environment) for key in write.keys]
        for sort, key in zip(leaf.dims, keys, strict=False):
            self._check_index(leaf, sort, key, checks)
        extra = leaf.dims[len(keys) :]
        self._check_beyond(leaf, write, extra, environment, checks)
        for chosen in itertools.product(*(self._domain(sort) for sort in extra)):
            inner = dict(environment)
            for variable, code in zip(write.variables, chosen, strict=True):
                inner[variable.args[0]] = t.const(code)
            value = self.ground(write.value, inner)
            for index in itertools.product(
                *(self._candidates(leaf, i, k) for i, k in enumerate(keys))
            ):
                found = self._cell_at.get((leaf.name, (*index, *chosen)))
                if found is None:
                    continue  # beyond a bound: the check prunes or raises
                here = t.and_(*(t.eq(key, t.const(i)) for key, i in zip(keys, index, strict=True)))
                before = into.get(found.number, found.term)
                into[found.number] = t.ite(here, value, before)

    def _check_beyond(
        self,
        leaf: Field,
        write: Write,
        extra: tuple[Sort, ...],
        environment: Environment,
        checks: list[SuccessorCheck],
    ) -> None:
        """A pointwise write says nothing of an index outside its sort, or the step is beyond it.

        `sent.including(broker, epoch)` is a definition for all elements: one that does not exist
        has no cell, and must not be lost unnoticed. Only an index that the definition compares
        with can be meant, so those are tried.
        """
        names = [variable.args[0] for variable in write.variables]
        domains = [self._domain(sort) for sort in extra]
        compared = [
            [
                index
                for index in self._solved(write.value, variable, names, domains, environment)
                if not self._stays_within(index, domain)
            ]
            for variable, domain in zip(write.variables, domains, strict=True)
        ]
        if not any(compared):
            return
        choices = [
            [*(t.const(code) for code in domain), *outside]
            for domain, outside in zip(domains, compared, strict=True)
        ]
        for chosen in itertools.product(*choices):
            if all(
                index.op == "const" and int(index.args[0]) in domain
                for domain, index in zip(domains, chosen, strict=True)
            ):
                continue
            inner = {**environment, **dict(zip(names, chosen, strict=True))}
            unwritten = t.eq(self.ground(write.value, inner), blank_term(leaf.sort))
            if unwritten is t.TRUE:
                continue
            for sort, domain, index in zip(extra, domains, chosen, strict=True):
                if index.op == "const" and int(index.args[0]) in domain:
                    continue
                what = f"{leaf.name} is written at {a(sort.name)} that does not exist"
                self._check_range(index, domain, sort, what, checks, unless=unwritten)

    def _solved(
        self,
        value: Term,
        variable: Term,
        names: Sequence[str],
        domains: Sequence[range],
        environment: Environment,
    ) -> list[Term]:
        """What a pointwise definition compares its variable with, for all values of the others."""
        found: dict[Term, None] = {}
        compared = self._compared.get((value, variable))
        if compared is None:
            compared = self._compared[value, variable] = t.compared_with(value, variable)
        for part in compared:
            others = [i for i, name in enumerate(names) if name in part.free]
            if not part.free <= {*environment, *names}:
                continue  # it stands under a quantifier, which has no element that does not exist
            for chosen in itertools.product(*(domains[i] for i in others)):
                inner = {names[i]: t.const(c) for i, c in zip(others, chosen, strict=True)}
                found[self.ground(part, {**environment, **inner})] = None
        return list(found)

    def _candidates(self, leaf: Field, position: int, key: Term) -> list[int]:
        if key.op == "const":
            return [int(key.args[0])]
        low, high = self._intervals.of(key)
        return [i for i in self._domain(leaf.dims[position]) if low <= i <= high]

    def _check_index(
        self, leaf: Field, sort: Sort, key: Term, checks: list[SuccessorCheck]
    ) -> None:
        domain = self._domain(sort)
        what = f"{leaf.name} is written at {a(sort.name)} that does not exist"
        self._check_range(key, domain, sort, what, checks)

    def _check_range(
        self,
        value: Term,
        domain: range,
        sort: Sort,
        what: str,
        checks: list[SuccessorCheck],
        unless: Term = t.FALSE,
    ) -> None:
        low, high = self._intervals.of(value)
        if low < domain[0]:
            checks.append(
                SuccessorCheck(t.or_(unless, t.le(t.const(domain[0]), value)), None, what)
            )
        if high > domain[-1]:
            bound = None
            if isinstance(sort, Numbers) and sort.beyond == "prune":
                bound = sort.high.bound if isinstance(sort.high, Bounded) else sort.name
            checks.append(
                SuccessorCheck(t.or_(unless, t.le(value, t.const(domain[-1]))), bound, what)
            )

    def _check_domains(self, writes: Mapping[int, Term], checks: list[SuccessorCheck]) -> None:
        for number, value in sorted(writes.items()):
            made = self.cells[number]
            if made.field.sort is BOOL:
                continue
            what = f"{made.name} would leave {made.domain[0]}..{made.domain[-1]}"
            self._check_range(value, made.domain, made.field.sort, what, checks)

    def _zero_junk(self, writes: dict[int, Term]) -> None:
        """Cells of a log at and above its new end take their blank value."""
        for made in self.cells:
            log = made.field.log
            if log is None:
                continue
            end_field = self.recorded.fields[f"{log}.end"]
            depth = len(end_field.dims)
            end_cell = self._cell_at[f"{log}.end", made.index[:depth]]
            if end_cell.number not in writes and made.number not in writes:
                continue
            end = writes.get(end_cell.number, end_cell.term)
            value = writes.get(made.number, made.term)
            inside = self._narrow(t.lt(t.const(made.index[depth]), end))
            zeroed = t.ite(inside, value, blank_term(made.field.sort))
            if zeroed is made.term:
                writes.pop(made.number, None)
            else:
                writes[made.number] = zeroed

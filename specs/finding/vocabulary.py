"""Makes the literals of candidate invariants by generalising the conditions of steps and claims.

Provenance: two numbers are compared only if some guard or claim compares their fields, some write
copies the one into the other (over two fields between), or one step raises both. An index is a
variable, or another field of the same variables that may hold such an index.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from model.language import RecordedSystem
from model.language import terms as t
from model.language.recording import Recorded, fields_read, nodes, record_condition
from model.language.scalars import Scalar
from model.language.schema import Field
from model.language.sorts import BOOL, Enumeration, Names, Numbers, Sort
from model.language.terms import Term
from specs.invariants import Definition, SolverHint
from specs.splitting import substituted

REACH = 3
"""Two fields are related if a chain of at most so many copies and comparisons joins them."""


@dataclass(frozen=True)
class Literal:
    """A Bool term over the variables of a slice, or its negation; `cost` is low for simple ones."""

    term: Term
    holds: bool
    cost: int
    meaning: Term | None = None
    """The term with definitions written out, where it has any."""

    @property
    def atom(self) -> Term:
        """The term that can be evaluated in a state, without the negation."""
        return self.term if self.meaning is None else self.meaning

    @property
    def plain(self) -> Term:
        """The formula, with definitions written out."""
        return self.atom if self.holds else t.not_(self.atom)

    @property
    def formula(self) -> Term:
        """The term, negated where it should not hold."""
        return self.term if self.holds else t.not_(self.term)

    @property
    def negated(self) -> Literal:
        """The negated literal."""
        return Literal(self.term, not self.holds, self.cost, self.meaning)


@dataclass(frozen=True)
class SliceVariables:
    """The variables of clauses, such as `b` and `e`, a broker and an epoch."""

    variables: tuple[Term, ...]

    def __str__(self) -> str:
        return ", ".join(f"{v.args[0]}: {v.sort.name}" for v in self.variables) or "no variables"


Add = Callable[[Term, int], None]
"""Takes a term that may be a literal, and its cost."""


@dataclass(frozen=True)
class _Path:
    """A value, and how many other fields stand between it and the variables."""

    term: Term
    field: str
    cost: int


class Provenance:
    """The relations between fields in the recorded steps and claims."""

    def __init__(self, recorded: RecordedSystem, also: Iterable[Term]) -> None:
        self._near: dict[str, set[str]] = {name: set() for name in recorded.fields}
        self._raised: dict[str, set[str]] = {name: set() for name in recorded.fields}
        """Of numbers that rise together neither is an index where the other is one."""
        self.recorded = recorded
        for step in recorded.steps:
            self._step(step)
        for term in also:
            self._compared(term, {})
        self._indexes = {name: self._reachable_fields(name) for name in self._near}
        for name, others in self._raised.items():
            self._near.setdefault(name, set()).update(others)
        self._beside = {name: self._reachable_fields(name) for name in self._near}

    def related(self, one: str, other: str) -> bool:
        """Do steps or claims copy one field to the other, compare them, or raise them together?"""
        return other in self._beside[one]

    def may_index(self, name: str, field: Field, position: int) -> bool:
        """Is a value of the field `name` ever an index of the other at this position?"""
        return self._index_of(field.name, position) in self._indexes[name]

    def _reachable_fields(self, name: str) -> set[str]:
        found = {name}
        for _ in range(REACH):
            found |= {further for one in found for further in self._near[one]}
        return found

    def _index_of(self, name: str, position: int) -> str:
        found = f"{name}@{position}"
        self._near.setdefault(found, set())
        return found

    def _step(self, step: Recorded) -> None:
        # A parameter joins all that it is compared with and written to: within this step only.
        inside: dict[str, set[str]] = {}
        for requirement in step.requires:
            self._compared(requirement.condition, inside)
        raised = []
        for write in step.writes:
            for part in _values(write.value):
                base = part.args[0] if part.op == "add" else part
                self._connect([write.field], self._sources(base, inside), inside)
                if part.op == "add" and base.op == "get":
                    raised.append(write.field)
            for position, key in enumerate(write.keys):
                self._connect([self._index_of(write.field, position)],
                           self._sources(key, inside), inside)  # fmt: skip
            self._compared(write.value, inside)
            for position, variable in enumerate(write.variables, len(write.keys)):
                for other in t.compared_with(write.value, variable):
                    self._connect([self._index_of(write.field, position)],
                               self._sources(other, inside), inside)  # fmt: skip
                    if other.op == "add":
                        raised.append(self._index_of(write.field, position))
        for field, beside in itertools.permutations(set(raised), 2):
            self._raised.setdefault(field, set()).add(beside)
        for names in inside.values():
            self._connect(sorted(names), sorted(names), {})

    def _compared(self, term: Term, inside: dict[str, set[str]]) -> None:
        for part in nodes(term):
            if part.op in ("eq", "lt", "le"):
                left, right = (self._sources(_base(side), inside) for side in part.args)
                self._connect(left, right, inside)
            if part.op == "get":
                for position, index in enumerate(part.args[1:]):
                    name = self._index_of(part.args[0], position)
                    self._connect([name], self._sources(_base(index), inside), inside)

    def _sources(self, term: Term, inside: dict[str, set[str]]) -> list[str]:
        if term.op == "get":
            return [term.args[0]]
        if term.op == "var":
            # By its sort, too: recorded quantifiers name their variables alike.
            name = f"{term.args[0]}: {term.sort.name}"
            inside.setdefault(name, set())
            return [name]
        if term.op == "ite":
            return [name for part in term.args[1:] for name in self._sources(_base(part), inside)]
        return []

    def _connect(
        self, some: Sequence[str], others: Sequence[str], inside: dict[str, set[str]]
    ) -> None:
        for one, other in itertools.product(some, others):
            if one in inside:
                inside[one] |= {other} - set(inside)
            elif other in inside:
                inside[other].add(one)
            elif one != other:
                self._near.setdefault(one, set()).add(other)
                self._near.setdefault(other, set()).add(one)


def _base(term: Term) -> Term:
    base: Term = term.args[0] if term.op == "add" else term
    return base


def _values(term: Term) -> Iterator[Term]:
    if term.op == "ite":
        yield from _values(term.args[1])
        yield from _values(term.args[2])
    else:
        yield term


NESTED = 2
"""What a value costs that is looked up by another field."""


class Vocabulary:
    """The literals of a system, by slice."""

    def __init__(self, recorded: RecordedSystem, also: Iterable[Term]) -> None:
        self.recorded = recorded
        self.fields = {name: leaf for name, leaf in recorded.fields.items() if leaf.budget is None}
        self.provenance = Provenance(recorded, also)

    def literals(self, one: SliceVariables) -> list[Literal]:
        """Every literal over the variables of the slice, the simple ones first."""
        plain = list(self._paths(one))
        nested = [*plain, *self._nested(one, plain)]
        found: dict[Term, int] = {}

        def add(term: Term, cost: int) -> None:
            if term.op != "const":
                positive = term.args[0] if term.op == "not" else term
                found[positive] = min(cost, found.get(positive, cost))

        for path in nested:
            self._add_literals_of(path, add)
        for variable in one.variables:
            if isinstance(variable.sort, Numbers):
                add(t.le(variable, t.const(variable.sort.low, variable.sort)), 1)
            for path in nested:
                self._with_variable(path, variable, add)
        for left, right in itertools.combinations(one.variables, 2):
            if left.sort == right.sort:
                add(t.eq(left, right), 1)
        for left_path, right_path in itertools.combinations(nested, 2):
            self._pair(left_path, right_path, add)
        # A literal and its mirror image are one: `a < b` is no other than `not b <= a`.
        terms = {term: cost for term, cost in found.items() if t.not_(term) not in found
                 or term.order < t.not_(term).order}  # fmt: skip
        ordered = sorted(terms.items(), key=lambda pair: (pair[1], t.show(pair[0])))
        return [Literal(term, True, cost) for term, cost in ordered]

    # -- values -------------------------------------------------------------------------------

    def _paths(self, one: SliceVariables) -> Iterator[_Path]:
        for leaf in self.fields.values():
            choices = [[v for v in one.variables if v.sort == sort] for sort in leaf.dims]
            for chosen in itertools.product(*choices):
                yield _Path(t.get(leaf.name, chosen, leaf.sort), leaf.name, 1)

    def _nested(self, one: SliceVariables, plain: list[_Path]) -> Iterator[_Path]:
        """Fields of which one index is a field."""
        for leaf in self.fields.values():
            for position, sort in enumerate(leaf.dims):
                indices = [p for p in plain if _may_stand_for(p.term.sort, sort)
                           and self.provenance.may_index(p.field, leaf, position)]  # fmt: skip
                choices: list[list[Term]] = [
                    [p.term for p in indices] if at == position
                    else [v for v in one.variables if v.sort == other]
                    for at, other in enumerate(leaf.dims)
                ]  # fmt: skip
                for chosen in itertools.product(*choices):
                    yield _Path(t.get(leaf.name, chosen, leaf.sort), leaf.name, NESTED)

    # -- literals -----------------------------------------------------------------------------

    def _add_literals_of(self, path: _Path, add: Add) -> None:
        term, sort, cost = path.term, path.term.sort, path.cost
        if sort is BOOL:
            add(term, cost)
        elif isinstance(sort, Names):
            for code in range(len(sort.values)):
                add(t.eq(term, t.const(code, sort)), cost)
        elif isinstance(sort, Enumeration) and sort.none_allowed:
            add(t.eq(term, t.const(0, sort)), cost)
        elif isinstance(sort, Numbers) and path.cost == 1:
            add(t.le(term, t.const(sort.low, sort)), cost)
            if sort.none_allowed:
                add(t.le(term, t.const(sort.none_code, sort)), cost)

    def _with_variable(self, path: _Path, variable: Term, add: Add) -> None:
        mine, sort = path.term.sort, variable.sort
        if isinstance(sort, Enumeration) and isinstance(mine, Enumeration):
            if mine.family == sort.family:
                add(t.eq(path.term, variable), path.cost)
        elif (
            isinstance(sort, Numbers)
            and isinstance(mine, Numbers)
            and path.cost == 1
            and self._indexes_something(path, sort)
        ):
            add(t.le(variable, path.term), 1)
            add(t.eq(variable, path.term), 1)
            add(t.lt(variable, path.term), 1)

    def _indexes_something(self, path: _Path, sort: Sort) -> bool:
        return any(
            of == sort and self.provenance.may_index(path.field, leaf, position)
            for leaf in self.fields.values() for position, of in enumerate(leaf.dims)
        )  # fmt: skip

    def _pair(self, left: _Path, right: _Path, add: Add) -> None:
        one, other = left.term.sort, right.term.sort
        if left.cost + right.cost > 1 + NESTED or one is BOOL or other is BOOL:
            return
        if not self.provenance.related(left.field, right.field):
            return
        cost = left.cost + right.cost
        if isinstance(one, Numbers) and isinstance(other, Numbers):
            add(t.eq(left.term, right.term), cost)
            add(t.le(left.term, right.term), cost)
            add(t.le(right.term, left.term), cost)
        elif one.family == other.family and isinstance(one, Enumeration):
            add(t.eq(left.term, right.term), cost)


def _may_stand_for(value: Sort, index: Sort) -> bool:
    if isinstance(value, Numbers) and isinstance(index, Numbers):
        return True
    return isinstance(value, Enumeration) and value.family == index.family


Said = Callable[[Term], list[Scalar]]


class Definitions:
    """The definitions of a proof, as literals and written out."""

    def __init__(
        self, definitions: Sequence[Definition], recorded: RecordedSystem | None = None
    ) -> None:
        self._recorded = recorded
        self._by_symbol = {one.symbol: one for one in definitions}

    def literals(self, one: SliceVariables) -> list[Literal]:
        """The definitions applied to a slice's variables."""
        found = []
        for symbol, defined in self._by_symbol.items():
            choices = [[v for v in one.variables if v.sort.name == sort.name]
                       for sort in defined.over]  # fmt: skip
            for chosen in itertools.product(*choices):
                term = t.get(symbol, chosen, BOOL)
                found.append(Literal(term, True, NESTED, self.written_out(term)))
        return found

    def of_fields(self) -> tuple[SolverHint, ...]:
        """Hints: the definitions applied to values of fields, and to fields of some value of each
        sort, for a solver that does not instantiate them by itself."""
        hints = [SolverHint(lambda now, **given: self._of_some_values())]
        for symbol, defined in self._by_symbol.items():
            first, *rest = defined.over

            def said(
                value: Term, symbol: str = symbol, rest: Sequence[Sort] = rest
            ) -> list[Scalar]:
                choices = [[*self._fields((value,), sort), *self._fields((), sort)]
                           for sort in rest]  # fmt: skip
                return [Scalar(t.get(symbol, (value, *chosen), BOOL))
                        for chosen in itertools.product(*choices)]  # fmt: skip

            def of_all(now: Any, value: Scalar, said: Said = said, **given: Scalar) -> list[Scalar]:
                return said(value.term)

            def of_some(
                now: Any, first: Sort = first, said: Said = said, **given: Scalar
            ) -> list[Scalar]:
                return [term for value in self._fields((), first) for term in said(value)]

            hints += [SolverHint(of_all, over=first), SolverHint(of_some)]
        return tuple(hints)

    def _of_some_values(self) -> list[Scalar]:
        """What fields of one index say of a value: there is a record, also where none is named."""
        assert self._recorded is not None
        found = []
        for leaf in self._recorded.fields.values():
            value = self._some_value(leaf.dims[0]) if len(leaf.dims) == 1 else None
            if value is not None:
                found.append(Scalar(t.get(leaf.name, (value,), leaf.sort)))
        return found

    def _some_value(self, sort: Sort) -> Term | None:
        """The first number, or what a field has there: no other value has a name of its own."""
        if isinstance(sort, Numbers):
            return t.const(sort.low, sort)
        assert self._recorded is not None
        for leaf in self._recorded.fields.values():
            numbers = [one for one in leaf.dims if isinstance(one, Numbers)]
            if leaf.sort == sort and len(numbers) == len(leaf.dims):
                firsts = tuple(t.const(one.low, one) for one in numbers)
                return t.get(leaf.name, firsts, leaf.sort)
        return None

    def _fields(self, index: tuple[Term, ...], sort: Sort) -> list[Term]:
        """The fields of such an index that have values of a sort."""
        assert self._recorded is not None
        over = [one.sort.name for one in index]
        return [t.get(leaf.name, index, leaf.sort) for leaf in self._recorded.fields.values()
                if leaf.sort.name == sort.name and [one.name for one in leaf.dims] == over
                ]  # fmt: skip

    def written_out(self, term: Term) -> Term:
        """A term with the definitions in it written out."""
        if not fields_read(term) & self._by_symbol.keys():
            return term
        recorded = self._recorded
        assert recorded is not None

        def go(part: Term) -> Term:
            if part.op == "get" and part.args[0] in self._by_symbol:
                values = [Scalar(go(arg)) for arg in part.args[1:]]
                return record_condition(
                    lambda now: self._by_symbol[part.args[0]].formula(now, *values),
                    recorded.system.state, recorded.switches)  # fmt: skip
            args = tuple(go(arg) if isinstance(arg, Term) else arg for arg in part.args)
            return t.make(part.op, args, part.sort)

        return go(term)


def slice_over(sorts: Sequence[Sort]) -> SliceVariables:
    """A variable for each sort, named by its first letter; the second with a letter is `e2`."""
    names: list[str] = []
    for sort in sorts:
        first = sort.name.split()[-1][0]
        taken = sum(name[0] == first for name in names)
        names.append(first + ("" if not taken else str(taken + 1)))
    return SliceVariables(tuple(t.var(name, sort) for name, sort in zip(names, sorts, strict=True)))


def made_again(term: Term) -> Term:
    """A term whose variables were replaced, in normal form: for numbers `x - 1 < y` becomes
    `x <= y`."""
    made: dict[str, Callable[..., Term]] = {
        "eq": t.eq, "lt": t.lt, "le": t.le, "not": t.not_, "and": t.and_, "or": t.or_}  # fmt: skip
    if term.op not in made:
        return term
    term = made[term.op](*map(made_again, term.args))
    if term.op in ("lt", "le") and term.args[0].op == "add":
        (value, more), other = term.args[0].args, term.args[1]
        if more.args[0] == (-1 if term.op == "lt" else 1):
            return t.le(value, other) if term.op == "lt" else t.lt(value, other)
    return term


def over_its_variables(
    one: SliceVariables, clause: Sequence[Literal]
) -> tuple[SliceVariables, tuple[Literal, ...]]:
    """A clause over only the variables that it uses, renamed as in a slice of these alone."""
    used = frozenset[str]().union(*(part.term.free for part in clause))
    before = [v for v in one.variables if v.args[0] in used]
    made = slice_over([v.sort for v in before])
    apart = [t.var(f"~{new.args[0]}", new.sort) for new in made.variables]
    for old, new in [*zip(before, apart, strict=True), *zip(apart, made.variables, strict=True)]:
        clause = _replaced(clause, old, new)
    return made, tuple(clause)


def of_values(clause: Sequence[Literal]) -> Sequence[Literal]:
    """A clause with a variable replaced by the term that it equals: it is about
    `replica.epoch[b]`, not about every epoch that equals `replica.epoch[b]`."""
    for part in clause:
        if part.holds or part.term.op != "eq":
            continue
        for variable, value in (part.term.args, part.term.args[::-1]):
            if (
                variable.op == "var"
                and value.op in ("var", "get")
                and variable.sort == value.sort
                and variable.args[0] not in value.free
            ):
                rest = [other for other in clause if other is not part]
                return of_values(_replaced(rest, variable, value))
    return clause


def _replaced(clause: Sequence[Literal], variable: Term, value: Term) -> list[Literal]:
    """The clause with a value for a variable; without what is false of every state then."""
    literals = []
    for part in clause:
        term, holds = made_again(substituted(part.term, variable, value)), part.holds
        meaning = part.meaning and made_again(substituted(part.meaning, variable, value))
        if term.op == "not":
            term, holds = term.args[0], not holds
        if term.op != "const":
            literals.append(Literal(term, holds, part.cost, meaning))
    return literals

"""Turns fields into cells and terms into terms over cells, for every executable lowering.

Quantifiers are unrolled; an index that is not a literal becomes a chain of if-then-else over the
index's domain.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping

from model.language import terms as t
from model.language.errors import ProtocolError
from model.language.scalars import blank_term
from model.language.schema import Field
from model.language.sorts import BOOL, Sort
from model.language.system import RecordedSystem
from model.language.terms import Term
from specs.lowering.instances import Cell
from specs.lowering.intervals import Intervals

Environment = dict[str, Term]
"""Variable -> its replacement: a literal, or a term over cells."""


class BoundedCells:
    """The kept fields of a recorded system as cells under concrete bounds, and terms over them.

    `cells` are the leaves, numbered in the schema's order. A term about a step is over two copies
    of them: see `cell_after`.
    """

    def __init__(
        self, recorded: RecordedSystem, bounds: Mapping[str, int], kept: Collection[str]
    ) -> None:
        self.recorded = recorded
        self.bounds = dict(bounds)
        self.cells: list[Cell] = []
        self._cell_at: dict[tuple[str, tuple[int, ...]], Cell] = {}
        for leaf in recorded.fields.values():
            if leaf.name in kept:
                self._add_cells(leaf)
        self._intervals = Intervals([cell.domain for cell in self.cells] * 2)
        self._memo: dict[tuple[Term | None, ...], Term] = {}
        self._free: dict[Term, tuple[str, ...]] = {}

    # -- cells ------------------------------------------------------------------------------

    def _domain(self, sort: Sort) -> range:
        return sort.domain(self.bounds)

    def _add_cells(self, leaf: Field) -> None:
        domain = self._domain(leaf.sort)
        if not domain:
            raise ProtocolError(f"{leaf.name} has an empty domain under these bounds")
        for index in itertools.product(*(self._domain(sort) for sort in leaf.dims)):
            number = len(self.cells)
            shown = leaf.name + "".join(
                f"[{sort.show(i)}]" for sort, i in zip(leaf.dims, index, strict=True)
            )
            made = Cell(number, leaf, index, domain, t.cell(number, shown, leaf.sort))
            self.cells.append(made)
            self._cell_at[leaf.name, index] = made

    def cell(self, name: str, *index: int) -> Cell:
        """The cell of a field at an index."""
        return self._cell_at[name, index]

    def cell_after(self, cell: Cell) -> Term:
        """The same leaf after a step; its number follows those of all cells of the state before."""
        return t.cell(len(self.cells) + cell.number, cell.name + t.AFTER, cell.field.sort)

    # -- terms ------------------------------------------------------------------------------

    def ground(self, term: Term, environment: Environment) -> Term:
        """The term over cells, with the environment's variables replaced."""
        if term.op == "const":
            return term
        free = self._free.get(term)
        if free is None:
            free = self._free[term] = tuple(sorted(term.free))
        key = (term, *[environment.get(name) for name in free])
        found = self._memo.get(key)
        if found is None:
            found = self._memo[key] = self._ground(term, environment)
        return found

    def _ground(self, term: Term, environment: Environment) -> Term:
        op, args = term.op, term.args

        def go(part: Term) -> Term:
            return self.ground(part, environment)

        if op == "var":
            if args[0] not in environment:
                raise ProtocolError(f"the variable {args[0]} is used outside its scope")
            return environment[args[0]]
        if op == "bound":
            return t.const(self.bounds[args[0]])
        if op == "get":
            if args[0].startswith("$"):
                chosen, index = environment[args[0]].args[0], go(args[1])
                return t.or_(*(t.eq(index, t.const(member)) for member in sorted(chosen)))
            name = args[0].removesuffix(t.AFTER)
            leaf, is_after = self.recorded.fields[name], name != args[0]
            return self._choose(leaf, [go(index) for index in args[1:]], (), is_after)
        if op in ("not", "and", "or", "add"):
            return t.rebuilt(term, [*map(go, args)])
        if op in ("eq", "lt", "le"):
            return self._narrow(t.rebuilt(term, [*map(go, args)]))
        if op == "ite":
            condition = go(args[0])
            if condition is t.TRUE:
                return go(args[1])
            if condition is t.FALSE:
                return go(args[2])
            return t.ite(condition, go(args[1]), go(args[2]))
        if op in ("every", "some", "count", "least"):
            return self._unroll(term, environment)
        raise ProtocolError(f"the operation {op} cannot be enumerated")

    def _narrow(self, term: Term) -> Term:
        """A comparison that the domains of its cells already decide is a literal."""
        if term.op not in ("eq", "lt", "le") or term.args[0].sort is BOOL:
            return term
        (a, b), (c, d) = self._intervals.of(term.args[0]), self._intervals.of(term.args[1])
        if term.op == "eq":
            return t.FALSE if b < c or d < a else term
        if term.op == "lt":
            return t.TRUE if b < c else t.FALSE if a >= d else term
        return t.TRUE if b <= c else t.FALSE if a > d else term

    def _choose(
        self, leaf: Field, indices: list[Term], fixed: tuple[int, ...], is_after: bool
    ) -> Term:
        if len(fixed) == len(indices):
            found = self._cell_at.get((leaf.name, fixed))
            # A read outside the domain is junk, which a guarded text never looks at.
            if found is None:
                return blank_term(leaf.sort)
            return self.cell_after(found) if is_after else found.term
        index = indices[len(fixed)]
        if index.op == "const":
            return self._choose(leaf, indices, (*fixed, int(index.args[0])), is_after)
        low, high = self._intervals.of(index)
        candidates = [i for i in self._domain(leaf.dims[len(fixed)]) if low <= i <= high]
        if not candidates:
            return blank_term(leaf.sort)
        if candidates[0] <= low and high <= candidates[-1]:
            value = self._choose(leaf, indices, (*fixed, candidates[-1]), is_after)
            rest = candidates[:-1]
        else:  # outside the domain there is nothing but blank
            value, rest = blank_term(leaf.sort), candidates
        for i in reversed(rest):
            here = self._choose(leaf, indices, (*fixed, i), is_after)
            value = t.ite(t.eq(index, t.const(i)), here, value)
        return value

    def _unroll(self, term: Term, environment: Environment) -> Term:
        variable, low, high, body, *rest = term.args
        name = variable.args[0]
        limits = [
            None if limit is None else self.ground(limit, environment) for limit in (low, high)
        ]
        cases: list[tuple[int, Term]] = []
        for value in self._domain(variable.sort):
            code = t.const(value)
            inside = t.TRUE
            if limits[0] is not None:
                inside = t.and_(inside, self._narrow(t.le(limits[0], code)))
            if limits[1] is not None:
                inside = t.and_(inside, self._narrow(t.lt(code, limits[1])))
            if inside is t.FALSE:
                continue
            holds = self.ground(body, {**environment, name: code})
            if term.op == "every":
                cases.append((value, t.implies(inside, holds)))
            else:
                cases.append((value, t.and_(inside, holds)))
        if term.op == "every":
            return t.and_(*(case for _, case in cases))
        if term.op == "some":
            return t.or_(*(case for _, case in cases))
        if term.op == "count":
            sure = sum(case is t.TRUE for _, case in cases)
            open_ = tuple(case for _, case in cases if case.op != "const")
            return t.add(t.make("total", open_, term.sort) if open_ else t.const(0), t.const(sure))
        value_term = self.ground(rest[0], environment)
        for value, case in reversed(cases):
            value_term = t.ite(case, t.const(value), value_term)
        return value_term

    def _stays_within(self, value: Term, domain: range) -> bool:
        low, high = self._intervals.of(value)
        return domain[0] <= low and high <= domain[-1]

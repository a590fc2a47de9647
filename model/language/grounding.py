"""The enumerated instance: every field becomes cells, every transition its instances.

Parameters take every value of their sorts, quantifiers are unrolled, an index that is not a
literal becomes a chain of if-then-else over the index's domain. What remains are terms over
`cell`s only, which every executable lowering turns into code.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from model.language import terms as t
from model.language.errors import ImpossibleValue, ProtocolError, a
from model.language.instances import Cell, Check, Instance
from model.language.intervals import Intervals
from model.language.recording import Recorded, Write
from model.language.scalars import blank_term
from model.language.schema import Field, SetOf
from model.language.sorts import BOOL, Bounded, Numbers, Sort
from model.language.system import RecordedSystem
from model.language.terms import Term

Environment = dict[str, Term]


class Grounded:
    """A recorded system with concrete bounds.

    `cells` are the leaves; `instances` the steps with their parameters chosen; `reasons` numbers
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
        self.recorded = recorded
        self.bounds = dict(bounds)
        chosen = list(recorded.claims) if claims is None else list(claims)
        judged = [*(recorded.claim(name)[1] for name in chosen), *also]
        needed = recorded.fields_needed(judged, self.bounds)
        self._kept = needed & set(recorded.fields)
        self.dropped_ghosts = sorted(set(recorded.fields) - needed)
        self.cells: list[Cell] = []
        self._cell_at: dict[tuple[str, tuple[int, ...]], Cell] = {}
        for leaf in recorded.fields.values():
            if leaf.name in self._kept:
                self._add_cells(leaf)
        self._intervals = Intervals([cell.domain for cell in self.cells] * 2)
        self._memo: dict[tuple[Term, tuple[tuple[str, Term], ...]], Term] = {}
        self.reasons: list[tuple[str, str]] = []
        self._reason_number: dict[tuple[str, str], int] = {}
        for step in recorded.steps:
            for requirement in step.requires:
                key = (step.transition.name, requirement.reason)
                self._reason_number[key] = len(self.reasons)
                self.reasons.append(key)
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
        """The numbers of the instances that an `eventually` treats fairly; none of other claims."""
        fair = self.recorded.claim(claim)[0].fair
        return [one.number for one in self.instances if one.step.transition.name in fair]

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
        """The same leaf after a step: numbered behind all cells of the state before it."""
        return t.cell(len(self.cells) + cell.number, cell.name + t.AFTER, cell.field.sort)

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

    # -- terms ------------------------------------------------------------------------------

    def ground(self, term: Term, environment: Environment) -> Term:
        """The term over cells, with the environment's variables replaced."""
        if term.op == "const":
            return term
        key = (term, tuple((v, environment[v]) for v in sorted(term.free) if v in environment))
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
        if op == "not":
            return t.not_(go(args[0]))
        if op == "and":
            return t.and_(*map(go, args))
        if op == "or":
            return t.or_(*map(go, args))
        if op == "eq":
            return self._narrow(t.eq(go(args[0]), go(args[1])))
        if op == "lt":
            return self._narrow(t.lt(go(args[0]), go(args[1])))
        if op == "le":
            return self._narrow(t.le(go(args[0]), go(args[1])))
        if op == "add":
            return t.add(go(args[0]), go(args[1]))
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

    # -- steps ------------------------------------------------------------------------------

    def _choices(self, step: Recorded) -> Iterator[tuple[int | frozenset[int], ...]]:
        domains: list[list[int] | list[frozenset[int]]] = []
        for sort in step.parameters.values():
            if isinstance(sort, SetOf):
                members = list(self._domain(sort.element))
                domains.append(
                    [
                        frozenset(chosen)
                        for size in range(len(members) + 1)
                        for chosen in itertools.combinations(members, size)
                    ]
                )
            else:
                domains.append(list(self._domain(sort)))
        yield from itertools.product(*domains)

    def _add_instances(self, step: Recorded) -> None:
        for chosen in self._choices(step):
            environment: Environment = {}
            for name, value in zip(step.parameters, chosen, strict=True):
                if isinstance(value, frozenset):
                    environment[f"${name}"] = t.make("set", (value,), BOOL)
                else:
                    environment[f"${name}"] = t.const(value)
            requires: list[tuple[Term, int]] = []
            possible = True
            for requirement in step.requires:
                condition = self.ground(requirement.condition, environment)
                number = self._reason_number[step.transition.name, requirement.reason]
                if condition is t.TRUE:
                    continue
                requires.append((condition, number))
                if condition is t.FALSE:
                    self.refused_by_parameters.add(number)
                    possible = False
                    break
            instance = Instance(len(self.instances), step, chosen, requires)
            if possible:
                for write in step.writes:
                    self._apply(write, environment, instance.writes, instance.checks)
                self._zero_junk(instance.writes)
                self._check_domains(instance)
            self.instances.append(instance)

    def _apply(
        self, write: Write, environment: Environment, into: dict[int, Term], checks: list[Check]
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
        checks: list[Check],
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
        for part in t.compared_with(value, variable):
            others = [i for i, name in enumerate(names) if name in part.free]
            if not part.free <= {*environment, *names}:
                continue  # it stands under a quantifier, which has no element that does not exist
            for chosen in itertools.product(*(domains[i] for i in others)):
                inner = {names[i]: t.const(c) for i, c in zip(others, chosen, strict=True)}
                found[self.ground(part, {**environment, **inner})] = None
        return list(found)

    def _stays_within(self, value: Term, domain: range) -> bool:
        low, high = self._intervals.of(value)
        return domain[0] <= low and high <= domain[-1]

    def _candidates(self, leaf: Field, position: int, key: Term) -> list[int]:
        if key.op == "const":
            return [int(key.args[0])]
        low, high = self._intervals.of(key)
        return [i for i in self._domain(leaf.dims[position]) if low <= i <= high]

    def _check_index(self, leaf: Field, sort: Sort, key: Term, checks: list[Check]) -> None:
        domain = self._domain(sort)
        what = f"{leaf.name} is written at {a(sort.name)} that does not exist"
        self._check_range(key, domain, sort, what, checks)

    def _check_range(
        self,
        value: Term,
        domain: range,
        sort: Sort,
        what: str,
        checks: list[Check],
        unless: Term = t.FALSE,
    ) -> None:
        low, high = self._intervals.of(value)
        if low < domain[0]:
            checks.append(Check(t.or_(unless, t.le(t.const(domain[0]), value)), None, what))
        if high > domain[-1]:
            bound = None
            if isinstance(sort, Numbers) and sort.beyond == "prune":
                bound = sort.high.bound if isinstance(sort.high, Bounded) else sort.name
            checks.append(Check(t.or_(unless, t.le(value, t.const(domain[-1]))), bound, what))

    def _check_domains(self, instance: Instance) -> None:
        for number, value in sorted(instance.writes.items()):
            made = self.cells[number]
            if made.field.sort is BOOL:
                continue
            what = f"{made.name} would leave {made.domain[0]}..{made.domain[-1]}"
            self._check_range(value, made.domain, made.field.sort, what, instance.checks)
        # An always-false check belongs first; the same check twice only costs time.
        instance.checks = list({(c.fine, c.bound): c for c in instance.checks}.values())

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

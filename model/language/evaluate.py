"""The reference evaluator: recorded terms evaluated one by one on sparse states, unoptimised.

It is the oracle for every other lowering, and the third instantiation of a sort: numbers are
64-bit integers without bounds (epochs in the tens, offsets in the millions), so that it can judge
steps of a real cluster. A sparse state is field name -> {index -> value} with only the values that
differ from the sort's blank value, so that equal states are equal dicts:

    twin = Evaluator(recorded, {"brokers": 3})
    refused = twin.possible(step, state, {"leader": 1, "laggard": 2})   # a Requirement, or None
    after = twin.successor(step, state, {"leader": 1, "laggard": 2})
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from model.language.errors import ImpossibleValue, ProtocolError, a
from model.language.explain import why_not
from model.language.pointwise import Pointwise
from model.language.recording import Recorded, Requirement, Write
from model.language.scalars import blank_term
from model.language.schema import Field, SetOf
from model.language.sorts import BOOL, Bounded, Enumeration, Numbers, Sort
from model.language.sparse import Arguments, Environment, Index, SparseState
from model.language.system import RecordedSystem
from model.language.terms import AFTER, Term, compared_with

INT64 = range(-(2**63), 2**63)


class BeyondBound(ProtocolError):
    """Raised if a successor is beyond a given bound: not impossible, but not in the instance."""

    def __init__(self, bound: str, what: str) -> None:
        super().__init__(what)
        self.bound = bound


class Evaluator:
    """A recorded system on sparse states.

    `bounds` gives the size of every enumeration (`{"brokers": 3}`) and of the guards that a
    system names by `limit`. A bound of numbers may be given too: a quantifier over numbers that
    names no range then ends there, and so do the successors (`BeyondBound`).
    """

    def __init__(self, recorded: RecordedSystem, bounds: Mapping[str, int]) -> None:
        self.recorded = recorded
        self.bounds = dict(bounds)

    # -- the three questions ------------------------------------------------------------------

    def possible(
        self, step: Recorded, state: SparseState, arguments: Arguments
    ) -> Requirement | None:
        """The first requirement that fails, or None: the step is possible."""
        environment = self._environment(step, arguments)
        for requirement in step.requires:
            if not self.value(requirement.condition, state, environment):
                return requirement
        return None

    def successor(self, step: Recorded, state: SparseState, arguments: Arguments) -> SparseState:
        """The state after a possible step; a step that is not possible is refused with its why."""
        refused = self.possible(step, state, arguments)
        if refused is not None:
            raise ProtocolError(
                f"{step.transition.name}: {self.explain(refused, state, arguments)}"
            )
        return self.after(step, state, arguments)

    def after(self, step: Recorded, state: SparseState, arguments: Arguments) -> SparseState:
        """The state after a step that is known to be possible."""
        return self._written(state, step.writes, self._environment(step, arguments))

    def explain(self, requirement: Requirement, state: SparseState, arguments: Arguments) -> str:
        """`not possible: the cached version is current — false (zk.version 5, ...)`."""
        environment = {f"${name}": value for name, value in arguments.items()}
        return why_not(self, requirement, state, environment)

    def initial(self) -> SparseState:
        """The system's initial state."""
        return self._written({}, self.recorded.initial, {})

    def holds(self, claim: str, state: SparseState) -> bool:
        """A claim's condition in a state."""
        about, condition = self.recorded.claim(claim)
        if about.is_about_steps:
            raise ProtocolError(f"{claim} is about steps: ask holds_of_step(claim, now, after)")
        return bool(self.value(condition, state, {}))

    def holds_of_step(self, claim: str, now: SparseState, after: SparseState) -> bool:
        """The condition of a claim about steps, of the step between two states."""
        about, condition = self.recorded.claim(claim)
        if not about.is_about_steps:
            raise ProtocolError(f"{claim} is about one state: ask holds(claim, state)")
        both = {**now, **{name + AFTER: cells for name, cells in after.items()}}
        return bool(self.value(condition, both, {}))

    # -- terms --------------------------------------------------------------------------------

    def value(self, term: Term, state: SparseState, environment: Environment) -> int:
        """A term's value: a bool, a number, or a code."""
        op, args = term.op, term.args

        def go(part: Term) -> int:
            return self.value(part, state, environment)

        if op == "const":
            return int(args[0]) if term.sort is not BOOL else bool(args[0])
        if op == "var":
            found = environment[args[0]]
            assert isinstance(found, int)
            return found
        if op == "bound":
            return self._bound(args[0])
        if op == "get":
            if args[0].startswith("$"):
                members = environment[args[0]]
                assert isinstance(members, frozenset)
                return go(args[1]) in members
            return self.read(state, args[0], tuple(go(index) for index in args[1:]))
        if op == "not":
            return not go(args[0])
        if op == "and":
            return all(go(arg) for arg in args)
        if op == "or":
            return any(go(arg) for arg in args)
        if op == "eq":
            return go(args[0]) == go(args[1])
        if op == "lt":
            return go(args[0]) < go(args[1])
        if op == "le":
            return go(args[0]) <= go(args[1])
        if op == "add":
            return self._fitting(go(args[0]) + go(args[1]), str(term))
        if op == "ite":
            return go(args[1]) if go(args[0]) else go(args[2])
        return self._quantified(term, state, environment)

    def _quantified(self, term: Term, state: SparseState, environment: Environment) -> int:
        variable, _, _, body, *default = term.args
        values = self.range_of(term, state, environment)
        cases = (
            (value, bool(self.value(body, state, {**environment, variable.args[0]: value})))
            for value in values
        )
        if term.op == "every":
            return all(holds for _, holds in cases)
        if term.op == "some":
            return any(holds for _, holds in cases)
        if term.op == "count":
            return sum(holds for _, holds in cases)
        for value, holds in cases:
            if holds:
                return value
        return self.value(default[0], state, environment)

    def range_of(self, term: Term, state: SparseState, environment: Environment) -> range:
        """The values that a quantifier's variable takes here."""
        variable, low, high = term.args[:3]
        bottom, top = self.ends(variable.sort)
        if low is not None:
            bottom = max(bottom, self.value(low, state, environment))
        if high is not None:
            limit = self.value(high, state, environment)
            top = limit - 1 if top is None else min(top, limit - 1)
        if top is None:
            raise ProtocolError(
                f"`{term.op}` ranges over every {variable.sort.name}, and they have no upper limit "
                "here: quantify over below(sort, end), or give the bound"
            )
        return range(bottom, top + 1)

    def ends(self, sort: Sort) -> tuple[int, int | None]:
        """The least and the greatest value of a sort; None: no limit is known."""
        if isinstance(sort, Numbers):
            high = sort.high
            if isinstance(high, Bounded):
                high = high.value(self.bounds) if high.bound in self.bounds else None
            return sort.bottom, high
        if isinstance(sort, Enumeration):
            self._bound(sort.bound)
        domain = sort.domain(self.bounds)
        return domain[0], domain[-1]

    def _bound(self, name: str) -> int:
        if name not in self.bounds:
            raise ProtocolError(f"give the bound {name!r}: this system cannot be read without it")
        return self.bounds[name]

    # -- reading and writing --------------------------------------------------------------------

    def read(self, state: SparseState, name: str, index: Index) -> int:
        """A field at an index; a cell that was never written is blank."""
        found = state.get(name, {}).get(index)
        if found is not None:
            return found
        return blank_code(self.recorded.fields[name.removesuffix(AFTER)].sort)

    def _written(
        self, state: SparseState, writes: Iterable[Write], environment: Environment
    ) -> SparseState:
        new = {name: dict(cells) for name, cells in state.items()}
        changed: set[str] = set()
        for write in writes:
            leaf = self.recorded.fields[write.field]
            for index, value in self._values(write, leaf, state, environment):
                self._check_index(leaf, index)
                new.setdefault(leaf.name, {})[index] = value
            changed.add(leaf.name)
        self._drop_junk(new)
        for name in sorted(changed & set(new)):
            leaf = self.recorded.fields[name]
            for index, value in new[name].items():
                self._check(leaf.sort, value, f"{leaf.name}{list(index)}")
        return _without_blanks(new, self.recorded.fields)

    def _values(
        self, write: Write, leaf: Field, state: SparseState, environment: Environment
    ) -> Iterator[tuple[Index, int]]:
        keys = tuple(self.value(key, state, environment) for key in write.keys)
        pointwise = Pointwise(self, write, blank_code(leaf.sort), state)
        for extra in pointwise.indices(environment):
            inner = dict(environment)
            inner.update(zip((v.args[0] for v in write.variables), extra, strict=True))
            yield (*keys, *extra), self.value(write.value, state, inner)
        for extra in self._outside(write, state, environment):
            inner = dict(environment)
            inner.update(zip((v.args[0] for v in write.variables), extra, strict=True))
            value = self.value(write.value, state, inner)
            if value != blank_code(leaf.sort):
                yield (*keys, *extra), value  # written where nothing is: refused by its index

    def _outside(
        self, write: Write, state: SparseState, environment: Environment
    ) -> Iterator[Index]:
        """Indices outside their sorts that a pointwise write may mean: it compares with them."""
        choices: list[list[int]] = []
        stray: list[set[int]] = []
        for variable in write.variables:
            bottom, top = self.ends(variable.sort)
            compared = {
                self.value(part, state, environment)
                for part in compared_with(write.value, variable)
                if part.free <= set(environment)
            }
            outside = {v for v in compared if v < bottom or (top is not None and v > top)}
            inside = compared - outside if top is None else set(range(bottom, top + 1))
            stray.append(outside)
            choices.append(sorted(inside | outside))
        if any(stray):
            for chosen in itertools.product(*choices):
                if any(index in outside for index, outside in zip(chosen, stray, strict=True)):
                    yield chosen

    def _drop_junk(self, state: SparseState) -> None:
        """Cells of a log at and above its end do not exist."""
        for name, leaf in self.recorded.fields.items():
            if leaf.log is None or name not in state:
                continue
            end, keys = f"{leaf.log}.end", len(self.recorded.fields[f"{leaf.log}.end"].dims)
            state[name] = {
                index: value
                for index, value in state[name].items()
                if index[keys] < self.read(state, end, index[:keys])
            }

    def _check_index(self, leaf: Field, index: Index) -> None:
        for sort, part in zip(leaf.dims, index, strict=True):
            self._check(sort, part, f"{leaf.name} is written at {a(sort.name)} that is")

    def _check(self, sort: Sort, value: int, what: str) -> None:
        bottom, top = self.ends(sort)
        self._fitting(value, what)
        if value < bottom or (top is not None and value > top):
            text = f"{what} would be {value}, outside {bottom}..{'' if top is None else top}"
            if value > bottom and isinstance(sort, Numbers) and sort.beyond == "prune":
                raise BeyondBound(getattr(sort.high, "bound", sort.name), text)
            raise ImpossibleValue(text)

    @staticmethod
    def _fitting(value: int, what: str) -> int:
        # Not `in`: of what is no integer a range tells only by counting through all of it.
        if not INT64.start <= value < INT64.stop:
            raise ImpossibleValue(f"{what} is {value}, which does not fit in 64 bits")
        return value

    def _environment(self, step: Recorded, arguments: Arguments) -> Environment:
        if set(arguments) != set(step.parameters):
            raise ProtocolError(
                f"{step.transition.name} takes {', '.join(step.parameters) or 'no arguments'}; "
                f"given: {', '.join(arguments) or 'none'}"
            )
        for name, sort in step.parameters.items():
            value = arguments[name]
            for part in value if isinstance(value, frozenset) else (value,):
                element = sort.element if isinstance(sort, SetOf) else sort
                self._check(element, part, f"{step.transition.name}: {name}")
        return {f"${name}": value for name, value in arguments.items()}


@cache
def blank_code(sort: Sort) -> int:
    """The value that a sparse state leaves out."""
    code = blank_term(sort).args[0]
    return bool(code) if sort is BOOL else int(code)


def _without_blanks(state: SparseState, fields: Mapping[str, Field]) -> SparseState:
    kept: SparseState = {}
    for name, cells in sorted(state.items()):
        blank = blank_code(fields[name].sort)
        found = {index: value for index, value in cells.items() if value != blank}
        if found:
            kept[name] = found
    return kept


__all__ = [
    "INT64",
    "Arguments",
    "BeyondBound",
    "Environment",
    "Evaluator",
    "Index",
    "SparseState",
    "blank_code",
]

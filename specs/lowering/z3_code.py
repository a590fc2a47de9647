"""The lowering to Z3: the only file that builds solver terms.

Unbounded: brokers are an uninterpreted sort, numbers are mathematical integers, every field is an
uninterpreted function, and a step is a functional update: no primed symbols, no frame axioms, no
arrays. With a number of brokers given, the sort is closed over that many constants.
The same terms after grounding (cells only) lower to quantifier-free formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from model.language.errors import ProtocolError
from model.language.recording import Recorded, Write
from model.language.scalars import blank_term
from model.language.schema import Field, SetOf
from model.language.sorts import BOOL, Enumeration, Names, Numbers, Sort
from model.language.system import RecordedSystem
from model.language.terms import AFTER, Term

Function = Callable[..., Any]
State = Mapping[str, Function]
Environment = Mapping[str, Any]


def connect(op: str, parts: list[Any]) -> Any:
    """A connective or comparison of lowered parts."""
    if op == "not":
        return z3.Not(parts[0])
    if op == "and":
        return z3.And(*parts)
    if op == "or":
        return z3.Or(*parts)
    if op == "eq":
        return parts[0] == parts[1]
    if op == "lt":
        return parts[0] < parts[1]
    if op == "le":
        return parts[0] <= parts[1]
    if op == "add":
        return parts[0] + parts[1]
    if op == "ite":
        return z3.If(parts[0], parts[1], parts[2])
    if op == "total":
        return z3.Sum(*(z3.If(part, 1, 0) for part in parts)) if parts else z3.IntVal(0)
    raise ProtocolError(f"the operation {op} has no lowering to Z3; enumerate the system first")


BROKERS = "brokers"
"""The name of the bound that gives the number of brokers."""


def _families_with_none(recorded: RecordedSystem) -> set[str]:
    """The enumerations that some field or parameter may leave at none; the others need no value for
    none."""
    sorts: set[Sort] = set()
    for leaf in recorded.fields.values():
        sorts |= {leaf.sort, *leaf.dims}
    for step in recorded.steps:
        sorts |= {sort for sort in step.parameters.values() if isinstance(sort, Sort)}
    return {s.family for s in sorts if isinstance(s, Enumeration) and s.none_allowed}


@dataclass
class Parameters:
    """Fresh constants for a step's parameters, and the facts known about them."""

    environment: dict[str, Any]
    facts: list[Any]


class Z3Code:
    """The unbounded instance of a recorded system.

    `brokers` closes the enumerations of brokers over that many values; None leaves them open.
    `bounds` gives the values of bounds that occur as literals in the text (`limit`).
    """

    def __init__(
        self,
        recorded: RecordedSystem,
        brokers: int | None = None,
        bounds: Mapping[str, int] | None = None,
    ) -> None:
        self.recorded = recorded
        self.bounds = dict(bounds or {})
        self._sorts: dict[str, Any] = {}
        self._constants: dict[tuple[str, int], Any] = {}
        self._brokers = brokers
        self._fresh = 0
        self._with_none = _families_with_none(recorded)
        self.axioms: list[Any] = []

    # -- sorts and constants ------------------------------------------------------------------

    def sort(self, sort: Sort) -> Any:
        """The Z3 sort of a family of values."""
        if sort is BOOL:
            return z3.BoolSort()
        if isinstance(sort, (Numbers, Names)):
            return z3.IntSort()
        if sort.family not in self._sorts:
            declared = z3.DeclareSort(sort.family)
            self._sorts[sort.family] = declared
            self._close(sort, declared)
        return self._sorts[sort.family]

    def _close(self, sort: Sort, declared: Any) -> None:
        family, members = sort.family, []
        if family in self._with_none:
            members.append(z3.Const(f"no_{family}", declared))
            self._constants[family, 0] = members[0]
        if self._brokers is None or getattr(sort, "bound", None) != BROKERS:
            return
        for code in range(1, self._brokers + 1):
            members.append(z3.Const(f"{family}_{code}", declared))
            self._constants[family, code] = members[-1]
        self.axioms.append(z3.Distinct(*members))
        anyone = z3.Const(f"any_{family}", declared)
        self.axioms.append(z3.ForAll([anyone], z3.Or(*(anyone == m for m in members))))

    def literal(self, sort: Sort, code: int | bool) -> Any:
        """A code as a Z3 value."""
        if sort is BOOL:
            return z3.BoolVal(bool(code))
        if isinstance(sort, (Numbers, Names)):
            return z3.IntVal(int(code))
        self.sort(sort)
        if (sort.family, int(code)) not in self._constants:
            raise ProtocolError(f"{sort.name} {code} is named, and the sort is unbounded here")
        return self._constants[sort.family, int(code)]

    def constant(self, name: str, sort: Sort) -> Any:
        """A new constant of which nothing is known."""
        self._fresh += 1
        return z3.Const(f"{name}!{self._fresh}", self.sort(sort))

    def in_domain(self, sort: Sort, value: Any) -> list[Any]:
        """What an arbitrary value of the sort satisfies; upper bounds do not exist here."""
        if isinstance(sort, Numbers):
            return [value >= sort.bottom]
        if isinstance(sort, Names):
            return [value >= 0, value < len(sort.values)]
        if isinstance(sort, Enumeration) and not sort.none_allowed:
            return [value != self.literal(sort, 0)] if sort.family in self._with_none else []
        return []

    # -- states -------------------------------------------------------------------------------

    def state(self, tag: str = "") -> dict[str, Function]:
        """An arbitrary state: one uninterpreted function per field."""
        return {name: self._symbol(leaf, tag) for name, leaf in self.recorded.fields.items()}

    def _symbol(self, leaf: Field, tag: str) -> Function:
        result = self.sort(leaf.sort)
        if not leaf.dims:
            constant = z3.Const(leaf.name + tag, result)
            return lambda: constant
        function = z3.Function(leaf.name + tag, *(self.sort(d) for d in leaf.dims), result)
        return lambda *index: function(*index)

    def domains(self, state: State, leaf: Field) -> Any:
        """A formula: a field's values are in its sort's domain (upper bounds do not exist here)."""
        variables = [self.constant("d", dim) for dim in leaf.dims]
        value = state[leaf.name](*variables)
        facts = self.in_domain(leaf.sort, value)
        if not facts:
            return None
        body = z3.And(*facts)
        if not variables:
            return body
        # Only a state's own function may be a pattern: after a step it is more than that.
        named = value.num_args() > 0 and value.decl().kind() == z3.Z3_OP_UNINTERPRETED
        return z3.ForAll(variables, body, patterns=[value] if named else [])

    def blank_state(self) -> dict[str, Function]:
        """The initial state as functions."""
        state: dict[str, Function] = {}
        for name, leaf in self.recorded.fields.items():
            state[name] = _constantly(self._blank(leaf.sort))
        return self.written(state, self.recorded.initial, {})

    def _blank(self, sort: Sort) -> Any:
        code = blank_term(sort).args[0]
        declared = self.sort(sort)
        if not isinstance(sort, Enumeration) or (sort.family, code) in self._constants:
            return self.literal(sort, code)
        # Where values have no names, the first is one of which nothing is known: but it is one.
        first = z3.Const(f"first_{sort.family}", declared)
        self.axioms += [first != none for none in self._none_of(sort)]
        return first

    def _none_of(self, sort: Sort) -> list[Any]:
        return [self.literal(sort, 0)] if sort.family in self._with_none else []

    def parameters(self, step: Recorded) -> Parameters:
        """Fresh parameters for a step; each is in its sort's domain."""
        environment: dict[str, Any] = {}
        facts: list[Any] = []
        for name, sort in step.parameters.items():
            if isinstance(sort, SetOf):
                self._fresh += 1
                function = z3.Function(
                    f"{name}!{self._fresh}", self.sort(sort.element), z3.BoolSort()
                )
                environment[f"${name}"] = function
            else:
                constant = self.constant(name, sort)
                environment[f"${name}"] = constant
                facts += self.in_domain(sort, constant)
        return Parameters(environment, facts)

    def after(self, step: Recorded, state: State, environment: Environment) -> dict[str, Function]:
        """The state after a step: only what it writes differs."""
        return self.written(state, step.writes, environment)

    def written(
        self, state: State, writes: Sequence[Write], environment: Environment
    ) -> dict[str, Function]:
        """The state with writes applied; all writes read the state before."""
        new = dict(state)
        for write in writes:
            new[write.field] = self._write(write, new[write.field], state, environment)
        return new

    def _write(
        self, write: Write, before: Function, state: State, environment: Environment
    ) -> Function:
        keys = [self.term(key, state, environment) for key in write.keys]

        def function(*index: Any) -> Any:
            here = [i == key for i, key in zip(index, keys, strict=False)]
            inner = dict(environment)
            for variable, i in zip(write.variables, index[len(keys) :], strict=True):
                inner[variable.args[0]] = i
            value = self.term(write.value, state, inner)
            return value if not here else z3.If(z3.And(*here), value, before(*index))

        return function

    # -- terms --------------------------------------------------------------------------------

    def term(self, term: Term, state: State, environment: Environment) -> Any:
        """A recorded term in a state, with parameters and bound variables in the environment."""
        memo: dict[tuple[Term, tuple[Any, ...]], Any] = {}
        return self._term(term, state, dict(environment), memo)

    def _term(self, term: Term, state: State, env: dict[str, Any], memo: dict[Any, Any]) -> Any:
        # `id` is safe as a key: the memo holds every bound value, so none is freed and its id
        # reused.
        key = (term, tuple((v, id(env[v])) for v in sorted(term.free) if v in env))
        if key not in memo:
            memo[key] = self._lower(term, state, env, memo)
        return memo[key]

    def _lower(self, term: Term, state: State, env: dict[str, Any], memo: dict[Any, Any]) -> Any:
        op, args = term.op, term.args

        def go(part: Term) -> Any:
            return self._term(part, state, env, memo)

        if op == "const":
            return self.literal(term.sort, args[0])
        if op == "var":
            return env[args[0]]
        if op == "bound":
            if args[0] not in self.bounds:
                raise ProtocolError(
                    f"the bound {args[0]} is a guard of this system; it has no unbounded form"
                )
            return z3.IntVal(self.bounds[args[0]])
        if op == "get":
            if args[0].startswith("$"):
                return env[args[0]](go(args[1]))
            if args[0].endswith(AFTER) and args[0] not in state:
                raise ProtocolError(
                    f"{args[0]} is of the state after a step: a claim about steps is checked by "
                    "exploring; to prove it, prove an invariant from which it follows"
                )
            return state[args[0]](*(go(index) for index in args[1:]))
        if op in ("count", "least"):
            word = "how_many" if op == "count" else op
            raise ProtocolError(
                f"{word} has no unbounded form: enumerate the system first, or say what is needed "
                "with every(...) and some(...)"
            )
        if op in ("every", "some"):
            return self._quantify(term, state, env, memo)
        return connect(op, [go(arg) for arg in args])

    def _quantify(self, term: Term, state: State, env: dict[str, Any], memo: dict[Any, Any]) -> Any:
        variable, low, high, body = term.args
        x = self.constant(variable.args[0].split("#")[0], variable.sort)
        inside = self.in_domain(variable.sort, x)
        if low is not None:
            inside.append(self._term(low, state, env, memo) <= x)
        if high is not None:
            inside.append(x < self._term(high, state, env, memo))
        inner = self._term(body, state, {**env, variable.args[0]: x}, memo)
        if term.op == "every":
            return z3.ForAll([x], z3.Implies(z3.And(*inside), inner) if inside else inner)
        return z3.Exists([x], z3.And(*inside, inner))

    def guard(self, step: Recorded, state: State, environment: Environment) -> list[Any]:
        """The step's requirements, in order."""
        return [self.term(r.condition, state, environment) for r in step.requires]


def _constantly(value: Any) -> Function:
    return lambda *index: value


def lower_grounded(
    term: Term, cell: Callable[[int], Any], memo: dict[Term, Any], context: Any = None
) -> Any:
    """A term over cells as a quantifier-free formula; broker values are integers here.

    `context` is the Z3 context of the cells; None is the context of the process.
    """
    found = memo.get(term)
    if found is None:
        if term.op == "const":
            value = term.args[0]
            literal = z3.BoolVal if isinstance(value, bool) else z3.IntVal
            found = literal(value, context)
        elif term.op == "cell":
            found = cell(term.args[0])
        else:
            found = connect(
                term.op, [lower_grounded(arg, cell, memo, context) for arg in term.args]
            )
        memo[term] = found
    return found

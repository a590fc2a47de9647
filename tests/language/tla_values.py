"""What an exported TLA+ module says of states and steps: read by a grammar of TLA+ alone.

It knows the operators that exports use and nothing of insync. Values are bools, numbers, texts (of
strings and of model values), frozensets, tuples (the elements of relations), and dicts: a function
by its arguments, a record by the names of its parts, a sequence by its positions from 1.

What has no value raises `NoValue`, where TLC would stop: a function at what is not in its domain.
As TLC does, it looks at every side of a disjunction that stands in an action, and at every value of
an existential quantifier there, whatever the first one says.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.specs.exported_tla import parsed

Scope = dict[Any, Any]
"""Values by name; under `NOW` and `AFTER` the states before and after a step."""

Meaning = Callable[[Scope], Any]
NOW, AFTER, HERE = 0, 1, "@"
MODEL_VALUE = "None"


class NoValue(Exception):
    """A function was applied to what is not in its domain, or nothing is there to be chosen."""


@dataclass(frozen=True)
class Among:
    """A set by the rule for its members: there may be no end to them."""

    rule: Callable[[Any], bool]

    def __contains__(self, value: Any) -> bool:
        return self.rule(value)


@dataclass(frozen=True)
class Subsets:
    """`SUBSET S`."""

    of: Any

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, frozenset) and all(one in self.of for one in value)

    def __iter__(self) -> Iterator[frozenset[Any]]:
        members = sorted(self.of)
        for size in range(len(members) + 1):
            yield from map(frozenset, itertools.combinations(members, size))


def _same(one: Any, other: Any) -> bool:
    alike = isinstance(one, bool) == isinstance(other, bool) and (
        isinstance(one, str) == isinstance(other, str) or MODEL_VALUE in (one, other)
    )
    assert alike, f"TLC compares no {one!r} with {other!r}"
    return bool(one == other)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": _same,
    "<=>": _same,
    "#": lambda one, other: not _same(one, other),
    "<": lambda one, other: _number(one) < _number(other),
    ">": lambda one, other: _number(one) > _number(other),
    "<=": lambda one, other: _number(one) <= _number(other),
    ">=": lambda one, other: _number(one) >= _number(other),
    "+": lambda one, other: _number(one) + _number(other),
    "-": lambda one, other: _number(one) - _number(other),
    "..": lambda one, other: frozenset(range(one, other + 1)),
    r"\in": lambda one, other: one in other,
    r"\notin": lambda one, other: one not in other,
    r"\cup": lambda one, other: one | other,
    r"\cap": lambda one, other: one & other,
    "\\": lambda one, other: one - other,
    r"\subseteq": lambda one, other: one <= other,
}

STANDARD: dict[str, Callable[..., Any]] = {
    "Cardinality": len,
    "Len": len,
    "Append": lambda log, record: {**log, len(log) + 1: record},
    "SubSeq": lambda log, first, last: {
        place - first + 1: _at(log, place) for place in range(first, last + 1)
    },
    "Seq": lambda records: Among(
        lambda log: (
            set(log) == set(range(1, len(log) + 1)) and all(one in records for one in log.values())
        )
    ),
}
"""Of the modules Integers, FiniteSets and Sequences."""


def _number(value: Any) -> int:
    assert isinstance(value, int), f"{value!r} is no number"
    assert not isinstance(value, bool), f"{value!r} is no number"
    return value


def _at(function: Any, argument: Any) -> Any:
    if argument not in function:
        raise NoValue(argument)
    return function[argument]


class _Later:
    """A local definition: it has a value when it is asked for one."""

    def __init__(self, meaning: Meaning, scope: Scope) -> None:
        self._meaning, self._scope = meaning, scope

    def value(self) -> Any:
        if not hasattr(self, "_value"):
            self._value = self._meaning(self._scope)
        return self._value


class TlaModule:
    """A module, with the values of its constants."""

    def __init__(self, text: str, constants: Mapping[str, Any]) -> None:
        self.constants = dict(constants)
        self.operators: dict[str, tuple[list[str], Any]] = {}
        self.variables: list[str] = []
        self._meanings: dict[str, Meaning] = {}
        self._acts: dict[str, Meaning] = {}
        root = parsed(text)
        assert not root.has_error, text
        for node in root.children[0].children:
            if node.type == "variable_declaration":
                self.variables += [_text(one) for one in _parts(node)]
            if node.type == "operator_definition":
                names = [_text(one) for one in _all(node, "parameter")]
                self.operators[_text(_of(node, "name"))] = names, _of(node, "definition")

    # -- what a module says --------------------------------------------------------------------

    def initial(self) -> dict[str, Any]:
        """The state that Init describes."""
        scope: Scope = {NOW: {}, AFTER: {}}
        assert self._act(self.operators["Init"][1], frozenset())(scope)
        assert set(scope[AFTER]) == set(self.variables), "Init gives every variable a value"
        return dict(scope[AFTER])

    def steps(
        self, state: Mapping[str, Any]
    ) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
        """The steps of Next from a state: an action, its arguments, and the state after it."""
        for action, arguments in self._choices(self.operators["Next"][1], {NOW: state, AFTER: {}}):
            after = self.step(action, state, arguments)
            if after is not None:
                yield action, arguments, after

    def step(
        self, action: str, state: Mapping[str, Any], arguments: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """The state after an action; None where it is not possible."""
        if action not in self._acts:
            names, body = self.operators[action]
            self._acts[action] = self._act(body, frozenset(names))
        scope: Scope = {NOW: state, AFTER: {}, **arguments}
        if not self._acts[action](scope):
            return None
        missing = set(self.variables) - set(scope[AFTER])
        assert not missing, f"{action} gives {missing} no next value"
        return dict(scope[AFTER])

    def says(
        self, name: str, state: Mapping[str, Any], after: Mapping[str, Any] | None = None
    ) -> Any:
        """What an operator without parameters comes to; of a claim, what is said of one state, or
        of one step: without `[][...]_vars` and `fairly => []<>(...)`."""
        if name not in self._meanings:
            self._meanings[name] = self._meaning(_in_time(self.operators[name][1]), frozenset())
        return self._meanings[name]({NOW: state, AFTER: after or {}})

    # -- steps ---------------------------------------------------------------------------------

    def _choices(self, node: Any, scope: Scope) -> Iterator[tuple[str, dict[str, Any]]]:
        match node.type:
            case "disj_list":
                for one in _parts(node):
                    yield from self._choices(_parts(one)[-1], scope)
            case "bounded_quantification":
                assert _text(_of(node, "quantifier")) == r"\E"
                names = frozenset(name for name in scope if isinstance(name, str))
                for _, inner in self._each(_all(node, "bound"), names)[1](scope):
                    yield from self._choices(_of(node, "expression"), inner)
            case "bound_op":
                name, given = _text(_of(node, "name")), _all(node, "parameter")
                own_names, _ = self.operators[name]
                yield (
                    name,
                    {own: scope[_text(one)] for own, one in zip(own_names, given, strict=True)},
                )
            case "identifier_ref":
                yield _text(node), {}
            case _:
                raise AssertionError(f"no step: {_text(node)}")

    def _act(self, node: Any, local: frozenset[str]) -> Meaning:
        """Is an action possible? Gives the variables their next values, as far as it is."""
        match node.type:
            case "parentheses":
                return self._act(_parts(node)[0], local)
            case "conj_list":
                return _all_of([self._act(_parts(one)[-1], local) for one in _parts(node)])
            case "disj_list":
                return _any_of([self._act(_parts(one)[-1], local) for one in _parts(node)])
            case "let_in":
                defined, inner = self._definitions(node, local)
                rest = self._act(_of(node, "expression"), inner)
                return lambda scope: rest(defined(scope))
            case "bounded_quantification" if _text(_of(node, "quantifier")) == r"\E":
                names, each = self._each(_all(node, "bound"), local)
                body = self._act(_of(node, "expression"), names)
                return lambda scope: True in [_truth(body(inner)) for _, inner in each(scope)]
            case "bound_prefix_op" if _text(_of(node, "symbol")) == "UNCHANGED":
                names_of_them = self._listed(_of(node, "rhs"))
                return _all_of([_given(one, _variable(one)) for one in names_of_them])
            case "bound_infix_op":
                sign, left, right = (_of(node, part) for part in ("symbol", "lhs", "rhs"))
                if _text(sign) in ("/\\", "\\/"):
                    both = [self._act(one, local) for one in (left, right)]
                    return (_all_of if _text(sign) == "/\\" else _any_of)(both)
                if _text(sign) == "=" and self._is_next(left):
                    return _given(_text(left).rstrip("'"), self._meaning(right, local))
            case "bound_op" | "identifier_ref":
                name = _text(_of(node, "name") or node)
                if name in self.operators and name not in local:
                    return self._called(name, _all(node, "parameter"), local, self._act)
        return self._meaning(node, local)

    def _is_next(self, node: Any) -> bool:
        """`x'`, or in Init `x`."""
        primed = node.type == "bound_postfix_op" and _text(_of(node, "symbol")) == "'"
        return primed or (node.type == "identifier_ref" and _is_in_init(node)
                          and _text(node) in self.variables)  # fmt: skip

    def _listed(self, node: Any) -> list[str]:
        """The variables of a tuple, or of the definition that is one."""
        if node.type == "tuple_literal":
            return [_text(one) for one in _parts(node, "bracket")]
        name = _text(node)
        return [name] if name in self.variables else self._listed(self.operators[name][1])

    # -- values --------------------------------------------------------------------------------

    def _meaning(self, node: Any, local: frozenset[str]) -> Meaning:
        """What an expression comes to in a scope in which these names stand for values."""

        def of(one: Any) -> Meaning:
            return self._meaning(one, local)

        match node.type:
            case "nat_number":
                return _always(int(_text(node)))
            case "boolean":
                return _always(_text(node) == "TRUE")
            case "string":
                return _always(_text(node).strip('"'))
            case "boolean_set":
                return _always(frozenset((False, True)))
            case "parentheses":
                return of(_parts(node)[0])
            case "conj_list":
                return _all_of([of(_parts(one)[-1]) for one in _parts(node)])
            case "disj_list":
                sides = [of(_parts(one)[-1]) for one in _parts(node)]
                return lambda scope: any(_truth(one(scope)) for one in sides)
            case "let_in":
                defined, inner = self._definitions(node, local)
                rest = self._meaning(_of(node, "expression"), inner)
                return lambda scope: rest(defined(scope))
            case "identifier_ref":
                return self._named(_text(node), local)
            case "prev_func_val":
                return lambda scope: scope[HERE]
            case "bound_op":
                return self._applied(_text(_of(node, "name")), _all(node, "parameter"), local)
            case "bound_prefix_op":
                return _prefixed(_text(_of(node, "symbol")), of(_of(node, "rhs")))
            case "bound_postfix_op":
                assert _text(_of(node, "symbol")) == "'", _text(node)
                name = _text(_of(node, "lhs"))
                return lambda scope: scope[AFTER][name]
            case "bound_infix_op":
                sign = _text(_of(node, "symbol"))
                if sign == r"\X":
                    return _product([of(one) for one in _factors(node)])
                return _infixed(sign, of(_of(node, "lhs")), of(_of(node, "rhs")))
            case "if_then_else":
                test, then, other = (of(_of(node, part)) for part in ("if", "then", "else"))
                return lambda scope: then(scope) if _truth(test(scope)) else other(scope)
            case "tuple_literal":
                parts = [of(one) for one in _parts(node, "bracket")]
                if not parts:
                    return _always({})
                return lambda scope: tuple(one(scope) for one in parts)
            case "finite_set_literal":
                parts = [of(one) for one in _parts(node)]
                return lambda scope: frozenset(one(scope) for one in parts)
            case "record_literal":
                named = _by_name(_parts(node, "all_map_to"), of)
                return lambda scope: {name: one(scope) for name, one in named.items()}
            case "record_value":
                record, part = of(node.named_children[0]), _text(node.named_children[1])
                return lambda scope: _at(record(scope), part)
            case "function_evaluation":
                function, argument = (of(one) for one in _parts(node))
                return lambda scope: _at(function(scope), argument(scope))
            case "except":
                return self._except(node, local)
            case "set_of_records":
                return _records(_by_name(_parts(node), of))
            case "set_of_functions":
                domain, values = (of(one) for one in _parts(node, "maps_to"))
                return lambda scope: _functions(domain(scope), values(scope))
            case "set_filter" | "function_literal" | "choose" | "bounded_quantification":
                return self._over(node, local)
        raise AssertionError(f"no value of {node.type}: {_text(node)}")

    def _over(self, node: Any, local: frozenset[str]) -> Meaning:
        """What a bound variable is in."""
        bounds = {
            "set_filter": _all(node, "generator"), "choose": [node],
            "function_literal": [o for o in _parts(node) if o.type == "quantifier_bound"],
        }.get(node.type) or _all(node, "bound")  # fmt: skip
        names, each = self._each(bounds, local)
        body = self._meaning(
            _of(node, "filter") or _of(node, "expression") or _parts(node)[-1], names
        )
        if node.type == "set_filter":
            return self._filtered(bounds[0], local, each, body)
        if node.type == "function_literal":
            return lambda scope: {value: body(inner) for value, inner in each(scope)}
        if node.type == "choose":
            return lambda scope: _first(v for v, inner in each(scope) if _truth(body(inner)))
        for_all = _text(_of(node, "quantifier")) == r"\A"
        join = all if for_all else any
        return lambda scope: join(_truth(body(inner)) for _, inner in each(scope))

    def _filtered(self, bound: Any, local: frozenset[str], each: Any, body: Meaning) -> Meaning:
        everything = self._meaning(_of(bound, "set"), local)
        names = [_text(one) for one in _all(bound, "intro")]

        def filtered(scope: Scope) -> Any:
            domain = everything(scope)
            if isinstance(domain, Among):
                return Among(lambda v: v in domain and _truth(body({**scope, names[0]: v})))
            return frozenset(value for value, inner in each(scope) if _truth(body(inner)))

        return filtered

    def _each(
        self, bounds: list[Any], local: frozenset[str]
    ) -> tuple[frozenset[str], Callable[[Scope], Iterator[tuple[Any, Scope]]]]:
        """The names in scope under bounds, and what they take together: each value, its scope."""
        intros = [
            (_names_of(intro), self._meaning(_of(one, "set"), local))
            for one in bounds for intro in _all(one, "intro")
        ]  # fmt: skip

        def each(scope: Scope) -> Iterator[tuple[Any, Scope]]:
            for values in itertools.product(*(_in_order(domain(scope)) for _, domain in intros)):
                here = dict(scope)
                for (names, _), value in zip(intros, values, strict=True):
                    here.update({names: value} if isinstance(names, str)
                                else zip(names, value, strict=True))  # fmt: skip
                yield values[0], here

        bound = {n for names, _ in intros for n in ([names] if isinstance(names, str) else names)}
        return local | bound, each

    def _definitions(
        self, node: Any, local: frozenset[str]
    ) -> tuple[Callable[[Scope], Scope], frozenset[str]]:
        """LET: the scope with local definitions, and their names beside the others."""
        made: list[tuple[str, Meaning]] = []
        for one in _all(node, "definitions"):
            assert not _all(one, "parameter"), _text(one)
            made.append((_text(_of(one, "name")), self._meaning(_of(one, "definition"), local)))
            local |= {made[-1][0]}

        def defined(scope: Scope) -> Scope:
            inner = dict(scope)
            for name, meaning in made:
                inner[name] = _Later(meaning, dict(inner))
            return inner

        return defined, local

    def _named(self, name: str, local: frozenset[str]) -> Meaning:
        if name in local:

            def of_scope(scope: Scope) -> Any:
                found = scope[name]
                return found.value() if isinstance(found, _Later) else found

            return of_scope
        if name in self.variables:
            return _variable(name)
        if name in self.constants:
            return _always(self.constants[name])
        return self._called(name, [], local, self._meaning)

    def _applied(self, name: str, given: list[Any], local: frozenset[str]) -> Meaning:
        if name in self.operators:
            return self._called(name, given, local, self._meaning)
        function, arguments = STANDARD[name], [self._meaning(one, local) for one in given]
        return lambda scope: function(*(one(scope) for one in arguments))

    def _called(
        self, name: str, given: list[Any], local: frozenset[str],
        read: Callable[[Any, frozenset[str]], Meaning],
    ) -> Meaning:  # fmt: skip
        """An operator of the module: its body sees its parameters and the state."""
        names, body = self.operators[name]
        arguments = [self._meaning(one, local) for one in given]
        meanings: list[Meaning] = []
        if not names and self._is_constant(body):
            value = self._meaning(body, frozenset())({NOW: {}, AFTER: {}})
            return _always(value)

        def called(scope: Scope) -> Any:
            if not meanings:
                meanings.append(read(body, frozenset(names)))
            inner: Scope = {NOW: scope[NOW], AFTER: scope[AFTER]}
            for own, one in zip(names, arguments, strict=True):
                inner[own] = one(scope)
            return meanings[0](inner)

        return called

    def _is_constant(self, node: Any) -> bool:
        """Does an expression read constants alone?"""
        if node.type == "identifier_ref":
            name = _text(node)
            return name in self.constants or (
                name in self.operators and self._is_constant(self.operators[name][1])
            )
        return node.type != "bound_op" and all(self._is_constant(one) for one in _parts(node))

    def _except(self, node: Any, local: frozenset[str]) -> Meaning:
        whole = self._meaning(_of(node, "expr_to_update"), local)
        updates: list[tuple[list[Meaning], Meaning]] = []
        for one in _parts(node):
            if one.type == "except_update":
                path = [
                    _always(_text(_parts(part)[0])) if part.type == "except_update_record_field"
                    else self._meaning(_parts(part)[0], local)
                    for part in _parts(_all(one, "update_specifier")[0])
                ]  # fmt: skip
                updates.append((path, self._meaning(_of(one, "new_val"), local)))

        def changed(scope: Scope) -> Any:
            value = whole(scope)
            for path, new in updates:
                value = _with(value, [one(scope) for one in path], new, scope)
            return value

        return changed


def _with(value: Any, path: Sequence[Any], new: Meaning, scope: Scope) -> Any:
    if not path:
        return new({**scope, HERE: value})
    return {**value, path[0]: _with(_at(value, path[0]), path[1:], new, scope)}


def _given(name: str, meaning: Meaning) -> Meaning:
    """`x' = e`: true the first time, and then if it is the same value."""

    def given(scope: Scope) -> bool:
        value = meaning(scope)
        return bool(scope[AFTER].setdefault(name, value) == value)

    return given


def _variable(name: str) -> Meaning:
    return lambda scope: scope[NOW][name]


def _always(value: Any) -> Meaning:
    return lambda scope: value


def _truth(value: Any) -> bool:
    assert isinstance(value, bool), f"{value!r} is no truth"
    return value


def _all_of(parts: list[Meaning]) -> Meaning:
    return lambda scope: all(_truth(one(scope)) for one in parts)


def _any_of(parts: list[Meaning]) -> Meaning:
    """Every side is looked at."""
    return lambda scope: True in [_truth(one(scope)) for one in parts]


def _prefixed(sign: str, inner: Meaning) -> Meaning:
    if sign == "~":
        return lambda scope: not _truth(inner(scope))
    if sign == "SUBSET":
        return lambda scope: Subsets(inner(scope))
    assert sign == "-", sign
    return lambda scope: -_number(inner(scope))


def _infixed(sign: str, left: Meaning, right: Meaning) -> Meaning:
    if sign == "=>":
        return lambda scope: not _truth(left(scope)) or _truth(right(scope))
    if sign == "/\\":
        return lambda scope: _truth(left(scope)) and _truth(right(scope))
    if sign == "\\/":
        return lambda scope: _truth(left(scope)) or _truth(right(scope))
    operator = OPERATORS[sign]
    return lambda scope: operator(left(scope), right(scope))


def _product(factors: list[Meaning]) -> Meaning:
    """The tuples of a product: of three sets they are triples."""
    return lambda scope: frozenset(itertools.product(*(one(scope) for one in factors)))


def _factors(node: Any) -> list[Any]:
    if node.type == "bound_infix_op" and _text(_of(node, "symbol")) == r"\X":
        return [*_factors(_of(node, "lhs")), _of(node, "rhs")]
    return [node]


def _records(named: Mapping[str, Meaning]) -> Meaning:
    def of(scope: Scope) -> Among:
        parts = {name: one(scope) for name, one in named.items()}
        return Among(lambda record: record.keys() == parts.keys()
                     and all(record[name] in values for name, values in parts.items()))  # fmt: skip

    return of


def _functions(domain: Any, values: Any) -> Among:
    return Among(lambda function: set(function) == set(domain)
                 and all(one in values for one in function.values()))  # fmt: skip


def _by_name(parts: Sequence[Any], of: Callable[[Any], Meaning]) -> dict[str, Meaning]:
    return {_text(name): of(value) for name, value in zip(parts[::2], parts[1::2], strict=True)}


def _first(values: Iterator[Any]) -> Any:
    for value in values:
        return value
    raise NoValue("nothing to choose")


def _in_order(domain: Any) -> Any:
    return sorted(domain, key=str) if isinstance(domain, frozenset) else domain


def _in_time(node: Any) -> Any:
    """What a claim says of a state or a step: P of `[][P]_vars` and of `fairly => []<>(P)`."""
    if (
        node.type == "bound_infix_op"
        and _text(_of(node, "symbol")) == "=>"
        and ("[]<>" in _text(_of(node, "rhs")))
    ):
        node = _of(node, "rhs")
    while node.type == "bound_prefix_op" and _text(_of(node, "symbol")) in ("[]", "<>"):
        node = _of(node, "rhs")
    return _parts(node)[0] if node.type == "step_expr_or_stutter" else node


def _is_in_init(node: Any) -> bool:
    while node.type != "operator_definition":
        node = node.parent
    return _text(_of(node, "name")) == "Init"


def _names_of(intro: Any) -> str | list[str]:
    if intro.type == "identifier":
        return _text(intro)
    return [_text(one) for one in _parts(intro, "bracket")]


def _text(node: Any) -> str:
    return str(node.text.decode())


def _of(node: Any, name: str) -> Any:
    return node.child_by_field_name(name)


def _all(node: Any, name: str) -> list[Any]:
    return [one for one in node.children_by_field_name(name) if one.is_named]


def _parts(node: Any, but: str = "bullet") -> list[Any]:
    return [one for one in node.named_children
            if but not in one.type and one.type != "comment"]  # fmt: skip

"""Terms: the small language in which every guard, write and claim is recorded.

A term is hash-consed: structural equality is identity, so a recording is a graph with shared
nodes and every lowering is one pass over it. The operations:

    const var bound      literals; parameters and bound variables; a named bound's value
    get                  a field at its indices: get(field, i, j)
    cell                 one leaf of an enumerated state (made by grounding only)
    not and or eq lt le  connectives and comparisons
    add sub ite          +, -, if-then-else
    every some           quantifiers over a sort, or over numbers low <= x < high
    count least          how many / the least, over an enumerated sort only

There is no recursion, no native set and no native sequence: sets are Bool-valued fields; a log
is a length and an offset-indexed field. The constructors simplify, and never change meaning.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any

from model.language.errors import ProtocolError
from model.language.sorts import BOOL, INTEGER, Enumeration, Numbers, Sort


class Term:
    """One node. Compare terms with `is`; build them with the functions below only."""

    __slots__ = ("args", "free", "op", "order", "sort")

    op: str
    args: tuple[Any, ...]
    sort: Sort
    free: frozenset[str]
    order: int
    """Parts come before what is made of them. Of terms over cells it depends on the term alone, so
    that code made of them is the same whatever was recorded before it in this process."""

    def __repr__(self) -> str:
        return show(self)


_table: dict[tuple[Any, ...], Term] = {}

_A_HEIGHT = 1 << 64


def _order(op: str, args: tuple[Any, ...], sort: Sort) -> int:
    """Of terms over cells the height, then a hash of the term; of others how many there were."""
    height = max((arg.order // _A_HEIGHT for arg in args if isinstance(arg, Term)), default=0)
    if op != "cell" and not height:
        return len(_table)
    parts = (_stable(arg) for arg in args)
    return (height + 1) * _A_HEIGHT + hash((_stable(op), _stable(sort.name), *parts)) % _A_HEIGHT


def _stable(part: Any) -> int:
    """A number that is the same in every process, as hashes of text are not."""
    if isinstance(part, Term):
        return part.order if part.order >= _A_HEIGHT else _stable(part.args[0])
    return int(part) if isinstance(part, int) else zlib.crc32(str(part).encode())


def make(op: str, args: tuple[Any, ...], sort: Sort) -> Term:
    """The one node with this operation and these arguments."""
    key = (op, sort, *args)
    found = _table.get(key)
    if found is not None:
        return found
    term = object.__new__(Term)
    term.op, term.args, term.sort = op, args, sort
    term.order = _order(op, args, sort)
    free: set[str] = set()
    for arg in args:
        if isinstance(arg, Term):
            free |= arg.free
    if op == "var" or (op == "get" and args[0].startswith("$")):
        free.add(args[0])  # a set-valued parameter is read as the field $name
    elif op in ("every", "some", "count", "least"):
        # The limits of a range are outside the scope of its variable.
        variable, low, high = args[0], args[1], args[2]
        free = set(args[3].free) - {variable.args[0]}
        for outside in (low, high, *args[4:]):
            if isinstance(outside, Term):
                free |= outside.free
    term.free = frozenset(free)
    _table[key] = term
    return term


def const(value: int | bool, sort: Sort | None = None) -> Term:
    """A literal: Bool literals are True/False, all others are integer codes."""
    if isinstance(value, bool):
        return TRUE if value else FALSE
    return make("const", (value,), sort or INTEGER)


TRUE = make("const", (True,), BOOL)
FALSE = make("const", (False,), BOOL)


def var(name: str, sort: Sort) -> Term:
    """A parameter or a bound variable."""
    return make("var", (name,), sort)


def bound(name: str) -> Term:
    """The value of a named bound: a literal once the system is enumerated."""
    return make("bound", (name,), INTEGER)


AFTER = "'"
"""Behind a field's name: the field in the state after the step. Only claims about steps say so."""


def get(field: str, indices: tuple[Term, ...], sort: Sort) -> Term:
    """A field at its indices."""
    return make("get", (field, *indices), sort)


def cell(number: int, name: str, sort: Sort) -> Term:
    """Leaf `number` of an enumerated state."""
    return make("cell", (number, name), sort)


def not_(term: Term) -> Term:
    """Negation."""
    if term is TRUE:
        return FALSE
    if term is FALSE:
        return TRUE
    if term.op == "not":
        inner: Term = term.args[0]
        return inner
    if term.op == "lt":
        return le(term.args[1], term.args[0])
    if term.op == "le":
        return lt(term.args[1], term.args[0])
    return make("not", (term,), BOOL)


def _junction(op: str, unit: Term, zero: Term, terms: tuple[Term, ...]) -> Term:
    flat: dict[Term, None] = {}
    for term in terms:
        inside: tuple[Term, ...] = term.args if term.op == op else (term,)
        for part in inside:
            if part is zero:
                return zero
            if part is not unit:
                flat[part] = None
    if any(part.op == "not" and part.args[0] in flat for part in flat):
        return zero
    parts = tuple(flat)
    if not parts:
        return unit
    return parts[0] if len(parts) == 1 else make(op, parts, BOOL)


def and_(*terms: Term) -> Term:
    """Conjunction; of nothing: true."""
    return _junction("and", TRUE, FALSE, terms)


def or_(*terms: Term) -> Term:
    """Disjunction; of nothing: false."""
    return _junction("or", FALSE, TRUE, terms)


def implies(condition: Term, conclusion: Term) -> Term:
    """Implication."""
    return or_(not_(condition), conclusion)


def _split(term: Term) -> tuple[Term | None, int]:
    """`term` as base + constant."""
    if term.op == "const":
        return None, int(term.args[0])
    if term.op == "add":
        return term.args[0], int(term.args[1].args[0])
    return term, 0


def add(left: Term, right: Term) -> Term:
    """Sum; at least one side is a literal (the language has no general addition)."""
    if right.op != "const":
        left, right = right, left
    if right.op != "const":
        raise ProtocolError(
            "only a literal can be added to a number: write n + 1, or count with how_many"
        )
    base, plus = _split(left)
    total = plus + int(right.args[0])
    if base is None:
        return const(total)
    return base if total == 0 else make("add", (base, const(total)), INTEGER)


def sub(left: Term, right: Term) -> Term:
    """Difference; the right side is a literal."""
    if right.op != "const":
        raise ProtocolError("only a literal can be subtracted from a number: write n - 1")
    return add(left, const(-int(right.args[0])))


def eq(left: Term, right: Term) -> Term:
    """Equality of two values of one family."""
    if left is right:
        return TRUE
    if left.sort is BOOL:
        for one, other in ((left, right), (right, left)):
            if one is TRUE:
                return other
            if one is FALSE:
                return not_(other)
        return make("eq", _ordered(left, right), BOOL)
    (left_base, a), (right_base, b) = _split(left), _split(right)
    if left_base is None and right_base is None:
        return TRUE if a == b else FALSE
    if left_base is None:
        left_base, right_base, a, b = right_base, left_base, b, a
    assert left_base is not None
    if right_base is None:
        if left_base.op == "ite" and _has_const_leaf(left_base):
            condition, then, other = left_base.args
            literal = const(b - a, left_base.sort)
            return ite(condition, eq(then, literal), eq(other, literal))
        # The literal takes the other side's sort, so that every lowering knows its kind.
        return make("eq", (left_base, const(b - a, left_base.sort)), BOOL)
    if left_base is right_base:
        return TRUE if a == b else FALSE
    if left_base.order > right_base.order:
        left_base, right_base, a, b = right_base, left_base, b, a
    return make("eq", (left_base, add(right_base, const(b - a))), BOOL)


def _has_const_leaf(term: Term) -> bool:
    _, then, other = term.args
    return bool(then.op == "const" or other.op == "const")


def _ordered(left: Term, right: Term) -> tuple[Term, Term]:
    return (left, right) if left.order <= right.order else (right, left)


def lt(left: Term, right: Term) -> Term:
    """Strictly less."""
    return _compare("lt", left, right)


def le(left: Term, right: Term) -> Term:
    """Less or equal."""
    return _compare("le", left, right)


def _compare(op: str, left: Term, right: Term) -> Term:
    (left_base, a), (right_base, b) = _split(left), _split(right)
    if left_base is right_base:
        return TRUE if (a < b or (op == "le" and a == b)) else FALSE
    for side, base in ((0, left_base), (1, right_base)):
        other = right_base if side == 0 else left_base
        if other is None and base is not None and base.op == "ite" and _has_const_leaf(base):
            branches = (
                (_compare(op, add(branch, const(a)), const(b)))
                if side == 0
                else _compare(op, const(a), add(branch, const(b)))
                for branch in base.args[1:]
            )
            return ite(base.args[0], *branches)
    if right_base is None:
        assert left_base is not None
        return make("lt", (left_base, const(b - a + (op == "le"))), BOOL)
    if left_base is None:
        return make("lt", (const(a - b - (op == "le")), right_base), BOOL)
    return make(op, (add(left_base, const(a - b)), right_base), BOOL)


def ite(condition: Term, then: Term, other: Term) -> Term:
    """If-then-else over values of one family."""
    if condition is TRUE or then is other:
        return then
    if condition is FALSE:
        return other
    if condition.op == "not":
        return ite(condition.args[0], other, then)
    if then.sort is BOOL:
        if then is TRUE:
            return or_(condition, other)
        if then is FALSE:
            return and_(not_(condition), other)
        if other is TRUE:
            return or_(not_(condition), then)
        if other is FALSE:
            return and_(condition, then)
    if other.op == "ite" and other.args[0] is condition:
        return ite(condition, then, other.args[2])
    if then.op == "ite" and then.args[0] is condition:
        return ite(condition, then.args[1], other)
    return make("ite", (condition, then, other), _joined(then, other))


def _joined(then: Term, other: Term) -> Sort:
    """The sort of a choice: none is possible if it is in either branch."""
    sort, second = (then.sort, other.sort) if then.op != "const" else (other.sort, then.sort)
    if isinstance(sort, (Numbers, Enumeration)) and getattr(second, "none_allowed", False):
        return sort.or_none
    return sort


def quantifier(
    op: str,
    variable: Term,
    body: Term,
    low: Term | None = None,
    high: Term | None = None,
    default: Term | None = None,
) -> Term:
    """`every`, `some`, `count` or `least` of `body` over a sort, or over low <= x < high."""
    # Over an empty range `every` is true and `some` false, whatever the body says.
    if op in ("every", "some") and body is (TRUE if op == "every" else FALSE):
        return body
    sort = BOOL if op in ("every", "some") else INTEGER
    args = (variable, low, high, body) if default is None else (variable, low, high, body, default)
    return make(op, args, sort)


_BUILDERS: dict[str, Callable[..., Term]] = {
    "not": not_, "and": and_, "or": or_, "eq": eq, "lt": lt, "le": le, "add": add, "ite": ite,
}  # fmt: skip


def rebuilt(term: Term, args: Sequence[Any]) -> Term:
    """The same operation on other arguments, simplified as the constructors do."""
    build = _BUILDERS.get(term.op)
    return make(term.op, tuple(args), term.sort) if build is None else build(*args)


def compared_with(term: Term, variable: Term) -> list[Term]:
    """What a term compares a variable with for equality, solved for the variable."""
    found: dict[Term, None] = {}
    seen: set[Term] = set()
    todo = [term]
    while todo:
        part = todo.pop()
        if part in seen or variable.args[0] not in part.free:
            continue
        seen.add(part)
        todo.extend(arg for arg in part.args if isinstance(arg, Term))
        if part.op != "eq":
            continue
        for mine, other in (part.args, part.args[::-1]):
            base, plus = (mine.args[0], mine.args[1].args[0]) if mine.op == "add" else (mine, 0)
            if base is variable and variable.args[0] not in other.free:
                found[add(other, const(-plus)) if plus else other] = None
    return list(found)


def show(term: Term) -> str:
    """A term as a person would write it; for error messages and explanations."""
    op, args = term.op, term.args
    if op == "const":
        return str(args[0]).lower() if isinstance(args[0], bool) else term.sort.show(args[0])
    if op == "var":
        return str(args[0]).split("#")[0]
    if op == "cell":
        return str(args[1])
    if op == "bound":
        return f"the bound {args[0]}"
    if op == "get":
        name, *indices = args
        return str(name) + "".join(f"[{show(index)}]" for index in indices)
    if op == "not":
        return f"not {show(args[0])}"
    if op in ("and", "or"):
        return "(" + f" {op} ".join(show(arg) for arg in args) + ")"
    if op == "ite":
        return f"({show(args[1])} if {show(args[0])} else {show(args[2])})"
    if op in ("every", "some", "count", "least"):
        return f"({op} {show(args[0])}: {show(args[3])})"
    if op == "add" and args[1].args[0] < 0:
        return f"{show(args[0])} - {-args[1].args[0]}"
    symbol = {"eq": "=", "lt": "<", "le": "<=", "add": "+"}[op]
    return f"{show(args[0])} {symbol} {show(args[1])}"

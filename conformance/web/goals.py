"""Goals of a player: break a claim, reach a `sometimes`, a state, or a step.

The search starts from the initial state or from the state that is shown; the explorer that `insync
find` uses finds the shortest path. An expression is parsed as data and never run: fields by the
names that the page shows, the words of the notation, comparisons and small sums.
"""

from __future__ import annotations

import ast
import copy
import operator
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from model.language import (
    ProtocolError,
    RecordedSystem,
    all_of,
    any_of,
    every,
    how_many,
    implies,
    is_none,
    not_,
    some,
)
from model.language import terms as t
from model.language.errors import unknown_name
from model.language.evaluate import SparseState
from model.language.properties import Claim
from model.language.recording import Recorded, Write, record_condition
from model.language.scalars import Scalar, Value
from model.language.sorts import BOOL, Bounded, Enumeration, Numbers, Sort
from specs.story.commands import Arguments
from specs.tla.rewriting import substitute, subterms

if TYPE_CHECKING:
    from specs.exploration import Exploration, Report
    from specs.runs import Run

GOAL = "the_goal"
MOST_LETTERS = 600

READY: dict[str, dict[str, str]] = {
    "classic": {
        "two leaders": "two_brokers_believe_they_lead", "lose a committed record": "strong_isr",
        "a smaller ISR": "the_isr_has_shrunk",
    },
    "election": {
        "two controllers": "two_brokers_believe_they_are_controller",
        "a deposed controller writes": "single_writer",
        "an older controller is obeyed": "no_older_controller_is_obeyed",
    },
    "replication": {
        "two leaders": "two_brokers_believe_they_lead",
        "lose a committed record": "no_message_loss",
        "lose an acknowledged record (acks=1)": "an_acknowledged_record_is_lost",
    },
    "reassignment": {
        "lose a committed record": "no_message_loss", "a move is done": "a_move_is_done",
        "a move changes hands": "reassignment_survives_failover",
    },
    "topics": {
        "a deleted topic comes back": "deleted_data_is_never_served",
        "a deletion is complete": "a_deletion_is_complete",
    },
    "cluster": {
        "two leaders": "two_brokers_believe_they_lead",
        "lose a committed record": "no_message_loss",
    },
}  # fmt: skip
"""What a player asks for first, and the claim that says it: an `always` is to be broken."""

EXAMPLES = {
    "classic": "quorum.leader == 2", "election": "zk.controller == 2",
    "replication": "zk.leader == 2", "reassignment": "zk.leader == 2",
    "topics": "zk.controller == 2", "cluster": "zk.controller == 2",
}  # fmt: skip
"""A goal that makes sense in each system, for the field in which one is written."""

_WORDS: dict[str, Callable[..., Any]] = {
    "all_of": all_of, "any_of": any_of, "not_": not_, "implies": implies, "is_none": is_none,
    "some": some, "every": every, "how_many": how_many,
}  # fmt: skip
_COMPARED = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_SUMS = {ast.Add: operator.add, ast.Sub: operator.sub}
_EXAMPLE = "zk.leader == 2, or replica[1].role == 'leader' and replica[2].role == 'leader'"


def reads(recorded: RecordedSystem, text: str) -> t.Term:
    """Reads an expression over the state as a condition. ProtocolError says what is right."""
    if len(text) > MOST_LETTERS:
        raise ProtocolError(f"a goal has {MOST_LETTERS} letters at most")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ProtocolError(f"{text!r} is no expression; write one such as {_EXAMPLE}") from error
    try:
        return record_condition(
            lambda now: _GoalReader(recorded, now).condition(tree),
            recorded.system.state, recorded.switches,
        )  # fmt: skip
    except ProtocolError as error:
        # The notation names the line of an author; here that would be a line of this file.
        raise ProtocolError(re.sub(r"^\S+:\d+: `[^`]*`: ", "", str(error))) from error
    except (RecursionError, TypeError, AttributeError, ValueError) as error:
        raise ProtocolError(f"{text!r} makes no sense here; write such as {_EXAMPLE}") from error


class _GoalReader:
    """An expression by its tree: whatever is not listed here is refused."""

    def __init__(self, recorded: RecordedSystem, now: Any) -> None:
        self.now = now
        self.parts = {name.partition(".")[0] for name in recorded.fields}
        sorts = [sort for leaf in recorded.fields.values() for sort in (*leaf.dims, leaf.sort)]
        self.sorts: dict[str, Sort] = {sort.name: sort for sort in sorts}
        self.here: dict[str, Any] = {}

    def condition(self, tree: ast.expr) -> Scalar:
        found = self.value(tree)
        if not isinstance(found, Scalar):
            raise ProtocolError(f"{ast.unparse(tree)} is no condition; compare it with something")
        return found

    def value(self, tree: ast.expr) -> Any:
        if isinstance(tree, ast.Constant) and isinstance(tree.value, bool | int | str | None):
            return tree.value
        if isinstance(tree, ast.Set):  # as the page shows a set: {1,2}
            return tuple(self.value(one) for one in tree.elts)
        if isinstance(tree, ast.Dict) and not tree.keys:
            return ()
        if isinstance(tree, ast.Name):
            return self._named(tree.id)
        if isinstance(tree, ast.Attribute) and not tree.attr.startswith("_"):
            inner = self.value(tree.value)
            if isinstance(inner, Value):
                return getattr(inner, tree.attr)
        if isinstance(tree, ast.Subscript):
            inner = self.value(tree.value)
            if isinstance(inner, Value):
                return inner[self.value(tree.slice)]  # type: ignore[index]
        if isinstance(tree, ast.BoolOp):
            word = all_of if isinstance(tree.op, ast.And) else any_of
            return word(*(self.condition(one) for one in tree.values))
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not):
            return not_(self.condition(tree.operand))
        if isinstance(tree, ast.BinOp) and type(tree.op) in _SUMS:
            return _SUMS[type(tree.op)](self.value(tree.left), self.value(tree.right))
        if isinstance(tree, ast.Compare):
            return self._compared(tree)
        if isinstance(tree, ast.Call) and not tree.keywords:
            return self._call(tree)
        raise ProtocolError(f"{ast.unparse(tree)!r} is not understood; write such as {_EXAMPLE}")

    def _named(self, name: str) -> Any:
        if name in self.here:
            return self.here[name]
        if name == "now":
            return self.now
        if name in self.parts:
            return getattr(self.now, name)
        if name.lower() in self.sorts:
            return self.sorts[name.lower()]
        if name.lower().removesuffix("s") in self.sorts:
            return self.sorts[name.lower().removesuffix("s")]
        raise ProtocolError(unknown_name("field", name, sorted({*self.parts, *self.sorts})))

    def _compared(self, tree: ast.Compare) -> Scalar:
        found, left = [], self.value(tree.left)
        for sign, other in zip(tree.ops, tree.comparators, strict=True):
            right = self.value(other)
            if isinstance(sign, ast.In | ast.NotIn) and isinstance(right, Value):
                member = right.has(left)  # type: ignore[attr-defined]
                found.append(member if isinstance(sign, ast.In) else not_(member))
            elif type(sign) in _COMPARED:
                one = _COMPARED[type(sign)](left, right)
                if not isinstance(one, Scalar):
                    raise ProtocolError(f"{ast.unparse(tree)} compares no field of the state")
                found.append(one)
            else:
                raise ProtocolError(f"{ast.unparse(tree)}: compare with == != < <= > >= or in")
            left = right
        return found[0] if len(found) == 1 else all_of(*found)

    def _call(self, tree: ast.Call) -> Any:
        if isinstance(tree.func, ast.Name) and tree.func.id in _WORDS:
            word = _WORDS[tree.func.id]
            if tree.func.id in ("some", "every", "how_many") and len(tree.args) == 2:
                over, rule = tree.args
                return word(self.value(over), self._rule(rule))
            return word(*(self.value(one) for one in tree.args))
        if isinstance(tree.func, ast.Attribute) and tree.func.attr == "has":
            inner = self.value(tree.func.value)
            if isinstance(inner, Value):
                return inner.has(*(self.value(one) for one in tree.args))  # type: ignore[attr-defined]
        what = ast.unparse(tree.func)
        raise ProtocolError(unknown_name("word", what, [*_WORDS, "has"]))

    def _rule(self, tree: ast.expr) -> Callable[[Any], Scalar]:
        if not isinstance(tree, ast.Lambda) or len(tree.args.args) != 1:
            raise ProtocolError("write some(broker, lambda b: ...)")
        name = tree.args.args[0].arg

        def rule(value: Any) -> Scalar:
            before = dict(self.here)
            self.here[name] = value
            try:
                return self.condition(tree.body)
            finally:
                self.here = before

        return rule


def possible(step: Recorded, arguments: Arguments) -> t.Term:
    """A goal: a step with these parameters is possible. Raises ProtocolError for one with a set."""
    values = {}
    for name, sort in step.parameters.items():
        given = arguments[name]
        if not isinstance(sort, Sort) or not isinstance(given, int):
            raise ProtocolError(f"{step.transition.name} takes a set: write the goal yourself")
        values[f"${name}"] = t.const(given, sort)
    return t.and_(*(substitute(one.condition, values) for one in step.requires))


def room(
    recorded: RecordedSystem, state: SparseState, goal: t.Term | None, bounds: Mapping[str, int]
) -> dict[str, int]:
    """The bounds, with room for a state and one step more, and for the numbers of a goal.

    Raises ProtocolError for a goal that names an unknown broker.
    """
    found = dict(bounds)
    for name, cells in state.items():
        leaf = recorded.fields[name]
        for index, value in cells.items():
            for sort, number in (*zip(leaf.dims, index, strict=True), (leaf.sort, value)):
                _widen(found, bounds, sort, number, 1 if leaf.budget is None else 0)
    for term in subterms(goal) if goal is not None else []:
        for part in term.args:
            if isinstance(part, t.Term) and part.op == "const":
                _refuse_unknown(part, bounds)
        if term.op in ("eq", "lt", "le"):
            left, right = term.args
            for one, other in ((left, right), (right, left)):
                if other.op == "const" and other.sort is not BOOL:
                    _widen(found, bounds, one.sort, int(other.args[0]), 0)
    return found


def _widen(
    found: dict[str, int], bounds: Mapping[str, int], sort: Sort, number: int, more: int
) -> None:
    if not isinstance(sort, Numbers) or not isinstance(sort.high, Bounded):
        return
    name = sort.high.bound
    if name not in found:
        return
    while sort.high.value(found) < number:
        found[name] += 1
    if more and found[name] > bounds[name]:
        found[name] = max(found[name], number + more)


def _refuse_unknown(const: t.Term, bounds: Mapping[str, int]) -> None:
    sort, number = const.sort, int(const.args[0])
    if isinstance(sort, Enumeration) and number > bounds.get(sort.bound, number):
        raise ProtocolError(f"there is no {sort.name} {number}: there are {bounds[sort.bound]}")


def shortest(
    recorded: RecordedSystem,
    state: SparseState | None,
    bounds: Mapping[str, int],
    claim: str | None,
    goal: t.Term | None,
    most_states: int,
    report: Report = lambda line: None,
) -> tuple[Exploration, Run | None]:
    """The shortest path to a goal, or to a claim's break (for a `sometimes`: to where it is true).

    From `state`, or from the initial state if that is None. Raises ProtocolError, ImpossibleValue
    if the state is outside the bounds.
    """
    from specs.explorer import find  # it takes a moment to load, and the page should not wait

    limits = dict(bounds)
    if state is not None or goal is not None:
        limits = room(recorded, state or {}, goal, limits)
    other = copy.copy(recorded)
    name = claim if claim is not None else GOAL
    if goal is not None:
        one = Claim(GOAL, "sometimes", "the goal is reached", lambda now: now)
        other.__dict__["claims"] = {GOAL: (one, goal)}
    if state is not None:
        other.__dict__["initial"] = [
            Write(field, tuple(t.const(n, sort) for n, sort in zip(index, leaf.dims, strict=True)),
                  (), t.const(value, leaf.sort))
            for field, cells in state.items()
            for leaf in (recorded.fields[field],)
            for index, value in sorted(cells.items())
        ]  # fmt: skip
    return find(other, limits, name, most_states, report)


def prepare(recorded: RecordedSystem, bounds: Mapping[str, int], claim: str) -> None:
    """Loads the explorer and compiles its machine code for a claim, so that a goal is found sooner.

    The code is stored on disk, so only the very first compilation takes long.
    """
    from specs.exploration import grounded_for
    from specs.native.kernel import kernel_of

    kernel_of(grounded_for(recorded, bounds, [claim]))

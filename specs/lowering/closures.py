"""The evaluator for a page: each term compiled to a Python closure once, for quick answers.

The plain twin looks at a term again whenever it is asked. Here a term becomes a function of a state
and an environment when it is first asked for, which calls the functions of its parts; terms are
shared, so their functions are. A test holds both to the same answers, step by step.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from model.language import RecordedSystem
from model.language.errors import a
from model.language.evaluate import (
    Arguments,
    Environment,
    Evaluator,
    Index,
    SparseState,
    blank_code,
)
from model.language.recording import Recorded, Write
from model.language.sorts import BOOL, Sort
from model.language.terms import AFTER, Term

Code = Callable[[SparseState, Any], Any]
"""A term's value in a state; the environment has its free variables."""


class QuickEvaluator(Evaluator):
    """An Evaluator that remembers how to evaluate."""

    def __init__(self, recorded: RecordedSystem, bounds: Mapping[str, int]) -> None:
        super().__init__(recorded, bounds)
        self._codes: dict[Term, Code] = {}
        self._ends: dict[int, tuple[Sort, tuple[int, int | None]]] = {}

    def value(self, term: Term, state: SparseState, environment: Environment) -> int:
        """A term's value: a bool, a number, or a code."""
        code = self._codes.get(term)
        if code is None:
            code = self._code(term)
        found: int = code(state, environment)
        return found

    def ends(self, sort: Sort) -> tuple[int, int | None]:
        """The least and the greatest value of a sort; None: no limit is known."""
        known = self._ends.get(id(sort))
        if known is None:
            known = self._ends[id(sort)] = sort, super().ends(sort)
        return known[1]

    def after(self, step: Recorded, state: SparseState, arguments: Arguments) -> SparseState:
        """The state after a step that is known to be possible."""
        return self._written(state, step.writes, self._environment(step, arguments))

    # -- writing ------------------------------------------------------------------------------

    def _written(
        self, state: SparseState, writes: Iterable[Write], environment: Environment
    ) -> SparseState:
        """The state after the writes; only what is written is copied and checked."""
        new: SparseState = dict(state)
        copied: set[str] = set()
        for write in writes:
            name, blank = write.field, self._blank(write.field)
            if name not in copied:
                new[name] = dict(new.get(name, {}))
                copied.add(name)
            cells = new[name]
            for index, value in self._cells(write, state, environment):
                if value == blank:
                    cells.pop(index, None)
                else:
                    cells[index] = value
        self._drop_junk(new)
        for name in sorted(copied):
            leaf = self.recorded.fields[name]
            for index, value in new[name].items():
                self._check(leaf.sort, value, f"{leaf.name}{list(index)}")
        return {name: cells for name, cells in sorted(new.items()) if cells}

    def _cells(
        self, write: Write, state: SparseState, environment: Environment
    ) -> Iterator[tuple[Index, int]]:
        """Every cell that a write may change, with its value; its index is one that there is."""
        leaf = self.recorded.fields[write.field]
        ends = [self.ends(variable.sort) for variable in write.variables]
        whole = [range(low, top + 1) for low, top in ends if top is not None]
        if len(whole) < len(ends) or any(self._outside(write, state, environment)):
            for index, value in self._values(write, leaf, state, environment):
                self._check_index(leaf, index)
                yield index, value
            return
        keys = tuple(self.value(key, state, environment) for key in write.keys)
        for sort, part in zip(leaf.dims, keys, strict=False):
            self._check(sort, part, f"{leaf.name} is written at {a(sort.name)} that is")
        code, names = self._code(write.value), [one.args[0] for one in write.variables]
        here: dict[str, Any] = dict(environment)
        for extra in itertools.product(*whole):
            here.update(zip(names, extra, strict=True))
            yield (*keys, *extra), code(state, here)

    def _blank(self, name: str) -> int:
        return blank_code(self.recorded.fields[name].sort)

    # -- terms --------------------------------------------------------------------------------

    def _code(self, term: Term) -> Code:
        code = self._codes.get(term)
        if code is None:
            code = self._codes[term] = self._made(term)
        return code

    def _made(self, term: Term) -> Code:
        op, args = term.op, term.args
        if op == "const":
            fixed = bool(args[0]) if term.sort is BOOL else int(args[0])
            return lambda _s, _e: fixed
        if op == "var":
            name = args[0]
            return lambda _s, e: e[name]
        if op == "bound":
            size = self._bound(args[0])
            return lambda _s, _e: size
        if op == "get":
            return self._get(args[0], [self._code(index) for index in args[1:]])
        if op in ("and", "or"):
            return _junction([self._code(part) for part in args], op == "or")
        if op in ("every", "some", "count", "least"):
            return self._over(term)
        parts = [self._code(part) for part in args]
        if op == "not":
            (only,) = parts
            return lambda s, e: not only(s, e)
        if op == "ite":
            test, yes, no = parts
            return lambda s, e: yes(s, e) if test(s, e) else no(s, e)
        left, right = parts
        if op == "eq":
            return lambda s, e: left(s, e) == right(s, e)
        if op == "lt":
            return lambda s, e: left(s, e) < right(s, e)
        if op == "le":
            return lambda s, e: left(s, e) <= right(s, e)
        assert op == "add", op
        fitting, text = self._fitting, str(term)
        return lambda s, e: fitting(left(s, e) + right(s, e), text)

    def _get(self, name: str, indices: list[Code]) -> Code:
        if name.startswith("$"):
            (member,) = indices
            return lambda s, e: member(s, e) in e[name]
        blank = blank_code(self.recorded.fields[name.removesuffix(AFTER)].sort)
        if not indices:
            return lambda s, _e: s[name].get((), blank) if name in s else blank
        if len(indices) == 1:
            (only,) = indices
            return lambda s, e: s[name].get((only(s, e),), blank) if name in s else blank
        if len(indices) == 2:
            first, second = indices
            return lambda s, e: (
                s[name].get((first(s, e), second(s, e)), blank) if name in s else blank
            )
        return lambda s, e: (
            s[name].get(tuple([one(s, e) for one in indices]), blank) if name in s else blank
        )

    def _over(self, term: Term) -> Code:
        variable, low, high, body, *default = term.args
        name, inside = variable.args[0], self._code(body)
        values: Callable[[SparseState, Any], range]
        bottom, top = self.ends(variable.sort)
        if low is None and high is None and top is not None:
            all_of_them = range(bottom, top + 1)
            values = lambda _s, _e: all_of_them  # noqa: E731
        else:
            values = lambda s, e: self.range_of(term, s, e)  # noqa: E731

        if term.op in ("every", "some"):
            wanted = term.op == "some"

            def settled(s: SparseState, e: Any) -> bool:
                here = dict(e)
                for here[name] in values(s, e):
                    if bool(inside(s, here)) is wanted:
                        return wanted
                return not wanted

            return settled
        if term.op == "count":

            def counted(s: SparseState, e: Any) -> int:
                here, number = dict(e), 0
                for here[name] in values(s, e):
                    number += bool(inside(s, here))
                return number

            return counted
        (otherwise,) = (self._code(one) for one in default)

        def least(s: SparseState, e: Any) -> Any:
            here = dict(e)
            for here[name] in values(s, e):
                if inside(s, here):
                    return here[name]
            return otherwise(s, e)

        return least


def _junction(parts: list[Code], unless: bool) -> Code:
    """`and`, or with `unless` true `or`: what decides early decides."""
    if len(parts) == 2:
        first, second = parts
        if unless:
            return lambda s, e: bool(first(s, e) or second(s, e))
        return lambda s, e: bool(first(s, e) and second(s, e))

    def both(s: SparseState, e: Any) -> bool:
        for part in parts:
            if bool(part(s, e)) is unless:
                return unless
        return not unless

    return both

"""One LLVM function over cells without bounds: its terms, loops and early returns.

Unlike `specs.lowering.llvm_terms` nothing is enumerated: parameters and the variables of
quantifiers are values of the moment, and a quantifier is a loop. A field that is read at an index
that does not exist is blank, as it is on sparse states.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from model.language.evaluate import Evaluator
from model.language.sorts import BOOL, Sort
from model.language.terms import Term
from specs.lowering.llvm_terms import signed
from specs.native.unbounded_layout import (
    BASE,
    CAPACITY,
    COUNT,
    ENTRY,
    LOW,
    META,
    MOST_INDICES,
    SIZE,
    STRIDE,
    Layout,
    NotNative,
)
from specs.partial.written import candidates_of

_SYMBOL = {"eq": "eq", "lt": "slt", "le": "sle"}
_LARGEST = (1 << 63) - 1


@dataclass
class _Scope:
    """What was computed where a variable has one value; of no use outside, nor for another."""

    variable: str = ""
    kept: dict[Term, str] = field(default_factory=dict)


class Function:
    """The lines of one function. `variables` has the operand of each variable by its name."""

    def __init__(self, layout: Layout, twin: Evaluator) -> None:
        self.layout, self.twin = layout, twin
        self.lines: list[str] = []
        self.slots: list[str] = []
        self.variables: dict[str, str] = {}
        self._scopes = [_Scope()]
        self._next = 0

    # -- instructions ---------------------------------------------------------------------------

    def fresh(self) -> str:
        """A number that nothing else in the function has."""
        self._next += 1
        return str(self._next)

    def emit(self, text: str) -> str:
        """One instruction with a result; returns its name."""
        name = f"%t{self.fresh()}"
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """One instruction without a result."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """A new block; the one before goes on there."""
        self.lines += [f"  br label %{name}", f"{name}:"]

    def branch(self, condition: str, yes: str, no: str) -> None:
        """Ends a block; the next begins with `begin`."""
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")

    def begin(self, name: str) -> None:
        """A block that is reached by branches alone."""
        self.lines.append(f"{name}:")

    def slot(self, value: str = "0") -> str:
        """A local number that changes; sroa turns it into registers."""
        name = f"%s{self.fresh()}"
        self.slots.append(f"  {name} = alloca i64")
        self.do(f"store i64 {value}, ptr {name}")
        return name

    def load(self, slot: str) -> str:
        """What it is now."""
        return self.emit(f"load i64, ptr {slot}")

    def word(self, base: str, at: str) -> str:
        """A 64-bit word of an array."""
        return self.emit(f"load i64, ptr {self.at(base, at)}")

    def at(self, base: str, at: str) -> str:
        """The address of a word of an array."""
        return self.emit(f"getelementptr inbounds i64, ptr {base}, i64 {at}")

    @contextmanager
    def where(self, variable: str, operand: str) -> Iterator[None]:
        """A variable has a value in here, and what is computed of it is forgotten behind."""
        outer = self.variables.get(variable)
        self.variables[variable] = operand
        self._scopes.append(_Scope(variable))
        yield
        self._scopes.pop()
        del self.variables[variable]
        if outer is not None:
            self.variables[variable] = outer

    @contextmanager
    def loop(self, first: str, stop: str, variable: str) -> Iterator[tuple[str, str]]:
        """For each number from the first, up to and without the stop: (number, label behind)."""
        me = self.fresh()
        counter = self.slot(first)
        self.label(f"head{me}")
        number = self.load(counter)
        more = self.emit(f"icmp slt i64 {number}, {stop}")
        self.branch(more, f"body{me}", f"after{me}")
        self.begin(f"body{me}")
        with self.where(variable, number):
            yield number, f"after{me}"
        following = self.emit(f"add i64 {number}, 1")
        self.do(f"store i64 {following}, ptr {counter}")
        self.do(f"br label %head{me}")
        self.begin(f"after{me}")

    # -- terms ----------------------------------------------------------------------------------

    def value(self, term: Term) -> str:
        """An operand: an i1 for a Bool, else an i64."""
        if term.op == "const":
            return str(int(term.args[0])) if term.sort is BOOL else str(signed(int(term.args[0])))
        if term.op == "bound":
            return str(self.twin.bounds[term.args[0]])
        if term.op == "var":
            return self.variables[term.args[0]]
        for scope in reversed(self._scopes):
            if term in scope.kept:
                return scope.kept[term]
            if scope.variable in term.free:
                break  # what is kept further out is of another value of this variable
        found = self._compute(term)
        self._scopes[-1].kept[term] = found
        return found

    def number(self, term: Term) -> str:
        """The value as cells store it."""
        found = self.value(term)
        return self.emit(f"zext i1 {found} to i64") if term.sort is BOOL else found

    def _compute(self, term: Term) -> str:
        op, args = term.op, term.args
        if op == "get":
            return self._get(term)
        if op == "not":
            return self.emit(f"xor i1 {self.value(args[0])}, 1")
        if op in ("and", "or"):
            found = self.value(args[0])
            for arg in args[1:]:
                found = self.emit(f"{op} i1 {found}, {self.value(arg)}")
            return found
        if op == "ite":
            kind = "i1" if term.sort is BOOL else "i64"
            condition, then, other = (self.value(arg) for arg in args)
            return self.emit(f"select i1 {condition}, {kind} {then}, {kind} {other}")
        if op == "add":
            return self.emit(f"add i64 {self.value(args[0])}, {self.value(args[1])}")
        if op in _SYMBOL:
            left, right = (self.value(arg) for arg in args)
            kind = "i1" if args[0].sort is BOOL else "i64"
            return self.emit(f"icmp {_SYMBOL[op]} {kind} {left}, {right}")
        if op in ("every", "some", "count", "least"):
            return self._quantified(term)
        raise NotNative(f"no native code for `{op}`: {term}")

    # -- fields ---------------------------------------------------------------------------------

    def _get(self, term: Term) -> str:
        name, *keys = term.args
        if name not in self.layout.numbers:
            raise NotNative(f"{name} is no field of the state")
        field_number = self.layout.numbers[name]
        found = self.read(field_number, [self.value(key) for key in keys])
        return self.emit(f"icmp ne i64 {found}, 0") if term.sort is BOOL else found

    def meta(self, field_number: int, what: int) -> str:
        """Base, capacity or count of a field."""
        return self.word("%meta", str(META * field_number + what))

    def read(self, field_number: int, index: Sequence[str]) -> str:
        """The code of a cell, blank where there is none."""
        layout, blank = self.layout, str(int(self.layout.blanks[field_number]))
        base = self.meta(field_number, BASE)
        if layout.is_list(field_number):
            whole = [*index, *["0"] * (MOST_INDICES - len(index))]
            given = ", ".join(f"i64 {one}" for one in (base, self.meta(field_number, COUNT)))
            keys = ", ".join(f"i64 {one}" for one in (*whole, blank))
            return self.emit(f"call i64 @find(ptr %cells, {given}, {keys})")
        shape = layout.shape[field_number]
        inside, at = "1", base
        for place, value in enumerate(index):
            low, size, stride = (int(shape[part + place]) for part in (LOW, SIZE, STRIDE))
            limit = str(size) if size else self.meta(field_number, CAPACITY)
            steps = self.emit(f"sub i64 {value}, {low}")
            fits = self.emit(f"icmp ult i64 {steps}, {limit}")
            inside = self.emit(f"and i1 {inside}, {fits}")
            far = self.emit(f"mul i64 {steps}, {stride}")
            at = self.emit(f"add i64 {at}, {far}")
        if not index:
            return self.word("%cells", at)
        safe = self.emit(f"select i1 {inside}, i64 {at}, i64 0")
        return self.emit(f"select i1 {inside}, i64 {self.word('%cells', safe)}, i64 {blank}")

    def entry(self, field_number: int, entry: str) -> str:
        """The address of an entry of a list."""
        far = self.emit(f"mul i64 {entry}, {ENTRY}")
        return self.at("%cells", self.emit(f"add i64 {self.meta(field_number, BASE)}, {far}"))

    # -- quantifiers ----------------------------------------------------------------------------

    def _larger(self, one: str, other: str) -> str:
        more = self.emit(f"icmp sgt i64 {one}, {other}")
        return self.emit(f"select i1 {more}, i64 {one}, i64 {other}")

    def _smaller(self, one: str, other: str) -> str:
        less = self.emit(f"icmp slt i64 {one}, {other}")
        return self.emit(f"select i1 {less}, i64 {one}, i64 {other}")

    def _quantified(self, term: Term) -> str:
        variable, low, high, body, *default = term.args
        bottom, top = self.twin.ends(variable.sort)
        first = str(bottom) if low is None else self._larger(str(bottom), self.value(low))
        stop = None if top is None else str(top + 1)
        if high is not None:
            limit = self.value(high)
            stop = limit if stop is None else self._smaller(stop, limit)
        name = variable.args[0]
        if term.op == "least":
            otherwise = self.value(default[0])
            points = candidates_of(variable, body, self.twin)
            if points is not None:
                return self._least_of(points, first, stop, otherwise)
            return self._least(name, body, first, self._limited(stop, term), otherwise)
        if term.op == "count":
            return self._count(name, body, first, self._limited(stop, term))
        result = self.slot("1" if term.op == "every" else "0")
        with self.loop(first, self._limited(stop, term), name) as (_, behind):
            decided, goes_on = f"decided{self.fresh()}", f"on{self.fresh()}"
            holds = self.value(body)
            yes, no = (goes_on, decided) if term.op == "every" else (decided, goes_on)
            self.branch(holds, yes, no)
            self.begin(decided)
            self.do(f"store i64 {int(term.op == 'some')}, ptr {result}")
            self.do(f"br label %{behind}")
            self.begin(goes_on)
        return self.emit(f"icmp ne i64 {self.load(result)}, 0")

    @staticmethod
    def _limited(stop: str | None, term: Term) -> str:
        if stop is None:
            raise NotNative(f"nothing limits {term}")
        return stop

    def _least(self, name: str, body: Term, first: str, stop: str, otherwise: str) -> str:
        result = self.slot(otherwise)
        with self.loop(first, stop, name) as (number, behind):
            found, goes_on = f"found{self.fresh()}", f"on{self.fresh()}"
            self.branch(self.value(body), found, goes_on)
            self.begin(found)
            self.do(f"store i64 {number}, ptr {result}")
            self.do(f"br label %{behind}")
            self.begin(goes_on)
        return self.load(result)

    def _count(self, name: str, body: Term, first: str, stop: str) -> str:
        result = self.slot()
        with self.loop(first, stop, name):
            one = self.emit(f"zext i1 {self.value(body)} to i64")
            more = self.emit(f"add i64 {self.load(result)}, {one}")
            self.do(f"store i64 {more}, ptr {result}")
        return self.load(result)

    def _least_of(
        self, points: tuple[Term, range, Term, list[Term]], first: str, stop: str | None,
        otherwise: str,
    ) -> str:  # fmt: skip
        """The least of a few values, where only they can be meant."""
        member, values, point, others = points
        best = self.slot(str(_LARGEST))
        with self.loop(str(values.start), str(values.stop), member.args[0]):
            holds = "1"
            for other in others:
                holds = self.emit(f"and i1 {holds}, {self.value(other)}")
            number = self.value(point)
            over = self.emit(f"icmp sle i64 {first}, {number}")
            holds = self.emit(f"and i1 {holds}, {over}")
            if stop is not None:
                under = self.emit(f"icmp slt i64 {number}, {stop}")
                holds = self.emit(f"and i1 {holds}, {under}")
            so_far = self.load(best)
            less = self._smaller(number, so_far)
            chosen = self.emit(f"select i1 {holds}, i64 {less}, i64 {so_far}")
            self.do(f"store i64 {chosen}, ptr {best}")
        found = self.load(best)
        none = self.emit(f"icmp eq i64 {found}, {_LARGEST}")
        return self.emit(f"select i1 {none}, i64 {otherwise}, i64 {found}")

    def numbers_of(self, sort: Sort) -> tuple[str, str] | None:
        """First number and stop of a sort that has a last one."""
        bottom, top = self.twin.ends(sort)
        return None if top is None else (str(bottom), str(top + 1))

"""Collects names from the author's source: local variables, protocol definitions, bound variables.

A recording keeps a transition's requirements and writes, but not the names that its author gave to
parts. This module records the transition again and notes local variable names: after `cut =
common_end(now, follower, leader)` a term is named `cut`, and it is the definition `common_end` of a
follower and a leader. A name only abbreviates a recorded term; an unnamed term is written out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from model.language import RecordedSystem, Transition
from model.language import terms as t
from model.language.recording import _write, record, record_condition
from model.language.scalars import Scalar
from model.language.terms import Term
from model.language.values import RecordValue, leaf_terms
from specs.tla.rewriting import same, substitute

_NOTATION = ("model.language.", "specs.tla.")


@dataclass(frozen=True)
class ProtocolWord:
    """A definition of the protocol: `has(replica, offset)`, with its meaning for its parameters."""

    name: str
    parameters: tuple[Term, ...]
    says: Term
    about: str


@dataclass(frozen=True)
class Use:
    """A protocol definition applied to these terms."""

    word: ProtocolWord
    arguments: tuple[Term, ...]


@dataclass
class AuthorNames:
    """The collected names. `locals` and `places` (records, by field and indices) are by transition,
    word or claim; the other names are valid wherever their terms occur.
    """

    locals: dict[str, dict[Term, str]] = field(default_factory=dict)
    places: dict[str, dict[tuple[str, tuple[Term, ...]], str]] = field(default_factory=dict)
    uses: dict[Term, Use] = field(default_factory=dict)
    words: dict[str, ProtocolWord] = field(default_factory=dict)
    variables: dict[tuple[str, Term], str] = field(default_factory=dict)
    rules: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def variable(self, variable: Term, body: Term) -> str | None:
        """The author's name for the variable of a quantifier."""
        return self.variables.get((variable.args[0], body))

    def rule(self, step: str, place: str, variable: Term) -> str | None:
        """The author's name for the index of a `lam` that a transition writes to a place."""
        return self.rules.get((step, place, variable.args[0]))


def collect_names(recorded: RecordedSystem) -> AuthorNames:
    """Records every transition and claim once more, and collects the names in them."""
    heard = AuthorNames()
    ear = _NameRecorder(recorded, heard)
    for step in recorded.steps:
        ear.step(step.transition)
    for claim, _ in recorded.claims.values():
        if claim.kind == "always_step":
            continue  # its words are those of the steps and the other claims
        ear.condition(claim.function, claim.name, claim.function.__code__)
    return heard


class _NameRecorder:
    def __init__(self, recorded: RecordedSystem, heard: AuthorNames) -> None:
        self._state, self._switches = recorded.system.state, recorded.switches
        self._heard = heard
        self._considered: dict[CodeType, ProtocolWord | None] = {}

    def step(self, transition: Transition) -> None:
        """Collects the names in one transition."""
        returned: list[_Return] = []
        with _listening(returned):
            record(transition, self._state, self._switches)
        self._name(transition.name, transition.function.__code__, returned)
        self._understand(returned, transition.name)

    def condition(self, function: Callable[[Any], Any], name: str, code: CodeType) -> None:
        """Collects the names in a claim, or in a protocol definition on fresh parameters."""
        returned: list[_Return] = []
        with _listening(returned):
            record_condition(function, self._state, self._switches)
        self._name(name, code, returned)
        self._understand(returned, "")

    def _name(self, text: str, code: CodeType, returned: list[_Return]) -> None:
        """Names the terms in a text; its own names come before those in the words that it uses."""
        names = self._heard.locals.setdefault(text, {})
        for one in sorted(returned, key=lambda one: one.code is not code):
            for name, value in one.locals.items():
                if isinstance(value, Scalar) and not (
                    name in one.arguments and value.term.op == "add"
                ):
                    names.setdefault(value.term, name)
        places = self._heard.places.setdefault(text, {})
        for name, value in next((one.locals for one in returned if one.code is code), {}).items():
            place = _place(value) if isinstance(value, RecordValue) else None
            if place is not None:
                places.setdefault(place, name)

    def _understand(self, returned: list[_Return], step: str) -> None:
        for one in returned:
            self._variables(one, step)
        for one in returned:
            self._word(one)

    def _variables(self, one: _Return, step: str) -> None:
        for name, value in one.arguments.items():
            if not isinstance(value, Scalar) or value.term.op != "var":
                continue
            called = value.term.args[0]
            if called.startswith("@"):
                self._heard.rules.setdefault((step, one.written, called), name)
            elif "#" in called and isinstance(one.value, Scalar):
                self._heard.variables.setdefault((called, one.value.term), name)

    def _word(self, one: _Return) -> None:
        if not isinstance(one.value, Scalar) or one.value.term.op in ("const", "var", "bound"):
            return
        first, *rest = one.arguments.values() if one.arguments else (None,)
        if not isinstance(first, RecordValue) or first._schema is not self._state:
            return
        arguments = tuple(value.term for value in rest if isinstance(value, Scalar))
        if len(arguments) != len(rest):
            return
        word = self._definition(one, arguments)
        if word is None or one.value.term in self._heard.uses:
            return
        term = one.value.term
        chosen = dict(zip((f"${name}" for name in list(one.arguments)[1:]), arguments, strict=True))
        needed = tuple(chosen[parameter.args[0]] for parameter in word.parameters)
        if not all(argument.free <= term.free for argument in needed):
            return  # simplified away: where the term stands, the argument may mean nothing
        if same(substitute(word.says, chosen), term):
            self._heard.uses[term] = Use(word, needed)

    def _definition(self, one: _Return, arguments: tuple[Term, ...]) -> ProtocolWord | None:
        """The word that a function is, by calling it with fresh parameters."""
        if one.code not in self._considered:
            self._considered[one.code] = None  # a word is not said of itself
            self._considered[one.code] = self._define(one, arguments)
        return self._considered[one.code]

    def _define(self, one: _Return, arguments: tuple[Term, ...]) -> ProtocolWord | None:
        function, name = one.function, one.code.co_name
        if function is None or name in self._heard.words:
            return None
        names = list(one.arguments)[1:]
        fresh = tuple(
            t.var(f"${name}", argument.sort)
            for name, argument in zip(names, arguments, strict=True)
        )
        said: list[Scalar] = []

        def say(now: Any) -> Scalar:
            said.append(function(now, *map(Scalar, fresh)))
            return Scalar(t.TRUE)

        self.condition(say, name, one.code)
        about = (function.__doc__ or "").strip()
        says = said[0].term
        needed = tuple(parameter for parameter in fresh if parameter.args[0] in says.free)
        word = ProtocolWord(name, needed, says, about)
        self._heard.words[name] = word
        return word


@dataclass(frozen=True)
class _Return:
    """A function of the protocol's text returned."""

    code: CodeType
    function: Callable[..., Any] | None
    arguments: dict[str, Any]
    locals: dict[str, Any]
    value: Any
    written: str
    """The place that is being written, if it is."""


@contextmanager
def _listening(returned: list[_Return]) -> Iterator[None]:
    def hear(frame: FrameType, event: str, value: Any) -> None:
        if event != "return":
            return
        home = str(frame.f_globals.get("__name__", ""))
        if f"{home}.".startswith(_NOTATION):
            return
        code, found = frame.f_code, dict(frame.f_locals)
        arguments = {name: found.get(name) for name in code.co_varnames[: code.co_argcount]}
        if not any(_is_recorded(one) for one in (*arguments.values(), value)):
            return
        function = frame.f_globals.get(code.co_name)
        known = getattr(function, "__code__", None) is code
        returned.append(
            _Return(
                code, function if known else None, arguments, found, value, _place_written(frame)
            )
        )

    before = sys.getprofile()
    sys.setprofile(hear)
    try:
        yield
    finally:
        sys.setprofile(before)


def _place(value: RecordValue) -> tuple[str, tuple[Term, ...]] | None:
    """The field and the indices of a record that is read as a whole from one place."""
    found: set[tuple[str, tuple[Term, ...]]] = set()
    for leaf, variables, term in leaf_terms(value._schema, value, ""):
        suffix = f".{leaf.name}"
        if term.op != "get" or not term.args[0].endswith(suffix):
            return None
        indices = term.args[1 : len(term.args) - len(variables)]
        if term.args[len(term.args) - len(variables) :] != variables:
            return None
        found.add((term.args[0].removesuffix(suffix), indices))
    return found.pop() if len(found) == 1 else None


def _place_written(frame: FrameType | None) -> str:
    """The name of the place for which a rule is being asked."""
    while frame is not None:
        if frame.f_code is _write.__code__:
            return str(frame.f_locals["name"])
        frame = frame.f_back
    return ""


def _is_recorded(value: object) -> bool:
    return isinstance(value, (Scalar, RecordValue))

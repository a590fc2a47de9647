"""Recording: a transition's function runs once, over expressions; its requires and writes are kept.

    @transition(leader=BROKERS, laggard=BROKERS)
    def leader_shrinks_isr(now, new, leader, laggard):
        \"\"\"A leader drops a lagging follower by a conditional write to ZooKeeper.\"\"\"
        mine = now.view[leader]
        require(mine.leads, "leader believes it leads")
        ...

        new.view[leader] = mine.but(isr=mine.isr.without(laggard))

Fields that a transition does not write do not change. The parameters are the only nondeterminism.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from model.language import terms as t
from model.language.errors import ProtocolError, author_line, unknown_name
from model.language.functions import condition_term
from model.language.scalars import Scalar, index_term
from model.language.schema import Field, Ghost, LogOf, MapOf, Record, Schema, SetOf
from model.language.sets import SetValue
from model.language.sorts import BOOL, Sort
from model.language.terms import Term
from model.language.values import coerce, leaf_terms, read

Switches = Mapping[str, object]
Parameter = Sort | SetOf


@dataclass(frozen=True)
class Requirement:
    """One fact that must hold, and the sentence that says so."""

    condition: Term
    reason: str


@dataclass(frozen=True)
class Write:
    """`field[keys..., variables...] := value` for all values of the variables."""

    field: str
    keys: tuple[Term, ...]
    variables: tuple[Term, ...]
    value: Term


CONTROLLER, CLIENTS, NOBODY = "controller", "clients", "nobody"
"""Who takes a step that is no broker's own; nobody: time does, or ZooKeeper."""

_CLIENTS = ("admin", "administrator", "consumer", "producer")
ENDS = ("arrived", "lost", "refused")
SHOWS = (
    "produce", "acknowledge", "consume", "fetch", "read", "refused_write", "write_without_response",
)  # fmt: skip


@dataclass(frozen=True)
class Transition:
    """A named step of the protocol as its author wrote it.

    For pages that draw it: `ends` is what becomes of the messages that it takes, one of `ENDS`;
    `shows` is an exchange that the step is by itself, one of `SHOWS` (`write_without_response`: a
    write of ZooKeeper whose answer is lost); `fault`: the step is a fault; `by`: who takes it, if
    the name does not begin with that.
    """

    name: str
    function: Callable[..., object]
    parameters: Mapping[str, Parameter]
    only: Callable[[Any], bool] | None = None
    by: str | None = None
    ends: str = "arrived"
    shows: str | None = None
    fault: bool = False

    @property
    def actor(self) -> str:
        """Who takes the step: CONTROLLER, CLIENTS, NOBODY, or the parameter that says who."""
        first = self.name.partition("_")[0]
        if self.by is not None:
            return self.by
        if first in _CLIENTS:
            return CLIENTS
        if first == CONTROLLER or not self.parameters:
            return CONTROLLER
        return next(iter(self.parameters))

    @property
    def summary(self) -> str:
        """The first line of the docstring: what happens, in one sentence."""
        return (self.function.__doc__ or "").strip().split("\n")[0]

    def applies(self, switches: Switches) -> bool:
        """Is the transition part of the version with these switches?"""
        return self.only is None or self.only(SwitchView(switches))


@dataclass(frozen=True)
class Recorded:
    """The requirements and writes of a transition's function, under one version's switches."""

    transition: Transition
    parameters: dict[str, Parameter]
    requires: Sequence[Requirement] = ()
    writes: Sequence[Write] = ()

    def shown(self, arguments: Mapping[str, int | frozenset[int]]) -> list[str]:
        """`leader=1`, `laggards={2,3}`: each argument as a story writes it."""
        return [f"{name}={_shown(self.parameters[name], arguments[name])}" for name in arguments]


def _shown(sort: Parameter, value: int | frozenset[int]) -> str:
    if isinstance(value, frozenset):
        assert isinstance(sort, SetOf)
        return "{" + ",".join(map(sort.element.show, sorted(value))) + "}"
    assert isinstance(sort, Sort)
    return sort.show(value)


class _Recorder:
    def __init__(self, switches: Switches) -> None:
        self.switches = switches
        self.requires: list[Requirement] | None = None
        self.writes: list[Write] = []


_open: list[_Recorder] = []


@contextmanager
def _recording(switches: Switches) -> Iterator[_Recorder]:
    recorder = _Recorder(switches)
    _open.append(recorder)
    try:
        yield recorder
    finally:
        _open.pop()


class SwitchView:
    """A version's switches as attributes: `v.truncation`; an unknown one is refused by name."""

    def __init__(self, switches: Switches) -> None:
        self._switches = switches

    def __getattr__(self, name: str) -> Any:
        if name not in self._switches:
            raise ProtocolError(unknown_name("switch", name, self._switches))
        return self._switches[name]


class NotedSwitches(Mapping[str, object]):
    """A version's switches; it notes the switches that a recording reads."""

    def __init__(self, switches: Switches) -> None:
        self._switches = switches
        self.read: dict[str, object] = {}

    def __getitem__(self, name: str) -> object:
        self.read[name] = value = self._switches[name]
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._switches)

    def __len__(self) -> int:
        return len(self._switches)


class _CurrentVersion:
    """The switches of the version that is being recorded: `if version.zk_writes_fenced: ...`.

    A switch is a plain Python value, fixed for the whole recording, so `if` on it is right.
    """

    def __getattr__(self, name: str) -> Any:
        if not _open:
            raise ProtocolError(
                f"version.{name} is known only while a system is recorded for a version"
            )
        return getattr(SwitchView(_open[-1].switches), name)


version = _CurrentVersion()


def require(condition: Scalar, reason: str) -> None:
    """One fact that must hold for the step to be possible; `reason` is a positive sentence."""
    if not _open or _open[-1].requires is None:
        raise ProtocolError(f"{author_line()}: require() is for transitions only")
    if not reason.strip():
        raise ProtocolError(f"{author_line()}: give the reason as a positive sentence")
    requires = _open[-1].requires
    if any(known.reason == reason for known in requires):
        raise ProtocolError(f"{author_line()}: this reason stands twice; one fact per require")
    if _open[-1].writes:
        raise ProtocolError(f"{author_line()}: require before the first write, never after it")
    requires.append(Requirement(condition_term(condition), reason))


class New:
    """The next state, to be written: `new.zk = now.zk.but(...)`, `new.view[b].hw = 3`."""

    if TYPE_CHECKING:
        _place: tuple[Schema, str, tuple[Term, ...], _Recorder]

    def __init__(self, schema: Schema, name: str, keys: tuple[Term, ...], to: _Recorder) -> None:
        object.__setattr__(self, "_place", (schema, name, keys, to))

    def _down(self, part: str) -> tuple[Schema, str]:
        schema, name, _, _ = self._place
        while isinstance(schema, Ghost):
            schema = schema.of
        if isinstance(schema, LogOf) and part == "end":
            raise ProtocolError(f"{author_line()}: write the log by .append(...) or .cut(...)")
        if not isinstance(schema, Record):
            raise ProtocolError(f"{author_line()}: {name} has no part {part!r}; index it first")
        if part not in schema.parts:
            raise ProtocolError(f"{author_line()}: {unknown_name('field', part, schema.parts)}")
        return schema.parts[part], f"{name}.{part}" if name else part

    def __getattr__(self, part: str) -> New:
        if part.startswith("__"):
            raise AttributeError(part)
        schema, name = self._down(part)
        return New(schema, name, self._place[2], self._place[3])

    def __setattr__(self, part: str, value: object) -> None:
        schema, name = self._down(part)
        _write(schema, name, self._place[2], value, self._place[3])

    def _index(self, index: object) -> tuple[Schema, str, tuple[Term, ...], _Recorder]:
        schema, name, keys, to = self._place
        while isinstance(schema, Ghost):
            schema = schema.of
        if not isinstance(schema, MapOf):
            raise ProtocolError(f"{author_line()}: {name or 'the state'} is not indexed")
        return schema.of, name, (*keys, index_term(schema.index, index)), to

    def __getitem__(self, index: object) -> New:
        return New(*self._index(index))

    def __setitem__(self, index: object, value: object) -> None:
        schema, name, keys, to = self._index(index)
        _write(schema, name, keys, value, to)


def _write(schema: Schema, name: str, keys: tuple[Term, ...], raw: object, to: _Recorder) -> None:
    value = coerce(schema, raw)
    for leaf, variables, term in leaf_terms(schema, value, name):
        if term is t.get(leaf.name, (*keys, *variables), leaf.sort):
            continue  # written as it was: .but() keeps the other parts
        if any(w.field == leaf.name and w.keys == keys for w in to.writes):
            raise ProtocolError(f"{author_line()}: {leaf.name} is written twice in one step")
        to.writes.append(Write(leaf.name, keys, variables, term))


def parameter_value(name: str, sort: Parameter) -> Any:
    """A parameter as the transition's function sees it."""
    if isinstance(sort, SetOf):
        return SetValue((sort.element,), lambda x: t.get(f"${name}", (x,), BOOL))
    return Scalar(t.var(f"${name}", sort))


def transition(
    *,
    only: Callable[[Any], bool] | None = None,
    actor: str | None = None,
    ends: str = "arrived",
    shows: str | None = None,
    fault: bool = False,
    **parameters: Parameter,
) -> Callable[[Callable[..., object]], Transition]:
    """Declares a step: `@transition(leader=BROKERS, laggard=BROKERS)`.

    `only` is a rule over the version's switches: the step exists where it is true.
    A parameter may be a sort, or `SetOf(sort)` for a set. The others are for those who draw the
    step, and part of no proof: see `Transition`.
    """
    _refuse_unknown("ends", ends, ENDS)
    _refuse_unknown("shows", shows, (None, *SHOWS))
    _refuse_unknown("actor", actor, (None, CONTROLLER, CLIENTS, NOBODY))

    def declare(function: Callable[..., object]) -> Transition:
        expected = ["now", "new", *parameters]
        actual = list(inspect.signature(function).parameters)
        if actual != expected:
            raise ProtocolError(
                f"{function.__name__}({', '.join(actual)}): write "
                f"{function.__name__}({', '.join(expected)}), as its parameters are declared"
            )
        if not (function.__doc__ or "").strip():
            raise ProtocolError(f"{function.__name__}: say in a docstring what happens")
        return Transition(
            function.__name__, function, dict(parameters), only, actor, ends, shows, fault
        )

    return declare


def _refuse_unknown(name: str, given: str | None, known: tuple[str | None, ...]) -> None:
    if given not in known:
        raise ProtocolError(
            f"{name}={given!r}: write one of {', '.join(repr(one) for one in known)}"
        )


def record(step: Transition, state: Record, switches: Switches) -> Recorded:
    """Runs a transition's function over expressions and keeps its requirements and writes."""
    with _recording(switches) as recorder:
        recorder.requires = []
        arguments = {name: parameter_value(name, sort) for name, sort in step.parameters.items()}
        returned = step.function(read(state, ""), New(state, "", (), recorder), **arguments)
        if returned is not None:
            raise ProtocolError(f"{step.name} returns a value; a step only requires and writes")
        _refuse_ghost_reads(step, state, recorder.requires)
        return Recorded(
            step, dict(step.parameters), tuple(recorder.requires), tuple(recorder.writes)
        )


def record_initial(function: Callable[..., None], state: Record, switches: Switches) -> list[Write]:
    """The writes of a system's initial state; all other fields are blank."""
    with _recording(switches) as recorder:
        function(New(state, "", (), recorder))
        return recorder.writes


def record_condition(function: Callable[..., Scalar], state: Record, switches: Switches) -> Term:
    """A claim's condition as a term."""
    with _recording(switches):
        return condition_term(function(read(state, "")))


def record_step_condition(
    function: Callable[..., Scalar], state: Record, switches: Switches
) -> Term:
    """The condition of a claim about a step, as a term over the states before and after it."""
    with _recording(switches):
        return condition_term(function(read(state, ""), read(state, "", mark=t.AFTER)))


def _refuse_ghost_reads(step: Transition, state: Record, requires: list[Requirement]) -> None:
    ghosts = {leaf.name for leaf in state.leaves if leaf.ghost}
    for requirement in requires:
        read_here = sorted(fields_read(requirement.condition) & ghosts)
        if read_here:
            raise ProtocolError(
                f"{step.name}: `{requirement.reason}` reads the ghost field {read_here[0]}; "
                "history is for claims and proofs, never for a require"
            )


@cache
def fields_read(term: Term) -> frozenset[str]:
    """The names of the fields that a term reads, before a step or after it."""
    return frozenset(node.args[0].removesuffix(t.AFTER) for node in nodes(term) if node.op == "get")


def bounds_read(term: Term) -> frozenset[str]:
    """The names of the bounds whose values a term compares with (`limit("log")`)."""
    return frozenset(node.args[0] for node in nodes(term) if node.op == "bound")


def nodes(*terms: Term) -> Iterator[Term]:
    """Every node of some terms, each once."""
    seen: set[Term] = set()
    todo = [*terms]
    while todo:
        node = todo.pop()
        if node not in seen:
            seen.add(node)
            yield node
            todo.extend(arg for arg in node.args if isinstance(arg, Term))


__all__ = [
    "Field",
    "New",
    "Parameter",
    "Recorded",
    "Requirement",
    "Switches",
    "Transition",
    "Write",
    "bounds_read",
    "fields_read",
    "nodes",
    "record",
    "record_condition",
    "record_initial",
    "record_step_condition",
    "require",
    "transition",
    "version",
]

"""Turns transitions for one partition into transitions of a system with several partitions.

    shrinks = focused(leader_shrinks_isr, partition=PARTITIONS, on="partitions")

The function still reads `now.replica[leader]` and writes `new.state = ...`. Parts of one partition
are read and written at `now.partitions[partition]`, all other parts at their own place. A step that
needs to know its partition declares the parameter itself.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

from model.language.errors import ProtocolError
from model.language.recording import New, Transition
from model.language.scalars import Value
from model.language.schema import Ghost, MapOf, Record, Schema
from model.language.sorts import Sort
from model.language.values import MapValue, RecordValue


class Focused(Value):
    """The state as one member of `on` sees it: its own parts, and what is outside the map."""

    def __init__(self, whole: Any, on: str, member: object) -> None:
        self._whole, self._on = whole, on
        self._own, self._parts = _parts(whole, on)
        self._member = self._own[member]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._member if name in self._parts else self._whole, name)


class FocusedNew:
    """The next state as one member of `on` writes it."""

    def __init__(self, whole: New, on: str, member: object, parts: frozenset[str]) -> None:
        object.__setattr__(self, "_to", (whole, getattr(whole, on)[member], parts))

    def _place(self, name: str) -> New:
        whole, member, parts = object.__getattribute__(self, "_to")
        chosen: New = member if name in parts else whole
        return chosen

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._place(name), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._place(name), name, value)


def focus(now: Any, on: str, member: object) -> Any:
    """The state as seen by one member of the map `on`: for claims, and for what steps share."""
    return Focused(now, on, member)


def focused(step: Transition, *, on: str, **parameter: Sort) -> Transition:
    """The same step with one more parameter: the member of the map `on` that the step is about.

    Raises ProtocolError if more or less than one parameter is given, or where the map is not there
    or has a part of the same name as the state.
    """
    if len(parameter) != 1:
        raise ProtocolError(
            f"{step.name}: write focused(step, partition=PARTITIONS, on={on!r}), with one parameter"
        )
    (name, sort), = parameter.items()  # fmt: skip
    knows = name in step.parameters

    def function(now: Any, new: Any, **chosen: Any) -> None:
        member = chosen[name] if knows else chosen.pop(name)
        view = Focused(now, on, member)
        step.function(view, FocusedNew(new, on, member, view._parts), **chosen)

    function.__doc__ = inspect.getdoc(step.function)
    function.__wrapped__ = step.function  # type: ignore[attr-defined]  # where its text stands
    own = {known: of for known, of in step.parameters.items() if known != name}
    return replace(step, function=function, parameters={**own, name: sort})


def _parts(whole: Any, on: str) -> tuple[MapValue, frozenset[str]]:
    outside = set(whole._schema.parts) if isinstance(whole, RecordValue) else set()
    if on not in outside:
        raise ProtocolError(f"the state has no map {on!r} to focus on")
    one: Schema = whole._schema.parts[on]
    while isinstance(one, (Ghost, MapOf)):
        one = one.of
    if not isinstance(one, Record) or not isinstance(getattr(whole, on), MapValue):
        raise ProtocolError(f"{on} is not a map of records: there is nothing to focus on")
    both = sorted(outside & set(one.parts))
    if both:
        raise ProtocolError(
            f"{both[0]!r} is a part of the state and of each member of {on}: a step could not say "
            "which it means; rename one"
        )
    return getattr(whole, on), frozenset(one.parts)

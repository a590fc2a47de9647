"""The state of a graph of mutable objects, saved as a value and restored in place.

What has no ``save`` of its own (logs on a disk in memory, replicas, fetchers) is kept so. Each
mutable object that can be reached is kept with a shallow copy of what it holds; on restoring, the
very objects get back what they held, so that whoever refers to one of them need not be changed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import is_dataclass
from enum import Enum
from random import Random
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from impl.disk.memory_tree import Node

Kept = list[tuple[Callable[[Any, Any], None], Any, Any]]
"""How an object is restored, the object, what it held."""

_VALUES = (
    int, float, complex, str, bytes, bool, type(None), Enum, type, range, FunctionType,
    BuiltinFunctionType, frozenset,
)  # fmt: skip


def _set_dict(one: dict[Any, Any], held: dict[Any, Any]) -> None:
    one.clear()
    one.update(held)


def _set_queue(one: deque[Any], held: deque[Any]) -> None:
    one.clear()
    one.extend(held)


def _set_items(one: Any, held: Any) -> None:
    one[:] = held


def _set_members(one: set[Any], held: set[Any]) -> None:
    one.clear()
    one.update(held)


def _set_fields(one: Any, held: dict[str, Any]) -> None:
    fields = one.__dict__
    fields.clear()
    fields.update(held)


def _set_slots(one: Any, held: dict[str, Any]) -> None:
    for name, value in held.items():
        setattr(one, name, value)


class _Kind:
    """How objects of one type are kept: None of them is a value."""

    __slots__ = ("hold", "inner", "put_back")

    def __init__(
        self,
        hold: Callable[[Any], Any] | None,
        put_back: Callable[[Any, Any], None] | None,
        inner: Callable[[Any], Iterable[Any]],
    ) -> None:
        self.hold = hold
        self.put_back = put_back
        self.inner = inner


def _nothing(held: Any) -> Iterable[Any]:
    return ()


def _itself(held: Any) -> Iterable[Any]:
    items: Iterable[Any] = held
    return items


def _of_mapping(held: dict[Any, Any]) -> Iterable[Any]:
    return held.values()


def _slots(cls: type) -> list[str]:
    found: list[str] = []
    for each in cls.__mro__:
        names = each.__dict__.get("__slots__", ())
        found += [names] if isinstance(names, str) else list(names)
    return [name for name in found if name not in ("__dict__", "__weakref__")]


def _kind(cls: type) -> _Kind | None:
    """How objects of a type are kept, None for values. TypeError where that is not known."""
    if issubclass(cls, _VALUES) or (is_dataclass(cls) and cls.__dataclass_params__.frozen):  # type: ignore[attr-defined]
        return None
    if issubclass(cls, tuple):
        return _Kind(None, None, _itself)
    if cls is MethodType:
        return _Kind(None, None, lambda one: (one.__self__,))
    simple: dict[type, _Kind] = {
        dict: _Kind(dict.copy, _set_dict, _of_mapping),
        list: _Kind(list.copy, _set_items, _itself),
        deque: _Kind(deque.copy, _set_queue, _itself),
        set: _Kind(set.copy, _set_members, _nothing),
        bytearray: _Kind(bytes, _set_items, _nothing),
        Random: _Kind(Random.getstate, Random.setstate, _nothing),
        Node: _Kind(Node.save, Node.load, _nothing),
    }
    if cls in simple:
        return simple[cls]
    slots = _slots(cls)
    if cls.__dictoffset__ and not slots:
        return _Kind(lambda one: one.__dict__.copy(), _set_fields, _of_mapping)
    if slots and not cls.__dictoffset__:
        return _Kind(
            lambda one: {name: getattr(one, name) for name in slots if hasattr(one, name)},
            _set_slots,
            _of_mapping,
        )
    raise TypeError(f"no way is known to keep a {cls.__qualname__}")


_KINDS: dict[type, _Kind | None] = {}


def keep(roots: Iterable[Any], leave: Iterable[Any] = ()) -> Kept:
    """What can be reached from the roots and not through what is to be left.

    Functions, frozen dataclasses and whatever else cannot change are not looked into. TypeError for
    an object of which nobody knows how it is kept, such as a coroutine.
    """
    kept: Kept = []
    seen = {id(one) for one in leave}
    waiting = list(roots)
    kinds = _KINDS
    while waiting:
        one = waiting.pop()
        cls = type(one)
        try:
            kind = kinds[cls]
        except KeyError:
            kind = kinds[cls] = _kind(cls)
        if kind is None or id(one) in seen:
            continue
        seen.add(id(one))
        if kind.hold is None or kind.put_back is None:
            waiting.extend(kind.inner(one))
            continue
        held = kind.hold(one)
        kept.append((kind.put_back, one, held))
        waiting.extend(kind.inner(held))
    return kept


def put_back(kept: Kept) -> None:
    """Let every object hold again what it held."""
    for restore, one, held in kept:
        restore(one, held)

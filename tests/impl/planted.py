"""Faults planted in the code that serves: a line of a function is replaced for one test."""

from __future__ import annotations

import inspect
import sys
import textwrap
from types import FunctionType
from typing import Any

import pytest


def plant(monkeypatch: pytest.MonkeyPatch, function: Any, line: str, otherwise: str) -> None:
    """Replace ``line`` in a function or method by ``otherwise``; AssertionError if it is not there.

    Lines are compared without what is around them: a part of a line is enough.
    """
    assert isinstance(function, FunctionType), f"{function} is a function"
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(line) == 1, f"{line!r} is there once in {function.__qualname__}"
    module = sys.modules[function.__module__]
    space: dict[str, Any] = {}
    code = compile(
        "from __future__ import annotations\n" + source.replace(line, otherwise),
        f"<planted in {function.__qualname__}>",
        "exec",
    )
    exec(code, vars(module) | {"__name__": module.__name__}, space)
    owner: Any = module
    *path, name = function.__qualname__.split(".")
    for part in path:
        owner = getattr(owner, part)
    planted = FunctionType(space[name].__code__, vars(module), name, function.__defaults__)
    planted.__kwdefaults__ = function.__kwdefaults__
    monkeypatch.setattr(owner, name, planted)
    for other in [one for at, one in sys.modules.items() if at.startswith("impl.")]:
        if vars(other).get(name) is function:  # where it was imported by name
            monkeypatch.setattr(other, name, planted)

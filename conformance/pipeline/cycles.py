"""Suspends Python's cycle collector during work that makes millions of rows and no cycles."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def few_cycles(work: Callable[P, T]) -> Callable[P, T]:
    """Run a function without Python's search for cycles, which looks at every row again and again.

    It took a third of the time of a check: rows hold only texts and numbers. What a judgement
    leaves in cycles goes after the function has ended: so it is for one of many parts, not for all.
    """

    @wraps(work)
    def run(*arguments: P.args, **named: P.kwargs) -> T:
        was = gc.isenabled()
        gc.disable()
        try:
            return work(*arguments, **named)
        finally:
            if was:
                gc.enable()

    return run

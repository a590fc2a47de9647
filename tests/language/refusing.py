"""A step with a mistake, recorded: which line is refused, and what is said of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from model.language import ProtocolError
from model.language import require as typed_require
from tests.language.small import system

require: Any = typed_require
"""Misuse is the subject: the types would refuse half of it before the notation can."""

Body = Callable[[Any, Any], object]


def refusal(body: Body) -> str:
    """The message with which a step of this body is refused."""

    def step(now: Any, new: Any) -> object:
        """It does what the test says."""
        return body(now, new)

    with pytest.raises(ProtocolError) as refused:
        system(step)
    return str(refused.value)


def says(message: str, *words: str) -> None:
    """The message has these words, and names the test's file and a line of it."""
    for word in words:
        assert word in message, message
    assert re.search(r"test_misuse\w*\.py:\d+: `", message), message


def refused(*words: str) -> Callable[[Body], Callable[[], None]]:
    """The test that a step of this body is refused with these words, and a line of it is named."""

    def test_of(body: Body) -> Callable[[], None]:
        return lambda: says(refusal(body), *words)

    return test_of

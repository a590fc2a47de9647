"""Claims: what shall always hold, what shall be reachable, what shall happen in the end.

    @always("what was committed is in the log of every registered leader",
            companion="something_is_committed")
    def no_message_loss(now): ...

Every `always` names a `sometimes` beside it, so that it is not vacuous.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.language.errors import ProtocolError
from model.language.values import Scalar


@dataclass(frozen=True)
class Claim:
    """A property in a sentence. `kind` is always, sometimes or eventually."""

    name: str
    kind: str
    sentence: str
    function: Callable[[Any], Scalar]
    companion: str | None = None
    fair: tuple[str, ...] = ()
    only: Callable[[Any], bool] | None = None


def _declare(kind: str, sentence: str, **more: Any) -> Callable[[Callable[[Any], Scalar]], Claim]:
    if not sentence.strip() or sentence.strip() != sentence:
        raise ProtocolError(f"@{kind} needs the claim as a sentence")

    def declare(function: Callable[[Any], Scalar]) -> Claim:
        return Claim(function.__name__, kind, sentence, function, **more)

    return declare


def always(
    sentence: str, *, companion: str, only: Callable[[Any], bool] | None = None
) -> Callable[[Callable[[Any], Scalar]], Claim]:
    """Holds in every reachable state; `companion` is the `sometimes` that keeps it honest."""
    return _declare("always", sentence, companion=companion, only=only)


def sometimes(
    sentence: str, *, only: Callable[[Any], bool] | None = None
) -> Callable[[Callable[[Any], Scalar]], Claim]:
    """Holds in at least one reachable state."""
    return _declare("sometimes", sentence, only=only)


def eventually(
    sentence: str, *, fair: tuple[str, ...], only: Callable[[Any], bool] | None = None
) -> Callable[[Callable[[Any], Scalar]], Claim]:
    """Holds at some point of every run in which the named steps are treated fairly."""
    if not fair:
        raise ProtocolError("@eventually needs fair=(...): the steps that may not be ignored")
    return _declare("eventually", sentence, fair=fair, only=only)

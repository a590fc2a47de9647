"""Invariants and proofs as data.

    @invariant("whoever owns /controller won the newest epoch",
               why="an older owner would make writes under a newer controller's nose")
    def the_owner_won_the_newest_epoch(now): ...

A proof is inductive: every invariant holds initially, every step keeps all of them, and together
they imply the claim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.language.scalars import Scalar


@dataclass(frozen=True)
class Invariant:
    """One conjunct of the induction hypothesis."""

    name: str
    sentence: str
    why: str
    function: Callable[[Any], Scalar]


def invariant(sentence: str, *, why: str) -> Callable[[Callable[[Any], Scalar]], Invariant]:
    """Declares an invariant; `why` says what would break without it."""

    def declare(function: Callable[[Any], Scalar]) -> Invariant:
        return Invariant(function.__name__, sentence, why, function)

    return declare


@dataclass(frozen=True)
class Proof:
    """A claim of a system, and the invariants that prove it for any number of brokers."""

    claim: str
    system: str
    invariants: tuple[Invariant, ...]
    assumes: tuple[str, ...]
    """What the model abstracts; printed with every verdict."""

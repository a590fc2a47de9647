"""Sparse states, and the interface of evaluators of terms on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from model.language.sorts import Sort
from model.language.system import RecordedSystem
from model.language.terms import Term

Index = tuple[int, ...]
SparseState = dict[str, dict[Index, int]]
"""Field name -> {index -> code}; a Bool is True or False, none is its sort's code."""
Arguments = Mapping[str, "int | frozenset[int]"]
Environment = dict[str, "int | frozenset[int]"]


class Values(Protocol):
    """The evaluator, as explanations and pointwise definitions need it."""

    @property
    def recorded(self) -> RecordedSystem:
        """The system whose terms are evaluated."""

    def value(self, term: Term, state: SparseState, environment: Environment) -> int:
        """The value of a term."""

    def range_of(self, term: Term, state: SparseState, environment: Environment) -> Iterable[int]:
        """The values that a quantifier's variable takes."""

    def read(self, state: SparseState, name: str, index: Index) -> int:
        """The code of a field at an index."""

    def ends(self, sort: Sort) -> tuple[int, int | None]:
        """The least and the greatest code of a sort; None where nothing limits it."""

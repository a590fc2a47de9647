"""Shows which fields make the state space large: how often each field has each value."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from model.language.schema import Field
from model.language.sorts import Bounded, Numbers
from specs.lowering.grounding import Grounded
from specs.rendering import rounded, under_key
from specs.state_text import plain, text

Counts = Sequence[Sequence[int]]
"""By cell and by position in its domain: the number of states that hold that value there."""


@dataclass(frozen=True)
class FieldGrowth:
    """One field, over all of its indices and all states.

    `values`: each value as text, and the number of states that have it. `bound` limits the field;
    `share` is the share at that limit.
    """

    field: str
    values: dict[str, int]
    bound: str | None
    share: float | None = dataclasses.field(metadata=under_key("share_at_bound", rounded(4)))

    def as_text(self) -> str:
        """`zk.epoch: 62% at the bound epoch; 0: 1%, 1: 37%, 2: 62%`."""
        total = sum(self.values.values())
        shares = ", ".join(
            f"{value}: {_percent(count / total)}" for value, count in self.values.items()
        )
        if self.share is None:
            return f"{self.field}: {shares}"
        return f"{self.field}: {_percent(self.share)} at the bound {self.bound}; {shares}"


def _percent(share: float) -> str:
    return f"{share:.0%}" if share == 0 or share >= 0.005 else "<1%"


def growth(grounded: Grounded, counts: Counts) -> list[FieldGrowth]:
    """Returns every field: fields with a bound first, by descending `share`, then by name."""
    by_field: dict[str, list[int]] = {}
    domains: dict[str, range] = {}
    for cell, held in zip(grounded.cells, counts, strict=True):
        domains[cell.field.name] = cell.domain
        so_far = by_field.setdefault(cell.field.name, [0] * len(cell.domain))
        for position, count in enumerate(held):
            so_far[position] += int(count)
    found = [
        _grown(grounded.recorded.fields[name], domains[name], held)
        for name, held in by_field.items()
    ]
    return sorted(found, key=lambda one: (one.share is None, -(one.share or 0), one.field))


def _grown(leaf: Field, domain: range, held: list[int]) -> FieldGrowth:
    values = {
        text(plain(leaf.sort, code)): count
        for code, count in zip(domain, held, strict=True)
        if count
    }
    sort = leaf.sort
    high = sort.high if isinstance(sort, Numbers) else None
    if not isinstance(high, Bounded):
        return FieldGrowth(leaf.name, values, None, None)
    return FieldGrowth(leaf.name, values, high.bound, held[-1] / max(sum(held), 1))

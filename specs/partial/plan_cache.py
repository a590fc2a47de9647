"""Caches plans that worked before, and tries them for the same kind of line with other brokers.

The steps between two lines repeat. A plan is kept with its numbers relative to the registered
numbers, and tried under every permutation of the brokers. As in any other run, each step must be
possible and the last state must fit the line.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from model.language.sorts import Numbers, Sort
from specs.partial.compiled_steps import CompiledSteps, TransitionMove
from specs.partial.plans import Goal
from specs.partial.writers import Step

MOST_KEPT = 16
"""Plans of one kind; the one that worked last is tried first."""

MOST_EXCHANGED = 4
"""With more members than this, plans are tried for the very same members only."""

CachedPlan = tuple[tuple[TransitionMove, tuple[int, ...]], ...]
"""Steps, with numbers as distances."""

GoalKind = tuple[tuple[int, int | None], ...]


class PlanCache:
    """Plans by the kind of change that they bring about."""

    def __init__(self, moves: CompiledSteps, rising: frozenset[int]) -> None:
        self.moves, self.ledger, self.rising = moves, moves.ledger, rising
        self._kept: dict[GoalKind, list[CachedPlan]] = {}
        self._measures: dict[Sort, tuple[int, ...]] = {}
        members: set[int] = set()
        for move in moves.by_name.values():
            for sort in move.sorts:
                if isinstance(sort, Numbers):
                    self._measures[sort] = self._measured_by(sort)
                else:
                    members.update(sort.domain(moves.twin.bounds))
        ordered = sorted(members)
        few = len(ordered) <= MOST_EXCHANGED
        self._exchanges = [
            dict(zip(ordered, other, strict=True))
            for other in (itertools.permutations(ordered) if few else [ordered])
        ]

    def _measured_by(self, sort: Numbers) -> tuple[int, ...]:
        """The single field of the state to which numbers of a sort are relative, if any."""
        bound = getattr(sort.high, "bound", None)
        return tuple(
            number
            for number, leaf in enumerate(self.moves.fields)
            if isinstance(leaf.sort, Numbers)
            and not leaf.dims
            and getattr(leaf.sort.high, "bound", None) == bound
        )[:1]

    def kind(self, goal: Goal) -> GoalKind:
        """The kind of a goal: the fields that differ, without their indices."""
        read = self.ledger.read
        found: list[tuple[int, int | None]] = []
        for (number, index), code in goal.items():
            here = read(number, index)
            if here != code:
                found.append((number, code - here if number in self.rising else None))
        return tuple(sorted(found, key=str))

    def keep(self, kind: GoalKind, plan: list[Step], zeros: dict[Sort, int]) -> None:
        """Keeps a plan that worked; its numbers become relative to `zeros`, those at its start."""
        known = tuple(
            (move, tuple(
                value - zeros.get(sort, 0) for sort, value in zip(move.sorts, given, strict=True)
            ))
            for move, given in plan
        )  # fmt: skip
        kept = self._kept.setdefault(kind, [])
        if known in kept:
            kept.remove(known)
        kept.insert(0, known)
        del kept[MOST_KEPT:]

    def zeros(self) -> dict[Sort, int]:
        """The current numbers to which the numbers of each sort are relative."""
        return {
            sort: self.ledger.read(number, ())
            for sort, numbers in self._measures.items()
            for number in numbers
        }

    def ways(self, kind: GoalKind, most: int, fits: Callable[[], bool]) -> Iterator[list[Step]]:
        """Plans that work here; the ledger is at the end of each until the next is requested."""
        zeros, mark = self.zeros(), self.ledger.mark()
        for known in list(self._kept.get(kind, ())):
            if len(known) > most:
                continue
            for exchange in self._exchanges:
                plan = self._retaken(known, exchange, zeros)
                if plan is not None and fits():
                    yield plan
                self.ledger.undo(mark)

    def _retaken(
        self, known: CachedPlan, exchange: dict[int, int], zeros: dict[Sort, int]
    ) -> list[Step] | None:
        plan: list[Step] = []
        for move, numbers in known:
            given = tuple(
                number + zeros.get(sort, 0)
                if isinstance(sort, Numbers)
                else exchange.get(number, number)
                for sort, number in zip(move.sorts, numbers, strict=True)
            )
            if move.refusal(*given) >= 0:
                return None
            self.moves.take(move, given)
            plan.append((move, given))
        return plan

"""Evaluates which claims hold in a state, or of the step that led to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.web.run_tree import RunNode
from model.language.evaluate import Evaluator, SparseState
from model.language.explain import why_not
from model.language.recording import Requirement, fields_read
from model.language.terms import AFTER, not_
from specs.lowering.python_terms import CompiledEvaluator
from specs.story.heading import ROOM, StoryHeading

MOST_KEPT = 5_000
"""Answers about steps that are kept for a system."""


@dataclass(frozen=True)
class ClaimStatus:
    """A claim's value here: whether it holds of this state (or of the step that led to it).

    `witness`: the places and values that break an `always`, or that fulfil a `sometimes`.
    """

    claim: str
    kind: str
    sentence: str
    lit: bool
    witness: tuple[str, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Whether a claim that should always hold, of states or of steps, does not."""
        return self.is_always and not self.lit

    @property
    def is_always(self) -> bool:
        """Whether the claim is about every state or every step: `always`, `always step`."""
        return self.kind.startswith("always")


class ClaimEvaluator:
    """Evaluates the claims of a system in a state, and of the step that led to it."""

    def __init__(self, heading: StoryHeading) -> None:
        self._heading = heading
        self._claims = heading.recorded.claims
        self._reads = {name: fields_read(term) for name, (_, term) in self._claims.items()}
        self._both = {
            name: sorted({one.removesuffix(AFTER) for one in found})
            for name, found in self._reads.items()
        }
        self._verdicts: dict[tuple[object, ...], tuple[list[Any], bool]] = {}
        self._judge: Evaluator = CompiledEvaluator(heading.recorded, heading.claim_bounds(ROOM - 1))

    def evaluate(self, before: RunNode | None, here: RunNode) -> tuple[ClaimStatus, ...]:
        """Every claim, in the system's order."""
        judge = self._evaluator_for(here.state)
        if here.lit is None:
            known = before.lit if before is not None and before.lit is not None else {}
            here.lit = {
                name: known[name]
                if name in known and before is not None and self._is_as_it_was(name, before, here)
                else bool(judge.holds(name, here.state))
                for name, (claim, _) in self._claims.items()
                if not claim.is_about_steps
            }
        return tuple(
            ClaimStatus(name, claim.kind, claim.sentence,
                 here.lit[name] if name in here.lit
                 else before is None or self._of_step(judge, name, before.state, here.state),
                 self._witness(judge, name, here))
            for name, (claim, _) in self._claims.items()
        )  # fmt: skip

    def _witness(self, judge: Evaluator, name: str, here: RunNode) -> tuple[str, ...]:
        """The places that settle a claim against (or, of a `sometimes`, for) itself."""
        claim, term = self._claims[name]
        settles = claim.kind == "sometimes"
        if here.lit is None or here.lit.get(name) is not settles:
            return ()
        if name not in here.witness:
            asked = Requirement(not_(term) if settles else term, "")
            why = why_not(judge, asked, here.state, {})
            places = why.partition(" — false (")[2].removesuffix(")")
            here.witness[name] = tuple(places.split(", ")) if places else ()
        return here.witness[name]

    def _of_step(
        self, judge: Evaluator, name: str, before: SparseState, after: SparseState
    ) -> bool:
        """A claim about a step; the same answer where all that it reads is the same again."""
        read = [cells.get(one) for one in self._both[name] for cells in (before, after)]
        key = name, *map(id, read)
        known = self._verdicts.get(key)
        if known is None:
            if len(self._verdicts) > MOST_KEPT:
                self._verdicts.clear()
            # What was read is kept beside the answer, so that no other object takes its number.
            known = self._verdicts[key] = read, bool(judge.holds_of_step(name, before, after))
        return known[1]

    def _evaluator_for(self, state: SparseState) -> Evaluator:
        greatest = greatest_in(state)
        if greatest < ROOM:
            return self._judge
        return CompiledEvaluator(self._heading.recorded, self._heading.claim_bounds(greatest))

    def _is_as_it_was(self, name: str, before: RunNode, here: RunNode) -> bool:
        """Is all that the claim reads unchanged?"""
        old, new = before.state, here.state
        return all(
            old.get(field) is new.get(field) or old.get(field) == new.get(field)
            for field in self._reads[name]
        )


def greatest_in(state: SparseState) -> int:
    """The greatest number in a state, as a value or as an index."""
    numbers = (
        max((*index, int(value))) for cells in state.values() for index, value in cells.items()
    )
    return max(numbers, default=0)

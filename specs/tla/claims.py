"""Writes claims: invariants, properties of steps, reachability, and liveness."""

from __future__ import annotations

from collections.abc import Sequence

from model.language import Claim
from model.language.recording import Recorded
from model.language.terms import Term
from specs.tla.actions import Actions
from specs.tla.brackets import Enclosed, call
from specs.tla.expressions import Expressions
from specs.tla.layout import IMPLIES, Infix, LayoutNode, Prefix, Word, bound, junction
from specs.tla.page import comment, definition
from specs.tla.places import NameScope


class ClaimDefinitions:
    """Writes the claims of a system."""

    def __init__(
        self, expressions: Expressions, actions: Actions, steps: Sequence[Recorded]
    ) -> None:
        self._of, self._actions, self._steps = expressions, actions, steps

    def claim(self, claim: Claim, term: Term) -> list[str]:
        """The definition of a claim, with its sentence above."""
        kind = {"always_step": "at every step", "eventually": "always eventually"}
        lines = comment(f"{kind.get(claim.kind, claim.kind).capitalize()}: {claim.sentence}.")
        body = self._of.said(term, NameScope())
        if claim.kind == "eventually":
            return [*lines, *self._eventually(claim, body)]
        if claim.kind == "always_step":
            body = Enclosed("[][", (body,), "]_vars")
        lines += definition(claim.name, body)
        if claim.kind == "sometimes":
            lines += definition(f"never_{claim.name}", Prefix("~", Word(claim.name)))
        return lines

    def _eventually(self, claim: Claim, body: LayoutNode) -> list[str]:
        fair = [self._fair(step) for step in self._steps if step.transition.name in claim.fair]
        fairly = self._of.names.fresh(f"fairly_for_{claim.name}")
        if not fair:  # the version has none of these steps
            return definition(claim.name, Prefix("[]<>", body))
        goal = Infix("=>", Word(fairly), Prefix("[]<>", body), IMPLIES)
        return [*definition(fairly, junction("/\\", fair)), *definition(claim.name, goal)]

    def _fair(self, step: Recorded) -> LayoutNode:
        r"""`\A leader \in Brokers : WF_vars(leader_writes(leader))`: each instance by itself."""
        called = self._actions.parameters(step)
        action = call(step.transition.name, *map(Word, called.values()))
        fair: LayoutNode = Prefix("WF_vars", call("", action))
        for name, sort in reversed(step.parameters.items()):
            fair = bound(r"\A", called[name], self._actions.choices(sort), fair)
        return fair

"""Finds cells with their initial value in every reachable state, and instances that never fire.

A least fixpoint: assume that every cell keeps its initial value, simplify all guards and writes
under that assumption, and drop the assumption for each cell that some possible instance may give
another value. The assumptions left at the end hold in every reachable state (induction over the
steps of a run), so that a lowering may leave those cells out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from model.language import terms as t
from model.language.recording import Recorded
from model.language.sorts import BOOL
from model.language.terms import Term
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance, SuccessorCheck


@dataclass
class SimplifiedInstance:
    """An instance after simplification; `requires` has the requirements that can still fail."""

    instance: Instance
    requires: list[tuple[Term, int]]
    writes: dict[int, Term] = field(default_factory=dict)
    checks: list[SuccessorCheck] = field(default_factory=list)

    @property
    def number(self) -> int:
        """The instance's number."""
        return self.instance.number

    @property
    def step(self) -> Recorded:
        """The transition as recorded."""
        return self.instance.step

    @property
    def label(self) -> str:
        """`leader_shrinks_isr(leader=1, laggard=2)`."""
        return self.instance.label


class CellSubstitution:
    """Replaces some cells in terms by their values, and simplifies the terms."""

    def __init__(self, values: dict[int, int]) -> None:
        self._values = values
        self._memo: dict[Term, Term] = {}

    def of(self, term: Term) -> Term:
        """The simplified term; the same term if nothing in it is known."""
        found = self._memo.get(term)
        if found is None:
            found = self._memo[term] = self._compute(term)
        return found

    def _compute(self, term: Term) -> Term:
        op, args = term.op, term.args
        if op == "const":
            return term
        if op == "cell":
            if args[0] not in self._values:
                return term
            value = self._values[args[0]]
            return t.const(bool(value)) if term.sort is BOOL else t.const(value, term.sort)
        parts = [self.of(arg) for arg in args]
        if all(new is old for new, old in zip(parts, args, strict=True)):
            return term
        if op != "total":
            return t.rebuilt(term, parts)
        sure = sum(part is t.TRUE for part in parts)
        still = tuple(part for part in parts if part.op != "const")
        total = t.make("total", still, term.sort) if still else t.const(0)
        return t.add(total, t.const(sure))


class ConstantCells:
    """`values`: cell number -> the code that it always has. `kept`: every instance, simplified.

    `claims` are simplified too. An instance whose guard became false keeps the requirements up to
    the false one, so that refusal coverage still counts its reason.
    """

    def __init__(self, grounded: Grounded) -> None:
        self.grounded = grounded
        self.values = dict(enumerate(grounded.initial))
        while True:
            self.kept = self._simplified()
            changed = self._changed()
            if not changed:
                break
            for number in changed:
                del self.values[number]
        # A claim about steps reads a second copy of the cells, and they never change there either.
        after = {number + len(grounded.cells): code for number, code in self.values.items()}
        known = CellSubstitution(self.values | after)
        self.claims = {name: known.of(term) for name, term in grounded.claims.items()}

    def _changed(self) -> set[int]:
        changed: set[int] = set()
        for one in self.kept:
            for number, value in one.writes.items():
                initial = self.values.get(number)
                if initial is None:
                    continue
                same = value.op == "const" and int(value.args[0]) == initial
                if not same:
                    changed.add(number)
        return changed

    def _simplified(self) -> list[SimplifiedInstance]:
        known = CellSubstitution(self.values)
        return [self._simplify(instance, known) for instance in self.grounded.instances]

    def _simplify(self, instance: Instance, known: CellSubstitution) -> SimplifiedInstance:
        requires: list[tuple[Term, int]] = []
        possible = True
        for condition, reason in instance.requires:
            simpler = known.of(condition)
            if simpler is t.TRUE:
                continue
            requires.append((simpler, reason))
            if simpler is t.FALSE:
                possible = False
                break
        kept = SimplifiedInstance(instance, requires)
        if possible:
            kept.writes = {number: known.of(value) for number, value in instance.writes.items()}
            kept.checks = [
                check
                for check in (
                    SuccessorCheck(known.of(check.fine), check.bound, check.what)
                    for check in instance.checks
                )
                if check.fine is not t.TRUE
            ]
        return kept

"""Counterexamples to induction: a small state and a step after which an invariant fails.

It shows with concrete values why a proof fails. The state need not be reachable, so that the
verdict is `unknown (not inductive)`; `insync find` searches for a reachable run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import z3

from model.language import RecordedSystem
from model.language import terms as t
from model.language.evaluate import Evaluator
from model.language.recording import Requirement
from model.language.sorts import BOOL
from model.language.terms import Term
from specs.grounded_steps import GroundedSteps, State
from specs.invariants import Proof
from specs.lowering.grounding import Grounded
from specs.lowering.instances import Instance
from specs.obligations import Conjunct, Obligation, conjuncts
from specs.progress.obligations import awaited_somewhere, waiting
from specs.progress.ranking import Ranking
from specs.rendering import HIDDEN, picked
from specs.state_text import Leaves, StateText, named, shown_arguments, text


@dataclass
class InductionCounterexample:
    """The state before, the step, and what it changed."""

    obligation: Obligation = field(metadata=picked("step", "invariant"))
    sentence: str = field(metadata=HIDDEN)
    step: str
    args: dict[str, Any]
    state: Leaves
    changes: dict[str, list[Any]]
    lines: list[str] = field(metadata=HIDDEN)

    def as_text(self) -> str:
        """A few lines for a person."""
        return "\n".join(self.lines)


class SmallScope(GroundedSteps):
    """The recorded system with few brokers and small numbers, as quantifier-free formulas."""

    def __init__(
        self,
        proof: Proof,
        recorded: RecordedSystem,
        bounds: dict[str, int],
        also: Sequence[Term] = (),
    ) -> None:
        self.proof, self.also = proof, tuple(also)
        self.invariants: Sequence[Conjunct] = conjuncts(proof, recorded)
        assumed = conjuncts(replace(proof, invariants=proof.premises), recorded)
        terms = [one.term for one in (*self.invariants, *assumed)]
        super().__init__(recorded, bounds, [*terms, *also])
        self.grounded_invariants = {
            one.name: self.grounded.ground(one.term, {}) for one in self.invariants
        }
        self.obeyed = [
            *self.domains,
            *(self.lower(term) for term in self.grounded_invariants.values()),
            *(self.lower(self.grounded.ground(one.term, {})) for one in assumed),
        ]

    def holds_after(self, instance: Instance, name: str) -> Any:
        """An invariant about the state after an instance."""
        return self.lower_after(self.grounded_invariants[name], self.written(instance), {})

    def instances(self, step: str) -> list[Instance]:
        """The instances of a transition."""
        return [one for one in self.grounded.instances if one.step.transition.name == step]

    def counterexample(self, obligation: Obligation) -> InductionCounterexample | None:
        """A state and a step that refute an obligation within this scope, or None."""
        for instance, solver in self._refuting(obligation):
            before = self.blanker(solver)
            solver.check()
            return self._read(obligation, instance, before, solver.model())
        return None

    def refutes(self, obligation: Obligation) -> bool:
        """Is there a counterexample? (Cheaper than `counterexample`, which makes it readable.)"""
        return any(True for _ in self._refuting(obligation))

    def _refuting(self, obligation: Obligation) -> Iterator[tuple[Instance, Any]]:
        """Instances after which, or of which, the obligation fails, each with its state found."""
        entailed = self._entailed(obligation)
        if obligation.invariant not in self.grounded_invariants and entailed is None:
            return
        solver = self._solver()
        solver.add(*self.obeyed)
        for instance in self.instances(obligation.step):
            solver.push()
            solver.add(*self.guard(instance))
            if entailed is None:
                solver.add(z3.Not(self.holds_after(instance, obligation.invariant)))
            else:
                solver.add(z3.Not(self._holds_of(instance, entailed.condition)))
            if solver.check() == z3.sat:
                yield instance, solver
            solver.pop()

    def _solver(self) -> Any:
        solver = z3.Solver(ctx=self.context)
        solver.set("random_seed", 0)
        return solver

    def _entailed(self, obligation: Obligation) -> Requirement | None:
        asked = self.proof.entails.get(obligation.step, ())
        return next((one for one in asked if one.reason == obligation.invariant), None)

    def _holds_of(self, instance: Instance, condition: Term) -> Any:
        """A condition on an instance's parameters and the state before it."""
        chosen: dict[str, Term] = {}
        for name, value in zip(instance.step.parameters, instance.arguments, strict=True):
            chosen[f"${name}"] = (
                t.make("set", (value,), BOOL) if isinstance(value, frozenset) else t.const(value)
            )
        return self.lower(self.grounded.ground(condition, chosen))

    def obeyable(self) -> bool:
        """Is there a state that satisfies every invariant and every premise of the proof?"""
        solver = self._solver()
        solver.add(*self.obeyed)
        return bool(solver.check() == z3.sat)

    def possible(self, terms: Sequence[Term]) -> bool:
        """Do the terms, which are among `also`, hold in some state that obeys every invariant?"""
        solver = self._solver()
        solver.add(*self.obeyed, *(self.lower(self.grounded.ground(t, {})) for t in terms))
        return bool(solver.check() == z3.sat)

    def enabled(self, step: str) -> bool:
        """Is the step possible in some state that obeys every invariant, and all of `also`?

        (Non-vacuity: if the step is never possible, each of its obligations holds vacuously.)
        """
        solver = self._solver()
        solver.add(*(self.lower(self.grounded.ground(term, {})) for term in self.also))
        solver.add(*self.obeyed)
        guards = [z3.And(*self.guard(one), self.context) for one in self.instances(step)]
        solver.add(z3.Or(*guards))
        return bool(solver.check() == z3.sat)

    def _read(
        self, obligation: Obligation, instance: Instance, before: State, model: Any
    ) -> InductionCounterexample:
        after = list(before)
        for number, term in instance.writes.items():
            value = model.eval(self.lower(term), model_completion=True)
            is_bool = self.grounded.cells[number].field.sort is BOOL
            after[number] = int(z3.is_true(value)) if is_bool else value.as_long()
        entailed = self._entailed(obligation)
        if entailed is None:
            sentence = next(
                one.sentence for one in self.proof.invariants if one.name == obligation.invariant
            )
        else:
            sentence = f"there is no such step in the proof's form: {entailed.reason} — false"
        end = sentence if entailed else f"and then it no longer holds that {sentence}"
        return counterexample_of(
            self.grounded, obligation, sentence, instance, before, tuple(after), end
        )


def counterexample_of(
    grounded: Grounded, obligation: Obligation, sentence: str, instance: Instance | None,
    before: State, after: State, end: str,
) -> InductionCounterexample:  # fmt: skip
    """A readable counterexample; without an instance the state alone is the counterexample."""
    reading = StateText(grounded)
    state, blank = reading.leaves(before), reading.leaves(grounded.initial)
    changes = reading.changes(before, after)
    shown = [
        f"    {path} = {text(value, is_set=reading.is_set(path))}"
        for path, value in state.items()
        if value != blank[path]
    ]
    lines = ["in a state that obeys every invariant:", *(shown or ["    (the initial state)"])]
    arguments = {} if instance is None else shown_arguments(instance)
    if instance is not None:
        lines.append(f"the step {instance.step.transition.name}({named(arguments)}) gives:")
        lines += [f"    {reading.change_text(path, pair)}" for path, pair in changes.items()]
    return InductionCounterexample(
        obligation, sentence, obligation.step, arguments, state, changes, [*lines, end]
    )


def contradicts_itself(proof: Proof, recorded: RecordedSystem) -> bool:
    """Are the invariants and premises unsatisfiable with two brokers and small numbers?

    Everything follows from a contradiction: such a proof proves nothing.
    """
    start = Evaluator(recorded, recorded.system.limits({}))
    state = start.initial()
    assumed = conjuncts(replace(proof, invariants=(*proof.invariants, *proof.premises)), recorded)
    if all(start.value(one.term, state, {}) for one in assumed):
        return False
    return not SmallScope(proof, recorded, _small(recorded, 2)).obeyable()


def never_awaited(proof: Proof, ranking: Ranking, recorded: RecordedSystem) -> list[str]:
    """The fair steps that no small state awaits, among the states that obey the invariants and in
    which the claim does not hold. The obligations of such a step hold vacuously."""
    waits = waiting(recorded, proof.claim)
    ways = [(one.step, awaited_somewhere(recorded, one)) for one in ranking.awaited]
    scope = SmallScope(proof, recorded, _small(recorded, 2), [waits, *(term for _, term in ways)])
    return [step for step, term in ways if not scope.possible([waits, term])]


def _small(recorded: RecordedSystem, brokers: int) -> dict[str, int]:
    bounds = {name: max(size, 3) for name, size in recorded.system.limits({}).items()}
    return {**bounds, "brokers": brokers}


def counterexample_to_induction(
    proof: Proof, recorded: RecordedSystem, obligations: Sequence[Obligation]
) -> InductionCounterexample | None:
    """The counterexample to the first open obligation that small concrete values refute."""
    for brokers in (2, 3):
        scope = SmallScope(proof, recorded, _small(recorded, brokers))
        for obligation in obligations:
            found = scope.counterexample(obligation)
            if found is not None:
                return found
    return None

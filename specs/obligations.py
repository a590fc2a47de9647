"""Invariants, definitions and hints as Z3 formulas: assumptions about a state, and goals.

Trusted, like the lowering and the splitter: an obligation asserts of the state after a step what
the hypotheses assert of the state before it. Patterns and marks only guide the solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from model.language import RecordedSystem
from model.language import terms as t
from model.language.properties import Condition
from model.language.recording import Recorded, fields_read, record_condition
from model.language.scalars import Scalar
from model.language.sorts import BOOL, Sort
from model.language.terms import Term
from model.language.values import read
from specs.invariants import (
    DERIVED,
    Definition,
    Invariant,
    Proof,
    SolverHint,
    Triggers,
    folded,
    given_symbol,
)
from specs.lowering.z3_code import Function, State, Z3Code
from specs.rendering import rounded, under_key
from specs.solvers import combined
from specs.splitting import GoalSplitter, Subgoal

FRAME = "frame rule"


@dataclass(frozen=True)
class Obligation:
    """One obligation: a step keeps an invariant. `answers` has the answer of each solver asked."""

    step: str
    invariant: str
    answers: Mapping[str, str] = field(metadata=under_key("result"))
    seconds: float = field(metadata=rounded(4))

    @property
    def answer(self) -> str:
        """The combined answer of all solvers."""
        return combined(list(self.answers.values()))

    @property
    def by(self) -> str:
        """`frame` or `solver`."""
        return "frame" if FRAME in self.answers else "solver"

    @property
    def proved(self) -> bool:
        """Only `proved` is a pass; `unknown` and `refuted` are not."""
        return self.answer == "proved"


DEFINITION_AFTER = " after"
"""Behind a definition's name: the relation in the state after a step."""


@dataclass(frozen=True)
class Conjunct:
    """An invariant as a term, and the fields that it reads."""

    name: str
    term: Term
    reads: frozenset[str]


def conjuncts(proof: Proof, recorded: RecordedSystem) -> list[Conjunct]:
    """The proof's invariants as closed terms over the system's state, definitions written out."""
    found = []
    for one in proof.invariants:
        term = record_condition(one.function, recorded.system.state, recorded.switches)
        found.append(Conjunct(one.name, term, fields_read(term)))
    return found


@dataclass
class Matrix:
    """A formula over variables, as a term, with its instantiation patterns (triggers)."""

    variables: tuple[Term, ...]
    term: Term
    patterns: list[tuple[Term, ...]] = field(default_factory=list)


@dataclass
class Goal:
    """One part of an obligation: fresh constants, and the formula to prove about them."""

    constants: dict[str, Any]
    sorts: dict[str, Sort]
    facts: list[Any]
    formula: Any


class ProofFormulas:
    """The formulas of one proof, over one lowering."""

    def __init__(self, proof: Proof, recorded: RecordedSystem, code: Z3Code) -> None:
        self.proof, self.recorded, self.code = proof, recorded, code
        self.meaning = {
            one.symbol: fields_read(record_condition(_open_formula(one), recorded.system.state,
                                                     recorded.switches))
            for one in proof.definitions
        }  # fmt: skip
        self._splitter = GoalSplitter()

    # -- terms --------------------------------------------------------------------------------

    def matrix(
        self, name: str, formula: Condition, over: Sequence[Sort], triggers: Triggers | None = None
    ) -> Matrix:
        """A formula over new variables, with definitions folded."""
        variables = tuple(t.var(f"{name} {i}", sort) for i, sort in enumerate(over))
        values = [Scalar(variable) for variable in variables]
        patterns: list[tuple[Term, ...]] = []

        def read_here(now: Any) -> Scalar:
            for pattern in triggers(now, *values) if triggers else ():
                parts = pattern if isinstance(pattern, tuple) else (pattern,)
                patterns.append(tuple(part.term for part in parts))
            return formula(now, *values)

        with folded():
            term = record_condition(read_here, self.recorded.system.state, self.recorded.switches)
        return Matrix(variables, term, patterns)

    def invariant(self, one: Invariant) -> Matrix:
        """An invariant's matrix."""
        return self.matrix(one.name, one.matrix, one.over, one.triggers)

    def reads(self, term: Term) -> frozenset[str]:
        """The fields that a term reads, including those that its definitions read."""
        found: set[str] = set()
        for name in fields_read(term):
            found |= self.meaning.get(name, frozenset({name}))
        return frozenset(found)

    # -- states -------------------------------------------------------------------------------

    def state(self) -> dict[str, Function]:
        """An arbitrary state, with its definitions and the marks of the given values."""
        state = self.code.state()
        for one in self.proof.definitions:
            state[one.symbol] = self._relation(one.symbol, one.over)
        for name, sort in self._marked().items():
            state[name] = self._relation(name, (sort,))
        return state

    def _marked(self) -> dict[str, Sort]:
        """The sorts whose given values are marked: those that some trigger asks for."""
        found: dict[str, Sort] = {}
        for one in (*self.proof.invariants, *self.proof.premises):
            for pattern in self.invariant(one).patterns:
                for part in pattern:
                    if part.op == "get" and part.args[0].startswith(f"{DERIVED}given "):
                        found[part.args[0]] = part.args[1].sort
        return found

    def _relation(self, name: str, over: Sequence[Sort]) -> Function:
        symbol = z3.Function(name, *(self.code.sort(sort) for sort in over), z3.BoolSort())
        return lambda *index: symbol(*index)

    def after(
        self, step: Recorded, state: State, environment: Mapping[str, Any]
    ) -> tuple[dict[str, Function], list[Any]]:
        """The state after a step, with the meaning of its definitions in that state."""
        after = self.code.after(step, state, environment)
        written = {write.field for write in step.writes}
        axioms: list[Any] = []
        for one in self.proof.definitions:
            if self.meaning[one.symbol] & written:
                after[one.symbol] = self._relation(one.symbol + DEFINITION_AFTER, one.over)
                axioms += self.meaning_of(one, after, state, (state[one.symbol],))
        return after, axioms

    # -- formulas -----------------------------------------------------------------------------

    def hypothesis(self, matrix: Matrix, state: State) -> Any:
        """The matrix for all values in their sorts."""
        environment, constants, inside = self._bound(matrix.variables)
        body = self.code.term(matrix.term, state, environment)
        if not constants:
            return body
        body = z3.Implies(z3.And(*inside), body) if inside else body
        patterns = self._patterns(matrix.patterns, state, environment)
        return z3.ForAll(constants, body, patterns=patterns)

    def _bound(self, variables: Iterable[Term]) -> tuple[dict[str, Any], list[Any], list[Any]]:
        environment = {v.args[0]: self.code.constant(v.sort.name, v.sort) for v in variables}
        inside = [
            fact for v in variables for fact in self.code.in_domain(v.sort, environment[v.args[0]])
        ]
        return environment, list(environment.values()), inside

    def _patterns(
        self, patterns: list[tuple[Term, ...]], state: State, environment: dict[str, Any]
    ) -> list[Any]:
        return [
            z3.MultiPattern(*(self.code.term(part, state, environment) for part in pattern))
            for pattern in patterns
        ]

    def meaning_of(
        self,
        one: Definition,
        state: State,
        before: State,
        also: Sequence[Function] = (),
    ) -> list[Any]:
        """Axioms for a definition in a state; their triggers are terms over the state before.

        `also` are other relations whose terms trigger the axioms of this one.
        """
        relation = state[one.symbol]
        plain = self.matrix(one.name, one.plain, one.over)
        member = self.matrix(one.name, one.member, (*one.over, *one.each), one.triggers)
        environment, values, _ = self._bound(member.variables)
        own = values[: len(one.over)]
        holds = relation(*own)
        plainly = self.code.term(plain.term, state, environment)
        each = self.code.term(member.term, state, environment)
        woken = [
            z3.MultiPattern(holds, *(self.code.term(part, before, environment) for part in p))
            for p in member.patterns
        ]
        witness = dict(environment)
        for v in member.variables[len(one.over) :]:
            find = z3.Function(
                f"{relation(*own).decl().name()} fails for {v.sort.name}",
                *(self.code.sort(sort) for sort in one.over),
                self.code.sort(v.sort),
            )
            witness[v.args[0]] = find(*own)
        fails = z3.Not(self.code.term(member.term, state, witness))
        asked = [holds, *(other(*own) for other in also)]
        return [
            z3.ForAll(own, z3.Implies(holds, plainly), patterns=[holds]),
            z3.ForAll(values, z3.Implies(holds, each), patterns=woken),
            z3.ForAll(own, z3.Or(holds, z3.Not(plainly), fails), patterns=asked),
        ]

    def goals(
        self, matrix: Matrix, state: State, parameters: Mapping[str, Any] | None = None,
        apart: bool = False,
    ) -> list[Goal]:  # fmt: skip
        """The goals that together state that the matrix holds for all values in their sorts.

        `parameters` are a step's, if the matrix mentions them. In a proof by triggers goals are
        always split; `apart` splits them in any proof.
        """
        found = []
        whole = [Subgoal(matrix.variables, matrix.term)]
        split = self._splitter.subgoals(matrix.term, matrix.variables)
        for part in split if apart or self.proof.by_triggers else whole:
            environment, _, inside = self._bound(part.variables)
            sorts = {v.args[0]: v.sort for v in part.variables}
            formula = self.code.term(part.term, state, {**(parameters or {}), **environment})
            found.append(Goal(environment, sorts, inside, formula))
        return found

    # -- hints --------------------------------------------------------------------------------

    def marks(self, state: State, values: Iterable[tuple[Sort, Any]]) -> list[Any]:
        """Facts that mark the values of this obligation, for triggers."""
        return [
            state[given_symbol(sort)](value)
            for sort, value in values
            if given_symbol(sort) in state
        ]

    def hints(
        self, step_parameters: Mapping[str, Any], hints: Sequence[SolverHint], state: State,
        environment: dict[str, Any], goal: Goal,
    ) -> list[Any]:  # fmt: skip
        """Hint terms: each is the argument of an otherwise unconstrained predicate, so that the
        solver can instantiate triggers with it."""
        found: list[Any] = []
        parameters = {
            name: Scalar(t.var(f"${name}", sort))
            for name, sort in step_parameters.items()
            if isinstance(sort, Sort)
        }
        for hint in hints:
            chosen = [
                (name, sort) for name, sort in goal.sorts.items()
                if hint.over is not None and sort.name == hint.over.name
            ]  # fmt: skip
            for name, sort in chosen if hint.over is not None else [("", BOOL)]:
                more = [] if hint.over is None else [Scalar(t.var(name, sort))]
                now = read(self.recorded.system.state, "")
                with folded():
                    asked = [one.term for one in hint.terms(now, *more, **parameters)]
                for term in asked:
                    value = self.code.term(term, state, {**environment, **goal.constants})
                    found.append(_in_mind(value))
        return found


def _in_mind(value: Any) -> Any:
    return z3.Function(f"in mind {value.sort()}", value.sort(), z3.BoolSort())(value)


def _open_formula(one: Definition) -> Any:
    """A definition's formula with its own variables left free: what it reads is all that counts."""
    values = [Scalar(t.var(f"{one.name} {i}", sort)) for i, sort in enumerate(one.over)]
    return lambda now: one.formula(now, *values)

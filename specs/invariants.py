"""Declares invariants, definitions and proofs as data.

    @invariant("whoever owns /controller won the newest epoch",
               why="an older owner would make writes under a newer controller's nose")
    def the_owner_won_the_newest_epoch(now): ...

    @invariant("the log of a leader is the history of its epoch", over=(BROKERS, OFFSETS),
               why="...", triggers=lambda now, b, o: [now.log[b][o].id])
    def a_leaders_log_is_history(now, b, o): ...

A proof is inductive: every invariant holds initially, every step keeps all of them, and together
they imply the claim. Triggers are the terms on which a solver instantiates an invariant; they
decide whether it finds a proof, never what is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from model.language import terms as t
from model.language.functions import all_of, every
from model.language.properties import Condition
from model.language.recording import Requirement
from model.language.scalars import Scalar
from model.language.sorts import BOOL, Sort
from model.language.system import System
from specs.progress.ranking import Ranking

Triggers = Callable[..., Sequence[Any]]
"""State and variables -> alternatives, each one term or a tuple of terms."""

DERIVED = "~"
"""Before a name: no field of the state, but what a definition or the prover adds to it."""


@dataclass(frozen=True)
class Invariant:
    """One conjunct of the induction hypothesis: the matrix holds for all values of `over`."""

    name: str
    sentence: str
    why: str
    matrix: Condition
    over: tuple[Sort, ...] = ()
    triggers: Triggers | None = None

    @property
    def function(self) -> Callable[[Any], Scalar]:
        """The whole formula, of a state: as a claim has it."""
        return lambda now: closed(self.matrix, self.over, now)


def closed(matrix: Condition, over: Sequence[Sort], now: Any, *chosen: Scalar) -> Scalar:
    """The matrix for all values of the sorts."""
    if not over:
        return matrix(now, *chosen)
    return every(over[0], lambda value: closed(matrix, over[1:], now, *chosen, value))


def invariant(
    sentence: str,
    *,
    why: str,
    over: tuple[Sort, ...] = (),
    triggers: Triggers | None = None,
) -> Callable[[Condition], Invariant]:
    """Declares an invariant; `why` says what would break without it."""

    def declare(function: Condition) -> Invariant:
        return Invariant(function.__name__, sentence, why, function, over, triggers)

    return declare


@dataclass(frozen=True)
class Definition:
    """A relation defined by a formula: `plain`, and `member` for every value of `each`.

    The prover keeps the relation's name (folded), with the definition as axioms, because solvers
    handle a quantifier inside an antecedent badly. All other users see the formula itself.
    """

    name: str
    sentence: str
    over: tuple[Sort, ...]
    plain: Condition
    each: tuple[Sort, ...]
    member: Condition
    triggers: Triggers

    def __call__(self, now: Any, *values: Scalar) -> Scalar:
        """The relation, folded or not."""
        if is_folded():
            return Scalar(t.get(self.symbol, tuple(value.term for value in values), BOOL))
        return self.formula(now, *values)

    def formula(self, now: Any, *values: Scalar) -> Scalar:
        """What the relation means."""

        def members(now: Any, *more: Scalar) -> Scalar:
            return self.member(now, *values, *more)

        return all_of(self.plain(now, *values), closed(members, self.each, now))

    @property
    def symbol(self) -> str:
        """Its name as a field of the state."""
        return DERIVED + self.name


_folds = [False]


@contextmanager
def folded() -> Iterator[None]:
    """Keeps definitions as names inside the `with` block."""
    _folds.append(True)
    try:
        yield
    finally:
        _folds.pop()


def is_folded() -> bool:
    """Are definitions kept as names at present?"""
    return _folds[-1]


def given(value: Scalar) -> Scalar:
    """A trigger for the values that an obligation is about, not for values derived from them."""
    return Scalar(t.get(given_symbol(value.term.sort), (value.term,), BOOL))


def given_symbol(sort: Sort) -> str:
    """The mark of a sort's values that an obligation is about."""
    return f"{DERIVED}given {sort.name}"


@dataclass(frozen=True)
class SolverHint:
    """Terms that a solver should consider for a step's obligations; they assert nothing.

    `terms` takes the state, the step's parameters by name, and a value of `over` if there is one:
    then it is called for every value of that sort that the obligation is about.
    """

    terms: Callable[..., Sequence[Scalar]]
    over: Sort | None = None


@dataclass(frozen=True)
class Lemma:
    """A formula that follows, in any one state, from the invariants and lemmas that it names."""

    statement: Invariant
    using: tuple[Invariant, ...]


def lemma(
    sentence: str,
    *,
    why: str,
    using: tuple[Invariant | Lemma, ...],
    over: tuple[Sort, ...] = (),
    triggers: Triggers | None = None,
) -> Callable[[Condition], Lemma]:
    """Declares a lemma, which separates heavy arithmetic with the few premises that it needs."""

    def declare(function: Condition) -> Lemma:
        premises = tuple(one.statement if isinstance(one, Lemma) else one for one in using)
        stated = Invariant(function.__name__, sentence, why, function, over, triggers)
        return Lemma(stated, premises)

    return declare


@dataclass(frozen=True)
class Proof:
    """A claim of a system, and the invariants that prove it for any number of brokers."""

    claim: str
    system: str
    invariants: tuple[Invariant, ...]
    assumes: tuple[str, ...]
    """What the model abstracts; printed with every verdict."""
    also: tuple[str, ...] = ()
    """More claims that the same invariants imply."""
    definitions: tuple[Definition, ...] = ()
    hints: Mapping[str, tuple[SolverHint, ...]] = field(default_factory=dict)
    """By step; those of what is implied by `prover.IMPLIED`."""
    groups: Mapping[str, tuple[Invariant, ...]] = field(default_factory=dict)
    """The same invariants under the headings by which a reader finds them."""
    lemmas: tuple[Lemma, ...] = ()
    """In order: a lemma may use those before it. They tie the system's steps to finer ones."""
    step_claims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Claims about steps, of the system: each with the steps of which it is shown."""
    premises: tuple[Invariant, ...] = ()
    """What another proof shows of every state: assumed here, and not kept."""
    entails: Mapping[str, tuple[Requirement, ...]] = field(default_factory=dict)
    """By step: what must be so whenever the step is possible, as terms over the state before it."""
    about: tuple[str, ...] = ()
    """What is proved how, where that is not plain; printed with every verdict."""
    form: System | None = None
    """What it is proved of, where that is made of `system` and has no name of its own."""
    given: str | None = None
    """The claim whose proof shows the premises, if there are any."""
    ranking: Ranking | None = None
    """Why an `@always_eventually` comes true: instead of that the invariants imply it."""

    @property
    def by_triggers(self) -> bool:
        """Does the solver instantiate by the given triggers only?"""
        known = (*self.invariants, *self.premises)
        return any(one.triggers is not None for one in known)

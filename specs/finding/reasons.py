"""The reason of a counterexample to induction: the facts of a state and a step that break a goal.

The step's guard and the goal after the step are evaluated in that one state. A false conjunction is
reduced to its false parts, a quantifier to a witness, and a written field to the written value.
What remains are facts about the state before, over the step's parameters, the goal's variables and
the witnesses; equal values are one variable. If the goal is an invariant, no reached state has all
of these facts.

Source of the idea: E. W. Dijkstra's weakest precondition, along one path; W. Schultz et al.,
Scalable, Interpretable Distributed Protocol Verification by Inductive Proof Slicing, 2024.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from model.language import terms as t
from model.language.recording import Recorded, nodes
from model.language.sorts import BOOL, Names, Numbers, Sort
from model.language.terms import Term
from specs.finding.candidates import BoundedSteps, InvariantCandidate
from specs.finding.observed import StateRows
from specs.finding.vocabulary import Literal, SliceVariables, made_again, slice_over
from specs.grounded_steps import State
from specs.lowering.instances import Instance
from specs.splitting import GoalSplitter, Subgoal, substituted

Values = dict[str, Term]
"""Variable -> its value in the counterexample, a literal."""

WAYS = 2
"""Choices of values for a goal's variables of which a reason is made."""

MOST = 6
"""Variables of a reason."""


@dataclass(frozen=True)
class ViolationReason:
    """Facts over the variables of a slice, each with its truth in the counterexample."""

    slice: SliceVariables
    facts: tuple[Literal, ...]


@dataclass
class _FactSet:
    """The facts found so far: atoms with their truth, and quantifiers without a witness."""

    atoms: dict[Term, bool] = field(default_factory=dict)
    of_all: list[tuple[Term, bool]] = field(default_factory=list)


def reasons(
    scope: BoundedSteps, goal: InvariantCandidate, instance: Instance | None, state: State,
    defined: Callable[[SliceVariables], Sequence[Literal]],
) -> Iterator[ViolationReason]:  # fmt: skip
    """Yields the reasons why the goal fails after the instance (without one, in the state itself).

    `defined`: the literals of definitions over the variables of a slice.
    """
    reading = _Counterexample(scope, instance, state, defined)
    for part in _subgoals_of(goal):
        for values in reading.failing(part):
            found = reading.reason(part, values)
            if found is not None:
                yield found


def _subgoals_of(goal: InvariantCandidate) -> list[Subgoal]:
    if goal.whole is None:
        return GoalSplitter().subgoals(goal.plain, goal.slice.variables)
    return GoalSplitter().subgoals(goal.whole)


class _Opaque(Exception):
    """Raised for a term that cannot be turned into a fact."""


class _Counterexample:
    def __init__(
        self, scope: BoundedSteps, instance: Instance | None, state: State,
        defined: Callable[[SliceVariables], Sequence[Literal]],
    ) -> None:  # fmt: skip
        self._scope, self._instance, self._defined = scope, instance, defined
        self._before = scope.rows([state])
        self._after = (self._before if instance is None
                       else scope.rows([scope.step(state, instance)]))  # fmt: skip
        self._step: Recorded | None = None if instance is None else instance.step
        self._parameters: Values = {}
        self._sorts: dict[str, Sort] = {}
        if instance is not None:
            for (name, sort), value in zip(
                instance.step.parameters.items(), instance.arguments, strict=True
            ):
                if isinstance(value, frozenset):
                    self._parameters[f"${name}"] = t.make("set", (value,), BOOL)
                elif isinstance(sort, Sort):
                    self._parameters[f"${name}"] = t.const(value)
                    self._sorts[f"${name}"] = sort

    def _value(self, rows: StateRows, term: Term, values: Values) -> Any:
        grounded = self._scope.grounded.ground(term, values)
        return rows.wide(rows.of(grounded))[0]

    def failing(self, part: Subgoal) -> list[Values]:
        """Values for which the part does not hold, those that the step mentions first."""
        taken = {(sort.name, self._parameters[name]) for name, sort in self._sorts.items()}
        found: list[tuple[int, int, Values]] = []
        bounds = self._scope.grounded.bounds
        domains = [v.sort.domain(bounds) for v in part.variables]
        for number, codes in enumerate(itertools.product(*domains)):
            values = {v.args[0]: t.const(code)
                      for v, code in zip(part.variables, codes, strict=True)}  # fmt: skip
            if not self._value(self._after, part.term, {**self._parameters, **values}):
                several = {(v.sort.name, values[v.args[0]]) for v in part.variables}
                found.append((len(several - taken), number, values))
        return [values for _, _, values in sorted(found, key=lambda one: one[:2])[:WAYS]]

    def reason(self, part: Subgoal, values: Values) -> ViolationReason | None:
        """The facts that together break the part for these values."""
        self._values = {**self._parameters, **values}
        self._kinds = {**self._sorts, **{v.args[0]: v.sort for v in part.variables}}
        self._facts = _FactSet()
        if self._step is not None:
            for requirement in self._step.requires:
                self._explain(requirement.condition, True, after=False)
        self._explain(part.term, False, after=self._step is not None)
        for term, holds in list(self._facts.of_all):
            for name, sort in list(self._kinds.items()):
                if sort.name == term.args[0].sort.name:
                    self._explain(
                        self._instance_of_quantifier(term, t.var(name, sort)), holds, after=False
                    )
        return self._over_slice()

    # -- facts --------------------------------------------------------------------------------

    def _holds(self, term: Term, after: bool) -> bool:
        return bool(self._value(self._after if after else self._before, term, self._values))

    def _explain(self, term: Term, holds: bool, after: bool) -> None:
        """Notes what makes a term true, or false."""
        op, args = term.op, term.args
        if op == "not":
            self._explain(args[0], not holds, after)
        elif op in ("and", "or"):
            for part in args:
                if self._holds(part, after) == holds:
                    self._explain(part, holds, after)
        elif op in ("every", "some"):
            self._quantified(term, holds, after)
        elif op == "ite":
            chosen = self._holds(args[0], after)
            self._explain(args[0], chosen, after)
            self._explain(args[1] if chosen else args[2], holds, after)
        elif op == "eq" and args[0].sort is BOOL:
            for part in args:
                self._explain(part, self._holds(part, after), after)
        elif op in ("eq", "lt", "le"):
            try:
                sides = [self._resolved(part, after) for part in args]
            except _Opaque:
                return
            self._note({"eq": t.eq, "lt": t.lt, "le": t.le}[op](*sides))
        elif op == "get":
            self._read(term, holds, after)

    def _read(self, term: Term, holds: bool, after: bool) -> None:
        try:
            written, index = self._written(term, after)
        except _Opaque:
            return
        if written is not None:
            self._explain(written, holds, after=False)
        else:
            self._note(t.get(term.args[0], index, BOOL))

    def _note(self, atom: Term) -> None:
        if atom.op == "not":
            atom = atom.args[0]
        if atom.op != "const":
            self._facts.atoms.setdefault(atom, self._holds(atom, after=False))

    def _quantified(self, term: Term, holds: bool, after: bool) -> None:
        """A witness, where there is one; else what is said of all is said of each variable."""
        if (term.op == "every") == holds:
            if not after:
                self._facts.of_all.append((term, holds))
            return
        variable = term.args[0]
        name = f"?{len(self._kinds)}"
        for code in variable.sort.domain(self._scope.grounded.bounds):
            self._values[name] = t.const(code)
            self._kinds[name] = variable.sort
            body = self._instance_of_quantifier(term, t.var(name, variable.sort))
            if self._holds(body, after) == holds:
                self._explain(body, holds, after)
                return
        del self._values[name], self._kinds[name]

    @staticmethod
    def _instance_of_quantifier(term: Term, value: Term) -> Term:
        """What a quantifier says of one value: within its range, and then its body."""
        variable, low, high, body = term.args
        within = [*(() if low is None else (t.le(low, value),)),
                  *(() if high is None else (t.lt(value, high),))]  # fmt: skip
        inside = substituted(body, variable, value)
        if term.op == "every":
            return t.or_(*(t.not_(one) for one in within), inside)
        return t.and_(*within, inside)

    # -- values -------------------------------------------------------------------------------

    def _resolved(self, term: Term, after: bool) -> Term:
        """A value as a term about the state before, without alternatives."""
        op, args = term.op, term.args
        if op in ("const", "var", "bound"):
            return term
        if op == "add":
            return t.add(*(self._resolved(part, after) for part in args))
        if op == "ite":
            chosen = self._holds(args[0], after)
            self._explain(args[0], chosen, after)
            return self._resolved(args[1] if chosen else args[2], after)
        if op == "get":
            written, index = self._written(term, after)
            if written is not None:
                return self._resolved(written, after=False)
            return t.get(args[0], index, term.sort)
        raise _Opaque

    def _written(self, term: Term, after: bool) -> tuple[Term | None, tuple[Term, ...]]:
        """What the step writes there, if it does; and the index, as of the state before."""
        index = tuple(self._resolved(part, after) for part in term.args[1:])
        if not after or self._step is None:
            return None, index
        for write in reversed(self._step.writes):
            if write.field != term.args[0]:
                continue
            keys = [self._resolved(key, after=False) for key in write.keys]
            same = [self._has_same_value(one, key) for one, key in zip(index, keys, strict=False)]
            for one, key, equal in zip(index, keys, same, strict=False):
                if equal or all(same[: same.index(False)]):
                    self._note(t.eq(one, key))
            if all(same):
                value = write.value
                rest = index[len(keys) :]
                for variable, chosen in zip(write.variables, rest, strict=True):
                    value = substituted(value, variable, chosen)
                return made_again(value), index
        return None, index

    def _has_same_value(self, one: Term, other: Term) -> bool:
        return bool(self._value(self._before, one, self._values)
                    == self._value(self._before, other, self._values))  # fmt: skip

    # -- as literals of a slice ----------------------------------------------------------------

    def _over_slice(self) -> ViolationReason | None:
        used = frozenset().union(*(atom.free for atom in self._facts.atoms))
        groups: dict[tuple[str, Term], list[str]] = {}
        for name, sort in self._kinds.items():
            if name in used:
                groups.setdefault((sort.name, self._values[name]), []).append(name)
        order = sorted(groups, key=lambda key: key[0])
        if len(order) > MOST:
            return None
        one = slice_over([self._kinds[groups[key][0]] for key in order])
        renamed = {name: v for key, v in zip(order, one.variables, strict=True)
                   for name in groups[key]}  # fmt: skip
        facts: dict[Term, tuple[bool, int]] = {}

        def add(term: Term, holds: bool, cost: int) -> None:
            term = made_again(term)
            if term.op == "not":
                term, holds = term.args[0], not holds
            if term.op != "const" and t.not_(term) not in facts:
                facts.setdefault(term, (holds, cost))

        own = {v.args[0] for v in one.variables}
        for atom, holds in self._facts.atoms.items():
            term = atom
            for name in sorted(atom.free & renamed.keys()):
                term = substituted(term, t.var(name, self._kinds[name]), renamed[name])
            if term.free <= own:
                add(term, holds, 1)
        values = {v.args[0]: key[1] for key, v in zip(order, one.variables, strict=True)}
        for term, cost in [*_compared(list(facts), one), *self._field_facts(one)]:
            if term not in facts and t.not_(term) not in facts:
                add(term, bool(self._value(self._before, term, values)), cost)
        said = [Literal(term, holds, cost) for term, (holds, cost) in facts.items()]
        said += [
            replace(part, holds=bool(self._value(self._before, part.atom, values)),
                    cost=part.cost + BESIDE + far)
            for far, part in self._nearest(one, facts)
        ]  # fmt: skip
        return ViolationReason(one, tuple(said))

    def _nearest(self, one: SliceVariables, facts: Collection[Term]) -> list[tuple[int, Literal]]:
        """What is defined of a slice's variables beside the facts; those first that read a value
        which the facts read, too, then the plainest: with what a fact costs for being far."""
        read = {part for fact in facts for part in nodes(fact) if part.op == "get"}
        found = [
            (0 if any(node in read for node in nodes(part.term)) else FAR, part)
            for part in self._defined(one)
            if part.term not in facts and t.not_(part.term) not in facts
        ]
        return sorted(found, key=lambda pair: pair[0] + pair[1].cost)[:MOST_BESIDE]

    def _field_facts(self, one: SliceVariables) -> Iterator[tuple[Term, int]]:
        """What is said of the same variables by fields of two values, roles and states."""
        for leaf in self._scope.grounded.recorded.fields.values():
            if leaf.budget is not None or not leaf.dims:
                continue
            choices = [[v for v in one.variables if v.sort.name == sort.name] for sort in leaf.dims]
            for chosen in itertools.product(*choices):
                path = t.get(leaf.name, chosen, leaf.sort)
                if leaf.sort is BOOL:
                    yield path, BESIDE
                elif isinstance(leaf.sort, Names):
                    for code in range(len(leaf.sort.values)):
                        yield t.eq(path, t.const(code, leaf.sort)), BESIDE


BESIDE = 3
"""What a fact costs that the counterexample does not hang on."""

FAR = 2
"""And what it costs besides where it reads no value that the counterexample hangs on."""

MOST_BESIDE = 600
"""Facts beside a reason at most."""


def _compared(facts: Sequence[Term], one: SliceVariables) -> Iterator[tuple[Term, int]]:
    """Comparisons of the variables, and of the values in the facts, where they are of one sort."""
    values: dict[Term, None] = dict.fromkeys(one.variables)
    for fact in facts:
        for part in nodes(fact):
            if part.op == "get" and isinstance(part.sort, Numbers):
                values[part] = None
    for left, right in itertools.combinations(values, 2):
        alike = left.sort.name == right.sort.name
        cost = 1 if left.op == right.op == "var" else 2
        if alike and isinstance(left.sort, Numbers):
            yield t.eq(left, right), cost
            yield t.lt(left, right), cost
            yield t.lt(right, left), cost
        elif alike:
            yield t.eq(left, right), cost

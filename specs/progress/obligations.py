"""Turns a ranking into obligations: first-order formulas about one state or one step.

Trusted, in addition to what the prover trusts: that they express what `specs.progress.ranking`
defines. Each is about a state in which the claim does not hold, and a step to another such state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import z3

from model.language import RecordedSystem, SetOf
from model.language import terms as t
from model.language.properties import Condition
from model.language.recording import Recorded, fields_read, nodes, record_condition
from model.language.scalars import Scalar, scalar
from model.language.sets import SetValue, as_set
from model.language.sorts import BOOL, Enumeration, Numbers, Sort
from model.language.terms import Term
from model.language.values import read
from specs.lowering.z3_code import State, Z3Code
from specs.obligations import Goal, ProofFormulas
from specs.progress.ranking import AwaitedStep, Rank, Ranking

WAITS = "while the claim does not hold"
"""The heading of what is shown of states, not of steps."""


class ProverPort(Protocol):
    """The prover's interface: asks an obligation under hypotheses, or applies the frame rule."""

    def ask(self, step: str, what: str, given: list[Any], goals: list[Goal],
            about: list[tuple[Sort, Any]]) -> None: ...  # fmt: skip

    def framed(self, step: str, what: str) -> None: ...


@dataclass(frozen=True)
class Predicate:
    """A formula as a term over variables, with the fields that it reads."""

    variables: tuple[Term, ...]
    term: Term

    @property
    def reads(self) -> frozenset[str]:
        return fields_read(self.term)


class RankingObligations:
    """The obligations of one ranking, over one lowering."""

    def __init__(
        self, ranking: Ranking, claim: str, recorded: RecordedSystem, code: Z3Code,
        formulas: ProofFormulas, state: State, hypothesis: Sequence[Any],
    ) -> None:  # fmt: skip
        self.ranking, self.recorded, self.code, self.formulas = ranking, recorded, code, formulas
        self.state, self.hypothesis = state, list(hypothesis)
        self.condition = recorded.claim(claim)[1]
        self.steps = {step.transition.name: step for step in recorded.steps}
        self.ranks = {
            rank.name: self._predicate(rank.name, rank.holds, rank.over) for rank in ranking.ranks
        }
        self.awaited = [
            (one, self._predicate(one.step, one.when, one.over)) for one in ranking.awaited
            if one.step in self.steps
        ]  # fmt: skip

    def ask_all(self, asker: ProverPort, steps: Collection[str] | None = None) -> None:
        """Asks every obligation in a fixed order, or only those of some steps."""
        if steps is None:
            self._of_states(asker)
            for number, (one, predicate) in enumerate(self.awaited):
                self._of_awaited(asker, number, one, predicate)
        for step in self.recorded.steps:
            if steps is None or step.transition.name in steps:
                self._of_step(asker, step)

    # -- terms --------------------------------------------------------------------------------

    def _predicate(self, name: str, formula: Condition, over: Sequence[Sort]) -> Predicate:
        matrix = self.formulas.matrix(name, formula, over)
        return Predicate(matrix.variables, matrix.term)

    def _holds(self, predicate: Predicate, state: State, values: Sequence[Any]) -> Any:
        names = {v.args[0]: value for v, value in zip(predicate.variables, values, strict=True)}
        return self.code.term(predicate.term, state, names)

    def _values(self, formula: Any, state: State, given: Mapping[str, Any]) -> list[Any]:
        """What a function of the state gives, as values of the solver; a set as a function."""
        return [self._value(one, state, given) for one in formula]

    def _value(self, one: Any, state: State, given: Mapping[str, Any]) -> Any:
        if isinstance(one, SetValue):
            return lambda x: self.code.term(
                one._member(t.var("~member", one._elements[0])), state, {**given, "~member": x}
            )
        return self.code.term(one.term, state, given)

    def _state_view(self) -> Any:
        return read(self.recorded.system.state, "")

    def _fresh(self, sorts: Sequence[Sort]) -> tuple[list[Any], list[Any]]:
        values = [self.code.constant(f"some {sort.name}", sort) for sort in sorts]
        inside = [
            fact for sort, value in zip(sorts, values, strict=True)
            for fact in self.code.in_domain(sort, value)
        ]  # fmt: skip
        return values, inside

    def _arguments(self, one: AwaitedStep, state: State, values: Sequence[Any]) -> dict[str, Any]:
        """The step's parameters as an environment: those of the awaited instance."""
        step = self.steps[one.step]
        variables = [t.var(f"~value {n}", sort) for n, sort in enumerate(one.over)]
        given = {v.args[0]: value for v, value in zip(variables, values, strict=True)}
        predicate = one.arguments(self._state_view(), *(Scalar(v) for v in variables))
        if set(predicate) != set(step.parameters):
            raise AssertionError(f"{one.step} has the parameters {sorted(step.parameters)}")
        environment: dict[str, Any] = {}
        for name, sort in step.parameters.items():
            value = (as_set((sort.element,), predicate[name]) if isinstance(sort, SetOf)
                     else scalar(predicate[name], sort))  # fmt: skip
            environment[f"${name}"] = self._value(value, state, given)
        return environment

    def _same_arguments(self, one: AwaitedStep, one_way: Mapping[str, Any],
                        other_way: Mapping[str, Any]) -> list[Any]:  # fmt: skip
        found = []
        for name, sort in self.steps[one.step].parameters.items():
            mine, theirs = one_way[f"${name}"], other_way[f"${name}"]
            if isinstance(sort, SetOf):
                x = self.code.constant("member", sort.element)
                found.append(z3.ForAll([x], mine(x) == theirs(x)))
            else:
                found.append(mine == theirs)
        return found

    def _waits(self, state: State) -> Any:
        return z3.Not(self.code.term(self.condition, state, {}))

    # -- what is lost ---------------------------------------------------------------------------

    def _lost(self, step: Recorded, after: State, environment: Mapping[str, Any],
              ranks: Sequence[Rank]) -> list[Any]:  # fmt: skip
        """That a step takes a member away, of each of these ranks that credit it with one."""
        found = []
        for rank in ranks:
            if step.transition.name not in rank.taken_by:
                continue
            parameters = {
                name: (SetValue((sort.element,),
                                lambda x, name=name: t.get(f"${name}", (x,), BOOL))
                       if isinstance(sort, SetOf) else Scalar(t.var(f"${name}", sort)))
                for name, sort in step.parameters.items()
            }  # fmt: skip
            member = rank.taken_by[step.transition.name](self._state_view(), **parameters)
            shaped = [scalar(one, sort) for one, sort in zip(member, rank.over, strict=True)]
            values = self._values(shaped, self.state, environment)
            predicate = self.ranks[rank.name]
            found.append(z3.And(self._holds(predicate, self.state, values),
                                z3.Not(self._holds(predicate, after, values))))  # fmt: skip
        return found

    # -- of states ------------------------------------------------------------------------------

    def _of_states(self, asker: ProverPort) -> None:
        given = [*self.hypothesis, self._waits(self.state), *self._there_is_one()]
        for rank in self.ranking.ranks:
            predicate = self.ranks[rank.name]
            for position, sort in enumerate(rank.over):
                if isinstance(sort, Numbers):
                    self._finite(asker, given, rank, predicate, position)
        facts: list[Any] = []
        ways = [
            way
            for one, predicate in self.awaited
            for way in self._instance_is_awaited(one, predicate, facts)
        ]
        goal = Goal({}, {}, facts, z3.Or(*ways) if ways else z3.BoolVal(False))
        asker.ask(WAITS, "some fair instance is awaited", given, [goal], [])

    def _there_is_one(self) -> list[Any]:
        """No system is of no brokers: where nobody is, nothing is awaited of anybody."""
        sorts = {sort.family: sort for one in self.ranking.awaited for sort in one.over
                 if isinstance(sort, Enumeration)}  # fmt: skip
        return [fact for sort in sorts.values() for fact in self._fresh([sort])[1]]

    def _finite(self, asker: ProverPort, given: list[Any], rank: Rank, predicate: Predicate,
                position: int) -> None:  # fmt: skip
        values, inside = self._fresh(rank.over)
        if position not in rank.limits:
            raise AssertionError(f"{rank.name}: say in `limits` what its numbers are below")
        variables = [t.var(f"~value {n}", sort) for n, sort in enumerate(rank.over[:position])]
        limit = rank.limits[position](self._state_view(), *(Scalar(v) for v in variables))
        names = {v.args[0]: value for v, value in zip(variables, values, strict=False)}
        below = values[position] < self.code.term(limit.term, self.state, names)
        facts = [*inside, self._holds(predicate, self.state, values)]
        asker.ask(WAITS, f"{rank.name} is finite", given, [Goal({}, {}, facts, below)],
                  list(zip(rank.over, values, strict=True)))  # fmt: skip

    def _instance_is_awaited(
        self, one: AwaitedStep, predicate: Predicate, facts: list[Any]
    ) -> Iterator[Any]:
        """That an instance of it is awaited; a least number is named, not looked for."""
        sorts = one.over if one.least is None else one.over[:-1]
        values, inside = self._fresh(sorts)
        chosen = list(values)
        if one.least is not None:
            chosen.append(self._least(one, predicate, values, inside, facts))
        body = z3.And(*inside, self._holds(predicate, self.state, chosen))
        if values:
            body = z3.Exists(values, body, patterns=self._thought_of(predicate, values))
        yield body

    def _thought_of(self, predicate: Predicate, values: Sequence[Any]) -> list[Any]:
        """What makes a solver think of an instance: a field of all its values."""
        names = {v.args[0]: value for v, value in zip(predicate.variables, values, strict=False)}
        found = [
            self.code.term(part, self.state, names) for part in nodes(predicate.term)
            if part.op == "get" and part.args[1:]
            and {arg.args[0] for arg in part.args[1:] if arg.op == "var"} == set(names)
            and all(arg.op == "var" for arg in part.args[1:])
        ]  # fmt: skip
        return sorted(found, key=str)

    def _least(self, one: AwaitedStep, predicate: Predicate, values: list[Any], inside: list[Any],
               facts: list[Any]) -> Any:  # fmt: skip
        """The least number of such, as a function: there is one wherever there is any."""
        assert one.least is not None
        such = self._predicate(f"{one.step} such", one.least.such, one.over)
        variables = [t.var(f"~value {n}", sort) for n, sort in enumerate(one.over[:-1])]
        names = {v.args[0]: value for v, value in zip(variables, values, strict=True)}
        bounded = one.least.or_less(self._state_view(), *(Scalar(v) for v in variables))
        high = self.code.term(bounded.term, self.state, names)
        least = z3.Function(f"least of {one.step}", *(v.sort() for v in values), z3.IntSort())
        found = least(*values)
        bottom = one.over[-1].bottom  # type: ignore[attr-defined]
        there_is = z3.And(*inside, high >= bottom, self._holds(such, self.state, [*values, high]))
        facts.append(z3.ForAll(values, z3.Implies(there_is, z3.And(
            bottom <= found, found <= high, self._holds(such, self.state, [*values, found]))),
            patterns=[found]))  # fmt: skip
        lower = self.code.constant("lower", one.over[-1])
        facts.append(z3.ForAll([*values, lower], z3.Implies(
            z3.And(there_is, bottom <= lower, lower < found),
            z3.Not(self._holds(such, self.state, [*values, lower])))))  # fmt: skip
        return found

    # -- of what is awaited -----------------------------------------------------------------------

    def _of_awaited(
        self, asker: ProverPort, number: int, one: AwaitedStep, predicate: Predicate
    ) -> None:
        step = self.steps[one.step]
        values, inside = self._fresh(one.over)
        environment = self._arguments(one, self.state, values)
        facts = [*inside, self._holds(predicate, self.state, values)]
        given = [*self.hypothesis, self._waits(self.state), *facts]
        about = [*zip(one.over, values, strict=True), *self._parameters_of(step, environment)]
        guard = self.code.guard(step, self.state, environment)
        name = _name(self.ranking, number)
        goals = [Goal({}, {}, [], condition) for condition in guard]
        goals += [
            Goal({}, {}, [], fact)
            for parameter, sort in step.parameters.items() if isinstance(sort, Sort)
            for fact in self.code.in_domain(sort, environment[f"${parameter}"])
        ]  # fmt: skip
        asker.ask(one.step, f"{name} is possible", given, goals, about)
        after, axioms = self.formulas.after(step, self.state, environment)
        lost = self._lost(step, after, environment, self.ranking.ranks)
        given += [*guard, *axioms, self._waits(after)]
        formula = z3.Or(*lost) if lost else z3.BoolVal(False)
        asker.ask(one.step, f"{name}, taken, takes a member away", given,
                  [Goal({}, {}, [], formula)], about)  # fmt: skip

    @staticmethod
    def _parameters_of(step: Recorded, environment: Mapping[str, Any]) -> list[tuple[Sort, Any]]:
        return [
            (sort, environment[f"${name}"])
            for name, sort in step.parameters.items()
            if isinstance(sort, Sort)
        ]

    # -- of steps -------------------------------------------------------------------------------

    def _of_step(self, asker: ProverPort, step: Recorded) -> None:
        parameters = self.code.parameters(step)
        environment = parameters.environment
        guard = self.code.guard(step, self.state, environment)
        after, axioms = self.formulas.after(step, self.state, environment)
        written = {write.field for write in step.writes}
        before = [*self.hypothesis, *axioms, *parameters.facts, *guard]
        given = [*before, self._waits(self.state), self._waits(after)]
        about, name = self._parameters_of(step, environment), step.transition.name
        ranks = self.ranking.ranks
        for position, rank in enumerate(ranks):
            predicate = self.ranks[rank.name]
            what = f"{rank.name} gains nothing"
            if not predicate.reads & written:
                asker.framed(name, what)
                continue
            values, inside = self._fresh(rank.over)
            facts = [*inside, self._holds(predicate, after, values),
                     z3.Not(self._holds(predicate, self.state, values))]  # fmt: skip
            lost = self._lost(step, after, environment, ranks[:position])
            formula = z3.Or(*lost) if lost else z3.BoolVal(False)
            asker.ask(name, what, given, [Goal({}, {}, facts, formula)],
                      [*about, *zip(rank.over, values, strict=True)])  # fmt: skip
        lost = self._lost(step, after, environment, ranks)
        for number, (one, predicate) in enumerate(self.awaited):
            what = f"{_name(self.ranking, number)} stays awaited"
            if not (predicate.reads | self._reads_of_arguments(one)) & written:
                asker.framed(name, what)
                continue
            values, inside = self._fresh(one.over)
            facts = [*inside, self._holds(predicate, self.state, values)]
            stays = z3.And(
                self._holds(predicate, after, values),
                *self._same_arguments(one, self._arguments(one, self.state, values),
                                      self._arguments(one, after, values)))  # fmt: skip
            asker.ask(name, what, given, [Goal({}, {}, facts, z3.Or(*lost, stays))],
                      [*about, *zip(one.over, values, strict=True)])  # fmt: skip
        self._reached_is_stable(asker, step, before, after, about, written)

    def _reads_of_arguments(self, one: AwaitedStep) -> frozenset[str]:
        variables = [t.var(f"~value {n}", sort) for n, sort in enumerate(one.over)]
        found: set[str] = set()
        for value in one.arguments(self._state_view(), *(Scalar(v) for v in variables)).values():
            if isinstance(value, SetValue):
                found |= fields_read(value._member(t.var("~member", value._elements[0])))
            elif isinstance(value, Scalar):
                found |= fields_read(value.term)
        return frozenset(found)

    def _reached_is_stable(self, asker: ProverPort, step: Recorded, before: list[Any], after: State,
               about: list[tuple[Sort, Any]], written: set[str]) -> None:  # fmt: skip
        if self.ranking.stays is None:
            return
        predicate = self._predicate("what is reached", self.ranking.stays, ())
        name, what = step.transition.name, "what is reached stays"
        if not predicate.reads & written:
            asker.framed(name, what)
            return
        given = [*before, self._holds(predicate, self.state, ())]
        goals = [
            Goal({}, {}, [], self.code.term(part, after, {}))
            for part in (predicate.term.args if predicate.term.op == "and" else (predicate.term,))
        ]
        asker.ask(name, what, given, goals, about)


def _name(ranking: Ranking, number: int) -> str:
    """The awaited step; where it is awaited in several ways, with a number."""
    one = ranking.awaited[number]
    same = [other for other in ranking.awaited if other.step == one.step]
    if len(same) == 1:
        return one.step
    return f"{one.step} ({1 + sum(other.step == one.step for other in ranking.awaited[:number])})"


def waiting(recorded: RecordedSystem, claim: str) -> Term:
    """The term that is true where the claim does not hold."""
    return t.not_(recorded.claim(claim)[1])


def awaited_somewhere(recorded: RecordedSystem, one: AwaitedStep) -> Term:
    """The closed term that some instance of the step is awaited."""

    def somewhere(now: Any) -> Scalar:
        from model.language import some

        def nest(sorts: Sequence[Sort], values: tuple[Scalar, ...]) -> Scalar:
            if not sorts:
                return one.when(now, *values)
            return some(sorts[0], lambda value: nest(sorts[1:], (*values, value)))

        return nest(one.over, ())

    return record_condition(somewhere, recorded.system.state, recorded.switches)

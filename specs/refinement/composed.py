"""Composes `replication` and the form that is proved as one system whose steps move both.

Each step of `replication` is recorded with the steps of the form in its line of the refinement map
(`specs.refinement.refinement_map`). Their writes are added in order, each reading the state that
the previous step left. Their requirements become obligations (`ComposedSystem.entails`), never
assumptions. A proof by induction over this system therefore proves the refinement.

Both are over the same sorts; a record of the form is the number that producers give it here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from model.language import ProtocolError, Record, System
from model.language import terms as t
from model.language.recording import (
    Parameter,
    Recorded,
    Requirement,
    Transition,
    Write,
    nodes,
    record,
)
from model.language.scalars import Scalar
from model.language.schema import Ghost, Leaf, LogOf, MapOf, Relation, Schema, SetOf
from model.language.sorts import BOOL, Enumeration, Numbers, Sort
from model.language.system import RecordedSystem
from model.language.terms import Term
from model.language.values import read
from model.replication import SYSTEM as REPLICATION
from model.replication.history import SYSTEM as HISTORY
from model.replication.history.state import RECORDS as RECORDS_THERE
from model.replication.state import RECORDS
from specs.refinement.refinement_map import LINES, Alternative, MapLine, ReplicationStep

THERE = "there"
"""The part of the state that is the proof's form."""

LEAST = "$least"
"""Before a number: the parameter that stands for what the text calls the least."""

QUANTIFIERS = ("every", "some", "count", "least")


def over_same_sorts(sort: Sort) -> Sort:
    """The sort of `replication` that corresponds to a sort of the proof's form."""
    return RECORDS if sort == RECORDS_THERE else sort


def _proof_schema(schema: Schema, alike: bool) -> Any:
    """The state of the proof's form over the sorts here.

    `alike`: where nobody is named yet stands none, so that brokers may be exchanged; without it,
    some broker, as the proof has it.
    """
    if isinstance(schema, Leaf):
        sort = over_same_sorts(schema.sort)
        return Leaf(sort.or_none if alike and isinstance(sort, Enumeration) else sort)
    if isinstance(schema, Ghost):
        return Ghost(_proof_schema(schema.of, alike), schema.budget)
    if isinstance(schema, MapOf):
        return MapOf(over_same_sorts(schema.index), _proof_schema(schema.of, alike))
    if isinstance(schema, SetOf):
        return SetOf(over_same_sorts(schema.element))
    if isinstance(schema, Relation):
        return Relation(*(over_same_sorts(sort) for sort in schema.elements))
    if isinstance(schema, LogOf):
        return LogOf(schema.offset, schema.end, _proof_schema(schema.record, alike))
    assert isinstance(schema, Record)
    return Record(**{name: _proof_schema(part, alike) for name, part in schema.parts.items()})


Cut = Callable[[Term, Term, Term], tuple[Term, Term, list[Term]]]
"""Follower, leader and what is looked up -> the log's end, whether it asks again, and the facts."""


@dataclass
class ComposedSystem:
    """Both systems as one, and the obligations that each step of `replication` entails."""

    recorded: RecordedSystem
    entails: dict[str, tuple[Requirement, ...]]
    """By step: what must be so for the other side to take its steps, in order."""
    taken: dict[str, MapLine]
    """By step: its line; one that has none has nothing that it could be on the other side."""
    cut: Cut
    """What `follower_truncates` of this system does: see `_Composer.where_it_cuts`."""


def compose(
    system: System = REPLICATION,
    version: str | None = None,
    changed: Mapping[str, object] | None = None,
    lines: Sequence[MapLine] = LINES,
    alike: bool = False,
    form: System = HISTORY,
) -> ComposedSystem:
    """`replication`, or a system with as much state, composed with the proof's form.

    `alike`: brokers are interchangeable at the beginning, as exploring modulo their names needs.
    Raises ProtocolError for a version or switch that it does not know.
    """
    return _Composer(system, version, changed, lines, alike, form).run()


class _Composer:
    def __init__(
        self,
        system: System,
        version: str | None,
        changed: Mapping[str, object] | None,
        lines: Sequence[MapLine],
        alike: bool,
        form: System,
    ) -> None:
        there = _proof_schema(form.state, alike)
        self.state = Record(**system.state.parts, **{THERE: there})
        self.lines = {line.transition: line for line in lines}

        def initial(new: Any) -> None:
            system.initial(new)
            form.initial(new.there)

        joined = replace(system, state=self.state, initial=initial)
        self.recorded = joined.recorded(version, changed)
        self.alone = {step.transition.name: step for step in self.recorded.steps}
        self.there = {one.name: one for one in form.transitions}
        self.fresh = itertools.count(1)

    def run(self) -> ComposedSystem:
        entails: dict[str, tuple[Requirement, ...]] = {}
        steps: list[Recorded] = []
        for step in self.recorded.steps:
            name = step.transition.name
            line = self.lines.get(name)
            if line is None:
                entails[name] = (Requirement(t.FALSE, "it has no counterpart there"),)
            else:
                step, entails[name] = self._joined(step, line)
            steps.append(step)
        self.recorded.steps = steps
        taken = {name: line for name, line in self.lines.items() if name in self.alone}
        return ComposedSystem(self.recorded, entails, taken, self.where_it_cuts)

    # -- one step -----------------------------------------------------------------------------

    def _joined(self, step: Recorded, line: MapLine) -> tuple[Recorded, tuple[Requirement, ...]]:
        own = Substitution(step.writes, t.AFTER)
        requires = [one for one in step.requires if not _counts(one.condition)]
        writes: list[Write] = []
        asked: list[Requirement] = []
        for stage in line.stages:
            before = Substitution(writes, "")
            earlier: list[Term] = []
            added: list[Write] = []
            for alternative in stage:
                chosen, recorded = self._recorded(step, alternative)
                condition = before(own(chosen))
                taken = t.and_(condition, *(t.not_(one) for one in earlier))
                earlier.append(condition)
                for one in recorded.requires:
                    shown = t.implies(taken, before(own(one.condition)))
                    asked.append(Requirement(shown, f"{alternative.step}: {one.reason}"))
                since = Substitution([*writes, *added], "")
                added += [
                    self._chosen(write, taken, before, own, since) for write in recorded.writes
                ]
            writes += added
        found = LeastParameters(self.fresh)  # it gathers facts of what it is called with
        kept = [replace(one, condition=found(one.condition)) for one in requires]
        written = [
            replace(one, keys=tuple(map(found, one.keys)), value=found(one.value))
            for one in [*step.writes, *writes]
        ]
        entailed = tuple(replace(one, condition=found(one.condition)) for one in asked)
        parts = [
            Requirement(fact, f"{name}: part {number}")
            for name, facts in found.facts.items()
            for number, fact in enumerate(facts, 1)
        ]
        joined = replace(
            step,
            parameters={**step.parameters, **found.parameters},
            requires=[*kept, *parts],
            writes=written,
        )
        return joined, entailed

    def _recorded(self, step: Recorded, alternative: Alternative) -> tuple[Term, Recorded]:
        """When an alternative is taken, and its step there with the parameters read off here."""
        there = self.there[alternative.step]
        if not there.applies(self.recorded.switches):
            raise ProtocolError(f"{there.name} is no step of the proof's form in this version")
        conditions: list[Term] = []

        def taken(now: Any, new: Any, **parameters: Any) -> None:
            edge = self._edge(now, parameters)
            conditions.append(alternative.only_if(edge).term if alternative.only_if else t.TRUE)
            there.function(now.there, new.there, **alternative.parameters(edge))

        wrapped = Transition(there.name, taken, step.parameters)
        return_ = record(wrapped, self.state, self.recorded.switches)
        return conditions[0], return_

    def _chosen(
        self, write: Write, taken: Term, before: Substitution, own: Substitution,
        since: Substitution,
    ) -> Write:  # fmt: skip
        """A write there under its condition: else the place keeps what it has by now."""
        keys = tuple(before(own(key)) for key in write.keys)
        sort = self.recorded.fields[write.field].sort
        kept = since.place(write.field, (*keys, *write.variables), sort)
        value = before(own(write.value))
        return Write(write.field, keys, write.variables, t.ite(taken, value, kept))

    def _edge(self, now: Any, parameters: Mapping[str, Any]) -> ReplicationStep:
        after = read(self.state, "", mark=t.AFTER)

        def cut(follower: Scalar, leader: Scalar) -> tuple[Scalar, Scalar]:
            end, again, _ = self.where_it_cuts(follower.term, leader.term)
            return Scalar(marked(end)), Scalar(marked(again))

        return ReplicationStep(now, after, parameters, cut)

    def where_it_cuts(
        self, follower: Term, leader: Term, looked_up: Term | None = None
    ) -> tuple[Term, Term, list[Term]]:
        """The log end after `follower_truncates`, and whether the follower would ask again.

        `looked_up`, if given, stands for the end offset that the follower looks up in its own log;
        the third result has the facts about it.
        """
        step = self.alone["follower_truncates"]
        follows = Substitution(step.writes, "")
        end = t.get("log.end", (follower,), self.recorded.fields["log.end"].sort)
        again = t.get("replica.truncating", (follower,), BOOL)
        given = {"$follower": follower, "$leader": leader}
        terms = [with_values(follows(one), given) for one in (end, again)]
        if looked_up is None:
            return terms[0], terms[1], []
        found = LeastParameters(itertools.count(1), follower.free | leader.free)
        terms = [found(one) for one in terms]
        if len(found.parameters) > 1:
            raise ProtocolError("follower_truncates looks more than one place up in its own log")
        chosen = {f"${name}": looked_up for name in found.parameters}
        facts = [fact for facts in found.facts.values() for fact in facts]
        terms = [with_values(one, chosen) for one in [*terms, *facts]]
        return terms[0], terms[1], terms[2:]


def _counts(term: Term) -> bool:
    """`how_many` has no unbounded form: without such a guard more is possible, never less."""
    return any(node.op == "count" for node in nodes(term))


# -- terms ----------------------------------------------------------------------------------------

_names = itertools.count(1)


def with_values(term: Term, values: Mapping[str, Term]) -> Term:
    """The term with variables replaced; bound variables are renamed where they would clash."""
    memo: dict[Term, Term] = {}

    def go(part: Term) -> Term:
        if part.op == "var" and part.args[0] in values:
            return values[part.args[0]]
        if not isinstance(part, Term) or not part.free & values.keys():
            return part
        if part not in memo:
            if part.op in QUANTIFIERS:
                memo[part] = _renamed(part, values)
            else:
                memo[part] = t.rebuilt(
                    part, [go(a) if isinstance(a, Term) else a for a in part.args]
                )
        return memo[part]

    return go(term)


def _renamed(part: Term, values: Mapping[str, Term]) -> Term:
    variable, low, high, body, *rest = part.args
    inner = {name: value for name, value in values.items() if name != variable.args[0]}
    fresh = variable
    if any(variable.args[0] in value.free for value in inner.values()):
        fresh = t.var(f"{variable.sort.name}~{next(_names)}", variable.sort)
        inner[variable.args[0]] = fresh
    inside = with_values(body, inner)
    outside = [None if one is None else with_values(one, values) for one in (low, high, *rest)]
    return t.make(part.op, (fresh, outside[0], outside[1], inside, *outside[2:]), part.sort)


def marked(term: Term) -> Term:
    """The same term about the state after the step."""
    memo: dict[Term, Term] = {}

    def go(part: Term) -> Term:
        if part not in memo:
            args: list[Any] = [go(one) if isinstance(one, Term) else one for one in part.args]
            if part.op == "get" and not args[0].startswith("$"):
                args[0] += t.AFTER
            memo[part] = t.rebuilt(part, args) if args else part
        return memo[part]

    return go(term)


class Substitution:
    """Turns terms about the state after some writes into terms about the state before them.

    `mark` is the suffix of the names of the fields concerned.
    """

    def __init__(self, writes: Sequence[Write], mark: str) -> None:
        self.mark = mark
        self.writes: dict[str, list[Write]] = {}
        for write in writes:
            self.writes.setdefault(write.field + mark, []).append(write)
        self._memo: dict[Term, Term] = {}

    def __call__(self, term: Term) -> Term:
        if term not in self._memo:
            touched = any(self._is_meant(node) for node in nodes(term))
            self._memo[term] = self._substitute(term) if touched else term
        return self._memo[term]

    def _is_meant(self, term: Term) -> bool:
        if term.op != "get":
            return False
        return term.args[0].endswith(t.AFTER) if self.mark else term.args[0] in self.writes

    def _substitute(self, term: Term) -> Term:
        if term.op in QUANTIFIERS:
            # What is put in mentions the step's parameters only: nothing of it is bound here.
            low, high, body, *rest = (None if one is None else self(one) for one in term.args[1:])
            return t.make(term.op, (term.args[0], low, high, body, *rest), term.sort)
        args = [self(one) if isinstance(one, Term) else one for one in term.args]
        if term.op != "get":
            return t.rebuilt(term, args) if args and term.op != "const" else term
        name, index = str(args[0]), tuple(args[1:])
        return self.place(name, index, term.sort) if self._is_meant(term) else t.rebuilt(term, args)

    def place(self, name: str, index: tuple[Term, ...], sort: Sort) -> Term:
        """The value after the writes, at a place that is named by the state before them."""
        found = t.get(name.removesuffix(self.mark), index, sort)
        for write in self.writes.get(name, ()):
            here = t.and_(*(t.eq(i, key) for i, key in zip(index, write.keys, strict=False)))
            rest = index[len(write.keys) :]
            values = {v.args[0]: i for v, i in zip(write.variables, rest, strict=True)}
            found = t.ite(here, with_values(write.value, values), found)
        return found


class LeastParameters:
    """Removes `least` from terms: each becomes a parameter of the step, with facts about it.

    A least value always exists, or is the value for none. A step with these parameters is therefore
    possible for exactly one choice of them.
    """

    def __init__(self, fresh: Iterator[int], free: frozenset[str] = frozenset()) -> None:
        self.fresh, self.free = fresh, free
        self.parameters: dict[str, Parameter] = {}
        self.facts: dict[str, list[Term]] = {}
        self._memo: dict[Term, Term] = {}

    def __call__(self, term: Term) -> Term:
        if term not in self._memo:
            args = [self(one) if isinstance(one, Term) else one for one in term.args]
            if term.op == "least":
                self._memo[term] = self._chosen(term, args)
            else:
                self._memo[term] = t.rebuilt(term, args) if term.op != "const" and args else term
        return self._memo[term]

    def _chosen(self, term: Term, args: list[Any]) -> Term:
        if any(not name.startswith("$") for name in term.free - self.free):
            raise ProtocolError(f"a least value of what is bound has no unbounded form: {term}")
        variable, low, high, body, otherwise = args
        name = f"least {next(self.fresh)}"
        # It is a value of the range, or what stands for none: an end, where offsets have none.
        sort = otherwise.sort if isinstance(otherwise.sort, Numbers) else variable.sort
        sort = replace(sort, name="end")
        value = t.var(f"${name}", sort)
        self.parameters[name] = sort
        low = t.const(0) if low is None else low

        def within(number: Term) -> Term:
            above = t.le(low, number)
            return above if high is None else t.and_(above, t.lt(number, high))

        meets = t.and_(within(value), with_values(body, {variable.args[0]: value}))
        facts = [
            t.or_(t.eq(value, otherwise), meets),
            none_below(variable, body, within, lambda number: t.lt(number, value)),
        ]
        if otherwise is not high:
            facts.append(t.or_(meets, none_below(variable, body, within, lambda number: t.TRUE)))
        self.facts[name] = facts
        return value


def none_below(
    variable: Term,
    body: Term,
    within: Callable[[Term], Term],
    below: Callable[[Term], Term],
) -> Term:
    """No number within the range and below the value meets the body.

    A body that some member meets is said of every member first, and a number that the body equals
    to something is that: the same, in the form that a solver can use.
    """
    if body.op == "some" and body.args[1] is None and body.args[2] is None:
        member = t.var(f"{body.args[0].sort.name}~{next(_names)}", body.args[0].sort)
        inner = with_values(body.args[3], {body.args[0].args[0]: member})
        return t.quantifier("every", member, none_below(variable, inner, within, below))
    parts = body.args if body.op == "and" else (body,)
    for part in parts:
        for solved in t.compared_with(part, variable) if part.op == "eq" else ():
            rest = t.and_(*(one for one in parts if one is not part))
            rest = with_values(rest, {variable.args[0]: solved})
            return t.not_(t.and_(within(solved), below(solved), rest))
    fresh = t.var(f"{variable.sort.name}~{next(_names)}", variable.sort)
    inside = with_values(body, {variable.args[0]: fresh})
    return t.quantifier(
        "every", fresh, t.implies(t.and_(within(fresh), below(fresh)), t.not_(inside))
    )

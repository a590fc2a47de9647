"""The lowerings to Z3 agree with the twin and with generated Python, state by state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import z3

from model.classic import SYSTEM as CLASSIC
from model.election import SYSTEM as ELECTION
from model.language import ProtocolError, Record, all_of, below, every
from model.language.evaluate import SparseState, blank_code
from model.language.recording import Recorded, record_condition
from model.language.schema import Field
from model.language.sorts import BOOL
from model.language.terms import Term
from model.replication import SYSTEM as REPLICATION
from specs.lowering.z3_code import Z3Code, lower_grounded
from tests.language.sampling import Small
from tests.language.small import ENDS, OFFSETS, system
from tests.language.test_agreement import ALWAYS_SO, BUSY

NEEDS_AN_ENUMERATED_SORT = {
    "leader_answers_epoch": "least",
    "follower_truncates": "least",
    "leader_advances_hw": "least",
}
"""Steps of replication that the symbolic lowering refuses; their proof needs other words."""


class Symbolic:
    """The unbounded lowering, with so many brokers, asked about concrete states."""

    def __init__(self, small: Small) -> None:
        self.small = small
        self.code = Z3Code(small.recorded, brokers=small.bounds["brokers"], bounds=small.bounds)

    def literal(self, field_sort: Any, value: Any) -> Any:
        return self.code.literal(field_sort, value)

    def state(self, read: SparseState) -> dict[str, Callable[..., Any]]:
        """A sparse state as functions: a chain of if-then-else over its entries."""
        return {
            name: self._function(leaf, read.get(name, {}))
            for name, leaf in self.small.recorded.fields.items()
        }

    def _function(self, leaf: Field, entries: dict[tuple[int, ...], int]) -> Callable[..., Any]:
        def function(*index: Any) -> Any:
            value = self.literal(leaf.sort, blank_code(leaf.sort))
            for at, code in entries.items():
                here = [
                    i == self.literal(sort, part)
                    for i, sort, part in zip(index, leaf.dims, at, strict=True)
                ]
                value = z3.If(z3.And(*here), self.literal(leaf.sort, code), value)
            return value

        return function

    def differences(
        self, state: Any, steps: list[Recorded], lowered: Recorded | None = None
    ) -> Any:
        """What would have to be true if the lowering differed from the twin in this state."""
        read = self.small.sparse(state)
        before = self.state(read)
        wrong = []
        for instance in self.small.grounded.instances:
            if instance.step not in steps:
                continue
            arguments = self.small.arguments(instance)
            environment = {
                f"${name}": self.literal(instance.step.parameters[name], value)
                for name, value in arguments.items()
            }
            step = lowered or instance.step
            guard = z3.And(*self.code.guard(step, before, environment))
            refused = self.small.twin.possible(instance.step, read, arguments)
            wrong.append(guard if refused is not None else z3.Not(guard))
            after = self.small.successors(state).get(instance.number)
            if after is not None:
                new = self.code.after(step, before, environment)
                wrong.append(self._differs(new, self.small.sparse(after)))
        return z3.Or(*wrong)

    def _differs(self, new: dict[str, Callable[..., Any]], expected: SparseState) -> Any:
        unequal = []
        for cell in self.small.grounded.cells:
            leaf = cell.field
            if leaf.log is not None:
                end = f"{leaf.log}.end"
                keys = len(self.small.recorded.fields[end].dims)
                if cell.index[keys] >= expected.get(end, {}).get(cell.index[:keys], 0):
                    continue  # junk above a log's end
            index = [
                self.literal(sort, part) for sort, part in zip(leaf.dims, cell.index, strict=True)
            ]
            value = expected.get(leaf.name, {}).get(cell.index, blank_code(leaf.sort))
            unequal.append(new[leaf.name](*index) != self.literal(leaf.sort, value))
        return z3.Or(*unequal)

    def cannot_be(self, formula: Any) -> bool:
        solver = z3.Solver()
        solver.set("random_seed", 0)
        solver.add(*self.code.axioms)
        solver.add(formula)
        return bool(solver.check() == z3.unsat)


def test_the_unbounded_lowering_agrees_on_every_step_of_an_election():
    small = Small(ELECTION, None, {"brokers": 2, "epoch": 3, "writes": 2})
    states = small.covering(seed=5, walks=100, each=2, twists=2000)
    symbolic = Symbolic(small)

    assert small.uncovered(states) == set()
    for state in states:
        assert symbolic.cannot_be(symbolic.differences(state, small.recorded.steps))


def test_the_unbounded_lowering_agrees_on_the_claims_of_an_election():
    small = Small(ELECTION, None, {"brokers": 2, "epoch": 3, "writes": 2})
    symbolic = Symbolic(small)

    for state in small.covering(seed=6, walks=100, each=1, twists=2000)[:12]:
        read = symbolic.state(small.sparse(state))
        for name, (claim, term) in small.recorded.claims.items():
            if claim.is_about_steps:
                continue  # refused there, in words
            lowered = symbolic.code.term(term, read, {})
            holds = small.twin.holds(name, small.sparse(state))
            assert symbolic.cannot_be(z3.Not(lowered) if holds else lowered), name


def test_a_difference_would_be_noticed():
    small = Small(ELECTION, None, {"brokers": 2, "epoch": 3, "writes": 2})
    other = ELECTION.recorded(None, {"zk_writes_fenced": False})
    states = small.covering(seed=5, walks=100, each=2, twists=2000)
    symbolic = Symbolic(small)
    fenced, unfenced = (
        next(step for step in recorded.steps if step.transition.name == "write_is_applied")
        for recorded in (small.recorded, other)
    )

    assert not all(
        symbolic.cannot_be(symbolic.differences(state, [fenced], lowered=unfenced))
        for state in states
    )


@pytest.mark.parametrize("version", [pytest.param("0.10", marks=pytest.mark.deep), "2.3"])
def test_the_unbounded_lowering_agrees_on_replication_or_says_what_it_lacks(version):
    small = Small(REPLICATION, version, BUSY)
    symbolic = Symbolic(small)
    lowered, refused = [], {}
    for step in small.recorded.steps:
        try:
            symbolic.code.guard(step, blank := symbolic.state({}), parameters(symbolic, step))
            symbolic._differs(symbolic.code.after(step, blank, parameters(symbolic, step)), {})
            lowered.append(step)
        except ProtocolError as error:
            refused[step.transition.name] = str(error)

    names = {step.transition.name for step in small.recorded.steps}
    assert set(refused) == set(NEEDS_AN_ENUMERATED_SORT) & names
    for name, message in refused.items():
        assert f"{NEEDS_AN_ENUMERATED_SORT[name]} has no unbounded form" in message
    for state in small.covering(seed=7, walks=150, each=1, twists=3000)[:10]:
        assert symbolic.cannot_be(symbolic.differences(state, lowered))


def parameters(symbolic: Symbolic, step: Recorded) -> dict[str, Any]:
    return symbolic.code.parameters(step).environment


def test_two_ranges_with_one_rule_are_two_quantifiers():
    state = Record(first=ENDS, second=ENDS, at=OFFSETS)

    def both(now):
        return all_of(
            every(below(OFFSETS, now.first), lambda o: o != now.at),
            every(below(OFFSETS, now.second), lambda o: o != now.at),
        )

    recorded = system(state=state)
    code = Z3Code(recorded)
    values = {"first": 0, "second": 3, "at": 2}
    before = {name: (lambda v=value: z3.IntVal(v)) for name, value in values.items()}
    lowered = code.term(record_condition(both, state, {}), before, {})

    solver = z3.Solver()
    solver.add(lowered)
    assert solver.check() == z3.unsat


def agree_when_grounded(small: Small, states: list[Any]) -> None:
    """Quantifier-free formulas over cells against generated Python: guards and every cell."""
    both = [
        z3.Bool(cell.name + mark) if cell.field.sort is BOOL else z3.Int(cell.name + mark)
        for mark in ("", "'")
        for cell in small.grounded.cells
    ]
    cells = both[: len(small.grounded.cells)]
    memo: dict[Term, Any] = {}

    def lower(term: Term) -> Any:
        return lower_grounded(term, lambda number: both[number], memo)

    def plain(value: Any) -> int:
        return int(z3.is_true(value) if z3.is_bool(value) else value.as_long())

    for state in states:
        codes = small.code.decode(state)
        solver = z3.Solver()
        solver.add(
            *(
                symbol == (bool(code) if z3.is_bool(symbol) else code)
                for symbol, code in zip(cells, codes, strict=True)
            )
        )
        assert solver.check() == z3.sat
        model = solver.model()
        nexts = small.successors(state)
        for instance in small.grounded.instances:
            guard = z3.And(
                *(lower(condition) for condition, _ in instance.requires),
                *(lower(check.fine) for check in instance.checks),
            )
            possible = z3.is_true(model.eval(guard, model_completion=True))
            assert possible == (instance.number in nexts), instance.label
            if possible:
                after = list(codes)
                for number, term in instance.writes.items():
                    after[number] = plain(model.eval(lower(term), model_completion=True))
                assert tuple(after) == small.code.decode(nexts[instance.number]), instance.label
        for name, judged in small.code.claims.items():
            term = small.grounded.claims[name]
            assert z3.is_true(model.eval(lower(term), model_completion=True)) == judged(state), name
        for name, judged_step in small.code.step_claims.items():
            for after in nexts.values():
                values = zip(both, (*codes, *small.code.decode(after)), strict=True)
                reported = [
                    (symbol, z3.BoolVal(bool(code)) if z3.is_bool(symbol) else z3.IntVal(code))
                    for symbol, code in values
                ]
                lowered = z3.simplify(z3.substitute(lower(small.grounded.claims[name]), *reported))
                assert z3.is_true(lowered) == judged_step(state, after), name


@pytest.mark.parametrize("design", list(CLASSIC.versions))
def test_the_grounded_lowering_agrees_on_the_classic_designs(design):
    small = Small(CLASSIC, design, {})
    states = small.covering(seed=8, walks=200, each=1, twists=4000)

    assert small.uncovered(states) <= ALWAYS_SO
    agree_when_grounded(small, states)


def test_the_grounded_lowering_agrees_on_an_election():
    small = Small(ELECTION, None, {"brokers": 2, "epoch": 2})
    states = small.covering(seed=9, walks=200, each=2, twists=4000)

    assert small.uncovered(states) == set()
    agree_when_grounded(small, states)


@pytest.mark.parametrize("version", [pytest.param("0.11", marks=pytest.mark.deep), "2.3"])
def test_the_grounded_lowering_agrees_on_replication(version):
    small = Small(REPLICATION, version, BUSY)
    states = small.covering(seed=10, walks=200, each=1, twists=4000)

    assert small.uncovered(states) == set()
    agree_when_grounded(small, states[:25])

"""Proves that a batch of any size equals as many single steps of the form that is proved.

In `replication_history` leaders and followers append one record at a time. In Kafka an append has a
batch of records, and a fetch response has several. This theorem shows that a batch of n records is
a step for its first record followed by a batch of the rest, with the same effect on the state. So a
run with batches is a run without batches that skips some states, and a claim that holds in all
states without batches also holds with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import z3

from model.language import RecordedSystem
from model.language.recording import Recorded
from model.systems import system
from specs.lowering.z3_code import State, Z3Code
from specs.theorems.theorem import Part, Switches, Theorem, question

RECORD = "record"
SYSTEM = "replication_history"


@dataclass(frozen=True)
class _Batch:
    """`record(i)` are the records, `place(record)` where they stand, `size` how many there are."""

    record: Callable[[Any], Any]
    place: Callable[[Any], Any]
    size: Any

    def has(self, record: Any) -> Any:
        """Is it one of the records?"""
        place = self.place(record)
        return z3.And(place >= 0, place < self.size, self.record(place) == record)

    @property
    def rest(self) -> _Batch:
        return _Batch(lambda i: self.record(i + 1), lambda r: self.place(r) - 1, self.size - 1)


class _Step:
    """One of the two steps, for one broker, and the batch of such steps."""

    def __init__(self, name: str, recorded: RecordedSystem, once: bool) -> None:
        self.code, self._once = Z3Code(recorded), once
        self.step: Recorded = next(one for one in recorded.steps if one.transition.name == name)
        self.parameters = self.code.parameters(self.step)
        self.broker = self.parameters.environment["$broker"]
        self.state = self.code.state()
        records = z3.Function("record_of_batch", z3.IntSort(),
                              self.parameters.environment[f"${RECORD}"].sort())  # fmt: skip
        places = z3.Function("place_in_batch", records.range(), z3.IntSort())
        self.batch = _Batch(records, places, z3.Int("size_of_batch"))

    def environment(self, record: Any) -> dict[str, Any]:
        return {**self.parameters.environment, f"${RECORD}": record}

    def guard(self, state: State, record: Any) -> list[Any]:
        return self.code.guard(self.step, state, self.environment(record))

    def after(self, state: State, record: Any) -> dict[str, Any]:
        return self.code.after(self.step, state, self.environment(record))

    def end(self, state: State) -> Any:
        return state["log.end"](self.broker)

    def may_come(self, state: State, batch: _Batch) -> Any:
        """Each record of the batch may be appended at its place; and each record has one place
        only, unless that bug is planted."""
        i = z3.Int("position")
        # The guards of a step at the end of the log, of the log as long as it will be there.
        there = {**state, "log.end": lambda *b: z3.If(
            b[0] == self.broker, self.end(state) + i, state["log.end"](*b))}  # fmt: skip
        each = z3.And(*self.guard(there, batch.record(i)))
        inside = z3.And(i >= 0, i < batch.size)
        placed = batch.place(batch.record(i)) == i if self._once else z3.BoolVal(True)
        return z3.ForAll([i], z3.Implies(inside, z3.And(each, placed)))

    def with_all(self, state: State, batch: _Batch) -> dict[str, Any]:
        """The effect of a batch: each field that the step writes, for all records at once."""
        end, new = self.end(state), dict(state)
        epoch = state["replica.epoch"](self.broker)

        def among(offset: Any) -> Any:
            return z3.And(end <= offset, offset < end + batch.size)

        for write in self.step.writes:
            before = state[write.field]
            here = self.broker if write.field.startswith("log.") else epoch
            if write.field.endswith(".end"):
                new[write.field] = lambda k, before=before, here=here: z3.If(
                    k == here, before(k) + batch.size, before(k))  # fmt: skip
            elif write.field.endswith(".at.id"):
                new[write.field] = lambda k, o, before=before, here=here: z3.If(
                    z3.And(k == here, among(o)), batch.record(o - end), before(k, o))  # fmt: skip
            else:
                new[write.field] = lambda r, before=before: z3.If(
                    batch.has(r), epoch, before(r))  # fmt: skip
        return new


def _record_obligations(
    name: str, recorded: RecordedSystem, known: Callable[[_Step], list[Any]], once: bool
) -> Iterator[Part]:
    it = _Step(name, recorded, once)
    given = [
        *it.code.axioms, *it.parameters.facts, it.batch.size >= 1, it.end(it.state) >= 0,
        it.may_come(it.state, it.batch), *known(it),
    ]  # fmt: skip
    first = it.batch.record(0)
    for requirement, condition in zip(it.step.requires, it.guard(it.state, first), strict=True):
        yield name, f"its first record is a step: {requirement.reason}", question(given, condition)
    after = it.after(it.state, first)
    yield name, "what is left is a batch", question(given, it.may_come(after, it.batch.rest))
    at_once = it.with_all(it.state, it.batch)
    in_turn = it.with_all(after, it.batch.rest)
    for write in it.step.writes:
        field = recorded.fields[write.field]
        index = [it.code.constant("index", sort) for sort in field.dims]
        same = at_once[write.field](*index) == in_turn[write.field](*index)
        yield name, f"the two do to {write.field} what the batch does", question(given, same)


def _history_is_the_log(it: _Step) -> list[Any]:
    """Invariant a_leaders_log_ends_with_history: a leader's log is as long as its history."""
    epoch = it.state["replica.epoch"](it.broker)
    return [it.state["history.end"](epoch) == it.end(it.state)]


def batches(version: str | None, switches: Switches, once: bool = True) -> Iterator[Part]:
    """Obligations about a leader's batch and a fetch response of several records. Without `once`,
    wrongly, a
    record may be in a batch twice."""
    recorded = system(SYSTEM).recorded(version, switches)
    yield from _record_obligations("leader_appends", recorded, _history_is_the_log, once)
    yield from _record_obligations("follower_appends", recorded, lambda it: [], once)


BATCHES = (
    Theorem(
        "batches_are_steps",
        "a batch of records that a leader appends, or that a follower is sent, is as many steps of "
        "one record each",
        "any number of brokers and records; given a_leaders_log_ends_with_history",
        batches,
        ("what a batch does is said by hand, for the fields that one step writes",
         "a batch is for the end of one log: its records follow each other"),
        SYSTEM,
    ),
)  # fmt: skip

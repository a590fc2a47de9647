"""Lines of real values, followed natively: what the compiled Python does, and nothing beside it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from model.language import terms
from model.language.schema import Field
from model.language.sparse import SparseState
from model.systems import system
from specs.native.unbounded import LineArrays, NotNative, StepWays, Unbounded, Way
from specs.native.unbounded_layout import Layout
from specs.native.unbounded_terms import Function
from specs.partial.compiled_steps import CompiledSteps, TransitionMove

SYSTEMS = [
    ("election", "2.3"), ("replication", "0.10"), ("replication", "2.3"), ("replication", "2.7"),
]  # fmt: skip
SIZES = {"brokers": 3}
"""Only what an enumeration needs: epochs, offsets and versions have no end."""

COLUMNS = 4
STEPS = 120


def moves_of(name: str, version: str) -> CompiledSteps:
    return CompiledSteps(system(name).recorded(version), SIZES, frozenset())


def arguments(
    moves: CompiledSteps, move: TransitionMove, chooser: random.Random
) -> tuple[int, ...]:
    found = []
    for sort in move.sorts:
        low, high = moves.twin.ends(sort)
        found.append(chooser.randint(low, low + 3 if high is None else high))
    return tuple(found)


def walk(
    moves: CompiledSteps, seed: int, steps: int = STEPS
) -> Iterator[tuple[TransitionMove, tuple[int, ...]]]:
    """Possible steps, one after the other; the ledger takes each when the next is asked for."""
    chooser, taken = random.Random(seed), 0
    for _ in range(400 * steps):
        move = chooser.choice(list(moves.by_name.values()))
        given = arguments(moves, move, chooser)
        if move.refusal(*given) < 0:
            yield move, given
            taken += 1
        if taken == steps:
            return


def ways_of(kernel: Unbounded) -> StepWays:
    """Every move is a step of its own, its arguments those of the line."""
    moves = kernel.moves.by_name
    ways = [[Way(name, tuple(range(len(one.parameters))))] for name, one in moves.items()]
    return kernel.ways(ways, [False] * len(ways), kernel.moves.fields[0].name)


class LedgerRecorder:
    """Steps of a ledger as lines: what each changed, all of it."""

    def __init__(self, moves: CompiledSteps) -> None:
        self.moves = moves
        self.steps: list[int] = []
        self.args: list[list[int]] = []
        self.changed: list[list[list[int]]] = []

    def take(self, move: TransitionMove, given: tuple[int, ...]) -> None:
        ledger, numbers = self.moves.ledger, list(self.moves.by_name)
        mark = ledger.mark()
        self.moves.take(move, given)
        places = {(field, index): ledger.read(field, index) for field, index, _ in
                  ledger.journal[mark:]}  # fmt: skip
        self.steps.append(numbers.index(move.name))
        self.args.append([*given, *[0] * (COLUMNS - len(given))])
        self.changed.append(
            [[field, *index, *[0] * (4 - len(index)), int(code)]
             for (field, index), code in places.items()]
        )  # fmt: skip

    def lines(self) -> LineArrays:
        counts = np.cumsum([0, *(len(one) for one in self.changed)])
        flat = [change for one in self.changed for change in one]
        return LineArrays(
            np.array(self.steps, np.int64), np.array(self.args, np.int64),
            counts.astype(np.int64), np.array(flat, np.int64).reshape(-1, 6),
        )  # fmt: skip


@pytest.mark.parametrize(("name", "version"), SYSTEMS)
def test_a_walk_of_every_system_is_followed_to_the_same_state(name: str, version: str) -> None:
    moves = moves_of(name, version)
    kernel = Unbounded(moves, {leaf.name for leaf in moves.fields})
    kernel.load(moves.ledger.state())
    recorder = LedgerRecorder(moves)
    for move, given in walk(moves, 5):
        recorder.take(move, given)

    followed = kernel.follow(recorder.lines(), ways_of(kernel))

    assert followed == len(recorder.steps) > 20
    assert kernel.state.sparse() == moves.ledger.state()
    assert sum(kernel.counted().values()) == followed


@pytest.mark.parametrize(("name", "version"), [("replication", "2.3"), ("election", "2.3")])
def test_what_the_compiled_python_refuses_is_refused(name: str, version: str) -> None:
    moves = moves_of(name, version)
    kernel = Unbounded(moves, set())
    ways, chooser, asked = ways_of(kernel), random.Random(1), 0
    for number, (move, given) in enumerate(walk(moves, 3, 40)):
        if number % 8 == 0:
            kernel.load(moves.ledger.state())
            for at, other in enumerate(moves.by_name.values()):
                tried = arguments(moves, other, chooser)
                if other.refusal(*tried) >= 0:
                    line = LineArrays(
                        np.array([at]), np.array([[*tried, *[0] * (COLUMNS - len(tried))]]),
                        np.array([0, 0]), np.zeros((0, 6), np.int64),
                    )  # fmt: skip
                    assert kernel.follow(line, ways) == 0
                    asked += 1
            assert kernel.state.sparse() == moves.ledger.state()
        moves.take(move, given)

    assert asked > 40


def test_what_was_computed_of_one_value_of_a_variable_is_not_taken_for_another() -> None:
    moves = moves_of("replication", "2.3")
    made = Function(Layout(moves.fields, moves.ledger.blanks, moves.twin), moves.twin)
    (broker,) = moves.recorded.fields["replica.hw"].dims
    term = terms.get("replica.hw", (terms.var("x", broker),), broker)

    with made.where("x", "1"):
        first = made.value(term)
        with made.where("x", "2"):
            other = made.value(term)
        with made.where("y", "2"):
            kept = made.value(term)
        again = made.value(term)

    assert first == kept == again != other
    assert not made.variables


def test_a_system_without_such_code_says_what_stands_in_the_way() -> None:
    moves = moves_of("replication", "2.3")
    (broker,) = moves.recorded.fields["replica.hw"].dims
    deep = Field("deep", (broker,) * 5, broker)

    with pytest.raises(NotNative, match="deep has more than 4 indices"):
        Layout([deep], [0], moves.twin)


@pytest.mark.parametrize("harm", ["other code", "left out", "more than happened"])
def test_a_line_that_shows_something_else_is_where_it_stops(harm: str) -> None:
    moves = moves_of("replication", "2.3")
    kernel = Unbounded(moves, {leaf.name for leaf in moves.fields})
    kernel.load(moves.ledger.state())
    recorder, states = LedgerRecorder(moves), [moves.ledger.state()]
    for move, given in walk(moves, 8, 60):
        recorder.take(move, given)
        states.append(moves.ledger.state())
    at = next(n for n, changed in enumerate(recorder.changed) if n > 30 and len(changed) > 1)

    if harm == "other code":
        recorder.changed[at][0][5] += 1
    elif harm == "left out":
        del recorder.changed[at][0]
    else:
        epoch = moves.numbers["zk.epoch"]
        recorder.changed[at].append([epoch, 0, 0, 0, 0, 777])

    assert kernel.follow(recorder.lines(), ways_of(kernel)) == at
    assert kernel.state.sparse() == states[at]


def leading(moves: CompiledSteps) -> SparseState:
    """Broker 1 leads."""
    role: SparseState = {"replica.role": {(1,): 1}, "replica.leader": {(1,): 1}}
    return {**moves.twin.initial(), **role, "up": {(1,): True}}


def test_logs_and_requests_far_beyond_the_first_room_are_followed() -> None:
    moves = moves_of("replication", "2.3")
    kernel = Unbounded(moves, {leaf.name for leaf in moves.fields})
    state = leading(moves)
    state["request.in_flight"] = {(n, n, 1): True for n in range(1, 300)}
    moves.ledger.load(state)
    kernel.load(moves.ledger.state())
    recorder = LedgerRecorder(moves)
    appends, crashes = moves.by_name["leader_appends"], moves.by_name["broker_crashes"]

    for _ in range(500):
        assert appends.refusal(1) < 0
        recorder.take(appends, (1,))
    recorder.take(crashes, (1,))

    assert kernel.follow(recorder.lines(), ways_of(kernel)) == 501
    assert kernel.state.sparse() == moves.ledger.state()
    assert moves.ledger.state()["log.end"] == {(1,): 500}
    assert "request.in_flight" not in moves.ledger.state()


def test_an_index_beyond_reason_is_left_to_who_asked() -> None:
    moves = moves_of("replication", "2.3")
    kernel = Unbounded(moves, {leaf.name for leaf in moves.fields})
    far = 10**15
    moves.ledger.load(leading(moves))
    kernel.load(moves.ledger.state())
    kernel.state.cells[kernel.state.meta[moves.numbers["log.end"], 0]] = far
    recorder = LedgerRecorder(moves)
    moves.ledger.apply([(moves.numbers["log.end"], (1,), far)])

    recorder.take(moves.by_name["leader_appends"], (1,))

    assert kernel.follow(recorder.lines(), ways_of(kernel)) == 0
    assert kernel.state.cells.size < 10**9

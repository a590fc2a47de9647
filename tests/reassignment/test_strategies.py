"""The system elects as the strategy for reassignment over plain lists does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from conformance.plain_rules.elections import for_reassignment
from model.language.evaluate import Evaluator, SparseState
from model.reassignment import SYSTEM
from model.reassignment.state import TASKS

MOVE = next(
    step
    for step in SYSTEM.recorded().steps
    if step.transition.name == "controller_moves_leader_to_target"
)


def about_to_move(target: list[int], isr: frozenset[int], live: frozenset[int]) -> SparseState:
    """Broker 1 is the controller and at step 7; the leader is none of the target."""
    return {
        "belief": {(1,): 1},
        "zk.epoch": {(): 1},
        "zk.registered": {(1,): True},
        "cache.task": {(1,): TASKS.code("leading")},
        "cache.target": {(1, broker): place for place, broker in enumerate(target)},
        "cache.isr": {(1, broker): True for broker in isr},
        "cache.live": {(1, broker): True for broker in live},
    }


@given(
    st.lists(st.integers(1, 5), unique=True, max_size=5),
    st.frozensets(st.integers(1, 5)),
    st.frozensets(st.integers(1, 5)),
)
def test_the_system_moves_the_leader_as_the_strategy_for_reassignment_does(target, isr, live):
    twin, state = Evaluator(SYSTEM.recorded(), {"brokers": 5}), about_to_move(target, isr, live)

    possible = [
        broker
        for broker in range(1, 6)
        if twin.possible(MOVE, state, {"broker": 1, "leader": broker}) is None
    ]

    answer = for_reassignment(target, sorted(isr), live)
    assert possible == ([] if answer is None else [answer.leader])

"""What an effect is to a controller: a registration, a read or a write of a partition's state."""

from __future__ import annotations

import pytest

from impl.sim.effects import ZkOperation
from impl.sim.event_run import SuspensionPoint
from impl.sim.suspension_points import (
    is_lost,
    is_refused,
    is_registered,
    registered_epoch,
    state_read,
    states_written,
)
from impl.zookeeper import BadVersion, Check, ConnectionLoss, Create, SetData

STATE = "/brokers/topics/t/partitions/0/state"
REGISTERS = ZkOperation(
    "multi", ((Create("/controller", "{}", 7), SetData("/controller_epoch", "3", 2)),)
)
COUNTS = ZkOperation("set_data", ("/controller_epoch", "3", 2))


@pytest.mark.parametrize("effect", [REGISTERS, COUNTS])
def test_a_registration_is_known_by_the_epoch_that_it_writes(effect: ZkOperation) -> None:
    assert registered_epoch(effect) == 3
    assert not is_registered(SuspensionPoint(effect))


@pytest.mark.parametrize(
    ("answer", "registered"),
    [
        (["/controller", 3], True),
        ([BadVersion("x"), BadVersion("x")], False),
        (BadVersion("x"), False),
        (ConnectionLoss("x"), True),
    ],
)
def test_a_lost_answer_refuses_nothing(answer: object, registered: bool) -> None:
    place = SuspensionPoint(REGISTERS, True, answer)

    assert is_registered(place) is registered
    assert is_refused(place) is not registered
    assert is_lost(place) is isinstance(answer, ConnectionLoss)


def test_a_state_is_read_and_written_by_its_path() -> None:
    fenced = ZkOperation("multi", ((Check("/controller_epoch", 3), SetData(STATE, "{}", 1)),))

    assert states_written(fenced) == [STATE]
    assert registered_epoch(fenced) is None
    assert state_read(ZkOperation("get", (STATE, False))) == STATE
    assert state_read(ZkOperation("exists", (STATE, True))) is None
    assert states_written(REGISTERS) == []

"""What a broker makes of an answer to its registration that comes late, or never."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.vectors.implementation.stage import NOW_MS
from impl.core.event_controller import EventController
from impl.core.request_batch import Round
from impl.releases import Release
from impl.znodes import paths
from impl.zookeeper import ConnectionLoss, EmbeddedSession, Op, ZooKeeper
from impl.zookeeper.port import OpOutcome, wait


class Expiring(EmbeddedSession):
    """A session that is over when the answer to its first multi comes, if it comes at all."""

    answered = True

    async def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """ZooKeeper executes it, and then ends the session."""
        outcomes = await super().multi(ops)
        self.close()
        if not self.answered:
            raise ConnectionLoss("the connection broke before the reply came")
        return outcomes


@pytest.mark.parametrize("answered", [True, False])
def test_a_registration_is_answered_when_the_session_is_over_and_the_broker_is_not_the_controller(
    answered: bool,
) -> None:
    zookeeper = ZooKeeper()
    zookeeper.make_path(paths.CONTROLLER_EPOCH, "0")
    session = Expiring(zookeeper)
    session.answered = answered

    async def send(requests: Round) -> None:
        raise AssertionError(f"nothing is sent, and not {requests}")

    controller = EventController(1, session, Release.of("2.3"), send)

    wait(controller.elect(NOW_MS))

    assert not controller.active
    assert controller.core.context.epoch == 0

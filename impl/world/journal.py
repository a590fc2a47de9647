"""The listener of a one-partition world: one method per event, which by default does nothing.

``replicas`` gets the events of the core, of all brokers; the others are of the world itself and of
its controllers. A writer (``impl.world.kafka_log.KafkaLogs``) makes lines of them. Nothing here
feeds back.
"""

from __future__ import annotations

from impl.core.events import ReplicaEvent
from impl.world.network import OrderInFlight
from impl.znodes import LeaderIsrAndControllerEpoch


class Journal:
    """Listens to every event and keeps none; the first argument is the broker that logs.

    ``now_ms`` is the world's clock (ms since 1970).
    """

    now_ms = 0

    def broker_started(self, broker: int, broker_epoch: int, end: int) -> None:
        """A process is up and registered; its log holds ``end`` records."""

    def broker_registered_again(self, broker: int, broker_epoch: int) -> None:
        """A live process noticed that its session had expired, and registered again."""

    def controller_elected(self, broker: int, epoch: int, epoch_version: int) -> None:
        """The broker learned that it is the controller."""

    def controller_lost_the_race(self, broker: int, winner: int) -> None:
        """The broker learned that it is not; ``winner`` is -1 if nobody is any more."""

    def controller_resigned(self, broker: int, moved: bool) -> None:
        """The broker stopped believing; ``moved`` if a fenced write showed it."""

    def controller_read_brokers(self, broker: int, live: dict[int, int]) -> None:
        """The controller knows who is registered now (id to broker epoch)."""

    def controller_wrote_state(
        self,
        broker: int,
        epoch: int,
        before: LeaderIsrAndControllerEpoch,
        now: LeaderIsrAndControllerEpoch,
        removed: int | None,
    ) -> None:
        """A fenced write went through: an election, or ``removed`` was taken off the ISR."""

    def controller_sends(self, broker: int, to: int, request: OrderInFlight) -> None:
        """A LeaderAndIsr request goes out."""

    def request_arrives(self, request: OrderInFlight) -> None:
        """A LeaderAndIsr request is at its target, which says next what it makes of it."""

    def replicas(self, broker: int, event: ReplicaEvent) -> None:
        """Something happened to the replica of a broker."""

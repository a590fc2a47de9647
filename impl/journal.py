"""What the implementation tells whoever listens: one method an event, silent unless overridden.

The core writes no logs. It calls this port where Kafka would log, and a writer (such as
``impl.world.kafka_log.KafkaLogs``) turns the events into lines. Nothing here feeds back.
"""

from __future__ import annotations

from impl.requests import LeaderAndIsrRequest
from impl.zookeeper.payloads import PartitionState


class Journal:
    """Listens to every event and keeps none; the first argument is the broker that logs.

    ``now_ms`` is the world's clock (ms since 1970).
    """

    now_ms = 0

    def broker_started(self, broker: int, broker_epoch: int, end: int) -> None:
        """A process is up and registered; its log holds ``end`` records."""

    def broker_registered_again(self, broker: int, broker_epoch: int) -> None:
        """A live process noticed that its session had expired, and registered anew."""

    def controller_elected(self, broker: int, epoch: int, epoch_version: int) -> None:
        """The broker learned that it is the controller."""

    def controller_lost_the_race(self, broker: int, winner: int) -> None:
        """The broker learned that it is not; ``winner`` is -1 if nobody is any more."""

    def controller_resigned(self, broker: int, moved: bool) -> None:
        """The broker stopped believing; ``moved`` if a fenced write told it."""

    def controller_read_brokers(self, broker: int, live: dict[int, int]) -> None:
        """The controller knows who is registered now (id to broker epoch)."""

    def controller_wrote_state(
        self,
        broker: int,
        epoch: int,
        before: PartitionState,
        now: PartitionState,
        version: int,
        removed: int | None,
    ) -> None:
        """A fenced write went through: an election, or ``removed`` was taken off the ISR."""

    def controller_sends(self, broker: int, request: LeaderAndIsrRequest) -> None:
        """A LeaderAndIsr request goes out."""

    def leader_and_isr_received(self, request: LeaderAndIsrRequest) -> None:
        """A LeaderAndIsr request arrived at its target."""

    def controller_epoch_was_old(self, request: LeaderAndIsrRequest, known: int) -> None:
        """The whole request was ignored."""

    def leader_epoch_was_old(self, request: LeaderAndIsrRequest, current: int) -> None:
        """The partition was ignored: its leader epoch is not higher than the current one."""

    def leader_was_unavailable(self, request: LeaderAndIsrRequest) -> None:
        """The broker cannot follow: there is no leader."""

    def became_leader(self, request: LeaderAndIsrRequest, end: int, previous_epoch: int) -> None:
        """The partition now leads from offset ``end``."""

    def became_follower(self, request: LeaderAndIsrRequest) -> None:
        """The partition now follows."""

    def truncated(
        self, broker: int, leader: int, offset: int, end: int, high_watermark: int
    ) -> None:
        """A log of ``end`` records was to be cut at ``offset``."""

    def truncated_to_high_watermark(self, broker: int, leader: int, high_watermark: int) -> None:
        """The leader knew no epoch in common: the follower falls back on its high watermark."""

    def isr_shrinks(
        self, broker: int, isr: tuple[int, ...], out: int, known_end: int, hw: int, end: int
    ) -> None:
        """The leader is about to remove ``out`` from its ISR."""

    def isr_expands(self, broker: int, isr: tuple[int, ...], joining: int) -> None:
        """The leader is about to add ``joining`` to its ISR."""

    def isr_updated(self, broker: int, isr: tuple[int, ...], version: int) -> None:
        """The conditional write went through."""

    def isr_update_skipped(self, broker: int, version: int) -> None:
        """The conditional write was refused: the cached version is not the registered one."""

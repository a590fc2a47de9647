"""A leader's way to have its ISR changed by the controller (KIP-497, 2.7): the thread that asks.

What waits, and which answers count, is the core's ``AlterIsrManager``. Whoever is controller is
looked up before each try. Source: kafka.server.DefaultAlterIsrManager; fact sheet g.5.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from impl.core.alter_isr import AlterIsrManager, IsrChange
from impl.core.metadata_cache import MetadataCache
from impl.core.partition import IsrAnswered
from impl.server.broker_lock import BrokerLock
from impl.server.replicas import now_ms
from impl.server.wire import Address, Connection, Disconnected
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition

PAUSE_S = 0.05
PATIENCE_S = 12.0
NONE = "NONE"


class IsrRequests(threading.Thread):
    """``lock`` guards what waits, and is held while an answer is taken; ``told`` takes a line."""

    def __init__(
        self,
        broker: int,
        lock: BrokerLock,
        metadata: MetadataCache,
        broker_epoch: Callable[[], int],
        told: Callable[[str], None],
    ) -> None:
        super().__init__(name="broker-to-controller-send-thread", daemon=True)
        self.broker = broker
        self.metadata = metadata
        self.broker_epoch = broker_epoch
        self.told = told
        self.changes = AlterIsrManager()
        self.news = threading.Condition(lock)  # type: ignore[arg-type]  # as an RLock is
        self.ended = False
        self._connection: Connection | None = None
        self._last_trouble = ""

    def submit(
        self, partition: TopicPartition, wanted: LeaderIsrAndControllerEpoch, answered: IsrAnswered
    ) -> None:
        """Have an ISR changed; whoever calls holds the lock."""
        self.changes.submit(partition, wanted, answered)
        self.news.notify_all()

    def clear(self, partition: TopicPartition) -> None:
        """What waits for a partition is void; whoever calls holds the lock."""
        self.changes.clear(partition)

    def run(self) -> None:
        """Request after request."""
        while True:
            with self.news:
                while not self.changes.waiting and not self.ended:
                    self.news.wait()
                if self.ended:
                    return
                changes = self.changes.batch()
                address = self.metadata.brokers.get(
                    -1 if self.metadata.controller is None else self.metadata.controller
                )
            answer = self._sent(address, changes)
            error = str(answer.get("error"))
            if error != NONE:
                self._trouble(f"Unsuccessful AlterIsr request: {error}; it is sent again")
                with self.news:
                    self.news.wait(PAUSE_S)
                continue
            self._last_trouble = ""
            self._deal_with(changes, answer)

    def _sent(self, address: Address | None, changes: list[IsrChange]) -> dict[str, Any]:
        if address is None:
            return {"error": "NOT_CONTROLLER"}
        if self._connection is None or self._connection.address != address:
            self._drop_connection()
            self._connection = Connection(address, PATIENCE_S, str(self.broker))
        head = {
            "api": "AlterIsr",
            "broker": self.broker,
            "broker_epoch": self.broker_epoch(),
            "partitions": [
                [*one.partition, one.state.leader, one.state.leader_epoch, list(one.state.isr),
                 one.state.zk_version]
                for one in changes
            ],
        }  # fmt: skip
        try:
            return self._connection.ask(head).head
        except Disconnected as error:
            return {"error": f"NETWORK_EXCEPTION ({error})"}

    def _deal_with(self, changes: list[IsrChange], answer: dict[str, Any]) -> None:
        told = {
            TopicPartition(topic, number): (error, None if state is None else _state(state))
            for topic, number, error, state in answer["partitions"]
        }
        with self.news:
            self.changes.answered(changes, told, now_ms())
            if self.changes.waiting:
                self.news.wait(PAUSE_S)  # what was refused is asked again: not at once

    def _trouble(self, text: str) -> None:
        if text != self._last_trouble:
            self._last_trouble = text
            self.told(text)

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def stop(self) -> None:
        """End the thread; what waits is never answered."""
        with self.news:
            self.ended = True
            self.news.notify_all()
        connection = self._connection
        if connection is not None:
            connection.close()


def _state(fields: list[Any]) -> LeaderIsrAndControllerEpoch:
    leader, leader_epoch, isr, controller_epoch, version = fields
    return LeaderIsrAndControllerEpoch(leader, leader_epoch, tuple(isr), controller_epoch, version)

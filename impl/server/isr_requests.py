"""A leader's thread that sends AlterIsr requests to the controller (KIP-497, 2.7).

The core's ``AlterIsrManager`` decides which changes wait and which responses count. Each attempt
looks up the controller first. Source: kafka.server.DefaultAlterIsrManager; fact sheet g.5.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from impl.core.alter_isr import AlterIsrManager, IsrChange
from impl.core.metadata_cache import MetadataCache
from impl.core.partition import IsrAnswered
from impl.error_codes import NONE
from impl.server.broker_lock import BrokerLock
from impl.server.connection import Address, Connection, Disconnected
from impl.server.control_messages import by_topic
from impl.server.replicas import now_ms
from impl.wire import Fields, error_name
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition

PAUSE_S = 0.05
PATIENCE_S = 12.0
VERSION = 0
NO_EPOCH = -1
Answers = dict[TopicPartition, tuple[str, LeaderIsrAndControllerEpoch | None]]
"""By partition the error, or what is registered now."""


class IsrRequests(threading.Thread):
    """Sends ISR changes. ``lock`` guards them, and is held while a response is handled."""

    def __init__(
        self,
        broker: int,
        lock: BrokerLock,
        metadata: MetadataCache,
        broker_epoch: Callable[[], int],
        log_line: Callable[[str], None],
    ) -> None:
        super().__init__(name="broker-to-controller-send-thread", daemon=True)
        self.broker = broker
        self.metadata = metadata
        self.broker_epoch = broker_epoch
        self.log_line = log_line
        self.changes = AlterIsrManager()
        self.news = threading.Condition(lock)  # type: ignore[arg-type]  # as an RLock is
        self.ended = False
        self._connection: Connection | None = None
        self._last_trouble = ""

    def submit(
        self, partition: TopicPartition, wanted: LeaderIsrAndControllerEpoch, answered: IsrAnswered
    ) -> None:
        """Queue an ISR change; the caller holds the lock."""
        self.changes.submit(partition, wanted, answered)
        self.news.notify_all()

    def clear(self, partition: TopicPartition) -> None:
        """Drop the waiting change of a partition; the caller holds the lock."""
        self.changes.clear(partition)

    def run(self) -> None:
        """Send requests until the thread is stopped."""
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
            error, answer = self._sent(address, changes)
            if error != NONE:
                self._log_once(f"Unsuccessful AlterIsr request: {error}; it is sent again")
                with self.news:
                    self.news.wait(PAUSE_S)
                continue
            self._last_trouble = ""
            self._deal_with(changes, answer)

    def _sent(self, address: Address | None, changes: list[IsrChange]) -> tuple[str, Answers]:
        """Send AlterIsr: the error of the whole request, and the result of each change."""
        if address is None:
            return "NOT_CONTROLLER", {}
        if self._connection is None or self._connection.address != address:
            self._drop_connection()
            self._connection = Connection(address, PATIENCE_S, str(self.broker))
        rows = [
            (
                one.partition.topic,
                Fields(
                    partition_index=one.partition.partition, leader_epoch=one.state.leader_epoch,
                    new_isr=one.state.isr, partition_epoch=one.state.zk_version,
                ),
            )
            for one in changes
        ]  # fmt: skip
        body = Fields(
            broker_id=self.broker, broker_epoch=self.broker_epoch(),
            topics=[
                Fields(topic_name=topic, partitions=parts)
                for topic, parts in by_topic(rows).items()
            ],
        )  # fmt: skip
        try:
            answer = self._connection.ask("AlterIsr", VERSION, body)
        except Disconnected as error:
            return f"NETWORK_EXCEPTION ({error})", {}
        return error_name(answer.error_code), {
            TopicPartition(topic.topic_name, one.partition_index): _outcome(one)
            for topic in answer.topics
            for one in topic.partitions
        }

    def _deal_with(self, changes: list[IsrChange], answer: Answers) -> None:
        with self.news:
            self.changes.answered(changes, answer, now_ms())
            if self.changes.waiting:
                self.news.wait(PAUSE_S)  # what was refused is asked again: not at once

    def _log_once(self, text: str) -> None:
        if text != self._last_trouble:
            self._last_trouble = text
            self.log_line(text)

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def stop(self) -> None:
        """End the thread; waiting changes get no response."""
        with self.news:
            self.ended = True
            self.news.notify_all()
        connection = self._connection
        if connection is not None:
            connection.close()


def _outcome(row: Any) -> tuple[str, LeaderIsrAndControllerEpoch | None]:
    """One answer; it does not say which controller wrote the state."""
    error = error_name(row.error_code)
    if error != NONE:
        return error, None
    state = LeaderIsrAndControllerEpoch(
        row.leader_id, row.leader_epoch, tuple(row.isr), NO_EPOCH, row.partition_epoch
    )
    return error, state

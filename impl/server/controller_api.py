"""Requests to the controller: any broker accepts them, the controller's event thread handles them.

A broker that is not the controller answers NOT_CONTROLLER, and the client looks for the controller.
Source: kafka.server.KafkaApis.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import TypeVar

from impl.core.api import AlteredIsrs, ControllerApi
from impl.core.broker_changes import ShutdownRefused
from impl.core.event_controller import EventController
from impl.core.metadata_cache import MetadataCache
from impl.error_codes import NONE, NOT_CONTROLLER
from impl.znodes import LeaderIsrAndControllerEpoch, ReplicaAssignment, TopicPartition
from impl.zookeeper.port import wait

PATIENCE_S = 10.0
Errors = dict[TopicPartition, str]
Came = TypeVar("Came")
Work = Callable[[EventController, Callable[[Came], None]], None]
"""Does something with the controller as it is then, and hands over what came of it."""


class ControllerRequests:
    """``put`` queues a function on the event thread, which calls it with its current controller.

    Each request waits at most 10 s. The first item of a result is the error of the whole request.
    """

    def __init__(self, put: Callable[[Callable[[EventController], None]], None]) -> None:
        self.put = put

    def _answer(self, work: Work[Came], failed: Callable[[str], Came]) -> Came:
        done: Future[Came] = Future()

        def answered(came: Came) -> None:
            if not done.done():
                done.set_result(came)

        def worked(controller: EventController) -> None:
            try:
                work(controller, answered)
            except BaseException:
                answered(failed("UNKNOWN_SERVER_ERROR"))
                raise

        self.put(worked)
        try:
            return done.result(timeout=PATIENCE_S)
        except TimeoutError:
            return failed("REQUEST_TIMED_OUT")

    def controlled_shutdown(self, broker: int, epoch: int) -> tuple[str, list[TopicPartition]]:
        """Move leaders away from a broker; returns the partitions that it still leads."""

        def work(
            controller: EventController, answer: Callable[[tuple[str, list[TopicPartition]]], None]
        ) -> None:
            if not controller.active:
                answer((NOT_CONTROLLER, []))
                return
            kept: list[TopicPartition] = []

            async def shut_down() -> None:
                kept.extend(await controller.brokers.shut_down(broker, epoch))

            try:
                wait(controller.guarded(shut_down))
                answer((NONE, kept))
            except ShutdownRefused as refused:
                answer((refused.error, []))

        return self._answer(work, lambda error: (error, []))

    def alter_isr(
        self, broker: int, epoch: int, wanted: Mapping[TopicPartition, LeaderIsrAndControllerEpoch]
    ) -> tuple[str, AlteredIsrs]:
        """Handle a leader's request for other ISRs (KIP-497)."""

        def work(
            controller: EventController, answer: Callable[[tuple[str, AlteredIsrs]], None]
        ) -> None:
            def came(error: str, found: AlteredIsrs) -> None:
                answer((error, found))

            wait(ControllerApi(controller).alter_isr(broker, epoch, wanted, came))

        return self._answer(work, lambda error: (error, {}))

    def alter_reassignments(
        self, targets: Mapping[TopicPartition, tuple[int, ...] | None]
    ) -> tuple[str, Errors]:
        """Start, change or (None) cancel reassignments (KIP-455)."""

        def work(controller: EventController, answer: Callable[[tuple[str, Errors]], None]) -> None:
            answer(wait(ControllerApi(controller).alter_reassignments(targets)))

        return self._answer(work, lambda error: (error, {}))

    def list_reassignments(
        self, partitions: Iterable[TopicPartition] | None
    ) -> tuple[str, dict[TopicPartition, ReplicaAssignment]]:
        """The reassignments in progress, of some partitions or of all."""

        def work(
            controller: EventController,
            answer: Callable[[tuple[str, dict[TopicPartition, ReplicaAssignment]]], None],
        ) -> None:
            answer(ControllerApi(controller).list_reassignments(partitions))

        return self._answer(work, lambda error: (error, {}))

    def elect_leaders(
        self, kind: str, partitions: Iterable[TopicPartition] | None
    ) -> tuple[str, Errors, dict[TopicPartition, int]]:
        """Elect preferred or unclean leaders; returns also the leaders that were elected."""

        def work(
            controller: EventController,
            answer: Callable[[tuple[str, Errors, dict[TopicPartition, int]]], None],
        ) -> None:
            whole, errors = wait(ControllerApi(controller).elect_leaders(kind, partitions))
            leaders = {
                one: controller.core.context.leadership[one].leader
                for one, error in errors.items()
                if error == NONE
            }
            answer((whole, errors, leaders))

        return self._answer(work, lambda error: (error, {}, {}))


def wait_for_leaders(
    errors: Errors, leaders: Mapping[TopicPartition, int], metadata: MetadataCache,
    changed: threading.Condition, timeout_s: float,
) -> Errors:  # fmt: skip
    """``DelayedElectLeader``: answers once this broker's metadata cache has the new leaders.

    If the new leader is not there when the time is up, the error is REQUEST_TIMED_OUT.
    """
    deadline = time.monotonic() + timeout_s

    def missing() -> list[TopicPartition]:
        return [one for one, leader in leaders.items() if metadata.leader(one) != leader]

    with changed:
        while missing() and (left := deadline - time.monotonic()) > 0:
            changed.wait(left)
        return errors | dict.fromkeys(missing(), "REQUEST_TIMED_OUT")

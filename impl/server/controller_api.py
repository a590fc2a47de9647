"""Requests to whoever is controller: heard by any broker, handled in the controller's event thread.

Another broker answers NOT_CONTROLLER, and its asker looks for another one. What the
cluster's release does not know yet is UNSUPPORTED_VERSION. Source: kafka.server.KafkaApis.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from impl.core.api import NONE, UNCLEAN_TYPE, AlteredIsrs, ControllerApi
from impl.core.broker_events import BrokerNotAvailable, StaleBrokerEpoch
from impl.core.event_controller import EventController
from impl.core.metadata_cache import MetadataCache
from impl.releases import Release
from impl.server.wire import Message
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.zookeeper.port import wait

PATIENCE_S = 10.0
Answer = Callable[[dict[str, Any]], None]
Handler = Callable[[EventController, dict[str, Any], Answer], None]

SINCE = {
    "ControlledShutdown": "0.10.0",
    "AlterIsr": "2.7",
    "AlterPartitionReassignments": "2.4",
    "ListPartitionReassignments": "2.4",
    "ElectLeaders": "2.2",
}
"""By request, the release that brought it."""


class ControllerRequests:
    """``put`` gives work to the event thread, which calls it with the controller as it is then."""

    def __init__(
        self,
        release: Release,
        put: Callable[[Callable[[EventController], None]], None],
    ) -> None:
        self.release = release
        self.put = put
        self._handlers: dict[str, Handler] = {
            "ControlledShutdown": self._controlled_shutdown,
            "AlterIsr": self._alter_isr,
            "AlterPartitionReassignments": self._alter_reassignments,
            "ListPartitionReassignments": self._list_reassignments,
            "ElectLeaders": self._elect_leaders,
        }

    def answer(self, head: dict[str, Any]) -> Message:
        """Hand a request to the event thread, and wait for the answer, 10 s at most."""
        name = str(head["api"])
        if not self.release.since(SINCE[name]):
            text = f"{name} came with {SINCE[name]}; this is {self.release}"
            return Message({"error": "UNSUPPORTED_VERSION", "message": text})
        done: Future[dict[str, Any]] = Future()

        def answered(told: dict[str, Any]) -> None:
            if not done.done():
                done.set_result(told)

        def work(controller: EventController) -> None:
            try:
                self._handlers[name](controller, head, answered)
            except BaseException:
                answered({"error": "UNKNOWN_SERVER_ERROR"})
                raise

        self.put(work)
        try:
            return Message(done.result(timeout=PATIENCE_S))
        except TimeoutError:
            return Message({"error": "REQUEST_TIMED_OUT"})

    def _controlled_shutdown(
        self, controller: EventController, head: dict[str, Any], answer: Answer
    ) -> None:
        broker, epoch = int(head["broker"]), int(head["epoch"])
        if not controller.active:
            answer({"error": "NOT_CONTROLLER"})
            return
        kept: list[TopicPartition] = []

        async def shut_down() -> None:
            kept.extend(await controller.brokers.shut_down(broker, epoch))

        try:
            wait(controller.guarded(shut_down))
            answer({"error": NONE, "remaining": [list(one) for one in kept]})
        except StaleBrokerEpoch:
            answer({"error": "STALE_BROKER_EPOCH"})
        except BrokerNotAvailable:
            answer({"error": "BROKER_NOT_AVAILABLE"})

    def _alter_isr(self, controller: EventController, head: dict[str, Any], answer: Answer) -> None:
        wanted = {
            TopicPartition(topic, number): LeaderIsrAndControllerEpoch(
                leader, epoch, tuple(isr), -1, version
            )
            for topic, number, leader, epoch, isr, version in head["partitions"]
        }

        def told(error: str, found: AlteredIsrs) -> None:
            rows = [
                [*one, came.error, None if came.state is None else _fields(came.state)]
                for one, came in found.items()
            ]
            answer({"error": error, "partitions": rows})

        api = ControllerApi(controller)
        wait(api.alter_isr(int(head["broker"]), int(head["broker_epoch"]), wanted, told))

    def _alter_reassignments(
        self, controller: EventController, head: dict[str, Any], answer: Answer
    ) -> None:
        targets = {
            TopicPartition(topic, number): None if replicas is None else tuple(replicas)
            for topic, number, replicas in head["partitions"]
        }
        whole, errors = wait(ControllerApi(controller).alter_reassignments(targets))
        answer({"error": whole, "partitions": [[*one, error] for one, error in errors.items()]})

    def _list_reassignments(
        self, controller: EventController, head: dict[str, Any], answer: Answer
    ) -> None:
        whole, moving = ControllerApi(controller).list_reassignments(_asked(head))
        rows = [
            [*one, list(found.replicas), list(found.adding), list(found.removing)]
            for one, found in moving.items()
        ]
        answer({"error": whole, "partitions": rows})

    def _elect_leaders(
        self, controller: EventController, head: dict[str, Any], answer: Answer
    ) -> None:
        kind = str(head["type"])
        if kind == UNCLEAN_TYPE and not self.release.since("2.4"):
            answer({"error": "UNSUPPORTED_VERSION", "message": "unclean elections came with 2.4"})
            return
        whole, errors = wait(ControllerApi(controller).elect_leaders(kind, _asked(head)))
        leaders = {
            one: controller.core.context.leadership[one].leader
            for one, error in errors.items()
            if error == NONE
        }
        rows = [[*one, error, leaders.get(one, -1)] for one, error in errors.items()]
        answer({"error": whole, "partitions": rows})


def wait_for_leaders(
    answer: Message, metadata: MetadataCache, changed: threading.Condition, timeout_ms: int
) -> Message:
    """``DelayedElectLeader``: an election is told once this broker's metadata have its outcome.

    Who is not known as leader when the time is up is told as REQUEST_TIMED_OUT.
    """
    deadline = time.monotonic() + timeout_ms / 1000
    rows = answer.head.get("partitions", [])

    def missing() -> list[list[Any]]:
        return [
            row
            for row in rows
            if row[2] == NONE and metadata.leader(TopicPartition(row[0], row[1])) != row[3]
        ]

    with changed:
        while missing() and (left := deadline - time.monotonic()) > 0:
            changed.wait(left)
        for row in missing():
            row[2] = "REQUEST_TIMED_OUT"
    return answer


def _asked(head: dict[str, Any]) -> list[TopicPartition] | None:
    asked = head.get("partitions")
    return None if asked is None else [TopicPartition(topic, number) for topic, number in asked]


def _fields(state: LeaderIsrAndControllerEpoch) -> list[Any]:
    isr = list(state.isr)
    return [state.leader, state.leader_epoch, isr, state.controller_epoch, state.zk_version]

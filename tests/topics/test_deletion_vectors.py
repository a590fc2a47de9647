"""Kafka's own scenarios of topic deletion, put to the model: its replica states after each step.

The ids of brokers are taken as they are.
What a case does to Kafka's TopicDeletionManager alone is done to the controller's memory.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from model.language.evaluate import Evaluator
from model.topics import SYSTEM
from model.topics.state import PARTITION_STATES, REPLICA_STATES, STOPS, TASKS

VECTORS = Path(__file__).parents[3] / "shared" / "kafka" / "vectors" / "topic_deletion.json"
CONTROLLER, EPOCH = 1, 1
DELETION = (
    "deletion_is_complete", "deletion_is_retried", "deletion_starts", "deletion_waits",
    "controller_stops_replicas", "controller_deletes_replicas", "topic_node_is_removed",
    "request_is_removed",
)  # fmt: skip


def scenarios() -> list[Any]:
    if not VECTORS.exists():
        reason = "shared/kafka/vectors/topic_deletion.json is not beside the repository"
        return [pytest.param({}, marks=pytest.mark.skip(reason=reason), id="absent")]
    cases = json.loads(VECTORS.read_text(encoding="utf-8"))
    return [pytest.param(one, id=one["case"]) for one in cases if "steps" in one["input"]]


class Deletion:
    """One topic of a case, with a controller that knows it, every partition led."""

    def __init__(self, brokers: list[int], partitions: int) -> None:
        recorded = SYSTEM.recorded()
        bounds = {"brokers": max(brokers), "partitions": partitions, "controllers": 2}
        self.twin = Evaluator(recorded, bounds)
        self.steps = {step.transition.name: step for step in recorded.steps}
        self.state = self.twin.initial()
        self.take("admin_creates_topic", first=1, second=2, third=3, count=partitions)
        self.take("broker_becomes_controller", broker=CONTROLLER)
        self.take("broker_learns_it_won", broker=CONTROLLER)
        for name in (
            "controller_reads_context", "replica_state_machine_starts",
            "partition_state_machine_starts",
        ):  # fmt: skip
            self.take(name, broker=CONTROLLER)
        for broker in brokers:
            self.take("broker_obeys_leader_and_isr", broker=broker, controller=EPOCH)

    def take(self, name: str, **arguments: int) -> None:
        self.state = self.twin.successor(self.steps[name], self.state, arguments)

    def settle(self) -> None:
        """The deletion manager goes on until it waits."""
        for _ in range(30):
            if self.read("cache.task", CONTROLLER) == TASKS.code("waits"):
                return
            self.take(next(name for name in self.order() if self.can(name)), **self.arguments)
        raise AssertionError("the deletion manager never comes to rest")

    def order(self) -> list[str]:
        for partition in range(self.twin.bounds["partitions"]):
            self.arguments = {"broker": CONTROLLER, "partition": partition}
            if self.can("partition_node_is_removed"):
                return ["partition_node_is_removed"]
        self.arguments = {"broker": CONTROLLER}
        return list(DELETION)

    def can(self, name: str) -> bool:
        return self.twin.possible(self.steps[name], self.state, self.arguments) is None

    def read(self, field: str, *index: int) -> int:
        return self.twin.read(self.state, field, index)

    def set(self, field: str, index: tuple[int, ...], value: int) -> None:
        self.state = copy.deepcopy(self.state)
        cells = self.state.setdefault(field, {})
        cells.pop(index, None)
        if value:
            cells[index] = value

    def replicas(self) -> dict[str, list[list[int]]]:
        reported: dict[str, list[list[int]]] = {}
        for partition in range(self.twin.bounds["partitions"]):
            for broker in range(1, self.twin.bounds["brokers"] + 1):
                state = REPLICA_STATES.show(
                    self.read("cache.replica", CONTROLLER, partition, broker)
                )
                if state != "NonExistentReplica":
                    reported.setdefault(state, []).append([partition, broker])
        return reported

    # -- what the cases do -------------------------------------------------------------------

    def does(self, step: dict[str, Any]) -> None:
        if step["do"] == "enqueue":
            self.take("admin_deletes_topic")
            self.take("controller_queues_deletion", broker=CONTROLLER)
        elif step["do"] in ("brokerDown", "brokerDownAndFailReplicaDeletion"):
            self.fails(step["broker"])
        elif step["do"] == "brokerUpAndResume":
            for field in ("cache.live", "cache.reached", "zk.registered"):
                index = (
                    (step["broker"],) if field.startswith("zk") else (CONTROLLER, step["broker"])
                )
                self.set(field, index, True)
            self.set("cache.ineligible", (CONTROLLER,), False)
            self.set("cache.task", (CONTROLLER,), TASKS.code("resumes"))
        else:
            assert step["do"] == "completeReplicaDeletion"
            for broker in step["brokers"]:
                for partition in range(self.twin.bounds["partitions"]):
                    self.set("request.stop", (EPOCH, broker, partition), STOPS.code("deleted"))
            for broker in step["brokers"]:
                self.take("controller_hears_deletion", broker=CONTROLLER, replica=broker)
                self.settle()
        self.settle()

    def fails(self, broker: int) -> None:
        self.take("session_expires", broker=broker)
        self.take("controller_sees_failure", broker=CONTROLLER, failed=broker)
        if not self.read("cache.queued", CONTROLLER):
            self.take("controller_elects_for_failed", broker=CONTROLLER)
            self.take("controller_takes_replicas_offline", broker=CONTROLLER)


@pytest.mark.parametrize("case", scenarios())
def test_a_deletion_goes_as_in_kafkas_own_test(case):
    given, expected = case["input"], case["expected"]["afterStep"]
    deletion = Deletion(given["brokers"], given["topics"]["foo"]["partitions"])

    for step, after in zip(given["steps"], expected, strict=True):
        deletion.does(step)
        online = {"OnlineReplica"} if step["do"] == "brokerDown" else set()
        reported = {k: v for k, v in deletion.replicas().items() if k not in online}
        assert reported == after["replicas"], step
        if "ineligible" in after:
            assert deletion.read("cache.ineligible", CONTROLLER) == bool(after["ineligible"]), step
        if "toBeDeleted" in after:
            assert deletion.read("cache.queued", CONTROLLER) == bool(after["toBeDeleted"]), step
        if "started" in after:
            assert deletion.read("cache.started", CONTROLLER) == bool(after["started"]), step
        if "partitionState" in after:
            state = deletion.read("cache.partition", CONTROLLER, 0)
            assert PARTITION_STATES.show(state) == after["partitionState"], step
    assert deletion.read("zk.requested") == bool(expected[-1].get("toBeDeleted"))

"""Answers about deleting topics (topic_deletion.json)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from conformance.vectors.implementation.stage import ControllerStage
from conformance.vectors.questions import Answer, Question, given, release
from impl.core.cluster_context import Replica
from impl.core.controller_parts import ControllerConfig
from impl.core.deletion import MOVING, Action, decide
from impl.core.journal import ControllerJournal
from impl.core.requests import UpdateMetadata
from impl.core.states import PartitionState, ReplicaState
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.zookeeper.errors import NodeExists
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.znode import Delete


def resume_decision(question: Question) -> dict[str, Any]:
    """The decision for a queued topic; failed replicas are retried for ineligible topics too."""
    asked = given(question)
    states = [ReplicaState(name) for name in asked["replicaStates"]]
    action, retries = decide(states, asked["ineligible"], release(question))
    return {"action": (Action.RETRY if retries else action).value}


class _Calls(ControllerJournal):
    """How often each state machine is asked for each target, as a mock would count."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}

    async def partitions_change(
        self, partitions: Collection[TopicPartition], target: PartitionState
    ) -> None:
        """A batch of partitions, perhaps of none."""
        self._count("partition", target.value)

    async def replicas_change(
        self, replicas: Collection[tuple[TopicPartition, int]], target: ReplicaState
    ) -> None:
        """A batch of replicas, perhaps of none."""
        self._count("replica", target.value)

    def _count(self, machine: str, target: str) -> None:
        name = target.removesuffix("Partition").removesuffix("Replica").removeprefix("Replica")
        key = f"{machine}.{name}"
        self.calls[key] = self.calls.get(key, 0) + 1


class DeletionScenario:
    """Topics on brokers, a deletion manager, and its calls to the state machines."""

    def __init__(self, question: Question) -> None:
        asked = given(question)
        self.stage = ControllerStage(release(question))
        journal = _Calls()
        self.calls = journal.calls
        config = ControllerConfig(delete_topics=asked["deleteTopicEnable"])
        self.core = self.stage.core(1, 50, config, journal)
        self.brokers: list[int] = asked["brokers"]
        self.core.context.broker_epochs = dict.fromkeys(self.brokers, 1)
        for topic, shape in asked["topics"].items():
            self._create(topic, shape["partitions"], shape["rf"])
        self.calls.clear()

    def _create(self, topic: str, partitions: int, factor: int) -> None:
        replicas = tuple(self.brokers[:factor])
        context = self.core.context
        self.stage.create_topic(topic, dict.fromkeys(range(partitions), replicas))
        for number in range(partitions):
            partition = TopicPartition(topic, number)
            context.assign(partition, replicas)
            state = LeaderIsrAndControllerEpoch(replicas[0], 0, replicas, 50)
            self.stage.put_state(partition, state)
            context.leadership[partition] = state
            context.put_partition_state(partition, PartitionState.ONLINE)
            for broker in replicas:
                context.replica_states[Replica(partition, broker)] = ReplicaState.ONLINE

    # Steps

    def do(self, step: dict[str, Any]) -> None:
        """One step."""
        core, context = self.core, self.core.context
        match step["do"]:
            case "init":
                wait(core.deletion.init(step["topics"], step["ineligible"]))
            case "enqueue":
                wait(core.deletion.enqueue(step["topics"]))
            case "completeReplicaDeletion":
                wait(core.deletion.replicas_deleted(self._on(step["topics"], step["brokers"])))
            case "brokerDown":
                context.broker_epochs.pop(step["broker"])
                wait(
                    core.replicas.handle(
                        context.replicas_on([step["broker"]]), ReplicaState.OFFLINE
                    )
                )
            case "brokerDownAndFailReplicaDeletion":
                context.broker_epochs.pop(step["broker"])
                wait(core.deletion.replicas_failed(context.replicas_on([step["broker"]])))
            case "failReplicaDeletion":
                wait(core.deletion.replicas_failed(self._on(step["topics"], step["brokers"])))
            case "markIneligible":
                wait(core.deletion.mark_ineligible(step["topics"], MOVING))
            case "resume":
                wait(core.deletion.resume_for(step["topics"]))
            case "brokerUpAndResume":
                context.broker_epochs[step["broker"]] = 2
                wait(core.deletion.resume_for({r.partition.topic for r in self._all()}))
            case other:
                raise ValueError(f"no step of a deletion is called {other!r}")

    def _all(self) -> list[Replica]:
        context = self.core.context
        return [one for topic in sorted(context.assignments) for one in context.replicas_of(topic)]

    def _on(self, topics: Iterable[str], brokers: Iterable[int]) -> list[Replica]:
        wanted, where = set(topics), set(brokers)
        return [one for one in self._all() if one.partition.topic in wanted and one.broker in where]

    # What is seen

    def observe(self) -> dict[str, Any]:
        """States of replicas as [partition, broker], those of the first topic, and the queues."""
        context = self.core.context
        topics = [{} for _ in context.assignments]  # type: list[dict[str, list[list[int]]]]
        for states, topic in zip(topics, sorted(context.assignments), strict=True):
            for one in context.replicas_of(topic):
                entry = [one.partition.partition, one.broker]
                states.setdefault(context.replica_state(one).value, []).append(entry)
        partition_states = {context.partition_state(one).value for one in context.partitions()}
        return {
            "replicas": topics[0] if topics else {},
            "partitionState": next(iter(partition_states), None),
            "partitions": [str(one) for one in context.partitions()],
            "toBeDeleted": sorted(context.queued_for_deletion),
            "started": sorted(context.deletion_started),
            "ineligible": sorted(context.ineligible_for_deletion),
            "metadataUpdateFor": self._updated(),
        }

    def _updated(self) -> list[str]:
        return sorted(
            {
                str(one)
                for _, request in self.stage.take_sent()
                if isinstance(request, UpdateMetadata)
                for one in request.partitions
            }
        )


def scenario(question: Question) -> dict[str, Any]:
    """A deletion step by step."""
    rehearsal = DeletionScenario(question)
    seen = []
    for step in given(question)["steps"]:
        rehearsal.do(step)
        seen.append(rehearsal.observe())
    return seen[-1] | {"afterStep": seen, "stateMachineCalls": rehearsal.calls}


class _Watched(EmbeddedSession):
    """A session that notes which znodes were deleted, in order."""

    def __init__(self, zookeeper: ZooKeeper) -> None:
        super().__init__(zookeeper)
        self.deleted: list[str] = []

    async def multi(self, ops: Any) -> Any:
        """As ZooKeeper does."""
        outcomes = await super().multi(ops)
        deletes = [op for op in ops if isinstance(op, Delete)]
        self.deleted += [op.path for op in deletes if outcomes[-1] is None]
        return outcomes


def completion_order(question: Question) -> dict[str, Any]:
    """The order in which znodes are removed at the end of a deletion: children first."""
    topic, stage = given(question)["topic"], ControllerStage(release(question))
    stage.create_topic(topic, {0: (1,)})
    stage.put_state(TopicPartition(topic, 0), LeaderIsrAndControllerEpoch(1, 0, (1,), 1))
    wait(stage.admin.make_path(paths.config("topics", topic)))
    wait(stage.admin.request_deletion(topic))
    core = stage.core(1, 1, ControllerConfig())
    session = _Watched(stage.zookeeper)
    core.client.port = session
    wait(core.client.delete_topic(topic, core.context.epoch_version))
    tops = (paths.topic(topic), paths.config("topics", topic), paths.deletion(topic))
    order = [path for path in session.deleted if path in tops]
    whole = [path for path in order if not path.startswith("/admin")]
    return {"deleteRecursive": whole, "delete": [path for path in order if path not in whole]}


def _started(
    question: Question, config: ControllerConfig, topics: Iterable[str]
) -> tuple[ControllerStage, Any]:
    stage = ControllerStage(release(question))
    stage.start_broker(0)
    controller = stage.controller(0, config)
    for topic in topics:
        stage.create_topic(topic, {0: (0,)})
    stage.run(controller)
    return stage, controller


def missing_topic(question: Question) -> dict[str, Any]:
    """The request to delete a topic that does not exist."""
    asked = given(question)
    config = ControllerConfig(delete_topics=True)
    stage, controller = _started(question, config, asked["existing"])
    wait(stage.admin.request_deletion(asked["requested"]))
    stage.run(controller)
    return {
        "deleteZnodeRemoved": asked["requested"] not in wait(stage.admin.deletions()),
        "topics": wait(stage.admin.topics()),
    }


def disabled(question: Question) -> dict[str, Any]:
    """A request to delete a topic where deletion is disabled."""
    topic = given(question)["topic"]
    stage, controller = _started(question, ControllerConfig(delete_topics=False), [topic])
    wait(stage.admin.request_deletion(topic))
    stage.run(controller)
    state = stage.state(TopicPartition(topic, 0))
    return {
        "deleteZnodeRemoved": topic not in wait(stage.admin.deletions()),
        "topicExists": topic in wait(stage.admin.topics()),
        "leaderDefined": state is not None and state.leader >= 0,
    }


def twice(question: Question) -> dict[str, Any]:
    """The second request to delete a topic."""

    stage = ControllerStage(release(question))

    wait(stage.admin.request_deletion("t"))
    try:
        wait(stage.admin.request_deletion("t"))
    except NodeExists:
        return {"secondError": "TopicAlreadyMarkedForDeletionException"}
    return {"secondError": None}


ANSWERS: dict[tuple[str, str], Answer] = {
    ("topic_deletion", "scenario"): scenario,
    ("topic_deletion", "resumeDecision"): resume_decision,
    ("topic_deletion", "completionZkOrder"): completion_order,
    ("topic_deletion", "deleteZnodeForMissingTopic"): missing_topic,
    ("topic_deletion", "deleteDisabled"): disabled,
    ("topic_deletion", "deleteTwice"): twice,
}

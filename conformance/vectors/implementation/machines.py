"""Answers about partitions' and replicas' states (partition_ and replica_state_machine.json)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from conformance.vectors.implementation.stage import (
    ControllerStage,
    shown_metadata,
    shown_orders,
    shown_state,
    shown_stops,
    state_of,
)
from conformance.vectors.questions import Answer, Question, given, release
from impl.core.cluster_context import Replica
from impl.core.controller_parts import ControllerConfig, ControllerParts
from impl.core.journal import ChangeFailure, ControllerJournal
from impl.core.partition_machine import Strategy, StrategyKind
from impl.core.states import (
    PartitionState,
    ReplicaState,
    partition_may_go,
    replica_may_go,
)
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, encode_state, paths
from impl.zookeeper.errors import NoNode, ZooKeeperError
from impl.zookeeper.port import OpOutcome, wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.znode import Op, Znode

_FAR = 1000  # the id of a live broker that has nothing to do with the case


def partition_transition(question: Question) -> dict[str, Any]:
    """Whether a partition may go from one state to another."""
    before, target = (PartitionState(given(question)[one]) for one in ("from", "to"))
    return _transition(before, target, partition_may_go(before, target))


def replica_transition(question: Question) -> dict[str, Any]:
    """Whether a replica may go from one state to another."""
    before, target = (ReplicaState(given(question)[one]) for one in ("from", "to"))
    return _transition(before, target, replica_may_go(before, target, release(question)))


def _transition(before: Enum, target: Enum, valid: bool) -> dict[str, Any]:
    return {"valid": valid, "resultingState": (target if valid else before).value}


def initial_state(question: Question) -> dict[str, Any]:
    """A partition's state when a controller starts."""
    asked, core = given(question), _core(question, {})
    partition = TopicPartition("t", 0)
    core.context.broker_epochs = dict.fromkeys(asked["live"], 1)
    if asked["leader"] is not None:
        state = LeaderIsrAndControllerEpoch(asked["leader"], 0, (1, 2), 0)
        core.context.leadership[partition] = state
    return {"state": core.partitions.initial_state(partition).value}


def _core(question: Question, asked: dict[str, Any]) -> ControllerParts:
    stage = ControllerStage(release(question))
    config = ControllerConfig(unclean_leader_election=asked.get("unclean"))
    return stage.core(asked.get("self", 5), asked.get("controllerEpoch", 50), config)


def offline_count(question: Question) -> dict[str, Any]:
    """The count of offline partitions after each step, all of them led by broker 5."""
    asked = given(question)
    stage = ControllerStage(release(question))
    config = ControllerConfig(unclean_leader_election=True, delete_topics=True)
    core = stage.core(5, 50, config)
    context = core.context
    context.broker_epochs = {5: 1}
    partitions = [TopicPartition("t", number) for number in range(asked["partitions"])]
    stage.create_topic("t", {one.partition: (5,) for one in partitions})
    for one in partitions:
        context.assign(one, (5,))
        stage.put_state(one, LeaderIsrAndControllerEpoch(5, 0, (5,), 50))
    if asked["topicBeingDeleted"] is True:
        context.queued_for_deletion.add("t")
        context.deletion_started.add("t")
    counts = []
    for step in asked["steps"]:
        if step == "enqueueDeletion":
            wait(core.deletion.enqueue(["t"]))
        else:
            wait(core.partitions.handle(partitions, PartitionState(f"{step}Partition")))
        counts.append(context.offline_partitions)
    return {"counts": counts}


_READ_RESULTS = {"exception": ZooKeeperError("the read failed"), "NONODE": NoNode("no such znode")}


class _Faulty(EmbeddedSession):
    """A session that answers reads of a partition's state with an error, or refuses writes of it,
    as a question says."""

    def __init__(self, zookeeper: ZooKeeper, asked: dict[str, Any]) -> None:
        super().__init__(zookeeper)
        self.path = paths.state(*TopicPartition.of(asked["partition"]))
        self.error = _READ_RESULTS.get(asked.get("zkReadResult", ""))
        written = asked.get("zkSetResult", asked.get("zkCreateResult", []))
        self.refusals = list(written) if isinstance(written, list) else [written]
        self.meanwhile = asked.get("zkStateAfterConflict")

    async def get(self, path: str, watch: bool = False) -> Znode:
        """As ZooKeeper does, but for that znode."""
        if path == self.path and self.error is not None:
            raise self.error
        return await super().get(path, watch)

    async def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """As ZooKeeper does, but for a write of that znode; somebody may write it just before."""
        if self.refusals and any(op.path == self.path for op in ops):
            match self.refusals.pop(0):
                case "exception":
                    raise ZooKeeperError("the write failed")
                case "NONODE":
                    self.zookeeper.delete(self.path)
                case "BADVERSION":
                    node = await super().get(self.path)
                    meanwhile = self.meanwhile and encode_state(state_of(self.meanwhile, 1))
                    await self.set_data(self.path, meanwhile or node.data)
        return await super().multi(ops)


def partition_effects(question: Question) -> dict[str, Any]:
    """What a partition's transition writes and sends."""
    asked = given(question)
    stage = ControllerStage(release(question))
    partition = TopicPartition.of(asked["partition"])
    config = ControllerConfig(unclean_leader_election=asked.get("unclean", False))
    core = stage.core(asked["self"], asked["controllerEpoch"], config)
    core.client.port = _Faulty(stage.zookeeper, asked)
    _set_up(core, stage, asked, partition)
    core.context.put_partition_state(partition, PartitionState(asked["state"]))
    if asked.get("zkCreateResult") == "NODEEXISTS":
        stage.put_state(partition, LeaderIsrAndControllerEpoch(9, 0, (9,), 1))
    before = stage.state(partition)
    wait(core.partitions.handle([partition], PartitionState(asked["target"]), _strategy(asked)))
    after = stage.state(partition)
    answer = _effects(stage, before, after)
    answer["state"] = core.context.partition_state(partition).value
    answer["zkCreateState"] = shown_state(after) if before is None and after is not None else None
    return answer


def _strategy(asked: dict[str, Any]) -> Strategy | None:
    if "strategy" not in asked:
        return None
    name, _, argument = asked["strategy"].partition("(")
    return Strategy(StrategyKind(name), unclean=argument.startswith("true"))


def _set_up(
    core: ControllerParts, stage: ControllerStage, asked: dict[str, Any], partition: TopicPartition
) -> None:
    live = asked.get("live", [*asked["assignment"], _FAR])
    core.context.broker_epochs = dict.fromkeys(live, 1)
    core.context.shutting_down = set(asked.get("shuttingDown", ()))
    core.context.assign(partition, asked["assignment"])
    if asked.get("offlineDir"):
        core.context.offline_directories[asked["replica"]] = {partition}
    if asked.get("queuedForDeletion"):
        core.context.queued_for_deletion.add(partition.topic)
    stage.create_topic(partition.topic, {partition.partition: asked["assignment"]})
    if "zkState" in asked:
        state = state_of(asked["zkState"], core.context.epoch)
        stage.put_state(partition, state)
        core.context.leadership[partition] = state
    if asked.get("leadership") is not None:
        core.context.leadership[partition] = state_of(asked["leadership"], core.context.epoch)


def _effects(
    stage: ControllerStage,
    before: LeaderIsrAndControllerEpoch | None,
    after: LeaderIsrAndControllerEpoch | None,
) -> dict[str, Any]:
    """What was written (under the version expected) and what was sent."""
    written = None
    if before is not None and after is not None and after != before:
        written = shown_state(after.with_zk_version(after.zk_version - 1))
    return {
        "zkSetState": written,
        "leaderAndIsr": shown_orders(stage.sent),
        "stopReplica": shown_stops(stage.sent),
    }


class _Refusals(ControllerJournal):
    """Notes the replicas whose transition does not come about."""

    def __init__(self) -> None:
        super().__init__()
        self.replicas: list[tuple[TopicPartition, int]] = []

    async def replica_failed(
        self, broker: int, partition: TopicPartition, before: ReplicaState, target: ReplicaState,
        failure: ChangeFailure,
    ) -> None:  # fmt: skip
        self.replicas.append((partition, broker))


def replica_effects(question: Question) -> dict[str, Any]:
    """What a replica's transition writes and sends."""
    asked = given(question)
    stage = ControllerStage(release(question))
    config = ControllerConfig(unclean_leader_election=asked.get("unclean", False))
    refused = _Refusals()
    core = stage.core(asked.get("self", 5), asked["controllerEpoch"], config, refused)
    partition, broker = TopicPartition.of(asked["partition"]), asked["replica"]
    replica = Replica(partition, broker)
    core.client.port = _Faulty(stage.zookeeper, asked)
    _set_up(core, stage, asked, partition)
    before_state = ReplicaState(asked["state"])
    if before_state is not ReplicaState.NON_EXISTENT:
        core.context.replica_states[replica] = before_state
    before = stage.state(partition)
    wait(core.replicas.handle([replica], ReplicaState(asked["target"])))
    answer = _effects(stage, before, stage.state(partition))
    entry = core.context.replica_states.get(replica)
    return answer | {
        "state": core.context.replica_state(replica).value,
        "stateEntry": None if entry is None else entry.value,
        "assignment": list(core.context.replicas(partition)),
        "updateMetadata": shown_metadata(stage.sent, [partition]),
        "error": "StateChangeFailed" if refused.replicas else None,
    }


def startup(question: Question) -> dict[str, Any]:
    """A replica's state after a controller has started."""
    asked = given(question)
    stage = ControllerStage(release(question))
    core = stage.core(9, asked["controllerEpoch"], ControllerConfig())
    partition = TopicPartition.of(asked["partition"])
    _set_up(core, stage, asked, partition)
    wait(core.replicas.startup())
    return {"state": core.context.replica_state(Replica(partition, asked["replica"])).value}


ANSWERS: dict[tuple[str, str], Answer] = {
    ("partition_state_machine", "transition"): partition_transition,
    ("partition_state_machine", "effects"): partition_effects,
    ("partition_state_machine", "offlineCount"): offline_count,
    ("partition_state_machine", "initialState"): initial_state,
    ("replica_state_machine", "transition"): replica_transition,
    ("replica_state_machine", "effects"): replica_effects,
    ("replica_state_machine", "startup"): startup,
}

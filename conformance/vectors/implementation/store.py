"""Answers about ZooKeeper: conditional writes, notifications, payloads (zk_store.json)."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import Any

from conformance.vectors.implementation.stage import ControllerStage, shown_state, state_of
from conformance.vectors.questions import Answer, Question, given, release, under
from impl.releases import Release
from impl.znodes import (
    BrokerInfo,
    LeaderIsrAndControllerEpoch,
    MalformedZnode,
    ReplicaAssignment,
    TopicPartition,
    TopicZnode,
    config_change_version,
    decode_reassignment,
    encode_broker,
    encode_cluster_id,
    encode_config,
    encode_config_change,
    encode_controller,
    encode_log_dir_event,
    encode_reassignment,
    encode_state,
    encode_topic,
    paths,
    topic_version,
)
from impl.znodes.brokers import broker_version
from impl.znodes.client import ZnodeClient
from impl.znodes.partitions import encode_partition_set
from impl.znodes.producer_ids import ProducerIdBlock, encode_block
from impl.znodes.retrying_client import ControllerMoved
from impl.znodes.states import decode_state
from impl.znodes.topics import decode_topic
from impl.zookeeper.errors import BadVersion, NodeExists, NoNode, ZooKeeperError
from impl.zookeeper.port import Port, wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.znode import sequence_number

_NAMES: dict[type[BaseException], str] = {
    NoNode: "NONODE",
    NodeExists: "NODEEXISTS",
    BadVersion: "BADVERSION",
}


UNKNOWN_VERSION = -2
"""``ZkVersion.UnknownVersion``: of what is not there, and of a write that had no effect."""


def znode_calls(question: Question) -> dict[str, Any]:
    """Reads and conditional writes of one znode, missing at first.

    As ``pairs``: whether it was done, or the data, with the version; else by ZooKeeper's codes.
    """
    asked, stage = given(question), ControllerStage(release(question))
    port, pairs = stage.admin.port, asked["pairs"]
    return {"results": [_znode_call(port, call, pairs) for call in asked["calls"]]}


def _znode_call(port: Port, call: list[Any], pairs: bool) -> Any:
    name, *said = call
    path = paths.CONTROLLER_EPOCH
    try:
        match name, said:
            case "set", [*data, version]:
                node = wait(port.set_data(path, "".join(map(str, data)), version))
                return [True if pairs else "OK", node.version]
            case "create", data:
                wait(port.create(path, "".join(map(str, data))))
                return "OK"
            case "get", []:
                node = wait(port.get(path))
                if pairs:
                    return [node.data, node.version]
                return int(node.data) if node.data.isdecimal() else node.data
            case _:
                raise ValueError(f"no call of a znode: {call}")
    except ZooKeeperError as error:
        if pairs and name != "create":
            return [False if name == "set" else None, UNKNOWN_VERSION]
        return _NAMES[type(error)]


def delete_recursive(question: Question) -> dict[str, Any]:
    """Deletes a path with everything below it, fenced by the controller's epoch."""
    stage = ControllerStage(release(question))
    wait(stage.admin.make_path(paths.CONTROLLER_EPOCH, "1"))
    wait(stage.admin.make_path("/existing/child"))
    wanted = {
        "missing path": "/missing",
        "existing": "/existing",
        "path without leading slash": "existing",
    }
    versions = {"ok version": 0, "bad version": 1}

    def ask(path: str, version: str) -> Any:
        try:
            return wait(stage.admin.fenced_delete_below(wanted[path], versions[version]))
        except ControllerMoved:
            return "ControllerMovedException"
        except ValueError:
            return "IllegalArgumentException"

    return {"results": [ask(*call) for call in given(question)["calls"]]}


def update_states(question: Question) -> dict[str, Any]:
    """Conditional writes of several states at once."""
    asked = given(question)
    stage = ControllerStage(release(question))
    wait(stage.admin.make_path(paths.CONTROLLER_EPOCH, "1"))
    for name, version in asked["znodes"].items():
        state = LeaderIsrAndControllerEpoch(1, 0, (1,), 1, version)
        stage.put_state(TopicPartition.of(name), state)
    writes = {
        TopicPartition.of(name): LeaderIsrAndControllerEpoch(1, 1, (1,), 1, version)
        for name, version in asked["expectedVersions"].items()
    }
    try:
        updated = wait(stage.admin.update_states(writes, _epoch_version(asked)))
    except ControllerMoved:
        return {"exception": "ControllerMovedException"}
    return {
        "updated": {str(one): state.zk_version for one, state in updated.done.items()},
        "retry": [str(one) for one in updated.retry],
        "failed": {str(one): _NAMES[type(error)] for one, error in updated.failed.items()},
    }


def _epoch_version(asked: dict[str, Any]) -> int:
    """The znode is at version 0; "actual+1" is one too many."""
    return int(asked.get("controllerEpochZkVersion") == "actual+1")


def create_sequential(question: Question) -> dict[str, Any]:
    """Sequential znodes, one after the other."""
    asked, stage = given(question), ControllerStage(release(question))
    prefix = asked["prefix"]
    wait(stage.admin.make_path(prefix.rpartition("/")[0]))
    made = [wait(stage.admin.port.create(prefix, sequential=True)) for _ in range(asked["times"])]
    return {"paths": [one.path for one in made]}


def propagate_isr(question: Question) -> dict[str, Any]:
    """The notifications of leaders whose ISRs changed."""
    stage = ControllerStage(release(question))
    made = _propagated(stage, given(question)["sets"])
    return {"paths": made, "data": [wait(stage.admin.port.get(path)).data for path in made]}


def _propagated(stage: ControllerStage, sets: list[list[str]]) -> list[str]:
    return [
        wait(stage.admin.propagate_isr_changes(map(TopicPartition.of, names))) for names in sets
    ]


def propagate_log_dir(question: Question) -> dict[str, Any]:
    """The events of brokers with a failed log directory."""
    stage = ControllerStage(release(question))
    made = _failed(stage, given(question)["brokers"])
    return {"paths": made, "data": [wait(stage.admin.port.get(path)).data for path in made]}


def _failed(stage: ControllerStage, brokers: list[int]) -> list[str]:
    return [wait(stage.admin.propagate_log_dir_failure(one)) for one in brokers]


def read_notifications(question: Question) -> dict[str, Any]:
    """The notifications as a controller reads them."""
    asked, stage = given(question), ControllerStage(release(question))
    if "sets" not in asked:
        _failed(stage, asked["brokers"])
        failed = wait(stage.admin.log_dir_events())
        numbers = [sequence_number(name) for name in failed]
        return {"sequenceNumbers": numbers, "brokers": list(failed.values())}
    _propagated(stage, asked["sets"])
    found = wait(stage.admin.isr_changes())
    return {
        "sequenceNumbers": [sequence_number(name) for name in found],
        "partitions": [str(one) for partitions in found.values() for one in partitions],
    }


def delete_notifications(question: Question) -> dict[str, Any]:
    """A controller deletes the notifications that it has handled, fenced by its epoch."""
    asked, stage = given(question), ControllerStage(release(question))
    if "sets" in asked:
        parent, made = paths.ISR_CHANGES, _propagated(stage, asked["sets"])
    else:
        parent, made = paths.LOG_DIR_EVENTS, _failed(stage, asked["brokers"])
    names = [one.rpartition("/")[2] for one in made]
    handled = asked.get("delete", [sequence_number(one) for one in names])
    names = [one for one in names if sequence_number(one) in handled]
    fenced = _fenced(
        stage, asked, lambda epoch: stage.admin.delete_notifications(parent, names, epoch)
    )
    left = sorted(wait(stage.admin.names(parent)))
    numbers = [sequence_number(one) for one in left]
    return fenced | {"left": left, "remaining": numbers, "znodesStay": bool(left)}


def delete_deletions(question: Question) -> dict[str, Any]:
    """A controller removes deletion requests, fenced by its epoch."""
    asked, stage = given(question), ControllerStage(release(question))
    for topic in asked["topics"]:
        wait(stage.admin.request_deletion(topic))

    async def remove(epoch: int) -> None:
        for topic in asked["topics"]:
            await stage.admin.fenced_delete(paths.deletion(topic), epoch)

    fenced, left = _fenced(stage, asked, remove), wait(stage.admin.deletions())
    return fenced | {"left": left, "remaining": left, "znodeStays": bool(left)}


def create_states(question: Question) -> dict[str, Any]:
    """A controller creates states, perhaps twice, fenced by its epoch."""
    asked, stage = given(question), ControllerStage(release(question))
    states = {TopicPartition.of(name): state_of(one, 1) for name, one in asked["states"].items()}
    for topic in {one.topic for one in states}:
        wait(stage.admin.make_path(paths.topic(topic)))
    made: list[dict[str, str]] = []

    async def create(epoch: int) -> None:
        outcome = await stage.admin.create_states(states, epoch)
        made.append({
            str(one): "OK" if error is None else _NAMES[type(error)]
            for one, error in outcome.items()
        })  # fmt: skip

    fenced = _fenced(stage, asked, create)
    if made:
        _fenced(stage, asked, create)
    if not made:
        return fenced
    repeats = asked.get("times") == len(made)
    return fenced | {"first": made[0], "results": made if repeats else made[0], "second": made[1]}


def read_states(question: Question) -> dict[str, Any]:
    """The states of partitions; a partition without a state is left out."""
    asked, stage = given(question), ControllerStage(release(question))
    for name, one in asked["znodes"].items():
        stage.put_state(TopicPartition.of(name), state_of(one, 1))
    found = {name: stage.state(TopicPartition.of(name)) for name in asked["query"]}
    states = {name: shown_state(one) for name, one in found.items() if one is not None}
    return {"states": states, "result": states, **states}


def broker_sequence_id(question: Question) -> dict[str, Any]:
    """Broker ids that ZooKeeper generates: versions of a znode, counted from 1."""
    stage = ControllerStage(release(question))
    ids = [wait(stage.admin.generate_broker_sequence_id()) for _ in range(given(question)["times"])]
    return {"ids": ids, "results": ids}


def _fenced(
    stage: ControllerStage, asked: dict[str, Any], write: Callable[[int], Coroutine[Any, Any, Any]]
) -> dict[str, Any]:
    """A controller's write with the version of the epoch that it knows; or what it throws."""
    wait(stage.admin.make_path(paths.CONTROLLER_EPOCH, "1"))
    try:
        wait(write(_epoch_version(asked)))
    except ControllerMoved:
        return {"exception": "ControllerMovedException"}
    return {"exception": None}


def config_change(question: Question) -> dict[str, Any]:
    """The notifications of changed configs."""
    stage = ControllerStage(release(question))
    entities = [entity.split("/", 1) for entity in given(question)["entities"]]
    return {"paths": [wait(stage.admin.notify_config_change(*entity)) for entity in entities]}


def create_preferred(question: Question) -> dict[str, Any]:
    """The second request of a preferred election."""
    stage = ControllerStage(release(question))
    wait(stage.admin.make_path("/admin"))
    try:
        for _ in range(1 + bool(given(question).get("twice", True))):
            wait(stage.admin.request_preferred_election([TopicPartition("t", 0)]))
    except NodeExists:
        return {"second": "NodeExistsException"}
    return {"second": None}


def delete_preferred(question: Question) -> dict[str, Any]:
    """A controller removes the request of a preferred election."""
    stage = ControllerStage(release(question))
    wait(stage.admin.make_path("/admin"))
    wait(stage.admin.request_preferred_election([TopicPartition("t", 0)]))
    fenced = _fenced(stage, given(question), stage.admin.delete_preferred_election)
    return fenced | {"znodeStays": wait(stage.admin.preferred_election()) is not None}


def delete_controller(question: Question) -> dict[str, Any]:
    """A controller resigns."""
    stage = ControllerStage(release(question))
    stage.start_broker(0)
    stage.controller(0)
    epoch = wait(stage.admin.controller_epoch())
    assert epoch is not None, "a controller has been elected"
    fenced = _fenced(
        stage,
        given(question),
        lambda more: stage.admin.fenced_delete(paths.CONTROLLER, epoch.epoch_version + more),
    )
    return fenced | {"znodeStays": wait(stage.admin.controller()) is not None}


def register_broker(question: Question) -> dict[str, Any]:
    """A broker registers while its znode exists already."""
    results = [_registered(release(question), one) for one in given(question)["existingOwner"]]
    return {"results": results, "result": results[0]}


def _registered(under: Release, owner: str) -> str:
    stage = ControllerStage(under)
    mine, earlier = EmbeddedSession(stage.zookeeper), EmbeddedSession(stage.zookeeper)
    holder = {"my current session": mine, "my previous session": earlier}.get(owner)
    info = BrokerInfo(("PLAINTEXT://h:9092",), 1)
    session = holder or EmbeddedSession(stage.zookeeper)
    there = wait(ZnodeClient(session, under).register_broker(0, info))
    try:
        epoch = wait(ZnodeClient(mine, under).register_broker(0, info, earlier.session))
    except NodeExists:
        return "NodeExistsException"
    return "ok" if epoch == there else "deleted then created"


def encode(question: Question) -> dict[str, Any]:
    """The text of a znode with the given content."""
    text = _encoded(given(question)["encode"], release(question))
    return {"json": text, "data": text}


def _encoded(what: Any, under: Release) -> str:
    if isinstance(what, list):
        return encode_config_change(what[0], what[1], config_change_version(under))
    named = set(what)
    if "controllerEpoch" in named and "leader" not in named:
        return str(what["controllerEpoch"])  # no JSON (a.1)
    if "leader" in named:
        return encode_state(
            LeaderIsrAndControllerEpoch(
                what["leader"], what["leaderEpoch"], tuple(what["isr"]), what["controllerEpoch"]
            )
        )
    if "endpoints" in named:
        info = BrokerInfo(
            tuple(what["endpoints"]), what["timestamp"], what.get("jmx", -1), what.get("rack"),
            security=dict(what.get("securityProtocolMap") or {}),
            features=dict(what.get("features") or {}),
        )  # fmt: skip
        # Version 5 is written under the inter-broker protocol 2.7, and then with features.
        newest = broker_version(under) if "features" in named else min(4, broker_version(under))
        return encode_broker(info, what.get("version", newest))
    if "broker" in named and named <= {"broker", "event", "version"}:
        return encode_log_dir_event(what["broker"])
    if isinstance(what.get("partitions"), list):  # an election, or a change of ISRs, of these
        return encode_partition_set(TopicPartition.of(one) for one in what["partitions"])
    if "partitions" in named:
        return _encoded_topic(what, under)
    if {"brokerId", "timestamp"} <= named:
        return encode_controller(what["brokerId"], what["timestamp"])
    if named == {"id"} or "clusterId" in named:
        return encode_cluster_id(what.get("id", what.get("clusterId")))
    if "block_start" in named:
        block = ProducerIdBlock(what["broker"], what["block_start"], what["block_end"])
        return encode_block(block)
    return encode_config(what)


def _encoded_topic(what: dict[str, Any], under: Release) -> str:
    adding, removing = what["adding"], what["removing"]
    partitions = {
        int(number): ReplicaAssignment(
            tuple(replicas), tuple(adding.get(number, ())), tuple(removing.get(number, ()))
        )
        for number, replicas in what["partitions"].items()
    }
    version = what.get("version", topic_version(under))
    return encode_topic(TopicZnode(partitions, what.get("topicId")), version)


def encode_reassign(question: Question) -> dict[str, Any]:
    """The text of ``/admin/reassign_partitions``."""
    targets = given(question)["map"]
    return {
        "json": encode_reassignment({TopicPartition.of(one): ids for one, ids in targets.items()})
    }


def set_reassignment(question: Question) -> dict[str, Any]:
    """A controller writes the remaining moves, fenced by its epoch."""
    asked, stage = given(question), ControllerStage(release(question))
    wait(stage.admin.make_path(paths.REASSIGN_PARTITIONS, encode_reassignment({})))
    moves = {TopicPartition.of(one): tuple(ids) for one, ids in asked["map"].items()}
    fenced = _fenced(stage, asked, lambda epoch: stage.admin.set_reassignments(moves, epoch))
    left = wait(stage.admin.reassignments())
    return fenced | {"map": {str(one): list(ids) for one, ids in left.items()}}


def conditional_update(question: Question) -> dict[str, Any]:
    """Writes of a path, each with the expected version: whether it was done, and the version."""
    stage = ControllerStage(release(question))
    if any(call[0] in ("create", "get") for call in given(question)["calls"]):
        return znode_calls(question)
    wait(stage.admin.make_path("/existing"))

    def ask(path: str, expected: int) -> list[Any]:
        try:
            node = wait(stage.admin.port.set_data(f"/{path.strip('/')}", "", expected))
        except (BadVersion, NoNode):
            return [False, UNKNOWN_VERSION]
        return [True, node.version]

    return {"results": [ask(*call) for call in given(question)["calls"]]}


def decode_reassign(question: Question) -> dict[str, Any]:
    """The moves in ``/admin/reassign_partitions``; or another znode's content, by its fields."""
    text = given(question)["json"]
    try:
        if '"leader_epoch"' in text:
            return shown_state(decode_state("t", 0, text, 0))
        if re.search(r'"partitions"\s*:\s*\{', text):
            return _shown_topic(decode_topic("t", text))
        found = decode_reassignment(text, release(question))
    except MalformedZnode as error:
        return {"error": "JsonProcessingException", "message": str(error)}
    moves = {str(one): list(replicas) for one, replicas in found.items()}
    return {"map": moves, "assignment": moves, "partitions": moves}


def _shown_topic(topic: TopicZnode) -> dict[str, Any]:
    every = topic.partitions.items()
    changes = {
        name: {str(number): list(getattr(one, name)) for number, one in every if getattr(one, name)}
        for name in ("adding", "removing")
    }
    replicas = {str(number): list(one.replicas) for number, one in every}
    return {"partitions": replicas, "assignment": replicas, "topicId": topic.topic_id, **changes}


ANSWERS: dict[tuple[str, str], Answer] = under(
    "zk_store",
    epochCalls=znode_calls,
    deleteRecursive=delete_recursive,
    updateLeaderAndIsr=update_states,
    createSequential=create_sequential,
    propagateIsr=propagate_isr,
    readNotifications=read_notifications,
    deleteNotifications=delete_notifications,
    deleteTopicDeletions=delete_deletions,
    createStates=create_states,
    readStates=read_states,
    brokerSequenceId=broker_sequence_id,
    configChange=config_change,
    createPreferredElection=create_preferred,
    deletePreferredElection=delete_preferred,
    deleteController=delete_controller,
    registerBroker=register_broker,
    encode=encode,
    encodeReassign=encode_reassign,
    setReassignment=set_reassignment,
    conditionalUpdate=conditional_update,
    decodeReassign=decode_reassign,
    propagateLogDir=propagate_log_dir,
)

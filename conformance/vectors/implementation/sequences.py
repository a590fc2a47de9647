"""Answers about the order of requests when a broker starts (request_sequences.json)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.vectors.implementation.stage import ControllerStage, Sent, kinds_to
from conformance.vectors.questions import Answer, Question, given, release, under
from impl.core.controller_parts import ControllerConfig
from impl.core.requests import UpdateMetadata, kind_of
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.zookeeper.port import wait

PARTITION = TopicPartition("t", 0)


def sequence(question: Question) -> dict[str, Any]:
    """The requests that every broker is sent when one starts."""
    asked, stage = given(question), ControllerStage(release(question))
    chief, came = asked["controller"], int(asked["event"].rsplit(" ", 1)[1])
    for broker in asked["brokers"]:
        if broker != came or came == chief:
            stage.start_broker(broker)
    if asked["partitionsOnBroker"]:
        stage.create_topic("t", {0: asked["brokers"]})
    if came == chief:
        if asked["partitionsOnBroker"]:
            stage.put_state(PARTITION, LeaderIsrAndControllerEpoch(chief, 0, (chief,), 0))
        stage.controller(chief)
        sent = stage.take_sent()
    else:
        controller = stage.controller(chief)
        if asked.get("hasOfflinePartitionsElectable"):
            # A partition whose only in-sync replica is the broker that is about to come.
            stage.create_topic("u", {0: [came]})
            stage.run(controller)
        stage.take_sent()
        stage.start_broker(came)
        stage.run(controller)
        sent = stage.take_sent()
    named = _with_lists(sent) if release(question).since("2.2") else None
    return {
        f"toBroker{broker}": named(broker) if named else kinds_to(broker, sent)
        for broker in asked["brokers"]
    }


def _with_lists(sent: list[Sent]) -> Callable[[int], list[str]]:
    """Names of requests; of the first UpdateMetadata to a broker also how much it tells."""

    def names(broker: int) -> list[str]:
        shown, first = [], True
        for to, request in sent:
            if to != broker:
                continue
            name = kind_of(request)
            if isinstance(request, UpdateMetadata) and first:
                name += "(all partitions)" if request.partitions else "(no partitions)"
                first = False
            shown.append(name)
        return shown

    return names


def empty_partitions(question: Question) -> dict[str, Any]:
    """The partitions that UpdateMetadata without partitions contains."""
    asked, stage = given(question), ControllerStage(release(question))
    core = stage.core(0, 1, ControllerConfig())
    core.context.broker_epochs = {0: 1}
    for number in range(2):
        partition = TopicPartition("t", number)
        core.context.assign(partition, (0,))
        core.context.leadership[partition] = LeaderIsrAndControllerEpoch(0, 0, (0,), 1)
    wait(core.update_metadata([0], map(TopicPartition.of, asked["partitionsArgument"])))
    ((_, request),) = stage.sent
    meanings = {0: "no partitions", 2: "all partitions"}
    return {"meaning": meanings.get(len(request.partitions))}


ANSWERS: dict[tuple[str, str], Answer] = under(
    "request_sequences", sequence=sequence, emptyPartitions=empty_partitions
)

"""Handlers of the requests from and to controllers.

A request for a broker epoch that is not known here yet waits: ZooKeeper notified the controller
first. A broker that cannot answer closes the connection; the sender retries. Source:
KafkaApis.handleLeaderAndIsrRequest and the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from impl.core.answers import EpochFromTheFuture
from impl.core.requests import UpdateMetadata
from impl.error_codes import NONE
from impl.server import control_messages
from impl.server.apis.api_request import ApiRequest, BrokerParts, CloseConnection, no_throttle
from impl.server.control_messages import by_topic
from impl.wire import Fields, api_name, error_code
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.states import LEADER_DURING_DELETE

EPOCH_PATIENCE_S = 5.0
NO_EPOCH = -1
NO_STATE = LeaderIsrAndControllerEpoch(-1, NO_EPOCH, (), NO_EPOCH, -1)


def controlled(request: ApiRequest) -> Fields:
    """Handle LeaderAndIsr, UpdateMetadata and StopReplica."""
    shared = request.shared
    if shared.stopping.is_set():
        raise CloseConnection("the broker is about to end")
    control, live = control_messages.decode(
        api_name(request.header.key), request.version, request.body
    )
    deadline = time.monotonic() + EPOCH_PATIENCE_S
    while True:
        try:
            answered = shared.replicas.handle(
                control, lambda: shared.control().epoch, request.header.correlation, live
            )
        except EpochFromTheFuture as error:
            if time.monotonic() > deadline:
                raise CloseConnection(str(error)) from error
            time.sleep(0.02)
        else:
            if isinstance(control, UpdateMetadata) and answered[0] == NONE:
                _forget_offsets(shared, control)
            return control_messages.encode_answer(answered)


def _forget_offsets(shared: BrokerParts, request: UpdateMetadata) -> None:
    gone = {
        one
        for one, metadata in request.partitions.items()
        if metadata.state.leader == LEADER_DURING_DELETE
    }
    if gone and shared.release.since("0.10.2"):
        shared.coordinator.forget(gone)


def controlled_shutdown(request: ApiRequest) -> Fields:
    """Handle ControlledShutdown: the controller moves leaders away from the broker."""
    request.shared.about_to_wait()
    error, kept = request.shared.control().requests.controlled_shutdown(
        request.body.broker_id, request.get("broker_epoch", NO_EPOCH)
    )
    remaining = [Fields(topic_name=one.topic, partition_index=one.partition) for one in kept]
    return Fields(error_code=error_code(error), remaining_partitions=remaining)


def alter_isr(request: ApiRequest) -> Fields:
    """Handle AlterIsr: the sender is the leader, and asks for other ISRs (KIP-497)."""
    body = request.body
    wanted = {
        TopicPartition(topic.topic_name, one.partition_index): LeaderIsrAndControllerEpoch(
            body.broker_id, one.leader_epoch, tuple(one.new_isr), NO_EPOCH, one.partition_epoch
        )
        for topic in body.topics
        for one in topic.partitions
    }
    request.shared.about_to_wait()
    error, found = request.shared.control().requests.alter_isr(
        body.broker_id, body.broker_epoch, wanted
    )
    rows = []
    for partition, came in found.items():
        state = came.state or NO_STATE
        row = Fields(
            partition_index=partition.partition, error_code=error_code(came.error),
            leader_id=state.leader, leader_epoch=state.leader_epoch, isr=state.isr,
            partition_epoch=state.zk_version,
        )  # fmt: skip
        rows.append((partition.topic, row))
    return Fields(
        throttle_time=no_throttle(), error_code=error_code(error),
        topics=[
            Fields(topic_name=topic, partitions=parts)
            for topic, parts in by_topic(rows).items()
        ],
    )  # fmt: skip


HANDLERS: dict[str, Callable[[ApiRequest], Fields | None]] = {
    "LeaderAndIsr": controlled,
    "UpdateMetadata": controlled,
    "StopReplica": controlled,
    "ControlledShutdown": controlled_shutdown,
    "AlterIsr": alter_isr,
}

"""Steps of leaders that send AlterIsr to the controller (2.7; KIP-497).

A broker has one request under way at a time. The request arrives or is lost; the controller handles
it as an event; the response arrives or is lost. A request without response is sent again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from impl.core.api import AlteredIsrs, ControllerApi
from impl.core.cluster_context import ClusterContext
from impl.core.event_controller import EventController
from impl.error_codes import NONE, UNKNOWN_SERVER_ERROR
from impl.sim.simulation import Arguments, offered
from impl.world.whole_cluster.controller_answers import (
    AlterIsrAnswered,
    expected_controller_error,
    refused_isrs,
)
from impl.world.whole_cluster.controller_requests import Difference, first_wrong
from impl.world.whole_cluster.node import ClusterNode, IsrRequest
from impl.world.whole_cluster.observations import AlterIsrResponseHandled, AlterIsrSent
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition

BROKER = "broker"
PERMANENT = {"FENCED_LEADER_EPOCH", "INVALID_UPDATE_VERSION", "UNKNOWN_TOPIC_OR_PARTITION"}
"""Errors after which a leader waits for a LeaderAndIsr (``handleAlterIsrResponse``)."""


def _with_changes(world: WholeCluster) -> Arguments:
    return [
        (number,)
        for number, node in world.running()
        if node.alter_isr.waiting and node.isr_request is None
        and node.replicas.metadata.controller is not None
    ]  # fmt: skip


def isr_is_asked_for(world: WholeCluster, broker: int) -> None:
    """All waiting changes are sent to the controller that the broker knows."""
    node = world.nodes[broker]
    controller = node.replicas.metadata.controller
    assert controller is not None, "the broker knows a controller"
    changes, led = node.alter_isr.batch(), {one.partition: one for one in node.replicas.leading()}
    epochs = {one: led[one].leader_epoch if one in led else None for one in node.alter_isr.waiting}
    asked = {one.partition: (one.state.leader_epoch, epochs[one.partition]) for one in changes}
    world.happened.append((broker, AlterIsrSent(asked)))
    node.isr_request = IsrRequest(changes, node.epoch, controller)


def _sent(world: WholeCluster) -> Arguments:
    return [
        (number,)
        for number, node in world.nodes.items()
        if (asked := node.isr_request) is not None and not asked.is_handled
        and world.nodes[asked.controller].running
    ]  # fmt: skip


def isr_request_arrives(world: WholeCluster, broker: int) -> None:
    """An AlterIsr request enters the event queue of the broker that the sender believes is
    controller.
    """
    asked = world.nodes[broker].isr_request
    assert asked is not None, "a request is under way"
    asked.is_handled = True
    changes = {one.partition: one.state for one in asked.changes}

    async def alter(controller: EventController) -> None:
        was_active = list[bool]()

        def answer(error: str, answers: AlteredIsrs) -> None:
            asked.error, asked.answers = error, answers
            was_active.append(controller.active)  # what moves goes on after the answer

        whole = expected_controller_error(controller, broker, asked.broker_epoch)
        context = controller.core.context
        wanted = {**_never_granted(context, changes), **changes}
        needed = refused_isrs(context, wanted)
        await ControllerApi(controller).alter_isr(broker, asked.broker_epoch, wanted, answer)
        if whole == NONE and was_active == [False]:  # it was deposed, or its session is over
            whole = UNKNOWN_SERVER_ERROR
        done = AlterIsrAnswered(wanted, asked.error, asked.answers or {}, whole, needed)
        world.happened.append((asked.controller, done))

    world.nodes[asked.controller].events.put("AlterIsr", alter)


def _never_granted(
    context: ClusterContext, changes: Iterable[TopicPartition]
) -> dict[TopicPartition, LeaderIsrAndControllerEpoch]:
    """What is asked for in the same request, and refused: for a partition that is not there, and
    for one whose state has been written since, where there is one."""
    nowhere = LeaderIsrAndControllerEpoch(0, 0, (0,), 0, 0)
    older = {
        one: replace(known, isr=(known.leader, 0), zk_version=known.zk_version - 1)
        for one, known in sorted(context.leadership.items())
        if one not in changes and known.zk_version > 0
    }
    return {TopicPartition("t", 0): nowhere, **dict(list(older.items())[:1])}


def _answered(world: WholeCluster) -> Arguments:
    return [
        (number,)
        for number, node in world.running()
        if node.isr_request is not None and node.isr_request.error is not None
    ]


def isr_answer_arrives(world: WholeCluster, broker: int) -> None:
    """The leader adopts the ISRs that the controller accepted; a refused request is sent again."""
    node = world.nodes[broker]
    asked, node.isr_request = node.isr_request, None
    assert asked is not None, "a request is under way"
    answers = (asked.answers or {}) if asked.error == "NONE" else {}
    waited = {
        change.partition: _known(node, change.partition)
        for change in asked.changes
        if node.alter_isr.waiting.get(change.partition) is change
    }
    if asked.error == "NONE":
        found = {one: (it.error, it.state) for one, it in answers.items()}
        node.alter_isr.answered(asked.changes, found, world.now_ms())
    wrong = first_wrong(_taken_otherwise(node, waited, answers))
    world.happened.append((broker, AlterIsrResponseHandled(wrong)))


_Known = tuple[tuple[int, ...], tuple[int, ...] | None, int]


def _known(node: ClusterNode, one: TopicPartition) -> _Known:
    replica = node.replicas.partitions[one]
    return replica.isr, replica.pending, replica.zk_version


def _taken_otherwise(
    node: ClusterNode, waited: Mapping[TopicPartition, _Known], answers: AlteredIsrs
) -> Iterator[Difference]:
    """What a leader makes of the controller's answers, by what it knew of those that waited for
    one: a newer state counts, and after an error that may pass it asks again (KIP-497)."""
    for one, known in waited.items():
        answer, (_, _, version) = answers.get(one), known
        state = None if answer is None else answer.state
        epoch = node.replicas.partitions[one].leader_epoch
        if state is not None and state.leader_epoch == epoch and state.zk_version > version:
            known = state.isr, None, state.zk_version
        yield f"as ISR, asked ISR and version of {one}", _known(node, one), known
        waits = answer is None or (state is None and answer.error not in PERMANENT)
        yield f"another ISR of {one} to ask for", one in node.alter_isr.waiting, waits


def _under_way(world: WholeCluster) -> Arguments:
    return [(number,) for number, node in world.running() if node.isr_request is not None]


def isr_request_is_lost(world: WholeCluster, broker: int) -> None:
    """The connection breaks: it is unknown whether the controller received the request."""
    world.nodes[broker].isr_request = None


def _unanswerable(world: WholeCluster) -> Arguments:
    """Whoever was asked is down, or has dropped the event: the request times out."""
    return [
        (number,)
        for number, node in world.running()
        if (asked := node.isr_request) is not None and asked.error is None
        and (not world.nodes[asked.controller].up or asked.is_handled)
        and not world.nodes[asked.controller].events.waiting
    ]  # fmt: skip


KINDS = (
    offered("isr_is_asked_for", BROKER, _with_changes, isr_is_asked_for, 60),
    offered("isr_request_arrives", BROKER, _sent, isr_request_arrives, 100),
    offered("isr_answer_arrives", BROKER, _answered, isr_answer_arrives, 100),
    offered("isr_request_times_out", BROKER, _unanswerable, isr_request_is_lost, 20),
    offered("isr_request_is_lost", BROKER, _under_way, isr_request_is_lost, 0, "losses"),
)

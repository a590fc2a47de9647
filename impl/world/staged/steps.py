"""Steps of a staged cluster: election, the controller's event thread, and requests."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import replace

from impl.core.answers import NONE
from impl.core.broker_events import BrokerNotAvailable, StaleBrokerEpoch
from impl.core.event_controller import EventController
from impl.core.requests import LeaderAndIsr, StopReplica, UpdateMetadata
from impl.sim.event_run import WatchEvent, told
from impl.sim.steps import offered
from impl.world.staged import directories, leaders, lifecycle, operators
from impl.world.staged.leaders import at
from impl.world.staged.lifecycle import brokers_that
from impl.world.staged.server import ANSWER, StagedServer
from impl.world.staged.world import EVENT_OF, STAGED_KINDS, StagedCluster, add_event
from impl.znodes import paths
from impl.zookeeper.znode import EventType
from impl.zookeeper.znode import WatchEvent as Notification

One = Iterable[tuple[int, ...]]


# Election


def _may_stand(world: StagedCluster, server: StagedServer) -> bool:
    idle = not server.thread.controller.active and server.thread.place is None
    vacant = paths.CONTROLLER not in world.zookeeper.nodes
    return server.up and server.alive and idle and vacant


def broker_stands(world: StagedCluster, broker: int) -> None:
    """It registers as the controller, since there is none."""
    world.servers[broker].thread.begin(lambda controller: controller.elect(0))


def reply_is_lost(world: StagedCluster, broker: int) -> None:
    """The connection breaks after ZooKeeper executed what was asked."""
    world.servers[broker].thread.lose_answer()


# The event thread


def controller_goes_on(world: StagedCluster, broker: int) -> None:
    """The event that it is in the middle of goes on, as far as where it is suspended next."""
    world.servers[broker].thread.go_on()


def _next_event(world: StagedCluster) -> One:
    return [
        (broker,)
        for broker, server in world.servers.items()
        if server.events and server.alive
        and server.thread.controller.active and server.thread.place is None
    ]  # fmt: skip


def controller_handles_event(world: StagedCluster, broker: int) -> None:
    """The next event of its queue is taken, as far as where it is suspended first."""
    server = world.servers[broker]
    kind, subject = server.events.pop(0)
    epoch = world.leaving.pop(subject) if kind == "controlled_shutdown" else 0
    answer = server.answer_of(subject) if kind == ANSWER else None
    server.thread.begin(answer or _event(kind, subject, epoch))


def _event(kind: str, subject: int, epoch: int) -> WatchEvent:
    match kind:
        case "controller_change":  # to stand for election is a step of its own
            return lambda controller: controller.maybe_resign()
        case "broker_modification":
            return told(Notification(EventType.DATA_CHANGED, paths.broker(subject)))
        case "rebalance":
            return lambda controller: controller.guarded(controller.rebalance)
    for path, told_of in EVENT_OF.items():
        if told_of == kind:
            return told(Notification(EventType.CHILDREN_CHANGED, path))
    assert kind == "controlled_shutdown", f"an event of a controller, not {kind}"
    return lambda controller: _shut_down(controller, subject, epoch)


async def _shut_down(controller: EventController, subject: int, epoch: int) -> None:
    with contextlib.suppress(BrokerNotAvailable, StaleBrokerEpoch):
        await controller.guarded(lambda: controller.brokers.shut_down(subject, epoch))


# Requests


def _arriving(*kinds: type) -> Callable[[StagedCluster], One]:
    def candidates(world: StagedCluster) -> One:
        found: list[tuple[int, ...]] = []
        for sender, to, queue in world.queues():
            if not world.servers[to].up or not isinstance(queue[0].request, kinds):
                continue
            if isinstance(queue[0].request, LeaderAndIsr):
                found += [(to, sender, one.partition) for one in queue[0].request.partitions]
            else:
                found.append((to, sender))
        return found

    return candidates


def leader_and_isr_arrives(
    world: StagedCluster, broker: int, sender: int, partition: int
) -> None:  # fmt: skip
    """A broker leads or follows as it is told, or refuses to; one partition after the other.

    After the last one it answers, which is an event where it says anything of log directories.
    """
    server, channel = world.servers[broker], world.servers[sender].channels.to(broker)
    sent, one = channel.under_way, at(partition)
    assert sent is not None, "a request is under way"
    request = sent.request
    assert isinstance(request, LeaderAndIsr), "it is a LeaderAndIsr"
    orders = dict(request.partitions)
    order = orders.pop(one)
    error, errors = server.hear(sent, replace(request, partitions={one: order}))
    server.look(one)
    if orders and error == NONE:
        channel.under_way = replace(sent, request=replace(request, partitions=orders))
    else:
        channel.done()
    if error != NONE:
        return
    controller = world.servers[sender]
    controller.note(broker, one, errors[one])
    if not orders and broker in controller.answered:
        add_event(controller, ANSWER, broker)


def request_arrives(world: StagedCluster, broker: int, sender: int) -> None:
    """UpdateMetadata or StopReplica is carried out, or refused."""
    server = world.servers[broker]
    channel = world.servers[sender].channels.to(broker)
    sent = channel.under_way
    assert sent is not None, "a request is under way"
    channel.done()
    server.hear(sent, sent.request)


def _orphaned(world: StagedCluster) -> One:
    return [
        (to, sender)
        for sender, server in world.servers.items()
        for to in sorted(server.channels.orphans)
        if world.servers[to].up
    ]


def orphaned_request_arrives(world: StagedCluster, broker: int, sender: int) -> None:
    """Its channel was closed when it was under way: nobody waits for the answer."""
    sent = world.servers[sender].channels.orphans.pop(broker).under_way
    assert sent is not None, "what is orphaned is under way"
    world.servers[broker].hear(sent, sent.request)


KINDS = (
    offered("broker_stands", "broker", brokers_that(_may_stand), broker_stands),
    offered("reply_is_lost", "broker",
                brokers_that(lambda _, one: one.waits_for_reply and not one.reply_is_lost),
                reply_is_lost),
    offered("controller_goes_on", "broker",
                brokers_that(lambda _, one: one.thread.place is not None and not one.is_blocked),
                controller_goes_on),
    offered("controller_handles_event", "broker", _next_event,
                controller_handles_event),
    offered("leader_and_isr_arrives", "broker sender partition", _arriving(LeaderAndIsr),
          leader_and_isr_arrives),
    offered("update_metadata_arrives", "broker sender", _arriving(UpdateMetadata),
                request_arrives),
    offered("stop_replica_arrives", "broker sender", _arriving(StopReplica), request_arrives),
    offered("orphaned_request_arrives", "broker sender", _orphaned, orphaned_request_arrives),
)  # fmt: skip

ALL = (*KINDS, *directories.KINDS, *lifecycle.KINDS, *operators.KINDS, *leaders.KINDS)

for _one in sorted(ALL, key=lambda kind: kind.name):
    STAGED_KINDS[_one.name] = _one

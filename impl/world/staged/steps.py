"""Steps of a staged cluster: becoming controller, the controller's event thread, requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from impl.core.answers import NONE
from impl.core.requests import LeaderAndIsr, StopReplica, UpdateMetadata
from impl.sim.steps import offered
from impl.world import simulated_cluster
from impl.world.staged import directories, leaders, lifecycle, operators
from impl.world.staged.leaders import at
from impl.world.staged.lifecycle import staged_that
from impl.world.staged.server import ANSWER, StagedBroker
from impl.world.staged.world import STAGED_KINDS, StagedCluster
from impl.znodes import paths

One = Iterable[tuple[int, ...]]


# Election


def _may_stand(world: StagedCluster, server: StagedBroker) -> bool:
    idle = not server.thread.controller.active and server.thread.place is None
    vacant = paths.CONTROLLER not in world.zookeeper.nodes
    return server.up and server.alive and idle and vacant


def broker_stands(world: StagedCluster, broker: int) -> None:
    """It registers as the controller, since there is none."""
    world.nodes[broker].thread.begin(lambda controller: controller.elect(0))


def reply_is_lost(world: StagedCluster, broker: int) -> None:
    """The connection breaks after ZooKeeper executed what was asked."""
    world.nodes[broker].thread.lose_answer()


# The event thread


def controller_goes_on(world: StagedCluster, broker: int) -> None:
    """The event that it is in the middle of goes on, as far as where it is suspended next."""
    world.nodes[broker].thread.go_on()


def _next_event(world: StagedCluster) -> One:
    return [
        (broker,)
        for broker, server in world.nodes.items()
        if server.events.waiting and server.alive
        and server.thread.controller.active and server.thread.place is None
    ]  # fmt: skip


def controller_handles_event(world: StagedCluster, broker: int) -> None:
    """The next event of its queue is taken, as far as where it is suspended first."""
    server = world.nodes[broker]
    event = server.events.waiting.popleft()
    is_answer = event.name == ANSWER
    server.thread.begin(server.answer_of(event.broker) if is_answer else event.work)


# Requests


def _arriving(*kinds: type) -> Callable[[StagedCluster], One]:
    def candidates(world: StagedCluster) -> One:
        found: list[tuple[int, ...]] = []
        for sender, to, queue in world.queues():
            if not world.nodes[to].up or not isinstance(queue[0].request, kinds):
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
    """A broker leads or follows as requested, or refuses to; one partition after the other.

    After the last one it answers, which is an event where it says anything of log directories.
    """
    server, channel = world.nodes[broker], world.nodes[sender].channels.to(broker)
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
    controller = world.nodes[sender]
    controller.note(broker, one, errors[one])
    if not orders and broker in controller.answered:
        controller.hears_answer(broker)


def request_arrives(world: StagedCluster, broker: int, sender: int) -> None:
    """UpdateMetadata or StopReplica is carried out, or refused."""
    server = world.nodes[broker]
    channel = world.nodes[sender].channels.to(broker)
    sent = channel.under_way
    assert sent is not None, "a request is under way"
    channel.done()
    server.hear(sent)


def _orphaned(world: StagedCluster) -> One:
    return [
        (to, sender)
        for sender, server in world.nodes.items()
        for to, channel in sorted(server.channels.orphans.items())
        if channel.under_way is not None and world.nodes[to].up
    ]


def orphaned_request_arrives(world: StagedCluster, broker: int, sender: int) -> None:
    """Its channel was closed when it was under way: nobody waits for the answer."""
    sent = world.nodes[sender].channels.orphans.pop(broker).under_way
    assert sent is not None, "what is orphaned is under way"
    world.nodes[broker].hear(sent)


KINDS = (
    offered("broker_stands", "broker", staged_that(_may_stand), broker_stands),
    offered("reply_is_lost", "broker",
                staged_that(lambda _, one: one.waits_for_reply and not one.reply_is_lost),
                reply_is_lost),
    offered("controller_goes_on", "broker",
                staged_that(lambda _, one: one.thread.place is not None and not one.is_blocked),
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

ALL = (
    *simulated_cluster.KINDS,
    *KINDS,
    *directories.KINDS,
    *lifecycle.KINDS,
    *operators.KINDS,
    *leaders.KINDS,
)

for _one in sorted(ALL, key=lambda kind: kind.name):
    STAGED_KINDS[_one.name] = _one

"""Steps of a staged cluster: controllers' registrations and events, requests, timers and operators,
sessions and log directories."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product

from impl.core.answers import NONE
from impl.core.broker_changes import ShutdownRefused
from impl.core.event_controller import EventController
from impl.core.requests import LeaderAndIsr, StopReplica, UpdateMetadata
from impl.sim.simulation import Arguments, Candidates, by_name, offered
from impl.world import simulated_cluster
from impl.world.processes import broker_reconnects, session_expires
from impl.world.simulated_cluster import broker_stops, brokers_that, leaders_are_rebalanced
from impl.world.staged import leaders
from impl.world.staged.leaders import at
from impl.world.staged.server import ANSWER, SHUTDOWN, StagedBroker
from impl.world.staged.staged_cluster import StagedCluster
from impl.znodes import TopicPartition, paths
from impl.znodes.brokers import broker_version, encode_broker


def _staged_that(
    rule: Callable[[StagedCluster, StagedBroker], bool],
) -> Candidates:
    """Steps of one broker, where a rule holds of it."""
    return lambda world: [(one,) for one, node in world.nodes.items() if rule(world, node)]


# Election


def _may_stand(world: StagedCluster, server: StagedBroker) -> bool:
    idle = not server.thread.controller.active and server.thread.place is None
    vacant = paths.CONTROLLER not in world.zookeeper.nodes
    return server.up and server.alive and idle and vacant


def broker_runs_for_controller(world: StagedCluster, broker: int) -> None:
    """A broker tries to become controller, since /controller is missing."""
    world.nodes[broker].thread.begin(lambda controller: controller.elect(0))


def reply_to_registration_is_lost(world: StagedCluster, broker: int) -> None:
    """The connection breaks after ZooKeeper executed the registration."""
    world.nodes[broker].thread.lose_answer()


# The event thread


def controller_continues_event(world: StagedCluster, broker: int) -> None:
    """Its suspended event resumes, up to its next suspension point."""
    world.nodes[broker].thread.resume()


def _next_event(world: StagedCluster) -> Arguments:
    return [
        (broker,)
        for broker, server in world.nodes.items()
        if server.events.waiting and server.alive
        and server.thread.controller.active and server.thread.place is None
    ]  # fmt: skip


def controller_handles_event(world: StagedCluster, broker: int) -> None:
    """The next event of its queue is begun, and runs to its first suspension point."""
    server = world.nodes[broker]
    event = server.events.waiting.popleft()
    is_answer = event.name == ANSWER
    server.thread.begin(server.response_event(event.broker) if is_answer else event.work)


# Requests


def _arriving(*kinds: type) -> Callable[[StagedCluster], Arguments]:
    def candidates(world: StagedCluster) -> Arguments:
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
    """A broker applies or refuses the request, one partition after the other.

    After the last one it responds; a response about log directories is a controller event.
    """
    server, channel = world.nodes[broker], world.nodes[sender].channels.to(broker)
    sent, one = channel.under_way, at(partition)
    assert sent is not None, "a request is under way"
    request = sent.request
    assert isinstance(request, LeaderAndIsr), "it is a LeaderAndIsr"
    entries = dict(request.partitions)
    entry = entries.pop(one)
    error, errors = server.handle_request(sent, replace(request, partitions={one: entry}))
    if entries and error == NONE:
        channel.under_way = replace(sent, request=replace(request, partitions=entries))
    else:
        channel.done()
    if error != NONE:
        return
    controller = world.nodes[sender]
    controller.note(broker, one, errors[one])
    if not entries and broker in controller.answered:
        controller.handle_response(broker)


def request_arrives(world: StagedCluster, broker: int, sender: int) -> None:
    """UpdateMetadata or StopReplica is carried out, or refused."""
    server = world.nodes[broker]
    channel = world.nodes[sender].channels.to(broker)
    sent = channel.under_way
    assert sent is not None, "a request is under way"
    channel.done()
    server.handle_request(sent)


def _orphaned(world: StagedCluster) -> Arguments:
    return [
        (to, sender)
        for sender, server in world.nodes.items()
        for to, channel in sorted(server.channels.orphans.items())
        if channel.under_way is not None and world.nodes[to].up
    ]


def orphaned_request_arrives(world: StagedCluster, broker: int, sender: int) -> None:
    """Its channel was closed while it was in flight: its response is ignored."""
    sent = world.nodes[sender].channels.orphans.pop(broker).under_way
    assert sent is not None, "what is orphaned is under way"
    world.nodes[broker].handle_request(sent)


# Sessions and log directories


def _replaces(world: StagedCluster, server: StagedBroker) -> bool:
    """Up to 2.1 its registration fails while the old node is there (KAFKA-7165)."""
    return server.lingers and server.up and world.release.since("2.2")


def session_ends_before_its_nodes(world: StagedCluster, broker: int) -> None:
    """ZooKeeper expired the session, and has not removed its znodes yet."""
    world.nodes[broker].lingers = True


def _replicas_that(
    rule: Callable[[StagedBroker, TopicPartition], bool],
) -> Candidates:
    """Steps of one replica, where a rule holds of its broker and its partition."""
    return lambda world: [
        (broker, partition.partition)
        for partition, replicas in world.assignment.items()
        for broker in replicas
        if rule(world.nodes[broker], partition)
    ]


def log_directory_fails(world: StagedCluster, broker: int, partition: int) -> None:
    """The replica is offline at once; the broker keeps its other log directories."""
    world.nodes[broker].lose(at(partition))


def _may_fail_alone(world: StagedCluster) -> Arguments:
    """Up to 0.11 a broker halts whose log directory fails: it crashes (KIP-112, 1.0)."""
    if not world.release.since("1.0"):
        return []
    return _replicas_that(lambda server, one: server.up and not server.has_failed(one))(world)


def log_directory_is_repaired(world: StagedCluster, broker: int, partition: int) -> None:
    """A failed log directory is repaired while its broker is stopped."""
    world.nodes[broker].repair(at(partition))


# Controlled shutdowns, operators, timers, and repeated requests


def _may_ask(world: StagedCluster, server: StagedBroker) -> bool:
    queued = {
        event.broker
        for node in world.nodes.values()
        for event in node.events.waiting
        if event.name == SHUTDOWN
    }
    pending = server.broker in world.asked or server.broker in queued
    return server.up and server.alive and server.departure == "stays" and not pending


def broker_asks_for_controlled_shutdown(world: StagedCluster, broker: int) -> None:
    """A broker that is about to stop sends ControlledShutdown with its broker epoch."""
    world.nodes[broker].departure = "asks"
    world.asked[broker] = world.nodes[broker].epoch


def _controllers(world: StagedCluster) -> list[int]:
    return [one for one, server in world.nodes.items() if server.thread.controller.active]


def shutdown_request_arrives(world: StagedCluster, broker: int, subject: int) -> None:
    """A ControlledShutdown request enters a controller's event queue."""
    epoch = world.asked.pop(subject)

    async def shut_down(controller: EventController) -> None:
        with contextlib.suppress(ShutdownRefused):
            await controller.guarded(lambda: controller.brokers.shut_down(subject, epoch))

    world.nodes[broker].put(SHUTDOWN, shut_down, subject)


def broker_changes_endpoints(world: StagedCluster, broker: int) -> None:
    """Other listeners are written into its registration (KIP-226)."""
    server = world.nodes[broker]
    server.port += 1
    version = broker_version(world.release)
    world.zookeeper.set_data(paths.broker(broker), encode_broker(server.info(), version))


def _repeatable(world: StagedCluster) -> Arguments:
    return [
        (to, sender)
        for sender, to, queue in world.queues()
        if isinstance(queue[0].request, StopReplica)
        and world.nodes[to].up and to not in world.late
    ]  # fmt: skip


def stop_replica_is_sent_again(world: StagedCluster, broker: int, sender: int) -> None:
    """The connection breaks under a StopReplica: its first copy arrives late."""
    world.late[broker] = world.queue(sender, broker)[0]


def _late(world: StagedCluster) -> Arguments:
    return [(broker,) for broker in sorted(world.late) if world.nodes[broker].up]


def late_stop_replica_arrives(world: StagedCluster, broker: int) -> None:
    """The delayed copy arrives, possibly after requests that were sent later."""
    sent, server = world.late.pop(broker), world.nodes[broker]
    server.handle_request(sent)


KINDS = (
    offered("broker_runs_for_controller", "broker", _staged_that(_may_stand),
                broker_runs_for_controller),
    offered("reply_to_registration_is_lost", "broker",
                _staged_that(lambda _,
                             one: one.waits_for_reply and not one.reply_to_registration_is_lost),
                reply_to_registration_is_lost),
    offered("controller_continues_event", "broker",
                _staged_that(lambda _, one: one.thread.place is not None and not one.is_blocked),
                controller_continues_event),
    offered("controller_handles_event", "broker", _next_event,
                controller_handles_event),
    offered("leader_and_isr_arrives", "broker sender partition", _arriving(LeaderAndIsr),
          leader_and_isr_arrives),
    offered("update_metadata_arrives", "broker sender", _arriving(UpdateMetadata),
                request_arrives),
    offered("stop_replica_arrives", "broker sender", _arriving(StopReplica), request_arrives),
    offered("orphaned_request_arrives", "broker sender", _orphaned, orphaned_request_arrives),
    offered("session_ends_before_its_nodes", "broker",
            brokers_that(lambda one: one.up and one.alive and not one.lingers),
            session_ends_before_its_nodes),
    offered("node_of_expired_session_is_deleted", "broker", brokers_that(lambda one: one.lingers),
            session_expires),
    offered("broker_replaces_its_old_registration", "broker",
            _staged_that(_replaces), broker_reconnects),
    offered("log_directory_fails", "broker partition", _may_fail_alone, log_directory_fails),
    offered("log_directory_is_repaired", "broker partition",
                _replicas_that(lambda server, one: not server.up and server.has_failed(one)),
                log_directory_is_repaired),
    offered("broker_asks_for_controlled_shutdown", "broker", _staged_that(_may_ask),
            broker_asks_for_controlled_shutdown),
    offered("shutdown_request_arrives", "broker subject",
                lambda world: product(_controllers(world), sorted(world.asked)),
                shutdown_request_arrives),
    offered("broker_stops", "broker",
                _staged_that(lambda _, one: one.departure == "may_go"), broker_stops),
    offered("broker_changes_endpoints", "broker",
                brokers_that(lambda one: one.up and one.alive and not one.lingers),
                broker_changes_endpoints),
    offered("leaders_are_rebalanced", "broker", brokers_that(lambda one: one.has_begun),
                leaders_are_rebalanced),
    offered("stop_replica_is_sent_again", "broker sender", _repeatable,
                stop_replica_is_sent_again),
    offered("late_stop_replica_arrives", "broker", _late, late_stop_replica_arrives),
)  # fmt: skip

STAGED_CLUSTER_STEPS = by_name(simulated_cluster.KINDS, KINDS, leaders.KINDS)
"""Every step of a staged cluster."""

staged_cluster = partial(StagedCluster, STAGED_CLUSTER_STEPS)
"""A cluster with these steps."""

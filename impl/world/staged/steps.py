"""Steps of a staged cluster: the way into office, the event thread, and requests."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from dataclasses import replace

from impl.core.broker_events import BrokerNotAvailable, StaleBrokerEpoch
from impl.core.imbalance import candidates
from impl.core.requests import LeaderAndIsr, StopReplica, UpdateMetadata
from impl.core.states import PartitionState
from impl.world.staged import leaders, lifecycle, operators
from impl.world.staged.leaders import at
from impl.world.staged.lifecycle import brokers_that
from impl.world.staged.server import Server
from impl.world.staged.session import CAMPAIGN
from impl.world.staged.world import (
    STAGED_KINDS,
    StagedCluster,
    StagedKind,
    add_event,
    staged_kind,
)
from impl.znodes import TopicPartition, paths
from impl.zookeeper.port import wait

One = Iterable[tuple[int, ...]]
BROKER = ("broker",)


# The way into office


def _may_stand(world: StagedCluster, server: Server) -> bool:
    idle = not server.thread.controller.active and not server.thread.label
    vacant = paths.CONTROLLER not in world.zookeeper.nodes
    return server.up and server.alive and idle and vacant


def broker_stands(world: StagedCluster, broker: int) -> None:
    """It registers; ZooKeeper has executed that, and the answer is on its way."""
    thread = world.servers[broker].thread
    thread.begin(lambda: wait(thread.controller.elect(0)))


def _campaigns(world: StagedCluster, server: Server) -> bool:
    return server.thread.label == CAMPAIGN


def broker_hears(world: StagedCluster, broker: int) -> None:
    """The answer comes; or it was lost, and the broker asks again."""
    world.servers[broker].thread.go_on()


def reply_is_lost(world: StagedCluster, broker: int) -> None:
    """The connection breaks after ZooKeeper executed the registration."""
    world.servers[broker].thread.lose_reply()


def _waits_for_its_reply(world: StagedCluster, server: Server) -> bool:
    return _campaigns(world, server) and not server.thread.reply_is_lost


def _may_hear(world: StagedCluster, server: Server) -> bool:
    thread = server.thread
    return _campaigns(world, server) and (server.alive or not thread.reply_is_lost)


# The event thread

NEED_SESSION = ("reads_context", "reads_state", "elects", "removes", "compares", "cleans")
"""What the thread asks ZooKeeper; who compares brokers would hear first that its session is over.
"""


def acts(label: str, needs: str = "") -> Callable[[StagedCluster], One]:
    """The arguments of the next stage of controllers whose thread is at a label."""

    def candidates(world: StagedCluster) -> One:
        found: list[tuple[int, ...]] = []
        for broker, server in world.servers.items():
            thread = server.thread
            if thread.label != label or (not server.alive and _asks_zookeeper(server)):
                continue
            if label == "reads_context" and _reads_though_deposed(world, server):
                continue
            if label == "compares" and _differs_in_the_model(world, server):
                continue
            if label == "finds_newer" and thread.stack.subject:
                continue  # it would stop the replica all the same
            args: tuple[int, ...] = (broker,)
            if "member" in needs:
                args += (thread.stack.member,)
            if thread.stack.partition is not None:
                args += (thread.stack.partition.partition,)
            found.append(args)
        return found

    return candidates


def _asks_zookeeper(server: Server) -> bool:
    """Its next stage needs the session."""
    stack = server.thread.stack
    return stack.label in NEED_SESSION


def _reads_though_deposed(world: StagedCluster, server: Server) -> bool:
    """Nothing is to be deleted, so that no fence stops a deposed controller from reading."""
    office = wait(world.admin.controller_epoch())
    newest = office is not None and office.epoch == server.thread.core.context.epoch
    notes = [
        name for parent in (paths.ISR_CHANGES, paths.LOG_DIR_EVENTS)
        for name in world.zookeeper.children(parent)
    ]  # fmt: skip
    return not newest and not notes


def controller_goes_on(world: StagedCluster, broker: int, *_: int) -> None:
    """The next stage of the event that it is in the middle of."""
    server = world.servers[broker]
    began = server.thread.label
    server.thread.go_on()
    if began == "cleans" and server.thread.controller.active:
        add_event(server, "preferred_election", 0)
    if began == "reads_context" and server.thread.controller.active:
        _forget_echoes(server)
        if wait(server.session.exists(paths.PREFERRED_ELECTION, watch=True)):
            add_event(server, "preferred_election", 0)
    _after_stage(world, server)


def _forget_echoes(server: Server) -> None:
    """What it deleted itself fires its watches; it would look, and find nothing."""
    kept = []
    for event in server.session.events():
        if event.path in (paths.ISR_CHANGES, paths.LOG_DIR_EVENTS):
            wait(server.session.children(event.path, watch=True))
        else:
            kept.append(event)
    if kept:
        server.zookeeper.watches.pending[server.session.session] = kept


def _after_stage(world: StagedCluster, server: Server) -> None:
    if not server.thread.controller.active:
        server.thread.forget()
        server.events.clear()
        world.drop_requests(server.broker)


def _next_event(world: StagedCluster) -> One:
    return [
        (broker, server.events[0][1])
        for broker, server in world.servers.items()
        if server.events and server.alive
        and server.thread.controller.active and not server.thread.label
        and not _differs_in_the_model(world, server) and not _rebalances_otherwise(server)
        and not _asks_from_long_ago(world, server)
    ]  # fmt: skip


def _asks_from_long_ago(world: StagedCluster, server: Server) -> bool:
    """Of three registrations a ControlledShutdown names the first, and the controller knows the
    second: what comes of that is left out."""
    kind, subject = server.events[0]
    known = server.thread.core.context.broker_epochs.get(subject)
    if kind != "controlled_shutdown" or known is None:
        return False
    return world.leaving[subject] < known != world.servers[subject].registered


def _differs_in_the_model(world: StagedCluster, server: Server) -> bool:
    """A broker fails while a partition is offline and none loses its leader now; or one that was
    found to have bounced has bounced again, or gone, before its turn."""
    stack, context = server.thread.stack, server.thread.core.context
    if stack.label == "compares" and server.thread.label:
        change = server.thread.controller.brokers.last_change
        failing = {*stack.failing}
        if any(stack.epochs[one] != world.servers[one].registered for one in change["bounced"]):
            return True
    elif server.events[0][0] == "broker_change":
        known = context.broker_epochs.items()
        failing = {one for one, epoch in known if epoch != world.servers[one].registered}
    else:
        return False
    offline = {*context.partitions_in(PartitionState.OFFLINE)}
    lost = [
        one
        for one, held in context.leadership.items()
        if one not in offline
        and (held.leader in failing or not context.is_replica_online(held.leader, one))
    ]
    return bool(failing and offline and not lost)


def _rebalances_otherwise(server: Server) -> bool:
    """Partitions of several preferred brokers are due, which have a batch each, or one without a
    leader is."""
    if server.events[0][0] != "rebalance":
        return False
    context = server.thread.core.context
    due = candidates(context, server.thread.core.config.imbalance_percentage, ())
    leaderless = any(context.leadership[one].leader < 0 for group in due.values() for one in group)
    return len(due) > 1 or leaderless


def controller_handles_event(world: StagedCluster, broker: int, subject: int) -> None:
    """The next event of its queue is taken, as far as its first stage."""
    server = world.servers[broker]
    thread, controller = server.thread, server.thread.controller
    kind, _ = server.events.pop(0)
    match kind:
        case "controller_change":
            thread.begin(thread.controller_changed)
        case "broker_change":
            thread.begin(lambda: wait(controller.guarded(controller.brokers.changed)))
            change = controller.brokers.last_change
            world.drop_requests(broker, [*change["bounced"], *change["dead"]])
        case "isr_change":
            thread.begin(lambda: wait(controller.guarded(controller.isrs_changed)))
        case "broker_modification":
            thread.begin(
                lambda: wait(controller.guarded(lambda: controller.brokers.modified(subject)))
            )
        case "preferred_election":
            thread.begin(lambda: wait(controller.guarded(controller.preferred_election)))
        case "rebalance":
            thread.begin(lambda: wait(controller.guarded(controller.rebalance)))
        case "controlled_shutdown":
            epoch = world.leaving.pop(subject)
            thread.begin(lambda: shut_down(world, server, subject, epoch))
    _after_stage(world, server)


def shut_down(world: StagedCluster, server: Server, subject: int, epoch: int) -> None:
    """``ControlledShutdown``; the broker goes if it was told that it leads nothing any more."""
    controller = server.thread.controller
    left: list[TopicPartition] | None = None

    def leave() -> None:
        nonlocal left
        left = wait(controller.brokers.shut_down(subject, epoch))

    with contextlib.suppress(BrokerNotAvailable, StaleBrokerEpoch):
        wait(controller.guarded(leave))
    if left == [] and world.servers[subject].departure == "asks":
        world.servers[subject].departure = "may_go"


# Requests


def _arriving(*kinds: type) -> Callable[[StagedCluster], One]:
    def candidates(world: StagedCluster) -> One:
        found: list[tuple[int, ...]] = []
        for (sender, to), queue in sorted(world.queues.items()):
            if not queue or not world.servers[to].up or not isinstance(queue[0].request, kinds):
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
    """A broker leads or follows as it is told, or refuses to; one partition after the other."""
    server, queue = world.servers[broker], world.queues[sender, broker]
    sent = queue.pop(0)
    request, one = sent.request, at(partition)
    assert isinstance(request, LeaderAndIsr), "it is a LeaderAndIsr"
    orders = dict(request.partitions)
    order = orders.pop(one)
    error, _ = server.replicas.hear(sent, replace(request, partitions={one: order}), server.epoch)
    if orders and error == "NONE":
        queue.insert(0, replace(sent, request=replace(request, partitions=orders)))
    server.look(one)


def request_arrives(world: StagedCluster, broker: int, sender: int) -> None:
    """UpdateMetadata or StopReplica is carried out, or refused."""
    server = world.servers[broker]
    sent = world.queues[sender, broker].pop(0)
    server.replicas.hear(sent, sent.request, server.epoch)


def _stage(name: str, label: str, parameters: str = "broker") -> StagedKind:
    return staged_kind(
        name,
        parameters,
        acts(label, parameters.replace("leader", "member").replace("replica", "member")),
        controller_goes_on,
    )


KINDS = (
    staged_kind("broker_stands", "broker", brokers_that(_may_stand), broker_stands),
    staged_kind("broker_hears", "broker", brokers_that(_may_hear), broker_hears),
    staged_kind("reply_is_lost", "broker", brokers_that(_waits_for_its_reply), reply_is_lost),
    staged_kind("controller_handles_event", "broker subject", _next_event,
                controller_handles_event),
    _stage("controller_reads_context", "reads_context"),
    _stage("controller_announces_brokers", "announces"),
    _stage("controller_restores_replicas", "restores"),
    _stage("controller_reads_state", "reads_state", "broker partition"),
    _stage("controller_elects", "elects", "broker leader partition"),
    _stage("controller_finds_nobody", "finds_nobody", "broker partition"),
    _stage("controller_finds_a_newer_controller", "finds_newer", "broker partition"),
    _stage("controller_removes_replica", "removes", "broker replica partition"),
    _stage("controller_finds_it_removed", "finds_removed", "broker replica partition"),
    _stage("controller_sends_batch", "tells"),
    _stage("controller_notifies_brokers", "notifies"),
    _stage("controller_welcomes_brokers", "welcomes"),
    _stage("controller_instates_replicas", "instates"),
    _stage("controller_compares_brokers", "compares"),
    _stage("controller_cleans_request", "cleans"),
    _stage("controller_stops_follower", "stops"),
    _stage("controller_answers_shutdown", "answers"),
    staged_kind("leader_and_isr_arrives", "broker sender partition", _arriving(LeaderAndIsr),
          leader_and_isr_arrives),
    staged_kind("update_metadata_arrives", "broker sender", _arriving(UpdateMetadata),
                request_arrives),
    staged_kind("stop_replica_arrives", "broker sender", _arriving(StopReplica), request_arrives),
)  # fmt: skip

ALL = (*KINDS, *lifecycle.KINDS, *operators.KINDS, *leaders.KINDS)

for _one in sorted(ALL, key=lambda kind: kind.name):
    STAGED_KINDS[_one.name] = _one

"""Steps of a staged cluster: processes and sessions, controllers, requests, leaders."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from impl.controller.requests import LeaderAndIsr, StopReplica, UpdateMetadata
from impl.world import wide_leaders
from impl.world.wide_leaders import at
from impl.world.wide_server import Server
from impl.world.wide_session import CAMPAIGN
from impl.world.wide_staged import STAGED_KINDS, StagedCluster, StagedKind, staged_kind
from impl.znodes import paths
from impl.znodes.cluster import decode_controller

One = Iterable[tuple[int, ...]]
BROKER = ("broker",)


def brokers_that(rule: Callable[[StagedCluster, Server], bool]) -> Callable[[StagedCluster], One]:
    """Steps of one broker, where a rule holds of it."""
    return lambda world: [(one,) for one, server in world.servers.items() if rule(world, server)]


# Processes and sessions


def broker_crashes(world: StagedCluster, broker: int) -> None:
    """The process is killed; what it wrote and its session stay."""
    for partition in world.assignment:
        world.servers[broker].look(partition)
    world.servers[broker].crash()
    world.drop_requests(broker)


def broker_starts(world: StagedCluster, broker: int) -> None:
    """A new process on the same disk, once the last registration is gone."""
    world.servers[broker].start()
    world.refuse_old_requests(broker)


def session_expires(world: StagedCluster, broker: int) -> None:
    """ZooKeeper ends the session, of a live process or a dead one: its nodes go."""
    server = world.servers[broker]
    server.lingers = False
    server.session.close()


def broker_reconnects(world: StagedCluster, broker: int) -> None:
    """A live process notices that its session is over, leaves office and registers anew."""
    world.drop_requests(broker)
    world.servers[broker].reconnect()
    world.refuse_old_requests(broker)


def session_ends_before_its_nodes(world: StagedCluster, broker: int) -> None:
    """The server has given the session up, and has not removed its nodes yet."""
    world.servers[broker].lingers = True


def controller_node_is_deleted(world: StagedCluster) -> None:
    """An operator deletes /controller."""
    world.zookeeper.delete(paths.CONTROLLER)


def _in_office(world: StagedCluster) -> One:
    node = world.zookeeper.nodes.get(paths.CONTROLLER)
    owner = None if node is None else world.servers[decode_controller(node.data)]
    return [()] if owner is not None and owner.up else []


# The way into office


def _may_stand(world: StagedCluster, server: Server) -> bool:
    idle = not server.thread.controller.active and not server.thread.label
    vacant = paths.CONTROLLER not in world.zookeeper.nodes
    return server.up and server.alive and idle and vacant


def broker_stands(world: StagedCluster, broker: int) -> None:
    """It registers; ZooKeeper has executed that, and the answer is on its way."""
    thread = world.servers[broker].thread
    thread.begin(lambda: thread.controller.elect(0))


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

NEED_SESSION = ("reads_context", "reads_state", "elects", "removes", "compares")
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
            args: tuple[int, ...] = (broker,)
            if "member" in needs:
                args += (thread.stack.member,)
            if thread.stack.partition is not None:
                args += (thread.stack.partition.partition,)
            found.append(args)
        return found

    return candidates


def _asks_zookeeper(server: Server) -> bool:
    """Its next stage needs the session; the last one of a failover looks for requests."""
    stack, machine = server.thread.stack, server.thread.stack.machine
    last = stack.is_within("failover") and machine is not None and machine.elects
    return stack.label in NEED_SESSION or (stack.label == "tells" and last)


def _reads_though_deposed(world: StagedCluster, server: Server) -> bool:
    """Nothing is to be deleted, so that no fence stops a deposed controller from reading."""
    office = world.admin.controller_epoch()
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
    if began == "reads_context":
        _forget_echoes(server)
    _after_stage(world, server)


def _forget_echoes(server: Server) -> None:
    """What it deleted itself fires its watches; it would look, and find nothing."""
    kept = []
    for event in server.session.events():
        if event.path in (paths.ISR_CHANGES, paths.LOG_DIR_EVENTS):
            server.session.children(event.path, watch=True)
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
    ]  # fmt: skip


def controller_handles_event(world: StagedCluster, broker: int, subject: int) -> None:
    """The next event of its queue is taken, as far as its first stage."""
    server = world.servers[broker]
    thread, controller = server.thread, server.thread.controller
    kind, _ = server.events.pop(0)
    match kind:
        case "controller_change":
            thread.begin(thread.controller_changed)
        case "broker_change":
            thread.begin(lambda: controller.guarded(controller.brokers.changed))
            change = controller.brokers.last_change
            world.drop_requests(broker, [*change["bounced"], *change["dead"]])
        case "isr_change":
            thread.begin(lambda: controller.guarded(controller.isrs_changed))
    _after_stage(world, server)


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
    staged_kind("broker_crashes", "broker", brokers_that(lambda _, one: one.up), broker_crashes),
    staged_kind("broker_starts", "broker",
          brokers_that(lambda _, one: not one.up and not one.registered), broker_starts),
    staged_kind("session_expires", "broker",
          brokers_that(lambda _, one: one.alive and not one.lingers), session_expires),
    staged_kind("broker_reconnects", "broker",
          brokers_that(lambda _, one: one.up and not one.alive), broker_reconnects),
    staged_kind("session_ends_before_its_nodes", "broker",
          brokers_that(lambda _, one: one.up and one.alive and not one.lingers),
          session_ends_before_its_nodes),
    staged_kind("node_of_an_ended_session_goes", "broker",
          brokers_that(lambda _, one: one.lingers), session_expires),
    staged_kind("broker_replaces_its_old_node", "broker",
          brokers_that(lambda _, one: one.lingers and one.up), broker_reconnects),
    staged_kind("controller_node_is_deleted", "", _in_office, controller_node_is_deleted),
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
    staged_kind("leader_and_isr_arrives", "broker sender partition", _arriving(LeaderAndIsr),
          leader_and_isr_arrives),
    staged_kind("update_metadata_arrives", "broker sender", _arriving(UpdateMetadata),
                request_arrives),
    staged_kind("stop_replica_arrives", "broker sender", _arriving(StopReplica), request_arrives),
)  # fmt: skip

for _one in sorted((*KINDS, *wide_leaders.KINDS), key=lambda kind: kind.name):
    STAGED_KINDS[_one.name] = _one

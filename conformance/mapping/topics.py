"""The map of `topics`: a topic's life without faults, batch by batch (`impl.world.topic_life`).

What a controller is about to do is where it was put down; a step of the model is what it does until
it is put down again, or is done.
"""

from __future__ import annotations

from collections.abc import Mapping

from conformance.mapping.rows import Facts, FactTable, Row, SystemMap, row
from impl.controller.cluster_context import Replica
from impl.controller.requests import LeaderAndIsr, Request, StopReplica
from impl.controller.states import ReplicaState
from impl.releases import DEFAULT
from impl.world.topic_life import TOPIC, TopicLife
from impl.znodes import TopicPartition, paths
from impl.znodes.cluster import decode_controller_epoch
from model.topics.state import (
    DIRECTORIES,
    ORDERS,
    PARTITION_STATES,
    REPLICA_STATES,
    ROLES,
    STOPS,
    TASKS,
)

_BATCH = "what the controller does until it may be put down again; what that is, the state says"

ROWS: dict[str, Row] = {
    one.step: one
    for one in (
        row("admin_creates_topic", "first second third count", "admin_creates_topic"),
        row("admin_adds_partition", "partition first second third", "admin_adds_partition"),
        row("admin_deletes_topic", "", "admin_deletes_topic"),
        row("broker_stands", "broker", "broker_becomes_controller",
            why="the epoch is read and the registration executed in one; `election` has the two"),
        row("controller_goes_on", "broker",
            "broker_learns_it_won", "controller_reads_context", "replica_state_machine_starts",
            "partition_state_machine_starts", "controller_makes_partitions",
            "controller_makes_replicas", "controller_creates_states", "controller_enlists_replicas",
            "deletion_starts", "controller_stops_replicas", "controller_deletes_replicas",
            "deletion_waits", "deletion_is_complete", "topic_node_is_removed",
            "request_is_removed",
            why=f"{_BATCH}; of an ISR whose members all go offline the leader stays, because it "
                "goes last: Kafka has a hash map's order"),
        row("partition_is_removed", "broker partition", "partition_node_is_removed",
            why="ZooKeeper lists children in no order, and they are removed in the order listed"),
        row("controller_hears_of_topics", "broker",
            "controller_sees_topic", "controller_sees_no_other_topic",
            why="a session's notifications may be handled in any order here, in Kafka in theirs"),
        row("controller_hears_of_partitions", "broker",
            "controller_sees_partitions", "controller_undoes_addition",
            "controller_sees_no_other_partition"),
        row("controller_hears_of_deletions", "broker",
            "controller_queues_deletion", "controller_drops_request", "controller_sees_no_request",
            why="a controller that drops a request is told of that by its own watch, and finds "
                "nothing: the model leaves that echo out"),
        row("answer_arrives", "broker replica", "controller_hears_deletion"),
        row("orders_arrive", "broker controller", "broker_obeys_leader_and_isr",
            why="the LeaderAndIsr requests that are next on a connection are obeyed in one step"),
        row("stops_arrive", "broker controller", "broker_stops_replicas",
            why="the StopReplica requests that are next on a connection are obeyed in one step"),
    )
}  # fmt: skip

UNOBSERVED: dict[str, str] = {
    "deleted_once": "ghost",
    "risen": "ghost",
    "left_behind": "ghost",
    "disk_failed": "ghost",
    "up": "every process runs in this world",
    **{
        f"spent.{name}": "a budget of the explorer"
        for name in ("crashes", "expiries", "losses", "moves", "failures", "conflicts",
                     "elections", "shutdowns")
    },
}  # fmt: skip


_FAULT = "a fault, or what follows one: nobody crashes here, and no session ends"
_MOVES = "leaders are not moved here"

LEFT_OUT: dict[str, str] = {
    **dict.fromkeys((
        "broker_crashes", "session_expires", "broker_starts", "broker_reconnects", "reply_is_lost",
        "broker_finds_it_moved", "controller_resigns", "controller_node_is_deleted",
        "controller_write_is_fenced", "controller_sees_topic_gone", "controller_sees_failure",
        "controller_elects_for_failed", "controller_takes_replicas_offline",
        "controller_sees_start", "controller_elects_for_started", "deletion_is_retried",
        "broker_refuses_older_controller", "broker_cannot_delete", "leader_expands_isr",
        "leader_expands_isr_first", "controller_write_conflicts", "request_is_lost"), _FAULT),
    **dict.fromkeys((
        "controller_elects_preferred", "controller_begins_shutdown", "controller_moves_leaders",
        "controller_stops_followers"), _MOVES),
}  # fmt: skip


def facts(world: TopicLife) -> Facts:
    """ZooKeeper, the controllers' memories, what is under way, and what brokers hold."""
    table = FactTable()
    owner = world.admin.controller()
    table.put("zk.controller", (), owner or 0)
    epoch = world.zookeeper.nodes[paths.CONTROLLER_EPOCH]
    table.put("zk.epoch", (), decode_controller_epoch(epoch.data))
    table.members("zk.registered", (), world.admin.brokers())
    _lists(table, "zk.assignment", (), world.registered_lists())
    table.put("zk.requested", (), bool(world.admin.deletions()))
    for number in world.partitions:
        state = world.admin.state(TopicPartition(TOPIC, number))
        if state is not None:
            table.put("zk.state.exists", (number,), True)
            table.put("zk.state.leader", (number,), max(state.leader, 0))
            table.members("zk.state.isr", (number,), state.isr)
    for broker in world.brokers:
        _controller(table, world, broker)
        _broker(table, world, broker)
    _under_way(table, world)
    return table.found


def _lists(
    table: FactTable, field: str, at: tuple[int, ...], lists: Mapping[int, tuple[int, ...]]
) -> None:
    for number, replicas in lists.items():
        for place, replica in enumerate(replicas):
            table.put(field, (*at, number, place), replica)


def _controller(table: FactTable, world: TopicLife, broker: int) -> None:
    at, label = (broker,), world.acts(broker)
    one = world.controllers[broker]
    if label == "campaign":
        table.put("campaign", at, one.port.campaign)
        return
    if label is None:
        return
    context = one.core.context
    table.put("belief", at, context.epoch)
    table.put("cache.task", at, TASKS.code(label))
    for kind in world.inbox[broker]:
        table.put(f"cache.told.{kind}", at, True)
    if label == "reads_zookeeper":
        return
    table.members("cache.live", at, context.live)
    table.members("cache.reached", at, context.broker_epochs)
    _lists(table, "cache.known", at, world.known(broker))
    table.put("cache.queued", at, TOPIC in context.queued_for_deletion)
    table.put("cache.started", at, TOPIC in context.deletion_started)
    table.put("cache.ineligible", at, TOPIC in context.ineligible_for_deletion)
    _states(table, world, broker, label)


def _states(table: FactTable, world: TopicLife, broker: int, label: str) -> None:
    core = world.controllers[broker].core
    for number, replicas in world.known(broker).items():
        partition = TopicPartition(TOPIC, number)
        known = core.context.leadership.get(partition)
        if known is not None:
            table.put("cache.led", (broker, number), True)
            table.put("cache.leader", (broker, number), max(known.leader, 0))
        if label.startswith("starts_"):  # it enters its states in the next batches
            state = core.partitions.initial_state(partition)
        else:
            state = core.context.partition_state(partition)
        table.put("cache.partition", (broker, number), PARTITION_STATES.code(state.value))
        for member in replicas:
            found = core.context.replica_state(Replica(partition, member))
            if label == "starts_replicas":
                alive = core.context.is_replica_online(member, partition)
                found = ReplicaState.ONLINE if alive else ReplicaState.DELETION_INELIGIBLE
            code = REPLICA_STATES.code(found.value)
            table.put("cache.replica", (broker, number, member), code)


def _broker(table: FactTable, world: TopicLife, broker: int) -> None:
    one = world.hosted[broker]
    table.put("seen", (broker,), one.seen)
    for number, role in one.roles:
        table.put("replica.role", (broker, number), ROLES.code(role))
    for number in one.directories:
        table.put("replica.directory", (broker, number), DIRECTORIES.code("current"))


def _under_way(table: FactTable, world: TopicLife) -> None:
    for to, queue in world.connections.items():
        for request in queue:
            _request(table, to, request)
    for to, numbers in world.answers.items():
        for number in numbers:
            table.put("request.stop", (*to, number), STOPS.code("deleted"))


def _request(table: FactTable, to: tuple[int, int], request: Request) -> None:
    if isinstance(request, LeaderAndIsr):
        for partition, order in request.partitions.items():
            leader = order.state.leader
            name = "lead" if leader == to[1] else "follow"
            code = ORDERS.code(name if leader >= 0 else "leaderless")
            table.put("request.order", (*to, partition.partition), code)
    elif isinstance(request, StopReplica):
        for partition, stop in request.partitions.items():
            code = STOPS.code("delete" if stop.delete else "stop")
            table.put("request.stop", (*to, partition.partition), code)


def _world(bounds: Mapping[str, int], version: str | None) -> TopicLife:
    return TopicLife(bounds["brokers"], bounds["partitions"], version or DEFAULT)


MAP = SystemMap(
    system="topics",
    rows=ROWS,
    world=_world,
    facts=facts,
    unobserved=UNOBSERVED,
    left_out=LEFT_OUT,
    small={
        "brokers": 2, "partitions": 1, "controllers": 1, "crashes": 0, "expiries": 0, "losses": 0,
        "moves": 0, "failures": 0, "conflicts": 0, "elections": 0, "shutdowns": 0,
    },
)  # fmt: skip

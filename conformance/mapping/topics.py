"""The map of `topics`: a topic's life, batch by batch, fault by fault (`impl.world.stepped`).

A controller's next action is derived from where it is suspended (`topics_tasks`); one step of the
model is what it does until it is suspended again, or is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from conformance.mapping.rows import (
    NOT_FENCED_AT_THE_END,
    Facts,
    FactTable,
    Run,
    StepRow,
    SystemMap,
    row,
)
from conformance.mapping.topics_families import FAMILIES, LARGE
from conformance.mapping.topics_tasks import CAMPAIGN, gone, returns, task_of
from impl.core.cluster_context import Replica
from impl.core.requests import LeaderAndIsr, StopReplica
from impl.releases import DEFAULT, Release
from impl.sim.suspension_points import frames_of, is_lost, registered_epoch
from impl.world.stepped.batches import BATCHES, is_return, returned
from impl.world.stepped.controller_run import TOPIC, is_to_write
from impl.world.stepped.in_memory_broker import RequestInFlight
from impl.world.stepped.stepped_cluster import SteppedCluster
from impl.world.stepped.stepped_steps import stepped_cluster
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait
from model.topics.state import (
    DIRECTORIES,
    LEADER_AND_ISR,
    PARTITION_STATES,
    REPLICA_STATES,
    ROLES,
    STOPS,
    TASKS,
)

_REFUSED = "a deposed controller's write is refused, and it resigns in the same event"
_BATCH = "what the controller does until it is suspended again; what that is, the state says"


_NEXT = (
    "broker_learns_it_won", "broker_loses_controller_election", "controller_reads_context",
    "replica_state_machine_starts", "partition_state_machine_starts",
    "controller_creates_new_partitions", "controller_creates_new_replicas",
    "controller_brings_partitions_online", "controller_brings_new_replicas_online",
    "controller_elects_for_failed", "controller_takes_replicas_offline",
    "controller_elects_for_started",
    "controller_moves_leaders", "controller_stops_followers",
    "deletion_is_retried", "deletion_starts",
    "controller_stops_replicas", "controller_deletes_replicas",
    "deletion_waits", "deletion_is_complete", "topic_znode_is_deleted",
    "request_is_removed", "controller_write_is_fenced",
)  # fmt: skip
"""What a controller may do that goes on, and neither meets a state that was written meanwhile, nor
welcomes a broker that is back."""


def _next_transitions(world: SteppedCluster, broker: int) -> tuple[tuple[str, ...], dict[str, int]]:
    place = world.place(broker)
    if place is not None and is_return(place):
        return ("controller_starts_bounced_broker",), {"started": returned(place)[0]}
    if is_to_write(place) and not world.is_fenced(broker):
        return ("controller_write_conflicts",), {}
    return _NEXT, {}


ROWS: dict[str, StepRow] = {
    one.step: one
    for one in (
        row("admin_creates_topic", "first second third count", "admin_creates_topic"),
        row("admin_adds_partition", "partition first second third", "admin_adds_partition"),
        row("admin_deletes_topic", "", "admin_deletes_topic"),
        row("broker_runs_for_controller", "broker", "broker_becomes_controller",
            why="the epoch is read and the registration executed in one; `election` has the two"),
        row("controller_resigns", "broker", "controller_resigns",
            why="it looks at /controller while it waits for events; or its session is over, and "
                "with that what it was about to do"),
        row("controller_continues_event", "broker",
            *_NEXT, "controller_write_conflicts", "controller_starts_bounced_broker",
            possible_now=_next_transitions,
            why=f"{_BATCH}; what a batch has sent before a write of it is fenced is lost with the "
                "controllership, where Kafka's may be on its way; where all members of an ISR go "
                "offline the leader is the last, and stays: Kafka has the order of a hash map. "
                f"{NOT_FENCED_AT_THE_END}"),
        row("controller_continues_without_session", "broker",
            beyond="a controller whose session is over stands still in the model until it resigns; "
                "Kafka's ends what it does in memory, and sends: brokers that know a newer "
                "controller refuse that"),
        row("partition_is_removed", "broker partition", "partition_znode_is_deleted",
            why="ZooKeeper lists children in no order, and they are removed in the order listed"),
        row("controller_handles_topic_change", "broker",
            "controller_sees_topic", "controller_finds_no_new_topic", "controller_sees_topic_gone",
            why="a session's notifications may be handled in any order here, in Kafka in theirs"),
        row("controller_handles_partition_change", "broker",
            "controller_sees_partitions", "controller_undoes_addition", "controller_skips_addition",
            "controller_finds_no_new_partition", "controller_resigns",
            why=_REFUSED),
        row("controller_handles_topic_deletion", "broker",
            "controller_queues_deletion", "controller_drops_request", "controller_sees_no_request",
            "controller_resigns", why=_REFUSED),
        row("answer_arrives", "broker replica", "controller_receives_stop_replica_response",
            why="up to 2.2 there is an answer for each partition: they are heard in one step, as "
                "a request of the model is about all partitions"),
        row("broker_failure_is_handled", "broker failed", "controller_sees_failure"),
        row("broker_startup_is_handled", "broker started", "controller_sees_start"),
        row("broker_changes_are_handled_together", "broker",
            beyond="one broker comes or goes at a time in the model: Kafka's event takes all that "
                "changed"),
        row("preferred_is_elected", "broker partition", "controller_elects_preferred",
            "controller_resigns",
            why=f"{_REFUSED}; Kafka's controller sends LeaderAndIsr to a broker in controlled "
                "shutdown, too; in the model none follows a StopReplica on a connection"),
        row("broker_asks_for_controlled_shutdown", "broker subject",
            "controller_begins_controlled_shutdown"),
        row("leader_and_isr_arrives", "broker controller",
            "broker_obeys_leader_and_isr", "broker_refuses_older_controller",
            why="the LeaderAndIsr requests that are next on a connection are obeyed in one step; "
                "all that is under way on it is refused in one"),
        row("stop_replica_arrives", "broker controller",
            "broker_stops_replicas", "broker_refuses_older_controller",
            why="the StopReplica requests that are next on a connection are obeyed in one step; "
                "who is stopped obeys whatever comes next: the model has no leader epochs, and "
                "Kafka's broker keeps them, and ignores a LeaderAndIsr of the same one"),
        row("stops_fail", "broker controller", "broker_cannot_delete"),
        row("isr_is_expanded", "leader replica partition", "leader_expands_isr",
            why="its write is conditional on the version that is registered, not the one cached"),
        row("isr_is_expanded_first", "leader replica partition broker",
            "leader_expands_isr_before_controller_writes",
            why="the controller is before its first write of a state; what it has sent since the "
                "batch began leaves when the batch is over"),
        row("broker_crashes", "broker", "broker_crashes"),
        row("session_expires", "broker", "session_expires"),
        row("broker_starts", "broker", "broker_starts"),
        row("broker_reconnects", "broker", "broker_reconnects"),
        row("reply_to_registration_is_lost", "broker", "reply_to_registration_is_lost"),
        row("request_is_lost", "controller broker", "request_is_lost"),
        row("controller_node_is_deleted", "", "controller_node_is_deleted"),
    )
}  # fmt: skip

UNOBSERVED: dict[str, str] = {
    "cache.followed": "within one event; what comes of it is seen",
    "deleted_once": "ghost",
    "risen": "ghost",
    "left_behind": "ghost",
    "disk_failed": "ghost",
    **{
        f"spent.{name}": "a budget of the explorer"
        for name in ("crashes", "expiries", "losses", "moves", "failures", "conflicts",
                     "elections", "shutdowns")
    },
}  # fmt: skip

LEFT_OUT: dict[str, str] = {
    "elected_broker_assumes_another_controller": "a fix that no release has: KAFKA-13407 is open",
}  # fmt: skip


WATCHES = {"topics", "partitions", "deletions"}
"""The events that a controller of the model is notified of."""


def facts(world: SteppedCluster) -> Facts:
    """ZooKeeper, the controllers' memories, what is in flight, and what brokers hold, as facts."""
    table = FactTable()
    owner = wait(world.admin.controller())
    table.put("zk.controller", (), owner or 0)
    table.put("zk.epoch", (), world.epoch())
    table.members("zk.registered", (), world.registrations())
    _lists(table, "zk.assignment", (), world.registered_lists())
    table.put("zk.requested", (), bool(wait(world.admin.deletions())))
    table.members("up", (), filter(world.is_up, world.brokers))
    for number in world.partitions:
        state = world.state(number)
        if state is not None:
            table.put("zk.state.exists", (number,), True)
            table.put("zk.state.leader", (number,), max(state.leader, 0))
            table.put("zk.state.epoch", (number,), state.controller_epoch)
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


def _controller(table: FactTable, world: SteppedCluster, broker: int) -> None:
    at, one = (broker,), world.controllers[broker]
    task = task_of(one)
    if task == CAMPAIGN and one.place is not None:
        table.put("campaign", at, registered_epoch(one.place.effect) or 0)
        table.put("reply_lost", at, is_lost(one.place))
        return
    if task is None:
        return
    context = world.context(broker)
    table.put("belief", at, context.epoch)
    table.put("cache.task", at, TASKS.code(task))
    for kind in world.inbox[broker] & WATCHES:
        table.put(f"cache.fired.{kind}", at, True)
    if task == "reads_zookeeper":
        return
    table.members("cache.live", at, context.live)
    table.members("cache.shutting", at, context.shutting_down)
    epochs = world.epochs if world.fences_brokers else context.broker_epochs
    reached = (one for one, epoch in context.broker_epochs.items() if epochs.get(one) == epoch)
    table.members("cache.reached", at, reached)
    _lists(table, "cache.known", at, world.known(broker))
    table.put("cache.queued", at, TOPIC in context.queued_for_deletion)
    table.put("cache.started", at, TOPIC in context.deletion_started)
    table.put("cache.ineligible", at, TOPIC in context.ineligible_for_deletion)
    _states(table, world, broker, task == "starts_replicas")
    if one.place is not None:
        _about(table, world, broker)


def _about(table: FactTable, world: SteppedCluster, broker: int) -> None:
    """What an event is about, and what of it the controller has read."""
    one = world.controllers[broker]
    frames = frames_of(one)
    table.put("cache.outdated", (broker,), is_to_write(one.place))
    table.put("cache.gone", (broker,), gone(frames))
    returned, epoch = returns(frames)
    table.put("cache.returns", (broker,), returned)
    if returned and world.epochs[returned] == epoch:
        table.put("cache.reached", (broker, returned), True)


def _states(table: FactTable, world: SteppedCluster, broker: int, starting: bool) -> None:
    core = world.controllers[broker].controller.core
    for number, replicas in world.known(broker).items():
        partition = TopicPartition(TOPIC, number)
        known = core.context.leadership.get(partition)
        if known is not None:
            table.put("cache.led", (broker, number), True)
            table.put("cache.leader", (broker, number), max(known.leader, 0))
        if starting:  # partitions enter their states after the replicas have
            state = core.partitions.initial_state(partition)
        else:
            state = core.context.partition_state(partition)
        table.put("cache.partition", (broker, number), PARTITION_STATES.code(state.value))
        for member in replicas:
            found = core.context.replica_state(Replica(partition, member))
            code = REPLICA_STATES.code(found.value)
            table.put("cache.replica", (broker, number, member), code)


def _broker(table: FactTable, world: SteppedCluster, broker: int) -> None:
    host = world.hosts[broker]
    table.put("seen", (broker,), host.seen)
    for number in world.partitions:
        table.put("replica.role", (broker, number), ROLES.code(world.role(broker, number)))
    for partition, (creation, _) in host.logs.held.items():
        directory = DIRECTORIES.code("stale" if creation != world.created else "current")
        table.put("replica.directory", (broker, partition.partition), directory)


def _under_way(table: FactTable, world: SteppedCluster) -> None:
    for to, queue in world.connections.items():
        host = world.hosts[to[1]]
        epochs = {one: held.leader_epoch for one, held in host.replicas.partitions.items()}
        for sent in queue:
            _request(table, to, sent, world, epochs)
    for to, answer in world.answers.items():
        for partition, error in answer.errors.items():
            code = STOPS.code("deleted" if error == "NONE" else "failed")
            table.put("request.stop", (*to, partition.partition), code)


def _request(
    table: FactTable,
    to: tuple[int, int],
    sent: RequestInFlight,
    world: SteppedCluster,
    epochs: dict[TopicPartition, int],
) -> None:
    """A request; of the leader epochs that the broker will know it raises those that it names."""
    if isinstance(sent.request, LeaderAndIsr):
        for partition, order in sent.request.partitions.items():
            leader, at = order.state.leader, (*to, partition.partition)
            name = "lead" if leader == to[1] else "follow"
            code = LEADER_AND_ISR.code(name if leader >= 0 else "leaderless")
            table.put("request.order", at, code)
            table.found.pop(("request.outdated", at), None)
            table.put("request.outdated", at, sent.creation != world.created)
            epochs[partition] = max(epochs.get(partition, -1), order.state.leader_epoch)
    elif isinstance(sent.request, StopReplica):
        for partition, stop in sent.request.partitions.items():
            name = "delete" if stop.delete else "stop"
            if world.hosts[to[1]].refuses_stop(epochs.get(partition), stop):
                name = "fenced"
            table.put("request.stop", (*to, partition.partition), STOPS.code(name))


MORE_ROWS: dict[str, StepRow] = {
    one.step: one
    for one in (
        row("dead_replica_is_reassigned", "broker replica", "dead_replica_is_reassigned",
            why="the whole move in one step, with what live brokers are sent, which they obey; "
                "`reassignment` has its steps"),
    )
}  # fmt: skip
"""Further faults of a topic: walks leave them out, stories may have them."""


def _world(
    bounds: Mapping[str, int], version: str | None, more: Iterable[str] = ()
) -> SteppedCluster:
    return stepped_cluster(
        bounds["brokers"], BATCHES, version or DEFAULT, bounds["partitions"], only={*ROWS, *more}
    )


def _with_moves(
    bounds: Mapping[str, int], version: str | None, switches: Mapping[str, object]
) -> SteppedCluster:
    """As released, with an administrator who moves replicas off a dead broker."""
    return _world(bounds, version, MORE_ROWS)


def _not_alike(version: str, run: Run) -> str | None:
    if Release.of(version).since("2.1") or not any("shutdown" in one for one, _ in run):
        return None
    return "in 1.1 and 2.0 a leader that goes gets no request (KAFKA-7482): `cluster` has that"


MAP = SystemMap(
    system="topics",
    rows=ROWS,
    world=_world,
    facts=facts,
    unobserved=UNOBSERVED,
    left_out=LEFT_OUT,
    not_alike=_not_alike,
    walked_since="1.1",
    story_switches={"dead_brokers_keep_their_replicas": (False,)},
    story_world=_with_moves,
    more_rows=MORE_ROWS,
    faulty={"request_znode_not_rewritten": ("2.0", "2.4")},
    families=FAMILIES | {name: replace(one, is_large=True) for name, one in LARGE.items()},
    small={
        "brokers": 2, "partitions": 1, "controllers": 1, "crashes": 0, "expiries": 0, "losses": 0,
        "moves": 0, "failures": 0, "conflicts": 0, "elections": 0, "shutdowns": 0,
    },
)  # fmt: skip

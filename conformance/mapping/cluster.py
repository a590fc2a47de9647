"""The map of `cluster`: whole controllers, effect by effect (`impl.world.staged.staged_cluster`).

The remaining work of a controller's thread is on its stack, in the middle of Kafka's procedures;
the model has it as sets in the partition's `context`. So the facts of a controller are read from
its memory and from the frames of its suspended event (`conformance.mapping.cluster_thread`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from conformance.mapping.cluster_thread import (
    TRANSITIONS,
    EventProgress,
    next_of,
    progress,
    suspends,
)
from conformance.mapping.rows import Facts, FactTable, Run, StepRow, SystemMap, row
from impl.core.event_manager import ControllerEvent
from impl.core.requests import LeaderAndIsr, UpdateMetadata
from impl.core.states import PartitionState
from impl.releases import DEFAULT
from impl.sim.effects import ZkOperation
from impl.sim.event_run import ControllerThread
from impl.sim.suspension_points import newest_controller_epoch, registered_epoch
from impl.world.simulated_broker import FIRST_PORT, SentRequest
from impl.world.simulated_cluster import REBALANCE
from impl.world.staged.leaders import has_all
from impl.world.staged.server import ANSWER, SHUTDOWN, StagedBroker
from impl.world.staged.staged_cluster import FIRST_ALIKE, TOPIC, StagedCluster, versions_in
from impl.world.staged.staged_steps import staged_cluster
from impl.znodes import TopicPartition, paths
from impl.znodes.brokers import decode_broker
from impl.znodes.cluster import decode_controller
from impl.zookeeper.port import wait
from model.cluster.state import EVENTS, LEAVING, REQUESTS, STAGES

NO_VERSION = -1

AS_RELEASED: dict[str, object] = {"isr_expansion_checks_liveness": False, "responses_fenced": False}
"""Faults that releases had and presets have not: a leader asks nobody who lives (to 3.2), and no
controller asks of which registration a broker's response about its log directories was."""

_OLD = "a request of an older controller is refused whole"

HANDLES: Mapping[str, tuple[str, ...]] = {
    "controller_change": ("controller_resigns", "controller_is_still_active"),
    "broker_change": (
        "controller_sees_new_brokers", "controller_sees_bounced_brokers",
        "controller_sees_dead_brokers", "controller_finds_brokers_unchanged"),
    "isr_change": (
        "controller_reads_isr_changes", "controller_finds_no_isr_change",
        "controller_write_is_fenced"),
    "log_dir_event": (
        "controller_sends_leader_and_isr_for_log_dirs", "controller_finds_no_log_dir_event",
        "controller_write_is_fenced"),
    "broker_modification": (
        "controller_reads_endpoints", "controller_finds_endpoints_unchanged"),
    "preferred_election": (
        "controller_begins_preferred_election", "controller_finds_no_request"),
    "rebalance": ("controller_begins_rebalance", "controller_finds_no_imbalance"),
    "controlled_shutdown": (
        "controller_begins_controlled_shutdown", "controller_refuses_controlled_shutdown"),
    "leader_and_isr_response": ("controller_marks_replicas_offline",
                                "controller_finds_log_dirs_unchanged"),
}  # fmt: skip
"""An event of a controller's queue -> the transitions that its first part may be."""


EVENT_OF: Mapping[str, str] = {
    paths.CONTROLLER: "controller_change",
    paths.BROKER_IDS: "broker_change",
    paths.ISR_CHANGES: "isr_change",
    paths.LOG_DIR_EVENTS: "log_dir_event",
    paths.PREFERRED_ELECTION: "preferred_election",
    REBALANCE: "rebalance",
    SHUTDOWN: "controlled_shutdown",
    ANSWER: "leader_and_isr_response",
}
"""An event, as a controller's queue names it -> the model's."""


def event_of(event: ControllerEvent) -> tuple[str, int]:
    """The model's event, and the broker that it is about, 0 if none."""
    registration, _, broker = event.name.rpartition("/")
    if registration == paths.BROKER_IDS:
        return "broker_modification", int(broker)
    return EVENT_OF[event.name], event.broker


def _next_event(server: StagedBroker) -> tuple[tuple[str, ...], dict[str, int]]:
    kind, subject = event_of(server.events.waiting[0])
    return HANDLES[kind], {"subject": subject}


def _late_stop_replica(world: StagedCluster, broker: int) -> tuple[tuple[str, ...], dict[str, int]]:
    """A request of an older controller is refused; in the model it stays delayed."""
    request, seen = world.late[broker].request, world.nodes[broker].replicas.controller_epoch
    is_obeyed = request.controller_epoch >= seen
    return (("late_stop_replica_arrives",) if is_obeyed else ()), {}


def _on_commit(
    world: StagedCluster, leader: int, partition: int
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Where everybody out of the ISR lacks a record already, the model sees no more of another."""
    one = TopicPartition(TOPIC, partition)
    isr = world.nodes[leader].replicas.partitions[one].isr
    outside = [member for member in world.assignment[one] if member not in isr]
    falls_behind = any(has_all(world, member, one) for member in outside)
    return (("leader_commits",) if falls_behind else ()), {}


def _on_controlled_shutdown(
    world: StagedCluster, broker: int
) -> tuple[tuple[str, ...], dict[str, int]]:
    return (() if world.release.since("2.6") else ("broker_asks_for_controlled_shutdown",)), {}


def _on_isr_expansion(
    world: StagedCluster, leader: int, replica: int, partition: int
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Up to 2.0.0 who has what its leader knows to be committed joins, and it may lack more."""
    lacks = not has_all(world, replica, TopicPartition(TOPIC, partition))
    is_old = not world.release.since("2.0.1")
    joins = ("leader_expands_isr", "leader_isr_write_is_refused")
    return (() if lacks and is_old else joins), {}


ROWS: dict[str, StepRow] = {
    one.step: one
    for one in (
        row("broker_crashes", "broker", "broker_crashes"),
        row("broker_starts", "broker", "broker_starts",
            why="requests to the last registration come at once, and are refused"),
        row("session_expires", "broker", "session_expires"),
        row("dead_session_expires", "broker", "session_expires"),
        row("broker_reconnects", "broker", "broker_reconnects"),
        row("session_ends_before_its_nodes", "broker", "session_ends_before_its_nodes"),
        row("node_of_expired_session_is_deleted", "broker", "node_of_expired_session_is_deleted"),
        row("broker_replaces_its_old_registration", "broker",
            "broker_replaces_its_old_registration",
            why="what else the last session left, /controller say, goes with the registration"),
        row("controller_node_is_deleted", "", "controller_node_is_deleted"),
        row("broker_runs_for_controller", "broker", "broker_becomes_controller",
            why="that its own /controller came is an event, too, by which the broker finds itself "
                "the controller and watches on: that is done at once"),
        row("reply_to_registration_is_lost", "broker", "reply_to_registration_is_lost"),
        row("controller_handles_event", "broker",
            *dict.fromkeys(one for names in HANDLES.values() for one in names),
            possible_now=lambda world, broker: _next_event(world.nodes[broker]),
            why="a controller that resigns as /controller is gone would stand at once: that is a "
                "step of its own. Of a ControlledShutdown that names an earlier registration than "
                "the controller may know the model leaves open whether it is refused"),
        row("controller_continues_event", "broker",
            *dict.fromkeys(one for names in TRANSITIONS.values() for one in names),
            possible_now=lambda world, broker: next_of(world.nodes[broker].thread),
            why="which of them it is, the effect says at which the event is suspended, and the "
                "procedures that it is in. A new controller that finds no request for preferred "
                "leaders deletes it all the same, in the same step: a request that comes in "
                "between goes unread in Kafka, and in the model it comes before or after. What is "
                "not there to be deleted changes nothing; the fence of it (2.1) is in both"),
        row("broker_asks_for_controlled_shutdown", "broker", "broker_asks_for_controlled_shutdown",
            possible_now=_on_controlled_shutdown,
            why="one request of a broker is under way at a time: who asks again after a restart "
                "does so when its earlier request has been answered, or its controller is gone. "
                "Since 2.6 who shuts down goes on following: its StopReplica names the leader "
                "epoch that it knows (KIP-570); `topics` has that, `cluster` the requests of 2.5"),
        row("shutdown_request_arrives", "broker subject", "shutdown_request_arrives"),
        row("broker_stops", "broker", "broker_stops"),
        row("broker_changes_endpoints", "broker", "broker_changes_endpoints",
            why="a broker that is new to its controller is watched once it is read; Kafka's "
                "watches it at the end of its start (registerBrokerModificationsHandler), so that "
                "a change of its endpoints in between goes unread there until the next"),
        row("preferred_election_is_requested", "", "admin_asks_for_preferred_leaders",
            why="a request that a new controller finds is worked on at the end of its failover; "
                "here it is an event, queued before all that comes"),
        row("leaders_are_rebalanced", "broker", "rebalance_timer_fires"),
        row("stop_replica_is_sent_again", "broker sender", "stop_replica_is_sent_again"),
        row("late_stop_replica_arrives", "broker", "late_stop_replica_arrives",
            possible_now=_late_stop_replica),
        row("leader_and_isr_arrives", "broker sender partition",
            "broker_becomes_leader", "broker_becomes_follower",
            "broker_finds_leader_not_in_metadata_cache", "older_epoch_is_refused",
            "older_controller_is_refused", "broker_answers_kafka_storage_error",
            why=f"{_OLD}; a log directory is reported before anything else"),
        row("log_directory_fails", "broker partition", "log_directory_fails"),
        row("log_directory_is_repaired", "broker partition", "log_directory_is_repaired"),
        row("log_dir_failure_is_reported", "broker", "broker_reports_log_dir_failure"),
        row("update_metadata_arrives", "broker sender",
            "broker_updates_metadata", "older_controller_is_refused", why=_OLD),
        row("stop_replica_arrives", "broker sender",
            "broker_stops_fetching", "older_controller_is_refused", why=_OLD),
        row("orphaned_request_arrives", "broker sender",
            beyond="what a channel has under way when it is closed may arrive all the same; in "
                   "`cluster` it is lost with the channel"),
        row("leader_commits", "leader partition", "leader_commits", possible_now=_on_commit,
            why="the append, the fetches of the ISR and the answer to the producer; `replication` "
                "has them one by one"),
        row("follower_catches_up", "follower leader partition", "follower_catches_up",
            silent="the two logs differ, but not in what was committed",
            why="all rounds of the fetcher, until nothing is left to be fetched"),
        row("leader_maybe_shrinks_isr", "leader replica partition",
            "leader_shrinks_isr", "leader_isr_write_is_refused",
            silent="the follower keeps up, or all that it lacks was not committed",
            why="Kafka removes all that are out of sync in one write; here they lag one by one"),
        row("leader_maybe_expands_isr", "leader replica partition",
            "leader_expands_isr", "leader_isr_write_is_refused",
            silent="the follower may not join the ISR yet", possible_now=_on_isr_expansion,
            why="up to 2.0.0 a leader whose high watermark is behind takes in who lacks what was "
                "committed (KAFKA-7128), which `replication` has"),
        row("broker_reports_isr_change", "broker partition", "broker_reports_isr_change",
            why="one partition at a time; Kafka puts several into one notification"),
    )
}  # fmt: skip

UNOBSERVED: dict[str, str] = {
    "former": "whose request is of an earlier registration shows when it is answered",
} | {
    f"spent.{name}": "a budget of the explorer"
    for name in ("crashes", "expiries", "losses", "shutdowns", "requests", "lingering",
                 "directories")
}  # fmt: skip


def facts(world: StagedCluster) -> Facts:
    """ZooKeeper, brokers, controllers and what is in flight, as facts of the model's `cluster`."""
    table = FactTable()
    _zookeeper(table, world)
    for broker, server in world.nodes.items():
        _broker(table, world, broker, server)
        _controller(table, world, broker, server)
    for partition in world.assignment:
        _partition(table, world, partition)
    return table.found


def _zookeeper(table: FactTable, world: StagedCluster) -> None:
    nodes = world.zookeeper.nodes
    owner = nodes.get(paths.CONTROLLER)
    table.put("zk.controller", (), 0 if owner is None else decode_controller(owner.data))
    table.put("zk.epoch", (), newest_controller_epoch(world.zookeeper).epoch)
    for broker, server in world.nodes.items():
        node = nodes.get(paths.broker(broker))
        table.put("zk.registered", (broker,), node is not None)
        table.put("zk.outlived", (broker,), server.lingers)
        port = server.port if node is None else decode_broker(broker, node.data).plaintext[1]
        table.put("zk.endpoints", (broker,), port - FIRST_PORT)
    table.members("zk.log_dir_events", (), set(wait(world.admin.log_dir_events()).values()))


def _broker(table: FactTable, world: StagedCluster, broker: int, server: StagedBroker) -> None:
    thread = server.thread
    table.put("up", (broker,), server.up)
    table.put("asked", (broker,), broker in world.asked)
    table.put("failure_unreported", (broker,), server.failure_unreported)
    late = world.late.get(broker)
    if late is not None:
        table.put("late.held", (broker,), True)
        table.put("late.controller", (broker,), late.request.controller_epoch)
        for partition in versions_in(late):
            table.put("late.about", (broker, partition.partition), True)
    table.put("leaving", (broker,), LEAVING.code(server.departure))
    if not server.up:
        return
    if server.waits_for_reply:
        table.put("campaign", (broker,), _claimed(thread))
        table.put("reply_lost", (broker,), server.reply_to_registration_is_lost)
    if thread.controller.active:
        table.put("belief", (broker,), thread.controller.core.context.epoch)
    table.put("seen", (broker,), server.replicas.controller_epoch)
    table.members("alive", (broker,), server.replicas.metadata.alive)
    for one, (_, port) in server.replicas.metadata.brokers.items():
        table.put("addresses", (broker, one), port - FIRST_PORT)
    waiting = server.events.waiting
    for slot, (kind, subject) in enumerate(map(event_of, waiting)):
        table.put("cache.events.at.kind", (broker, slot), EVENTS.code(kind))
        table.put("cache.events.at.subject", (broker, slot), subject)
    table.put("cache.events.end", (broker,), len(waiting))
    for to in world.nodes:
        queue = world.queue(broker, to)
        table.put("cache.queue.end", (broker, to), len(queue))
        for slot, sent in enumerate(queue):
            _request(table, (broker, to, slot), sent)


def _claimed(thread: ControllerThread) -> int:
    """The controller epoch that a registration, of which the answer is on its way, has written."""
    assert thread.place is not None, "an event is suspended"
    assert isinstance(thread.place.effect, ZkOperation), "it asks ZooKeeper"
    epoch = registered_epoch(thread.place.effect)
    assert epoch is not None, "it registers"
    return epoch


def _request(table: FactTable, at: tuple[int, int, int], sent: SentRequest) -> None:
    kinds = {LeaderAndIsr: "leader_and_isr", UpdateMetadata: "update_metadata"}
    kind = kinds.get(type(sent.request), "stop_replica")
    table.put("cache.queue.at.kind", at, REQUESTS.code(kind))
    for partition, version in versions_in(sent).items():
        table.put("cache.queue.at.about", (*at, partition.partition), version, NO_VERSION)
    if isinstance(sent.request, UpdateMetadata):
        table.members("cache.queue.at.alive", at, sent.request.live_brokers)
        for one, port in sent.ports.items():
            table.put("cache.queue.at.endpoints", (*at, one), port - FIRST_PORT)


# Controllers


def _controller(table: FactTable, world: StagedCluster, broker: int, server: StagedBroker) -> None:
    thread, at = server.thread, (broker,)
    if not server.up or not thread.controller.active:
        return
    now = progress(thread)
    context = thread.controller.core.context
    table.put("cache.stage", at, STAGES.code(now.stage))
    if now.label == "reads_context":
        return
    live, epochs = context.live_or_shutting_down, {**context.broker_epochs, **now.epochs}
    fenced = world.release.since("2.2")
    if now.label == "compares" and fenced:
        live = live | {*now.failing}
    if now.label == "announces_new" and now.epochs.keys() >= {*now.started}:
        live = live - {*now.started}
    table.members("cache.live", at, live)
    table.members("cache.reached", at, [
        one for one, epoch in epochs.items()
        if not fenced or (epoch == world.nodes[one].epoch and one not in now.dead)
    ])  # fmt: skip
    nodes, watching = world.zookeeper.nodes, world.zookeeper.watches.data
    table.members("cache.watched", at, [
        one for one in world.nodes
        if (path := paths.broker(one)) in nodes
        and server.session.session in watching.get(path, ())
    ])  # fmt: skip
    for one, info in context.broker_infos.items():
        table.put("cache.endpoints", (broker, one), info.plaintext[1] - FIRST_PORT)
    table.members("cache.started", at, now.started)
    table.members("cache.shutting", at, context.shutting_down)
    table.put("cache.subject", at, now.subject)
    table.members("cache.bounced", at, now.bounced)
    table.members("cache.dead", at, now.dead)
    table.members("cache.unbalanced", at, now.unbalanced)
    for partition in world.assignment:
        _known(table, server, now, partition)


def _known(
    table: FactTable, server: StagedBroker, now: EventProgress, partition: TopicPartition
) -> None:
    context = server.thread.controller.core.context
    at = (partition.partition, server.broker)
    known = context.leadership.get(partition)
    version = 0 if known is None else known.zk_version
    table.put("partition.context.version", at, now.written.get(partition, version))
    offline = context.partition_state(partition) is PartitionState.OFFLINE
    table.put("partition.context.offline", at, offline and partition not in now.elected)
    table.members("partition.context.gone", at, now.going.get(partition, ()))
    table.put("partition.context.due", at, partition in now.due)
    table.put("partition.context.read", at, now.read.get(partition, NO_VERSION), NO_VERSION)
    table.put("partition.context.batched", at, partition in now.found)
    table.put("partition.context.stops", at, partition in now.stopped)
    for subject, (refused, obeyed) in server.answered.items():
        table.put("partition.context.refusing", (*at, subject), partition in refused)
        table.put("partition.context.obeying", (*at, subject), partition in obeyed)
    lost = [one for one, there in context.offline_directories.items() if partition in there]
    table.members("partition.context.lost", at, lost)


# Partitions


def _partition(table: FactTable, world: StagedCluster, partition: TopicPartition) -> None:
    number = partition.partition
    states = world.history[partition]
    table.put("partition.version", (number,), len(states) - 1)
    for version, state in enumerate(states):
        at = (number, version)
        table.put("partition.state.leader", at, max(state.leader, 0))
        table.put("partition.state.epoch", at, state.leader_epoch)
        table.members("partition.state.isr", at, state.isr)
        table.put("partition.state.controller", at, state.controller_epoch)
    replicas = world.assignment[partition]
    table.members("partition.replicas", (number,), replicas)
    for place, broker in enumerate(_in_order(world, replicas)):
        table.put("partition.place", (number, broker), place)
    noted = {one for group in wait(world.admin.isr_changes()).values() for one in group}
    table.put("partition.noted", (number,), partition in noted)
    wanted = wait(world.admin.preferred_election()) or ()
    table.put("partition.wanted", (number,), partition in wanted)
    for broker, server in world.nodes.items():
        table.put("partition.failed", (number, broker), server.has_failed(partition))
        _replica(table, server, partition, (number, broker))
    complete = [one for one in replicas if has_all(world, one, partition)]
    table.members("partition.complete", (number,), complete)


def _in_order(world: StagedCluster, replicas: Iterable[int]) -> list[int]:
    """The model numbers every broker's place, whether it is assigned or not."""
    listed = [*replicas]
    return listed + [one for one in sorted(world.nodes) if one not in listed]


def _replica(
    table: FactTable, server: StagedBroker, partition: TopicPartition, at: tuple[int, int]
) -> None:
    if not server.up:
        return
    known = server.replicas.metadata.partitions.get(partition)
    if known is not None:
        table.put("partition.known", at, known.state.zk_version, NO_VERSION)
    hosted = server.replicas.partitions.get(partition)
    if hosted is not None and hosted.leader_epoch >= 0:
        table.put("partition.replica.version", at, hosted.zk_version, NO_VERSION)
        table.put("partition.replica.fetching", at, server.is_following(partition))
    # ReplicaManager.isrChangeSet outlives the replica: a failed directory takes nothing out of it.
    table.put("partition.replica.unreported", at, partition in server.replicas.isr_changes)


def _world(bounds: Mapping[str, int], version: str | None) -> StagedCluster:
    shape = bounds["brokers"], bounds["partitions"], bounds["replicas"]
    return staged_cluster(*shape, version or DEFAULT, grain=suspends)


def _not_alike(version: str, run: Run) -> str | None:
    lives, known, asked = Counter[int](), Counter[int](), dict[int, int]()
    electing = set[int]()
    for name, given in run:
        if name == "controller_elects_preferred":
            electing.add(given["broker"])
        elif name == "controller_sends_preferred_batch":
            electing.discard(given["broker"])
        elif name == "controller_reads_state" and given["broker"] in electing:
            return "of a preferred election all states are read before the first is written (1.1)"
        if name in ("broker_starts", "broker_reconnects", "broker_replaces_its_old_registration"):
            lives[given["broker"]] += 1
        if name == "broker_asks_for_controlled_shutdown":
            asked[given["broker"]] = lives[given["broker"]]
        elif name == "controller_reads_context":
            known = lives.copy()
        elif name == "controller_begins_controlled_shutdown" and (
            asked.get(given["subject"]) != known[given["subject"]]
        ):
            return (
                "a ControlledShutdown names an earlier registration than the controller knows: it "
                "is refused (2.2), and the model leaves open whether it is"
            )
    return None


BOUNDS = {
    "brokers": 3, "partitions": 1, "replicas": 3, "versions": 16, "epoch": 10, "controllers": 6,
    "queue": 10, "events": 5, "endpoints": 2,
}  # fmt: skip
"""How far a walk may go; a step beyond is left out on both sides."""

MAP = SystemMap(
    system="cluster",
    rows=ROWS,
    world=_world,
    facts=facts,
    unobserved=UNOBSERVED,
    switches=AS_RELEASED,
    faulty={"request_znode_not_rewritten": ("2.0", "2.4")},
    not_alike=_not_alike,
    walked_since=FIRST_ALIKE,
    in_releases={  # where no request names a registration, nobody tells the two apart
        "controller_misses_bounced_brokers": "controller_finds_brokers_unchanged"},
    small={
        "brokers": 2, "partitions": 1, "replicas": 2, "versions": 2, "epoch": 2, "controllers": 1,
        "queue": 3, "events": 3, "endpoints": 0, "crashes": 0, "expiries": 1, "losses": 0,
        "shutdowns": 0, "requests": 0, "directories": 0, "lingering": 0,
    },
)  # fmt: skip

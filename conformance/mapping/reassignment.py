"""The map of `reassignment`: a partition that moves, write by write (`impl.world.stepped`).

A controller's next action, its task in the model, is derived from where its event is suspended: the
procedures on its stack, and the next effect. One step of the model is what the controller does
until it is suspended again, or done.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.mapping.rows import (
    NOT_FENCED_AT_THE_END,
    Facts,
    FactTable,
    Family,
    Run,
    StepRow,
    SystemMap,
    row,
)
from impl.core.deletion import DeletionManager
from impl.core.event_controller import EventController
from impl.core.reassigner import Reassigner
from impl.core.requests import LeaderAndIsr, PartitionMetadata, StopReplica
from impl.releases import DEFAULT, Release
from impl.sim.effects import JournalReport, SendRequests
from impl.sim.event_run import ControllerThread
from impl.sim.simulation import Step
from impl.sim.suspension_points import is_lost, registered_epoch
from impl.world.stepped.controller_run import FIRST, writes_state
from impl.world.stepped.in_memory_broker import RequestInFlight
from impl.world.stepped.moves import UNKNOWN, has_news, registered_state, state_known_by
from impl.world.stepped.stepped_cluster import SteppedCluster
from impl.world.stepped.stepped_steps import stepped_cluster
from impl.world.stepped.writes import (
    OTHER,
    WRITES,
    electing,
    finishing,
    going_offline,
    is_triggered,
    reads_state,
    rewriting,
    would_elect,
)
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait
from model.reassignment.state import OTHERS, ROLES, STOPS, TASKS

_BATCH = "what the controller does until it may be suspended again; the state says what that is"

_CUT_OFF = (
    "a controller whose session is over stands still in the model until it resigns; Kafka's ends "
    "what it does in memory"
)
_AT_ONCE = "one broker comes or goes at a time in the model: Kafka's event takes all that changed"
_BOUNCED = (
    "who came back before anybody missed it fails and starts in one event (2.2); in the model it "
    "starts, which is the same unless it leads, or is in the ISR, where Kafka elects another first"
)

_DELETION_BEGINS = (
    "a controller that is notified of a deletion begins it, whatever moves: what it does then, and "
    "what brokers that come and go mean to it, `topics` has; here is what a controller does that "
    "finds a move, or a request for one, and for which the deletion waits"
)

_BATCHES = (
    "broker_learns_it_won", "broker_loses_controller_election", "controller_reads_context",
    "controller_writes_union_of_replicas",
    "controller_bumps_epoch", "controller_sets_target_in_memory", "controller_keeps_leader",
    "controller_finds_no_target_to_lead", "controller_deletes_old_replicas",
    "controller_writes_target_replicas", "controller_removes_request_entry",
    "controller_sends_final_update_metadata", "controller_deletes_cancelled_adding_replicas",
    "controller_write_is_fenced",
)  # fmt: skip
"""What a controller does that goes on, as long as nothing has come in between."""

_BEGINS = (
    "controller_begins_move", "controller_begins_with_targets_in_sync",
    "controller_drops_request_already_assigned", "controller_drops_unknown_partition",
    "controller_drops_move_of_deleted_topic", "controller_drops_move_to_dead_broker",
    "controller_write_is_fenced", "controller_resigns",
)  # fmt: skip
"""What it does with a request for moves."""

PossibleTransitions = tuple[tuple[str, ...], dict[str, int]]
"""Which transitions a step may be, and what the model's arguments are beside the step's own."""


def _next_transitions(world: SteppedCluster, broker: int) -> PossibleTransitions:
    """What a controller does next, by what it is in the middle of and by the state as it is."""
    thread = world.controllers[broker]
    place = thread.place
    if thread.takes_up_work and world.state() is None:
        return (), {}  # the model's controllers read the cluster when there is a partition
    if _deletes(thread) or (thread.takes_up_work and _finds_topic_to_delete(world, thread)):
        return (), {}
    if place is None or not (reads_state(place) or writes_state(place)):
        return (_BEGINS if is_triggered(place) else _BATCHES), {}
    state, news = registered_state(world), has_news(world, broker)
    reads = not place.is_done and reads_state(place)
    deposed = world.is_deposed(broker)
    offline = going_offline(thread)
    if offline is not None and task_of_controller(thread) == "removing":
        if not (deposed or news):
            return ("controller_removes_dead_replica",), {"dead": offline.f_locals["broker"]}
    elif offline is not None:
        replica = {"replica": offline.f_locals["broker"]}
        if (reads or (news and not deposed)) and replica["replica"] not in state.isr:
            return ("controller_skips_old_replica_outside_isr",), replica
        if not (deposed or news):
            return _LEAVES, replica
    if deposed:
        return _BATCHES, {}  # to a write that is fenced
    if news:
        return ("controller_write_conflicts",), {}
    elected = would_elect(thread, state)
    if elected is None:
        return _BATCHES, {}
    moves = thread.frame_of(Reassigner._move_leader) is not None
    name = "controller_moves_leader_to_target" if moves else "controller_elects_leader"
    return (name,), {"leader": elected}


def _deletes(thread: ControllerThread) -> bool:
    """It has begun to delete the topic, which the model has not."""
    return thread.frame_of(DeletionManager.resume) is not None


def _finds_topic_to_delete(world: SteppedCluster, thread: ControllerThread) -> bool:
    """An elected controller will find a topic to be deleted that does not move, or who has a
    replica of it, or is in its ISR, dead."""
    if not wait(world.admin.deletions()):
        return False
    state, node = world.state(), wait(world.admin.topic(FIRST.topic))
    assert state is not None, "there is a partition"
    assert node is not None, "there is a partition"
    assignment = node.partitions[FIRST.partition]
    moves = (
        assignment.is_being_reassigned
        if world.release.since("2.4")
        else FIRST in {**thread.controller.reassigner.targets, **wait(world.admin.reassignments())}
    )
    return not moves or not {*assignment.replicas, *state.isr} <= {*world.registrations()}


def _on_lost_response(world: SteppedCluster, broker: int) -> PossibleTransitions:
    """Which write of the state it is whose answer is lost: none that is about the dead."""
    thread = world.controllers[broker]
    if task_of_controller(thread) in ("electing", "removing"):
        return (), {}
    offline = going_offline(thread)
    if offline is not None:
        return ("controller_loses_response_to_isr_removal",), {
            "replica": offline.f_locals["broker"]
        }
    elected = would_elect(thread, registered_state(world))
    if elected is None:
        return ("controller_loses_response_to_epoch_bump",), {}
    return ("controller_loses_response_to_leader_change",), {"leader": elected}


def _on_broker_failure(world: SteppedCluster, broker: int, dead: int) -> PossibleTransitions:
    """Who is registered again has bounced: that is no step of the model where it matters who leads
    or is in the ISR."""
    if _is_queued(world, broker):
        return (), {}
    if not world.is_registered(dead):
        return ("controller_sees_broker_failure",), {}
    state = world.state()
    if state is not None and dead in (state.leader, *state.isr):
        return (), {}
    return ("controller_sees_broker_startup",), {"started": dead}


def _is_queued(world: SteppedCluster, broker: int) -> bool:
    """The controller has the topic queued for deletion."""
    return FIRST.topic in world.context(broker).queued_for_deletion


def _on_broker_startup(world: SteppedCluster, broker: int, started: int) -> PossibleTransitions:
    """Who comes starts the deletion again that waits in a controller's memory."""
    return (() if _is_queued(world, broker) else ("controller_sees_broker_startup",)), {}


def _on_withdrawal(world: SteppedCluster) -> PossibleTransitions:
    """Up to 2.3: since then the model's administrators ask the controller."""
    return (() if world.release.since("2.4") else ("admin_withdraws_request",)), {}


def _leader_and_isr_epoch(
    world: SteppedCluster, broker: int, controller: int
) -> PossibleTransitions:
    """The leader epoch of a LeaderAndIsr is an argument of the model's."""
    epoch = world.connections[controller, broker][0].epoch
    return ROWS["leader_and_isr_arrives"].transitions, {"epoch": epoch}


ROWS: dict[str, StepRow] = {
    one.step: one
    for one in (
        row("topic_is_created", "first second third", "topic_is_created",
            why="its znodes are written and its replicas notified as a controller would"),
        row("admin_requests_reassignment", "first second third", "admin_requests_reassignment"),
        row("admin_requests_two_reassignments", "first second third",
            "admin_requests_two_reassignments"),
        row("controller_handles_other_reassignment", "broker",
            "controller_completes_other_reassignment", "controller_write_is_fenced",
            why="the other partition's leader takes its targets in right before; its whole move "
                "is one step, and its replicas are not sent requests"),
        row("admin_sends_alter_reassignments", "broker first second third",
            "controller_is_asked_to_reassign", "controller_resigns",
            why="the topic's znode is written before it is suspended for the first time; of a "
                "deposed controller that write is fenced, and it resigns in the same event"),
        row("admin_cancels_reassignment", "broker", "controller_cancels_move", "controller_resigns",
            why="a deposed controller resigns at the fence of the topic's znode"),
        row("admin_requests_unknown_partition", "", "admin_requests_unknown_partition"),
        row("controller_node_is_deleted", "", "controller_node_is_deleted"),
        row("controller_aborts_event", "broker", "controller_resigns",
            why="the model lets the watch fire in the middle of an event, of which the rest is "
                "dropped then; Kafka's thread goes on to the end, or to a write that is fenced"),
        row("broker_runs_for_controller", "broker", "broker_becomes_controller",
            why="the epoch is read and the registration executed in one; `election` has the two"),
        row("controller_continues_event", "broker",
            *_BATCHES, *_BEGINS, "controller_write_conflicts", "controller_moves_leader_to_target",
            "controller_elects_leader", "controller_removes_dead_replica",
            "controller_takes_old_replica_offline", "controller_skips_old_replica_outside_isr",
            possible_now=_next_transitions,
            why=f"{_BATCH}; whom it elects, or takes offline, is found by the state as it is. "
                "Step 5 tells who is online already what he knows, which arrives with what is "
                "before it and is refused. It looks at the state right before it writes, and is "
                "suspended where that tells it something new; or its write was refused, and it "
                "looks again. Of several old replicas the one with the lowest id leaves first. "
                f"{NOT_FENCED_AT_THE_END}"),
        row("broker_crashes", "broker", "broker_crashes"),
        row("session_expires", "broker", "session_expires"),
        row("broker_starts", "broker", "broker_starts"),
        row("broker_reconnects", "broker", "broker_reconnects"),
        row("reply_to_registration_is_lost", "broker", "reply_to_registration_is_lost"),
        row("controller_continues_without_session", "broker", beyond=_CUT_OFF),
        row("broker_failure_is_handled", "broker dead",
            "controller_sees_broker_failure", "controller_sees_broker_startup",
            possible_now=_on_broker_failure, why=_BOUNCED),
        row("broker_startup_is_handled", "broker started", "controller_sees_broker_startup",
            possible_now=_on_broker_startup),
        row("broker_changes_are_handled_together", "broker", beyond=_AT_ONCE),
        row("controller_handles_topic_deletion", "broker", beyond=_DELETION_BEGINS),
        row("admin_deletes_topic", "", "admin_deletes_topic"),
        row("admin_withdraws_request", "", "admin_withdraws_request", possible_now=_on_withdrawal,
            why="since 2.4 a move is cancelled by the controller, and by hand only here"),
        row("metadata_is_delayed", "broker controller", "metadata_is_delayed"),
        row("metadata_arrives", "broker controller",
            "broker_updates_metadata", "update_of_older_controller_is_refused"),
        row("answer_is_lost", "broker",
            "controller_loses_response_to_epoch_bump", "controller_loses_response_to_leader_change",
            "controller_loses_response_to_isr_removal", possible_now=_on_lost_response),
        row("leader_loses_response_to_isr_shrink", "leader replica",
            "leader_loses_response_to_isr_shrink"),
        row("leader_loses_response_to_isr_expand", "leader replica",
            "leader_loses_response_to_isr_expand"),
        row("leader_reads_isr_back", "leader",
            "leader_finds_own_isr_write", "leader_finds_other_isr_write"),
        row("controller_handles_reassignment", "broker", *_BEGINS,
            why="what it found when it became controller it begins in the same event; what a "
                "deposed one finds in its memory alone it drops, and resigns at the fence",
            silent="the end of a request is notified too, and nothing is requested by then"),
        row("controller_handles_isr_change", "broker", "controller_sees_targets_in_sync",
            why="it is notified of each write of the state, its own included",
            silent="a target is not in the ISR"),
        row("leader_and_isr_arrives", "broker controller",
            "broker_becomes_leader", "broker_becomes_follower", "request_to_non_replica_is_refused",
            "older_epoch_is_refused", "older_controller_is_refused",
            "leaderless_request_is_ignored",
            possible_now=_leader_and_isr_epoch,
            why="UpdateMetadata overtakes it, for the model has it arrive when it is sent"),
        row("stop_replica_arrives", "broker controller",
            "broker_stops_replica", "broker_deletes_replica",
            "stop_of_older_controller_is_refused",
            why="the StopReplica requests that are next on a connection are obeyed in one step"),
        row("leader_appends", "leader", "leader_appends"),
        row("follower_catches_up", "leader follower", "follower_catches_up",
            why="as many fetches as it takes; that the last of them asks for a larger ISR is left "
                "to the next"),
        row("leader_expands_isr", "leader replica",
            "leader_expands_isr", "leader_expand_is_refused",
            why="only who has everything fetches again; Kafka takes in who has what is committed"),
        row("leader_shrinks_isr", "leader replica",
            "leader_shrinks_isr", "leader_shrink_is_refused", "leader_throws_on_non_replica_in_isr",
            why="the leader looks when everybody has lagged for long enough"),
    )
}  # fmt: skip

UNOBSERVED: dict[str, str] = {
    **dict.fromkeys((
        "committed", "origin", "wanted", "other_is_open", "dropped", "slipped", "overtaken",
        "crossed", "stuck", "read_late", "withdrawn", "withdrawn_in", "metadata_epoch"), "ghost"),
    **dict.fromkeys(
        ("cache.resumes", "cache.begins"), "what follows the task at hand is seen when it comes"),
    "cache.unsent": "what a controller has not sent yet is seen when it does",
    "cache.other": "that the other entry is in memory is seen in what is left of the request when "
    "the move ends",
    **{
        f"spent.{name}": "a budget of the explorer"
        for name in ("moves", "crashes", "losses", "expiries", "delays")
    },
}  # fmt: skip

LEFT_OUT: dict[str, str] = {}

BEFORE_CACHE = ("campaign", "reads_zookeeper")
"""Where a controller has read nothing yet."""

LEAVES = ("leading", "leaving", "deleting", "replacing", "discards")
TASK = {"reads_zookeeper": "none", "deleting": "leaving", "discards": "replacing"}
"""Where a controller's event is suspended -> the model's task, where it has another name."""


def task_of_controller(thread: ControllerThread) -> str | None:
    """The task that a controller is about to do; None if it is not the controller."""
    place = thread.place
    if place is None or _deletes(thread):
        return "idle" if thread.controller.active else None
    effect = place.effect
    if isinstance(effect, JournalReport) and effect.event in _REPORTED:
        return _REPORTED[effect.event]
    if thread.frame_of(Reassigner._write_assignment) is not None:
        return "settling" if finishing(thread) else "assigning"
    if rewriting(thread):
        return "rewriting"
    if thread.frame_of(Reassigner.drop) is not None:
        return "closing"
    return _about_state(thread, isinstance(effect, SendRequests))


_REPORTED = {
    "step": "reads_zookeeper", "reassignment_triggered": "beginning",
    "reassignment_caught_up": "adopting", "sends_metadata": "telling",
}  # fmt: skip
"""A report at which an event is suspended -> what it is about to do."""


def _about_state(thread: ControllerThread, has_sent: bool) -> str:
    if not thread.controller.active:
        return "campaign"
    if thread.frame_of(Reassigner._move_leader) is not None:
        return "deleting" if has_sent else "leading"
    if going_offline(thread) is not None or has_sent:
        replaces = thread.frame_of(Reassigner._stop_outside) is not None
        if has_sent:
            return "discards" if replaces else "deleting"
        if replaces:
            return "replacing"
        return "leaving" if finishing(thread) else "removing"
    return "electing" if electing(thread) is not None else "bumping"


def _goal(thread: ControllerThread, task: str) -> tuple[int, ...]:
    """Where a controller moves the partition, from when it has read that it is to move."""
    recorded = thread.frame_of(Reassigner.reassign_recorded)
    if recorded is not None and task in ("assigning", "replacing", "discards"):
        goal: tuple[int, ...] = recorded.f_locals["goal"].target
        return goal  # it is in memory when the znode is written
    fails_over = thread.frame_of(EventController.fail_over)
    if fails_over is not None and task in ("beginning", "electing", "removing"):
        reads = thread.frame_of(Reassigner.begin_all) or fails_over
        found: Mapping[TopicPartition, tuple[int, ...]] = reads.f_locals["found"]
        recorded_goal = thread.controller.core.context.assignment(FIRST)
        moves = recorded_goal.is_being_reassigned
        return tuple(found.get(FIRST, recorded_goal.target if moves else ()))
    return thread.controller.reassigner.targets.get(FIRST, ())


def _old(thread: ControllerThread, task: str) -> set[int]:
    """The replicas that a controller's move leaves behind, as long as it knows of them."""
    context = thread.controller.core.context
    widens = task in ("replacing", "discards")
    kept = context.replicas(FIRST) if widens else _goal(thread, task)
    known = {one.broker for one in context.replica_states if one.partition == FIRST}
    return known - set(kept)


def _leaving(thread: ControllerThread, task: str) -> set[int]:
    """Those of them that have not gone offline in the round that is under way."""
    offline, old = going_offline(thread), _old(thread, task)
    if offline is None:
        return old
    order = thread.controller.core.replicas.in_turn(old)
    return set(order[order.index(offline.f_locals["broker"]) :])


def facts(world: SteppedCluster) -> Facts:
    """ZooKeeper, the controllers' memories, what is in flight, and what brokers hold, as facts."""
    table = FactTable()
    table.put("zk.controller", (), wait(world.admin.controller()) or 0)
    table.put("zk.epoch", (), world.epoch())
    table.members("zk.registered", (), world.registrations())
    table.members("up", (), filter(world.is_up, world.brokers))
    _partition(table, world)
    _delayed_update_metadata(table, world)
    table.put("next_record", (), world.next_record)
    for broker in world.brokers:
        _controller(table, world, broker)
        _broker(table, world, broker)
    for to, queue in world.connections.items():
        _under_way(table, to, queue)
    return table.found


def _partition(table: FactTable, world: SteppedCluster) -> None:
    state, node = world.state(), wait(world.admin.topic(FIRST.topic))
    if state is not None:
        table.put("zk.leader", (), max(state.leader, 0))
        table.put("zk.leader_epoch", (), state.leader_epoch)
        table.members("zk.isr", (), state.isr)
        table.put("zk.version", (), state.zk_version)
    if node is not None:
        assignment = node.partitions[FIRST.partition]
        _list(table, "zk.assignment", (), assignment.replicas)
        table.members("zk.adding", (), assignment.adding)
        table.members("zk.removing", (), assignment.removing)
    requested = wait(world.admin.reassignments())
    _list(table, "zk.requested", (), requested.get(FIRST, ()))
    other = "moving" if OTHER in requested else "unknown" if UNKNOWN in requested else "none"
    table.put("zk.other", (), OTHERS.code(other))
    table.put("zk.deleting", (), bool(wait(world.admin.deletions())))


def _delayed_update_metadata(table: FactTable, world: SteppedCluster) -> None:
    """UpdateMetadata on slow connections: of several the newest says all that they say."""
    newest: dict[int, RequestInFlight] = {}
    for (controller, broker), waiting in sorted(world.slow.items()):
        table.put("update.slow", (controller, broker), True)
        if waiting:
            table.put("update.to", (controller, broker), True)
            newest[controller] = waiting[-1]
    for controller, sent in newest.items():
        entry = sent.request.partitions.get(FIRST)
        if isinstance(entry, PartitionMetadata):
            table.put("update.leader", (controller,), max(entry.state.leader, 0))
            carried = entry.state.leader_epoch
            epoch = carried if world.shows_memory else max(carried, sent.epoch)
            table.put("update.epoch", (controller,), epoch)


def _list(table: FactTable, field: str, at: tuple[int, ...], replicas: Iterable[int]) -> None:
    for place, replica in enumerate(replicas):
        table.put(field, (*at, replica), place, blank=-1)


def _controller(table: FactTable, world: SteppedCluster, broker: int) -> None:
    at, thread = (broker,), world.controllers[broker]
    if not world.release.since("0.11"):  # then it forgets what moves when it resigns (KAFKA-5310)
        _list(table, "kept", at, thread.controller.reassigner.targets.get(FIRST, ()))
    task = task_of_controller(thread)
    if task is None:
        return
    if task == "campaign":
        assert thread.place is not None, "an event is suspended"
        table.put("campaign", at, registered_epoch(thread.place.effect) or 0)
        table.put("reply_lost", at, is_lost(thread.place))
        return
    context, known = thread.controller.core.context, state_known_by(world, broker)
    table.put("belief", at, context.epoch)
    table.put("cache.task", at, TASKS.code(TASK.get(task, task)))
    if task in BEFORE_CACHE or known is None:
        return
    table.put("cache.deleting", at, _is_queued(world, broker))
    held = context.leadership[FIRST]
    leads = held if task in ("adopting", "leading") else known
    table.put("cache.leader", at, max(leads.leader, 0))
    table.members("cache.isr", at, known.isr)
    table.put("cache.version", at, known.zk_version)
    wrote = None if world.shows_memory else world.controllers[broker].wrote
    epochs = (held.leader_epoch, -1 if wrote is None else wrote.leader_epoch)
    table.put("cache.epoch", at, max(epochs))
    table.members("cache.live", at, context.live)
    table.members("cache.reached", at, world.reachable(broker))
    _list(table, "cache.assignment", at, context.replicas(FIRST))
    _list(table, "cache.target", at, _goal(thread, task))
    if task in LEAVES:
        table.members("cache.old", at, _old(thread, task))
    if task in ("leading", "leaving", "replacing"):
        table.members("cache.leaving", at, _leaving(thread, task))


def _broker(table: FactTable, world: SteppedCluster, broker: int) -> None:
    at, host = (broker,), world.hosts[broker]
    table.put("replica.controller_epoch", at, host.seen)
    table.put("metadata.leader", at, max(host.replicas.metadata.leader(FIRST) or 0, 0))
    table.put("metadata.controller", at, host.metadata_epoch)
    if FIRST in host.logs.held:
        _, log = host.logs.held[FIRST]
        table.members("log", at, (record for record, _ in log.records))
    replica = host.hosted(FIRST)
    if replica is None:
        return
    table.put("replica.role", at, ROLES.code(host.role(FIRST)))
    table.put("replica.leader", at, replica.leader or 0)
    table.put("replica.epoch", at, replica.leader_epoch, blank=-1)
    table.put("replica.isr_write_unanswered", at, replica.isr_write is not None)
    if replica.leads:
        table.members("replica.isr", at, replica.isr)
        table.put("replica.zk_version", at, replica.zk_version)
        table.members("replica.replicas", at, replica.replicas)
        caught_up = [one for one in replica.remotes if replica.knows_caught_up(one)]
        table.members("replica.caught_up", at, [*caught_up, *[broker] * replica.first])


def _under_way(table: FactTable, to: tuple[int, int], queue: Iterable[RequestInFlight]) -> None:
    controller, broker = to
    for sent in queue:
        if sent.echo:
            continue
        if isinstance(sent.request, LeaderAndIsr):
            order, at = sent.request.partitions[FIRST], (sent.epoch, controller)
            table.put("request.to", (*at, broker), True)
            table.put("request.leader", at, max(order.state.leader, 0))
            table.members("request.isr", at, order.state.isr)
            table.put("request.version", at, order.state.zk_version)
            table.members("request.replicas", at, order.replicas)
        elif isinstance(sent.request, StopReplica):
            delete = sent.request.partitions[FIRST].delete
            table.put("stop.what", to, STOPS.code("delete" if delete else "stop"))
            table.put("stop.epoch", to, sent.epoch)


def _world(bounds: Mapping[str, int], version: str | None) -> SteppedCluster:
    return stepped_cluster(
        bounds["brokers"], WRITES, version or DEFAULT, most=bounds["replicas"], only=ROWS
    )


_FAULTS: dict[str, tuple[str, ...]] = {
    "leader_writes": (
        "leader_shrinks_isr", "leader_loses_response_to_isr_shrink",
        "leader_loses_response_to_isr_expand"),
    "controller_writes": (
        "controller_loses_response_to_epoch_bump", "controller_loses_response_to_leader_change",
        "controller_loses_response_to_isr_removal"),
    "unknown_partition": ("admin_requests_unknown_partition",),
    "cancelled": ("controller_cancels_move",),
    "two_moves": ("admin_requests_two_reassignments",),
    "deposed": ("controller_node_is_deleted",),
    "sessions": ("session_expires",),
    "withdrawn": ("admin_withdraws_request",),
    "deletion": ("admin_deletes_topic",),
}  # fmt: skip
"""By family, what goes wrong in it; the bound `faults` counts all of them."""


def _family(
    name: str,
    why: str,
    version: str = DEFAULT,
    is_large: bool = False,
    only_alike: bool = False,
    **bounds: int,
) -> Family:
    others = {one for faults in _FAULTS.values() for one in faults} - {*_FAULTS[name]}
    without = (*sorted(others), "controller_write_is_fenced")
    limits = {"faults": 1, **bounds}
    return Family(why, limits, without=without, version=version, is_large=is_large,
                  only_alike=only_alike)  # fmt: skip


def _forgetful(
    bounds: Mapping[str, int], version: str | None, switches: Mapping[str, object]
) -> SteppedCluster:
    """As released. Up to 2.3 a controller forgets the epoch that it raised, which shows where its
    memory is looked at; a leader's high watermark waits for replicas alone in all releases, and
    what is committed is a ghost of the model's."""
    if "raised_epoch_cached" not in switches:
        return _world(bounds, version)
    if Release.of(version or DEFAULT).since("2.4"):
        raise ValueError("a controller notes the epoch that it raised since 2.4 (KAFKA-9212)")
    world = _world(bounds, version)
    world.shows_memory = True
    return world


def _not_from_the_start(bounds: Mapping[str, int], without: tuple[str, ...]) -> str | None:
    if bounds["faults"] and not without:
        families = ", ".join(name for name in FAMILIES if name in _FAULTS)
        return f"faults of a move are walked one at a time: write --family NAME, one of {families}"
    if bounds["delays"]:
        return (
            "step 5 of a move tells every broker once more who leads in the model; a controller "
            "does so only where a target was online before, which shows where metadata is late"
        )
    if bounds["brokers"] < 3 or bounds["replicas"] < 2:
        return None
    return (
        f"of lists of {bounds['replicas']} among {bounds['brokers']} brokers two replicas may "
        f"leave at once: {_OUT_OF_TURN}; the family two_targets begins with one replica"
    )


_LEAVES = (
    "controller_takes_old_replica_offline",
    "controller_skips_old_replica_outside_isr",
    "controller_loses_response_to_isr_removal",
)
_LED = ("controller_moves_leader_to_target", "controller_elects_leader")
_OUT_OF_TURN = (
    "the implementation takes those that leave offline in the order of their ids, and the model "
    "in any order"
)


_NEW = (
    "a target that starts is sent nothing by a controller that has it as a new replica: the move "
    "is begun again, and sends; the model's sends at once as well"
)


_STAYS_WITHOUT_LEADER = (
    "no target can lead, and the leader goes: Kafka's controller keeps the partition as online, "
    "and looks for no leader when a broker starts; the model's looks"
)


_FORGOTTEN = (
    "nobody leads, and the leader epoch was raised: up to 2.3 a controller forgets that "
    "(KAFKA-9212), and sends a broker that starts the epoch before; the model's notes it"
)


def _not_alike(version: str, run: Run) -> str | None:
    leader, unled, forgotten = 0, False, False
    asked, new = set[int](), set[int]()
    replicas, left = set[int](), dict[int, set[int]]()
    isr = set[int]()
    for other, more in run:
        if other in _LEAVES:
            gone_before = left.setdefault(more["broker"], set())
            waiting = replicas - asked - gone_before  # of a cancelled move others leave
            if more["replica"] in waiting and more["replica"] != min(waiting):
                return _OUT_OF_TURN
            if other != "controller_loses_response_to_isr_removal":
                gone_before.add(more["replica"])
        elif other in _BATCHES:
            left.pop(more["broker"], None)
        if other == "controller_bumps_epoch":
            new = asked - isr
            forgotten = not leader and not Release.of(version).since("2.4")
        elif other in ("controller_sets_target_in_memory", "controller_reads_context"):
            new = set()
        match other:
            case "topic_is_created":
                leader, isr = more["first"], {one for one in more.values() if one}
                replicas = {*isr}
            case "admin_requests_reassignment" | "admin_requests_two_reassignments":
                asked = {one for one in more.values() if one}
            case "controller_is_asked_to_reassign":
                asked = {more[one] for one in ("first", "second", "third") if more.get(one)}
            case "controller_sees_broker_startup" if more["started"] in new:
                return _NEW
            case "controller_finds_no_target_to_lead":
                unled = True
            case "controller_sees_broker_startup" if unled:
                return _STAYS_WITHOUT_LEADER
            case "controller_sees_broker_startup" if forgotten:
                return _FORGOTTEN
            case "controller_removes_dead_replica" if more["dead"] == leader:
                leader = 0
            case "leader_shrinks_isr" | "leader_loses_response_to_isr_shrink":
                isr.discard(more["replica"])
            case "controller_takes_old_replica_offline" if len(isr) > 1:
                isr.discard(more["replica"])
            case "leader_expands_isr" | "leader_loses_response_to_isr_expand":
                isr.add(more["replica"])
            case "controller_writes_target_replicas":
                replicas = {*asked}
        if other in _LED:
            leader, unled, forgotten = more["leader"], False, False
    return None


FAMILIES: dict[str, Family] = {
    "two_targets": Family(
        "a move from one replica to two others: it waits for all of its targets",
        {"brokers": 3, "replicas": 2}, start=(Step("topic_is_created", (1, 0, 0)),)),
    "two_leave": Family(
        "a move from two replicas: both leave in one round, and brokers get requests at its end",
        {"brokers": 3, "replicas": 2}, start=(Step("topic_is_created", (1, 2, 0)),),
        is_large=True, only_alike=True),
    "one_leaves": Family(
        "a move after which one of two replicas is left, or both in another order",
        {"replicas": 2}, start=(Step("topic_is_created", (1, 2, 0)),)),
    "leader_writes": _family(
        "leader_writes", "a leader shrinks its ISR, or hears nothing of an ISR that it wrote"),
    "controller_writes": _family(
        "controller_writes", "a controller hears nothing of a state that it wrote"),
    "unknown_partition": _family(
        "unknown_partition", "a partition is asked for that there is not"),
    "two_moves": _family(
        "two_moves", "a request moves two partitions, and another request follows",
        is_large=True, moves=2),
    "withdrawn": _family("withdrawn", "a request is deleted by hand, whatever was begun of it"),
    "crashes": Family("a process crashes while its session lives", {"crashes": 1}),
    "sessions": _family(
        "sessions", "a session ends: its process goes on, and obeys, until it registers anew",
        is_large=True, only_alike=True),
    "lost_reply": Family("a winner must look for itself in ZooKeeper", {"losses": 1}),
    "deletion": _family("deletion", "a topic is to be deleted, and a request to move it dropped"),
    "cancelled": _family("cancelled", "a move is cancelled (KIP-455)", version="2.4"),
    "deposed": _family(
        "deposed", "a controller is deposed anywhere, goes on to its next fenced write, and "
        "another begins; what it writes then is judged by who wrote the state last, which the "
        "model does not know", is_large=True, controllers=2),
}  # fmt: skip


MAP = SystemMap(
    system="reassignment",
    rows=ROWS,
    world=_world,
    facts=facts,
    unobserved=UNOBSERVED,
    left_out=LEFT_OUT,
    families=FAMILIES,
    not_from_the_start=_not_from_the_start,
    not_alike=_not_alike,
    walked_since="2.3",  # of earlier releases no graph has been walked whole
    faulty={
        "leader_drops_non_replicas": ("2.4", "3.0"), "request_znode_not_rewritten": ("2.0", "2.4"),
    },
    story_switches={"raised_epoch_cached": (False,), "high_watermark_waits_for_isr": (False,)},
    story_world=_forgetful,
    small={
        "brokers": 2, "replicas": 1, "records": 1, "epoch": 7, "controllers": 1, "versions": 10,
        "moves": 1, "crashes": 0, "faults": 0, "delays": 0, "losses": 0,
    },
)  # fmt: skip

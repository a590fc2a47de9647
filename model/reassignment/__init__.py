"""Reassignment of one partition, with failures of brokers and controllers at any step.

Each transition of the controller is one read of ZooKeeper, one write, or one batch of requests.
Abstractions: one fetch copies the leader's whole log; a replica joins the ISR when it has the whole
log (in Kafka: when it reaches the high watermark); of several UpdateMetadata requests on one
connection only the newest is kept; any live ISR member may replace a dead leader.
"""

from model.language import ALL, Bound, System
from model.protocol.controllership import (
    broker_becomes_controller,
    broker_learns_it_won,
    broker_loses_controller_election,
    controller_node_is_deleted,
    controller_resigns,
    reply_to_registration_is_lost,
)
from model.protocol.zookeeper import session_expires
from model.reassignment.administrator import (
    admin_deletes_topic,
    admin_requests_reassignment,
    admin_requests_two_reassignments,
    admin_requests_unknown_partition,
    admin_withdraws_request,
    topic_is_created,
)
from model.reassignment.claims import CLAIMS
from model.reassignment.controller import (
    controller_bumps_epoch,
    controller_deletes_old_replicas,
    controller_finds_no_target_to_lead,
    controller_keeps_leader,
    controller_loses_response_to_epoch_bump,
    controller_loses_response_to_isr_removal,
    controller_loses_response_to_leader_change,
    controller_moves_leader_to_target,
    controller_removes_request_entry,
    controller_sees_targets_in_sync,
    controller_sends_final_update_metadata,
    controller_sets_target_in_memory,
    controller_skips_old_replica_outside_isr,
    controller_takes_old_replica_offline,
    controller_writes_target_replicas,
    controller_writes_union_of_replicas,
)
from model.reassignment.controller_claims import STEP_CLAIMS
from model.reassignment.events import (
    controller_elects_leader,
    controller_reads_context,
    controller_removes_dead_replica,
    controller_sees_broker_failure,
    controller_sees_broker_startup,
    controller_write_conflicts,
)
from model.reassignment.kip_455 import (
    controller_cancels_move,
    controller_deletes_cancelled_adding_replicas,
    controller_is_asked_to_reassign,
)
from model.reassignment.leader_and_isr import (
    broker_becomes_follower,
    broker_becomes_leader,
    broker_deletes_replica,
    broker_stops_replica,
    leaderless_request_is_ignored,
    older_controller_is_refused,
    older_epoch_is_refused,
    request_to_non_replica_is_refused,
    stop_of_older_controller_is_refused,
)
from model.reassignment.lifecycle import (
    broker_crashes,
    broker_reconnects,
    broker_starts,
)
from model.reassignment.metadata import (
    broker_updates_metadata,
    metadata_is_delayed,
    update_of_older_controller_is_refused,
)
from model.reassignment.progress import PROGRESS
from model.reassignment.replicas import (
    follower_catches_up,
    leader_appends,
    leader_expand_is_refused,
    leader_expands_isr,
    leader_finds_other_isr_write,
    leader_finds_own_isr_write,
    leader_loses_response_to_isr_expand,
    leader_loses_response_to_isr_shrink,
    leader_shrink_is_refused,
    leader_shrinks_isr,
    leader_throws_on_non_replica_in_isr,
)
from model.reassignment.requests import (
    controller_begins_move,
    controller_begins_with_targets_in_sync,
    controller_completes_other_reassignment,
    controller_drops_move_of_deleted_topic,
    controller_drops_move_to_dead_broker,
    controller_drops_request_already_assigned,
    controller_drops_unknown_partition,
)
from model.reassignment.state import STATE
from model.reassignment.writing import controller_write_is_fenced
from model.versions import SWITCHES, presets, published


def initial(new):
    """Every broker runs and is registered; there is no topic and no controller yet."""
    new.zk.registered = ALL
    new.up            = ALL


_SWITCHES = (
    "zk_writes_fenced", "uncounted_controller_resigns", "broker_epoch",
    "winner_reads_controller_back", "fetch_fencing",
    "reassignment", "leader_knows_replicas", "leader_drops_non_replicas",
    "moves_forgotten_on_resign", "requests_loaded_whole", "requests_read_again",
    "request_znode_not_rewritten", "waits_for_dead_targets", "dead_replicas_taken_offline",
    "announcement", "raised_epoch_cached", "high_watermark_waits_for_isr")

SYSTEM = System(
    name="reassignment",
    about="one partition that moves to other replicas: the twelve steps, failover, the ISR",
    state=STATE,
    initial=initial,
    transitions=(
        topic_is_created, admin_requests_reassignment, admin_requests_two_reassignments,
        admin_requests_unknown_partition, admin_withdraws_request,
        admin_deletes_topic,
        broker_crashes, session_expires, broker_starts, broker_reconnects,
        broker_becomes_controller, reply_to_registration_is_lost, broker_learns_it_won,
        broker_loses_controller_election, controller_resigns, controller_node_is_deleted,
        controller_reads_context, controller_sees_broker_failure, controller_sees_broker_startup,
        controller_elects_leader, controller_removes_dead_replica,
        controller_begins_move, controller_begins_with_targets_in_sync,
        controller_drops_request_already_assigned, controller_drops_move_of_deleted_topic,
        controller_drops_move_to_dead_broker, controller_drops_unknown_partition,
        controller_completes_other_reassignment,
        controller_writes_union_of_replicas, controller_bumps_epoch,
        controller_loses_response_to_epoch_bump, controller_sees_targets_in_sync,
        controller_sets_target_in_memory, controller_keeps_leader,
        controller_moves_leader_to_target,
        controller_loses_response_to_leader_change, controller_finds_no_target_to_lead,
        controller_takes_old_replica_offline, controller_loses_response_to_isr_removal,
        controller_skips_old_replica_outside_isr, controller_deletes_old_replicas,
        controller_writes_target_replicas, controller_removes_request_entry,
        controller_sends_final_update_metadata, controller_is_asked_to_reassign,
        controller_cancels_move, controller_deletes_cancelled_adding_replicas,
        controller_write_conflicts, controller_write_is_fenced,
        broker_becomes_leader, broker_becomes_follower, leaderless_request_is_ignored,
        request_to_non_replica_is_refused, older_controller_is_refused, older_epoch_is_refused,
        broker_stops_replica, broker_deletes_replica, stop_of_older_controller_is_refused,
        metadata_is_delayed, broker_updates_metadata, update_of_older_controller_is_refused,
        leader_appends, follower_catches_up,
        leader_shrinks_isr, leader_loses_response_to_isr_shrink, leader_shrink_is_refused,
        leader_throws_on_non_replica_in_isr,
        leader_expands_isr, leader_loses_response_to_isr_expand, leader_expand_is_refused,
        leader_finds_own_isr_write, leader_finds_other_isr_write),
    claims=(*CLAIMS, *STEP_CLAIMS, *PROGRESS),
    versions=presets(_SWITCHES),
    also=published(_SWITCHES),
    default_version="2.3",
    bounds={
        "brokers": Bound(2, 2, "brokers that may be replicas"),
        "replicas": Bound(1, 1, "replicas in a list, three at most"),
        "records": Bound(1, 1, "records that producers write"),
        "epoch": Bound(8, 1, "greatest leader epoch; the partition begins with 0"),
        "controllers": Bound(2, 1, "greatest controller epoch"),
        "versions": Bound(10, 1, "writes of the partition's state"),
        "moves": Bound(1, 0, "reassignments that are requested"),
        "crashes": Bound(1, 0, "processes that crash, in all"),
        # also counts: a deleted /controller, a deleted topic, a withdrawn request, a request with
        # an entry for another partition
        "faults": Bound(1, 0, "expired sessions, lost responses and ISR shrinks"),
        "delays": Bound(0, 0, "connections on which UpdateMetadata is late, in all"),
        "losses": Bound(None, 0, "lost responses to the multi that creates /controller"),
    },
    switches={name: SWITCHES[name].about for name in _SWITCHES},
)

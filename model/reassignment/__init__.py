"""Reassignment of one partition, with failures of brokers and controllers at any step.

Each transition of the controller is one read of ZooKeeper, one write, or one batch of requests.
Abstractions: one fetch copies the leader's whole log; a replica joins the ISR when it has the whole
log (in Kafka: when it reaches the high watermark); of several UpdateMetadata requests on one
connection only the newest is kept; any live ISR member may replace a dead leader.
"""

from model.language import ALL, Bound, System
from model.protocol.controllership import (
    broker_becomes_controller,
    broker_finds_it_moved,
    broker_learns_it_won,
    controller_node_is_deleted,
    controller_resigns,
    reply_is_lost,
)
from model.reassignment.administrator import (
    administrator_asks_for_move,
    administrator_asks_for_two_moves,
    administrator_asks_for_unknown_partition,
    administrator_deletes_topic,
    administrator_withdraws_request,
    topic_is_created,
)
from model.reassignment.claims import CLAIMS
from model.reassignment.conduct import CONDUCT
from model.reassignment.controller import (
    controller_adopts_target,
    controller_assigns_both,
    controller_bumps_epoch,
    controller_closes_request,
    controller_deletes_old_replicas,
    controller_finds_no_target_to_lead,
    controller_keeps_leader,
    controller_move_is_unheard,
    controller_moves_leader,
    controller_passes_over_old_replica,
    controller_raise_is_unheard,
    controller_removal_is_unheard,
    controller_sees_targets_in_sync,
    controller_settles_assignment,
    controller_takes_old_replica_offline,
    controller_tells_of_move,
)
from model.reassignment.events import (
    controller_elects_leader,
    controller_notices_death,
    controller_notices_start,
    controller_reads_cluster,
    controller_removes_dead_replica,
    controller_write_conflicts,
)
from model.reassignment.kip_455 import (
    controller_cancels_move,
    controller_deletes_needless_replicas,
    controller_is_asked_for_move,
)
from model.reassignment.leader_and_isr import (
    broker_becomes_follower,
    broker_becomes_leader,
    broker_deletes_replica,
    broker_stops_replica,
    leaderless_request_is_ignored,
    older_controller_is_refused,
    older_epoch_is_refused,
    request_to_no_replica_is_refused,
    stop_of_older_controller_is_refused,
)
from model.reassignment.lifecycle import (
    broker_crashes,
    broker_reconnects,
    broker_starts,
    session_expires,
)
from model.reassignment.metadata import (
    broker_updates_metadata,
    metadata_is_late,
    update_of_older_controller_is_refused,
)
from model.reassignment.progress import PROGRESS
from model.reassignment.replicas import (
    follower_catches_up,
    leader_appends,
    leader_expand_is_refused,
    leader_expand_is_unheard,
    leader_expands_isr,
    leader_fails_over_stranger,
    leader_reads_another_write_back,
    leader_reads_its_write_back,
    leader_shrink_is_refused,
    leader_shrink_is_unheard,
    leader_shrinks_isr,
)
from model.reassignment.requests import (
    controller_begins_move,
    controller_begins_with_targets_in_sync,
    controller_drops_move_of_deleted_topic,
    controller_drops_move_to_dead_broker,
    controller_drops_unknown_partition,
    controller_drops_what_is_so_already,
    controller_moves_other_partition,
)
from model.reassignment.state import STATE
from model.reassignment.writing import controller_write_is_fenced
from model.versions import SWITCHES, presets, published


def initial(new):
    """Every broker runs and is registered; there is no topic and no controller yet."""
    new.zk.registered = ALL
    new.up            = ALL


_SWITCHES = (
    "zk_writes_fenced", "broker_epoch", "winner_finds_itself", "fetch_fencing",
    "reassignment", "leader_knows_replicas", "leader_drops_strangers", "moves_forgotten_on_resign",
    "requests_loaded_whole", "requests_read_again", "requests_left_alone", "waits_for_dead_targets",
    "dead_replicas_taken_offline", "announcement", "epoch_noted_when_raised",
    "high_watermark_waits_for_isr")

SYSTEM = System(
    name="reassignment",
    about="one partition that moves to other replicas: the twelve steps, failover, the ISR",
    state=STATE,
    initial=initial,
    transitions=(
        topic_is_created, administrator_asks_for_move, administrator_asks_for_two_moves,
        administrator_asks_for_unknown_partition, administrator_withdraws_request,
        administrator_deletes_topic,
        broker_crashes, session_expires, broker_starts, broker_reconnects,
        broker_becomes_controller, reply_is_lost, broker_learns_it_won, broker_finds_it_moved,
        controller_resigns, controller_node_is_deleted,
        controller_reads_cluster, controller_notices_death, controller_notices_start,
        controller_elects_leader, controller_removes_dead_replica,
        controller_begins_move, controller_begins_with_targets_in_sync,
        controller_drops_what_is_so_already, controller_drops_move_of_deleted_topic,
        controller_drops_move_to_dead_broker, controller_drops_unknown_partition,
        controller_moves_other_partition,
        controller_assigns_both, controller_bumps_epoch, controller_raise_is_unheard,
        controller_sees_targets_in_sync, controller_adopts_target,
        controller_keeps_leader, controller_moves_leader, controller_move_is_unheard,
        controller_finds_no_target_to_lead,
        controller_takes_old_replica_offline, controller_removal_is_unheard,
        controller_passes_over_old_replica, controller_deletes_old_replicas,
        controller_settles_assignment, controller_closes_request, controller_tells_of_move,
        controller_is_asked_for_move, controller_cancels_move,
        controller_deletes_needless_replicas,
        controller_write_conflicts, controller_write_is_fenced,
        broker_becomes_leader, broker_becomes_follower, leaderless_request_is_ignored,
        request_to_no_replica_is_refused, older_controller_is_refused, older_epoch_is_refused,
        broker_stops_replica, broker_deletes_replica, stop_of_older_controller_is_refused,
        metadata_is_late, broker_updates_metadata, update_of_older_controller_is_refused,
        leader_appends, follower_catches_up,
        leader_shrinks_isr, leader_shrink_is_unheard, leader_shrink_is_refused,
        leader_fails_over_stranger,
        leader_expands_isr, leader_expand_is_unheard, leader_expand_is_refused,
        leader_reads_its_write_back, leader_reads_another_write_back),
    claims=(*CLAIMS, *CONDUCT, *PROGRESS),
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

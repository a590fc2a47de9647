"""One topic under ZooKeeper: created, enlarged, deleted, and created again with the same name.

Abstractions: a partition's leader epoch and zkVersion (`replication` has them); UpdateMetadata, and
/config/topics/T, which is created and deleted with the topic; logs, except whether they are the
topic's own. All writes of a batch are one step; between two batches a controller may die. A request
is about all partitions of a broker at once.
"""

from dataclasses import replace

from model.language import ALL, Bound, System
from model.protocol.controllership import (
    broker_becomes_controller,
    broker_learns_it_won,
    broker_loses_controller_election,
    controller_node_is_deleted,
    elected_broker_assumes_another_controller,
    reply_to_registration_is_lost,
)
from model.protocol.zookeeper import session_expires
from model.topics.admin import admin_adds_partition, admin_creates_topic, admin_deletes_topic
from model.topics.broker import (
    broker_cannot_delete,
    broker_obeys_leader_and_isr,
    broker_refuses_older_controller,
    broker_stops_replicas,
    leader_expands_isr,
)
from model.topics.changes import (
    controller_elects_for_failed,
    controller_elects_for_started,
    controller_sees_failure,
    controller_sees_start,
    controller_starts_bounced_broker,
    controller_takes_replicas_offline,
)
from model.topics.claims import CLAIMS
from model.topics.completion import (
    deletion_is_complete,
    partition_znode_is_deleted,
    request_is_removed,
    topic_znode_is_deleted,
)
from model.topics.conflicts import (
    controller_write_conflicts,
    controller_write_is_fenced,
    leader_expands_isr_before_controller_writes,
)
from model.topics.creation import (
    controller_brings_new_replicas_online,
    controller_brings_partitions_online,
    controller_creates_new_partitions,
    controller_creates_new_replicas,
    controller_finds_no_new_partition,
    controller_finds_no_new_topic,
    controller_sees_partitions,
    controller_sees_topic,
    controller_sees_topic_gone,
    controller_skips_addition,
    controller_undoes_addition,
)
from model.topics.deletion import (
    controller_deletes_replicas,
    controller_drops_request,
    controller_queues_deletion,
    controller_receives_stop_replica_response,
    controller_sees_no_request,
    controller_stops_replicas,
    deletion_is_retried,
    deletion_starts,
    deletion_waits,
)
from model.topics.failover import (
    controller_reads_context,
    controller_resigns,
    partition_state_machine_starts,
    replica_state_machine_starts,
)
from model.topics.leaders import (
    controller_begins_controlled_shutdown,
    controller_elects_preferred,
    controller_moves_leaders,
    controller_stops_followers,
)
from model.topics.leadership import LEADERSHIP
from model.topics.lifecycle import (
    broker_crashes,
    broker_reconnects,
    broker_starts,
    dead_replica_is_reassigned,
)
from model.topics.progress import PROGRESS
from model.topics.requests import request_is_lost
from model.topics.state import STATE
from model.topics.step_claims import STEP_CLAIMS
from model.versions import SWITCHES, presets, published


def initial(new):
    """Every broker runs and is registered; there is no controller, and no topic."""
    new.zk.registered = ALL
    new.up            = ALL


_SWITCHES = (
    "zk_writes_fenced", "uncounted_controller_resigns", "broker_epoch",
    "winner_reads_controller_back", "delete_topic_enable",
    "disabled_deletions_removed", "deletion_resumed", "leaderless_replicas_stop",
    "additions_undone", "partitions_removed_before_deletion", "offline_becomes_ineligible",
    "dead_replicas_taken_offline", "preferred_needs_isr", "request_znode_not_rewritten",
    "stops_fenced", "topics_have_ids", "dead_brokers_keep_their_replicas",
    "controller_epoch_kept")

_RELEASES = presets(_SWITCHES)
_NEWEST = list(_RELEASES.values())[-1]

SYSTEM = System(
    name="topics",
    about="one topic by its name: creation, added partitions, deletion, and creation again",
    state=STATE,
    initial=initial,
    transitions=(
        admin_creates_topic, admin_adds_partition, admin_deletes_topic,
        broker_crashes, session_expires, broker_starts, broker_reconnects,
        broker_becomes_controller, reply_to_registration_is_lost, broker_learns_it_won,
        broker_loses_controller_election, elected_broker_assumes_another_controller,
        controller_resigns, controller_node_is_deleted, controller_write_is_fenced,
        controller_reads_context, replica_state_machine_starts, partition_state_machine_starts,
        controller_sees_topic, controller_sees_topic_gone, controller_finds_no_new_topic,
        controller_sees_partitions, controller_undoes_addition, controller_skips_addition,
        controller_finds_no_new_partition,
        controller_creates_new_partitions, controller_creates_new_replicas,
        controller_brings_partitions_online, controller_brings_new_replicas_online,
        controller_sees_failure, controller_elects_for_failed, controller_takes_replicas_offline,
        controller_sees_start, controller_starts_bounced_broker, controller_elects_for_started,
        controller_elects_preferred, controller_begins_controlled_shutdown,
        controller_moves_leaders, controller_stops_followers,
        controller_queues_deletion, controller_drops_request, controller_sees_no_request,
        deletion_starts, controller_stops_replicas, controller_deletes_replicas,
        controller_receives_stop_replica_response, deletion_waits, deletion_is_retried,
        deletion_is_complete, partition_znode_is_deleted, topic_znode_is_deleted,
        request_is_removed,
        broker_obeys_leader_and_isr, broker_refuses_older_controller, broker_stops_replicas,
        broker_cannot_delete, leader_expands_isr, leader_expands_isr_before_controller_writes,
        controller_write_conflicts, request_is_lost,
        dead_replica_is_reassigned),
    claims=(*CLAIMS, *LEADERSHIP, *STEP_CLAIMS, *PROGRESS),
    versions={
        **_RELEASES,
        "2.8": replace(
            _NEWEST, name="2.8", switches={**_NEWEST.switches, "topics_have_ids": True},
            about="topics have ids, and brokers compare them (KIP-516)")},
    also=published(_SWITCHES),
    default_version="2.3",
    bounds={
        "brokers": Bound(2, 1, "brokers, of which any may have a replica"),
        "partitions": Bound(1, 1, "partitions of the topic"),
        "controllers": Bound(2, 1, "greatest controller epoch"),
        "crashes": Bound(1, 0, "processes that crash, in all"),
        "expiries": Bound(1, 0, "sessions that expire and /controller deletions, in all"),
        "losses": Bound(0, 0, "answers to a registration that are lost, in all"),
        "moves": Bound(0, 0, "replicas moved off a dead broker, in all"),
        "failures": Bound(0, 0, "requests to delete that a disk fails, in all"),
        "conflicts": Bound(0, 0, "writes of a leader between a controller's read and its write"),
        "elections": Bound(0, 0, "elections of a preferred replica, in all"),
        "shutdowns": Bound(0, 0, "brokers that ask to go, in all"),
    },
    switches={name: SWITCHES[name].about for name in _SWITCHES},
)

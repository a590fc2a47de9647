"""Kafka's controller as it is built: one event queue, ZooKeeper's watches, requests to brokers.

It has one event queue and one thread in stages, a queue of requests for each broker, metadata
caches, and leaders that change the ISR by themselves. The logs are reduced to the set of replicas
that have all committed records. `replication` has the logs, and `election` has the controller
election in finer steps.
"""

from model.cluster.claims import CLAIMS
from model.cluster.conflicts import (
    controller_finds_a_newer_controller,
    controller_reads_state,
    controller_skips_isr_removal,
    controller_write_conflicts,
    controller_write_is_fenced,
)
from model.cluster.controllership import (
    broker_loses_controller_election,
    controller_is_still_active,
    controller_node_is_deleted,
    controller_resigns,
    controller_resigns_and_keeps_its_queue,
)
from model.cluster.data import follower_catches_up, leader_commits
from model.cluster.directories import (
    broker_reports_log_dir_failure,
    controller_finds_log_dirs_unchanged,
    controller_finds_no_log_dir_event,
    controller_marks_replicas_offline,
    controller_sends_leader_and_isr_for_log_dirs,
    log_directory_fails,
    log_directory_is_repaired,
)
from model.cluster.elections import (
    controller_elects_leader,
    controller_finds_no_leader,
    controller_sends_election_batch,
)
from model.cluster.failover import (
    controller_reads_context,
    controller_sends_initial_update_metadata,
    controller_starts_replica_state_machine,
)
from model.cluster.isr import (
    leader_expands_isr,
    leader_isr_write_is_refused,
    leader_shrinks_isr,
)
from model.cluster.leader_and_isr import (
    broker_answers_kafka_storage_error,
    broker_becomes_follower,
    broker_becomes_leader,
    broker_finds_leader_not_in_metadata_cache,
    broker_stops_fetching,
    broker_updates_metadata,
    late_stop_replica_arrives,
    older_controller_is_refused,
    older_epoch_is_refused,
    stop_replica_is_sent_again,
)
from model.cluster.lifecycle import (
    broker_crashes,
    broker_keeps_registration_of_old_session,
    broker_reconnects,
    broker_replaces_its_old_registration,
    broker_starts,
    node_of_expired_session_is_deleted,
    session_ends_before_its_nodes,
    session_expires,
)
from model.cluster.membership import (
    controller_brings_replicas_online,
    controller_finds_brokers_unchanged,
    controller_misses_bounced_brokers,
    controller_sees_bounced_brokers,
    controller_sees_dead_brokers,
    controller_sees_new_brokers,
    controller_sends_update_metadata_for_dead_brokers,
    controller_sends_update_metadata_for_new_brokers,
)
from model.cluster.modifications import (
    broker_changes_endpoints,
    controller_finds_endpoints_unchanged,
    controller_reads_endpoints,
)
from model.cluster.notifications import (
    broker_reports_isr_change,
    controller_finds_no_isr_change,
    controller_reads_isr_changes,
)
from model.cluster.preferred import (
    admin_asks_for_preferred_leaders,
    controller_begins_preferred_election,
    controller_begins_rebalance,
    controller_cannot_elect_preferred,
    controller_deletes_preferred_request,
    controller_elects_preferred,
    controller_finds_no_imbalance,
    controller_finds_no_request,
    controller_sends_preferred_batch,
    rebalance_timer_fires,
)
from model.cluster.progress import PROGRESS
from model.cluster.replicas import (
    controller_finds_replica_not_in_isr,
    controller_removes_replica,
    controller_sends_removal_batch,
)
from model.cluster.shutdown import (
    broker_asks_for_controlled_shutdown,
    broker_stops,
    controller_answers_shutdown,
    controller_begins_controlled_shutdown,
    controller_finds_no_other_isr_member,
    controller_moves_leader,
    controller_refuses_controlled_shutdown,
    controller_sends_shutdown_batch,
    controller_stops_follower,
    shutdown_request_arrives,
)
from model.cluster.start import initial
from model.cluster.state import PARTITIONS, STATE
from model.language import Bound, System, focused
from model.protocol.controllership import (
    broker_becomes_controller,
    broker_learns_it_won,
    elected_broker_assumes_another_controller,
    reply_to_registration_is_lost,
)
from model.versions import SWITCHES, presets, published


def of_a_partition(*steps):
    """Steps whose text is about one partition, for every partition."""
    return tuple(focused(step, partition=PARTITIONS, on="partition") for step in steps)


_SWITCHES = (
    "zk_writes_fenced", "uncounted_controller_resigns", "broker_epoch",
    "winner_reads_controller_back", "unclean_leader_election",
    "update_metadata_first", "announcement", "bounced_brokers_detected",
    "dead_replicas_taken_offline", "isr_expansion_checks_liveness", "leaving_leader_is_notified",
    "shutdown_fenced", "preferred_leaders_stay", "preferred_needs_isr", "rebalance_checks_isr",
    "request_znode_not_rewritten", "znode_owner_checked", "events_dropped", "broker_data_watched",
    "log_dirs_fail_alone", "responses_fenced", "controller_epoch_kept")

SYSTEM = System(
    name="cluster",
    about="the controller as it is built: failover, broker changes, requests, metadata caches",
    state=STATE,
    initial=initial,
    transitions=(
        broker_crashes, session_expires, broker_starts, broker_reconnects,
        broker_becomes_controller, reply_to_registration_is_lost, broker_learns_it_won,
        broker_loses_controller_election, elected_broker_assumes_another_controller,
        controller_node_is_deleted, session_ends_before_its_nodes,
        node_of_expired_session_is_deleted,
        broker_replaces_its_old_registration, broker_keeps_registration_of_old_session,
        controller_resigns, controller_is_still_active, controller_resigns_and_keeps_its_queue,
        controller_write_is_fenced,
        controller_reads_context, controller_sends_initial_update_metadata,
        controller_starts_replica_state_machine,
        *of_a_partition(controller_reads_state, controller_write_conflicts,
                        controller_finds_a_newer_controller, controller_skips_isr_removal,
                        controller_elects_leader, controller_finds_no_leader),
        controller_sends_election_batch,
        *of_a_partition(controller_removes_replica, controller_finds_replica_not_in_isr),
        controller_sends_removal_batch,
        controller_sees_new_brokers, controller_sees_dead_brokers,
        controller_finds_brokers_unchanged,
        controller_sees_bounced_brokers, controller_misses_bounced_brokers,
        controller_sends_update_metadata_for_dead_brokers,
        controller_sends_update_metadata_for_new_brokers, controller_brings_replicas_online,
        *of_a_partition(broker_reports_isr_change), controller_reads_isr_changes,
        controller_finds_no_isr_change,
        *of_a_partition(log_directory_fails, log_directory_is_repaired),
        broker_reports_log_dir_failure, controller_sends_leader_and_isr_for_log_dirs,
        controller_finds_no_log_dir_event, controller_marks_replicas_offline,
        controller_finds_log_dirs_unchanged,
        broker_changes_endpoints, controller_reads_endpoints, controller_finds_endpoints_unchanged,
        broker_asks_for_controlled_shutdown, shutdown_request_arrives,
        controller_begins_controlled_shutdown, controller_refuses_controlled_shutdown,
        *of_a_partition(controller_moves_leader, controller_finds_no_other_isr_member),
        controller_sends_shutdown_batch, controller_stops_follower, controller_answers_shutdown,
        broker_stops,
        admin_asks_for_preferred_leaders, controller_begins_preferred_election,
        controller_finds_no_request,
        rebalance_timer_fires, controller_begins_rebalance, controller_finds_no_imbalance,
        *of_a_partition(controller_elects_preferred, controller_cannot_elect_preferred),
        controller_sends_preferred_batch, controller_deletes_preferred_request,
        *of_a_partition(broker_becomes_leader, broker_becomes_follower,
                        broker_finds_leader_not_in_metadata_cache, older_epoch_is_refused,
                        broker_answers_kafka_storage_error),
        older_controller_is_refused, broker_updates_metadata,
        broker_stops_fetching, stop_replica_is_sent_again, late_stop_replica_arrives,
        *of_a_partition(leader_commits, follower_catches_up, leader_shrinks_isr,
                        leader_expands_isr, leader_isr_write_is_refused)),
    claims=(*CLAIMS, *PROGRESS),
    versions=presets(_SWITCHES),
    also=published(_SWITCHES),
    default_version="2.3",
    bounds={
        "brokers": Bound(2, 1, "brokers"),
        "partitions": Bound(1, 1, "partitions"),
        "replicas": Bound(2, 1, "replicas of each partition"),
        "versions": Bound(3, 1, "writes of a partition's state"),
        "epoch": Bound(2, 1, "greatest leader epoch; the first leader has 0"),
        "controllers": Bound(2, 1, "greatest controller epoch"),
        "queue": Bound(3, 1, "requests that wait for one broker"),
        "events": Bound(3, 1, "events that wait for a controller's thread"),
        "endpoints": Bound(0, 0, "changes of each broker's endpoints while it runs"),
        "crashes": Bound(1, 0, "processes that crash, in all"),
        "expiries": Bound(1, 0, "sessions that expire and /controller deletions, in all"),
        "losses": Bound(0, 0, "replies that are lost, and requests sent twice, in all"),
        "shutdowns": Bound(0, 0, "controlled shutdowns, in all"),
        "requests": Bound(0, 0, "preferred elections that are asked for, in all"),
        "directories": Bound(0, 0, "log directories that fail, in all"),
        "lingering": Bound(1, 0, "sessions whose nodes are there after them, in all"),
    },
    switches={name: SWITCHES[name].about for name in _SWITCHES},
)

"""Kafka's controller as it is built: one event queue, ZooKeeper's watches, requests to brokers.

One event queue and one thread in stages, a queue of requests for each broker, metadata caches, and
leaders that change the ISR by themselves. Of the logs it is kept who has all that was committed:
`replication` has the logs, `election` the election of the controller in finer steps.
"""

from model.cluster.claims import CLAIMS
from model.cluster.conflicts import (
    controller_finds_a_newer_controller,
    controller_is_fenced,
    controller_leaves_replica,
    controller_reads_state,
    controller_write_conflicts,
)
from model.cluster.controllership import (
    broker_finds_it_moved,
    controller_is_still_active,
    controller_node_is_deleted,
    controller_resigns,
    controller_resigns_and_goes_on,
)
from model.cluster.data import follower_catches_up, leader_commits
from model.cluster.directories import (
    broker_reports_log_dir_failure,
    controller_asks_for_log_dirs,
    controller_finds_no_log_dir_event,
    controller_hears_no_news,
    controller_marks_replicas_offline,
    log_directory_fails,
    log_directory_is_repaired,
)
from model.cluster.elections import (
    controller_elects_leader,
    controller_finds_no_leader,
    controller_tells_elections,
)
from model.cluster.failover import (
    controller_announces_brokers,
    controller_reads_context,
    controller_restores_replicas,
)
from model.cluster.isr import (
    leader_expands_isr,
    leader_isr_write_is_refused,
    leader_shrinks_isr,
)
from model.cluster.leader_and_isr import (
    broker_becomes_follower,
    broker_becomes_leader,
    broker_cannot_reach_its_log,
    broker_knows_no_such_leader,
    broker_stops_fetching,
    broker_updates_metadata,
    late_stop_replica_arrives,
    older_controller_is_refused,
    older_epoch_is_refused,
    stop_replica_is_sent_again,
)
from model.cluster.lifecycle import (
    broker_crashes,
    broker_reconnects,
    broker_replaces_its_old_node,
    broker_starts,
    broker_takes_its_old_node_for_its_own,
    node_of_an_ended_session_goes,
    session_ends_before_its_nodes,
    session_expires,
)
from model.cluster.membership import (
    controller_announces_new_brokers,
    controller_finds_brokers_unchanged,
    controller_instates_replicas,
    controller_notifies_brokers,
    controller_overlooks_bounced_brokers,
    controller_sees_bounced_brokers,
    controller_sees_dead_brokers,
    controller_sees_new_brokers,
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
    controller_finds_balance,
    controller_finds_no_request,
    controller_tells_preferred,
    rebalance_timer_fires,
)
from model.cluster.progress import PROGRESS
from model.cluster.replicas import (
    controller_finds_it_removed,
    controller_removes_replica,
    controller_tells_removals,
)
from model.cluster.shutdown import (
    broker_asks_to_go,
    broker_stops,
    controller_answers_shutdown,
    controller_begins_shutdown,
    controller_finds_no_successor,
    controller_moves_leader,
    controller_refuses_shutdown,
    controller_stops_follower,
    controller_tells_moves,
    shutdown_request_arrives,
)
from model.cluster.start import initial
from model.cluster.state import PARTITIONS, STATE
from model.language import Bound, System, focused
from model.protocol.controllership import (
    broker_becomes_controller,
    broker_learns_it_won,
    reply_is_lost,
    winner_takes_itself_for_another,
)
from model.versions import SWITCHES, presets, published


def of_a_partition(*steps):
    """Steps whose text is about one partition, for every partition."""
    return tuple(focused(step, partition=PARTITIONS, on="partition") for step in steps)


_SWITCHES = (
    "zk_writes_fenced", "broker_epoch", "winner_finds_itself", "unclean_leader_election",
    "metadata_first", "announcement", "bounces_seen", "dead_replicas_taken_offline",
    "isr_takes_the_living", "leaving_leader_is_notified", "shutdown_fenced",
    "preferred_leaders_stay", "preferred_needs_isr", "requests_left_alone",
    "node_owner_checked", "events_dropped", "broker_data_watched",
    "log_dirs_fail_alone", "responses_fenced", "controller_epoch_kept")

SYSTEM = System(
    name="cluster",
    about="the controller as it is built: failover, broker changes, requests, metadata caches",
    state=STATE,
    initial=initial,
    transitions=(
        broker_crashes, session_expires, broker_starts, broker_reconnects,
        broker_becomes_controller, reply_is_lost, broker_learns_it_won, broker_finds_it_moved,
        winner_takes_itself_for_another, controller_node_is_deleted,
        session_ends_before_its_nodes, node_of_an_ended_session_goes,
        broker_replaces_its_old_node, broker_takes_its_old_node_for_its_own,
        controller_resigns, controller_is_still_active, controller_resigns_and_goes_on,
        controller_is_fenced,
        controller_reads_context, controller_announces_brokers, controller_restores_replicas,
        *of_a_partition(controller_reads_state, controller_write_conflicts,
                        controller_finds_a_newer_controller, controller_leaves_replica,
                        controller_elects_leader, controller_finds_no_leader),
        controller_tells_elections,
        *of_a_partition(controller_removes_replica, controller_finds_it_removed),
        controller_tells_removals,
        controller_sees_new_brokers, controller_sees_dead_brokers,
        controller_finds_brokers_unchanged,
        controller_sees_bounced_brokers, controller_overlooks_bounced_brokers,
        controller_notifies_brokers, controller_announces_new_brokers, controller_instates_replicas,
        *of_a_partition(broker_reports_isr_change), controller_reads_isr_changes,
        controller_finds_no_isr_change,
        *of_a_partition(log_directory_fails, log_directory_is_repaired),
        broker_reports_log_dir_failure, controller_asks_for_log_dirs,
        controller_finds_no_log_dir_event, controller_marks_replicas_offline,
        controller_hears_no_news,
        broker_changes_endpoints, controller_reads_endpoints, controller_finds_endpoints_unchanged,
        broker_asks_to_go, shutdown_request_arrives, controller_begins_shutdown,
        controller_refuses_shutdown,
        *of_a_partition(controller_moves_leader, controller_finds_no_successor),
        controller_tells_moves, controller_stops_follower, controller_answers_shutdown,
        broker_stops,
        admin_asks_for_preferred_leaders, controller_begins_preferred_election,
        controller_finds_no_request,
        rebalance_timer_fires, controller_begins_rebalance, controller_finds_balance,
        *of_a_partition(controller_elects_preferred, controller_cannot_elect_preferred),
        controller_tells_preferred, controller_deletes_preferred_request,
        *of_a_partition(broker_becomes_leader, broker_becomes_follower,
                        broker_knows_no_such_leader, older_epoch_is_refused,
                        broker_cannot_reach_its_log),
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

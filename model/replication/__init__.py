"""One partition's replication under ZooKeeper, with every message in flight a step of its own.

Abstractions: UpdateMetadata (every broker knows the live brokers), and clocks (any replica that is
not known to be caught up may be removed from the ISR). A fetch returns one record, and disks lose
data only by a fault. `election` has the controller's own election.
"""

from model.language import ALL, Bound, System
from model.protocol.controllership import (
    broker_becomes_controller,
    broker_learns_it_won,
    broker_loses_controller_election,
    controller_node_is_deleted,
    controller_resigns,
    elected_broker_assumes_another_controller,
    reply_to_registration_is_lost,
)
from model.protocol.zookeeper import session_expires
from model.replication.claims import CLAIMS
from model.replication.client_claims import CLIENTS
from model.replication.clients import (
    consumer_reads,
    leader_acknowledges,
    leader_acknowledges_acks_all,
    leader_answers_not_enough_replicas,
    leader_answers_not_enough_replicas_after_append,
    leader_appends,
    leader_appends_acks_all,
)
from model.replication.controller import (
    controller_election_conflicts,
    controller_election_is_fenced,
    controller_elects_leader,
    controller_issues_leader_and_isr,
    controller_reads_partition,
    controller_removal_conflicts,
    controller_removal_is_fenced,
    controller_removes_replica,
    leader_and_isr_is_lost,
)
from model.replication.fetching import (
    fetch_answer_is_ignored,
    fetch_is_lost,
    follower_appends,
    follower_sends_fetch,
    leader_advances_hw,
    leader_answers_fetch,
    leader_answers_fetch_in_session,
    leader_refuses_fetch,
)
from model.replication.health import HEALTH
from model.replication.isr import (
    isr_answer_is_lost,
    leader_expand_is_refused,
    leader_expands_isr,
    leader_finds_isr_written,
    leader_gives_up_isr_write,
    leader_learns_isr_is_refused,
    leader_learns_isr_is_written,
    leader_shrink_is_refused,
    leader_shrinks_isr,
)
from model.replication.leader_and_isr import (
    broker_becomes_follower,
    broker_becomes_leader,
    broker_fails_while_becoming_follower,
    leaderless_request_is_ignored,
    older_controller_is_refused,
    older_epoch_is_refused,
)
from model.replication.lifecycle import (
    broker_checkpoints_hw,
    broker_checkpoints_without_partition,
    broker_crashes,
    broker_crashes_losing_unflushed_records,
    broker_reconnects,
    broker_starts,
    broker_starts_empty,
)
from model.replication.state import STATE
from model.replication.truncation import (
    epoch_answer_is_ignored,
    follower_sends_epoch_request,
    follower_truncates,
    leader_answers_epoch,
    leader_refuses_epoch,
)
from model.versions import SWITCHES, presets, published


def initial(new):
    """Every broker runs, is registered and in the ISR; there is no controller and no leader yet."""
    new.zk.registered = ALL
    new.zk.isr        = ALL
    new.up            = ALL


_SWITCHES = (
    "zk_writes_fenced", "broker_epoch", "truncation", "truncates_again", "epoch_recorded",
    "fetch_fencing", "fetch_session_caches_epoch", "late_answers_ignored",
    "isr_join_needs_epoch_start",
    "unclean_leader_election", "isr_write_conditional", "isr_write_read_back",
    "isr_adopted_when_written", "isr_write_locks",
    "lost_isr_answer_blocks", "isr_keeps_last_member", "leader_epoch_checked",
    "epoch_taken_with_role", "checkpoint_complete", "uncounted_controller_resigns",
    "winner_reads_controller_back",
    "log_survives_crash", "min_insync_replicas", "disk_lost",
    "follower_ends_reset_on_election", "fenced_fetchers_go_on", "empty_logs_fetch",
    "isr_writes_name_newest")

SYSTEM = System(
    name="replication",
    about="one partition under ZooKeeper: elections, ISR, high watermark, truncation, zombies",
    state=STATE,
    initial=initial,
    transitions=(
        broker_crashes, broker_crashes_losing_unflushed_records, session_expires, broker_starts,
        broker_starts_empty, broker_reconnects, broker_checkpoints_hw,
        broker_checkpoints_without_partition,
        broker_becomes_controller, reply_to_registration_is_lost, broker_learns_it_won,
        broker_loses_controller_election, elected_broker_assumes_another_controller,
        controller_resigns, controller_node_is_deleted, controller_reads_partition,
        controller_elects_leader, controller_election_conflicts, controller_election_is_fenced,
        controller_removes_replica, controller_removal_conflicts, controller_removal_is_fenced,
        controller_issues_leader_and_isr, leader_and_isr_is_lost,
        broker_becomes_leader, broker_becomes_follower, broker_fails_while_becoming_follower,
        leaderless_request_is_ignored,
        older_controller_is_refused, older_epoch_is_refused,
        follower_sends_epoch_request, leader_answers_epoch, leader_refuses_epoch,
        follower_truncates, epoch_answer_is_ignored,
        leader_appends, leader_appends_acks_all, leader_answers_not_enough_replicas,
        leader_acknowledges, leader_acknowledges_acks_all,
        leader_answers_not_enough_replicas_after_append, consumer_reads,
        follower_sends_fetch, leader_answers_fetch, leader_answers_fetch_in_session,
        leader_refuses_fetch, follower_appends, fetch_answer_is_ignored, fetch_is_lost,
        leader_advances_hw,
        leader_shrinks_isr, leader_shrink_is_refused,
        leader_expands_isr, leader_expand_is_refused,
        leader_learns_isr_is_written, isr_answer_is_lost, leader_finds_isr_written,
        leader_learns_isr_is_refused, leader_gives_up_isr_write),
    claims=(*CLAIMS, *CLIENTS, *HEALTH),
    versions=presets(_SWITCHES),
    also=published(_SWITCHES),
    default_version="2.5",
    bounds={
        "brokers": Bound(2, 2, "replicas of the partition"),
        "log": Bound(1, 1, "records a log can hold"),
        "records": Bound(1, 1, "records that producers write"),
        "epoch": Bound(2, 1, "greatest leader epoch; the first leader has 1"),
        "controllers": Bound(1, 1, "greatest controller epoch"),
        "versions": Bound(2, 1, "writes of the partition's state"),
        "crashes": Bound(0, 0, "processes that crash, in all"),
        "expiries": Bound(1, 0, "sessions that expire and /controller deletions, in all"),
        "losses": Bound(0, 0, "requests and answers that are lost, in all"),
    },
    switches={name: SWITCHES[name].about for name in _SWITCHES},
)

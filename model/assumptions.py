"""Assumptions of every preset that some releases do not meet, and what such releases lose.

A preset leaves these faults out, so that only one fault at a time breaks a claim, and claims can be
proved. No release up to 2.6 keeps all committed records if an answer is lost, and no release if a
disk is lost. Each assumption is a switch; reverted, it is a known limit with its condition.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Assumption:
    """A switch that has one value in all presets.

    `untrue` are the releases of Kafka where it is otherwise, `limit` what then happens, `claim`
    what breaks first, in `system`.
    """

    switch: str
    untrue: str
    limit: str
    system: str
    claim: str


ASSUMPTIONS: tuple[Assumption, ...] = (
    Assumption(
        "lost_isr_answer_blocks", "up to 2.6 (before KIP-497)",
        "the answer to a leader's ISR write is lost, and another has written before it can read "
        "back: it goes on with its old ISR, and may commit alone what the next leader lacks",
        "replication", "no_message_loss",
    ),
    Assumption(
        "follower_ends_reset_on_election",
        "all: Partition.makeLeader forgets them only if another led before",
        "a leader misses a leader in between, by whom a follower cuts its log, and is elected "
        "again (clean elections, three replicas): it counts on the log end that it saw before, and "
        "commits alone what the next leader lacks",
        "replication", "no_message_loss",
    ),
    Assumption(
        "high_watermark_waits_for_isr", "all: Partition.maybeIncrementLeaderHW waits for replicas",
        "towards the end of a move the new leader is notified of the target replicas alone, with "
        "the ISR as it was: it commits what an old replica of that ISR lacks, which may still be "
        "elected",
        "reassignment", "no_message_loss",
    ),
    Assumption(
        "disk_lost", "all (KIP-966 is for KRaft)",
        "a broker comes back under its old id with an empty disk: in the ISR it may be elected "
        "(by_any); outside it nothing is lost once no leader counts on how far it was "
        "(when_forgotten). A leader of Kafka takes a follower in while it handles a fetch of it, "
        "which says how far it is; outside_isr lets it do so at any later time, and is more lossy "
        "than Kafka: there only a fetch of the earlier process that is handled late is that",
        "replication", "no_message_loss",
    ),
    Assumption(
        "log_survives_crash", "all: a record is in the page cache before it is on disk",
        "a crash of the machine takes what was not flushed, also from a member of the ISR",
        "replication", "no_message_loss",
    ),
    Assumption(
        "epoch_taken_with_role", "up to 2.4.0, and by another way up to 2.6",
        "a broker fails half-way in a LeaderAndIsr, and has the epoch without the role: two take "
        "themselves for the leader of one epoch",
        "replication", "leader_unique",
    ),
    Assumption(
        "raised_epoch_cached", "up to 2.3.1",
        "a reassignment raises the leader epoch, and clients are sent the one before",
        "reassignment", "clients_know_the_leader_epoch",
    ),
    Assumption(
        "request_znode_not_rewritten", "2.0 to 2.3.1",
        "a request that comes while a controller begins is deleted, and never seen",
        "reassignment", "request_is_removed_only_when_done",
    ),
    Assumption(
        "leader_drops_non_replicas", "2.4 to 2.8",
        "a member of the ISR that is none of the replicas is never dropped, and the high watermark "
        "waits for it",
        "reassignment", "lagging_replicas_can_leave_the_isr",
    ),
    Assumption(
        "isr_expansion_checks_liveness", "up to 3.2",
        "a fetch of a broker that has gone brings it back into the ISR, where it may be elected",
        "cluster", "dead_brokers_do_not_join_the_isr",
    ),
    Assumption(
        "preferred_needs_isr", "up to 2.5 an election of it is tried, and fails",
        "a preferred replica outside the ISR would lead, without what was committed",
        "topics", "leader_in_isr",
    ),
    Assumption(
        "znode_owner_checked", "up to 2.1, by the session's id",
        "a broker takes the node of its last session for its own, and is gone when that goes",
        "cluster", "registered_brokers_stay_registered",
    ),
    Assumption(
        "dead_brokers_keep_their_replicas",
        "all: an administrator may move replicas off a broker that is dead",
        "it keeps what it had, and brings it back under a topic of the same name (up to 2.7)",
        "topics", "deleted_data_is_never_served",
    ),
    Assumption(
        "responses_fenced", "all: no release looks whose response it is",
        "what a broker answered before it was started again takes its replicas offline, and "
        "nobody has them back until it is notified of them again",
        "cluster", "idle_partitions_have_leaders",
    ),
)  # fmt: skip
"""In the order of what they lose: records first."""

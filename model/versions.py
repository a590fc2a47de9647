"""Kafka releases as presets of named switches; a historic bug is a preset with one switch reverted.

A preset is the last release of its line. Some switches include the fault that exposes their bug (a
disk that loses unflushed data, a read of ZooKeeper that throws): the presets leave such faults out,
so that only one fault at a time breaks a claim.

From 2.7 on, `inter.broker.protocol.version` may be 2.7: then the controller writes ISRs (KIP-497),
and fetch responses determine the truncation of logs. The presets have an older version, as a
cluster has during its upgrade.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from model.language import IncompatibleSwitches, Version


@dataclass(frozen=True)
class Switch:
    """One decision that releases differ in.

    `values` are what it may be, the value before the fix first; `source` is the KIP or JIRA.
    """

    name: str
    values: tuple[object, ...]
    about: str
    source: str


SWITCHES: dict[str, Switch] = {
    switch.name: switch
    for switch in (
        Switch(
            "requests_fenced", (False, True),
            "a broker refuses requests of an older controller epoch", "KAFKA-532 (0.8)",
        ),
        Switch(
            "zk_writes_fenced", (False, True),
            "controller writes check the version of /controller_epoch", "KAFKA-6082 (2.1)",
        ),
        Switch(
            "winner_reads_controller_back", (False, True),
            "a broker whose registration was not answered looks whether /controller is its own",
            "KAFKA-13407 (no change merged)",
        ),
        Switch(
            "uncounted_controller_resigns", (False, True),
            "a new controller whose write of /controller_epoch is refused gives up, instead of "
            "going on under the epoch that it read", "KAFKA-5642 (1.1)",
        ),
        Switch(
            "broker_epoch", (False, True),
            "requests made for an earlier incarnation of a broker are refused", "KIP-380 (2.2)",
        ),
        Switch(
            "leader_epoch_checked", (False, True),
            "a broker refuses a LeaderAndIsr whose leader epoch it has already, or a newer one",
            "KAFKA-1188 (0.8.2)",
        ),
        Switch(
            "epoch_taken_with_role", (False, True),
            "a LeaderAndIsr that fails half-way leaves the leader epoch as it was",
            "KAFKA-9307 (2.4.1), KAFKA-9769 (2.7)",
        ),
        Switch(
            "truncation", ("hw", "kip_101", "kip_279"),
            "where a new follower cuts its log", "KIP-101 (0.11), KIP-279 (2.0)",
        ),
        Switch(
            "truncates_again", ("new_leader", "missed_epoch", "every_epoch"),
            "when a follower that is instructed to follow looks again where to cut its log",
            "KAFKA-7164 (2.0.1), KIP-320 (2.1)",
        ),
        Switch(
            "epoch_recorded", ("on_append", "on_election"),
            "when a leader enters the start of its epoch into its epoch cache",
            "KAFKA-7415 (2.0.1)",
        ),
        Switch(
            "fetch_fencing", (False, True),
            "requests between replicas carry the leader epoch and are fenced by it",
            "KIP-320 (2.1)",
        ),
        Switch(
            "fetch_session_caches_epoch", (False, True),
            "a fetch within a fetch session is fenced by its leader epoch as its first is",
            "KAFKA-9338 (2.5)",
        ),
        Switch(
            "late_answers_ignored", (False, True),
            "a fenced answer to a question of an earlier epoch does not end a follower's fetching",
            "KAFKA-7786 (2.1.1)",
        ),
        Switch(
            "isr_join_needs_epoch_start", (False, True),
            "a follower rejoins the ISR only beyond the start of the leader's epoch",
            "KAFKA-7128 (2.0.1)",
        ),
        Switch(
            "isr_write_conditional", (False, True),
            "a leader's ISR write names the zkVersion that it cached", "KAFKA-428 (0.8)",
        ),
        Switch(
            "isr_write_read_back", (False, True),
            "a leader whose ISR write was not answered reads back whether it was done",
            "KAFKA-1382 (0.8.2)",
        ),
        Switch(
            "isr_adopted_when_written", (False, True),
            "a leader counts on a smaller ISR only when it is written", "KIP-497 (2.7)",
        ),
        Switch(
            "isr_write_locks", (False, True),
            "all else about a partition waits until its leader's ISR write is answered",
            "to 2.6; KAFKA-12686 (3.0)",
        ),
        Switch(
            "lost_isr_answer_blocks", (False, True),
            "a leader that cannot tell whether its larger ISR was written counts on that one",
            "an assumption up to 2.6; KIP-497 (2.7)",
        ),
        Switch(
            "follower_ends_reset_on_election", (False, True),
            "a leader that is elected again forgets what it knew of the others' log ends",
            "an assumption (Partition.makeLeader forgets only if another led before)",
        ),
        Switch(
            "fenced_fetchers_go_on", (False, True),
            "a follower whose request was fenced asks again, and is fenced again, before it is "
            "notified of a newer epoch",
            "a simplification; such a fetcher waits for a LeaderAndIsr (KIP-320, 2.1)",
        ),
        Switch(
            "empty_logs_fetch", (False, True),
            "a follower without records fetches at once, whatever its epoch cache holds",
            "a simplification; an epoch in the cache is compared first (KIP-101)",
        ),
        Switch(
            "isr_writes_name_newest", (False, True),
            "a leader's ISR write names the newest controller epoch that it has seen",
            "a simplification; it names that of the state that it leads by",
        ),
        Switch(
            "min_insync_replicas", (1, 2),
            "how many members the ISR must have for a record with acks=all",
            "min.insync.replicas (KAFKA-1555, 0.8.2)",
        ),
        Switch(
            "disk_lost", ("by_any", "outside_isr", "when_forgotten", "never"),
            "which brokers may come back under their old id with an empty disk",
            "an assumption (KIP-966)",
        ),
        Switch(
            "isr_keeps_last_member", (False, True),
            "the controller never takes the last member out of the ISR",
            "KAFKA-708 (0.8); whatever unclean election is, since 1.1",
        ),
        Switch(
            "checkpoint_complete", (False, True),
            "a high watermark stays in the checkpoint while its partition is not hosted yet",
            "KAFKA-1647 (0.8.2)",
        ),
        Switch(
            "update_metadata_first", (False, True),
            "a new controller sends UpdateMetadata before any LeaderAndIsr",
            "KAFKA-4443 (0.10.2)",
        ),
        Switch(
            "announcement", ("all_partitions", "live_brokers"),
            "what an UpdateMetadata without partitions tells those who know them already",
            "KIP-380 (2.2)",
        ),
        Switch(
            "bounced_brokers_detected", (False, True),
            "a controller compares broker epochs, and sees a broker that came back meanwhile",
            "KIP-380 (2.2)",
        ),
        Switch(
            "dead_replicas_taken_offline", (False, True),
            "a new controller takes the replicas of dead brokers offline", "KAFKA-3143 (2.3)",
        ),
        Switch(
            "leaving_leader_is_notified", (False, True),
            "a broker that shuts down is notified that it leads no more", "KAFKA-7482 (2.1)",
        ),
        Switch(
            "shutdown_fenced", (False, True),
            "a ControlledShutdown names the broker epoch of who sent it", "KIP-380 (2.2)",
        ),
        Switch(
            "preferred_leaders_stay", (False, True),
            "a preferred election leaves alone who leads already as preferred",
            "2.2; up to 1.0 too",
        ),
        Switch(
            "preferred_needs_isr", (False, True),
            "a preferred replica is elected only if it is in the ISR", "KAFKA-9866 (2.6)",
        ),
        Switch(
            "rebalance_checks_isr", (False, True),
            "a rebalance tries to elect only preferred replicas that are in the ISR which the "
            "controller knows", "KAFKA-9866 (2.6)",
        ),
        Switch(
            "znode_owner_checked", (False, True),
            "a broker that finds its node looks which of its sessions made it",
            "KAFKA-1387 (0.9), KAFKA-7165 (2.2)",
        ),
        Switch(
            "events_dropped", (False, True),
            "a controller that resigns drops the events that are queued", "KAFKA-4447 (0.10.2)",
        ),
        Switch(
            "broker_data_watched", (False, True),
            "a controller watches the data of brokers' nodes, and tells all of other endpoints",
            "KIP-226 (1.1)",
        ),
        Switch(
            "log_dirs_fail_alone", (False, True),
            "a log directory that fails takes its replicas offline, not its broker",
            "KIP-112 (1.0)",
        ),
        Switch(
            "controller_epoch_kept", (False, True),
            "a broker that starts knows the newest controller epoch, and so refuses what a deposed "
            "controller sends", "no release: the epoch is in memory alone (ReplicaManager)",
        ),
        Switch(
            "responses_fenced", (False, True),
            "what a broker answered under its last registration says nothing of its log "
            "directories now", "an assumption (no release looks)",
        ),
        Switch(
            "isr_expansion_checks_liveness", (False, True),
            "a leader adds no broker to the ISR that it knows to be dead", "KAFKA-14140 (3.3)",
        ),
        Switch(
            "unclean_leader_election", (True, False),
            "a live replica outside the ISR may be elected when no ISR member is alive",
            "default false since 0.11 (KIP-106)",
        ),
        Switch(
            "log_survives_crash", (False, True),
            "a crash takes no record from the log: what replicas have, they keep",
            "an assumption (KIP-101, KIP-966)",
        ),
        Switch(
            "reassignment", ("twelve_steps", "kip_455"),
            "how a partition moves: at the word of a node under /admin, or of the topic's own, and "
            "then it can be changed and cancelled", "KIP-455 (2.4)",
        ),
        Switch(
            "leader_knows_replicas", (False, True),
            "LeaderAndIsr lists the replicas, and a leader takes nobody else into the ISR",
            "KAFKA-1097 (0.8.1)",
        ),
        Switch(
            "leader_drops_non_replicas", (False, True),
            "a leader can drop an ISR member that is not among its replicas", "KAFKA-9672 (3.0)",
        ),
        Switch(
            "high_watermark_waits_for_isr", (False, True),
            "a leader's high watermark waits for its whole ISR, not only for the members among its "
            "replicas", "an assumption (Partition.maybeIncrementLeaderHW asks only replicas)",
        ),
        Switch(
            "moves_forgotten_on_resign", (False, True),
            "a controller that resigns forgets which partitions are being reassigned",
            "KAFKA-5310 (0.11)",
        ),
        Switch(
            "requests_loaded_whole", (False, True),
            "no entry of a reassignment request is lost when another leaves it: all are in memory "
            "before the first is worked on, or what is left is read again",
            "KAFKA-6193, of what was to become 1.1: no release had it",
        ),
        Switch(
            "requests_read_again", (False, True),
            "who takes an entry out of a reassignment request leaves what ZooKeeper says by then, "
            "not what is in memory",
            "KAFKA-6193 (1.1) had it written from memory; KIP-455 (2.4)",
        ),
        Switch(
            "request_znode_not_rewritten", (False, True),
            "who has begun what a reassignment request asks for does not write that again",
            "KAFKA-6617 (2.0) had it written; KIP-455 (2.4)",
        ),
        Switch(
            "waits_for_dead_targets", (False, True),
            "a reassignment to a dead broker is begun, and waits for it", "KAFKA-4214 (0.10.1)",
        ),
        Switch(
            "raised_epoch_cached", (False, True),
            "clients are sent the leader epoch that a reassignment raises, not the one before it",
            "KAFKA-9212 (2.3.2, 2.4)",
        ),
        Switch(
            "delete_topic_enable", (False, True),
            "a topic may be deleted at all", "default true since 1.0 (KAFKA-5384)",
        ),
        Switch(
            "disabled_deletions_removed", (False, True),
            "where no topic may be deleted, the controller removes requests to delete one",
            "KAFKA-3175 (0.10.2)",
        ),
        Switch(
            "deletion_resumed", (False, True),
            "a new controller goes on with the deletions that it finds requested",
            "KAFKA-1681 (0.8.2)",
        ),
        Switch(
            "leaderless_replicas_stop", (False, True),
            "a replica goes offline even where its partition has no state",
            "KAFKA-6650 (2.0)",
        ),
        Switch(
            "additions_undone", (False, True),
            "partitions added to a topic that is being deleted are taken out of its node again",
            "KAFKA-6612 (2.0)",
        ),
        Switch(
            "partitions_removed_before_deletion", (False, True),
            "the partitions of a topic leave their state machine when its deletion starts, not "
            "when it ends", "KAFKA-6753 (2.1)",
        ),
        Switch(
            "offline_becomes_ineligible", (False, True),
            "a replica that is offline already may become ineligible for deletion",
            "KAFKA-8237 (2.3)",
        ),
        Switch(
            "stops_fenced", (False, True),
            "a broker refuses a StopReplica that has no newer leader epoch than it knows, except "
            "where the topic is deleted", "KIP-570 (2.6)",
        ),
        Switch(
            "topics_have_ids", (False, True),
            "a broker refuses a LeaderAndIsr for a directory of another topic of that name",
            "KIP-516 (2.8)",
        ),
        Switch(
            "dead_brokers_keep_their_replicas", (False, True),
            "no replica is reassigned away from a broker that is dead", "an assumption (KIP-516)",
        ),
    )
}  # fmt: skip

_FIXED_BEFORE: dict[str, object] = {
    "requests_fenced": True,
    "winner_reads_controller_back": True,
    "leader_epoch_checked": True,
    "isr_write_conditional": True,
    "isr_write_read_back": True,
    "checkpoint_complete": True,
    "leader_knows_replicas": True,
    "update_metadata_first": True,
    "events_dropped": True,
    "deletion_resumed": True,
}
"""Before 0.10, the first preset."""

_LEFT_OUT: dict[str, object] = {
    "epoch_taken_with_role": True, "isr_adopted_when_written": True, "isr_write_locks": True,
    "lost_isr_answer_blocks": True, "min_insync_replicas": 1,
    "follower_ends_reset_on_election": True, "fenced_fetchers_go_on": True,
    "empty_logs_fetch": True,
    "isr_writes_name_newest": True,
    "disk_lost": "never",
    "log_survives_crash": True, "leader_drops_non_replicas": True, "raised_epoch_cached": True,
    "high_watermark_waits_for_isr": True,
    "isr_expansion_checks_liveness": True,
    "preferred_needs_isr": True, "znode_owner_checked": True, "responses_fenced": True,
    "request_znode_not_rewritten": True, "requests_loaded_whole": True,
    "dead_brokers_keep_their_replicas": True, "controller_epoch_kept": False,
}  # fmt: skip
"""Faults that no preset has, and designs of 2.7 that would need care of their own."""

_0_10: dict[str, object] = {
    **_FIXED_BEFORE, **_LEFT_OUT,
    "zk_writes_fenced": False, "uncounted_controller_resigns": False,
    "broker_epoch": False, "truncation": "hw",
    "truncates_again": "new_leader", "epoch_recorded": "on_append", "fetch_fencing": False,
    "fetch_session_caches_epoch": True,         # as long as no fetch carries one (2.1)
    "late_answers_ignored": True, "isr_join_needs_epoch_start": False,
    # Up to 1.0 the last member is kept only while unclean election is off, as it is from 0.11.
    "unclean_leader_election": True, "isr_keeps_last_member": False,
    "moves_forgotten_on_resign": False, "requests_read_again": True,
    "waits_for_dead_targets": True, "reassignment": "twelve_steps",
    "announcement": "all_partitions", "bounced_brokers_detected": False,
    "dead_replicas_taken_offline": False,
    "shutdown_fenced": False, "preferred_leaders_stay": True, "leaving_leader_is_notified": True,
    "rebalance_checks_isr": False,
    "broker_data_watched": False, "log_dirs_fail_alone": False,
    "delete_topic_enable": False, "disabled_deletions_removed": True,
    "leaderless_replicas_stop": False, "additions_undone": False,
    "stops_fenced": False,
    "partitions_removed_before_deletion": False, "offline_becomes_ineligible": False,
    "topics_have_ids": False,
}  # fmt: skip
_0_11: dict[str, object] = {
    **_0_10, "truncation": "kip_101",
    "unclean_leader_election": False, "isr_keeps_last_member": True,
    "moves_forgotten_on_resign": True,
}  # fmt: skip
_1_1: dict[str, object] = {
    **_0_11, "requests_read_again": False, "delete_topic_enable": True,
    "broker_data_watched": True, "log_dirs_fail_alone": True,
    "uncounted_controller_resigns": True,
    # Two places where a release went back.
    "leaving_leader_is_notified": False, "preferred_leaders_stay": False,
}  # fmt: skip
_2_0: dict[str, object] = {
    **_1_1, "truncation": "kip_279", "truncates_again": "missed_epoch",
    "epoch_recorded": "on_election", "isr_join_needs_epoch_start": True,
    "leaderless_replicas_stop": True, "additions_undone": True,
}  # fmt: skip
_2_1: dict[str, object] = {
    **_2_0, "leaving_leader_is_notified": True,
    "zk_writes_fenced": True, "truncates_again": "every_epoch", "fetch_fencing": True,
    "fetch_session_caches_epoch": False, "partitions_removed_before_deletion": True,
}  # fmt: skip
_2_3: dict[str, object] = {
    **_2_1, "broker_epoch": True, "announcement": "live_brokers", "bounced_brokers_detected": True,
    "shutdown_fenced": True, "preferred_leaders_stay": True,
    "dead_replicas_taken_offline": True, "offline_becomes_ineligible": True,
}  # fmt: skip
_2_4: dict[str, object] = {**_2_3, "reassignment": "kip_455", "requests_read_again": True}
_2_5: dict[str, object] = {**_2_4, "fetch_session_caches_epoch": True}
_2_7: dict[str, object] = {**_2_5, "stops_fenced": True, "rebalance_checks_isr": True}

RELEASES: dict[str, tuple[str, dict[str, object]]] = {
    "0.10": ("followers truncate to the high watermark", _0_10),
    "0.11": ("leader epochs in the log (KIP-101)", _0_11),
    "1.1": ("asynchronous controller", _1_1),
    "2.0": ("truncation that survives fast elections (KIP-279)", _2_0),
    "2.1": ("fenced fetches (KIP-320), but for those of a session, and controller writes", _2_1),
    "2.3": ("the default: the last release with the twelve-step reassignment", _2_3),
    "2.4": ("reassignment that can be changed and cancelled (KIP-455)", _2_4),
    "2.5": ("every fetch is fenced (KAFKA-9338)", _2_5),
    "2.7": ("the last before topic ids, with the protocol that brokers of 2.6 speak", _2_7),
}
"""Name -> (what it is known for, every switch)."""

LINES: dict[str, tuple[int, str, dict[str, object]]] = {
    "0.10.0": (1, "0.10", {
        "update_metadata_first": False, "disabled_deletions_removed": False,
        "waits_for_dead_targets": False}),                              # KAFKA-4214 (0.10.1)
    "0.10.1": (1, "0.10", {
        "update_metadata_first": False,                                 # KAFKA-4443 (0.10.2)
        "disabled_deletions_removed": False}),                          # KAFKA-3175 (0.10.2)
    "0.10.2": (2, "0.10", {}),
    "0.11.0": (3, "0.11", {}),
    "1.0": (2, "0.11", {"delete_topic_enable": True, "log_dirs_fail_alone": True}),
    "1.1": (1, "1.1", {}),
    "2.0": (1, "2.0", {}),
    "2.1": (1, "2.1", {}),
    "2.2": (2, "2.3", {"dead_replicas_taken_offline": False, "offline_becomes_ineligible": False}),
    "2.3": (1, "2.3", {}),
    "2.4": (1, "2.4", {}),
    "2.5": (1, "2.5", {}),
    "2.6": (3, "2.7", {}),
    "2.7": (2, "2.7", {}),
    "2.8": (2, "2.7", {"topics_have_ids": True}),
}  # fmt: skip
"""Line -> its last patch, the release that does as it does, and what is another: what Apache Kafka
published from 0.10.0.0 to 2.8.2, as far as a switch is about it."""

_OF_ONE_PATCH: dict[str, dict[str, object]] = {
    "2.0.0": {"truncates_again": "new_leader", "epoch_recorded": "on_append",
              "isr_join_needs_epoch_start": False},  # KAFKA-7164, KAFKA-7415, KAFKA-7128 (2.0.1)
    "2.1.0": {"late_answers_ignored": False},        # KAFKA-7786 (2.1.1)
}  # fmt: skip
"""What only a line's first patch does."""

INCOMPATIBLE_SWITCHES: tuple[IncompatibleSwitches, ...] = (
    IncompatibleSwitches(
        "fetch_fencing", (True,), "truncation", ("hw",),
        "KIP-320 fences the question where a leader epoch ends, and who cuts to the high "
        "watermark asks no such question",
        "truncation=kip_101 or kip_279, or fetch_fencing=false",
    ),
    IncompatibleSwitches(
        "late_answers_ignored", (False,), "fetch_fencing", (False,),
        "KAFKA-7786 is about a fenced answer that comes late, and without KIP-320 no answer is "
        "fenced",
        "fetch_fencing=true, or late_answers_ignored=true",
    ),
)  # fmt: skip
"""Switches that cannot be chosen together: together they are no protocol that could have been, or
the one says nothing where the other is so, and a claim would hold for that reason alone."""


def presets(switches: Sequence[str]) -> dict[str, Version]:
    """The releases, reduced to the switches that a system has."""
    allowed = {switch: SWITCHES[switch].values for switch in switches}
    clashes = tuple(one for one in INCOMPATIBLE_SWITCHES if {one.one, one.other} <= set(switches))
    return {
        name: Version(
            name, {switch: values[switch] for switch in switches}, about, allowed, clashes
        )
        for name, (about, values) in RELEASES.items()
    }


def published(switches: Sequence[str]) -> dict[str, Version]:
    """Every other name of a published release -> the release that it is, with what is another.

    Such as 0.10.1.1, 2.3.1 or 1.0, which is 0.11 but for two switches.
    """
    known = presets(switches)
    names = {
        name: (base, {**apart, **_OF_ONE_PATCH.get(name, {})})
        for line, (last, base, apart) in LINES.items()
        for name in (line, *(f"{line}.{patch}" for patch in range(last + 1)))
        if name not in known
    }
    return {
        name: replace(
            known[base],
            switches={one: apart.get(one, value) for one, value in known[base].switches.items()},
        )
        for name, (base, apart) in names.items()
    }

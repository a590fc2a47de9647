"""For every claim of every system a bug that breaks it: history's, or one requirement dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from model.language import RecordedSystem
from model.systems import SYSTEMS
from tests.reassignment.planted import REASSIGNMENT
from tests.topics.planted import TOPICS


@dataclass(frozen=True)
class Bug:
    """One thing wrong with a system, and how many states the shortest run to the damage has.

    `version` and `without` are history's bugs. `dropped` are (step, reason) of requirements taken
    out; `missing` are steps taken out, which is how a `sometimes` comes to be false (depth None);
    `unfair` are steps that no claim treats fairly any more. `changed` are switches with more than
    two values. `plain`: found by generated Python,
    where few states are enough and machine code would take longer to make.
    """

    depth: int | None
    version: str | None = None
    without: tuple[str, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    unfair: tuple[str, ...] = ()
    bounds: Mapping[str, int] = field(default_factory=dict)
    plain: bool = False
    changed: Mapping[str, object] = field(default_factory=dict)

    def planted(self, system: str) -> RecordedSystem:
        """The system with the bug in it; what is taken out must have been there."""
        changed: dict[str, object] = dict.fromkeys(self.without, False)
        recorded = SYSTEMS[system].recorded(self.version, {**changed, **self.changed})
        for name, reason in self.dropped:
            step = next(one for one in recorded.steps if one.transition.name == name)
            kept = [one for one in step.requires if one.reason != reason]
            assert len(kept) == len(step.requires) - 1, (name, reason)
            recorded.steps[recorded.steps.index(step)] = replace(step, requires=kept)
        names = {step.transition.name for step in recorded.steps}
        assert set(self.missing) <= names, self.missing
        recorded.steps = [s for s in recorded.steps if s.transition.name not in self.missing]
        for name, (claim, condition) in recorded.claims.items():
            fair = tuple(step for step in claim.fair if step not in self.unfair)
            recorded.claims[name] = replace(claim, fair=fair), condition
        assert set(self.unfair) <= {step.name for step in recorded.system.transitions}
        return recorded


OUT_OF_THE_ISR = ("controller_elects_leader", "the candidate is in the ISR that it read")
UNKNOWN_ENDS = ("leader_advances_hw", "it knows the end of every ISR member")
NOT_COMMITTED = ("leader_acknowledges_acks_all", "the high watermark has passed it")
ANOTHER_LEADS = ("broker_becomes_leader", "the request names the broker the leader")
ANY_ISR = ("controller_elects_leader", "the new ISR is part of the registered one")
ONE_TERM = {"epoch": 1, "versions": 1}
ONE_FAILOVER = {"expiries": 1, "controllers": 1, "versions": 2, "lingering": 0}
FEW_EVENTS = {"queue": 2, "events": 1}
ONE_LOSS = {
    "expiries": 1, "controllers": 2, "versions": 3, "epoch": 3, "crashes": 0, "lingering": 0,
}  # fmt: skip
NO_FAULT = {**ONE_FAILOVER, "crashes": 0, "expiries": 0}
ANYBODY = ("controller_elects_leader", "the replica is live, and in the ISR")
STILL_THERE = (
    "controller_finds_brokers_unchanged", "every broker that it counts as live is registered",
)  # fmt: skip
LOST_LOG = ("broker_becomes_leader", "the partition's log directory works")
BLIND = ("leader_shrinks_isr", "the cached version is current")

BUGS: dict[tuple[str, str], tuple[Bug, ...]] = {
    ("replication_history", "no_message_loss"): (Bug(6, dropped=(ANY_ISR,)),),
    ("replication_history", "isr_holds_committed"): (Bug(6, dropped=(ANY_ISR,)),),
    ("replication_history", "log_matching"): (
        Bug(
            10,
            dropped=(("leader_learns_end", "the follower asked at this offset"),),
            bounds={"records": 2},
        ),
    ),
    ("replication_history", "leader_unique"): (
        Bug(4, dropped=(("broker_becomes_leader", "it names this broker"),)),
    ),
    ("replication_history", "a_deposed_leader_commits_beside_its_successor"): (
        Bug(None, missing=("leader_advances_hw",)),
    ),
    ("classic", "strong_isr"): (
        Bug(9, version="hw_truncation"),
        Bug(12, version="kip_101"),
        Bug(12, version="kip_279"),
    ),
    ("classic", "weak_isr"): (Bug(9, version="hw_truncation"),),
    ("classic", "leader_in_isr"): (
        Bug(3, dropped=(("controller_elects_leader", "the replica is in the registered ISR"),)),
    ),
    ("classic", "leader_unique"): (
        Bug(4, dropped=(("becomes_leader", "the request names the replica the leader"),)),
    ),
    ("classic", "a_record_is_committed"): (Bug(None, missing=("fenced_leader_raises_hw",)),),
    ("classic", "the_isr_has_shrunk"): (
        Bug(None, missing=("controller_drops_replica", "fenced_leader_shrinks_isr")),
    ),
    ("classic", "two_brokers_believe_they_lead"): (Bug(None, bounds={"brokers": 1}),),
    ("election", "single_controller"): (
        Bug(11, without=("zk_writes_fenced",)),
        Bug(13, without=("requests_fenced",)),
        Bug(14, without=("broker_epoch",)),
        Bug(8, dropped=(("broker_wins_election", "/controller_epoch is as it was read"),)),
    ),
    ("election", "single_writer"): (Bug(11, without=("zk_writes_fenced",)),),
    ("election", "no_older_controller_is_obeyed"): (
        Bug(13, without=("requests_fenced",)),
        Bug(14, without=("broker_epoch",)),
    ),
    ("election", "the_owner_has_a_session"): (
        Bug(5, dropped=(("broker_wins_election", "the broker has a session"),)),
    ),
    ("election", "controllers_won_their_epoch"): (
        Bug(7, dropped=(("broker_learns_it_won", "/controller is the broker's own"),)),
    ),
    ("election", "controllers_have_no_pending_election"): (
        Bug(
            8,
            dropped=(("broker_reads_epoch", "the broker does not believe it is the controller"),),
        ),
    ),
    ("election", "writers_won_their_epoch"): (
        Bug(2, dropped=(("controller_starts_write", "the broker believes it is the controller"),)),
    ),
    ("election", "written_controller_epoch_was_won"): (
        Bug(2, dropped=(("write_is_applied", "a write of the broker is under way"),)),
    ),
    ("election", "accepted_requests_were_sent"): (
        Bug(2, dropped=(("broker_handles_request", "the request was sent"),)),
    ),
    ("election", "nobody_takes_over_the_controllership"): (
        Bug(
            7,
            dropped=(
                ("broker_reads_epoch", "/controller does not exist"),
                ("broker_wins_election", "/controller does not exist"),
            ),
        ),
    ),
    ("election", "one_write_at_a_time"): (
        Bug(
            14,
            version="2.0",
            dropped=(("controller_starts_write", "no write of the broker is under way"),),
        ),
    ),
    ("election", "controller_epoch_never_falls"): (
        Bug(8, dropped=(("broker_wins_election", "/controller_epoch is as it was read"),)),
    ),
    ("election", "newest_controller_becomes_known"): (
        Bug(11, without=("broker_epoch",)),
        Bug(6, unfair=("broker_handles_request",)),
    ),
    ("election", "two_brokers_believe_they_are_controller"): (Bug(None, bounds={"brokers": 1}),),
    ("election", "a_deposed_controller_has_a_write_in_flight"): (
        Bug(None, missing=("session_expires",)),
    ),
    ("election", "a_deposed_request_is_in_flight"): (
        Bug(None, missing=("controller_sends_request",)),
    ),
    ("election", "winner_has_not_learned_it_won"): (Bug(None, missing=("broker_wins_election",)),),
    ("election", "the_state_was_written"): (Bug(None, missing=("write_is_applied",)),),
    ("replication", "no_message_loss"): (
        Bug(9, dropped=(UNKNOWN_ENDS,)),
        Bug(12, dropped=(OUT_OF_THE_ISR,)),
        Bug(19, version="0.10", bounds={"crashes": 1}),
        Bug(13, changed={"disk_lost": "by_any"}, bounds={"crashes": 1}),
        Bug(
            18,
            without=("lost_isr_answer_blocks",),
            bounds={"versions": 4, "losses": 1, "expiries": 0},
        ),
    ),
    ("replication", "isr_holds_committed"): (
        Bug(8, dropped=(UNKNOWN_ENDS,)),
        Bug(15, dropped=(("leader_expands_isr", "the replica has reached the HW"),)),
    ),
    ("replication", "log_matching"): (Bug(12, dropped=(UNKNOWN_ENDS,), bounds={"records": 2}),),
    ("replication", "leader_unique"): (Bug(7, dropped=(ANOTHER_LEADS,)),),
    ("replication", "leader_in_isr"): (Bug(9, dropped=(OUT_OF_THE_ISR,)),),
    ("replication", "leader_epoch_never_falls"): (
        Bug(
            8,
            dropped=(("leader_shrinks_isr", "the cached version is current"),),
            bounds={"versions": 3},
        ),
    ),
    ("replication", "hw_never_falls"): (
        Bug(
            12, dropped=(UNKNOWN_ENDS, ("leader_advances_hw", "every ISR member is beyond the HW"))
        ),
        Bug(19, dropped=(("follower_appends", "it still follows that leader and epoch"),)),
    ),
    ("replication", "followers_catch_up"): (
        Bug(9, unfair=("leader_answers_fetch",)),
        Bug(12, unfair=("follower_truncates",)),
        Bug(11, missing=("leader_refuses_fetch",)),
    ),
    ("replication", "fetchers_match_their_leader"): (
        Bug(
            20,
            version="0.11",
            bounds={"records": 2, "epoch": 3, "versions": 3, "expiries": 0},
        ),
    ),
    ("replication", "leader_is_current"): (
        Bug(9, without=("isr_write_read_back",), bounds={"losses": 1}),
        Bug(11, without=("isr_write_locks",), bounds={"versions": 3}),
    ),
    ("replication", "isr_is_never_empty"): (
        Bug(10, without=("isr_keeps_last_member",), bounds={"versions": 3}),
    ),
    ("replication", "registered_controller_is_active"): (
        Bug(4, without=("winner_reads_controller_back",), bounds={"losses": 1}),
    ),
    ("replication", "checkpoint_survives_start"): (
        Bug(15, without=("checkpoint_complete",), bounds={"crashes": 1}),
    ),
    ("replication", "acknowledged_is_never_lost"): (Bug(8, dropped=(NOT_COMMITTED,)),),
    ("replication", "acknowledged_records_have_min_isr_copies"): (
        Bug(14, dropped=(NOT_COMMITTED,)),
        Bug(
            11,
            changed={"min_insync_replicas": 2},
            dropped=(("leader_acknowledges_acks_all", "its ISR has min.insync.replicas members"),),
        ),
    ),
    ("replication", "reads_agree"): (Bug(10, dropped=(UNKNOWN_ENDS,)),),
    ("replication", "a_record_is_acknowledged_by_the_isr"): (
        Bug(None, missing=("leader_acknowledges_acks_all",), bounds=ONE_TERM),
    ),
    ("replication", "an_acknowledged_record_is_lost"): (
        Bug(None, missing=("leader_acknowledges",), bounds=ONE_TERM),
    ),
    ("replication", "a_record_is_read"): (Bug(None, missing=("consumer_reads",), bounds=ONE_TERM),),
    ("replication", "isr_write_response_is_pending"): (
        Bug(None, missing=("leader_shrinks_isr", "leader_expands_isr")),
    ),
    ("replication", "a_high_watermark_is_checkpointed"): (
        Bug(None, missing=("broker_checkpoints_hw",), bounds=ONE_TERM),
    ),
    ("replication", "a_leader_is_elected"): (
        Bug(None, missing=("controller_elects_leader",), bounds=ONE_TERM),
    ),
    ("replication", "a_commit_survives_an_election"): (Bug(None, bounds=ONE_TERM),),
    ("replication", "two_replicas_have_a_high_watermark"): (
        Bug(None, missing=("follower_appends",), bounds=ONE_TERM),
    ),
    ("replication", "two_brokers_believe_they_lead"): (Bug(None, bounds=ONE_TERM),),
    ("replication", "an_old_fetch_is_in_flight"): (Bug(None, bounds=ONE_TERM),),
    ("cluster", "idle_metadata_agrees_with_zookeeper"): (
        Bug(
            25,
            without=("leaving_leader_is_notified",),
            bounds={**NO_FAULT, "shutdowns": 1},
            plain=True,
        ),
        Bug(15, without=("bounced_brokers_detected",), bounds=ONE_FAILOVER, plain=True),
        Bug(
            15,
            without=("broker_data_watched",),
            bounds={**NO_FAULT, "endpoints": 1},
            plain=True,
        ),
    ),
    ("cluster", "idle_partitions_have_leaders"): (
        Bug(17, without=("update_metadata_first",), bounds=ONE_FAILOVER, plain=True),
        Bug(15, without=("bounced_brokers_detected",), bounds=ONE_FAILOVER, plain=True),
        Bug(
            30,
            without=("shutdown_fenced",),
            bounds={**ONE_FAILOVER, "versions": 3, "shutdowns": 1},
        ),
        Bug(46, without=("responses_fenced",), bounds={**ONE_FAILOVER, "directories": 1}),
    ),
    ("cluster", "partitions_get_leaders"): (
        Bug(17, unfair=("controller_elects_leader",), bounds=ONE_LOSS, plain=True),
    ),
    ("cluster", "the_cluster_comes_to_rest"): (
        Bug(
            8,
            unfair=("broker_updates_metadata",),
            bounds={**NO_FAULT, "controllers": 2, "queue": 6},
            plain=True,
        ),
    ),
    ("cluster", "no_event_is_missed"): (
        Bug(15, dropped=(STILL_THERE,), bounds={**ONE_FAILOVER, **FEW_EVENTS}, plain=True),
        Bug(17, dropped=(LOST_LOG,), bounds={**NO_FAULT, "directories": 1}, plain=True),
    ),
    ("cluster", "dead_leaders_are_noticed"): (
        Bug(25, without=("dead_replicas_taken_offline",)),
        Bug(17, dropped=(LOST_LOG,), bounds={**NO_FAULT, "directories": 1}, plain=True),
    ),
    ("cluster", "leader_unique"): (
        Bug(
            37, dropped=(BLIND,), bounds={"versions": 4, "epoch": 3, "expiries": 2, "lingering": 0}
        ),
    ),
    ("cluster", "leader_in_isr"): (
        Bug(12, dropped=(ANYBODY,), bounds=ONE_FAILOVER, plain=True),
        Bug(
            29,
            without=("preferred_needs_isr",),
            bounds={**ONE_FAILOVER, "versions": 3, "epoch": 3, "requests": 1},
            plain=True,
        ),
    ),
    ("cluster", "isr_holds_committed"): (
        Bug(
            14,
            dropped=(("leader_expands_isr", "the replica has all that was committed"),),
            bounds=ONE_FAILOVER,
            plain=True,
        ),
    ),
    ("cluster", "no_message_loss"): (Bug(28, dropped=(ANYBODY,), bounds=ONE_FAILOVER, plain=True),),
    ("cluster", "registered_brokers_stay_registered"): (
        Bug(4, without=("znode_owner_checked",), bounds={**NO_FAULT, "lingering": 1}, plain=True),
    ),
    ("cluster", "resigned_controllers_write_nothing"): (
        Bug(
            14,
            without=("events_dropped",),
            bounds={"crashes": 0, "expiries": 2, "versions": 2, "lingering": 0},
            plain=True,
        ),
    ),
    ("cluster", "single_writer"): (
        Bug(12, without=("zk_writes_fenced",), bounds={"crashes": 0}, plain=True),
    ),
    ("cluster", "leader_epoch_never_falls"): (
        Bug(11, dropped=(BLIND,), bounds=ONE_FAILOVER, plain=True),
    ),
    ("cluster", "dead_brokers_do_not_join_the_isr"): (
        Bug(
            23,
            without=("isr_expansion_checks_liveness",),
            bounds={**ONE_FAILOVER, "crashes": 0},
            plain=True,
        ),
    ),
    ("cluster", "the_cluster_settles_after_an_election"): (
        Bug(None, missing=("controller_sends_election_batch",), bounds=ONE_FAILOVER),
    ),
    ("cluster", "a_partition_is_without_leader"): (
        Bug(None, missing=("controller_removes_replica",), bounds=ONE_FAILOVER),
    ),
    ("cluster", "two_brokers_believe_they_lead"): (
        Bug(None, missing=("controller_elects_leader",), bounds=ONE_FAILOVER),
    ),
    ("cluster", "a_second_leader_is_elected"): (
        Bug(None, missing=("controller_elects_leader",), bounds=ONE_FAILOVER, plain=True),
    ),
    ("cluster", "a_replica_lacks_what_was_committed"): (
        Bug(None, missing=("leader_commits",), bounds=ONE_FAILOVER, plain=True),
    ),
    ("cluster", "a_deposed_controller_is_at_work"): (
        Bug(None, missing=("broker_learns_it_won",), bounds=ONE_FAILOVER, plain=True),
    ),
    ("cluster", "a_dead_broker_still_fetches"): (
        Bug(None, missing=("session_expires",), bounds=ONE_FAILOVER, plain=True),
    ),
    ("cluster", "an_ephemeral_znode_outlives_its_session"): (
        Bug(None, bounds=NO_FAULT, plain=True),
    ),
}
"""(system, claim) -> its bugs. A claim without one could not fail, for all that anybody knows."""

for _system, _bugs in (("topics", TOPICS), ("reassignment", REASSIGNMENT)):
    BUGS.update(
        {(_system, claim): tuple(Bug(**one) for one in bugs) for claim, bugs in _bugs.items()}
    )

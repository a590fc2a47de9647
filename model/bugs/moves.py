"""Reassignment (bugs 32 to 37 of the list), and requests applied in part (38, 39, 47)."""

from model.bugs.entry import HistoricBug, Reproduction

_ONE_TERM = {"expiries": 1, "controllers": 1, "versions": 2, "lingering": 0}

ENTRIES = (
    HistoricBug(
        32, "KAFKA-1097", "a replica that was reassigned away joins the ISR again",
        ("KAFKA-1170",), "0.8.1",
        "The leader does not know the assignment, and adds the replica on its next fetch. Then it "
        "is deleted while it is in the ISR.",
        "isr_holds_committed", "lai_no_assignment",
        Reproduction(
            "reassignment", "2.0", "isr_holds_committed",
            {"replicas": 2, "faults": 0, "crashes": 0}, {"leader_knows_replicas": False},
            quick=True,
        ),
        remark="Shown on 2.0, because KIP-320 would refuse the fetch: the old replica gets no "
        "leader epoch later than that of step 7. Two brokers are enough when the leader stays.",
    ),
    HistoricBug(
        33, "KAFKA-9672", "an ISR member outside the assignment can never be removed",
        (), "3.0.0",
        "The leader ignores ids that are not replicas, and its ISR cannot change any more.",
        "lagging_replicas_can_leave_the_isr", "isr_not_subset_ar",
        Reproduction(
            "reassignment", "2.3", "lagging_replicas_can_leave_the_isr",
            {"replicas": 2, "faults": 0, "crashes": 0}, {"leader_drops_non_replicas": False},
        ),
        remark="Releases up to 2.3 made a replica of every id in the ISR; those from 2.4 on have "
        "the bug, and no preset does.",
    ),
    HistoricBug(
        34, "KAFKA-5310", "a reassignment of an earlier controllership runs again",
        (), "0.11.0.0",
        "Reassignments in memory survive the resignation, and continue when the broker is "
        "controller again.",
        "withdrawn_reassignments_do_not_start", "keep_ctx_on_resign",
        Reproduction(
            "reassignment", "2.3", "withdrawn_reassignments_do_not_start",
            {"faults": 2, "crashes": 0},
            {"moves_forgotten_on_resign": False},
        ),
        remark="Shorter than JIRA has it: the broker that handled the request becomes controller "
        "again, with no other in between.",
    ),
    HistoricBug(
        35, "KAFKA-6193", "the request is removed when the first of several is done",
        (), "1.1.0",
        "The request was not loaded as a whole, and the rest of it is lost at the next failover.",
        "other_request_is_kept", "drop_reassign_znode_early",
        Reproduction(
            "reassignment", "2.3", "other_request_is_kept", {"crashes": 0},
            {"requests_loaded_whole": False}, quick=True,
        ),
        remark="The other partition is only an entry in the request. It is enough that the first "
        "entry is dropped: six steps, and no failover.",
    ),
    HistoricBug(
        36, "KAFKA-4214", "a reassignment is given up because a target replica is down",
        (), "0.10.1.0",
        "Controller and new replica restart together. The assignment stays between old and new.",
        "assignment_is_original_or_requested", "abort_reassign_if_dead",
        Reproduction(
            "reassignment", "2.3", "assignment_is_original_or_requested", {"crashes": 0},
            {"waits_for_dead_targets": False}, quick=True,
        ),
    ),
    HistoricBug(
        37, "KAFKA-9212", "the controller does not cache the leader epoch that it wrote",
        (), "2.4.0",
        "ZooKeeper and LeaderAndIsr have the new leader epoch, UpdateMetadata the old one.",
        "clients_know_the_leader_epoch", "ctx_epoch_not_bumped",
        Reproduction(
            "reassignment", "2.3", "clients_know_the_leader_epoch", {"faults": 0, "crashes": 0},
            {"raised_epoch_cached": False},
        ),
        remark="No failover and no fault: every reassignment had it.",
    ),
    HistoricBug(
        38, "KAFKA-4443", "LeaderAndIsr arrives before the first UpdateMetadata",
        (), "0.10.2.0",
        "A new broker does not know the leader's address, skips the partition, and is not notified "
        "again.",
        "idle_partitions_have_leaders", "lai_before_um_failover",
        Reproduction(
            "cluster", "2.3", "idle_partitions_have_leaders", _ONE_TERM,
            {"update_metadata_first": False},
            quick=True, plain=True,
        ),
    ),
    HistoricBug(
        39, "KAFKA-9307", "the epoch is stored before the transition fails",
        ("KAFKA-9769",), "2.4.1 and 2.7.0",
        "A read of ZooKeeper throws half-way. A deposed leader has the new epoch and its old role, "
        "and the same request is refused the next time.",
        "leader_unique", "epoch_set_before_transition",
        Reproduction(
            "replication", "2.5", "leader_unique", {}, {"epoch_taken_with_role": False}, quick=True,
        ),
        remark="Besides being stuck, the broker leads in another leader's epoch.",
    ),
    HistoricBug(
        47, "KAFKA-7482", "a broker that shuts down is not notified",
        (), "2.1.0",
        "No LeaderAndIsr is sent to it, and it keeps leading in its old epoch.",
        "idle_metadata_agrees_with_zookeeper", "lai_skips_shutting_down",
        Reproduction(
            "cluster", "2.3", "idle_metadata_agrees_with_zookeeper",
            {**_ONE_TERM, "crashes": 0, "expiries": 0, "shutdowns": 1},
            {"leaving_leader_is_notified": False}, quick=True, plain=True,
        ),
        remark="A regression of 1.1: the selectors up to 1.0 notified it.",
    ),
)  # fmt: skip

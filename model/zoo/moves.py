"""Reassignment (32 to 37), and requests that are half understood (38, 39, 47)."""

from model.zoo.entry import Entry, Expression

_REASSIGNMENT = "needs reassignment"

_ONE_TERM = {"expiries": 1, "controllers": 1, "versions": 2}

ENTRIES = (
    Entry(
        32, "KAFKA-1097", "a replica that was moved away slips back into the ISR",
        ("KAFKA-1170",), "0.8.1",
        "The leader does not know the assignment, and takes it back on its next fetch; then it is "
        "deleted while in the ISR.",
        "isr_holds_committed", "lai_no_assignment", excuse=_REASSIGNMENT,
    ),
    Entry(
        33, "KAFKA-9672", "an ISR member outside the assignment can never be dropped",
        (), "3.0.0",
        "The leader ignores ids that it does not know as replicas, and its ISR is stuck.",
        "no_wedge", "isr_not_subset_ar", excuse=_REASSIGNMENT,
    ),
    Entry(
        34, "KAFKA-5310", "a reassignment of an earlier term runs again",
        (), "0.11.0.0",
        "What was being reassigned survives the resignation, and is taken up when the broker is "
        "controller again.",
        "single_writer", "keep_ctx_on_resign", excuse=_REASSIGNMENT,
    ),
    Entry(
        35, "KAFKA-6193", "the request is removed when the first of several is done",
        (), "1.1.0",
        "The set in memory was not loaded whole; the rest is forgotten at the next failover.",
        "no_wedge", "drop_reassign_znode_early", excuse=_REASSIGNMENT + ", of two partitions",
    ),
    Entry(
        36, "KAFKA-4214", "a reassignment is given up because a target is down",
        (), "0.10.1.0",
        "Controller and new replica restart together; the assignment stays between old and new.",
        "no_wedge", "abort_reassign_if_dead", excuse=_REASSIGNMENT,
    ),
    Entry(
        37, "KAFKA-9212", "the controller does not note the epoch that it wrote",
        (), "2.4.0",
        "ZooKeeper and LeaderAndIsr have the new leader epoch, UpdateMetadata the old one.",
        "converges", "ctx_epoch_not_bumped", excuse=_REASSIGNMENT + " and UpdateMetadata",
    ),
    Entry(
        38, "KAFKA-4443", "LeaderAndIsr arrives before anybody told who is alive",
        (), "0.10.2.0",
        "A fresh broker does not know the leader's address, skips the partition, and is not told "
        "again.",
        "no_wedge", "lai_before_um_failover",
        Expression(
            "cluster", "2.3", "no_wedge", _ONE_TERM, {"metadata_first": False},
            quick=True, plain=True,
        ),
    ),
    Entry(
        39, "KAFKA-9307", "the epoch is stored, then the transition fails",
        ("KAFKA-9769",), "2.4.1 and 2.7.0",
        "A read of ZooKeeper throws half-way: a deposed leader has the new epoch and its old role, "
        "and the same request is refused the next time.",
        "leader_unique", "epoch_set_before_transition",
        Expression(
            "replication", "2.3", "leader_unique", {}, {"epoch_taken_with_role": False}, quick=True,
        ),
        remark="Besides being stuck, it leads in an epoch that is another's.",
    ),
    Entry(
        47, "KAFKA-7482", "a broker that shuts down is not told",
        (), "2.1.0",
        "No LeaderAndIsr is sent to it, and it goes on leading in its old epoch.",
        "converges", "lai_skips_shutting_down",
        excuse="needs controlled shutdown",
    ),
)  # fmt: skip

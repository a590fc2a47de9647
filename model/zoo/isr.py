"""The ISR and the version of its znode (bugs 23 to 31 of the zoo)."""

from model.zoo.entry import Expression, ZooEntry

_ONE_TERM = {"expiries": 1, "controllers": 1, "versions": 2, "lingering": 0}

ENTRIES = (
    ZooEntry(
        23, "KAFKA-1382", "a leader takes its own write for a failure",
        (), "0.8.2.0",
        "The ISR is written and the answer lost; the retry is refused, and the leader keeps a "
        "version with which no later write can succeed.",
        "leader_is_current", "cond_update_no_readback",
        Expression(
            "replication", "2.5", "leader_is_current", {"losses": 1},
            {"isr_write_read_back": False}, quick=True,
        ),
        remark="The fix has a gap: a write whose session ends before it can be read back is given "
        "up, and the leader is as stuck as before until it tries the same change again.",
    ),
    ZooEntry(
        24, "KAFKA-2729", "'Cached zkVersion not equal', for ever",
        ("KAFKA-3042",), "no commit of its own",
        "The controller writes the state, and the leader never hears of it: its ISR neither "
        "shrinks nor grows any more.",
        "idle_partitions_have_leaders", "leader_never_refreshes_v",
        Expression(
            "cluster", "2.3", "idle_partitions_have_leaders",
            {"crashes": 0, "expiries": 2, "versions": 2, "lingering": 0},
            {"zk_writes_fenced": False},
        ),
        remark="The root of it is KAFKA-6082: a deposed controller writes the state, and the "
        "leader refuses the LeaderAndIsr that should tell it.",
    ),
    ZooEntry(
        25, "KAFKA-428", "ISR writes without a version",
        (), "0.8.0",
        "A deposed leader writes its ISR over the state of its successor, and the leader epoch "
        "goes back.",
        "no_message_loss", "isr_write_blind",
        Expression(
            "replication", "2.5", "no_message_loss", {"versions": 3},
            {"isr_write_conditional": False}, quick=True,
        ),
    ),
    ZooEntry(
        26, "KIP-497", "the high watermark counts on an ISR that is not written yet",
        (), "2.7 (design)",
        "A leader drops a replica in its own mind; the write is refused, and what it committed "
        "without that replica is lost when the replica leads.",
        "no_message_loss", "hw_uses_committed_isr",
        Expression(
            "replication", "2.5", "no_message_loss", {}, {"isr_adopted_when_written": False},
            quick=True,
        ),
    ),
    ZooEntry(
        27, "KAFKA-12686", "two ISR changes overlap",
        (), "3.0.0",
        "A LeaderAndIsr clears the change that is under way; the older answer then overwrites the "
        "newer ISR.",
        "leader_is_current", "clear_pending_isr_early",
        Expression(
            "replication", "2.5", "leader_is_current", {"versions": 3},
            {"isr_write_locks": False}, quick=True,
        ),
        remark="Up to 2.6 the write holds a lock, and a LeaderAndIsr waits for it: without that, "
        "the answer of the older write is taken over what the LeaderAndIsr said. AlterIsr itself "
        "(KIP-497), where the controller writes, is in model/replication/alter_isr.py, for which "
        "a proof shows that nothing is lost; there a later LeaderAndIsr voids an older answer.",
    ),
    ZooEntry(
        28, "KAFKA-13091", "nobody looks at the high watermark after a shrink",
        (), "3.1.0",
        "The last lagging member goes, and without a further fetch the high watermark never moves.",
        "idle_partitions_have_leaders", "no_hw_check_after_shrink",
        excuse="needs high watermarks that move with fetches: here that is a step of its own, "
        "possible at any time",
    ),
    ZooEntry(
        29, "KAFKA-14140", "a broker that has left comes back into the ISR",
        ("KIP-841",), "3.3.0",
        "Its last fetch is still counted after the controller took it out.",
        "dead_brokers_do_not_join_the_isr", "isr_accepts_dead_broker",
        Expression(
            "cluster", "2.3", "dead_brokers_do_not_join_the_isr", {**_ONE_TERM, "crashes": 0},
            {"isr_expansion_checks_liveness": False}, quick=True, plain=True,
        ),
        remark="No release of the presets has the fix; they are all taken as if they had it. It "
        "narrows a window: a leader that was not notified yet takes back who is gone.",
    ),
    ZooEntry(
        30, "KAFKA-708", "the ISR becomes empty",
        (), "0.8.0",
        "The last member goes, and is taken out: nobody can be elected, even when it returns.",
        "isr_is_never_empty", "allow_empty_isr",
        Expression(
            "replication", "2.5", "isr_is_never_empty", {"versions": 3},
            {"isr_keeps_last_member": False}, quick=True,
        ),
    ),
    ZooEntry(
        31, "KAFKA-3143", "a new controller does not see who is dead already",
        ("KAFKA-3096", "KAFKA-1452"), "2.4.0",
        "It starts from the live replicas; those that died with its predecessor stay leader and "
        "in the ISR.",
        "dead_leaders_are_noticed", "no_offline_replicas_on_failover",
        Expression(
            "cluster", "2.3", "dead_leaders_are_noticed", {},
            {"dead_replicas_taken_offline": False},
        ),
        remark="The sheet of behaviour has it fixed in 2.3, the sheet of bugs in 2.4.0.",
    ),
)  # fmt: skip

"""The ISR and the version of its znode (bugs 23 to 31 of the list)."""

from model.bugs.entry import HistoricBug, Reproduction

_ONE_TERM = {"expiries": 1, "controllers": 1, "versions": 2, "lingering": 0}

ENTRIES = (
    HistoricBug(
        23, "KAFKA-1382", "a leader mistakes its own write for a failure",
        (), "0.8.2.0",
        "The ISR is written and the response is lost. The retry is refused, and the leader keeps a "
        "version with which no later write can succeed.",
        "leader_is_current", "cond_update_no_readback",
        Reproduction(
            "replication", "2.5", "leader_is_current", {"losses": 1},
            {"isr_write_read_back": False}, quick=True,
        ),
        remark="The fix has a gap: a write whose session ends before it can be read back is given "
        "up, and the leader is stuck as before until it tries the same change again.",
    ),
    HistoricBug(
        24, "KAFKA-2729", "'Cached zkVersion not equal', for ever",
        ("KAFKA-3042",), "no commit of its own",
        "The controller writes the state, and the leader never receives it: its ISR can neither "
        "shrink nor grow.",
        "idle_partitions_have_leaders", "leader_never_refreshes_v",
        Reproduction(
            "cluster", "2.3", "idle_partitions_have_leaders",
            {"crashes": 0, "expiries": 2, "versions": 2, "lingering": 0},
            {"zk_writes_fenced": False},
        ),
        remark="The cause is KAFKA-6082: a deposed controller writes the state, and the leader "
        "refuses its LeaderAndIsr.",
    ),
    HistoricBug(
        25, "KAFKA-428", "ISR writes without a version",
        (), "0.8.0",
        "A deposed leader overwrites its successor's state, and the leader epoch decreases.",
        "no_message_loss", "isr_write_blind",
        Reproduction(
            "replication", "2.5", "no_message_loss", {"versions": 3},
            {"isr_write_conditional": False}, quick=True,
        ),
    ),
    HistoricBug(
        26, "KIP-497", "the high watermark follows an ISR that is not written yet",
        (), "2.7 (design)",
        "A leader removes a replica from its ISR in memory. The write is refused, and records that "
        "it committed without that replica are lost when the replica leads.",
        "no_message_loss", "hw_uses_committed_isr",
        Reproduction(
            "replication", "2.5", "no_message_loss", {}, {"isr_adopted_when_written": False},
            quick=True,
        ),
    ),
    HistoricBug(
        27, "KAFKA-12686", "two ISR changes overlap",
        (), "3.0.0",
        "A LeaderAndIsr clears the pending change, and the older response then overwrites the "
        "newer ISR.",
        "leader_is_current", "clear_pending_isr_early",
        Reproduction(
            "replication", "2.5", "leader_is_current", {"versions": 3},
            {"isr_write_locks": False}, quick=True,
        ),
        remark="Up to 2.6 the write holds a lock, and a LeaderAndIsr waits for it. Without the "
        "lock, the response to the older write overwrites the state of the LeaderAndIsr. AlterIsr "
        "itself (KIP-497), where the controller writes, is in model/replication/alter_isr.py, for "
        "which a proof shows that nothing is lost; there a later LeaderAndIsr voids an older "
        "response.",
    ),
    HistoricBug(
        28, "KAFKA-13091", "the high watermark is not checked after a shrink",
        (), "3.1.0",
        "The last lagging member is removed, and without a further fetch the high watermark never "
        "advances.",
        "idle_partitions_have_leaders", "no_hw_check_after_shrink",
        excuse="needs high watermarks that move with fetches: here that is a step of its own, "
        "possible at any time",
    ),
    HistoricBug(
        29, "KAFKA-14140", "a broker that has shut down is added to the ISR again",
        ("KIP-841",), "3.3.0",
        "Its last fetch is still counted after the controller has removed it from the ISR.",
        "dead_brokers_do_not_join_the_isr", "isr_accepts_dead_broker",
        Reproduction(
            "cluster", "2.3", "dead_brokers_do_not_join_the_isr", {**_ONE_TERM, "crashes": 0},
            {"isr_expansion_checks_liveness": False}, quick=True, plain=True,
        ),
        remark="No release of the presets has the fix; all presets are taken as if they had it. It "
        "narrows a window: a leader that was not notified yet adds the broker again.",
    ),
    HistoricBug(
        30, "KAFKA-708", "the ISR becomes empty",
        (), "0.8.0",
        "The last member dies and is removed: no replica can be elected, even when it returns.",
        "isr_is_never_empty", "allow_empty_isr",
        Reproduction(
            "replication", "2.5", "isr_is_never_empty", {"versions": 3},
            {"isr_keeps_last_member": False}, quick=True,
        ),
    ),
    HistoricBug(
        31, "KAFKA-3143", "a new controller does not detect replicas that are already dead",
        ("KAFKA-3096", "KAFKA-1452"), "2.4.0",
        "It starts with the live replicas. Those that died with its predecessor stay leader and in "
        "the ISR.",
        "dead_leaders_are_noticed", "no_offline_replicas_on_failover",
        Reproduction(
            "cluster", "2.3", "dead_leaders_are_noticed", {},
            {"dead_replicas_taken_offline": False},
        ),
        remark="The sheet of behaviour has it fixed in 2.3, the sheet of bugs in 2.4.0.",
    ),
)  # fmt: skip

"""Topics (bugs 40 to 42 of the list), sessions and their znodes (43, 44, 48), limits (45, 46)."""

from model.bugs.entry import HistoricBug, Reproduction

ENTRIES = (
    HistoricBug(
        40, "KAFKA-1681", "the next controller does not continue a deletion",
        ("KAFKA-1558",), "0.8.2.0",
        "The request stays, and no controller handles it.",
        "requested_deletions_end", "deletion_not_resumed",
        Reproduction(
            "topics", "2.3", "requested_deletions_end", {"crashes": 0},
            {"deletion_resumed": False}, quick=True,
        ),
        remark="One controller is enough, if the request exists before it is elected.",
    ),
    HistoricBug(
        41, "KIP-516", "a deleted topic's data appears under a new topic of the same name",
        (), "2.8 and later (topic ids)",
        "A broker that was away still has the old log. Epochs and offsets fit, and nothing is "
        "truncated.",
        "deleted_data_is_never_served", "topic_by_name",
        Reproduction(
            "topics", "2.8", "deleted_data_is_never_served", {"moves": 1},
            {"topics_have_ids": False, "dead_brokers_keep_their_replicas": False}, quick=True,
        ),
        remark="A limit of every release up to 2.7: topics are known by name only, and it shows "
        "where replicas are reassigned away from dead brokers. No leader need fail: the broker "
        "that was away may lead the new topic from its start.",
    ),
    HistoricBug(
        42, "KAFKA-6612", "partitions are added to a topic that is being deleted",
        (), "2.0.0",
        "The controller skips them, and ZooKeeper keeps them: registered and known partitions "
        "differ.",
        "idle_controller_knows_zookeeper", "add_parts_while_deleting",
        Reproduction(
            "topics", "2.3", "idle_controller_knows_zookeeper",
            {"partitions": 2, "controllers": 1, "crashes": 0, "expiries": 0},
            {"additions_undone": False}, quick=True,
        ),
        remark="No release brought them to life: up to 1.1 they were skipped, and the next "
        "controller found partitions without a state, which it could not take offline "
        "(KAFKA-6650): then the deletion never ends.",
    ),
    HistoricBug(
        43, "KAFKA-1387", "a broker finds its own old znode, and believes that it is registered",
        ("KAFKA-4229", "KAFKA-6584", "KAFKA-7165"), "0.9.0.0 to 2.2.0",
        "The znode of the expired session still exists. It is deleted later, and not created "
        "again.",
        "registered_brokers_stay_registered", "ephemeral_owner_ignored",
        Reproduction(
            "cluster", "2.3", "registered_brokers_stay_registered",
            {"controllers": 1, "crashes": 0, "expiries": 0, "versions": 2},
            {"znode_owner_checked": False}, quick=True, plain=True,
        ),
    ),
    HistoricBug(
        44, "KAFKA-13407", "the elected broker assumes another controller",
        (), "no such change merged",
        "The response to its registration is lost. It reads an id in /controller, does not check "
        "that it is its own, and no broker acts as the controller.",
        "registered_controller_is_active", "elect_no_self_check",
        Reproduction(
            "replication", "2.5", "registered_controller_is_active", {"losses": 1},
            {"winner_reads_controller_back": False}, quick=True,
        ),
    ),
    HistoricBug(
        45, "KIP-966", "the last replica in the ISR loses records that it had not flushed",
        (), "not in the era of ZooKeeper",
        "It is alone in the ISR, so it is elected again, and the others truncate what it lost.",
        "no_message_loss", "fsync_loss",
        Reproduction(
            "replication", "2.5", "no_message_loss", {"crashes": 1},
            {"log_survives_crash": False}, quick=True,
        ),
        remark="A limit, not a bug: what is reverted is an assumption that no release enforces. A "
        "broker with an empty disk under its old id loses as much (disk_lost=by_any); outside the "
        "ISR it does too, while a leader remembers its old log end (outside_isr).",
    ),
    HistoricBug(
        46, "unclean-election", "a replica outside the ISR is elected",
        ("KIP-106", "KAFKA-9866"), "off by default since 0.11",
        "No ISR member is alive. The elected replica makes the partition available, and lacks "
        "committed records.",
        "no_message_loss", "unclean / preferred_ignores_isr",
        Reproduction(
            "replication", "2.5", "no_message_loss", {"versions": 3},
            {"unclean_leader_election": True}, quick=True,
        ),
        remark="That a preferred replica must be in the ISR as well is a switch of `cluster`, "
        "preferred_needs_isr: in KAFKA-9866 the election failed, without consequences.",
    ),
    HistoricBug(
        48, "KAFKA-6517", "a deadlock between a resigning controller and its ZooKeeper session",
        ("KAFKA-6879", "KAFKA-4360", "KAFKA-1305", "KAFKA-8532"), "1.1.0, 2.0.0 and others",
        "The controller resigns while the ZooKeeper client holds the lock that it needs.",
        "requested_deletions_end", "sync_resign_in_session_lock",
        excuse="threads and locks within a process, which no system of the project has",
    ),
)  # fmt: skip

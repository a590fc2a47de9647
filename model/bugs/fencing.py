"""Fencing: deposed controllers, brokers and their incarnations (bugs 14 to 22 of the list)."""

from model.bugs.entry import HistoricBug, Reproduction

_ONE_TERM = {"expiries": 1, "controllers": 1, "versions": 2, "lingering": 0}
_NO_FAULT = {**_ONE_TERM, "crashes": 0, "expiries": 0}

ENTRIES = (
    HistoricBug(
        14, "KAFKA-532", "brokers obey two controllers",
        (), "0.8.0",
        "A controller that was paused sends requests for its old decisions. Without a controller "
        "epoch no broker can tell that another controller has taken over.",
        "no_older_controller_is_obeyed", "no_controller_epoch",
        Reproduction("election", "2.3", "no_older_controller_is_obeyed", {},
                   {"requests_fenced": False}, quick=True),
    ),
    HistoricBug(
        15, "KAFKA-6082", "a deposed controller writes to ZooKeeper",
        (), "2.1.0",
        "Brokers refused its requests, but its writes to ZooKeeper were not conditional on the "
        "controller epoch.",
        "single_writer", "zk_write_unfenced",
        Reproduction(
            "election", "2.1", "single_writer", {}, {"zk_writes_fenced": False}, quick=True,
        ),
        remark="One znode stands for all that a controller writes; `topics` has the recursive "
        "deletion of a topic.",
    ),
    HistoricBug(
        16, "KAFKA-4447", "a controller acts on events that were queued before it resigned",
        ("KAFKA-3083",), "0.10.2.0",
        "Listeners run after the resignation, with the old epoch and the old cluster state.",
        "resigned_controllers_write_nothing", "act_after_resign",
        Reproduction(
            "cluster", "2.3", "resigned_controllers_write_nothing",
            {"crashes": 0, "expiries": 2, "versions": 2, "lingering": 0}, {"events_dropped": False},
        ),
        remark="The fence of KAFKA-6082 does not stop it while no other controller was elected.",
    ),
    HistoricBug(
        17, "KAFKA-1188", "a broker goes back to an older leader epoch",
        (), "0.8.2.0",
        "A broker carries out a LeaderAndIsr with an older leader epoch than it knows.",
        "no_message_loss", "lai_no_leader_epoch_check",
        Reproduction(
            "replication", "2.5", "no_message_loss", {}, {"leader_epoch_checked": False},
            quick=True,
        ),
    ),
    HistoricBug(
        18, "KIP-380-a", "a StopReplica stops the replica of a restarted broker",
        ("KAFKA-7235",), "2.2.0",
        "It is sent during a controlled shutdown and arrives after the restart: the replica never "
        "fetches again.",
        "idle_partitions_have_leaders", "no_broker_epoch",
        Reproduction(
            "cluster", "2.3", "idle_partitions_have_leaders",
            {**_NO_FAULT, "versions": 3, "shutdowns": 1, "losses": 1}, {"broker_epoch": False},
            quick=True, plain=True,
        ),
        remark="The connection breaks while the StopReplica is in flight, and it is sent again; "
        "the first copy arrives after the LeaderAndIsr to the restarted broker.",
    ),
    HistoricBug(
        19, "KIP-380", "a restarted broker obeys a request for its earlier registration",
        ("KIP-380-b",), "2.2.0",
        "The first LeaderAndIsr that it receives is an old one: it follows a deposed leader, and "
        "truncates records that were committed since.",
        "no_message_loss", "no_broker_epoch",
        Reproduction(
            "replication", "2.5", "no_message_loss", {"versions": 3, "crashes": 1},
            {"broker_epoch": False},
        ),
        remark="The loss is found with one partition, by truncation; the checkpoint that lacks "
        "partitions is KAFKA-1647. `election` has the same switch, against "
        "no_older_controller_is_obeyed.",
    ),
    HistoricBug(
        20, "KIP-380-c", "the controller does not detect a bounced broker",
        (), "2.2.0",
        "The broker is back before its watch is handled. The ids are the same, and nobody sends "
        "the broker its partitions.",
        "idle_partitions_have_leaders", "bounce_by_id_only",
        Reproduction(
            "cluster", "2.3", "idle_partitions_have_leaders", _ONE_TERM,
            {"bounced_brokers_detected": False},
            quick=True, plain=True,
        ),
    ),
    HistoricBug(
        21, "KIP-380-d", "a ControlledShutdown of the earlier registration affects the restarted "
        "broker",
        (), "2.2.0",
        "The request is retried across the restart, and the controller moves leadership away from "
        "a broker that is not shutting down.",
        "idle_partitions_have_leaders", "cs_no_broker_epoch",
        Reproduction(
            "cluster", "2.3", "idle_partitions_have_leaders", {**_ONE_TERM, "versions": 3,
                                                               "shutdowns": 1},
            {"shutdown_fenced": False},
        ),
    ),
    HistoricBug(
        22, "KAFKA-9539", "a late StopReplica deletes a replica that was added again",
        ("KIP-570",), "2.6.0",
        "It has no leader epoch, so it cannot be distinguished from a current one.",
        "no_message_loss", "sr_no_leader_epoch",
        excuse="needs StopReplica with reassignment: without it a broker gets a StopReplica only "
        "when it shuts down or is not alive, and its next incarnation has another broker epoch",
    ),
)  # fmt: skip

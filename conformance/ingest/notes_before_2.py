"""Lines of no interest to the protocol in releases 0.9 to 1.1, by the end of the logger's name.

The selectors say what they are about to choose; what counts is what was written, which the state
machines say. Up to 0.11 many messages begin in lower case: here they stand as since 1.0.
"""

from __future__ import annotations

_SELECTORS = (
    "Current leader ",
    "No broker in ISR is alive for ",
    "Partition ",
    "Some broker in ISR is alive for ",
)
_MACHINE = (
    "After leader election, leader cache is updated to ",
    "Are all replicas for topic ",
    "Broker change listener fired for path ",
    "Delete topics listener fired for topics ",
    "Ignoring partition change during topic deletion",
    "Invoking state change to ",
    "Live assigned replicas for partition ",
    "Partition modification triggered ",
    "Removing ",
    "Skipping adding partitions ",
    "Started partition state machine with initial state -> ",
    "Started replica state machine with initial state -> ",
    "Starting topic deletion for topics ",
    "Stopped partition state machine",
    "Stopped replica state machine",
    "Topic change listener fired for path ",
    "Zookeeper ",
)

NOTES: dict[str, tuple[str, ...]] = {
    "logger": (  # state.change.logger
        "Elected leader ",
        "Encountered error ",
        "Started leader election for partition ",
    ),
    "KafkaController": (
        "Checking need to trigger partition rebalance",
        "Controller resigning, broker id ",
        "Preferred replica ",
        "Removing replica ",
        "Retaining last ISR ",
        "Starting the partition rebalance scheduler",
        "Partition ",
        "No more partitions need to be reassigned",
        "Controller ",
        "Starting preferred replica leader election ",
    ),
    "TopicDeletionManager": ("Deletion started for replicas ", "Waiting for signal to "),
    "DeleteTopicsThread": ("Starting", "Shutting down", "Shutdown completed", "Stopped"),
    "PartitionStateMachine": _MACHINE,
    "ReplicaStateMachine": _MACHINE,
    "OfflinePartitionLeaderSelector": _SELECTORS,
    "PreferredReplicaPartitionLeaderSelector": _SELECTORS,
    "ReassignedPartitionLeaderSelector": _SELECTORS,
    "ControlledShutdownLeaderSelector": _SELECTORS,
    "NoOpLeaderSelector": ("I should never have been asked",),
    "IsrChangeNotificationListener": (
        "ISR change notification listener fired",
        "Processing notification(s) to ",
        "Sending MetadataRequest to Brokers:",
    ),
    "PreferredReplicaElectionListener": ("Preferred replica election listener fired",),
    "PartitionsReassignedListener": ("Partitions reassigned listener fired",),
    "ReassignedPartitionsIsrChangeListener": ("Reassigned partitions isr change listener fired",),
    "Partition": (
        "Cached zkVersion ",
        "No checkpointed highwatermark is found for partition ",
        "Recorded follower ",
        "Skipping update high watermark ",
    ),
    "Log": ("Completed load of log ",),
    "ReplicaFetcherThread": ("Error in fetch ", "Follower ", "Replica ", "Starting "),
}

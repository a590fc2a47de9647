"""Lines of the protocol's own loggers that say nothing of the protocol, releases 2.0 to 2.8
(`notes_before_2` has the older ones, `notes_3` the newer).

A logger whose lines matter is listed in `PROTOCOL`: a line of it that neither a template nor
this table knows is rejected, so that a new release shows what is missing. Every other logger's
lines are notes.
"""

from __future__ import annotations

import re

from conformance.ingest import notes_3, notes_before_2

# Loggers (or their packages, with a dot at the end) that must be understood line by line.
PROTOCOL = re.compile(
    r"kafka\.controller\..*|state\.change\.logger|kafka\.cluster\.Partition\$?"
    r"|kafka\.log\.(?:Unified)?Log\$?|kafka\.server\.epoch\..*"
    r"|kafka\.server\.(?:Replica(?:Manager|Fetcher)|AbstractFetcher)\w*(?:\$.*)?"
)

_THREAD = (
    "Starting",
    "Shutting down",
    "Shutdown completed",
    "Stopped",
    "shutdownInitiated latch count reached zero",
    "Shutdown already completed",
    "Exiting on error due to",
    "Error due to",
)

# By the end of the logger's name (after the last dot, before a dollar sign): how a message starts.
NOTES: dict[str, tuple[str, ...]] = {
    "KafkaController": (
        "All leaders = ",
        "All shutting down brokers: ",
        "Cannot remove replica ",
        "Checking need to trigger auto leader balancing",
        "Controller starting up",
        "Controller startup complete",
        "Current list of topics in the cluster: ",
        "Currently active brokers in the cluster: ",
        "Currently shutting brokers in the cluster: ",
        "De-registering ",
        "Delete topic callback invoked ",
        "Delete topics listener fired for topics ",
        "Deleting isr change notifications",
        "Deleting log dir event notifications",
        "Error processing event ",
        "Error completing preferred replica leader election",
        "Error while electing or becoming controller",
        "Fetching topic deletions in progress",
        "ISR change notification listener fired",
        "Initializing controller context",
        "Initializing topic deletion manager",
        "Leader imbalance ratio for broker ",
        "List of topics ineligible for deletion: ",
        "List of topics to be deleted: ",
        "Live brokers: ",
        "No more partitions need to be reassigned. ",
        "Partitions already reassigned: ",
        "Partitions being reassigned: ",
        "Partitions that completed preferred replica election: ",
        "Partitions undergoing preferred replica election: ",
        "Preferred replicas by broker ",
        "Processing automatic preferred replica leader election",
        "Processing notification(s) to ",
        "Register BrokerModifications handler for ",
        "Registering ",
        "Removed ",
        "Removing Set(",
        "Removing topics ",
        "Resigning",
        "Resuming preferred replica election for partitions: ",
        "Resuming reassignment of partitions: ",
        "Sending MetadataRequest to Brokers:",
        "Sending update metadata request",
        "Shutting down broker ",
        "Skipping preferred replica election for partitions due to topic deletion: ",
        "Skipping reassignment of ",
        "Some replicas ",
        "Starting become controller state transition",
        "Starting preferred replica leader election for partitions ",
        "Starting replica leader election (",
        "Starting the controller scheduler",
        "Topics not in preferred replica ",
        "Unregister BrokerModifications handler for ",
        "Unregistering ",
        "Updated broker: ",
        "Updated assigned replicas for partition ",
        "Updated leader epoch for partition ",
        "Updating ISRs for partitions: ",
        "Waiting for new replicas ",
        "Ignoring request to reassign partition ",
        "New topic creation callback for ",
        "New replicas ",
        "Handling reassignment of partition ",
        "Handling log directory failure for brokers ",
        "Mark replicas ",
        "Partition reassignment ",
        "Leader ",
        "Broker ",
        "Session expired, ",
    ),
    "TopicDeletionManager": (
        "Dead Replicas (",
        "Deletion for replicas ",
        "Deletion of topic ",
        "Deletion successfully completed for replicas ",
        "Halted deletion of topics ",
        "Initializing manager with initial deletions: ",
        "Not retrying deletion of topic ",
        "Partition deletion callback for ",
        "Removing Set(",
        "Retrying delet",
        "Retry deletion of topic ",
        "Topic deletion callback for ",
        "Unregister",
    ),
    "ControllerChannelManager": (
        "Controller ",
        "Not sending request ",
    ),
    "ControllerBrokerRequestBatch": (
        "The stop replica request ",
        "Haven't been able to send ",
    ),
    "ControllerEventManager": (*_THREAD, "Error processing event ", "Controller event "),
    "RequestSendThread": (*_THREAD, "Controller "),
    "ZkPartitionStateMachine": (
        "Initializing partition state",
        "Triggering online partition state changes",
        "Started partition state machine with initial state -> ",
        "Stopped partition state machine",
        "Error while moving some partitions to ",
        "Controller moved to another broker when moving some partitions to ",
    ),
    "ZkReplicaStateMachine": (
        "Initializing replica state",
        "Triggering online replica state changes",
        "Triggering offline replica state changes",
        "Started replica state machine with initial state -> ",
        "Stopped replica state machine",
        "Error while moving some replicas to ",
        "Controller moved to another broker when moving some replicas to ",
    ),
    "controller": ("preRegister called. ",),
    "Partition": (
        "No checkpointed highwatermark is found for partition ",
        "High watermark ",
        "Failed to update ISR to ",
        "The current replica assignment ",
    ),
    "Log": (
        "Completed load of log with ",
        "Could not find offset index file corresponding to log file ",
        "Deleting index files with suffix ",
        "Deleting segment",
        "Found an orphaned index file ",
        "Found deletable segments with base offsets ",
        "Found file ",
        "Found log file ",
        "Incremented log start offset to ",
        "Incrementing log start offset ",
        "Loading producer state ",
        "No empty segments ",
        "Producer state recovery took ",
        "Recovering unflushed segment ",
        "Reloading from producer snapshot ",
        "Rolled new log segment at offset ",
        "Scheduling segments for deletion ",
        "Scheduling log segment ",
        "Truncate and start at offset ",
        "Writing producer snapshot at offset ",
        "Found invalid messages in log segment ",
        "Found a corrupted index file ",
        "Corruption found in segment ",
        "Replacing overflowed segment ",
        "Splitting overflowed segment ",
    ),
    "LeaderEpochFileCache": (
        "Cleared ",
        "New epoch entry ",
        "Updated PartitionLeaderEpoch",
        "Appended new epoch entry ",
        "Truncated cache to ",
    ),
    "ReplicaManager": (
        *_THREAD,
        "Broker ",
        "Error processing ",
        "Shut down completely",
        "Stopping serving replicas in dir ",
        "While recording the replica LEO, the partition ",
        "Found stray ",
        "Unable to ",
        "Partition ",
        "Halting broker ",
        "Stopping serving logs in dir ",
    ),
    "ReplicaFetcherThread": (
        *_THREAD,
        "Based on follower's leader epoch, ",
        "Based on replica's leader epoch, ",
        "Error for partition ",
        "Error in response for fetch request ",
        "Error sending fetch request ",
        "Error when sending leader epoch request ",
        "Error getting offset for partition ",
        "Encountered ",
        "Failed to connect within ",
        "Follower received high watermark ",
        "Partition ",
        "Received ",
        "Remote broker is ",
        "Reset fetch offset for partition ",
        "Retrying leaderEpoch request for partition ",
        "Current offset ",
        "Unexpected ",
        "Found invalid messages during fetch for partition ",
        "Beginning/resuming copy of partition ",
    ),
    "ReplicaFetcherManager": (
        "Added fetcher ",
        "Removed fetcher for partitions ",
        "Removed fetchers for partitions ",
        "Removed ",
        "shutting down",
        "shutdown completed",
    ),
    "ReplicaAlterLogDirsManager": (
        "Added fetcher ",
        "Removed fetcher for partitions ",
        "shutting down",
        "shutdown completed",
    ),
    "ReplicaAlterLogDirsThread": _THREAD,
}


_ALL = {
    name: NOTES.get(name, ()) + notes_before_2.NOTES.get(name, ()) + notes_3.NOTES.get(name, ())
    for name in {**NOTES, **notes_before_2.NOTES, **notes_3.NOTES}
} | {"UnifiedLog": NOTES["Log"] + notes_3.NOTES["UnifiedLog"]}


def is_protocol(logger: str) -> bool:
    """Whether every line of this logger has to be understood."""
    return PROTOCOL.fullmatch(logger) is not None


def short_name(logger: str) -> str:
    """`kafka.server.ReplicaManager$LogDirFailureHandler` is known as `ReplicaManager`."""
    return logger.split("$", 1)[0].rsplit(".", 1)[-1]


def is_note(logger: str, text: str) -> bool:
    """Whether a message (without its head) of a protocol logger is known to be of no interest."""
    starts = _ALL.get(short_name(logger))
    return starts is not None and (
        text.startswith(starts) or (text[:1].upper() + text[1:]).startswith(starts)
    )

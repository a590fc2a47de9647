"""Cases that a side does not answer, declared by side, file and operation, with the reason.

An operation that is neither answered nor listed here is *unanswered*; a run with one is not green.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from conformance.vectors.model import fetching

_RECORDS = (
    "the model's logs are of records with an offset and a leader epoch: no producers, no keys"
)
_TOOLS = "tools alone ask it: who has a partition before and after, from two lists of moves"
_TEXTS = "the model knows no texts: what tools read and print is the implementation's"
_ONE_STEP = "no single transition of the model answers it, and no walk of several is written yet"

NOT_COMPARED: dict[str, frozenset[str]] = {
    "impl": frozenset(),
    "model": frozenset(
        {
            "messageContains",
            "messageStartsWith",
            "stateMachineCalls",
            "updateMetadata",
            "lastCaughtUpSinceStart",
            "remoteLogStart",
            "lastFetchedEpoch",
            "lines",
            "warnings",
            "liveLeaders",
        }
    ),
}
"""By side, fields of an expectation that it says nothing about: the model knows no texts, no clock
and no log that begins later than at 0, its fetches name no epoch, and its requests no endpoints;
the system that has a topic's state machines leaves out UpdateMetadata, and is about one topic, so
that it does not say which topics share a call."""

NOTHING_SAID = _TEXTS
"""Why a case is not asked of which nothing is compared."""

NOT_APPLICABLE: dict[str, dict[tuple[str, str], str]] = {
    "impl": {},
    "model": {
        ("producer_state", "appends"): _RECORDS,
        ("log_cleaner", "compacted"): _RECORDS,
        ("reassignment", "moveMap"): _TOOLS,
        ("reassignment", "replicaAssignments"): _TOOLS,
        **{
            (file, operation): _TEXTS
            for file, operations in {
                "checkpoint_files": ("checkpoint",),
                "topic_admin": ("list", "describe"),
                "zk_store": (
                    "createSequential", "propagateIsr", "readNotifications", "configChange",
                    "encode", "encodeReassign", "decodeReassign", "propagateLogDir",
                    "deleteRecursive", "deleteNotifications",
                ),
                "reassignment": (
                    "statesToString", "moveStatesToString", "currentAssignmentToString", "list",
                    "findStates", "verify", "parseExecute",
                    "parseGenerate", "execute",
                ),
            }.items()
            for operation in operations
        },
        **{
            (file, operation): _ONE_STEP
            for file, operations in {
                "controller_flow": ("alterIsr", "electLeaders", "shutdownRequest"),
                "topic_deletion": ("completionZkOrder",),
                "truncation": ("fetchOffsetOutOfRange",),
                "zk_store": (
                    "setReassignment", "conditionalUpdate", "deleteController",
                    "deleteTopicDeletions", "createStates", "readStates", "brokerSequenceId",
                ),
            }.items()
            for operation in operations
        },
    },
}  # fmt: skip
"""The sides' answers, where there are any, come first: what is answered is not listed."""


class Except(NamedTuple):
    """Cases of an answered operation that a side does not answer, identified by their input.

    With ``before`` only those of earlier releases.
    """

    file: str
    operation: str
    when: Callable[[Mapping[str, Any]], bool]
    why: str
    before: str = ""


EXCEPTIONS: dict[str, tuple[Except, ...]] = {
    "impl": (),
    "model": (
        *(Except("topic_admin", operation,
                 lambda given: str(given.get("topic", "")).startswith("__"),
                 "the model has one topic, which is none of Kafka's own")
          for operation in ("alter", "delete")),
        Except("partition_replication", "produce",
               lambda given: not given.get("isLeader", True),
               "the model's producers know who leads"),
        Except("request_batch", "batch", lambda given: bool(given["assignment"]),
               "UpdateMetadata in the model names no replicas that are offline"),
        Except("partition_state_machine", "effects",
               lambda given: any(given.get(name, "exception") != "exception"
                                 for name in ("zkReadResult", "zkSetResult")),
               "the model's ZooKeeper has the state, and refuses a write once at most"),
        *(Except(f"{one}_state_machine", "effects",
                 lambda given: bool(given.get("zkStateAfterConflict")),
                 "in the model a write that conflicts changes the znode's version, not its state")
          for one in ("partition", "replica")),
        Except("replica_state_machine", "effects",
               lambda given: given["target"] == "NewReplica"
               and (given.get("zkState") or given.get("leadership")) is not None,
               "in the model a replica of a partition that is led is new only as a target of a "
               "move, under a new epoch"),
        Except("replica_state_machine", "effects",
               lambda given: given["target"] == "OnlineReplica"
               and given["replica"] not in given["assignment"],
               "the model's replicas are in the assignment"),
        Except("replica_state_machine", "effects",
               lambda given: given["target"] == "OfflineReplica"
               and bool(given.get("queuedForDeletion")),
               "the system that deletes topics has no leader epochs"),
        Except("replica_state_machine", "startup", lambda given: bool(given.get("offlineDir")),
               "the system that has the replica state machine knows no log directories that fail"),
        *(Except("reassignment", trace, lambda given: given.get("leader", 0) in (-1, None),
                 "who finds nobody leading elects first: `cluster` has that, the model's moves not")
          for trace in ("reassignTrace", "reassignTraceKip455")),
        Except("request_sequences", "sequence",
               lambda given: given.get("partitionsOnBroker") is False,
               "the model's cluster has a partition that is on every broker"),
        Except("partition_replication", "leader",
               lambda given: any(one["do"] == "maybeShrink" for one in given.get("steps", ())),
               "up to 2.0 time alone tells who is late; the model, without a clock, asks for the "
               "end of the log", before="2.1"),
        Except("partition_replication", "makeFollower",
               lambda given: (epochs := [one["epoch"] for one in given["steps"]]) != sorted(epochs),
               "the model's broker refuses an older epoch before it looks at its fetcher"),
        Except("truncation", "scenario",
               lambda given: not fetching.is_about_two_logs(given),
               "the model's fetcher follows one partition from offset 0 on, which nobody removes"),
        Except("truncation", "loops", lambda given: bool(given["left"]),
               "the model's fetcher follows one partition from offset 0 on, which nobody removes"),
        Except("truncation", "epochFetches",
               lambda given: bool(given.get("truncationOnFetch", "ibp" in given)),
               "logs are cut by what fetches answer since 2.8: the model's followers ask where an "
               "epoch ends"),
    ),
}  # fmt: skip
"""By side; each is looked at before the case is asked."""

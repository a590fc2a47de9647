"""What a side does not answer, said beforehand: by side, file and operation, with the reason.

An operation that is neither answered nor listed here is *unanswered*, and no run with one is green.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

_LOGS = "needs brokers that remove logs from their disks; a controller alone does not show it"
_NO_SCHEMA = "no case of it is public, so that its input is not known"
_TEXTS = "the model knows no texts: what tools read and print is the implementation's"
_ONE_STEP = "no single transition of the model answers it, and no walk of several is written yet"

NOT_COMPARED: dict[str, frozenset[str]] = {
    "impl": frozenset(),
    "model": frozenset({"messageContains", "messageStartsWith", "stopReplica", "entries"}),
}
"""By side, fields of an expectation that it says nothing about: the model knows no texts, its
cluster sends no StopReplica, and its logs keep no entries beside them."""

NOT_APPLICABLE: dict[str, dict[tuple[str, str], str]] = {
    "impl": {
        ("topic_deletion", "delete"): _LOGS,
        ("topic_deletion", "addPartitionsDuringDelete"): _LOGS,
        ("reassignment", "moveMap"): _NO_SCHEMA,
        ("controller_context", "imbalance"): _NO_SCHEMA,
    },
    "model": {
        ("topic_deletion", "delete"): _LOGS,
        ("topic_deletion", "addPartitionsDuringDelete"): _LOGS,
        ("reassignment", "moveMap"): _NO_SCHEMA,
        ("controller_context", "imbalance"): _NO_SCHEMA,
        **{
            (file, operation): _TEXTS
            for file, operations in {
                "checkpoint_files": ("checkpoint",),
                "topic_admin": (
                    "validateName", "validChar", "collision", "collisionChars", "alter", "create",
                    "delete", "list", "describe",
                ),
                "zk_store": (
                    "createSequential", "propagateIsr", "readNotifications", "configChange",
                    "encode", "encodeReassign", "deleteRecursive",
                ),
                "reassignment": (
                    "statesToString", "moveStatesToString", "list", "findStates", "parseExecute",
                    "parseGenerate", "execute", "generate", "throttledReplicas",
                ),
                "request_batch": ("versions",),
                "replica_manager": ("fetcherId",),
                "topic_deletion": ("deleteTwice",),
            }.items()
            for operation in operations
        },
        **{
            (file, operation): _ONE_STEP
            for file, operations in {
                "controller_context": ("target", "reassignTo", "assignmentOf"),
                "controller_flow": (
                    "imbalance", "isrPropagation", "registerController", "moved", "bounce",
                    "restarts", "reassign", "leaders", "creation",
                ),
                "partition_replication": (
                    "outOfSync", "hw", "checkCurrentLeaderEpoch", "produce", "oldFormat",
                    "assignmentState", "leader", "makeFollower", "underReplicated",
                ),
                "partition_state_machine": (
                    "offlineCount", "initialState",
                ),
                "reassignment": (
                    "apiValidate",
                ),
                "replica_manager": (
                    "stopReplica", "brokerEpoch", "fetchVisibility",
                ),
                "replica_state_machine": ("startup",),
                "request_batch": ("batch",),
                "request_sequences": ("emptyPartitions",),
                "topic_deletion": (
                    "scenario", "resumeDecision", "completionZkOrder",
                    "deleteZnodeForMissingTopic", "deleteDisabled",
                ),
                "truncation": (
                    "scenario", "loops", "leaderFetchValidation", "fetchState", "epochFetches",
                ),
                "zk_store": (
                    "updateLeaderAndIsr", "createPreferredElection", "deletePreferredElection",
                    "registerBroker", "epochCalls",
                ),
            }.items()
            for operation in operations
        },
    },
}  # fmt: skip
"""The sides' answers, where there are any, come first: what is answered is not listed."""


class Except(NamedTuple):
    """Cases of an answered operation that a side does not answer, told by their input."""

    file: str
    operation: str
    when: Callable[[Mapping[str, Any]], bool]
    why: str


def _is_other_strategy(given: Mapping[str, Any]) -> bool:
    return not str(given.get("strategy", "Offline")).startswith("Offline")


def _is_no_history(given: Mapping[str, Any]) -> bool:
    """Anything but: epochs of one growing log begin, one after the other, and ends are asked."""
    begun: list[tuple[int, int]] = []
    asked = False
    for op in given["ops"]:
        if op["do"] == "assign":
            if begun and (op["epoch"] < begun[-1][0] or op["offset"] <= begun[-1][1]):
                return True
            begun.append((op["epoch"], op["offset"]))
        elif op["do"] not in ("leo", "endOffsetFor", "latestEpoch"):
            return True
        asked = asked or op["do"] == "endOffsetFor"
    return not asked or any(epoch < 0 for epoch, _ in begun)


EXCEPTIONS: dict[str, tuple[Except, ...]] = {
    "impl": (),
    "model": (
        Except("election", "elect", _is_other_strategy,
               "the model's controller elects offline partitions; other elections are steps of "
               "other systems"),
        Except("partition_state_machine", "effects", _is_other_strategy,
               "the model's controller elects offline partitions; other elections are steps of "
               "other systems"),
        Except("partition_state_machine", "effects", lambda given: "zkState" not in given,
               "the model has no topics that are created, and no read that fails"),
        Except("replica_state_machine", "effects", lambda given: "zkState" not in given,
               "the model keeps no state of a replica apart from its broker's life"),
        Except("replica_manager", "leaderAndIsr",
               lambda given: not given["inReplicas"] or bool(given.get("offlineDir")),
               "the model tells nobody who is not assigned, and has no log directories"),
        Except("reassignment", "guard", lambda given: "live" in given or "entriesLeft" in given,
               "the model asks all brokers alive, for one partition"),
        Except("leader_epoch_cache", "epochCache",
               _is_no_history,
               "the model has a log and no cache beside it: what no log does cannot be asked"),
        Except("truncation", "offsetTruncationState",
               lambda given: given["followerLatestEpoch"] is None,
               "the model has no old message format: a log that is not empty has epochs"),
        Except("truncation", "offsetTruncationState",
               lambda given: given["leaderReply"]["epoch"] < 0 <= given["leaderReply"]["endOffset"],
               "the model's answers name an epoch with every offset"),
    ),
}  # fmt: skip
"""By side; each is looked at before the case is asked."""

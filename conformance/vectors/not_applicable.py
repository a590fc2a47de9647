"""What a side does not answer, said beforehand: by side, file and operation, with the reason.

An operation that is neither answered nor listed here is *unanswered*, and no run with one is green.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

_LOGS = "needs brokers that remove logs from their disks; a controller alone does not show it"
_NO_SCHEMA = "no case of it is public, so that its input is not known"
_TEXTS = "the model knows no texts: what tools read and print is the implementation's"
_NUMBERS = "numbers of the wire and of threads: no step of the model reads them"
_ONE_STEP = "no single transition of the model answers it, and no walk of several is written yet"

NOT_COMPARED: dict[str, frozenset[str]] = {
    "impl": frozenset(),
    "model": frozenset({"messageContains", "messageStartsWith", "stopReplica"}),
}
"""By side, fields of an expectation that it says nothing about: the model knows no texts, and
its cluster sends no StopReplica."""

NOT_APPLICABLE: dict[str, dict[tuple[str, str], str]] = {
    "impl": {
        ("reassignment", "moveMap"): _NO_SCHEMA,
        ("controller_context", "imbalance"): _NO_SCHEMA,
    },
    "model": {
        ("topic_deletion", "delete"): _LOGS,
        ("topic_deletion", "addPartitionsDuringDelete"): _LOGS,
        ("reassignment", "moveMap"): _NO_SCHEMA,
        ("controller_context", "imbalance"): _NO_SCHEMA,
        ("replica_manager", "fetcherId"): _NUMBERS,
        ("request_batch", "versions"): _NUMBERS,
        **{
            (file, operation): _TEXTS
            for file, operations in {
                "checkpoint_files": ("checkpoint",),
                "topic_admin": (
                    "alter", "create", "delete", "list", "describe", "validateName", "validChar",
                    "collision", "collisionChars", "parseReplicaAssignment",
                ),
                "zk_store": (
                    "createSequential", "propagateIsr", "readNotifications", "configChange",
                    "encode", "encodeReassign", "deleteRecursive",
                ),
                "reassignment": (
                    "statesToString", "moveStatesToString", "list", "findStates", "parseExecute",
                    "parseGenerate", "execute", "generate",
                ),
                "topic_deletion": ("deleteTwice",),
            }.items()
            for operation in operations
        },
        **{
            (file, operation): _ONE_STEP
            for file, operations in {
                "controller_flow": (
                    "moved", "bounce", "restarts", "reassign", "leaders", "creation",
                ),
                "partition_replication": ("leader", "makeFollower"),
                "request_batch": ("batch",),
                "topic_deletion": (
                    "scenario", "resumeDecision", "completionZkOrder",
                    "deleteZnodeForMissingTopic", "deleteDisabled",
                ),
                "truncation": ("scenario", "loops", "fetchState", "epochFetches"),
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


def _is_no_removal(given: Mapping[str, Any]) -> bool:
    """Anything but a replica that goes offline; or the last member of an ISR may leave it.

    Up to 1.0 it does where unclean elections are allowed: a switch of the replication system.
    """
    if "zkState" not in given or given.get("target", "OfflineReplica") != "OfflineReplica":
        return True
    unclean = any(given.get(name) for name in ("unclean", "uncleanEnabled"))
    return unclean and len(given["zkState"].get("isr", ())) == 1


EXCEPTIONS: dict[str, tuple[Except, ...]] = {
    "impl": (),
    "model": (
        Except("partition_state_machine", "effects", _is_other_strategy,
               "the model's controller elects offline partitions; other elections are steps of "
               "other systems"),
        Except("partition_state_machine", "effects", lambda given: "zkState" not in given,
               "the model has no topics that are created, and no read that fails"),
        Except("replica_state_machine", "effects", _is_no_removal,
               "the model keeps no state of a replica apart from its broker's life, and always a "
               "last member of the ISR"),
        Except("reassignment", "guard", lambda given: "live" in given or "entriesLeft" in given,
               "the model asks all brokers alive, for one partition"),
    ),
}  # fmt: skip
"""By side; each is looked at before the case is asked."""

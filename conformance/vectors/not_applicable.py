"""What a side does not answer, said beforehand: by side, file and operation, with the reason.

An operation that is neither answered nor listed here is *unanswered*, and no run with one is green.
"""

from __future__ import annotations

_LOGS = "needs brokers that remove logs from their disks; a controller alone does not show it"
_NO_SCHEMA = "no case of it is public, so that its input is not known"
_TEXTS = "the model knows no texts: what tools read and print is the implementation's"
_ONE_STEP = "the model takes it in other steps; lock-step compares them one by one"

NOT_COMPARED: dict[str, frozenset[str]] = {
    "impl": frozenset(),
    "model": frozenset({"messageContains", "messageStartsWith"}),
}
"""By side, fields of an expectation that it says nothing about: the model knows no texts."""

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
                "leader_epoch_cache": ("epochCache",),
                "partition_replication": (
                    "outOfSync", "hw", "checkCurrentLeaderEpoch", "produce", "oldFormat",
                    "assignmentState", "leader", "makeFollower", "underReplicated",
                ),
                "partition_state_machine": (
                    "transition", "effects", "offlineCount", "initialState",
                ),
                "reassignment": (
                    "reassignTrace", "reassignTraceKip455", "guard", "apiValidate",
                ),
                "replica_manager": (
                    "stopReplica", "leaderAndIsr", "brokerEpoch", "fetchVisibility",
                ),
                "replica_state_machine": ("transition", "effects", "startup"),
                "request_batch": ("batch",),
                "request_sequences": ("sequence", "emptyPartitions"),
                "topic_deletion": (
                    "scenario", "resumeDecision", "completionZkOrder",
                    "deleteZnodeForMissingTopic", "deleteDisabled",
                ),
                "truncation": (
                    "offsetTruncationState", "offsetTruncationStateOld", "scenario", "loops",
                    "leaderFetchValidation", "fetchState", "epochFetches",
                ),
                "zk_store": (
                    "updateLeaderAndIsr", "createPreferredElection", "deletePreferredElection",
                    "registerBroker", "epochCalls",
                ),
                "election": ("elect",),
            }.items()
            for operation in operations
        },
    },
}  # fmt: skip
"""The sides' answers, where there are any, come first: what is answered is not listed."""

"""Reads files of cases, checked against the schema, each with its operation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.vectors.meanings import meaning, meant
from conformance.vectors.releases import NoRange, release_of

Input = Mapping[str, Any]


class BadCasesFile(ValueError):
    """The file is none of the known ones, or does not follow the schema."""


@dataclass(frozen=True, slots=True)
class Case:
    """One case. ``file`` is the stem of the file's name; ``release`` the one it is asked under."""

    file: str
    number: int
    name: str
    source: str
    versions: str
    release: str
    operation: str
    input: Input
    expected: Any

    @property
    def question(self) -> dict[str, Any]:
        """The part of the case that a side sees: everything except the expectation."""
        return {"input": self.input, "release": self.release, "versions": self.versions}


def _partition(given: Input) -> str | None:
    """A leader does steps, or looks at its log; without either its assignment is looked at."""
    steps = given.get("steps")
    if "acks" in given or "requiredAcks" in given:
        return "produce"
    if isinstance(steps, list) and any({"do", "op"} & set(step) for step in steps):
        return "leader"
    asks = {"adding", "addingReplicas", "removing", "removingReplicas"} & set(given)
    least = any(name.lower().startswith("mininsync") or name == "minIsr" for name in given)
    return "assignmentState" if "isr" in given and (asks or least) and not steps else None


def _zk_calls(given: Input) -> str | None:
    if "calls" not in given:
        return None
    first = given["calls"][0][0]
    return "epochCalls" if first in ("set", "create", "get") else "deleteRecursive"


Rule = tuple[str, set[str]] | Callable[[Input], str | None]
"""An operation with the names that an input about it has, or what finds the operation."""

FILES: dict[str, tuple[Rule, ...]] = {
    "assignment": (
        ("addPartitions", {"newTotal"}),
        ("addPartitions", {"existing"}),
        ("assign", {"nPartitions"}),
        ("rackAlternatedList", {"racks"}),
    ),
    "checkpoint_files": (
        ("checkpoint", {"fileContent"}),
        ("checkpoint", {"content"}),
        ("checkpoint", {"file", "fetch"}),
        ("checkpoint", {"writes"}),
    ),
    "controller_context": (
        ("reassignTo", {"target"}),
        ("assignmentOf", {"query"}),
        ("assignmentOf", {"known"}),
        ("target", {"assignment"}),
        ("imbalance", {"steps"}),
    ),
    "controller_flow": (
        ("moved", {"trigger", "externalEpochBump"}),
        ("bounce", {"restartFast"}),
        ("reassign", {"from", "to", "live"}),
        ("leaders", {"assignment", "steps"}),
        ("restarts", {"brokers", "steps"}),
        *(("leaders", {"assignment", word}) for word in ("stop", "shutdown")),
        ("creation", {"assignment", "live"}),
        ("moved", {"trigger"}),
        ("registerController", {"controllerZnode"}),
        ("registerController", {"epochZnode"}),
        ("isrPropagation", {"lastChange"}),
        ("imbalance", {"notLed"}),
        ("imbalance", {"percentage"}),
        ("reassign", {"from", "to"}),
        ("restarts", {"steps"}),
        ("creation", {"assignment"}),
        ("shutdownRequest", {"broker"}),
    ),
    "election": (("elect", {"strategy"}), ("elect", {"assignment"}), ("elect", {"isr"})),
    "leader_epoch_cache": (("epochCache", {"ops"}),),
    "log_cleaner": (("compacted", {"segments"}), ("compacted", {"steps"})),
    "partition_replication": (
        _partition,
        ("oldFormat", {"becomeLeaderEpoch", "log"}),
        ("assignmentState", {"adding", "removing", "isr"}),
        ("makeFollower", {"steps"}),
        ("leader", {"self", "isr", "replicas"}),
        ("underReplicated", {"replicas", "isr"}),
        ("oldFormat", {"becomeLeaderEpoch"}),
        ("assignmentState", {"adding"}),
        ("assignmentState", {"removing"}),
        ("hw", {"remotes"}),
        ("produce", {"acks"}),
        ("checkCurrentLeaderEpoch", {"isLeader"}),
        ("leader", {"self"}),
        ("underReplicated", {"replicas"}),
        ("underReplicated", {"isr"}),
    ),
    "partition_state_machine": (
        ("transition", {"from", "to"}),
        ("effects", {"zkState"}),
        ("effects", {"target"}),
        ("effects", {"assignment"}),
        ("offlineCount", {"steps"}),
        ("initialState", {"live"}),
    ),
    "producer_state": (("appends", {"steps"}),),
    "reassignment": (
        ("guard", {"entriesLeft"}),
        ("findStates", {"inProgress"}),
        ("throttledReplicas", {"proposed"}),
        ("parseExecute", {"json"}),
        ("parseGenerate", {"topics"}),
        ("guard", {"current", "target"}),
    ),
    "replica_manager": (
        ("stopReplica", {"delete"}),
        ("leaderAndIsr", {"inReplicas"}),
        ("leaderAndIsr", {"requestLeaderEpoch"}),
        ("fetcherId", {"topic"}),
        ("fetchVisibility", {"leo", "hw"}),
        ("brokerEpoch", {"request", "current"}),
    ),
    "replica_state_machine": (
        ("transition", {"from", "to"}),
        ("effects", {"target"}),
        ("startup", {"replica"}),
    ),
    "request_batch": (("batch", {"calls"}), ("versions", {"ibp"})),
    "request_sequences": (
        ("sequence", {"event"}),
        ("emptyPartitions", {"partitionsArgument"}),
        ("emptyPartitions", {"partitions"}),
    ),
    "topic_admin": (),
    "topic_deletion": (
        ("scenario", {"brokers", "topics", "steps"}),
        ("resumeDecision", {"replicaStates"}),
        ("scenario", {"steps"}),
        ("delete", {"live", "assignment"}),
        ("scenario", {"brokers", "topics"}),
    ),
    "truncation": (
        ("leaderFetchValidation", {"lastFetchedEpoch"}),
        ("offsetTruncationStateOld", {"leaderReplyEndOffset"}),
        ("offsetTruncationState", {"leaderReply"}),
        ("loops", {"loops"}),
        ("fetchState", {"reply"}),
        ("scenario", {"follower"}),
        ("epochFetches", {"truncationOnFetch"}),
    ),
    "zk_store": (
        _zk_calls,
        ("encode", {"encode"}),
        ("encodeReassign", {"map"}),
        ("propagateIsr", {"sets"}),
        ("configChange", {"entities"}),
        ("registerBroker", {"existingOwner"}),
        ("updateLeaderAndIsr", {"expectedVersions"}),
        ("createSequential", {"prefix"}),
    ),
}
"""By file, what an input is about whose ``op`` is missing or unknown; the first that fits."""

_SYNONYMS = {
    "assignReplicasToBrokers": "assign",
    "getRackAlternatedBrokerList": "rackAlternatedList",
    "alterReassignments": "apiValidate",
    "createPartitions": "addPartitions",
    "decode": "decodeReassign",
    "propagateLogDirEvent": "propagateLogDir",
    "deleteIsrChangeNotifications": "deleteNotifications",
    "deleteLogDirEventNotifications": "deleteNotifications",
    "propagateIsrChanges": "propagateIsr",
    "parseExecuteAssignmentArgs": "parseExecute",
    "parseGenerateAssignmentArgs": "parseGenerate",
    "generateAssignment": "generate",
    "executeAssignment": "execute",
    "partitionReassignmentStatesToString": "statesToString",
    "replicaMoveStatesToString": "moveStatesToString",
    "listReassignments": "list",
    "getReplicaAssignmentForTopics": "replicaAssignments",
    "getReplicaAssignmentForPartitions": "replicaAssignments",
    "getReplicaAssignments": "replicaAssignments",
    "findPartitionReassignmentStates": "findStates",
    "currentPartitionReplicaAssignmentToString": "currentAssignmentToString",
    "calculateMoveMap": "moveMap",
    "calculateProposedMoveMap": "moveMap",
    "registerBrokerInZk": "registerBroker",
    "getOffsetTruncationState": "offsetTruncationState",
    "preferredReplicaImbalance": "imbalance",
    "isValidTransition": "transition",
    "offlinePartitionCount": "offlineCount",
    "createTopic": "create",
    "validateTopicCreate": "validateAssignment",
    "listTopics": "list",
    "deleteTopic": "delete",
    "alterPartitionReassignments": "apiValidate",
    "getFetcherId": "fetcherId",
    "appendRecords": "produce",
    "completeDeleteTopic": "completionZkOrder",
    "deleteNonExistentTopic": "deleteZnodeForMissingTopic",
    "highWatermark": "hw",
    "verifyAssignment": "verify",
    "readLogDirEvents": "readNotifications",
    "readIsrChanges": "readNotifications",
    "handleOutOfRange": "fetchOffsetOutOfRange",
    "fetchOffsetAndTruncate": "fetchOffsetOutOfRange",
    "setOrCreatePartitionReassignment": "setReassignment",
    "conditionalUpdatePath": "conditionalUpdate",
    "maybeUpdateMetadataCache": "updateMetadata",
    "partitionReassignmentDuringDelete": "reassignDuringDelete",
    "partitionReplicaAssignment": "assignmentOf",
    "partitionReplicaAssignmentForTopic": "assignmentOf",
    "assignmentForTopic": "assignmentOf",
    "generateBrokerSequenceId": "brokerSequenceId",
    "createTopicPartitionStatesRaw": "createStates",
    "createTopicPartitionStates": "createStates",
    "createPartitionStates": "createStates",
    "getTopicPartitionStates": "readStates",
    "getTopicPartitionStatesRaw": "readStates",
    "deleteLogDirEvents": "deleteNotifications",
    "deleteIsrChanges": "deleteNotifications",
}
"""Names of Kafka's methods and near words -> the operations that they are."""

_KINDS = {"encode": "encode", "decode": "decodeReassign"}
"""How the name of an operation begins, where it goes on with the znode -> the operation."""

_LONG = 7
"""Letters of a word that says what an operation is about."""

UNKNOWN = "unknown: "
"""What the operation of a case begins with that follows no known schema."""

_FIELDS = ("source", "case", "versions", "input", "expected")


def read_cases(path: Path) -> list[Case]:
    """The cases of a file. BadCasesFile says what is wrong, with the number of the case."""
    if path.stem not in FILES or path.suffix != ".json":
        raise BadCasesFile(f"{path} is no file of vectors; there are {', '.join(FILES)} (.json)")
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadCasesFile(f"{path} cannot be read: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadCasesFile(f"{path} is no JSON: {error}") from error
    if not isinstance(loaded, list):
        raise BadCasesFile(f"{path} holds no list; a file of vectors is a JSON array of cases")
    cases = [_case(path, number, entry) for number, entry in enumerate(loaded)]
    if cases and all(case.operation.startswith(UNKNOWN) for case in cases):
        asked = cases[0].operation.removeprefix(UNKNOWN)
        raise BadCasesFile(
            f"{path}: {asked} is no operation of {path.stem}, and no case has another"
        )
    return cases


def _operation(file: str, given: Input) -> str | None:
    """What a case asks, None if it follows no known schema: what it says, or is about."""
    from conformance.vectors.implementation import ANSWERS  # all operations have an answer there
    from conformance.vectors.shapes import Fields

    op = _SYNONYMS.get(given.get("op", ""), given.get("op"))
    known = [operation for stem, operation in ANSWERS if stem == file]
    if isinstance(op, str) and (found := meant(op, known)) is not None:
        return found
    for kind, operation in _KINDS.items():
        if isinstance(op, str) and op.startswith(kind) and operation in known:
            return operation
    said = Fields(given, file)
    try:
        for rule in FILES[file]:
            if not isinstance(rule, tuple):
                found = rule(said)
            else:
                found = rule[0] if all(name in said for name in rule[1]) else None
            if found is not None:
                return found
    except (KeyError, IndexError, TypeError):  # it is not shaped as any that is known
        pass
    return _nearest(str(op), known)


def _nearest(op: str, known: list[str]) -> str | None:
    """The operation that shares a long word with a name, and most of its words."""

    def shared(one: str) -> int:
        words = {*meaning(one).split()} & {*meaning(op).split()}
        return sum(len(word) for word in words if len(word) >= _LONG)

    best = max(known, key=shared, default=None)
    return best if best is not None and shared(best) else None


def _case(path: Path, number: int, entry: Any) -> Case:
    where = f"{path}, case {number}"
    if not isinstance(entry, dict):
        raise BadCasesFile(f"{where}: is no object; a case has {', '.join(_FIELDS)}")
    missing = [name for name in _FIELDS if name not in entry]
    if missing:
        raise BadCasesFile(f"{where}: lacks {', '.join(missing)}; a case has {', '.join(_FIELDS)}")
    given = entry["input"]
    try:
        operation = _operation(path.stem, given) if isinstance(given, dict) else None
        release = release_of(str(entry["versions"]))
    except NoRange as error:
        raise BadCasesFile(f"{where}: {error}") from error
    if operation is None:
        # One that nobody knows stays unanswered: the others of the file are judged all the same.
        said = given.get("op") if isinstance(given, dict) else str(given)
        asked = f"op {said!r}" if said is not None else f"an input of {', '.join(sorted(given))}"
        operation = f"{UNKNOWN}{asked}"
    return Case(
        path.stem,
        number,
        str(entry["case"]),
        str(entry["source"]),
        str(entry["versions"]),
        release,
        operation,
        given,
        entry["expected"],
    )

"""Files of cases: read, checked against the schema, each with its operation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.vectors.releases import NoRange, release_of

Input = Mapping[str, Any]


class BadCasesFile(ValueError):
    """A file that is none of the known ones, or does not follow the schema."""


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
        """What a side gets to see: everything but what is expected of it."""
        return {"input": self.input, "release": self.release, "versions": self.versions}


def _by_op(*operations: str) -> Callable[[Input], str | None]:
    return lambda given: given["op"] if given.get("op") in operations else None


def _shape(*rules: tuple[str, set[str]]) -> Callable[[Input], str | None]:
    """The first operation all of whose names the input has."""
    return lambda given: next((name for name, keys in rules if keys <= set(given)), None)


def _either(*ways: Callable[[Input], str | None]) -> Callable[[Input], str | None]:
    return lambda given: next((found for way in ways if (found := way(given))), None)


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


FILES: dict[str, Callable[[Input], str | None]] = {
    "assignment": _by_op("assign", "rackAlternatedList", "assignProperties", "addPartitions"),
    "checkpoint_files": _shape(
        ("checkpoint", {"fileContent"}),
        ("checkpoint", {"file", "fetch"}),
        ("checkpoint", {"writes"}),
    ),
    "controller_context": _by_op("target", "reassignTo", "assignmentOf", "imbalance"),
    "controller_flow": _either(
        _by_op("imbalance", "isrPropagation", "registerController"),
        _shape(
            ("moved", {"trigger", "externalEpochBump"}),
            ("bounce", {"restartFast"}),
            ("reassign", {"from", "to", "live"}),
            ("leaders", {"assignment", "steps"}),
            ("restarts", {"brokers", "steps"}),
            ("creation", {"assignment", "live"}),
        ),
    ),
    "election": _shape(("elect", {"strategy", "assignment", "isr", "live"})),
    "leader_epoch_cache": _shape(("epochCache", {"ops"})),
    "log_cleaner": _shape(("compacted", {"segments"}), ("compacted", {"steps"})),
    "partition_replication": _either(
        _by_op("outOfSync", "hw", "checkCurrentLeaderEpoch", "produce"),
        _partition,
        _shape(
            ("oldFormat", {"becomeLeaderEpoch", "log"}),
            ("assignmentState", {"adding", "removing", "isr"}),
            ("makeFollower", {"steps"}),
            ("leader", {"self", "isr", "replicas"}),
            ("underReplicated", {"replicas", "isr"}),
        ),
    ),
    "partition_state_machine": _by_op("transition", "effects", "offlineCount", "initialState"),
    "producer_state": _shape(("appends", {"steps"})),
    "reassignment": _by_op(
        "moveMap",
        "statesToString",
        "moveStatesToString",
        "list",
        "findStates",
        "parseExecute",
        "parseGenerate",
        "execute",
        "generate",
        "throttledReplicas",
        "reassignTrace",
        "reassignTraceKip455",
        "guard",
        "apiValidate",
    ),
    "replica_manager": _by_op(
        "stopReplica", "leaderAndIsr", "brokerEpoch", "fetcherId", "fetchVisibility"
    ),
    "replica_state_machine": _by_op("transition", "effects", "startup"),
    "request_batch": _either(_by_op("versions"), _shape(("batch", {"calls"}))),
    "request_sequences": _shape(
        ("sequence", {"event"}), ("emptyPartitions", {"partitionsArgument"})
    ),
    "topic_admin": _by_op(
        "validateName",
        "validChar",
        "collision",
        "collisionChars",
        "parseReplicaAssignment",
        "alter",
        "create",
        "delete",
        "list",
        "describe",
        "validateAssignment",
    ),
    "topic_deletion": _either(
        _by_op(
            "resumeDecision",
            "completionZkOrder",
            "deleteZnodeForMissingTopic",
            "deleteDisabled",
            "deleteTwice",
            "delete",
            "addPartitionsDuringDelete",
        ),
        _shape(("scenario", {"brokers", "topics", "steps"})),
    ),
    "truncation": _by_op(
        "offsetTruncationState",
        "offsetTruncationStateOld",
        "scenario",
        "leaderFetchValidation",
        "loops",
        "fetchState",
        "epochFetches",
    ),
    "zk_store": _either(
        _by_op(
            "updateLeaderAndIsr",
            "createSequential",
            "propagateIsr",
            "readNotifications",
            "configChange",
            "createPreferredElection",
            "deletePreferredElection",
            "registerBroker",
            "encode",
            "encodeReassign",
            "decodeReassign",
            "propagateLogDir",
        ),
        _zk_calls,
    ),
}
"""By file, how the operation of a case is known from its input."""  # fmt: skip

_UNNAMED: dict[str, Callable[[Input], str | None]] = {
    "assignment": _shape(
        ("addPartitions", {"newTotal"}),
        ("addPartitions", {"existing"}),
        ("assign", {"nPartitions"}),
        ("rackAlternatedList", {"racks"}),
    ),
    "controller_context": _shape(
        ("reassignTo", {"target"}),
        ("assignmentOf", {"query"}),
        ("assignmentOf", {"known"}),
        ("target", {"assignment"}),
    ),
    "controller_flow": _shape(
        ("moved", {"trigger"}),
        ("registerController", {"controllerZnode"}),
        ("registerController", {"epochZnode"}),
        ("isrPropagation", {"lastChange"}),
        ("imbalance", {"notLed"}),
        ("imbalance", {"percentage"}),
        ("reassign", {"from", "to"}),
        ("leaders", {"assignment", "steps"}),
        ("restarts", {"steps"}),
        ("creation", {"assignment"}),
    ),
    "election": _shape(
        ("elect", {"strategy"}),
        ("elect", {"assignment"}),
        ("elect", {"isr"}),
    ),
    "partition_replication": _shape(
        ("oldFormat", {"becomeLeaderEpoch"}),
        ("assignmentState", {"adding"}),
        ("assignmentState", {"removing"}),
        ("hw", {"remotes"}),
        ("produce", {"acks"}),
        ("checkCurrentLeaderEpoch", {"isLeader"}),
        ("outOfSync", {"leaderLeo", "steps"}),
        ("leader", {"self"}),
        ("leader", {"replicas", "steps"}),
        ("makeFollower", {"steps"}),
        ("underReplicated", {"replicas"}),
        ("underReplicated", {"isr"}),
    ),
    "partition_state_machine": _shape(
        ("transition", {"from", "to"}),
        ("effects", {"zkState"}),
        ("effects", {"target"}),
        ("effects", {"assignment"}),
        ("offlineCount", {"steps"}),
        ("initialState", {"live"}),
    ),
    "reassignment": _shape(
        ("guard", {"entriesLeft"}),
        ("findStates", {"inProgress"}),
        ("throttledReplicas", {"proposed"}),
        ("parseExecute", {"json"}),
        ("parseGenerate", {"topics"}),
        ("guard", {"current", "target"}),
    ),
    "replica_manager": _shape(
        ("stopReplica", {"delete"}),
        ("leaderAndIsr", {"inReplicas"}),
        ("leaderAndIsr", {"requestLeaderEpoch"}),
        ("fetcherId", {"topic"}),
        ("fetchVisibility", {"leo", "hw"}),
        ("brokerEpoch", {"request", "current"}),
    ),
    "replica_state_machine": _shape(
        ("transition", {"from", "to"}),
        ("effects", {"target"}),
        ("startup", {"replica"}),
    ),
    "request_batch": _shape(
        ("versions", {"ibp"}),
    ),
    "topic_deletion": _shape(
        ("resumeDecision", {"replicaStates"}),
        ("scenario", {"steps"}),
        ("delete", {"live", "assignment"}),
    ),
    "truncation": _shape(
        ("leaderFetchValidation", {"lastFetchedEpoch"}),
        ("offsetTruncationStateOld", {"leaderReplyEndOffset"}),
        ("offsetTruncationState", {"leaderReply"}),
        ("loops", {"loops"}),
        ("fetchState", {"reply"}),
        ("scenario", {"follower"}),
        ("epochFetches", {"truncationOnFetch"}),
    ),
    "zk_store": _shape(
        ("encode", {"encode"}),
        ("encodeReassign", {"map"}),
        ("propagateIsr", {"sets"}),
        ("configChange", {"entities"}),
        ("registerBroker", {"existingOwner"}),
        ("updateLeaderAndIsr", {"expectedVersions"}),
        ("createSequential", {"prefix"}),
    ),
}
"""By file, what an input is about whose ``op`` is missing or unknown, and no fuller shape fits."""

_SYNONYMS = {
    "assignReplicasToBrokers": "assign",
    "getRackAlternatedBrokerList": "rackAlternatedList",
    "alterReassignments": "apiValidate",
    "createPartitions": "addPartitions",
    "decode": "decodeReassign",
    "propagateLogDirEvent": "propagateLogDir",
    "propagateIsrChanges": "propagateIsr",
    "parseExecuteAssignmentArgs": "parseExecute",
    "parseGenerateAssignmentArgs": "parseGenerate",
    "generateAssignment": "generate",
    "executeAssignment": "execute",
    "partitionReassignmentStatesToString": "statesToString",
    "replicaMoveStatesToString": "moveStatesToString",
    "listReassignments": "list",
    "findPartitionReassignmentStates": "findStates",
    "calculateMoveMap": "moveMap",
    "calculateProposedMoveMap": "moveMap",
    "registerBrokerInZk": "registerBroker",
    "getOffsetTruncationState": "offsetTruncationState",
    "preferredReplicaImbalance": "imbalance",
}
"""Names of Kafka's methods and near words -> the operations that they are."""

UNKNOWN = "unknown: "
"""What the operation of a case begins with that follows no known schema."""

_FIELDS = ("source", "case", "versions", "input", "expected")


def read_cases(path: Path) -> list[Case]:
    """The cases of a file. BadFile says what is wrong, with the number of the case."""
    if path.stem not in FILES or path.suffix != ".json":
        raise BadCasesFile(f"{path} is no file of vectors; there are {', '.join(FILES)} (.json)")
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadCasesFile(f"{path} cannot be read: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
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
    """What a case asks, None if it follows no known schema."""
    given = {**given, "op": _SYNONYMS.get(given["op"], given["op"])} if "op" in given else given
    try:
        found = FILES[file](given)
        return _UNNAMED[file](given) if found is None and file in _UNNAMED else found
    except (KeyError, IndexError, TypeError):  # it is not shaped as any that is known
        return None


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

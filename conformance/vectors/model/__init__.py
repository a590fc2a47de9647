"""The model's answers to questions about Kafka's behaviour, by file and operation.

Steps of the model are answered by its transitions, and what a table of theirs decides by that
table. What no transition decides, a plain rule answers (`conformance.plain_rules`), and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.plain_rules import placement
from conformance.vectors import placements
from conformance.vectors.compare import ByRule
from conformance.vectors.model import (
    admin,
    batches,
    brokers,
    controllership,
    epoch_cache,
    fetching,
    flows,
    followers,
    leaders,
    machines,
    reassigns,
    rules,
    sequences,
    topic_names,
    topics,
    transitions,
)
from conformance.vectors.placements import Place, Placement, brokers_of, by_number, numbered
from conformance.vectors.questions import moving_a_deleted_topic
from conformance.vectors.shapes import reading
from impl.releases import Release
from model.protocol import assignment
from model.protocol.assignment import AssignmentRefused

Question = Mapping[str, Any]
Answer = Callable[[Question], Any]


BEFORE_OWN_NAMES = "AdminOperationException"
"""What every refusal was called once."""


def _or_refusal(
    ask: Callable[[], dict[str, Any]], question: Question, own_names: str = "0.0"
) -> dict[str, Any]:
    """The answer, or Kafka's exception; before the release ``own_names`` there was but one."""
    try:
        return ask()
    except AssignmentRefused as refused:
        named = Release.of(question["release"]).since(own_names)
        exception = refused.exception if named else BEFORE_OWN_NAMES
        return {"error": exception, "message": str(refused)}


def _place(asked: Mapping[str, Any]) -> Place:
    def place(start: int, shift: int) -> Placement:
        first = max(0, asked.get("startPartitionId", 0))
        return assignment.assign_replicas(
            brokers_of(asked), asked["nPartitions"], asked["rf"], start, shift, first
        )

    return place


def assign(question: Question) -> dict[str, Any]:
    """Replicas for new partitions."""
    asked = question["input"]
    return _or_refusal(lambda: placements.placed(asked, _place(asked)), question, "0.10.1")


def rack_alternated(question: Question) -> dict[str, Any]:
    """Brokers in the order of racks taking turns."""
    racks = {one: rack or "" for one, rack in brokers_of(question["input"]).items()}
    return {"list": assignment.rack_alternated(racks)}


def properties(question: Question) -> dict[str, Any]:
    """Properties common to all placements, or the reason why there is none."""
    asked = question["input"]
    return _or_refusal(lambda: placements.properties(asked, _place(asked)), question, "0.10.1")


def add_partitions(question: Question) -> dict[str, Any]:
    """The replicas of the partitions that are added to a topic."""
    asked = question["input"]
    existing, by_hand = numbered(asked["existing"]) or {}, numbered(asked.get("manual"))

    def ask() -> dict[str, Any]:
        racks = brokers_of(asked)
        added = placement.add_partitions(existing, racks, asked["newTotal"], by_hand)
        return {
            "added": by_number(added),
            "startIndex": placement.start_of_addition(existing, racks),
            "startPartitionId": len(existing),
        }

    return _or_refusal(ask, question, "1.0")


def parse_replica_assignment(question: Question) -> dict[str, Any]:
    """``--replica-assignment``."""
    text = question["input"]["arg"]
    return _or_refusal(
        lambda: {"assignment": by_number(placement.parse_replica_assignment(text))}, question
    )


def generate(question: Question) -> dict[str, Any]:
    """Places each topic anew on brokers, with as many replicas as its first partition has."""
    asked = question["input"]
    brokers = sorted(int(one) for one in asked["brokers"].split(","))
    known = asked.get("racks", {}) if asked["rackAware"] else {}
    racks = {one: known.get(str(one)) for one in brokers}
    current, plan = asked["current"], dict[str, list[int]]()
    for topic in asked["topics"]:
        names = sorted(one for one in current if one.rpartition("-")[0] == topic)
        if not names:
            return {"error": "UnknownTopicOrPartition"}
        try:
            placed = assignment.assign_replicas(racks, len(names), len(current[names[0]]), 0, 0)
        except AssignmentRefused as refused:
            return {"error": refused.exception}
        plan |= {name: list(placed[number]) for number, name in enumerate(names)}
    return {"assignment": plan, "current": {name: current[name] for name in plan}}


def validate_assignment(question: Question) -> dict[str, Any]:
    """The replicas of a new topic, given by hand."""
    wanted = {int(number): ids for number, ids in question["input"]["assignment"].items()}

    def ask() -> dict[str, Any]:
        numbered = Release.of(question["release"]).since("2.3")
        placement.check_assignment(wanted, from_zero=numbered)
        return {"error": None}

    return _or_refusal(ask, question)


def _leader_and_isr(question: Question) -> dict[str, Any]:
    """Refused before it is looked at, or taken by a broker's steps."""
    refused = rules.refused_leader_and_isr(question)
    return brokers.leader_and_isr(question) if refused is None else ByRule(refused)


def by_rule(answer: Answer) -> Answer:
    """The answer of a plain rule, marked as such."""
    return lambda question: ByRule(answer(question))


ANSWERS: dict[tuple[str, str], Answer] = reading(
    {
        ("assignment", "assign"): assign,
        ("assignment", "rackAlternatedList"): rack_alternated,
        ("assignment", "assignProperties"): properties,
        ("assignment", "addPartitions"): by_rule(add_partitions),
        ("controller_context", "target"): by_rule(rules.target),
        ("controller_context", "reassignTo"): by_rule(rules.reassign_to),
        ("controller_context", "assignmentOf"): by_rule(rules.assignment_of),
        ("controller_context", "isReplicaOnline"): by_rule(rules.is_replica_online),
        ("controller_flow", "bounce"): sequences.bounce,
        ("controller_flow", "restarts"): controllership.restarts,
        ("controller_flow", "creation"): flows.creation,
        ("controller_flow", "leaders"): flows.leaders,
        ("controller_flow", "reassign"): reassigns.flow,
        ("controller_flow", "imbalance"): by_rule(rules.imbalance),
        ("controller_flow", "isrPropagation"): by_rule(rules.propagation),
        ("controller_flow", "moved"): controllership.moved,
        ("controller_flow", "registerController"): controllership.register_controller,
        ("election", "elect"): transitions.elect,
        ("leader_epoch_cache", "epochCache"): epoch_cache.cache,
        ("partition_replication", "assignmentState"): by_rule(rules.assignment_state),
        ("partition_replication", "checkCurrentLeaderEpoch"): leaders.leader_epoch,
        ("partition_replication", "hw"): leaders.high_watermark,
        ("partition_replication", "leader"): leaders.leader,
        ("partition_replication", "makeFollower"): leaders.make_follower,
        ("partition_replication", "oldFormat"): epoch_cache.old_format,
        ("partition_replication", "outOfSync"): by_rule(rules.out_of_sync),
        ("partition_replication", "produce"): leaders.produce,
        ("partition_replication", "underReplicated"): by_rule(rules.assignment_state),
        ("partition_state_machine", "offlineCount"): machines.offline_count,
        ("partition_state_machine", "transition"): machines.partition_transition,
        ("partition_state_machine", "effects"): transitions.partition_effects,
        ("partition_state_machine", "initialState"): topics.initial_state,
        ("replica_state_machine", "transition"): machines.replica_transition,
        ("replica_state_machine", "effects"): transitions.replica_effects,
        ("replica_state_machine", "startup"): topics.replica_startup,
        ("controller_context", "imbalance"): by_rule(rules.imbalance_count),
        ("reassignment", "generate"): generate,
        ("reassignment", "apiValidate"): by_rule(rules.api_validate),
        ("reassignment", "reassignTrace"): reassigns.reassign_trace,
        ("reassignment", "reassignTraceKip455"): reassigns.reassign_trace_kip_455,
        ("reassignment", "guard"): reassigns.guard,
        ("reassignment", "throttledReplicas"): by_rule(rules.throttled),
        ("replica_manager", "brokerEpoch"): by_rule(rules.broker_epoch),
        ("replica_manager", "fetcherId"): by_rule(rules.fetcher),
        ("replica_manager", "fetchVisibility"): by_rule(rules.visibility),
        ("replica_manager", "leaderAndIsr"): _leader_and_isr,
        ("replica_manager", "stopReplica"): by_rule(rules.stop_replica),
        ("replica_manager", "updateMetadata"): by_rule(rules.update_metadata),
        ("request_batch", "batch"): batches.batch,
        ("request_batch", "versions"): by_rule(rules.versions),
        ("request_sequences", "sequence"): sequences.sequence,
        ("request_sequences", "emptyPartitions"): by_rule(rules.empty_partitions),
        ("topic_admin", "alter"): admin.alter,
        ("topic_admin", "create"): admin.create,
        ("topic_admin", "delete"): admin.delete_request,
        ("topic_deletion", "addPartitionsDuringDelete"): admin.delete,
        ("topic_deletion", "recreateAfterDelete"): admin.delete,
        ("topic_deletion", "delete"): admin.delete,
        ("topic_deletion", "reassignDuringDelete"): moving_a_deleted_topic(
            reassigns.guard, rules.api_validate
        ),
        ("topic_deletion", "deleteTwice"): admin.delete_twice,
        ("topic_deletion", "resumeDecision"): topics.resume_decision,
        ("topic_deletion", "scenario"): topics.scenario,
        ("topic_deletion", "deleteDisabled"): topics.delete_disabled,
        ("topic_deletion", "deleteZnodeForMissingTopic"): topics.delete_missing,
        ("topic_admin", "collision"): by_rule(topic_names.collision),
        ("topic_admin", "collisionChars"): by_rule(topic_names.collision_chars),
        ("topic_admin", "parseReplicaAssignment"): by_rule(parse_replica_assignment),
        ("topic_admin", "validateAssignment"): by_rule(validate_assignment),
        ("topic_admin", "validateName"): by_rule(topic_names.validate_name),
        ("topic_admin", "validChar"): by_rule(topic_names.valid_char),
        ("truncation", "epochFetches"): fetching.epoch_fetches,
        ("truncation", "fetchState"): fetching.fetch_state,
        ("truncation", "loops"): fetching.loops,
        ("truncation", "leaderFetchValidation"): epoch_cache.fetch_validation,
        ("truncation", "offsetTruncationState"): epoch_cache.truncation,
        ("truncation", "offsetTruncationStateOld"): followers.old_truncation,
        ("truncation", "scenario"): fetching.scenario,
        ("zk_store", "createPreferredElection"): admin.create_preferred,
        ("zk_store", "deletePreferredElection"): admin.delete_preferred,
        ("zk_store", "epochCalls"): admin.epoch_calls,
        ("zk_store", "registerBroker"): admin.register_broker,
        ("zk_store", "updateLeaderAndIsr"): admin.update_states,
    }
)
"""By file and operation."""

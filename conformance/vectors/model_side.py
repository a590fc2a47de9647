"""The model's answers to questions about Kafka's behaviour, one a file and operation.

What the model does in steps is asked of its transitions, and what a table of theirs decides of that
table. What no transition decides, a plain rule answers (`conformance.plain_rules`), and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.plain_rules import placement
from conformance.vectors import (
    model_admin,
    model_batches,
    model_caches,
    model_controller,
    model_controllership,
    model_fetchers,
    model_flows,
    model_followers,
    model_leaders,
    model_moves,
    model_names,
    model_obedience,
    model_rules,
    model_sequences,
    model_topics,
    model_transitions,
    placements,
)
from conformance.vectors.compare import ByRule
from conformance.vectors.placements import Place, Placement, brokers_of, by_number, numbered
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
    """What is the same for all placements, or why there is none."""
    asked = question["input"]
    return _or_refusal(lambda: placements.properties(asked, _place(asked)), question, "0.10.1")


def add_partitions(question: Question) -> dict[str, Any]:
    """Replicas of the partitions that a topic grows by."""
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
    """Each topic is placed anew on brokers, with as many replicas as its first partition has."""
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
    refused = model_rules.refused_leader_and_isr(question)
    return model_obedience.leader_and_isr(question) if refused is None else ByRule(refused)


def by_rule(answer: Answer) -> Answer:
    """The answer of a plain rule, marked as such."""
    return lambda question: ByRule(answer(question))


ANSWERS: dict[tuple[str, str], Answer] = reading(
    {
        ("assignment", "assign"): assign,
        ("assignment", "rackAlternatedList"): rack_alternated,
        ("assignment", "assignProperties"): properties,
        ("assignment", "addPartitions"): by_rule(add_partitions),
        ("controller_context", "target"): by_rule(model_rules.target),
        ("controller_context", "reassignTo"): by_rule(model_rules.reassign_to),
        ("controller_context", "assignmentOf"): by_rule(model_rules.assignment_of),
        ("controller_flow", "bounce"): model_sequences.bounce,
        ("controller_flow", "restarts"): model_controllership.restarts,
        ("controller_flow", "creation"): model_flows.creation,
        ("controller_flow", "leaders"): model_flows.leaders,
        ("controller_flow", "reassign"): model_moves.flow,
        ("controller_flow", "imbalance"): by_rule(model_rules.imbalance),
        ("controller_flow", "isrPropagation"): by_rule(model_rules.propagation),
        ("controller_flow", "moved"): model_controllership.moved,
        ("controller_flow", "registerController"): model_controllership.register_controller,
        ("election", "elect"): model_transitions.elect,
        ("leader_epoch_cache", "epochCache"): model_caches.cache,
        ("partition_replication", "assignmentState"): by_rule(model_rules.assignment_state),
        ("partition_replication", "checkCurrentLeaderEpoch"): model_leaders.leader_epoch,
        ("partition_replication", "hw"): model_leaders.high_watermark,
        ("partition_replication", "leader"): model_leaders.leader,
        ("partition_replication", "makeFollower"): model_leaders.make_follower,
        ("partition_replication", "oldFormat"): model_caches.old_format,
        ("partition_replication", "outOfSync"): by_rule(model_rules.out_of_sync),
        ("partition_replication", "produce"): model_leaders.produce,
        ("partition_replication", "underReplicated"): by_rule(model_rules.assignment_state),
        ("partition_state_machine", "offlineCount"): model_controller.offline_count,
        ("partition_state_machine", "transition"): model_controller.partition_transition,
        ("partition_state_machine", "effects"): model_transitions.partition_effects,
        ("partition_state_machine", "initialState"): model_topics.initial_state,
        ("replica_state_machine", "transition"): model_controller.replica_transition,
        ("replica_state_machine", "effects"): model_transitions.replica_effects,
        ("replica_state_machine", "startup"): model_topics.replica_startup,
        ("controller_context", "imbalance"): by_rule(model_rules.imbalance_count),
        ("reassignment", "generate"): generate,
        ("reassignment", "apiValidate"): by_rule(model_rules.api_validate),
        ("reassignment", "reassignTrace"): model_moves.reassign_trace,
        ("reassignment", "reassignTraceKip455"): model_moves.reassign_trace_kip_455,
        ("reassignment", "guard"): model_moves.guard,
        ("reassignment", "throttledReplicas"): by_rule(model_rules.throttled),
        ("replica_manager", "brokerEpoch"): by_rule(model_rules.broker_epoch),
        ("replica_manager", "fetcherId"): by_rule(model_rules.fetcher),
        ("replica_manager", "fetchVisibility"): by_rule(model_rules.visibility),
        ("replica_manager", "leaderAndIsr"): _leader_and_isr,
        ("replica_manager", "stopReplica"): by_rule(model_rules.stop_replica),
        ("request_batch", "batch"): model_batches.batch,
        ("request_batch", "versions"): by_rule(model_rules.versions),
        ("request_sequences", "sequence"): model_sequences.sequence,
        ("request_sequences", "emptyPartitions"): by_rule(model_rules.empty_partitions),
        ("topic_admin", "alter"): model_admin.alter,
        ("topic_admin", "create"): model_admin.create,
        ("topic_admin", "delete"): model_admin.delete_request,
        ("topic_deletion", "addPartitionsDuringDelete"): model_admin.add_partitions_during_delete,
        ("topic_deletion", "delete"): model_admin.delete,
        ("topic_deletion", "deleteTwice"): model_admin.delete_twice,
        ("topic_deletion", "resumeDecision"): model_topics.resume_decision,
        ("topic_deletion", "scenario"): model_topics.scenario,
        ("topic_deletion", "deleteDisabled"): model_topics.delete_disabled,
        ("topic_deletion", "deleteZnodeForMissingTopic"): model_topics.delete_missing,
        ("topic_admin", "collision"): by_rule(model_names.collision),
        ("topic_admin", "collisionChars"): by_rule(model_names.collision_chars),
        ("topic_admin", "parseReplicaAssignment"): by_rule(parse_replica_assignment),
        ("topic_admin", "validateAssignment"): by_rule(validate_assignment),
        ("topic_admin", "validateName"): by_rule(model_names.validate_name),
        ("topic_admin", "validChar"): by_rule(model_names.valid_char),
        ("truncation", "epochFetches"): model_fetchers.epoch_fetches,
        ("truncation", "fetchState"): model_fetchers.fetch_state,
        ("truncation", "loops"): model_fetchers.loops,
        ("truncation", "leaderFetchValidation"): model_caches.fetch_validation,
        ("truncation", "offsetTruncationState"): model_caches.truncation,
        ("truncation", "offsetTruncationStateOld"): model_followers.old_truncation,
        ("truncation", "scenario"): model_fetchers.scenario,
        ("zk_store", "createPreferredElection"): model_admin.create_preferred,
        ("zk_store", "deletePreferredElection"): model_admin.delete_preferred,
        ("zk_store", "epochCalls"): model_admin.epoch_calls,
        ("zk_store", "registerBroker"): model_admin.register_broker,
        ("zk_store", "updateLeaderAndIsr"): model_admin.update_states,
    }
)
"""By file and operation."""

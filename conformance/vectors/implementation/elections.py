"""Answers about elections and the algebra of assignments (election, controller_context)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.vectors.questions import (
    Answer,
    Question,
    given,
    nobody_elected,
    release,
)
from impl.core import leader_election
from impl.core.cluster_context import ClusterContext
from impl.core.imbalance import by_preferred_leader, led_by_others
from impl.core.leader_election import Elected
from impl.znodes import LeaderIsrAndControllerEpoch, ReplicaAssignment, TopicPartition


def elect(question: Question) -> dict[str, Any]:
    """One election; ``live`` includes brokers shutting down if that is the strategy."""
    asked = given(question)
    chosen = _choose(question, asked)
    answer: dict[str, Any] = {
        "leader": None if chosen is None else chosen.leader,
        "uncleanElections": int(chosen is not None and chosen.unclean),
    }
    if "leaderEpoch" not in asked:
        return answer
    if chosen is None:
        return nobody_elected(question)
    return answer | {
        "isr": list(chosen.isr),
        "leaderEpoch": asked["leaderEpoch"] + 1,
        "recipients": list(chosen.recipients),
    }


def _choose(question: Question, asked: dict[str, Any]) -> Elected | None:
    assignment, isr, live = asked["assignment"], asked["isr"], asked["live"]
    match asked["strategy"]:
        case "Offline":
            return leader_election.offline(assignment, isr, live, asked["uncleanEnabled"])
        case "Reassign":
            return leader_election.reassign(asked.get("target", assignment), isr, live)
        case "Preferred":
            if leader_election.leads_as_preferred(
                assignment, asked.get("leader"), release(question)
            ):
                return None
            return leader_election.preferred(assignment, isr, live)
        case "ControlledShutdown":
            going = asked["shuttingDown"]
            return leader_election.controlled_shutdown(
                assignment, isr, live, going, release(question)
            )
        case other:
            raise ValueError(f"no election strategy is called {other!r}")


def _assignment(fields: dict[str, Any]) -> ReplicaAssignment:
    return ReplicaAssignment(
        tuple(fields["replicas"]), tuple(fields["adding"]), tuple(fields["removing"])
    )


def _shown(assignment: ReplicaAssignment) -> dict[str, Any]:
    return {
        "replicas": list(assignment.replicas),
        "adding": list(assignment.adding),
        "removing": list(assignment.removing),
        "target": list(assignment.target),
        "origin": list(assignment.origin),
        "isBeingReassigned": assignment.is_being_reassigned,
    }


def target(question: Question) -> dict[str, Any]:
    """The target of a reassignment, and its origin."""
    return _shown(_assignment(given(question)["assignment"]))


def reassign_to(question: Question) -> dict[str, Any]:
    """The assignment that is moved to a target."""
    asked = given(question)
    return _shown(_assignment(asked["assignment"]).reassign_to(asked["target"]))


def assignment_of(question: Question) -> dict[str, Any]:
    """The replicas of partitions, known or not."""
    asked, context = given(question), ClusterContext()
    for name, replicas in asked["known"].items():
        context.assign(TopicPartition.of(name), replicas)
    found = [context.assignment(TopicPartition.of(name)) for name in asked["query"]]
    if "full" in str(asked.get("op")).lower():
        return {"results": [_shown(one) for one in found]}
    replicas = [list(one.replicas) for one in found]
    return {"results": replicas, "result": dict(zip(asked["query"], replicas, strict=True))}


def is_replica_online(question: Question) -> dict[str, Any]:
    """Whether a replica's broker is live, and the replica's log directory has not failed."""
    asked, context = given(question), ClusterContext()
    partition = TopicPartition.of(asked["partition"])
    context.shutting_down = set(asked["shuttingDown"])
    context.broker_epochs = dict.fromkeys({*asked["live"], *context.shutting_down}, 1)
    for broker in asked["offlineDirs"]:
        context.offline_directories[broker] = {partition}
    online = context.is_replica_online(asked["broker"], partition, asked["shuttingDownToo"])
    return {"online": online}


def imbalance(question: Question) -> dict[str, Any]:
    """How many partitions are not led by their preferred replica (a metric of the controller)."""
    asked = given(question)
    counts = [_imbalance(one) for one in asked.get("moments", [asked])]
    whole = counts if "moments" in asked else counts[-1]
    return {"count": counts[-1], "counts": counts, "result": whole}


def _imbalance(asked: Mapping[str, Any]) -> int:
    context = ClusterContext()
    context.queued_for_deletion = set(asked["queuedForDeletion"])
    for name, replicas in asked["assignments"].items():
        context.assign(TopicPartition.of(name), replicas)
    for name, leader in asked["leaders"].items():
        partition = TopicPartition.of(name)
        context.leadership[partition] = LeaderIsrAndControllerEpoch(leader, 0, (leader,), 0)
    due = by_preferred_leader(context).items()
    return sum(len(led_by_others(broker, one, context)) for broker, one in due)


ANSWERS: dict[tuple[str, str], Answer] = {
    ("election", "elect"): elect,
    ("controller_context", "target"): target,
    ("controller_context", "reassignTo"): reassign_to,
    ("controller_context", "assignmentOf"): assignment_of,
    ("controller_context", "imbalance"): imbalance,
    ("controller_context", "isReplicaOnline"): is_replica_online,
}

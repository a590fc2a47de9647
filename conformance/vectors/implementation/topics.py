"""Answers about names of topics and what kafka-topics says (topic_admin.json)."""

from __future__ import annotations

from typing import Any

from conformance.vectors.questions import Answer, Question, by_number, given, or_refusal, release
from impl.admin import placement, topic_lines, topic_names
from impl.admin.errors import AdminError, TopicExists
from impl.admin.topic_lines import PartitionLine
from impl.znodes import paths


def _is_valid(name: str) -> bool:
    try:
        topic_names.check_name(name)
    except AdminError:
        return False
    return True


def validate_name(question: Question) -> dict[str, Any]:
    """Whether a name may be one of a topic."""
    name = given(question)["name"]
    text = name if isinstance(name, str) else name["char"] * name["repeat"]
    return {"valid": _is_valid(text)}


def valid_char(question: Question) -> dict[str, Any]:
    """Whether a name may have a character."""
    return {"valid": _is_valid(f"a{given(question)['char']}b")}


def collision(question: Question) -> dict[str, Any]:
    """Whether two names are too alike."""
    asked = given(question)
    return {"collides": topic_names.collide(asked["a"], asked["b"])}


def collision_chars(question: Question) -> dict[str, Any]:
    """Whether a name is worth a warning."""
    return {"has": topic_names.has_collision_chars(given(question)["name"])}


def parse_assignment(question: Question) -> dict[str, Any]:
    """``--replica-assignment``."""
    return or_refusal(
        lambda: {
            "assignment": by_number(placement.parse_replica_assignment(given(question)["arg"]))
        }
    )


def alter(question: Question) -> dict[str, Any]:
    """``--alter --partitions``."""
    asked = given(question)
    topic, existing = asked.get("topic", "t"), asked.get("existing", 1)

    def ask() -> dict[str, Any]:
        topic_lines.check_alter(topic, release(question))
        placement.add_partitions(
            topic,
            dict.fromkeys(range(existing), (0,)),
            {0: None},
            asked.get("requested", existing + 1),
            release(question),
        )
        return {"error": None}

    return or_refusal(ask)


def create(question: Question) -> dict[str, Any]:
    """``--create``."""
    asked = given(question)
    topic = asked.get("topic", "t")

    def ask() -> dict[str, Any]:
        topic_names.check_name(topic)
        if asked.get("exists") and not asked.get("ifNotExists"):
            raise TopicExists(f"Topic '{topic}' already exists.")
        lines = [] if asked.get("exists") else [topic_lines.created(topic, release(question))]
        return {"error": None, "lines": lines}

    return or_refusal(ask)


def delete(question: Question) -> dict[str, Any]:
    """``--delete``."""
    asked = given(question)
    topic, marked = asked["topic"], asked.get("alreadyMarked", False)

    def ask() -> dict[str, Any]:
        if not asked.get("exists", True):
            raise topic_lines.missing(topic, paths.topic(topic), release(question))
        return {"lines": topic_lines.delete(topic, marked, release(question))}

    return or_refusal(ask)


def list_topics(question: Question) -> dict[str, Any]:
    """``--list``."""
    asked = given(question)
    excluded = asked.get("excludeInternal", False)
    return {"lines": topic_lines.listed(asked["topics"], asked.get("marked", ()), excluded)}


def describe(question: Question) -> dict[str, Any]:
    """``--describe``."""
    asked = given(question)
    partitions = [
        PartitionLine(
            int(number),
            one["leader"] if one.get("stateZnode", True) else None,
            tuple(one["replicas"]),
            tuple(one["isr"]),
            tuple(one.get("adding", ())),
            tuple(one.get("removing", ())),
        )
        for number, one in sorted(asked["partitions"].items(), key=lambda entry: int(entry[0]))
    ]
    return {
        "lines": topic_lines.described(
            asked["topic"],
            partitions,
            asked.get("configs", {}),
            release(question),
            asked.get("markedForDeletion", asked.get("marked", False)),
            asked.get("topicId"),
        )
    }


def validate_assignment(question: Question) -> dict[str, Any]:
    """The replicas of a new topic, given by hand."""
    asked = given(question)
    assignment = {int(number): tuple(ids) for number, ids in asked["assignment"].items()}

    def ask() -> dict[str, Any]:
        placement.check_assignment(assignment, release(question))
        return {"error": None}

    return or_refusal(ask)


ANSWERS: dict[tuple[str, str], Answer] = {
    ("topic_admin", "validateName"): validate_name,
    ("topic_admin", "validChar"): valid_char,
    ("topic_admin", "collision"): collision,
    ("topic_admin", "collisionChars"): collision_chars,
    ("topic_admin", "parseReplicaAssignment"): parse_assignment,
    ("topic_admin", "alter"): alter,
    ("topic_admin", "create"): create,
    ("topic_admin", "delete"): delete,
    ("topic_admin", "list"): list_topics,
    ("topic_admin", "describe"): describe,
    ("topic_admin", "validateAssignment"): validate_assignment,
}

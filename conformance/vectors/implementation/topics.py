"""Answers about names of topics and what kafka-topics says (topic_admin.json)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from conformance.vectors.implementation.stage import ControllerStage
from conformance.vectors.placements import by_number
from conformance.vectors.questions import Answer, Question, given, or_refusal, release, under
from impl.admin import placement, topic_names
from impl.admin.topic_command import Filters, TopicCommand
from impl.znodes import (
    LeaderIsrAndControllerEpoch,
    ReplicaAssignment,
    TopicPartition,
    TopicZnode,
    encode_config,
    encode_topic,
    paths,
    topic_version,
)
from impl.zookeeper.port import wait


def _checked(name: str) -> dict[str, Any]:
    def ask() -> dict[str, Any]:
        topic_names.check_name(name)
        return {"error": None}

    said = or_refusal(ask)
    return {"valid": said["error"] is None, **said}


def validate_name(question: Question) -> dict[str, Any]:
    """Whether a topic name is allowed."""
    name = given(question)["name"]
    return _checked(name if isinstance(name, str) else name["char"] * name["repeat"])


def valid_char(question: Question) -> dict[str, Any]:
    """Whether a name may contain a character."""
    return _checked(f"a{given(question)['char']}b")


def collision(question: Question) -> dict[str, Any]:
    """Whether two names collide."""
    asked = given(question)
    return {"collides": topic_names.collide(asked["a"], asked["b"])}


def collision_chars(question: Question) -> dict[str, Any]:
    """Whether a name needs a warning."""
    return {"has": topic_names.has_collision_chars(given(question)["name"])}


def parse_assignment(question: Question) -> dict[str, Any]:
    """``--replica-assignment``."""
    return or_refusal(
        lambda: {
            "assignment": by_number(placement.parse_replica_assignment(given(question)["arg"]))
        }
    )


class _Tool(ControllerStage):
    """``kafka-topics`` through ZooKeeper, with brokers and the topics of a question."""

    def __init__(
        self,
        question: Question,
        topics: Iterable[str],
        marked: Iterable[str] = (),
        brokers: Iterable[int] = (0,),
    ) -> None:
        super().__init__(release(question))
        for broker in brokers:
            self.start_broker(broker)
        for topic in topics:
            self.create_topic(topic, {0: (0,)})
        for topic in marked:
            wait(self.admin.request_deletion(topic))
        self.command = TopicCommand(self.admin, "localhost:2181")

    def says(self, ask: Callable[[], Sequence[str]]) -> dict[str, Any]:
        """The lines that a command prints, its warnings separately, or its error."""

        def printed() -> dict[str, Any]:
            lines = list(ask())
            warnings = [one for one in lines if one.startswith("WARNING: ")]
            rest = [one for one in lines if one not in warnings]
            return {"error": None, "lines": rest, "warnings": warnings}

        return or_refusal(printed)


def alter(question: Question) -> dict[str, Any]:
    """``--alter --partitions``."""
    asked = given(question)
    topic, existing = asked["topic"], asked["existing"]
    tool = _Tool(question, ())
    if asked.get("exists", True):
        tool.create_topic(topic, dict.fromkeys(range(existing), (0,)))
    wanted = asked.get("requested", existing + 1)
    return tool.says(
        lambda: tool.command.alter(topic, wanted, if_exists=asked.get("ifExists", False))
    )


def create(question: Question) -> dict[str, Any]:
    """``--create``."""
    asked = given(question)
    topic = asked["topic"]
    there = [*asked.get("existing", ()), *([topic] if asked.get("exists") else ())]
    tool = _Tool(question, there, brokers=asked["brokers"])
    return tool.says(
        lambda: tool.command.create(
            topic, asked["nPartitions"], asked["rf"], if_not_exists=asked.get("ifNotExists", False)
        )
    )


def delete(question: Question) -> dict[str, Any]:
    """``--delete``."""
    asked = given(question)
    topic = asked["topic"]
    tool = _Tool(
        question,
        [topic] if asked.get("exists", True) else (),
        [topic] if asked.get("alreadyMarked") else (),
    )
    return tool.says(lambda: tool.command.delete(topic, asked.get("ifExists", False)))


def list_topics(question: Question) -> dict[str, Any]:
    """``--list``."""
    asked = given(question)
    tool = _Tool(question, asked["topics"], asked["marked"])
    excluded = asked.get("excludeInternal", False)
    return tool.says(lambda: tool.command.list(exclude_internal=excluded))


def describe(question: Question) -> dict[str, Any]:
    """``--describe``; a partition without a leader has no state znode."""
    asked = given(question)
    topic = asked["topic"]
    marked = asked.get("markedForDeletion", asked.get("marked", False))
    known = [topic] if asked.get("exists", True) else []
    tool = _Tool(question, known, known if marked else ())
    for broker in set(asked["live"]) - {0}:
        tool.start_broker(broker)
    registered = {
        int(number): ReplicaAssignment(
            tuple(one["replicas"]), tuple(one.get("adding", ())), tuple(one.get("removing", ()))
        )
        for number, one in asked["partitions"].items()
    }
    text = encode_topic(TopicZnode(registered, asked.get("topicId")), topic_version(tool.release))
    for name in known:
        wait(tool.admin.port.set_data(paths.topic(name), text))
        wait(tool.admin.make_path(paths.config("topics", name), encode_config(asked["configs"])))
    for number, one in asked["partitions"].items():
        if one["leader"] is not None and one.get("stateZnode", True):
            state = LeaderIsrAndControllerEpoch(one["leader"], 0, tuple(one["isr"]), 0)
            tool.put_state(TopicPartition(topic, int(number)), state)
    words = f"{asked.get('filter', '')} {[name for name, value in asked.items() if value is True]}"
    said = words.lower().replace("-", "")
    filters = Filters(
        under_replicated="underreplicated" in said,
        unavailable="unavailable" in said,
        with_overrides="overrides" in said,
    )
    return tool.says(lambda: tool.command.describe(topic, filters))


def validate_assignment(question: Question) -> dict[str, Any]:
    """Checks the replicas of a new topic, given by hand."""
    asked = given(question)
    assignment = {int(number): tuple(ids) for number, ids in asked["assignment"].items()}

    def ask() -> dict[str, Any]:
        placement.check_assignment(assignment, release(question))
        return {"error": None}

    return or_refusal(ask)


ANSWERS: dict[tuple[str, str], Answer] = under(
    "topic_admin",
    validateName=validate_name,
    validChar=valid_char,
    collision=collision,
    collisionChars=collision_chars,
    parseReplicaAssignment=parse_assignment,
    alter=alter,
    create=create,
    delete=delete,
    list=list_topics,
    describe=describe,
    validateAssignment=validate_assignment,
)

"""Reads a question about Kafka's behaviour, for answers of both sides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from impl.admin.errors import AdminError
from impl.releases import Release
from impl.znodes.text import NumberFormatException

Question = Mapping[str, Any]
"""``input`` as in the file, ``release`` it is asked under, ``versions`` it holds for."""

Answer = Callable[[Question], Any]


class NotInModel(Exception):
    """The model has no step for the outcome of a case; the message is the reason."""


def given(question: Question) -> dict[str, Any]:
    """The question's input; reading a field that it lacks raises ``shapes.Lacks``."""
    asked: dict[str, Any] = question["input"]
    return asked


def release(question: Question) -> Release:
    """The release that the question is asked under."""
    return Release.of(question["release"])


def or_refusal(ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The answer, or the name of Kafka's exception with its message."""
    try:
        return ask()
    except AdminError as refused:
        return {"error": refused.kafka, "message": str(refused)}
    except NumberFormatException as refused:
        return {"error": type(refused).__name__, "message": str(refused)}


def nobody_elected(question: Question) -> dict[str, Any]:
    """The answer if no leader is elected, with what the selectors threw up to 1.0."""
    asked, answer = given(question), {"electionFailed": True, "stateUnchanged": True}
    if release(question).since("1.1"):
        return answer
    thrown = {"Offline": "NoReplicaOnline", "Reassign": "NoReplicaOnline"}.get(
        asked["strategy"], "StateChangeFailed"
    )
    if asked["strategy"] == "Preferred" and asked.get("leader") == asked["assignment"][0]:
        thrown = "LeaderElectionNotNeeded"
    return {**answer, "error": f"{thrown}Exception"}


def refused_truncation(question: Question, fetch_state: Answer) -> dict[str, Any]:
    """The answer where the leader returns an error: the follower truncates nothing, and waits."""
    asked = {**given(question), "latestEpoch": given(question)["followerLatestEpoch"]}
    seen = fetch_state({**question, "input": {**asked, "reply": [-1, -1]}})
    completed = seen["after"] == "Fetching"
    return {"truncateTo": seen["truncateTo"] if completed else None, "completed": completed}


def moving_a_deleted_topic(guard: Answer, validate: Answer) -> Answer:
    """The answer to a request, by znode and since 2.4 by the API, to move a topic in deletion."""

    def ask(question: Question) -> dict[str, Any]:
        seen = guard(question)
        left = None if seen["removedFromZk"] else "present"
        answer = {**seen, "reassignZnode": left, "reassignZnodeEntry": left}
        return answer | validate(question) if release(question).since("2.4") else answer

    return ask


def under(file: str, **named: Answer) -> dict[tuple[str, str], Answer]:
    """The answer functions of a file, by operation."""
    return {(file, operation): answer for operation, answer in named.items()}

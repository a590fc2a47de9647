"""Kafka's error codes by name, in the words of every release (``org.apache.kafka...Errors``)."""

from __future__ import annotations

from kio.schema.errors import ErrorCode

_OTHER_NAMES = {
    "NOT_LEADER_FOR_PARTITION": "not_leader_or_follower",  # up to 2.5
    "GROUP_LOAD_IN_PROGRESS": "coordinator_load_in_progress",  # up to 0.11
    "GROUP_COORDINATOR_NOT_AVAILABLE": "coordinator_not_available",
    "NOT_COORDINATOR_FOR_GROUP": "not_coordinator",
    "PREFERRED_LEADER_NOT_AVAILABLE": "preferred_leader_not_available",
    "INVALID_TOPIC": "invalid_topic_exception",
}


def error_code(name: str) -> ErrorCode:
    """The code of an error that is named as Kafka names it; KeyError for what is none."""
    return ErrorCode[_OTHER_NAMES.get(name, name.lower())]


def error_name(code: int) -> str:
    """Kafka's (present) name of a code; ValueError for what is none."""
    return ErrorCode(code).name.upper()

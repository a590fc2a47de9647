"""The model's answers about names of topics (topic_admin.json)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.plain_rules import topic_names

Question = Mapping[str, Any]


def validate_name(question: Question) -> dict[str, Any]:
    """Whether a topic name is allowed."""
    name = question["input"]["name"]
    text = name if isinstance(name, str) else name["char"] * name["repeat"]
    valid = topic_names.is_allowed(text)
    return {"valid": valid, "error": None if valid else "InvalidTopicException"}


def valid_char(question: Question) -> dict[str, Any]:
    """Whether a name may contain a character."""
    return {"valid": topic_names.is_allowed(f"a{question['input']['char']}b")}


def collision(question: Question) -> dict[str, Any]:
    """Whether two names collide."""
    asked = question["input"]
    return {"collides": topic_names.collide(asked["a"], asked["b"])}


def collision_chars(question: Question) -> dict[str, Any]:
    """Whether a name needs a warning."""
    return {"has": topic_names.may_collide(question["input"]["name"])}

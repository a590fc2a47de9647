"""Describes a step in plain words, with its actor: `broker_crashes broker=2` is "broker 2 crashes".

The words are derived from the transition's name and parameters, so every transition has them and
none says more than the model. The full name is always shown beside them. The transition itself
declares its actor, and whether it is a failure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from model.language.recording import CLIENTS as BY_CLIENTS
from model.language.recording import CONTROLLER as BY_CONTROLLER
from model.language.recording import Transition

FAILURES, CONTROLLER, CLIENTS = "What can fail", "Controller", "Clients and administrators"

_TERMS = {
    "isr": "ISR", "hw": "the high watermark", "zookeeper": "ZooKeeper",
    "dirs": "directories", "dir": "directory",
}  # fmt: skip
_NAMES = {"leader_and_isr": "LeaderAndIsr", "stop_replica": "StopReplica"}
_DESIGNS = ("fenced_", "first_try_")
"""What some names begin with to say which design they are of; the version says that."""
_HEADINGS = {BY_CONTROLLER: CONTROLLER, BY_CLIENTS: CLIENTS}
_PASSIVE = re.compile(r"(?!is_|[a-z]+s_)\w+_(is_\w+|conflicts)")


def phrase(line: str) -> str:
    """The words of a step's line, `leader_shrinks_isr leader=1 replica=2`."""
    name, *pairs = line.split()
    given = dict(pair.partition("=")[::2] for pair in pairs)
    for design in _DESIGNS:
        name = name.removeprefix(design)
    return _sentence(name, given)


def _sentence(name: str, left: dict[str, str]) -> str:
    subject = ""
    first = name.partition("_")[0]
    if first in left:
        subject, name = f"{first} {left.pop(first)}", name.removeprefix(first).lstrip("_")
    elif first == "session" and "broker" in left:
        who = left.pop("broker")
        subject, name = f"the session of broker {who}", name.removeprefix("session_")
    elif first == "controller" and "broker" not in left:
        subject, name = "controller", name.removeprefix(first).lstrip("_")
    elif first in ("controller", "leader", "follower", "broker") and left:
        who = left.pop("broker" if "broker" in left else next(iter(left)))
        subject, name = f"{first} {who}", name.removeprefix(first).lstrip("_")
    if subject and _PASSIVE.fullmatch(name):  # "controller 1: write is fenced"
        subject += ":"
    elif first == "becomes" and left:
        subject = f"broker {left.pop(next(iter(left)))}"
    for known, shown in _NAMES.items():
        name = name.replace(known, shown)
    parts = []
    for word in name.split("_"):
        parts.append(_TERMS.get(word, word))
        if word in left:
            parts[-1] = f"{word} {left.pop(word)}"
    rest = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in left.items())
    said = " ".join(part for part in (subject, *parts) if part)
    return f"{said} ({rest})" if rest else said


def heading_of(step: Transition, arguments: Mapping[str, object]) -> str:
    """The heading under which a step is listed: its actor, or that it is a failure."""
    if step.fault:
        return FAILURES
    if step.actor in _HEADINGS:
        return _HEADINGS[step.actor]
    who = str(arguments.get(step.actor, next(iter(arguments.values()), "")))
    return f"Broker {who}" if who.isdecimal() else CLIENTS

"""A step in plain words, and who takes it: `broker_crashes broker=2` is "broker 2 crashes".

The words are made of the transition's own name and parameters, so that no transition lacks them and
none says what the model does not. The full name stays beside them wherever they are shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

FAILURES, CONTROLLER, CLIENTS = "What can fail", "Controller", "Clients and administrators"

_TERMS = {
    "isr": "ISR", "hw": "the high watermark", "zookeeper": "ZooKeeper",
    "dirs": "directories", "dir": "directory",
}  # fmt: skip
_NAMES = {"leader_and_isr": "LeaderAndIsr", "stop_replica": "StopReplica"}
_DESIGNS = ("fenced_", "first_try_")
"""What some names begin with to say which design they are of; the version says that."""
_CLIENTS = ("admin", "administrator", "consumer", "topic", "rebalance")
_OF_CONTROLLER = ("controller", "partition", "replica", "deletion", "request")
_OF_ZOOKEEPER = ("controller_node",)
_FAILS = re.compile(r"crash|expire|_lost|node_is_deleted|fails($|_half)|unheard|session_ends")
_PASSIVE = re.compile(r"(?!is_|[a-z]+s_)\w+_(is_\w+|conflicts)")


@dataclass(frozen=True)
class Phrase:
    """`words`, such as "broker 2 crashes", and `actor`, the heading it is listed under."""

    words: str
    actor: str


def phrase(line: str) -> Phrase:
    """The words of a step's line, `leader_shrinks_isr leader=1 replica=2`."""
    name, *pairs = line.split()
    given = dict(pair.partition("=")[::2] for pair in pairs)
    for design in _DESIGNS:
        name = name.removeprefix(design)
    return Phrase(_words(name, dict(given)), _actor(name, given))


def is_fault(name: str) -> bool:
    """Is a step something that goes wrong by itself? It can happen at nearly any time."""
    return _FAILS.search(name) is not None


def _words(name: str, left: dict[str, str]) -> str:
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
    elif first == "becomes":
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


def _actor(name: str, given: Mapping[str, str]) -> str:
    first = name.partition("_")[0]
    if is_fault(name):
        return FAILURES
    if first in _CLIENTS or name.startswith(_OF_ZOOKEEPER):
        return CLIENTS
    if first == "partition" or (first in _OF_CONTROLLER and first not in given):
        return CONTROLLER
    number = next((v for k, v in given.items() if k == first), next(iter(given.values()), ""))
    return f"Broker {number}" if number.isdecimal() else CLIENTS

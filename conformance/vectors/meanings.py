"""Finds the meaning of a field's name, independent of its spelling.

Authors of cases use ``liveBrokers``, ``alive_broker_ids`` or ``live`` for one thing. A name is
split into words; terms of several words in Kafka's sources become one word, words that add nothing
are removed, and the order of the rest does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

_NAME = re.compile(r"^[a-zA-Z][a-zA-Z0-9_]*$")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_SAID_SHORTER = {
    "insync": "in sync",
    "in sync replica ids": "isr",
    "in sync replicas": "isr",
    "in sync": "isr",
    "log end offset": "leo",
    "log end": "leo",
    "log start offset": "log start",
    "high water mark": "hw",
    "high watermark": "hw",
    "hwm": "hw",
    "replication factor": "rf",
    "replica assignment": "assignment",
    "assigned replicas": "assignment",
    "new replicas": "target",
    "reassigned replicas": "target",
    "rar": "target",
    "broker ids": "brokers",
    "replica ids": "replicas",
    "broker id": "broker",
    "replica id": "replica",
    "controller id": "controller",
    "leader id": "leader",
    "alive": "live",
    "online": "live",
    "running": "live",
    "queued for deletion": "deleted",
    "queued up for deletion": "deleted",
    "being deleted": "deleted",
    "to be deleted": "deleted",
    "marked for deletion": "deleted",
    "pending deletion": "deleted",
    "deletion in progress": "deleted",
    "deletion queued": "deleted",
    "number of": "num",
    "n": "num",
    "count": "num",
    "error code": "error",
    "exception": "error",
    "elected leader": "leader",
    "current state": "state",
    "partition state": "state",
    "replica state": "state",
    "target state": "target",
    "from state": "from",
    "to state": "to",
    "current assignment": "current",
    "existing assignment": "existing",
    "proposed assignment": "proposed",
    "new assignment": "target",
    "original replicas": "oar",
    "broker rack map": "racks",
    "broker metadatas": "brokers",
    "epoch entries": "entries",
    "leader and isr requests": "leader and isr",
    "stop replica requests": "stop replica",
    "delete partition": "delete",
    "updated leader and isr": "zk set state",
    "truncation offset": "truncate to",
    "truncated to": "truncate to",
    "truncation completed": "completed",
    "unclean leader elections": "unclean elections",
    "collision": "collides",
    "triggered": "trigger",
    "output": "lines",
    "requests to": "to",
    "topics ineligible for deletion": "ineligible",
    "topics with deletion started": "started",
    "leader imbalance per broker percentage": "percentage",
    "required acks": "acks",
    "resulting state": "state",
    "election strategy": "strategy",
    "follower id": "follower",
    "follower fetch offset": "fetch offset",
    "leader end offset": "leader end",
    "follower leo": "remote leo",
    "create result code": "zk create result",
    "zk set results": "zk set result",
    "zk read results": "zk read result",
    "leader and isrs": "leadership",
    "failed partitions": "failed",
    "diverging epoch": "diverging",
    "reassignment started": "started",
    "deletion events": "deletion event partitions",
    "ops": "steps",
    "operations": "steps",
    "calls": "steps",
    "events": "steps",
}
"""Words in a row -> the one that says the same. Applied in this order."""

_SAYS_NOTHING = {"is", "are", "was", "the", "of", "a", "an", "has", "ms"}
"""Words without which a name means the same."""

_OF_WHAT = {"broker", "brokers", "replica", "replicas", "topic", "topics"}
"""What a property is of goes without saying: ``liveBrokers``, ``addingReplicas``."""


_STEPS = {
    "appends": "append",
    "append records to leader": "leader append",
    "append records as leader": "leader append",
    "update follower fetch state": "follower fetch",
    "maybe shrink isr": "maybe shrink",
    "alter isr succeeds": "isr update succeeds",
    "alter isr fails": "isr update fails",
    "make leader": "become leader",
    "make follower": "become follower",
    "fetch offset for timestamp": "list offset",
    "advance time": "sleep",
    "clear and flush latest": "truncate from end",
    "clear and flush earliest": "truncate from start",
    "clear and flush": "clear",
    "log end offset": "leo",
    "reload": "reopen",
    "recreate": "reopen",
    "new instance": "reopen",
    "enqueue topics for deletion": "enqueue",
    "mark topic ineligible for deletion": "mark ineligible",
    "resume deletion for topics": "resume",
}
"""Kafka's methods, and words near to a step -> the step."""


def step_called(name: str) -> str:
    """The step that a name means, as the public cases write it."""
    words = " ".join(word.lower() for word in _WORD.findall(name))
    first, *others = _STEPS.get(words, words).split() or [name]
    return "".join([first, *(word.capitalize() for word in others)])


@cache
def meaning(name: str) -> str:
    """The significant words, sorted; a name that is data (``foo-0``, ``7``) means itself."""
    if not _NAME.match(name):
        return name
    words = [word.lower() for word in _WORD.findall(name)]
    text = f" {' '.join(words)} "
    for long, short in _SAID_SHORTER.items():
        text = text.replace(f" {long} ", f" {short} ")
    words = text.split()
    if "num" in words:  # of one thing or of several
        words = [word.removesuffix("s") for word in words]
    for noise in (_SAYS_NOTHING, _OF_WHAT):
        words = [word for word in words if word not in noise] or words
    return " ".join(sorted(words))


def meant(name: str, names: Iterable[str]) -> str | None:
    """The first of ``names`` that means the same as ``name``."""
    wanted = meaning(name)
    return next((one for one in names if meaning(one) == wanted), None)

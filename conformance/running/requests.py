"""Checks that the controller handles each request that operators put into ZooKeeper.

A controller handles watch notifications in the order of ZooKeeper's writes. So once it has created
states of topics that are newer than a request to move partitions, it must have handled the request,
and a write of it shows that: of an assignment that the request names, or of the request.

After a controller has deleted a request's znode it looks for another without a notification, and a
notification may come between the two. So one newer topic is no proof: two are, the second created
after the controller had written the state of the first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.running.process_traces import ZOOKEEPER, ClusterTraces, ProcessStart, TraceLine
from impl.znodes.paths import REASSIGN_PARTITIONS

RULE = "each_request_to_move_partitions_is_taken_up"
_CONTROLLER, _TOPICS = "/controller", "/brokers/topics/"
_TURNS = 2  # topics, one after the other, whose handling shows that the request had its turn


@dataclass
class _OperatorRequest:
    """One that nobody has taken up so far; `newer` are topics made since, `turns` those handled."""

    line: TraceLine
    assignments: frozenset[str]
    newer: set[str] = field(default_factory=set)
    turns: list[str] = field(default_factory=list)


def never_taken_up(gathered: ClusterTraces) -> Iterator[tuple[TraceLine, str]]:
    """Yields lines that write a request which the active controller passed over, and why.

    A trace in which lines of ZooKeeper are missing is not judged.
    """
    if any(ZOOKEEPER in one.file for one in gathered.troubles):
        return
    for start in gathered.starts:
        if start.process[0] == ZOOKEEPER and not start.cut:
            yield from _of_one(start)


def _of_one(start: ProcessStart) -> Iterator[tuple[TraceLine, str]]:
    controller: int | None = None
    request: _OperatorRequest | None = None
    moving: set[str] = set()
    for line in start.lines:
        if line.step == "session_ended" and _CONTROLLER in line.args.get("gone", ()):
            controller, request = None, None
        if line.step != "transaction":
            continue
        own = controller is not None and line.args.get("session") == controller
        for op in line.args.get("ops", ()):
            path, name = str(op.get("path")), op.get("op")
            if path.startswith(_TOPICS):
                (moving.add if _moves(op) else moving.discard)(path)
            if path == _CONTROLLER and name in ("Create", "Delete"):
                controller = line.args.get("session") if name == "Create" else None
                request = None
            elif path == REASSIGN_PARTITIONS:
                made = controller is not None and not own and name == "Create"
                request = _asked(line, op) if made else None
                if request is not None and request.assignments & moving:
                    request = None  # what is on its way there already need not be written
            elif request is not None and own and path in request.assignments:
                request = None
            elif request is not None and name == "Create":
                _goes_on(request, path, own)
                if len(request.turns) == _TURNS:
                    yield request.line, _violation_text(request)
                    request = None


def _asked(line: TraceLine, op: Mapping[str, Any]) -> _OperatorRequest | None:
    """A request; None for what is none, of which releases make different things."""
    try:
        named = [each["topic"] for each in json.loads(op["data"])["partitions"]]
    except (KeyError, TypeError, ValueError):
        return None
    return (
        _OperatorRequest(line, frozenset(f"{_TOPICS}{each}" for each in named)) if named else None
    )


def _moves(op: Mapping[str, Any]) -> bool:
    """Whether a topic's assignment, as it is written, records a move (KIP-455)."""
    try:
        content = json.loads(op.get("data") or "{}")
        return bool(content.get("adding_replicas") or content.get("removing_replicas"))
    except (AttributeError, ValueError):
        return False


def _goes_on(request: _OperatorRequest, path: str, own: bool) -> None:
    """Note a topic that is created, and one of which the controller creates a state."""
    if not path.startswith(_TOPICS):
        return
    topic, _, rest = path.removeprefix(_TOPICS).partition("/")
    if not rest:
        request.newer.add(topic)
    elif own and rest.endswith("/state") and topic in request.newer:
        request.turns.append(topic)
        request.newer = set()  # what was created before that says nothing more


def _violation_text(request: _OperatorRequest) -> str:
    first, second = request.turns
    return (
        "there is a request to move partitions, and the controller wrote neither the request nor "
        f"an assignment that it names; it created the states of topics {first} and {second}, which "
        "are newer, one after the other"
    )

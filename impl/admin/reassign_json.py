"""Reads and checks the JSON files and lists of ``kafka-reassign-partitions`` (fact sheet j.3)."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from impl.admin.errors import (
    AdminCommandFailed,
    AdminOperation,
    JsonMapping,
    UnknownTopicOrPartition,
)
from impl.admin.placement import Assignment, assign_replicas, check_racks, duplicates
from impl.releases import Release
from impl.znodes import TopicPartition
from impl.znodes.text import numbers_of

ANY_DIRECTORY = "any"
ROLLBACK = "Save this to use as the --reassignment-json-file option during rollback"
Plan = dict[TopicPartition, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class ParsedReassignment:
    """Targets by partition, and the requested log directories, by partition and broker."""

    replicas: Plan
    directories: dict[tuple[TopicPartition, int], str]


def parse_execute(fields: Mapping[str, Any] | str, release: Release) -> ParsedReassignment:
    """Read ``--reassignment-json-file``; AdminCommandFailed says what is wrong with it."""
    if isinstance(fields, str):
        fields = _parsed(fields, release, since_2_8=release.since("2.8"))
    _check_version(fields, release)
    entries = _value(fields.get("partitions") or [], list)
    if not entries:
        what = "list cannot be empty" if release.since("2.6") else "data file is empty"
        raise AdminCommandFailed(f"Partition reassignment {what}")
    plan: Plan = {}
    directories: dict[tuple[TopicPartition, int], str] = {}
    twice: list[TopicPartition] = []
    for entry in entries:
        partition = TopicPartition(_field(entry, "topic", str), _field(entry, "partition", int))
        replicas = tuple(_value(one, int) for one in _field(entry, "replicas", list))
        if partition in plan:
            twice.append(partition)
            continue
        plan[partition] = replicas
        wanted = entry.get("log_dirs", [ANY_DIRECTORY] * len(replicas))
        wanted = [_value(one, str) for one in _value(wanted, list)]
        if len(wanted) != len(replicas):
            raise AdminCommandFailed(
                f"Size of replicas list {list(replicas)} is different from size of log dirs list "
                f"{list(wanted)} for partition {partition}"
            )
        directories |= {
            (partition, broker): directory
            for broker, directory in zip(replicas, wanted, strict=True)
            if directory != ANY_DIRECTORY
        }
    if any(not replicas for replicas in plan.values()) and release.since("0.11"):
        raise AdminCommandFailed("Partition replica list cannot be empty")
    if twice:
        raise duplicates("Partition reassignment contains duplicate topic partitions", twice)
    repeated = [
        f"{partition} contains multiple entries for {','.join(map(str, _repeated(replicas)))}"
        for partition, replicas in plan.items()
        if _repeated(replicas)
    ]
    if repeated:
        raise AdminCommandFailed(
            f"Partition replica lists may not contain duplicate entries: {'. '.join(repeated)}"
        )
    return ParsedReassignment(plan, directories)


def _check_version(fields: Mapping[str, Any], release: Release) -> None:
    """Version 1 is the only one, of files without a version too; asked since 2.0 (KAFKA-4914)."""
    version = fields.get("version", 1)
    if version != 1 and release.since("2.0"):
        raise AdminOperation(f"Not supported version field value {version}")


def check_execute(
    plan: Plan,
    known: Mapping[TopicPartition, Sequence[int]],
    brokers: Collection[int],
    release: Release,
) -> None:
    """Refuse partitions that do not exist, and since 0.11 brokers that do not exist."""
    if release.since("2.6"):
        for partition in plan:
            if all(one.topic != partition.topic for one in known):
                raise UnknownTopicOrPartition(f"Topic {partition.topic} not found.")
            if partition not in known:
                raise UnknownTopicOrPartition(f"Partition {partition} not found.")
        for replicas in plan.values():
            for broker in replicas:
                if broker not in brokers:
                    raise AdminCommandFailed(f"Unknown broker id {broker}")
        return
    absent = [str(partition) for partition in plan if partition not in known]
    if absent:
        raise AdminCommandFailed(
            f"The proposed assignment contains non-existent partitions: {', '.join(absent)}"
        )
    dead = sorted({one for replicas in plan.values() for one in replicas if one not in brokers})
    if dead and release.since("0.11"):
        raise AdminCommandFailed(
            f"The proposed assignment contains non-existent brokerIDs: {','.join(map(str, dead))}"
        )


def parse_generate(
    brokers: str, topics: str | Mapping[str, Any] | Sequence[str], release: Release
) -> tuple[list[int], list[str]]:
    """Read ``--broker-list`` and ``--topics-to-move-json-file``; NumberFormatException.

    Accepts the file's text, its parsed JSON, or only the names of its topics.
    """
    ids = numbers_of(brokers, ",")
    if _repeated(ids):
        raise duplicates("Broker list contains duplicate entries", _repeated(ids))
    fields = _parsed(topics, release) if isinstance(topics, str) else topics
    if isinstance(fields, Mapping):
        _check_version(fields, release)
        entries = _value(fields.get("topics") or [], list)
        fields = [_field(entry, "topic", str) for entry in entries]
    names = list(fields)
    if _repeated(names):
        raise duplicates("List of topics to reassign contains duplicate entries", _repeated(names))
    return ids, names


def generate(
    current: Mapping[TopicPartition, Sequence[int]],
    brokers: Mapping[int, str | None],
    topics: Iterable[str],
    starts: Mapping[str, tuple[int, int]],
    release: Release,
) -> Plan:
    """A proposal with a new placement of every topic; ``starts`` gives each its start and shift.

    AdminOperation if some of the brokers have a rack and others not.
    """
    check_racks(brokers)
    plan: Plan = {}
    for topic in topics:
        old = {one.partition: current[one] for one in current if one.topic == topic}
        if not old:
            raise UnknownTopicOrPartition(f"Topic {topic} not found.")
        start, shift = starts.get(topic, (0, 0))
        factor = len(old[min(old)])
        placed: Assignment = assign_replicas(brokers, len(old), factor, start, shift, release)
        for number, replicas in zip(sorted(old), placed.values(), strict=True):
            plan[TopicPartition(topic, number)] = replicas
    return plan


def proposal(
    ids: Sequence[int],
    topics: Sequence[str],
    current: Mapping[TopicPartition, Sequence[int]],
    racks: Mapping[int, str | None],
    chance: random.Random,
    release: Release,
) -> list[str]:
    """``--generate``: the current assignment, and a proposal over some brokers of ``racks``."""
    absent = [one for one in ids if one not in racks]
    if absent:
        raise AdminCommandFailed(
            f"Some of the brokers specified in the list do not exist: {absent}"
        )
    starts = {topic: (chance.randrange(len(ids)), chance.randrange(len(ids))) for topic in topics}
    chosen = {one: racks[one] for one in sorted(ids)}
    plan = generate(current, chosen, topics, starts, release)
    return [
        "Current partition replica assignment",
        as_json(current, release),
        "",
        "Proposed partition reassignment configuration",
        as_json(plan, release),
    ]


def rollback_lines(old: Mapping[TopicPartition, Sequence[int]], release: Release) -> list[str]:
    """The assignment before the reassignment, for a rollback."""
    return ["Current partition replica assignment", "", as_json(old, release), "", ROLLBACK]


def as_json(plan: Mapping[TopicPartition, Sequence[int]], release: Release) -> str:
    """A plan as the tool prints it; it names log directories since 1.1."""
    entries = []
    for one, replicas in sorted(plan.items()):
        entry: dict[str, object] = {"topic": one.topic, "partition": one.partition}
        entry["replicas"] = list(replicas)
        if release.since("1.1"):
            entry["log_dirs"] = [ANY_DIRECTORY] * len(replicas)
        entries.append(entry)
    return json.dumps({"version": 1, "partitions": entries}, separators=(",", ":"))


def throttled_replicas(
    existing: Mapping[TopicPartition, Sequence[int]],
    proposed: Mapping[TopicPartition, Sequence[int]],
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Leaders' and followers' throttles by topic, as "partition:broker".

    If a partition gains replicas, its old replicas are throttled as leaders, the new as followers.
    """
    leaders: dict[str, list[str]] = {}
    followers: dict[str, list[str]] = {}
    for one, replicas in sorted(proposed.items()):
        old = existing.get(one, ())
        new = [broker for broker in replicas if broker not in old]
        if new:
            leaders.setdefault(one.topic, []).extend(f"{one.partition}:{b}" for b in old)
            followers.setdefault(one.topic, []).extend(f"{one.partition}:{b}" for b in new)
    return leaders, followers


def _parsed(text: str, release: Release, since_2_8: bool = False) -> dict[str, Any]:
    """The file's object; up to 1.1 what is no JSON is taken for a file that asks for nothing.

    ``since_2_8``: what is wrong is said in the parser's words (KAFKA-10525).
    """
    try:
        fields = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        if not release.since("2.0"):
            return {}
        if isinstance(error, RecursionError):
            raise AdminOperation(
                "The input string is not a valid JSON: it is nested too deep"
            ) from error
        place = f"line {error.lineno} column {error.colno}"
        if since_2_8:
            raise AdminOperation(f"{_unexpected(text, error)} at {place}") from error
        raise AdminOperation(f"The input string is not a valid JSON: {place}") from error
    if not isinstance(fields, dict):
        raise AdminOperation("The input string is not a valid JSON: it is no object")
    return fields


def _unexpected(text: str, error: json.JSONDecodeError) -> str:
    """What Jackson calls the place where a text stops being JSON."""
    rest = text[error.pos :]
    if not rest.strip():
        return "Unexpected end-of-input"
    token = re.match(r"[A-Za-z_$][\w$]*", rest)
    if token is not None and error.msg == "Expecting value":
        return f"Unrecognized token '{token[0]}'"
    return f"Unexpected character ('{rest[0]}' (code {ord(rest[0])}))"


_KINDS = {int: "`Int` value", str: "`String` value", list: "JSON array", dict: "JSON object"}
"""How Kafka's ``DecodeJson`` calls the types."""


def _value(value: Any, kind: type) -> Any:
    """A value of the file; JsonMapping if it is of another type, as ``true`` is no number."""
    whole = not isinstance(value, int) or -(1 << 31) <= value < 1 << 31
    if not isinstance(value, kind) or isinstance(value, bool) or not whole:
        raise JsonMapping(f"Expected {_KINDS[kind]}, received {json.dumps(value)}")
    return value


def _field(entry: Any, name: str, kind: type) -> Any:
    """A field of an entry; JsonMapping if it is missing or of another type."""
    if name not in _value(entry, dict):
        raise JsonMapping(f"No such field exists: `{name}`")
    return _value(entry[name], kind)


def _repeated(entries: Sequence[Any]) -> list[Any]:
    return [one for one in dict.fromkeys(entries) if entries.count(one) > 1]

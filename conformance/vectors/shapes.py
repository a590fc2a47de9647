"""Default values for fields that a case leaves out, by their meaning.

Cases name only what matters to them: an ISR that is not named is the assignment, brokers that are
not called dead are alive. This module completes every operation's input before it is answered, and
understands synonyms that files use. A field without a natural value stays missing, and reading it
raises ``Lacks``, which names the field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from conformance.vectors.meanings import meaning, meant, step_called
from conformance.vectors.questions import Answer, Question
from impl.releases import Release

LAG_MS, LAG_MS_BEFORE_2_5 = 30_000, 10_000
"""``replica.lag.time.max.ms`` where a case does not say: its default, longer since KIP-537."""

CONTROLLER_EPOCH = 50
"""The epoch of the controller of a case that does not name it."""


KNOWN_TO_THE_TOOL = {"foo-0": [0, 1, 2], "foo-1": [1, 2, 3], "bar-0": [2, 3, 0]}
"""The topics of ``ReassignPartitionsUnitTest``, where a question to the tool names none."""

NULLS: dict[tuple[str, str], frozenset[str]] = {
    key: frozenset(meaning(one.rstrip(".")) + "." * one.endswith(".") for one in names.split())
    for key, names in {
        ("assignment", "addPartitions"): "racks.",
        ("assignment", "assign"): "racks.",
        ("assignment", "assignProperties"): "racks.",
        (
            "controller_flow",
            "registerController",
        ): "controllerZnode controller epochZnode readEpoch",
        (
            "partition_replication",
            "checkCurrentLeaderEpoch",
        ): "request requestLeaderEpoch requested",
        ("partition_state_machine", "initialState"): "leader",
        ("reassignment", "apiValidate"): "target rar to",
        ("reassignment", "generate"): "racks.",
        ("reassignment", "guard"): "current",
        ("topic_admin", "describe"): "leader",
        ("truncation", "fetchState"): "latestEpoch followerLatestEpoch",
        (
            "truncation",
            "leaderFetchValidation",
        ): "lastFetchedEpoch followerLatestEpoch epoch",
        ("truncation", "loops"): "partitionsLatestEpoch. latestEpoch.",
        ("truncation", "offsetTruncationState"): "followerLatestEpoch latestEpoch",
        ("truncation", "scenario"): "latestEpoch followerLatestEpoch",
        ("zk_store", "encode"): "rack",
    }.items()
}
"""By file and operation, fields that may be null, or with a dot whose entries may.

Any other that is null is as one that is left out. In a registered state a leader that is null is
nobody."""


ALIKE: dict[str, tuple[str, ...]] = {
    name: tuple(others.split())
    for name, others in {
        "a": "topicA",
        "arg": "replicaAssignment",
        "current": "currentBrokerEpoch",
        "expectedVersions": "expected",
        "leader": "currentLeader",
        "newTotal": "totalPartitions",
        "topic": "topicName",
    }.items()
}
"""What any operation calls a field, and what Kafka's sources call the same."""


_Complete = Callable[["Fields"], None]


class Lacks(ValueError):
    """A case lacks a field that its question needs; the message names both."""


class NotUnderstood(ValueError):
    """A case has a field that no answer to its question reads; the message names the field."""


class Fields(dict[str, Any]):
    """Fields of a case, found by what their names mean; a missing one raises ``Lacks``.

    ``where`` is the path to them. ``release``: that of the case, where it is known. ``known``: the
    names that were read, the latest at the end; ``natural``: those that got a value which the case
    does not give.
    """

    release: Release | None = None

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        super().__init__({name: _read(one, f"{where}.{name}") for name, one in values.items()})
        self.where = where
        self.known: dict[str, None] = {}
        self.natural: set[str] = set()

    def knows(self, *names: str) -> None:
        """Notes that these fields are read."""
        for name in names:
            self.known.pop(name, None)
            self.known[name] = None

    def _own(self, name: str) -> str | None:
        """What the case calls the field."""
        self.knows(name)
        return name if dict.__contains__(self, name) else meant(name, self)

    def __getitem__(self, name: str) -> Any:
        self.knows(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._own(name) is not None

    def get(self, name: str, default: Any = None) -> Any:
        """Returns a field that a case may leave out."""
        own = self._own(name)
        return default if own is None else super().__getitem__(own)

    def __missing__(self, name: str) -> Any:
        own = self._own(name)
        if own is not None:
            return self[own]
        raise Lacks(f"{self.where}: the case lacks {name!r}, without which nothing can be answered")

    def fill(self, name: str, *synonyms: str, default: Any = None) -> Fields:
        """Completes a field: by its synonyms, else by a value (None: it stays missing)."""
        own = self._own(name)
        self.knows(*synonyms, name)
        if own is not None:
            self[name] = self.pop(own)
            return self
        for other in synonyms:
            if other in self:
                self[name] = self[other]
                break
        else:
            found = default() if callable(default) else default
            if found is not None:
                self[name] = _read(found, f"{self.where}.{name}")
                self.natural.add(name)
                if found is self:  # its parts stand beside each other
                    self[name].known = self.known
        return self

    def null(self, name: str, *synonyms: str) -> Fields:
        """Completes a field whose natural value is null."""
        self.fill(name, *synonyms)
        self.setdefault(name, None)
        return self

    def rows(self, name: str | None = None) -> list[Fields]:
        """The objects of a list or of an object, of these fields without a name."""
        listed = self if name is None else self.get(name) or []
        entries = listed.values() if isinstance(listed, Mapping) else listed
        return [one for one in entries if isinstance(one, Fields)]

    def part(self, name: str) -> Fields | None:
        """A field that is an object."""
        found = self.get(name)
        return found if isinstance(found, Fields) else None


def _said(value: Any, nulls: frozenset[str], field: str = "") -> Any:
    """What a case says, without the fields by which it says nothing."""
    if not isinstance(value, Mapping):
        return [_said(one, nulls, field) for one in value] if isinstance(value, list) else value
    said = {
        name: _said(one, nulls, name)
        for name, one in value.items()
        if one is not None or not nulls.isdisjoint((meaning(name), f"{meaning(field)}."))
    }
    if "isr" in value and value.get("leader", 0) is None and "leader" not in said:
        said["leader"] = -1
    return said


def _read(value: Any, where: str) -> Any:
    inside, _, field = where.rpartition(".")
    if value and isinstance(value, list) and field in KEYED and not inside.endswith(".json"):
        value = _keyed(value)
    if isinstance(value, Mapping):
        return Fields(value, where)
    return [_read(one, where) for one in value] if isinstance(value, list) else value


KEYED = {
    "assignments", "current", "currentReassignments", "existing", "inProgress", "known", "leaders",
    "leadership", "partitions", "partitionsLatestEpoch", "proposed", "query", "remotes", "reply",
    "states", "targets", "topics", "znodes",
}  # fmt: skip
"""Objects whose keys are data: a case may write a list of their entries instead."""

_KEYS = ("partition", "topicPartition", "topic", "name", "replica", "broker", "id")


def _keyed(entries: list[Any]) -> Any:
    """An object of entries that are pairs, or objects that name their key; else the list."""
    if all(isinstance(one, list) and len(one) == 2 and isinstance(one[0], str) for one in entries):
        return dict(entries)
    if not all(isinstance(one, Mapping) for one in entries):
        return entries
    rows = [Fields(one, "") for one in entries]
    key = next((key for key in _KEYS if all(key in row for row in rows)), None)
    if key is None or any(isinstance(row[key], list | Mapping) for row in rows):
        return entries
    both = key == "partition" and all("topic" in row for row in rows)
    return {f"{row['topic']}-{row[key]}" if both else str(row[key]): {**row} for row in rows}


def _named(*lists: Any) -> list[int]:
    """The brokers that lists name, once each, in order; an election's -1 and -2 are none."""
    found: dict[int, None] = {}
    for each in lists:
        for one in each if isinstance(each, list) else [each]:
            if isinstance(one, int) and not isinstance(one, bool) and one >= 0:
                found.setdefault(one)
    return list(found)


def _first(brokers: Any) -> int | None:
    return next(iter(_named(brokers)), None)


def _lag(asked: Fields, name: str, *synonyms: str) -> None:
    """Complete a field for how long a follower may lag, by the release's default."""
    newer = asked.release is None or asked.release.since("2.5")
    asked.fill(name, *synonyms, default=LAG_MS if newer else LAG_MS_BEFORE_2_5)


def _state(state: Fields, assigned: Iterable[int] = ()) -> None:
    """A registered state: the ISR is the assignment, its first member leads."""
    own = list(state.get("replicas", state.get("assignment", assigned)))
    state.fill("leaderEpoch", "epoch").fill("zkVersion", "version", default=0)
    state.fill("isr", default=own or _named(state.get("leader")))
    state.fill("leader", default=state["isr"][0] if state["isr"] else -1)
    state.fill("leaderEpoch", default=0)


# Files, in the order of their names


def _filled(fields: str) -> _Complete:
    """Completes fields, each ``name<synonym=default``; the default is JSON."""
    words = [field.partition("=")[::2] for field in fields.split()]

    def complete(asked: Fields) -> None:
        for names, default in words:
            name, _, synonyms = names.partition("<")
            asked.fill(name, *filter(None, synonyms.split(",")))
            if default:
                asked.setdefault(name, _read(json.loads(default), f"{asked.where}.{name}"))

    return complete


_topic = _filled('topic<name="t" exists ifExists ifNotExists alreadyMarked')
_trace = _filled("oar<current,from,assignment,replicas rar<to")
_in_sync = _filled(
    "minIsr=1 replicas<assignment,isr isr<replicas self<broker=null adding=[] removing=[]"
)
_follower = _filled("followerLeo<leo followerHw<hw=0")


def _brokers(asked: Fields) -> None:
    listed = asked.rows("brokers")
    if listed:  # each with its id and rack
        asked["racks"] = {str(one["id"]): one.get("rack") for one in listed}
    if "racks" not in asked:
        held = [*asked.rows("existing"), asked.get("existing"), asked.get("manual")]
        ids = [ids for one in held if isinstance(one, Mapping) for ids in one.values()]
        asked.fill("brokers", "brokerList", "live", default=sorted(_named(*ids)) or None)


def _assign(asked: Fields) -> None:
    _brokers(asked)
    asked.fill("nPartitions", "partitions", default=1)
    asked.fill("rf", default=1)
    # What Kafka calls the fixed start index is where both rotations begin.
    asked.fill("replicaShift", "nextReplicaShift", "fixedStartIndex")
    asked.fill("startIndex", "fixedStartIndex").fill("startPartitionId", default=0)


def _assign_properties(asked: Fields) -> None:
    _assign(asked)
    if isinstance(asked.fill("startIndex", default="any")["startIndex"], str):
        asked["startIndex"] = "any"


def _add_partitions(asked: Fields) -> None:
    asked.fill("existing", "current", "assignment", default={})
    asked.fill("manual", "replicaAssignment")
    for name in ("existing", "manual"):
        if isinstance(asked.get(name), list):
            asked[name] = {str(number): ids for number, ids in enumerate(asked[name])}
    _brokers(asked)
    by_hand = asked.get("manual")
    asked.fill(
        "newTotal",
        "partitions",
        "nPartitions",
        "requested",
        default=len({*asked["existing"], *by_hand}) if by_hand else None,
    )


def _checkpoint(asked: Fields) -> None:
    # The file is what stays; who reads it again is another instance anyway.
    asked.fill("fileContent", "content", "text").knows("reopen", "reopened", "recreated")
    if "fetch" in asked:
        asked.fill("file", default={})
    elif "file" in asked:
        asked.fill("fetch", default=list(asked["file"]))
    asked.fill("version", "fileVersion")
    if "version" in asked and asked.get("writes"):  # written under another version than is known
        entries = asked["writes"][-1]
        if isinstance(entries, Mapping):
            entries = [[*name.rpartition("-")[::2], offset] for name, offset in entries.items()]
        lines = [asked["version"], len(entries), *(" ".join(map(str, one)) for one in entries)]
        asked.fill("fileContent", default="".join(f"{line}\n" for line in lines))


def _assignment(asked: Fields) -> None:
    asked.fill("assignment", "current", "from", "oar", default=asked)
    if isinstance(asked["assignment"], list):
        asked["assignment"] = Fields({"replicas": asked["assignment"]}, asked.where)
    assignment = asked["assignment"]
    assignment.fill("adding", default=list)
    assignment.fill("removing", default=list)
    assignment.fill(
        "replicas", default=_named(assignment["adding"], assignment["removing"]) or None
    )
    asked.fill("target", "to")


def _assignment_of(asked: Fields) -> None:
    asked.fill("known", "assignments", default=list)
    if not isinstance(asked["known"], Mapping):
        asked["known"] = {name: [1, 2, 3] for name in asked["known"]}
    asked.fill("query", "topic", default=list(asked["known"]) or None)
    if isinstance(asked.get("query"), str):  # a topic, of which all partitions are looked up
        topic = asked["query"]
        asked["query"] = [one for one in asked["known"] if one.rpartition("-")[0] == topic]


def _replica_online(asked: Fields) -> None:
    asked.fill("broker", "replica").fill("partition", default="t-0")
    asked.fill("live", "brokers", default=_named(asked["broker"]))
    asked.fill("shuttingDown", default=list)
    _flag(asked, "shuttingDownToo", "includ", default=False)
    _offline_dirs(asked, [asked["broker"]])


def _offline_dirs(asked: Fields, brokers: list[int]) -> None:
    """The brokers whose log directory for the partition has failed; of these, if it is a fact."""
    asked.fill("offlineDirs", *[one for one in asked if "offline" in one.lower()], default=list)
    found = asked["offlineDirs"]
    if found is True:
        found = brokers
    elif isinstance(found, Mapping):  # by broker, the partitions in log directories that failed
        place = asked.get("partition", "t-0")
        found = [int(one) for one, names in found.items() if place in names]
    asked["offlineDirs"] = _named(found)


def _imbalance_count(asked: Fields) -> None:
    if "steps" in asked:
        asked["moments"] = list(_moments(asked.rows("steps"), asked.where))
        asked.update(asked["moments"][-1])
    whole = asked.part("partitions")
    if whole is not None:
        asked["assignments"] = {name: one["replicas"] for name, one in whole.items()}
        asked["leaders"] = {name: one["leader"] for name, one in whole.items() if "leader" in one}
    asked.fill("assignments", "assignment", "replicas").fill("leaders", "leadership", default=dict)
    asked.fill("queuedForDeletion", default=list)
    for moment in [*asked.get("moments", ()), asked]:
        for kind, part in (("assignments", "replicas"), ("leaders", "leader")):
            for name, one in moment[kind].items():
                moment[kind][name] = one[part] if isinstance(one, Fields) else one


def _moments(steps: list[Fields], where: str) -> Iterable[Fields]:
    """What is known after each step, which assigns partitions, says who leads or deletes topics.

    A step says which by its name, else by the names of its fields. It is about one partition, or
    has an object of several.
    """
    assignments: dict[str, Any] = {}
    leaders: dict[str, Any] = {}
    queued: list[str] = []
    for step in steps:
        partition = str(step.get("partition"))
        for name in [one for one in step if one not in ("do", "partition", "isr")]:
            said, word = step[name], f"{step.get('do', '')} {name}".lower()
            many = said if isinstance(said, Mapping) and "leader" not in said else {partition: said}
            if "delet" in word or "remov" in word:
                queued += [said] if isinstance(said, str) else said
            elif "lead" in word:
                leaders |= many
            elif any(one in word for one in ("replica", "assign", "partition")):
                assignments |= many
        now = {"assignments": assignments, "leaders": leaders, "queuedForDeletion": [*queued]}
        yield Fields(now, where)


def _creation(asked: Fields) -> None:
    asked.fill("assignment", "replicas")
    wanted = asked["assignment"]
    if not wanted:
        raise Lacks(f"{asked.where}: its 'assignment' names no replica")
    lists = wanted.values() if isinstance(wanted, Mapping) else [wanted]
    asked.fill("live", "brokers", default=_named(*lists, asked.get("controller")))


def _step_in_words(step: Any) -> Any:
    """``stop 1``, of a step that is written as an object."""
    if not isinstance(step, Mapping):
        return step
    said = [step.get("do"), step.get("broker")]
    if said[0] is None:
        ((word, about),) = step.items()
        said = [word, about if not isinstance(about, bool) else None]
    return " ".join(str(one) for one in said if one is not None)


_LIFE = ("stop", "start", "shutdown")
"""What brokers do, which a case may say with a list of brokers instead of steps."""


def _leaders(asked: Fields) -> None:
    one_by_one = [f"{word} {broker}" for word in _LIFE for broker in _named(asked.get(word))]
    asked.fill("assignment", "replicas").fill("steps", default=one_by_one)
    asked["steps"] = [_step_in_words(one) for one in asked["steps"]]
    asked.fill("brokers", "live", default=list(asked["assignment"]))
    _flag(asked, "unclean", "unclean")  # else as in its release
    _flag(asked, "automatic", "auto")  # a step says when


_rebalance_fields = _filled(
    "preferred<total notLed<imbalanced=0 percentage<leaderImbalancePerBrokerPercentage=10"
)


def _rebalance(asked: Fields) -> None:
    _rebalance_fields(asked)
    _flag(asked, "reassigning", "reassign", default=False)


def _flow_reassign(asked: Fields) -> None:
    asked.fill("from", "oar", "current", "assignment").fill("to", "target")
    came = [int(word) for word in str(asked.get("then", "")).split() if word.isdecimal()]
    everybody = [one for one in _named(asked["from"], asked["to"]) if one not in came]
    asked.fill("live", "brokers", default=everybody)
    _offline_dirs(asked, [one for one in _named(asked["to"]) if one not in _named(asked["from"])])


def _controlled_shutdown(asked: Fields) -> None:
    asked.fill("broker", "id", default=0)
    asked.fill("live", "brokers", default=_named(asked["broker"]))
    asked.fill("requestBrokerEpoch", "brokerEpoch", default=-1)
    asked.fill("currentBrokerEpoch", default=asked["requestBrokerEpoch"])


def _asks_controller(asked: Fields) -> None:
    _flag(asked, "exists", "exist", default=True)
    _flag(asked, "active", "active", default=True)
    asked.fill("state", "zkState", "current", "registered", "leadership", default=asked)
    asked.fill("assignment", "replicas")
    _state(asked["state"], asked.get("assignment", ()))
    asked.fill("assignment", default=list(asked["state"]["isr"]))


def _elect_leaders(asked: Fields) -> None:
    _asks_controller(asked)
    asked.fill("type", "electionType", "kind", default="PREFERRED")
    live = _named(asked.get("live", asked["assignment"]))
    keeper = max([*live, *asked["assignment"]], default=0) + 1
    asked["brokers"] = [*live, keeper]  # the controller may be none of the replicas
    asked["controller"] = keeper


def _alter_isr(asked: Fields) -> None:
    _asks_controller(asked)
    asked.fill("request", "requested", "wanted", default={})
    request = asked["request"]
    for name, value in asked["state"].items():  # what it does not say is as it was
        if name in ("leader", "isr", "leaderEpoch", "zkVersion"):
            request.fill(name, f"request{name[0].upper()}{name[1:]}", default=value)
    request.fill("broker", "brokerId", default=request["leader"])
    asked.fill("brokers", "live", default=_named(asked["assignment"], request["broker"]))
    asked.fill("controller", "controllerId", default=min(asked["brokers"], default=0))
    sent, known = request.get("brokerEpoch", 0), asked.get("brokerEpoch", 0)
    asked["epochsBehind"] = known - sent if "brokerEpoch" in request else 0


_EVENTS = {
    "TopicChange": "TopicCreation",
    "ReplicaLeaderElection": "PreferredReplicaElection",
    "PreferredReplicaLeaderElection": "PreferredReplicaElection",
    "ZkPartitionReassignment": "PartitionReassignment",
}
"""Kafka's names of events -> the triggers that bring them about."""


def _moved(asked: Fields) -> None:
    asked.fill("externalEpochBump", "epochBump", default=True)
    asked["trigger"] = _EVENTS.get(asked["trigger"], asked["trigger"])


def _register(asked: Fields) -> None:
    asked.fill("me", "broker", "self", default=1).null("controllerZnode", "controller")
    asked.null("epochZnode", "readEpoch")
    for name in ("epochZnode", "readEpoch"):
        said = asked.part(name)
        if said is not None:
            said.fill("epoch", "value", "data").fill("zkVersion", "version")
            asked[name] = [said["epoch"], said["zkVersion"]]
    holder = asked.part("controllerZnode")
    if holder is not None:
        asked["controllerZnode"] = holder.fill("brokerid", "id")["brokerid"]


def _restarts(asked: Fields) -> None:
    asked["brokers"] = len(asked.fill("brokers", default=[0])["brokers"])


def _flag(asked: Fields, name: str, word: str, default: bool | None = None) -> None:
    """Complete a field by all those that are true or false and have a word in their names."""
    said = [one for one, value in asked.items() if word in one.lower() and value in (0, 1)]
    if said:
        asked[name] = any(asked[one] for one in said)
    asked.fill(name, default=default)


_STRATEGIES = ("Offline", "Reassign", "Preferred", "ControlledShutdown")


def _strategy(said: str) -> tuple[str, str]:
    """A strategy by its short name, and what it is said in brackets to allow or to aim at."""
    name, _, argument = said.partition("(")
    if name == "Unclean":
        return "Offline", "true"  # what an administrator asks for (KIP-460)
    short = next((one for one in _STRATEGIES if name.lower().startswith(one.lower())), name)
    return short, argument


def _election(asked: Fields) -> None:
    states = [name for name in asked if (one := asked.part(name)) is not None and "isr" in one]
    for state in states:
        for name, value in asked[state].items():
            asked.setdefault(name, value)
    asked.fill("target", "reassignment")
    natural = "ControlledShutdown" if "shuttingDown" in asked else "Offline"
    asked.fill("strategy", default="Reassign" if "target" in asked else natural)
    asked["strategy"], argument = _strategy(asked["strategy"])
    asked.fill("isr").fill("assignment", "replicas", "isr", "target")
    asked.fill("isr", default=list(asked["assignment"]))
    everybody = _named(asked["assignment"], asked["isr"], asked.get("target"))
    asked.fill("live", "brokers", default=everybody)
    unclean = argument.startswith("true")
    _flag(asked, "uncleanEnabled", "unclean", unclean)
    asked.fill("shuttingDown", default=list)
    gone = [*asked.get("offlineReplicas", asked.get("offlineDirs", ()))]
    if asked["strategy"] != "ControlledShutdown":  # to which they are live
        gone += asked["shuttingDown"]
    asked["live"] = [one for one in asked["live"] if one not in gone]


def _are_pairs(value: Any) -> bool:
    """Entries of an epoch cache: epochs, each with its start."""
    return isinstance(value, list) and all(isinstance(one, list) and len(one) == 2 for one in value)


def _epoch_cache(asked: Fields) -> None:
    held = [one for name, one in asked.items() if name != "ops" and _are_pairs(one)]
    asked.fill("entries", default=held[0] if held else [])
    given = [["assign", *entry] for entry in asked["entries"]]
    given += [["leo", asked["leo"]]] if "leo" in asked else []
    asked["ops"] = [_epoch_cache_call(one, asked.where) for one in [*given, *asked["ops"]]]
    log_end = 0
    for op in asked.rows("ops"):
        if op["do"] == "leo":
            op.fill("value", "leo", "offset")
            log_end = op["value"]
        elif op["do"] == "assign":
            op.fill("epoch", "leaderEpoch").fill("offset", "startOffset", default=log_end)
        else:
            op.fill("epoch", "leaderEpoch").fill("offset", "endOffset", "startOffset")


def _epoch_cache_call(op: Any, where: str) -> Any:
    """An operation that is written as a list: its name, and what it is about."""
    if not isinstance(op, list):
        return op
    name, *about = op
    name = step_called(name)
    fields = {"assign": ("epoch", "offset"), "leo": ("value",), "endOffsetFor": ("epoch",)}
    return Fields(
        {"do": name, **dict(zip(fields.get(name, ("offset",)), about, strict=False))}, where
    )


def _logged(asked: Fields) -> Fields | None:
    """A log by its number of records, or by its batches: offset, leader epoch and records."""
    said = asked.get("log")
    if isinstance(said, int | list):
        kind = "records" if isinstance(said, int) else "batches"
        asked["log"] = Fields({kind: said}, asked.where)
    log = asked.part("log")
    if log is None:
        return None
    held = log.fill("batches", "log", default=list)["batches"]
    held = [[*one.values()] if isinstance(one, Mapping) else one for one in held]
    log.fill("records", "leo", "count", default=sum(held[-1][::2]) if held else 0)
    if held:
        log.fill("epoch", default=held[-1][1])
    elif log["records"]:
        held = [[0, max(0, log.get("epoch", 0)), log["records"]]]
    log["batches"] = held
    return log


def _leader(asked: Fields) -> None:
    log = _logged(asked)
    steps = asked.rows("steps")
    fetching = _named(*[one.get("replica") for one in steps])
    asked.fill("replicas", "assignment")
    asked.fill(
        "self",
        "leader",
        "broker",
        default=_first([*asked.get("isr", []), *asked.get("replicas", [])]),
    )
    asked.fill("replicas", default=_named(asked["self"], asked.get("isr"), fetching))
    asked.fill("isr", default=list(asked["replicas"]))
    before = log.get("epoch", -1) + 1 if log is not None else 0
    asked.fill("leaderEpoch", "epoch", default=before)
    _lag(asked, "replicaLagTimeMaxMs", "lagMs")
    others = [one for one in asked["replicas"] if one != asked["self"]]
    epoch, isr = asked["leaderEpoch"], asked["isr"]
    for step in steps:
        step.fill("replica", "follower", "broker")
        if step["do"] in ("followerFetch", "expandIsr"):
            step.fill("replica", default=others[0] if len(others) == 1 else None)
            step.fill("offset", "fetchOffset", "leo")
        elif step["do"] == "leaderAppend":
            step.fill("count", "records", default=1)
        elif step["do"] == "isrUpdateFails":
            step.fill("error", default="INVALID_UPDATE_VERSION")
        elif step["do"] == "shrinkIsr":
            step.fill("replicas", default=_named(step.get("replica")) or None)
        elif step["do"] == "listOffset":
            step.fill("what", default="latest").fill("isolation", default="none")
        elif step["do"].startswith("become"):
            step.fill("leaderEpoch", "epoch", default=epoch + 1).fill("isr", default=isr)
            step.fill("leader", default=others[0] if others else None)
            epoch, isr = step["leaderEpoch"], step["isr"]


def _old_format(asked: Fields) -> None:
    asked.fill("log", default={"records": 0, "format": "v1"})
    log = _logged(asked)
    asked.fill("becomeLeaderEpoch", "leaderEpoch", default=0)
    for batch in log["batches"] if log is not None else ():  # of before it became leader
        batch[1] = max(0, min(batch[1], asked["becomeLeaderEpoch"] - 1))
    asked.fill("query", default=asked["becomeLeaderEpoch"])


def _make_follower(asked: Fields) -> None:
    leader, epoch = 1, -1
    for step in asked.rows("steps"):
        step.fill("epoch", "leaderEpoch", default=epoch + 1).fill("leader", default=leader)
        leader, epoch = step["leader"], step["epoch"]


def _leader_epoch_check(asked: Fields) -> None:
    asked.fill("current", "currentLeaderEpoch", "leaderEpoch", default=0)
    asked.null("request", "requestLeaderEpoch", "requestEpoch", "requested")
    if isinstance(asked["request"], str):
        asked["request"] = None  # "none", in words
    asked.fill("isLeader", default=True).fill("fetchOnlyFromLeader", default=True)


def _high_watermark(asked: Fields) -> None:
    asked.fill("leaderLeo", "leo").fill("remotes", "followers", default={})
    asked.fill("isr", default=[int(one) for one in asked["remotes"]])
    asked["isr"] = list(dict.fromkeys([*asked["isr"], *asked.get("maximalIsr", ())]))
    _lag(asked.fill("now", default=0), "lagMs", "replicaLagTimeMaxMs")
    asked.fill("oldHw", "hw", default=0)
    for remote in asked.rows("remotes"):
        remote.fill("leo", default=-1)
        remote.fill("lastCaughtUp", "lastCaughtUpTime", default=0)


def _out_of_sync(asked: Fields) -> None:
    steps = asked.rows("steps")
    _lag(asked, "lagMs", "replicaLagTimeMaxMs")
    ends = [one["leaderEnd"] for one in steps if "leaderEnd" in one]
    ends += [one["fetch"] for one in steps if "fetch" in one]
    asked.fill("leaderLeo", "leo", default=max(ends, default=None))
    asked.fill("isr", "replicas")
    asked.fill("leader", default=_named(asked["isr"])[0] if _named(asked["isr"]) else None)
    for step in steps:
        if "do" in step:  # as a leader's steps are written
            step.fill({"followerFetch": "fetch"}.get(step["do"], step["do"]), "offset", "ms", "do")
        if "fetch" in step:
            step.fill("leaderEnd", "leaderLeo", default=asked["leaderLeo"])
        else:
            step.fill("leaderEnd", "leaderLeo")


def _produce(asked: Fields) -> None:
    asked.fill("acks", "requiredAcks", default=-1)
    if asked["acks"] == "all":
        asked["acks"] = -1
    asked.fill("minIsr", default=1)
    if isinstance(asked.get("isr"), list | tuple):  # as who is in it, and not how many
        asked["isr"] = len(asked["isr"])


def _epoch_fetches(asked: Fields) -> None:
    if "ibp" in asked:
        asked.fill("truncationOnFetch", default=Release.of(str(asked["ibp"])).since("2.7"))
        asked.fill("epochRequestSupported", default=_asks_for_epochs(asked))


def _asks_for_epochs(asked: Fields) -> bool:
    """Its protocol has OffsetForLeaderEpoch, as far as a case says (0.11)."""
    protocol = str(asked.get("ibp", "0.11"))
    return bool(asked.get("epochRequestSupported", Release.of(protocol).since("0.11")))


def _place(asked: Fields) -> None:
    """A partition of which a state machine is asked, and what is known of it."""
    asked.fill("partition", default="t-0").fill("queuedForDeletion")
    asked.fill("controllerEpoch", default=CONTROLLER_EPOCH).fill("self", "controller", default=5)
    _flag(asked, "unclean", "unclean", default=False)
    asked.fill("assignment", "replicas")
    states = [one for one in (asked.part("zkState"), asked.part("leadership")) if one is not None]
    known = _named(*[ids for one in states for ids in (one.get("isr"), one.get("leader"))])
    asked.fill(
        "assignment", default=known or _named(asked.get("replica"), asked.get("live")) or None
    )
    for state in states:
        _state(state, asked["assignment"])
    if asked.part("leadership") is not None:  # what it knows is what is registered
        asked.setdefault("zkState", asked["leadership"])
    meanwhile = asked.fill("zkStateAfterConflict", "zkStateAfter").part("zkStateAfterConflict")
    if meanwhile is not None:
        _state(meanwhile, asked["assignment"])


def _partition_effects(asked: Fields) -> None:
    _place(asked)
    known = "zkState" in asked or "leadership" in asked
    asked.fill("state", "from", default="OfflinePartition" if known else "NewPartition")
    asked.fill("target", "to", default="OnlinePartition")
    for name in ("state", "target"):
        asked[name] = _whole("Partition", asked[name])
    asked.fill("live", "brokers", default=list(asked["assignment"]))
    if asked["target"] == "OnlinePartition" and asked["state"] != "NewPartition":
        asked.fill("strategy", default=f"Offline({str(bool(asked['unclean'])).lower()})")
        name, argument = _strategy(asked["strategy"])
        asked["strategy"] = f"{name}({argument}" if argument else name
        if name == "Reassign":
            # The controller's assignment is the target by the time it moves the leader.
            asked["strategy"] = name
            targets = [int(one) for one in re.findall(r"\d+", argument)]
            asked["assignment"] = targets or _named(asked.get("rar")) or asked["assignment"]


def _replica_effects(asked: Fields) -> None:
    _place(asked)
    asked.fill("state", "from", default="OnlineReplica").fill("target", "to")
    for name in ("state", "target"):
        asked[name] = _whole("Replica", asked[name])
    asked.fill("replica", "broker", default=_first(asked["assignment"]))


def _replica_startup(asked: Fields) -> None:
    _place(asked)
    asked.fill("replica", "broker", default=_first(asked["assignment"]))
    _offline_dirs(asked, [asked["replica"]])
    asked["offlineDir"] = asked["replica"] in asked["offlineDirs"]
    asked.fill("live", "brokers", default=list(asked["assignment"]))


def _initial_state(asked: Fields) -> None:
    state = asked.part("leaderAndIsr")
    if state is not None:
        asked.fill("leader", default=state.get("leader"))
    asked.null("leader")
    asked.fill("live", "brokers", default=_named(asked["leader"]))


def _whole_names(kind: str) -> _Complete:
    """The states of a transition by their whole names."""

    def complete(asked: Fields) -> None:
        asked["from"] = _whole(kind, asked.fill("from", "state", "current")["from"])
        asked["to"] = _whole(kind, asked.fill("to", "target")["to"])

    return complete


def _whole(kind: str, state: str) -> str:
    """A state by its whole name: ``New`` is ``NewReplica`` of a replica."""
    if state.endswith(kind) or state.startswith(kind):
        return state
    return f"{kind}{state}" if state.startswith("Deletion") else f"{state}{kind}"


def _offline_count(asked: Fields) -> None:
    if isinstance(asked.get("partitions"), list):
        asked["partitions"] = len(asked["partitions"])
    asked.fill("partitions", "nPartitions", default=1).fill("topicBeingDeleted", default=False)
    asked.fill("steps", "transitions")
    asked["steps"] = [one.removesuffix("Partition") for one in asked["steps"]]


def _plan(asked: Fields) -> None:
    asked.fill("json", "reassignmentJson", "plan", "proposed")
    if isinstance(asked.get("json"), str):
        try:
            found = json.loads(asked["json"])
        except json.JSONDecodeError:
            return  # the tool says what is wrong with it
        if isinstance(found, Mapping):
            asked["json"] = _read(found, f"{asked.where}.json")


def _move_map(asked: Fields) -> None:
    asked.fill("currentReassignments", "reassignments", "inProgress", default=dict)
    asked.fill("proposed", "proposedParts", "target", "targets", default=dict)
    if asked.rows("current"):  # all replicas, with those that come and go
        asked["currentReassignments"] = asked["current"]
        asked.pop("current", None)
    for one in asked.rows("currentReassignments"):
        one.fill("adding", default=list)
        one.fill("removing", default=list)
    now = {name: one["replicas"] for name, one in asked["currentReassignments"].items()}
    asked.fill("current", "currentParts", default=now)


def _execute(asked: Fields) -> None:
    _plan(asked)
    plan = asked.part("json")
    ids = [one.get("replicas") for one in plan.rows("partitions")] if plan is not None else []
    current = asked.get("current")
    held = list(current.values()) if isinstance(current, Mapping) else []
    asked.fill("brokers", "live", default=sorted(_named(*ids, *held)))
    asked.fill("current", default=KNOWN_TO_THE_TOOL)


def _find_states(asked: Fields) -> None:
    asked.fill("inProgress", "reassigning", default={}).fill("query", "targets", "target")
    for name, one in asked["inProgress"].items():
        if isinstance(one, Fields):  # all replicas, with those that come and go
            _assignment(one)
            leaving = one["removing"]
            asked["inProgress"][name] = [each for each in one["replicas"] if each not in leaving]
    asked.fill("query", default=dict(asked["inProgress"]) or None).fill("current", default={})


def _verify(asked: Fields) -> None:
    _plan(asked)
    if (plan := asked.part("json")) is not None:
        rows = plan.rows("partitions")
        query = {f"{one['topic']}-{one['partition']}": one["replicas"] for one in rows}
        asked.fill("query", default=query)
    _find_states(asked)


def _generate(asked: Fields) -> None:
    if "topicsJson" in asked:
        said = json.loads(asked["topicsJson"])["topics"]
        asked.fill("topics", default=[one["topic"] for one in said])
    if "rackAwareMode" in asked:
        asked["rackAware"] = asked["rackAwareMode"] != "Disabled"
    asked.fill("rackAware", "enableRackAwareness", default=not asked.get("disableRackAware"))
    current = asked.get("current") or {}
    named = list(dict.fromkeys(one.rpartition("-")[0] for one in current))
    asked.fill("topics", "topicsToMove", default=named or None)
    racks = asked.get("racks")
    ids = ",".join(racks) if isinstance(racks, Mapping) else None
    asked.fill("brokers", "brokerList", "live", default=ids)
    if isinstance(asked.get("brokers"), list):
        asked["brokers"] = ",".join(map(str, asked["brokers"]))
    asked.fill("current", default=KNOWN_TO_THE_TOOL)


def _list(asked: Fields) -> None:
    asked.fill("targets", "target", "inProgress", default={})
    current = dict(asked.get("current", asked["targets"]))
    # A partition that only moves name: its replicas are those that it moves to.
    asked["current"] = Fields({**asked["targets"], **current}, asked.where)


def _states(asked: Fields) -> None:
    for one in asked.rows("states"):
        one.fill("current", "replicas", "target")
        one.fill("target", "targets", "current")
        one.fill("done", default=one["current"] == one["target"])


def _guard(asked: Fields) -> None:
    asked.fill("current", "oar", "from", "assignment").fill("target", "to")
    asked.fill("queuedForDeletion")
    if asked.get("current", True) is None:
        del asked["current"]
        asked["exists"] = False
    if "entriesLeft" not in asked:
        asked.fill("current", default=[1])
        asked.fill("target", default=[max(_named(asked["current"]), default=0) + 1])


def _api(asked: Fields) -> None:
    asked.fill("current", "oar", "from", "assignment", "replicas").fill("target", "to")
    whole = asked.part("current")
    if whole is not None:
        _assignment(whole)
        asked["current"] = whole["replicas"]
    at = asked if whole is None else whole
    asked.fill("adding", default=list(at.get("adding", ())))
    asked.fill("removing", default=list(at.get("removing", ())))
    asked.fill("queuedForDeletion")


def _moved_while_deleted(asked: Fields) -> None:
    _guard(asked)
    _api(asked)
    asked["queuedForDeletion"] = True


def _fetcher(asked: Fields) -> None:
    topic, _, number = str(asked.get("partition", 0)).rpartition("-")
    asked.fill("topic", default=topic or None)["partition"] = int(number)
    asked.fill("numFetchers", "numFetchersPerBroker", default=1)


def _leader_and_isr(asked: Fields) -> None:
    asked.fill("knownControllerEpoch", "currentControllerEpoch", "controllerEpoch", default=0)
    asked.fill("requestControllerEpoch", "knownControllerEpoch")
    asked.fill("currentLeaderEpoch", "current", default=-1)
    asked.fill("requestLeaderEpoch", "leaderEpoch", default=asked["currentLeaderEpoch"] + 1)
    me, replicas = asked.get("self", asked.get("localBroker")), asked.get("replicas")
    is_assigned = me is None or replicas is None or me in replicas
    asked.fill("inReplicas", default=is_assigned)
    asked.fill("offlineDir", default=asked.get("partition") == "offline")
    asked.null("requestTopicId", "topicId").null("knownTopicId", "currentTopicId", "logTopicId")
    if "leader" in asked:
        asked.fill("aliveBrokers", default=_named(asked["leader"]))


def _metadata(asked: Fields) -> None:
    asked.fill("knownControllerEpoch", "currentControllerEpoch", default=0)
    asked.fill("requestControllerEpoch", "controllerEpoch", "knownControllerEpoch")
    asked.fill("cached", "cache", "known", default={}).fill("partitions", default={})
    for state in (*asked.rows("cached"), *asked.rows("partitions")):
        _state(state)
    asked.fill("live", "brokers", default=[0])


def _batch(asked: Fields) -> None:
    calls = asked.rows("calls")
    known = asked.part("leadership") or Fields({}, asked.where)
    for call in calls:
        call.knows("newBatch")
        call.fill("add", "do").fill("to", "brokers", default=_named(call.get("broker")))
        call.fill("partitions", default=[call["partition"]] if "partition" in call else None)
    for state in known.rows():
        _state(state)
    asked.fill("live", "brokers", default=_named(
        *[call["to"] for call in calls],
        *[ids for one in known.rows() for ids in (one["leader"], one["isr"])],
        asked.get("controllerId"),
    ))  # fmt: skip
    asked.fill("controllerId", default=(_named(asked["live"]) or [1])[0])
    asked.fill("controllerEpoch", default=1).fill("assignment", "assignments", default={})
    for call in calls:
        if not call["to"]:
            call["to"] = list(asked["live"])
        named = call.get("partitions")
        if call.get("add") == "leaderAndIsr":
            call.fill("isNew", default=False)
            if isinstance(named, list):
                call["partitions"] = Fields({one: known[one] for one in named}, call.where)
            for state in call.rows("partitions"):
                _state(state)
        elif call.get("add") == "stopReplica" and isinstance(named, list):
            delete = call.get("delete", call.get("deletePartition", False))
            call["partitions"] = Fields(dict.fromkeys(named, delete), call.where)


def _sequence(asked: Fields) -> None:
    if not str(asked["event"]).startswith(("startup", "failover")):
        raise Lacks(f"{asked.where}: its 'event' is neither a startup of a broker nor a failover")
    came = [int(one) for one in str(asked["event"]).split() if one.isdecimal()]
    asked.fill("brokers", "live", default=sorted(_named(asked.get("controller"), came)))
    asked.fill("controller", default=min(_named(asked["brokers"]), default=None))
    asked.fill("partitionsOnBroker", default=True)
    if not came:  # the broker that is elected is the controller
        asked["event"] = f"{asked['event']} of broker {asked['controller']}"


def _collision(asked: Fields) -> None:
    names = asked.get("names", asked.get("topics"))
    if isinstance(names, list) and len(names) == 2:
        asked.fill("a", default=names[0]).fill("b", default=names[1])


def _name(asked: Fields) -> None:
    asked.fill("name", "topic")
    name = asked.part("name")
    if name is not None:
        name.fill("repeat", "length", default=1).fill("char", default="a")


def _list_topics(asked: Fields) -> None:
    asked.fill("marked", "markedForDeletion", default=list)
    asked.fill("topics", default=list(asked["marked"]))


def _created(asked: Fields) -> None:
    _topic(asked)
    _assign(asked.fill("brokers", "live", default=[0]))


def _altered(asked: Fields) -> None:
    _topic(asked)
    asked.fill("existing", "partitions", "current", default=1).fill("requested", "newTotal")
    if isinstance(asked["existing"], list | Mapping):
        asked["existing"] = len(asked["existing"])


def _described(asked: Fields) -> None:
    _topic(asked)
    asked.knows(*(name for name, value in asked.items() if value is True))  # options of the tool
    asked.fill("configs", "config", default=dict)
    if asked.get("exists", True) is False:
        asked.fill("partitions", default={})
    for one in asked.rows("partitions"):
        one.fill("replicas", "assignment", "isr").fill("isr", "replicas")
        one.null("leader") if not one.get("isr") else one.fill("leader", default=one["isr"][0])
    held = [ids for one in asked.rows("partitions") for ids in (one.get("replicas"), one["leader"])]
    asked.fill("live", "brokers", default=_named(*held))


def _deletion(asked: Fields) -> None:
    back = asked.get("thenStart", asked.get("then", []))
    if isinstance(back, str):
        back = [int(one) for one in back.split() if one.isdecimal()]
    asked.fill("assignment", "replicas", "live", default=[0, 1, 2])
    if isinstance(asked["assignment"], list):
        asked["assignment"] = Fields({"0": asked["assignment"]}, asked.where)
    every = _named(*asked["assignment"].values())
    asked.fill("live", "brokers", default=[one for one in every if one not in _named(back)])
    asked["thenStart"] = [one for one in _named(back) if one not in asked["live"]]
    _flag(asked, "failsOver", "controller", default=False)
    asked.fill("again", "recreate", default="recreate" in asked.get("op", ""))
    # Partitions whose znodes are gone before the deletion is asked for.
    _flag(asked, "lost", "partial")
    begun = [one for one in asked if re.search("missing|partial", one)]
    asked.fill("lost", *begun, default=list)
    asked["lost"] = [0] if asked["lost"] is True else _named(asked["lost"])
    asked.fill("added", "addedPartitions", "newPartitions", default={})


def _grown_deletion(asked: Fields) -> None:
    """While a follower is down a topic is to be deleted, and grows; then the follower is back."""
    _deletion(asked)
    every = _named(*asked["assignment"].values())
    if asked["live"] == every:
        asked["live"], asked["thenStart"] = every[:-1], every[-1:]
    asked["added"] = asked["added"] or Fields({"1": every}, asked.where)


def _deletion_scenario(asked: Fields) -> None:
    halted = [name for name in asked if "ineligible" in name.lower()]
    if "steps" not in asked and (halted or "op" in asked):  # one alone: of its name, or a failover
        step = {name: value for name, value in asked.items() if name not in ("topics", "op")}
        step["do"] = step_called(asked.get("op", "init"))
        asked["steps"] = [Fields(step, asked.where)]
    steps = asked.rows("steps")
    named = dict.fromkeys(one for step in steps for one in step.get("topics", ()))
    asked.fill("topics", default={one: {} for one in named})
    if isinstance(asked["topics"], list):
        asked["topics"] = Fields({one: {} for one in asked["topics"]}, asked.where)
    factors = [one["rf"] for one in asked.rows("topics") if "rf" in one]
    seen = _named(*[ids for one in steps for ids in (one.get("brokers"), one.get("broker"))])
    asked.fill("deleteTopicEnable", "isDeleteTopicEnabled", default=True)
    most = max([*factors, *seen, 1])
    asked.fill("brokers", "live", default=list(range(1, most + 1)))
    for topic in asked.rows("topics"):
        topic.fill("partitions", default=1)
        topic.fill("rf", default=len(asked["brokers"]))
    for step in steps:
        said = {word: [one for one in step if word in one.lower()] for word in ("dele", "inelig")}
        only = [one for one in said["dele"] if one not in said["inelig"]]
        step.fill("topics", *only, default=list(asked["topics"]))
        step.fill("ineligible", *said["inelig"], default=list)
        step.fill("brokers", default=_named(step.get("broker")) or list(asked["brokers"]))
        if len(step["brokers"]) == 1:
            step.fill("broker", default=step["brokers"][0])


def _fetch_state(asked: Fields) -> None:
    asked.null("latestEpoch", "followerLatestEpoch").fill("followerLeo", "leo", default=0)
    asked.fill("reply", "leaderReply", default=[-1, -1])
    if _is_error(asked["reply"]):
        asked.fill("error", default=asked["reply"]["error"])
    asked["reply"] = _pair(asked["reply"])


def _is_error(reply: Any) -> bool:
    return isinstance(reply, Mapping) and reply.get("error", "NONE") != "NONE"


def _pair(reply: Any) -> list[int]:
    """Epoch and end of an answer to OffsetForLeaderEpoch, however it is written."""
    if isinstance(reply, Mapping):
        return [reply.get("epoch", -1), reply.get("endOffset", -1)]
    return list(reply) if isinstance(reply, list) else [-1, reply]


def _validation(asked: Fields) -> None:
    asked.knows("leaderEpoch")  # the cache's latest
    asked.fill("epochCache", "entries", default=list).fill("logStart", default=0)
    asked.fill("leo", "leaderLeo")
    last = max([asked["logStart"], *[start for _, start in asked["epochCache"]]])
    asked.fill("leo", default=max(last, asked.get("fetchOffset", last)))
    asked.fill("fetchOffset", "followerLeo", default=asked["leo"])
    asked.null("lastFetchedEpoch", "followerLatestEpoch", "epoch")


def _truncation_rounds(asked: Fields) -> None:
    asked.fill("reply", "leaderReply", default={}).fill("loops", "rounds", default=1)
    refused = {name: one["error"] for name, one in asked["reply"].items() if _is_error(one)}
    asked.fill("partitionsLatestEpoch", "latestEpoch", "partitions")
    if "error" in asked:  # the same for all
        refused = dict.fromkeys(asked.get("partitionsLatestEpoch", asked["reply"]), asked["error"])
    asked.fill("errors", default=refused if refused else dict)
    replies = {name: _pair(one) for name, one in asked["reply"].items()}
    asked["reply"] = Fields(replies, asked.where)
    known = {name: epoch if epoch >= 0 else None for name, (epoch, _) in replies.items()}
    asked.fill("partitionsLatestEpoch", "latestEpoch", "partitions", default=known or None)
    names = {*asked["partitionsLatestEpoch"]}
    if not _asks_for_epochs(asked):  # as without epochs of its own
        asked["partitionsLatestEpoch"] = dict.fromkeys(names)
    left = [one for one in asked.values() if isinstance(one, list) and one and names >= {*one}]
    asked["left"] = left[0] if left else []  # led here by the time that the answer comes


def _truncation(asked: Fields) -> None:
    asked.fill("leaderReply", "reply", default=[-1, -1])
    if not isinstance(asked["leaderReply"], Mapping):
        epoch, end = _pair(asked["leaderReply"])
        asked["leaderReply"] = Fields({"epoch": epoch, "endOffset": end}, asked.where)
    reply = asked["leaderReply"].fill("epoch", "leaderEpoch", default=-1)
    asked.fill("error", default=reply["error"] if _is_error(reply) else None)
    reply.fill("endOffset", default=-1)
    _follower(asked)
    if reply["endOffset"] < 0:  # cut where it began to fetch, which is its high watermark then
        asked["followerHw"] = asked.get("initialFetchOffset", asked["followerHw"])
    known = asked.get("followerEndOffsetFor")
    latest = max((int(one) for one in known), default=-1) if known else -1
    asked.fill("followerLatestEpoch", "latestEpoch", default=latest)
    asked.fill(
        "followerEndOffsetFor",
        default={str(latest): [latest, asked["followerLeo"]]}
        if (latest := asked["followerLatestEpoch"]) is not None
        else {},
    )


def _old_truncation(asked: Fields) -> None:
    reply = asked.get("leaderReply", asked.get("reply"))
    asked.fill("leaderReplyEndOffset", default=-1 if reply is None else _pair(reply)[1])
    _follower(asked)
    asked.fill("followerLatestEpoch", "latestEpoch", default=0)
    # Its response has no epoch, and it asks for none of its own (KIP-101).
    asked["leaderReply"] = Fields(
        {"epoch": -1, "endOffset": asked["leaderReplyEndOffset"]}, asked.where
    )
    asked["followerEndOffsetFor"] = Fields({}, asked.where)


_SCENES = {
    "removedDuringTruncation": "remov.*truncat",
    "removedDuringEpochFetch": "remov.*epoch",
    "removedDuringFetch": "remov.*fetch",
    "removedAfterwards": "(then|after|later).*remov|remov.*(after|later)",
    "unrequestedInReply": "unrequested|not.*requested",
    "corruptFirstFetch": "corrupt",
    "readdWithFetchOffset": "readd|again.*offset",
    "leaderEpochs": "^leaderepochs$",
    "followerEpochs": "^followerepochs$",
    "thenLeaderEpoch": "(then|new|next).*leaderepoch|leaderepoch(after|later|then)",
    "leaderEpoch": "^leaderepoch$",
    "latestEpoch": "latestepoch",
    "leaderAfter": "leader.*after",
    "failing": "failing|failed",
}
"""Scenes of a fetcher, and how the name of a field reads that tells of one."""


def _fetcher_scenario(asked: Fields) -> None:
    for side in ("follower", "leader"):
        if (log := asked.part(side)) is not None:
            log.fill("epoch", "leaderEpoch")
    for own in [*asked]:
        said = own.replace("_", "").lower()
        scene = next((one for one, reads in _SCENES.items() if re.search(reads, said)), own)
        asked[scene] = asked.pop(own)
        asked.knows(*((scene, own) if scene != own else ()))
    if "failing" in asked:
        if isinstance(asked["failing"], str):
            asked["failing"] = int(asked["failing"].rpartition("-")[2])
        if isinstance(asked.get("partitions"), list):
            asked["partitions"] = len(asked["partitions"])
        asked.fill("partitions", default=asked["failing"] + 1).fill("phase", default="truncate")
    said = {name: bool(value) for name, value in asked.items() if isinstance(value, int | bool)}
    asked.knows(*(name for name in said if re.search("[sS]upported$|Offset", name)))
    if any(name.endswith("Supported") and not value for name, value in said.items()):
        # Nobody can be asked where epochs end: it is as without epochs of its own.
        asked.null("latestEpoch")
    asked.fill("offsetErrors", default=dict(_offset_errors(said)))
    if "followerEpochs" in asked:
        asked.fill("leader", default={"log": [[0, 0, 1], [1, 1, 1]], "hw": 2})


def _offset_errors(said: Mapping[str, bool]) -> Iterable[tuple[str, str]]:
    """What ListOffsets answers first: ``fencedDuringOffsetReset``, ``unknownLeaderEpochIn...``."""
    for name in [name.lower() for name, value in said.items() if value and "ffset" in name]:
        if name.startswith("fenced"):
            yield "latest" if "latest" in name else "earliest", "FENCED_LEADER_EPOCH"
        elif name.startswith("unknownleaderepoch"):
            yield "earliest" if "earliest" in name else "latest", "UNKNOWN_LEADER_EPOCH"


def _appends(asked: Fields) -> None:
    producer, epoch = 1, 0
    for step in asked.rows("steps"):
        step.fill("do", default="append")
        step.fill("producer", "producerId", default=producer)
        step.fill("epoch", "producerEpoch", default=epoch)
        step.fill("records", "count", default=1)
        producer, epoch = step["producer"], step["epoch"]


def _compaction(asked: Fields) -> None:
    if "segments" in asked:
        segments = [{"do": "append", "records": one} for one in asked["segments"]]
        asked.fill("steps", default=[*segments, {"do": "clean"}])
    for step in asked.rows("steps"):
        step.fill("do", default="append")
    asked.fill("deleteRetentionMs", default=24 * 60 * 60 * 1000)
    asked.fill("minCompactionLagMs", default=0).fill("capacity", default=1_000_000)
    asked.fill("segmentBytes", default=1 << 30)


def _registration(asked: Fields) -> None:
    asked.fill("existingOwner", "owner", "existingOwners")
    if isinstance(asked["existingOwner"], str):
        asked["existingOwner"] = [asked["existingOwner"]]


def _update_states(asked: Fields) -> None:
    asked.fill("znodes", "znodeVersions", default={})
    states = asked.part("partitions")
    if states is not None:
        versions = {name: one["zkVersion"] for name, one in states.items()}
        asked.fill("expectedVersions", default=versions)
    asked.fill("expectedVersions", default=dict(asked["znodes"]))


def _znode_calls(asked: Fields) -> None:
    """Calls are lists: a name, and what it is given."""
    asked.fill("calls", "steps", "ops")
    calls = asked["calls"]
    asked["calls"] = [[*one.values()] if isinstance(one, Mapping) else one for one in calls]
    op = str(asked.get("op")).lower()
    asked["pairs"] = "conditional" in op or "version" in op


def _created_states(asked: Fields) -> None:
    asked.fill("states", "partitions", default={"t-0": {"leader": 1, "isr": [1]}})
    if isinstance(asked["states"], list):
        states = {one: {"leader": 1, "isr": [1]} for one in asked["states"]}
        asked["states"] = Fields(states, asked.where)
    for state in asked.rows("states"):
        _state(state)
    asked.knows("twice")


def _read_states(asked: Fields) -> None:
    asked.fill("znodes", "states", "partitions", default={})
    for state in asked.rows("znodes"):
        _state(state)
    asked.fill("query", "topicPartitions", default=list(asked["znodes"]))


def _encode(asked: Fields) -> None:
    aside = ("op", "znode", "path", "versions")
    said = {name: one for name, one in asked.items() if name not in aside}
    if asked.fill("encode", default=said or None).natural:
        asked.knows(*said)
    what = asked["encode"]
    if isinstance(what, int):
        what = {"controllerEpoch": what}
    elif isinstance(what, list) and len(what) == 1 and "/" in what[0]:
        what = what[0].split("/", 1)
    elif isinstance(what, str) and "/" in what:
        what = what.split("/", 1)
    elif isinstance(what, list) and all(map(_numbered, what)):
        what = {"partitions": what}
    elif isinstance(what, Mapping) and what and all(map(_numbered, what)):
        what = {"partitions": {one.rpartition("-")[2]: ids for one, ids in what.items()}}
    elif isinstance(what, Mapping) and len(what) == 1:  # named by its kind
        ((kind, one),) = what.items()
        if isinstance(one, Mapping) and kind not in ("partitions", "assignment", "replicas"):
            what = one
        elif kind == "logDirEvent":
            what = {"broker": one}
    asked["encode"] = what = _read(what, f"{asked.where}.encode")
    if not isinstance(what, Fields):
        return
    if "leader" in what or ("isr" in what and "endpoints" not in what):
        _state(what)
        what.fill("controllerEpoch", default=0)
    what.fill("jmx", "jmxPort").fill("partitions", "assignment", "replicas")
    what.fill("securityProtocolMap", "listenerSecurityProtocolMap")  # fmt: skip
    what.fill("block_start").fill("block_end")
    if "timestamp" in what:
        what.fill("brokerId", "brokerid", "controllerId")
    if set(what) == {"epoch"}:
        what.fill("controllerEpoch", "epoch")
    if isinstance(what.get("partitions"), Mapping):
        _whole_assignments(what)


_PARTITION = re.compile(r"^(?:.*-)?\d+$")


def _numbered(name: str) -> bool:
    return _PARTITION.match(name) is not None


def _whole_assignments(topic: Fields) -> None:
    """Replicas by partition, and those that come and go: each list by itself, or all by one."""
    whole = {number: one for number, one in topic["partitions"].items() if isinstance(one, Fields)}
    for part, name in (("adding", "addingReplicas"), ("removing", "removingReplicas")):
        topic.fill(part, name, f"{part}_replicas", default=dict)
        for number, one in whole.items():
            if found := one.get(part, one.get(name)):
                topic[part][number] = found
    topic["partitions"].update({number: one["replicas"] for number, one in whole.items()})


def _log_dir_events(asked: Fields) -> None:
    asked.fill("brokers", "events", default=_named(asked.get("broker")) or None)
    asked.fill("delete", "handled", "sequenceNumbers")


def _notifications(asked: Fields) -> None:
    _log_dir_events(asked)
    if "brokers" not in asked:
        _isr_changes(asked)


def _isr_changes(asked: Fields) -> None:
    """Sets of partitions, of which one may be said by itself."""
    asked.fill("sets", "partitions", "set", default=[["t-0"]])
    if asked["sets"] and isinstance(asked["sets"][0], str):
        asked["sets"] = [asked["sets"]]


SHAPES: dict[tuple[str, str], _Complete] = {
    ("assignment", "addPartitions"): _add_partitions,
    ("assignment", "assign"): _assign,
    ("assignment", "rackAlternatedList"): _brokers,
    ("assignment", "assignProperties"): _assign_properties,
    ("checkpoint_files", "checkpoint"): _checkpoint,
    ("controller_context", "assignmentOf"): _assignment_of,
    ("controller_context", "imbalance"): _imbalance_count,
    ("controller_context", "isReplicaOnline"): _replica_online,
    ("controller_context", "reassignTo"): _assignment,
    ("controller_context", "target"): _assignment,
    ("controller_flow", "creation"): _creation,
    ("controller_flow", "bounce"): _filled("restartFast"),
    ("controller_flow", "imbalance"): _rebalance,
    ("controller_flow", "leaders"): _leaders,
    ("controller_flow", "moved"): _moved,
    ("controller_flow", "alterIsr"): _alter_isr,
    ("controller_flow", "electLeaders"): _elect_leaders,
    ("controller_flow", "shutdownRequest"): _controlled_shutdown,
    ("controller_flow", "reassign"): _flow_reassign,
    ("controller_flow", "registerController"): _register,
    ("controller_flow", "isrPropagation"): _filled(
        "lastPropagation=0 changes<changeSet,isrChangeSet=[0]"
    ),
    ("controller_flow", "restarts"): _restarts,
    ("election", "elect"): _election,
    ("leader_epoch_cache", "epochCache"): _epoch_cache,
    ("log_cleaner", "compacted"): _compaction,
    ("partition_replication", "assignmentState"): _in_sync,
    ("partition_replication", "checkCurrentLeaderEpoch"): _leader_epoch_check,
    ("partition_replication", "hw"): _high_watermark,
    ("partition_replication", "leader"): _leader,
    ("partition_replication", "makeFollower"): _make_follower,
    ("partition_replication", "oldFormat"): _old_format,
    ("partition_replication", "outOfSync"): _out_of_sync,
    ("partition_replication", "produce"): _produce,
    ("partition_replication", "underReplicated"): _in_sync,
    ("partition_state_machine", "effects"): _partition_effects,
    ("partition_state_machine", "initialState"): _initial_state,
    ("partition_state_machine", "offlineCount"): _offline_count,
    ("partition_state_machine", "transition"): _whole_names("Partition"),
    ("producer_state", "appends"): _appends,
    ("reassignment", "apiValidate"): _api,
    ("reassignment", "currentAssignmentToString"): _filled("proposed<target,targets"),
    ("reassignment", "execute"): _execute,
    ("reassignment", "findStates"): _find_states,
    ("reassignment", "generate"): _generate,
    ("reassignment", "guard"): _guard,
    ("reassignment", "list"): _list,
    ("reassignment", "replicaAssignments"): _filled("current topics=[] partitions=[]"),
    ("reassignment", "moveMap"): _move_map,
    ("reassignment", "parseExecute"): _plan,
    ("reassignment", "parseGenerate"): _generate,
    ("reassignment", "reassignTrace"): _trace,
    ("reassignment", "reassignTraceKip455"): _trace,
    ("reassignment", "statesToString"): _states,
    ("reassignment", "verify"): _verify,
    ("reassignment", "throttledReplicas"): _filled("existing<current={} proposed<target,targets"),
    ("replica_manager", "brokerEpoch"): _filled(
        "request<requestBrokerEpoch=-1 current<currentBrokerEpoch"
    ),
    ("replica_manager", "fetchVisibility"): _filled("leo hw"),
    ("replica_manager", "fetcherId"): _fetcher,
    ("replica_manager", "leaderAndIsr"): _leader_and_isr,
    ("replica_manager", "stopReplica"): _filled(
        "knownControllerEpoch<currentControllerEpoch,controllerEpoch=0 "
        "requestControllerEpoch<knownControllerEpoch currentLeaderEpoch<current=0 "
        "delete<deletePartition,deletePartitions=false strayLog ioException partition"
    ),
    ("replica_manager", "updateMetadata"): _metadata,
    ("replica_state_machine", "effects"): _replica_effects,
    ("replica_state_machine", "startup"): _replica_startup,
    ("replica_state_machine", "transition"): _whole_names("Replica"),
    ("request_batch", "batch"): _batch,
    ("request_batch", "versions"): _filled("ibp<interBrokerProtocolVersion,release"),
    ("request_sequences", "emptyPartitions"): _filled("partitionsArgument<partitions=[]"),
    ("request_sequences", "sequence"): _sequence,
    ("topic_admin", "collision"): _collision,
    ("topic_admin", "collisionChars"): _name,
    ("topic_admin", "delete"): _topic,
    ("topic_admin", "alter"): _altered,
    ("topic_admin", "create"): _created,
    ("topic_admin", "describe"): _described,
    ("topic_admin", "list"): _list_topics,
    ("topic_admin", "validateName"): _name,
    ("topic_deletion", "completionZkOrder"): _filled('topic<requested,name="test"'),
    ("topic_deletion", "delete"): _deletion,
    ("topic_deletion", "reassignDuringDelete"): _moved_while_deleted,
    ("topic_deletion", "recreateAfterDelete"): _deletion,
    ("topic_deletion", "addPartitionsDuringDelete"): _grown_deletion,
    ("topic_deletion", "deleteDisabled"): _filled('topic<requested,name="test"'),
    ("topic_deletion", "deleteZnodeForMissingTopic"): _filled(
        'requested<topic="missing" existing<topics=["test"]'
    ),
    # Whether it has started is to be seen by the states of its replicas.
    ("topic_deletion", "resumeDecision"): _filled("ineligible=false replicaStates started"),
    ("topic_deletion", "scenario"): _deletion_scenario,
    ("truncation", "epochFetches"): _epoch_fetches,
    ("truncation", "fetchOffsetOutOfRange"): _filled(
        "followerLeo<localLeo,leo leaderLogStart<logStart,leaderStart=0 leaderLeo<leaderEnd"
    ),
    ("truncation", "fetchState"): _fetch_state,
    ("truncation", "leaderFetchValidation"): _validation,
    ("truncation", "loops"): _truncation_rounds,
    ("truncation", "offsetTruncationState"): _truncation,
    ("truncation", "offsetTruncationStateOld"): _old_truncation,
    ("truncation", "scenario"): _fetcher_scenario,
    ("zk_store", "createSequential"): _filled("prefix<path times<count=1"),
    ("zk_store", "encode"): _encode,
    ("zk_store", "decodeReassign"): _filled("json<data,text,znode"),
    ("zk_store", "encodeReassign"): _filled("map<targets,target,reassignment"),
    ("zk_store", "setReassignment"): _filled("map<targets,target,reassignment"),
    ("zk_store", "conditionalUpdate"): _znode_calls,
    ("zk_store", "epochCalls"): _znode_calls,
    ("zk_store", "deleteNotifications"): _notifications,
    ("zk_store", "deleteTopicDeletions"): _filled('topics=["t"]'),
    ("zk_store", "createStates"): _created_states,
    ("zk_store", "readStates"): _read_states,
    ("zk_store", "brokerSequenceId"): _filled("times<count,calls=1"),
    ("zk_store", "propagateIsr"): _isr_changes,
    ("zk_store", "propagateLogDir"): _log_dir_events,
    ("zk_store", "readNotifications"): _notifications,
    ("zk_store", "registerBroker"): _registration,
    ("zk_store", "updateLeaderAndIsr"): _update_states,
}
"""By file and operation, how an input is completed."""


def completed(
    file: str,
    operation: str,
    given: Mapping[str, Any],
    release: str | None = None,
    known: dict[str, None] | None = None,
) -> Fields:
    """Completes an input with the fields that it leaves out; the given one stays unchanged.

    Defaults are those of a release, by default of the newest one. ``known`` gets the names read.
    """
    fields = Fields(_said(given, NULLS.get((file, operation), frozenset())), f"{file} {operation}")
    fields.release = None if release is None else Release.of(release)
    fields.known = {} if known is None else known
    for name, others in ALIKE.items():
        fields.fill(name, *others)
    if type(fields.get("brokers")) is int:  # how many, numbered from 0
        fields["brokers"] = list(range(fields["brokers"]))
    for step in [one for name in STEPS for one in fields.rows(name)]:
        step.fill("do", "op", "call", "step", "action", "add")
        if "do" in step:
            step["do"] = step_called(step["do"])
    complete = SHAPES.get((file, operation))
    if complete is not None:
        with _naming_what_it_stumbles_over(fields):
            complete(fields)
    return fields


@contextmanager
def _naming_what_it_stumbles_over(said: Fields) -> Iterator[None]:
    """A fault is that of the field which was asked for last: its value is of no known form.

    What is no word of Python's, but a sentence of an answer's own, is said as well.
    """
    try:
        yield
    except (AttributeError, LookupError, TypeError) as fault:
        last = next(reversed(said.known), None)
        own = str(fault.args[0]) if isinstance(fault, KeyError) and fault.args else ""
        why = f": {own}" if " " in own else ""
        raise NotUnderstood(f"{said.where}: not understood: field {last!r}{why}") from fault


STEPS = ("steps", "ops", "calls")
"""What an operation's parts in time are called."""


def _understood(said: Fields, given: Mapping[str, Any]) -> None:
    """What a case says was taken account of, as far as a natural value may have stood for it.

    A condition that is met (a field that is true) and that nobody asked for changes what is asked.
    So does a field that shares words with one whose value the case was taken not to say.
    """
    known = {meaning(name) for name in said.known}
    natural = {word for name in said.natural for word in meaning(name).split()}
    for name, value in given.items():
        if meaning(name) in known:
            continue
        if value is True or not natural.isdisjoint(meaning(name).split()):
            raise NotUnderstood(f"{said.where}: not understood: field {name!r}")
    for step in [one for name in STEPS for one in said.rows(name)]:
        _understood(step, dict(step))


def reading(
    answers: Mapping[tuple[str, str], Callable[[Any], Any]],
) -> dict[tuple[str, str], Answer]:
    """Wraps answer functions so that they get completed inputs."""
    return {key: _reads(key, answer) for key, answer in answers.items()}


def _reads(key: tuple[str, str], answer: Callable[[Any], Any]) -> Answer:
    def ask(question: Question) -> Any:
        first: ValueError | None = None
        answered, given = False, question["input"]
        for _ in range(MOST_RENAMED):
            known: dict[str, None] = {}
            try:
                got, answered = ask_about(question, given, known), True
            except ValueError as fault:  # a field is missing, or not understood
                first = first or fault
                if given is not question["input"]:
                    break  # what was said before stands
            again = _near_names(given, known)
            if again is None:
                break
            given = again
        if not answered:
            assert first is not None, "it was asked"
            raise first
        return got

    def ask_about(question: Question, given: Mapping[str, Any], known: dict[str, None]) -> Any:
        asked = completed(*key, given, question["release"], known)
        with _naming_what_it_stumbles_over(asked):
            got = answer({**question, "input": asked})
        _understood(asked, given)
        return got

    return ask


MOST_RENAMED = 4
"""Fields of a case that are read under near names, and one."""

_NOT_READ = ("op", "note", "why", "versions")
_ANYWHERE = {name for own, others in ALIKE.items() for name in (own, *others)}


def _near_names(given: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any] | None:
    """An input in which a field that nobody reads has the name of one that was looked for.

    That is the one with which it shares the most of its words; None if there is none to rename.
    """
    read = {meaning(name) for name in known}
    said = {meaning(name) for name in given}
    missing = [name for name in known if meaning(name) not in said and name not in _ANYWHERE]
    for name, value in given.items():
        if meaning(name) in read or name in _NOT_READ or value is None:
            continue
        near = max(missing, key=lambda one: _nearness(name, one), default=name)
        if near != name and _nearness(name, near)[0]:
            return {near if one == name else one: each for one, each in given.items()}
    return None


def _nearness(name: str, other: str) -> tuple[int, int]:
    """The letters of the words that two names share, and how few of the second one's are left."""
    mine, its = ({word.removesuffix("s") for word in meaning(one).split()} for one in (name, other))
    return sum(len(word) for word in mine & its if len(word) > 1), -len(its - mine)

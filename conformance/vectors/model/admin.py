"""The model's answers about an administrator's requests, and their effects on disks.

The administrator's transitions of `topics` are taken; if one is not possible, the tool refuses with
Kafka's exception. A deletion continues until no step is due. Writes under `/admin`, `/brokers/ids`
and a partition's state are answered by `cluster` and `replication`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.plain_rules import topic_names
from conformance.vectors import remaining
from conformance.vectors.compare import ByRule
from conformance.vectors.model.stage import ModelStage, Place, Ranks
from conformance.vectors.model.topics import CONTROLLER, DELETION, HEARS, TASKS, Topic
from conformance.vectors.model.topics import create as first_state
from conformance.vectors.placements import brokers_of
from conformance.vectors.questions import NotInModel
from conformance.vectors.remaining import Remaining
from impl.releases import Release
from model.protocol.assignment import AssignmentRefused, assign_replicas

Question = Mapping[str, Any]

CREATES, ADDS, DELETES = "admin_creates_topic", "admin_adds_partition", "admin_deletes_topic"
OBEYS = ("broker_obeys_leader_and_isr", "broker_stops_replicas")
RETURNS = ("controller_sees_start", "controller_elects_for_started")
GROWS = ("controller_sees_partitions", "controller_undoes_addition", "controller_skips_addition")
FAILOVER = (
    "controller_reads_context", "replica_state_machine_starts", "partition_state_machine_starts",
)  # fmt: skip
MOST_ROUNDS = 12


def _tool(question: Question, partitions: int, *steps: str) -> Topic:
    """A topic of so many partitions on one broker, none if it does not exist."""
    return Topic(question, [[0]] * partitions, [0], *steps)


def create(question: Question) -> dict[str, Any]:
    """A topic is created, if none has that name or one that collides with it."""
    asked = question["input"]
    name = asked["topic"]
    known = asked.get("existing", ())
    alike = [one for one in known if one != name and topic_names.collide(one, name)]
    try:
        assign_replicas(brokers_of(asked), asked["nPartitions"], asked["rf"], 0, 0)
    except AssignmentRefused as unplaced:
        return ByRule(error=unplaced.exception)
    if not topic_names.is_allowed(name) or alike:
        return ByRule(error="InvalidTopicException")
    tool = _tool(question, 1 if asked.get("exists") or name in known else 0, CREATES)
    created = tool.does(CREATES, 1)
    refused = not created and not asked.get("ifNotExists")
    return {"error": "TopicExistsException" if refused else None}


def alter(question: Question) -> dict[str, Any]:
    """Partitions are added one by one, up to the requested number."""
    asked = question["input"]
    there = asked["existing"] if asked.get("exists", True) else 0
    wanted = asked.get("requested", there + 1)
    tool = _tool(question, max(there, wanted), ADDS)
    for number in range(there, max(there, wanted)):
        tool.put({("zk.assignment", (number, 0)): None})
    first = min(there, wanted - 1)
    grown = there > 0 and all(tool.does(ADDS, number, 1) for number in range(first, wanted))
    if grown or (not there and asked.get("ifExists")):
        return {"error": None}
    if not there:
        return {"error": "IllegalArgumentException"}
    named = Release.of(question["release"]).since("1.0")
    return {"error": "InvalidPartitionsException" if named else "AdminOperationException"}


def delete_request(question: Question) -> dict[str, Any]:
    """A request for a topic's deletion, or the error that there is no such topic."""
    asked = question["input"]
    tool = _tool(question, 1 if asked.get("exists", True) else 0, DELETES)
    marked = tool.does(DELETES)
    return {"error": None if marked or asked.get("ifExists") else "IllegalArgumentException"}


def delete_twice(question: Question) -> dict[str, Any]:
    """The second request for the same deletion."""
    tool = _tool(question, 1, DELETES)
    tool.does(DELETES)
    again = tool.does(DELETES)
    return {"secondError": None if again else "TopicAlreadyMarkedForDeletionException"}


# Deletions, with brokers that carry them out


class NotQuiescent(AssertionError):
    """Brokers and controller still have something to do after `MOST_ROUNDS`."""


class TopicDeletion:
    """A topic on some brokers, and every step of its deletion.

    Partitions that are ``lost`` have no znodes any more.
    """

    def __init__(self, question: Question) -> None:
        asked = question["input"]
        replicas = list(asked["assignment"].values())
        self.added, lost = len(asked["added"]), asked["lost"]
        self.existing, self.partitions = len(replicas), len(replicas) + self.added
        grows = (ADDS, *GROWS) if self.added else ()
        self.topic = topic = Topic(
            question, replicas, asked["live"], *DELETION, *TASKS, *OBEYS, *RETURNS, DELETES,
            CREATES, *FAILOVER, *grows, may_grow=self.added, delete_topic_enable=True,
        )  # fmt: skip
        for number, ids in enumerate(replicas):
            live = [one for one in ids if one in asked["live"]]
            if number not in lost:
                topic.registered(number, next(iter(live), None), live)
                topic.partition(number, "OnlinePartition")
            for broker in ids:
                topic.replica(
                    number, broker, "OnlineReplica" if broker in live else "OfflineReplica"
                )
                at = topic.ids[broker]
                directory: Place = ("replica.directory", (at, number))
                topic.put({directory: "current", ("up", (at,)): broker in live})
        if lost:
            self.fails_over()
        self.run_until_quiescent()

    def run_until_quiescent(self) -> None:
        """Take every step that is due until none changes the state. NotQuiescent."""
        topic = self.topic
        for _ in range(MOST_ROUNDS):
            before = topic.state
            for step in ("controller_queues_deletion", *GROWS, "controller_elects_for_started"):
                topic.take(step)
                topic.goes_on()
            for number in topic.ids.values():
                for step in OBEYS:
                    topic.does(step, number, 1)
                topic.take(HEARS, number)
                topic.goes_on()
            if topic.state == before:
                return
        raise NotQuiescent(f"a step still changes the state in round {MOST_ROUNDS}")

    def starts(self, broker: int) -> None:
        """A broker starts again, with what is on its disk."""
        number = self.topic.ids[broker]
        self.topic.put({("zk.registered", (number,)): True, ("up", (number,)): True})
        self.topic.take("controller_sees_start", number)
        self.run_until_quiescent()

    def fails_over(self) -> None:
        """A new controller reads ZooKeeper."""
        self.topic.remember(task="reads_zookeeper")
        for step in FAILOVER:
            self.topic.take(step)
            self.topic.goes_on()
        self.run_until_quiescent()

    def grows(self) -> None:
        """Partitions are added to the topic, if it exists."""
        for number in range(self.existing, self.partitions):
            self.topic.does(ADDS, number, *self.topic.ids.values())
        self.run_until_quiescent()

    def holds(self, number: int) -> bool:
        """Whether a broker has a directory of a partition."""
        read, state = self.topic.stage.read, self.topic.state
        return any(
            read(state, "replica.directory", at, number) != "none" for at in self.topic.ids.values()
        )

    def left(self) -> Remaining:
        """The things that still exist."""
        held = [self.holds(number) for number in range(self.partitions)]
        return Remaining({
            remaining.TOPIC: self.topic.has("zk.assignment", 0, 0),
            remaining.REQUEST: self.topic.has("zk.requested"),
            remaining.LOGS: any(held),
            remaining.ADDED_LOGS: any(held[self.existing :]),
        })  # fmt: skip


def delete(question: Question) -> dict[str, Any]:
    """A topic is deleted while some brokers are down; they may start again."""
    asked = question["input"]
    deletion = TopicDeletion(question)
    deletion.topic.does(DELETES)
    deletion.run_until_quiescent()
    deletion.grows()
    if asked["failsOver"]:
        deletion.fails_over()
    before = deletion.left()
    for broker in asked["thenStart"]:
        deletion.starts(broker)
    answer = {"eventually": deletion.left(), "before": before}
    return answer | _created_again(question, deletion) if asked["again"] else answer


def _created_again(question: Question, deletion: TopicDeletion) -> dict[str, Any]:
    """A topic of that name is created: the state of its first partition."""
    replicas = question["input"]["assignment"]["0"]
    ids = [deletion.topic.ids[one] for one in replicas[:3]]
    if not deletion.topic.does(CREATES, *[*ids, None, None][:3], 1):
        return {"recreated": False}
    live = [*question["input"]["live"], *question["input"]["thenStart"]]
    first = first_state(question, replicas, live)
    return {"recreated": True, "result": True, **(first or {})}


# Znodes

ASKS, CLEANS = "admin_asks_for_preferred_leaders", "controller_deletes_preferred_request"
ELECTS = (
    "controller_elects_leader", "controller_election_conflicts", "controller_election_is_fenced",
)  # fmt: skip
REPLACES = "broker_replaces_its_old_registration"
MISTAKES = "broker_keeps_registration_of_old_session"
STARTS = "broker_starts"
ANY_VERSION, UNKNOWN = -1, -2
LOOKS_FOR_ITS_SESSIONS = (
    "the model's broker replaces what its last session left, as Kafka's do since 2.2 (KAFKA-7165)"
)
CLUSTER = {
    "brokers": 2, "partitions": 1, "replicas": 2, "versions": 1, "epoch": 1, "controllers": 2,
    "queue": 2, "events": 2, "endpoints": 0,
}  # fmt: skip
FENCED = "actual+1"
"""A version of /controller_epoch that is not the registered one."""


def create_preferred(question: Question) -> dict[str, Any]:
    """A preferred election is requested, and perhaps once more."""
    stage = ModelStage.of("cluster", question["release"], (ASKS,), CLUSTER)
    first = stage.step(ASKS, stage.state({}))
    if not question["input"].get("twice", True) or stage.step(ASKS, first) is not None:
        return {"second": None}
    return {"second": "NodeExistsException"}


def _controller(question: Question) -> dict[Place, object]:
    fenced = question["input"].get("controllerEpochZkVersion") == FENCED
    return {
        ("zk.controller", ()): CONTROLLER,
        ("zk.epoch", ()): 1 + fenced,
        ("zk.registered", (CONTROLLER,)): True,
        ("up", (CONTROLLER,)): True,
        ("belief", (CONTROLLER,)): 1,
    }


def delete_preferred(question: Question) -> dict[str, Any]:
    """A controller deletes the request of a preferred election."""
    stage = ModelStage.of("cluster", question["release"], (CLEANS,), CLUSTER)
    wanted: Place = ("partition.wanted", (0,))
    before = stage.state(
        {**_controller(question), ("cache.stage", (CONTROLLER,)): "cleaning", wanted: True}
    )
    after = stage.step(CLEANS, before, CONTROLLER)
    return {
        "exception": "ControllerMovedException" if after is None else None,
        "znodeStays": bool(stage.read(before if after is None else after, *wanted[:1], 0)),
    }


def register_broker(question: Question) -> dict[str, Any]:
    """A broker registers while its znode exists already."""
    results = [_registered(question, owner) for owner in question["input"]["existingOwner"]]
    return {"results": results, "result": results[0]}


def _registered(question: Question, owner: str) -> str:
    me = 1
    if owner == "my previous session" and not Release.of(question["release"]).since("2.2"):
        raise NotInModel(LOOKS_FOR_ITS_SESSIONS)
    stage = ModelStage.of("cluster", question["release"], (REPLACES, MISTAKES, STARTS), CLUSTER)
    another = owner not in ("my current session", "my previous session")
    state = stage.state({
        ("zk.registered", (me,)): True,
        ("up", (me,)): not another,  # a process of that id, which is not this one
        ("zk.outlived", (me,)): owner == "my previous session",
    })  # fmt: skip
    if stage.attempt(REPLACES, state, me) is not None:
        return "deleted then created"
    starts = stage.attempt(STARTS, state, me) is not None
    return "NodeExistsException" if another and not starts else "ok"


def update_states(question: Question) -> dict[str, Any]:
    """Conditional writes of partitions' states, each with the version that was read.

    In the model an elected partition has a state; a rule answers if there is none.
    """
    asked = question["input"]
    missing = [name for name in asked["expectedVersions"] if name not in asked["znodes"]]
    answer: dict[str, Any] = {
        "updated": {}, "retry": [], "failed": dict.fromkeys(missing, "NONODE")
    }  # fmt: skip
    if missing and asked.get("controllerEpochZkVersion") == "actual+1":
        return ByRule(exception="ControllerMovedException")  # its epoch is looked at first
    for name, expected in asked["expectedVersions"].items():
        if name in missing:
            continue
        versions = Ranks([0, expected, asked["znodes"][name]])
        bounds = {
            "brokers": 2, "log": 1, "records": 1, "epoch": 2, "controllers": 2,
            "versions": versions.last + 1,
        }  # fmt: skip
        stage = ModelStage.of("replication", question["release"], ELECTS, bounds)
        state = stage.state({
            **_controller(question),
            ("zk.leader_epoch", ()): 1,
            ("zk.version", ()): versions.of(asked["znodes"][name]),
            ("cache.held", (CONTROLLER,)): True,
            ("cache.version", (CONTROLLER,)): versions.of(expected),
            ("cache.isr", (CONTROLLER, CONTROLLER)): True,
            ("cache.live", (CONTROLLER, CONTROLLER)): True,
        })  # fmt: skip
        elects, conflicts, is_fenced = (
            stage.attempt(one, state, CONTROLLER, CONTROLLER) for one in ELECTS
        )
        if is_fenced is not None:
            return {"exception": "ControllerMovedException"}
        if elects is not None:
            written = stage.read(elects, "zk.version") - stage.read(state, "zk.version")
            answer["updated"][name] = expected + written
        elif conflicts is not None:
            answer["retry"].append(name)
    return ByRule(answer) if missing else answer


def epoch_calls(question: Question) -> dict[str, Any]:
    """Reads and conditional writes of one znode, by ZooKeeper's rule of versions."""
    epoch = version = None
    pairs, results = question["input"]["pairs"], list[Any]()
    for name, *about in question["input"]["calls"]:
        if name == "create" and epoch is None:
            epoch, version = (about or [None])[0], 0
            results.append("OK")
        elif name == "create":
            results.append("NODEEXISTS")
        elif version is None:
            results.append([False if name == "set" else None, UNKNOWN] if pairs else "NONODE")
        elif name == "get":
            results.append([epoch, version] if pairs else epoch)
        elif about[1] not in (version, ANY_VERSION):
            results.append([False, UNKNOWN] if pairs else "BADVERSION")
        else:
            epoch, version = about[0], version + 1
            results.append([True if pairs else "OK", version])
    return ByRule(results=results)

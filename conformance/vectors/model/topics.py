"""The model's answers about one topic: a new controller's view, creation, deletion.

Transitions of `topics` are run in the state that a question describes. The controller is a broker
of its own, which hosts no replica.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from conformance.vectors.model.stage import ModelStage, Place

Question = Mapping[str, Any]

CONTROLLER = 1
FIRST_EPOCH = 0
"""The leader epoch and the zkVersion of a state that is created; `topics` counts neither."""

DELETION = (
    "controller_queues_deletion", "controller_drops_request",
    "controller_receives_stop_replica_response", "controller_sees_failure",
)  # fmt: skip
"""The events of a deletion."""
TASKS = (
    "controller_elects_for_failed", "controller_takes_replicas_offline",
    "deletion_starts", "controller_stops_replicas", "controller_deletes_replicas",
    "deletion_waits", "deletion_is_retried", "deletion_is_complete",
    "partition_znode_is_deleted", "topic_znode_is_deleted", "request_is_removed",
)  # fmt: skip
"""What the controller's event thread does of itself, once an event made it begin."""


class Topic:
    """A topic that a controller knows, on some brokers."""

    def __init__(
        self,
        question: Question,
        partitions: Sequence[Sequence[int]],
        live: Collection[int],
        *steps: str,
        may_grow: int = 0,
        **switches: object,
    ) -> None:
        self.partitions, self.taken = partitions, list[str]()
        named = {one for replicas in partitions for one in replicas}
        self.ids = {broker: number for number, broker in enumerate(sorted(named), CONTROLLER + 1)}
        bounds = {
            "brokers": max(3, 1 + len(self.ids)),
            "partitions": max(1, len(partitions) + may_grow),
            "controllers": 1,
        }  # fmt: skip
        self.stage = ModelStage.of("topics", question["release"], steps, bounds, **switches)
        self.state = self.stage.state({
            ("zk.controller", ()): CONTROLLER,
            ("zk.epoch", ()): 1,
            ("belief", (CONTROLLER,)): 1,
            ("cache.task", (CONTROLLER,)): "waits",
            ("cache.live", (CONTROLLER, CONTROLLER)): True,
            ("cache.reached", (CONTROLLER, CONTROLLER)): True,
        })  # fmt: skip
        for number, replicas in enumerate(partitions):
            for place, broker in enumerate(replicas):
                self.put({
                    ("zk.assignment", (number, place)): self.ids[broker],
                    ("cache.known", (CONTROLLER, number, place)): self.ids[broker],
                })  # fmt: skip
        for broker in self.ids:
            self.lives(broker, broker in live)

    def put(self, cells: Mapping[Place, object]) -> None:
        """Changes the state as a question gives it."""
        self.state = self.stage.state(cells, self.state)

    def remember(self, **cells: object) -> None:
        """Changes what the controller has in memory."""
        self.put({("cache." + name, (CONTROLLER,)): value for name, value in cells.items()})

    def lives(self, broker: int, lives: bool = True) -> None:
        """A broker is registered and known to the controller; or neither."""
        number = self.ids[broker]
        self.put({
            ("zk.registered", (number,)): lives,
            ("cache.live", (CONTROLLER, number)): lives,
            ("cache.reached", (CONTROLLER, number)): lives,
        })  # fmt: skip

    def registered(self, number: int, leader: int | None, isr: Collection[int]) -> None:
        """A partition has a state, which the controller knows."""
        first = None if leader is None else self.ids.get(leader)
        self.put({
            ("zk.state.exists", (number,)): True,
            ("zk.state.leader", (number,)): first,
            ("zk.state.epoch", (number,)): 1,
            ("cache.led", (CONTROLLER, number)): True,
            ("cache.leader", (CONTROLLER, number)): first,
            **{("zk.state.isr", (number, self.ids[one])): True for one in isr},
        })  # fmt: skip

    def replica(self, number: int, broker: int, state: str | None = None) -> str:
        """The state of a replica; a given one is set before."""
        place = "cache.replica", (CONTROLLER, number, self.ids[broker])
        if state is not None:
            self.put({place: state})
        return str(self.stage.read(self.state, place[0], *place[1]))

    def partition(self, number: int, state: str | None = None) -> str:
        """The state of a partition; a given one is set before."""
        place = "cache.partition", (CONTROLLER, number)
        if state is not None:
            self.put({place: state})
        return str(self.stage.read(self.state, place[0], *place[1]))

    def has(self, name: str, *index: int) -> bool:
        """Whether a cell is true."""
        return bool(self.stage.read(self.state, name, *index))

    def take(self, transition: str, *others: int) -> bool:
        """Takes a transition of the controller, if it is possible."""
        return self.does(transition, CONTROLLER, *others)

    def does(self, transition: str, *arguments: int | None) -> bool:
        """Takes a transition of any actor, if it is possible."""
        after = self.stage.attempt(transition, self.state, *arguments)
        if after is None:
            return False
        self.state = after
        self.taken.append(transition)
        return True

    def goes_on(self, task: str = "") -> None:
        """The event thread continues, with this task if one is given, until it waits."""
        if task:
            self.remember(task=task)
        while any(self.take(one) for one in TASKS):
            continue

    def sent(self, number: int, field: str) -> dict[int, str]:
        """By broker, the requests in flight to it about a partition; a dead broker is sent
        nothing."""
        found = {
            broker: str(self.stage.read(self.state, "request." + field, 1, at, number))
            for broker, at in self.ids.items()
            if self.has("cache.live", CONTROLLER, at)
        }
        return {broker: kind for broker, kind in found.items() if kind != "none"}


# A new controller

STARTS = ("controller_reads_context", "replica_state_machine_starts")


def initial_state(question: Question) -> dict[str, Any]:
    """A partition's state when a controller has read ZooKeeper."""
    asked = question["input"]
    leader, live = asked["leader"], asked["live"]
    replicas = sorted({*live, *([leader] if leader is not None and leader >= 0 else [])}) or [0]
    topic = Topic(question, [replicas], live, *STARTS)
    if leader is not None:
        topic.registered(0, leader, replicas)
    topic.remember(task="reads_zookeeper")
    topic.take(STARTS[0])
    return {"state": topic.partition(0)}


def replica_startup(question: Question) -> dict[str, Any]:
    """A replica's state when a controller's replica state machine has started."""
    asked = question["input"]
    topic = Topic(question, [asked["assignment"]], asked["live"], *STARTS)
    topic.remember(task="reads_zookeeper")
    for step in STARTS:
        topic.take(step)
    return {"state": topic.replica(0, asked["replica"])}


# Creation


def create(
    question: Question, replicas: Sequence[int], live: Collection[int], exists: bool = False,
    answers: bool = True,
) -> dict[str, Any] | None:  # fmt: skip
    """The first state of a partition and its receivers; None if no state is created.

    `exists`: another has created one meanwhile; else ZooKeeper `answers` the controller's session.
    """
    topic = Topic(question, [replicas], live, "controller_brings_partitions_online")
    topic.partition(0, "NewPartition")
    topic.put({("zk.registered", (CONTROLLER,)): answers})
    if exists:
        topic.put({("zk.state.exists", (0,)): True})
    topic.remember(task="elects_new")
    topic.take("controller_brings_partitions_online")
    if topic.partition(0) == "NewPartition":
        return None
    leader = topic.stage.read(topic.state, "zk.state.leader", 0)
    return {
        "leader": next(broker for broker, number in topic.ids.items() if number == leader),
        "isr": [one for one in replicas if topic.has("zk.state.isr", 0, topic.ids[one])],
        "leaderEpoch": FIRST_EPOCH,
        "zkVersion": FIRST_EPOCH,
        "to": list(topic.sent(0, "order")),
    }


HEARS = "controller_receives_stop_replica_response"
MOVES = {
    "NewReplica": ("makes_replicas", "controller_creates_new_replicas"),
    "OfflineReplica": ("stops", "controller_stops_replicas"),
    "ReplicaDeletionStarted": ("deletes", "controller_deletes_replicas"),
    "ReplicaDeletionSuccessful": ("waits", HEARS),
    "ReplicaDeletionIneligible": ("waits", HEARS),
    "NonExistentReplica": ("resumes", "deletion_is_complete"),
}
"""By the state that a replica goes to: the controller's task, and the transition."""


def replica_moves(question: Question, live: Sequence[int]) -> dict[str, Any]:
    """The result of a replica's transition for which no state is written."""
    asked = question["input"]
    replica, before, target = asked["replica"], asked["state"], asked["target"]
    state = asked.get("zkState", asked.get("leadership"))
    if target == "OnlineReplica":
        enlists = ("enlists", "controller_brings_new_replicas_online")
        task, step = enlists if before == "NewReplica" else ("waits", "controller_sees_start")
    else:
        task, step = MOVES[target]
    topic = Topic(question, [list(dict.fromkeys([*asked["assignment"], replica]))], live, step)
    number = topic.ids[replica]
    if state is not None:
        topic.registered(0, state["leader"], state["isr"])
    # All of a topic's replicas cease to exist together.
    for one in topic.partitions[0] if target == "NonExistentReplica" else (replica,):
        topic.replica(0, one, before)
    if step == HEARS:
        answer = "deleted" if target == "ReplicaDeletionSuccessful" else "failed"
        topic.put({("request.stop", (1, number, 0)): answer})
    if step == "controller_sees_start":
        topic.put({("cache.live", (CONTROLLER, number)): False})
    topic.remember(task=task, queued=target == "NonExistentReplica")
    topic.take(step, *([number] if task == "waits" else []))
    stops = topic.sent(0, "stop")
    return {
        "state": topic.replica(0, replica),
        "to": [one for one in topic.sent(0, "order") if one == replica],
        "stopReplica": [{"to": [replica], "delete": stops[replica] == "delete"}]
        if replica in stops else [],
    }  # fmt: skip


# Deletion


ACTIONS = {
    "deletion_is_complete": "completeDeletion", "deletion_is_retried": "retry",
    "deletion_starts": "start", "deletion_waits": "wait",
}  # fmt: skip


def resume_decision(question: Question) -> dict[str, Any]:
    """What to do for a queued topic, by the one transition that is possible."""
    asked = question["input"]
    replicas = list(range(len(asked["replicaStates"])))
    topic = Topic(question, [replicas], replicas, *ACTIONS)
    topic.registered(0, None, replicas)
    for broker, state in zip(replicas, asked["replicaStates"], strict=True):
        topic.replica(0, broker, state)
    topic.remember(task="resumes", queued=True, ineligible=bool(asked["ineligible"]))
    return {"action": next(action for name, action in ACTIONS.items() if topic.take(name))}


def scenario(question: Question) -> dict[str, Any]:
    """A deletion step by step; topics are independent of each other."""
    asked = question["input"]
    topics = {name: _topic(question, shape) for name, shape in asked["topics"].items()}
    seen = []
    for step in asked["steps"]:
        for name, topic in topics.items():
            topic.taken.clear()
            if step["do"] == "init":
                _begins(topic, name in step["topics"], name in step["ineligible"])
            elif name in step["topics"] or step["do"].startswith("broker"):
                _do(topic, step)
        seen.append(_observe(topics))
    return seen[-1] | {"afterStep": seen}


def _topic(question: Question, shape: Mapping[str, int]) -> Topic:
    asked = question["input"]
    replicas = asked["brokers"][: shape["rf"]]
    topic = Topic(
        question, [replicas] * shape["partitions"], asked["brokers"], *DELETION, *TASKS, STARTS[0],
        delete_topic_enable=asked["deleteTopicEnable"],
    )  # fmt: skip
    for number in range(shape["partitions"]):
        topic.registered(number, replicas[0], replicas)
        topic.partition(number, "OnlinePartition")
        for broker in replicas:
            topic.replica(number, broker, "OnlineReplica")
    return topic


def _begins(topic: Topic, requested: bool, ineligible: bool) -> None:
    """A new controller finds the request, and whether a replica is on a dead broker."""
    dead = next(iter(topic.ids.values()))
    topic.put({
        ("zk.requested", ()): requested,
        ("zk.registered", (dead,)): not ineligible,
        ("cache.task", (CONTROLLER,)): "reads_zookeeper",
    })  # fmt: skip
    topic.take(STARTS[0])
    topic.lives(next(iter(topic.ids)))  # that it is ineligible is all that a question says
    topic.remember(task="waits")


def _do(topic: Topic, step: Mapping[str, Any]) -> None:
    broker = int(step.get("broker", -1))
    match step["do"]:
        case "enqueue":
            topic.put({("zk.requested", ()): True,
                       ("cache.fired.deletions", (CONTROLLER,)): True})  # fmt: skip
            if not topic.take("controller_queues_deletion"):
                topic.take("controller_drops_request")
        case "completeReplicaDeletion" | "failReplicaDeletion" as call:
            for one in topic.ids.keys() & step["brokers"]:
                for number in range(len(topic.partitions)):
                    if topic.replica(number, one) == "ReplicaDeletionStarted":
                        answer = "deleted" if call.startswith("complete") else "failed"
                        topic.put({("request.stop", (1, topic.ids[one], number)): answer})
                topic.take(HEARS, topic.ids[one])
                topic.goes_on()
        case _ if broker not in topic.ids and step["do"].startswith("broker"):
            return
        case "brokerDown" | "brokerDownAndFailReplicaDeletion":
            topic.put({
                ("zk.registered", (topic.ids[broker],)): False,
                ("cache.reached", (CONTROLLER, topic.ids[broker])): False,
            })  # fmt: skip
            topic.take("controller_sees_failure", topic.ids[broker])
        case "brokerUpAndResume" | "resume" as call:
            # What resumes is asked of the deletion manager alone: the replicas are not started.
            if call == "brokerUpAndResume":
                topic.lives(broker)
            if topic.has("cache.queued", CONTROLLER):
                topic.remember(ineligible=False, task="resumes")
        case "markIneligible":
            topic.remember(ineligible=topic.has("cache.queued", CONTROLLER))
        case other:
            raise ValueError(f"no step of a deletion is called {other!r}")
    topic.goes_on()


def _observe(topics: Mapping[str, Topic]) -> dict[str, Any]:
    """The states of the replicas of the first topic that is left, as [partition, broker], and the
    queues."""
    states: dict[str, list[list[int]]] = {}
    partitions = {
        name: [
            at for at in range(len(topic.partitions)) if topic.has("cache.known", CONTROLLER, at, 0)
        ]
        for name, topic in topics.items()
    }
    partition_state = None
    for first in [one for one in sorted(topics) if partitions[one]][:1]:
        for at in partitions[first]:
            partition_state = topics[first].partition(0)
            for broker in topics[first].partitions[at]:
                state = topics[first].replica(at, broker)
                states.setdefault(state, []).append([at, broker])
    queues = (("toBeDeleted", "queued"), ("started", "started"), ("ineligible", "ineligible"))
    return {
        "replicas": states,
        "partitionState": partition_state,
        "partitions": [f"{one}-{at}" for one in sorted(topics) for at in partitions[one]],
        "metadataUpdateFor": [
            f"{one}-{at}" for one, topic in sorted(topics.items())
            if "deletion_starts" in topic.taken for at in partitions[one]
        ],
        **{
            shown: [one for one, topic in sorted(topics.items())
                    if topic.has("cache." + cell, CONTROLLER)]
            for shown, cell in queues
        },
    }  # fmt: skip


def delete_disabled(question: Question) -> dict[str, Any]:
    """A request for deletion where deletion is disabled."""
    topic = Topic(question, [[0]], [0], *DELETION, delete_topic_enable=False)
    topic.registered(0, 0, [0])
    _do(topic, {"do": "enqueue"})
    return {
        "deleteZnodeRemoved": not topic.has("zk.requested"),
        "topicExists": topic.has("zk.assignment", 0, 0),
        "leaderDefined": topic.has("zk.state.leader", 0),
    }


def delete_missing(question: Question) -> dict[str, Any]:
    """A request for the deletion of a topic that does not exist."""
    topic = Topic(question, [], [0], *DELETION)
    _do(topic, {"do": "enqueue"})
    return {
        "deleteZnodeRemoved": not topic.has("zk.requested"),
        "topics": question["input"]["existing"],
    }

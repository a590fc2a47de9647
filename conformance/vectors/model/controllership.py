"""The model's answers about becoming controller and being deposed (controller_flow.json).

The transitions of `election` are taken in the order that the question describes. Epochs and
versions are counted from those that the candidate read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.vectors.model.stage import ModelStage, Place

Question = Mapping[str, Any]

ME, OTHER = 1, 2
READS, WINS, LEARNS = "broker_reads_epoch", "broker_wins_election", "broker_learns_it_won"
READ = 1
"""The rank of the epoch that was read, and of its version: 0 is for none."""


def register_controller(question: Question) -> dict[str, Any]:
    """A registration while a znode exists, or is written concurrently."""
    asked = question["input"]
    registered = asked["epochZnode"] or [0, 0]
    epoch, version = asked.get("readEpoch", registered) or [0, 0]
    lost = bool(asked.get("retryAfterConnectionLoss"))
    holder = None if lost else asked["controllerZnode"]
    # How far the epoch is; after a lost reply the candidate's own write shows, or a later one.
    seen = max(registered[0] - epoch, registered[1] - version)
    ahead = 0 if lost else seen
    bounds = {"brokers": 2, "epoch": READ + 1 + max(0, seen), "writes": 1}
    stage = ModelStage.of("election", question["release"], (READS, WINS, LEARNS), bounds)
    at_first: dict[Place, object] = {
        ("session", (ME,)): True,
        ("session", (OTHER,)): True,
        ("zk.epoch", ()): READ,
        ("zk.epoch_version", ()): READ,
    }
    state = stage.step(READS, stage.state(at_first), ME)
    if holder is not None or ahead > 0:
        meanwhile: dict[Place, object] = {
            ("zk.controller", ()): None
            if holder is None
            else ME
            if holder == asked["me"]
            else OTHER,
            ("zk.epoch", ()): READ + max(0, registered[0] - epoch),
            ("zk.epoch_version", ()): READ + max(0, registered[1] - version),
        }
        state = stage.state(meanwhile, state)
    won = stage.step(WINS, state, ME)
    if won is None and holder == "exists then missing":
        state = stage.state({("zk.controller", ()): None}, state)
    if lost and won is not None:  # others may have come between the write and the look
        who = {None: None, asked["me"]: ME}
        after: dict[Place, object] = {
            ("zk.controller", ()): who.get(asked["controllerZnode"], OTHER),
            ("zk.epoch", ()): READ + registered[0] - epoch,
            ("zk.epoch_version", ()): READ + registered[1] - version,
        }
        won = stage.state(after, won)
    # The reply, or what the candidate finds when it looks whether the write was its own.
    elected = stage.step(LEARNS, won if won is not None else state, ME)
    if elected is None:
        return {"result": "ControllerMovedException"}
    return {
        "result": "elected",
        "epoch": epoch + stage.read(elected, "belief.epoch", ME) - READ,
        "epochZkVersion": version + stage.read(elected, "belief.version", ME) - READ,
    }


STEPS = (
    "broker_connects", READS, WINS, LEARNS, "broker_loses_controller_election", "broker_crashes",
    "session_expires",
)  # fmt: skip


def restarts(question: Question) -> dict[str, Any]:
    """All brokers, or one, start or stop: the resulting controller and its epoch."""
    asked = question["input"]
    brokers = range(1, asked["brokers"] + 1)
    bounds = {"brokers": max(2, asked["brokers"]), "epoch": 1 + len(asked["steps"]), "writes": 1}
    stage = ModelStage.of("election", question["release"], STEPS, bounds)
    state = stage.state({("session", (one,)): False for one in range(1, bounds["brokers"] + 1)})
    life = {"stop": STEPS[-2:]}
    for step in asked["steps"]:
        word, _, which = step.partition(" ")
        for broker in [int(which) + 1] if which else brokers:
            moves = [(one, broker) for one in life.get(word, STEPS[:1])]
            moves += [(one, other) for other in brokers for one in (READS, WINS, LEARNS)]
            for transition, about in moves:
                after = stage.attempt(transition, state, about)
                state = state if after is None else after
    holder = stage.read(state, "zk.controller")
    return {
        "controllerEpoch": stage.read(state, "zk.epoch"),
        **dict.fromkeys(("controller", "controllerZnode"), holder - 1 if holder else None),
    }


FENCED = "controller_write_is_fenced"
WRITES_BY = {
    "TopicCreation": "electing", "PreferredReplicaElection": "electing",
    "TopicDeletion": "closing", "PartitionReassignment": "assigning",
    "BrokerChange": "removing", "PartitionModifications": "electing",
}  # fmt: skip
"""What makes a controller write -> what it is about to write in `reassignment`: the partition's
state, or a znode whose version nobody compares. All of them carry the epoch that it won."""


def moved(question: Question) -> dict[str, Any]:
    """Another client increments the controller epoch; then the controller has to write."""
    asked = question["input"]
    if asked["trigger"] not in WRITES_BY:
        raise ValueError(f"no trigger is called {asked['trigger']!r}")
    bounds = {
        "brokers": 2, "replicas": 1, "records": 1, "epoch": 1, "controllers": 2, "versions": 1,
    }  # fmt: skip
    stage = ModelStage.of("reassignment", question["release"], (FENCED,), bounds)
    cells: dict[Place, object] = {
        ("zk.controller", ()): ME,
        ("zk.epoch", ()): 2 if asked["externalEpochBump"] else 1,
        ("zk.registered", (ME,)): True,
        ("up", (ME,)): True,
        ("belief", (ME,)): 1,
        ("cache.task", (ME,)): WRITES_BY[asked["trigger"]],
    }
    before = stage.state(cells)
    # Up to 2.0 no write carries the epoch, and the transition is none of the release's.
    after = stage.step(FENCED, before, ME) if stage.grounded.instances else None
    epoch = stage.read(before if after is None else after, "belief", ME)
    return {
        "exception": None if after is None else "ControllerMovedException",
        "resigned": epoch == 0,
        "epochInMemory": epoch,
    }

"""The model's answers about the order of requests when a broker starts (request_sequences.json).

The controller's event thread of `cluster` handles one event, stage by stage; the answer is what it
has queued for each broker by then. There are two partitions: one on every broker, and one of which
only the starting broker is in the ISR.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.vectors.model.stage import ModelStage, Place
from impl.releases import Release

Question = Mapping[str, Any]

CONTROLLER = 1
MOST_STEPS = 20
BOUNDS = {
    "brokers": 3, "partitions": 2, "replicas": 3, "versions": 2, "epoch": 3, "controllers": 1,
    "queue": 6, "events": 1, "endpoints": 0,
}  # fmt: skip
STEPS = (
    "controller_reads_context", "controller_sends_initial_update_metadata",
    "controller_starts_replica_state_machine", "controller_reads_state",
    "controller_elects_leader", "controller_finds_no_leader", "controller_sends_election_batch",
    "controller_removes_replica", "controller_finds_replica_not_in_isr",
    "controller_sends_removal_batch", "controller_sees_new_brokers",
    "controller_sees_bounced_brokers", "controller_misses_bounced_brokers",
    "controller_sends_update_metadata_for_new_brokers", "controller_brings_replicas_online",
)  # fmt: skip
NAMES = {"leader_and_isr": "LeaderAndIsr", "update_metadata": "UpdateMetadata"}
SHARED, LONE = 0, 1


def sequence(question: Question) -> dict[str, Any]:
    """The requests that every broker is sent."""
    asked = question["input"]
    came = int(asked["event"].rsplit(" ", 1)[1])
    brokers = [asked["controller"], *(b for b in asked["brokers"] if b != asked["controller"])]
    ids = {broker: number for number, broker in enumerate(brokers, CONTROLLER)}
    stage = ModelStage.of("cluster", question["release"], STEPS, BOUNDS)
    starts = came == asked["controller"]
    known = list(ids.values()) if starts else [ids[one] for one in brokers if one != came]
    waits = bool(asked.get("hasOfflinePartitionsElectable"))
    state = stage.state(_cells(ids, ids[came], known, starts, waits))
    for _ in range(MOST_STEPS):
        found = stage.advance(state, CONTROLLER)
        if found is None:
            break
        _, state = found
    lists = Release.of(question["release"]).since("2.2")
    return {f"toBroker{broker}": _queued(stage, state, ids[broker], lists) for broker in brokers}


FAILS, STARTS = "controller_removes_replica", "controller_sends_update_metadata_for_new_brokers"


def bounce(question: Question) -> dict[str, Any]:
    """A leader is back before the controller noticed that it was down."""
    came = CONTROLLER + 1
    ids = {CONTROLLER: CONTROLLER, came: came}
    stage = ModelStage.of("cluster", question["release"], STEPS, BOUNDS)
    cells = _cells(ids, came, list(ids), starts=False, waits=False)
    leads: Place = ("partition.state.leader", (LONE, 0))
    cells |= {leads: came, ("cache.reached", (CONTROLLER, came)): False}
    cells |= {
        (cell, (LONE, *at, number)): number == came
        for cell, at in (("partition.replicas", ()), ("partition.state.isr", (0,)))
        for number in ids
    }
    state, taken = stage.state(cells), list[str]()
    while (found := stage.advance(state, CONTROLLER)) is not None and len(taken) < MOST_STEPS:
        taken.append(found[0])
        state = found[1]
    last = stage.read(state, "partition.version", LONE)
    return {
        "treatedAs": [
            name for name, step in (("failure", FAILS), ("startup", STARTS)) if step in taken
        ],
        "finalLeaderSameBroker": stage.read(state, leads[0], LONE, last) == came,
    }


def _cells(
    ids: Mapping[int, int], came: int, known: list[int], starts: bool, waits: bool
) -> dict[Place, object]:
    blank = "controller_change"
    cells: dict[Place, object] = {
        ("up", (CONTROLLER,)): True,
        ("zk.controller", ()): CONTROLLER,
        ("zk.epoch", ()): 1,
        ("belief", (CONTROLLER,)): 1,
        ("cache.stage", (CONTROLLER,)): "starting" if starts else "idle",
        ("cache.events.end", (CONTROLLER,)): 0 if starts else 1,
        ("cache.events.at.kind", (CONTROLLER, 0)): blank if starts else "broker_change",
        ("partition.state.leader", (SHARED, 0)): CONTROLLER,
        ("partition.state.epoch", (SHARED, 0)): 1,
        ("partition.state.controller", (SHARED, 0)): 1,
        ("partition.state.leader", (LONE, 0)): None if waits else CONTROLLER,
        ("partition.state.epoch", (LONE, 0)): 1,
        ("partition.state.controller", (LONE, 0)): 1,
        ("partition.context.version", (SHARED, CONTROLLER)): 0,
        ("partition.context.version", (LONE, CONTROLLER)): 0,
        ("partition.context.offline", (LONE, CONTROLLER)): waits and not starts,
    }
    for number in range(1, BOUNDS["brokers"] + 1):
        exists = number in ids.values()
        alone = came if waits else CONTROLLER
        cells |= {
            ("zk.registered", (number,)): exists,
            ("cache.live", (CONTROLLER, number)): number in known and not starts,
            ("cache.reached", (CONTROLLER, number)): number in known and not starts,
            ("partition.replicas", (SHARED, number)): exists,
            ("partition.place", (SHARED, number)): number - 1,
            ("partition.state.isr", (SHARED, 0, number)): number in known,
            ("partition.replicas", (LONE, number)): number == alone,
            ("partition.place", (LONE, number)): number - 1,
            ("partition.state.isr", (LONE, 0, number)): number == alone,
        }
    return cells


def _queued(stage: ModelStage, state: Any, number: int, lists: bool) -> list[str]:
    """The names of a broker's requests; since 2.2 with how much the first UpdateMetadata tells."""
    names: list[str] = []
    for slot in range(stage.read(state, "cache.queue.end", CONTROLLER, number)):
        name = NAMES[stage.read(state, "cache.queue.at.kind", CONTROLLER, number, slot)]
        if lists and name == "UpdateMetadata" and name not in {n.split("(")[0] for n in names}:
            about = [
                stage.read(state, "cache.queue.at.about", CONTROLLER, number, slot, partition)
                for partition in (SHARED, LONE)
            ]
            name += "(no partitions)" if about == [None, None] else "(all partitions)"
        names.append(name)
    return names

"""The model's answers about a single transition of a partition or a replica.

The tables of `topics` give the transition. A leader is elected, and a state created, by the
transitions of `cluster`, `reassignment` and `topics`; a live replica goes offline by those of
`reassignment`; where no state is written, `topics` has the transition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conformance.vectors.model import machines, topics
from conformance.vectors.model.machines import CONTROLLER, ControllerScenario
from conformance.vectors.model.stage import ModelStage, Place
from impl.releases import Release
from model.topics.tables import PARTITION_TABLE

Question = Mapping[str, Any]
NONE_YET = "NonExistentReplica"
ANYWHERE = 1000
"""A broker that lives and has nothing to do with the case."""


def _orders(
    receivers: Sequence[int], state: Mapping[str, Any], new: bool = False
) -> list[dict[str, Any]]:
    return [{"to": list(receivers), "isNew": new, **state}] if receivers else []


def _recipients(question: Question, named: list[int], sent: list[int]) -> list[int]:
    """Whom a batch is for: up to 2.1 the dead are among them, and only their channels drop it."""
    return sent if Release.of(question["release"]).since("2.2") else named


def _after(written: Mapping[str, Any], before: Mapping[str, Any], version: int) -> dict[str, Any]:
    """A state that was written, with the epochs and the version counted from the one before."""
    return {
        "leader": written["leader"],
        "isr": written["isr"],
        "leaderEpoch": before.get("leaderEpoch", 0) + written["bumps"],
        "zkVersion": before.get("zkVersion", 0) + version,
    }


# Partitions


def partition_effects(question: Question) -> dict[str, Any]:
    """What a partition's transition writes and sends."""
    asked = question["input"]
    before, target = asked["state"], asked["target"]
    answer = {"state": before, "zkCreateState": None, "zkSetState": None, "leaderAndIsr": [],
              "stopReplica": []}  # fmt: skip
    if before not in PARTITION_TABLE[target]:
        return answer
    if target != "OnlinePartition":
        return answer | {"state": target}
    if before == "NewPartition":
        return answer | _created(question)
    return answer | _elected(question)


def _created(question: Question) -> dict[str, Any]:
    asked = question["input"]
    live = [one for one in asked["live"] if one not in asked.get("shuttingDown", ())]
    said = asked.get("zkCreateResult")
    made = topics.create(
        question, asked["assignment"], live, said == "NODEEXISTS", answers=said != "exception"
    )
    if made is None:
        return {}
    receivers = made.pop("to")
    return {
        "state": "OnlinePartition",
        "zkCreateState": made | {"controllerEpoch": asked["controllerEpoch"]},
        "leaderAndIsr": _orders(receivers, made, new=True),
    }


def _elected(question: Question) -> dict[str, Any]:
    asked = question["input"]
    electable = {"leader": -1, "isr": list(asked["assignment"])}  # if only it could be read
    state = asked.get("zkState", electable)
    failures = (asked.get("zkReadResult"), asked.get("zkSetResult"))
    answers = "zkState" in asked and "exception" not in failures
    name = str(asked["strategy"])
    if name == "Preferred" and machines.is_led_as_preferred(question, state["leader"]):
        return {"state": "OnlinePartition"}
    if name == "Reassign":
        written, receivers = _reassigned(question)
    else:
        strategy, _, argument = name.partition("(")
        going = asked.get("shuttingDown", ())
        unclean = argument.startswith("true") or bool(asked.get("unclean"))
        scene = ControllerScenario(
            question, asked["assignment"], state["isr"], asked["live"], unclean, going
        )
        newer = state.get("controllerEpoch", 0) > asked["controllerEpoch"]
        scene.registered(state["leader"], 2 if newer else 1)
        written, receivers = scene.elect(strategy, answers)
    if written is None:
        return {}
    if name in ("Preferred", "Reassign"):  # both name all replicas
        receivers = _recipients(question, asked["assignment"], receivers)
    epoch = {"controllerEpoch": asked["controllerEpoch"]}
    return {
        "state": "OnlinePartition",
        "zkSetState": _after(written, state, 0) | epoch,
        "leaderAndIsr": _orders(receivers, _after(written, state, 1) | epoch),
    }


# Replicas that move, and those that go offline alive: `reassignment`

EPOCH = 1
REMOVES, PASSES = "controller_takes_old_replica_offline", "controller_skips_old_replica_outside_isr"
ELECTS = "controller_moves_leader_to_target"


class MovedPartition:
    """A partition that is moved, and a controller, on its own broker, that knows its state."""

    def __init__(self, question: Question, replicas: Sequence[int], live: Sequence[int]) -> None:
        state = question["input"].get("zkState", question["input"].get("leadership"))
        self.isr = list(state["isr"])
        named = dict.fromkeys([*replicas, *self.isr, question["input"].get("replica")])
        self.ids = {broker: number for number, broker in enumerate(named, CONTROLLER + 1)}
        brokers = 1 + len(self.ids)
        bounds = {"brokers": brokers, "replicas": brokers, "records": 1, "epoch": 3,
                  "controllers": 1, "versions": 2}  # fmt: skip
        self.stage = ModelStage.of(
            "reassignment", question["release"], (REMOVES, PASSES, ELECTS), bounds
        )
        leader = self.ids.get(state["leader"])
        self.cells: dict[Place, object] = {
            ("zk.controller", ()): CONTROLLER,
            ("zk.epoch", ()): 1,
            ("belief", (CONTROLLER,)): 1,
        }
        for where, index in (("zk.", ()), ("cache.", (CONTROLLER,))):
            self.cells[where + "leader", index] = leader
            self.cells["zk.leader_epoch" if not index else "cache.epoch", index] = EPOCH
            self.cells |= {
                (where + "isr", (*index, number)): broker in self.isr
                for broker, number in self.ids.items()
            }
        for broker, number in self.ids.items():
            listed = replicas.index(broker) if broker in replicas else None
            self.cells |= {
                ("cache.live", (CONTROLLER, number)): broker in live,
                ("cache.reached", (CONTROLLER, number)): broker in live,
                ("cache.assignment", (CONTROLLER, number)): listed,
                ("cache.target", (CONTROLLER, number)): listed,
            }

    def take(self, task: str, *transitions: tuple[str, int]) -> Any:
        """The state after the possible one of these transitions, None if none is possible."""
        state = self.stage.state({**self.cells, ("cache.task", (CONTROLLER,)): task})
        found = [self.stage.step(name, state, CONTROLLER, broker) for name, broker in transitions]
        possible = [after for after in found if after is not None]
        assert len(possible) <= 1, "a controller does one thing at a time"
        return possible[0] if possible else None

    def written(self, after: Any) -> dict[str, Any] | None:
        """The written state, None if nothing was written."""
        bumps = self.stage.read(after, "zk.leader_epoch") - EPOCH
        if not bumps:
            return None
        leader = self.stage.read(after, "zk.leader")
        left = [one for one in self.isr if self.stage.read(after, "zk.isr", self.ids[one])]
        return {"leader": self._name(leader), "isr": left, "bumps": bumps}

    def _name(self, number: int | None) -> int:
        return next((one for one, its in self.ids.items() if its == number), -1)

    def receivers(self, after: Any, epoch: int) -> list[int]:
        """The receivers of a LeaderAndIsr of an epoch."""
        return [
            broker for broker, number in self.ids.items()
            if self.stage.read(after, "request.to", epoch, 1, number)
        ]  # fmt: skip

    def is_stopped(self, after: Any, broker: int) -> bool:
        """Whether a broker is sent a StopReplica that does not delete."""
        return bool(self.stage.read(after, "stop.what", 1, self.ids[broker]) == "stop")


def elect(question: Question) -> dict[str, Any]:
    """An election by any strategy; for a move, only if the leader has to change."""
    return machines.elect(question, _moves_leader)


def _moves_leader(question: Question) -> machines.Election:
    asked = question["input"]
    target, live = asked.get("target", asked["assignment"]), asked["live"]
    state = {"leader": -1, "isr": asked["isr"]}
    moved = {"zkState": state, "assignment": target, "live": live}
    written, sent = _reassigned({**question, "input": moved})
    return written, machines.named_by_strategy(target, written, sent, live)


def _reassigned(question: Question) -> machines.Election:
    """The Reassign strategy, where the leader is to be another."""
    asked = question["input"]
    moved = MovedPartition(question, asked["assignment"], asked["live"])
    moved.cells["cache.leader", (CONTROLLER,)] = None
    after = moved.take("leading", *((ELECTS, number) for number in moved.ids.values()))
    if after is None:
        return None, []
    return moved.written(after), moved.receivers(after, EPOCH + 1)


def replica_effects(question: Question) -> dict[str, Any]:
    """What a replica's transition writes and sends."""
    asked = question["input"]
    before, target, replica = asked["state"], asked["target"], asked["replica"]
    replicas = list(asked["assignment"])
    answer = {"state": before, "stateEntry": before, "assignment": replicas, "zkSetState": None,
              "leaderAndIsr": [], "stopReplica": [], "error": "StateChangeFailed"}  # fmt: skip
    if not machines.replica_may_become(question, before, target):
        return answer
    live = list(asked.get("live", [*replicas, replica, ANYWHERE]))
    state = asked.get("zkState", asked.get("leadership"))
    if target == "OfflineReplica" and state is not None:
        return (
            answer
            | {"state": target, "stateEntry": target, "error": None}
            | _offline(question, live, state)
        )
    done = topics.replica_moves(question, live)
    after = done["state"]
    if after == NONE_YET:
        replicas.remove(replica)
    return answer | {
        "state": after,
        "stateEntry": None if after == NONE_YET else after,
        "leaderAndIsr": _orders(done["to"], state or {}),
        "stopReplica": done["stopReplica"] or _stop_of_the_dead(question, target, live),
        "error": None if after == target else "StateChangeFailed",
    }


def _stop_of_the_dead(question: Question, target: str, live: list[int]) -> list[dict[str, Any]]:
    """Up to 2.1 a batch has it, and only the channel drops it."""
    replica = question["input"]["replica"]
    kept = _recipients(question, [replica] if replica not in live else [], [])
    stops = {"OfflineReplica": False, "ReplicaDeletionStarted": True}
    return [{"to": kept, "delete": stops[target]}] if kept and target in stops else []


def _offline(question: Question, live: list[int], state: Mapping[str, Any]) -> dict[str, Any]:
    asked = question["input"]
    replica = asked["replica"]
    others = [one for one in asked["assignment"] if one != replica]
    moved = MovedPartition(question, others, live)
    number = moved.ids[replica]
    for cell in ("old", "leaving"):
        moved.cells["cache." + cell, (CONTROLLER, number)] = True
    # Of a state that is not written the others are sent the epoch that they know.
    after = moved.take("leaving", (REMOVES, number), (PASSES, number))
    written = moved.written(after)
    release = question["release"]
    if machines.leaves_empty(release, state["isr"], replica, bool(asked["unclean"])):
        written = machines.last_member_leaves(release)
    if written is None:
        sent, receivers = dict(state), [one for one in others if one in live]
    else:
        sent, receivers = _after(written, state, 1), moved.receivers(after, EPOCH + 1)
    receivers = _recipients(question, others, receivers)
    return {
        "zkSetState": None if written is None else _after(written, state, 0),
        "leaderAndIsr": _orders(receivers, sent),
        "stopReplica": [{"to": [replica], "delete": False}]
        if moved.is_stopped(after, replica)
        else _stop_of_the_dead(question, "OfflineReplica", live),
    }  # fmt: skip

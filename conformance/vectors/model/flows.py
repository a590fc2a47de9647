"""The model's answers about a controller and one partition over several events (controller_flow).

Each election, and each replica going offline, is one step of `cluster`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.vectors.model import topics
from conformance.vectors.model.machines import ControllerScenario
from impl.releases import Release

Question = Mapping[str, Any]

NOBODY = -1
CONTROLLER_EPOCH = 1


class PartitionScenario:
    """A partition, live brokers, brokers in controlled shutdown, and the registered state."""

    def __init__(self, question: Question) -> None:
        asked = question["input"]
        self.question, self.release = question, Release.of(question["release"])
        unclean = asked.get("unclean")
        self.unclean = not self.release.since("0.11") if unclean is None else bool(unclean)
        self.assignment: list[int] = asked["assignment"]
        self.live, self.going = set(asked["brokers"]), set[int]()
        first = topics.create(question, self.assignment, sorted(self.live)) or {}
        self.leader, self.isr = first.get("leader", NOBODY), first.get("isr", [])
        self.epoch = first.get("leaderEpoch", 0)
        self.remaining: list[int] = []

    def _scene(self) -> ControllerScenario:
        live = sorted(self.live)
        scene = ControllerScenario(
            self.question, self.assignment, self.isr, live, self.unclean, self.going
        )
        scene.registered(self.leader)
        return scene

    def _take(self, written: Mapping[str, Any] | None) -> None:
        if written is not None:
            self.leader, self.isr = written["leader"], written["isr"]
            self.epoch += written["bumps"]

    def _elect(self, strategy: str) -> None:
        self._take(self._scene().elect(strategy)[0])

    def do(self, step: str) -> None:
        """Stop N, start N, shut down N, an election of preferred replicas, or a rebalancing."""
        word, broker = step.split()[0], int("".join(filter(str.isdigit, step)) or NOBODY)
        led = self.leader == self.assignment[0]
        if word == "stop":
            self.live.discard(broker)
            if self.leader == broker:
                self._elect("Offline")
            if broker in self.assignment:
                self._take(self._scene().remove(broker))
        elif word == "start":
            self.live.add(broker)
            if self.leader == NOBODY:
                self._elect("Offline")
            if self.leader != NOBODY and broker in self.assignment and broker not in self.isr:
                self.isr = [*self.isr, broker]  # the leader writes it, once it has caught up
        elif "auto" in step.lower():
            if self.assignment[0] in self.live and not led:
                self._elect("Preferred")
        elif "shutdown" in step.lower():
            self._shut_down(broker)
        elif "elect" in step.lower():
            # Who leads already: sorted out by the selectors, and by the controller since 2.2.
            if not led or (self.release.since("1.1") and not self.release.since("2.2")):
                self._elect("Preferred")
        else:
            raise ValueError(f"no step of a controller's life is {step!r}")

    def _shut_down(self, broker: int) -> None:
        self.going.add(broker)
        if self.leader == broker:
            self._elect("ControlledShutdown")
        elif broker in self.assignment and len(self.assignment) > 1:
            self._take(self._scene().remove(broker))
        self.remaining.append(int(self.leader == broker and len(self.assignment) > 1))

    def observe(self) -> dict[str, Any]:
        """The registered state."""
        return {
            "leader": self.leader,
            "leaderEpoch": self.epoch,
            "isr": list(self.isr),
            "controllerEpoch": CONTROLLER_EPOCH,
        }


def creation(question: Question) -> dict[str, Any]:
    """A topic, or a partition of one, is created while some replicas are dead."""
    asked = question["input"]
    wanted = asked["assignment"]
    if not isinstance(wanted, Mapping):
        return _created(question, 0, wanted)
    seen = {number: _created(question, int(number), wanted[number])
            for number in sorted(wanted, key=int)}  # fmt: skip
    return [*seen.values()][-1] | {
        "leaders": {number: one["leader"] for number, one in seen.items()},
        "isrs": {number: one.get("isr") for number, one in seen.items()},
        "leaderEpochs": {number: one.get("leaderEpoch") for number, one in seen.items()},
    }


def _created(question: Question, number: int, replicas: list[int]) -> dict[str, Any]:
    made = topics.create(question, replicas, question["input"]["live"])
    if made is None:  # nobody could lead: no state was written
        return {"leader": None}
    return made | {"partition": number, "controllerEpoch": CONTROLLER_EPOCH}


def leaders(question: Question) -> dict[str, Any]:
    """The state of a partition after brokers stop and start, and after elections."""
    flow, seen = PartitionScenario(question), []
    for step in question["input"]["steps"]:
        flow.do(step)
        seen.append(flow.observe())
    return flow.observe() | {
        "leaders": [one["leader"] for one in seen],
        "leaderEpochs": [one["leaderEpoch"] for one in seen],
        "isrs": [one["isr"] for one in seen],
        "partitionsRemaining": flow.remaining,
        "remaining": [["t-0"] * one for one in flow.remaining],
        "electionZnode": None,  # removed, whatever came of it
    }

"""The model's answers about a controller and one partition, by plain rules (controller_flow)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.plain_rules import answers, elections, transitions
from conformance.plain_rules.elections import ElectedLeader
from conformance.plain_rules.transitions import NOBODY, RegisteredState, TransitionOutcome
from impl.releases import Release

Question = Mapping[str, Any]

CONTROLLER_EPOCH = 1
SHARE = 10
"""`leader.imbalance.per.broker.percentage`."""


class Flow:
    """A partition, who lives, who is about to go, and the state that is registered."""

    def __init__(self, question: Question, assignment: list[int], live: list[int]) -> None:
        self.release = Release.of(question["release"])
        unclean = question["input"].get("unclean")
        self.unclean = not self.release.since("0.11") if unclean is None else bool(unclean)
        self.assignment, self.live, self.going = assignment, set(live), set[int]()
        self.state = RegisteredState(NOBODY, ())
        self._take(transitions.created(assignment, live, CONTROLLER_EPOCH))
        self.remaining: list[int] = []

    def _take(self, effect: TransitionOutcome) -> None:
        if effect.written is not None:
            created = not self.state.isr
            self.state = effect.written._replace(version=self.state.version + (not created))

    def _elect(self, chosen: ElectedLeader | None) -> None:
        self._take(transitions.elected(self.state, chosen, CONTROLLER_EPOCH))

    def _offline(self) -> None:
        live = self.live - self.going
        isr = self.state.isr
        self._elect(elections.for_offline(self.assignment, isr, live, unclean=self.unclean))

    def _leaves(self, broker: int) -> None:
        keeps = self.release.since("1.1") or not self.unclean
        self._take(transitions.offline_replica(
            broker, self.assignment, self.state, CONTROLLER_EPOCH, keeps_last=keeps))  # fmt: skip

    def do(self, step: str) -> None:
        """Stop N, start N, shut down N, an election of preferred replicas, or a rebalancing."""
        word, broker = step.split()[0], int("".join(filter(str.isdigit, step)) or NOBODY)
        if word == "stop":
            self.live.discard(broker)
            if self.state.leader == broker:
                self._offline()
            self._leaves(broker)
        elif word == "start":
            self.live.add(broker)
            if self.state.leader == NOBODY:
                self._offline()
            joins = broker in self.assignment and broker not in self.state.isr
            if joins and self.state.leader != NOBODY:
                isr = (*self.state.isr, broker)
                self.state = self.state._replace(isr=isr, version=self.state.version + 1)
        elif "auto" in step.lower():
            led = self.state.leader == self.assignment[0]
            if self.assignment[0] in self.live and answers.is_imbalanced(not led, 1, SHARE):
                self._prefer()
        elif "shutdown" in step.lower():
            self._shut_down(broker)
        elif "elect" in step.lower():
            led = self.state.leader == self.assignment[0]
            # Who leads already: sorted out by the selectors, and by the controller since 2.2.
            if not led or (self.release.since("1.1") and not self.release.since("2.2")):
                self._prefer()
        else:
            raise ValueError(f"no step of a controller's life is {step!r}")

    def _prefer(self) -> None:
        live = self.live - self.going
        self._elect(elections.for_preferred(self.assignment, self.state.isr, live))

    def _shut_down(self, broker: int) -> None:
        self.going.add(broker)
        if self.state.leader == broker:
            isr, going = self.state.isr, self.going
            self._elect(elections.for_controlled_shutdown(self.assignment, isr, self.live, going))
        elif broker in self.assignment and len(self.assignment) > 1:
            self._leaves(broker)
        self.remaining.append(int(self.state.leader == broker and len(self.assignment) > 1))

    def observe(self) -> dict[str, Any]:
        """What is registered."""
        return {
            "leader": self.state.leader,
            "leaderEpoch": self.state.epoch,
            "isr": list(self.state.isr),
            "controllerEpoch": self.state.controller,
        }


def creation(question: Question) -> dict[str, Any]:
    """A topic, or a partition of one, comes into being while some replicas are dead."""
    asked = question["input"]
    wanted = asked["assignment"]
    number = min(map(int, wanted)) if isinstance(wanted, Mapping) else 0
    replicas = wanted[str(number)] if isinstance(wanted, Mapping) else wanted
    flow = Flow(question, replicas, asked["live"])
    if not flow.state.isr:  # nobody could lead: no state was written
        return {"leader": None}
    return flow.observe() | {"partition": number}


def leaders(question: Question) -> dict[str, Any]:
    """What brokers that come and go, and elections, make of a partition."""
    asked = question["input"]
    flow, seen = Flow(question, asked["assignment"], asked["brokers"]), []
    for step in asked["steps"]:
        flow.do(step)
        seen.append(flow.observe())
    return flow.observe() | {
        "leaders": [one["leader"] for one in seen],
        "leaderEpochs": [one["leaderEpoch"] for one in seen],
        "isrs": [one["isr"] for one in seen],
        "partitionsRemaining": flow.remaining,
        "electionZnode": None,  # removed, whatever came of it
    }

"""Replays runs of `reassignment` on real Kafka, whose own controller moves a partition.

Every broker of the run is a process of the release. The proxies hold brokers' writes to ZooKeeper
about the partition and the request to move it, and a controller's requests to brokers
(LeaderAndIsr, StopReplica), until the run has the step; UpdateMetadata passes. After each step the
registered assignment, request and state are compared with the model.

A controller's step without a write cannot be observed: its effect shows in the next write. A
LeaderAndIsr in a leader epoch that its broker knows already is let through, and answered without
effect; the model has each of them once. Real followers fetch by themselves, so their logs may be
ahead of the model's.

Source: `KafkaController.onPartitionReassignment`, `KafkaZkClient`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.kafka.carry_out_schedule import move_controller
from conformance.kafka.disk import log_of
from conformance.kafka.lab import Lab
from conformance.kafka.messages import ANSWER, REQUEST, Message
from conformance.kafka.proxy import HeldMessage, Proxies
from conformance.kafka.releases import KafkaRelease
from conformance.kafka.replay_loop import (
    KafkaDiffers,
    OnStep,
    ReplayedOnKafka,
    RunReplay,
    StepNotForced,
    lab_of_a_run,
)
from conformance.kafka.requests import produce
from conformance.kafka.run import ModelRun, ModelStateView, ReplayStep
from conformance.kafka.schedule import MessageFilter, MessageRule
from conformance.kafka.zookeeper_client import LabZooKeeper
from impl.wire import error_name
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, encode_reassignment
from impl.znodes.paths import REASSIGN_PARTITIONS, TOPICS
from impl.znodes.states import NO_LEADER
from impl.zookeeper.port import wait
from model.language.evaluate import SparseState

TOPIC = "t"
MOVES = TopicPartition(TOPIC, 0)
NOTHING = LeaderIsrAndControllerEpoch(NO_LEADER, 0, (), 0, -1)
"""Where no state is registered."""
STATES = f"{TOPICS}/{TOPIC}/partitions"
WRITES = ("SetData", "Multi", "Delete")
CONTROLLER_REQUESTS = ("LeaderAndIsr", "StopReplica")
PATIENCE_S = 40.0
TELLS_S = 5.0
SETTINGS = {
    "zookeeper.session.timeout.ms": "120000",
    "controller.socket.timeout.ms": "120000",
    "replica.lag.time.max.ms": "1000000",
    "auto.leader.rebalance.enable": "false",
}
"""What is held long must not end a session, nor a controller's connection, nor shrink an ISR."""
OBSERVED = (
    "zk.assignment", "zk.requested", "zk.leader", "zk.leader_epoch", "zk.version", "zk.isr", "log",
    "metadata_epoch", "replica.epoch",
)  # fmt: skip


class _DeletionFilter(MessageFilter):
    """What deletes. A controller of up to 2.3 also writes the request as it is, after each look."""

    def fits(self, message: Message) -> bool:
        """Is it a deletion?"""
        return super().fits(message) and message.details.get("first") == "Delete"


class ReassignmentReplay(RunReplay):
    """The replay of one run on one lab, whose brokers are up."""

    observed = OBSERVED

    def __init__(
        self, run: ModelRun, lab: Lab, proxies: Proxies, zk: LabZooKeeper,
        answers: dict[tuple[int, int], Message], sent_epochs: list[tuple[str, int]],
    ) -> None:  # fmt: skip
        super().__init__(run, lab.release.text)
        self.sent_epochs = sent_epochs  # to whom, and leader epochs, as UpdateMetadata had them
        self.lab, self.proxies, self.gate, self.zk = lab, proxies, proxies.gate, zk
        self.answers = answers
        self.obeyed: dict[int, int] = {}
        self.records = 0
        first = next((one.argument("broker") for one in run.steps
                      if one.name == "broker_becomes_controller"), 0)  # fmt: skip
        if first and self._controller() != first:
            move_controller(lab, first)

    def _controller(self) -> int | None:
        return wait(self.zk.controller())

    def do(self, step: ReplayStep) -> str:
        """Forces a step by its action."""
        return STEP_ACTIONS[step.name](self, step)

    # What is registered

    def registered(self) -> dict[str, Any]:
        """The request, the assignment and the state; None for what does not exist."""
        requested = wait(self.zk.reassignments()).get(MOVES)
        state = wait(self.zk.state(MOVES)) or NOTHING
        return {
            "assignment": self.zk.replicas(TOPIC).get(0),
            "request": None if requested is None else list(requested),
            "leader": state.leader if state.leader >= 0 else None,
            "leader epoch": state.leader_epoch, "version": state.zk_version,
            "ISR": sorted(state.isr),
        }  # fmt: skip

    def compare(self, step: ReplayStep) -> None:
        """Checks that what is registered becomes what the model has."""
        view = step.after
        wanted = _facts_of(view)
        seen: list[dict[str, Any]] = [{}]

        def agree() -> bool:
            seen[0] = self.registered()
            return seen[0] == wanted

        if not self.gate.wait_for(agree, PATIENCE_S):
            other = [f"{name} is {seen[0][name]}, in the model {one}"
                     for name, one in wanted.items() if seen[0][name] != one]  # fmt: skip
            raise KafkaDiffers(f"{'; '.join(other)}; {self.gate.waiting()}")

    def real(self, view: ModelStateView, claim: str) -> SparseState:
        """The logs on disk; what is registered was compared already."""
        state = copy.deepcopy(view.state)
        state["log"] = {
            (broker, at): 1 for broker in self.lab.brokers
            for at in range(len(log_of(self.lab.data(broker), TOPIC)))
        }  # fmt: skip
        state["metadata_epoch"] = {(): self.sent_epochs[-1][1]} if self.sent_epochs else {}
        state["replica.epoch"] = {(one,): epoch for one, epoch in self.obeyed.items()}
        return {name: cells for name, cells in state.items() if cells}

    def finish(self, report: ReplayedOnKafka) -> None:
        """Compares the logs and what is registered at the end of the run."""
        report.logs = {
            str(one): [record.value for record in log_of(self.lab.data(one), TOPIC)]
            for one in self.lab.brokers if (self.lab.data(one) / f"{TOPIC}-0").is_dir()
        }  # fmt: skip
        report.state = self.registered()

    # Messages

    def _await(self, found: Callable[[], HeldMessage | None], what: str) -> HeldMessage:
        held = self.gate.await_found(found, PATIENCE_S)
        if held is None:
            raise KafkaDiffers(f"{what} within {PATIENCE_S:.0f} s; {self.gate.waiting()}")
        return held

    def _passes(self, held: HeldMessage) -> Message | None:
        """Let it go, and wait for its answer."""
        message = held.message
        key = message.connection, message.correlation
        self.answers.pop(key, None)
        self.gate.settle(held, "pass")
        self.gate.wait_for(lambda: key in self.answers, PATIENCE_S)
        return self.answers.get(key)

    def _write(self, path: str, what: str, by: int | None = None) -> str:
        """The next write of a path (and of nothing below it, but for states) goes on."""

        def first() -> HeldMessage | None:
            for api in WRITES:
                sender = None if by is None else str(by)
                for one in self.gate.held(MessageFilter(api, sender=sender, path=path)):
                    there = one.message.details["path"]
                    if there == path or path == STATES:
                        return one
            return None

        held = self._await(first, f"{what} is not written")
        self._passes(held)
        return f"let go: {held.message.in_words()}"

    # Steps

    def creates(self, step: ReplayStep) -> str:
        """The topic, by the run's first controller; from then on messages are held."""
        replicas = _replicas(step)
        self.zk.make_topic(TOPIC, {0: replicas})
        if not self.gate.wait_for(lambda: bool(self.registered()["ISR"]), PATIENCE_S):
            raise StepNotForced(f"topic {TOPIC} has no state")
        self.obeyed = dict.fromkeys(replicas, 0)
        self._hold()
        return f"/brokers/topics/{TOPIC} is there, with {replicas}"

    def becomes_controller(self, step: ReplayStep) -> str:
        """The broker is the controller since before the topic was created: nothing to force."""
        broker = step.argument("broker")
        if self._controller() != broker:
            raise StepNotForced(f"/controller names {self._controller()}")
        return f"/controller names {broker}, which is ready"

    def _hold(self) -> None:
        for one in self.lab.brokers:
            for api in WRITES:
                self.gate.add(
                    MessageRule(
                        "hold", MessageFilter(api, sender=str(one), path=f"{TOPICS}/{TOPIC}")
                    )
                )
            for api in ("Multi", "Delete"):
                self.gate.add(MessageRule("hold", _DeletionFilter(api, sender=str(one),
                                                    path=REASSIGN_PARTITIONS)))  # fmt: skip
        for api in CONTROLLER_REQUESTS:
            self.gate.add(MessageRule("hold", MessageFilter(api, sender="controller")))

    def asks(self, step: ReplayStep) -> str:
        """The request of an administrator."""
        replicas = _replicas(step)
        wait(self.zk.port.create(REASSIGN_PARTITIONS, encode_reassignment({MOVES: replicas})))
        return f"{REASSIGN_PARTITIONS} asks for {replicas}"

    def assigns(self, step: ReplayStep) -> str:
        """The controller writes the assignment."""
        return self._write(f"{TOPICS}/{TOPIC}", "the assignment", step.argument("broker"))

    def writes_state(self, step: ReplayStep) -> str:
        """The controller writes the state."""
        return self._write(STATES, "a state", step.argument("broker"))

    def expands(self, step: ReplayStep) -> str:
        """The leader writes the ISR."""
        return self._write(STATES, "the ISR", step.argument("leader"))

    def closes(self, step: ReplayStep) -> str:
        """The controller deletes the request, or its entry."""
        return self._write(REASSIGN_PARTITIONS, "the request", step.argument("broker"))

    def goes_on(self, _step: ReplayStep) -> str:
        """A step without a write, whose effect shows in the next write."""
        return "no write: seen by the next one"

    def obeys(self, step: ReplayStep) -> str:
        """Passes LeaderAndIsr of the leader epoch; first those of epochs known already."""
        broker, epoch = step.argument("broker"), step.argument("epoch")
        passed = 0
        if epoch <= self.obeyed.get(broker, -1):
            return "known already: it passed with an earlier step"
        while True:
            held = self._await(lambda: self._order("LeaderAndIsr", broker),
                               f"broker {broker} is sent no LeaderAndIsr")  # fmt: skip
            its = max(held.message.epochs, default=-1)
            if its > epoch and self.obeyed.get(broker, -1) < epoch:
                raise KafkaDiffers(f"{held.message.in_words()} of leader epoch {its} comes, "
                                f"before any of {epoch}")  # fmt: skip
            before = self._updates_sent(broker)
            answer = self._passes(held)
            self._await_update(broker, before)
            self.obeyed[broker] = max(self.obeyed.get(broker, -1), its)
            if its >= epoch:
                others = f", after {passed} that it knew" if passed else ""
                return f"answered {_errors(answer)}{others}"
            passed += 1

    def _await_update(self, broker: int, before: int) -> None:
        """A controller sends the partition, too, in the next request to the broker."""
        self.gate.wait_for(lambda: self._updates_sent(broker) > before, TELLS_S)

    def _updates_sent(self, broker: int) -> int:
        return sum(1 for to, _ in list(self.sent_epochs) if to == str(broker))

    def _order(self, api: str, broker: int) -> HeldMessage | None:
        there = self.gate.held(MessageFilter(api, sender="controller", to=str(broker)))
        return there[0] if there else None

    def stops(self, step: ReplayStep) -> str:
        """StopReplica is passed on."""
        return self._stop(step.argument("broker"), False)

    def deletes(self, step: ReplayStep) -> str:
        """StopReplica with delete is passed on, after the one without."""
        broker = step.argument("broker")
        stopped = self._stop(broker, True)
        folder = self.lab.data(broker) / f"{TOPIC}-0"
        if not self.gate.wait_for(lambda: not folder.exists(), PATIENCE_S):
            raise KafkaDiffers(f"broker {broker} keeps {TOPIC}-0")
        return f"{stopped}; its log is gone"

    def _stop(self, broker: int, with_delete: bool) -> str:
        while True:
            known = self._order("LeaderAndIsr", broker)
            if known is not None and max(known.message.epochs, default=-1) <= self.obeyed.get(
                broker, -1
            ):
                self._passes(known)
            held = self._await(lambda: self._order("StopReplica", broker),
                               f"broker {broker} is sent no StopReplica")  # fmt: skip
            deletes = _deletes(held.message.body)
            answer = self._passes(held)
            if deletes or not with_delete:
                return f"answered {_errors(answer)}"

    def appends(self, step: ReplayStep) -> str:
        """A producer writes one record, with acks=1."""
        leader = step.argument("leader")
        value = f"r{self.records}".encode()
        code = -1

        def written() -> bool:
            nonlocal code
            code, _ = produce(self.lab.release, self.lab.own_port(leader), TOPIC, value, 1)
            return code == 0

        if not self.gate.wait_for(written, PATIENCE_S, 0.5):
            raise KafkaDiffers(f"broker {leader} answers {error_name(code)}")
        self.records += 1
        return f"broker {leader} took r{self.records - 1}"

    def catches_up(self, step: ReplayStep) -> str:
        """The follower's log becomes the leader's."""
        leader, follower = step.argument("leader"), step.argument("follower")

        def same() -> bool:
            return log_of(self.lab.data(leader), TOPIC) == log_of(self.lab.data(follower), TOPIC)

        if not self.gate.wait_for(same, PATIENCE_S, 0.2):
            raise KafkaDiffers(f"the log of broker {follower} is not that of broker {leader}")
        return f"its log has {len(log_of(self.lab.data(follower), TOPIC))} records, as the leader's"


def _replicas(step: ReplayStep) -> list[int]:
    """The list that a step names, 0 for no replica."""
    return [one for name in ("first", "second", "third") if (one := step.argument(name))]


def _facts_of(view: ModelStateView) -> dict[str, Any]:
    def listed(name: str) -> list[int] | None:
        places = {view.at(name, one): one for one in view.brokers if view.at(name, one) is not None}
        return [places[at] for at in sorted(places)] or None

    return {
        "assignment": listed("zk.assignment"), "request": listed("zk.requested"),
        "leader": view.at("zk.leader"), "leader epoch": view.at("zk.leader_epoch"),
        "version": view.at("zk.version"), "ISR": sorted(view.broker_set("zk.isr")),
    }  # fmt: skip


def _deletes(body: Any) -> bool:
    """Does a StopReplica delete: up to 2.5 as a whole, later a partition at a time?"""
    if getattr(body, "delete_partitions", None) is not None:
        return bool(body.delete_partitions)
    states = getattr(body, "topic_states", None) or ()
    return any(part.delete_partition for one in states for part in one.partition_states)


def _errors(answer: Message | None) -> str:
    if answer is None or answer.body is None:
        return "nothing in time"
    return error_name(int(answer.body.error_code))


def replay_reassignment(
    run: ModelRun, release: KafkaRelease, folder: Path, home: Path | None, on_step: OnStep
) -> ReplayedOnKafka:
    """Replays a run of `reassignment` on a new cluster in ``folder``; nothing runs afterwards."""
    answers: dict[tuple[int, int], Message] = {}
    epochs: list[tuple[str, int]] = []

    def heard(what: str, message: Message) -> None:
        if message.kind == ANSWER and what == "passed":
            answers[message.connection, message.correlation] = message
        tells = message.kind == REQUEST and message.api == "UpdateMetadata"
        if tells and what == "passed" and TOPIC in message.topics:
            epochs.append((message.to, max(message.epochs, default=0)))

    with lab_of_a_run(run, release, folder, home, SETTINGS, heard) as (lab, proxies):
        lab.start_brokers()
        with LabZooKeeper(lab.state.zookeeper) as zk:
            return ReassignmentReplay(run, lab, proxies, zk, answers, epochs).report(on_step)


StepAction = Callable[[ReassignmentReplay, ReplayStep], str]

STEP_ACTIONS: dict[str, StepAction] = {
    "topic_is_created": ReassignmentReplay.creates,
    "broker_becomes_controller": ReassignmentReplay.becomes_controller,
    "admin_requests_reassignment": ReassignmentReplay.asks,
    "controller_writes_union_of_replicas": ReassignmentReplay.assigns,
    "controller_writes_target_replicas": ReassignmentReplay.assigns,
    "controller_drops_request_already_assigned": ReassignmentReplay.closes,
    "controller_removes_request_entry": ReassignmentReplay.closes,
    "leader_expands_isr": ReassignmentReplay.expands,
    "broker_becomes_leader": ReassignmentReplay.obeys,
    "broker_becomes_follower": ReassignmentReplay.obeys,
    "older_epoch_is_refused": ReassignmentReplay.obeys,
    "broker_stops_replica": ReassignmentReplay.stops,
    "broker_deletes_replica": ReassignmentReplay.deletes,
    "leader_appends": ReassignmentReplay.appends,
    "follower_catches_up": ReassignmentReplay.catches_up,
    **dict.fromkeys((
        "controller_bumps_epoch", "controller_moves_leader_to_target", "controller_keeps_leader",
        "controller_takes_old_replica_offline",
    ), ReassignmentReplay.writes_state),
    **dict.fromkeys((
        "broker_learns_it_won", "controller_reads_context", "controller_begins_move",
        "controller_sees_targets_in_sync", "controller_sets_target_in_memory",
        "controller_skips_old_replica_outside_isr", "controller_deletes_old_replicas",
        "controller_sends_final_update_metadata", "broker_updates_metadata", "metadata_is_delayed",
    ), ReassignmentReplay.goes_on),
}  # fmt: skip
"""Transition of `reassignment` -> its action."""

__all__ = ["STEP_ACTIONS", "ReassignmentReplay", "replay_reassignment"]

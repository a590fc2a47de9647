"""Replays runs of `election` on real Kafka's own controllers, by holding their messages.

Every broker of the run is a process of the release, and each may be elected. The proxies hold a
candidate's requests to ZooKeeper (`/controller`), a controller's writes (a partition's state), and
its requests to brokers, until the run has the step. A controller acts only for a reason: the
partition's one replica is on a stand-in broker, which is only a znode. The lab deletes and creates
it, so that the controller has a state to write, and nobody else writes that state.

A broker whose session ends must not notice: its way to ZooKeeper is shut. If it has a write under
way, ZooKeeper would refuse a write of an expired session; in that case the lab deletes
`/controller` and the session lives. Source: `KafkaController.elect`, `KafkaZkClient`.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from conformance.kafka.controller import LabController
from conformance.kafka.lab import LOOPBACK, Lab
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
from conformance.kafka.run import ModelRun, ModelStateView, ReplayStep
from conformance.kafka.schedule import MessageFilter, MessageRule
from conformance.kafka.zookeeper_client import LabZooKeeper
from impl.wire import error_name
from impl.znodes import BrokerInfo, LeaderIsrAndControllerEpoch, encode_controller
from impl.zookeeper import Create, Delete
from impl.zookeeper.port import wait
from model.language.evaluate import SparseState

TOPIC = "t"
STAND_IN = 101
"""The broker that is a znode alone: it has the only replica."""
CONTROLLER, STATES = "/controller", "/brokers/topics/t/partitions"
REQUESTS = ("LeaderAndIsr", "UpdateMetadata", "StopReplica")
WRITES = ("SetData", "Multi")
CREATES = ("Create", "Multi")
PATIENCE_S = 20.0
WATCHES_S = 5.0
SETTINGS = {
    "zookeeper.session.timeout.ms": "120000",
    "controller.socket.timeout.ms": "120000",
    "replica.fetch.backoff.ms": "200",
}
"""What is held long must not end a session, nor a controller's connection."""
OBSERVED = (
    "zk.controller", "zk.epoch", "zk.epoch_version", "zk.state_version", "zk.state_epoch",
    "obeyed", "stale_write", "stale_obedience",
)  # fmt: skip


class ElectionReplay(RunReplay):
    """The replay of one run on one lab, whose brokers are up; only the lab is controller so far."""

    observed = OBSERVED

    def __init__(
        self, run: ModelRun, lab: Lab, proxies: Proxies, controller: LabController,
        answers: dict[tuple[int, int], Message], watched: dict[int, float],
    ) -> None:  # fmt: skip
        super().__init__(run, lab.release.text)
        self.lab, self.proxies, self.lab_controller, self.answers = (
            lab,
            proxies,
            controller,
            answers,
        )
        self.gate, self.zk = proxies.gate, controller.zk
        self.fenced = lab.release.since("2.1")  # elected and written by multi (KAFKA-6082)
        self.cut_off: set[int] = set()
        self.obeyed: dict[int, int] = {}
        self.silent: dict[int, int] = {}  # controller -> the epoch up to which it speaks no more
        self.watched = watched
        self.won_at = 0.0
        self.stale_write = self.stale_obedience = False
        for one in lab.brokers:
            for api in CREATES:
                self.gate.add(
                    MessageRule("hold", MessageFilter(api, sender=str(one), path=CONTROLLER))
                )
            for api in WRITES:
                self.gate.add(MessageRule("hold", MessageFilter(api, sender=str(one), path=STATES)))
        for api in REQUESTS:
            self.gate.add(MessageRule("hold", MessageFilter(api, sender="controller")))
        self.zk.delete(CONTROLLER)  # the lab's: now everybody stands for election

    def do(self, step: ReplayStep) -> str:
        """Force a step by its action."""
        return STEP_ACTIONS[step.name](self, step)

    # ZooKeeper, past the proxies

    def controller(self) -> int:
        """The broker that /controller names; 0 if none."""
        return wait(self.zk.controller()) or 0

    def epoch(self) -> tuple[int, int]:
        """The epoch in /controller_epoch, and the zkVersion of the znode."""
        found = wait(self.zk.controller_epoch())
        assert found is not None, "the lab has created it"
        return found.epoch, found.epoch_version

    def compare(self, step: ReplayStep) -> None:
        """Compares the registered controller, its epoch, and the partition's state."""
        after = step.after
        wanted = tuple(after.at(name) or 0 for name in OBSERVED[:5])
        seen: list[tuple[int, ...]] = []

        def agree() -> bool:
            state = self.lab_controller.read()
            seen[:] = [(self.controller(), *self.epoch(), state.zk_version, state.controller_epoch)]
            return seen[0] == wanted

        if not self.gate.wait_for(agree, PATIENCE_S):
            raise KafkaDiffers(
                f"registered are {_registered_text(seen[0])}; "
                f"in the model {_registered_text(wanted)}; {self.gate.waiting()}"
            )

    def real(self, view: ModelStateView, claim: str) -> SparseState:
        """The observed state: ZooKeeper's, which controllers brokers obeyed, and the writes."""
        state = copy.deepcopy(view.state)
        registered = self.lab_controller.read()
        epoch, version = self.epoch()
        state["zk.controller"] = {(): self.controller()}
        state["zk.epoch"], state["zk.epoch_version"] = {(): epoch}, {(): version}
        state["zk.state_version"] = {(): registered.zk_version}
        state["zk.state_epoch"] = {(): registered.controller_epoch}
        state["obeyed"] = {(one,): epoch for one, epoch in self.obeyed.items()}
        state["stale_write"] = {(): self.stale_write}
        state["stale_obedience"] = {(): self.stale_obedience}
        return {name: cells for name, cells in state.items() if cells}

    def finish(self, report: ReplayedOnKafka) -> None:
        """Report what is registered at the end."""
        epoch, version = self.epoch()
        state = self.lab_controller.read()
        report.state = {
            "controller": self.controller() or None,
            "controller_epoch": epoch,
            "controller_epoch_version": version,
            "state_version": state.zk_version,
            "state_controller_epoch": state.controller_epoch,
        }

    # Election

    def _first(
        self, apis: tuple[str, ...], which: Callable[[str], MessageFilter]
    ) -> HeldMessage | None:
        for api in apis:
            found = self.gate.held(which(api))
            if found:
                return found[0]
        return None

    def _candidate(self, broker: int) -> HeldMessage | None:
        """The request to ZooKeeper by which a broker tries to be elected, if a proxy holds it."""
        return self._first(
            CREATES, lambda api: MessageFilter(api, sender=str(broker), path=CONTROLLER)
        )

    def _await(self, found: Callable[[], HeldMessage | None], what: str) -> HeldMessage:
        held = self.gate.await_found(found, PATIENCE_S)
        if held is None:
            raise StepNotForced(f"{what} within {PATIENCE_S:.0f} s; {self.gate.waiting()}")
        return held

    def connects(self, step: ReplayStep) -> str:
        """A broker has a session: its own from the start, or a new one once it may connect."""
        broker = step.argument("broker")
        self._admit(broker)
        if not self.gate.wait_for(lambda: broker in self.zk.registered(), 2 * PATIENCE_S):
            raise StepNotForced(f"broker {broker} does not register")
        return f"/brokers/ids/{broker} is there"

    def reads_epoch(self, step: ReplayStep) -> str:
        """A broker has read the epoch: the proxy holds its request to create /controller."""
        broker = step.argument("broker")
        held = self._await(lambda: self._candidate(broker), f"broker {broker} does not stand")
        return f"held: {held.message.in_words()}"

    def wins(self, step: ReplayStep) -> str:
        """The request is passed on, and ZooKeeper executes it.

        Where its answer has the epoch too, the proxy holds the answer.
        """
        broker = step.argument("broker")
        held = self._await(lambda: self._candidate(broker), f"broker {broker} does not stand")
        if self.fenced:
            self.gate.add(MessageRule("hold", self._win(broker)))
        self.won_at = time.monotonic()
        self.gate.settle(held, "pass")
        wanted = step.after.at("zk.epoch")
        if not self.gate.wait_for(
            lambda: (self.controller(), self.epoch()[0]) == (broker, wanted), PATIENCE_S
        ):
            raise KafkaDiffers(
                f"/controller names {self.controller() or 'nobody'}, in epoch {self.epoch()[0]}"
            )
        for other in self.lab.brokers:  # who stood in vain, and not in the run
            if other != broker and not step.after.at("read.done", other):
                late = self._candidate(other)
                if late is not None:
                    self.gate.settle(late, "pass")
        return f"/controller names {broker}, in epoch {wanted}"

    @staticmethod
    def _win(broker: int) -> MessageFilter:
        return MessageFilter("Multi", ANSWER, sender=str(broker), path=CONTROLLER)

    def learns(self, step: ReplayStep) -> str:
        """The answer is passed on: the broker acts as controller, and sends requests."""
        broker = step.argument("broker")
        which = self._win(broker)
        self.gate.end(which)
        for one in self.gate.held(which):
            self.gate.settle(one, "pass")
        held = self._request(None, broker, step.after.at("belief.epoch", broker))
        # The watch that its own /controller used up is set again when all of that is done. Were the
        # node deleted before, it would resign, and never stand again: nothing would wake it.
        self.gate.wait_for(lambda: self.watched.get(broker, 0.0) > self.won_at, WATCHES_S)
        return f"held: {held.message.in_words()}"

    def finds_it_moved(self, step: ReplayStep) -> str:
        """The request is passed on, and ZooKeeper refuses it."""
        broker = step.argument("broker")
        held = self._candidate(broker)
        if held is not None:
            self.gate.settle(held, "pass")
            self._answered(held.message)
        if self.controller() == broker:
            raise KafkaDiffers(f"/controller names {broker}")
        return f"/controller names {self.controller() or 'nobody'}"

    def resigns(self, step: ReplayStep) -> str:
        """The controller is notified that /controller was changed or deleted."""
        broker = step.argument("broker")
        before = self._resignations(broker)
        self._admit(broker)
        if self.controller() == broker:
            self.zk.delete(CONTROLLER)
        if not self.gate.wait_for(lambda: self._resignations(broker) > before, PATIENCE_S):
            raise KafkaDiffers(f"controller.log of broker {broker} has no line about a resignation")
        self.silent[broker] = step.before.at("belief.epoch", broker)
        return "controller.log has the line"

    def _resignations(self, broker: int) -> int:
        path = self.lab.logs(broker) / "controller.log"
        text = path.read_text(errors="replace") if path.exists() else ""
        return text.count("Resigned") + text.count("resigned as the controller")

    # Writes

    def starts_write(self, step: ReplayStep) -> str:
        """The stand-in leaves or returns; a proxy holds the write of the state that follows."""
        return f"held: {self._await_write(step.argument('broker')).message.in_words()}"

    def _await_write(self, broker: int) -> HeldMessage:
        def write() -> HeldMessage | None:
            return self._first(
                WRITES, lambda api: MessageFilter(api, sender=str(broker), path=STATES)
            )

        if write() is None:
            self._toggle()
        held = self._await(write, f"broker {broker} does not write the state")
        self._stand_in(there=True)
        return held

    def _writes_later(self, step: ReplayStep) -> bool:
        """The broker writes again later in the run, as the controller that it is now."""
        broker = step.argument("broker")
        if not step.before.at("belief.held", broker):
            return False
        for one in self.run.steps[step.number :]:
            if one.command.is_step and one.command.arguments.get("broker") == broker:
                if one.name == "controller_starts_write":
                    return True
                if not one.before.at("belief.held", broker):
                    return False
        return False

    def _toggle(self) -> None:
        """Give the controller a state to write: the replica's broker leaves, or returns."""
        self._stand_in(there=self.lab_controller.read().leader != STAND_IN)

    def _stand_in(self, there: bool) -> None:
        path = f"/brokers/ids/{STAND_IN}"
        if not there:
            self.zk.delete(path)
        elif not self.zk.exists(path):
            register_stand_in(self.zk)

    def write_is_applied(self, step: ReplayStep) -> str:
        """The write is passed on, and ZooKeeper executes it."""
        message = self._pass_write(step)
        wanted = step.after.at("zk.state_version"), step.after.at("zk.state_epoch")
        registered = self.lab_controller.read()
        if (registered.zk_version, registered.controller_epoch) != wanted:
            raise KafkaDiffers(
                f"ZooKeeper refused it: the state has version {registered.zk_version} of "
                f"controller epoch {registered.controller_epoch}"
            )
        self.stale_write |= registered.controller_epoch < self.epoch()[0]
        return (
            f"{message.api}: version {registered.zk_version}, of controller epoch "
            f"{registered.controller_epoch}; /controller_epoch is {self.epoch()[0]}"
        )

    def write_is_refused(self, step: ReplayStep) -> str:
        """The write is passed on, and ZooKeeper refuses it."""
        message = self._pass_write(step)
        registered = self.lab_controller.read()
        if registered.zk_version != step.before.at("zk.state_version"):
            self.stale_write |= registered.controller_epoch < self.epoch()[0]
            raise KafkaDiffers(
                f"ZooKeeper took it: the state has version {registered.zk_version} of "
                f"controller epoch {registered.controller_epoch}"
            )
        return f"{message.api}: the state still has version {registered.zk_version}"

    def _pass_write(self, step: ReplayStep) -> Message:
        broker = step.argument("broker")
        held = self._first(WRITES, lambda api: MessageFilter(api, sender=str(broker), path=STATES))
        if held is None:
            raise StepNotForced(f"no write of broker {broker} is held; {self.gate.waiting()}")
        self.gate.settle(held, "pass")
        self._answered(held.message)
        return held.message

    def _answered(self, message: Message) -> Message:
        key = message.connection, message.correlation
        if not self.gate.wait_for(lambda: key in self.answers, PATIENCE_S):
            raise StepNotForced(f"no answer to {message.in_words()}")
        return self.answers[key]

    # Requests

    def _request(self, to: int | None, sender: int, epoch: int) -> HeldMessage:
        """A held request of the controller of an epoch to a broker, or to any broker."""

        def found() -> HeldMessage | None:
            for api in REQUESTS:
                which = MessageFilter(api, REQUEST, to=None if to is None else str(to))
                for one in self.gate.held(which):
                    if _sender(one.message) == (sender, epoch):
                        return one
            return None

        return self._await(found, f"controller {sender} of epoch {epoch} sends broker "
                                  f"{'any' if to is None else to} nothing")  # fmt: skip

    def sends(self, step: ReplayStep) -> str:
        """A proxy holds a request of the controller."""
        broker = step.argument("broker")
        epoch = step.before.at("belief.epoch", broker)
        held = self._request(None, broker, epoch)
        for api in REQUESTS:
            for one in self.gate.held(MessageFilter(api)):
                if _sender(one.message) == (broker, epoch):
                    self.proxies.claim(one)  # it is under way, whatever becomes of its sender
        return f"held: {held.message.in_words()}"

    def is_obeyed(self, step: ReplayStep) -> str:
        """The request is passed on, and the broker obeys it."""
        broker, epoch = step.argument("broker"), step.argument("epoch")
        sender = step.argument("sender")
        try:
            held = self._request(broker, sender, epoch)
        except StepNotForced:
            why = ""
            if epoch <= self.silent.get(sender, 0):
                why = f"what controller {sender} had not sent in epoch {epoch} ended with its term"
            elif broker not in self.zk.registered():
                why = (f"broker {broker} is not registered, and controller {sender} of epoch "
                       f"{epoch} sends it nothing")  # fmt: skip
            if not why:
                raise
            raise KafkaDiffers(why) from None
        self.proxies.claim(held)
        self.gate.settle(held, "pass")
        body = self._answered(held.message).body
        code = int(getattr(body, "error_code", 0))
        if code:
            raise KafkaDiffers(f"{held.message.api}: broker {broker} answered {error_name(code)}")
        self.stale_obedience |= epoch < self.obeyed.get(broker, 0)
        self.obeyed[broker] = max(epoch, self.obeyed.get(broker, 0))
        return f"{held.message.api} of controller epoch {epoch}: answered NONE"

    # Faults

    def expires(self, step: ReplayStep) -> str:
        """The session ends, and the broker is not notified.

        A write that the controller makes later in the run must be sent before: a client whose
        session is over sends nothing.
        """
        broker = step.argument("broker")
        if step.before.at("pending.any", broker) or self._writes_later(step):
            self._await_write(broker)
            if self.controller() == broker:
                self.zk.delete(CONTROLLER)
            return ("/controller is deleted by hand: ZooKeeper would refuse the write of a session "
                    "that is over")  # fmt: skip
        session = self.proxies.session(broker)
        self.proxies.to_zookeeper[broker].shut()
        self.cut_off.add(broker)
        if session is not None:
            self.zk.expire(session)
        if self.controller() == broker:
            self.zk.delete(CONTROLLER)  # of a broker that crashed: the lab's
        if not self.gate.wait_for(lambda: broker not in self.zk.registered(), PATIENCE_S):
            raise StepNotForced(f"/brokers/ids/{broker} is still there")
        return f"/brokers/ids/{broker} is gone, and the broker does not reach ZooKeeper"

    def _admit(self, broker: int) -> None:
        if broker in self.cut_off:
            self.cut_off.discard(broker)
            self.proxies.to_zookeeper[broker].admit()

    def crashes(self, step: ReplayStep) -> str:
        """SIGKILL, and the process starts again. The lab keeps its /controller node."""
        broker = step.argument("broker")
        if self.controller() == broker:
            its = Create(CONTROLLER, encode_controller(broker, 0), self.zk.port.session)
            wait(self.zk.port.multi([Delete(CONTROLLER), its]))
        session = self.proxies.session(broker)
        self.silent[broker] = step.before.at("belief.epoch", broker)
        self.lab.kill(broker)
        if session is not None and broker not in self.cut_off:
            self.zk.expire(session)
        self._admit(broker)
        if not self.gate.wait_for(lambda: broker not in self.zk.registered(), PATIENCE_S):
            raise StepNotForced(f"/brokers/ids/{broker} is still there")
        self.lab.start_process(f"broker{broker}")
        self.lab.await_broker(broker)
        return "SIGKILL; it has started again"


def _sender(message: Message) -> tuple[int, int]:
    """Which controller, of which epoch, sent a request."""
    return int(message.body.controller_id), int(message.body.controller_epoch)


def _registered_text(values: tuple[int, ...]) -> str:
    controller, epoch, version, state, of = values
    return (f"controller {controller or 'none'}, epoch {epoch} of version {version}, the state in "
            f"version {state} of controller epoch {of}")  # fmt: skip


def register_stand_in(zk: LabZooKeeper) -> None:
    """Register a broker that is only a znode: nobody listens at its endpoint."""
    wait(zk.register_broker(STAND_IN, BrokerInfo((f"PLAINTEXT://{LOOPBACK}:9",), 0)))


def replay_election(
    run: ModelRun, release: KafkaRelease, folder: Path, home: Path | None, on_step: OnStep
) -> ReplayedOnKafka:
    """Replays a run of `election` on a new cluster in ``folder``; no process runs afterwards."""
    answers: dict[tuple[int, int], Message] = {}
    watched: dict[int, float] = {}

    def heard(what: str, message: Message) -> None:
        if message.kind == ANSWER and what == "passed":
            answers[message.connection, message.correlation] = message
            if message.api == "Exists" and message.details["path"] == CONTROLLER:
                watched[int(message.sender)] = time.monotonic()

    with (
        lab_of_a_run(run, release, folder, home, SETTINGS, heard) as (lab, proxies),
        closing(LabController(lab, TOPIC)) as controller,
    ):
        controller.register_as_controller()
        lab.start_brokers()
        register_stand_in(controller.zk)
        controller.create_topic(
            (STAND_IN,), LeaderIsrAndControllerEpoch(STAND_IN, 0, (STAND_IN,), 0)
        )
        return ElectionReplay(run, lab, proxies, controller, answers, watched).report(on_step)


StepAction = Callable[[ElectionReplay, ReplayStep], str]

STEP_ACTIONS: dict[str, StepAction] = {
    "broker_connects": ElectionReplay.connects,
    "session_expires": ElectionReplay.expires,
    "broker_reads_epoch": ElectionReplay.reads_epoch,
    "broker_wins_election": ElectionReplay.wins,
    "broker_learns_it_won": ElectionReplay.learns,
    "broker_loses_controller_election": ElectionReplay.finds_it_moved,
    "controller_resigns_and_deletes_znode": ElectionReplay.resigns,
    "broker_crashes": ElectionReplay.crashes,
    "controller_starts_write": ElectionReplay.starts_write,
    "write_is_applied": ElectionReplay.write_is_applied,
    "write_is_refused": ElectionReplay.write_is_refused,
    "controller_sends_request": ElectionReplay.sends,
    "broker_handles_request": ElectionReplay.is_obeyed,
}
"""Transition of `election` -> its action: all of them."""

__all__ = ["STEP_ACTIONS", "ElectionReplay", "replay_election"]

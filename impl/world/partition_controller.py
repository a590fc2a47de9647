"""The controller of a broker of one partition: the core's elections, one read or write per step.

It reads and writes as running brokers do (``ZnodeClient``), decides by the core's rules
(``PartitionMachine``, ``ReplicaMachine``) and sends by its batches. The caller chooses when it
reads and writes and which eligible replica it elects: it may be any controller that obeys the
fences.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from impl.core.cluster_context import ClusterContext
from impl.core.controller_parts import ControllerConfig
from impl.core.partition_machine import OFFLINE, PartitionMachine
from impl.core.replica_machine import ReplicaMachine
from impl.core.request_batch import RequestBatch, Round
from impl.core.requests import LeaderAndIsr
from impl.releases import Release
from impl.sim.effects import EffectPort
from impl.sim.pending import CompletedWork, carry_out, run_until_next_operation
from impl.sim.suspension_points import registered_epoch
from impl.world.stepped.controller_run import FIRST
from impl.znodes import (
    LeaderIsrAndControllerEpoch,
    decode_controller_epoch,
    paths,
)
from impl.znodes.client import ControllerEpoch, EpochNotCounted, ZnodeClient
from impl.znodes.retrying_client import ControllerMoved
from impl.zookeeper import ConnectionLoss, Created, NoNode, Znode, ZooKeeperError
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession


class Reply(Enum):
    """The state of the reply to a broker that has registered as controller."""

    ELECTED = "elected"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Candidacy:
    """A registration as controller, and the responses that it has received so far.

    ``answer`` is ZooKeeper's result, None before it; ``reply`` is the state of the reply.
    """

    answers: tuple[Any, ...] = ()
    answer: Any = None
    reply: Reply | None = None

    @property
    def read(self) -> ControllerEpoch | None:
        """The controller epoch that it has read, None before; 0 if the znode is missing."""
        for one in self.answers:
            if isinstance(one, Znode):
                return ControllerEpoch(decode_controller_epoch(one.data), one.version)
            if isinstance(one, NoNode):
                return ControllerEpoch(0, 0)
        return None

    @property
    def won(self) -> bool:
        """Whether ZooKeeper executed it; the broker may not get the response."""
        if isinstance(self.answer, Created | Znode):
            return True
        return isinstance(self.answer, tuple) and isinstance(self.answer[1], int)


@dataclass(frozen=True, slots=True)
class Cached:
    """A controller's cached partition state and live brokers (broker, broker epoch)."""

    state: LeaderIsrAndControllerEpoch
    live: tuple[tuple[int, int], ...]

    @property
    def live_ids(self) -> tuple[int, ...]:
        """The ids of the brokers that were registered."""
        return tuple(broker for broker, _ in self.live)


SavedController = tuple[Candidacy | None, ControllerEpoch | None, Cached | None, int]
Requests = list[tuple[int, LeaderAndIsr]]
"""LeaderAndIsr requests, each with its target."""


class PartitionController:
    """One broker's controller; ``belief`` is None unless it believes that it is the controller."""

    def __init__(
        self,
        broker: int,
        assignment: tuple[int, ...],
        port: EffectPort,
        release: Release,
    ) -> None:
        self.broker = broker
        self.assignment = assignment
        self.release = release
        self.port = port
        self.candidacy: Candidacy | None = None
        self.belief: ControllerEpoch | None = None
        self.cached: Cached | None = None

    @property
    def unclean(self) -> bool:
        """Whether unclean leader election is allowed: the default up to 0.10."""
        return ControllerConfig().unclean_allowed("", self.release)

    @property
    def client(self) -> ZnodeClient:
        """The znode client of the broker's current session; every operation completes at once."""
        return ZnodeClient(self.port.embedded, self.release)

    @property
    def reply(self) -> Reply | None:
        """The state of the reply, None if none is under way."""
        return None if self.candidacy is None else self.candidacy.reply

    # Becoming controller (KAFKA-6082)

    def read_epoch(self) -> None:
        """Read the controller epoch and its version, for a registration.

        Up to 2.0 nothing is read here: the epoch is read after ``/controller`` is created.
        """
        one = Candidacy()
        if self.release.since("2.1"):
            progress = run_until_next_operation(self._registers(), ())
            assert not isinstance(progress, CompletedWork), "the epoch is asked for first"
            one = replace(one, answers=(carry_out(self.port.embedded, progress.ask),))
        self.candidacy = one

    def _registers(self) -> Any:
        return ZnodeClient(self.port, self.release).register_controller(self.broker, now_ms=0)

    def register(self) -> None:
        """Let ZooKeeper execute the registration; the reply is under way.

        Up to 2.0 the registration is the write of the epoch, after ``/controller`` was created.
        """
        one = self._candidacy()
        while one.answer is None:
            progress = run_until_next_operation(self._registers(), one.answers)
            assert not isinstance(progress, CompletedWork), "registered is who was answered"
            answer = carry_out(self.port.embedded, progress.ask)
            goes_on = isinstance(answer, NoNode) or not isinstance(answer, ZooKeeperError)
            if registered_epoch(progress.ask) is None and goes_on:
                one = replace(one, answers=(*one.answers, answer))
            else:
                one = replace(one, answer=answer)
        self.candidacy = replace(one, reply=Reply.ELECTED if one.won else Reply.FAILED)

    def learn_outcome(self) -> None:
        """Receive the reply, and become controller or not."""
        self._ends(self._candidacy().answer)

    def lose_reply(self) -> None:
        """Lose the reply."""
        self.candidacy = replace(self._candidacy(), reply=Reply.LOST)

    def check_registration(self) -> None:
        """Register again, get a refusal, and read which broker /controller names."""
        self._ends(ConnectionLoss("the connection broke before the reply came"))

    def _ends(self, answer: Any) -> None:
        one = self._candidacy()
        answers = [*one.answers, answer]
        try:
            while not isinstance(
                progress := run_until_next_operation(self._registers(), answers), CompletedWork
            ):
                answers.append(carry_out(self.port.embedded, progress.ask))
        except (ControllerMoved, ZooKeeperError) as lost:
            self.candidacy = None
            if isinstance(
                lost, EpochNotCounted
            ):  # up to 2.0: whoever's it is (triggerControllerMove)
                wait(self.client.delete_controller(0))
            return
        won: ControllerEpoch = progress.result
        self.candidacy, self.belief = None, won

    # Resigning

    def is_registered(self) -> bool:
        """Whether /controller belongs to the broker's current session."""
        node = self.port.embedded.zookeeper.nodes.get(paths.CONTROLLER)
        return node is not None and node.owner == self.port.session

    def abort_event(self) -> None:
        """Drop belief, registration and cache."""
        self.candidacy = self.belief = self.cached = None

    def renew(self, session: int) -> None:
        """Forget everything: another process, or session."""
        self.abort_event()
        self.reconnect(session)

    def reconnect(self, session: int) -> None:
        """Continue on another session."""
        self.port.embedded = EmbeddedSession.known(self.port.embedded.zookeeper, session)

    # As the controller

    def read_partition(self) -> None:
        """Cache the partition's state and version, and the registered brokers."""
        self.cached = Cached(self._registered_state(), self._live())

    def _registered_state(self) -> LeaderIsrAndControllerEpoch:
        state = wait(self.client.state(FIRST))
        assert state is not None, "the partition has a state"
        return state

    def _live(self) -> tuple[tuple[int, int], ...]:
        return tuple((one, epoch) for one, (_, epoch) in wait(self.client.brokers()).items())

    def elect_leader(self, leader: int) -> Requests:
        """Elect an eligible replica; returns the requests, none if the write was refused.

        The core elects the first eligible replica; its assignment here begins with this one.
        """
        cached = self._cached()
        order = (leader, *(one for one in self.assignment if one != leader))
        context, batch = self._context(cached, order)
        machine = PartitionMachine(
            context, batch, self.client, self.release, lambda topic: self.unclean
        )
        elected = machine.choose(FIRST, cached.state, OFFLINE)
        assert elected is not None, "who is elected may lead"
        assert elected.leader == leader, "who is elected may lead"
        state = replace(
            cached.state,
            leader=leader,
            leader_epoch=cached.state.leader_epoch + 1,
            isr=elected.isr,
            controller_epoch=context.epoch,
        )
        return self._write(cached, state, elected.recipients)

    def remove_replica(self, replica: int) -> Requests:
        """Remove a dead replica from the ISR; returns the requests to the other replicas."""
        cached = self._cached()
        context, batch = self._context(cached, self.assignment)
        machine = ReplicaMachine(
            context, batch, self.client, self.release, lambda topic: self.unclean
        )
        state = machine.without(replica, cached.state, FIRST.topic)
        others = [one for one in cached.live_ids if one != replica]
        return self._write(cached, state, others)

    def _write(
        self,
        cached: Cached,
        state: LeaderIsrAndControllerEpoch,
        recipients: Collection[int],
    ) -> Requests:
        won = self._belief()
        try:
            updated = wait(self.client.update_states({FIRST: state}, won.epoch_version))
        except ControllerMoved:
            self.abort_event()
            return []
        if FIRST not in updated.done:
            self.cached = None
            return []
        self.cached = replace(cached, state=updated.done[FIRST])
        return self._batch(self.cached, recipients)

    def inform(self, replica: int) -> Requests:
        """The LeaderAndIsr with the registered state for a registered replica."""
        return self._batch(Cached(self._registered_state(), self._live()), [replica])

    def _context(
        self, known: Cached, assignment: tuple[int, ...]
    ) -> tuple[ClusterContext, RequestBatch]:
        """What the controller knows, as the core has it."""
        context, won = ClusterContext(), self._belief()
        context.epoch, context.epoch_version = won.epoch, won.epoch_version
        context.broker_epochs = dict(known.live)
        context.assign(FIRST, assignment)
        context.leadership[FIRST] = known.state
        return context, RequestBatch(self.broker, context, self.release, unsent)

    def _batch(self, known: Cached, recipients: Collection[int]) -> Requests:
        context, batch = self._context(known, self.assignment)
        sent: Requests = []

        async def send(requests: Round) -> None:
            # No broker of this world receives the other requests.
            sent.extend((to, one) for to, one in requests if isinstance(one, LeaderAndIsr))

        batch.send = send
        batch.begin()
        batch.add_leader_and_isr(recipients, FIRST, known.state, self.assignment, is_new=False)
        wait(batch.send_requests(context.epoch))
        return sent

    # What a step has made sure of

    def _candidacy(self) -> Candidacy:
        assert self.candidacy is not None, "the controller epoch has not been read"
        return self.candidacy

    def _belief(self) -> ControllerEpoch:
        assert self.belief is not None, "not the controller"
        return self.belief

    def _cached(self) -> Cached:
        assert self.cached is not None, "the partition has not been read"
        return self.cached

    # Plain data

    def save(self) -> SavedController:
        """Everything, as an immutable value."""
        return self.candidacy, self.belief, self.cached, self.port.session

    def load(self, saved: SavedController) -> None:
        """Restore what `save` returned."""
        self.candidacy, self.belief, self.cached, session = saved
        if session != self.port.session:
            self.reconnect(session)


async def unsent(requests: Round) -> None:
    """The send function of a batch that must not send anything."""
    raise AssertionError(f"nothing is sent, and {requests} is")

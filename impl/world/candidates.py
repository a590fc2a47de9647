"""Brokers that stand for controller, write as one and are deposed: each request is a step, each
execution at ZooKeeper another, and each answer a third.

The code is that of a running broker: `ZnodeClient` registers, writes and leaves office by the fence
of its release, and `ReplicaManager` refuses controllers. Source: fact sheet b.2 to b.6.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

from impl.broker.replica_manager import ReplicaManager, SavedReplicaManager
from impl.journal import Journal
from impl.log import ReplicaLog
from impl.releases import DEFAULT, Release
from impl.requests import LeaderAndIsrRequest
from impl.world import candidate_rules as rules
from impl.world.retold import Answers, KnownSession, Pause, RetoldSession, until_it_waits
from impl.world.steps import Step, StepNotPossible
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.access import ControllerMoved
from impl.znodes.client import Updated, ZnodeClient
from impl.znodes.office import Office
from impl.znodes.states import encode_state
from impl.zookeeper import ConnectionLoss, KafkaZkClient, Op, PartitionState, ZooKeeper
from impl.zookeeper.errors import SessionExpired
from impl.zookeeper.port import wait
from impl.zookeeper.store import Saved

PARTITION = TopicPartition("t", 0)
FIRST_FENCED = "2.1"
"""Before, the epoch was counted by a write of its own after `/controller` was created."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What one broker holds; `told` are the answers to its registration, `write` is under way."""

    session: int = 0
    told: Answers = ()
    office: Office | None = None
    write: Pause | None = None


@dataclass(frozen=True, slots=True)
class SavedElectorate:
    """Everything at one moment."""

    zookeeper: Saved
    candidates: tuple[Candidate, ...]
    sent: frozenset[tuple[int, int]]
    replicas: tuple[SavedReplicaManager, ...]


class Electorate:
    """Brokers 1..N without a session, and a partition's state that whoever is controller writes.

    ``version`` is a release from 2.1 on; ValueError for an older one, which registered in two
    writes.
    """

    def __init__(self, brokers: int = 2, version: str = DEFAULT) -> None:
        self.release = Release.of(version)
        if not self.release.since(FIRST_FENCED):
            raise ValueError(f"registration is one write since {FIRST_FENCED}, not in {version}")
        self.zookeeper = ZooKeeper()
        self.zookeeper.make_path(paths.CONTROLLER_EPOCH, "0")
        blank = LeaderIsrAndControllerEpoch(1, 0, tuple(range(1, brokers + 1)), 0)
        self.zookeeper.make_path(paths.state(*PARTITION), encode_state(blank))
        self.brokers = range(1, brokers + 1)
        self.candidates = {broker: Candidate() for broker in self.brokers}
        self.sent: frozenset[tuple[int, int]] = frozenset()
        self.replicas = {broker: self._fresh_replicas(broker) for broker in self.brokers}

    def _fresh_replicas(self, broker: int) -> ReplicaManager:
        client = KafkaZkClient(self.zookeeper)
        return ReplicaManager(broker, tuple(self.brokers), ReplicaLog(), 0, client, Journal())

    # What can be seen

    def session_alive(self, broker: int) -> bool:
        """ZooKeeper holds the broker's session."""
        return self.candidates[broker].session in self.zookeeper.sessions

    # Steps

    def enabled(self) -> list[Step]:
        """Every step that may be taken now, sorted by name and arguments."""
        steps = [Step(name, (one,)) for name in sorted(STEPS) for one in self.brokers]
        steps += [
            Step(name, (broker, *sent))
            for name in rules.ARRIVALS
            for broker, sent in product(self.brokers, sorted(self.sent))
        ]
        return [step for step in steps if self.why_not(step) is None]

    def why_not(self, step: Step) -> str | None:
        """The first condition of the step that does not hold, None if it may be taken."""
        if step.name in rules.ARRIVALS:
            broker, sender, epoch = step.args
            if (sender, epoch) not in self.sent:
                return "the request was sent"
            stale = self.replicas[broker].controller_epoch_is_stale(self._request(*step.args))
            return (
                None if stale == (step.name == "request_is_refused") else rules.ARRIVALS[step.name]
            )
        if step.name not in STEPS:
            return f"{step.name} is the name of a step"
        return STEPS[step.name][0](self, step.args[0])

    def do(self, step: Step) -> None:
        """Take a step; StepNotPossible with the reason if it is not enabled."""
        reason = self.why_not(step)
        if reason is not None:
            raise StepNotPossible(step, reason)
        if step.name in rules.ARRIVALS:
            self.request_arrives(*step.args)
        else:
            STEPS[step.name][1](self, step.args[0])

    def _set(self, broker: int, **changes: object) -> None:
        self.candidates[broker] = replace(self.candidates[broker], **changes)  # type: ignore[arg-type]

    # Sessions

    def broker_connects(self, broker: int) -> None:
        """A session is opened."""
        self._set(broker, session=self.zookeeper.open_session())

    def session_expires(self, broker: int) -> None:
        """ZooKeeper ends it, and `/controller` goes with it if it is the session's."""
        self.zookeeper.expire(self.candidates[broker].session)

    def broker_crashes(self, broker: int) -> None:
        """Memory is lost. What was sent is under way; the session lasts until it expires.

        Since 2.2 what is sent to an earlier registration is refused (KIP-380), as if the broker
        still knew of the controllers that it had known.
        """
        self._set(broker, told=(), office=None)
        if not self.release.since("2.2"):
            self.replicas[broker] = self._fresh_replicas(broker)

    # Office

    def broker_stands(self, broker: int) -> None:
        """`/controller_epoch` is read; the registration is on its way."""
        self._registers(broker, ())

    def zookeeper_executes_registration(self, broker: int) -> None:
        """Both or neither: `/controller`, and the next epoch. Nobody has heard of it yet."""
        pause = self._registers(broker, self.candidates[broker].told)
        assert isinstance(pause, Pause)
        self._set(broker, told=(*pause.answers, tuple(self._execute(broker, pause.ops))))

    def answer_is_lost(self, broker: int) -> None:
        """The connection broke after the registration was executed."""
        told = self.candidates[broker].told
        self._set(broker, told=(*told[:1], ConnectionLoss("the answer was lost")))

    def broker_hears(self, broker: int) -> None:
        """The answer comes; or it was lost, and the broker asks again and looks whose office it is.

        What follows in the same breath is executed at once.
        """
        told = self.candidates[broker].told
        while isinstance(pause := self._registers(broker, told), Pause):
            told = (*pause.answers, tuple(self._execute(broker, pause.ops)))
        if isinstance(pause, Office):
            self._set(broker, office=pause, told=())

    def _registers(self, broker: int, answers: Answers) -> Office | Pause | ControllerMoved:
        port = RetoldSession(self.zookeeper, self.candidates[broker].session, answers)
        client = ZnodeClient(port, self.release)
        try:
            result = until_it_waits(client.register_controller(broker, 0), port)
        except ControllerMoved as moved:
            return moved
        if isinstance(result, Pause):
            self._set(broker, told=result.answers)
        return result

    def controller_resigns(self, broker: int) -> None:
        """Out of office, and `/controller` is deleted by the fence of one's own epoch."""
        office = self.candidates[broker].office
        assert office is not None
        self._set(broker, office=None)
        client = ZnodeClient(
            KnownSession(self.zookeeper, self.candidates[broker].session), self.release
        )
        with contextlib.suppress(ControllerMoved, SessionExpired):
            wait(client.delete_controller(office.epoch_version))

    # Writes

    def controller_starts_write(self, broker: int) -> None:
        """The state is read, and written under the version that it had: that is on its way."""
        pause = self._writes(broker, ())
        assert isinstance(pause, Pause)
        self._set(broker, write=pause)

    def zookeeper_executes_write(self, broker: int) -> None:
        """Applied or refused, by the fence and by the version; the sender hears of it in time."""
        write = self.candidates[broker].write
        assert write is not None
        outcomes = tuple(self._execute(broker, write.ops))
        self._set(broker, write=None)
        if self.candidates[broker].office is not None:
            self._writes(broker, (*write.answers, outcomes))

    def _writes(self, broker: int, answers: Answers) -> Updated | Pause | None:
        office = self.candidates[broker].office
        assert office is not None
        port = RetoldSession(self.zookeeper, self._connection(broker), answers)
        client = ZnodeClient(port, self.release)

        async def write() -> Updated:
            state = await client.state(PARTITION)
            assert state is not None
            mine = replace(state, controller_epoch=office.epoch)
            return await client.update_states({PARTITION: mine}, office.epoch_version)

        try:
            return until_it_waits(write(), port)
        except ControllerMoved:
            return None  # it will resign; meanwhile what it sent before goes on

    def _execute(self, broker: int, ops: tuple[Op, ...]) -> list[object]:
        return list(wait(KnownSession(self.zookeeper, self._connection(broker)).multi(ops)))

    def _connection(self, broker: int) -> int:
        """The session under which the client speaks: it reconnects before the broker knows."""
        session = self.candidates[broker].session
        return session if self.session_alive(broker) else self.zookeeper.open_session()

    # Requests

    def controller_sends_request(self, broker: int) -> None:
        """A LeaderAndIsr is on its way, and may come often and late."""
        office = self.candidates[broker].office
        assert office is not None
        self.sent |= {(broker, office.epoch)}

    def request_arrives(self, broker: int, sender: int, epoch: int) -> None:
        """Obeyed, or refused for its controller epoch."""
        request = self._request(broker, sender, epoch)
        self.replicas[broker].become_leader_or_follower(request, 0)

    def _request(self, broker: int, sender: int, epoch: int) -> LeaderAndIsrRequest:
        state = PartitionState(sender, epoch, tuple(self.brokers), epoch)
        return LeaderAndIsrRequest(broker, sender, epoch, 0, state, 0)

    # Plain data

    def snapshot(self) -> SavedElectorate:
        """The whole state as a value."""
        return SavedElectorate(
            self.zookeeper.save(),
            tuple(self.candidates.values()),
            self.sent,
            tuple(one.save() for one in self.replicas.values()),
        )

    def restore(self, snapshot: SavedElectorate) -> None:
        """Become what a snapshot says."""
        self.zookeeper.load(snapshot.zookeeper)
        self.candidates = dict(zip(self.brokers, snapshot.candidates, strict=True))
        self.sent = snapshot.sent
        for manager, saved in zip(self.replicas.values(), snapshot.replicas, strict=True):
            manager.load(saved)


STEPS: dict[str, tuple[Callable[[Electorate, int], str | None], Callable[[Electorate, int], None]]]
STEPS = {
    "answer_is_lost": (rules.loses, Electorate.answer_is_lost),
    "broker_connects": (rules.connects, Electorate.broker_connects),
    "broker_crashes": (rules.crashes, Electorate.broker_crashes),
    "broker_hears": (rules.hears, Electorate.broker_hears),
    "broker_hears_late": (rules.hears_late, Electorate.broker_hears),
    "broker_stands": (rules.stands, Electorate.broker_stands),
    "controller_resigns": (rules.resigns, Electorate.controller_resigns),
    "controller_sends_request": (rules.sends, Electorate.controller_sends_request),
    "controller_starts_write": (rules.resigns, Electorate.controller_starts_write),
    "session_expires": (rules.expires, Electorate.session_expires),
    "zookeeper_executes_registration": (
        rules.registration, Electorate.zookeeper_executes_registration),
    "zookeeper_executes_write": (rules.executes, Electorate.zookeeper_executes_write),
}  # fmt: skip
"""Step of one broker -> its refusal, and what it does."""

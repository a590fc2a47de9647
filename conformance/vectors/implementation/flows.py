"""Answers about a controller at work (controller_flow.json)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from conformance.vectors.implementation.hosted_broker import HostedBroker
from conformance.vectors.implementation.reassigns import MoveByStep
from conformance.vectors.implementation.stage import (
    NOW_MS,
    ControllerStage,
    shown_state,
    state_of,
)
from conformance.vectors.questions import Answer, Question, given, release
from impl.core.api import AlteredIsrs, ControllerApi
from impl.core.broker_changes import ShutdownRefused
from impl.core.cluster_context import ClusterContext
from impl.core.controller_parts import ControllerConfig
from impl.core.imbalance import candidates
from impl.core.journal import ControllerJournal
from impl.core.states import PartitionState
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.znodes.retrying_client import ControllerMoved
from impl.zookeeper.port import OpOutcome, wait
from impl.zookeeper.session import ConnectionFault, EmbeddedSession
from impl.zookeeper.znode import Op

PARTITION = TopicPartition("t", 0)


def imbalance(question: Question) -> dict[str, Any]:
    """Whether so many partitions without their preferred leader exceed the limit."""
    asked, context = given(question), ClusterContext()
    context.broker_epochs = {0: 1, 1: 1}
    preferred = [TopicPartition("t", number) for number in range(asked["preferred"])]
    for number, partition in enumerate(preferred):
        context.assign(partition, (0, 1))
        leader = int(number < asked["notLed"])
        context.leadership[partition] = LeaderIsrAndControllerEpoch(leader, 0, (0, 1), 0)
    moving = [TopicPartition("u", 0)] if asked["reassigning"] else []
    due = candidates(context, asked["percentage"], moving, release(question))
    return {"trigger": any(due.values())}


def isr_propagation(question: Question) -> dict[str, Any]:
    """Whether it is time to report changed ISRs."""
    asked, manager = given(question), HostedBroker(release(question)).manager
    manager.isr_changes = {PARTITION} if asked["changes"] else set()
    manager.last_isr_change_ms = asked["lastChange"]
    manager.last_propagation_ms = asked["lastPropagation"]
    return {"propagate": manager.has_isr_changes_to_propagate(asked["now"])}


# Becoming controller


class _FlowInterrupted(EmbeddedSession):
    """A session in which something happens around the registration's transaction."""

    before: Callable[[], None] | None = None
    after: Callable[[], None] | None = None

    async def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """As ZooKeeper does."""
        if self.before is not None:
            self.before()
        outcomes = await super().multi(ops)
        if self.after is not None:
            self.after()
        return outcomes


def register_controller(question: Question) -> dict[str, Any]:
    """A registration while a znode exists, or is written concurrently."""
    asked, stage = given(question), ControllerStage(release(question))
    session = _FlowInterrupted(stage.zookeeper)
    client, admin = ZnodeClient(session, release(question)), stage.admin
    read, holder = asked.get("readEpoch", asked["epochZnode"]), asked["controllerZnode"]
    if read is not None:
        _put_epoch(admin, read)

    def others_move() -> None:
        session.before = None
        if asked["epochZnode"] != read:
            _put_epoch(admin, asked["epochZnode"])
        if holder is not None:
            _put_controller(admin, holder if isinstance(holder, int) else 2)

    def others_move_after_the_loss() -> None:
        session.before = None
        if asked["epochZnode"] != [each + 1 for each in read or (0, 0)]:
            _put_epoch(admin, asked["epochZnode"])
        if holder != asked["me"]:
            wait(admin.port.delete(paths.CONTROLLER))
            if isinstance(holder, int):
                _put_controller(admin, holder)

    def reply_to_registration_is_lost() -> None:
        session.before = others_move_after_the_loss
        session.lose(ConnectionFault.REPLY)

    def it_vanishes() -> None:
        session.after = None
        wait(admin.port.delete(paths.CONTROLLER))

    if asked.get("retryAfterConnectionLoss"):
        session.before = reply_to_registration_is_lost
    else:
        session.before = others_move
        if holder == "exists then missing":
            session.after = it_vanishes
    try:
        registered = wait(client.register_controller(asked["me"], NOW_MS))
    except ControllerMoved:
        return {"result": "ControllerMovedException"}
    return {
        "result": "elected",
        "epoch": registered.epoch,
        "epochZkVersion": registered.epoch_version,
    }


def _put_controller(admin: ZnodeClient, broker: int) -> None:
    wait(admin.make_path(paths.CONTROLLER, f'{{"brokerid":{broker}}}'))


def _put_epoch(admin: ZnodeClient, epoch_and_version: list[int]) -> None:
    epoch, version = epoch_and_version
    wait(admin.make_path(paths.CONTROLLER_EPOCH, str(epoch)))
    while True:
        node = wait(admin.port.set_data(paths.CONTROLLER_EPOCH, str(epoch)))
        if node.version >= version:
            return


# Leaders


def _observed(stage: ControllerStage, partition: TopicPartition = PARTITION) -> dict[str, Any]:
    state = stage.state(partition)
    if state is None:
        return {"leader": None}
    return {
        "leader": state.leader,
        "leaderEpoch": state.leader_epoch,
        "isr": list(state.isr),
        "controllerEpoch": state.controller_epoch,
        "partition": partition.partition,
    }


def creation(question: Question) -> dict[str, Any]:
    """A topic, or partitions of one, are created while some replicas are dead."""
    asked, stage = given(question), ControllerStage(release(question))
    wanted = asked["assignment"]
    named = wanted if isinstance(wanted, list) else [one for ids in wanted.values() for one in ids]
    keeper = max(named) + 1  # where none of them lives somebody has to be the controller
    for broker in asked["live"] or [keeper]:
        stage.start_broker(broker)
    controller = stage.controller(asked.get("controller", (asked["live"] or [keeper])[0]))
    if isinstance(wanted, list):
        stage.create_topic("t", {0: wanted})
        stage.run(controller)
        return _observed(stage)
    added = {int(number): replicas for number, replicas in wanted.items()}
    stage.create_topic("t", {0: asked["live"]})
    stage.run(controller)
    _grow(stage, {0: asked["live"], **added})
    stage.run(controller)
    seen = {number: _observed(stage, TopicPartition("t", number)) for number in sorted(added)}
    return seen[max(added)] | {
        "leaders": {str(number): one["leader"] for number, one in seen.items()},
        "isrs": {str(number): one.get("isr") for number, one in seen.items()},
        "leaderEpochs": {str(number): one.get("leaderEpoch") for number, one in seen.items()},
    }


def _grow(stage: ControllerStage, assignment: dict[int, Any]) -> None:
    """Rewrite the topic's znode, as admin code does."""
    fresh = ControllerStage(stage.release)
    fresh.create_topic("t", assignment)
    text = wait(fresh.admin.port.get(paths.topic("t"))).data
    wait(stage.admin.port.set_data(paths.topic("t"), text))


class TopicScenario:
    """A topic of one partition, brokers that stop and start, and a controller that stays."""

    def __init__(self, question: Question) -> None:
        asked = given(question)
        assignment, brokers = asked["assignment"], asked["brokers"]
        self.stage = ControllerStage(release(question))
        self.assignment = assignment
        self.remaining: list[int] = []  # what a broker that shut down still leads, each time
        gone = {int(step.split()[-1]) for step in asked["steps"] if step.startswith("stop ")}
        staying = [one for one in brokers if one not in {*gone, assignment[0]}]
        keeper = asked.get("controller", min(staying, default=max({*assignment, *gone}) + 1))
        for broker in sorted({*brokers, keeper}):
            self.stage.start_broker(broker)
        config = ControllerConfig(unclean_leader_election=asked.get("unclean"))
        self.controller = self.stage.controller(keeper, config)
        self.stage.create_topic("t", {0: assignment})
        self.stage.run(self.controller)

    def do(self, step: str) -> None:
        """Stop N, start N, shut down N, an election of preferred replicas, or a rebalancing."""
        word, _, rest = step.partition(" ")
        if word == "stop":
            self.stage.stop_broker(int(rest))
            self.stage.run(self.controller)
        elif word == "start":
            self.stage.start_broker(int(rest))
            self.stage.run(self.controller)
            self._joins(int(rest))
        elif "auto" in step.lower():
            wait(self.controller.rebalance())
            self.stage.run(self.controller)
        elif "shutdown" in step.lower():
            self.remaining.append(
                len(wait(self.controller.brokers.shut_down(int(rest.split()[-1]))))
            )
            self.stage.run(self.controller)
        elif "elect" in step.lower():
            wait(self.stage.admin.make_path("/admin"))
            wait(self.stage.admin.request_preferred_election([PARTITION]))
            self.stage.run(self.controller)
        else:
            raise ValueError(f"no step of a controller's life is {step!r}")

    def _joins(self, broker: int) -> None:
        """The broker catches up, and the leader takes it into the ISR and announces that."""
        state = self.stage.state(PARTITION)
        assert state is not None, "the partition has a state"
        if state.leader >= 0 and broker in self.assignment and broker not in state.isr:
            self.stage.leader_writes_isr(PARTITION, (*state.isr, broker))
            wait(self.stage.admin.propagate_isr_changes([PARTITION]))
            self.stage.run(self.controller)


def leaders(question: Question) -> dict[str, Any]:
    """The state of a partition after brokers stop and start, and after elections."""
    asked = given(question)
    life = TopicScenario(question)
    seen = []
    for step in asked["steps"]:
        life.do(step)
        seen.append(_observed(life.stage))
    requested = wait(life.stage.admin.preferred_election())
    return _observed(life.stage) | {
        "leaderEpochs": [one["leaderEpoch"] for one in seen],
        "leaders": [one["leader"] for one in seen],
        "isrs": [one["isr"] for one in seen],
        "partitionsRemaining": life.remaining,
        "remaining": [[str(PARTITION)] * one for one in life.remaining],
        "electionZnode": None if requested is None else "present",
    }


def reassign(question: Question) -> dict[str, Any]:
    """A partition is moved; its target catches up as soon as it is alive."""
    asked = given(question)
    move = MoveByStep(question, asked["from"], asked["to"], asked["live"])
    stage = move.stage
    move.request()
    move.catch_up()
    stage.run(move.controller)
    if "then" in asked:
        stage.start_broker(int(asked["then"].split()[1]))
        stage.run(move.controller)
        move.catch_up()
        stage.run(move.controller)
    left = wait(stage.admin.port.exists(paths.REASSIGN_PARTITIONS))
    znode = {"reassignZnode": None if left is None else "present"}
    return _observed(stage) | {"assignment": move.look()["assignment"], **znode}


def controlled_shutdown(question: Question) -> dict[str, Any]:
    """A broker that leads nothing requests a controlled shutdown, or is refused."""
    asked, stage = given(question), ControllerStage(release(question))
    keeper = max(asked["live"], default=0) + 1
    for one in (*asked["live"], keeper):
        stage.start_broker(one)
    controller = stage.controller(keeper)
    epochs = controller.core.context.broker_epochs
    if asked["broker"] in epochs:
        epochs[asked["broker"]] = asked["currentBrokerEpoch"]
    asks = controller.brokers.shut_down(asked["broker"], asked["requestBrokerEpoch"])
    try:
        return {"error": None, "remaining": list(map(str, wait(asks)))}
    except ShutdownRefused as refused:
        return {"error": refused.error, "message": str(refused)}


class AskedController:
    """A controller that may know a partition, and is no longer controller if it resigned."""

    def __init__(self, question: Question) -> None:
        asked = given(question)
        self.stage = ControllerStage(release(question))
        self.epochs = {one: self.stage.start_broker(one) for one in asked["brokers"]}
        self.controller = self.stage.controller(asked["controller"])
        self.api, context = ControllerApi(self.controller), self.controller.core.context
        if asked["exists"]:
            state = state_of(asked["state"], 1)
            self.stage.create_topic("t", {0: asked["assignment"]})
            self.stage.put_state(PARTITION, state)
            context.assign(PARTITION, asked["assignment"])
            context.leadership[PARTITION] = state
            context.put_partition_state(PARTITION, PartitionState.ONLINE)
        if not asked["active"]:
            wait(self.controller.resign())

    def answer(self, top: str, error: str | None) -> dict[str, Any]:
        """The controller's answer, and what is then registered."""
        now = self.stage.state(PARTITION)
        return {
            "topError": top,
            "partitionError": error,
            "error": top if error is None else error,
            **(shown_state(now) if now is not None else {}),
        }


def alter_isr(question: Question) -> dict[str, Any]:
    """A leader requests another ISR from the controller (2.7)."""
    asked, scene = given(question), AskedController(question)
    wanted, answered = asked["request"], list[tuple[str, AlteredIsrs]]()
    epoch = scene.epochs[wanted["broker"]] - asked["epochsBehind"]
    asks = {PARTITION: state_of(wanted, 1)}
    wait(scene.api.alter_isr(
        wanted["broker"], epoch, asks, lambda error, found: answered.append((error, found))
    ))  # fmt: skip
    [(top, found)] = answered
    return scene.answer(top, found[PARTITION].error if PARTITION in found else None)


def elect_leaders(question: Question) -> dict[str, Any]:
    """An administrator requests a leader election from the controller (2.2, unclean since 2.4)."""
    scene = AskedController(question)
    top, found = wait(scene.api.elect_leaders(given(question)["type"], [PARTITION]))
    return scene.answer(top, found.get(PARTITION))


# Controllership


def restarts(question: Question) -> dict[str, Any]:
    """All brokers, or one, start or stop: the resulting controller and its epoch."""
    asked, stage = given(question), ControllerStage(release(question))
    for step in asked["steps"]:
        word, _, which = step.partition(" ")
        for broker in [int(which)] if which else range(asked["brokers"]):
            if word == "stop":
                stage.stop_broker(broker)
            elif broker not in stage.sessions:
                stage.start_broker(broker)
            for candidate in (
                [*stage.sessions][:1] if wait(stage.admin.controller()) is None else ()
            ):
                stage.controller(candidate)
    registered, holder = wait(stage.admin.controller_epoch()), wait(stage.admin.controller())
    return {
        "controllerEpoch": None if registered is None else registered.epoch,
        "controllerZnode": holder,
        "controller": holder,
    }


_TRIGGERS = (
    "TopicCreation", "TopicDeletion", "PreferredReplicaElection", "PartitionReassignment",
    "BrokerChange", "PartitionModifications",
)  # fmt: skip


def moved(question: Question) -> dict[str, Any]:
    """Another client increments the controller epoch; then something happens."""
    asked, stage = given(question), ControllerStage(release(question))
    if asked["trigger"] not in _TRIGGERS:
        raise ValueError(f"no trigger is called {asked['trigger']!r}")
    for broker in (0, 1):
        stage.start_broker(broker)
    journal = _Callbacks()
    controller = stage.controller(0, ControllerConfig(delete_topics=True), journal)
    stage.create_topic("t", {0: (0, 1)})
    stage.run(controller)
    if asked["externalEpochBump"]:
        registered = wait(stage.admin.controller_epoch())
        assert registered is not None, "a controller has been elected"
        wait(stage.admin.set_controller_epoch(registered.epoch + 1, registered.epoch_version))
    wait(stage.admin.make_path("/admin"))
    match asked["trigger"]:
        case "TopicCreation":
            stage.create_topic("u", {0: (0, 1)})
        case "TopicDeletion":
            wait(stage.admin.request_deletion("t"))
        case "BrokerChange":
            stage.stop_broker(1)
        case "PartitionModifications":
            wider = '{"version":1,"partitions":{"0":[0,1],"1":[0,1]}}'
            wait(stage.admin.port.set_data(paths.topic("t"), wider))
        case "PreferredReplicaElection":
            wait(stage.admin.request_preferred_election([PARTITION]))
        case "PartitionReassignment":
            entry = '{"topic":"t","partition":0,"replicas":[1,0]}'
            wait(
                stage.admin.port.create(
                    paths.REASSIGN_PARTITIONS, f'{{"version":1,"partitions":[{entry}]}}'
                )
            )
    stage.run(controller)
    return {
        "exception": "ControllerMovedException" if "moved" in journal.called else None,
        "resigned": not controller.active,
        "epochInMemory": controller.core.context.epoch,
    }


class _Callbacks(ControllerJournal):
    """Which callbacks of brokers a controller reports, in order."""

    def __init__(self) -> None:
        self.called: list[str] = []

    async def log_line(self, text: str, level: str = "INFO") -> None:
        """A line of controller.log."""
        if text.startswith("Broker failure callback"):
            self.called.append("failure")
        elif text.startswith("New broker startup callback"):
            self.called.append("startup")

    async def moved(self, event: str, why: str) -> None:
        """The controller was fenced."""
        self.called.append("moved")


def bounce(question: Question) -> dict[str, Any]:
    """A broker restarts with a new epoch before its failure was noticed."""
    stage = ControllerStage(release(question))
    for broker in (0, 1):
        stage.start_broker(broker)
    journal = _Callbacks()
    controller = stage.controller(0, journal=journal)
    stage.create_topic("t", {0: (1,)})
    stage.run(controller)
    before = stage.state(PARTITION)
    journal.called.clear()
    stage.stop_broker(1)
    stage.start_broker(1)
    stage.run(controller)
    after = stage.state(PARTITION)
    assert before is not None, "the partition had a leader"
    return {
        "treatedAs": journal.called,
        "finalLeaderSameBroker": after is not None and after.leader == before.leader,
    }


ANSWERS: dict[tuple[str, str], Answer] = {
    ("controller_flow", "imbalance"): imbalance,
    ("controller_flow", "isrPropagation"): isr_propagation,
    ("controller_flow", "registerController"): register_controller,
    ("controller_flow", "creation"): creation,
    ("controller_flow", "leaders"): leaders,
    ("controller_flow", "reassign"): reassign,
    ("controller_flow", "alterIsr"): alter_isr,
    ("controller_flow", "electLeaders"): elect_leaders,
    ("controller_flow", "shutdownRequest"): controlled_shutdown,
    ("controller_flow", "restarts"): restarts,
    ("controller_flow", "moved"): moved,
    ("controller_flow", "bounce"): bounce,
}

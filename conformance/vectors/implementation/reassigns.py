"""Answers about moving partitions: the tool, the guards, the steps (reassignment.json)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any

from conformance.vectors.implementation.stage import ControllerStage
from conformance.vectors.questions import (
    Answer,
    Question,
    given,
    moving_a_deleted_topic,
    or_refusal,
    release,
    under,
)
from conformance.vectors.releases import newest_of
from impl.admin import reassign_json, reassign_lines
from impl.admin.reassign_by_brokers import proposed_moves, throttled_by
from impl.admin.reassign_lines import MoveState
from impl.core.controller_parts import ControllerConfig, ControllerParts
from impl.core.event_controller import EventController
from impl.core.reassigner import Reassigner
from impl.znodes import (
    LeaderIsrAndControllerEpoch,
    ReplicaAssignment,
    TopicPartition,
    encode_reassignment,
    paths,
)
from impl.zookeeper.port import wait

PARTITION = TopicPartition("t", 0)
Partitions = dict[TopicPartition, list[int]]


def _partitions(fields: dict[str, Any]) -> Partitions:
    return {TopicPartition.of(name): list(replicas) for name, replicas in fields.items()}


# The tool


def states_to_string(question: Question) -> dict[str, Any]:
    """``--verify``'s lines."""
    states = {
        TopicPartition.of(name): MoveState(tuple(one["current"]), tuple(one["target"]), one["done"])
        for name, one in given(question)["states"].items()
    }
    return {"lines": reassign_lines.verify_lines(states, release(question))}


def move_states_to_string(question: Question) -> dict[str, Any]:
    """Moves between log directories."""
    moves = {}
    for name, move in given(question)["states"].items():
        partition, _, broker = name.rpartition("-")
        moves[TopicPartition.of(partition), int(broker)] = move
    return {"lines": reassign_lines.directory_lines(moves)}


def move_map(question: Question) -> dict[str, Any]:
    """Who has a partition, who gets it, and whose traffic is throttled for that (2.6)."""
    asked = given(question)
    moving = {
        TopicPartition.of(name): ReplicaAssignment(
            tuple(one["replicas"]), tuple(one["adding"]), tuple(one["removing"])
        )
        for name, one in asked["currentReassignments"].items()
    }
    plan, now = _partitions(asked["proposed"]), _partitions(asked["current"])
    unknown = [str(one) for one in plan if one not in moving and one not in now]
    if unknown:  # as 2.8 says it
        said = f"Trying to reassign a topic partition {unknown[0]} with 0 replicas"
        return {"error": "RuntimeException", "message": said}
    moves = proposed_moves(
        moving,
        {one: tuple(ids) for one, ids in plan.items()},
        {one: tuple(ids) for one, ids in now.items()},
        newest_of(question["versions"]),
    )
    shown: dict[str, Any] = {
        str(one): {"sources": sorted(old), "destinations": sorted(new)}
        for one, (old, new) in moves.items()
    }
    by_topic: dict[str, Any] = {}
    for one in moves:
        by_topic.setdefault(one.topic, {})[str(one.partition)] = shown[str(one)]
    shown |= by_topic
    brokers = {one for sides in moves.values() for side in sides for one in side}
    return {
        **shown,
        "result": shown,
        "leaderThrottles": throttled_by(moves, 0),
        "followerThrottles": throttled_by(moves, 1),
        **dict.fromkeys(("brokers", "reassigningBrokers"), sorted(brokers)),
    }


def current_assignment_to_string(question: Question) -> dict[str, Any]:
    """What ``--execute`` prints of the partitions that it will move, for a rollback."""
    asked = given(question)
    moved, now = _partitions(asked["proposed"]), _partitions(asked["current"])
    old = {one: replicas for one, replicas in now.items() if one in moved}
    return {"lines": reassign_json.rollback_lines(old, release(question))}


def assignments(question: Question) -> dict[str, Any]:
    """The replicas of the partitions, or of all partitions of the topics, that a tool asks for."""
    asked = given(question)
    named = {*asked["topics"], *asked["partitions"]}
    chosen = {
        name: ids for name, ids in asked["current"].items()
        if not named.isdisjoint((name, TopicPartition.of(name).topic))
    }  # fmt: skip
    return {"result": chosen}


def list_moves(question: Question) -> dict[str, Any]:
    """``--list``'s lines; the replicas are unchanged, as the question's admin says."""
    asked = given(question)
    current = _partitions(asked.get("current", asked.get("inProgress", {})))
    targets = _partitions(asked.get("targets", asked.get("inProgress", {})))
    moving = {}
    for partition, target in targets.items():
        goal = ReplicaAssignment(tuple(current[partition])).reassign_to(target)
        moving[partition] = ReplicaAssignment(tuple(current[partition]), goal.adding, goal.removing)
    return {"lines": reassign_lines.list_lines(moving)}


def _found(asked: dict[str, Any]) -> tuple[dict[TopicPartition, MoveState], bool]:
    return reassign_lines.find_states(
        _partitions(asked["current"]), _partitions(asked["inProgress"]), _partitions(asked["query"])
    )


def find_states(question: Question) -> dict[str, Any]:
    """Where partitions are, and whether they are still moving."""
    states, ongoing = _found(given(question))
    shown: dict[str, Any] = {
        str(one): {"current": list(s.current), "target": list(s.target), "done": s.done}
        for one, s in states.items()
    }
    return shown | {"anyOngoing": ongoing}


def verify(question: Question) -> dict[str, Any]:
    """``--verify``'s lines, from where partitions are and where they should be."""
    states, _ = _found(given(question))
    return {"lines": reassign_lines.verify_lines(states, release(question))}


def parse_execute(question: Question) -> dict[str, Any]:
    """The file of ``--execute``."""

    def ask() -> dict[str, Any]:
        newest = newest_of(question["versions"])
        proposal = reassign_json.parse_execute(given(question)["json"], newest)
        return {
            "assignment": {str(one): list(ids) for one, ids in proposal.replicas.items()},
            "logDirs": {
                f"{partition}-{broker}": directory
                for (partition, broker), directory in proposal.directories.items()
            },
        }

    return or_refusal(ask)


def execute(question: Question) -> dict[str, Any]:
    """``--execute`` before anything is sent."""
    asked = given(question)
    known = _partitions(asked["current"])

    def ask() -> dict[str, Any]:
        newest = newest_of(question["versions"])
        plan = reassign_json.parse_execute(asked["json"], newest).replicas
        reassign_json.check_execute(plan, known, asked["brokers"], newest)
        return {"error": None}

    return or_refusal(ask)


def parse_generate(question: Question) -> dict[str, Any]:
    """The arguments of ``--generate``."""
    asked = given(question)

    def ask() -> dict[str, Any]:
        brokers, topics = reassign_json.parse_generate(
            asked["brokers"], asked["topics"], release(question)
        )
        return {"brokers": brokers, "topics": topics}

    return or_refusal(ask)


def generate(question: Question) -> dict[str, Any]:
    """``--generate``, with starts and shifts of 0."""
    asked = given(question)

    def ask() -> dict[str, Any]:
        brokers, topics = reassign_json.parse_generate(
            asked["brokers"], asked["topics"], release(question)
        )
        current = _partitions(asked["current"])
        under = release(question)
        known = asked.get("racks", {}) if asked["rackAware"] else {}
        racks = {one: known.get(str(one)) for one in sorted(brokers)}
        plan = reassign_json.generate(current, racks, topics, {}, under)
        return {
            "assignment": {str(one): list(ids) for one, ids in plan.items()},
            "current": {str(one): list(current[one]) for one in plan},
            "proposedBrokers": sorted({one for ids in plan.values() for one in ids}),
        }

    return or_refusal(ask)


def throttled_replicas(question: Question) -> dict[str, Any]:
    """The replicas whose traffic is throttled."""
    asked = given(question)
    leaders, followers = reassign_json.throttled_replicas(
        _partitions(asked["existing"]), _partitions(asked["proposed"])
    )
    return {"leader": leaders, "follower": followers}


# The controller


class WatchedReassigner(Reassigner):
    """Calls ``done`` with the name of each finished step, and with what it returned."""

    def __init__(self, core: ControllerParts, done: Callable[[str, Any], None]) -> None:
        super().__init__(core)
        self.done = done

    async def begin(self, partition: TopicPartition, target: Sequence[int]) -> bool:
        """Starts an entry of the znode."""
        begun = await super().begin(partition, target)
        self.done("begin", begun)
        return begun

    async def _move_leader(self, *args: Any) -> None:
        await super()._move_leader(*args)
        self.done("_move_leader", None)

    async def _stop(self, *args: Any) -> None:
        await super()._stop(*args)
        self.done("_stop", None)

    async def _write_assignment(self, *args: Any) -> None:
        await super()._write_assignment(*args)
        self.done("_write_assignment", None)


class MoveByStep:
    """One partition with live replicas, and a controller that moves it; observed step by step."""

    def __init__(self, question: Question, oar: list[int], rar: list[int], live: list[int]) -> None:
        self.stage = ControllerStage(release(question))
        self.target = rar
        for broker in live:
            self.stage.start_broker(broker)
        self.asked = given(question)
        self.stage.create_topic("t", {0: oar})
        alive = [one for one in oar if one in live] or oar
        leader = self.asked.get("leader", alive[0])
        isr = tuple(self.asked.get("isr", alive))
        epoch = self.asked.get("leaderEpoch", 0)
        self.stage.put_state(PARTITION, LeaderIsrAndControllerEpoch(leader, epoch, isr, 0))
        self.rows: list[dict[str, Any]] = []
        self.controller: EventController = self.stage.controller(
            live[0], ControllerConfig(imbalance_percentage=100)
        )
        self.controller.reassigner = WatchedReassigner(self.controller.core, self._done)
        self.begun: list[bool] = []
        self._names: dict[str, Iterator[str]] = {}

    def request(self) -> None:
        """An administrator writes the znode, and the controller is notified."""
        wait(self.stage.admin.make_path("/admin"))
        text = encode_reassignment({PARTITION: self.target})
        wait(self.stage.admin.port.create(paths.REASSIGN_PARTITIONS, text))
        self.stage.run(self.controller)

    def catch_up(self) -> None:
        """The leader adds live target replicas to the ISR by a write; no one is notified yet."""
        state = self.stage.state(PARTITION)
        assert state is not None, "the partition has a state"
        alive = {*self.stage.sessions} - {*self.asked.get("offlineDirs", ())}
        joining = [one for one in self.target if one in alive and one not in state.isr]
        if joining:
            self.stage.leader_writes_isr(PARTITION, (*state.isr, *joining))

    def look(self) -> dict[str, Any]:
        """ZooKeeper's state of the partition."""
        state, topic = self.stage.state(PARTITION), wait(self.stage.admin.topic("t"))
        assert state is not None, "the partition has a state"
        assert topic is not None, "the topic exists"
        now = topic.partitions[0]
        return {
            "assignment": list(now.replicas),
            "replicas": list(now.replicas),
            "adding": list(now.adding),
            "removing": list(now.removing),
            "leader": state.leader,
            "isr": list(state.isr),
            "leaderEpoch": state.leader_epoch,
        }

    def watch(self, method: str, names: Iterator[str]) -> None:
        """Note a row under the next name whenever a step of the reassigner is done."""
        self._names[method] = names

    def _done(self, method: str, returned: Any) -> None:
        if method == "begin":
            self.begun.append(returned)
        elif method in self._names:
            self.note(next(self._names[method]))

    def note(self, name: str) -> None:
        """Note a row now."""
        self.rows.append({**self.look(), **_named(name)})


def _named(name: str) -> dict[str, str]:
    return {"step": name, "phase": name}


def reassign_trace(question: Question) -> dict[str, Any]:
    """The twelve steps (up to 2.3), as ZooKeeper sees them."""
    asked = given(question)
    live = sorted({*asked["oar"], *asked["rar"]})
    move = MoveByStep(question, asked["oar"], asked["rar"], live)
    move.note("initial")
    waits = not {*asked["rar"]} <= {*asked.get("isr", asked["oar"])}
    writes = ("assignment znode = RAR + OAR",) if waits else ()
    move.watch("_write_assignment", iter((*writes, "assignment znode = RAR")))
    if waits:
        move.request()
        move.note("epoch bump, LeaderAndIsr to RAR+OAR; new replicas NewReplica")
        move.catch_up()
        move.note("new replicas joined ISR (written by the leader, epoch unchanged)")
    move.watch(
        "_move_leader",
        repeat("leader moved to RAR (or epoch bump only if leader already in RAR)"),
    )
    move.watch(
        "_stop",
        repeat("removed replicas Offline -> ISR shrunk, one epoch bump per removed replica that "
               "was in ISR"),
    )  # fmt: skip
    if waits:
        move.stage.run(move.controller)
    else:  # nobody is waited for: it is all one event
        move.request()
    return {"rows": move.rows}


def reassign_trace_kip_455(question: Question) -> dict[str, Any]:
    """The phases of KIP-455 (2.4 and later), as ZooKeeper sees them."""
    asked = given(question)
    live = sorted({*asked["oar"], *asked["rar"]})
    move = MoveByStep(question, asked["oar"], asked["rar"], live)
    steps = move.controller.reassigner
    move.note("initial")
    move.watch(
        "_move_leader", repeat("B2/B3: memory assignment = target; leader moved or epoch bumped")
    )
    move.watch("_stop", repeat("B4/B5: removing replicas Offline..NonExistent"))
    move.request()
    if steps.in_progress():
        move.note("U/A: znode updated, LeaderAndIsr with bumped epoch, adding -> NewReplica")
        move.catch_up()
        move.note("ISR caught up (epoch unchanged)")
        move.stage.run(move.controller)
    move.note("B6: topic znode final; B7 ZK reassign znode; B8 UpdateMetadata")
    return {"rows": move.rows}


def guard(question: Question) -> dict[str, Any]:
    """Whether an entry of the znode is started."""
    asked = given(question)
    if "entriesLeft" in asked:
        return _entries_left(question, asked["entriesLeft"])
    current = asked.get("current", [1])
    live = asked.get("live", sorted({*current, *asked["target"]}))
    move = MoveByStep(question, current, asked["target"], live)
    if not asked.get("exists", True):
        move.controller.core.context.forget_topic(PARTITION.topic)
    if asked.get("queuedForDeletion"):
        move.controller.core.context.queued_for_deletion.add(PARTITION.topic)
    before = move.look()["leaderEpoch"]
    move.request()
    missing = [one for one in asked["target"] if one not in live]
    return {
        "started": move.begun == [True],
        "removedFromZk": PARTITION not in wait(move.stage.admin.reassignments()),
        "waitsFor": f"ISR to contain {','.join(map(str, missing))}" if missing else None,
        "leaderEpochDelta": move.look()["leaderEpoch"] - before,
    }


def _entries_left(question: Question, left: int) -> dict[str, Any]:
    """One entry is done with; so many others are left."""
    stage = ControllerStage(release(question))
    core = stage.core(0, 1, ControllerConfig())
    targets = {TopicPartition("t", number): (1,) for number in range(left + 1)}
    wait(stage.admin.make_path(paths.REASSIGN_PARTITIONS, encode_reassignment(targets)))
    targets.pop(TopicPartition("t", left))
    wait(core.client.set_reassignments(targets, core.context.epoch_version))
    there = wait(stage.admin.port.exists(paths.REASSIGN_PARTITIONS))
    return {"reassignZnode": "deleted" if there is None else "present"}


def api_validate(question: Question) -> dict[str, Any]:
    """The answer of AlterPartitionReassignments."""
    asked = given(question)
    stage = ControllerStage(release(question))
    core = stage.core(0, 1, ControllerConfig())
    target = asked.get("target", [1])
    current = asked.get("current", [1, 2])
    everybody = {*current, *map(abs, target or ())}
    core.context.broker_epochs = dict.fromkeys(asked.get("live", everybody), 1)
    if asked.get("queuedForDeletion"):
        core.context.queued_for_deletion.add(PARTITION.topic)
    if asked.get("exists", True):
        core.context.set_assignment(
            PARTITION,
            ReplicaAssignment(tuple(current), tuple(asked["adding"]), tuple(asked["removing"])),
        )
    return {"error": Reassigner(core).validate(PARTITION, target)}


ANSWERS: dict[tuple[str, str], Answer] = {
    ("topic_deletion", "reassignDuringDelete"): moving_a_deleted_topic(guard, api_validate)
} | under(
    "reassignment",
    moveMap=move_map,
    currentAssignmentToString=current_assignment_to_string,
    statesToString=states_to_string,
    moveStatesToString=move_states_to_string,
    list=list_moves,
    replicaAssignments=assignments,
    findStates=find_states,
    verify=verify,
    parseExecute=parse_execute,
    parseGenerate=parse_generate,
    execute=execute,
    generate=generate,
    throttledReplicas=throttled_replicas,
    reassignTrace=reassign_trace,
    reassignTraceKip455=reassign_trace_kip_455,
    guard=guard,
    apiValidate=api_validate,
)

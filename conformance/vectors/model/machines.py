"""The model's answers about its controller: state machines, elections, removals from the ISR.

Single transitions of `cluster` (2.3, or the version asked) are put into the state that a question
describes, with one partition. The model keeps an ISR as a set: the order in which an answer lists
it is the question's own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from conformance.plain_rules import elections
from conformance.vectors.model.stage import ModelStage, Place, TwoAnswers, preset_of
from conformance.vectors.questions import nobody_elected
from impl.releases import Release
from model.topics import SYSTEM as TOPICS
from model.topics.tables import (
    PARTITION_TABLE,
    REPLICA_TABLE,
    REPLICA_TABLE_BEFORE,
    Table,
)

Question = Mapping[str, Any]
Election = tuple[dict[str, Any] | None, list[int]]
"""What an election writes, None if nobody is elected; and who is notified of it."""

CONTROLLER = 1
VERSION, EPOCH = 0, 1  # of the registered state; leader epochs are counted from the question's own
BROKERS = 4
BOUNDS = {
    "brokers": BROKERS, "partitions": 1, "replicas": BROKERS, "versions": 1, "epoch": 2,
    "controllers": 2, "queue": 3, "events": 1, "endpoints": 0,
}  # fmt: skip
ELECTIONS = {
    "Offline": (
        "electing", "controller_elects_leader", "controller_finds_no_leader",
        "controller_sends_election_batch"),
    "Preferred": (
        "preferring", "controller_elects_preferred", "controller_cannot_elect_preferred",
        "controller_sends_preferred_batch"),
    "ControlledShutdown": (
        "moving", "controller_moves_leader", "controller_finds_no_other_isr_member",
        "controller_sends_shutdown_batch"),
}  # fmt: skip
"""By strategy: the event thread's stage; who elects, who finds nobody, and who sends the batch."""
REMOVALS = ("controller_removes_replica", "controller_finds_replica_not_in_isr")


def partition_transition(question: Question) -> dict[str, Any]:
    """Whether a partition may go from one state to another."""
    return _transition(question, PARTITION_TABLE)


def replica_transition(question: Question) -> dict[str, Any]:
    """Whether a replica may go from one state to another."""
    return _transition(question, _replica_table(question))


def replica_may_become(question: Question, before: str, target: str) -> bool:
    """The replica state machine has the transition."""
    return before in _replica_table(question)[target]


def _replica_table(question: Question) -> Table:
    switches = TOPICS.version(preset_of(TOPICS.name, question["release"])).switches
    return REPLICA_TABLE if switches["offline_becomes_ineligible"] else REPLICA_TABLE_BEFORE


def _transition(question: Question, table: Table) -> dict[str, Any]:
    before, target = question["input"]["from"], question["input"]["to"]
    valid = before in table[target]
    return {"valid": valid, "resultingState": target if valid else before}


def offline_count(question: Question) -> dict[str, Any]:
    """How many partitions are offline after each step, of topics that are to stay."""
    asked = question["input"]
    deleted = asked["topicBeingDeleted"] is True
    state, counts = "NonExistentPartition", []
    for step in asked["steps"]:
        target = f"{step}Partition"
        if target not in PARTITION_TABLE:  # the topic is queued for deletion
            deleted = True
        elif state in PARTITION_TABLE[target]:
            state = target
        counts.append(0 if deleted or state != "OfflinePartition" else asked["partitions"])
    return {"counts": counts}


class ControllerScenario:
    """One partition, its brokers under the model's ids, and a controller that handles it."""

    def __init__(
        self,
        question: Question,
        assignment: list[int],
        isr: Iterable[int],
        live: Iterable[int],
        unclean: bool = False,
        going: Collection[int] = (),
    ) -> None:
        self.assignment, self.isr, self.live = assignment, list(isr), list(live)
        # The controller is broker 1; it lives, and may be one that the question does not name.
        named = dict.fromkeys([*assignment, *self.isr, *self.live])
        self.ids = {broker: number for number, broker in enumerate(named, CONTROLLER)}
        self.names = {number: broker for broker, number in self.ids.items()}
        self.release, self.unclean = question["release"], unclean
        self.brokers = max(BROKERS, len(self.ids))
        self.cells: dict[Place, object] = {
            ("up", (CONTROLLER,)): 1,
            ("zk.controller", ()): CONTROLLER,
            ("zk.epoch", ()): 1,
            ("belief", (CONTROLLER,)): 1,
            ("partition.version", (0,)): VERSION,
            ("partition.context.version", (0, CONTROLLER)): VERSION,
            ("partition.context.read", (0, CONTROLLER)): VERSION,
        }
        for number in range(1, self.brokers + 1):
            broker = self.names.get(number)
            alive = broker in self.live
            place = assignment.index(broker) if broker in assignment else 0
            self.cells |= {
                ("zk.registered", (number,)): alive or number == CONTROLLER,
                ("cache.live", (CONTROLLER, number)): alive,
                ("cache.reached", (CONTROLLER, number)): alive,
                ("cache.shutting", (CONTROLLER, number)): broker in going,
                ("partition.replicas", (0, number)): broker in assignment,
                ("partition.place", (0, number)): place,
                ("partition.state.isr", (0, VERSION, number)): broker in self.isr,
            }

    def _prepare(self, *steps: str) -> None:
        """Compiles the transitions that are asked."""
        self.stage = ModelStage.of(
            "cluster",
            self.release,
            steps,
            {**BOUNDS, "brokers": self.brokers, "replicas": self.brokers},
            unclean_leader_election=self.unclean,
        )

    def registered(self, leader: int | None, controller: int = 1) -> None:
        """The registered leader, and the controller epoch in which the state was written."""
        known = self.ids.get(leader) if leader is not None else None
        self.cells |= {
            ("partition.state.leader", (0, VERSION)): known,
            ("partition.state.epoch", (0, VERSION)): EPOCH,
            ("partition.state.controller", (0, VERSION)): controller,
        }

    def at(self, stage: str, **context: object) -> Any:
        """The state in which the event thread is at a stage, with these tasks."""
        for name, value in context.items():
            self.cells["partition.context." + name, (0, CONTROLLER)] = value
        self.cells["cache.stage", (CONTROLLER,)] = stage
        return self.stage.state(self.cells)

    def written(self, state: Any) -> dict[str, Any] | None:
        """What was written after the registered state: None if nothing was."""
        if state is None or self.stage.read(state, "partition.version", 0) == VERSION:
            return None
        leader = self.stage.read(state, "partition.state.leader", 0, VERSION + 1)
        after = [
            broker
            for broker in dict.fromkeys([*self.isr, *self.assignment])
            if self.stage.read(state, "partition.state.isr", 0, VERSION + 1, self.ids[broker])
        ]
        bumps = self.stage.read(state, "partition.state.epoch", 0, VERSION + 1) - EPOCH
        mine = self.stage.read(state, "partition.state.controller", 0, VERSION + 1) == 1
        assert mine, "the controller writes its own epoch"
        return {"leader": self.names[leader] if leader else -1, "isr": after, "bumps": bumps}

    def receivers(self, state: Any) -> list[int]:
        """The brokers whose next request is a LeaderAndIsr about the partition."""
        return [
            broker
            for broker in self.assignment
            if broker in self.live
            and self.stage.read(state, "cache.queue.end", CONTROLLER, self.ids[broker])
            and self.stage.read(state, "cache.queue.at.kind", CONTROLLER, self.ids[broker], 0)
            == "leader_and_isr"
        ]

    def elect(self, strategy: str, answers: bool = True) -> tuple[dict[str, Any] | None, list[int]]:
        """The state that the only possible election writes, and who is notified; None and nobody if
        no leader is possible, or if ZooKeeper no longer `answers` the controller's session."""
        self.cells["zk.registered", (CONTROLLER,)] = answers
        stage, *steps = ELECTIONS[strategy]
        self._prepare(*steps)
        elects, finds_nobody, tells = steps
        state = self.at(stage, due=True)
        outcomes = [
            after
            for number in self.ids.values()
            if (after := self.stage.step(elects, state, CONTROLLER, number)) is not None
        ]
        assert len(outcomes) <= 1, "an election has one outcome"
        if not outcomes:
            newer = self.cells["partition.state.controller", (0, VERSION)] != 1
            assert (
                newer or not answers or self.stage.step(finds_nobody, state, CONTROLLER) is not None
            )
            return None, []
        sent = self.stage.step(tells, outcomes[0], CONTROLLER)
        return self.written(outcomes[0]), self.receivers(sent)

    def remove(self, replica: int) -> dict[str, Any] | None:
        """The state written when a replica goes offline: None if it is not in the ISR any more."""
        if leaves_empty(self.release, self.isr, replica, self.unclean):
            return last_member_leaves(self.release)
        self._prepare(*REMOVALS)
        number = self.ids[replica]
        self.cells["partition.context.gone", (0, CONTROLLER, number)] = True
        before = self.at("removing")
        after = self.stage.step("controller_removes_replica", before, CONTROLLER, number)
        if after is None:
            found = self.stage.step(
                "controller_finds_replica_not_in_isr", before, CONTROLLER, number
            )
            assert found is not None, "a replica goes offline in one of two ways"
        return self.written(after)


def leaves_empty(release: str, isr: Collection[int], replica: int, unclean: bool) -> bool:
    """Whether the last member leaves the ISR too: up to 1.0, if unclean elections are allowed."""
    return unclean and list(isr) == [replica] and not Release.of(release).since("1.1")


def last_member_leaves(release: str) -> dict[str, Any]:
    """The state that is then written, by `replication` without the rule that `cluster` has."""
    gone, brokers = CONTROLLER + 1, 2
    bounds = {"brokers": brokers, "log": 1, "records": 1, "epoch": 2, "controllers": 1,
              "versions": 1}  # fmt: skip
    removes = REMOVALS[0]
    stage = ModelStage.of("replication", release, (removes,), bounds, isr_keeps_last_member=False)
    cells: dict[Place, object] = {
        ("zk.controller", ()): CONTROLLER, ("zk.epoch", ()): 1, ("zk.leader", ()): gone,
        ("zk.leader_epoch", ()): EPOCH, ("belief", (CONTROLLER,)): 1,
        ("cache.held", (CONTROLLER,)): True, ("cache.leader", (CONTROLLER,)): gone,
        ("cache.live", (CONTROLLER, CONTROLLER)): True,
    }  # fmt: skip
    for broker in (CONTROLLER, gone):
        cells["zk.isr", (broker,)] = cells["cache.isr", (CONTROLLER, broker)] = broker == gone
    after = stage.step(removes, stage.state(cells), CONTROLLER, gone)
    assert not stage.read(after, "zk.leader"), "nobody leads any more"
    left = [broker for broker in (CONTROLLER, gone) if stage.read(after, "zk.isr", broker)]
    return {"leader": -1, "isr": left, "bumps": stage.read(after, "zk.leader_epoch") - EPOCH}


def elect(
    question: Question, by_move: Callable[[Question], Election] | None = None
) -> dict[str, Any]:
    """An election by any strategy, and by the controller's steps, which must agree.

    If a partition is moved, the steps are those of `reassignment`: `by_move`.
    """
    chosen = _chosen(question)
    by_strategy = (
        (None, [])
        if chosen is None
        else ({"leader": chosen.leader, "isr": list(chosen.isr), "bumps": 1}, chosen.recipients)
    )
    moves = by_move is not None and question["input"]["strategy"] == "Reassign"
    by_steps = by_move(question) if by_move is not None and moves else _elect_by_steps(question)
    answer, other = (_elected(question, *found) for found in (by_strategy, by_steps))
    if answer != other:
        raise TwoAnswers(f"the strategy says {answer}, the steps {other}")
    return answer


def _elected(
    question: Question, written: Mapping[str, Any] | None, receivers: Iterable[int]
) -> dict[str, Any]:
    asked = question["input"]
    if written is None:
        return {"leader": None, "uncleanElections": 0, **nobody_elected(question)}
    return {
        "leader": written["leader"],
        "isr": written["isr"],
        "uncleanElections": int(written["leader"] not in asked["isr"]),
        "leaderEpoch": asked.get("leaderEpoch", 0) + written["bumps"],
        "recipients": list(receivers),
    }


def _chosen(question: Question) -> elections.ElectedLeader | None:
    asked = question["input"]
    assignment, isr, live = asked["assignment"], asked["isr"], asked["live"]
    match asked["strategy"]:
        case "Offline":
            unclean = asked["uncleanEnabled"]
            return elections.for_offline(assignment, isr, live, unclean=unclean)
        case "Reassign":
            return elections.for_reassignment(asked.get("target", assignment), isr, live)
        case "Preferred":
            if is_led_as_preferred(question, asked.get("leader")):
                return None
            return elections.for_preferred(assignment, isr, live)
        case "ControlledShutdown":
            going = asked["shuttingDown"]
            chosen = elections.for_controlled_shutdown(assignment, isr, live, going)
            release = Release.of(question["release"])
            if chosen is None or not release.since("1.1") or release.since("2.1"):
                return chosen
            staying = tuple(one for one in chosen.recipients if one not in going)
            return chosen._replace(recipients=staying)  # KAFKA-7482
        case other:
            raise ValueError(f"no strategy is called {other!r}")


def is_led_as_preferred(question: Question, leader: int | None) -> bool:
    """Up to 1.0 no preferred election is held if the first replica leads already."""
    led = leader is not None and leader in question["input"]["assignment"][:1]
    return led and not Release.of(question["release"]).since("1.1")


def _elect_by_steps(question: Question) -> Election:
    asked = question["input"]
    strategy = asked["strategy"]
    if strategy == "Preferred" and is_led_as_preferred(question, asked.get("leader")):
        return None, []
    going = asked["shuttingDown"] if strategy == "ControlledShutdown" else ()
    unclean = asked["uncleanEnabled"]
    scene = ControllerScenario(
        question, asked["assignment"], asked["isr"], asked["live"], unclean, going
    )
    scene.registered(asked.get("leader"))
    written, sent = scene.elect(strategy)
    if strategy == "Preferred":
        sent = named_by_strategy(asked["assignment"], written, sent, asked["live"])
    return written, sent


def named_by_strategy(
    replicas: Iterable[int], written: object, sent: Collection[int], live: Collection[int]
) -> list[int]:
    """The brokers that a strategy names; if it names all replicas, dead ones are sent nothing."""
    return [one for one in replicas if one in sent or (written and one not in live)]

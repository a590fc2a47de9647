"""Steps of reassignments: requests, and the notifications of controllers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from impl.core import leader_election
from impl.core.api import ControllerApi
from impl.core.event_controller import EventController
from impl.core.requests import LeaderAndIsr, LeaderAndIsrPartitionState
from impl.sim.event_run import as_watch_event
from impl.world.processes import each_broker, once
from impl.world.stepped.controller_run import FIRST, TOPIC, writes_state
from impl.world.stepped.host import RequestInFlight
from impl.world.stepped.parts import (
    SteppedParts,
    Unmet,
    each_broker_and_list,
    each_list,
    each_two,
    step,
)
from impl.world.stepped.writes import (
    OTHER,
    electing,
    going_offline,
    is_triggered,
    last_state_returned,
    reads_state,
    would_elect,
)
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.partitions import encode_reassignment
from impl.znodes.states import encode_state
from impl.zookeeper.port import wait
from impl.zookeeper.znode import EventType
from impl.zookeeper.znode import WatchEvent as Notification

UNKNOWN = TopicPartition("nobody", 0)
"""A partition that there is not."""


OTHERS_STATE = Notification(EventType.DATA_CHANGED, paths.state(*OTHER))


@dataclass(frozen=True, slots=True)
class MoveAsked:
    """AlterPartitionReassignments for the partition; None cancels its move."""

    target: tuple[int, ...] | None

    def __call__(self, controller: EventController) -> Any:
        """The event."""
        return ControllerApi(controller).alter_reassignments({FIRST: self.target})


class SteppedMoves(SteppedParts):
    """Moves of the first partition, and of another one, whose replicas are not simulated here."""

    # What can be seen

    def registered(self) -> LeaderIsrAndControllerEpoch:
        """The registered state of a partition that is there."""
        state = self.state()
        assert state is not None, "there is a topic"
        return state

    def knows(self, broker: int) -> LeaderIsrAndControllerEpoch | None:
        """The state of the partition that a controller read or wrote last."""
        run = self.controllers[broker]
        return last_state_returned(reversed(run.reached())) or run.known

    def has_news(self, broker: int) -> bool:
        """The partition's state is another than the one that a controller knows."""
        known = self.knows(broker)
        return known is None or known.zk_version != self.registered().zk_version

    # Administrators

    def _topic_is_created_unmet(self, *args: int) -> Unmet:
        if self.state() is not None:
            return "there is no such topic"
        if self.epoch():
            return "no controller was there before"
        return self._list_unmet(args)

    @step(each_list)
    def topic_is_created(self, *args: int) -> None:
        """Its znodes are written, and its replicas lead and follow in epoch 0.

        As if a controller had been there before, and were forgotten.
        """
        ids = tuple(one for one in args if one)
        state = self._create(FIRST, ids)
        self._create(OTHER, (1,))
        self.created += 1
        order = LeaderAndIsr(
            0, 0, 0, -1, {FIRST: LeaderAndIsrPartitionState(state, ids, True)}, ids
        )
        for broker in ids:
            self.hosts[broker].obey(RequestInFlight(order, self.created))
        leader = self.replica(ids[0])
        leader.first = True
        for broker in ids[1:]:
            self.hosts[broker].fetch(FIRST, self.hosts[ids[0]].manager, 0)

    def _create(
        self, partition: TopicPartition, ids: tuple[int, ...]
    ) -> LeaderIsrAndControllerEpoch:
        wait(self.admin.create_topic(partition.topic, {partition.partition: ids}))
        wait(self.admin.make_path(paths.partition(*partition)))
        state = LeaderIsrAndControllerEpoch(ids[0], 0, ids, 0)
        wait(self.admin.port.create(paths.state(*partition), encode_state(state)))
        return state

    def _no_request_unmet(self) -> Unmet:
        if self.state() is None:
            return "there is a topic"
        if self.zookeeper.exists(paths.REASSIGN_PARTITIONS):
            return "no other request is there"
        node = wait(self.admin.topic(FIRST.topic))
        moves = node is not None and node.partitions[FIRST.partition].is_being_reassigned
        return "no move stands in the topic's znode" if moves else None

    def _list_unmet(self, args: Sequence[int]) -> Unmet:
        return None if args in self.lists else "the list may have so many replicas"

    def _admin_asks_for_move_unmet(self, *args: int) -> Unmet:
        return self._no_request_unmet() or self._list_unmet(args)

    @step(each_list)
    def admin_asks_for_move(self, *args: int) -> None:
        """``/admin/reassign_partitions`` is created."""
        self._request({FIRST: [one for one in args if one]})

    _admin_asks_for_two_moves_unmet = _admin_asks_for_move_unmet

    @step(each_list)
    def admin_asks_for_two_moves(self, *args: int) -> None:
        """A reassignment request that also names another partition, which moves to another
        broker.
        """
        node = wait(self.admin.topic(OTHER.topic))
        assert node is not None, "the other topic exists"
        other = 2 if node.partitions[OTHER.partition].replicas == (1,) else 1
        self._request({FIRST: [one for one in args if one], OTHER: [other]})

    # A dead broker's replicas are moved away from it

    def _dead_replica_is_reassigned_unmet(self, broker: int, replica: int) -> Unmet:
        unmet = self.must_wait(broker)
        if unmet is not None:
            return unmet
        controller, context = self.controllers[broker].controller, self.context(broker)
        if TOPIC in context.queued_for_deletion:
            return "the topic is not queued for deletion"
        if replica in context.live:
            return "the broker is dead, as far as it knows"
        known = self.known(broker)
        if not any(replica in ids for ids in known.values()):
            return "it is in some replica list"
        if any(to in context.live for epoch, to in self.connections if epoch == context.epoch):
            return "nothing is under way to live brokers"
        for number, ids in known.items():
            partition = TopicPartition(TOPIC, number)
            state, target = self.state(number), [one for one in ids if one != replica]
            stays = state is not None and state.leader in target
            live = context.live_replicas(partition)
            if state is None or not (stays or leader_election.reassign(target, state.isr, live)):
                return "each partition is led by another, or can be"
        if controller.reassigner.in_progress() or self.zookeeper.exists(paths.REASSIGN_PARTITIONS):
            return "no partition is to move"
        return "it is the newest controller" if self.is_fenced(broker) else None

    @step(each_two)
    def dead_replica_is_reassigned(self, broker: int, replica: int) -> None:
        """A reassignment is requested, begun and completed, and its requests are handled, in one
        step.
        """
        known, context = self.known(broker), self.context(broker)
        self._request({
            TopicPartition(TOPIC, number): [one for one in ids if one != replica]
            for number, ids in known.items() if replica in ids
        })  # fmt: skip
        heard = {"topics", "partitions", "deletions"} & self.inbox[broker]
        for kind in ("moves", "partitions"):  # it is notified of what it writes itself, too
            self._take_notifications()
            if kind in self.inbox[broker] and kind not in heard:
                self.hears(broker, kind)
            while self.place(broker) is not None:
                self.controllers[broker].go_on()
        for to in sorted(self.connections):
            if to[0] == context.epoch and to[1] in context.live:
                for sent in self.connections.pop(to):
                    self.hosts[to[1]].obey(sent)

    def _admin_asks_for_unknown_unmet(self) -> Unmet:
        return self._no_request_unmet()

    @step(once)
    def admin_asks_for_unknown(self) -> None:
        """``/admin/reassign_partitions`` names a partition that there is not."""
        self._request({UNKNOWN: [1]})

    def _request(self, targets: dict[TopicPartition, list[int]]) -> None:
        wait(self.admin.port.create(paths.REASSIGN_PARTITIONS, encode_reassignment(targets)))

    def _admin_withdraws_request_unmet(self) -> Unmet:
        asked = FIRST in wait(self.admin.reassignments())
        return None if asked else "a move is asked for"

    @step(once)
    def admin_withdraws_request(self) -> None:
        """``/admin/reassign_partitions`` is deleted by hand."""
        wait(self.admin.port.delete(paths.REASSIGN_PARTITIONS))

    def _api_unmet(self, broker: int) -> Unmet:
        if not self.release.since("2.4"):
            return "controllers are asked for moves since 2.4"
        unmet = self.must_wait(broker)
        if unmet is not None:
            return unmet
        if self.zookeeper.exists(paths.REASSIGN_PARTITIONS):
            return "no request stands under /admin"
        return None

    def _admin_asks_controller_unmet(self, broker: int, *args: int) -> Unmet:
        unmet = self._api_unmet(broker)
        if unmet is not None:
            return unmet
        controller, target = self.controllers[broker].controller, _list(args)
        if controller.reassigner.validate(FIRST, target) != "NONE":
            return "every new replica is alive"
        known = controller.core.context.replicas(FIRST)
        if target == (controller.reassigner.targets.get(FIRST) or known):
            return "another list is asked for than it works on"
        return self._list_unmet(args)

    @step(each_broker_and_list)
    def admin_asks_controller(self, broker: int, *args: int) -> None:
        """AlterPartitionReassignments comes to the controller (KIP-455)."""
        self.controllers[broker].begin(MoveAsked(_list(args)))

    def _admin_cancels_move_unmet(self, broker: int) -> Unmet:
        return self._api_unmet(broker) or (
            None if self._moves(broker, FIRST) else "the partition is to move"
        )

    @step(each_broker)
    def admin_cancels_move(self, broker: int) -> None:
        """AlterPartitionReassignments without a target comes to the controller (KIP-455)."""
        self.controllers[broker].begin(MoveAsked(None))

    # What controllers hear of

    def _moves(self, broker: int, partition: TopicPartition) -> bool:
        return partition in self.controllers[broker].controller.reassigner.targets

    def _controller_hears_of_moves_unmet(self, broker: int) -> Unmet:
        return self.hears_unmet(broker, "moves")

    @step(each_broker)
    def controller_hears_of_moves(self, broker: int) -> None:
        """The controller reads the request, and begins or refuses the reassignment."""
        self.hears(broker, "moves")
        if is_triggered(self.place(broker)):
            self.controllers[broker].go_on()

    def _controller_hears_of_other_unmet(self, broker: int) -> Unmet:
        unmet = self.must_wait(broker)
        moves = self._moves(broker, OTHER)
        return unmet or (None if moves else "the request names another partition")

    @step(each_broker)
    def controller_hears_of_other(self, broker: int) -> None:
        """The other partition's leader takes every replica into its ISR, and its move is over."""
        node, state = wait(self.admin.topic(OTHER.topic)), wait(self.admin.state(OTHER))
        assert node is not None, "the other topic exists"
        assert state is not None, "and its partition has a state"
        grown = replace(state, isr=node.partitions[OTHER.partition].replicas)
        wait(self.admin.update_states({OTHER: grown}))
        self.controllers[broker].begin(as_watch_event(OTHERS_STATE))

    # Answers to a controller that are lost

    def _answer_is_lost_unmet(self, broker: int) -> Unmet:
        thread = self.controllers[broker]
        if thread.place is None or not (reads_state(thread.place) or writes_state(thread.place)):
            return "it is about to write the partition's state"
        if not self.has_session(broker):
            return "it has a ZooKeeper session"
        if self.is_deposed(broker):
            return "no newer controller was elected"
        if self.has_news(broker):
            return "the state that it knows is the registered one"
        state, offline = self.registered(), going_offline(thread)
        if offline is not None:
            leaves = offline.f_locals["broker"] in state.isr
            return None if leaves else "the replica is in the registered ISR"
        fails = electing(thread) is not None and would_elect(thread, state) is None
        return "somebody can be elected" if fails else None

    @step(each_broker)
    def answer_is_lost(self, broker: int) -> None:
        """The state is written, and the connection breaks: the write is about to be sent again.

        Refused by then, it is taken for another's.
        """
        self.controllers[broker].go_on_unanswered()


def _list(args: Sequence[int]) -> tuple[int, ...]:
    return tuple(one for one in args if one)

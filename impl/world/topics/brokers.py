"""What brokers do in a topic's life: they obey, stop, delete, refuse, and mend the ISR."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from impl.core.requests import LeaderAndIsr, StopReplica
from impl.world.steps import Step
from impl.world.topics.grain import is_to_write
from impl.world.topics.hosted import FOLLOWER, LEADER
from impl.world.topics.world import TOPIC, Answered, Refusal, RequestInFlight, Steps, TopicWorld
from impl.znodes import LeaderIsrAndControllerEpoch, paths
from impl.znodes.states import encode_state
from impl.zookeeper.port import wait


class Brokers(TopicWorld):
    """Requests arrive; the leader takes a follower into the ISR."""

    def offers(self) -> Steps:
        """Those of the others, and those of brokers."""
        yield from super().offers()
        for controller, broker in self.connections:
            for name in ("orders_arrive", "stops_arrive", "stops_fail", "requests_are_refused"):
                yield Step(name, (broker, controller))
        for leader, one in self.hosted.items():
            for number in self.partitions:
                for replica in self.brokers if one.role(number) == LEADER else ():
                    about = (leader, replica, number)
                    yield Step("leader_expands_isr", about)
                    for broker in self.brokers:
                        yield Step("leader_expands_isr_first", (*about, broker))

    def _next_refusal(self, broker: int, controller: int, kind: type[Any]) -> Refusal:
        queue = self.connections.get((controller, broker), ())
        if broker not in self.up:
            return "its process runs"
        if not queue or not isinstance(queue[0].request, kind):
            return f"a {kind.__name__} is next"
        refuses = self.hosted[broker].refuses(controller)
        return "it has seen no newer controller" if refuses else None

    def _orders_arrive_refusal(self, broker: int, controller: int) -> Refusal:
        return self._next_refusal(broker, controller, LeaderAndIsr)

    def orders_arrive(self, broker: int, controller: int) -> None:
        """The LeaderAndIsr requests that are next on the connection, one after the other."""
        for sent in self._taken(controller, broker, LeaderAndIsr):
            directory = "stale" if sent.outdated else "current"
            self.hosted[broker] = self.hosted[broker].obeys(sent.request, directory)

    def _stops_arrive_refusal(self, broker: int, controller: int) -> Refusal:
        return self._next_refusal(broker, controller, StopReplica)

    def stops_arrive(self, broker: int, controller: int, disk_fails: bool = False) -> None:
        """The StopReplica requests that are next; what is to be deleted is, and answered."""
        answered: Answered | None = None
        for sent in self._taken(controller, broker, StopReplica):
            self.hosted[broker], errors = self.hosted[broker].stops(sent.request, disk_fails)
            if errors:
                answered = Answered(sent.request, errors).and_before(answered)
        if answered is not None:
            self.answers[controller, broker] = answered

    def _stops_fail_refusal(self, broker: int, controller: int) -> Refusal:
        reason = self._stops_arrive_refusal(broker, controller)
        if reason is not None:
            return reason
        queue = self.connections[controller, broker]
        stops = [sent.request for sent in queue if isinstance(sent.request, StopReplica)]
        deletes = any(stop.delete for one in stops for stop in one.partitions.values())
        return None if deletes else "a directory is to be deleted"

    def stops_fail(self, broker: int, controller: int) -> None:
        """KAFKA_STORAGE_ERROR: the directory stays, and the answer says so."""
        self.stops_arrive(broker, controller, disk_fails=True)

    def _requests_are_refused_refusal(self, broker: int, controller: int) -> Refusal:
        if broker not in self.up:
            return "its process runs"
        if not self.connections.get((controller, broker)):
            return "a request is next"
        refuses = self.hosted[broker].refuses(controller)
        return None if refuses else "it has seen a newer controller"

    def requests_are_refused(self, broker: int, controller: int) -> None:
        """STALE_CONTROLLER_EPOCH: everything that is under way is answered with it."""
        del self.connections[controller, broker]

    def _taken(self, controller: int, broker: int, kind: type[Any]) -> list[Any]:
        queue = list(self.connections.pop((controller, broker)))
        taken: list[RequestInFlight] = []
        while queue and isinstance(queue[0].request, kind):
            taken.append(queue.pop(0))
        if queue:
            self.connections[controller, broker] = tuple(queue)
        return taken

    # The ISR

    def _returner(
        self, leader: int, replica: int, number: int
    ) -> LeaderIsrAndControllerEpoch | str:
        if self.hosted[leader].role(number) != LEADER:
            return "the broker believes it leads"
        if not self.has_session(leader):
            return "it has a ZooKeeper session"
        state = self.state(number)
        if state is None or state.leader != leader:
            return "the state names it"
        if self.hosted[replica].role(number) != FOLLOWER:
            return "the replica follows"
        return "it is not in the ISR" if replica in state.isr else state

    def _leader_expands_isr_refusal(self, leader: int, replica: int, number: int) -> Refusal:
        found = self._returner(leader, replica, number)
        return found if isinstance(found, str) else None

    def leader_expands_isr(self, leader: int, replica: int, number: int) -> None:
        """A follower has caught up; the write is conditional on the state's version."""
        state = self._returner(leader, replica, number)
        assert not isinstance(state, str), "the step was possible"
        larger = replace(state, isr=(*state.isr, replica))
        path = paths.state(TOPIC, number)
        wait(self.admin.port.set_data(path, encode_state(larger), state.zk_version))

    def _leader_expands_isr_first_refusal(
        self, leader: int, replica: int, number: int, broker: int
    ) -> Refusal:
        reason = self._leader_expands_isr_refusal(leader, replica, number)
        if reason is not None:
            return reason
        if self.place(broker) is None or not self.has_session(broker):
            return "the controller is about to write the state"
        return None if self._writes(broker) else "the controller is about to write the state"

    def _writes(self, broker: int) -> bool:
        """Gone on with, the controller comes to a write over a state that it has read."""
        if is_to_write(self.place(broker)):
            return True
        before = self.snapshot()
        self.controllers[broker].go_on(before_writes=True)
        writes = is_to_write(self.place(broker))
        self.restore(before)
        return writes

    def leader_expands_isr_first(self, leader: int, replica: int, number: int, broker: int) -> None:
        """The same, after a controller has read the state that it is about to write over."""
        if not is_to_write(self.place(broker)):
            self.controllers[broker].go_on(before_writes=True)
        self.leader_expands_isr(leader, replica, number)

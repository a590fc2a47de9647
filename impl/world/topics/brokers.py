"""What brokers do in a topic's life: they obey, stop, delete, refuse, and mend the ISR."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from impl.core.requests import LeaderAndIsr, StopReplica
from impl.world.steps import Step
from impl.world.topics.grain import is_to_write
from impl.world.topics.world import TOPIC, Answered, Hosted, Refusal, Sent, Steps, TopicWorld
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
            for number, role in one.roles:
                for replica in self.brokers if role == "leader" else ():
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
        newer = controller < self.hosted[broker].seen
        return "it has seen no newer controller" if newer else None

    def _orders_arrive_refusal(self, broker: int, controller: int) -> Refusal:
        return self._next_refusal(broker, controller, LeaderAndIsr)

    def orders_arrive(self, broker: int, controller: int) -> None:
        """The LeaderAndIsr requests that are next on the connection, one after the other.

        Nobody follows a leader that does not live: the log is opened, and that is all.
        """
        one = self.hosted[broker]
        roles, directories = dict(one.roles), dict(one.directories)
        for sent in self._taken(controller, broker, LeaderAndIsr):
            for partition, order in sent.request.partitions.items():
                directories.setdefault(partition.partition, "stale" if sent.outdated else "current")
                leads = order.state.leader == broker
                if leads or order.state.leader in sent.request.live_leaders:
                    roles[partition.partition] = "leader" if leads else "follower"
        self.hosted[broker] = Hosted(
            tuple(sorted(roles.items())), tuple(sorted(directories.items())), controller
        )

    def _stops_arrive_refusal(self, broker: int, controller: int) -> Refusal:
        return self._next_refusal(broker, controller, StopReplica)

    def stops_arrive(self, broker: int, controller: int, deletes: bool = True) -> None:
        """The StopReplica requests that are next; what is to be deleted is, and answered."""
        one = self.hosted[broker]
        stopped, gone = set(), set()
        for sent in self._taken(controller, broker, StopReplica):
            stops = sent.request.partitions
            stopped |= {partition.partition for partition in stops}
            deleted = sorted(partition for partition, stop in stops.items() if stop.delete)
            if deletes:
                gone |= {partition.partition for partition in deleted}
            if deleted:
                errors = dict.fromkeys(deleted, "NONE" if deletes else "KAFKA_STORAGE_ERROR")
                self.answers[controller, broker] = Answered(sent.request, errors)
        self.hosted[broker] = Hosted(
            tuple(pair for pair in one.roles if pair[0] not in stopped),
            tuple(pair for pair in one.directories if pair[0] not in gone),
            controller,
        )

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
        self.stops_arrive(broker, controller, deletes=False)

    def _requests_are_refused_refusal(self, broker: int, controller: int) -> Refusal:
        if broker not in self.up:
            return "its process runs"
        if not self.connections.get((controller, broker)):
            return "a request is next"
        return None if controller < self.hosted[broker].seen else "it has seen a newer controller"

    def requests_are_refused(self, broker: int, controller: int) -> None:
        """STALE_CONTROLLER_EPOCH: everything that is under way is answered with it."""
        del self.connections[controller, broker]

    def _taken(self, controller: int, broker: int, kind: type[Any]) -> list[Any]:
        queue = list(self.connections.pop((controller, broker)))
        taken: list[Sent] = []
        while queue and isinstance(queue[0].request, kind):
            taken.append(queue.pop(0))
        if queue:
            self.connections[controller, broker] = tuple(queue)
        return taken

    # The ISR

    def _returner(
        self, leader: int, replica: int, number: int
    ) -> LeaderIsrAndControllerEpoch | str:
        if dict(self.hosted[leader].roles).get(number) != "leader":
            return "the broker believes it leads"
        if not self.has_session(leader):
            return "it has a ZooKeeper session"
        state = self.state(number)
        if state is None or state.leader != leader:
            return "the state names it"
        if dict(self.hosted[replica].roles).get(number) != "follower":
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

"""Faults: processes crash, sessions expire, replies and requests are lost or late."""

from __future__ import annotations

from impl.core.requests import LeaderAndIsr
from impl.sim.suspension_points import is_lost, registered_epoch
from impl.world.processes import PROCESS_IS_UP, each_broker
from impl.world.stepped.parts import Many, SteppedParts, Unmet, step


def each_sender(world: SteppedParts) -> Many:
    """(controller epoch, target) of what is under way, or answered."""
    return {*world.connections, *world.answers}


def each_term_and_broker(world: SteppedParts) -> Many:
    """(target, controller epoch) of every controller that there was."""
    epochs = range(1, world.epoch() + 1)
    return [(broker, epoch) for broker in world.brokers for epoch in epochs]


class Faults(SteppedParts):
    """Faults, and what a broker does after one."""

    def _drop_requests(self, broker: int) -> None:
        """What was sent to an earlier registration the next one refuses (KIP-380)."""
        if self.fences_brokers:
            for to in [to for to in self.connections if to[1] == broker]:
                del self.connections[to]
            for to in [to for to in self.slow if to[1] == broker]:
                del self.slow[to]

    def crash(self, broker: int) -> None:
        """A process dies with all it had in memory, and its connections end with it."""
        self.hosts[broker].up = False
        self.controllers[broker].renew(self.controllers[broker].port.session)
        self.hosts[broker].crash()
        self._drop_requests(broker)
        if self.fences_brokers:
            for to in [to for to in self.answers if to[1] == broker]:
                del self.answers[to]

    def expire(self, broker: int) -> None:
        """ZooKeeper ends its session."""
        self.zookeeper.expire(self.controllers[broker].port.session)

    def start(self, broker: int) -> None:
        """A new process, which registers."""
        self.hosts[broker].up = True
        self.controllers[broker].renew(self.open_session(broker))
        self._drop_requests(broker)

    def reconnect(self, broker: int) -> None:
        """Another session: no longer the controller, and registered again."""
        one = self.controllers[broker]
        one.break_off()
        one.reconnect(self.open_session(broker))
        self._drop_requests(broker)

    # What is lost, or late

    def _reply_to_registration_is_lost_unmet(self, broker: int) -> Unmet:
        place = self.place(broker)
        if place is None or not place.is_done or registered_epoch(place.effect) is None:
            return "its registration was executed, and it has not heard of it"
        return "the reply is on its way" if is_lost(place) else None

    @step(each_broker)
    def reply_to_registration_is_lost(self, broker: int) -> None:
        """The connection breaks after ZooKeeper executed the registration."""
        self.controllers[broker].lose_answer()

    def _request_is_lost_unmet(self, controller: int, broker: int) -> Unmet:
        to = (controller, broker)
        if to not in self.connections and to not in self.answers:
            return "something is under way to the broker"
        acting = [self.context(one).epoch for one in self.brokers if self.is_active(one)]
        return "the sender is not the controller any more" if controller in acting else None

    @step(each_sender)
    def request_is_lost(self, controller: int, broker: int) -> None:
        """A controller that resigned took with it what it had not sent."""
        self.connections.pop((controller, broker), None)
        self.answers.pop((controller, broker), None)

    def _metadata_is_delayed_unmet(self, broker: int, controller: int) -> Unmet:
        if not 1 <= controller <= self.epoch():
            return "there was such a controller"
        return "the connection is not slow yet" if (controller, broker) in self.slow else None

    @step(each_term_and_broker)
    def metadata_is_delayed(self, broker: int, controller: int) -> None:
        """The connection of a controller to a broker is slow: UpdateMetadata waits in its queue."""
        self.slow[controller, broker] = ()

    def _metadata_arrives_unmet(self, broker: int, controller: int) -> Unmet:
        late = self.slow.get((controller, broker))
        if not late:
            return "UpdateMetadata is in flight"
        if not self.is_up(broker):
            return PROCESS_IS_UP
        waiting = self.connections.get((controller, broker), ())
        before = [one for one in waiting if one.epoch <= late[-1].epoch]
        is_next = not any(isinstance(one.request, LeaderAndIsr) for one in before)
        return None if is_next else "what was sent before it has arrived"

    @step(each_term_and_broker)
    def metadata_arrives(self, broker: int, controller: int) -> None:
        """What was late: of several requests the last one says all that they say."""
        for sent in self.slow.pop((controller, broker)):
            self.hosts[broker].obey(sent)

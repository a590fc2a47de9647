"""What befalls brokers in a topic's life: processes crash, sessions end, replies are lost."""

from __future__ import annotations

from impl.sim.places import is_lost, is_registered
from impl.world.steps import Step
from impl.world.topics.world import Refusal, Steps, TopicWorld


class Faults(TopicWorld):
    """Faults, and what a broker does after one."""

    def offers(self) -> Steps:
        """Those of the others, and the faults."""
        yield from super().offers()
        for broker in self.brokers:
            for name in (
                "broker_crashes", "session_expires", "broker_starts", "broker_reconnects",
                "reply_is_lost",
            ):  # fmt: skip
                yield Step(name, (broker,))
        for controller, broker in (*self.connections, *self.answers):
            yield Step("request_is_lost", (controller, broker))

    def drop_requests(self, broker: int) -> None:
        """What was sent to an earlier registration the next one refuses (KIP-380)."""
        if self.fences_brokers:
            for to in [to for to in self.connections if to[1] == broker]:
                del self.connections[to]

    def drop_answers(self, broker: int) -> None:
        """Its connections end with its process."""
        for to in [to for to in self.answers if to[1] == broker]:
            del self.answers[to]

    def _broker_crashes_refusal(self, broker: int) -> Refusal:
        return None if broker in self.up else "its process runs"

    def broker_crashes(self, broker: int) -> None:
        """A process dies with all it had in memory; its directories and its session stay."""
        self.up -= {broker}
        self.controllers[broker].renew(self.controllers[broker].port.session)
        self.hosted[broker] = self.hosted[broker].crashes()
        self.drop_requests(broker)
        if self.fences_brokers:
            self.drop_answers(broker)

    def _session_expires_refusal(self, broker: int) -> Refusal:
        return None if self.has_session(broker) else "the broker is registered"

    def session_expires(self, broker: int) -> None:
        """Its ephemeral nodes vanish; a live process does not notice."""
        self.zookeeper.expire(self.controllers[broker].port.session)

    def _broker_starts_refusal(self, broker: int) -> Refusal:
        if broker in self.up:
            return "its process does not run"
        return "its old session has expired" if self.has_session(broker) else None

    def broker_starts(self, broker: int) -> None:
        """A new process, which registers."""
        self.up |= {broker}
        self.controllers[broker].renew(self.open_session(broker))
        self.drop_requests(broker)

    def _broker_reconnects_refusal(self, broker: int) -> Refusal:
        if broker not in self.up:
            return "its process runs"
        return "its session has expired" if self.has_session(broker) else None

    def broker_reconnects(self, broker: int) -> None:
        """A live process opens another session: no longer the controller, and registered anew."""
        one = self.controllers[broker]
        one.break_off()
        one.renew(self.open_session(broker))
        self.drop_requests(broker)

    def _reply_is_lost_refusal(self, broker: int) -> Refusal:
        place = self.place(broker)
        if place is None or not is_registered(place):
            return "it registered, and has not heard of it"
        return "the reply is on its way" if is_lost(place) else None

    def reply_is_lost(self, broker: int) -> None:
        """The connection breaks after ZooKeeper executed the registration."""
        self.controllers[broker].lose_answer()

    def _request_is_lost_refusal(self, controller: int, broker: int) -> Refusal:
        to = (controller, broker)
        if to not in self.connections and to not in self.answers:
            return "something is under way to the broker"
        acting = [self.context(one).epoch for one in self.brokers if self.is_active(one)]
        return "the sender is not the controller any more" if controller in acting else None

    def request_is_lost(self, controller: int, broker: int) -> None:
        """A controller that resigned took with it what it had not sent."""
        self.connections.pop((controller, broker), None)
        self.answers.pop((controller, broker), None)

"""How brokers handle requests: they become leader or follower, stop, delete, or refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from impl.core.requests import LeaderAndIsr, StopReplica
from impl.world.processes import PROCESS_IS_UP
from impl.world.stepped.host import RequestInFlight
from impl.world.stepped.parts import SteppedParts, Unmet, each_connection, step
from impl.znodes import TopicPartition


@dataclass(frozen=True, slots=True)
class StopAnswered:
    """A broker's answer to a StopReplica: an error for each partition that was to be deleted.

    Up to 2.2 there is a request for each partition, and an answer: in batches they come together.
    """

    request: StopReplica
    errors: Mapping[TopicPartition, str]

    def and_before(self, earlier: StopAnswered | None) -> StopAnswered:
        """Both answers."""
        if earlier is None:
            return self
        asked = {**earlier.request.partitions, **self.request.partitions}
        raises = earlier.request.raises_event | self.request.raises_event
        both = replace(self.request, partitions=asked, raises_event=raises)
        return StopAnswered(both, {**earlier.errors, **self.errors})


class RequestSteps(SteppedParts):
    """Requests arrive, in the order of their connection.

    In batches those of one kind that come one after the other are handled together, and all that is
    on the connection is refused together.
    """

    def _next_unmet(self, broker: int, controller: int, kind: type[Any]) -> Unmet:
        queue = self.connections.get((controller, broker), ())
        if not self.is_up(broker):
            return PROCESS_IS_UP
        if not queue or not isinstance(queue[0].request, kind):
            return f"a {kind.__name__} is next"
        return self.unheard_unmet(broker)

    def unheard_unmet(self, broker: int) -> Unmet:
        """A leader whose ISR write was not answered holds the lock on all else."""
        hosted: Any = self.hosts[broker].manager.partitions.values()
        waits = any(one.isr_write is not None for one in hosted)
        return "no write of it is unanswered" if waits else None

    def _orders_arrive_unmet(self, broker: int, controller: int) -> Unmet:
        return self._next_unmet(broker, controller, LeaderAndIsr)

    @step(each_connection)
    def orders_arrive(self, broker: int, controller: int) -> None:
        """The LeaderAndIsr that is next on the connection."""
        for sent in self._taken(controller, broker, LeaderAndIsr, self.grain.in_batches):
            self.hosts[broker].obey(sent)
        self.keep((controller, broker), [*self.connections.get((controller, broker), ())])

    def _stops_arrive_unmet(self, broker: int, controller: int) -> Unmet:
        unmet = self._next_unmet(broker, controller, StopReplica)
        if unmet is not None:
            return unmet
        late = self.slow.get((controller, broker))
        reported = late and late[-1].epoch <= self.connections[controller, broker][0].epoch
        return "the UpdateMetadata that was sent before it has arrived" if reported else None

    @step(each_connection)
    def stops_arrive(self, broker: int, controller: int) -> None:
        """The StopReplica requests that are next; what is to be deleted is, and answered."""
        self._stop(broker, controller, disk_fails=False)

    def _stops_fail_unmet(self, broker: int, controller: int) -> Unmet:
        reason = self._stops_arrive_unmet(broker, controller)
        if reason is not None:
            return reason
        if self.hosts[broker].refuses(controller):
            return "it has seen no newer controller"
        queue = self.connections[controller, broker]
        stops = [sent.request for sent in queue if isinstance(sent.request, StopReplica)]
        deletes = any(stop.delete for one in stops for stop in one.partitions.values())
        return None if deletes else "a directory is to be deleted"

    @step(each_connection)
    def stops_fail(self, broker: int, controller: int) -> None:
        """KAFKA_STORAGE_ERROR: the directory stays, and the answer says so."""
        self._stop(broker, controller, disk_fails=True)

    def _stop(self, broker: int, controller: int, disk_fails: bool) -> None:
        answered: StopAnswered | None = None
        for sent in self._taken(controller, broker, StopReplica, True):
            errors = self.hosts[broker].obey(sent, disk_fails)
            request: Any = sent.request
            deleted = {one: errors[one] for one in errors if request.partitions[one].delete}
            if deleted and request.raises_event:
                answered = StopAnswered(request, deleted).and_before(answered)
        if answered is not None:
            self.answers[controller, broker] = answered
        self.keep((controller, broker), [*self.connections.get((controller, broker), ())])

    def _taken(
        self, controller: int, broker: int, kind: type[Any], together: bool
    ) -> list[RequestInFlight]:
        at = (controller, broker)
        queue = list(self.connections.pop(at))
        if self.grain.in_batches and self.hosts[broker].refuses(controller):
            return []
        taken = [queue.pop(0)]
        while together and queue and isinstance(queue[0].request, kind):
            taken.append(queue.pop(0))
        if queue:
            self.connections[at] = tuple(queue)
        return taken

"""Steps of brokers that handle requests: become leader or follower, stop, delete, or refuse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from impl.core.requests import LeaderAndIsr, StopReplica
from impl.sim.simulation import refusable
from impl.world.processes import PROCESS_IS_UP
from impl.world.stepped.in_memory_broker import RequestInFlight
from impl.world.stepped.stepped_cluster import SteppedCluster, Unmet, each_connection
from impl.znodes import TopicPartition


@dataclass(frozen=True, slots=True)
class StopAnswered:
    """A broker's response to a StopReplica: an error for each partition to be deleted.

    Up to 2.2 each partition has its own request and response; in batches they are merged.
    """

    request: StopReplica
    errors: Mapping[TopicPartition, str]

    def and_before(self, earlier: StopAnswered | None) -> StopAnswered:
        """This response merged with an earlier one."""
        if earlier is None:
            return self
        asked = {**earlier.request.partitions, **self.request.partitions}
        raises = earlier.request.raises_event | self.request.raises_event
        both = replace(self.request, partitions=asked, raises_event=raises)
        return StopAnswered(both, {**earlier.errors, **self.errors})


def _next_unmet(world: SteppedCluster, broker: int, controller: int, kind: type[Any]) -> Unmet:
    queue = world.connections.get((controller, broker), ())
    if not world.is_up(broker):
        return PROCESS_IS_UP
    if not queue or not isinstance(queue[0].request, kind):
        return f"a {kind.__name__} is next"
    return lost_response_unmet(world, broker)


def lost_response_unmet(world: SteppedCluster, broker: int) -> Unmet:
    """A leader whose ISR write is unanswered holds the partition's lock."""
    hosted: Any = world.hosts[broker].replicas.partitions.values()
    waits = any(one.isr_write is not None for one in hosted)
    return "none of its writes waits for a response" if waits else None


def _leader_and_isr_arrives_unmet(world: SteppedCluster, broker: int, controller: int) -> Unmet:
    return _next_unmet(world, broker, controller, LeaderAndIsr)


def leader_and_isr_arrives(world: SteppedCluster, broker: int, controller: int) -> None:
    """The next LeaderAndIsr of the connection arrives."""
    for sent in _taken(world, controller, broker, LeaderAndIsr, world.grain.in_batches):
        world.hosts[broker].obey(sent)
    world.keep((controller, broker), [*world.connections.get((controller, broker), ())])


def _stop_replica_arrives_unmet(world: SteppedCluster, broker: int, controller: int) -> Unmet:
    unmet = _next_unmet(world, broker, controller, StopReplica)
    if unmet is not None:
        return unmet
    late = world.slow.get((controller, broker))
    reported = late and late[-1].epoch <= world.connections[controller, broker][0].epoch
    return "the UpdateMetadata that was sent before it has arrived" if reported else None


def stop_replica_arrives(world: SteppedCluster, broker: int, controller: int) -> None:
    """The next StopReplica requests arrive; the broker deletes replicas and responds."""
    _stop(world, broker, controller, disk_fails=False)


def _stops_fail_unmet(world: SteppedCluster, broker: int, controller: int) -> Unmet:
    reason = _stop_replica_arrives_unmet(world, broker, controller)
    if reason is not None:
        return reason
    if world.hosts[broker].refuses(controller):
        return "it has seen no newer controller"
    queue = world.connections[controller, broker]
    stops = [sent.request for sent in queue if isinstance(sent.request, StopReplica)]
    deletes = any(stop.delete for one in stops for stop in one.partitions.values())
    return None if deletes else "a directory is to be deleted"


def stops_fail(world: SteppedCluster, broker: int, controller: int) -> None:
    """KAFKA_STORAGE_ERROR: the directory stays, and the response has the error."""
    _stop(world, broker, controller, disk_fails=True)


def _stop(world: SteppedCluster, broker: int, controller: int, disk_fails: bool) -> None:
    answered: StopAnswered | None = None
    for sent in _taken(world, controller, broker, StopReplica, True):
        errors = world.hosts[broker].obey(sent, disk_fails)
        request: Any = sent.request
        deleted = {one: errors[one] for one in errors if request.partitions[one].delete}
        if deleted and request.raises_event:
            answered = StopAnswered(request, deleted).and_before(answered)
    if answered is not None:
        world.answers[controller, broker] = answered
    world.keep((controller, broker), [*world.connections.get((controller, broker), ())])


def _taken(
    world: SteppedCluster, controller: int, broker: int, kind: type[Any], together: bool
) -> list[RequestInFlight]:
    at = (controller, broker)
    queue = list(world.connections.pop(at))
    if world.grain.in_batches and world.hosts[broker].refuses(controller):
        return []
    taken = [queue.pop(0)]
    while together and queue and isinstance(queue[0].request, kind):
        taken.append(queue.pop(0))
    if queue:
        world.connections[at] = tuple(queue)
    return taken


KINDS = (
    refusable(
        leader_and_isr_arrives, each_connection, _leader_and_isr_arrives_unmet, "broker controller"
    ),
    refusable(
        stop_replica_arrives, each_connection, _stop_replica_arrives_unmet, "broker controller"
    ),
    refusable(stops_fail, each_connection, _stops_fail_unmet, "broker controller"),
)

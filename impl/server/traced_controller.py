"""Writes a controller's log lines, and its part of a trace: controller epochs, reads and writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from impl.core.cluster_context import ClusterContext
from impl.core.event_controller import EventController
from impl.core.journal import ControllerJournal
from impl.core.requests import LeaderAndIsr, PartitionMetadata, StopReplica
from impl.core.states import PartitionState
from impl.server.controller_lines import ControllerLines
from impl.server.log4j_files import Log4jFiles
from impl.server.trace import BrokerTrace
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition

UNTRACED_EVENTS = ("LeaderAndIsrResponseReceived",)


class TracedTerms(ControllerJournal):
    """Writes trace lines. ``controller`` is the controller of the broker's current session.

    Each line has the newest ``zxid`` that the session had seen, so it is ordered after everything
    that the controller can have read.
    """

    def __init__(self, trace: BrokerTrace) -> None:
        self.trace = trace
        self.controller: EventController | None = None

    async def elected(self, epoch: int, epoch_version: int) -> None:
        """Write that the broker became controller."""
        args = {"epoch": epoch, "epoch_version": epoch_version}
        self._line("controller_elected", args)
        await super().elected(epoch, epoch_version)

    async def resigned(self) -> None:
        """Write that the broker is no longer the controller."""
        self._line("controller_resigned", {})
        await super().resigned()

    async def event_begun(self, name: str) -> None:
        """Write that an event began. LeaderAndIsr responses are left out: the requests that follow
        show what they change."""
        if name not in UNTRACED_EVENTS:
            self._line("event_begun", {"event": name, "epoch": self._context.epoch})
        await super().event_begun(name)

    async def event_done(self, name: str, failed: bool = False) -> None:
        """Write that an event was handled."""
        if name not in UNTRACED_EVENTS:
            args = {"event": name, "epoch": self._context.epoch, "failed": failed}
            self._line("event_done", args)
        await super().event_done(name, failed)

    async def registrations_read(self, epochs: Mapping[int, int]) -> None:
        """Write that the registered brokers were read."""
        found = {str(broker): epoch for broker, epoch in sorted(epochs.items())}
        args = {"epoch": self._context.epoch, "registrations": found}
        self._line("registrations_read", args)
        await super().registrations_read(epochs)

    async def shutdown_begun(self, broker: int) -> None:
        """Write that the controller begins to handle a ControlledShutdown."""
        args = {"epoch": self._context.epoch, "subject": broker}
        self._line("shutdown_begun", args)
        await super().shutdown_begun(broker)

    async def shut_down(self, broker: int, remaining: Sequence[TopicPartition]) -> None:
        """Write that a ControlledShutdown was answered."""
        args = {"epoch": self._context.epoch, "subject": broker,
                "remaining": [str(one) for one in remaining]}  # fmt: skip
        self._line("shutdown_answered", args)
        await super().shut_down(broker, remaining)

    async def sends_leader_and_isr(self, broker: int, request: LeaderAndIsr) -> None:
        """Write that a LeaderAndIsr request is queued on a broker's channel."""
        states = {str(one): entry.state for one, entry in request.partitions.items()}
        self._sends(broker, "LeaderAndIsr", states, new=[
            str(one) for one, entry in request.partitions.items() if entry.is_new
        ])  # fmt: skip
        await super().sends_leader_and_isr(broker, request)

    async def sends_metadata(
        self, brokers: Iterable[int], partitions: Mapping[TopicPartition, PartitionMetadata]
    ) -> None:
        """Write that UpdateMetadata is queued on the channels of some brokers."""
        states = {str(one): metadata.state for one, metadata in partitions.items()}
        listed = [*brokers]
        for broker in listed:
            live = sorted(self._context.live_or_shutting_down)
            self._sends(broker, "UpdateMetadata", states, live=live)
        await super().sends_metadata(listed, partitions)

    async def sends_stop_replica(self, broker: int, request: StopReplica) -> None:
        """Write that a StopReplica request is queued on a broker's channel."""
        stops = {str(one): stop.delete for one, stop in request.partitions.items()}
        self._sends(broker, "StopReplica", {}, stops=stops)
        await super().sends_stop_replica(broker, request)

    @property
    def _context(self) -> ClusterContext:
        assert self.controller is not None, "who writes is controller"
        return self.controller.core.context

    def _line(self, step: str, args: dict[str, Any]) -> None:
        assert self.controller is not None, "who writes is controller"
        zxid = self.controller.core.client.port.zxid
        self.trace.file.line(step, {**args, "zxid": zxid})

    def _sends(
        self, to: int, kind: str, states: Mapping[str, LeaderIsrAndControllerEpoch], **more: Any
    ) -> None:
        number = self.trace.numbers[to]  # as the channels number them
        self.trace.numbers[to] += 1
        registration = self._context.broker_epochs.get(to)
        if registration is None:
            return  # there is no channel: it is dropped
        named = {one: [state.leader_epoch, state.zk_version] for one, state in states.items()}
        self._line("request_sent", {
            "epoch": self._context.epoch, "to": to, "registration": registration, "kind": kind,
            "correlation": number, "partitions": named, **more,
        })  # fmt: skip

    async def partition_moved(
        self,
        partition: TopicPartition,
        before: PartitionState,
        after: PartitionState,
        replicas: Sequence[int],
        state: LeaderIsrAndControllerEpoch | None = None,
        is_written: bool = True,
    ) -> None:
        """Write that a partition entered a state; after an election also what was written."""
        if state is not None and is_written:
            self._trace_state_write(partition, state)
        await super().partition_moved(partition, before, after, replicas, state, is_written)

    async def isr_removed(
        self, broker: int, partition: TopicPartition, state: LeaderIsrAndControllerEpoch
    ) -> None:
        """Write that a replica was removed from an ISR."""
        self._trace_state_write(partition, state)
        await super().isr_removed(broker, partition, state)

    def _trace_state_write(
        self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch
    ) -> None:
        # A broker whose directory of this partition has failed lives, and its replica does not.
        online = self._context.is_replica_online
        live = sorted(one for one in self._context.live if online(one, partition))
        args: dict[str, Any] = {
            "partition": str(partition), "epoch": self._context.epoch, "leader": state.leader,
            "leader_epoch": state.leader_epoch, "isr": list(state.isr),
            "zk_version": state.zk_version, "live": live,
        }  # fmt: skip
        self._line("state_written", args)


class TracedController(TracedTerms, ControllerLines):
    """With Kafka's log lines."""

    def __init__(self, files: Log4jFiles, trace: BrokerTrace) -> None:
        TracedTerms.__init__(self, trace)
        ControllerLines.__init__(self, files)

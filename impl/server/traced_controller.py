"""A controller's lines, and its part of a trace: its terms, and what it wrote as it saw things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impl.core.cluster_context import ClusterContext
from impl.core.journal import ControllerJournal
from impl.core.states import PartitionState
from impl.server.controller_lines import ControllerLines
from impl.server.log4j_files import Log4jFiles
from impl.server.trace import BrokerTrace
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition


class TracedTerms(ControllerJournal):
    """``context`` is that of the controller of the session that the broker has now."""

    def __init__(self, trace: BrokerTrace) -> None:
        self.trace = trace
        self.context: ClusterContext | None = None

    async def elected(self, epoch: int, epoch_version: int) -> None:
        """It became controller."""
        args = {"epoch": epoch, "epoch_version": epoch_version}
        self.trace.file.line("controller_elected", args)
        await super().elected(epoch, epoch_version)

    async def resigned(self) -> None:
        """It is no longer the controller."""
        self.trace.file.line("controller_resigned", {})
        await super().resigned()

    async def partition_moved(
        self,
        partition: TopicPartition,
        before: PartitionState,
        after: PartitionState,
        replicas: Sequence[int],
        state: LeaderIsrAndControllerEpoch | None = None,
    ) -> None:
        """A partition entered a state; with what was written, where it was elected."""
        if state is not None:
            self._wrote(partition, state)
        await super().partition_moved(partition, before, after, replicas, state)

    async def isr_removed(
        self, broker: int, partition: TopicPartition, state: LeaderIsrAndControllerEpoch
    ) -> None:
        """A replica was taken out of an ISR."""
        self._wrote(partition, state)
        await super().isr_removed(broker, partition, state)

    def _wrote(self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> None:
        assert self.context is not None, "who writes is controller"
        args: dict[str, Any] = {
            "partition": str(partition), "epoch": self.context.epoch, "leader": state.leader,
            "leader_epoch": state.leader_epoch, "isr": list(state.isr),
            "zk_version": state.zk_version, "live": sorted(self.context.live),
        }  # fmt: skip
        self.trace.file.line("state_written", args)


class TracedController(TracedTerms, ControllerLines):
    """With Kafka's log lines."""

    def __init__(self, files: Log4jFiles, trace: BrokerTrace) -> None:
        TracedTerms.__init__(self, trace)
        ControllerLines.__init__(self, files)

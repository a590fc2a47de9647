"""The state machine of partitions, and elections (``PartitionStateMachine``; fact sheet c.1, d)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from impl.core import leader_election
from impl.core.cluster_context import ClusterContext
from impl.core.journal import ChangeFailure, NoLeader
from impl.core.leader_election import Elected
from impl.core.request_batch import RequestBatch
from impl.core.states import PartitionState, partition_may_go
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.znodes.states import INITIAL_LEADER_EPOCH
from impl.zookeeper.errors import ZooKeeperError


class StrategyKind(Enum):
    """The kind of an election."""

    OFFLINE = "Offline"
    REASSIGN = "Reassign"
    PREFERRED = "Preferred"
    CONTROLLED_SHUTDOWN = "ControlledShutdown"


@dataclass(frozen=True, slots=True)
class Strategy:
    """An election strategy; ``unclean`` allows what a topic's config would have to allow (2.4)."""

    kind: StrategyKind
    unclean: bool = False


OFFLINE = Strategy(StrategyKind.OFFLINE)
REASSIGN = Strategy(StrategyKind.REASSIGN)
PREFERRED = Strategy(StrategyKind.PREFERRED)
CONTROLLED_SHUTDOWN = Strategy(StrategyKind.CONTROLLED_SHUTDOWN)

Failed = dict[TopicPartition, str]
_Failures = dict[TopicPartition, ChangeFailure]


class PartitionMachine:
    """Changes the states of partitions in a context; its journal receives the failures.

    ``unclean_allowed`` says of a topic whether its config allows an unclean election; it is asked
    only where no member of the ISR lives.
    """

    def __init__(
        self,
        context: ClusterContext,
        batch: RequestBatch,
        client: ZnodeClient,
        release: Release,
        unclean_allowed: Callable[[str], bool],
    ) -> None:
        self.context = context
        self.batch = batch
        self.client = client
        self.release = release
        self.unclean_allowed = unclean_allowed

    # Startup

    async def startup(self) -> None:
        """Give every partition its initial state by its leadership; then try elections."""
        for partition in self.context.partitions():
            self.context.put_partition_state(partition, self.initial_state(partition))
        await self.trigger_online()

    def initial_state(self, partition: TopicPartition) -> PartitionState:
        """New without a known state; Online if the leader is live, else Offline."""
        known = self.context.leadership.get(partition)
        if known is None:
            return PartitionState.NEW
        if self.context.is_replica_online(known.leader, partition):
            return PartitionState.ONLINE
        return PartitionState.OFFLINE

    async def trigger_online(self) -> None:
        """Try an election for every new and offline partition whose topic is not to be deleted."""
        waiting = self.context.partitions_in(PartitionState.NEW, PartitionState.OFFLINE)
        kept = [one for one in waiting if one.topic not in self.context.queued_for_deletion]
        await self.handle(kept, PartitionState.ONLINE, OFFLINE)

    # Transitions

    async def handle(
        self,
        partitions: Iterable[TopicPartition],
        target: PartitionState,
        strategy: Strategy | None = None,
    ) -> Failed:
        """Change the state of partitions and send the requests; returns the failures with their
        reasons.

        An invalid transition is noted and skipped. ControllerMoved goes through.
        """
        ordered = sorted(partitions)
        await self.context.journal.partitions_change(ordered, target)
        self.batch.begin()
        failed = await self._move(ordered, target, strategy)
        await self.batch.send_requests(self.context.epoch)
        return failed

    async def _move(
        self, partitions: list[TopicPartition], target: PartitionState, strategy: Strategy | None
    ) -> Failed:
        failed: _Failures = {}
        valid = []
        for partition in partitions:
            before = self.context.partition_state(partition)
            if partition_may_go(before, target):
                valid.append(partition)
            else:
                failed[partition] = ChangeFailure(
                    f"Partition {partition} should be in one of the states from which "
                    f"{target.value} may follow. Instead it is in {before.value} state",
                    is_invalid=True,
                )
        if target is PartitionState.ONLINE:
            new = [p for p in valid if self.context.partition_state(p) is PartitionState.NEW]
            failed |= await self._initialize(new)
            others = [one for one in valid if one not in new]
            if others:
                failed |= await self._elect(others, strategy or OFFLINE)
        else:
            for partition in valid:
                before = self.context.partition_state(partition)
                replicas = self.context.replicas(partition)
                await self.context.journal.partition_moved(partition, before, target, replicas)
                self.context.put_partition_state(partition, target)
        for partition, failure in failed.items():
            before = self.context.partition_state(partition)
            await self.context.journal.partition_failed(partition, before, target, failure)
        return {partition: failure.text for partition, failure in failed.items()}

    async def _initialize(self, partitions: list[TopicPartition]) -> _Failures:
        """The first live replica becomes the leader, and all live replicas are the ISR."""
        states: dict[TopicPartition, LeaderIsrAndControllerEpoch] = {}
        failed: _Failures = {}
        for partition in partitions:
            live = tuple(
                replica
                for replica in self.context.replicas(partition)
                if self.context.is_replica_online(replica, partition)
            )
            if live:
                states[partition] = LeaderIsrAndControllerEpoch(
                    live[0], INITIAL_LEADER_EPOCH, live, self.context.epoch
                )
            else:
                failed[partition] = ChangeFailure(
                    f"no replica of partition {partition} is alive; it stays in NewPartition state",
                    assigned_and_live=(self.context.replicas(partition), self.context.live),
                )
        for partition, error in (
            await self.client.create_states(states, self.context.epoch_version)
        ).items():
            if error is not None:
                failed[partition] = ChangeFailure(
                    f"the state of {partition} could not be created: {error}",
                    refused=type(error).__name__,
                )
                continue
            await self._now_online(partition, states[partition], states[partition].isr, is_new=True)
        return failed

    async def _elect(self, partitions: list[TopicPartition], strategy: Strategy) -> _Failures:
        """Read the state, choose a leader, and write conditionally on the version; repeat where the
        version has changed."""
        failed: _Failures = {}
        remaining = partitions
        while remaining:
            remaining = await self._elect_once(remaining, strategy, failed)
        return failed

    async def _elect_once(
        self, partitions: list[TopicPartition], strategy: Strategy, failed: _Failures
    ) -> list[TopicPartition]:
        chosen: dict[TopicPartition, Elected] = {}
        writes: dict[TopicPartition, LeaderIsrAndControllerEpoch] = {}
        for partition in partitions:
            state = await self._readable_state(partition, failed)
            if state is None:
                continue
            leads = self._leads_as_preferred(partition, strategy)
            if leads is not None:
                await self._put_online(partition, leads, is_written=False)
                continue
            elected = self.choose(partition, state, strategy)
            if elected is None:
                await self.context.journal.not_elected(partition, strategy.kind.value)
                failed[partition] = self._nobody_elected(partition, strategy, state)
                continue
            chosen[partition] = elected
            writes[partition] = LeaderIsrAndControllerEpoch(
                elected.leader,
                state.leader_epoch + 1,
                elected.isr,
                self.context.epoch,
                state.zk_version,
            )
        updated = await self.client.update_states(writes, self.context.epoch_version)
        for partition, state in updated.done.items():
            await self._now_online(partition, state, chosen[partition].recipients, is_new=False)
        for partition, error in updated.failed.items():
            failed[partition] = ChangeFailure(
                f"the state of {partition} could not be written: {error}",
                refused=type(error).__name__,
            )
        return updated.retry

    def _nobody_elected(
        self, partition: TopicPartition, strategy: Strategy, state: LeaderIsrAndControllerEpoch
    ) -> ChangeFailure:
        allows = strategy.unclean
        if strategy.kind is StrategyKind.OFFLINE and not self.release.since("1.1"):
            allows = self.unclean_allowed(partition.topic)
        return ChangeFailure(
            f"Failed to elect leader for partition {partition} under strategy "
            f"{strategy.kind.value}",
            no_leader=NoLeader(
                strategy.kind.value, allows, state, self.context.replicas(partition),
                self.context.live, self.context.shutting_down,
            ),
        )  # fmt: skip

    async def _readable_state(
        self, partition: TopicPartition, failed: _Failures
    ) -> LeaderIsrAndControllerEpoch | None:
        try:
            state = await self.client.state(partition)
        except ZooKeeperError as error:
            failed[partition] = ChangeFailure(
                f"the state of {partition} could not be read: {error}",
                refused=type(error).__name__,
            )
            return None
        if state is None:
            text = f"LeaderAndIsr information doesn't exist for partition {partition}"
            failed[partition] = ChangeFailure(text, is_missing=True)
            return None
        if state.controller_epoch > self.context.epoch:
            await self.context.journal.newer_controller(partition, state.controller_epoch)
            failed[partition] = ChangeFailure(
                f"aborted leader election for partition {partition} since the LeaderAndIsr path "
                f"was already written by another controller of epoch {state.controller_epoch}",
                newer=state.controller_epoch,
            )
            return None
        return state

    def _leads_as_preferred(
        self, partition: TopicPartition, strategy: Strategy
    ) -> LeaderIsrAndControllerEpoch | None:
        """What is known of a partition whose preferred replica leads already, up to 1.0.

        That is by what the controller has in memory, whatever it has just read, and ends the
        election: nothing is written, nobody is notified, and the partition is online
        (``electLeaderForPartition`` swallows the exception).
        """
        known = self.context.leadership.get(partition)
        if known is None or strategy.kind is not StrategyKind.PREFERRED:
            return None
        replicas = self.context.replicas(partition)
        leads = leader_election.leads_as_preferred(replicas, known.leader, self.release)
        return known if leads else None

    def choose(
        self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch, strategy: Strategy
    ) -> Elected | None:
        """The replica that the strategy elects; None if no replica is eligible."""
        context = self.context
        assignment = context.assignment(partition)
        live = context.live_replicas(partition) | {
            member for member in state.isr if context.is_replica_online(member, partition)
        }
        match strategy.kind:
            case StrategyKind.OFFLINE:
                lost = not live.intersection(state.isr)
                unclean = lost and (strategy.unclean or self.unclean_allowed(partition.topic))
                return leader_election.offline(assignment.replicas, state.isr, live, unclean)
            case StrategyKind.REASSIGN:
                return leader_election.reassign(assignment.target, state.isr, live)
            case StrategyKind.PREFERRED:
                return leader_election.preferred(assignment.replicas, state.isr, live)
            case StrategyKind.CONTROLLED_SHUTDOWN:
                going_too = context.live_replicas(partition, shutting_down_too=True)
                return leader_election.controlled_shutdown(
                    assignment.replicas,
                    state.isr,
                    going_too,
                    context.shutting_down,
                    self.release,
                )

    async def _now_online(
        self,
        partition: TopicPartition,
        state: LeaderIsrAndControllerEpoch,
        recipients: Iterable[int],
        is_new: bool,
    ) -> None:
        self.context.leadership[partition] = state
        await self._put_online(partition, state, is_written=True)
        replicas = self.context.replicas(partition)
        self.batch.add_leader_and_isr(recipients, partition, state, replicas, is_new)

    async def _put_online(
        self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch, is_written: bool
    ) -> None:
        before, online = self.context.partition_state(partition), PartitionState.ONLINE
        replicas = self.context.replicas(partition)
        journal = self.context.journal
        await journal.partition_moved(partition, before, online, replicas, state, is_written)
        self.context.put_partition_state(partition, online)

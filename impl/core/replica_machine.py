"""The state machine of replicas (``ReplicaStateMachine``; fact sheet c.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from impl.core.cluster_context import ClusterContext, Replica
from impl.core.journal import ChangeFailure
from impl.core.request_batch import RequestBatch
from impl.core.states import ReplicaState, replica_may_go
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.znodes.states import NO_LEADER
from impl.zookeeper.errors import ZooKeeperError

_State = LeaderIsrAndControllerEpoch


class ReplicaMachine:
    """Changes the states of replicas in a context; its journal receives the failures.

    ``unclean_allowed``: whether a topic's config allows unclean elections, which up to 1.0 decides
    whether the last member of an ISR may leave it.
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
        # Kafka goes by a hash map's order, so that nothing may depend on it; a test may choose.
        self.in_turn: Callable[[Iterable[int]], list[int]] = sorted

    async def _journal_failure(
        self, broker: int, partition: TopicPartition, target: ReplicaState, failure: ChangeFailure
    ) -> None:
        before = self.context.replica_state(Replica(partition, broker))
        await self.context.journal.replica_failed(broker, partition, before, target, failure)

    async def startup(self) -> None:
        """Replicas on live brokers go online; the others become ineligible for deletion.

        Since 2.3 the others then go offline, which takes them out of the ISR in ZooKeeper.
        """
        online, others = [], []
        for partition in self.context.partitions():
            for broker in self.context.replicas(partition):
                replica = Replica(partition, broker)
                if self.context.is_replica_online(broker, partition):
                    self.context.replica_states[replica] = ReplicaState.ONLINE
                    online.append(replica)
                else:
                    self.context.replica_states[replica] = ReplicaState.DELETION_INELIGIBLE
                    others.append(replica)
        await self.handle(online, ReplicaState.ONLINE)
        if self.release.since("2.3"):
            await self.handle(others, ReplicaState.OFFLINE)

    async def handle(self, replicas: Iterable[Replica], target: ReplicaState) -> None:
        """Change the state of replicas, broker by broker, and send the requests.

        An invalid transition is noted and skipped. ControllerMoved goes through.
        """
        wanted = list(replicas)
        await self.context.journal.replicas_change(wanted, target)
        if not wanted:
            return
        self.batch.begin()
        for broker in self.in_turn({replica.broker for replica in wanted}):
            partitions = sorted(one.partition for one in wanted if one.broker == broker)
            await self._move(broker, partitions, target)
        await self.batch.send_requests(self.context.epoch)

    async def _move(
        self, broker: int, partitions: list[TopicPartition], target: ReplicaState
    ) -> None:
        valid = []
        for partition in partitions:
            before = self.context.replica_state(Replica(partition, broker))
            if replica_may_go(before, target, self.release):
                valid.append(partition)
            else:
                text = (
                    f"Replica {broker} for partition {partition} should be in one of the states "
                    f"from which {target.value} may follow. Instead it is in {before.value} state"
                )
                await self._journal_failure(
                    broker, partition, target, ChangeFailure(text, is_invalid=True)
                )
        match target:
            case ReplicaState.NEW:
                await self._become_new(broker, valid)
            case ReplicaState.ONLINE:
                await self._go_online(broker, valid)
            case ReplicaState.OFFLINE:
                await self._go_offline(broker, valid)
            case ReplicaState.DELETION_STARTED:
                for partition in valid:
                    await self._put(broker, partition, target)
                    self.batch.add_stop_replica([broker], partition, delete=True)
            case ReplicaState.NON_EXISTENT:
                for partition in valid:
                    self._leave_assignment(broker, partition)
                    await self._put(broker, partition, target)
                    del self.context.replica_states[Replica(partition, broker)]
            case ReplicaState.DELETION_SUCCESSFUL | ReplicaState.DELETION_INELIGIBLE:
                for partition in valid:
                    await self._put(broker, partition, target)

    async def _become_new(self, broker: int, partitions: list[TopicPartition]) -> None:
        for partition in partitions:
            known = self.context.leadership.get(partition)
            if known is not None:
                if known.leader == broker:
                    text = (
                        f"Replica {broker} for partition {partition} cannot be moved to NewReplica "
                        "state as it is being requested to become leader"
                    )
                    failure = ChangeFailure(text)
                    await self._journal_failure(broker, partition, ReplicaState.NEW, failure)
                    continue
                replicas = self.context.replicas(partition)
                self.batch.add_leader_and_isr([broker], partition, known, replicas, is_new=True)
            await self._put(broker, partition, ReplicaState.NEW)

    async def _go_online(self, broker: int, partitions: list[TopicPartition]) -> None:
        for partition in partitions:
            if self.context.replica_state(Replica(partition, broker)) is ReplicaState.NEW:
                assignment = self.context.assignment(partition)
                if broker not in assignment.replicas:
                    grown = replace(assignment, replicas=(*assignment.replicas, broker))
                    self.context.set_assignment(partition, grown)
            else:
                known = self.context.leadership.get(partition)
                if known is not None:
                    replicas = self.context.replicas(partition)
                    self.batch.add_leader_and_isr([broker], partition, known, replicas, False)
            await self._put(broker, partition, ReplicaState.ONLINE)

    # Offline

    async def _go_offline(self, broker: int, partitions: list[TopicPartition]) -> None:
        for partition in partitions:
            self.batch.add_stop_replica([broker], partition, delete=False)
        led = [one for one in partitions if one in self.context.leadership]
        removed = await self.remove_from_isr(broker, led)
        for partition, state in removed.items():
            if partition.topic not in self.context.queued_for_deletion:
                replicas = self.context.replicas(partition)
                others = [one for one in replicas if one != broker]
                self.batch.add_leader_and_isr(others, partition, state, replicas, is_new=False)
            await self._put(broker, partition, ReplicaState.OFFLINE)
        for partition in partitions:
            if partition in led:
                continue
            if not self.release.since("2.0"):  # so that a topic which is to go is never deleted
                await self._without_state(broker, partition)
                continue
            if self.release.since("2.3"):
                everybody = self.context.live_or_shutting_down
                self.batch.add_update_metadata(everybody, [partition])
            await self._put(broker, partition, ReplicaState.OFFLINE)

    async def remove_from_isr(
        self, broker: int, partitions: list[TopicPartition]
    ) -> dict[TopicPartition, _State]:
        """Remove a broker from ISRs in ZooKeeper; returns the new states, by partition.

        Where it was not a member nothing is written, and the state is as it was read, with this
        controller's epoch. A failure leaves its partition out.
        """
        done: dict[TopicPartition, _State] = {}
        remaining = partitions
        while remaining:
            remaining = await self._remove_once(broker, remaining, done)
        return done

    async def _remove_once(
        self, broker: int, partitions: list[TopicPartition], done: dict[TopicPartition, _State]
    ) -> list[TopicPartition]:
        writes = {}
        for partition in partitions:
            state = await self._read(broker, partition)
            if state is None:
                continue
            if broker in state.isr:
                writes[partition] = self.without(broker, state, partition.topic)
            else:
                await self.context.journal.not_in_isr(broker, partition, state)
                own = replace(state, controller_epoch=self.context.epoch)
                done[partition] = self.context.leadership[partition] = own
        updated = await self.client.update_states(writes, self.context.epoch_version)
        for partition, state in updated.done.items():
            done[partition] = self.context.leadership[partition] = state
            await self.context.journal.isr_removed(broker, partition, state)
        for partition, error in updated.failed.items():
            text = f"the ISR of {partition} could not be written: {error}"
            failure = ChangeFailure(text, refused=type(error).__name__)
            await self._journal_failure(broker, partition, ReplicaState.OFFLINE, failure)
        return updated.retry

    async def _read(self, broker: int, partition: TopicPartition) -> _State | None:
        try:
            state = await self.client.state(partition)
        except ZooKeeperError as error:
            text = f"the state of {partition} could not be read: {error}"
            failure = ChangeFailure(text, refused=type(error).__name__)
            await self._journal_failure(broker, partition, ReplicaState.OFFLINE, failure)
            return None
        if state is None:
            await self._without_state(broker, partition)
        elif state.controller_epoch > self.context.epoch:
            await self.context.journal.newer_controller(partition, state.controller_epoch)
            text = (
                f"the state of {partition} was written by another controller of epoch "
                f"{state.controller_epoch}"
            )
            failure = ChangeFailure(text, newer=state.controller_epoch)
            await self._journal_failure(broker, partition, ReplicaState.OFFLINE, failure)
            return None
        return state

    async def _without_state(self, broker: int, partition: TopicPartition) -> None:
        """It cannot go offline, which is no error where its topic is to be deleted, nor (1.1) where
        its state was not known before."""
        text = f"there is no state of partition {partition}"
        await self._journal_failure(
            broker, partition, ReplicaState.OFFLINE,
            ChangeFailure(
                text, is_missing=True,
                is_silent=partition.topic in self.context.queued_for_deletion
                or (partition not in self.context.leadership and self.release.since("1.1")),
            ),
        )  # fmt: skip

    def without(self, broker: int, state: _State, topic: str) -> _State:
        """The state after a member of the ISR left: nobody leads if it did, and a new epoch.

        The last member stays (up to 1.0 only where unclean elections are not allowed).
        """
        fewer = tuple(member for member in state.isr if member != broker)
        keeps_last = self.release.since("1.1") or not self.unclean_allowed(topic)
        return replace(
            state,
            leader=NO_LEADER if state.leader == broker else state.leader,
            leader_epoch=state.leader_epoch + 1,
            isr=state.isr if len(state.isr) == 1 and keeps_last else fewer,
            controller_epoch=self.context.epoch,
        )

    def _leave_assignment(self, broker: int, partition: TopicPartition) -> None:
        assignment = self.context.assignment(partition)
        smaller = tuple(one for one in assignment.replicas if one != broker)
        self.context.set_assignment(
            partition,
            replace(
                assignment,
                replicas=smaller,
                adding=tuple(one for one in assignment.adding if one != broker),
                removing=tuple(one for one in assignment.removing if one != broker),
            ),
        )

    async def _put(self, broker: int, partition: TopicPartition, state: ReplicaState) -> None:
        replica = Replica(partition, broker)
        before = self.context.replica_state(replica)
        await self.context.journal.replica_moved(broker, partition, before, state)
        self.context.replica_states[replica] = state

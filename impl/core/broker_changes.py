"""Brokers that start, fail, restart, or ask for a controlled shutdown (fact sheet k.1, k.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable

from impl.core.cluster_context import Replica
from impl.core.controller_parts import ControllerParts
from impl.core.partition_machine import CONTROLLED_SHUTDOWN
from impl.core.request_batch import NO_BROKER_EPOCH
from impl.core.states import PartitionState, ReplicaState
from impl.error_codes import UNKNOWN_SERVER_ERROR
from impl.znodes import TopicPartition


class ShutdownRefused(Exception):
    """The controller does not take up a controlled shutdown; ``error`` is Kafka's code."""

    def __init__(self, error: str, why: str) -> None:
        super().__init__(why)
        self.error = error


class BrokerChanges:
    """Handles ``BrokerChange`` and ``ControlledShutdown``; ``resume`` continues reassignments."""

    def __init__(
        self, core: ControllerParts, resume: Callable[[Iterable[int]], Awaitable[None]]
    ) -> None:
        self.core = core
        self.resume = resume

    async def changed(self) -> None:
        """Compare the registered brokers with the known ones: by id, since 2.2 by epoch too.

        A broker that came back before anybody noticed is treated as one that failed and started.
        """
        known = self.core.context.broker_epochs
        registered = await self.core.client.brokers(watch=True)
        epochs = {broker: epoch for broker, (_, epoch) in registered.items()}
        infos = {broker: info for broker, (info, _) in registered.items()}
        await self.core.context.journal.registrations_read(epochs)
        new = sorted(set(epochs) - set(known))
        dead = sorted(set(known) - set(epochs))
        bounced = [
            broker
            for broker in sorted(set(epochs) & set(known))
            if epochs[broker] > known[broker] and self.core.release.since("2.2")
        ]
        await self.core.context.journal.brokers(new, dead, bounced, sorted(epochs))
        if self.core.release.since("2.2"):
            self.core.context.broker_infos |= {one: infos[one] for one in (*new, *bounced)}
            # Channels to the dead are removed first: until it is their turn, nothing goes to them.
            self.core.context.disconnected |= {*dead}
        else:  # liveBrokers is what was read, before anything is done about it
            self._unregister(dead)
            self.core.context.broker_infos |= infos
        if new:
            await self.register(epochs, new)
            await self.started(new)
        if bounced:
            self._unregister(bounced)
            await self.failed(bounced)
            await self.register(epochs, bounced)
            await self.started(bounced)
        if dead:
            self._unregister(dead)
            await self.failed(dead)

    async def modified(self, broker: int) -> None:
        """``BrokerModifications`` (1.1): a registered broker has changed its znode, such as its
        endpoints.

        Changed endpoints are sent to every broker; who came or went is another event's matter.
        """
        context = self.core.context
        is_known = broker in context.broker_epochs
        there = await self.core.client.broker(broker, watch=is_known)
        if there is None or not is_known:
            return
        info, _ = there
        if context.broker_infos[broker].endpoints != info.endpoints:
            before, context.broker_infos[broker] = context.broker_infos[broker], info
            await context.journal.endpoints_changed(broker, before, info)
            await self.core.update_metadata(context.live_or_shutting_down, [])

    async def register(self, now: dict[int, int], brokers: list[int]) -> None:
        """Add brokers to the live ones, with the epochs of their registrations."""
        await self.core.context.journal.live_brokers_added(brokers)
        for broker in brokers:
            self.core.context.broker_epochs[broker] = now[broker]
            self.core.context.disconnected.discard(broker)

    def _unregister(self, brokers: list[int]) -> None:
        for broker in brokers:
            self.core.context.broker_epochs.pop(broker, None)
            self.core.context.disconnected.discard(broker)

    async def started(self, brokers: list[int]) -> None:
        """``onBrokerStartup``."""
        core, context = self.core, self.core.context
        await context.journal.log_line(f"New broker startup callback for {_ids(brokers)}")
        for broker in brokers:
            context.offline_directories.pop(broker, None)
        if core.release.since("2.2"):
            await core.update_metadata(context.live_or_shutting_down - set(brokers), [])
            going = context.queued_for_deletion if core.release.since("2.7") else ()
            known = [one for one in context.partitions() if one.topic not in going]
            await core.update_metadata(brokers, known)
        else:
            await core.update_metadata(context.live_or_shutting_down, [])
        await core.replicas.handle(context.replicas_on(brokers), ReplicaState.ONLINE)
        await core.partitions.trigger_online()
        await self.resume(brokers)
        leaving = {
            replica.partition.topic
            for replica in context.replicas_on(brokers)
            if replica.partition.topic in context.queued_for_deletion
        }
        await core.deletion.resume_for(leaving)

    async def failed(self, brokers: list[int]) -> None:
        """``onBrokerFailure``."""
        context = self.core.context
        await context.journal.log_line(f"Broker failure callback for {_ids(brokers)}")
        for broker in brokers:
            context.offline_directories.pop(broker, None)
            context.shutting_down.discard(broker)
        await self.replicas_offline(context.replicas_on(brokers), brokers)

    async def replicas_offline(self, replicas: list[Replica], dead: Collection[int] = ()) -> None:
        """``onReplicasBecomeOffline``: elect first, then take the replicas out of the ISRs.

        Up to 0.11 (``onBrokerFailure``) a partition counts as leaderless if ``dead`` led it.
        """
        core, context = self.core, self.core.context
        queued = context.queued_for_deletion
        staying = [one for one in replicas if one.partition.topic not in queued]
        leaving = [one for one in replicas if one.partition.topic in queued]
        leaderless = [
            partition
            for partition, known in sorted(context.leadership.items())
            if partition.topic not in queued
            and (
                not context.is_replica_online(known.leader, partition)
                if core.release.since("1.0")
                else known.leader in dead
            )
        ]
        if leaderless:
            await core.partitions.handle(leaderless, PartitionState.OFFLINE)
        await core.partitions.trigger_online()
        await core.replicas.handle(staying, ReplicaState.OFFLINE)
        await core.deletion.replicas_failed(leaving)
        if not leaderless:
            await core.update_metadata(context.live_or_shutting_down, [])

    async def shut_down(self, broker: int, epoch: int = NO_BROKER_EPOCH) -> list[TopicPartition]:
        """Controlled shutdown: move leadership away from the broker, and remove it from ISRs.

        Returns the partitions that it still leads; partitions of one replica do not count.
        ``epoch`` is that of the registration that asks (2.2), -1 if it names none. ShutdownRefused:
        an unknown broker that names an epoch meets a lookup that fails (``doControlledShutdown``).
        """
        core, context = self.core, self.core.context
        known = context.broker_epochs.get(broker)
        if core.release.since("2.2") and epoch != NO_BROKER_EPOCH:
            if known is None:
                raise ShutdownRefused(UNKNOWN_SERVER_ERROR, f"key not found: {broker}")
            if epoch < known:
                why = (
                    f"Received controlled shutdown request from an old broker epoch {epoch} for "
                    f"broker {broker}. Current broker epoch is {known}."
                )
                await context.journal.log_line(why)
                raise ShutdownRefused("STALE_BROKER_EPOCH", why)
        await context.journal.log_line(f"Shutting down broker {broker}")
        if known is None:
            raise ShutdownRefused("BROKER_NOT_AVAILABLE", f"Broker id {broker} does not exist.")
        await context.journal.shutdown_begun(broker)
        context.shutting_down.add(broker)
        hosted = [
            one.partition
            for one in context.replicas_on([broker])
            if len(context.replicas(one.partition)) > 1 and one.partition in context.leadership
        ]
        if core.release.since("2.1"):
            hosted = [one for one in hosted if one.topic not in context.queued_for_deletion]
        led = [one for one in hosted if context.leadership[one].leader == broker]
        followed = [one for one in hosted if one not in led]
        await self.move_leaders(led)
        await self.stop_followers(broker, followed)
        remaining = [one for one in hosted if context.leadership[one].leader == broker]
        await context.journal.shut_down(broker, remaining)
        return remaining

    async def move_leaders(self, led: list[TopicPartition]) -> None:
        """Move leadership of the broker's partitions to other ISR members, where there are any."""
        await self.core.partitions.handle(led, PartitionState.ONLINE, CONTROLLED_SHUTDOWN)

    async def stop_followers(self, broker: int, followed: list[TopicPartition]) -> None:
        """Send the broker StopReplica in a batch of its own, then take it out of the ISRs."""
        core = self.core
        core.batch.begin()
        for partition in followed:
            core.batch.add_stop_replica([broker], partition, delete=False)
        await core.batch.send_requests(core.context.epoch)
        offline = [Replica(partition, broker) for partition in followed]
        await core.replicas.handle(offline, ReplicaState.OFFLINE)


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))

"""The controller of a whole cluster: one method per event (``KafkaController``; fact sheet b, k).

Sans I/O: it speaks to ZooKeeper through a port and hands requests to ``send``; whoever drives it
decides when an event is handled. What a notification means is read again, so that several may
collapse into one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from impl.core import imbalance
from impl.core.broker_changes import BrokerChanges
from impl.core.cluster_context import ContextMemory, Replica
from impl.core.controller_parts import ControllerConfig, ControllerParts, StateChangeFailed
from impl.core.deletion import MOVING
from impl.core.journal import ControllerJournal
from impl.core.partition_machine import PREFERRED, Failed
from impl.core.reassigner import Reassigner
from impl.core.request_batch import BatchNotSent, Send
from impl.core.requests import LeaderAndIsr, Request, StopReplica
from impl.core.states import PartitionState, ReplicaState
from impl.releases import Release
from impl.znodes import TopicPartition, paths
from impl.znodes.client import EpochNotCounted
from impl.znodes.retrying_client import ControllerMoved
from impl.zookeeper.errors import SessionExpired
from impl.zookeeper.port import Port
from impl.zookeeper.znode import EventType, WatchEvent


@dataclass(frozen=True, slots=True)
class ControllerMemory:
    """What a controller knows between two events; see ``EventController.memory``."""

    active: bool
    context: ContextMemory
    targets: dict[TopicPartition, tuple[int, ...]]
    looks_again: bool


class EventController:
    """One broker's controller; ``active`` while it believes that it is the controller."""

    def __init__(
        self,
        broker: int,
        port: Port,
        release: Release,
        send: Send,
        config: ControllerConfig | None = None,
        journal: ControllerJournal | None = None,
        protocol: Release | None = None,
    ) -> None:
        self.broker = broker
        self.release = release
        self.core = ControllerParts(broker, port, release, send, config, journal, protocol)
        self.journal = self.core.context.journal
        self.brokers = BrokerChanges(self.core, self.reassignments_may_go_on)
        self.reassigner = Reassigner(self.core)
        self.active = False

    # Controllership

    async def elect(self, now_ms: int) -> None:
        """Try to become controller (``elect``)."""
        holder = await self.core.client.controller(watch=True)
        if holder is not None:
            await self.journal.holds(holder)
            return
        try:
            registration = await self.core.client.register_controller(self.broker, now_ms)
        except EpochNotCounted as error:
            await self.journal.election_failed(f"{type(error).__name__}: {error}")
            await self.trigger_move()
            return
        except ControllerMoved as moved:
            await self.journal.lost_the_race(str(moved))
            return
        except SessionExpired as error:
            await self.journal.election_failed(f"{type(error).__name__}: {error}")
            return
        self.core.context.epoch, self.core.context.epoch_version = (
            registration.epoch,
            registration.epoch_version,
        )
        self.journal.epoch = registration.epoch
        await self.journal.elected(registration.epoch, registration.epoch_version)
        self.active = True
        try:
            await self.guarded(self.fail_over)  # the answer may be late, and the session over
        except Exception as error:  # half initialised it is of no use: another broker may try
            await self.journal.election_failed(f"{type(error).__name__}: {error}")
            await self.trigger_move()

    async def fail_over(self) -> None:
        """Controller failover, in Kafka's order (b.5)."""
        core, context = self.core, self.core.context
        await self.journal.step("Registering handlers")
        await core.client.controller(watch=True)  # its own creation has fired the watch of before
        await self._await(paths.PREFERRED_ELECTION)
        await self.journal.step("Deleting isr change notifications")
        await self._drop_old_notifications()
        await self.journal.step("Initializing controller context")
        await self._initialize_context()
        await self.journal.step("Fetching topic deletions in progress")
        queued = await core.client.deletions(watch=True)
        found: Mapping[TopicPartition, tuple[int, ...]] = {}
        if not self.reassigner.recorded:
            await self._await(paths.REASSIGN_PARTITIONS)
            found = {**self.reassigner.targets, **await core.client.reassignments()}
        await core.deletion.init(queued, self._must_wait(queued, found))
        if self.release.since("0.10.2"):  # brokers follow nobody whom they do not know (KAFKA-4443)
            await self._tell_all()
        await core.replicas.startup()
        await core.partitions.startup()
        await self.journal.ready(context.epoch)
        if self.reassigner.recorded:  # what is asked for now comes before what was recorded
            await self.reassignment_requested()
        else:
            await self.reassigner.begin_all(found)
        for partition in context.being_reassigned():
            if partition not in self.reassigner.targets:
                await self.reassigner.attempt(partition, partial(self.reassigner.go_on, partition))
        await core.deletion.resume()
        await self.preferred_election(at_failover=True)
        if not self.release.since("0.10.2"):
            await self._tell_all()

    async def _tell_all(self) -> None:
        await self.journal.step("Sending update metadata request")
        await self.core.update_metadata(self.core.context.live_or_shutting_down, [])

    async def _drop_old_notifications(self) -> None:
        client, version = self.core.client, self.core.context.epoch_version
        for parent in (paths.LOG_DIR_EVENTS, paths.ISR_CHANGES):
            if parent == paths.ISR_CHANGES or self.release.since("1.0"):
                await client.delete_notifications(
                    parent, await client.names(parent, watch=True), version
                )

    async def _initialize_context(self) -> None:
        core, context = self.core, self.core.context
        registered = await core.client.brokers(watch=True)
        context.broker_epochs = {broker: epoch for broker, (_, epoch) in registered.items()}
        context.broker_infos = {broker: info for broker, (info, _) in registered.items()}
        await self.journal.registrations_read(context.broker_epochs)
        for topic in await core.client.topics(watch=True):
            await self._read_topic(topic)
        await core.read_states(context.partitions())

    async def _read_topic(self, topic: str) -> list[TopicPartition]:
        """Read a topic's assignment; returns the partitions that were unknown."""
        registered = await self.core.client.topic(topic, watch=True)
        known = self.core.context.assignments.get(topic, {})
        fresh = []
        if registered is not None and registered.topic_id is not None:
            self.core.context.topic_ids[topic] = registered.topic_id
        for number, assignment in (registered.partitions if registered else {}).items():
            if number not in known:
                partition = TopicPartition(topic, number)
                fresh.append(partition)
                self.core.context.set_assignment(partition, assignment)
        return fresh

    def _must_wait(self, queued: Iterable[str], reassigned: Iterable[TopicPartition]) -> set[str]:
        context = self.core.context
        dead = {
            topic
            for topic in queued
            for replica in context.replicas_of(topic)
            if not context.is_replica_online(replica.broker, replica.partition)
        }
        moving = {one.topic for one in (*reassigned, *context.being_reassigned())}
        return dead | moving

    async def resign(self) -> None:
        """Stop being controller: its memory is cleared, epoch and version are 0 again."""
        if self.active:
            await self.journal.resigned()
        self.active = False
        self.core.batch.clear()
        self.core.context.reset()
        self.reassigner.forget()

    async def guarded(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do an event's work; the controller resigns at a fence that refuses, or a lost session.

        A batch that was left unsent is an error of the controller itself: it lets another one try.
        An event that fails otherwise is logged, and the next one comes. What an event has put into
        the queue is the next event.
        """
        if not self.active:
            return
        try:
            await work()
            if self.reassigner.looks_again:
                self.reassigner.looks_again = False
                await self.guarded(self.reassignment_requested)
        except ControllerMoved as moved:
            await self.journal.moved(getattr(work, "__name__", "event"), str(moved))
            await self.resign()
        except SessionExpired as ended:  # then Expire comes before all other events, and resigns
            if self.release.since("1.1"):  # before, the client waited for its next session
                await self.journal.event_failed(getattr(work, "__name__", "event"), str(ended))
            await self.resign()
        except StateChangeFailed as failed:
            await self.journal.event_failed(getattr(work, "__name__", "event"), str(failed))
        except BatchNotSent:
            await self.trigger_move()

    async def trigger_move(self) -> None:
        """``triggerControllerMove``: resign, and remove ``/controller`` so that brokers elect."""
        version = self.core.context.epoch_version
        await self.resign()
        with contextlib.suppress(ControllerMoved):  # somebody else has it already
            await self.core.client.delete_controller(version)

    async def controller_changed(self, now_ms: int) -> None:
        """``/controller`` was created, deleted or changed: resign if it names another broker, take
        part in an election if it does not exist."""
        if await self.maybe_resign() is None:
            await self.elect(now_ms)

    async def maybe_resign(self) -> int | None:
        """``maybeResign``: resign if ``/controller`` names another broker; returns the broker that
        it names."""
        holder = await self.core.client.controller(watch=True)
        if self.active and holder != self.broker:
            await self.resign()
        return holder

    # Its memory, as a value

    def memory(self) -> ControllerMemory:
        """Whether it is active and all that it knows, between two events."""
        return ControllerMemory(
            self.active,
            self.core.context.memory(),
            dict(self.reassigner.targets),
            self.reassigner.looks_again,
        )

    def remember(self, memory: ControllerMemory) -> None:
        """Restore a memory; a batch that an event had collected and not sent is dropped."""
        self.active = memory.active
        self.core.context.remember(memory.context)
        self.reassigner.targets = dict(memory.targets)
        self.reassigner.looks_again = memory.looks_again
        self.core.batch.clear()

    # Watch events of ZooKeeper

    async def handle_watch_event(self, event: WatchEvent, now_ms: int) -> None:
        """Handle one notification."""
        path = event.path
        if path == paths.CONTROLLER:
            await self.controller_changed(now_ms)
        elif path == paths.BROKER_IDS:
            await self.guarded(self.brokers.changed)
        elif path.startswith(f"{paths.BROKER_IDS}/"):
            if event.type is EventType.DATA_CHANGED:
                broker = int(path.rpartition("/")[2])
                await self.guarded(lambda: self.brokers.modified(broker))
        elif path == paths.TOPICS:
            await self.guarded(self.topics_changed)
        elif path == paths.DELETE_TOPICS:
            await self.guarded(self.deletion_requested)
        elif path == paths.REASSIGN_PARTITIONS:
            if event.type is not EventType.DATA_CHANGED or not self.release.since("1.1"):
                await self.guarded(self.reassignment_requested)
        elif path == paths.PREFERRED_ELECTION:
            if event.type is not EventType.DATA_CHANGED or not self.release.since("1.1"):
                await self.guarded(self.preferred_election)
        elif path == paths.ISR_CHANGES:
            await self.guarded(self.isrs_changed)
        elif path == paths.LOG_DIR_EVENTS:
            await self.guarded(self.directories_failed)
        elif path.endswith("/state"):
            await self.guarded(lambda: self.state_changed(path))
        elif path.startswith(f"{paths.TOPICS}/") and event.type is EventType.DATA_CHANGED:
            topic = path.removeprefix(f"{paths.TOPICS}/")  # that it goes, its parent tells
            await self.guarded(lambda: self.partitions_changed(topic))

    async def topics_changed(self) -> None:
        """``TopicChange``: create the partitions of new topics, and forget topics that were
        deleted."""
        registered = await self.core.client.topics(watch=True)
        gone = [one for one in self.core.context.assignments if one not in registered]
        for topic in gone:
            self.core.context.forget_topic(topic)
        new = [one for one in registered if one not in self.core.context.assignments]
        fresh = [partition for topic in new for partition in await self._read_topic(topic)]
        assigned = {one: self.core.context.replicas(one) for one in fresh}
        await self.journal.topics(new, gone, assigned)
        await self.create_partitions(fresh)

    async def partitions_changed(self, topic: str) -> None:
        """``PartitionModifications``: partitions that were added to a topic.

        Of a topic that is to be deleted they are not created, and since 2.0 taken back.
        """
        if topic not in self.core.context.queued_for_deletion:
            fresh = await self._read_topic(topic)
            if fresh:
                await self.journal.adding({one: self.core.context.assignment(one) for one in fresh})
            await self.create_partitions(fresh)
            return
        client, kept = self.core.client, self.core.context.assignments.get(topic, {})
        registered = await client.topic(topic, watch=True)
        if self.release.since("2.0") and registered and set(registered.partitions) - set(kept):
            version = self.core.context.epoch_version
            await client.set_topic(topic, kept, version, registered.topic_id)

    async def create_partitions(self, partitions: list[TopicPartition]) -> None:
        """``onNewPartitionCreation``: to New, replicas to New, then both online."""
        if not partitions:
            return
        core = self.core
        await self.journal.creates(sorted(partitions))
        topics = sorted({one.topic for one in partitions})
        wanted = set(partitions)
        members = [
            one
            for topic in topics
            for one in core.context.replicas_of(topic)
            if one.partition in wanted
        ]
        await core.partitions.handle(partitions, PartitionState.NEW)
        await core.replicas.handle(members, ReplicaState.NEW)
        await core.partitions.handle(partitions, PartitionState.ONLINE)
        await core.replicas.handle(members, ReplicaState.ONLINE)

    async def deletion_requested(self) -> None:
        """``TopicDeletion``: remove the requests for unknown topics, and queue the others.

        With deletion disabled they are removed as well; up to 0.10.1 nobody listened then.
        """
        core = self.core
        if not core.deletion.enabled and not self.release.since("0.10.2"):
            return
        requested = set(await core.client.deletions(watch=True))
        unknown = requested - set(core.context.assignments)
        await core.deletion.drop_requests(unknown)
        known = requested - unknown
        if not core.deletion.enabled:
            await self.journal.deletion_disabled(sorted(known), begins=False)
            await core.deletion.drop_requests(known)
        elif known:
            named = ",".join(sorted(known))
            await self.journal.log_line(f"Starting topic deletion for topics {named}")
            moving = {one.topic for one in self.reassigner.in_progress()}
            await core.deletion.mark_ineligible(moving, MOVING)
            await core.deletion.enqueue(known)

    async def isrs_changed(self) -> None:
        """``IsrChangeNotification``: read the states, tell everybody, remove the notifications.

        Leaders with an older inter.broker.protocol.version announce so what they changed: it may
        complete a move (KAFKA-10521, 2.7).
        """
        found = await self.core.client.isr_changes(watch=True)
        partitions = sorted({one for group in found.values() for one in group})
        if partitions:
            await self.core.read_states(partitions)
            await self.core.update_metadata_for(partitions)
            if self.release.since("2.7"):
                await self.isrs_altered(partitions)
        await self.core.client.delete_notifications(
            paths.ISR_CHANGES, found, self.core.context.epoch_version
        )

    async def directories_failed(self) -> None:
        """``LogDirEventNotification`` (1.0): find the offline replicas by the brokers' responses.

        Every replica on the brokers that are named is sent its state once more.
        """
        client = self.core.client
        found = await client.log_dir_events(watch=True)
        brokers = sorted(set(found.values()))  # one of them may have died since
        named = ",".join(map(str, brokers))
        await self.journal.log_line(f"Handling log directory failure for brokers {named}")
        await self.core.replicas.handle(self.core.context.replicas_on(brokers), ReplicaState.ONLINE)
        await client.delete_notifications(
            paths.LOG_DIR_EVENTS, found, self.core.context.epoch_version
        )

    async def state_changed(self, path: str) -> None:
        """``PartitionReassignmentIsrChange``: the state of a partition changed that is being
        reassigned."""
        steps = self.reassigner
        for partition in [one for one in steps.in_progress() if paths.state(*one) == path]:
            await self._await(path)
            if await steps.caught_up(partition, self._target(partition), is_news=True):
                await steps.go_on(partition)

    async def isrs_altered(self, partitions: Iterable[TopicPartition]) -> None:
        """Leaders have other ISRs: of partitions that move, finish what has caught up."""
        for partition in sorted(self.reassigner.in_progress().intersection(partitions)):
            if await self.reassigner.caught_up(partition, self._target(partition)):
                await self.reassigner.go_on(partition)

    async def reassignments_may_go_on(self, brokers: Iterable[int]) -> None:
        """Brokers started: reassignments that waited for one of them begin again."""
        came = set(brokers)
        for partition in sorted(self.reassigner.in_progress()):
            if came & set(self._target(partition)):
                await self.reassigner.go_on(partition)

    def _target(self, partition: TopicPartition) -> tuple[int, ...]:
        if self.reassigner.recorded:  # nothing, where the topic is gone
            return self.core.context.assignment(partition).target
        return self.reassigner.targets[partition]

    async def reassignment_requested(self) -> None:
        """``/admin/reassign_partitions`` was created, or deleted and perhaps created again."""
        if await self._await(paths.REASSIGN_PARTITIONS):
            await self.reassigner.requested()

    async def _await(self, path: str) -> bool:
        """Leave a watch for a znode that comes and goes; True if it is there now."""
        port = self.core.client.port
        return await self.core.client.retry(lambda: port.exists(path, watch=True)) is not None

    # What brokers answer

    async def stop_replica_answered(
        self, broker: int, request: StopReplica, error: str, errors: Mapping[TopicPartition, str]
    ) -> None:
        """``TopicDeletionStopReplicaResponseReceived``: which replicas were deleted, and which were
        not.

        ``error`` is that of the whole request, ``errors`` are those of partitions. An answer to a
        request of an earlier controllership is ignored.
        """
        if not self._is_of_now(request):
            return
        asked = sorted(request.raises_event)
        failed = [one for one in asked if error != "NONE" or errors.get(one, "NONE") != "NONE"]
        done = [one for one in asked if one not in failed]

        async def replicas_answered() -> None:
            deletion = self.core.deletion
            if failed:
                await deletion.replicas_failed([Replica(one, broker) for one in failed])
            if done:
                await deletion.replicas_deleted([Replica(one, broker) for one in done])

        await self.guarded(replicas_answered)

    async def leader_and_isr_answered(
        self, broker: int, request: LeaderAndIsr, error: str, errors: Mapping[TopicPartition, str]
    ) -> None:
        """``LeaderAndIsrResponseReceived``: which replicas are on failed log directories (1.0)."""
        if not self._is_of_now(request) or error != "NONE" or not self.release.since("1.0"):
            return
        offline = {one for one, code in errors.items() if code == "KAFKA_STORAGE_ERROR"}
        online = {one for one, code in errors.items() if code == "NONE"}
        directories = self.core.context.offline_directories
        known = directories.get(broker, set())
        fresh, now = offline - known, (known - online) | offline
        if now:
            directories[broker] = now
        else:
            directories.pop(broker, None)
        if fresh:
            await self.journal.marked_offline(broker, sorted(fresh))
            gone = [Replica(one, broker) for one in sorted(fresh)]
            await self.guarded(lambda: self.brokers.replicas_offline(gone))

    def _is_of_now(self, request: Request) -> bool:
        return self.active and self.core.context.epoch == request.controller_epoch

    # Preferred leaders

    async def preferred_election(self, at_failover: bool = False) -> None:
        """``PreferredReplicaLeaderElection``: elect as the znode requests, then delete the znode.

        Its end is reported as well, so that one which comes right after it is not missed. Who leads
        already is left alone since 2.2, and by a new controller (up to 1.0: see the strategy). A
        new controller deletes the znode whether it has seen it or not: since 2.1 that is where one
        that was deposed meanwhile finds it out (``onControllerFailover`` calls
        ``onPreferredReplicaElection`` in any case, whose last act is the deletion).
        """
        there = await self._await(paths.PREFERRED_ELECTION)
        if there:
            asked = await self.core.client.preferred_election() or []
            if at_failover or self.release.since("2.2"):
                asked = [one for one in asked if not self._leads_as_preferred(one)]
            await self.elect_preferred(asked)
        elif at_failover:  # of nothing, which is logged all the same
            await self.journal.leaders_wanted("PREFERRED", (), "ZkTriggered")
        if there or at_failover:
            await self.core.client.delete_preferred_election(self.core.context.epoch_version)

    def _leads_as_preferred(self, partition: TopicPartition) -> bool:
        context = self.core.context
        known = context.leadership.get(partition)
        return known is not None and context.replicas(partition)[:1] == (known.leader,)

    async def elect_preferred(
        self, partitions: Iterable[TopicPartition], trigger: str = "ZkTriggered"
    ) -> Failed:
        """Elect the preferred replicas of known partitions whose topics are not to be deleted."""
        context = self.core.context
        known = [
            one
            for one in partitions
            if context.replicas(one) and one.topic not in context.queued_for_deletion
        ]
        await self.journal.leaders_wanted("PREFERRED", known, trigger)
        failed = await self.core.partitions.handle(known, PartitionState.ONLINE, PREFERRED)
        for one in known:
            if one in context.leadership:
                await self.journal.preferred_wanted(
                    one, context.replicas(one)[0], context.leadership[one].leader
                )
        return failed

    async def rebalance(self) -> None:
        """``checkAndTriggerAutoLeaderRebalance``; up to 1.1 one partition after the other."""
        due = imbalance.candidates(
            self.core.context,
            self.core.config.imbalance_percentage,
            self.reassigner.in_progress(),
            self.release,
        )
        for partitions in filter(None, due.values()):
            together = [partitions] if self.release.since("2.0") else [[one] for one in partitions]
            for group in together:
                await self.elect_preferred(group, "AutoTriggered")

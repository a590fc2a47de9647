"""Writes Kafka's log lines about a broker's replicas, by release, from the core's events.

server.log and state-change.log; the fact sheet, section m.
"""

from __future__ import annotations

from impl.core.replica_events import (
    BecameLeader,
    BecomeLeaderOrFollowerBegun,
    BecomeLeaderOrFollowerCompleted,
    BecomeLeaderOrFollowerSkipped,
    IsrExpanding,
    IsrRequestRefused,
    IsrShrinking,
    IsrUpdated,
    IsrUpdateFailed,
    IsrUpdateRefused,
    LeaderAndIsrIgnored,
    LeaderAndIsrReceived,
    LeaderCached,
    LeaderForgotten,
    LeaderUnavailable,
    LogCreated,
    LogDeleted,
    LogFailed,
    LogTruncating,
    ReplicaEvent,
    ReplicaStopped,
    ReplicaStopping,
    RequestRefused,
    Sender,
)
from impl.log import LogRemoval, StorageError
from impl.releases import Release
from impl.server.log4j_files import Log4jFiles
from impl.server.state_texts import ids, metadata, received_state_text, short
from impl.znodes import TopicPartition

_LOG_MANAGER = "kafka.log.LogManager"
_FAILURES = "kafka.server.LogDirFailureChannel"


class ReplicaLines:
    """Writes a broker's events to its files; an observer of its replicas."""

    def __init__(self, files: Log4jFiles) -> None:
        self.files = files
        self.release = files.release

    def __call__(self, event: ReplicaEvent) -> None:
        match event:
            case BecameLeader():
                self._became_leader(event)
            case IsrExpanding() | IsrShrinking():
                self._isr_changing(event)
            case IsrUpdated() | IsrUpdateRefused() | IsrUpdateFailed() | IsrRequestRefused():
                self._isr_changed(event)
            case LeaderAndIsrReceived() | LeaderAndIsrIgnored() | LeaderUnavailable():
                self._leader_and_isr(event)
            case BecomeLeaderOrFollowerBegun() | BecomeLeaderOrFollowerCompleted():
                self._transition(event)
            case BecomeLeaderOrFollowerSkipped():
                self._skipped(event)
            case RequestRefused():
                self._refused(event)
            case ReplicaStopping() | ReplicaStopped():
                self._stopped(event)
            case LeaderCached() | LeaderForgotten():
                self._cached(event)
            case LogCreated() | LogDeleted() | LogFailed():
                self._log(event)

    def _name(self, partition: TopicPartition) -> str:
        return self.files.name(partition)

    def _handled(self, partition: TopicPartition) -> str:
        """A partition as lines of handled requests name it: ``t-0`` since 0.10.2."""
        return str(partition) if self.release.since("0.10.2") else self._name(partition)

    # A leader and its ISR

    def _became_leader(self, event: BecameLeader) -> None:
        name, epoch, previous = event.partition, event.leader_epoch, event.previous_epoch
        if self.release.since("2.4"):
            text = (
                f"{name} starts at leader epoch {epoch} from offset {event.start} with high "
                f"watermark {event.high_watermark}. Previous leader epoch was {previous}."
            )
        elif self.release.since("0.11"):
            text = (
                f"{name} starts at Leader Epoch {epoch} from offset {event.start}. Previous Leader "
                f"Epoch was: {previous}"
            )
        else:
            return
        self.files.partition(name, text)

    def _isr_changing(self, event: IsrExpanding | IsrShrinking) -> None:
        if isinstance(event, IsrExpanding) and event.by_request:
            return
        verb = "Expanding" if isinstance(event, IsrExpanding) else "Shrinking"
        old = f" for partition {self._name(event.partition)}"
        where = "" if self.release.since("0.11") else old
        text = f"{verb} ISR{where} from {ids(event.isr)} to {ids(event.wanted)}"
        if isinstance(event, IsrShrinking) and self.release.since("2.2"):
            late = " ".join(f"(brokerId: {one}, endOffset: {end})" for one, end in event.late)
            text += (
                f". Leader: (highWatermark: {event.high_watermark}, endOffset: {event.log_end}). "
                f"Out of sync replicas: {late}."
            )
        self.files.partition(event.partition, text)

    def _isr_changed(
        self, event: IsrUpdated | IsrUpdateRefused | IsrUpdateFailed | IsrRequestRefused
    ) -> None:
        level = "INFO"
        match event:
            case IsrUpdated(by_request=True):
                text = f"ISR updated from AlterIsr to {ids(event.isr)} and version updated to "
                text += f"[{event.zk_version}]"
            case IsrUpdated():
                text = f"ISR updated to [{ids(event.isr)}] and zkVersion updated to "
                text += f"[{event.zk_version}]"
                level = "INFO" if self.release.since("2.4") else "TRACE"
            case IsrUpdateRefused():
                brackets = not self.release.since("2.4")
                shown = f"[{event.zk_version}]" if brackets else str(event.zk_version)
                text = f"Cached zkVersion {shown} not equal to that in zookeeper, skip updating ISR"
            case IsrUpdateFailed():  # Kafka's partitions let it pass, and its scheduler logs it
                text = "Uncaught exception in scheduled task 'isr-expiration'"
                logger = "kafka.utils.KafkaScheduler"
                self.files.line("server.log", "ERROR", text, logger, thrown=event.error)
                return
            case IsrRequestRefused():
                text, level = self._isr_refused(event), "DEBUG" if event.gives_up else "WARN"
        self.files.partition(event.partition, text, level)

    def _isr_refused(self, event: IsrRequestRefused) -> str:
        """What the controller has not written of an AlterIsr, as 2.7 and 2.8 say it."""
        who = "Failed" if self.release.since("2.8") else "Controller failed"
        zk = "" if self.release.since("2.8") else " zk"
        why = {
            "UNKNOWN_TOPIC_OR_PARTITION": "since it doesn't know about this topic or partition",
            "FENCED_LEADER_EPOCH": "since we sent an old leader epoch",
            "INVALID_UPDATE_VERSION": f"due to invalid{zk} version",
        }.get(str(event.error), f"due to unexpected {event.error}")
        ends = "Giving up" if event.gives_up else "Retrying"
        return f"{who} to update ISR to {ids(event.isr)} {why}. {ends}."

    # Requests of controllers

    def _refused(self, event: RequestRefused) -> None:
        by = event.sender
        if event.kind == "UpdateMetadata":
            text = (
                f"Received update metadata request with correlation id {by.correlation} from an "
                f"old controller {by.controller} with epoch {by.epoch}. Latest known controller "
                f"epoch is {event.known}"
            )
        else:
            text = (
                f"Ignoring {event.kind} request from controller {by.controller} with correlation "
                f"id {by.correlation} since its controller epoch {by.epoch} is old. Latest known "
                f"controller epoch is {event.known}"
            )
        self.files.change(text, "WARN")

    def _leader_and_isr(
        self, event: LeaderAndIsrReceived | LeaderAndIsrIgnored | LeaderUnavailable
    ) -> None:
        match event:
            case LeaderAndIsrReceived(partition, entry, by):
                shown = received_state_text(partition, entry, self.release)
                named = f" for partition {self._name(partition)}"
                named = "" if self.release.since("2.4") else named
                self.files.change(
                    f"Received LeaderAndIsr request {shown} correlation id {by.correlation} from "
                    f"controller {by.controller} epoch {by.epoch}{named}"
                )
            case LeaderAndIsrIgnored():
                self._ignored(event)
            case LeaderUnavailable(partition, entry, by):
                last = entry.state.controller_epoch
                newer = self.release.since("2.0")
                since = f" (last update controller epoch {last})" if newer else ""
                shown = str(by.epoch if newer else last)
                self.files.change(
                    f"Received LeaderAndIsrRequest with correlation id {by.correlation} from "
                    f"controller {by.controller} epoch {shown} for partition "
                    f"{self._handled(partition)}{since} but cannot become follower since the new "
                    f"leader {entry.state.leader} is unavailable.",
                    "ERROR",
                )

    def _ignored(self, event: LeaderAndIsrIgnored) -> None:
        by, current, asked = event.sender, event.current, event.order.state.leader_epoch
        head = (
            f"Ignoring LeaderAndIsr request from controller {by.controller} with correlation id "
            f"{by.correlation} epoch {by.epoch} for partition {self._name(event.partition)} "
        )
        if event.error == "STALE_CONTROLLER_EPOCH":
            why = f"since its associated leader epoch {asked} "
            if not self.release.since("2.1"):
                why += f"is not higher than the current leader epoch {current}"
            elif asked == current:
                why += "matches the current leader epoch"
            else:
                why += f"is smaller than the current leader epoch {current}"
            same = asked == current and self.release.since("2.1")
            self.files.change(head + why, "INFO" if same else "WARN")
        elif event.error == "KAFKA_STORAGE_ERROR":
            why = "as the local replica for the partition is in an offline log directory"
            self.files.change(head + why, "WARN")
        elif event.error == "UNKNOWN_TOPIC_OR_PARTITION":
            listed = ",".join(map(str, event.order.replicas))
            self.files.change(f"{head}as itself is not in assigned replica list {listed}", "WARN")

    def _transition(
        self, event: BecomeLeaderOrFollowerBegun | BecomeLeaderOrFollowerCompleted
    ) -> None:
        begins, by = isinstance(event, BecomeLeaderOrFollowerBegun), event.sender
        verb, what = ("Handling", "starting") if begins else ("Completed", "for")
        role = "leader" if event.leader is None else "follower"
        named = event.leader is not None and self.release.since("2.0")
        with_leader = f" with leader {event.leader}" if named else ""
        self.files.change(
            f"{verb} LeaderAndIsr request correlationId {by.correlation} from controller "
            f"{by.controller} epoch {by.epoch} {what} the become-{role} transition for partition "
            f"{self._handled(event.partition)}{with_leader}"
        )

    def _skipped(self, event: BecomeLeaderOrFollowerSkipped) -> None:
        by, state, role = event.sender, event.order.state, "leader" if event.leads else "follower"
        last = f" (last update controller epoch {state.controller_epoch})"
        name = self._handled(event.partition)
        if event.error:
            self._not_taken(event, f"for partition {name}{last}")
            return
        newer = self.release.since("1.0")
        why = "it is already the leader for the partition."
        if not event.leads:
            why = f"the new leader {state.leader} is the same as the old leader"
        epoch = by.epoch if newer or event.leads else state.controller_epoch
        self.files.change(
            f"Skipped the become-{role} state change after marking its partition as {role} with "
            f"correlation id {by.correlation} from controller {by.controller} epoch {epoch} "
            f"for partition {name}{last if newer else ''} since {why}",
            "INFO",
        )

    def _not_taken(self, event: BecomeLeaderOrFollowerSkipped, about: str) -> None:
        """A log that cannot be used; up to 0.11 it ended the process."""
        by, entry, role = event.sender, event.order, "leader" if event.leads else "follower"
        led = not event.leads and self.release.since("2.0")
        with_leader = f" with leader {entry.state.leader}" if led else ""
        thrown = f"org.apache.kafka.common.errors.KafkaStorageException: {event.error}"
        self.files.change(
            f"Skipped the become-{role} state change with correlation id {by.correlation} from "
            f"controller {by.controller} epoch {by.epoch} {about}{with_leader} since the replica "
            f"for the partition is offline due to disk error {thrown}",
            "ERROR",
        )
        newer, partition = self.release.since("2.4"), event.partition
        replicas, isr = ("Replicas", "ISR") if newer else ("AssignedReplicas", "InSyncReplicas")
        leader = "None" if event.before is None else f"Some({event.before})"
        shown = (
            f"Topic: {partition.topic}; Partition: {partition.partition}; Leader: {leader}; "
            f"{replicas}: {','.join(map(str, entry.replicas))}; {isr}: {ids(entry.state.isr)}"
        )
        where = f"Some({event.directory.rpartition('/')[0]})" if event.directory else "None"
        text = f"Error while making broker the {role} for partition {shown}{with_leader} in dir "
        head = f"[ReplicaManager broker={self.files.broker}] "
        logger = "kafka.server.ReplicaManager"
        self.files.line("server.log", "ERROR", f"{head}{text}{where}", logger, thrown)

    def _stopped(self, event: ReplicaStopping | ReplicaStopped) -> None:
        delete = "true" if event.delete else "false"
        verb = "Handling" if isinstance(event, ReplicaStopping) else "Finished handling"
        name = self._handled(event.partition)
        self.files.change(f"{verb} stop replica (delete={delete}) for partition {name}")

    def _cached(self, event: LeaderCached | LeaderForgotten) -> None:
        name, words = str(event.partition), _in_response(event.sender)
        if isinstance(event, LeaderForgotten):
            self.files.change(f"Deleted partition {name} from metadata cache {words}")
            return
        cached = event.metadata
        if self.files.old:
            listed = ",".join(map(str, cached.replicas))
            shown = (
                f"(LeaderAndIsrInfo:{short(cached.state)},ReplicationFactor:{len(cached.replicas)}),"
                f"AllReplicas:{listed})"
            )
        else:
            shown = metadata(event.partition, cached, self.release)
        self.files.change(f"Cached leader info {shown} for partition {name} {words}")

    # Logs

    def _log(self, event: LogCreated | LogDeleted | LogFailed) -> None:
        partition = event.partition
        match event:
            case LogCreated():
                named, folder = str(partition), event.directory
                if not self.release.since("1.1"):
                    named = f"[{partition.topic},{partition.partition}]"
                if not self.release.since("2.4"):
                    folder = folder.rpartition("/")[0]
                stop = "" if self.release.since("2.8") else "."
                text = f"Created log for partition {named} in {folder} with properties {{}}{stop}"
                self.files.line("server.log", "INFO", text, _LOG_MANAGER)
                self.files.partition(
                    partition, f"No checkpointed highwatermark is found for partition {partition}"
                )
            case LogDeleted():
                text = f"Log for partition {partition} is renamed to {event.directory} and is "
                self.files.line("server.log", "INFO", f"{text}scheduled for deletion", _LOG_MANAGER)
            case LogFailed(not_renamed=folder) if folder:
                text = f"Error while renaming dir for {partition} in log dir {folder}"
                self.files.line("server.log", "ERROR", text, _FAILURES, event.error)

    def removed(self, event: LogRemoval) -> None:
        """The directory of a deleted log was removed, or could not be (``kafka-delete-logs``).

        Up to 0.11 any exception is handled log by log; later only a disk error.
        """
        partition, release = TopicPartition(*event.partition), self.release
        if event.error is None:
            old = f"[{partition.topic},{partition.partition}]"
            name = str(partition) if release.since("0.10.2") else old
            text = f"Deleted log for partition {name} in {event.path}."
            self.files.line("server.log", "INFO", text, _LOG_MANAGER)
            return
        if not release.since("1.0"):
            log = _shown(event, release)
            text = f"Exception in deleting {log}. Moving it to the end of the queue."
        elif isinstance(event.error, (OSError, StorageError)):
            folder = event.path.rpartition("/")[0]
            text = f"Exception while deleting {_shown(event, release)} in dir {folder}."
        else:
            text = "Exception in kafka-delete-logs thread."
        self.files.line("server.log", "ERROR", text, _LOG_MANAGER, _thrown(event.error))

    def log_start_raised(
        self, partition: tuple[str, int], start: int, directory: str,
        reason: str = "leader offset increment",
    ) -> None:  # fmt: skip
        """``Log.maybeIncrementLogStartOffset``; releases since 2.6 say why."""
        named, folder = TopicPartition(*partition), directory.rpartition("/")[0]
        text = f"Incrementing log start offset to {start}"
        if self.release.since("2.6"):
            text = f"Incremented log start offset to {start} due to {reason}"
        elif not self.release.since("1.0"):
            text = f"Incrementing log start offset of partition {named} to {start} in dir {folder}"
        self.files.log(named, folder, text)

    def truncating(self, event: LogTruncating, directory: str, leader: int, fetcher: int) -> None:
        """A fetcher truncates the log in ``directory``."""
        name, offset, release = event.partition, event.offset, self.release
        if offset < event.high_watermark and release.since("2.1"):
            text = f"Truncating {name} to offset {offset} below high watermark "
            self.files.fetcher(leader, fetcher, f"{text}{event.high_watermark}", "WARN")
        newer, last = release.since("1.1"), event.log_end - 1
        if not release.since("0.11"):  # it says so in any case
            self.files.log(name, "", f"Truncating log {name} to offset {offset}.")
            if offset <= event.log_end:
                return
        if offset >= event.log_end:
            what = "has no effect as the largest offset in the log is"
            text = f"Truncating to {offset} {what} {last}"
            text = text if newer else f"Truncating {name} to {offset} {what} {last}."
        else:
            text = f"Truncating to offset {offset}"
            text = text if newer else f"Truncating log {name} to offset {offset}."
        self.files.log(name, directory.rpartition("/")[0], text)


def _shown(event: LogRemoval, release: Release) -> str:
    """A log in the words of its ``toString``."""
    if not release.since("2.4") or event.log is None:
        return f"Log({'dir=' if release.since('2.4') else ''}{event.path})"
    topic, partition = event.partition
    log = event.log
    return (
        f"Log(dir={event.path}, topic={topic}, partition={partition}, "
        f"highWatermark={log.high_watermark}, lastStableOffset={log.high_watermark}, "
        f"logStartOffset={log.log_start}, logEndOffset={log.log_end})"
    )


def _thrown(error: Exception) -> str:
    """The class of a thrown error, as Java names it, and its text."""
    if isinstance(error, StorageError):
        return f"org.apache.kafka.common.errors.KafkaStorageException: {error}"
    kind = "java.io.IOException" if isinstance(error, OSError) else "java.lang.RuntimeException"
    return f"{kind}: {error}"


def _in_response(by: Sender) -> str:
    return (
        f"in response to UpdateMetadata request sent by controller {by.controller} epoch "
        f"{by.epoch} with correlation id {by.correlation}"
    )

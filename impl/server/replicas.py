"""The replicas of a running broker, and what its controller tells it about them (fact sheet f).

One lock guards all of it, as Kafka's ``replicaStateChangeLock`` does for requests of controllers;
here appends, fetches and fetchers take it too: simple first. An ISR write holds it until ZooKeeper
has answered, where Kafka would hold up one partition alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from impl.core import answers
from impl.core.requests import LeaderAndIsr, PartitionOrder, StopReplica, UpdateMetadata
from impl.log import LogManager, StorageError
from impl.releases import Release
from impl.server.codec import Endpoints
from impl.server.hosted import HostedPartition
from impl.server.isr_requests import IsrRequests
from impl.server.log4j_files import Log4jFiles
from impl.server.metadata_cache import MetadataCache
from impl.server.quotas import Quotas
from impl.server.state_texts import order_received
from impl.server.topic_configs import TopicConfigs
from impl.znodes import TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import ZooKeeperError
from impl.zookeeper.port import wait

NONE = "NONE"
Errors = dict[TopicPartition, str]


class Fetchers(Protocol):
    """What a replica manager asks of the fetchers."""

    def remove(self, partitions: list[TopicPartition]) -> None:
        """Follow these no more."""

    def add(self, partitions: Mapping[TopicPartition, HostedPartition]) -> None:
        """Follow each one's leader."""


class ReplicaManager:
    """``ReplicaManager``: hosted partitions over the logs of one broker.

    ``changed`` is a condition on ``lock`` that is notified whenever a log, a high watermark or a
    role changed.
    """

    def __init__(
        self,
        broker: int,
        release: Release,
        logs: LogManager,
        lag_ms: int,
        files: Log4jFiles,
        client: Callable[[], ZnodeClient],
        configs: TopicConfigs,
        quotas: Quotas,
    ) -> None:
        self.broker = broker
        self.release = release
        self.logs = logs
        self.lag_ms = lag_ms
        self.files = files
        self.client = client
        self.configs = configs
        self.quotas = quotas
        self.lock = threading.RLock()
        self.changed = threading.Condition(self.lock)
        self.controller_epoch = 0
        self.partitions: dict[TopicPartition, HostedPartition] = {}
        self.metadata = MetadataCache()
        self.fetchers: Fetchers | None = None
        self.isr_requests: IsrRequests | None = None  # leaders write to ZooKeeper (up to 2.6)
        self.isr_changes: set[TopicPartition] = set()
        self.last_isr_change_ms = 0
        self.last_propagation_ms = 0

    # Requests of controllers

    def _too_old(self, kind: str, controller: int, epoch: int, correlation: int) -> bool:
        """The request's controller is older than one that was heard; else its epoch is noted."""
        known = self.controller_epoch
        if answers.controller_epoch_error(epoch, known) == NONE:
            self.controller_epoch = epoch
            return False
        if kind == "UpdateMetadata":
            self.files.change(
                f"Received update metadata request with correlation id {correlation} from an old "
                f"controller {controller} with epoch {epoch}. Latest known controller epoch is "
                f"{known}",
                "WARN",
            )
        else:
            self.files.change(
                f"Ignoring {kind} request from controller {controller} with correlation id "
                f"{correlation} since its controller epoch {epoch} is old. Latest known "
                f"controller epoch is {known}",
                "WARN",
            )
        return True

    def leader_and_isr(self, request: LeaderAndIsr, correlation: int) -> tuple[str, Errors]:
        """``becomeLeaderOrFollower``: the error of the whole request, and of each partition."""
        with self.lock:
            for partition, order in request.partitions.items():
                shown = order_received(partition, order, self.release)
                named = f" for partition {self._name(partition)}"
                named = "" if self.release.since("2.4") else named
                self.files.change(
                    f"Received LeaderAndIsr request {shown} correlation id {correlation} from "
                    f"controller {request.controller} epoch {request.controller_epoch}{named}"
                )
            if self._too_old(
                "LeaderAndIsr", request.controller, request.controller_epoch, correlation
            ):
                return "STALE_CONTROLLER_EPOCH", {}
            by = _By(request.controller, request.controller_epoch, correlation)
            errors = {one: self._check(one, order, by) for one, order in request.partitions.items()}
            accepted = {
                one: order
                for one, order in request.partitions.items()
                if errors[one] == NONE
            }  # fmt: skip
            leads = {one: o for one, o in accepted.items() if o.state.leader == self.broker}
            follows = {one: o for one, o in accepted.items() if one not in leads}
            self._make_leaders(leads, by, errors)
            self._make_followers(follows, by, errors)
            self.changed.notify_all()
            return NONE, errors

    def _name(self, partition: TopicPartition) -> str:
        return self.files.name(partition)

    def _check(self, partition: TopicPartition, order: PartitionOrder, by: _By) -> str:
        hosted = self.partitions.get(partition)
        current = -1 if hosted is None else hosted.leader_epoch
        asked = order.state.leader_epoch
        offline = partition in self.logs.offline
        assigned = self.broker in order.replicas
        error = answers.leader_and_isr_error(current, asked, assigned, offline, self.release)
        head = (
            f"Ignoring LeaderAndIsr request from controller {by.controller} with correlation id "
            f"{by.correlation} epoch {by.epoch} for partition {self._name(partition)} "
        )
        if error == "STALE_CONTROLLER_EPOCH":
            why = f"since its associated leader epoch {asked} "
            if not self.release.since("2.1"):
                why += f"is not higher than the current leader epoch {current}"
            elif asked == current:
                why += "matches the current leader epoch"
            else:
                why += f"is smaller than the current leader epoch {current}"
            same = asked == current and self.release.since("2.1")
            self.files.change(head + why, "INFO" if same else "WARN")
        elif error == "UNKNOWN_TOPIC_OR_PARTITION":
            listed = ",".join(map(str, order.replicas))
            self.files.change(f"{head}as itself is not in assigned replica list {listed}", "WARN")
        return error

    def _hosted(self, partition: TopicPartition) -> HostedPartition:
        """The replica, made with its log if it is not there. StorageError."""
        hosted = self.partitions.get(partition)
        if hosted is not None:
            return hosted
        fresh = self.logs.home(partition) is None
        if fresh and all(one.topic != partition.topic for one in self.partitions):
            self.configs.read(self.client(), partition.topic)
        log = self.logs.create(partition)
        if fresh:
            text = f"Created log for partition {partition} in {log.directory} with properties {{}}"
            self.files.line("server.log", "INFO", text, "kafka.log.LogManager")
            self.files.partition(
                partition, f"No checkpointed highwatermark is found for partition {partition}"
            )
        hosted = HostedPartition(
            self.broker, partition, log, self.lag_ms, self.release, self.files, self.client,
            self._isr_changed, self.isr_requests,
        )  # fmt: skip
        self.partitions[partition] = hosted
        return hosted

    def _make_leaders(
        self, orders: Mapping[TopicPartition, PartitionOrder], by: _By, errors: Errors
    ) -> None:
        for partition in orders:
            self._transition("Handling", "starting the become-leader transition", partition, by)
        self._stop_fetching(list(orders))
        for partition, order in orders.items():
            try:
                self._hosted(partition).lead(order, order.state.controller_epoch, now_ms())
            except (StorageError, OSError, ZooKeeperError) as error:
                errors[partition] = self._storage_failed(partition, error)
                continue
            self._transition("Completed", "for the become-leader transition", partition, by)

    def _make_followers(
        self, orders: Mapping[TopicPartition, PartitionOrder], by: _By, errors: Errors
    ) -> None:
        changed: dict[TopicPartition, HostedPartition] = {}
        for partition, order in orders.items():
            leader = order.state.leader
            what = "starting the become-follower transition"
            self._transition("Handling", what, partition, by, leader)
            try:
                hosted = self._hosted(partition)
            except (StorageError, OSError, ZooKeeperError) as error:
                errors[partition] = self._storage_failed(partition, error)
                continue
            if not answers.leader_is_known(leader, self.metadata.alive):
                last = order.state.controller_epoch
                newer = self.release.since("2.0")
                since = f" (last update controller epoch {last})" if newer else ""
                shown = by.epoch if newer else last
                self.files.change(
                    f"Received LeaderAndIsrRequest with correlation id {by.correlation} from "
                    f"controller {by.controller} epoch {shown} for partition "
                    f"{self._name(partition)}{since} but cannot become follower since the new "
                    f"leader {leader} is unavailable.",
                    "ERROR",
                )
                continue
            if hosted.follow(order, order.state.controller_epoch):
                changed[partition] = hosted
        self._stop_fetching(list(changed))
        if self.fetchers is not None and changed:
            self.fetchers.add(changed)
        for partition in changed:
            leader = orders[partition].state.leader
            what = "for the become-follower transition"
            self._transition("Completed", what, partition, by, leader)

    def _stop_fetching(self, partitions: list[TopicPartition]) -> None:
        if self.fetchers is not None and partitions:
            self.fetchers.remove(partitions)

    def _transition(
        self, verb: str, what: str, partition: TopicPartition, by: _By, leader: int | None = None
    ) -> None:
        with_leader = "" if leader is None else f" with leader {leader}"
        self.files.change(
            f"{verb} LeaderAndIsr request correlationId {by.correlation} from controller "
            f"{by.controller} epoch {by.epoch} {what} for partition {self._name(partition)}"
            f"{with_leader}"
        )

    def _storage_failed(self, partition: TopicPartition, error: Exception) -> str:
        text = f"Error while using the log of partition {partition}: {error}"
        self.files.line("server.log", "ERROR", text, "kafka.server.LogDirFailureChannel")
        self.partitions.pop(partition, None)
        return "KAFKA_STORAGE_ERROR"

    def stop_replica(self, request: StopReplica, correlation: int) -> tuple[str, Errors]:
        """Stop replicas, and delete those that are to go."""
        with self.lock:
            if self._too_old(
                "StopReplica", request.controller, request.controller_epoch, correlation
            ):
                return "STALE_CONTROLLER_EPOCH", {}
            errors: Errors = {}
            self._stop_fetching(list(request.partitions))
            for partition, stop in request.partitions.items():
                hosted = self.partitions.get(partition)
                current = None if hosted is None else hosted.leader_epoch
                delete = "true" if stop.delete else "false"
                said = f"stop replica (delete={delete}) for partition {self._name(partition)}"
                error = answers.stop_replica_error(
                    current, stop.leader_epoch, partition in self.logs.offline, self.release
                )
                if error != NONE:
                    errors[partition] = error
                    continue
                self.files.change(f"Handling {said}")
                errors[partition] = self._stopped(partition, stop.delete)
                self.files.change(f"Finished handling {said}")
            self.changed.notify_all()
            return NONE, errors

    def _stopped(self, partition: TopicPartition, delete: bool) -> str:
        hosted = self.partitions.get(partition)
        if not delete:
            if hosted is not None:
                hosted.stop()
            return NONE
        self.partitions.pop(partition, None)
        if hosted is not None:
            hosted.stop()
        log = self.logs.log(partition)
        try:
            self.logs.delete(partition)
        except (StorageError, OSError) as error:
            return self._storage_failed(partition, error)
        if log is not None:
            text = (
                f"Log for partition {partition} is renamed to {log.directory} and is scheduled "
                "for deletion"
            )
            self.files.line("server.log", "INFO", text, "kafka.log.LogManager")
        return NONE

    def update_metadata(
        self, request: UpdateMetadata, endpoints: Endpoints, correlation: int
    ) -> str:
        """Replace what is known of brokers, and of the partitions that are told."""
        with self.lock:
            if self._too_old(
                "UpdateMetadata", request.controller, request.controller_epoch, correlation
            ):
                return "STALE_CONTROLLER_EPOCH"
            by = _By(request.controller, request.controller_epoch, correlation)
            self.metadata.update(request, endpoints, self.files, by.words)
            self.changed.notify_all()
            return NONE

    # What happens by itself

    def _isr_changed(self, partition: TopicPartition) -> None:
        if self.isr_requests is None:  # else the controller knows: it was who changed it
            self.isr_changes.add(partition)
            self.last_isr_change_ms = now_ms()
        self.changed.notify_all()

    def maybe_shrink_isrs(self) -> None:
        """Every half of replica.lag.time.max.ms."""
        with self.lock:
            for hosted in list(self.partitions.values()):
                if hosted.leads:
                    hosted.maybe_shrink(now_ms())
            self.changed.notify_all()

    def maybe_propagate_isr_changes(self) -> None:
        """Every 2.5 s: tell the controller of changed ISRs, once they have settled."""
        with self.lock:
            now = now_ms()
            due = answers.propagates_isr_changes(
                now, self.last_isr_change_ms, self.last_propagation_ms
            )
            if not self.isr_changes or not due:
                return
            wait(self.client().propagate_isr_changes(sorted(self.isr_changes)))
            self.isr_changes.clear()
            self.last_propagation_ms = now

    def directory_failed(self) -> None:
        """Forget replicas whose log went offline."""
        with self.lock:
            gone = [one for one in self.partitions if one in self.logs.offline]
            self._stop_fetching(gone)
            for partition in gone:
                self.partitions.pop(partition).stop()
            self.changed.notify_all()


class _By(NamedTuple):
    """Whose request it is."""

    controller: int
    epoch: int
    correlation: int

    @property
    def words(self) -> str:
        return (
            f"in response to UpdateMetadata request sent by controller {self.controller} epoch "
            f"{self.epoch} with correlation id {self.correlation}"
        )


def now_ms() -> int:
    """Milliseconds since 1970."""
    return int(time.time() * 1000)

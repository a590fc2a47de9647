"""A controller's log lines: controller.log, and its part of state-change.log (fact sheet m)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from impl.core.journal import ChangeFailure, ControllerJournal, NoLeader
from impl.core.reassigner import ASSIGNED, DEAD, DELETED, UNKNOWN
from impl.core.requests import LeaderAndIsr, PartitionMetadata, StopReplica
from impl.core.states import (
    PARTITION_BEFORE,
    REPLICA_BEFORE,
    PartitionState,
    ReplicaState,
    replica_may_go,
)
from impl.releases import Release
from impl.server.log4j_files import CONTROLLER, SERVER, STATE_CHANGE, Log4jFiles
from impl.server.state_texts import ids, metadata, sent_state_text, short
from impl.znodes import (
    BrokerInfo,
    LeaderIsrAndControllerEpoch,
    ReplicaAssignment,
    TopicPartition,
    paths,
)

_LISTENERS = "kafka.controller."
_STATE_CHANGE_FAILED = "kafka.common.StateChangeFailedException"
_STRATEGIES = {
    "Offline": "OfflinePartitionLeaderElectionStrategy",
    "Reassign": "ReassignPartitionLeaderElectionStrategy",
    "Preferred": "PreferredReplicaPartitionLeaderElectionStrategy",
    "ControlledShutdown": "ControlledShutdownPartitionLeaderElectionStrategy",
}


class ControllerLines(ControllerJournal):
    """Writes a controller's log lines, with the messages of its release."""

    def __init__(self, files: Log4jFiles) -> None:
        self.files = files
        self.release = files.release

    # Controllership

    async def elected(self, epoch: int, epoch_version: int) -> None:
        broker = self.files.broker
        if self.release.since("2.1"):
            self.files.controller(
                f"{broker} successfully elected as the controller. Epoch incremented to {epoch} "
                f"and epoch zk version is now {epoch_version}"
            )
        elif self.release.since("0.11"):
            self.files.controller(f"{broker} successfully elected as the controller")
        else:
            text, logger = "successfully elected as leader", "kafka.server.ZookeeperLeaderElector"
            self.files.line(SERVER, "INFO", f"{broker} {text}", logger)
        if not self.release.since("1.1"):
            self.files.controller(f"Controller {broker} incremented epoch to {epoch}")
        elif not self.release.since("2.1"):
            self.files.controller(f"Epoch incremented to {epoch}")

    async def holds(self, broker: int) -> None:
        if self.release.since("1.1"):
            self.files.controller(
                f"Broker {broker} has been elected as the controller, so stopping the election "
                "process.",
                "DEBUG",
            )

    async def election_failed(self, why: str) -> None:
        role = "controller" if self.release.since("0.11") else "leader"
        text = f"Error while electing or becoming {role} on broker {self.files.broker}"
        if self.release.since("2.1"):
            text += ". Trigger controller movement immediately"
        if self.release.since("0.11"):
            self.files.controller(text, "ERROR", thrown=why)
        else:
            self.files.line(SERVER, "ERROR", text, "kafka.server.ZookeeperLeaderElector", why)

    async def leaders_wanted(
        self, kind: str, partitions: Collection[TopicPartition], trigger: str
    ) -> None:
        named = ",".join(map(self.files.name, partitions))
        text = f"Starting preferred replica leader election for partitions {named}"
        if self.release.since("2.4"):
            text = f"Starting replica leader election ({kind}) for partitions {named} triggered by "
            text += trigger
        self.files.controller(text)

    async def preferred_wanted(
        self, partition: TopicPartition, preferred: int, leader: int
    ) -> None:
        text = f"Partition {self.files.name(partition)} "
        if leader == preferred:
            text += f"completed preferred replica leader election. New leader is {preferred}"
            self.files.controller(text)
            return
        text += "failed to complete preferred replica leader election"
        newer = self.release.since("2.0")
        text += f" to {preferred}. Leader is still " if newer else ". Leader is "
        self.files.controller(f"{text}{leader}", "WARN")

    async def ignored(self, text: str) -> None:
        self.files.insync_line(f"Ignoring what cannot be read: {text}")

    async def endpoints_changed(self, broker: int, before: BrokerInfo, after: BrokerInfo) -> None:
        old, new = (self._broker(broker, one) for one in (before, after))
        newer = self.release.since("2.3")
        self.files.controller(
            f"Updated broker metadata: {old} -> {new}" if newer else f"Updated broker: {new}"
        )
        self.files.controller(f"Broker info update callback for {broker}")

    def _broker(self, broker: int, info: BrokerInfo) -> str:
        """A broker as it is registered (``Broker.toString``)."""
        listed = []
        for one in info.endpoints:
            protocol, _, address = one.partition("://")
            host, _, port = address.rpartition(":")
            listed.append(f"EndPoint({host},{port},ListenerName({protocol}),{protocol})")
        features = " : Features{}" if self.release.since("2.7") else ""
        return f"{broker} : ({','.join(listed)}) : {info.rack or 'null'}{features}"

    async def lost_the_race(self, why: str) -> None:
        if self.release.since("1.1"):
            winner = re.search(r"broker (\d+) was elected", why)
            if winner is not None:
                mine = self.files.broker
                text = f"Broker {winner[1]} was elected as controller instead of broker {mine}"
                self.files.controller(text, "DEBUG")

    async def step(self, text: str) -> None:
        if self.release.since("1.1"):
            self.files.controller(text)

    async def ready(self, epoch: int) -> None:
        text = f"eady to serve as the new controller with epoch {epoch}"
        self.files.controller(
            f"Broker {self.files.broker} is r{text}" if self.files.old else f"R{text}"
        )

    async def resigned(self) -> None:
        self.resigns()

    def resigns(self) -> None:
        """``onControllerResignation``: by a controller, and by every broker when it stops."""
        broker = self.files.broker
        self.files.controller(
            f"Broker {broker} resigned as the controller" if self.files.old else "Resigned"
        )

    async def moved(self, event: str, why: str) -> None:
        if self.release.since("2.1"):
            self.files.controller(
                f"Controller moved to another broker when processing {_event(event)}."
            )

    async def event_failed(self, event: str, why: str) -> None:
        text = f"Error processing event {_event(event)}"
        kind = _event(event).partition("(")[0]
        if not self.release.since("0.11") and kind in _FAILED_LISTENERS:
            self._listener_failed(_event(event), kind, why)
            return
        if self.release.since("2.3") or not self.release.since("0.11"):
            self.files.controller(text, "ERROR", thrown=why)
            return
        logger = "kafka.controller.ControllerEventManager$ControllerEventThread"
        head = f"[ControllerEventThread controllerId={self.files.broker}] "
        if self.files.old:
            head = "[controller-event-thread]: "
        self.files.line(CONTROLLER, "ERROR", head + text, logger, why)

    def _listener_failed(self, event: str, kind: str, why: str) -> None:
        """Up to 0.10 each listener of ZkClient says it for itself."""
        machine, listener, what = _FAILED_LISTENERS[kind]
        head = f"[{listener} on Controller {self.files.broker}]: Error while handling "
        if kind == "PartitionModifications":
            what += event.removeprefix(kind).strip("()")
        logger = f"{_LISTENERS}{machine}${listener}"
        self.files.line(CONTROLLER, "ERROR", head + what, logger, why)

    async def log_line(self, text: str, level: str = "INFO") -> None:
        self.files.controller(text, level)

    async def marked_offline(self, broker: int, replicas: Sequence[TopicPartition]) -> None:
        named = ",".join(map(str, replicas))
        text = f"[Controller id={self.files.broker}] Mark replicas {named} on broker {broker} as "
        self.files.line(STATE_CHANGE, "INFO", f"{text}offline", "state.change.logger")

    async def sent_for_move(
        self,
        partition: TopicPartition,
        state: LeaderIsrAndControllerEpoch,
        replicas: Sequence[int],
        assignment: ReplicaAssignment,
    ) -> None:
        written = f"assigned replica list {ids(replicas)}"
        if self.release.since("2.4"):
            written = (
                f"replica assignment ReplicaAssignment(replicas={ids(assignment.replicas)}, "
                f"addingReplicas={ids(assignment.adding)}, "
                f"removingReplicas={ids(assignment.removing)})"
            )
        self.files.controller_state_change(
            self.epoch,
            f"Sent LeaderAndIsr request {short(state)} with new {written} "
            f"to leader {state.leader} for partition being reassigned {self.files.name(partition)}",
            "INFO" if self.release.since("2.6") else "TRACE",
        )

    async def leader_epoch_updated(
        self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch
    ) -> None:
        version = f", zkVersion={state.zk_version}" if self.release.since("2.7") else ""
        await self.line_about(
            partition,
            f"Updated leader epoch for partition {partition} to {state.leader_epoch}{version}",
        )

    async def alter_isr_ignored(self, broker: int, epoch: int, known: int | None) -> None:
        why = f"stale broker epoch {epoch} for broker {broker}"
        if known is None:
            why = f"unknown broker {broker}"
        await self.log_line(f"Ignoring AlterIsr due to {why}")

    async def line_about(self, partition: TopicPartition, text: str) -> None:
        self.files.controller(text.replace(str(partition), self.files.name(partition), 1))

    async def creates(self, partitions: Collection[TopicPartition]) -> None:
        named = ",".join(map(self.files.name, partitions))
        self.files.controller(f"New partition creation callback for {named}")

    async def deletion_retried(
        self, topic: str, replicas: Sequence[tuple[TopicPartition, int]]
    ) -> None:
        named = ",".join(
            f"[Topic={topic},Partition={one.partition},Replica={broker}]"
            for one, broker in replicas
        )
        what = "deletion of topics" if self.release.since("2.5") else "deletion of topic"
        if not self.release.since("2.3"):
            what = "delete topic for topic"
        text = f"Retrying {what} {topic} since replicas {named} were not successfully deleted"
        await self.deletion(text, "DEBUG" if self.release.since("2.5") else "INFO")

    async def deletion_blocked(self, topic: str) -> None:
        if not self.release.since("2.3"):
            await self.deletion(
                f"Not retrying deletion of topic {topic} at this time since it is marked "
                "ineligible for deletion"
            )

    async def deletion_halted(self, topics: Sequence[str], why: str) -> None:
        reason = f" due to {why}" if self.release.since("2.3") else ""
        await self.deletion(f"Halted deletion of topics {','.join(topics)}{reason}")

    async def deletion_disabled(self, topics: Sequence[str], begins: bool) -> None:
        removed = [f"Set({', '.join(topics)})"]
        if not self.release.since("1.1"):
            removed = [paths.deletion(topic) for topic in topics]
        for text in (f"Removing {one} since delete topic is disabled" for one in removed):
            if begins:
                await self.deletion(text)
            else:
                kind = "PartitionStateMachine$DeleteTopicsListener"
                self._listener_line("DeleteTopicsListener", kind, text)

    async def deletion(self, text: str, level: str = "INFO") -> None:
        comma = "," if not self.release.since("2.4") else ""
        head = f"[Topic Deletion Manager {self.files.broker}]{comma} "
        self.files.line(CONTROLLER, level, head + text, "kafka.controller.TopicDeletionManager")

    async def deletions_handled(self, topics: Collection[str]) -> None:
        await self.deletion(f"Handling deletion for topics {','.join(topics)}")

    # What changed in ZooKeeper

    async def brokers(
        self, new: Iterable[int], dead: Iterable[int], bounced: Iterable[int], live: Iterable[int]
    ) -> None:
        again = f"bounced brokers: {ids(bounced)}, " if self.release.since("2.2") else ""
        text = (
            f"Newly added brokers: {ids(new)}, deleted brokers: {ids(dead)}, {again}"
            f"all live brokers: {ids(live)}"
        )
        self._listener_line(
            "BrokerChangeListener", "ReplicaStateMachine$BrokerChangeListener", text
        )

    async def topics(
        self,
        new: Collection[str],
        gone: Collection[str],
        assigned: Mapping[TopicPartition, Sequence[int]],
    ) -> None:
        lists = dict(sorted(assigned.items()))
        text = (
            f"New topics: [Set({', '.join(new)})], deleted topics: [Set({', '.join(gone)})], "
            f"new partition replica assignment [{self._map(lists)}]"
        )
        self._listener_line(
            "TopicChangeListener", "PartitionStateMachine$TopicChangeListener", text
        )

    async def adding(self, partitions: Mapping[TopicPartition, ReplicaAssignment]) -> None:
        lists = {one: assignment.replicas for one, assignment in sorted(partitions.items())}
        kind = "PartitionStateMachine$PartitionModificationsListener"
        self._listener_line(
            "AddPartitionsListener", kind, f"New partitions to be added {self._map(lists)}"
        )

    # Reassignments

    async def reassignment_refused(
        self, partition: TopicPartition, target: Sequence[int], why: str, live: Collection[int]
    ) -> None:
        name = self.files.name(partition)
        if why == DELETED:
            self._skips_deleted(partition)
        elif why == ASSIGNED:
            text = (
                f"Partition {name} to be reassigned is already assigned to replicas {ids(target)}"
            )
            if self.release.since("1.1"):
                self.files.controller(f"{text}. Ignoring request for partition reassignment.")
            else:
                await self.reassignment_failed(
                    partition, f"{text}. Ignoring request for partition reassignment"
                )
        elif why == DEAD:
            await self.reassignment_failed(
                partition,
                f"Only {ids(one for one in target if one in live)} replicas out of the new set of "
                f"replicas {ids(target)} for partition {name} to be reassigned are alive. Failing "
                "partition reassignment",
            )
        elif why == UNKNOWN and not self.release.since("1.1"):
            await self.reassignment_failed(
                partition, f"Attempt to reassign partition {name} that doesn't exist"
            )
        elif why == UNKNOWN and not self.release.since("2.4"):
            self.files.controller(
                f"Ignoring request to reassign partition {name} that doesn't exist.", "ERROR"
            )

    def _skips_deleted(self, partition: TopicPartition) -> None:
        name = self.files.name(partition)
        level = "INFO" if self.release.since("2.2") else "ERROR"
        if self.release.since("1.1"):
            text = f"Skipping reassignment of {name} since the topic is currently being deleted"
        elif self.release.since("0.11.0.1"):
            text = f"Skipping reassignment of partition {name} since it is currently being deleted"
        else:
            text = (
                f"Skipping reassignment of partition {name} for topic {partition.topic} since it "
                "is currently being deleted"
            )
        kind = "PartitionsReassignedListener"
        self._listener_line(kind, kind, text, level)

    async def reassignment_failed(self, partition: TopicPartition, why: str) -> None:
        self.files.controller(
            f"Error completing reassignment of partition {self.files.name(partition)}",
            "ERROR",
            thrown=f"kafka.common.KafkaException: {why}",
        )

    async def reassignment_progress(
        self, partition: TopicPartition, target: Sequence[int], caught_up: Collection[int]
    ) -> None:
        if self.release.since("2.4"):
            return
        blank = " " if self.release.since("1.1") else ""
        left = [one for one in target if one not in caught_up]
        text = (
            f"{len(caught_up)}/{len(target)} replicas have caught up with the leader for partition "
            f"{self.files.name(partition)} being reassigned.{blank}"
        )
        text += (
            f"Replica(s) {ids(left)} still need to catch up"
            if left
            else "Resuming partition reassignment"
        )
        kind = "ReassignedPartitionsIsrChangeListener"
        self._listener_line(kind, kind, text)

    async def reassignment_never_created(
        self, partition: TopicPartition, target: Sequence[int]
    ) -> None:
        if self.release.since("2.4"):
            return
        text = (
            f"Error handling reassignment of partition {self.files.name(partition)} to replicas "
            f"{ids(target)} as it was never created"
        )
        kind = "ReassignedPartitionsIsrChangeListener"
        self._listener_line(kind, kind, text, "ERROR")

    async def reassignment_removing(
        self, entries: Mapping[TopicPartition, Sequence[int]], others: bool
    ) -> None:
        """Up to 1.0 the only line is that the znode is deleted, a line of ``ZkUtils``."""
        left = "from the list of reassigned partitions in zookeeper"
        last = (
            "No more partitions need to be reassigned. Deleting zk path /admin/reassign_partitions"
        )
        if not self.release.since("1.1"):
            if not others:
                self.files.line(SERVER, "INFO", last, "kafka.utils.ZkUtils")
            return
        if self.release.since("2.4"):
            goals = (f"{one} -> Buffer({ids(to, ', ')})" for one, to in entries.items())
            which = f"partitions Map({', '.join(goals)})"
        elif self.release.since("2.0"):
            which = f"partitions Set({', '.join(map(str, entries))})"
        else:
            which = f"partition {next(iter(entries))}"
        self.files.controller(f"Removing {which} {left}")
        if not others:
            self.files.controller(last)

    async def reassignment_removed(self, partition: TopicPartition) -> None:
        if not self.release.since("1.1"):
            name = self.files.name(partition)
            self.files.controller(
                f"Removed partition {name} from the list of reassigned partitions in zookeeper"
            )

    def _listener_line(self, listener: str, logger: str, text: str, level: str = "INFO") -> None:
        """Up to 0.10 listeners of their own wrote such lines."""
        if self.release.since("0.11"):
            self.files.controller(text, level)
            return
        head = f"[{listener} on Controller {self.files.broker}]: "
        self.files.line(CONTROLLER, level, head + text, _LISTENERS + logger)

    def _map(self, lists: Mapping[TopicPartition, Sequence[int]]) -> str:
        name = self.files.name
        entries = (f"{name(one)} -> Vector({ids(to, ', ')})" for one, to in lists.items())
        return f"Map({', '.join(entries)})"

    # State machines

    async def partition_moved(
        self,
        partition: TopicPartition,
        before: PartitionState,
        after: PartitionState,
        replicas: Sequence[int],
        state: LeaderIsrAndControllerEpoch | None = None,
        is_written: bool = True,
    ) -> None:
        name = self.files.name(partition)
        if state is None:
            text = f"Changed partition {name} state from {before.value} to {after.value}"
            if after is PartitionState.NEW:
                text += f" with assigned replicas {ids(replicas)}"
        elif self.release.since("1.1"):
            text = (
                f"Changed partition {name} from {before.value} to {after.value} with state "
                f"LeaderAndIsr(leader={state.leader}, leaderEpoch={state.leader_epoch}, "
                f"isr=List({ids(state.isr, ', ')}), zkVersion={state.zk_version})"
            )
        else:
            text = (
                f"Changed partition {name} from {before.value} to {after.value} with leader "
                f"{state.leader}"
            )
        self.files.controller_state_change(self.epoch, text)

    async def replica_moved(
        self, broker: int, partition: TopicPartition, before: ReplicaState, after: ReplicaState
    ) -> None:
        self.files.controller_state_change(
            self.epoch,
            f"Changed state of replica {broker} for partition {self.files.name(partition)} from "
            f"{before.value} to {after.value}",
        )

    async def isr_removed(
        self, broker: int, partition: TopicPartition, state: LeaderIsrAndControllerEpoch
    ) -> None:
        if self.release.since("2.7"):
            self.files.controller_state_change(
                self.epoch,
                f"Partition {partition} state changed to {short(state)} after removing replica "
                f"{broker} from the ISR as part of transition to OfflineReplica",
            )
            return
        self.files.controller(
            f"New leader and ISR for partition {self.files.name(partition)} is "
            f'{{"leader":{state.leader},"leader_epoch":{state.leader_epoch},'
            f'"isr":[{ids(state.isr)}]}}',
            "DEBUG",
        )

    async def partition_failed(
        self,
        partition: TopicPartition,
        before: PartitionState,
        target: PartitionState,
        failure: ChangeFailure,
    ) -> None:
        """Up to 1.0 an election without a usable state logs a line before the transition's."""
        name, why = self.files.name(partition), failure.text
        change = f"partition {name} from {before.value} to {target.value}"
        if failure.newer is not None:
            why = (
                f"{'a' if self.files.old else 'A'}borted leader election for partition {name} "
                "since the LeaderAndIsr path was already written by another controller. This "
                f"probably means that the current controller {self.files.broker} went through a "
                f"soft failure and another controller was elected with epoch {failure.newer}."
            )
        elif failure.is_missing:
            why = (
                f"LeaderAndIsr information doesn't exist for partition {name} in {before.value} "
                "state"
            )
        elif failure.is_invalid:
            head = "one of" if self.release.since("1.1") else "the"
            why = f"Partition {name} should be in {head} " + _invalid_previous_states(
                PARTITION_BEFORE[target], before, target
            )
        elif failure.assigned_and_live is not None:
            why = self._nobody_alive(name, *failure.assigned_and_live)
        elif failure.no_leader is not None:
            why = self._nobody_elected(name, failure.no_leader)
        kind = _thrown_kind(failure, self.release)
        if self.release.since("1.1"):
            self._failed(
                f"{self._state_change_head()}failed to change state for {change}", why, kind
            )
            return
        if failure.newer is not None:
            self.files.controller_state_change(self.epoch, why, "ERROR")
            why = self._as_thrown(why)
        by_selector = failure.no_leader is not None and kind == _STATE_CHANGE_FAILED
        if failure.newer is not None or failure.is_missing or by_selector:
            why = f"encountered error while electing leader for partition {name} due to: {why}"
            why = f"{why}." if self.files.old else f"E{why[1:]}"
            self.files.controller_state_change(self.epoch, why, "ERROR")
            why = self._as_thrown(why)
        self._failed(f"Initiated state change for {change} failed", why, kind)

    def _nobody_elected(self, name: str, found: NoLeader) -> str:
        """Why an election ended without a leader; up to 1.0 each selector has words of its own."""
        if self.release.since("1.1"):
            strategy = _STRATEGIES[found.strategy]
            if found.strategy == "Offline" and self.release.since("2.4"):
                strategy += f"({'true' if found.allows_unclean else 'false'})"
            return f"Failed to elect leader for partition {name} under strategy {strategy}"
        live, isr = f"Set({ids(sorted(found.live), ', ')})", found.state.isr
        state = found.state
        now = (
            f'Current leader and ISR: [{{"leader":{state.leader},"leader_epoch":'
            f'{state.leader_epoch},"isr":[{ids(isr)}]}}]'
        )
        match found.strategy:
            case "Offline" if not found.allows_unclean:
                who = "replica" if self.release.since("1.0") else "broker"
                return (
                    f"No {who} in ISR for partition {name} is alive. Live brokers are: [{live}], "
                    f"ISR brokers are: [{ids(isr)}]"
                )
            case "Offline":
                newer = self.release.since("0.11")
                return (
                    f"No replica for partition {name} is alive. Live brokers are: [{live}]"
                    f"{'.' if newer else ','} Assigned replicas are: "
                    f"[List({ids(found.assigned, ', ')})]{'.' if newer else ''}"
                )
            case "Reassign":
                return (
                    f"None of the reassigned replicas for partition {name} are in-sync with the "
                    f"leader. {now}"
                )
            case "Preferred":
                return (
                    f"Preferred replica {next(iter(found.assigned))} for partition {name} is "
                    f"either not alive or not in the isr. {now}"
                )
            case _:
                return (
                    f"No other replicas in ISR {ids(isr)} for {name} besides shutting down brokers "
                    f"{ids(found.leaving)}"
                )

    def _nobody_alive(self, name: str, assigned: Collection[int], live: Collection[int]) -> str:
        """Why a new partition has no leader; up to 1.0 it is a line of its own as well."""
        text = (
            f"ncountered error during state change of partition {name} from New to Online, "
            f"assigned replicas are [{ids(assigned)}], live brokers are "
            f"[Set({ids(sorted(live), ', ')})]. No assigned replica is alive."
        )
        if not self.release.since("1.1"):
            self.files.controller_state_change(self.epoch, f"E{text}", "ERROR")
        if not self.release.since("0.11"):
            return f"e{text}"
        if self.files.old or self.release.since("1.1"):
            return f"{self._state_change_head()}e{text}"
        return self._as_thrown(f"E{text}")

    def _as_thrown(self, text: str) -> str:
        """What is thrown besides the line, of 1.0 with the line's prefix (`messageWithPrefix`)."""
        mine = "" if self.files.old else f"[Controller id={self.files.broker} epoch={self.epoch}] "
        return mine + text

    async def replica_failed(
        self,
        broker: int,
        partition: TopicPartition,
        before: ReplicaState,
        target: ReplicaState,
        failure: ChangeFailure,
    ) -> None:
        if failure.is_silent:
            return
        name, why = self.files.name(partition), failure.text
        if failure.newer is not None:
            blank = " " if self.release.since("2.4") else ""  # Kafka's own slip, till then
            why = (
                f"Leader and isr path written by another controller. This probably{blank}means the "
                f"current controller with epoch {self.epoch} went through a soft failure and "
                f"another controller was elected with epoch {failure.newer}. Aborting state change "
                "by this controller"
            )
        elif failure.is_missing:
            why = (
                f"Failed to change state of replica {broker} for partition {name} since the leader "
                "and isr path in zookeeper is empty"
            )
        elif failure.is_invalid:
            may = [one for one in REPLICA_BEFORE[target]
                   if replica_may_go(one, target, self.release)]  # fmt: skip
            topic, number = partition
            why = f"Replica [Topic={topic},Partition={number},Replica={broker}] should be in the "
            why += _invalid_previous_states(may, before, target)
        mine = self._state_change_head() if self.release.since("1.1") else ""
        self._failed(
            f"{mine}{'i' if mine else 'I'}nitiated state change of replica {broker} for partition "
            f"{name} from {before.value} to {target.value} failed",
            why,
            _thrown_kind(failure, self.release),
        )

    def _state_change_head(self) -> str:
        return f"Controller {self.files.broker} epoch {self.epoch} "

    def _failed(self, text: str, why: str, kind: str) -> None:
        refused = kind.startswith("org.apache.zookeeper.")
        thrown = kind if refused else f"{kind}: {why}"
        self.files.controller_state_change(self.epoch, text, "ERROR", thrown)

    # Requests

    async def sends_leader_and_isr(self, broker: int, request: LeaderAndIsr) -> None:
        for partition, entry in request.partitions.items():
            role = "leader" if entry.state.leader == broker else "follower"
            self.files.controller_state_change(
                self.epoch,
                f"Sending become-{role} LeaderAndIsr request "
                f"{sent_state_text(partition, entry, self.release)} to broker {broker} "
                f"for partition {self.files.name(partition)}",
            )

    async def sends_metadata(
        self, brokers: Iterable[int], partitions: Mapping[TopicPartition, PartitionMetadata]
    ) -> None:
        who = f"Set({ids(brokers, ', ')})"
        for partition, one in partitions.items():
            self.files.controller_state_change(
                self.epoch,
                f"Sending UpdateMetadata request {metadata(partition, one, self.release)} to "
                f"brokers {who} for partition {partition}",
            )

    async def sends_stop_replica(self, broker: int, request: StopReplica) -> None:
        if self.release.since("2.6"):
            count = len(request.partitions)
            self.files.controller_state_change(
                self.epoch,
                f"Sending StopReplica request for {count} replicas to broker {broker}",
                "INFO",
            )


_EVENTS = {
    "changed": "BrokerChange",
    "topics_changed": "TopicChange",
    "deletion_requested": "TopicDeletion",
    "reassignment_requested": "PartitionReassignment",
    "preferred_election": "PreferredReplicaLeaderElection",
    "isrs_changed": "IsrChangeNotification",
    "fail_over": "Startup",
    "alter_isr": "AlterIsrReceived",
    "alter_reassignments": "ApiPartitionReassignment",
    "elect_leaders": "ReplicaLeaderElection",
    paths.CONTROLLER: "ControllerChange",
    paths.BROKER_IDS: "BrokerChange",
    paths.TOPICS: "TopicChange",
    paths.DELETE_TOPICS: "TopicDeletion",
    paths.REASSIGN_PARTITIONS: "PartitionReassignment",
    paths.PREFERRED_ELECTION: "PreferredReplicaLeaderElection",
    paths.ISR_CHANGES: "IsrChangeNotification",
    paths.LOG_DIR_EVENTS: "LogDirEventNotification",
}
_FAILED_LISTENERS = {
    "BrokerChange": ("ReplicaStateMachine", "BrokerChangeListener", "broker changes"),
    "TopicChange": ("PartitionStateMachine", "TopicChangeListener", "new topic"),
    "PartitionModifications": (
        "PartitionStateMachine", "PartitionModificationsListener",
        f"add partitions for data path {paths.TOPICS}/",
    ),
}  # fmt: skip
"""By Kafka's later name of the event: state machine, listener and what it was about."""
_OF_NODES = {paths.BROKER_IDS: "BrokerModifications", paths.TOPICS: "PartitionModifications"}


def _event(name: str) -> str:
    """The name of Kafka's event for a task, or for a znode whose watch fired."""
    if name in _EVENTS:
        return _EVENTS[name]
    parent, _, last = name.rpartition("/")
    if name.endswith("/state"):
        return "PartitionReassignmentIsrChange"
    return f"{_OF_NODES[parent]}({last})" if parent in _OF_NODES else "PartitionModifications"


def _invalid_previous_states(
    may: Iterable[PartitionState | ReplicaState],
    before: PartitionState | ReplicaState,
    target: PartitionState | ReplicaState,
) -> str:
    """The states that come before ``target``, in Kafka's order, and the one that there is."""
    order = [*type(target)]
    names = ",".join(one.value for one in sorted(may, key=lambda one: order.index(one)))
    return f"{names} states before moving to {target.value} state. Instead it is in " + (
        f"{before.value} state"
    )


def _thrown_kind(failure: ChangeFailure, release: Release) -> str:
    """The class that Kafka throws, with its text where that is ZooKeeper's."""
    found = failure.no_leader
    mute = ("Offline", "Reassign")  # as selectors threw; a strategy since 1.1 does not
    if found is not None and found.strategy in mute and not release.since("1.1"):
        return "kafka.common.NoReplicaOnlineException"
    if failure.is_invalid:
        return "java.lang.IllegalStateException"
    if failure.refused:
        kind = f"org.apache.zookeeper.KeeperException${failure.refused}Exception"
        return f"{kind}: KeeperErrorCode = {failure.refused}"
    return _STATE_CHANGE_FAILED

"""Kafka's own log lines (release 2.3) for what happens in a world.

Texts as in section m of the fact sheet; only the events of this slice are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from impl.requests import LeaderAndIsrRequest
from impl.world.log4j import CONTROLLER, SERVER, STATE_CHANGE, Log4jFiles
from impl.zookeeper import NO_LEADER, TOPIC_PARTITION, PartitionState


class KafkaLogs(Log4jFiles):
    """Turns what the implementation tells into the lines that Kafka would write."""

    def __init__(self, brokers: int, now_ms: int) -> None:
        super().__init__(brokers, now_ms)
        self._epoch: dict[int, int] = {}
        self._live: dict[int, dict[int, int]] = {}
        self._sent: Counter[int] = Counter()
        self._correlation: dict[LeaderAndIsrRequest, int] = {}

    def _controller_change(self, broker: int, message: str) -> None:
        text = f"[Controller id={broker} epoch={self._epoch[broker]}] {message}"
        self.line(broker, STATE_CHANGE, "TRACE", text, "state.change.logger")

    # Brokers

    def broker_started(self, broker: int, broker_epoch: int, end: int) -> None:
        self.line(broker, SERVER, "INFO", "starting", "kafka.server.KafkaServer")
        self.log(
            broker,
            f"Completed load of log with 1 segments, log start offset 0 and log end offset {end} "
            "in 1 ms",
        )
        if end == 0:
            self.partition(
                broker, f"No checkpointed highwatermark is found for partition {TOPIC_PARTITION}"
            )
        self._registered(broker, broker_epoch)
        text = f"[KafkaServer id={broker}] started"
        self.line(broker, SERVER, "INFO", text, "kafka.server.KafkaServer")

    def broker_registered_again(self, broker: int, broker_epoch: int) -> None:
        text = "[ZooKeeperClient Kafka server] Session expired."
        self.line(broker, SERVER, "INFO", text, "kafka.zookeeper.ZooKeeperClient")
        self._registered(broker, broker_epoch)

    def _registered(self, broker: int, broker_epoch: int) -> None:
        path, logger = f"/brokers/ids/{broker}", "kafka.zk.KafkaZkClient"
        self.line(broker, SERVER, "INFO", f"Creating {path} (is it secure? false)", logger)
        address = f"EndPoint(broker-{broker},9092,ListenerName(PLAINTEXT),PLAINTEXT)"
        text = (
            f"Registered broker {broker} at path {path} with addresses: "
            f"ArrayBuffer({address}), czxid (broker epoch): {broker_epoch}"
        )
        self.line(broker, SERVER, "INFO", text, logger)

    # Controllers

    def controller_elected(self, broker: int, epoch: int, epoch_version: int) -> None:
        self._epoch[broker] = epoch
        self._live.pop(broker, None)
        self.controller(
            broker,
            f"{broker} successfully elected as the controller. Epoch incremented to {epoch} "
            f"and epoch zk version is now {epoch_version}",
        )
        for what in (
            "Registering handlers",
            "Deleting log dir event notifications",
            "Deleting isr change notifications",
            "Initializing controller context",
        ):
            self.controller(broker, what)

    def controller_lost_the_race(self, broker: int, winner: int) -> None:
        if winner == NO_LEADER:
            text = (
                "A controller has been elected but just resigned, this will result in another "
                "round of election"
            )
            self.controller(broker, text, "WARN")
            return
        text = f"Broker {winner} was elected as controller instead of broker {broker}"
        self.controller(broker, text, "DEBUG")

    def controller_resigned(self, broker: int, moved: bool) -> None:
        if moved:
            self.controller(
                broker, "Controller moved to another broker when processing BrokerChange."
            )
            self.lines[broker, CONTROLLER].append(
                "org.apache.kafka.common.errors.ControllerMovedException: "
                "Controller epoch zkVersion check fails."
            )
        self.controller(broker, "Resigning", "DEBUG")
        self.controller(broker, "Resigned")

    def controller_read_brokers(self, broker: int, live: dict[int, int]) -> None:
        before = self._live.get(broker)
        self._live[broker] = dict(live)
        if before is None:
            epoch = self._epoch[broker]
            self.controller(
                broker, f"Currently active brokers in the cluster: Set({_join(live, ', ')})"
            )
            self.controller(broker, f"Ready to serve as the new controller with epoch {epoch}")
        elif before != live:
            added = [other for other in live if other not in before]
            gone = [other for other in before if other not in live]
            bounced = [other for other in live if before.get(other, live[other]) != live[other]]
            self.controller(
                broker,
                f"Newly added brokers: {_join(added)}, deleted brokers: {_join(gone)}, "
                f"bounced brokers: {_join(bounced)}, all live brokers: {_join(live)}",
            )

    def controller_wrote_state(
        self,
        broker: int,
        epoch: int,
        before: PartitionState,
        now: PartitionState,
        version: int,
        removed: int | None,
    ) -> None:
        if removed is None:
            live = self._live[broker]
            source = "OnlinePartition" if before.leader in live else "OfflinePartition"
            isr = _join(now.isr, ", ")
            self._controller_change(
                broker,
                f"Changed partition {TOPIC_PARTITION} from {source} to OnlinePartition with state "
                f"LeaderAndIsr(leader={now.leader}, leaderEpoch={now.leader_epoch}, "
                f"isr=List({isr}), zkVersion={version})",
            )
            return
        if now.leader == NO_LEADER and before.leader == removed:
            self._controller_change(
                broker,
                f"Changed partition {TOPIC_PARTITION} state from OnlinePartition "
                "to OfflinePartition",
            )
        self.controller(
            broker,
            f"New leader and ISR for partition {TOPIC_PARTITION} is "
            f'{{"leader":{now.leader},"leader_epoch":{now.leader_epoch},"isr":[{_join(now.isr)}]}}',
            "DEBUG",
        )
        self._controller_change(
            broker,
            f"Changed state of replica {removed} for partition {TOPIC_PARTITION} "
            "from OnlineReplica to OfflineReplica",
        )

    def controller_sends(self, broker: int, request: LeaderAndIsrRequest) -> None:
        self._sent[broker] += 1
        self._correlation[request] = self._sent[broker]
        role = "leader" if request.state.leader == request.target else "follower"
        self._controller_change(
            broker,
            f"Sending become-{role} LeaderAndIsr request {self._state(request)} "
            f"to broker {request.target} for partition {TOPIC_PARTITION}",
        )

    # LeaderAndIsr at its target

    def leader_and_isr_received(self, request: LeaderAndIsrRequest) -> None:
        self.broker_change(
            request.target,
            f"Received LeaderAndIsr request {self._state(request)} correlation id "
            f"{self._correlation[request]} from controller {request.controller} "
            f"epoch {request.controller_epoch} for partition {TOPIC_PARTITION}",
        )

    def controller_epoch_was_old(self, request: LeaderAndIsrRequest, known: int) -> None:
        self.broker_change(
            request.target,
            f"Ignoring LeaderAndIsr request from controller {request.controller} with correlation "
            f"id {self._correlation[request]} since its controller epoch "
            f"{request.controller_epoch} is old. Latest known controller epoch is {known}",
            "WARN",
        )

    def leader_epoch_was_old(self, request: LeaderAndIsrRequest, current: int) -> None:
        epoch = request.state.leader_epoch
        equal = epoch == current
        why = "matches the" if equal else "is smaller than the"
        shown = "" if equal else f" {current}"
        self.broker_change(
            request.target,
            f"Ignoring LeaderAndIsr request from controller {request.controller} with correlation "
            f"id {self._correlation[request]} epoch {request.controller_epoch} for partition "
            f"{TOPIC_PARTITION} since its associated leader epoch {epoch} {why} "
            f"current leader epoch{shown}",
            "INFO" if equal else "WARN",
        )

    def leader_was_unavailable(self, request: LeaderAndIsrRequest) -> None:
        self.broker_change(
            request.target,
            f"Received LeaderAndIsrRequest with correlation id {self._correlation[request]} from "
            f"controller {request.controller} epoch {request.controller_epoch} for partition "
            f"{TOPIC_PARTITION} (last update controller epoch {request.state.controller_epoch}) "
            f"but cannot become follower since the new leader {request.state.leader} is "
            "unavailable.",
            "ERROR",
        )

    def became_leader(self, request: LeaderAndIsrRequest, end: int, previous_epoch: int) -> None:
        self._transition(request, "Handling", "starting the become-leader transition", "")
        self.partition(
            request.target,
            f"{TOPIC_PARTITION} starts at Leader Epoch {request.state.leader_epoch} from offset "
            f"{end}. Previous Leader Epoch was: {previous_epoch}",
        )
        self._transition(request, "Completed", "for the become-leader transition", "")

    def became_follower(self, request: LeaderAndIsrRequest) -> None:
        leader = f" with leader {request.state.leader}"
        self._transition(request, "Handling", "starting the become-follower transition", leader)
        text = (
            f"[ReplicaFetcherManager on broker {request.target}] Removed fetcher for partitions "
            f"Set({TOPIC_PARTITION})"
        )
        self.line(request.target, SERVER, "INFO", text, "kafka.server.ReplicaFetcherManager")
        self._transition(request, "Completed", "for the become-follower transition", leader)

    def _transition(self, request: LeaderAndIsrRequest, verb: str, what: str, leader: str) -> None:
        self.broker_change(
            request.target,
            f"{verb} LeaderAndIsr request correlationId {self._correlation[request]} from "
            f"controller {request.controller} epoch {request.controller_epoch} {what} for "
            f"partition {TOPIC_PARTITION}{leader}",
        )

    def _state(self, request: LeaderAndIsrRequest) -> str:
        state = request.state
        return (
            f"PartitionState(controllerEpoch={state.controller_epoch}, leader={state.leader}, "
            f"leaderEpoch={state.leader_epoch}, isr={_join(state.isr)}, "
            f"zkVersion={request.zk_version}, replicas={_join(self.replicas)}, isNew=false)"
        )

    # Replication

    def truncated(
        self, broker: int, leader: int, offset: int, end: int, high_watermark: int
    ) -> None:
        if offset < high_watermark:
            self.fetcher(
                broker,
                leader,
                f"Truncating {TOPIC_PARTITION} to offset {offset} below high watermark "
                f"{high_watermark}",
                "WARN",
            )
        if offset >= end:
            self.log(
                broker,
                f"Truncating to {offset} has no effect as the largest offset in the log is "
                f"{end - 1}",
            )
        else:
            self.log(broker, f"Truncating to offset {offset}")

    def truncated_to_high_watermark(self, broker: int, leader: int, high_watermark: int) -> None:
        self.fetcher(
            broker,
            leader,
            f"Truncating partition {TOPIC_PARTITION} to local high watermark {high_watermark}",
            "INFO",
        )

    def isr_shrinks(
        self, broker: int, isr: tuple[int, ...], out: int, known_end: int, hw: int, end: int
    ) -> None:
        fewer = [member for member in isr if member != out]
        self.partition(
            broker,
            f"Shrinking ISR from {_join(isr)} to {_join(fewer)}. Leader: (highWatermark: {hw}, "
            f"endOffset: {end}). Out of sync replicas: (brokerId: {out}, endOffset: {known_end}).",
        )

    def isr_expands(self, broker: int, isr: tuple[int, ...], joining: int) -> None:
        self.partition(broker, f"Expanding ISR from {_join(isr)} to {_join((*isr, joining))}")

    def isr_updated(self, broker: int, isr: tuple[int, ...], version: int) -> None:
        self.partition(
            broker, f"ISR updated to [{_join(isr)}] and zkVersion updated to [{version}]", "TRACE"
        )

    def isr_update_skipped(self, broker: int, version: int) -> None:
        self.partition(
            broker,
            f"Cached zkVersion [{version}] not equal to that in zookeeper, skip updating ISR",
        )


def _join(values: Iterable[int], by: str = ",") -> str:
    return by.join(str(value) for value in values)

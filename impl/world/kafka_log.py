"""Kafka's own log lines (release 2.3) for what happens in a world.

Texts as in section m of the fact sheet; only the events of this slice are written.
"""

from __future__ import annotations

from impl.requests import LeaderAndIsrRequest
from impl.world.kafka_controller_log import SampleControllerLines
from impl.world.log4j import SERVER, join
from impl.zookeeper import TOPIC_PARTITION


class KafkaLogs(SampleControllerLines):
    """Turns what the implementation tells into the lines that Kafka would write.

    Attach it to a new world: it numbers the requests that it saw being sent.
    """

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

    # LeaderAndIsr at its target

    def leader_and_isr_received(self, request: LeaderAndIsrRequest) -> None:
        self.broker_change(
            request.target,
            f"Received LeaderAndIsr request {self.partition_state(request)} correlation id "
            f"{self.correlation[request]} from controller {request.controller} "
            f"epoch {request.controller_epoch} for partition {TOPIC_PARTITION}",
        )

    def controller_epoch_was_old(self, request: LeaderAndIsrRequest, known: int) -> None:
        self.broker_change(
            request.target,
            f"Ignoring LeaderAndIsr request from controller {request.controller} with correlation "
            f"id {self.correlation[request]} since its controller epoch "
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
            f"id {self.correlation[request]} epoch {request.controller_epoch} for partition "
            f"{TOPIC_PARTITION} since its associated leader epoch {epoch} {why} "
            f"current leader epoch{shown}",
            "INFO" if equal else "WARN",
        )

    def leader_was_unavailable(self, request: LeaderAndIsrRequest) -> None:
        self.broker_change(
            request.target,
            f"Received LeaderAndIsrRequest with correlation id {self.correlation[request]} from "
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
            f"{verb} LeaderAndIsr request correlationId {self.correlation[request]} from "
            f"controller {request.controller} epoch {request.controller_epoch} {what} for "
            f"partition {TOPIC_PARTITION}{leader}",
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
            f"Shrinking ISR from {join(isr)} to {join(fewer)}. Leader: (highWatermark: {hw}, "
            f"endOffset: {end}). Out of sync replicas: (brokerId: {out}, endOffset: {known_end}).",
        )

    def isr_expands(self, broker: int, isr: tuple[int, ...], joining: int) -> None:
        self.partition(broker, f"Expanding ISR from {join(isr)} to {join((*isr, joining))}")

    def isr_updated(self, broker: int, isr: tuple[int, ...], version: int) -> None:
        self.partition(
            broker, f"ISR updated to [{join(isr)}] and zkVersion updated to [{version}]", "TRACE"
        )

    def isr_update_skipped(self, broker: int, version: int) -> None:
        self.partition(
            broker,
            f"Cached zkVersion [{version}] not equal to that in zookeeper, skip updating ISR",
        )

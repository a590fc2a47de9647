"""Kafka's own log lines (release 2.3) for what happens in a world of one partition.

What happens to replicas is said by the lines of running brokers (``impl.server.replica_lines``);
here is what a broker says of its process, and which request an event answers.
"""

from __future__ import annotations

from dataclasses import replace

from impl.core.events import LogTruncating, ReplicaEvent, Sender
from impl.releases import DEFAULT, Release
from impl.server.log4j_files import Log4jFiles
from impl.server.replica_lines import ReplicaLines
from impl.world.kafka_controller_log import SampleControllerLines
from impl.world.log4j import SERVER, TOPIC_PARTITION
from impl.world.network import OrderInFlight

FOLDER = "/kafka-logs"


class LinesInMemory(Log4jFiles):
    """One broker's files, kept as the lines of all of them are."""

    def __init__(self, logs: KafkaLogs, broker: int) -> None:
        self.logs = logs
        self.broker = broker
        self.release = Release.of(DEFAULT)
        self.old = False

    def line(self, file: str, level: str, message: str, logger: str, thrown: str = "") -> None:
        """Add one line; the samples have no stack traces."""
        self.logs.line(self.broker, file, level, message, logger)


class KafkaLogs(SampleControllerLines):
    """Turns what the implementation tells into the lines that Kafka would write.

    Attach it to a new world: it numbers the requests that it saw being sent.
    """

    def __init__(self, brokers: int, now_ms: int) -> None:
        super().__init__(brokers, now_ms)
        files = {broker: LinesInMemory(self, broker) for broker in self.brokers}
        self._replicas = {broker: ReplicaLines(one) for broker, one in files.items()}
        self._answers: dict[int, OrderInFlight] = {}
        self._leaders: dict[int, int] = {}

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

    # Replicas

    def request_arrives(self, request: OrderInFlight) -> None:
        self._answers[request.target] = request
        self._leaders[request.target] = request.state.leader

    def replicas(self, broker: int, event: ReplicaEvent) -> None:
        lines = self._replicas[broker]
        if isinstance(event, LogTruncating):
            lines.truncating(event, FOLDER + "/t-0", self._leaders[broker], 0)
            return
        by = getattr(event, "sender", None)
        if isinstance(by, Sender):  # under the number that its sender gave the request
            number = self.correlation[self._answers[broker]]
            event = replace(event, sender=replace(by, correlation=number))  # type: ignore[arg-type]
        lines(event)

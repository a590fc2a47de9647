"""Properties of Kafka's brokers that have no effect here; the broker logs each at startup.

So Kafka's own properties files can be used unchanged. Source: KafkaConfig, up to 2.7.
"""

from __future__ import annotations

REASONS: dict[str, tuple[str, ...]] = {
    "a thread serves each connection, and one lock guards all replicas": (
        "num.network.threads", "background.threads", "num.recovery.threads.per.data.dir",
        "num.replica.alter.log.dirs.threads",
    ),
    "there is one listener, for clients and brokers": (
        "advertised.host.name", "advertised.port", "host.name", "port",
        "listener.security.protocol.map", "inter.broker.listener.name",
        "control.plane.listener.name", "security.inter.broker.protocol",
    ),
    "sockets have the buffers that the operating system gives them": (
        "socket.send.buffer.bytes", "socket.receive.buffer.bytes",
        "replica.socket.receive.buffer.bytes",
    ),
    "a fetch is limited by what the client asks for": ("fetch.max.bytes",),
    "requests between brokers are waited for with fixed limits": ("request.timeout.ms",),
    "the session with ZooKeeper has its timeout alone to be set": (
        "zookeeper.connection.timeout.ms", "zookeeper.sync.time.ms",
        "zookeeper.max.in.flight.requests", "zookeeper.set.acl",
    ),
    "one log is compacted at a time, as fast as it goes": (
        "log.cleaner.threads", "log.cleaner.io.buffer.size",
        "log.cleaner.io.buffer.load.factor", "log.cleaner.io.max.bytes.per.second",
    ),
    "batches are kept as they come": (
        "compression.type", "log.message.downconversion.enable", "log.preallocate",
    ),
    "a log is flushed by its messages, its rolls and its checkpoints": (
        "log.flush.interval.ms", "log.flush.scheduler.interval.ms",
        "log.flush.start.offset.checkpoint.interval.ms",
    ),
    "delayed requests wait on a condition, not in a purgatory": (
        "producer.purgatory.purge.interval.requests", "fetch.purgatory.purge.interval.requests",
        "delete.records.purgatory.purge.interval.requests",
    ),
    "committed offsets do not expire, and are written as groups commit them": (
        "offsets.topic.compression.codec", "offsets.load.buffer.size", "offsets.retention.minutes",
        "offsets.retention.check.interval.ms", "offsets.commit.required.acks",
    ),
    "there are no transactions": (
        "transaction.max.timeout.ms", "transaction.state.log.replication.factor",
        "transaction.state.log.num.partitions", "transaction.state.log.min.isr",
        "transaction.state.log.segment.bytes",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        "transaction.remove.expired.transaction.cleanup.interval.ms",
    ),
    "there are neither quotas of clients, nor metrics, nor authorisation": (
        "quota.producer.default", "quota.consumer.default", "quota.window.num",
        "quota.window.size.seconds", "metric.reporters", "metrics.num.samples",
        "metrics.sample.window.ms", "metrics.recording.level", "kafka.metrics.reporters",
        "kafka.metrics.polling.interval.secs", "authorizer.class.name",
        "principal.builder.class", "create.topic.policy.class.name",
        "alter.config.policy.class.name", "client.quota.callback.class",
    ),
    "the lag is measured in time alone": ("replica.lag.max.messages",),
    "replicas are read from leaders": ("replica.selector.class",),
}  # fmt: skip
"""By reason, the names that it holds for."""

REASON_OF = {name: why for why, names in REASONS.items() for name in names}
"""By name, why it has no effect."""

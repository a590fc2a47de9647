"""The type of each config of topics and brokers, as DescribeConfigs returns it since 2.6 (KIP-569).

Source: LogConfig, KafkaConfig, DescribeConfigsResponse.ConfigType.
"""

from __future__ import annotations

from enum import IntEnum


class ConfigType(IntEnum):
    """A config type, by Kafka's number."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7


_NAMES = {
    ConfigType.BOOLEAN: """
        auto.create.topics.enable auto.leader.rebalance.enable broker.id.generation.enable
        controlled.shutdown.enable delete.topic.enable log.cleaner.enable log.preallocate
        message.downconversion.enable preallocate unclean.leader.election.enable""",
    ConfigType.STRING: """
        advertised.listeners broker.rack compression.type inter.broker.protocol.version listeners
        log.dir log.dirs log.message.format.version log.message.timestamp.type
        max.connections.per.ip.overrides message.format.version message.timestamp.type
        zookeeper.connect""",
    ConfigType.SHORT: """
        offsets.topic.replication.factor""",
    ConfigType.LONG: """
        connections.max.idle.ms controlled.shutdown.retry.backoff.ms delete.retention.ms
        file.delete.delay.ms flush.messages flush.ms follower.replication.throttled.rate
        leader.imbalance.check.interval.seconds leader.replication.throttled.rate
        log.cleaner.backoff.ms log.cleaner.dedupe.buffer.size log.cleaner.delete.retention.ms
        log.cleaner.max.compaction.lag.ms log.cleaner.min.compaction.lag.ms
        log.flush.interval.messages log.flush.interval.ms log.message.timestamp.difference.max.ms
        log.retention.bytes log.retention.check.interval.ms log.retention.ms log.roll.jitter.ms
        log.roll.ms log.segment.delete.delay.ms max.compaction.lag.ms
        message.timestamp.difference.max.ms min.compaction.lag.ms queued.max.request.bytes
        replica.alter.log.dirs.io.max.bytes.per.second
        replica.high.watermark.checkpoint.interval.ms replica.lag.time.max.ms retention.bytes
        retention.ms segment.jitter.ms segment.ms""",
    ConfigType.DOUBLE: """
        log.cleaner.io.buffer.load.factor log.cleaner.io.max.bytes.per.second
        log.cleaner.min.cleanable.ratio min.cleanable.dirty.ratio""",
    ConfigType.LIST: """
        cleanup.policy follower.replication.throttled.replicas
        leader.replication.throttled.replicas log.cleanup.policy metric.reporters""",
    ConfigType.INT: """
        alter.log.dirs.replication.quota.window.num
        alter.log.dirs.replication.quota.window.size.seconds background.threads broker.id
        controlled.shutdown.max.retries controller.socket.timeout.ms default.replication.factor
        group.initial.rebalance.delay.ms group.max.session.timeout.ms group.max.size
        group.min.session.timeout.ms index.interval.bytes leader.imbalance.per.broker.percentage
        log.cleaner.io.buffer.size log.cleaner.threads log.flush.offset.checkpoint.interval.ms
        log.index.interval.bytes log.index.size.max.bytes log.segment.bytes max.connections
        max.connections.per.ip max.incremental.fetch.session.cache.slots max.message.bytes
        message.max.bytes min.insync.replicas num.io.threads num.network.threads num.partitions
        num.recovery.threads.per.data.dir num.replica.fetchers offset.metadata.max.bytes
        offsets.commit.timeout.ms offsets.topic.num.partitions offsets.topic.segment.bytes
        producer.id.expiration.check.interval.ms queued.max.requests replica.fetch.backoff.ms
        replica.fetch.max.bytes replica.fetch.min.bytes replica.fetch.response.max.bytes
        replica.fetch.wait.max.ms replica.socket.timeout.ms replication.quota.window.num
        replication.quota.window.size.seconds reserved.broker.max.id segment.bytes
        segment.index.bytes socket.request.max.bytes transactional.id.expiration.ms
        zookeeper.session.timeout.ms""",
}

TYPES = {name: kind for kind, names in _NAMES.items() for name in names.split()}
"""By name, of every config that brokers describe."""

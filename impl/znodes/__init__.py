"""Kafka's znodes: their paths, and their content by release (``ZkData``)."""

from impl.znodes.brokers import BrokerInfo, broker_version, decode_broker, encode_broker
from impl.znodes.cluster import (
    decode_cluster_id,
    decode_controller,
    decode_controller_epoch,
    decode_log_dir_event,
    encode_cluster_id,
    encode_controller,
    encode_log_dir_event,
)
from impl.znodes.configs import (
    config_change_version,
    decode_config,
    decode_config_change,
    encode_config,
    encode_config_change,
)
from impl.znodes.partitions import (
    TopicPartition,
    decode_partition_set,
    decode_reassignment,
    encode_partition_set,
    encode_reassignment,
)
from impl.znodes.states import LeaderIsrAndControllerEpoch, decode_state, encode_state
from impl.znodes.text import MalformedZnode
from impl.znodes.topics import (
    ReplicaAssignment,
    TopicZnode,
    decode_topic,
    encode_topic,
    topic_version,
)

__all__ = [
    "BrokerInfo",
    "LeaderIsrAndControllerEpoch",
    "MalformedZnode",
    "ReplicaAssignment",
    "TopicPartition",
    "TopicZnode",
    "broker_version",
    "config_change_version",
    "decode_broker",
    "decode_cluster_id",
    "decode_config",
    "decode_config_change",
    "decode_controller",
    "decode_controller_epoch",
    "decode_log_dir_event",
    "decode_partition_set",
    "decode_reassignment",
    "decode_state",
    "decode_topic",
    "encode_broker",
    "encode_cluster_id",
    "encode_config",
    "encode_config_change",
    "encode_controller",
    "encode_log_dir_event",
    "encode_partition_set",
    "encode_reassignment",
    "encode_state",
    "encode_topic",
    "topic_version",
]

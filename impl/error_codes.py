"""Kafka's error codes by name, as `Errors` of org.apache.kafka.common.protocol has them.

A broker's error is such a name until `impl.wire` encodes it as a number. Names that several modules
use are constants here; the others are strings where they are used.
"""

from __future__ import annotations

NONE = "NONE"
ELECTION_NOT_NEEDED = "ELECTION_NOT_NEEDED"
INVALID_REPLICA_ASSIGNMENT = "INVALID_REPLICA_ASSIGNMENT"
KAFKA_STORAGE_ERROR = "KAFKA_STORAGE_ERROR"
NOT_CONTROLLER = "NOT_CONTROLLER"
NO_REASSIGNMENT_IN_PROGRESS = "NO_REASSIGNMENT_IN_PROGRESS"
UNKNOWN_SERVER_ERROR = "UNKNOWN_SERVER_ERROR"
UNKNOWN_TOPIC_OR_PARTITION = "UNKNOWN_TOPIC_OR_PARTITION"

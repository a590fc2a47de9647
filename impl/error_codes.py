"""Kafka's error codes by name, as `Errors` of org.apache.kafka.common.protocol has them.

What a broker answers is such a name until `impl.wire` writes it as a number. Names that occur once
stand as strings where they are answered; those that several modules share stand here.
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

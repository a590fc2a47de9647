"""Exceptions of Kafka's admin tools, with Kafka's names and messages."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence


class AdminError(Exception):
    """A request that cannot be met; ``kafka`` is the name of Kafka's exception.

    ``said`` is what the tool has printed before it came to that.
    """

    kafka = "AdminOperationException"
    package = "org.apache.kafka.common.errors"
    said: Sequence[str] = ()

    @property
    def java_class(self) -> str:
        """The full name of Kafka's exception."""
        name = self.kafka if self.kafka.endswith("Exception") else f"{self.kafka}Exception"
        return f"{self.package}.{name}"


@contextlib.contextmanager
def after(lines: Sequence[str]) -> Iterator[None]:
    """An AdminError raised inside gets these lines, which the tool printed before it failed."""
    try:
        yield
    except AdminError as error:
        error.said = [*lines, *error.said]
        raise


class AdminOperation(AdminError):
    """``AdminOperationException``: the tools' own exception."""

    package = "kafka.admin"


class AdminCommandFailed(AdminError):
    """``AdminCommandFailedException``: a command's arguments make no sense."""

    kafka = "AdminCommandFailedException"
    package = "kafka.common"


class TerseReassignmentFailure(AdminCommandFailed):
    """``TerseReassignmentFailureException`` (2.6): the message says all."""

    kafka = "ReassignPartitionsCommand$TerseReassignmentFailureException"
    package = "kafka.admin"


class InvalidPartitions(AdminError):
    """``InvalidPartitionsException``: that many partitions cannot be."""

    kafka = "InvalidPartitionsException"


class InvalidReplicationFactor(AdminError):
    """``InvalidReplicationFactorException``: that many replicas cannot be."""

    kafka = "InvalidReplicationFactorException"


class InvalidReplicaAssignment(AdminError):
    """``InvalidReplicaAssignmentException``: the replicas given by hand do not go together."""

    kafka = "InvalidReplicaAssignmentException"


class BrokersNotThere(AdminError):
    """``BrokerNotAvailableException``: replicas given by hand are of brokers that are not there."""

    kafka = "BrokerNotAvailableException"


class InvalidTopic(AdminError):
    """``InvalidTopicException``: the name is none, or is too like another one."""

    kafka = "InvalidTopicException"


class TopicExists(AdminError):
    """``TopicExistsException``."""

    kafka = "TopicExistsException"


class TopicAlreadyMarkedForDeletion(AdminError):
    """``TopicAlreadyMarkedForDeletionException``."""

    kafka = "TopicAlreadyMarkedForDeletionException"
    package = "kafka.common"


class UnknownTopicOrPartition(AdminError):
    """``UnknownTopicOrPartitionException``."""

    kafka = "UnknownTopicOrPartition"


class IllegalArgument(AdminError):
    """``IllegalArgumentException``."""

    kafka = "IllegalArgumentException"
    package = "java.lang"


class InvalidConfig(AdminError):
    """``ConfigException``: a value that its configuration cannot have."""

    kafka = "ConfigException"
    package = "org.apache.kafka.common.config"


EXCEPTIONS = {
    "INVALID_PARTITIONS": "InvalidPartitionsException",
    "INVALID_REPLICATION_FACTOR": "InvalidReplicationFactorException",
    "INVALID_REPLICA_ASSIGNMENT": "InvalidReplicaAssignmentException",
    "INVALID_TOPIC_EXCEPTION": "InvalidTopicException",
    "TOPIC_ALREADY_EXISTS": "TopicExistsException",
    "UNKNOWN_TOPIC_OR_PARTITION": "UnknownTopicOrPartitionException",
    "INVALID_CONFIG": "InvalidConfigurationException",
    "INVALID_REQUEST": "InvalidRequestException",
    "TOPIC_DELETION_DISABLED": "TopicDeletionDisabledException",
    "NOT_CONTROLLER": "NotControllerException",
    "UNSUPPORTED_VERSION": "UnsupportedVersionException",
    "BROKER_NOT_AVAILABLE": "BrokerNotAvailableException",
    "NETWORK_EXCEPTION": "NetworkException",
    "REQUEST_TIMED_OUT": "TimeoutException",
}
"""By error code, the name of Kafka's exception, where tools tell it."""


class BrokerRefused(AdminError):
    """An error that a broker answered, under the name of its exception."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.kafka = EXCEPTIONS.get(code, "UnknownServerException")


class JsonMapping(AdminError):
    """``JsonMappingException``: a file lacks a field, or has a value of another type."""

    kafka = "JsonMappingException"
    package = "com.fasterxml.jackson.databind"


class NumberFormat(AdminError):
    """``NumberFormatException``: a znode's name, or a broker's id, is not a number."""

    kafka = "NumberFormatException"
    package = "java.lang"


class ZooKeeperRefused(AdminError):
    """What a tool meets in ZooKeeper: a znode that is not as it should be, a lost connection."""

    kafka = "KeeperException"
    package = "org.apache.zookeeper"


TEXTS = {
    "UNKNOWN_TOPIC_OR_PARTITION": "This server does not host this topic-partition.",
    "INVALID_REPLICA_ASSIGNMENT": "Replica assignment is invalid.",
    "NO_REASSIGNMENT_IN_PROGRESS": "No partition reassignment is in progress.",
    "INVALID_TOPIC_EXCEPTION": "The request attempted to perform an operation on an invalid topic.",
    "PREFERRED_LEADER_NOT_AVAILABLE": "The preferred leader was not available.",
    "ELIGIBLE_LEADERS_NOT_AVAILABLE": "Eligible topic partition leaders are not available.",
    "ELECTION_NOT_NEEDED": "Leader election not needed for topic partition.",
    "REQUEST_TIMED_OUT": "The request timed out.",
    "LOG_DIR_NOT_FOUND": "The user-specified log directory is not found in the broker config.",
    "KAFKA_STORAGE_ERROR": "Disk error when trying to access log file on the disk.",
    "REPLICA_NOT_AVAILABLE": "The replica is not available for the requested topic-partition.",
}
"""By error code, what Kafka says of it (``Errors``)."""

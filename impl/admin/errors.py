"""Exceptions of Kafka's admin tools, with Kafka's names and messages."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence


class AdminError(Exception):
    """A failed admin request; ``kafka`` is the name of Kafka's exception.

    A subclass is named after it. ``said`` are the lines that the tool printed before the failure.
    """

    kafka = "AdminOperationException"
    package = "org.apache.kafka.common.errors"
    said: Sequence[str] = ()

    def __init_subclass__(cls) -> None:
        if "kafka" not in vars(cls):
            cls.kafka = f"{cls.__name__}Exception"

    @property
    def java_class(self) -> str:
        """The full class name of Kafka's exception."""
        return f"{self.package}.{self.kafka}"


@contextlib.contextmanager
def after(lines: Sequence[str]) -> Iterator[None]:
    """Add the lines that the tool printed before to any AdminError raised in the block."""
    try:
        yield
    except AdminError as error:
        error.said = [*lines, *error.said]
        raise


class AdminOperation(AdminError):
    """``AdminOperationException``: the tools' own exception."""

    package = "kafka.admin"


class AdminCommandFailed(AdminError):
    """``AdminCommandFailedException``: invalid arguments of a command."""

    package = "kafka.common"


class TerseReassignmentFailure(AdminCommandFailed):
    """``TerseReassignmentFailureException`` (2.6): only its message is printed."""

    kafka = "ReassignPartitionsCommand$TerseReassignmentFailureException"
    package = "kafka.admin"


class InvalidPartitions(AdminError):
    """``InvalidPartitionsException``: an invalid number of partitions."""


class InvalidReplicationFactor(AdminError):
    """``InvalidReplicationFactorException``: an invalid number of replicas."""


class InvalidReplicaAssignment(AdminError):
    """``InvalidReplicaAssignmentException``: a manual assignment is inconsistent."""


class BrokersNotThere(AdminError):
    """``BrokerNotAvailableException``: a manual assignment names brokers that are not alive."""

    kafka = "BrokerNotAvailableException"


class InvalidTopic(AdminError):
    """``InvalidTopicException``: the name is invalid, or collides with another one."""


class TopicExists(AdminError):
    """``TopicExistsException``."""


class UnknownTopicOrPartition(AdminError):
    """``UnknownTopicOrPartitionException``."""


class IllegalArgument(AdminError):
    """``IllegalArgumentException``."""

    package = "java.lang"


class InvalidConfig(AdminError):
    """``ConfigException``: an invalid value of a config."""

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
    """A broker's error, under the name of its exception."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.kafka = EXCEPTIONS.get(code, "UnknownServerException")


class JsonMapping(AdminError):
    """``JsonMappingException``: a file lacks a field, or has a value of another type."""

    package = "com.fasterxml.jackson.databind"


class NumberFormat(AdminError):
    """``NumberFormatException``: a znode's name, or a broker's id, is not a number."""

    package = "java.lang"


class ZooKeeperRefused(AdminError):
    """An error in ZooKeeper: a malformed znode, a lost connection."""

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

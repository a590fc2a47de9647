"""What Kafka's admin tools refuse, under Kafka's names; the message is Kafka's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence


class AdminError(Exception):
    """A request that cannot be met; ``kafka`` is the name of Kafka's exception.

    ``said`` is what the tool has printed before it came to that.
    """

    kafka = "AdminOperationException"
    said: Sequence[str] = ()


@contextlib.contextmanager
def after(lines: Sequence[str]) -> Iterator[None]:
    """What is refused in here is refused after these lines, as they are then, were printed."""
    try:
        yield
    except AdminError as error:
        error.said = [*lines, *error.said]
        raise


class AdminOperation(AdminError):
    """``AdminOperationException``: the tools' own exception."""


class AdminCommandFailed(AdminError):
    """``AdminCommandFailedException``: a command's arguments make no sense."""

    kafka = "AdminCommandFailedException"


class InvalidPartitions(AdminError):
    """``InvalidPartitionsException``: that many partitions cannot be."""

    kafka = "InvalidPartitionsException"


class InvalidReplicationFactor(AdminError):
    """``InvalidReplicationFactorException``: that many replicas cannot be."""

    kafka = "InvalidReplicationFactorException"


class InvalidReplicaAssignment(AdminError):
    """``InvalidReplicaAssignmentException``: the replicas given by hand do not go together."""

    kafka = "InvalidReplicaAssignmentException"


class InvalidTopic(AdminError):
    """``InvalidTopicException``: the name is none, or is too like another one."""

    kafka = "InvalidTopicException"


class TopicExists(AdminError):
    """``TopicExistsException``."""

    kafka = "TopicExistsException"


class TopicAlreadyMarkedForDeletion(AdminError):
    """``TopicAlreadyMarkedForDeletionException``."""

    kafka = "TopicAlreadyMarkedForDeletionException"


class UnknownTopicOrPartition(AdminError):
    """``UnknownTopicOrPartitionException``."""

    kafka = "UnknownTopicOrPartition"


class IllegalArgument(AdminError):
    """``IllegalArgumentException``."""

    kafka = "IllegalArgumentException"


class InvalidConfig(AdminError):
    """``ConfigException``: a value that its configuration cannot have."""

    kafka = "ConfigException"


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

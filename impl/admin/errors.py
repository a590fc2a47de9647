"""What Kafka's admin tools refuse, under Kafka's names; the message is Kafka's."""

from __future__ import annotations


class AdminError(Exception):
    """A request that cannot be met; ``kafka`` is the name of Kafka's exception."""

    kafka = "AdminOperationException"


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

"""Names of a partition's directory, in use and marked for deletion."""

from __future__ import annotations

import re
from typing import NamedTuple

from impl.log.checkpoint_file import TopicPartition
from impl.log.errors import StorageError

LONGEST = 255
"""Characters of a file name."""

_SPECIAL = re.compile(r"(?P<topic>.+)-(?P<partition>\d+)\.(?P<id>[^.]+)-(?P<kind>delete|future)")
_PLAIN = re.compile(r"(?P<topic>.+)-(?P<partition>\d+)")


class ParsedDirectoryName(NamedTuple):
    """The partition that a directory is for, and its kind: ``""``, ``delete`` or ``future``."""

    partition: TopicPartition
    kind: str


def directory_name(partition: TopicPartition) -> str:
    """``topic-partition``."""
    return f"{partition[0]}-{partition[1]}"


def delete_name(partition: TopicPartition, unique: str) -> str:
    """``topic-partition.unique-delete``; a long topic name is cut so that the rest fits."""
    rest = f"-{partition[1]}.{unique}-delete"
    return f"{partition[0][: LONGEST - len(rest)]}{rest}"


def future_name(partition: TopicPartition, unique: str) -> str:
    """``topic-partition.unique-future``: the copy of a replica in another directory (1.1+)."""
    return f"{directory_name(partition)}.{unique}-future"


def parse_name(log_directory: str, name: str) -> ParsedDirectoryName:
    """The partition and kind of a directory. StorageError if the name is not a partition's."""
    special = _SPECIAL.fullmatch(name)
    found = special or _PLAIN.fullmatch(name)
    if found is None:
        why = "a log directory holds topic-partition, or topic-partition.id-delete or -future"
        raise StorageError(f"{log_directory}/{name}", "", why)
    partition = found["topic"], int(found["partition"])
    return ParsedDirectoryName(partition, special["kind"] if special else "")

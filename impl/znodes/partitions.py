"""Znodes that list partitions: reassignment, preferred election, changes of ISRs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from impl.releases import Release
from impl.znodes import paths
from impl.znodes.text import MalformedZnode, ZnodeFields, write


class TopicPartition(NamedTuple):
    """A partition of a topic; written "topic-N"."""

    topic: str
    partition: int

    @staticmethod
    def of(text: str) -> TopicPartition:
        """Read "topic-N"; the last dash separates. ValueError for an invalid text."""
        topic, dash, number = text.rpartition("-")
        if not dash or not topic or not number.isdecimal():
            raise ValueError(f"a partition is written topic-N, such as t-0, not {text!r}")
        return TopicPartition(topic, int(number))

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


def encode_reassignment(targets: Mapping[TopicPartition, Iterable[int]]) -> str:
    """The text of ``/admin/reassign_partitions``, in the given order."""
    entries = [
        {"topic": one.topic, "partition": one.partition, "replicas": list(replicas)}
        for one, replicas in targets.items()
    ]
    return write({"version": 1, "partitions": entries})


def decode_reassignment(text: str, release: Release) -> dict[TopicPartition, tuple[int, ...]]:
    """The targets in ``/admin/reassign_partitions``, in their order.

    If a partition is named twice, the last target counts. MalformedZnode names the wrong part.
    Since 2.0 (KAFKA-4914: Jackson binds the text to classes) an unknown field and a text that is
    not JSON are errors; before, such a text and one without partitions are empty requests.
    """
    by_class = release.since("2.0")
    try:
        reader = ZnodeFields.of(paths.REASSIGN_PARTITIONS, text)
    except MalformedZnode:
        if by_class or _is_json(text):
            raise
        return {}
    if by_class:
        reader.has_only("version", "partitions")
        for entry in reader.entries("partitions"):
            entry.has_only("topic", "partition", "replicas")
    elif not reader.has("partitions"):
        return {}
    return {_partition(entry): entry.ids("replicas") for entry in reader.entries("partitions")}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True


def encode_partition_set(partitions: Iterable[TopicPartition]) -> str:
    """The text of a preferred election or of an ISR change, in the given order."""
    entries = [{"topic": one.topic, "partition": one.partition} for one in partitions]
    return write({"version": 1, "partitions": entries})


def decode_partition_set(path: str, text: str) -> list[TopicPartition]:
    """The partitions in such a znode, in order; MalformedZnode names the wrong part."""
    reader = ZnodeFields.of(path, text)
    return list(dict.fromkeys(_partition(entry) for entry in reader.entries("partitions")))


def _partition(entry: ZnodeFields) -> TopicPartition:
    number = entry.whole("partition")
    if number < 0:
        raise entry.wrong("partition", f"is {number}, and partitions are numbered from 0")
    return TopicPartition(entry.string("topic"), number)

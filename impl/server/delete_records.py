"""DeleteRecords (KIP-107): raises log start offsets, on leaders first and then on followers.

Source: ``ReplicaManager.deleteRecords``, ``Partition.deleteRecordsOnLeader``,
``DelayedDeleteRecords``.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from impl.core.fetcher_thread import EARLIEST
from impl.error_codes import NONE
from impl.log.errors import OffsetOutOfRange, StorageError
from impl.server.replicas import HostedReplicas
from impl.znodes import TopicPartition
from impl.zookeeper.port import wait

HIGH_WATERMARK = -1
"""Instead of an offset: all that is committed."""
INTERNAL = frozenset({"__consumer_offsets", "__transaction_state"})


def delete_records(
    replicas: HostedReplicas, offsets: Mapping[TopicPartition, int], wait_ms: int
) -> dict[TopicPartition, tuple[int, str]]:
    """Low watermarks (-1 where there is an error), and errors.

    A partition is done when the log of every replica on a live broker begins there.
    """
    deadline = time.monotonic() + wait_ms / 1000
    found: dict[TopicPartition, tuple[int, str]] = {}
    with replicas.lock:
        begun: dict[TopicPartition, int] = {}
        for partition, offset in offsets.items():
            start, error = _raise_start(replicas, partition, offset)
            if error == NONE:
                begun[partition] = start
            else:
                found[partition] = -1, error
        replicas.deletes_waiting += 1
        try:
            while True:
                for partition, start in list(begun.items()):
                    low, error = low_watermark(replicas, partition)
                    if error != NONE or low >= start:
                        found[partition] = low, error
                        del begun[partition]
                left = deadline - time.monotonic()
                if not begun or left <= 0:
                    break
                replicas.changed.wait(left)
        finally:
            replicas.deletes_waiting -= 1
        for partition in begun:
            found[partition] = low_watermark(replicas, partition)[0], "REQUEST_TIMED_OUT"
    return found


def _raise_start(
    replicas: HostedReplicas, partition: TopicPartition, offset: int
) -> tuple[int, str]:
    """``deleteRecordsOnLeader``: where the log is to begin, and an error."""
    if partition.topic in INTERNAL:
        return -1, "INVALID_TOPIC_EXCEPTION"
    led = wait(replicas.core.list_offset(partition, EARLIEST, False))
    if led.error != NONE:
        return -1, led.error
    log = replicas.logs.log(partition)
    assert log is not None, "who leads has a log"
    if not log.config.deletes:
        return -1, "POLICY_VIOLATION"
    start = replicas.core.partitions[partition].hw if offset == HIGH_WATERMARK else offset
    if start < 0:
        return -1, "OFFSET_OUT_OF_RANGE"
    try:
        if log.advance_log_start(start):
            why = "client delete records request"
            replicas.lines.log_start_raised(partition, start, log.directory, why)
    except OffsetOutOfRange:
        return -1, "OFFSET_OUT_OF_RANGE"
    except StorageError:
        return -1, "KAFKA_STORAGE_ERROR"
    return start, NONE


def low_watermark(replicas: HostedReplicas, partition: TopicPartition) -> tuple[int, str]:
    """The lowest log start offset of the live replicas, and an error."""
    led = wait(replicas.core.list_offset(partition, EARLIEST, False))
    if led.error != NONE:
        return -1, led.error
    alive = replicas.core.metadata.alive
    remotes = replicas.core.partitions[partition].remotes
    return min([led.offset, *(it.log_start for one, it in remotes.items() if one in alive)]), NONE

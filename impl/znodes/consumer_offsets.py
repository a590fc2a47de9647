"""Offsets that groups commit to ZooKeeper, as clients of 0.8.1 do.

Any broker carries out version 0 of OffsetCommit and OffsetFetch there.
Source: KafkaApis.handleOffsetCommitRequest, KafkaZkClient.setOrCreateConsumerOffset.
"""

from __future__ import annotations

from impl.znodes import paths
from impl.znodes.partitions import TopicPartition
from impl.znodes.retrying_client import RetryingZnodeClient
from impl.zookeeper.errors import BadArguments, NoNode


async def store_offset(
    client: RetryingZnodeClient, group: str, partition: TopicPartition, offset: int
) -> None:
    """Create or overwrite an offset. ZooKeeperError; BadArguments for an empty group name."""
    path = _path(group, partition)
    try:
        await client.retry(lambda: client.port.set_data(path, str(offset)))
    except NoNode:
        await client.make_path(path, str(offset))


async def read_stored_offset(
    client: RetryingZnodeClient, group: str, partition: TopicPartition
) -> int | None:
    """The offset, None if there is none. ZooKeeperError; ValueError if it is not a number."""
    node = await client.read(_path(group, partition))
    return None if node is None else int(node.data)


def _path(group: str, partition: TopicPartition) -> str:
    if not all(group.split("/")) or not group.isprintable():
        raise BadArguments(f"{group!r} is no name of a znode")
    return paths.consumer_offset(group, partition.topic, partition.partition)

"""Producer ids: each broker reserves blocks of 1000 in ``/latest_producer_id_block``.

Source: ProducerIdManager and ProducerIdBlockZNode (0.11).
"""

from __future__ import annotations

from typing import NamedTuple

from impl.znodes import paths
from impl.znodes.client import ZnodeClient
from impl.znodes.text import ZnodeFields, write
from impl.zookeeper.errors import BadVersion

BLOCK_SIZE = 1000
LARGEST = 2**63 - 1


class ProducerIdBlock(NamedTuple):
    """A block of ids from ``start`` to ``end``, both included, that belongs to a broker."""

    broker: int
    start: int
    end: int


def encode_block(block: ProducerIdBlock) -> str:
    """The text of ``/latest_producer_id_block``."""
    return write(
        {"version": 1, "broker": block.broker, "block_start": str(block.start),
         "block_end": str(block.end)}
    )  # fmt: skip


def decode_block(text: str) -> ProducerIdBlock:
    """The last reserved block. MalformedZnode names the wrong part."""
    reader = ZnodeFields.of(paths.PRODUCER_ID_BLOCK, text, range(1, 2))
    ends = []
    for name in ("block_start", "block_end"):
        if not reader.string(name).isdecimal():
            raise reader.wrong(name, f"is {reader.string(name)!r}, not a number as text")
        ends.append(int(reader.string(name)))
    return ProducerIdBlock(reader.whole("broker"), *ends)


class ProducerIdsExhausted(Exception):
    """No id is left; Kafka's broker halts here."""


class ProducerIds:
    """Allocates the ids of one broker; the caller asks for one id at a time."""

    def __init__(self, broker: int) -> None:
        self.broker = broker
        self.block = ProducerIdBlock(broker, 0, -1)
        self.next = 0

    async def generate(self, client: ZnodeClient) -> int:
        """Return an unused id. ZooKeeperError, MalformedZnode, ProducerIdsExhausted."""
        if self.next > self.block.end:
            await self.take_block(client)
        found, self.next = self.next, self.next + 1
        return found

    async def take_block(self, client: ZnodeClient) -> None:
        """Reserve the block after the latest by a conditional write; retry until it succeeds."""
        while True:
            node = await client.read(paths.PRODUCER_ID_BLOCK)
            if node is None:
                await client.make_path(paths.PRODUCER_ID_BLOCK)
                continue
            start = decode_block(node.data).end + 1 if node.data else 0
            if start > LARGEST - BLOCK_SIZE:
                raise ProducerIdsExhausted(f"the latest block of producer ids ends at {start - 1}")
            wanted = ProducerIdBlock(self.broker, start, start + BLOCK_SIZE - 1)
            if await self._write_block(client, encode_block(wanted), node.version):
                self.block, self.next = wanted, start
                return

    async def _write_block(self, client: ZnodeClient, text: str, version: int) -> bool:
        """False if another broker was first. A write with a lost response is recognised."""
        try:
            await client.retry(lambda: client.port.set_data(paths.PRODUCER_ID_BLOCK, text, version))
        except BadVersion:
            now = await client.read(paths.PRODUCER_ID_BLOCK)
            return now is not None and now.data == text
        return True

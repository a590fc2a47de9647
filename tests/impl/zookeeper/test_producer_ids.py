from __future__ import annotations

import pytest

from impl.releases import Release
from impl.znodes import MalformedZnode, paths
from impl.znodes.client import ZnodeClient
from impl.znodes.producer_ids import (
    LARGEST,
    ProducerIdBlock,
    ProducerIds,
    ProducerIdsExhausted,
    decode_block,
    encode_block,
)
from impl.zookeeper.errors import ConnectionLoss
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.znode import ANY_VERSION, Znode


def client_of(store: ZooKeeper) -> ZnodeClient:
    client = ZnodeClient(EmbeddedSession(store, 6000, 0), Release.of("2.3"))
    wait(client.make_path(paths.PRODUCER_ID_BLOCK))
    return client


def test_a_broker_takes_a_thousand_ids_at_a_time_and_no_two_brokers_share_one():
    client = client_of(ZooKeeper())
    first, second = ProducerIds(1), ProducerIds(2)

    ids = [wait(one.generate(client)) for _ in range(1001) for one in (first, second)]

    assert len(set(ids)) == 2002
    assert ids[:4] == [0, 1000, 1, 1001]
    assert ids[-2:] == [2000, 3000]
    node = wait(client.read(paths.PRODUCER_ID_BLOCK))
    assert node is not None
    assert node.data == '{"version":1,"broker":2,"block_start":"3000","block_end":"3999"}'


def test_a_broker_that_starts_again_leaves_the_rest_of_its_block():
    client = client_of(ZooKeeper())
    wait(ProducerIds(1).generate(client))

    assert wait(ProducerIds(1).generate(client)) == 1000


class ForgetfulSession(EmbeddedSession):
    """Its next write is done, and its answer lost."""

    lost = 1

    async def set_data(self, path: str, data: str, version: int = ANY_VERSION) -> Znode:
        done = await super().set_data(path, data, version)
        if self.lost:
            self.lost -= 1
            raise ConnectionLoss("the answer is lost")
        return done


def test_a_write_whose_answer_was_lost_is_known_as_ones_own():
    store = ZooKeeper()
    wait(client_of(store).make_path(paths.PRODUCER_ID_BLOCK))
    client = ZnodeClient(ForgetfulSession(store, 6000, 0), Release.of("2.3"))

    assert wait(ProducerIds(1).generate(client)) == 0
    node = wait(client.read(paths.PRODUCER_ID_BLOCK))
    assert node is not None
    assert decode_block(node.data) == ProducerIdBlock(1, 0, 999)


def test_the_last_ids_are_not_given_out():
    client = client_of(ZooKeeper())
    text = encode_block(ProducerIdBlock(1, LARGEST - 1999, LARGEST - 1000))
    wait(client.port.set_data(paths.PRODUCER_ID_BLOCK, text))

    with pytest.raises(ProducerIdsExhausted):
        wait(ProducerIds(1).generate(client))


@pytest.mark.parametrize(
    "text", ["x", "{}", '{"version":1,"broker":1,"block_start":"a","block_end":"9"}']
)
def test_a_block_that_is_none_is_refused_by_its_path(text):
    with pytest.raises(MalformedZnode, match=paths.PRODUCER_ID_BLOCK):
        decode_block(text)

"""``/brokers/topics/T/partitions/P/state``: the leader and ISR of a partition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from impl.znodes import paths
from impl.znodes.text import ZnodeFields, write

NO_LEADER = -1
LEADER_DURING_DELETE = -2
INITIAL_LEADER_EPOCH = 0


@dataclass(frozen=True, order=True, slots=True)
class LeaderIsrAndControllerEpoch:
    """Leader, leader epoch, ISR in its order, and the epoch of the controller that wrote it.

    ``zk_version`` is the data version of the znode, not a part of its text.
    """

    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    controller_epoch: int
    zk_version: int = 0

    def with_zk_version(self, version: int) -> LeaderIsrAndControllerEpoch:
        """The same state under this zkVersion."""
        return replace(self, zk_version=version)


def encode_state(state: LeaderIsrAndControllerEpoch) -> str:
    """The text of a state znode, version 1."""
    return write(
        {
            "controller_epoch": state.controller_epoch,
            "leader": state.leader,
            "version": 1,
            "leader_epoch": state.leader_epoch,
            "isr": list(state.isr),
        }
    )


@lru_cache(maxsize=4096)
def decode_state(
    topic: str, partition: int, text: str, zk_version: int
) -> LeaderIsrAndControllerEpoch:
    """Decode a state znode; MalformedZnode names the wrong part."""
    reader = ZnodeFields.of(paths.state(topic, partition), text, range(1, 2))
    return LeaderIsrAndControllerEpoch(
        leader=reader.whole("leader"),
        leader_epoch=reader.whole("leader_epoch"),
        isr=reader.ids("isr"),
        controller_epoch=reader.whole("controller_epoch"),
        zk_version=zk_version,
    )

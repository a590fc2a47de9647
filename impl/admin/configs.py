"""Changes configs of a topic or a broker in ZooKeeper (``AdminZkClient``).

The constants are the names of the replication throttles (KIP-73, KIP-113).
"""

from __future__ import annotations

from collections.abc import Mapping

from impl.znodes import decode_config, encode_config, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
MOVE_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
LEADERS = "leader.replication.throttled.replicas"
FOLLOWERS = "follower.replication.throttled.replicas"


def read_config(client: ZnodeClient, kind: str, name: str) -> dict[str, str]:
    """The configs that are set on an entity. MalformedZnode."""
    node = wait(client.read(paths.config(kind, name)))
    return {} if node is None else decode_config(kind, name, node.data)


def write_config(client: ZnodeClient, kind: str, name: str, configs: Mapping[str, str]) -> None:
    """Write an entity's configs, whatever there was."""
    path, text = paths.config(kind, name), encode_config(configs)
    wait(client.make_path(path, text))
    wait(client.retry(lambda: client.port.set_data(path, text)))


def edit_config(
    client: ZnodeClient, kind: str, name: str, settings: Mapping[str, str | None]
) -> bool:
    """Set and (None) unset configs, and notify the brokers.

    Returns False, and writes nothing, if nothing changes. MalformedZnode for a znode that cannot be
    read.
    """
    known = read_config(client, kind, name)
    wanted = {key: value for key, value in known.items() if key not in settings}
    wanted |= {key: value for key, value in settings.items() if value is not None}
    if wanted == known:
        return False
    write_config(client, kind, name, wanted)
    wait(client.notify_config_change(kind, name))
    return True

"""IncrementalAlterConfigs (KIP-339, 2.3): a broker writes what is set for topics and brokers.

Here it is what throttles are set and taken away by; every broker hears of it through
``/config/changes``. Source: AdminManager.incrementalAlterConfigs, AdminZkClient.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from impl.admin.configs import edit_config
from impl.admin.throttles import FOLLOWER_RATE, LEADER_RATE, MOVE_RATE
from impl.server.properties import TOPIC_KEYS
from impl.server.wire import Message
from impl.znodes import MalformedZnode
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait

KEYS = {"topics": TOPIC_KEYS, "brokers": frozenset((LEADER_RATE, FOLLOWER_RATE, MOVE_RATE))}
"""By kind of entity, what can be set."""


def alter(client: ZnodeClient, head: Mapping[str, Any]) -> Message:
    """Set and (None) unset; an error and a message for each entity, none of which hinders another.

    ``entities`` are rows of kind, name, and the settings that change.
    """
    rows = []
    for kind, name, settings in head["entities"]:
        error, text = _alter(client, kind, str(name), settings)
        rows.append([kind, name, error, text])
    return Message({"error": "NONE", "entities": rows})


def _alter(
    client: ZnodeClient, kind: str, name: str, settings: Mapping[str, str | None]
) -> tuple[str, str]:
    if kind not in KEYS:
        return "INVALID_REQUEST", f"{kind} is no kind of resource; topics and brokers are"
    unknown = sorted(set(settings) - KEYS[kind])
    if unknown:
        return "INVALID_REQUEST", f"Unknown config name: {unknown[0]}"
    if kind == "topics" and wait(client.topic(name)) is None:
        return "UNKNOWN_TOPIC_OR_PARTITION", f"The topic '{name}' does not exist."
    try:
        edit_config(client, kind, name, settings)
    except MalformedZnode as error:
        return "UNKNOWN_SERVER_ERROR", str(error)
    return "NONE", ""

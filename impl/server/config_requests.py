"""AlterConfigs (0.11) and IncrementalAlterConfigs (KIP-339, 2.3).

Configs of topics and brokers are written to ZooKeeper; ``/config/changes`` notifies every broker.
Source: AdminManager.describeConfigs, alterConfigs, incrementalAlterConfigs.
"""

from __future__ import annotations

from collections.abc import Mapping

from impl.admin.configs import edit_config, read_config
from impl.admin.errors import InvalidConfig
from impl.admin.topic_command import check_value
from impl.releases import Release
from impl.server.dynamic_configs import EVERY_BROKER, invalid_value_reason, settable
from impl.server.properties import TOPIC_KEYS
from impl.znodes import MalformedZnode
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait


def keys_of(kind: str, release: Release) -> frozenset[str]:
    """The configs that can be set on entities of a type."""
    return TOPIC_KEYS if kind == "topics" else settable(release)


def alter(
    client: ZnodeClient, kind: str, name: str, settings: Mapping[str, str | None],
    replaces: bool = False, validate_only: bool = False,
) -> tuple[str, str]:  # fmt: skip
    """Set and (None) unset an entity's configs; returns an error and a message.

    ``replaces``: configs that are not named are unset.
    """
    if kind not in ("topics", "brokers"):
        return "INVALID_REQUEST", f"{kind} is no kind of resource; topics and brokers are"
    unknown = sorted(set(settings) - keys_of(kind, client.release))
    if unknown:
        return "INVALID_REQUEST", f"Unknown config name: {unknown[0]}"
    if kind == "brokers" and name != EVERY_BROKER and not name.isdecimal():
        return "INVALID_REQUEST", f"{name!r} is no broker; write its number, or {EVERY_BROKER}"
    if kind == "topics" and wait(client.topic(name)) is None:
        return "UNKNOWN_TOPIC_OR_PARTITION", f"The topic '{name}' does not exist."
    if why := _first_invalid_value(kind, settings, client.release):
        return "INVALID_CONFIG", why
    try:
        known = read_config(client, kind, name)
        if validate_only:
            return "NONE", ""
        changes = {**dict.fromkeys(known), **settings} if replaces else settings
        edit_config(client, kind, name, changes)
    except MalformedZnode as error:
        return "UNKNOWN_SERVER_ERROR", str(error)
    return "NONE", ""


def _first_invalid_value(kind: str, settings: Mapping[str, str | None], release: Release) -> str:
    """What is wrong with the first value that cannot be; empty if all can."""
    for name, value in settings.items():
        if value is None:
            continue
        if kind == "topics":
            try:
                check_value(name, value, release)
            except InvalidConfig as error:
                return str(error)
        elif why := invalid_value_reason(name, value):
            return f"Invalid value {value} for configuration {name}: {why}"
    return ""

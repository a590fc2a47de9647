"""DescribeConfigs, AlterConfigs and IncrementalAlterConfigs of topics and brokers.

All that holds for a topic or a broker is described, with where it comes from, not only what is set.
Source: AdminManager.describeConfigs, alterConfigs, incrementalAlterConfigs (KIP-133, 226, 339).
"""

from __future__ import annotations

from typing import Any

from impl.error_codes import NONE
from impl.log.config import FIELDS, ONLY_KEPT
from impl.server import config_requests
from impl.server.apis.asked import ApiRequest, no_throttle
from impl.server.config_requests import keys_of, settings_of
from impl.server.dynamic_configs import EVERY_BROKER
from impl.server.properties import KNOWN, LOG_KEYS, TOPIC_KEYS
from impl.wire import Fields, error_code
from impl.znodes import MalformedZnode

TOPIC, BROKER = 2, 4
KINDS = {TOPIC: "topics", BROKER: "brokers"}
SOURCES = {
    "DYNAMIC_TOPIC_CONFIG": 1, "DYNAMIC_BROKER_CONFIG": 2, "DYNAMIC_DEFAULT_BROKER_CONFIG": 3,
    "STATIC_BROKER_CONFIG": 4, "DEFAULT_CONFIG": 5,
}  # fmt: skip
BOOLEAN, STRING, INT, LONG, DOUBLE, LIST = 1, 2, 3, 5, 6, 7
SET, DELETE, APPEND, SUBTRACT = range(4)
LISTS = frozenset(
    ("cleanup.policy", "log.cleanup.policy", "leader.replication.throttled.replicas",
     "follower.replication.throttled.replicas")
)  # fmt: skip
"""What has several values, parted by commas."""

_FORMATS = ("0.8.0", "0.10.0", "0.11.0")

Layers = list[tuple[str, str]]
"""Where a setting has which value, the one that holds first."""


def describe_configs(asked: ApiRequest) -> Fields:
    """Topics, and this broker (or what is set for every one)."""
    results = []
    for one in asked.body.resources:
        error, text, found = _described(asked, one.resource_type, one.resource_name)
        keys = one.configuration_keys
        rows = [
            _setting(asked, name, layers)
            for name, layers in sorted(found.items())
            if keys is None or name in keys
        ]
        results.append(
            Fields(
                error_code=error_code(error), error_message=text or None,
                resource_type=one.resource_type, resource_name=one.resource_name, configs=rows,
            )
        )  # fmt: skip
    return Fields(throttle_time=no_throttle(), results=results)


def _described(asked: ApiRequest, kind: int, name: str) -> tuple[str, str, dict[str, Layers]]:
    shared = asked.shared
    if kind == TOPIC:
        if not shared.partitions_of(name):
            return "UNKNOWN_TOPIC_OR_PARTITION", "This server does not host this topic.", {}
        try:
            own = settings_of(shared.client, "topics", name)
        except MalformedZnode as error:
            return "UNKNOWN_SERVER_ERROR", str(error), {}
        return NONE, "", {key: _of_topic(asked, key, own) for key in TOPIC_KEYS}
    if kind != BROKER:
        return "INVALID_REQUEST", f"Unsupported resource type: {kind}", {}
    dynamic = shared.dynamic
    if not name:
        source = "DYNAMIC_DEFAULT_BROKER_CONFIG"
        return NONE, "", {key: [(source, value)] for key, value in dynamic.of_all.items()}
    if name != str(shared.replicas.broker):
        why = f"Unexpected broker id, expected {shared.replicas.broker}, but received {name}"
        return "INVALID_REQUEST", why, {}
    keys = {*KNOWN, *LOG_KEYS, *dynamic.without_effect}
    return NONE, "", {key: _of_broker(asked, key) for key in keys}


def settings_of_topic(asked: ApiRequest, own: dict[str, str]) -> list[Fields]:
    """All that holds for a topic of which these settings are its own."""
    return [_setting(asked, key, _of_topic(asked, key, own)) for key in sorted(TOPIC_KEYS)]


def _of_broker(asked: ApiRequest, key: str) -> Layers:
    layers = asked.shared.dynamic.synonyms(key)
    if not layers and key in KNOWN:
        layers = [("DEFAULT_CONFIG", str(asked.shared.config.values[key] or ""))]
    return [(source, _plain(key, value)) for source, value in layers]


def _of_topic(asked: ApiRequest, key: str, own: dict[str, str]) -> Layers:
    """A topic's setting, and what the broker has where the topic has none."""
    layers = [("DYNAMIC_TOPIC_CONFIG", own[key])] if key in own else []
    of_broker = _broker_name(key)
    if of_broker is not None:
        layers += _of_broker(asked, of_broker)
    elif key.endswith("throttled.replicas"):
        layers.append(("DEFAULT_CONFIG", ""))
    elif key in ONLY_KEPT:
        layers.append(("DEFAULT_CONFIG", ONLY_KEPT[key]))
    else:
        settings = asked.shared.replicas.logs.settings.config
        value = str(getattr(settings, FIELDS[key]))
        layers.append(("DEFAULT_CONFIG", _plain(key, value)))
    return layers


def _broker_name(key: str) -> str | None:
    """What a broker calls a topic's setting, if it has it."""
    if key in KNOWN:
        return key
    field = FIELDS.get(key)
    return next((name for name in sorted(LOG_KEYS) if FIELDS[name] == field and field), None)


def _plain(key: str, value: str) -> str:
    """A value as Kafka writes it."""
    if key.endswith("message.format.version") and value in ("0", "1", "2"):
        return _FORMATS[int(value)]
    return value.lower() if value in ("True", "False") else value


def _setting(asked: ApiRequest, name: str, layers: Layers) -> Fields:
    source, value = layers[0] if layers else ("DEFAULT_CONFIG", "")
    with_synonyms = bool(asked.get("include_synonyms", False))
    settable = keys_of("brokers", asked.shared.release) | TOPIC_KEYS
    return Fields(
        name=name, value=value, read_only=name not in settable,
        is_default=source in ("DEFAULT_CONFIG", "STATIC_BROKER_CONFIG"),
        config_source=SOURCES[source], is_sensitive=False,
        synonyms=[
            Fields(name=_broker_name(name) or name if one != "DYNAMIC_TOPIC_CONFIG" else name,
                   value=known, source=SOURCES[one])
            for one, known in layers
            if with_synonyms
        ],
        config_type=_type(name, value), documentation=None,
    )  # fmt: skip


def _type(name: str, value: str) -> int:
    if name in LISTS:
        return LIST
    if value in ("true", "false"):
        return BOOLEAN
    if value.lstrip("-").isdecimal():
        return LONG if name.endswith(".ms") or abs(int(value)) > 2**31 - 1 else INT
    return DOUBLE if value.replace(".", "", 1).isdecimal() and name.endswith("ratio") else STRING


def alter_configs(asked: ApiRequest) -> Fields:
    """What is not named is unset."""
    wanted = [
        (one, {each.name: each.value for each in one.configs}, "") for one in asked.body.resources
    ]
    return _altered(asked, wanted, replaces=True)


def incremental_alter_configs(asked: ApiRequest) -> Fields:
    """Set, unset, and add to or take from lists."""
    wanted = [(one, *_changes(asked, one)) for one in asked.body.resources]
    return _altered(asked, wanted, replaces=False)


def _changes(asked: ApiRequest, resource: Any) -> tuple[dict[str, str | None], str]:
    """The settings that change, and what is wrong with that."""
    changes: dict[str, str | None] = {}
    names = [each.name for each in resource.configs]
    if len(names) != len(set(names)):
        return {}, "Error due to duplicate config keys"
    for each in resource.configs:
        if each.config_operation == DELETE:
            changes[each.name] = None
        elif each.config_operation == SET:
            if each.value is None:
                return {}, f"Null value not supported for : {each.name}"
            changes[each.name] = each.value
        elif each.config_operation in (APPEND, SUBTRACT):
            if each.name not in LISTS:
                return {}, f"Config value append is not allowed for config key: {each.name}"
            changes[each.name] = _list_with(asked, resource, each)
        else:
            return {}, f"Unknown config operation {each.config_operation}"
    return changes, ""


def _list_with(asked: ApiRequest, resource: Any, each: Any) -> str:
    _, _, found = _described(asked, resource.resource_type, resource.resource_name)
    layers = found.get(each.name, [])
    parts = [part for part in (layers[0][1] if layers else "").split(",") if part]
    named = [part for part in (each.value or "").split(",") if part]
    if each.config_operation == APPEND:
        parts += [one for one in named if one not in parts]
    else:
        parts = [one for one in parts if one not in named]
    return ",".join(parts)


def _altered(
    asked: ApiRequest, wanted: list[tuple[Any, dict[str, str | None], str]], replaces: bool
) -> Fields:
    rows = []
    for resource, changes, wrong in wanted:
        kind, name = KINDS.get(resource.resource_type), resource.resource_name
        error, text = "INVALID_REQUEST", wrong
        if kind is None:
            text = f"Unsupported resource type: {resource.resource_type}"
        elif not wrong:
            entity = EVERY_BROKER if kind == "brokers" and not name else name
            error, text = config_requests.alter(
                asked.shared.client, kind, entity, changes, replaces, bool(asked.body.validate_only)
            )
        rows.append(
            Fields(
                error_code=error_code(error), error_message=text or None,
                resource_type=resource.resource_type, resource_name=name,
            )
        )  # fmt: skip
    return Fields(throttle_time=no_throttle(), responses=rows)

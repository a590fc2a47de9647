"""DescribeConfigs, AlterConfigs and IncrementalAlterConfigs of topics and brokers.

DescribeConfigs returns every config of a topic or a broker with its source, not only the ones that
were set.
Source: AdminManager.describeConfigs, alterConfigs, incrementalAlterConfigs (KIP-133, 226, 339).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from impl.admin.configs import read_config
from impl.error_codes import NONE
from impl.log.config import FIELDS, ONLY_KEPT
from impl.server import config_requests
from impl.server.apis.api_request import ApiRequest, no_throttle
from impl.server.config_requests import keys_of
from impl.server.config_types import TYPES, ConfigType
from impl.server.dynamic_configs import EVERY_BROKER, RATES
from impl.server.properties import KNOWN, LOG_KEYS, TOPIC_KEYS
from impl.wire import Fields, error_code
from impl.znodes import MalformedZnode

TOPIC, BROKER = 2, 4
KINDS = {TOPIC: "topics", BROKER: "brokers"}
SOURCES = {
    "DYNAMIC_TOPIC_CONFIG": 1, "DYNAMIC_BROKER_CONFIG": 2, "DYNAMIC_DEFAULT_BROKER_CONFIG": 3,
    "STATIC_BROKER_CONFIG": 4, "DEFAULT_CONFIG": 5,
}  # fmt: skip
RESOURCES = {TOPIC: "TOPIC", BROKER: "BROKER", 8: "BROKER_LOGGER"}
OPERATIONS = SET, DELETE, APPEND, SUBTRACT = range(4)
VERBS = "set", "delete", "append", "subtract"

_FORMATS = ("0.8.0", "0.10.0", "0.11.0")

Layers = list[tuple[str, str]]
"""(source, value) of a config at each level, the effective one first."""


def describe_configs(request: ApiRequest) -> Fields:
    """Describe topics and this broker (or the cluster-wide broker default)."""
    results = []
    for one in request.body.resources:
        error, text, found = _described(request, one.resource_type, one.resource_name)
        keys = one.configuration_keys
        rows = [
            _setting(request, name, layers, one.resource_type == TOPIC)
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


def _described(request: ApiRequest, kind: int, name: str) -> tuple[str, str, dict[str, Layers]]:
    shared = request.shared
    if kind == TOPIC:
        if not shared.partitions_of(name):
            return "UNKNOWN_TOPIC_OR_PARTITION", "", {}
        try:
            own = read_config(shared.client, "topics", name)
        except MalformedZnode as error:
            return "UNKNOWN_SERVER_ERROR", str(error), {}
        return NONE, "", {key: _of_topic(request, key, own) for key in TOPIC_KEYS}
    if kind != BROKER:
        return "INVALID_REQUEST", f"Unsupported resource type: {_resource(kind)}", {}
    dynamic = shared.dynamic
    if not name:
        source = "DYNAMIC_DEFAULT_BROKER_CONFIG"
        return NONE, "", {key: [(source, value)] for key, value in dynamic.of_all.items()}
    if not re.fullmatch(r"[+-]?\d+", name):
        return "INVALID_REQUEST", f"Broker id must be an integer, but it is: {name}", {}
    if int(name) != shared.replicas.broker:
        wanted = (
            f"{shared.replicas.broker}{' or empty string' if shared.release.since('1.1') else ''}"
        )
        why = f"Unexpected broker id, expected {wanted}, but received {name}"
        return "INVALID_REQUEST", why, {}
    keys = {*KNOWN, *LOG_KEYS, *dynamic.without_effect}
    if shared.release.since("1.1"):
        keys |= RATES & dynamic.overrides.keys()
    return NONE, "", {key: _of_broker(request, key) for key in keys}


def settings_of_topic(request: ApiRequest, own: dict[str, str]) -> list[Fields]:
    """Every config of a topic; `own` are the ones that were set on the topic itself."""
    return [
        _setting(request, key, _of_topic(request, key, own), True) for key in sorted(TOPIC_KEYS)
    ]


def _of_broker(request: ApiRequest, key: str) -> Layers:
    layers = request.shared.dynamic.synonyms(key)
    if not layers and key in KNOWN:
        layers = [("DEFAULT_CONFIG", str(request.shared.config.values[key] or ""))]
    return [(source, _plain(key, value)) for source, value in layers]


def _of_topic(request: ApiRequest, key: str, own: dict[str, str]) -> Layers:
    """A topic config, followed by the broker config that applies if the topic has none."""
    layers = [("DYNAMIC_TOPIC_CONFIG", own[key])] if key in own else []
    of_broker = _broker_name(key)
    if of_broker is not None:
        layers += _of_broker(request, of_broker)
    elif key.endswith("throttled.replicas"):
        layers.append(("DEFAULT_CONFIG", ""))
    elif key in ONLY_KEPT:
        layers.append(("DEFAULT_CONFIG", ONLY_KEPT[key]))
    else:
        settings = request.shared.replicas.logs.settings.config
        value = str(getattr(settings, FIELDS[key]))
        layers.append(("DEFAULT_CONFIG", _plain(key, value)))
    return layers


def _broker_name(key: str) -> str | None:
    """The broker config that a topic config falls back to, if there is one."""
    if key in KNOWN:
        return key
    field = FIELDS.get(key)
    return next((name for name in sorted(LOG_KEYS) if FIELDS[name] == field and field), None)


def _plain(key: str, value: str) -> str:
    """A value as Kafka writes it."""
    if key.endswith("message.format.version") and value in ("0", "1", "2"):
        return _FORMATS[int(value)]
    return value.lower() if value in ("True", "False") else value


def _setting(request: ApiRequest, name: str, layers: Layers, of_topic: bool) -> Fields:
    source, value = layers[0] if layers else ("DEFAULT_CONFIG", "")
    with_synonyms = bool(request.get("include_synonyms", False))
    settable = (keys_of("brokers", request.shared.release) | TOPIC_KEYS) - RATES
    # Up to 2.5 the type of a rate is not known, and so it counts as sensitive.
    is_sensitive = name in RATES and not request.shared.release.since("2.6")
    # Up to 1.0 a topic's setting is a default unless the topic itself has it.
    is_old = of_topic and not request.shared.release.since("1.1")
    defaults = ("DEFAULT_CONFIG", "STATIC_BROKER_CONFIG") if is_old else ("DEFAULT_CONFIG",)
    return Fields(
        name=name, value=None if is_sensitive else value, read_only=name not in settable,
        is_default=source in defaults,
        config_source=SOURCES[source], is_sensitive=is_sensitive,
        synonyms=[
            Fields(name=_broker_name(name) or name if one != "DYNAMIC_TOPIC_CONFIG" else name,
                   value=None if is_sensitive else known, source=SOURCES[one])
            for one, known in layers
            if with_synonyms
        ],
        config_type=int(TYPES.get(name, ConfigType.UNKNOWN)), documentation=None,
    )  # fmt: skip


def _resource(kind: int) -> str:
    return RESOURCES.get(kind, "UNKNOWN")


def alter_configs(request: ApiRequest) -> Fields:
    """AlterConfigs: configs that the request does not name are reset to their default."""
    wanted = [
        (one, {each.name: each.value for each in one.configs}, "") for one in request.body.resources
    ]
    return _altered(request, wanted, replaces=True)


def incremental_alter_configs(request: ApiRequest) -> Fields:
    """Set and unset configs, and append to or subtract from list configs."""
    wanted = [(one, *_changes(request, one)) for one in request.body.resources]
    return _altered(request, wanted, replaces=False)


def _changes(request: ApiRequest, resource: Any) -> tuple[dict[str, str | None], str]:
    """The changed configs (None: deleted), and an error message, empty if the request is valid."""
    changes: dict[str, str | None] = {}
    times = Counter(each.name for each in resource.configs)
    if twice := sorted(name for name, count in times.items() if count > 1):
        return {}, f"Error due to duplicate config keys : {','.join(twice)}"
    for each in resource.configs:
        operation = each.config_operation
        if operation not in OPERATIONS:
            return {}, f"Unknown config operation {operation}"
        if each.value is None and operation != DELETE:
            return {}, f"Null value not supported for : {VERBS[operation].upper()}:{each.name}"
        if operation in (SET, DELETE):
            changes[each.name] = None if operation == DELETE else each.value
        elif TYPES.get(each.name) is not ConfigType.LIST:
            verb = VERBS[operation]
            return {}, f"Config value {verb} is not allowed for config key: {each.name}"
        else:
            changes[each.name] = _list_with(request, resource, each)
    return changes, ""


def _list_with(request: ApiRequest, resource: Any, each: Any) -> str:
    """The list with values added, or each of them taken out once. What a topic or broker has not
    set itself begins as Kafka's default, whatever brokers set (prepareIncrementalConfigs)."""
    _, _, found = _described(request, resource.resource_type, resource.resource_name)
    layers = found.get(each.name, [])
    own = "DYNAMIC_BROKER_CONFIG" if resource.resource_name else "DYNAMIC_DEFAULT_BROKER_CONFIG"
    if resource.resource_type == TOPIC:
        own = "DYNAMIC_TOPIC_CONFIG"
    known = next((value for source, value in layers if source in (own, "DEFAULT_CONFIG")), "")
    parts, named = ([one for one in text.split(",") if one] for text in (known, each.value))
    if each.config_operation == APPEND:
        return ",".join(parts + named)
    for one in named:
        if one in parts:
            parts.remove(one)
    return ",".join(parts)


def _altered(
    request: ApiRequest, wanted: list[tuple[Any, dict[str, str | None], str]], replaces: bool
) -> Fields:
    rows = []
    for resource, changes, wrong in wanted:
        kind, name = KINDS.get(resource.resource_type), resource.resource_name
        error, text = "INVALID_REQUEST", wrong
        if kind is None:
            text = (
                "AlterConfigs is only supported for topics and brokers, but resource type is "
                f"{_resource(resource.resource_type)}"
            )
        elif not wrong:
            entity = EVERY_BROKER if kind == "brokers" and not name else name
            error, text = config_requests.alter(
                request.shared.client,
                kind,
                entity,
                changes,
                replaces,
                bool(request.body.validate_only),
            )
        rows.append(
            Fields(
                error_code=error_code(error), error_message=text or None,
                resource_type=resource.resource_type, resource_name=name,
            )
        )  # fmt: skip
    return Fields(throttle_time=no_throttle(), responses=rows)

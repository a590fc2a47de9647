"""Kafka's kafka-configs: describe and alter configurations of topics and brokers.

In ZooKeeper, or by requests to brokers (for brokers since 1.1, for topics since 2.5).
Source: ConfigCommand, AdminZkClient.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from impl.admin.configs import edit_config, read_config
from impl.admin.errors import AdminOperation, IllegalArgument, InvalidConfig
from impl.admin.topic_command import check_value
from impl.znodes import paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait

KINDS = {"topics": "topic", "brokers": "broker"}
Settings = Mapping[str, str]
WrongValue = Callable[[str, str], str]
"""Why a value is none for a property; empty if it is one."""


def parse_added(text: str) -> dict[str, str]:
    """Read ``k1=v1,k2=[v1,v2],k3=``; IllegalArgument in Kafka's words."""
    found: dict[str, str] = {}
    for part in re.split(r",(?=[^\]]*(?:\[|$))", text) if text else []:
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise IllegalArgument(
                "requirement failed: Invalid entity config: all configs to be added must be in "
                'the format "key=val".'
            )
        found[name.strip()] = value.strip().removeprefix("[").removesuffix("]")
    return found


def described(kind: str, name: str, settings: Settings) -> str:
    """The output line for one entity."""
    pairs = ",".join(f"{key}={value}" for key, value in settings.items())
    return f"Configs for {KINDS[kind]} '{name}' are {pairs}"


class ConfigCommand:
    """Configs of topics and brokers in ZooKeeper. ``keys``: the configs that can be set, by type;
    ``dynamic``: broker configs that cannot be changed here while the broker runs.
    """

    def __init__(
        self, client: ZnodeClient, keys: Mapping[str, Collection[str]], dynamic: Collection[str],
        invalid_value_reason: WrongValue,
    ) -> None:  # fmt: skip
        self.client = client
        self.keys = keys
        self.dynamic = dynamic
        self.invalid_value_reason = invalid_value_reason

    def names(self, kind: str) -> list[str]:
        """The entities that have configs set."""
        return wait(self.client.names(f"{paths.CONFIG}/{kind}"))

    def describe(self, kind: str, name: str | None) -> list[str]:
        """A line for the named entity, or for each entity that has configs set."""
        if name is not None:
            return [described(kind, name, read_config(self.client, kind, name))]
        found = {one: read_config(self.client, kind, one) for one in self.names(kind)}
        return [described(kind, one, settings) for one, settings in found.items() if settings]

    def alter(self, kind: str, name: str, added: Settings, dropped: Sequence[str]) -> list[str]:
        """Set and unset configs; InvalidConfig or AdminOperation if that is not possible."""
        known = read_config(self.client, kind, name)
        missing = [one for one in dropped if one not in known]
        if missing:
            raise InvalidConfig(f"Invalid config(s): {','.join(missing)}")
        self._check(kind, name, added, dropped)
        edit_config(self.client, kind, name, {**dict.fromkeys(dropped), **added})
        return [f"Completed Updating config for entity: {KINDS[kind]} '{name}'."]

    def _check(self, kind: str, name: str, added: Settings, dropped: Sequence[str]) -> None:
        if kind == "topics":
            if wait(self.client.topic(name)) is None:
                raise AdminOperation(f'Topic "{name}" does not exist.')
            for key, value in added.items():
                if key not in self.keys[kind]:
                    raise InvalidConfig(f"Unknown topic config name: {key}")
                check_value(key, value, self.client.release)
            return
        for key, value in added.items():
            if key not in self.keys[kind]:
                raise InvalidConfig(f"Unknown Dynamic Configuration: Set({key}).")
            if why := self.invalid_value_reason(key, value):
                raise InvalidConfig(f"Invalid value {value} for configuration {key}: {why}")
        living = {str(one) for one in wait(self.client.brokers())}
        behind = sorted({*added, *dropped} & {*self.dynamic})
        if behind and (name in living or (name == "<default>" and living)):
            raise IllegalArgument(
                "--bootstrap-server option must be specified to update broker configs "
                f"{', '.join(behind)}: the broker is running"
            )

"""Dynamic broker configs: the cluster-wide defaults, and each broker's own (KIP-226, 1.1).

``/config/brokers/<default>`` and ``/config/brokers/ID`` are read at startup and after each
notification in ``/config/changes``. Before 1.1 only the throttle rates are dynamic. Source:
DynamicBrokerConfig, DynamicConfig.Broker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from impl.admin.configs import FOLLOWER_RATE, LEADER_RATE, MOVE_RATE, read_config
from impl.log.config import FIELDS, LogConfig
from impl.releases import Release
from impl.server.properties import KNOWN, LOG_KEYS, BrokerProperties
from impl.server.unsupported import REASON_OF
from impl.znodes import MalformedZnode
from impl.znodes.client import ZnodeClient

EVERY_BROKER = "<default>"
RATES = frozenset((LEADER_RATE, FOLLOWER_RATE, MOVE_RATE))
LIMITS = {"max.connections.per.ip": "2.1", "max.connections": "2.4"}
"""Limits of connections, by the release since which they can be set while a broker runs."""

WITHOUT_EFFECT = frozenset(
    ("background.threads", "num.network.threads", "num.recovery.threads.per.data.dir",
     "log.cleaner.threads", "log.cleaner.io.buffer.size", "log.cleaner.io.buffer.load.factor",
     "log.cleaner.io.max.bytes.per.second", "log.flush.interval.ms", "log.preallocate",
     "compression.type", "metric.reporters")
)  # fmt: skip
"""What Kafka changes in a running broker (DynamicBrokerConfig, 1.1), and this one only keeps."""


def settable(release: Release) -> frozenset[str]:
    """The configs that can be set on a running broker in that release."""
    if not release.since("1.1"):
        return RATES
    limits = {name for name, since in LIMITS.items() if release.since(since)}
    logs = LOG_KEYS - {"log.message.format.version"}
    return RATES | logs | {"min.insync.replicas"} | limits | WITHOUT_EFFECT


def invalid_value_reason(name: str, value: str) -> str:
    """Why a value is invalid for a broker config; empty if it is valid."""
    if name in WITHOUT_EFFECT:
        return ""
    try:
        if name in RATES:
            if not value.isdecimal() or int(value) < 1:
                return f"{name} is a number of bytes a second, 1 or more, not {value!r}"
        elif name in KNOWN:
            KNOWN[name][0](value)
        else:
            LogConfig().but({name: value})
    except ValueError as error:
        return f"{name} {error}, not {value!r}" if name in KNOWN else str(error)
    return ""


class DynamicConfigs:
    """The configs of a running broker. ``trouble`` receives a message for each invalid value."""

    def __init__(
        self, config: BrokerProperties, log: LogConfig, trouble: Callable[[str], None]
    ) -> None:
        self.config = config
        self.static_log = log
        self.trouble = trouble
        self.of_all: dict[str, str] = {}
        self.own: dict[str, str] = {}

    def read(self, client: ZnodeClient, broker: int) -> None:
        """Read both znodes again; if one cannot be read, the configs stay as they are."""
        try:
            names = EVERY_BROKER, str(broker)
            found = [read_config(client, "brokers", name) for name in names]
        except MalformedZnode as error:
            self.trouble(f"{error}; the broker goes on with what was set before")
            return
        self.of_all, self.own = found
        if not client.release.since("1.1"):
            self.of_all = {}

    @property
    def without_effect(self) -> dict[str, str]:
        """The configs that are set but have no effect here, with the reason."""
        return {name: REASON_OF[name] for name in sorted(self.overrides) if name in WITHOUT_EFFECT}

    @property
    def overrides(self) -> dict[str, str]:
        """The configs that are set; the broker's own override the cluster-wide defaults."""
        return self.of_all | self.own

    @property
    def log(self) -> LogConfig:
        """The default log config, for topics that set nothing; an invalid value counts as unset."""
        found = self.static_log
        for name, value in self.overrides.items():
            if name in FIELDS and name in settable(self.config.release):
                try:
                    found = found.but({name: value})
                except ValueError as error:
                    self.trouble(str(error))
        return found

    def whole_number(self, name: str) -> int:
        """The value of an integer config."""
        text = self.overrides.get(name)
        if text is not None and name in settable(self.config.release):
            if not invalid_value_reason(name, text):
                return int(text)
            self.trouble(invalid_value_reason(name, text))
        return self.config.whole_number(name)

    def synonyms(self, name: str) -> list[tuple[str, str]]:
        """The values of a property by source, the one in force first (``ConfigSource``)."""
        layers: list[tuple[str, Mapping[str, str]]] = [
            ("DYNAMIC_BROKER_CONFIG", self.own),
            ("DYNAMIC_DEFAULT_BROKER_CONFIG", self.of_all),
            ("STATIC_BROKER_CONFIG", self.config.given),
        ]
        found = [(source, layer[name]) for source, layer in layers if name in layer]
        if name in FIELDS:
            found.append(("DEFAULT_CONFIG", str(getattr(LogConfig(), FIELDS[name]))))
        elif name in KNOWN and not callable(KNOWN[name][1]):
            found.append(("DEFAULT_CONFIG", str(KNOWN[name][1])))
        return found

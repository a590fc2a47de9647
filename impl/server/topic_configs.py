"""Caches topic configs from ``/config/topics``, kept up to date by notifications."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import count

from impl.admin.configs import read_config
from impl.log import LogConfig
from impl.log.config import FIELDS, ONLY_KEPT
from impl.releases import Release, api_version
from impl.server.unsupported import REASON_OF
from impl.znodes import MalformedZnode, decode_config_change, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait

NAMES_OF_KEPT = {
    "compression.type": "compression.type",
    "flush.ms": "log.flush.interval.ms",
    "preallocate": "log.preallocate",
    "message.downconversion.enable": "log.message.downconversion.enable",
}
"""What topics may have without effect, and what brokers call it."""


class UncleanTopics(Mapping[str, bool]):
    """Whether a topic's own configs enable unclean leader election; read at each access."""

    def __init__(self, configs: TopicConfigs, client: Callable[[], ZnodeClient]) -> None:
        self.configs = configs
        self.client = client

    def __getitem__(self, topic: str) -> bool:
        self.configs.read(self.client(), topic)
        return self.configs.overrides[topic]["unclean.leader.election.enable"] == "true"

    def __iter__(self) -> Iterator[str]:
        return iter(self.configs.overrides)

    def __len__(self) -> int:
        return len(self.configs.overrides)


class TopicConfigs:
    """Config overrides by topic. ``trouble`` receives each znode that cannot be read."""

    def __init__(self, trouble: Callable[[str], None], release: Release) -> None:
        self.trouble = trouble
        self.release = release
        self.overrides: dict[str, dict[str, str]] = {}
        self._asked = count()
        self._answered: dict[str, int] = {}

    def read_all(self, client: ZnodeClient) -> None:
        """Read the configs of every topic, at the start of a session."""
        for topic in wait(client.names(f"{paths.CONFIG}/topics")):
            self.read(client, topic)

    def read(self, client: ZnodeClient, topic: str) -> None:
        """Read one topic's configs; without a znode there are none.

        Of concurrent reads the one that began last counts, because an earlier one may be older.
        """
        turn = next(self._asked)
        try:
            found = read_config(client, "topics", topic)
        except MalformedZnode as error:
            self.trouble(f"{error}; the topic goes on with what was set before")
            found = self.overrides.get(topic, {})
        if turn > self._answered.get(topic, -1):
            before = self.overrides.get(topic, {})
            self._answered[topic] = turn
            self.overrides[topic] = found
            for name, broker_name in NAMES_OF_KEPT.items():
                if found.get(name, ONLY_KEPT[name]) not in (ONLY_KEPT[name], before.get(name)):
                    why = REASON_OF[broker_name]
                    self.trouble(f"{name} of topic {topic} has no effect here: {why}")

    def read_change(self, client: ZnodeClient, name: str) -> tuple[str, str] | None:
        """Read a notification in ``/config/changes``; returns its entity's type and name."""
        path = f"{paths.CONFIG_CHANGES}/{name}"
        node = wait(client.read(path))
        if node is None:
            return None
        try:
            kind, entity = decode_config_change(path, node.data)
        except MalformedZnode as error:
            self.trouble(str(error))
            return None
        if kind == "topics":
            self.read(client, entity)
        return kind, entity

    def min_isr(self, topic: str, default: int) -> int:
        """min.insync.replicas."""
        text = self.overrides.get(topic, {}).get("min.insync.replicas", "")
        return int(text) if text.isdecimal() else default

    def log_config(self, topic: str, config: LogConfig) -> LogConfig:
        """A log config with the topic's own overrides; an invalid value counts as unset."""
        known = {
            name: value for name, value in self.overrides.get(topic, {}).items() if name in FIELDS
        }
        for name, value in known.items():
            try:
                if name == "message.format.version":
                    api_version(value, self.release)
                config = config.but({name: value})
            except ValueError as error:
                self.trouble(f"topic {topic}: {error}")
        return config

"""``kafka-topics`` through ZooKeeper: create, list, describe, alter and delete (i.5, i.6).

Every method returns the printed lines, or raises an AdminError with Kafka's message. Source:
TopicCommand, AdminUtils, AdminZkClient.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from impl.admin import placement, topic_lines
from impl.admin.configs import read_config, write_config
from impl.admin.errors import (
    AdminOperation,
    IllegalArgument,
    InvalidConfig,
    InvalidTopic,
    TopicExists,
    after,
)
from impl.admin.port import DescribedPartition
from impl.admin.topic_names import (
    COLLISION_WARNING,
    check_collision,
    check_name,
    has_collision_chars,
    is_internal,
)
from impl.log import LogConfig
from impl.log.config import FIELDS
from impl.releases import Release, api_version
from impl.znodes import TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.znodes.topics import ReplicaAssignment, TopicZnode, encode_topic, topic_version
from impl.zookeeper.errors import NodeExists, ZooKeeperError
from impl.zookeeper.port import wait

KEYS_WARNING = (
    "WARNING: If partitions are increased for a topic that has a key, the partition logic or "
    "ordering of the messages will be affected"
)
CONFIG_WARNING = (
    "WARNING: Altering topic configuration from this script has been deprecated and may be removed "
    "in future releases.",
    "         Going forward, please use kafka-configs.sh for this functionality",
)


@dataclass(frozen=True)
class Filters:
    """The filters of ``--describe``."""

    under_replicated: bool = False
    unavailable: bool = False
    with_overrides: bool = False
    under_min_isr: bool = False
    at_min_isr: bool = False

    @property
    def by_min_isr(self) -> bool:
        """Whether a filter uses ``min.insync.replicas`` (KIP-351, 2.3)."""
        return self.under_min_isr or self.at_min_isr

    @property
    def headed(self) -> bool:
        """Whether the topics' own lines are printed, with all of their partitions."""
        return not (self.under_replicated or self.unavailable or self.by_min_isr)

    def keeps(
        self, row: DescribedPartition, live: Collection[int], release: Release,
        adding: Collection[int] = (), min_isr: int = 0,
    ) -> bool:  # fmt: skip
        """Whether a partition is printed; without filters all are."""
        lagging = topic_lines.is_under_replicated(row.isr, row.replicas, adding, release)
        has_too_few = len(row.isr) < min_isr or (row.leader is None and release.since("2.4"))
        return any([
            self.headed,
            self.under_replicated and lagging,
            self.unavailable and (row.leader is None or row.leader not in live),
            self.under_min_isr and has_too_few,
            self.at_min_isr and len(row.isr) == min_isr,
        ])  # fmt: skip


class TopicCommand:
    """``where`` is the given ZooKeeper address; ``chance`` draws start indexes."""

    def __init__(
        self, client: ZnodeClient, where: str, chance: random.Random | None = None
    ) -> None:
        self.client = client
        self.release: Release = client.release
        self.where = where
        self.chance = chance or random.Random()

    # Create

    def create(
        self,
        topic: str,
        partitions: int = 1,
        factor: int = 1,
        by_hand: str | None = None,
        configs: Mapping[str, str] | None = None,
        if_not_exists: bool = False,
        rack_aware: bool = True,
        validate_only: bool = False,
    ) -> list[str]:
        """Create a topic; ``by_hand`` is the text of ``--replica-assignment``.

        ``validate_only``: raise the errors, and write nothing.
        """
        lines = [COLLISION_WARNING] if has_collision_chars(topic) else []
        try:
            with after(lines):
                assignment = self._new_assignment(topic, partitions, factor, by_hand, rack_aware)
                if not validate_only:
                    self._create(topic, assignment, configs or {})
        except TopicExists:
            if if_not_exists:
                return lines
            raise
        return [*lines, topic_lines.created(topic, self.release)]

    def _new_assignment(
        self, topic: str, partitions: int, factor: int, by_hand: str | None, rack_aware: bool
    ) -> placement.Assignment:
        """Where the replicas of a topic go that can be made; AdminError."""
        assignment = (
            placement.parse_replica_assignment(by_hand)
            if by_hand is not None
            else self._place(partitions, factor, rack_aware)
        )
        check_name(topic)
        existing = wait(self.client.topics())
        if topic in existing:
            raise TopicExists(f"Topic '{topic}' already exists.")
        check_collision(topic, existing)
        placement.check_assignment(assignment, self.release)
        return assignment

    def _create(
        self, topic: str, assignment: placement.Assignment, configs: Mapping[str, str]
    ) -> None:
        write_config(self.client, "topics", topic, configs)
        try:
            wait(self.client.create_topic(topic, assignment))
        except NodeExists:
            raise TopicExists(f"Topic '{topic}' already exists.") from None

    def _place(self, partitions: int, factor: int, rack_aware: bool) -> placement.Assignment:
        brokers = self.brokers(rack_aware)
        placement.check_counts(len(brokers), partitions, factor, self.release)
        start, shift = (self.chance.randrange(len(brokers)) for _ in range(2))
        return placement.assign_replicas(brokers, partitions, factor, start, shift, self.release)

    def brokers(
        self, rack_aware: bool = True, among: Collection[int] | None = None
    ) -> dict[int, str | None]:
        """The live brokers and their racks, or no racks.

        AdminOperation if some (of those in ``among``) have a rack and others not.
        """
        found = {one: info.rack for one, (info, _) in sorted(wait(self.client.brokers()).items())}
        if not rack_aware:
            return dict.fromkeys(found)
        chosen = found if among is None else {one: found[one] for one in found if one in among}
        placement.check_racks(chosen)
        return found

    # List and describe

    def chosen(self, pattern: str | None, exclude_internal: bool = False) -> list[str]:
        """The topics whose names match a Kafka whitelist pattern; all without a pattern.

        InvalidTopic for an invalid pattern.
        """
        return chosen_of(wait(self.client.topics()), pattern, exclude_internal)

    def list(self, pattern: str | None = None, exclude_internal: bool = False) -> Sequence[str]:
        """The topic names, marking those that are to be deleted."""
        return topic_lines.listed(
            self.chosen(pattern), wait(self.client.deletions()), exclude_internal
        )

    def describe(
        self, pattern: str | None = None, filters: Filters | None = None,
        exclude_internal: bool = False, if_exists: bool = False,
    ) -> Sequence[str]:  # fmt: skip
        """A line for each topic and one for each partition."""
        only = filters or Filters()
        topics = self.chosen(pattern, exclude_internal)
        if pattern is not None and not topics and not if_exists and self.release.since("2.2"):
            raise topic_lines.missing(pattern, self.where, self.release)
        live = set(wait(self.client.brokers()))
        marked = set(wait(self.client.deletions()))
        lines: list[str] = []
        for topic in topics:
            lines += self._described(topic, only, live, topic in marked)
        return lines

    def _described(self, topic: str, only: Filters, live: set[int], marked: bool) -> Sequence[str]:
        registered = wait(self.client.topic(topic))
        if registered is None:
            return [f"Topic {topic} doesn't exist!"]
        rows = self._rows(topic, registered)
        lines = []
        configs = read_config(self.client, "topics", topic)
        marked = marked and self.release.since("0.11")
        in_rows = marked and (not only.headed or self.release.since("2.4"))
        if only.headed and (configs or not only.with_overrides):
            lines.append(
                topic_lines.header(topic, rows, configs, self.release, marked, registered.topic_id)
            )
        if only.with_overrides:
            return lines
        kept = [row for row in rows if only.keeps(row, live, self.release)]
        return [*lines, *(topic_lines.row(topic, row, self.release, in_rows) for row in kept)]

    def _rows(self, topic: str, registered: TopicZnode) -> Sequence[DescribedPartition]:
        rows = []
        for number, assignment in sorted(registered.partitions.items()):
            state = wait(self.client.state(TopicPartition(topic, number)))
            leader, isr = (None, ()) if state is None else (state.leader, state.isr)
            rows.append(
                DescribedPartition(
                    number, leader, assignment.replicas, isr, assignment.adding,
                    assignment.removing,
                )
            )  # fmt: skip
        return rows

    # Alter

    def alter(
        self,
        pattern: str,
        partitions: int | None = None,
        by_hand: str | None = None,
        configs: Mapping[str, str] | None = None,
        drop: Sequence[str] = (),
        if_exists: bool = False,
    ) -> Sequence[str]:
        """Add partitions, or set and delete configs."""
        topics = self.chosen(pattern)
        if not topics and not if_exists:
            raise topic_lines.missing(pattern, self.where, self.release)
        lines: list[str] = []
        with after(lines):
            for topic in topics:
                if configs or drop:
                    lines += self._configure(topic, configs or {}, drop)
                if partitions is not None:
                    topic_lines.check_alter(topic, self.release)
                    lines.append(KEYS_WARNING)
                    self.add_partitions(topic, partitions, by_hand)
                    lines.append("Adding partitions succeeded!")
        return lines

    def _configure(
        self, topic: str, configs: Mapping[str, str], drop: Sequence[str]
    ) -> Sequence[str]:
        kept = {
            key: value
            for key, value in read_config(self.client, "topics", topic).items()
            if key not in drop
        }
        self.write_configs(topic, kept | dict(configs))
        quoted = topic if self.release.since("2.2") else f'"{topic}"'
        return [*CONFIG_WARNING, f"Updated config for topic {quoted}."]

    def write_configs(self, topic: str, configs: Mapping[str, str]) -> None:
        """Set a topic's configs, and notify the brokers."""
        write_config(self.client, "topics", topic, configs)
        wait(self.client.notify_config_change("topics", topic))

    def add_partitions(
        self, topic: str, partitions: int, by_hand: str | None, validate_only: bool = False
    ) -> None:
        """Write the topic's znode with more partitions, assigned manually or placed."""
        registered = wait(self.client.topic(topic))
        if registered is None:
            raise topic_lines.missing(topic, self.where, self.release)
        existing = {number: one.replicas for number, one in registered.partitions.items()}
        given = None if by_hand is None else placement.parse_replica_assignment(by_hand)
        added = placement.add_partitions(
            topic, existing, self.brokers(), partitions, self.release, given
        )
        if validate_only:
            return
        grown = dict(registered.partitions)
        grown |= {number: ReplicaAssignment(replicas) for number, replicas in added.items()}
        text = encode_topic(TopicZnode(grown), min(topic_version(self.release), 2))
        wait(self.client.retry(lambda: self.client.port.set_data(paths.topic(topic), text)))

    # Delete

    def delete(self, pattern: str, if_exists: bool = False) -> Sequence[str]:
        """Request the deletion of topics; AdminOperation if ZooKeeper refuses one of them."""
        topics = self.chosen(pattern)
        if not topics and not if_exists:
            raise topic_lines.missing(pattern, self.where, self.release)
        lines: list[str] = []
        with after(lines):
            for topic in topics:
                reported = topic_lines.delete(topic, marked=False, release=self.release)
                try:
                    wait(self.client.request_deletion(topic))
                except NodeExists:
                    reported = topic_lines.delete(topic, marked=True, release=self.release)
                except ZooKeeperError as error:
                    raise AdminOperation(f"Error while deleting topic {topic}") from error
                lines += reported
        return lines


def chosen_of(
    topics: Iterable[str], pattern: str | None, exclude_internal: bool = False
) -> list[str]:
    """The topics whose names match a pattern, in order; InvalidTopic for an invalid pattern."""
    found = sorted(topics)
    if pattern is not None:
        text = pattern.strip().replace(",", "|").replace(" ", "").strip("\"'")
        try:
            fits = re.compile(text)
        except re.error as error:
            raise InvalidTopic(f"{pattern} is an invalid regex.") from error
        found = [topic for topic in found if fits.fullmatch(topic)]
    return [one for one in found if not (exclude_internal and is_internal(one))]


def parse_configs(texts: Sequence[str], known: frozenset[str], release: Release) -> dict[str, str]:
    """Read ``--config name=value``; IllegalArgument or AdminOperation with Kafka's message."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise IllegalArgument(
                "requirement failed: Invalid topic config: all configs to be added must be in the "
                'format "key=val".'
            )
        if name.strip() not in known:
            raise AdminOperation(f"Unknown topic config name: {name.strip()}")
        check_value(name.strip(), value.strip(), release)
        found[name.strip()] = value.strip()
    return found


TYPES = {"retention.ms": "LONG", "retention.bytes": "LONG", "segment.ms": "LONG",
         "segment.jitter.ms": "LONG", "flush.messages": "LONG", "file.delete.delay.ms": "LONG",
         "message.timestamp.difference.max.ms": "LONG", "delete.retention.ms": "LONG",
         "min.compaction.lag.ms": "LONG", "max.compaction.lag.ms": "LONG"}  # fmt: skip
"""Kafka's type of a number, where it is not INT (``LogConfig``)."""


TRUTHS = ("unclean.leader.election.enable", "preallocate", "message.downconversion.enable")
CHOICES = {"compression.type": ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
           "cleanup.policy": ("compact", "delete"),
           "message.timestamp.type": ("CreateTime", "LogAppendTime")}  # fmt: skip
LEAST = {"flush.ms": ("LONG", 0), "min.insync.replicas": ("INT", 1)}
"""Type and least value of a number that is no log's."""


def check_value(name: str, value: str, release: Release) -> None:
    """Raise InvalidConfig with the message of ``ConfigDef`` for an invalid value.

    Message formats are checked since 2.1 (KAFKA-7409); before, only brokers check them.
    """
    refused = f"Invalid value {value} for configuration {name}: "
    if name in CHOICES:
        for one in value.split(",") if name == "cleanup.policy" else [value]:
            if one.strip() not in CHOICES[name]:
                raise InvalidConfig(
                    f"Invalid value {one.strip()} for configuration {name}: String must be one of: "
                    f"{', '.join(CHOICES[name])}"
                )
    elif name in LEAST:
        kind, least = LEAST[name]
        if not re.fullmatch(r"-?\d+", value):
            raise InvalidConfig(f"{refused}Not a number of type {kind}")
        if int(value) < least:
            raise InvalidConfig(f"{refused}Value must be at least {least}")
    elif name in TRUTHS:
        if value.lower() not in ("true", "false"):
            raise InvalidConfig(f"{refused}Expected value to be either true or false")
    elif name == "message.format.version":
        try:
            if release.since("2.1"):
                api_version(value, release)
        except ValueError as error:
            raise InvalidConfig(f"{refused}{error}") from error
    elif name in FIELDS:
        default = getattr(LogConfig(), FIELDS[name])
        if isinstance(default, int) and not re.fullmatch(r"-?\d+", value):
            raise InvalidConfig(f"{refused}Not a number of type {TYPES.get(name, 'INT')}")
        if isinstance(default, float) and not re.fullmatch(r"-?\d*\.?\d+", value):
            raise InvalidConfig(f"{refused}Not a number of type DOUBLE")
        try:
            LogConfig().but({name: value})
        except ValueError as error:
            bound = re.search(r"is (-?\d+) or more", str(error))
            why = f"Value must be at least {bound[1]}" if bound else str(error)
            if isinstance(default, float):
                below = float(value) < 0
                why = f"Value must be {'at least 0' if below else 'no more than 1'}"
            raise InvalidConfig(refused + why) from error

"""``kafka-topics --bootstrap-server``: topics by requests to brokers (KIP-377, 2.2; i.5).

Every method returns the lines that the tool prints. Source: TopicCommand.AdminClientTopicService.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from impl.admin import topic_lines
from impl.admin.errors import AdminError, IllegalArgument
from impl.admin.placement import parse_replica_assignment
from impl.admin.port import Admin, DescribedPartition, NewPartitions, NewTopic, RequestFailed
from impl.admin.topic_command import Filters, chosen_of
from impl.admin.topic_names import COLLISION_WARNING, has_collision_chars
from impl.releases import Release
from impl.znodes import TopicPartition


class TopicsByBrokers:
    """``release`` is the tool's."""

    def __init__(self, admin: Admin, release: Release) -> None:
        self.admin = admin
        self.release = release

    def create(
        self,
        topic: str,
        partitions: int | None,
        factor: int | None,
        by_hand: str | None,
        configs: Mapping[str, str],
        if_not_exists: bool = False,
    ) -> list[str]:
        """Create a topic; up to 2.4 nothing is printed."""
        if self.release.since("2.5"):
            if factor is not None and not 1 <= factor <= 32767:
                raise IllegalArgument(
                    "The replication factor must be between 1 and 32767 inclusive"
                )
            if partitions is not None and partitions < 1:
                raise IllegalArgument("The partitions must be greater than 0")
        lines = [COLLISION_WARNING] if has_collision_chars(topic) else []
        if not self.release.since("2.6") and topic in self.admin.describe_topics():
            error: AdminError = IllegalArgument(f"Topic {topic} already exists")
            error.said = lines
            raise error
        assignment = None if by_hand is None else parse_replica_assignment(by_hand)
        try:
            self.admin.create_topic(NewTopic(topic, partitions, factor, assignment, configs))
        except RequestFailed as failed:
            if failed.code == "TOPIC_ALREADY_EXISTS" and if_not_exists:
                return lines
            if self.release.since("2.6"):  # the message alone, one release before the others
                raise AdminError(str(failed)) from failed
            raise
        return [*lines, *([f"Created topic {topic}."] if self.release.since("2.5") else [])]

    def names(self, pattern: str | None = None, exclude_internal: bool = False) -> Sequence[str]:
        """The names."""
        return chosen_of(self.admin.describe_topics(), pattern, exclude_internal)

    def _matching_topics(
        self, pattern: str | None, exclude_internal: bool, if_exists: bool
    ) -> dict[str, list[DescribedPartition]]:
        known = self.admin.describe_topics()
        names = chosen_of(known, pattern, exclude_internal)
        if not names and pattern is not None and not if_exists:
            if not self.release.since("2.3"):
                raise IllegalArgument("Topics in [] does not exist")
            raise topic_lines.missing(pattern, "", self.release)
        return {one: known[one] for one in names}

    def describe(
        self, pattern: str | None = None, filters: Filters | None = None,
        exclude_internal: bool = False, if_exists: bool = False,
    ) -> Sequence[str]:  # fmt: skip
        """A line for each topic and one for each partition."""
        only = filters or Filters()
        topics = self._matching_topics(pattern, exclude_internal, if_exists)
        configs, live = self.admin.topic_configs(topics), set(self.admin.brokers())
        moving = self.admin.list_reassignments() if self.release.since("2.5") else {}
        lines: list[str] = []
        for topic, partitions in topics.items():
            own, least = configs[topic]
            if only.headed and (own or not only.with_overrides):
                lines.append(topic_lines.header(topic, partitions, own, self.release))
            if only.with_overrides:
                continue
            for row in partitions:
                found = moving.get(TopicPartition(topic, row.number))
                adding = () if found is None else found.adding
                if only.keeps(row, live, self.release, adding, least):
                    lines.append(topic_lines.row(topic, row, self.release))
        return lines

    def alter(
        self, pattern: str, partitions: int, by_hand: str | None, if_exists: bool = False
    ) -> Sequence[str]:
        """Add partitions; nothing is printed."""
        topics = self._matching_topics(pattern, False, if_exists)
        given = None if by_hand is None else list(parse_replica_assignment(by_hand).values())
        self.admin.create_partitions([
            NewPartitions(one, partitions, None if given is None else given[len(known):])
            for one, known in topics.items()
        ])  # fmt: skip
        return []

    def delete(self, pattern: str, if_exists: bool = False) -> Sequence[str]:
        """Request the deletion of topics; nothing is printed."""
        topics = self._matching_topics(pattern, False, if_exists)
        self.admin.delete_topics([*topics])
        return []

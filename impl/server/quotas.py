"""Replication quotas: bytes per second while replicas are moved (KIP-73, 0.10.1; KIP-113, 1.1).

Rates are set for a broker in ``/config/brokers``, the throttled replicas in the configs of a topic.
While its rate is exceeded, a leader sends nothing of a throttled partition to a follower that is
not in sync, and a follower does not fetch it. Source: ReplicationQuotaManager,
ReplicaManager.shouldLeaderThrottle; Rate and SampledStat of Kafka's metrics.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from impl.admin.configs import FOLLOWER_RATE, FOLLOWERS, LEADER_RATE, LEADERS, MOVE_RATE
from impl.server.properties import BrokerProperties
from impl.znodes import TopicPartition


class ReplicationQuota:
    """The rate over the last seconds. ``bound`` is in bytes a second, None without a limit.

    It keeps at most ``windows`` samples of ``window_s`` seconds. ``clock`` returns seconds.
    """

    def __init__(
        self, windows: int = 11, window_s: float = 1.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.bound: int | None = None
        self.windows = windows
        self.window_s = window_s
        self.clock = clock
        self.topics: dict[str, frozenset[int] | None] = {}
        self._samples: list[list[float]] = []  # each is when it began, and its bytes

    def mark(self, topic: str, partitions: frozenset[int] | None) -> None:
        """Throttle these partitions of a topic, all of them for None, none for an empty set."""
        if partitions is None or partitions:
            self.topics[topic] = partitions
        else:
            self.topics.pop(topic, None)

    def is_throttled(self, partition: TopicPartition) -> bool:
        """Whether the partition is throttled: its bytes count towards the rate."""
        if partition.topic not in self.topics:
            return False
        chosen = self.topics[partition.topic]
        return chosen is None or partition.partition in chosen

    def record(self, size: int) -> None:
        """Count bytes that are copied now."""
        now = self.clock()
        if not self._samples or now - self._samples[-1][0] >= self.window_s:
            self._samples.append([now, 0.0])
        self._samples[-1][1] += size

    @property
    def rate(self) -> float:
        """Bytes per second, over the time since the oldest sample, one window at least."""
        now = self.clock()
        oldest = now - self.windows * self.window_s
        self._samples = [one for one in self._samples if one[0] > oldest]
        if not self._samples:
            return 0.0
        elapsed = max(now - self._samples[0][0], self.window_s)
        return sum(size for _, size in self._samples) / elapsed

    @property
    def exceeded(self) -> bool:
        """Whether the rate exceeds its bound."""
        return self.bound is not None and self.rate > self.bound


class Quotas:
    """The three quotas of a broker: as leader, as follower, and between its own directories.

    ``trouble`` receives configs that cannot be read; they count as unset.
    """

    def __init__(self, config: BrokerProperties, trouble: Callable[[str], None]) -> None:
        windows = config.whole_number("replication.quota.window.num")
        window_s = config.whole_number("replication.quota.window.size.seconds")
        moves = config.whole_number("alter.log.dirs.replication.quota.window.num")
        moves_s = config.whole_number("alter.log.dirs.replication.quota.window.size.seconds")
        self.leader = ReplicationQuota(windows, window_s)
        self.follower = ReplicationQuota(windows, window_s)
        self.moves = ReplicationQuota(moves, moves_s)
        self.trouble = trouble

    def set_rates(self, found: Mapping[str, str]) -> None:
        """Set the broker's rates; a rate that is not set is unlimited."""
        self.leader.bound = self._rate(found, LEADER_RATE)
        self.follower.bound = self._rate(found, FOLLOWER_RATE)
        self.moves.bound = self._rate(found, MOVE_RATE)

    def _rate(self, found: Mapping[str, str], name: str) -> int | None:
        text = found.get(name)
        if text is None or text.isdecimal():
            return None if text is None else int(text)
        self.trouble(f"{name} is a number of bytes a second, not {text!r}; there is no limit")
        return None

    def mark(self, topic: str, settings: Mapping[str, str], broker: int) -> None:
        """Set the throttled replicas of this broker, by a topic's configs."""
        self.leader.mark(topic, self._chosen(topic, settings.get(LEADERS, ""), broker))
        self.follower.mark(topic, self._chosen(topic, settings.get(FOLLOWERS, ""), broker))

    def _chosen(self, topic: str, text: str, broker: int) -> frozenset[int] | None:
        """Read ``partition:broker,...``; ``*`` is every replica of the topic."""
        bare = text.strip()
        if bare in ("*", "all"):
            return None
        try:
            pairs = [part.strip().split(":") for part in bare.split(",") if part.strip()]
            return frozenset(int(number) for number, one in pairs if int(one) == broker)
        except ValueError:
            self.trouble(
                f"topic {topic}: throttled replicas are written as 0:1,1:2 or *, not {text!r}"
            )
            return frozenset()

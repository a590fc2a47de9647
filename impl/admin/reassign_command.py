"""``kafka-reassign-partitions`` on a cluster, by ZooKeeper: generate, execute, verify (j.3).

Source: ReassignPartitionsCommand. The lines are those of the cluster's release.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from impl.admin import reassign_json
from impl.admin.errors import AdminCommandFailed
from impl.admin.reassign_json import Plan
from impl.admin.reassign_lines import find_states, verify_lines
from impl.admin.topic_command import TopicCommand
from impl.releases import Release
from impl.znodes import (
    TopicPartition,
    decode_config,
    encode_config,
    encode_reassignment,
    paths,
)
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import NodeExists

THROTTLE_WARNING = (
    "Warning: You must run Verify periodically, until the reassignment completes, to ensure the "
    "throttle is removed. You can also alter the throttle by rerunning the Execute command passing "
    "a new value."
)
LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADERS = "leader.replication.throttled.replicas"
FOLLOWERS = "follower.replication.throttled.replicas"
ROLLBACK = "Save this to use as the --reassignment-json-file option during rollback"


class ReassignCommand:
    """``chance`` draws where a proposal begins."""

    def __init__(self, client: ZnodeClient, chance: random.Random | None = None) -> None:
        self.client = client
        self.release: Release = client.release
        self.chance = chance or random.Random()
        self.topics = TopicCommand(client, "", self.chance)

    def _current(self, topics: Sequence[str]) -> Plan:
        found: Plan = {}
        for topic in topics:
            registered = self.client.topic(topic)
            for number, one in (registered.partitions if registered else {}).items():
                found[TopicPartition(topic, number)] = one.replicas
        return found

    def generate(
        self, brokers: str, fields: Mapping[str, Any], rack_aware: bool = True
    ) -> list[str]:
        """A proposal for some topics over some brokers, and what is now."""
        ids, topics = reassign_json.parse_generate(brokers, fields)
        current = self._current(topics)
        racks = self.topics.brokers(rack_aware)
        absent = [one for one in ids if one not in racks]
        if absent:
            raise AdminCommandFailed(
                f"Some of the brokers specified in the list do not exist: {absent}"
            )
        starts = {
            topic: (self.chance.randrange(len(ids)), self.chance.randrange(len(ids)))
            for topic in topics
        }
        chosen = {one: racks[one] for one in sorted(ids)}
        plan = reassign_json.generate(current, chosen, topics, starts, self.release)
        return [
            "Current partition replica assignment",
            reassign_json.as_json(current, self.release),
            "",
            "Proposed partition reassignment configuration",
            reassign_json.as_json(plan, self.release),
        ]

    def execute(self, text: str, throttle: int | None = None) -> list[str]:
        """Ask the controller for moves; with a throttle in bytes a second."""
        plan = reassign_json.parse_execute(text).replicas
        topics = sorted({one.topic for one in plan})
        current = self._current(topics)
        live, new = set(self.client.brokers()), self.release.since("2.6")
        reassign_json.check_execute(plan, current, live, new)
        if self.client.reassignments():
            lines = ["There is an existing assignment running."]
            if throttle is not None:
                lines += self._throttle(current, plan, throttle)
            return lines
        old = {one: current[one] for one in sorted(plan)}
        lines = [
            "Current partition replica assignment",
            "",
            reassign_json.as_json(old, self.release),
            "",
            ROLLBACK,
        ]
        if throttle is not None:
            lines += [THROTTLE_WARNING, *self._throttle(current, plan, throttle)]
        try:
            port = self.client.port
            data = encode_reassignment(plan)
            self.client.again(lambda: port.create(paths.REASSIGN_PARTITIONS, data))
        except NodeExists:
            named = ", ".join(map(str, sorted(plan)))
            raise AdminCommandFailed(f"Failed to reassign partitions {named}") from None
        if new:
            many = "s" if len(plan) > 1 else ""
            named = ",".join(map(str, sorted(plan)))
            return [*lines, f"Successfully started partition reassignment{many} for {named}"]
        return [*lines, "Successfully started reassignment of partitions."]

    def verify(self, text: str) -> list[str]:
        """How far the moves are; throttles go when all is done."""
        plan = reassign_json.parse_execute(text).replicas
        topics = sorted({one.topic for one in plan})
        current, moving = self._current(topics), self.client.reassignments()
        states, any_left = find_states(current, moving, plan)
        lines = verify_lines(states, self.release)
        if not any_left and self._unthrottle(topics):
            if not self.release.since("2.6"):
                return [*lines, "Throttle was removed."]
            brokers = ",".join(str(one) for one in sorted(self.client.brokers()))
            return [
                *lines,
                "",
                f"Clearing broker-level throttles on brokers {brokers}",
                f"Clearing topic-level throttles on topic{'s' * (len(topics) > 1)} "
                f"{','.join(topics)}",
            ]
        return lines

    # Throttles

    def _throttle(self, current: Plan, plan: Plan, rate: int) -> list[str]:
        involved = {one for part in (current, plan) for moved in plan for one in part[moved]}
        for broker in sorted(involved):
            rates = {LEADER_RATE: str(rate), FOLLOWER_RATE: str(rate)}
            self._edit("brokers", str(broker), lambda known, to=rates: known | to)  # type: ignore[misc]
        leaders, followers = reassign_json.throttled_replicas(current, plan)
        for topic in sorted(set(leaders) | set(followers)):
            lists = {LEADERS: ",".join(leaders[topic]), FOLLOWERS: ",".join(followers[topic])}
            self._edit("topics", topic, lambda known, to=lists: known | to)  # type: ignore[misc]
        return [f"The inter-broker throttle limit was set to {rate} B/s"]

    def _unthrottle(self, topics: Sequence[str]) -> bool:
        changed = False
        for broker in sorted(self.client.brokers()):
            changed |= self._drop("brokers", str(broker), (LEADER_RATE, FOLLOWER_RATE))
        for topic in topics:
            changed |= self._drop("topics", topic, (LEADERS, FOLLOWERS))
        return changed

    def _drop(self, kind: str, name: str, keys: Sequence[str]) -> bool:
        return self._edit(
            kind, name, lambda known: {key: known[key] for key in known if key not in keys}
        )

    def _edit(
        self, kind: str, name: str, change: Callable[[dict[str, str]], dict[str, str]]
    ) -> bool:
        path = paths.config(kind, name)
        node = self.client.read(path)
        known = {} if node is None else decode_config(kind, name, node.data)
        wanted = change(known)
        if wanted == known:
            return False
        text = encode_config(wanted)
        self.client.make_path(path, text)
        self.client.again(lambda: self.client.port.set_data(path, text))
        self.client.notify_config_change(kind, name)
        return True

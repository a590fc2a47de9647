"""``kafka-reassign-partitions`` through ZooKeeper: generate, execute, verify (j.3).

Requests to brokers are only about their log directories (1.1). Source: ReassignPartitionsCommand.
The output is that of the cluster's release.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from impl.admin import log_dir_moves, reassign_json
from impl.admin.configs import (
    FOLLOWER_RATE,
    FOLLOWERS,
    LEADER_RATE,
    LEADERS,
    MOVE_RATE,
    edit_config,
)
from impl.admin.errors import AdminCommandFailed, TerseReassignmentFailure
from impl.admin.port import Admin
from impl.admin.reassign_json import ParsedReassignment, Plan
from impl.admin.reassign_lines import (
    RUNNING,
    WARNING,
    MoveState,
    cleared_lines,
    directory_lines,
    find_states,
    old_directory_lines,
    rates_set,
    verify_lines,
)
from impl.admin.topic_command import TopicCommand
from impl.releases import Release
from impl.znodes import TopicPartition, encode_reassignment, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import NodeExists
from impl.zookeeper.port import wait


class ReassignCommand:
    """``chance`` draws the start index of a proposal; ``admin`` asks brokers about directories."""

    def __init__(
        self,
        client: ZnodeClient,
        chance: random.Random | None = None,
        admin: Admin | None = None,
        patience_s: float = 10.0,
    ) -> None:
        self.client = client
        self.release: Release = client.release
        self.chance = chance or random.Random()
        self.topics = TopicCommand(client, "", self.chance)
        self.admin = admin
        self.patience_s = patience_s

    def _registered_assignments(self, topics: Sequence[str]) -> Plan:
        found: Plan = {}
        for topic in topics:
            registered = wait(self.client.topic(topic))
            for number, one in (registered.partitions if registered else {}).items():
                found[TopicPartition(topic, number)] = one.replicas
        return found

    def generate(self, brokers: str, text: str, rack_aware: bool = True) -> list[str]:
        """A proposal for the topics of a file over some brokers, and the current assignment."""
        chosen, topics = reassign_json.parse_generate(brokers, text, self.release)
        racks, current = (
            self.topics.brokers(rack_aware, chosen),
            self._registered_assignments(topics),
        )
        return reassign_json.proposal(chosen, topics, current, racks, self.chance, self.release)

    # Execute

    def execute(
        self, text: str, throttle: int | None = None, move_throttle: int | None = None
    ) -> list[str]:
        """Request reassignments through ZooKeeper; both rates are in bytes per second."""
        proposal = reassign_json.parse_execute(text, self.release)
        plan = proposal.replicas
        current = self._registered_assignments(sorted({one.topic for one in plan}))
        live, new = set(wait(self.client.brokers())), self.release.since("2.6")
        reassign_json.check_execute(plan, current, live, self.release)
        if wait(self.client.reassignments()):
            if new:
                raise TerseReassignmentFailure(RUNNING)
            lines = ["There is an existing assignment running."]
            return lines + self._limit(current, proposal, throttle, move_throttle)
        admin = self._admin_for(proposal)
        old = {one: current[one] for one in sorted(plan)}
        lines = reassign_json.rollback_lines(old, self.release)
        if throttle is not None or move_throttle is not None:
            lines.append(WARNING)
            if throttle is not None:
                self._mark(current, plan)
            lines += self._limit(current, proposal, throttle, move_throttle)
        if admin is not None:  # so that replicas which are to come are made in the right place
            log_dir_moves.request_moves(admin, proposal.directories)
        self._request(plan)
        named = ",".join(map(str, sorted(plan)))
        if admin is not None:
            _, late = log_dir_moves.request_moves_until_started(
                admin, proposal.directories, self.patience_s
            )
            if late:
                return [*lines, f"Failed to reassign partitions {named}"]
        if new:
            many = "s" if len(plan) > 1 else ""
            return [*lines, f"Successfully started partition reassignment{many} for {named}"]
        return [*lines, "Successfully started reassignment of partitions."]

    def _request(self, plan: Plan) -> None:
        port, data = self.client.port, encode_reassignment(plan)
        try:
            wait(self.client.retry(lambda: port.create(paths.REASSIGN_PARTITIONS, data)))
        except NodeExists:
            named = ", ".join(map(str, sorted(wait(self.client.reassignments()))))
            raise AdminCommandFailed(
                f"Partition reassignment currently in progress for {named}. Aborting operation"
            ) from None

    def _admin_for(self, proposal: ParsedReassignment) -> Admin | None:
        """Who is asked about directories, None where none is named."""
        if not proposal.directories:
            return None
        if not self.release.since("1.1"):
            raise AdminCommandFailed("log_dirs can be named since 1.1 (KIP-113)")
        if self.admin is None:
            raise AdminCommandFailed(
                "bootstrap-server needs to be provided in order to reassign replica to the "
                "specified log directory"
            )
        return self.admin

    # Verify

    def verify(self, text: str) -> list[str]:
        """The progress of the moves; removes the throttles when all are done."""
        proposal = reassign_json.parse_execute(text, self.release)
        plan = proposal.replicas
        topics = sorted({one.topic for one in plan})
        current, moving = self._registered_assignments(topics), wait(self.client.reassignments())
        states, any_left = find_states(current, moving, plan)
        lines = verify_lines(states, self.release)
        admin = self._admin_for(proposal)
        kinds = {} if admin is None else log_dir_moves.find(admin, proposal.directories)
        new = self.release.since("2.6")
        lines += directory_lines(kinds) if new else old_directory_lines(kinds)
        if new:
            if any_left or any(kind[0] == "active" for kind in kinds.values()):
                return lines
            return [*lines, "", *self._cleared(topics, plan)]
        arrived = all(_arrived(state) for state in states.values())
        arrived = arrived and all(kind[0] == "completed" for kind in kinds.values())
        if arrived and self._unthrottle(topics, sorted(wait(self.client.brokers()))):
            lines.append("Throttle was removed.")
        return lines

    def _cleared(self, topics: Sequence[str], plan: Plan) -> list[str]:
        involved = {one for replicas in plan.values() for one in replicas}
        brokers = sorted(set(wait(self.client.brokers())) | involved)
        self._unthrottle(topics, brokers)
        return cleared_lines(brokers, topics)

    # Throttles

    def _limit(
        self,
        current: Plan,
        proposal: ParsedReassignment,
        throttle: int | None,
        move_throttle: int | None,
    ) -> list[str]:
        """Set the rates of all brokers involved; that is all that a run under way lets change."""
        plan, lines = proposal.replicas, []
        rates: dict[str, str | None] = {}
        if throttle is not None:
            rates |= {LEADER_RATE: str(throttle), FOLLOWER_RATE: str(throttle)}
            lines.append(rates_set(throttle, self.release))
        if move_throttle is not None and self.release.since("1.1"):
            rates[MOVE_RATE] = str(move_throttle)
            lines.append(f"The replica-alter-dir throttle limit was set to {move_throttle} B/s")
        involved = {one for part in (current, plan) for moved in plan for one in part[moved]}
        for broker in sorted(involved):
            edit_config(self.client, "brokers", str(broker), rates)
        return lines

    def _mark(self, current: Plan, plan: Plan) -> None:
        leaders, followers = reassign_json.throttled_replicas(current, plan)
        for topic in sorted(set(leaders) | set(followers)):
            lists = {LEADERS: ",".join(leaders[topic]), FOLLOWERS: ",".join(followers[topic])}
            edit_config(self.client, "topics", topic, lists)

    def _unthrottle(self, topics: Sequence[str], brokers: Sequence[int]) -> bool:
        rates = dict.fromkeys((LEADER_RATE, FOLLOWER_RATE, MOVE_RATE))
        changed = [edit_config(self.client, "brokers", str(one), rates) for one in brokers]
        lists = dict.fromkeys((LEADERS, FOLLOWERS))
        changed += [edit_config(self.client, "topics", one, lists) for one in topics]
        return any(changed)


def _arrived(state: MoveState) -> bool:
    return state.done and state.current == state.target

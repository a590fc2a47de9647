"""``kafka-reassign-partitions --bootstrap-server``: requests to the controller (KIP-455, j.3).

Since 2.6; the output is that of 2.6 and later; brokers of 2.4 understand the requests.
Source: ReassignPartitionsCommand (2.6).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from impl.admin import log_dir_moves, reassign_json
from impl.admin.configs import FOLLOWER_RATE, FOLLOWERS, LEADER_RATE, LEADERS, MOVE_RATE
from impl.admin.errors import TEXTS, TerseReassignmentFailure
from impl.admin.port import Admin, Errors
from impl.admin.reassign_json import Plan
from impl.admin.reassign_lines import (
    RUNNING,
    cleared_lines,
    directory_lines,
    find_states,
    list_lines,
    rates_set,
    verify_lines,
)
from impl.releases import Release
from impl.znodes import ReplicaAssignment, TopicPartition

WORDS = Release.of("2.7")
VERIFY_PERIODICALLY = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the "
    "throttle is removed."
)

Moves = Mapping[TopicPartition, tuple[set[int], set[int]]]
"""By partition, the brokers that it comes from, and those that it goes to."""


class ReassignByBrokers:
    """The tool's actions by requests to brokers: generate, execute, verify, cancel, list.

    ``chance`` draws the start index of a proposal; ``release`` is the tool's.
    """

    def __init__(
        self,
        admin: Admin,
        chance: random.Random | None = None,
        release: Release = WORDS,
    ) -> None:
        self.admin = admin
        self.chance = chance or random.Random()
        self.release = release

    def generate(self, brokers: str, text: str, rack_aware: bool = True) -> list[str]:
        """A proposal for the topics of a file over some brokers, and the current assignment."""
        chosen, topics = reassign_json.parse_generate(brokers, text, WORDS)
        known = self.admin.brokers()
        racks = known if rack_aware else dict.fromkeys(known)
        current = self.admin.assignments(topics)
        return reassign_json.proposal(chosen, topics, current, racks, self.chance, WORDS)

    # Execute

    def execute(
        self, text: str, throttle: int | None = None, move_throttle: int | None = None,
        additional: bool = False,
    ) -> list[str]:  # fmt: skip
        """Request reassignments and log directory moves; rates in bytes per second."""
        proposal = reassign_json.parse_execute(text, WORDS)
        plan, directories = proposal.replicas, proposal.directories
        moving = self.admin.list_reassignments()
        if moving and not additional:
            raise TerseReassignmentFailure(RUNNING)
        current = self.admin.assignments(sorted({one.topic for one in plan}))
        reassign_json.check_execute(plan, current, self.admin.brokers(), WORDS)
        old = {one: current[one] for one in sorted(plan)}
        lines = reassign_json.rollback_lines(old, WORDS)
        if throttle is not None or move_throttle is not None:
            lines.append(VERIFY_PERIODICALLY)
        if throttle is not None:
            self._throttle(proposed_moves(moving, plan, current, self.release), throttle)
            lines.append(rates_set(throttle, WORDS))
        if move_throttle is not None:
            rate = {MOVE_RATE: str(move_throttle)}
            brokers = sorted({broker for _, broker in directories})
            self.admin.alter_configs({("brokers", str(one)): rate for one in brokers})
            lines.append(f"The replica-alter-dir throttle limit was set to {move_throttle} B/s")
        errors = self.admin.alter_reassignments(plan)
        _refuse("Error reassigning partition(s):", errors)
        named = ",".join(map(str, sorted(plan)))
        many = "s" if len(plan) > 1 else ""
        lines.append(f"Successfully started partition reassignment{many} for {named}")
        return lines + self._move_directories(directories)

    def _move_directories(self, directories: log_dir_moves.Directories) -> list[str]:
        started, late = log_dir_moves.request_moves_until_started(
            self.admin, directories, patience_s=10.0
        )
        if late:
            raise TerseReassignmentFailure(
                f"Timed out before log directory move{'s' * (len(late) > 1)} could be started for: "
                f"{_replicas(sorted(late))}"
            )
        if not started:
            return []
        many = "s" if len(started) > 1 else ""
        return [f"Successfully started log directory move{many} for: {_replicas(started)}"]

    def _throttle(self, moves: Moves, rate: int) -> None:
        settings: dict[tuple[str, str], dict[str, str | None]] = {}
        for name, side in ((LEADERS, 0), (FOLLOWERS, 1)):
            for topic, chosen in throttled_by(moves, side).items():
                settings.setdefault(("topics", topic), {})[name] = chosen
        for broker in sorted({one for sides in moves.values() for side in sides for one in side}):
            settings["brokers", str(broker)] = {LEADER_RATE: str(rate), FOLLOWER_RATE: str(rate)}
        self.admin.alter_configs(settings)

    # Verify, cancel, list

    def verify(self, text: str, preserve_throttles: bool = False) -> list[str]:
        """The progress of the moves; removes the throttles when nothing moves any more."""
        proposal = reassign_json.parse_execute(text, WORDS)
        plan = proposal.replicas
        current = self.admin.assignments(sorted({one.topic for one in plan}))
        moving = {one: found.target for one, found in self.admin.list_reassignments().items()}
        states, any_left = find_states(current, moving, plan)
        lines = verify_lines(states, WORDS)
        kinds = log_dir_moves.find(self.admin, proposal.directories)
        lines += directory_lines(kinds)
        any_left = any_left or any(kind[0] == "active" for kind in kinds.values())
        if any_left or preserve_throttles:
            return lines
        return [*lines, "", *self._clear(plan)]

    def cancel(self, text: str, preserve_throttles: bool = False) -> list[str]:
        """Cancel reassignments and log directory moves."""
        plan = reassign_json.parse_execute(text, WORDS).replicas
        active = [one for one in sorted(self.admin.list_reassignments()) if one in plan]
        if active:
            errors = self.admin.alter_reassignments(dict.fromkeys(active))
            many = "s" if len(active) > 1 else ""
            _refuse(f"Error cancelling partition reassignment{many} for:", errors)
            named = ",".join(map(str, active))
            lines = [f"Successfully cancelled partition reassignment{many} for: {named}"]
        else:
            lines = ["None of the specified partition reassignments are active."]
        live = self.admin.brokers()
        here = {one: [broker for broker in plan[one] if broker in live] for one in plan}
        copies = log_dir_moves.under_way(self.admin, here)
        if copies:
            log_dir_moves.request_moves(self.admin, copies)
            many = "s" if len(copies) > 1 else ""
            lines.append(
                f"Successfully cancelled log directory move{many} for: {_replicas(sorted(copies))}"
            )
        else:
            lines.append("None of the specified partition moves are active.")
        return lines if preserve_throttles else [*lines, *self._clear(plan)]

    def list(self) -> Sequence[str]:
        """The reassignments in progress."""
        return list_lines(self.admin.list_reassignments())

    def _clear(self, plan: Plan) -> Sequence[str]:
        """Throttles of all brokers, and of the topics: nobody knows any more who was involved."""
        involved = {one for replicas in plan.values() for one in replicas}
        brokers = sorted(set(self.admin.brokers()) | involved)
        topics = sorted({one.topic for one in plan})
        known = set(self.admin.assignments(topics))
        settings: dict[tuple[str, str], dict[str, str | None]] = {
            ("brokers", str(one)): dict.fromkeys((LEADER_RATE, FOLLOWER_RATE, MOVE_RATE))
            for one in brokers
        }
        for topic in topics:
            if any(one.topic == topic for one in known):
                settings["topics", topic] = dict.fromkeys((LEADERS, FOLLOWERS))
        self.admin.alter_configs(settings)
        return cleared_lines(brokers, topics)


def proposed_moves(
    moving: Mapping[TopicPartition, ReplicaAssignment], plan: Plan, current: Plan, release: Release
) -> Moves:
    """By partition, its current and its new replicas, including reassignments in progress.

    Up to 2.7 a replica that is being added counts as a current one (KAFKA-10779).
    """
    if not release.since("2.8"):
        found = {one: (set(now.replicas), set[int]()) for one, now in moving.items()}
        for one, replicas in plan.items():
            found[one] = set(current[one]), set(replicas) - set(current[one])
        return found
    found = {one: (set(now.origin), set(now.adding)) for one, now in moving.items()}
    for one, replicas in plan.items():
        sources = found[one][0] if one in found else set(current[one])
        found[one] = sources, set(replicas) - sources
    return found


def throttled_by(moves: Moves, side: int) -> dict[str, str]:
    """By topic, the replicas whose traffic is throttled as leaders (0) or followers (1)."""
    found: dict[str, list[str]] = {}
    for one, sides in sorted(moves.items()):
        for broker in sorted(sides[side]):
            found.setdefault(one.topic, []).append(f"{one.partition}:{broker}")
    return {topic: ",".join(found[topic]) for topic in sorted(found)}


def _refuse(head: str, errors: Errors) -> None:
    """TerseReassignmentFailure that names each partition that was refused."""
    bad = [
        f"{one}: {TEXTS.get(code, code)}" for one, code in sorted(errors.items()) if code != "NONE"
    ]
    if bad:
        raise TerseReassignmentFailure("\n".join((head, *bad)))


def _replicas(replicas: Sequence[tuple[TopicPartition, int]]) -> str:
    return ",".join(f"{partition}-{broker}" for partition, broker in replicas)

"""The output of ``kafka-reassign-partitions`` about moves in progress (2.6; fact sheet j.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from impl.releases import Release
from impl.znodes import ReplicaAssignment, TopicPartition

RUNNING = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to "
    "override this and create a new partition assignment in addition to the existing one. The "
    "--additional flag can also be used to change the throttle by resubmitting the current "
    "reassignment."
)


WARNING = (
    "Warning: You must run Verify periodically, until the reassignment completes, to ensure the "
    "throttle is removed. You can also alter the throttle by rerunning the Execute command passing "
    "a new value."
)


@dataclass(frozen=True, slots=True)
class MoveState:
    """A reassignment of a partition: its current replicas, its target, and whether it is done."""

    current: tuple[int, ...]
    target: tuple[int, ...]
    done: bool


def find_states(
    current: Mapping[TopicPartition, Sequence[int]],
    in_progress: Mapping[TopicPartition, Sequence[int]],
    query: Mapping[TopicPartition, Sequence[int]],
) -> tuple[dict[TopicPartition, MoveState], bool]:
    """The state of each requested partition, and whether any reassignment is in progress.

    A move that is not in progress is done, even if the target is not reached: it may be cancelled.
    """
    states = {
        one: MoveState(
            tuple(current.get(one, ())), tuple(in_progress.get(one, target)), one not in in_progress
        )
        for one, target in query.items()
    }
    return states, bool(in_progress)


def verify_lines(states: Mapping[TopicPartition, MoveState], release: Release) -> list[str]:
    """``--verify``, partitions in order."""
    lines = ["Status of partition reassignment:" + ("" if release.since("2.6") else " ")]
    for one, state in sorted(states.items()):
        lines.append(_verify_line(one, state, release))
    return lines


def _verify_line(one: TopicPartition, state: MoveState, release: Release) -> str:
    arrived = state.current == state.target
    if not state.done:
        return f"Reassignment of partition {one} is still in progress" + "." * release.since("2.6")
    if not release.since("2.6"):
        return f"Reassignment of partition {one} " + (
            "completed successfully" if arrived else "failed"
        )
    if arrived:
        return f"Reassignment of partition {one} is complete."
    return (
        f"There is no active reassignment of partition {one}, but replica set is "
        f"{_ids(state.current)} rather than {_ids(state.target)}."
    )


def list_lines(moving: Mapping[TopicPartition, ReplicaAssignment]) -> list[str]:
    """``--list``: what is being added and removed, partitions in order."""
    if not moving:
        return ["No partition reassignments found."]
    lines = ["Current partition reassignments:"]
    for one, assignment in sorted(moving.items()):
        line = f"{one}: replicas: {_ids(assignment.replicas)}."
        if assignment.adding:
            line += f" adding: {_ids(assignment.adding)}."
        if assignment.removing:
            line += f" removing: {_ids(assignment.removing)}."
        lines.append(line)
    return lines


def directory_lines(moves: Mapping[tuple[TopicPartition, int], Sequence[str]]) -> list[str]:
    """Moves between log directories: each has a kind, and the directories that its line names."""
    return [
        _directory_line(partition, broker, *move) for (partition, broker), move in moves.items()
    ]


def _directory_line(partition: TopicPartition, broker: int, kind: str, *where: str) -> str:
    replica = f"{partition}-{broker}"
    match kind:
        case "completed":
            return f"Reassignment of replica {replica} completed successfully."
        case "active" if where[1] == where[2]:
            return f"Reassignment of replica {replica} is still in progress."
        case "active":
            return (
                f"Partition {partition} on broker {broker} is being moved to log dir {where[2]} "
                f"instead of {where[1]}."
            )
        case "cancelled":
            return (
                f"Partition {partition} on broker {broker} is not being moved from log dir "
                f"{where[0]} to {where[1]}."
            )
        case "missingReplica":
            return (
                f"Partition {partition} cannot be found in any live log directory on broker "
                f"{broker}."
            )
        case "missingLogDir":
            return (
                f"Partition {partition} is not found in any live log dir on broker {broker}. "
                "There is likely an offline log directory on the broker."
            )
        case _:
            raise ValueError(f"no kind of move between log directories is called {kind!r}")


def old_directory_lines(moves: Mapping[tuple[TopicPartition, int], Sequence[str]]) -> list[str]:
    """Like ``directory_lines``, up to 2.5: failures come first, then a line for each move."""
    trouble, ends = [], []
    for (partition, broker), (kind, *where) in moves.items():
        on = f"Partition {partition} on broker {broker}"
        status = "failed"
        match kind:
            case "completed":
                status = "completed successfully"
            case "active" if where[1] == where[2]:
                status = "is still in progress"
            case "active":
                trouble.append(f"{on} is being moved to log dir {where[2]} instead of {where[1]}")
            case "cancelled":
                trouble.append(f"{on} is not being moved from log dir {where[0]} to {where[1]}")
            case _:
                trouble.append(
                    f"Partition {partition} is not found in any live log dir on broker {broker}. "
                    "There is likely offline log directory on the broker."
                )
        ends.append(f"Reassignment of replica {partition}-{broker} {status}")
    return [*trouble, *ends]


def cleared_lines(brokers: Sequence[int], topics: Sequence[str]) -> list[str]:
    """The throttles of these brokers and topics are removed."""
    return [
        f"Clearing broker-level throttles on broker{'s' * (len(brokers) > 1)} {_ids(brokers)}",
        f"Clearing topic-level throttles on topic{'s' * (len(topics) > 1)} {','.join(topics)}",
    ]


def _ids(replicas: Sequence[int]) -> str:
    return ",".join(map(str, replicas))


def rates_set(rate: int, release: Release) -> str:
    """The line about a throttle between brokers, the only kind up to 1.0."""
    between = "inter-broker " if release.since("1.1") else ""
    return f"The {between}throttle limit was set to {rate} B/s"

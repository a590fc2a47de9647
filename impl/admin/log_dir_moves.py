"""Requests and verifies moves of replicas between log directories of their broker.

Source: ReassignPartitionsCommand, alterReplicaLogDirsIgnoreReplicaNotAvailable (1.1 to 2.5),
executeMoves and findLogDirMoveStates (2.6); KIP-113.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping

from impl.admin.errors import TEXTS, AdminCommandFailed
from impl.admin.port import Admin, LogDir
from impl.znodes import TopicPartition

PAUSE_S = 0.1
Directories = dict[tuple[TopicPartition, int], str]
"""By partition and broker, a directory."""

MoveKinds = dict[tuple[TopicPartition, int], tuple[str, ...]]
"""By partition and broker, the kind of move and the directories that it mentions."""


def request_moves(admin: Admin, wanted: Directories) -> list[tuple[TopicPartition, int]]:
    """Send each broker one request; returns the replicas whose move has started.

    A replica that a broker does not have yet is created in the right directory later.
    AdminCommandFailed for any other error.
    """
    started = []
    for broker in sorted({one for _, one in wanted}):
        of_broker = {part: path for (part, one), path in sorted(wanted.items()) if one == broker}
        for partition, error in admin.alter_log_dirs(broker, of_broker).items():
            if error == "NONE":
                started.append((partition, broker))
            elif error != "REPLICA_NOT_AVAILABLE":
                raise AdminCommandFailed(
                    f"Failed to alter dir for {partition}-{broker}: {TEXTS.get(error, error)}"
                )
    return started


def request_moves_until_started(
    admin: Admin, wanted: Directories, patience_s: float
) -> tuple[list[tuple[TopicPartition, int]], Directories]:
    """Retry for ``patience_s``; returns the replicas that have started, and the others."""
    started: list[tuple[TopicPartition, int]] = []
    left, deadline = dict(wanted), time.monotonic() + patience_s
    while left:
        done = request_moves(admin, left)
        started += done
        left = {one: path for one, path in left.items() if one not in done}
        if left and time.monotonic() >= deadline:
            break
        if left:
            time.sleep(PAUSE_S)
    return sorted(started), left


def find(admin: Admin, wanted: Directories) -> MoveKinds:
    """The state of each move: the replica's current directory against its target."""
    dirs = {one: admin.describe_log_dirs(one) for one in sorted({b for _, b in wanted})}
    return {
        (partition, broker): _kind(dirs[broker], partition, path)
        for (partition, broker), path in sorted(wanted.items())
    }


def _kind(dirs: Iterable[LogDir], partition: TopicPartition, target: str) -> tuple[str, ...]:
    online = [one for one in dirs if one.error == "NONE"]
    current = next((one.path for one in online if partition in one.current), None)
    future = next((one.path for one in online if partition in one.future), None)
    if current is None:
        return "missingLogDir", target
    if future is not None:
        return "active", current, target, future
    return ("completed", target) if current == target else ("cancelled", current, target)


def under_way(admin: Admin, plan: Mapping[TopicPartition, Collection[int]]) -> Directories:
    """The replicas of some partitions that are moving, with their current directories."""
    found: Directories = {}
    for broker in sorted({one for replicas in plan.values() for one in replicas}):
        dirs = admin.describe_log_dirs(broker)
        for partition in sorted(plan):
            moving = any(partition in one.future for one in dirs)
            current = next((one.path for one in dirs if partition in one.current), None)
            if moving and current is not None and broker in plan[partition]:
                found[partition, broker] = current
    return found

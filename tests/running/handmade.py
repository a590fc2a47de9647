"""Traces of a small cluster that are made by hand, step by step, and judged on `replication`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from conformance.running.order import order_lines
from conformance.running.partition import ReplicationJudge
from conformance.running.process_traces import (
    STARTED,
    ClusterTraces,
    Process,
    ProcessStart,
    TraceLine,
)
from conformance.running.result import ReplayResult

Step = tuple[str, dict[str, Any]]
SESSION = 100  # and the broker's number


def zk(zxid: int, session: int, *ops: tuple[str, str, int, object]) -> Step:
    shown = [
        {"op": op, "path": path, "version": version, "data": json.dumps(data)}
        | ({"owner": SESSION + session} if path.startswith("/brokers/ids/") else {})
        for op, path, version, data in ops
    ]
    return "transaction", {"zxid": zxid, "session": SESSION + session, "ops": shown}


def registers(zxid: int, broker: int) -> Step:
    return zk(zxid, broker, ("Create", f"/brokers/ids/{broker}", 0, {}))


def start(
    process: Process, steps: Sequence[Step], number: int = 1, unseen: Sequence[str] = ()
) -> ProcessStart:
    """The trace of one start of a process."""
    started: Step = (STARTED, {"not_seen": list(unseen)} if unseen else {})
    name = f"{process[0]}{process[1] or ''}-{number}.ndjson"
    lines = [
        TraceLine(name, at, process, number, step, args)
        for at, (step, args) in enumerate([started, *steps], 1)
    ]
    return ProcessStart(name, process, number, "c", "2.3", {}, lines)


def judged(
    store: Sequence[Step], *brokers: Sequence[Step], version: str = "2.3",
    again: Sequence[Step] | None = None,
) -> ReplayResult:  # fmt: skip
    """What ZooKeeper and brokers 1, 2, ... traced of t-0; ``again``: a second start of broker 2."""
    starts = [start(("zookeeper", 0), store)]
    for one, mine in enumerate(brokers, 1):
        known: Step = ("registered", {"epoch": one, "session": SESSION + one})
        starts.append(start(("broker", one), [known, *mine]))
    if again is not None:
        starts.append(start(("broker", 2), again, number=2))
    order = order_lines(ClusterTraces(starts))
    assert not order.stuck
    return ReplicationJudge(order, range(1, len(brokers) + 1), version, {}).replay("t-0")

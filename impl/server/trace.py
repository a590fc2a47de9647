"""The trace of one process, ``insync.trace/1``: one file per start, one line per event of its core.

Each line is written with one ``write`` before another process can see its effect, so a killed
process leaves every line whose effect was seen; at most its last line is truncated. The lines of
one process are in order. No line has a time: the files of several processes are joined by zxid,
epochs, offsets and request ids.

    {"format": "insync.trace/1", "partial": true, "run": "ID/broker1/2", "process": "broker",
     "node": 1, "start": 2, "cluster": ID, "version": "2.3", "settings": {...}}
    {"run": "ID/broker1/2", "node": 1, "seq": 1, "step": "records_asked", "args": {...}}
    {"end": true, "run": "ID/broker1/2", "events": 1}           where it ended cleanly

``step`` is the class of the event (``impl.core.replica_events``); ``args`` are its fields,
partitions as ``topic-0``. The event of a request has its client and correlation ids. ZooKeeper
writes a line per transaction, with its zxid, the session, and the written znodes.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from impl.core.fetcher_thread import FetchReply
from impl.core.replica_events import (
    BecomeLeaderOrFollowerBegun,
    BecomeLeaderOrFollowerCompleted,
    BecomeLeaderOrFollowerSkipped,
    FetchServed,
    LeaderCached,
    LeaderForgotten,
    ReplicaEvent,
    ReplicaStopped,
    ReplicaStopping,
)
from impl.core.requests import LeaderAndIsrPartitionState
from impl.log.errors import CorruptRecord
from impl.log.record_batch import batches_in
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition

FORMAT = "insync.trace/1"
SUFFIX = ".ndjson"
CORRELATIONS_OF_A_START = 1_000_000
"""Each start of a process begins its correlation ids so much higher: those of two never collide."""

_UNTRACED = (
    BecomeLeaderOrFollowerBegun,
    BecomeLeaderOrFollowerCompleted,
    BecomeLeaderOrFollowerSkipped,
    ReplicaStopping,
    LeaderForgotten,
)
_STEPS: dict[type, str] = {ReplicaStopped: "stop_replica_completed"}
"""Events whose step in a trace has another name than their class: traces keep the word."""
_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class TraceFile:
    """The file of one start of a process; thread-safe."""

    def __init__(self, folder: Path, kind: str, node: int | str, head: Mapping[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{kind}{node}" if kind == "broker" else kind
        self.node = node
        self._lock = threading.Lock()
        self._seq = 0
        self._closed = False
        self.start = 1
        while True:
            path = folder / f"{name}-{self.start}{SUFFIX}"
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
                self._file = os.open(path, flags, 0o644)
                break
            except FileExistsError:
                self.start += 1
        self.run = f"{head.get('cluster') or 'cluster'}/{name}/{self.start}"
        self._write(
            {"format": FORMAT, "partial": True, "run": self.run, "process": kind, "node": node,
             "start": self.start, **head}
        )  # fmt: skip

    def line(self, step: str, args: Mapping[str, Any]) -> None:
        """Write one line; after ``close`` nothing is written."""
        with self._lock:
            if not self._closed:
                self._seq += 1
                self._write({"run": self.run, "node": self.node, "seq": self._seq, "step": step,
                             "args": args})  # fmt: skip

    def close(self) -> None:
        """Write the end line: the process ends cleanly."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._write({"end": True, "run": self.run, "events": self._seq})
                os.close(self._file)

    def _write(self, fields: Mapping[str, Any]) -> None:
        os.write(self._file, f"{_encode(fields)}\n".encode())


class BrokerTrace:
    """Writes the events of a broker's replicas, each with the request that caused it."""

    def __init__(self, file: TraceFile) -> None:
        self.file = file
        self.numbers: Counter[int] = Counter()
        """How many requests the controllers of this process had for each broker."""
        self._asker = threading.local()

    def __call__(self, event: ReplicaEvent) -> None:
        """One event of the replicas."""
        if isinstance(event, _UNTRACED):
            return
        if isinstance(event, LeaderCached):
            self.file.line("leader_cached", {"partition": str(event.partition),
                                             "sender": _plain(event.sender)})  # fmt: skip
            return
        args = {one.name: _plain(getattr(event, one.name)) for one in fields(event)}
        args.pop("now_ms", None)
        if isinstance(event, FetchServed):
            args["reply"]["end"] = _end(event.reply, event.asked.offset)
        self.file.line(step_of(event), args | getattr(self._asker, "known", {}))

    @contextmanager
    def on_behalf_of(self, head: Mapping[str, Any]) -> Iterator[None]:
        """Attribute this thread's events in the block to a request."""
        known = {"client": head.get("client_id", ""), "correlation": head.get("correlation", -1)}
        self._asker.known = known
        try:
            yield
        finally:
            self._asker.known = {}

    def fetcher_request(self, event: ReplicaEvent, correlation: int) -> None:
        """Write that a fetcher's request is about to be sent."""
        args = {one.name: _plain(getattr(event, one.name)) for one in fields(event)}
        self.file.line(step_of(event), args | {"correlation": correlation})

    def close(self) -> None:
        """The process ends cleanly."""
        self.file.close()


def step_of(event: object) -> str:
    """An event's name in a trace: ``FetchServed`` is ``fetch_served``."""
    named = _STEPS.get(type(event))
    return named or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(event).__name__).lower()


def _plain(value: Any) -> Any:
    match value:
        case TopicPartition():
            return str(value)
        case LeaderAndIsrPartitionState():
            return _plain(value.state) | {"replicas": list(value.replicas)}
        case LeaderIsrAndControllerEpoch():
            return {"leader": value.leader, "leader_epoch": value.leader_epoch,
                    "isr": list(value.isr), "controller_epoch": value.controller_epoch,
                    "zk_version": value.zk_version}  # fmt: skip
        case FetchReply():
            end = None if value.diverging is None else list(value.diverging)
            return {"error": value.error.value, "high_watermark": value.high_watermark,
                    "log_start": value.log_start, "diverging": end}  # fmt: skip
        case tuple() if hasattr(value, "_asdict"):
            return {name: _plain(part) for name, part in value._asdict().items()}
        case tuple() | list():
            return [_plain(one) for one in value]
        case _ if is_dataclass(value):
            return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
        case _ if hasattr(value, "value"):
            return value.value
        case _:
            return value


def _end(reply: FetchReply, offset: int) -> int:
    """The end of what is handed out, exclusive; the offset where that is nothing."""
    if reply.batch is None or not reply.batch.length:
        return offset
    try:
        data = reply.batch.read() if hasattr(reply.batch, "read") else bytes(reply.batch)
        return max((batch.last_offset + 1 for _, batch in batches_in(data)), default=offset)
    except (CorruptRecord, OSError):
        return offset

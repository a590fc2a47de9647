"""Records changes of the cluster's znodes: one line of JSON per change, with its zxid.

It watches /controller, /controller_epoch, the brokers' registrations, the states of partitions, and
ISR change notifications. A watch is set again after each change, so of two writes in quick
succession only the later is seen: its version shows how many were not (`missed`).
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from pathlib import Path
from typing import Any

WATCHED = ("/controller", "/controller_epoch", "/brokers/ids", "/brokers/topics",
           "/isr_change_notification", "/admin/delete_topics",
           "/admin/reassign_partitions", "/admin/preferred_replica_election")  # fmt: skip
FORMAT = "insync.kafka_znodes/1"


class Watcher:
    """Writes to a file until it is closed. ``hosts``: ZooKeeper itself, past the proxies."""

    def __init__(self, hosts: str, path: Path) -> None:
        from kazoo.client import KazooClient  # type: ignore[import-untyped]

        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()
        self._known: dict[str, int] = {}
        self._watched: set[str] = set()
        self._write({"format": FORMAT})
        self._zk = KazooClient(hosts=hosts, timeout=30.0)
        self._zk.start(timeout=30)
        for path_ in WATCHED:
            self._watch(path_)

    def _write(self, line: dict[str, Any]) -> None:
        with self._lock:
            if not self._file.closed:
                self._file.write(json.dumps(line) + "\n")
                self._file.flush()

    def _watch(self, path: str) -> None:
        """Report what a node holds, now and whenever it changes; and all that is below it."""
        if path in self._watched:
            return
        self._watched.add(path)

        @self._zk.DataWatch(path)  # type: ignore[untyped-decorator,unused-ignore]
        def _data(data: bytes | None, stat: Any) -> bool:
            if stat is None:
                if self._known.pop(path, None) is not None:
                    self._write({"at": time.time(), "path": path, "gone": True})
                return True
            before = self._known.get(path)
            self._known[path] = stat.version
            line = {
                "at": time.time(), "path": path, "zxid": stat.mzxid, "version": stat.version,
                "owner": stat.ephemeralOwner, "data": (data or b"").decode(errors="replace"),
            }  # fmt: skip
            if before is not None and stat.version > before + 1:
                line["missed"] = stat.version - before - 1
            self._write(line)
            self._below(path)
            return True

    def _below(self, path: str) -> None:
        if path.startswith(("/controller", "/admin")):
            return

        @self._zk.ChildrenWatch(path)  # type: ignore[untyped-decorator,unused-ignore]
        def _children(names: list[str]) -> bool:
            for name in sorted(names):
                self._watch(f"{path}/{name}")
            return True

    def close(self) -> None:
        """End the session and the file."""
        with contextlib.suppress(Exception):
            self._zk.stop()
            self._zk.close()
        with self._lock:
            self._file.close()

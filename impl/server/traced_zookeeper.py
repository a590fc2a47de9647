"""The trace of the embedded ZooKeeper: one line per transaction, by zxid."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from impl.server.trace import TraceFile
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.znode import NO_SESSION


class ZooKeeperTrace:
    """Writes the store's transactions, before the client gets the response."""

    def __init__(self, folder: Path, head: Mapping[str, Any]) -> None:
        self.file = TraceFile(folder, "zookeeper", "zookeeper", head)

    def ended(self, zxid: int, session: int, gone: Iterable[str], closed: bool) -> None:
        """Write that a session ended (``closed`` by its client), with its ephemeral znodes."""
        fields = {"zxid": zxid, "session": session, "gone": [*gone], "closed": closed}
        self.file.line("session_ended", fields)

    def transaction(self, store: ZooKeeper, head: Mapping[str, Any], result: Any) -> None:
        """Write one transaction: one write, or a multi."""
        ops = operations(head, result)
        if not ops:
            return
        lines = [_op(store, name, path) for name, path in ops]
        fields = {"zxid": store.zxid, "session": int(head["session"]), "ops": lines}
        self.file.line("transaction", fields)


def operations(head: Mapping[str, Any], result: Any) -> list[tuple[str, str]]:
    """Name and path of each write that was carried out; empty for reads."""
    op, args = head["op"], head.get("args", [])
    if op == "multi":
        return [
            (name, one if name == "Create" and isinstance(one, str) else fields["path"])
            for (name, fields), one in zip(args, result, strict=True)
        ]
    name = {"create": "Create", "set_data": "SetData", "delete": "Delete"}.get(op)
    return [] if name is None else [(name, result[0] if op == "create" else args[0])]


def _op(store: ZooKeeper, name: str, path: str) -> dict[str, Any]:
    node = store.nodes.get(path)
    if node is None:
        return {"op": name, "path": path}
    shown: dict[str, Any] = {"op": name, "path": path, "version": node.version}
    if name in ("Create", "SetData"):
        shown["data"] = node.data
    if node.owner != NO_SESSION:
        shown["owner"] = node.owner
    return shown

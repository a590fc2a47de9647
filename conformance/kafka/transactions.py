"""Reads the transactions of a lab's ZooKeeper from its own log, as lines of a trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.ingest.transaction_log import Transaction, TransactionLogReader, ZooKeeperWrite


class WrongLog(ValueError):
    """The file is no transaction log of ZooKeeper, or is damaged; the message names it."""


def transactions_in(folder: Path) -> Iterator[Transaction]:
    """The transactions in a data directory, in order. A truncated last record is left out.

    WrongLog for a file that is no log, or has a record whose checksum does not match its bytes.
    """
    files = sorted(
        (folder / "version-2").glob("log.*"), key=lambda one: int(one.suffix.removeprefix("."), 16)
    )
    for path in files:
        log = TransactionLogReader(str(path))
        yield from (one for one in log if one.writes or one.closes)
        if log.reason is not None:
            raise WrongLog(f"{path} {log.reason}")


@dataclass
class Znodes:
    """ZooKeeper's znodes as transactions are applied: versions, and owners of ephemerals."""

    versions: dict[str, int] = field(default_factory=dict)
    owners: dict[str, int] = field(default_factory=dict)

    def line(self, one: Transaction) -> tuple[str, dict[str, Any]]:
        """A transaction in the format of `insync.trace/1` (`impl.server.traced_zookeeper`)."""
        if one.closes:
            gone = sorted(path for path, owner in self.owners.items() if owner == one.session)
            for path in gone:
                self._forget(path)
            args: dict[str, Any] = {"zxid": one.zxid, "session": one.session, "gone": gone,
                                    "closed": one.by_client}  # fmt: skip
            return "session_ended", args
        ops = [self._op(write, one.session) for write in one.writes]
        return "transaction", {"zxid": one.zxid, "session": one.session, "ops": ops}

    def _op(self, write: ZooKeeperWrite, session: int) -> dict[str, Any]:
        path = write.path
        if write.kind == "Delete":
            self._forget(path)
            return {"op": "Delete", "path": path}
        if write.kind == "Create":
            self.versions[path] = 0
            if write.ephemeral:
                self.owners[path] = session
        elif write.kind == "SetData":
            self.versions[path] = write.version
        shown: dict[str, Any] = {"op": write.kind, "path": path,
                                 "version": self.versions.get(path, -1)}  # fmt: skip
        if write.data is not None:
            shown["data"] = write.data
        if path in self.owners:
            shown["owner"] = self.owners[path]
        return shown

    def _forget(self, path: str) -> None:
        self.versions.pop(path, None)
        self.owners.pop(path, None)

"""ZooKeeper's own transaction log: every write of the ensemble in its one order, by zxid.

The files `version-2/log.ZXID` are what a ZooKeeper server recovers from, so that nothing is missing
in them, and nothing is there that did not happen. A record is a checksum, a length, a header
(session, xid of the client, zxid, time, type) and what was written; a file ends in zeros.
Source: `org.apache.zookeeper.server.persistence.FileTxnLog`, `zookeeper.jute` (module txn).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

MAGIC = b"ZKLG"
CREATE, DELETE, SET_DATA, CHECK, MULTI, CREATE2, CREATE_TTL, CREATE_CONTAINER = (
    1, 2, 5, 13, 14, 15, 21, 19,
)  # fmt: skip
CLOSE_SESSION = -11
_NAMES = {CREATE: "Create", CREATE2: "Create", CREATE_TTL: "Create", CREATE_CONTAINER: "Create",
          DELETE: "Delete", SET_DATA: "SetData", CHECK: "Check"}  # fmt: skip


class WrongLog(ValueError):
    """A file that is no transaction log of ZooKeeper; the message names it."""


class ZooKeeperWrite(NamedTuple):
    """One operation: ``data`` of a Create or SetData, ``version`` that a SetData leaves."""

    kind: str
    path: str
    data: str | None
    version: int
    ephemeral: bool


class Transaction(NamedTuple):
    """What one zxid did; no writes and ``closes`` where a session ended.

    ``by_client``: whose session it was closed it; else it expired.
    """

    zxid: int
    session: int
    writes: tuple[ZooKeeperWrite, ...]
    closes: bool = False
    by_client: bool = False


class _Buffer:
    """Jute's types, big-endian."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(f">{form}", self.data, self.at)
        self.at += struct.calcsize(f">{form}")
        return found

    def bytes_(self) -> bytes | None:
        (size,) = self.take("i")
        if size < 0:
            return None
        found = self.data[self.at : self.at + size]
        if len(found) < size:
            raise struct.error("a buffer is cut")
        self.at += size
        return found

    def text(self) -> str:
        return (self.bytes_() or b"").decode(errors="replace")


def transactions_in(folder: Path) -> Iterator[Transaction]:
    """All transactions of a data directory, in order. A log that ends within a record ends there.

    WrongLog for a file that is none, or has a record whose checksum is not that of its bytes.
    """
    files = sorted(
        (folder / "version-2").glob("log.*"), key=lambda one: int(one.suffix.removeprefix("."), 16)
    )
    for path in files:
        yield from _of_file(path)


def _of_file(path: Path) -> Iterator[Transaction]:
    data = path.read_bytes()
    if data[:4] != MAGIC:
        raise WrongLog(f"{path} is no transaction log of ZooKeeper: it begins with {data[:4]!r}")
    at = 16
    while at + 12 <= len(data):
        checksum, size = struct.unpack_from(">qi", data, at)
        entry = data[at + 12 : at + 12 + size]
        if size <= 0 or len(entry) < size or data[at + 12 + size : at + 13 + size] != b"B":
            return
        if zlib.adler32(entry) != checksum:
            raise WrongLog(f"{path}: the record at byte {at} has another checksum than its bytes")
        at += 13 + size
        found = _transaction(entry)
        if found is not None:
            yield found


def _transaction(entry: bytes) -> Transaction | None:
    buffer = _Buffer(entry)
    session, xid, zxid, _time, kind = buffer.take("qiqqi")
    if kind == CLOSE_SESSION:
        return Transaction(zxid, session, (), True, xid != 0)
    if kind == MULTI:
        writes = []
        (count,) = buffer.take("i")
        for _ in range(count):
            (inner,) = buffer.take("i")
            if inner not in _NAMES:
                return None  # a multi that failed: each part of it is an error
            writes.append(_write(inner, _Buffer(buffer.bytes_() or b"")))
        return Transaction(zxid, session, tuple(writes))
    if kind in _NAMES:
        return Transaction(zxid, session, (_write(kind, buffer),))
    return None  # a session that begins, a write that failed, an ACL


def _write(kind: int, buffer: _Buffer) -> ZooKeeperWrite:
    path = buffer.text()
    data, version, ephemeral = None, -1, False
    if kind in (CREATE, CREATE2, CREATE_TTL, CREATE_CONTAINER):
        data, version = buffer.text(), 0
        (acls,) = buffer.take("i")
        for _ in range(max(acls, 0)):
            buffer.take("i")
            buffer.text()
            buffer.text()
        if kind in (CREATE, CREATE2):
            (ephemeral,) = buffer.take("?")
    elif kind == SET_DATA:
        data = buffer.text()
        (version,) = buffer.take("i")
    return ZooKeeperWrite(_NAMES[kind], path, data, version, ephemeral)


@dataclass
class Znodes:
    """What stands in ZooKeeper as transactions are applied: versions, and owners of ephemerals."""

    versions: dict[str, int] = field(default_factory=dict)
    owners: dict[str, int] = field(default_factory=dict)

    def line(self, one: Transaction) -> tuple[str, dict[str, Any]]:
        """A transaction as `insync.trace/1` has it (`impl.server.traced_zookeeper`)."""
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


__all__ = ["Transaction", "WrongLog", "Znodes", "ZooKeeperWrite", "transactions_in"]

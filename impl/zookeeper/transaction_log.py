"""Writes a transaction log in the format of ZooKeeper's server, for other tools to read.

A file `version-2/log.ZXID` is named after its first transaction, and begins with a magic number, a
version and the number of the database. A record is an Adler-32 checksum, a length, a header
(session, xid of the client, zxid, milliseconds since 1970, type), what was written, and the byte
0x42. Numbers are big-endian (jute). Here each start of a server begins a file; files are not
preallocated, and new sessions take no zxid and have no record.
Source: `org.apache.zookeeper.server.persistence.FileTxnLog`, `zookeeper.jute` (module txn).
"""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from impl.zookeeper.znode import NO_SESSION, Znode

_MAGIC, _VERSION, _DATABASE = b"ZKLG", 2, 0
_CREATE, _DELETE, _SET_DATA, _CHECK, _MULTI, _CLOSE_SESSION = 1, 2, 5, 13, 14, -11
_END = b"B"
_EVERYBODY = struct.pack(">ii", 1, 31)  # one entry, with all permissions


@dataclass(frozen=True)
class WrittenOperation:
    """One operation by its name (Create, SetData, Delete, Check), with the znode after it."""

    op: str
    path: str
    znode: Znode | None = None


class TransactionLog:
    """Appends to one file in ``folder``/version-2, which the first transaction opens."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "version-2"
        self._file: BinaryIO | None = None

    def transaction(self, zxid: int, session: int, writes: Sequence[WrittenOperation]) -> None:
        """One write, or a multi of several."""
        parts = [_operation(one) for one in writes]
        if len(parts) == 1:
            ((kind, body),) = parts
            self._append(zxid, session, 1, kind, body)
            return
        inner = (struct.pack(">i", kind) + _buffer(body) for kind, body in parts)
        body = struct.pack(">i", len(parts)) + b"".join(inner)
        self._append(zxid, session, 1, _MULTI, body)

    def session_closed(self, zxid: int, session: int, by_client: bool) -> None:
        """A session ended; xid 0 means that it expired."""
        self._append(zxid, session, int(by_client), _CLOSE_SESSION, b"")

    def close(self) -> None:
        """Close the file; nothing more is written."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _append(self, zxid: int, session: int, xid: int, kind: int, body: bytes) -> None:
        if self._file is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._file = (self.folder / f"log.{zxid:x}").open("wb")
            self._file.write(_MAGIC + struct.pack(">iq", _VERSION, _DATABASE))
        now = int(time.time() * 1000)
        entry = struct.pack(">qiqqi", session, xid, zxid, now, kind) + body
        head = struct.pack(">qi", zlib.adler32(entry), len(entry))
        self._file.write(head + entry + _END)
        self._file.flush()


def _operation(one: WrittenOperation) -> tuple[int, bytes]:
    path = _buffer(one.path.encode())
    znode = one.znode
    if one.op == "Delete" or znode is None:
        return (_DELETE, path) if one.op == "Delete" else (_CHECK, path + struct.pack(">i", -1))
    if one.op == "Check":
        return _CHECK, path + struct.pack(">i", znode.version)
    data = path + _buffer(znode.data.encode())
    if one.op == "SetData":
        return _SET_DATA, data + struct.pack(">i", znode.version)
    everybody = _EVERYBODY + _buffer(b"world") + _buffer(b"anyone")
    return _CREATE, data + everybody + struct.pack(">?i", znode.owner != NO_SESSION, -1)


def _buffer(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data

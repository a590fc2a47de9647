"""Reads ZooKeeper's transaction log: every write of the ensemble in order of zxid.

A ZooKeeper server recovers from the files `version-2/log.ZXID`, so every write is in them, and
nothing else. A file begins with a magic number, a version and the number of the database; a record
is a checksum, a length, a header (session, xid of the client, zxid, time, type), the written data,
since 3.6 a digest of the tree, and the byte 0x42. Files are preallocated, so they end in zeros.
Failed writes have a record too: within an epoch of the ensemble's leader zxids are consecutive, so
a missing one is visible.
Source: `org.apache.zookeeper.server.persistence.FileTxnLog`, `zookeeper.jute` (module txn).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, NamedTuple

from conformance.ingest.reader import why_closed

MAGIC = b"ZKLG"
VERSION = 2
CREATE, DELETE, SET_DATA, CHECK, MULTI, CREATE2, CREATE_TTL, CREATE_CONTAINER = (
    1, 2, 5, 13, 14, 15, 21, 19,
)  # fmt: skip
CLOSE_SESSION = -11
_CREATES = (CREATE, CREATE2, CREATE_TTL, CREATE_CONTAINER)
_NAMES = {CREATE: "Create", CREATE2: "Create", CREATE_TTL: "Create", CREATE_CONTAINER: "Create",
          DELETE: "Delete", SET_DATA: "SetData", CHECK: "Check"}  # fmt: skip
_HEAD, _RECORD = struct.Struct(">4siq"), struct.Struct(">qi")
_END = b"B"
_LONGEST = 64 << 20  # bytes; ZooKeeper's own limit is jute.maxbuffer, a megabyte
_CHUNK = 1 << 20
_READ = 1  # the bit of an ACL that lets its holder read


class ZooKeeperWrite(NamedTuple):
    """One operation: ``data`` of a Create or SetData, ``version`` that a SetData leaves.

    ``readable``: a Create's access list lets everybody read the znode.
    """

    kind: str
    path: str
    data: str | None
    version: int
    ephemeral: bool
    readable: bool = True


class Transaction(NamedTuple):
    """The writes under one zxid; no writes and ``closes`` where a session ended.

    ``by_client``: the session's client closed it; else it expired. ``at``: milliseconds since 1970
    by the clock of the ensemble's leader. ``whole_since``: the zxid from which on the file has
    every transaction up to this one. No writes and no closing: a new session, a failed write, an
    access list. ``digest``: of its bytes, which are the same on all servers of an ensemble.
    """

    zxid: int
    session: int
    writes: tuple[ZooKeeperWrite, ...]
    closes: bool = False
    by_client: bool = False
    at: int = 0
    whole_since: int = 0
    digest: int = 0


@dataclass
class TransactionLogReader:
    """One file, read once by iterating over it.

    Afterwards ``reason`` says why it is no transaction log, or that it is damaged; None where all
    was read. An incomplete last record does not count: it was being written.
    """

    path: str
    reason: str | None = None
    read: int = 0  # transactions
    last: int = 0  # the zxid of the last
    whole_since: int = 0

    def __iter__(self) -> Iterator[Transaction]:
        try:
            with open(self.path, "rb") as file:
                yield from self._transactions_in(file)
        except OSError as error:
            self.reason = why_closed(error)

    def _transactions_in(self, file: IO[bytes]) -> Iterator[Transaction]:
        head = file.read(_HEAD.size)
        if head[:4] != MAGIC:
            self.reason = (
                f"is no transaction log of ZooKeeper: it begins with {head[:4]!r}, not {MAGIC!r}"
            )
            return
        if len(head) < _HEAD.size:
            return
        version = _HEAD.unpack(head)[1]
        if version != VERSION:
            self.reason = f"is a transaction log of version {version}; version {VERSION} is known"
            return
        at, hole = _HEAD.size, True
        while True:
            framed = file.read(_RECORD.size)
            if len(framed) < _RECORD.size:
                return
            checksum, size = _RECORD.unpack(framed)
            if size == 0 and checksum == 0:
                return  # the rest is preallocated
            entry = file.read(size) if 0 < size <= _LONGEST else b""
            end = file.read(1)
            if end != _END:
                if not _anything(end, file):
                    return  # cut, by the file's end or before what was preallocated
                self._damaged(f"byte {at} begins no record, after transaction {self.read}")
                return
            found = _transaction(entry) if zlib.adler32(entry) == checksum else None
            if found is None:
                self._damaged(f"the record at byte {at} has another checksum than its bytes")
                hole = True
            else:
                self.read += 1
                if hole or found.zxid != self.last + 1:
                    self.whole_since = found.zxid
                self.last, hole = found.zxid, False
                yield found._replace(whole_since=self.whole_since)
            at += _RECORD.size + size + 1

    def _damaged(self, what: str) -> None:
        self.reason = self.reason or f"is damaged: {what}; copy it again, whole"


def is_transaction_log(path: str) -> bool:
    """Whether a file begins with the magic number of ZooKeeper's transaction logs."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def _anything(data: bytes, file: IO[bytes]) -> bool:
    """Whether these bytes, or those after them, have anything but zeros."""
    while data:
        if data.strip(b"\0"):
            return True
        data = file.read(_CHUNK)
    return False


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


def _transaction(entry: bytes) -> Transaction | None:
    """Decodes a record's bytes; None if they are no transaction."""
    buffer = _Buffer(entry)
    try:
        session, xid, zxid, at, kind = buffer.take("qiqqi")
        writes = _writes(kind, buffer)
    except struct.error:
        return None
    closes = kind == CLOSE_SESSION
    digest = zlib.crc32(entry) << 32 | zlib.adler32(entry)
    return Transaction(zxid, session, writes, closes, closes and xid != 0, at, digest=digest)


def _writes(kind: int, buffer: _Buffer) -> tuple[ZooKeeperWrite, ...]:
    if kind in _NAMES:
        return (_write(kind, buffer),)
    if kind != MULTI:
        return ()
    (count,) = buffer.take("i")
    found = []
    for _ in range(count):
        (inner,) = buffer.take("i")
        if inner not in _NAMES:
            return ()  # a multi that failed: each part of it is an error
        found.append(_write(inner, _Buffer(buffer.bytes_() or b"")))
    return tuple(found)


def _write(kind: int, buffer: _Buffer) -> ZooKeeperWrite:
    path = buffer.text()
    data, version, ephemeral, readable = None, -1, False, True
    if kind in _CREATES:
        data, version = buffer.text(), 0
        readable = _everybody_reads(buffer)
        if kind in (CREATE, CREATE2):
            (ephemeral,) = buffer.take("?")
    elif kind == SET_DATA:
        data = buffer.text()
        (version,) = buffer.take("i")
    return ZooKeeperWrite(_NAMES[kind], path, data, version, ephemeral, readable)


def _everybody_reads(buffer: _Buffer) -> bool:
    (count,) = buffer.take("i")
    found = False
    for _ in range(max(count, 0)):
        (bits,) = buffer.take("i")
        who = buffer.text(), buffer.text()
        found |= who == ("world", "anyone") and bool(bits & _READ)
    return found

"""Decodes a frame between two processes into a schedule's terms: sender, API, topics, epochs.

Of ZooKeeper's protocol only a few headers are read: the operation, the path, and of answers the
error and the zxid. Source: `zookeeper.jute`, `ZooDefs.OpCode`.
"""

from __future__ import annotations

import contextlib
import re
import struct
from dataclasses import dataclass, field
from typing import Any

from impl.log.errors import CorruptRecord
from impl.log.record_batch import batches_in
from impl.wire import Header, Malformed, api_name, decode_request, decode_response, error_name

ZOOKEEPER = "zookeeper"
REQUEST, ANSWER = "request", "answer"
OPERATIONS = {
    1: "Create", 2: "Delete", 3: "Exists", 4: "GetData", 5: "SetData", 8: "GetChildren",
    12: "GetChildren2", 13: "Check", 14: "Multi", 15: "Create2", 101: "SetWatches", 11: "Ping",
    -11: "CloseSession", 100: "Auth",
}  # fmt: skip
CONNECT = "Connect"
AGAIN = "Again"
"""The second answer to a question that was sent twice: nobody waits for it."""
_PING, _AUTH = -2, -4
_EVENT = -1
_FETCHER = re.compile(r"broker-(\d+)-fetcher-\d+")
_PATHS = {1, 2, 3, 4, 5, 8, 12, 13, 15}


@dataclass
class Message:
    """A request or an answer in flight. ``sender`` sent the request; ``to`` answers it."""

    kind: str
    sender: str
    to: str
    api: str
    frame: bytes
    connection: int
    correlation: int = -1
    topics: frozenset[str] = frozenset()
    epochs: frozenset[int] = frozenset()
    body: Any = None
    number: int = 0
    details: dict[str, Any] = field(default_factory=dict)

    def in_words(self) -> str:
        """The message as one line: `Fetch request 2 -> 1 (t-0 at 1)`."""
        about = self.details.get("about", "")
        way = (
            f"{self.sender} -> {self.to}" if self.kind == REQUEST else f"{self.to} -> {self.sender}"
        )
        return f"{self.api} {self.kind} {way}" + (f" ({about})" if about else "")


class KafkaReader:
    """Decodes one connection to a broker; it stores the client and the open requests.

    ``claimed``: one of its requests was claimed, so it is answered even if its sender is gone.
    """

    def __init__(self, to: str, connection: int) -> None:
        self.to, self.connection = to, connection
        self.sender = ""
        self.port = 0  # of the proxy, as the broker sees it
        self.claimed = False
        self.repeated: set[int] = set()  # questions that the broker gets twice
        self._asked: dict[int, tuple[Header, Message]] = {}

    @property
    def outstanding(self) -> int:
        """The number of requests that are not answered yet."""
        return len(self._asked)

    def request(self, frame: bytes) -> Message:
        """Decodes a request. What cannot be read passes as an unknown one."""
        try:
            found = decode_request(frame)
        except Malformed as error:
            return Message(REQUEST, self.sender or "?", self.to, "Unknown", frame, self.connection,
                           details={"about": str(error)})  # fmt: skip
        api = api_name(found.header.key)
        self.sender = _sender(api, found.header.client_id, found.body) or self.sender or "client"
        message = Message(
            REQUEST, self.sender, self.to, api, frame, self.connection, found.header.correlation,
            frozenset(_topics(found.body)), frozenset(_epochs(found.body)), found.body,
        )  # fmt: skip
        message.details |= {"about": about(message), "port": self.port}
        self._asked[found.header.correlation] = found.header, message
        return message

    def answer(self, frame: bytes) -> Message:
        """Decodes an answer, by the API of its request."""
        (correlation,) = struct.unpack_from(">i", frame)
        header, asked = self._asked.pop(correlation, (None, None))
        if header is None and correlation in self.repeated:
            self.repeated.discard(correlation)
            return Message(ANSWER, self.sender, self.to, AGAIN, frame, self.connection)
        if header is None or asked is None:
            return Message(ANSWER, self.sender or "?", self.to, "Unknown", frame, self.connection)
        try:
            body = decode_response(frame, header.key, header.version).body
        except Malformed:
            body = None
        message = Message(
            ANSWER, asked.sender, self.to, asked.api, frame, self.connection, correlation,
            asked.topics, asked.epochs, body,
        )  # fmt: skip
        message.details |= {"asked": asked, "about": about(message) or asked.details["about"],
                            "port": self.port}  # fmt: skip
        return message


def _sender(api: str, client_id: str | None, body: Any) -> str:
    if api == "Fetch" and getattr(body, "replica_id", -1) >= 0:
        return str(body.replica_id)
    if api in ("LeaderAndIsr", "UpdateMetadata", "StopReplica"):
        return "controller"
    found = _FETCHER.fullmatch(client_id or "")
    return found[1] if found else ""


def _topics(body: Any) -> set[str]:
    found = set()
    for part in _parts(body):
        name = getattr(part, "topic", None) or getattr(part, "topic_name", None)
        if isinstance(name, str):
            found.add(str(name))
    return found


def _epochs(body: Any) -> set[int]:
    """Leader epochs that a message names."""
    found = set()
    for part in _parts(body):
        for name in ("leader_epoch", "current_leader_epoch"):
            value = getattr(part, name, None)
            if isinstance(value, int) and value >= 0:
                found.add(int(value))
    return found


def _parts(body: Any) -> list[Any]:
    """A message and all that is nested in it."""
    found, todo = [], [body]
    while todo:
        one = todo.pop()
        if isinstance(one, tuple):
            todo += one
        elif hasattr(one, "__dataclass_fields__"):
            found.append(one)
            todo += [getattr(one, name) for name in one.__dataclass_fields__]
    return found


def fetch_partition(body: Any, topic: str) -> Any | None:
    """What a Fetch request or response has of partition 0 of a topic; None if it has nothing."""
    for one in getattr(body, "topics", None) or getattr(body, "responses", None) or ():
        if str(one.topic) == topic:
            for part in one.partitions:
                index = getattr(part, "partition", getattr(part, "partition_index", None))
                if index == 0:
                    return part
    return None


def records_in(part: Any) -> bytes:
    """The records of an answer to Fetch, of one partition."""
    return bytes(part.records or b"")


def about(message: Message) -> str:
    """What a Fetch or an OffsetForLeaderEpoch asks or answers, in few words."""
    body, found = message.body, []
    if message.api == "Fetch":
        for one in getattr(body, "topics", ()) or getattr(body, "responses", ()) or ():
            for part in one.partitions:
                if message.kind == REQUEST:
                    found.append(f"{one.topic}-{part.partition} at {part.fetch_offset}")
                else:
                    found.append(
                        f"{one.topic}-{part.partition_index}: error {int(part.error_code)}, "
                        f"high watermark {part.high_watermark}, {len(records_in(part))} bytes"
                    )
    elif message.api == "OffsetForLeaderEpoch":
        for one in getattr(body, "topics", ()):
            for part in one.partitions:
                if message.kind == REQUEST:
                    found.append(f"{one.topic}-{part.partition}: epoch {part.leader_epoch}")
                else:
                    epoch = getattr(part, "leader_epoch", None)
                    of = "" if epoch is None else f" of epoch {epoch}"
                    found.append(
                        f"{one.topic}-{part.partition}: error {int(part.error_code)}, "
                        f"end {part.end_offset}{of}"
                    )
    return "; ".join(found)


def parts_of(message: Message) -> dict[str, dict[str, Any]]:
    """The contents of a Fetch, OffsetForLeaderEpoch or Produce, by partition, as plain data.

    ``end`` of the records in a Fetch answer is exclusive, and absent where there are none.
    """
    body, asks = message.body, message.kind == REQUEST
    found: dict[str, dict[str, Any]] = {}
    if message.api == "Fetch":
        for one in getattr(body, "topics" if asks else "responses", None) or ():
            for part in one.partitions:
                if asks:
                    found[f"{one.topic}-{part.partition}"] = {
                        "offset": int(part.fetch_offset),
                        "leader_epoch": int(getattr(part, "current_leader_epoch", -1)),
                    }
                else:
                    found[f"{one.topic}-{part.partition_index}"] = _fetched(part)
    elif message.api == "OffsetForLeaderEpoch":
        for one in getattr(body, "topics", None) or ():
            for part in one.partitions:
                found[f"{one.topic}-{part.partition}"] = (
                    {"leader_epoch": int(getattr(part, "current_leader_epoch", -1)),
                     "epoch": int(part.leader_epoch)}
                    if asks else
                    {"error": error_name(int(part.error_code)),
                     "epoch": int(getattr(part, "leader_epoch", -1)), "end": int(part.end_offset)}
                )  # fmt: skip
    elif message.api == "Produce" and not asks:
        for one in getattr(body, "responses", None) or ():
            for part in one.partition_responses:
                found[f"{one.name}-{part.index}"] = {
                    "error": error_name(int(part.error_code)), "first": int(part.base_offset),
                }  # fmt: skip
    return found


def asks_of(message: Message) -> dict[str, Any]:
    """The fields of a request as a whole: ``acks``; a fetch session (KIP-227)."""
    body = message.body
    if message.api == "Produce":
        return {"acks": int(getattr(body, "acks", 0))}
    if message.api != "Fetch":
        return {}
    left = [
        f"{one.topic}-{int(index)}"
        for one in getattr(body, "forgotten_topics_data", None) or ()
        for index in one.partitions
    ]
    session = {"session_epoch": int(getattr(body, "session_epoch", -1))}
    return session | ({"forgotten": left} if left else {})


def _fetched(part: Any) -> dict[str, Any]:
    content = records_in(part)
    found = {
        "error": error_name(int(part.error_code)),
        "high_watermark": int(part.high_watermark),
        "log_start": int(getattr(part, "log_start_offset", -1)),
    }
    with contextlib.suppress(CorruptRecord):
        ends = [batch.last_offset + 1 for _, batch in batches_in(content)]
        if ends:
            found["end"] = max(ends)
    return found


class ZooKeeperReader:
    """Decodes one connection of a broker to ZooKeeper, and learns the session from it."""

    def __init__(self, sender: str, connection: int) -> None:
        self.sender, self.connection = sender, connection
        self.port = 0
        self.session: tuple[int, bytes] | None = None
        self.claimed = False
        self._connected = [False, False]
        self._asked: dict[int, Message] = {}

    @property
    def outstanding(self) -> int:
        """The number of requests that are not answered yet."""
        return len(self._asked)

    def request(self, frame: bytes) -> Message:
        """Decodes a request of the broker."""
        if not self._connected[0]:
            self._connected[0] = True
            return self._message(REQUEST, CONNECT, frame)
        xid, code = struct.unpack_from(">ii", frame)
        path = _path(frame, 8) if code in _PATHS else ""
        first = code
        if code == 14:
            first, path = _first_of_multi(frame)
        found = self._message(REQUEST, OPERATIONS.get(code, f"Operation{code}"), frame, xid, path)
        found.details["first"] = OPERATIONS.get(first, "")
        if xid not in (_PING, _AUTH):
            self._asked[xid] = found
        return found

    def answer(self, frame: bytes) -> Message:
        """Decodes an answer of ZooKeeper, or a watch event."""
        if not self._connected[1]:
            self._connected[1] = True
            session, size = struct.unpack_from(">qi", frame, 8)
            if session:
                self.session = session, frame[20 : 20 + size]
            return self._message(ANSWER, CONNECT, frame)
        xid, zxid, error = struct.unpack_from(">iqi", frame)
        if xid == _EVENT:
            return self._message(ANSWER, "Event", frame, xid)
        asked = self._asked.pop(xid, None)
        found = self._message(
            ANSWER, asked.api if asked else "Ping", frame, xid,
            asked.details["path"] if asked else "",
        )  # fmt: skip
        found.details |= {"zxid": zxid, "error": error}
        return found

    def _message(self, kind: str, api: str, frame: bytes, xid: int = 0, path: str = "") -> Message:
        return Message(kind, self.sender, ZOOKEEPER, api, frame, self.connection, xid,
                       details={"path": path, "about": path})  # fmt: skip


def _path(frame: bytes, at: int) -> str:
    if len(frame) < at + 4:
        return ""
    (size,) = struct.unpack_from(">i", frame, at)
    return frame[at + 4 : at + 4 + max(size, 0)].decode(errors="replace")


def _first_of_multi(frame: bytes) -> tuple[int, str]:
    """What a multi writes first, after the checks, and where: Kafka checks /controller_epoch."""
    at, first = 8, ""
    while len(frame) >= at + 9:
        code, done = struct.unpack_from(">i?", frame, at)
        if done:
            break
        path = _path(frame, at + 9)
        first = first or path
        if code != 13:
            return code, path
        at += 9 + 4 + len(path.encode()) + 4
    return 0, first

"""The embedded ZooKeeper as a process: the in-memory store behind a socket.

It needs neither Java nor kazoo. Requests and responses are JSON in frames, for ``EmbeddedClient``
only; ZooKeeper's own protocol needs a real ZooKeeper. Every write is in ``snapshot.json`` before it
is answered, so a killed process loses no write (a power failure may lose some: nothing is synced).
After a restart all sessions have expired and their ephemeral znodes are gone.
``version-2/log.ZXID`` is a transaction log in ZooKeeper's format.

    python -m impl.server.embedded_zookeeper PORT FOLDER [--trace FOLDER]
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from impl.server.connection import Address, Disconnected, FrameConnection
from impl.server.listener import Listener
from impl.server.traced_zookeeper import ZooKeeperTrace, operations
from impl.zookeeper import znode
from impl.zookeeper.errors import BY_CODE, ConnectionLoss, SessionExpired, ZooKeeperError
from impl.zookeeper.port import OpOutcome, PortOperations, wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.store import ZooKeeper
from impl.zookeeper.transaction_log import TransactionLog, WrittenOperation
from impl.zookeeper.znode import NO_SESSION, Created, EventType, Op, WatchEvent, Znode

_OPS: dict[str, Callable[..., Op]] = {
    kind.__name__: kind for kind in (znode.Check, znode.Create, znode.SetData, znode.Delete)
}
Notice = list[str]
"""A notification: its type, and the path."""
LOOPBACK = "127.0.0.1"
TICK_S = 0.05


class EmbeddedZooKeeperServer:
    """Serves sessions of other processes from one store, which is persisted in ``folder``."""

    def __init__(self, address: Address, folder: Path, trace: Path | None = None) -> None:
        self.snapshot = folder / "snapshot.json"
        folder.mkdir(parents=True, exist_ok=True)
        self.log = TransactionLog(folder)
        self.zookeeper = self._load()
        self._kept = self.zookeeper.zxid
        head = {"zxid": self.zookeeper.zxid}
        self.trace = None if trace is None else ZooKeeperTrace(trace, head)
        self.sessions: dict[int, EmbeddedSession] = {}
        self._pending: dict[int, tuple[int, list[Notice]]] = {}
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.listener = Listener(address, self.answer)

    def _load(self) -> ZooKeeper:
        if not self.snapshot.exists():
            return ZooKeeper()
        kept = json.loads(self.snapshot.read_text(encoding="utf-8"))
        store = ZooKeeper(kept["zxid"], kept["next_session"])
        store.nodes = {path: Znode(*fields) for path, fields in kept["nodes"].items()}
        store.sessions = {node.owner for node in store.nodes.values()} - {NO_SESSION}
        for session in sorted(store.sessions):
            store.expire(session)
            self.log.session_closed(store.zxid, session, by_client=False)
        return store

    def _save_snapshot(self) -> None:
        if self.zookeeper.zxid == self._kept:
            return
        nodes = {path: _fields(node) for path, node in self.zookeeper.nodes.items()}
        kept = {"zxid": self.zookeeper.zxid, "next_session": self.zookeeper.next_session,
                "nodes": nodes}  # fmt: skip
        unfinished = self.snapshot.with_name("snapshot.json.unfinished")
        unfinished.write_text(json.dumps(kept), encoding="utf-8")
        unfinished.replace(self.snapshot)
        self._kept = self.zookeeper.zxid

    def serve(self) -> None:
        """Serve until ``stop``; expire sessions that exceed their timeout."""
        self.listener.start()
        while not self.ended.wait(TICK_S):
            with self.lock:
                for session in self.zookeeper.overdue(_now_ms()):
                    self._expire(session)
        self.listener.close()
        self.log.close()
        if self.trace is not None:
            self.trace.file.close()

    def stop(self) -> None:
        """Make ``serve`` return."""
        self.ended.set()

    def _expire(self, session: int, closed: bool = False) -> None:
        gone = self.zookeeper.expire(session)
        self._save_snapshot()
        self.log.session_closed(self.zookeeper.zxid, session, closed)
        if self.trace is not None:
            self.trace.ended(self.zookeeper.zxid, session, gone, closed)
        self.sessions.pop(session, None)
        self._pending.pop(session, None)

    def answer(self, frame: bytes, _host: str) -> list[bytes]:
        """Carry out one operation. A frame that is not JSON closes its connection."""
        head = json.loads(frame)
        with self.lock:
            before = self.zookeeper.zxid
            try:
                result = self._do(head)
            except ZooKeeperError as error:
                return [_framed({"code": error.code, "text": str(error)})]
            except (KeyError, TypeError, ValueError) as error:
                return [_framed({"wrong": f"{type(error).__name__}: {error}"})]
            finally:
                self._save_snapshot()
            if self.zookeeper.zxid != before and (ops := operations(head, result)):
                nodes = self.zookeeper.nodes
                written = [WrittenOperation(op, path, nodes.get(path)) for op, path in ops]
                self.log.transaction(self.zookeeper.zxid, int(head["session"]), written)
                if self.trace is not None:
                    self.trace.transaction(self.zookeeper, head, result)
            return [_framed({"result": result, "zxid": self.zookeeper.zxid})]

    def _do(self, head: dict[str, Any]) -> Any:
        op, args = head["op"], head.get("args", [])
        if op == "open":
            opened = EmbeddedSession(self.zookeeper, int(head["timeout_ms"]), _now_ms())
            self.sessions[opened.session] = opened
            return opened.session
        number = int(head["session"])
        self.zookeeper.touch_session(number, _now_ms())
        session = self.sessions[number]
        match op:
            case "ping":
                return None
            case "create":
                made = wait(session.create(*args))
                return [made.path, _fields(made.znode)]
            case "get" | "set_data":
                node = wait(session.get(*args)) if op == "get" else wait(session.set_data(*args))
                return _fields(node)
            case "exists":
                found = wait(session.exists(*args))
                return None if found is None else _fields(found)
            case "children":
                return wait(session.children(*args))
            case "delete":
                return wait(session.delete(*args))
            case "multi":
                ops = [_OPS[name](**fields) for name, fields in args]
                return [_outcome(one) for one in wait(session.multi(ops))]
            case "events":
                return self._notices(session, *args)
            case "close":
                return self._expire(number, closed=True)
            case _:
                raise ValueError(f"{op} is no operation")

    def _notices(self, session: EmbeddedSession, heard: int) -> list[Notice]:
        """The notifications that come after the first ``heard``, which the client has.

        They are kept until it says that it has them: an answer may be lost, and a watch is used up.
        """
        acknowledged, pending = self._pending.get(session.session, (0, []))
        pending = pending[max(0, heard - acknowledged) :]
        pending += ([event.type.name, event.path] for event in session.events())
        self._pending[session.session] = max(acknowledged, heard), pending
        return pending


class EmbeddedClient(PortOperations):
    """A ``Port`` to such a server. ConnectionLoss if it does not answer."""

    def __init__(self, address: Address, timeout_ms: int, answer_ms: int = 10_000) -> None:
        self._connection = FrameConnection(address, answer_ms / 1000)
        self._over = threading.Event()
        self._heard = 0  # notifications
        self.zxid = 0
        opened = self._ask({"op": "open", "timeout_ms": timeout_ms})
        self.session = int(opened)
        self._heart = FrameConnection(address, answer_ms / 1000)
        beat = threading.Thread(
            target=self._send_heartbeats, args=(timeout_ms / 3000,), daemon=True
        )
        beat.start()

    @property
    def alive(self) -> bool:
        """False once the client knows that the session has expired."""
        return not self._over.is_set()

    def _send_heartbeats(self, every_s: float) -> None:
        while not self._over.wait(every_s):
            try:
                answer = self._heart.exchange(_framed({"op": "ping", "session": self.session}))
            except Disconnected:
                continue
            if json.loads(answer).get("code") == SessionExpired.code:
                self._over.set()

    async def operate(self, operation: str, *arguments: Any) -> Any:
        """Ask the server to carry out an operation."""
        if operation == "multi":
            ops = [[type(op).__name__, {name: getattr(op, name) for name in op.__slots__}]
                   for op in arguments[0]]  # fmt: skip
            return [_read_outcome(one) for one in self._op(operation, *ops)]
        found = self._op(operation, *arguments)
        match operation:
            case "create":
                return Created(found[0], Znode(*found[1]))
            case "get" | "set_data" | "exists":
                return None if found is None else Znode(*found)
            case _:
                return found

    def events(self) -> list[WatchEvent]:
        """The notifications since the last call."""
        notices = self._op("events", self._heard)
        self._heard += len(notices)
        return [WatchEvent(EventType[name], path) for name, path in notices]

    def close(self) -> None:
        """End the session. Done twice, it does nothing."""
        if not self._over.is_set():
            # Else it is over, or will be when it has been silent for long enough.
            with contextlib.suppress(ZooKeeperError):
                self._op("close")
        self._over.set()
        self._connection.close()
        self._heart.close()

    def _op(self, name: str, *args: object) -> Any:
        if self._over.is_set():
            raise SessionExpired(f"session {self.session} has expired; open a new one")
        return self._ask({"op": name, "session": self.session, "args": args})

    def _ask(self, head: dict[str, Any]) -> Any:
        try:
            answer = json.loads(self._connection.exchange(_framed(head)))
        except Disconnected as error:
            self._over.wait(0.1)  # who asks again does so at once
            raise ConnectionLoss(f"no ZooKeeper answers: {error}") from error
        if "code" in answer:
            if answer["code"] == SessionExpired.code:
                self._over.set()
            raise BY_CODE.get(answer["code"], ZooKeeperError)(answer["text"])
        if "wrong" in answer:
            raise ZooKeeperError(answer["wrong"])
        self.zxid = max(self.zxid, answer["zxid"])
        return answer["result"]


def _framed(fields: dict[str, Any]) -> bytes:
    data = json.dumps(fields, separators=(",", ":")).encode()
    return len(data).to_bytes(4, "big") + data


def _fields(node: Znode) -> list[Any]:
    return [node.data, node.version, node.owner, node.czxid, node.mzxid, node.creates]


def _outcome(outcome: OpOutcome) -> Any:
    if isinstance(outcome, ZooKeeperError):
        return {"code": outcome.code, "text": str(outcome)}
    return outcome


def _read_outcome(outcome: Any) -> OpOutcome:
    if isinstance(outcome, dict):
        return BY_CODE.get(outcome["code"], ZooKeeperError)(outcome["text"])
    found: str | int | None = outcome
    return found


def _now_ms() -> int:
    return int(time.monotonic() * 1000)


def main(arguments: list[str]) -> int:
    """Run the process; exit code 64 without a port and a folder."""
    port, folder, *more = [*arguments, "", ""][: max(2, len(arguments))]
    traces = len(more) == 2 and more[0] == "--trace"
    if not port.isdecimal() or not folder or (more and not traces):
        usage = "usage: python -m impl.server.embedded_zookeeper PORT FOLDER [--trace FOLDER]"
        print(usage, file=sys.stderr)
        return 64
    server = EmbeddedZooKeeperServer(
        (LOOPBACK, int(port)), Path(folder), Path(more[1]) if traces else None
    )
    signal.signal(signal.SIGTERM, lambda *_: server.stop())
    signal.signal(signal.SIGINT, lambda *_: server.stop())
    server.serve()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

"""A session on a real ZooKeeper, over kazoo: the same ``Port`` as the embedded one.

kazoo reads and calls back in its own threads. Notifications are queued here and returned by
``events``, so that the caller stays single-threaded. kazoo is imported when the first session is
opened: nothing else in the implementation needs it.
"""

from __future__ import annotations

import importlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from impl.zookeeper.errors import (
    BY_CODE,
    ConnectionLoss,
    NoNode,
    SessionExpired,
    Unimplemented,
    ZooKeeperError,
)
from impl.zookeeper.port import OpOutcome
from impl.zookeeper.znode import (
    ANY_VERSION,
    NO_SESSION,
    Check,
    Create,
    Created,
    Delete,
    EventType,
    Op,
    SetData,
    WatchEvent,
    Znode,
)

_EVENT_TYPES = {
    "CREATED": EventType.CREATED,
    "DELETED": EventType.DELETED,
    "CHANGED": EventType.DATA_CHANGED,
    "CHILD": EventType.CHILDREN_CHANGED,
}
_DATA, _CHILDREN = "data", "children"
_Known = tuple[int, ...] | None  # what a watcher saw: zxids, None if there was no znode


class KazooMissing(ImportError):
    """The package kazoo is not installed."""


class RealSession:
    """A ``Port`` to the servers in ``hosts`` ("host:port,host:port").

    ``timeout_ms`` is the requested session timeout; an operation without a response after
    ``answer_ms`` counts as ConnectionLoss. ConnectionLoss if no server answers, KazooMissing if the
    package is not installed.
    """

    def __init__(self, hosts: str, timeout_ms: int = 6000, answer_ms: int = 10000) -> None:
        try:
            client = importlib.import_module("kazoo.client")
        except ImportError as missing:
            raise KazooMissing("a real ZooKeeper needs kazoo: pip install kazoo") from missing
        self._states = importlib.import_module("kazoo.protocol.states")
        self._errors = importlib.import_module("kazoo.exceptions")
        self._timeout_error = importlib.import_module("kazoo.handlers.threading").KazooTimeoutError
        self._answer_s = answer_ms / 1000
        self._arrived: deque[WatchEvent] = deque()
        self._lock = threading.Lock()
        self._watched: dict[tuple[str, str], _Known] = {}
        self._connection_broke = False
        self._expired = False
        self._knows_create2 = True  # until a server of 3.4 (Kafka's up to 2.3) says otherwise
        # kazoo would give up after one try; ZooKeeper's own client tries until the session is over
        again = {"max_tries": -1, "delay": 0.05, "max_delay": 1.0}
        self._client = client.KazooClient(hosts, timeout_ms / 1000, connection_retry=again)
        self._client.add_listener(self._state_changed)
        try:
            self._client.start(timeout=self._answer_s)
        except self._timeout_error as nobody:
            self._client.close()
            raise ConnectionLoss(f"no ZooKeeper answers at {hosts}") from nobody
        self.session = int(self._client.client_id[0])

    @property
    def alive(self) -> bool:
        """False once the client knows that the session has expired."""
        return not self._expired

    @property
    def zxid(self) -> int:
        """The newest zxid that the server has named in a response or a notification."""
        return int(self._client.last_zxid)

    # Reads

    async def get(self, path: str, watch: bool = False) -> Znode:
        """The znode; a watch is left if there is one."""
        data, stat = self._watching(
            _DATA, path, watch, lambda callback: self._client.get_async(path, callback)
        )
        return _znode(data, stat)

    async def exists(self, path: str, watch: bool = False) -> Znode | None:
        """The znode without its data, or None; a watch is left either way."""
        return self._exists(path, watch)

    def _exists(self, path: str, watch: bool) -> Znode | None:
        stat = self._watching(
            _DATA, path, watch, lambda callback: self._client.exists_async(path, callback)
        )
        return None if stat is None else _znode(b"", stat)

    async def children(self, path: str, watch: bool = False) -> list[str]:
        """The children's names, sorted; a watch is left if the znode exists."""
        return self._children(path, watch)

    def _children(self, path: str, watch: bool) -> list[str]:
        names, _ = self._watching(
            _CHILDREN,
            path,
            watch,
            lambda callback: self._client.get_children_async(path, callback, include_data=True),
        )
        return sorted(names)

    # Writes

    async def create(
        self, path: str, data: str = "", ephemeral: bool = False, sequential: bool = False
    ) -> Created:
        """Create a znode, owned by this session if it is ephemeral."""

        def create(with_stat: bool) -> Any:
            return self._ask(
                lambda: self._client.create_async(
                    path, data.encode(), ephemeral=ephemeral, sequence=sequential,
                    include_data=with_stat,
                )
            )  # fmt: skip

        if self._knows_create2:
            try:
                made, stat = create(True)
                return Created(made, _znode(data.encode(), stat))
            except Unimplemented:
                self._knows_create2 = False
        made = create(False)
        stat = self._ask(lambda: self._client.exists_async(made))
        if stat is None:
            raise ConnectionLoss(f"{made} was created, and deleted before it was looked at")
        return Created(made, _znode(data.encode(), stat))

    async def set_data(self, path: str, data: str, version: int = ANY_VERSION) -> Znode:
        """Write the data if the version is as expected."""
        stat = self._ask(lambda: self._client.set_async(path, data.encode(), version))
        return _znode(data.encode(), stat)

    async def delete(self, path: str, version: int = ANY_VERSION) -> None:
        """Delete the znode if the version is as expected."""
        self._ask(lambda: self._client.delete_async(path, version))

    async def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """All of the operations or none."""
        for op in ops:
            if isinstance(op, Create) and op.owner not in (NO_SESSION, self.session):
                raise ValueError(f"session {self.session} cannot create for session {op.owner}")
        results = self._ask(lambda: self._transaction(ops).commit_async())
        return [self._outcome(op, result) for op, result in zip(ops, results, strict=True)]

    def _transaction(self, ops: Sequence[Op]) -> Any:
        transaction = self._client.transaction()
        for op in ops:
            match op:
                case Check():
                    transaction.check(op.path, op.version)
                case Create():
                    transaction.create(
                        op.path,
                        op.data.encode(),
                        ephemeral=op.owner != NO_SESSION,
                        sequence=op.sequential,
                    )
                case SetData():
                    transaction.set_data(op.path, op.data.encode(), op.version)
                case Delete():
                    transaction.delete(op.path, op.version)
        return transaction

    def _outcome(self, op: Op, result: Any) -> OpOutcome:
        if isinstance(result, Exception):
            return self._translated(result)
        match op:
            case Create():
                return str(result)
            case SetData():
                return int(result.version)
            case _:
                return None

    # Watches

    def events(self) -> list[WatchEvent]:
        """The notifications since the last call.

        They include notifications of all earlier writes on the same server, because the call waits
        for a request whose response arrives after them.
        """
        if self.alive:
            self._ask(lambda: self._client.exists_async("/"))
            reported = threading.Event()
            callback = self._states.Callback("watch", reported.set, ())
            self._client.handler.dispatch_callback(callback)
            reported.wait(self._answer_s)
        events = []
        while self._arrived:
            events.append(self._arrived.popleft())
        return events

    def _watching(
        self, kind: str, path: str, watch: bool, ask: Callable[[Callable[[Any], None] | None], Any]
    ) -> Any:
        if not watch:
            return self._ask(lambda: ask(None))
        key = (kind, path)
        with self._lock:
            had = key in self._watched
            self._watched.setdefault(key, None)
        try:
            answer = self._ask(lambda: ask(self._on_data if kind == _DATA else self._on_children))
        except ZooKeeperError:
            with self._lock:
                if not had:
                    self._watched.pop(key, None)
            raise
        with self._lock:
            if key in self._watched:  # else it has fired already
                self._watched[key] = _zxids_of(kind, answer)
        return answer

    def _on_data(self, reported: Any) -> None:
        self._fired(_DATA, reported)

    def _on_children(self, reported: Any) -> None:
        self._fired(_CHILDREN, reported)

    def _fired(self, kind: str, reported: Any) -> None:
        if reported.type not in _EVENT_TYPES:  # the connection broke, and kazoo forgot its watches
            self._connection_broke = True
            return
        event = WatchEvent(_EVENT_TYPES[reported.type], reported.path)
        with self._lock:
            watched = (kind, reported.path) in self._watched
            self._watched.pop((kind, reported.path), None)
            if event.type is EventType.DELETED:  # who watches both is notified once
                self._watched.pop((_CHILDREN, reported.path), None)
        if watched:
            self._arrived.append(event)

    def _watch_again(self) -> None:
        """Leave the watches once more, as ZooKeeper's own client does when it reconnects.

        What changed while nobody listened is reported now.
        """
        self._connection_broke = False
        with self._lock:
            lost, self._watched = self._watched, {}
        for (kind, path), known in lost.items():
            try:
                if kind == _DATA:
                    self._exists(path, watch=True)
                else:
                    self._children(path, watch=True)
            except NoNode:
                pass
            with self._lock:
                now = self._watched.get((kind, path))
            if now != known:
                self._arrived.append(WatchEvent(_what_changed(kind, known, now), path))
                with self._lock:
                    self._watched.pop((kind, path), None)

    # The session

    def close(self) -> None:
        """End the session."""
        self._expired = True
        self._client.stop()
        self._client.close()

    def _state_changed(self, state: str) -> None:
        if state == "LOST":
            self._expired = True
        elif state == "SUSPENDED":
            self._connection_broke = True

    def _ask(self, send: Callable[[], Any]) -> Any:
        if self._connection_broke and self.alive and self._client.connected:
            self._watch_again()
        self._require_alive()
        try:
            answer = send().get(timeout=self._answer_s)
        except self._timeout_error as silence:
            raise ConnectionLoss("no answer in time") from silence
        except (self._errors.KazooException, self._errors.ZookeeperError) as error:
            raise self._translated(error) from error
        self._require_alive()
        return answer

    def _require_alive(self) -> None:
        # kazoo would go on under a new session: nothing may be done in its name. While the
        # connection is broken it names none, and the session may yet be saved.
        current = self._client.client_id
        if self._expired or (current is not None and current[0] != self.session):
            self.close()
            raise SessionExpired(f"session {self.session} has expired; open a new one")

    def _translated(self, error: Exception) -> ZooKeeperError:
        if isinstance(error, self._errors.ConnectionClosedError | self._errors.SessionExpiredError):
            return SessionExpired(f"session {self.session} has expired; open a new one")
        code = getattr(error, "code", None)
        kind = BY_CODE.get(code, ZooKeeperError) if code is not None else ConnectionLoss
        return kind(str(error) or kind.__name__)


def _znode(data: bytes | None, stat: Any) -> Znode:
    return Znode(
        data=(data or b"").decode(),
        version=stat.version,
        owner=stat.ephemeralOwner,
        czxid=stat.czxid,
        mzxid=stat.mzxid,
        creates=(stat.cversion + stat.numChildren) // 2,
    )


def _zxids_of(kind: str, answer: Any) -> _Known:
    if answer is None:
        return None
    stat = answer[1] if isinstance(answer, tuple) and len(answer) == 2 else answer
    return (stat.czxid, stat.mzxid) if kind == _DATA else (stat.czxid, stat.pzxid)


def _what_changed(kind: str, known: _Known, now: _Known) -> EventType:
    if now is None:
        return EventType.DELETED
    if known is None:
        return EventType.CREATED
    return EventType.DATA_CHANGED if kind == _DATA else EventType.CHILDREN_CHANGED

"""The lock of a broker's replicas; released while its holder waits for ZooKeeper or a socket."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from impl.zookeeper.port import ForwardingPort, Port

LOOK_S = 1.0
"""How long a request waits before it is asked for the first time whether its client is there."""


class BrokerLock:
    """A reentrant lock that its thread can release completely for a while (``released``).

    ``threading.Condition`` accepts it like an RLock.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._owner: int | None = None
        self._depth = 0
        self.about_to_wait: Callable[[], None] = lambda: None  # its holder lets go of it
        self.still_asked: Callable[[], None] = lambda: None  # raises, once nobody wants the answer

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire the lock; False if the timeout is over."""
        taken = self._lock.acquire(blocking, timeout)
        if taken:
            self._owner, self._depth = threading.get_ident(), self._depth + 1
        return taken

    def release(self) -> None:
        """Release it once."""
        self._depth -= 1
        if not self._depth:
            self._owner = None
        self._lock.release()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    @property
    def is_mine(self) -> bool:
        """Whether this thread holds the lock."""
        return self._owner == threading.get_ident()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Release the lock while the block runs; does nothing if this thread does not hold it.

        After the block, read the state of the replicas again: other threads may have changed it.
        """
        depth = self._release_save() if self.is_mine else 0
        try:
            yield
        finally:
            if depth:
                self._acquire_restore(depth)

    # What a condition asks of it

    def _is_owned(self) -> bool:
        return self.is_mine

    def _release_save(self) -> int:
        self.about_to_wait()
        depth = self._depth
        for _ in range(depth):
            self.release()
        return depth

    def _acquire_restore(self, depth: int) -> None:
        for _ in range(depth):
            self.acquire()


class AskedCondition(threading.Condition):
    """A condition whose waiters check periodically whether the client is still connected.

    A client may ask for a wait of weeks, and disconnect: then its thread stops waiting.
    """

    def __init__(self, lock: BrokerLock) -> None:
        super().__init__(lock)  # type: ignore[arg-type]  # as an RLock is
        self._of = lock

    def wait(self, timeout: float | None = None) -> bool:
        """Like ``Condition.wait``; raises what ``still_asked`` raises."""
        left = threading.TIMEOUT_MAX if timeout is None else timeout
        while left > LOOK_S:
            if super().wait(LOOK_S):
                return True
            self._of.still_asked()
            left -= LOOK_S
        return super().wait(left)


class PatientPort(ForwardingPort):
    """A ``Port`` whose operations release a lock while they wait for ZooKeeper."""

    def __init__(self, port: Port, lock: BrokerLock) -> None:
        super().__init__(port)
        self.lock = lock

    async def operate(self, operation: str, *arguments: Any) -> Any:
        """Carry out an operation, without the lock."""
        with self.lock.released():
            return await getattr(self.port, operation)(*arguments)

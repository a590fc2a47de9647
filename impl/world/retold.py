"""A session with ZooKeeper whose work can be put down at any answer and taken up again later.

What a broker does is fixed by what it was answered. So a piece of work is kept as its answers: to
go on with it, it is done over, is told again what it was told, and then asks on. That makes every
moment between a request and its answer a state of its own, as plain data, without threads.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from impl.zookeeper import EmbeddedSession, Op, ZooKeeper, ZooKeeperError
from impl.zookeeper.port import OpOutcome, wait
from impl.zookeeper.znode import Znode

T = TypeVar("T")

Answers = tuple[Any, ...]
"""What ZooKeeper answered, in order; an error is an answer."""


class KnownSession(EmbeddedSession):
    """A session that was opened before, taken up again by its id."""

    def __init__(self, zookeeper: ZooKeeper, session: int) -> None:
        self.zookeeper = zookeeper
        self.session = session
        self.losses = []


class Waits(BaseException):
    """The work has sent operations that ZooKeeper has not executed; no handler may stop it."""

    def __init__(self, ops: tuple[Op, ...]) -> None:
        super().__init__(ops)
        self.ops = ops


class RetoldSession(KnownSession):
    """A port that gives the answers of before, then reads, and waits at the first new multi."""

    def __init__(self, zookeeper: ZooKeeper, session: int, answers: Answers = ()) -> None:
        super().__init__(zookeeper, session)
        self.before = list(answers)
        self.answers = list(answers)

    async def get(self, path: str, watch: bool = False) -> Znode:
        """The znode as it was, or as it is."""
        znode: Znode = self._told(lambda: wait(super(RetoldSession, self).get(path, watch)))
        return znode

    async def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """What became of it, or a wait for that."""
        if not self.before:
            raise Waits(tuple(ops))
        return list(self._told(lambda: ()))

    def _told(self, ask: Callable[[], Any]) -> Any:
        if self.before:
            answer = self.before.pop(0)
        else:
            try:
                answer = ask()
            except ZooKeeperError as error:
                answer = error
            self.answers.append(answer)
        if isinstance(answer, ZooKeeperError):
            raise answer
        return answer


@dataclass(frozen=True, slots=True)
class Pause:
    """Where a piece of work stands: what it was told, and the operations that it waits for."""

    answers: Answers
    ops: tuple[Op, ...]


def until_it_waits(work: Coroutine[Any, Any, T], port: RetoldSession) -> T | Pause:
    """Do the work as far as the answers go: its result, or where it waits."""
    try:
        return wait(work)
    except Waits as waits:
        return Pause(tuple(port.answers), waits.ops)

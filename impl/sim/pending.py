"""Suspended work of the core that waits for ZooKeeper, saved as the answers that it received.

What a coroutine did follows from its start and the answers that it got. So it is started again,
gets the same answers, and continues from there; nothing is carried out twice.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from impl.sim.effects import ZkOperation
from impl.zookeeper.errors import ZooKeeperError
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CompletedWork(Generic[T]):
    """The work is over, with this result."""

    result: T


@dataclass(frozen=True, slots=True)
class WaitingForZooKeeper:
    """Work that waits for the answer to an operation; ``memory`` is its state at that moment."""

    ask: ZkOperation
    memory: Any


def nothing() -> None:
    """Nothing is to be kept."""


def run_until_next_operation(
    work: Coroutine[Any, Any, T], answers: Iterable[Any], keep: Callable[[], Any] = nothing
) -> WaitingForZooKeeper | CompletedWork[T]:
    """Do the work as far as the answers go: what it asks next, or what it came to.

    An exception among the answers is raised where it is awaited; what the work raises goes through.
    ``keep`` looks at what the work has done before it is dropped, which may tidy up after itself.
    """
    try:
        asked = work.send(None)
        for answer in answers:
            asked = work.throw(answer) if isinstance(answer, Exception) else work.send(answer)
    except StopIteration as over:
        return CompletedWork(over.value)
    assert isinstance(asked, ZkOperation), f"{asked!r} asks nothing of ZooKeeper"
    waiting = WaitingForZooKeeper(asked, keep())
    work.close()
    return waiting


def carry_out(session: EmbeddedSession, asked: ZkOperation) -> Any:
    """What ZooKeeper answers: a refusal is an answer too."""
    try:
        answer = wait(getattr(session, asked.operation)(*asked.arguments))
    except ZooKeeperError as refused:
        return refused
    return tuple(answer) if isinstance(answer, list) else answer

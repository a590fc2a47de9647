"""Saves suspended work of the core that waits for ZooKeeper, as the answers that it received.

Its start and its answers determine what a coroutine did. So it is started again, gets the same
answers, and continues from there; no operation is carried out twice.
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
    """Completed work, with its result."""

    result: T


@dataclass(frozen=True, slots=True)
class WaitingForZooKeeper:
    """Work that waits for the answer to an operation; ``memory`` is its state at that moment."""

    ask: ZkOperation
    memory: Any


def nothing() -> None:
    """The default ``keep``: saves nothing."""


def run_until_next_operation(
    work: Coroutine[Any, Any, T], answers: Iterable[Any], keep: Callable[[], Any] = nothing
) -> WaitingForZooKeeper | CompletedWork[T]:
    """Run the work through the given answers; returns its next operation, or its result.

    An answer that is an exception is raised at its await; an exception of the work is propagated.
    ``keep`` saves the work's effects before it is closed, because closing may clean up after it.
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
    """ZooKeeper's answer to an operation, including a refusal."""
    try:
        answer = wait(getattr(session, asked.operation)(*asked.arguments))
    except ZooKeeperError as refused:
        return refused
    return tuple(answer) if isinstance(answer, list) else answer

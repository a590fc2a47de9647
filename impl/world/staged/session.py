"""The session of a thread that is put down: it gives the answers of before, and then it asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from impl.world.retold import KnownSession
from impl.world.staged.stack import Stack
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.states import decode_state
from impl.zookeeper import Create, Op, SetData, ZooKeeper, ZooKeeperError
from impl.zookeeper.port import OpOutcome, wait
from impl.zookeeper.znode import Znode

T = TypeVar("T")
STATE_NODE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")
CAMPAIGN = "campaign"


class Thread(Protocol):
    """What a session tells of: places where its thread may be put down."""

    stack: Stack
    campaign: int

    def pause(self, label: str) -> None:
        """Put the event down here, the first time."""

    def before_reading(self, partition: TopicPartition) -> None:
        """A state machine is about to read a state."""

    def has_read(self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> None:
        """It was told the state."""

    def before_writing(self, partition: TopicPartition, state: LeaderIsrAndControllerEpoch) -> None:
        """It is about to write one."""

    def has_written(self, partition: TopicPartition, outcome: OpOutcome) -> None:
        """ZooKeeper executed the write, or refused it."""


class RetellingSession(KnownSession):
    """Gives the answers of before, then asks; tells the thread where it may be put down."""

    def __init__(self, zookeeper: ZooKeeper, session: int, thread: Thread) -> None:
        super().__init__(zookeeper, session)
        self.thread = thread
        self.before: list[Any] = []
        self.answers: list[Any] = []

    def get(self, path: str, watch: bool = False) -> Znode:
        """The znode; a partition's state is read in a step of its own."""
        found = STATE_NODE.fullmatch(path)
        if found is None or self.thread.stack.machine is None:
            return wait(super().get(path, watch))
        partition = TopicPartition(found[1], int(found[2]))
        self.thread.before_reading(partition)
        node = wait(super().get(path, watch))
        self.thread.has_read(partition, decode_state(*partition, node.data, node.version))
        return node

    def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """All of the operations or none; a write of a state is a step of its own."""
        for op in ops:
            found = STATE_NODE.fullmatch(op.path)
            if found is not None and isinstance(op, SetData):
                partition = TopicPartition(found[1], int(found[2]))
                state = decode_state(*partition, op.data, op.version)
                self.thread.before_writing(partition, state)
                outcomes = wait(super().multi(ops))
                self.thread.has_written(partition, outcomes[-1])
                return outcomes
        outcomes = wait(super().multi(ops))
        if any(isinstance(op, Create) and op.path == paths.CONTROLLER for op in ops):
            self.thread.campaign = next(int(op.data) for op in ops if isinstance(op, SetData))
            self.thread.pause(CAMPAIGN)
        return outcomes

    def _ask(self, operation: Callable[[], T]) -> T:
        if self.before:
            answer: Any = self.before.pop(0)
        else:
            try:
                answer = super()._ask(operation)
            except ZooKeeperError as error:
                answer = error
            self.answers.append(answer)
        if isinstance(answer, ZooKeeperError):
            raise answer
        found: T = answer
        return found

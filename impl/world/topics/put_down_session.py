"""A controller's session with ZooKeeper, which tells it where it may be put down.

It gives the answers of before, as far as they go, and then asks. What it asks next is where an
event can be left: before a registration is heard of, before a node is removed, and in the middle of
a write over a state that was read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from impl.world.retold import KnownSession
from impl.znodes import paths
from impl.zookeeper import BadVersion, Create, Delete, Op, SetData, ZooKeeper, ZooKeeperError
from impl.zookeeper.port import OpOutcome, wait
from impl.zookeeper.znode import ANY_VERSION, Znode

T = TypeVar("T")
STATE_NODE = re.compile(r"/brokers/topics/[^/]+/partitions/\d+/state")

CAMPAIGN = "campaign"
WRITE, REFUSED = "write", "refused"
"""Where an event may be put down in the middle of a batch."""


class PutDown(BaseException):
    """The event is put down here; no handler may stop it.

    ``begun``: in the middle of the batch in front of which it was put down before.
    """

    def __init__(self, label: str, begun: bool = False) -> None:
        super().__init__(label)
        self.label, self.begun = label, begun


class PausingSession(KnownSession):
    """Gives the answers of before, then asks; tells the controller where it may be put down."""

    def __init__(self, zookeeper: ZooKeeper, session: int) -> None:
        super().__init__(zookeeper, session)
        self.before: list[tuple[str, Any]] = []
        self.answers: list[tuple[str, Any]] = []
        self.listed = ""
        self.removed: set[str] = set()
        self.pause: Callable[[str], None] = lambda label: None
        self.campaign = 0
        self.stop = ""  # before the next write of a state, or after one that was refused
        self.refused = False

    def children(self, path: str, watch: bool = False) -> list[str]:
        """The children's names; which ones were asked for is kept with the answer."""
        self.listed = path
        return wait(super().children(path, watch))

    def multi(self, ops: Sequence[Op]) -> list[OpOutcome]:
        """All of the operations or none, and a place to be put down before or after."""
        for op in ops:
            if isinstance(op, Delete):
                self._before(op.path)
        writes = any(isinstance(op, SetData) and STATE_NODE.fullmatch(op.path) for op in ops)
        if writes and not self.before and self.stop == WRITE:
            raise PutDown("", begun=True)
        outcomes = wait(super().multi(ops))
        self.refused |= writes and any(isinstance(one, BadVersion) for one in outcomes)
        if any(isinstance(op, Create) and op.path == paths.CONTROLLER for op in ops):
            counts = [int(op.data) for op in ops if isinstance(op, SetData)]
            if counts:
                self._registered(*counts)
        return outcomes

    def set_data(self, path: str, data: str, version: int = ANY_VERSION) -> Znode:
        """One write; up to 2.0 the controller epoch's is a registration's last."""
        node = wait(super().set_data(path, data, version))
        if path == paths.CONTROLLER_EPOCH:
            self._registered(int(data))
        return node

    def _registered(self, epoch: int) -> None:
        self.campaign = epoch
        self.pause(CAMPAIGN)

    def _before(self, path: str) -> None:
        parent, _, name = path.rpartition("/")
        bare = parent == paths.TOPICS and f"{path}/partitions" not in self.removed
        if bare or name == "partitions" or STATE_NODE.fullmatch(path):
            self.pause("unregisters")
        elif path.startswith(f"{paths.CONFIG}/"):
            self.pause("removes_request")
        self.removed.add(path)

    def _ask(self, operation: Callable[[], T]) -> T:
        listed, self.listed = self.listed, ""
        answer: Any
        if self.before:
            answer = self.before.pop(0)[1]
        elif self.refused and self.stop == REFUSED:
            raise PutDown("", begun=True)
        else:
            try:
                answer = super()._ask(operation)
            except ZooKeeperError as error:
                answer = error
            self.answers.append((listed, answer))
        if isinstance(answer, ZooKeeperError):
            raise answer
        found: T = answer
        return found

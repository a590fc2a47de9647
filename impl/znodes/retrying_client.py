"""A broker's access to ZooKeeper: it retries when a connection breaks, and checks its epoch.

``KafkaZkClient`` and ``ZooKeeperClient``: after a broken connection the operations without answer
are sent once more, until there is an answer or the session is over. Writes of a controller are
fenced by the version of ``/controller_epoch`` since 2.1 (KAFKA-6082; fact sheet b.6).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from impl.releases import Release
from impl.znodes import paths
from impl.zookeeper.errors import BadVersion, ConnectionLoss, NodeExists, NoNode, ZooKeeperError
from impl.zookeeper.port import OpOutcome, Port
from impl.zookeeper.znode import ANY_VERSION, Check, Create, Delete, Op, SetData, Znode

T = TypeVar("T")


class ControllerMoved(Exception):
    """``ControllerMovedException``: another controller is the controller."""


class RetryingZnodeClient:
    """Reads, writes and fenced writes on one session, as one release makes them."""

    def __init__(self, port: Port, release: Release) -> None:
        self.port = port
        self.release = release

    async def retry(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask until there is an answer; SessionExpired ends it."""
        while True:
            try:
                return await ask()
            except ConnectionLoss:
                continue

    async def read(self, path: str, watch: bool = False) -> Znode | None:
        """The znode, None if there is none; a watch is left either way."""
        while True:
            try:
                return await self.retry(lambda: self.port.get(path, watch))
            except NoNode:
                if not watch or await self.retry(lambda: self.port.exists(path, True)) is None:
                    return None

    async def names(self, path: str, watch: bool = False) -> list[str]:
        """The names of the children, sorted; none if the znode is missing."""
        try:
            return await self.retry(lambda: self.port.children(path, watch))
        except NoNode:
            return []

    async def make_path(self, path: str, data: str = "") -> None:
        """Create a persistent znode and its parents, as far as they are missing."""
        try:
            await self.retry(lambda: self.port.create(path, data))
        except NodeExists:
            return
        except NoNode:
            await self.make_path(path.rpartition("/")[0])
            await self.make_path(path, data)

    async def fenced(self, op: Op, epoch_version: int) -> ZooKeeperError | OpOutcome:
        """One write of a controller, together with the check that it still is one.

        ControllerMoved if the check failed; else what the write itself came to, errors included.
        Nothing is checked up to 2.0.
        """
        if not self.release.since("2.1"):
            return (await self.retry(lambda: self.port.multi([op])))[0]
        check = Check(paths.CONTROLLER_EPOCH, epoch_version)
        refused, outcome = await self.retry(lambda: self.port.multi([check, op]))
        if isinstance(refused, BadVersion | NoNode):
            raise ControllerMoved(
                f"the version of {paths.CONTROLLER_EPOCH} is no longer {epoch_version}"
            )
        return outcome

    async def fenced_outcome(self, op: Op, epoch_version: int | None) -> ZooKeeperError | OpOutcome:
        """Like ``fenced``, but an error of the whole multi is the outcome; epoch None: no fence."""
        try:
            if epoch_version is None:
                return (await self.retry(lambda: self.port.multi([op])))[0]
            return await self.fenced(op, epoch_version)
        except ZooKeeperError as error:
            return error

    async def fenced_or_raise(self, op: Op, epoch_version: int) -> OpOutcome:
        """Like ``fenced``, but the write's own error is raised."""
        outcome = await self.fenced(op, epoch_version)
        if isinstance(outcome, ZooKeeperError):
            raise outcome
        return outcome

    async def fenced_set(self, path: str, data: str, epoch_version: int) -> None:
        """Write, whatever the version; create it if it is missing."""
        outcome = await self.fenced(SetData(path, data, ANY_VERSION), epoch_version)
        if isinstance(outcome, NoNode):
            outcome = await self.fenced(Create(path, data), epoch_version)
        if isinstance(outcome, ZooKeeperError):
            raise outcome

    async def fenced_delete(self, path: str, epoch_version: int) -> bool:
        """Delete one znode; False if there was none."""
        outcome = await self.fenced(Delete(path), epoch_version)
        if isinstance(outcome, NoNode):
            return False
        if isinstance(outcome, ZooKeeperError):
            raise outcome
        return True

    async def fenced_delete_below(self, path: str, epoch_version: int) -> bool:
        """Delete a znode with everything below it, leaves first; False if there was none.

        ValueError for what is no path, as Kafka answers with an IllegalArgumentException.
        """
        if not path.startswith("/"):
            raise ValueError(f"a path begins with /, and {path!r} does not")
        for name in await self.names(path):
            await self.fenced_delete_below(f"{path}/{name}", epoch_version)
        return await self.fenced_delete(path, epoch_version)

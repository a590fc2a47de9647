"""A broker's ZooKeeper client: it retries after connection loss, and fences controller writes.

``KafkaZkClient`` and ``ZooKeeperClient``: after a connection loss, operations without a response
are sent again, until there is a response or the session has expired. Writes of a controller are
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
    """``ControllerMovedException``: another broker is the controller."""


class RetryingZnodeClient:
    """Reads, writes and fenced writes on one session, as one release makes them."""

    def __init__(self, port: Port, release: Release) -> None:
        self.port = port
        self.release = release

    async def retry(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Retry an operation until there is a response; SessionExpired ends it."""
        while True:
            try:
                return await ask()
            except ConnectionLoss:
                continue

    async def read(self, path: str, watch: bool = False) -> Znode | None:
        """The znode, None if there is none; sets a watch in both cases."""
        while True:
            try:
                return await self.retry(lambda: self.port.get(path, watch))
            except NoNode:
                if not watch or await self.retry(lambda: self.port.exists(path, True)) is None:
                    return None

    async def names(self, path: str, watch: bool = False) -> list[str]:
        """The names of the children, sorted; empty if the znode is missing."""
        try:
            return await self.retry(lambda: self.port.children(path, watch))
        except NoNode:
            return []

    async def make_path(self, path: str, data: str = "") -> None:
        """Create a persistent znode and its missing parents."""
        try:
            await self.retry(lambda: self.port.create(path, data))
        except NodeExists:
            return
        except NoNode:
            await self.make_path(path.rpartition("/")[0])
            await self.make_path(path, data)

    async def fenced(self, op: Op, epoch_version: int) -> ZooKeeperError | OpOutcome:
        """One write of a controller, in a multi with the check of its controller epoch.

        ControllerMoved if the check failed; else the result of the write, errors included. Nothing
        is checked up to 2.0.
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
        """Like ``fenced``, but returns the multi's error; epoch None: no fence."""
        try:
            if epoch_version is None:
                return (await self.retry(lambda: self.port.multi([op])))[0]
            return await self.fenced(op, epoch_version)
        except ZooKeeperError as error:
            return error

    async def fenced_or_raise(self, op: Op, epoch_version: int) -> OpOutcome:
        """Like ``fenced``, but raises the write's own error."""
        outcome = await self.fenced(op, epoch_version)
        if isinstance(outcome, ZooKeeperError):
            raise outcome
        return outcome

    async def fenced_set(self, path: str, data: str, epoch_version: int) -> None:
        """Write regardless of the version; create the znode if it is missing."""
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

        ValueError for an invalid path, where Kafka throws an IllegalArgumentException.
        """
        if not path.startswith("/"):
            raise ValueError(f"a path begins with /, and {path!r} does not")
        for name in await self.names(path):
            await self.fenced_delete_below(f"{path}/{name}", epoch_version)
        return await self.fenced_delete(path, epoch_version)

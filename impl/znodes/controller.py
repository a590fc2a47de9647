"""How a broker registers, and how it becomes controller (fact sheet a.2, b.2, b.3)."""

from __future__ import annotations

from dataclasses import dataclass

from impl.releases import Release
from impl.znodes import paths
from impl.znodes.brokers import BrokerInfo, broker_version, encode_broker
from impl.znodes.cluster import decode_controller, decode_controller_epoch, encode_controller
from impl.znodes.retrying_client import ControllerMoved, RetryingZnodeClient
from impl.zookeeper.errors import BadVersion, NodeExists, NoNode, ZooKeeperError
from impl.zookeeper.znode import Create, Delete, SetData


@dataclass(frozen=True, order=True, slots=True)
class ControllerEpoch:
    """A controller's epoch, and the version of the znode that holds it: the fence of its writes."""

    epoch: int
    epoch_version: int


class EpochNotCounted(ControllerMoved):
    """Up to 2.0: ``/controller`` was created, and the epoch had another version than was read.

    Another controller counted, or it was this one, and the answer was lost.
    """


class ControllerZnodes(RetryingZnodeClient):
    """Registrations of brokers and of the controller."""

    # Brokers

    async def register_broker(
        self, broker: int, info: BrokerInfo, earlier_session: int = 0,
        protocol: Release | None = None,
    ) -> int:  # fmt: skip
        """Create ``/brokers/ids/N``; returns its czxid, the broker's epoch (KIP-380).

        A znode that this very session owns is taken as done: the answer was lost. One that the
        broker's ``earlier_session`` owns is replaced (2.2 and later). NodeExists otherwise.
        ``protocol`` is the inter.broker.protocol.version, by default that of the release.
        """
        path = paths.broker(broker)
        text = encode_broker(info, broker_version(protocol or self.release))
        try:
            return (
                await self.retry(lambda: self.port.create(path, text, ephemeral=True))
            ).znode.czxid
        except NodeExists:
            there = await self.read(path)
        if there is not None and there.owner == self.port.session:
            return there.czxid
        ours = there is not None and there.owner == earlier_session and earlier_session != 0
        if there is not None and not (ours and self.release.since("2.2")):
            raise NodeExists(f"a broker is already registered on the path {path}")
        replace = [Delete(path)] if there is not None else []
        create = Create(path, text, self.port.session)
        for outcome in await self.retry(lambda: self.port.multi([*replace, create])):
            if isinstance(outcome, ZooKeeperError):
                raise outcome
        made = await self.read(path)
        assert made is not None, "a znode that was created by a living session is there"
        return made.czxid

    # The controller

    async def controller(self, watch: bool = False) -> int | None:
        """The broker that /controller names, None without the znode."""
        node = await self.read(paths.CONTROLLER, watch)
        return None if node is None else decode_controller(node.data)

    async def controller_epoch(self) -> ControllerEpoch | None:
        """The epoch and its version, None before the first controller."""
        node = await self.read(paths.CONTROLLER_EPOCH)
        return (
            None
            if node is None
            else ControllerEpoch(decode_controller_epoch(node.data), node.version)
        )

    async def create_controller_epoch(self, epoch: int) -> ControllerEpoch:
        """Create /controller_epoch; if it exists by now, return what it holds."""
        try:
            await self.retry(lambda: self.port.create(paths.CONTROLLER_EPOCH, str(epoch)))
        except NodeExists:
            there = await self.controller_epoch()
            if there is not None:
                return there
        return ControllerEpoch(epoch, 0)

    async def set_controller_epoch(self, epoch: int, version: int) -> int:
        """A conditional write of the epoch; the new version. BadVersion, NoNode."""
        text = str(epoch)
        return (
            await self.retry(lambda: self.port.set_data(paths.CONTROLLER_EPOCH, text, version))
        ).version

    async def register_controller(self, broker: int, now_ms: int) -> ControllerEpoch:
        """Become controller, with the next epoch; ControllerMoved if somebody else has it.

        EpochNotCounted (1.1 to 2.0) leaves a ``/controller`` of its own behind. Up to 1.0 the error
        was only logged, and the controller went on under the epoch that it had read
        (``incrementControllerEpoch``).
        """
        if self.release.since("2.1"):
            return await self._register_at_once(broker, now_ms)
        return await self._register_and_then_count(broker, now_ms)

    async def _register_at_once(self, broker: int, now_ms: int) -> ControllerEpoch:
        read = await self.controller_epoch() or await self.create_controller_epoch(0)
        wanted = read.epoch + 1
        claim = Create(paths.CONTROLLER, encode_controller(broker, now_ms), owner=self.port.session)
        count = SetData(paths.CONTROLLER_EPOCH, str(wanted), read.epoch_version)
        outcomes = await self.retry(lambda: self.port.multi([claim, count]))
        version = outcomes[1]
        if isinstance(version, int):
            return ControllerEpoch(wanted, version)
        if any(isinstance(one, NodeExists | BadVersion) for one in outcomes):
            return await self._whose_it_is(broker, wanted)
        raise next(one for one in outcomes if isinstance(one, ZooKeeperError) and one.code)

    async def _whose_it_is(self, broker: int, wanted: int) -> ControllerEpoch:
        """My own registration, whose answer was lost, if id and epoch are mine; else it moved."""
        holder, now = await self.controller(), await self.controller_epoch()
        if holder is None:
            raise ControllerMoved("the controller has been elected, and its znode is gone again")
        if holder == broker and now is not None and now.epoch == wanted:
            return now
        raise ControllerMoved(f"broker {holder} was elected as controller")

    async def _register_and_then_count(self, broker: int, now_ms: int) -> ControllerEpoch:
        """Up to 2.0: first the ephemeral znode, then the epoch; in between two may write."""
        text = encode_controller(broker, now_ms)
        try:
            await self.retry(lambda: self.port.create(paths.CONTROLLER, text, ephemeral=True))
        except NodeExists:
            there = await self.read(paths.CONTROLLER)
            if there is None or there.owner != self.port.session:
                raise ControllerMoved("another broker was elected as controller") from None
        read = await self.controller_epoch()
        if read is None:
            try:
                await self.retry(lambda: self.port.create(paths.CONTROLLER_EPOCH, "1"))
            except NodeExists:  # be it by its own write, whose answer was lost
                raise EpochNotCounted("another controller counted the epoch") from None
            return ControllerEpoch(1, 1)  # Kafka's constant; the znode itself is at version 0
        try:
            return ControllerEpoch(
                read.epoch + 1, await self.set_controller_epoch(read.epoch + 1, read.epoch_version)
            )
        except (BadVersion, NoNode) as moved:
            if not self.release.since("1.1"):
                return read
            raise EpochNotCounted("another controller counted the epoch") from moved

    async def delete_controller(self, epoch_version: int) -> None:
        """Resign on purpose, so that brokers elect anew (``triggerControllerMove``)."""
        await self.fenced_delete(paths.CONTROLLER, epoch_version)

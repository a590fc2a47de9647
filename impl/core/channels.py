"""A controller's connections to brokers: ordered per broker, unordered between brokers.

One request is under way at a time. It is sent until it is answered (``RequestSendThread``), so a
lost answer brings it to the broker twice; when its broker goes, or its controller resigns, what is
queued is dropped. What is under way then may arrive all the same. Source: ControllerChannelManager.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from impl.core.replica_manager import Answered

Item = TypeVar("Item")
"""A request, with whatever is needed to send it."""


class Channel(Generic[Item]):
    """The connection to one registration of a broker; ``orphan``: no controller waits for its
    response."""

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.waiting: deque[Item] = deque()
        self.under_way: Item | None = None
        self.answer: Answered | None = None
        self.orphan = False

    def send(self, request: Item) -> None:
        """Queue a request."""
        self.waiting.append(request)
        self.go_on()

    def go_on(self) -> None:
        """Send the next request, if none is in flight."""
        if self.under_way is None and self.waiting:
            self.under_way = self.waiting.popleft()

    def done(self) -> None:
        """The request in flight got its response; the next one is sent."""
        self.under_way = self.answer = None
        self.go_on()

    def lose(self) -> None:
        """The connection breaks: the request is sent again, unless the channel is an orphan."""
        self.answer = None
        if self.orphan:
            self.under_way = None

    def abandon(self) -> None:
        """The controller has resigned, or the broker is gone: queued requests are dropped."""
        self.waiting.clear()
        self.orphan = True


def in_memory(broker: int, epoch: int) -> Channel[Item]:
    """A channel whose caller delivers the requests itself."""
    return Channel(epoch)


class Channels(Generic[Item]):
    """The channels of one controller, the open ones, and closed ones with a request in flight.

    ``make`` opens one to a broker that is registered with a broker epoch; None if it cannot be
    reached. ``epochs``, in calls: of the brokers that the controller knows.
    """

    def __init__(self, make: Callable[[int, int], Channel[Item] | None] = in_memory) -> None:
        self.make = make
        self.open: dict[int, Channel[Item]] = {}
        self.orphans: dict[int, Channel[Item]] = {}

    def send(self, broker: int, request: Item, epochs: Mapping[int, int]) -> bool:
        """Queue a request; False, and it is dropped, if the controller does not know the broker."""
        epoch = epochs.get(broker)
        if epoch is None:
            return False
        channel = self.open.get(broker)
        if channel is None or channel.epoch != epoch:
            self.close([broker])
            channel = self.make(broker, epoch)
            if channel is None:
                return False
            self.open[broker] = channel
        channel.send(request)
        return True

    def forget_the_gone(self, epochs: Mapping[int, int]) -> None:
        """Close channels to brokers that are no longer registered, or registered again."""
        self.close([one for one, held in self.open.items() if epochs.get(one) != held.epoch])

    def close(self, brokers: list[int] | None = None) -> None:
        """Close some channels, by default all: the controller has resigned."""
        for broker in [*self.open] if brokers is None else brokers:
            channel = self.open.pop(broker, None)
            if channel is not None:
                channel.abandon()
                if channel.under_way is not None:
                    self.orphans[broker] = channel

    def busy(self) -> list[tuple[int, Channel[Item]]]:
        """Every channel with a request in flight, by broker; an orphan if no channel is open."""
        channels = sorted({**self.orphans, **self.open}.items())
        return [(broker, one) for broker, one in channels if one.under_way is not None]

    def to(self, broker: int) -> Channel[Item]:
        """The channel to a broker that ``busy`` names."""
        channel = self.open.get(broker)
        return self.orphans[broker] if channel is None else channel

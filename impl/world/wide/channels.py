"""A controller's connections to brokers: in order on each, in any order between them.

One request is under way at a time. It is sent until it is answered, so a lost answer brings it to
the broker twice. What is under way when its controller leaves office may arrive all the same.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from impl.core.requests import Request
from impl.znodes import TopicPartition

Errors = Mapping[TopicPartition, str]
Answer = tuple[str, Errors]
"""The error of the whole request, and of each partition."""


@dataclass
class Channel:
    """To one registration of a broker; ``orphan`` once nobody waits for the answer any more."""

    epoch: int
    waiting: deque[Request] = field(default_factory=deque)
    under_way: Request | None = None
    answer: Answer | None = None
    orphan: bool = False

    def send(self, request: Request) -> None:
        """Queue a request."""
        self.waiting.append(request)
        self.go_on()

    def go_on(self) -> None:
        """Put the next request on its way, if none is."""
        if self.under_way is None and self.waiting:
            self.under_way = self.waiting.popleft()

    def done(self) -> None:
        """The request under way is over."""
        self.under_way = self.answer = None
        self.go_on()

    def lose(self) -> None:
        """The connection breaks: the request is sent again, unless nobody cares for it."""
        self.answer = None
        if self.orphan:
            self.under_way = None

    def abandon(self) -> None:
        """Its controller is out of office, or the broker gone: what has not left, does not."""
        self.waiting.clear()
        self.orphan = True


class Channels:
    """The channels of one controller, open ones and those that only still deliver."""

    def __init__(self) -> None:
        self.open: dict[int, Channel] = {}
        self.orphans: dict[int, Channel] = {}
        self.epochs: Mapping[int, int] = {}

    def send(self, broker: int, request: Request) -> None:
        """Queue a request; it is dropped if the controller does not know the broker."""
        epoch = self.epochs.get(broker)
        if epoch is None:
            return
        channel = self.open.get(broker)
        if channel is None or channel.epoch != epoch:
            self.close([broker])
            channel = self.open[broker] = Channel(epoch)
        channel.send(request)

    def forget_the_gone(self) -> None:
        """Close channels to brokers that are registered no more, or anew."""
        self.close([one for one, held in self.open.items() if self.epochs.get(one) != held.epoch])

    def close(self, brokers: list[int] | None = None) -> None:
        """Close some channels, by default all: the controller is out of office."""
        for broker in [*self.open] if brokers is None else brokers:
            channel = self.open.pop(broker, None)
            if channel is not None and channel.under_way is not None:
                channel.abandon()
                self.orphans[broker] = channel

    def busy(self) -> list[tuple[int, Channel]]:
        """Every channel with something under way, by broker, orphans last."""
        found = [(broker, one) for broker, one in self.open.items() if one.under_way is not None]
        for broker, one in [*self.orphans.items()]:
            if one.under_way is None:
                del self.orphans[broker]
            elif broker not in self.open:
                found.append((broker, one))
        return sorted(found, key=lambda entry: entry[0])

    def to(self, broker: int) -> Channel:
        """The channel to a broker that ``busy`` names."""
        channel = self.open.get(broker)
        return self.orphans[broker] if channel is None else channel

"""A controller's way to the brokers: one queue and one thread each (``ControllerChannelManager``).

A request is tried until it is answered, with pauses, as long as its broker is registered as it was
when the channel was made; when the broker goes, what is queued for it goes too.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from impl.core.cluster_context import ClusterContext
from impl.core.request_batch import Round
from impl.core.requests import Request, kind_of
from impl.server.codec import encode_request
from impl.server.log4j_files import Log4jFiles
from impl.server.wire import Connection, Disconnected
from impl.world.log4j import CONTROLLER

PAUSE_S = 0.1
Answered = Callable[[int, Request, dict[str, Any]], None]
_LOGGER = "kafka.controller.ControllerChannelManager"


class Channel(threading.Thread):
    """One broker's queue (``RequestSendThread``)."""

    def __init__(
        self, broker: int, epoch: int, address: tuple[str, int], patience_s: float,
        answered: Answered, files: Log4jFiles,
    ) -> None:  # fmt: skip
        super().__init__(name=f"Controller-to-broker-{broker}-send-thread", daemon=True)
        controller = str(files.broker)
        self.broker = broker
        self.epoch = epoch
        self.connection = Connection(address, patience_s, controller)
        self.answered = answered
        self.waiting: queue.Queue[tuple[Request, dict[str, Any]] | None] = queue.Queue()
        self.ended = threading.Event()
        self.sent = 0

    def run(self) -> None:
        """Send one after the other."""
        while not self.ended.is_set():
            entry = self.waiting.get()
            if entry is None:
                return
            request, head = entry
            head["correlation"], self.sent = self.sent, self.sent + 1
            while not self.ended.is_set():
                try:
                    answer = self.connection.ask(head)
                except Disconnected:
                    self.ended.wait(PAUSE_S)
                    continue
                if answer.head.get("error") == "RETRY":
                    self.ended.wait(PAUSE_S)
                    continue
                self.answered(self.broker, request, answer.head)
                break

    def stop(self) -> None:
        """Drop what is queued, and end."""
        self.ended.set()
        self.waiting.put(None)
        self.connection.close()


class Channels:
    """The channels of one controller; used by its event thread alone."""

    def __init__(self, files: Log4jFiles, patience_s: float, answered: Answered) -> None:
        self.files = files
        self.patience_s = patience_s
        self.answered = answered
        self.context: ClusterContext | None = None
        self.open: dict[int, Channel] = {}

    async def send(self, requests: Round) -> None:
        """Queue a round's requests, each for its broker."""
        for broker, request in requests:
            self._queue(broker, request)

    def _queue(self, broker: int, request: Request) -> None:
        """One request; dropped, with a warning, if its broker is not registered."""
        channel = self._channel(broker)
        if channel is None:
            head = f"[Channel manager on controller {self.files.broker}]: "
            text = f"{head}Not sending request {kind_of(request)} to broker {broker}, since it is "
            self.files.line(CONTROLLER, "WARN", f"{text}offline.", _LOGGER)
            return
        assert self.context is not None
        endpoints = {
            one: (host, port)
            for one, info in self.context.broker_infos.items()
            for host, port in [info.plaintext]
            if host is not None
        }
        channel.waiting.put((request, encode_request(request, endpoints)))

    def _channel(self, broker: int) -> Channel | None:
        context = self.context
        if context is None or broker not in context.broker_epochs:
            return None
        epoch = context.broker_epochs[broker]
        known = self.open.get(broker)
        if known is not None and known.epoch == epoch:
            return known
        if known is not None:
            known.stop()
            del self.open[broker]
        info = context.broker_infos.get(broker)
        host, port = (None, -1) if info is None else info.plaintext
        if host is None:
            return None
        made = Channel(broker, epoch, (host, port), self.patience_s, self.answered,
                       self.files)  # fmt: skip
        self.open[broker] = made
        made.start()
        return made

    def forget_the_gone(self) -> None:
        """Close the channels of brokers that are registered no more, or anew."""
        known = {} if self.context is None else self.context.broker_epochs
        for broker, channel in [*self.open.items()]:
            if known.get(broker) != channel.epoch:
                channel.stop()
                del self.open[broker]

    def close(self) -> None:
        """Close all: the controller is out of office."""
        for channel in self.open.values():
            channel.stop()
        self.open.clear()

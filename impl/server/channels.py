"""A controller's connections to brokers, one thread each (``ControllerChannelManager``).

The core's ``Channels`` decides what is queued, resent and dropped.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from impl.core.channels import Channel, Channels
from impl.core.cluster_context import ClusterContext
from impl.core.replica_manager import Answered as Answer
from impl.core.request_batch import Round
from impl.core.requests import Request, kind_of
from impl.server import control_messages
from impl.server.connection import Address, Connection, Disconnected
from impl.server.control_messages import LiveBrokers
from impl.server.log4j_files import CONTROLLER, Log4jFiles
from impl.wire import Fields

PAUSE_S = 0.1
Answered = Callable[[int, Request, Answer], None]
_LOGGER = "kafka.controller.ControllerChannelManager"


@dataclass(eq=False)
class EncodedRequest:
    """A request and its encoded message, which is resent with the same correlation id."""

    request: Request
    body: Fields
    correlation: int


class BrokerChannel(Channel[EncodedRequest]):
    """One broker's queue, and the thread that sends its requests (``RequestSendThread``)."""

    def __init__(
        self, broker: int, epoch: int, address: Address, patience_s: float, answered: Answered,
        controller: int,
    ) -> None:  # fmt: skip
        super().__init__(epoch)
        self.broker = broker
        self.answered = answered
        self.connection = Connection(address, patience_s, str(controller))
        self.news = threading.Condition()
        self.ended = threading.Event()
        name = f"Controller-{controller}-to-broker-{broker}-send-thread"
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.thread.start()

    def send(self, request: EncodedRequest) -> None:
        """Queue a request."""
        with self.news:
            super().send(request)
            self.news.notify_all()

    def abandon(self) -> None:
        """Drop the queued requests, and end."""
        with self.news:
            super().abandon()
            self.ended.set()
            self.news.notify_all()
        self.connection.close()

    def _run(self) -> None:
        while True:
            with self.news:
                while self.under_way is None and not self.ended.is_set():
                    self.news.wait()
                if self.ended.is_set():
                    return
                request = self.under_way
            assert request is not None, "there is something to send"
            answer = self._sent(request)
            with self.news:
                if answer is None:
                    self.lose()
                elif not self.ended.is_set():
                    self.done()
            if answer is None:
                self.ended.wait(PAUSE_S)
            elif not self.ended.is_set():
                self.answered(self.broker, request.request, answer)

    def _sent(self, sealed: EncodedRequest) -> Answer | None:
        """The answer; None if there is none, and the request is to be sent again."""
        request = sealed.request
        version = control_messages.version_of(request)
        try:
            answer = self.connection.ask(
                kind_of(request), version, sealed.body, correlation=sealed.correlation
            )
        except Disconnected:
            return None
        return control_messages.decode_answer(answer)


class BrokerChannels(Channels[EncodedRequest]):
    """The channels of one controller; only its event thread uses them."""

    def __init__(self, files: Log4jFiles, patience_s: float, answered: Answered) -> None:
        super().__init__(self._new_channel)
        self.files = files
        self.patience_s = patience_s
        self.answered = answered
        self.context: ClusterContext | None = None
        self.numbers: Counter[int] = Counter()
        """How many requests there were for each broker, over whatever connection."""

    def _new_channel(self, broker: int, epoch: int) -> BrokerChannel | None:
        assert self.context is not None, "who sends is controller"
        info = self.context.broker_infos.get(broker)
        host, port = (None, -1) if info is None else info.plaintext
        if host is None:
            return None
        return BrokerChannel(
            broker, epoch, (host, port), self.patience_s, self.answered, self.files.broker
        )

    async def send_round(self, requests: Round) -> None:
        """Queue the requests of a round, each for its broker."""
        assert self.context is not None, "who sends is controller"
        endpoints = {
            one: (host, port)
            for one, info in self.context.broker_infos.items()
            for host, port in [info.plaintext]
            if host is not None
        }
        racks = {one: info.rack for one, info in self.context.broker_infos.items()}
        live = LiveBrokers(endpoints, racks)
        for broker, request in requests:
            body, number = control_messages.encode(request, live), self.numbers[broker]
            self.numbers[broker] += 1
            sent = EncodedRequest(request, body, number)
            if not self.send(broker, sent, self.context.channel_epochs):
                head = f"[Channel manager on controller {self.files.broker}]: "
                text = f"{head}Not sending request {kind_of(request)} to broker {broker}, since it "
                self.files.line(CONTROLLER, "WARN", f"{text}is offline.", _LOGGER)

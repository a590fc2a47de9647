"""Proxies in front of brokers and ZooKeeper: each message passes a gate, where rules may hold it.

Each broker has one port for requests to it from other brokers, controllers and clients, and one for
its own requests to ZooKeeper, so that a session is known by the port. On a connection messages stay
in order, as on TCP: messages behind a held message wait too.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from itertools import count

from conformance.kafka.messages import AGAIN, ANSWER, KafkaReader, Message, ZooKeeperReader
from conformance.kafka.schedule import MessageFilter, MessageRule, ReleaseMessage
from impl.wire import FrameTooLarge, frames_in

LOOPBACK = "127.0.0.1"
LARGEST = 1 << 28
LINGER_S = 60.0
AWAITS_S = 60.0
Heard = Callable[[str, Message], None]


class HeldMessage:
    """A message that waits at the gate; ``verdict``: pass it or drop it.

    A message that is ``claimed`` stays although its sender has closed the connection, as if it were
    in flight already. It is dropped when its receiver's process ends.
    """

    def __init__(self, message: Message) -> None:
        self.message = message
        self.verdict = ""
        self.claimed = False


class MessageGate:
    """Passes, holds or drops messages by its rules, which any thread may change at any time.

    ``heard`` receives each message that passes (`passed`), is held or dropped, in order.
    """

    def __init__(self, heard: Heard | None = None) -> None:
        self._changed = threading.Condition()
        self._rules: list[MessageRule] = []
        self._held: list[HeldMessage] = []
        self._numbers = count(1)
        self._heard = heard or (lambda _what, _message: None)
        self._open = True
        self._passed = 0

    # What brokers' connections do

    def passes(self, message: Message, alive: Callable[[bool], bool]) -> tuple[bool, int]:
        """Waits until the message may go on. Returns whether it may, and how often (2: duplicate).

        ``alive``: is there still a way for it? A claimed message needs no sender.
        """
        with self._changed:
            message.number = next(self._numbers)
            rule = next((one for one in self._rules if one.takes(message)), None)
            action = "pass" if rule is None else rule.action
            if action == "hold":
                action = self._wait(message, alive)
            if action == "delay" and rule is not None:
                self._heard("delayed", message)
                until = time.monotonic() + rule.delay_ms / 1000
                while self._open and (left := until - time.monotonic()) > 0:
                    self._changed.wait(left)
            goes = action != "drop"
            self._heard("passed" if goes else "dropped", message)
            self._passed += 1
            self._changed.notify_all()
        return goes, 2 if action == "duplicate" else 1

    def _wait(self, message: Message, alive: Callable[[bool], bool]) -> str:
        one = HeldMessage(message)
        self._held.append(one)
        self._heard("held", message)
        self._changed.notify_all()
        while self._open and not one.verdict:
            if not alive(one.claimed):
                one.verdict = "drop"
            self._changed.wait(0.2)
        if one in self._held:
            self._held.remove(one)
        return one.verdict or "drop"

    # What a schedule does

    def add(self, rule: MessageRule) -> None:
        """Adds a rule from now on, before the older ones."""
        with self._changed:
            self._rules.insert(0, rule)

    def apply(self, line: MessageRule | ReleaseMessage) -> None:
        """Applies a schedule's line about messages. LookupError if none is held or none comes."""
        if isinstance(line, MessageRule):
            self.add(line)
        elif line.verb == "await":
            if self.await_held(line.which, AWAITS_S) is None:
                raise LookupError(f"no such message came within {AWAITS_S:.0f} s")
        elif line.verb == "release":
            if not self.held(line.which):
                raise LookupError("no such message is held")
            self.settle(self.held(line.which)[0], "pass")
        else:
            self.end(line.which)
            for one in self.held(line.which):
                self.settle(one, "pass")

    def end(self, which: MessageFilter) -> None:
        """Removes the rules for such messages."""
        with self._changed:
            self._rules = [one for one in self._rules if one.which != which]
            self._changed.notify_all()

    def held(self, which: MessageFilter) -> list[HeldMessage]:
        """The held messages that fit, the oldest first."""
        with self._changed:
            return [one for one in self._held if not one.verdict and which.fits(one.message)]

    def holds(self, connection: int) -> bool:
        """Whether a message of that connection waits."""
        with self._changed:
            return any(one.message.connection == connection for one in self._held)

    def all_held(self) -> list[Message]:
        """Every message that waits."""
        with self._changed:
            return [one.message for one in self._held if not one.verdict]

    def waiting(self) -> str:
        """Every message that waits, in words."""
        named = "; ".join(one.in_words() for one in self.all_held())
        return f"at the proxies waits: {named or 'nothing'}"

    def wait_for(self, found: Callable[[], bool], patience_s: float, every_s: float = 0.05) -> bool:
        """Waits until a condition is met, checked again at each message and at intervals."""
        deadline = time.monotonic() + patience_s
        while True:
            if found():
                return True
            if time.monotonic() > deadline:
                return False
            with self._changed:
                self._changed.wait(every_s)

    def await_held(
        self,
        which: MessageFilter,
        patience_s: float,
        fits: Callable[[Message], bool] = lambda _: True,
    ) -> HeldMessage | None:
        """Waits for such a held message; returns the oldest, None if none comes in time."""
        return self.await_found(
            lambda: next((one for one in self.held(which) if fits(one.message)), None), patience_s
        )

    def await_found(
        self, found: Callable[[], HeldMessage | None], patience_s: float
    ) -> HeldMessage | None:
        """Waits until the message is found; returns it, None if it does not come in time."""
        held: list[HeldMessage] = []

        def look() -> bool:
            one = found()
            held[:] = [] if one is None else [one]
            return one is not None

        return held[0] if self.wait_for(look, patience_s) else None

    def settle(self, held: HeldMessage, verdict: str) -> None:
        """Lets a message go (`pass`), twice (`duplicate`), or drops it (`drop`)."""
        with self._changed:
            held.verdict = verdict
            if held in self._held:
                self._held.remove(held)
            self._changed.notify_all()

    def close(self) -> None:
        """Ends holding; messages that are held are dropped."""
        with self._changed:
            self._open = False
            self._rules.clear()
            self._changed.notify_all()


class Proxy:
    """One port and its destination. ``reader`` decodes a connection; ``open`` may be shut."""

    def __init__(
        self,
        listens: int,
        leads: int,
        gate: MessageGate,
        reader: Callable[[int], KafkaReader | ZooKeeperReader],
        numbers: count[int],
    ) -> None:
        self.gate, self.leads, self._reader, self._numbers = gate, leads, reader, numbers
        self._ended = False
        self._shut = False
        self._pairs: dict[int, tuple[socket.socket, socket.socket]] = {}
        self._lock = threading.Lock()
        self.readers: dict[int, KafkaReader | ZooKeeperReader] = {}
        self._server = socket.socket()
        self._server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._server.bind((LOOPBACK, listens))
        except OSError as error:
            self._server.close()
            raise OSError(error.errno, f"port {listens} is taken: {error.strerror}") from error
        self._server.listen(64)
        self.port = int(self._server.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while not self._ended:
            try:
                asker, _ = self._server.accept()
            except OSError:
                return
            if self._shut or self._ended:
                asker.close()
                continue
            threading.Thread(target=self._serve, args=(asker,), daemon=True).start()

    def _serve(self, asker: socket.socket) -> None:
        try:
            asked = socket.create_connection((LOOPBACK, self.leads), timeout=5)
        except OSError:
            asker.close()
            return
        asked.settimeout(None)
        for one in (asker, asked):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        number = next(self._numbers)
        reader = self._reader(number)
        reader.port = int(asked.getsockname()[1])
        with self._lock:
            self._pairs[number] = asker, asked
            self.readers[number] = reader
        back = threading.Thread(
            target=self._pump, args=(asked, asker, reader.answer, number, False), daemon=True
        )
        back.start()
        self._pump(asker, asked, reader.request, number)
        back.join()
        with self._lock:
            self._pairs.pop(number, None)
            self.readers.pop(number, None)

    def _pump(
        self, source: socket.socket, target: socket.socket,
        read: Callable[[bytes], Message], number: int, lingers: bool = True,
    ) -> None:  # fmt: skip
        data = bytearray()
        try:
            while chunk := source.recv(1 << 16):
                data += chunk
                for frame in frames_in(data, LARGEST):
                    message = read(frame)
                    if message.api == AGAIN:
                        continue
                    goes, times = self.gate.passes(
                        message,
                        lambda claimed: (
                            number in self._pairs and (claimed or not _has_ended(source))
                        ),
                    )
                    if not goes:
                        return
                    reader = self.readers.get(number)
                    if times > 1 and isinstance(reader, KafkaReader):
                        reader.repeated.add(message.correlation)
                    for _ in range(times):
                        target.sendall(len(frame).to_bytes(4, "big") + frame)
            if lingers:
                self._linger(number)
        except (OSError, FrameTooLarge):
            pass
        finally:
            with self._lock:
                self._pairs.pop(number, None)
            for one in (source, target):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
                one.close()

    def _linger(self, number: int) -> None:
        """A claimed request whose sender is gone is answered before its connection ends."""
        reader = self.readers.get(number)
        if reader is not None and reader.claimed:
            self.gate.wait_for(
                lambda: not reader.outstanding and not self.gate.holds(number), LINGER_S
            )

    def shut(self) -> None:
        """Accepts no connections from now on, and ends those that exist."""
        self._shut = True
        self.disconnect()

    def admit(self) -> None:
        """Accept connections again."""
        self._shut = False

    def disconnect(self, number: int | None = None) -> None:
        """End one connection, or all of them."""
        with self._lock:
            chosen = [self._pairs[number]] if number in self._pairs else []
            if number is None:
                chosen = list(self._pairs.values())
                self._pairs.clear()
            else:
                self._pairs.pop(number, None)
        for pair in chosen:
            for one in pair:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the proxy with all its connections."""
        self._ended = True
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self.disconnect()


class Proxies:
    """All proxies of a cluster, over one gate.

    ``brokers``: id -> (port of its proxy, its own port, port of its way to ZooKeeper).
    """

    def __init__(
        self, brokers: dict[int, tuple[int, int, int]], zookeeper: int, heard: Heard | None = None
    ) -> None:
        self.gate = MessageGate(heard)
        self._numbers = count(1)
        self.before: dict[int, Proxy] = {}
        self.to_zookeeper: dict[int, Proxy] = {}
        try:
            for broker, (listens, leads, keeper) in brokers.items():
                self.before[broker] = Proxy(
                    listens, leads, self.gate, _kafka(str(broker)), self._numbers
                )
                self.to_zookeeper[broker] = Proxy(
                    keeper, zookeeper, self.gate, _zookeeper_reader(str(broker)), self._numbers
                )
        except OSError:
            self.close()
            raise

    def session(self, broker: int) -> tuple[int, bytes] | None:
        """The newest ZooKeeper session of a broker: its id and password."""
        found = None
        for _, reader in sorted(self.to_zookeeper[broker].readers.items()):
            if isinstance(reader, ZooKeeperReader) and reader.session:
                found = reader.session
        return found

    def claim(self, held: HeldMessage) -> None:
        """Keeps a message, and the way of its answer, though its sender closes the connection."""
        held.claimed = True
        for one in self.before.values():
            reader = one.readers.get(held.message.connection)
            if reader is not None:
                reader.claimed = True

    def claim_oldest(self, which: MessageFilter) -> None:
        """Claim the oldest such message that is held. LookupError if there is none."""
        there = self.gate.held(which)
        if not there:
            raise LookupError("no such message is held")
        self.claim(there[0])

    def close(self) -> None:
        """Ends all proxies."""
        self.gate.close()
        for one in (*self.before.values(), *self.to_zookeeper.values()):
            one.close()


def _has_ended(connection: socket.socket) -> bool:
    """Has the other side closed the connection? What it sent before is not taken."""
    try:
        return not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


def _kafka(to: str) -> Callable[[int], KafkaReader]:
    return lambda number: KafkaReader(to, number)


def _zookeeper_reader(sender: str) -> Callable[[int], ZooKeeperReader]:
    return lambda number: ZooKeeperReader(sender, number)


__all__ = ["ANSWER", "HeldMessage", "MessageGate", "Proxies", "Proxy"]

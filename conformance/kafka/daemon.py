"""The process with a lab's proxies and its watcher; it carries out lines of schedules.

`python -m conformance.kafka.daemon DIR`. Its control port accepts one line of a schedule at a time,
and answers with a line of JSON: {"done": what} or {"wrong": why}. `held` lists what waits.
"""

from __future__ import annotations

import json
import logging
import signal
import socketserver
import sys
import threading
import time
from pathlib import Path
from typing import Any

from conformance.kafka.lab import LOOPBACK, TRACE, Lab
from conformance.kafka.messages import REQUEST, Message, asks_of, parts_of
from conformance.kafka.proxy import Proxies
from conformance.kafka.schedule import (
    BrokerAction,
    Operate,
    ReleaseMessage,
    WrongSchedule,
    parse_line,
)
from conformance.kafka.watcher import Watcher
from conformance.kafka.zookeeper_client import LabZooKeeper

MESSAGES = "messages.jsonl"
ZNODES = "znodes.jsonl"
FORMAT = "insync.kafka_messages/1"
QUIET = ("Ping", "Connect", "Auth")


class MessageRecorder:
    """Records messages that pass the gate, a line of JSON each."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("a", encoding="utf-8")
        self._file.write(json.dumps({"format": FORMAT}) + "\n")
        self._lock = threading.Lock()

    def __call__(self, what: str, message: Message) -> None:
        """Record one."""
        if message.api in QUIET:
            return
        line: dict[str, Any] = {
            "at": time.time(), "number": message.number, "what": what, "kind": message.kind,
            "api": message.api, "from": message.sender, "to": message.to,
            "connection": message.connection, "correlation": message.correlation,
        }  # fmt: skip
        if message.epochs:
            line["epochs"] = sorted(message.epochs)
        for name in ("about", "port", "zxid", "error"):
            if message.details.get(name) not in (None, ""):
                line[name] = message.details[name]
        parts = parts_of(message)
        if parts:
            line["parts"] = parts
        if message.kind == REQUEST:
            line |= asks_of(message)
        with self._lock:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()


def control(lab: Lab, proxies: Proxies, text: str) -> dict[str, str]:
    """Carries out one line of a schedule; what was done, or why not."""
    words = text.partition("#")[0].split()
    if not words:
        return {"done": "nothing"}
    if words == ["held"]:
        return {"done": "; ".join(one.in_words() for one in proxies.gate.all_held()) or "nothing"}
    try:
        line = parse_line(words)
    except WrongSchedule as error:
        return {"wrong": str(error)}
    if isinstance(line, Operate):
        return {"wrong": f"{line.verb} is not for the proxies"}
    if not isinstance(line, BrokerAction):
        try:
            if isinstance(line, ReleaseMessage) and line.verb == "claim":
                proxies.claim_oldest(line.which)
                return {"done": text.strip()}
            proxies.gate.apply(line)
        except LookupError as error:
            return {"wrong": f"{text.strip()}: {error}"}
        return {"done": text.strip()}
    if line.verb != "expire":
        return {"wrong": f"{line.verb} is not for the proxies"}
    if line.broker not in lab.brokers:
        return {"wrong": f"there is no broker {line.broker}"}
    return _expire(lab, proxies, line.broker)


def _expire(lab: Lab, proxies: Proxies, broker: int) -> dict[str, str]:
    session = proxies.session(broker)
    if session is None:
        return {"wrong": f"broker {broker} has no session"}
    with LabZooKeeper(lab.state.zookeeper) as client:
        client.expire(session)
    return {"done": f"the session of broker {broker} is gone"}


def main(folder: Path) -> None:
    """Serve until SIGTERM."""
    logging.disable(logging.CRITICAL)
    lab = Lab(folder)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: ended.set())
    recorder = MessageRecorder(lab.folder / TRACE / MESSAGES)
    proxies = Proxies(lab.proxied(), lab.state.zookeeper, recorder)
    watcher = Watcher(f"{LOOPBACK}:{lab.state.zookeeper}", lab.folder / TRACE / ZNODES)

    class ControlHandler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            for raw in self.rfile:
                answer = control(lab, proxies, raw.decode(errors="replace"))
                self.wfile.write((json.dumps(answer) + "\n").encode())

    class ControlServer(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

    with ControlServer((LOOPBACK, lab.state.control), ControlHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        ended.wait()
        server.shutdown()
    proxies.close()
    watcher.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))

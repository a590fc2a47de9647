"""Lines of a schedule, done on a lab: by its proxies, or to its processes and disks."""

from __future__ import annotations

import contextlib
import json
import socket
import time

from conformance.kafka import keeper
from conformance.kafka.lab import LOOPBACK, Lab
from conformance.kafka.schedule import Act, parse_line
from impl.server.processes import ClusterError

CONTROLLER = "/controller"
ELECTED_S = 2.0
"""Shorter than a session: brokers are paused meanwhile."""
READY, READY_S = "eady to serve as the new controller", 30.0


def ask_proxies(lab: Lab, line: str) -> str:
    """Have the proxies do a line; what they did. ClusterError if they cannot, or are not there."""
    with socket.create_connection((LOOPBACK, lab.state.control), timeout=90) as connection:
        connection.sendall(f"{line}\n".encode())
        answer = json.loads(connection.makefile(encoding="utf-8").readline() or "{}")
    if "done" not in answer:
        raise ClusterError(str(answer.get("wrong", "the proxies ended")))
    return str(answer["done"])


def move_controller(lab: Lab, broker: int) -> None:
    """Delete /controller while the other live brokers are paused; they find out when they resume.

    Returns when the broker has read the cluster and is ready. ClusterError if it is not.
    """
    before = _ready(lab, broker)
    hosts = f"{LOOPBACK}:{lab.state.zookeeper}"
    others = [one for one in lab.brokers if one != broker and lab.pid(f"broker{one}") is not None]
    with contextlib.ExitStack() as stack:
        stack.callback(keeper.disconnect, zk := keeper.connect(hosts))
        for one in others:
            if not lab.paused(f"broker{one}"):
                lab.pause(one)
                stack.callback(lab.resume, one)
        if zk.exists(CONTROLLER):
            zk.delete(CONTROLLER)
        deadline = time.monotonic() + ELECTED_S
        while not zk.exists(CONTROLLER) or json.loads(zk.get(CONTROLLER)[0])["brokerid"] != broker:
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"broker {broker} did not become controller within {ELECTED_S:.0f} s"
                )
            time.sleep(0.02)
    deadline = time.monotonic() + READY_S
    while _ready(lab, broker) == before:
        if time.monotonic() > deadline:
            raise ClusterError(f"controller {broker} is not ready after {READY_S:.0f} s")
        time.sleep(0.05)


def _ready(lab: Lab, broker: int) -> int:
    """How often its log says that it is ready to serve as the controller."""
    path = lab.logs(broker) / "controller.log"
    return path.read_text(errors="replace").count(READY) if path.exists() else 0


def do_line(lab: Lab, raw: str) -> str:
    """One line; what was done. ClusterError, WrongSchedule."""
    line = parse_line(raw.partition("#")[0].split())
    if not isinstance(line, Act) or line.verb == "expire":
        return ask_proxies(lab, raw)
    lab.name_of(line.broker)
    if line.verb in ("keep", "restore"):
        getattr(lab, line.verb)(line.broker, line.name)
    elif line.verb == "start":
        lab.start(only=f"broker{line.broker}")
    elif line.verb == "controller":
        move_controller(lab, line.broker)
    else:
        getattr(lab, line.verb)(line.broker)
    return f"{line.verb} {line.broker} {line.name}".strip()

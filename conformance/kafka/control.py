"""Lines of a schedule, done on a lab: by its proxies, or to its processes and disks."""

from __future__ import annotations

import json
import socket

from conformance.kafka.lab import LOOPBACK, Lab
from conformance.kafka.schedule import Act, parse_line
from impl.server.processes import ClusterError


def ask_proxies(lab: Lab, line: str) -> str:
    """Have the proxies do a line; what they did. ClusterError if they cannot, or are not there."""
    with socket.create_connection((LOOPBACK, lab.state.control), timeout=30) as connection:
        connection.sendall(f"{line}\n".encode())
        answer = json.loads(connection.makefile(encoding="utf-8").readline() or "{}")
    if "done" not in answer:
        raise ClusterError(str(answer.get("wrong", "the proxies ended")))
    return str(answer["done"])


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
    else:
        getattr(lab, line.verb)(line.broker)
    return f"{line.verb} {line.broker} {line.name}".strip()

"""Carries out lines of a schedule on a lab: by its proxies, or on processes and disks."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterable, Sequence

from conformance.kafka.lab import LOOPBACK, Lab
from conformance.kafka.schedule import BrokerAction, Operate, parse_line
from conformance.kafka.zookeeper_client import LabZooKeeper
from impl.server.processes import ClusterError
from impl.znodes import TopicPartition, encode_reassignment
from impl.znodes.paths import CONTROLLER, REASSIGN_PARTITIONS
from impl.znodes.paths import topic as topic_path
from impl.zookeeper.port import wait

ELECTED_S = 2.0
"""Shorter than a session: brokers are paused meanwhile."""
UNTIL_S = 90.0
"""Longer than a controller waits for an answer before it asks once more (30 s)."""
READY, READY_S = "eady to serve as the new controller", 30.0


def ask_proxies(lab: Lab, line: str) -> str:
    """Has the proxies carry out a line; what they did. ClusterError if they cannot."""
    with socket.create_connection((LOOPBACK, lab.state.control), timeout=90) as connection:
        connection.sendall(f"{line}\n".encode())
        answer = json.loads(connection.makefile(encoding="utf-8").readline() or "{}")
    if "done" not in answer:
        raise ClusterError(str(answer.get("wrong", "the proxies ended")))
    return str(answer["done"])


def move_controller(lab: Lab, broker: int) -> None:
    """Deletes /controller while the other live brokers are paused; they find out when they resume.

    Returns when the broker has read the cluster and is ready. ClusterError if it is not.
    """
    before = _ready(lab, broker)
    others = [one for one in lab.brokers if one != broker and lab.pid(f"broker{one}") is not None]
    with contextlib.ExitStack() as stack:
        zk = stack.enter_context(LabZooKeeper(lab.state.zookeeper))
        for one in others:
            if not lab.paused(f"broker{one}"):
                lab.pause(one)
                stack.callback(lab.resume, one)
        if zk.exists(CONTROLLER):
            zk.delete(CONTROLLER)
        deadline = time.monotonic() + ELECTED_S
        while wait(zk.controller()) != broker:
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


def operate(lab: Lab, line: Operate) -> str:
    """Creates a topic, requests a move, or waits; returns what was done. ClusterError."""
    for one in line.brokers:
        lab.name_of(one)
    with LabZooKeeper(lab.state.zookeeper) as zk:
        if line.verb == "topic":
            _make_topic(zk, line)
        elif line.verb == "assign":
            _ask_to_move(zk, line)
        else:
            _until(zk, line.topic, line.looks_at, line.brokers)
    return f"{line.verb} {line.looks_at} {line.topic} {_listed(line.brokers)}".replace("  ", " ")


def _listed(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers))


def _make_topic(zk: LabZooKeeper, line: Operate) -> None:
    """As Kafka's own tool does; once a controller has made the partition, it has all in its ISR."""
    if zk.exists(topic_path(line.topic)):
        raise ClusterError(f"there is a topic {line.topic}; name another one")
    zk.make_topic(line.topic, {0: line.brokers})
    _until(zk, line.topic, "isr", line.brokers)


def _ask_to_move(zk: LabZooKeeper, line: Operate) -> None:
    if not zk.exists(topic_path(line.topic)):
        raise ClusterError(f"there is no topic {line.topic}; write: topic {line.topic} 1,2")
    if zk.exists(REASSIGN_PARTITIONS):
        raise ClusterError("another move is asked for, and not done; write first: until replicas")
    text = encode_reassignment({TopicPartition(line.topic, 0): line.brokers})
    wait(zk.port.create(REASSIGN_PARTITIONS, text))


def _until(zk: LabZooKeeper, topic: str, looks_at: str, brokers: Sequence[int]) -> None:
    deadline = time.monotonic() + UNTIL_S
    while (seen := _registered(zk, topic, looks_at)) != _wanted(looks_at, brokers):
        if time.monotonic() > deadline:
            raise ClusterError(
                f"{looks_at} of {topic} is {_listed(seen) if seen else 'none'}, and not "
                f"{_listed(brokers)}, after {UNTIL_S:.0f} s"
            )
        time.sleep(0.1)


def _wanted(looks_at: str, brokers: Sequence[int]) -> list[int]:
    return sorted(brokers) if looks_at == "isr" else list(brokers)


def _registered(zk: LabZooKeeper, topic: str, looks_at: str) -> list[int] | None:
    """What ZooKeeper says now; replicas are known when no move is under way."""
    if looks_at == "isr":
        return zk.isr(topic, 0)
    if looks_at == "replicas":
        return None if zk.exists(REASSIGN_PARTITIONS) else zk.replicas(topic).get(0)
    state = wait(zk.state(TopicPartition(topic, 0)))
    return None if state is None else [state.leader]


def _ready(lab: Lab, broker: int) -> int:
    """How often its log says that it is ready to serve as the controller."""
    path = lab.logs(broker) / "controller.log"
    return path.read_text(errors="replace").count(READY) if path.exists() else 0


def do_line(lab: Lab, raw: str) -> str:
    """Carries out one line; returns what was done. ClusterError, WrongSchedule."""
    line = parse_line(raw.partition("#")[0].split())
    if isinstance(line, Operate):
        return operate(lab, line)
    if not isinstance(line, BrokerAction) or line.verb == "expire":
        return ask_proxies(lab, raw)
    lab.name_of(line.broker)
    if line.verb in ("keep", "restore"):
        on_disk = lab.copy_disk if line.verb == "keep" else lab.restore_disk
        on_disk(line.broker, line.name)
    elif line.verb == "start":
        lab.start(only=f"broker{line.broker}")
    elif line.verb == "controller":
        move_controller(lab, line.broker)
    else:
        getattr(lab, line.verb)(line.broker)
    return f"{line.verb} {line.broker} {line.name}".strip()

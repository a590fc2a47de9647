"""A broker's process with a fault planted into the code that serves.

python -m tests.running.planted_broker FAULT BROKER.properties --version 2.3 --logs FOLDER ...
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest

from impl.core.event_controller import EventController
from impl.core.replica_manager import DelayedProduce, ReplicaManager
from impl.log.log_manager import LogManager
from impl.server.__main__ import main
from impl.server.cluster import Cluster
from tests.impl.planted import plant
from tests.impl.test_planted_faults import PLANTED


class FaultInBroker(NamedTuple):
    """A line of a function, and what stands there instead."""

    function: Callable[..., object]
    line: str
    otherwise: str


def planted(name: str) -> FaultInBroker:
    """One that the simulator's claims notice as well."""
    return FaultInBroker(*PLANTED[name][:3])


FAULTS = {
    "watermark-does-not-wait": planted("the high watermark does not wait for the ISR"),
    "log-is-cut-to-nothing": planted("a follower cuts its log to nothing"),
    "no-leader-epoch-is-sent": planted("no leader epoch is sent"),
    "consumers-read-above-the-watermark": planted("consumers read above the high watermark"),
    "producers-are-answered-at-once": FaultInBroker(
        DelayedProduce.outcome, "reached = replica.hw >= self.end", "reached = True"
    ),
    "a-foreign-version-is-adopted": planted("a deposed leader adopts a foreign zkVersion"),
    "a-request-after-a-move-is-not-looked-for": FaultInBroker(
        EventController.guarded, "if self.reassigner.looks_again:", "if False:"
    ),
    "a-request-is-heard-of-once": FaultInBroker(
        EventController._await,
        "return await self.core.client.retry(lambda: port.exists(path, watch=True)) is not None",
        "first = self.__dict__.setdefault(path, True)\n    self.__dict__[path] = False\n    "
        "return await self.core.client.retry(lambda: port.exists(path, watch=first)) is not None",
    ),
    "a-failed-rename-is-reported-as-done": FaultInBroker(
        LogManager.delete, 'raise StorageError(home.path, "", str(error)) from error', "pass"
    ),
    "a-failed-rename-is-answered-as-done": FaultInBroker(
        ReplicaManager._stop,
        "return self._storage_failed(partition, error, not_renamed=error.path)",
        "self._storage_failed(partition, error, not_renamed=error.path)\n        return NONE",
    ),
}  # fmt: skip


def brokers_with(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """The brokers of every cluster start with a fault."""
    spawn = Cluster.spawn

    def spawn_planted(self: Cluster, name: str, command: Sequence[str]) -> None:
        if command[1:3] == ["-m", "impl.server"]:
            command = [sys.executable, "-m", __name__, fault, *command[3:]]
        spawn(self, name, command)

    monkeypatch.setattr(Cluster, "spawn", spawn_planted)


if __name__ == "__main__":
    fault = FAULTS[sys.argv[1]]
    with pytest.MonkeyPatch.context() as patch:
        plant(patch, fault.function, fault.line, fault.otherwise)
        raise SystemExit(main(sys.argv[2:]))

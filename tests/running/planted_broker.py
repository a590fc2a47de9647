"""A broker's process with a fault planted into the code that serves.

python -m tests.running.planted_broker FAULT BROKER.properties --version 2.3 --logs FOLDER ...
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest

from impl.core.event_controller import EventController
from impl.core.fetcher_thread import FetcherThread
from impl.core.partition import Partition
from impl.core.replica_manager import DelayedProduce, ReplicaManager
from impl.core.truncation import follower_truncation
from impl.log.log_manager import LogManager
from impl.server.__main__ import main
from impl.server.cluster import Cluster
from tests.impl.planted import plant


class FaultInBroker(NamedTuple):
    """A line of a function, and what stands there instead."""

    function: Callable[..., object]
    line: str
    otherwise: str


FAULTS = {
    "watermark-does-not-wait": FaultInBroker(
        Partition.next_high_watermark, "self.log_end, self.maximal_isr, remotes,",
        "self.log_end, (), {},"
    ),
    "log-is-cut-to-nothing": FaultInBroker(
        follower_truncation,
        "return Truncation(min(end, reply.end, log_end), True)",
        "return Truncation(0, True)",
    ),
    "no-leader-epoch-is-sent": FaultInBroker(
        FetcherThread._sent, 'return leader_epoch if self.release.since("2.1") else None',
        "return None",
    ),
    "consumers-read-above-the-watermark": FaultInBroker(
        ReplicaManager._read, "up_to = hw if reader == CONSUMER else None", "up_to = None"
    ),
    "producers-are-answered-at-once": FaultInBroker(
        DelayedProduce.outcome, "reached = replica.hw >= self.end", "reached = True"
    ),
    "a-foreign-version-is-adopted": FaultInBroker(
        Partition.written,
        "if there is not None and there.with_zk_version(wanted.zk_version) == wanted:",
        "if there is not None:",
    ),
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

    def planted(self: Cluster, name: str, command: Sequence[str]) -> None:
        if command[1:3] == ["-m", "impl.server"]:
            command = [sys.executable, "-m", __name__, fault, *command[3:]]
        spawn(self, name, command)

    monkeypatch.setattr(Cluster, "spawn", planted)


if __name__ == "__main__":
    fault = FAULTS[sys.argv[1]]
    with pytest.MonkeyPatch.context() as patch:
        plant(patch, fault.function, fault.line, fault.otherwise)
        raise SystemExit(main(sys.argv[2:]))

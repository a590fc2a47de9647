"""The small pair of logs that the repository ships: one run, and the same with a planted fault.

    python -m impl.world.sample_logs OUT

writes ``OUT/correct/broker{1,2,3}/*.log``, ``OUT/planted/…`` and ``OUT/planted/README.txt``. Both
come from one seed. In the planted run one broker forgets, once, to compare leader epochs, and so
applies a LeaderAndIsr request that is older than what it had applied before. Until then the two
runs are the same, line for line.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from impl.broker import ReplicaManager
from impl.requests import LeaderAndIsrRequest
from impl.world.kafka_log import KafkaLogs
from impl.world.log4j import SERVER, STATE_CHANGE
from impl.world.simulator import FIRST_INSTANT_MS, Simulator

SEED = 420
"""Chosen because its run has every kind of line worth reading, and an old request to a leader."""

STEPS = 770
BROKERS = 3
FAULTS = "everything but clients"
FAULTY_BROKER = 1


@dataclass
class PlantedFault:
    """One chance to accept an old leader epoch; remembers which request took it, and where."""

    logs: KafkaLogs
    broker: int
    request: LeaderAndIsrRequest | None = None
    applied_epoch: int = -1
    lines: dict[str, int] = field(default_factory=dict)

    def replica_manager(self, *args: Any) -> ReplicaManager:
        """A replica manager with the fault."""
        return ForgetfulReplicaManager(self, *args)

    def strikes(self, request: LeaderAndIsrRequest, applied_epoch: int) -> bool:
        """Take the chance, if this is the first old request that makes the broker lead."""
        if self.request is not None or request.state.leader != request.target:
            return False
        self.request, self.applied_epoch = request, applied_epoch
        # "Received …" is written already; "Handling …" and "starts at …" are what comes next.
        for file in (STATE_CHANGE, SERVER):
            self.lines[file] = len(self.logs.lines[self.broker, file]) + 1
        return True


class ForgetfulReplicaManager(ReplicaManager):
    """Accepts a leader epoch lower than its own, once in a run."""

    def __init__(self, fault: PlantedFault, *args: Any) -> None:
        super().__init__(*args)
        self.fault = fault

    def leader_epoch_is_old(self, request: LeaderAndIsrRequest) -> bool:
        """As it should be, but for the one time."""
        if not super().leader_epoch_is_old(request):
            return False
        lower = request.state.leader_epoch < self.partition.leader_epoch
        return not (lower and self.fault.strikes(request, self.partition.leader_epoch))


def correct_run(seed: int = SEED) -> KafkaLogs:
    """The logs of the run as it should be."""
    logs = KafkaLogs(BROKERS, FIRST_INSTANT_MS)
    _run(Simulator(seed, FAULTS, BROKERS, journal=logs))
    return logs


def planted_run(seed: int = SEED, broker: int = FAULTY_BROKER) -> tuple[KafkaLogs, PlantedFault]:
    """The logs of the same run with a forgetful broker, and what it did."""
    logs = KafkaLogs(BROKERS, FIRST_INSTANT_MS)
    simulator = Simulator(seed, FAULTS, BROKERS, journal=logs)
    fault = PlantedFault(logs, broker)
    faulty = simulator.world.brokers[broker]
    faulty.replica_manager = fault.replica_manager
    faulty.replicas = faulty.fresh_replica_manager(0)
    _run(simulator)
    return logs, fault


def _run(simulator: Simulator) -> None:
    for _ in range(STEPS):
        simulator.advance()


def explanation(fault: PlantedFault) -> str:
    """Which broker broke which rule, and in which lines."""
    assert fault.request is not None, "the planted fault never struck; choose another seed"
    old = fault.request.state.leader_epoch
    folder = f"broker{fault.broker}"
    return (
        f"Broker {fault.broker} applies a LeaderAndIsr request of leader epoch {old} although it\n"
        f"had applied leader epoch {fault.applied_epoch} in the same incarnation. Everything before"
        " is as in ../correct.\n\n"
        f"{folder}/{STATE_CHANGE}:{fault.lines[STATE_CHANGE]}  Handling LeaderAndIsr request"
        " (become-leader)\n"
        f"{folder}/{SERVER}:{fault.lines[SERVER]}  starts at Leader Epoch {old}\n\n"
        f"Written by python -m impl.world.sample_logs (seed {SEED}); do not edit.\n"
    )


def write_pair(out: Path) -> PlantedFault:
    """Write both runs below ``out``; returns what was planted, and in which lines."""
    correct_run().write(out / "correct")
    logs, fault = planted_run()
    logs.write(out / "planted")
    readme = out / "planted" / "README.txt"
    unfinished = readme.with_name("README.txt.unfinished")
    unfinished.write_text(explanation(fault), encoding="utf-8")
    unfinished.replace(readme)
    return fault


def main(arguments: list[str]) -> int:
    """The command; 64 if it is not given exactly one folder."""
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m impl.world.sample_logs OUT", file=sys.stderr)
        return 64
    write_pair(Path(arguments[0]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

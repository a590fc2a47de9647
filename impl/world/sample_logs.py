"""The sample logs in the repository: one run, and the same run with a planted fault.

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

from impl.core.answers import NONE
from impl.core.events import Sender
from impl.core.replica_manager import Answered, ReplicaManager
from impl.core.requests import LeaderAndIsrPartitionState
from impl.server.log4j_files import SERVER, STATE_CHANGE
from impl.world.kafka_log import KafkaLogs
from impl.world.network import OrderInFlight
from impl.world.replicas import Replicas
from impl.world.simulator import FIRST_INSTANT_MS, Simulator
from impl.znodes import TopicPartition

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
    request: OrderInFlight | None = None
    applied_epoch: int = -1
    lines: dict[str, int] = field(default_factory=dict)

    def new_replicas(self, *args: Any) -> Replicas:
        """The replicas of a broker with the fault."""
        return ForgetfulReplicas(self, *args)

    def strikes(self, request: OrderInFlight, applied_epoch: int) -> bool:
        """Take the chance, if this is the first old request that makes the broker lead."""
        if self.request is not None or request.state.leader != request.target:
            return False
        self.request, self.applied_epoch = request, applied_epoch
        # "Received …" is written already; "Handling …" and "starts at …" are what comes next.
        for file in (STATE_CHANGE, SERVER):
            self.lines[file] = len(self.logs.kept[self.broker, file]) + 1
        return True


class ForgetfulReplicas(Replicas):
    """Replicas under a forgetful manager."""

    def __init__(self, fault: PlantedFault, *args: Any) -> None:
        self.fault = fault
        self.arrived: OrderInFlight | None = None
        super().__init__(*args)

    def new_manager(self, *args: Any, **more: Any) -> ReplicaManager:
        """A replica manager with the fault."""
        return ForgetfulReplicaManager(self, *args, **more)

    def hear(self, sent: OrderInFlight, broker_epoch: int) -> Answered:
        """As it should be; the fault knows which request it is about."""
        self.arrived = sent
        return super().hear(sent, broker_epoch)


class ForgetfulReplicaManager(ReplicaManager):
    """Accepts a leader epoch lower than its own, once in a run."""

    def __init__(self, replicas: ForgetfulReplicas, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.replicas = replicas

    def check(
        self, partition: TopicPartition, order: LeaderAndIsrPartitionState, sender: Sender
    ) -> str:
        """As it should be, but for the one time."""
        known, sent = self.partitions[partition].leader_epoch, self.replicas.arrived
        lower = order.state.leader_epoch < known
        if lower and sent is not None and self.replicas.fault.strikes(sent, known):
            return NONE
        return super().check(partition, order, sender)


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
    faulty.new_replicas = fault.new_replicas
    faulty.replicas = faulty.fresh_replicas(0)
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

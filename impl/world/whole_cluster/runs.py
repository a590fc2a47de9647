"""Seeded runs of a simulated whole cluster, determined by the seed and the commit."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from typing import Any

from impl.core.controller_parts import ControllerConfig
from impl.releases import DEFAULT
from impl.sim.simulation import Step
from impl.sim.simulator import Faults, Profiles, SeededSimulator
from impl.world.whole_cluster.at_rest import is_at_rest, why_not_at_rest
from impl.world.whole_cluster.claims import ClusterClaimBroken, ClusterClaims
from impl.world.whole_cluster.steps import whole_cluster
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.zookeeper.port import wait

WHOLE_CLUSTER_PROFILES: dict[str, Faults] = {
    "none": {},
    "crashes": {"crashes": 1, "shutdowns": 1},
    "sessions": {"sessions": 1, "pauses": 1},
    "lossy": {"losses": 10},
    "failures": {
        "crashes": 1, "sessions": 1, "pauses": 1, "losses": 6, "shutdowns": 1, "elections": 1,
    },
    "operators": {"moves": 2, "elections": 1, "deletions": 1, "shutdowns": 1, "controllers": 1},
    "everything": {
        "crashes": 1, "sessions": 1, "pauses": 1, "losses": 6, "shutdowns": 1, "moves": 2,
        "elections": 1, "deletions": 1, "controllers": 1,
    },
    "power": {"power": 1, "losses": 6},
    "disks": {"disks": 6, "crashes": 1},
    "requests": {
        "requests": 1, "cancellations": 8, "moves": 1, "deletions": 1, "controllers": 1,
        "losses": 4,
    },
    "deposed": {
        "sessions": 2, "pauses": 2, "controllers": 2, "requests": 4, "cancellations": 8,
        "losses": 4, "denials": 1,
    },
    "unclean": {"requests": 4, "crashes": 3, "sessions": 2, "deletions": 1, "losses": 4},
    "moves": {"many_moves": 4, "moves": 1, "crashes": 1, "losses": 4},
    "retention": {"record_deletions": 8, "crashes": 2, "pauses": 1, "sessions": 1, "losses": 4},
    "denials": {
        "denials": 6, "isr_denials": 60, "crashes": 1, "sessions": 1, "moves": 1, "deletions": 1,
    },
    "directories": {
        "directories": 4, "crashes": 1, "losses": 2, "elections": 1, "controllers": 3,
    },
    "one-replica": {"shutdowns": 2, "crashes": 1, "moves": 2, "elections": 1},
    "small-fetches": {"crashes": 1, "losses": 4, "shutdowns": 1},
    "clients": {
        "clients": 12, "crashes": 1, "sessions": 1, "pauses": 1, "losses": 4, "shutdowns": 1,
        "directories": 4, "record_deletions": 1,
    },
    "races": {
        "races": 100, "sessions": 2, "pauses": 2, "controllers": 3, "deletions": 2, "moves": 1,
        "losses": 2, "crashes": 1, "directories": 1, "requests": 4, "denials": 2, "alterations": 4,
    },
    "no-deletion": {
        "deletions": 6, "controllers": 2, "crashes": 1, "moves": 1, "unknown_moves": 2,
    },
}  # fmt: skip
"""What goes wrong, and how likely: the weights of faults, and of what operators ask for."""

_WORLDS: dict[str, dict[str, Any]] = {
    "directories": {"directories": 2},
    "clients": {"directories": 2},
    "one-replica": {"factor": 1, "first_broker": 0},
    "small-fetches": {"fetch_bytes": 1},
    "requests": {"first_broker": 0},
    "races": {"first_broker": 0, "directories": 2},
    "moves": {"first_broker": 0, "factor": 2},
    "retention": {"first_broker": 0},
    "everything": {"first_broker": 0},
    "no-deletion": {"config": ControllerConfig(delete_topics=False)},
}
"""What is otherwise in the world of a profile; no answer of ``small-fetches`` has two batches, and
of ``moves`` each has other brokers for its target, even among three."""

SETTLING_STEPS = 6_000
REST_EVERY = 25
"""Steps between two checks for quiescence. Odd, because near rest every second step is the
rebalance event, and an even number would always check beside it."""

SILENT_WHILE_SETTLING = ("producer_appends", "hw_is_checkpointed", "logs_are_kept_small")


def keeps_records(faults: str) -> bool:
    """Whether, under a profile, no disk loses what was written and only ISR members lead."""
    return faults not in ("power", "disks", "unclean")


def _swarm(chance: random.Random) -> Faults:
    faults = sorted(WHOLE_CLUSTER_PROFILES["everything"])
    return {fault: chance.choice((0, 1, 4, 16)) for fault in faults if chance.random() < 0.5}


WHOLE_CLUSTER_FAULTS = Profiles("wide", WHOLE_CLUSTER_PROFILES, _swarm)


def world_settings(faults: str, brokers: int) -> dict[str, Any]:
    """The arguments of `WholeCluster` for a profile, such as the replication factor."""
    return {"factor": min(3, brokers), **_WORLDS.get(faults, {})}


class ClusterSimulator(SeededSimulator[WholeCluster]):
    """Takes the steps of a simulated whole cluster, under a fault profile."""

    def __init__(self, world: WholeCluster, seed: int, faults: str = "everything") -> None:
        chosen = WHOLE_CLUSTER_FAULTS.named(faults, seed)
        super().__init__(world, seed, {
            name: chosen.get(kind.fault, 0) if kind.fault else kind.weight
            for name, kind in world.kinds.items()
        })  # fmt: skip

    def stop_faults(self) -> None:
        """From now on no fault happens and no client sends requests.

        Brokers with a failed disk or a refused ZooKeeper operation restart, failed disks replaced.
        """
        for number, node in self.world.nodes.items():
            if node.up and (node.disk.failing or node.was_denied):
                self.world.take(Step("broker_crashes", (number,)))
        self.weigh({
            name: 0 if self.world.kinds[name].fault or name in SILENT_WHILE_SETTLING else weight
            for name, weight in self.weights.items()
        })  # fmt: skip


@dataclass(frozen=True)
class ClusterRun:
    """The result of a run. ``broken`` is the claim that did not hold, with the step; else empty.

    ``goes_on``: the first reason why it did not come to rest after all faults had ended.
    """

    seed: int
    faults: str
    steps: int
    acknowledged: int
    controllers: int
    taken: dict[str, int]
    broken: str
    at_rest: bool
    digest: str
    """SHA-256 over the steps: two runs are the same if this is."""
    goes_on: str = ""


def run_whole_cluster(
    seed: int,
    steps: int,
    faults: str = "everything",
    brokers: int = 3,
    release: str = DEFAULT,
    settle: bool = True,
    world: WholeCluster | None = None,
) -> ClusterRun:
    """A run with the claims checked after every step; then without faults, and all records checked.

    ``world``: a new world, for example with brokers that write logs, replaces the other arguments.

    ValueError for numbers or names that make no sense.
    """
    if steps < 1:
        raise ValueError(f"a run has 1 step or more, not {steps}")
    world = world or whole_cluster(
        brokers, release=release, seed=seed, **world_settings(faults, brokers)
    )
    simulator, claims = ClusterSimulator(world, seed, faults), ClusterClaims(world)
    claims.keeps_committed = keeps_records(faults)
    digest, broken, goes_on, rest = hashlib.sha256(), "", "", False
    try:
        for _ in range(steps):
            step = simulator.advance()
            if step is None:
                break
            digest.update(f"{step}\n".encode())
            claims.look()
        taken = world.clock
        if settle:
            goes_on = _settles(simulator, claims)
            if not goes_on:
                claims.at_rest()
                rest = True
    except ClusterClaimBroken as claim:
        broken = f"{claim} (after {world.clock} steps)"
        taken = min(world.clock, steps)
    registered = wait(world.admin.controller_epoch())
    return ClusterRun(
        seed=seed,
        faults=faults,
        steps=taken,
        acknowledged=world.client_view.acknowledged,
        controllers=0 if registered is None else registered.epoch,
        taken={name: simulator.taken[name] for name in world.kinds},
        broken=broken,
        at_rest=rest,
        digest=digest.hexdigest(),
        goes_on=goes_on,
    )


def _settles(simulator: ClusterSimulator, claims: ClusterClaims) -> str:
    """Calm down; what never comes to rest, empty if everything does."""
    simulator.stop_faults()
    for number in range(SETTLING_STEPS):
        if number % REST_EVERY == 0 and is_at_rest(simulator.world):
            return ""
        if simulator.advance() is None:
            break
        claims.look()
    return why_not_at_rest(simulator.world)

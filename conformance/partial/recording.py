"""Runs recorded as registered values only: leader, ISR, epochs. Long ones stay cheap.

A whole recording writes a log anew at every line that changes it, so its length grows with the
square of the run's; what is not observed here is never looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.partial.reading import PartialEvent, PartialTrace
from impl.sim.steps import Step
from impl.world.simulator import VERSION, Simulator, node_of
from impl.world.world import KINDS, World
from specs.partial.ways import MOST_HIDDEN


def registered(world: World) -> dict[str, Any]:
    """The leaves of `LEADER_ISR_EPOCHS`, as a whole observation has them."""
    state, epoch = world.registered_state, world.registered_controller_epoch.epoch
    return {
        "zookeeper.state.leader": state.leader,
        "zookeeper.state.leader_epoch": state.leader_epoch,
        "zookeeper.state.isr": sorted(state.isr),
        "zookeeper.state.controller_epoch": state.controller_epoch,
        "zookeeper.controller_epoch": epoch,
    }


def simulated(
    seed: int,
    steps: int,
    faults: str = "everything",
    brokers: int = 3,
    names: bool = False,
    hidden: int = MOST_HIDDEN,
) -> PartialTrace:
    """The run of `impl.simulate` with the same arguments, a line a step.

    With `names` each line also has its step and arguments. ValueError for a number or a profile
    that makes no sense.
    """
    if steps < 1:
        raise ValueError(f"a run has 1 step or more, not {steps}")
    simulator = Simulator(seed, faults, brokers)
    initial = registered(simulator.world)
    events = tuple(_events(simulator, steps, names, initial))
    run = f"{faults}-{brokers}-{seed}-{steps}"
    return PartialTrace(run, brokers, VERSION, hidden, initial, events)


def _events(
    simulator: Simulator, steps: int, names: bool, shown: dict[str, Any]
) -> Iterator[PartialEvent]:
    world = simulator.world
    zxid = world.zookeeper.zxid
    while simulator.clock < steps:
        step = simulator.advance()
        if step is None:
            return
        if world.zookeeper.zxid != zxid:  # ZooKeeper counts every change of it
            zxid, shown = world.zookeeper.zxid, registered(world)
        args = _arguments(step) if names else {}
        name = step.name if names else None
        yield PartialEvent(simulator.clock + 1, node_of(step), name, args, shown)


def _arguments(step: Step) -> dict[str, int]:
    return dict(zip(KINDS[step.name].parameters, step.args, strict=True))

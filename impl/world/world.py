"""The world: ZooKeeper, brokers and network under one scheduler that is the caller.

Nothing happens by itself. ``enabled()`` lists every step that may happen next, ``do(step)`` takes
one. All state is plain data; ``snapshot()`` is an immutable, comparable, hashable value of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from impl.releases import DEFAULT
from impl.sim.steps import Step, StepKind, WorldOfSteps
from impl.world import clients, control, delivery, isr, lifecycle, replication
from impl.world.census import GROUP_OF, NOBODY, census
from impl.world.choices import Strategy
from impl.world.cluster import PartitionCluster
from impl.world.journal import Journal
from impl.world.observation import Observation, observe

KINDS: dict[str, StepKind] = {
    kind.name: kind
    for kind in sorted(
        (
            *lifecycle.KINDS,
            *control.KINDS,
            *delivery.KINDS,
            *replication.KINDS,
            *isr.KINDS,
            *clients.KINDS,
        ),
        key=lambda kind: kind.name,
    )
}
"""Every step of the world by name, sorted."""


class World(WorldOfSteps, PartitionCluster):
    """A cluster and its steps; the arguments are those of `PartitionCluster`."""

    kinds = KINDS

    def __init__(
        self,
        brokers: int = 3,
        seed: int = 0,
        strategy: str | Strategy = "any",
        journal: Journal | None = None,
        version: str = DEFAULT,
    ) -> None:
        super().__init__(brokers, seed, strategy, journal, version)
        self._grid = {
            name: {args: Step(name, args) for args in kind.candidates(self)}
            for name, kind in self.kinds.items()
            if kind.fixed
        }
        # Looked up once for every world: this is what stepping spends its time on.
        self._asked = [
            (name, kind.refusal, kind.candidates, self._grid.get(name), GROUP_OF.get(name))
            for name, kind in self.kinds.items()
        ]

    # Stepping

    def enabled(self, but: Collection[str] = ()) -> list[Step]:
        """Every step that may be taken now, sorted by name and arguments; ``but`` names steps that
        nobody wants to hear of."""
        steps: list[Step] = []
        groups = census(self)
        for name, refusal, candidates, grid, group in self._asked:
            if name in but:
                continue
            if group is not None:
                worth_asking: Iterable[tuple[int, ...]] = groups.get(group, NOBODY)
            else:
                worth_asking = candidates(self) if grid is None else grid
            for args in worth_asking:
                if refusal is None or refusal(self, *args) is None:
                    steps.append(Step(name, args) if grid is None else grid[args])
        return steps

    def why_not(self, step: Step) -> str | None:
        """The first condition of the step that does not hold, None if it may be taken."""
        grid = self._grid.get(step.name)
        as_many = grid is not None and len(step.args) == len(self.kinds[step.name].parameters)
        if grid is not None and as_many and step.args not in grid:
            return f"the brokers named are among 1 to {len(self.brokers)}, and two different ones"
        return super().why_not(step)

    def observe(self) -> Observation:
        """Every fact of the world as nested dictionaries and lists, fresh for the caller."""
        return observe(self)

"""An entry of the zoo: a bug that Kafka once had, and how a system of the project shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from model.faults import means
from model.language import RecordedSystem
from model.language.symmetry import why_not_symmetric
from model.systems import system


@dataclass(frozen=True)
class Expression:
    """How to see a bug: `claim` breaks in `base` with the switches `reverted`, within `bounds`.

    As history fixed it, it is `fixed` (by default `base`, with nothing reverted): there the claim
    holds within the same bounds. `world` are switches that both have, for what whoever hunts wants
    to go wrong besides. `quick`: both take a few seconds; the others up to minutes. `plain`: few
    states are enough, and generated Python is through with them before machine code is made.
    Symmetry is for all but what is about loops, or names brokers.
    """

    system: str
    base: str
    claim: str
    bounds: Mapping[str, int] = field(default_factory=dict)
    reverted: Mapping[str, object] = field(default_factory=dict)
    fixed: str | None = None
    world: Mapping[str, object] = field(default_factory=dict)
    quick: bool = False
    plain: bool = False

    def broken(self) -> RecordedSystem:
        """The system with the bug in it."""
        return system(self.system).recorded(self.base, {**self.reverted, **self.world})

    def as_fixed(self) -> RecordedSystem:
        """The system as history fixed it."""
        return system(self.system).recorded(self.fixed or self.base, self.world)

    def with_faults(self, faults: Iterable[str]) -> Expression:
        """The same where more goes wrong; ProtocolError for a fault that the system has not."""
        known = [means(system(self.system), name) for name in faults]
        world, limits = dict(self.world), self.limits
        for one in known:
            world.update(one.switches)
            limits.update({name: max(limits[name], n) for name, n in one.bounds.items()})
        return replace(self, world=world, bounds=limits)

    @property
    def limits(self) -> dict[str, int]:
        """Every bound of the system."""
        return system(self.system).limits(self.bounds)

    @property
    def symmetry(self) -> bool:
        """Is it enough to visit one state for all that rename brokers only?"""
        recorded = self.broken()
        if self.plain or recorded.claim(self.claim)[0].kind == "eventually":
            return False
        return why_not_symmetric(recorded, [self.claim]) is None


@dataclass(frozen=True)
class ZooEntry:
    """One bug. `number` and `flag` are those of the sheet that the project was given.

    `breaks` is the claim in the project's own words, whether a system has it yet or not; `shown`
    says how it is found; `excuse` why it is not. An entry has one of the two. `remark` says where
    what is found here differs from what was written about it.
    """

    number: int
    id: str
    title: str
    sources: tuple[str, ...]
    fixed_in: str
    story: str
    breaks: str
    flag: str
    shown: Expression | None = None
    excuse: str = ""
    remark: str = ""

    @property
    def names(self) -> set[str]:
        """What it may be called, in lower case: number, id, and each JIRA or KIP behind it."""
        return {str(self.number), self.id.lower(), *(one.lower() for one in self.sources)}

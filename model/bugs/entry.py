"""A historic bug: a bug that Kafka once had, and how a system of the project shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from model.faults import fault_settings
from model.language import RecordedSystem
from model.language.symmetry import why_not_symmetric
from model.systems import system


@dataclass(frozen=True)
class Reproduction:
    """How to show a bug: `claim` breaks in `base` with the switches `reverted`, within `bounds`.

    `fixed` is the version with the historic fix (by default `base`, with nothing reverted): there
    the claim holds within the same bounds. `world` are switches of both, for additional faults.
    `quick`: both take a few seconds; the others up to minutes. `plain`: few states are enough, and
    generated Python explores them faster than machine code can be compiled.
    Symmetry is used except for claims about loops and systems that name brokers.
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

    def with_faults(self, faults: Iterable[str]) -> Reproduction:
        """The same with more faults; ProtocolError for a fault that the system does not have."""
        known = [fault_settings(system(self.system), name) for name in faults]
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
        """Is it enough to visit one of all states that differ in broker names only?"""
        recorded = self.broken()
        if self.plain or recorded.claim(self.claim)[0].kind == "eventually":
            return False
        return why_not_symmetric(recorded, [self.claim]) is None


@dataclass(frozen=True)
class HistoricBug:
    """One bug. `number` and `flag` come from the published list of bugs.

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
    shown: Reproduction | None = None
    excuse: str = ""
    remark: str = ""

    @property
    def names(self) -> set[str]:
        """The names of the entry, in lower case: number, id, and each of its JIRAs or KIPs."""
        return {str(self.number), self.id.lower(), *(one.lower() for one in self.sources)}

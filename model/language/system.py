"""A system: a choice of state, transitions, claims, versions and bounds, recorded for a version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from model.language import terms as t
from model.language.errors import ProtocolError, unknown_name
from model.language.properties import Claim
from model.language.recording import (
    NotedSwitches,
    Recorded,
    Switches,
    SwitchView,
    Transition,
    Write,
    fields_read,
    record,
    record_condition,
    record_initial,
    record_step_condition,
)
from model.language.schema import Field, Record

R = TypeVar("R")


@dataclass(frozen=True)
class Bound:
    """A bound of the enumerated instance: its default, the least sensible value, what it limits.

    A default of None is for budgets of faults: without a value there is no limit.
    """

    default: int | None
    least: int
    what: str


@dataclass(frozen=True)
class IncompatibleSwitches:
    """Two incompatible switch values: `one` among `ones` with `other` among `others`.

    `why` is the reason as a clause; `instead` says what can be chosen.
    """

    one: str
    ones: tuple[object, ...]
    other: str
    others: tuple[object, ...]
    why: str
    instead: str

    def is_in(self, switches: Mapping[str, object]) -> bool:
        """Are both switches present, with these values?"""
        chosen = switches.get(self.one, ...), switches.get(self.other, ...)
        return chosen[0] in self.ones and chosen[1] in self.others

    def refusal(self, switches: Mapping[str, object]) -> str:
        """The two switches, the reason, and valid values, in one line."""
        one, other = shown(switches[self.one]), shown(switches[self.other])
        return (
            f"{self.one}={one} does not go with {self.other}={other}: {self.why}; "
            f"choose {self.instead}"
        )


def shown(value: object) -> str:
    """A switch's value as it is written on a command line: `true`, `kip_101`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Version:
    """A named choice of switches: a Kafka release, or a published design.

    `values` are what a switch may be changed to, where that is more than what it is in some
    version; `clashes` what cannot be chosen together.
    """

    name: str
    switches: Mapping[str, object]
    about: str
    values: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    clashes: tuple[IncompatibleSwitches, ...] = ()


class Recordings:
    """The recordings of one system's functions; each runs once for the switches that it reads."""

    def __init__(self) -> None:
        self._found: dict[int, list[tuple[dict[str, object], Any]]] = {}

    def of(self, what: int, switches: Switches, run: Callable[[Switches], R]) -> R:
        """What `run` gave under switches that differ in nothing that it read, or gives now."""
        found = self._found.setdefault(what, [])
        for read, result in found:
            if all(switches[name] == value for name, value in read.items()):
                return result  # type: ignore[no-any-return]
        noted = NotedSwitches(switches)
        result = run(noted)
        found.append((noted.read, result))
        return result


@dataclass(frozen=True)
class System:
    """The protocol, or a part of it, that can be explored, proved and lowered by itself."""

    name: str
    about: str
    state: Record
    initial: Callable[..., None]
    transitions: tuple[Transition, ...]
    claims: tuple[Claim, ...]
    versions: Mapping[str, Version]
    default_version: str
    bounds: Mapping[str, Bound]
    switches: Mapping[str, str] = field(default_factory=dict)
    """Switch name -> what it is, with its KIP or JIRA."""
    also: Mapping[str, Version] = field(default_factory=dict)
    """Further names -> one of the versions, perhaps with other switches."""
    _recordings: Recordings = field(
        default_factory=lambda: Recordings(), init=False, repr=False, compare=False
    )

    def version(self, name: str | None = None) -> Version:
        """A version by name; an unknown name is refused with the nearest."""
        name = name or self.default_version
        if name not in self.versions and name in self.also:
            return self.also[name]
        if name not in self.versions:
            raise ProtocolError(unknown_name(f"version of {self.name}", name, self.versions))
        return self.versions[name]

    def limits(self, given: Mapping[str, int]) -> dict[str, int]:
        """The bounds with defaults; unknown names and too small values are refused."""
        for name, value in given.items():
            if name not in self.bounds:
                raise ProtocolError(unknown_name(f"bound of {self.name}", name, self.bounds))
            bound = self.bounds[name]
            if value < bound.least:
                raise ProtocolError(
                    f"bound {name}={value} is too small: the smallest that makes sense is "
                    f"{name}={bound.least} ({bound.what})"
                )
        chosen = {name: given.get(name, bound.default) for name, bound in self.bounds.items()}
        return {name: value for name, value in chosen.items() if value is not None}

    def recorded(
        self, version: str | None = None, changed: Mapping[str, object] | None = None
    ) -> RecordedSystem:
        """The system under one version's switches, some of them changed.

        Raises ProtocolError for an unknown switch, a value that it cannot have (with those that it
        can), and for two switches that do not go together (with the reason).
        """
        chosen = self.version(version)
        switches = dict(chosen.switches)
        for name, value in (changed or {}).items():
            if name not in switches:
                raise ProtocolError(unknown_name(f"switch of {self.name}", name, switches))
            self._refuse_unknown_value(chosen, name, value)
            switches[name] = value
        refusals = [clash.refusal(switches) for clash in chosen.clashes if clash.is_in(switches)]
        if refusals:
            raise ProtocolError("; and ".join(refusals))
        return RecordedSystem(self, chosen.name, switches)

    def _refuse_unknown_value(self, chosen: Version, name: str, value: object) -> None:
        known = list(chosen.values.get(name, ()))
        known += [version.switches[name] for version in self.versions.values()]
        if isinstance(chosen.switches[name], bool):
            known += [False, True]
        # 1 is no True here: a switch that is on or off is never a number.
        if not any(value is one or (type(value) is type(one) and value == one) for one in known):
            names = dict.fromkeys(shown(one) for one in known)
            raise ProtocolError(unknown_name(f"value of {name}", shown(value), names))


class RecordedSystem:
    """Transitions and claims as terms, under one choice of switches.

    Steps and claims may be taken out of one, or put in: no other has the same list.
    """

    def __init__(self, system: System, version: str, switches: Switches) -> None:
        self.system = system
        self.version = version
        self.switches = dict(switches)
        self.fields: dict[str, Field] = {leaf.name: leaf for leaf in system.state.leaves}
        applying = [step for step in system.transitions if step.applies(switches)]
        _refuse_twice(step.name for step in applying)
        self.steps: list[Recorded] = [self._step(step) for step in applying]

    def _step(self, step: Transition) -> Recorded:
        return self.system._recordings.of(
            id(step), self.switches,
            lambda switches: record(step, self.system.state, switches),
        )  # fmt: skip

    @cached_property
    def initial(self) -> list[Write]:
        """The writes that make the initial state out of the blank one."""
        system = self.system
        return [*system._recordings.of(
            id(system), self.switches,
            lambda switches: record_initial(system.initial, system.state, switches),
        )]  # fmt: skip

    @cached_property
    def claims(self) -> dict[str, tuple[Claim, t.Term]]:
        """Claim name -> (claim, its condition)."""
        return {
            claim.name: (claim, self._condition(claim))
            for claim in self.system.claims
            if claim.only is None or claim.only(SwitchView(self.switches))
        }

    def _condition(self, claim: Claim) -> t.Term:
        declared = [step.name for step in self.system.transitions]
        for name in claim.fair:
            if name not in declared:
                raise ProtocolError(
                    f"{claim.name}: {unknown_name(f'step of {self.system.name}', name, declared)}"
                )
        read = record_step_condition if claim.is_about_steps else record_condition
        return self.system._recordings.of(
            id(claim), self.switches,
            lambda switches: read(claim.function, self.system.state, switches),
        )  # fmt: skip

    def claim(self, name: str) -> tuple[Claim, t.Term]:
        """One claim; an unknown name is refused with the nearest."""
        if name not in self.claims:
            raise ProtocolError(unknown_name(f"claim of {self.system.name}", name, self.claims))
        return self.claims[name]

    @property
    def without(self) -> dict[str, object]:
        """The switches that differ from the version's own."""
        own = self.system.versions[self.version].switches
        return {name: value for name, value in self.switches.items() if own[name] != value}

    def fields_needed(self, claims: list[t.Term], bounds: Mapping[str, int]) -> set[str]:
        """Fields that exploration must keep: all but the ghosts that no given claim depends on.

        Budgets are kept where their bound is given.
        """
        needed = {
            name for name, leaf in self.fields.items() if not leaf.ghost or leaf.budget in bounds
        }
        for term in claims:
            needed |= fields_read(term)
        while True:
            more: set[str] = set()
            for step in self.steps:
                for write in step.writes:
                    if write.field in needed:
                        more |= fields_read(write.value)
                        for key in write.keys:
                            more |= fields_read(key)
            more = {name for name in more if name in self.fields}
            if more <= needed:
                return needed
            needed |= more


def _refuse_twice(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ProtocolError(f"the step {name} is declared twice")
        seen.add(name)

"""The format of a map: a row per step of the implementation, and how observations become fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from impl.releases import DEFAULT, Release
from impl.sim.simulation import Step

Arguments = Mapping[str, int]

Facts = dict[tuple[str, tuple[int, ...]], int]
"""(field, index) -> code; what is blank is left out."""


Run = Sequence[tuple[str, Mapping[str, Any]]]
"""Transitions with their arguments, one after the other."""


PossibleNow = Callable[..., tuple[tuple[str, ...], dict[str, int]]]
"""(world, *arguments of a step) -> transitions, arguments of the model; see `StepRow`."""


@dataclass(frozen=True)
class StepRow:
    """One step of the implementation.

    `parameters` name its arguments in order. `transitions` are the model's transitions that it may
    be, of which exactly one is possible in any state; `arguments` renames the arguments to the
    model's. `silent` says why the step may also change nothing that the model sees. `why` says
    what a reader of the two texts would not expect. `beyond` says why the model has no such step:
    the step is offered and never taken. `possible_now` is set where the state of the world decides
    which transition the step is: given a world and the step's arguments, it returns the transitions
    that are possible now, and those arguments of the model that follow from the state. Without any,
    the step is `beyond` the model now.
    """

    step: str
    parameters: tuple[str, ...]
    transitions: tuple[str, ...]
    arguments: Mapping[str, str]
    silent: str | None = None
    leader_of: str | None = None
    why: str | None = None
    beyond: str | None = None
    possible_now: PossibleNow | None = None

    def is_unmodelled(self, world: Any, args: Sequence[int]) -> bool:
        """Whether the model has no such step, or none now."""
        if self.beyond is not None:
            return True
        return self.possible_now is not None and not self.possible_now(world, *args)[0]


def row(
    step: str,
    parameters: str,
    *transitions: str,
    silent: str | None = None,
    leader_of: str | None = None,
    why: str | None = None,
    beyond: str | None = None,
    possible_now: PossibleNow | None = None,
    **renamed: str,
) -> StepRow:
    """A row, its parameters given as words; `renamed` are the model's names for some of them."""
    names = tuple(parameters.split())
    return StepRow(
        step,
        names,
        transitions,
        {name: renamed.get(name, name) for name in names},
        silent,
        leader_of,
        why,
        beyond,
        possible_now,
    )


NOT_FENCED_AT_THE_END = (
    "A new controller deletes the request for preferred leaders as the last act of its failover, "
    "and is fenced there if it is deposed (2.1), which `cluster` has: here nobody asks for any, "
    "and it is as though it had been deposed right after it"
)
"""An abstraction of the systems without requests for preferred leaders."""


@dataclass(frozen=True)
class Family:
    """A part of a system's graph that is small enough to be walked whole: one family of faults.

    `bounds` are those that differ from the map's small ones. The walk starts after the steps
    `start`, and takes no transition of `without`. `why` says what it is for. If `is_large`, it
    takes minutes. `since` is the first release in which the sides are alike in it. `only_alike`:
    runs that the map declares not alike are only counted.
    """

    why: str
    bounds: Mapping[str, int]
    start: tuple[Step, ...] = ()
    without: tuple[str, ...] = ()
    version: str | None = None
    is_large: bool = False
    since: str = "0.10"
    only_alike: bool = False


@dataclass(frozen=True)
class SystemMap:
    """The implementation at the grain of one system of the model.

    `world` makes a world for bounds and a version; `facts` reads one as facts of the model;
    `unobserved` are the fields that it does not show, each with the reason; `switches` are the
    model's switches beside its version. `small` are the bounds of a graph that is walked whole.
    `left_out` says why the world cannot be driven to some transitions; within bounds that reach
    one, that is a mismatch. `leader_of` gives the leader that a broker knows in a world. `families`
    are parts of the graph by name. `not_from_the_start` says, for bounds and transitions left out,
    why the graph is walked only in such a part; None if it is walked from the initial state.
    `not_alike` says, for a version and a run of transitions, why the sides differ in it on purpose;
    None if they do not. `in_releases` gives, for transitions that no release has, those of the
    presets. `walked_since` is the first release whose whole graph is alike; stories may be of
    earlier ones.

    Faults that any release may meet, and configurations, are for stories only, not for walks:
    `story_switches` names such switches with the values that `story_world` makes a world for; it
    takes the steps of `more_rows` as well. `faulty` gives switches that presets have as fixed, with
    the releases from which on and up to which releases and implementation have the fault.
    """

    system: str
    rows: Mapping[str, StepRow]
    world: Callable[[Mapping[str, int], str | None], Any]
    facts: Callable[[Any], Facts]
    unobserved: Mapping[str, str]
    small: Mapping[str, int]
    switches: Mapping[str, object] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    leader_of: Callable[[Any, int], int] | None = None
    families: Mapping[str, Family] = field(default_factory=dict)
    not_from_the_start: Callable[[Mapping[str, int], tuple[str, ...]], str | None] = (
        lambda bounds, without: None
    )
    not_alike: Callable[[str, Run], str | None] = lambda version, run: None
    in_releases: Mapping[str, str] = field(default_factory=dict)
    walked_since: str = "0.10"
    story_switches: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    story_world: Callable[[Mapping[str, int], str | None, Mapping[str, object]], Any] | None = None
    more_rows: Mapping[str, StepRow] = field(default_factory=dict)
    faulty: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def where(self, version: str, switches: Mapping[str, object]) -> SystemMap:
        """The map for a protocol with these switches beside its version, as far as possible."""
        given = {one: value for one, value in switches.items()
                 if value in self.story_switches.get(one, ())}  # fmt: skip
        about = replace(self, switches={**self.switches_of(version), **given}, faulty={})
        if not given or (story_world := self.story_world) is None:
            return about
        return replace(about, rows={**self.rows, **self.more_rows},
                       world=lambda bounds, known: story_world(bounds, known, given))  # fmt: skip

    def switches_of(self, version: str | None) -> dict[str, object]:
        """The switches of the model beside a version."""
        release = Release.of(version or DEFAULT)
        faults = [one for one, (since, until) in self.faulty.items()
                  if release.since(since) and not release.since(until)]  # fmt: skip
        return {**self.switches, **dict.fromkeys(faults, False)}

    @cached_property
    def steps_of(self) -> dict[str, list[StepRow]]:
        """Model transition -> the rows of the implementation steps that it may be."""
        found: dict[str, list[StepRow]] = {}
        for each in self.rows.values():
            for transition in each.transitions:
                found.setdefault(transition, []).append(each)
        return found

    @cached_property
    def may_be_silent(self) -> tuple[str, ...]:
        """The steps of one broker that may change nothing that the model sees."""
        return tuple(
            each.step
            for each in self.rows.values()
            if each.silent is not None and each.parameters == ("broker",)
        )


def model_arguments(
    one: StepRow, arguments: Arguments, leader_of: Callable[[int], int]
) -> dict[str, int]:
    """An implementation step's arguments as the model's, by the model's names."""
    renamed = {one.arguments[name]: value for name, value in arguments.items()}
    if one.leader_of is not None:
        renamed["leader"] = leader_of(arguments[one.leader_of])
    return renamed


def implementation_arguments(one: StepRow, arguments: Arguments) -> tuple[int, ...]:
    """A model transition's arguments as the implementation step's, in its order."""
    return tuple(arguments[one.arguments[name]] for name in one.parameters)


class FactTable:
    """Collects facts; a value equal to the blank one is not a fact."""

    def __init__(self) -> None:
        self.found: Facts = {}

    def put(self, field: str, index: tuple[int, ...], code: int | bool, blank: int = 0) -> None:
        """Adds the value of a leaf, unless it is the blank one."""
        if int(code) != blank:
            self.found[field, index] = int(code)

    def members(self, field: str, index: tuple[int, ...], members: Any) -> None:
        """Adds the members of a set."""
        for member in members:
            self.found[field, (*index, int(member))] = 1

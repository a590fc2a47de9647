"""Plays a story of the model on the implementation, and compares every state on the way.

The model takes each step of the story, and so does the implementation in a world of its own; what
the implementation shows must equal the state of the story. What the model refuses, the
implementation must refuse. If a story does not apply, that is reported first, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.mapping import (
    MAPPED,
    Facts,
    StepRow,
    SystemMap,
    implementation_arguments,
    map_of,
    model_arguments,
)
from conformance.not_played import (
    NO_RELEASE,
    NO_SYSTEM,
    NOT_HAD,
    ReasonKind,
    WhyNotPlayed,
    of_switches,
)
from impl.sim.simulation import Step
from model.language.evaluate import Evaluator, SparseState
from model.language.recording import Recorded
from model.language.system import System
from model.versions import LINES, RELEASES
from specs.story import Story
from specs.story.commands import ASSERTING, StoryCommand, step_named
from specs.story.play import StoryOutcome, play
from specs.verdict import Verdict

MOST_SILENT = 3
"""Steps that the model does not see, in a row, before one that it sees."""

FEW = 4
"""So many differences of a state are reported at most."""


@dataclass
class StoryReplay:
    """How the implementation played a story.

    `why_not` is the reason why the story does not apply, and `kind` its kind; `release` is the
    release as which it was played (`as_released`); `failed` is the line where the two differ, with
    the reason. `compared` counts states, `refusals` lines that both refuse.
    """

    story: Story
    why_not: str | None = None
    kind: ReasonKind | None = None
    failed: tuple[int, str] | None = None
    release: str | None = None
    steps: int = 0
    compared: int = 0
    refusals: int = 0

    @property
    def verdict(self) -> Verdict:
        """Holds if at least one state was compared and all were equal."""
        if self.failed is not None:
            return Verdict.BROKEN
        return Verdict.HOLDS if self.compared else Verdict.NOT_CHECKED


def why_not_applicable(story: Story) -> WhyNotPlayed | None:
    """Why the implementation cannot play a story, None if it can; no step is taken."""
    found = as_released(story)
    return found if isinstance(found, WhyNotPlayed) else None


@dataclass(frozen=True)
class AsReleased:
    """A story in the form in which the implementation plays it, in a release."""

    story: Story
    release: str


def as_released(story: Story) -> AsReleased | WhyNotPlayed:
    """The story as the implementation plays it, or why it cannot.

    A story is played in its own version; if its switches differ from that, in the newest release
    that has these switches and in which the model takes all its steps, refuses what it refuses, and
    gives the same outcome for each claim that it checks: a preset, or else another published line.
    """
    if story.heading is None:
        return NO_SYSTEM
    recorded = story.heading.recorded
    name = recorded.system.name
    if name not in MAPPED:
        return WhyNotPlayed(
            ReasonKind.DESIGN,
            f"{name} has designs as they were published, without "
            f"ZooKeeper and controllers; a release is in {', '.join(MAPPED)}",
        )
    about = _map_for(story)
    apart = {
        one: value for one, value in recorded.without.items() if about.switches.get(one) != value
    }
    if NO_RELEASE.keys() & apart.keys():  # a preset may have it so, and the release has it not
        return of_switches(apart)
    for switch, why_not in NOT_HAD.items():
        without = {**recorded.without, switch: False}
        if recorded.switches.get(switch) and not _is_played_alike(story, about, without):
            return WhyNotPlayed(ReasonKind.BEYOND, f"{why_not} ({switch})")
    differs: WhyNotPlayed | None = None
    if not apart:
        differs = _why_not_as(story, about)
        if differs is not None and differs.kind is ReasonKind.BEYOND:
            return differs
        same = recorded.without == about.switches
        if differs is None and (same or _is_played_alike(story, about, about.switches)):
            return AsReleased(story, recorded.version)
    releases = list(dict.fromkeys((recorded.version, *reversed(RELEASES), *reversed(LINES))))
    here: StoryOutcome | None = None
    for release in releases:
        if _release_has(recorded.system, release, apart):
            there = _in_release(story, about, release)
            why = _why_not_as(there, about, release)
            if why is None:
                here = here or play(story)
                if _comes_to_the_same(here, play(there)):
                    return AsReleased(there, release)
            differs = differs or why
    if apart:
        lacking = of_switches(apart)
        return differs if differs is not None and lacking.kind is ReasonKind.BEYOND else lacking
    if differs is not None:
        return differs
    alone = [
        name for name, value in sorted(about.switches.items())
        if not _is_played_alike(story, about, {**recorded.without, name: value})
    ]  # fmt: skip
    return WhyNotPlayed(
        ReasonKind.DESIGN,
        f"no release does what it shows ({', '.join(alone or sorted(about.switches))})",
    )


def _map_for(story: Story) -> SystemMap:
    """The map of the story's system, with the switches of the story."""
    assert story.heading is not None, "the story names a system"
    recorded = story.heading.recorded
    return map_of(recorded.system.name).where(recorded.version, recorded.without)


def _release_has(system: System, release: str, switches: Mapping[str, object]) -> bool:
    """It is a release, and has these switches so."""
    if release not in {*RELEASES, *LINES} & {*system.versions, *system.also}:
        return False
    values = system.version(release).switches
    return all(values.get(name) == value for name, value in switches.items())


def _why_not_as(story: Story, about: SystemMap, release: str | None = None) -> WhyNotPlayed | None:
    """Why the implementation cannot play a story in its version, or in a release.

    Either its worlds do not have it so, or the model comes to what Kafka does not do.
    """
    assert story.heading is not None, "the story names a system"
    version = story.heading.recorded.version
    try:
        about.world(story.heading.step_bounds, release or version)
    except ValueError as error:
        return WhyNotPlayed(ReasonKind.BEYOND, str(error))
    steps = {one.what for one in story.commands if one.is_step or one.verb == "refused"}
    missing = sorted(steps - set(about.steps_of))
    if missing:
        text = f"the implementation has no step for {', '.join(missing)}"
        return WhyNotPlayed(ReasonKind.BEYOND, text)
    run = [(one.what, one.arguments) for one in story.commands if one.is_step]
    differs = about.not_alike(version, run)
    return None if differs is None else WhyNotPlayed(ReasonKind.DESIGN, differs)


def _in_release(story: Story, about: SystemMap, release: str) -> Story:
    """The story as a release is asked to play it."""
    assert story.heading is not None, "the story names a system"
    system = story.heading.recorded.system
    heading = replace(story.heading, recorded=system.recorded(release, about.switches))
    names = about.in_releases
    scenes = [
        replace(one, commands=[replace(each, what=names.get(each.what, each.what))
                               for each in one.commands])
        for one in story.scenes
    ]  # fmt: skip
    return replace(story, heading=heading, scenes=scenes)


def _comes_to_the_same(here: StoryOutcome, there: StoryOutcome) -> bool:
    """All steps are taken and all refusals met in both, and the claims come to the same; a story
    that asserts nothing does not say what it is about."""
    if here.failed is not None or there.failed is not None:
        return False
    asserts = any(one.verb in ASSERTING for one in here.story.commands)
    return asserts and _claim_outcomes(here) == _claim_outcomes(there)


def _claim_outcomes(outcome: StoryOutcome) -> list[str]:
    """What the claims that a story checks came to."""
    commands = [one for scene in outcome.story.scenes for one in scene.commands]
    output = [lines for scene in outcome.output for lines in scene]
    return [
        lines[0].partition(" — ")[0]
        for one, lines in zip(commands, output, strict=True)
        if one.verb == "check"
    ]


def _is_played_alike(story: Story, about: SystemMap, switches: Mapping[str, object]) -> bool:
    """The model by default is better, or simpler, than any release: a story that shows where comes
    to another state when it is played as released."""
    assert story.heading is not None, "the story names a system"
    ours = story.heading.recorded
    theirs = ours.system.recorded(ours.version, switches)
    bounds = story.heading.step_bounds
    one, other = Evaluator(ours, bounds), Evaluator(theirs, bounds)
    state, released = one.initial(), other.initial()
    for command in story.commands:
        if not (command.is_step or command.verb == "refused"):
            continue
        here, there = (step_named(each, command.what) for each in (ours, theirs))
        if command.verb == "refused":
            if other.possible(there, released, command.arguments) is None:
                return False
            continue
        if other.possible(there, released, command.arguments) is not None:
            return False
        state = one.successor(here, state, command.arguments)
        released = other.successor(there, released, command.arguments)
        if _shown(state, about) != _shown(released, about):
            return False
    return True


def _shown(state: SparseState, about: SystemMap) -> Facts:
    """What of a state of the model the implementation shows, as facts."""
    return {
        (name, index): int(value)
        for name, cells in state.items()
        if name not in about.unobserved
        for index, value in cells.items()
    }


def replay_story(story: Story) -> StoryReplay:
    """Plays a story on the implementation, to its end or to the first line where the two differ."""
    played = as_released(story)
    if isinstance(played, WhyNotPlayed):
        return StoryReplay(story, played.text, played.kind)
    replay = StoryReplay(story, release=played.release)
    stage = _Stage(played)
    for command in played.story.commands:
        try:
            stage.play(command, replay)
        except _Parted as parted:
            replay.failed = command.line, str(parted)
            return replay
    return replay


class _Parted(Exception):
    """Model and implementation do not do the same; the message says how."""


class _Stage:
    def __init__(self, played: AsReleased) -> None:
        heading = played.story.heading
        assert heading is not None, "the story applies"
        self.recorded = heading.recorded
        self.steps = {one.transition.name: one for one in self.recorded.steps}
        self.about = _map_for(played.story)
        self.twin = Evaluator(self.recorded, heading.step_bounds)
        self.state: SparseState = self.twin.initial()
        self.world: Any = self.about.world(heading.step_bounds, played.release)
        self._compare(self.state, "at the start")

    # -- one line -----------------------------------------------------------------------------

    def play(self, command: StoryCommand, replay: StoryReplay) -> None:
        if command.is_step:
            self._step(command)
            replay.steps += 1
            replay.compared += 1
        elif command.verb == "refused":
            self._refused(command)
            replay.refusals += 1

    def _step(self, command: StoryCommand) -> None:
        step = step_named(self.recorded, command.what)
        if self.twin.possible(step, self.state, command.arguments) is not None:
            raise _Parted(f"{command.label} is not possible in the model; play it on the model")
        after = self.twin.successor(step, self.state, command.arguments)
        expected = _shown(after, self.about)
        said = "the implementation cannot be driven to it"
        for target in self._targets(step, command.arguments):
            if self._drive(target, command.arguments, expected):
                self.state = after
                return
            said = self._refusal(target, expected)
        raise _Parted(f"{command.label}: {said}")

    def _refused(self, command: StoryCommand) -> None:
        step = step_named(self.recorded, command.what)
        for row, target in self._rows(step, command.arguments):
            if self.world.why_not(target) is not None or row.is_unmodelled(self.world, target.args):
                continue  # it refuses, too; or the model has no such step
            if not (self._is_another(row, target, command) or self._is_silent(target)):
                raise _Parted(f"{command.label} is refused by the model, and {target} is possible")

    def _is_another(self, row: StepRow, target: Step, command: StoryCommand) -> bool:
        """The implementation's step is another transition here, or the same with others."""
        names, known = self._may_be(row, target)
        for name in sorted({*names} & self.steps.keys()):
            step = self.steps[name]
            if known.keys() >= step.parameters.keys():
                arguments = {at: known[at] for at in step.parameters}
                refused = name == command.what and arguments == dict(command.arguments)
                if not refused and self.twin.possible(step, self.state, arguments) is None:
                    return True
        return False

    def _may_be(self, row: StepRow, target: Step) -> tuple[tuple[str, ...], dict[str, Any]]:
        """The transitions that a step may be now, and the model's arguments."""
        given = dict(zip(row.parameters, target.args, strict=True))
        arguments: dict[str, Any] = model_arguments(row, given, self._leader_of)
        if row.possible_now is None:
            return row.transitions, arguments
        names, more = row.possible_now(self.world, *target.args)
        return names, arguments | more

    def _leader_of(self, broker: int) -> int:
        return 0 if self.about.leader_of is None else self.about.leader_of(self.world, broker)

    def _is_silent(self, target: Step) -> bool:
        before = self.world.snapshot()
        self.world.do(target)
        same = self._facts() == _shown(self.state, self.about)
        self.world.restore(before)
        return same

    # -- driving ------------------------------------------------------------------------------

    def _rows(self, step: Recorded, arguments: Mapping[str, Any]) -> Iterator[tuple[StepRow, Step]]:
        """The implementation's steps that a transition may be: those on offer, where they say more
        than the model's does."""
        for row in self.about.steps_of[step.transition.name]:
            if all(row.arguments[name] in arguments for name in row.parameters):
                targets = [Step(row.step, implementation_arguments(row, arguments))]
            else:
                targets = [one for one in self.world.enabled()
                           if one.name == row.step and _fits(row, one, arguments)]  # fmt: skip
            for target in targets:
                if row.leader_of is not None and (
                    self._leader_of(target.args[0]) != arguments["leader"]
                ):
                    continue
                yield row, target

    def _targets(self, step: Recorded, arguments: Mapping[str, Any]) -> list[Step]:
        return [target for _, target in self._rows(step, arguments)]

    def _drive(self, target: Step, arguments: Mapping[str, Any], expected: Facts) -> bool:
        """Take silent steps and then the target, so that it ends as expected; else change nothing.

        The fewest silent steps are tried first.
        """
        broker = arguments.get("broker")
        frontier = [self.world.snapshot()]
        begin, before = frontier[0], self._facts()
        for depth in range(MOST_SILENT + 1):
            for snapshot in frontier:
                self.world.restore(snapshot)
                if self.world.why_not(target) is None:
                    self.world.do(target)
                    if self._facts() == expected:
                        return True
            if depth == MOST_SILENT or broker is None:
                break
            frontier = list(self._silently(frontier, broker, before))
        self.world.restore(begin)
        return False

    def _silently(self, frontier: list[Any], broker: int, same: Facts) -> Iterator[Any]:
        for snapshot in frontier:
            for name in self.about.may_be_silent:
                self.world.restore(snapshot)
                step = Step(name, (broker,))
                if self.world.why_not(step) is None:
                    self.world.do(step)
                    if self._facts() == same:
                        yield self.world.snapshot()

    def _refusal(self, target: Step, expected: Facts) -> str:
        """Why a target did not do, in words."""
        refusal = self.world.why_not(target)
        if refusal is not None:
            return f"{target} is not possible in the implementation: {refusal} — false"
        before = self.world.snapshot()
        self.world.do(target)
        said = f"after {target} the two differ: {_differences(self._facts(), expected)}"
        self.world.restore(before)
        return said

    # -- states -------------------------------------------------------------------------------

    def _facts(self) -> Facts:
        return {
            at: value
            for at, value in self.about.facts(self.world).items()
            if at[0] not in self.about.unobserved
        }

    def _compare(self, state: SparseState, when: str) -> None:
        found, expected = self._facts(), _shown(state, self.about)
        if found != expected:
            raise _Parted(f"{when} the two differ: {_differences(found, expected)}")


def _fits(row: StepRow, step: Step, arguments: Mapping[str, Any]) -> bool:
    """A step has the arguments of a transition, where it names them."""
    return all(
        arguments.get(row.arguments[name], value) == value
        for name, value in zip(row.parameters, step.args, strict=True)
    )


def _differences(found: Facts, expected: Facts) -> str:
    places = sorted(at for at in {*found, *expected} if found.get(at) != expected.get(at))
    shown = [
        f"{at[0]}{list(at[1]) if at[1] else ''}: the story says {expected.get(at, 'none')}, "
        f"the implementation {found.get(at, 'none')}"
        for at in places[:FEW]
    ]
    more = f" and {len(places) - FEW} more" if len(places) > FEW else ""
    return "; ".join(shown) + more

"""Plays a story on the reference evaluator, with unbounded numbers and reasons for failed steps."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from model.language import ImpossibleValue, ProtocolError, RecordedSystem
from model.language.evaluate import BeyondBound, Evaluator, SparseState
from model.language.explain import why_not
from model.language.properties import DEADLOCK
from model.language.recording import Recorded, Requirement
from specs.lowering.instances import argument_choices
from specs.story.commands import ASSERTING, STEP, Arguments, StoryCommand, step_named, step_text
from specs.story.heading import StoryHeading
from specs.story.leaves import Leaves
from specs.story.read import Story
from specs.verdict import Verdict

INDENT = "    "
FEW = 3


@dataclass
class StoryOutcome:
    """The output of a story that was played; `failed` is the line that did not hold.

    `output` has the lines of each scene, command by command, up to the line that failed.
    """

    story: Story
    output: list[list[list[str]]] = field(default_factory=list)
    failed: tuple[int, str] | None = None

    @property
    def lines(self) -> list[list[str]]:
        """By scene: the output."""
        return [[line for part in scene for line in part] for scene in self.output]

    @property
    def is_as_recorded(self) -> bool:
        """Is the output equal to the recorded output in the story's file?"""
        return self.lines == [scene.output for scene in self.story.scenes]

    @property
    def steps(self) -> int:
        """The number of steps that the story takes."""
        return sum(command.is_step for command in self.story.commands)

    @property
    def checks(self) -> int:
        """The number of lines that assert something."""
        return sum(command.verb in ASSERTING for command in self.story.commands)

    @property
    def is_new(self) -> bool:
        """Is there output, but no recorded output yet?"""
        return not any(scene.output for scene in self.story.scenes) and any(self.lines)

    @property
    def verdict(self) -> Verdict:
        """`holds` if the output is as recorded and there are checks; a new story is not checked."""
        if self.failed is None and self.is_new:
            return Verdict.NOT_CHECKED
        if self.failed is not None or not self.is_as_recorded:
            return Verdict.BROKEN
        return Verdict.HOLDS if self.checks else Verdict.NOT_CHECKED

    @cached_property
    def first_difference(self) -> int | None:
        """The position of the first command whose output differs from the recorded output."""
        position = 0
        for number, scene in enumerate(self.story.scenes):
            recorded = list(scene.output)
            output = self.output[number] if number < len(self.output) else []
            for at in range(len(scene.commands)):
                lines = output[at] if at < len(output) else None
                if lines is None or recorded[: len(lines)] != lines:
                    return position
                del recorded[: len(lines)]
                position += 1
            if recorded:
                return position - 1
        return None


class StoryDiffers(Exception):
    """Raised if a line does not hold; the message says why."""


def play(story: Story, recorded: RecordedSystem | None = None) -> StoryOutcome:
    """Plays a story to its end, or to the first line that does not hold.

    `recorded` replaces the story's own system, for example by the system without one guard.
    """
    outcome = StoryOutcome(story)
    if story.heading is None:
        return outcome
    stage = _StoryStage(story, story.heading, recorded or story.heading.recorded)
    for scene in story.scenes:
        output: list[list[str]] = []
        outcome.output.append(output)
        for command in scene.commands:
            try:
                output.append(stage.play(command))
            except (StoryDiffers, ProtocolError) as error:
                outcome.failed = command.line, str(error)
                return outcome
    return outcome


class _StoryStage:
    def __init__(self, story: Story, heading: StoryHeading, recorded: RecordedSystem) -> None:
        self.heading, self.recorded = heading, recorded
        self.twin = Evaluator(recorded, heading.step_bounds)
        checked = {one.what for one in story.commands if one.verb == "check"} - {DEADLOCK}
        judged = [recorded.claim(name)[1] for name in sorted(checked)]
        # As runs do: history that no claim of the story reads, and unbounded budgets are not shown.
        kept = recorded.fields_needed(judged, heading.given)
        self.leaves = Leaves(self.twin, kept)
        self.kept = kept
        self.states: list[SparseState] = [self.twin.initial()]
        self.marks: dict[str, SparseState] = {}

    @property
    def now(self) -> SparseState:
        return self.states[-1]

    def play(self, command: StoryCommand) -> list[str]:
        """Plays the command and returns the lines of its output."""
        if command.verb in (STEP, "quietly"):
            return self._step(command)
        if command.verb == "refused":
            return self._refused(command)
        if command.verb == "check":
            return self._check(command.what)
        if command.verb == "show":
            return self.leaves.named(command.what, self.now)
        if command.verb == "mark":
            self.marks[command.what] = self.now
            return []
        return self._require_marked_state(command.what)

    def _step(self, command: StoryCommand) -> list[str]:
        step = step_named(self.recorded, command.what)
        refused = self.twin.possible(step, self.now, command.arguments)
        if refused is not None:
            why = self.twin.explain(refused, self.now, command.arguments)
            raise StoryDiffers(f"{command.label} is {why}{self._possible_arguments(step)}")
        try:
            after = self.twin.successor(step, self.now, command.arguments)
        except BeyondBound as error:
            raise StoryDiffers(
                f"{command.label} leads beyond the bound {error.bound}: {error}; "
                "give a greater one in the story's first line"
            ) from error
        except ImpossibleValue as error:
            raise StoryDiffers(f"{command.label}: {error}") from error
        changes = self.leaves.changes(self.now, after)
        self.states.append(after)
        if command.verb == "quietly":
            return []
        return [command.label, *(INDENT + line for line in changes or ["nothing changes"])]

    def _possible_arguments(self, step: Recorded) -> str:
        """What would make the step possible here, in other values of its parameters."""
        possible = [
            step_text(step, arguments) for arguments in self._all_arguments(step)
            if self.twin.possible(step, self.now, arguments) is None
        ]  # fmt: skip
        if not possible:
            return ""
        more = f" and {len(possible) - FEW} more" if len(possible) > FEW else ""
        return f"; possible here: {', '.join(possible[:FEW])}{more}"

    def _all_arguments(self, step: Recorded) -> Iterator[Arguments]:
        return choices(step, self.heading.claim_bounds(_greatest(self.now)))

    def _refused(self, command: StoryCommand) -> list[str]:
        step = step_named(self.recorded, command.what)
        refused = self.twin.possible(step, self.now, command.arguments)
        if refused is None:
            raise StoryDiffers(
                f"{command.label} is possible here, and the story says that it is refused"
            )
        why = self.twin.explain(refused, self.now, command.arguments)
        return [f"refused {command.label}", INDENT + why.removeprefix("not possible: ")]

    def _check(self, name: str) -> list[str]:
        if name == DEADLOCK:
            possible = self._first_possible()
            return [f"some step is possible: {possible}" if possible else "nothing is possible"]
        claim, condition = self.recorded.claim(name)
        judge = Evaluator(self.recorded, self.heading.claim_bounds(_greatest(self.now)))
        if claim.is_about_steps:
            return [self._every_step(judge, name, claim.sentence)]
        holds = bool(judge.value(condition, self.now, {}))
        if claim.kind != "always":
            return [f"{name}: {'so it is' if holds else 'not so here'} — {claim.sentence}"]
        if holds:
            return [f"{name}: holds"]
        why = why_not(judge, Requirement(condition, name), self.now, {})
        values = why.partition(" — false ")[2]
        return [f"{name}: broken — {claim.sentence}", *([INDENT + values] if values else [])]

    def _every_step(self, judge: Evaluator, name: str, sentence: str) -> str:
        for number, (before, after) in enumerate(itertools.pairwise(self.states), 1):
            if not judge.holds_of_step(name, before, after):
                return f"{name}: broken by step {number} — {sentence}"
        return f"{name}: holds of every step"

    def _first_possible(self) -> str | None:
        for step in self.recorded.steps:
            for arguments in self._all_arguments(step):
                if self.twin.possible(step, self.now, arguments) is None:
                    return step_text(step, arguments)
        return None

    def _require_marked_state(self, name: str) -> list[str]:
        differ = self.leaves.changes(self.marks[name], self.now)
        if differ:
            raise StoryDiffers(f"the state is not the one marked {name}: {'; '.join(differ)}")
        return [f"the state is the one marked {name}"]


def _greatest(state: SparseState) -> int:
    """The greatest number in a state, as a value or as an index."""
    numbers = [
        max((*index, int(value))) for cells in state.values() for index, value in cells.items()
    ]
    return max(numbers, default=0)


def choices(step: Recorded, bounds: Mapping[str, int]) -> Iterator[Arguments]:
    """Every choice of a step's parameters within the bounds."""
    for chosen in argument_choices(step, lambda sort: sort.domain(bounds)):
        yield dict(zip(step.parameters, chosen, strict=True))

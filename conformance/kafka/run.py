"""Reads a run of the model from a story: its steps with the states around them, and its checks.

While it handles a fetch, a produce request or a LeaderAndIsr, a leader may add a follower to the
ISR and move its high watermark. Real brokers do that at once; the model may do it later. So the
run is first rebuilt with these steps as early as possible (`at_once`). If any later step is then
impossible, the whole run is taken in the story's order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from model.language import ImpossibleValue, ProtocolError
from model.language.evaluate import BeyondBound, Evaluator, SparseState
from model.language.recording import Recorded, fields_read
from specs.state_text import plain
from specs.story.commands import STEP, Arguments, StoryCommand, step_named, step_text
from specs.story.heading import StoryHeading
from specs.story.read import Story

REPLICATION, ELECTION, REASSIGNMENT = SYSTEMS = "replication", "election", "reassignment"

ANSWERED_FETCHES = ("leader_answers_fetch", "leader_answers_fetch_in_session")
"""On real brokers it is for the session to say which of the two an answer is."""


class NotReplayable(Exception):
    """The story cannot be replayed on real brokers; the message says why."""


class LogEntry(NamedTuple):
    """One record of a log: the number of the record, and its leader epoch."""

    id: int
    epoch: int


class ModelStateView:
    """A state of `replication`, read leaf by leaf."""

    def __init__(self, twin: Evaluator, state: SparseState, brokers: int) -> None:
        self.twin, self.state, self.brokers = twin, state, range(1, brokers + 1)

    def at(self, name: str, *index: int) -> Any:
        """The value of a leaf as plain data, which may be None."""
        sort = self.twin.recorded.fields[name].sort
        return plain(sort, self.twin.read(self.state, name, index))

    def broker_set(self, name: str, *index: int) -> tuple[int, ...]:
        """A set of brokers."""
        return tuple(one for one in self.brokers if self.at(name, *index, one))

    def log(self, broker: int) -> list[LogEntry]:
        """A broker's log."""
        return [
            LogEntry(self.at("log.at.id", broker, offset), self.at("log.at.epoch", broker, offset))
            for offset in range(self.at("log.end", broker))
        ]


@dataclass
class ReplayStep:
    """A step or a check, and the model's states before and after it.

    ``at_once``: the story has it elsewhere; brokers take it together with the step before.
    """

    number: int
    command: StoryCommand
    before: ModelStateView
    after: ModelStateView
    at_once: bool = False

    @property
    def name(self) -> str:
        """The transition, or the claim that is checked."""
        return self.command.what

    def argument(self, name: str) -> int:
        """The value of a parameter."""
        value = self.command.arguments[name]
        assert isinstance(value, int)
        return value


@dataclass
class ModelRun:
    """The steps and checks of a story. ``brokers``: how many replicas the partition has."""

    story: Story
    heading: StoryHeading
    brokers: int
    steps: list[ReplayStep]

    @property
    def system(self) -> str:
        """The system that the run is of."""
        return self.heading.recorded.system.name

    def reads(self, claim: str) -> frozenset[str]:
        """The fields that a claim reads."""
        return fields_read(self.heading.recorded.claim(claim)[1])

    def is_broken(self, claim: str, state: SparseState) -> bool:
        """Whether the claim fails in a state."""
        greatest = max(
            (
                max((*index, int(value)))
                for cells in state.values()
                for index, value in cells.items()
            ),
            default=0,
        )
        judge = Evaluator(self.heading.recorded, self.heading.claim_bounds(greatest))
        return not judge.value(self.heading.recorded.claim(claim)[1], state, {})


def run_of(story: Story) -> ModelRun:
    """The run of a story of `replication`; NotReplayable names the line that prevents it."""
    heading = story.heading
    if heading is None:
        raise NotReplayable(f"{story.source} has no step to replay")
    if heading.recorded.system.name not in SYSTEMS:
        raise NotReplayable(
            f"{story.source} is a story of {heading.recorded.system.name}; the lab "
            f"replays those of {', '.join(SYSTEMS)}, in which each step is a message, a write or "
            "a fault of its own"
        )
    try:
        steps = _steps(story, heading, at_once=True)
    except NotReplayable:
        steps = _steps(story, heading, at_once=False)
    if not any(one.command.is_step for one in steps):
        raise NotReplayable(f"{story.source} has no step to replay")
    return ModelRun(story, heading, heading.step_bounds["brokers"], steps)


def _steps(story: Story, heading: StoryHeading, at_once: bool) -> list[ReplayStep]:
    """The story's steps and checks; NotReplayable where one is not possible."""
    twin = Evaluator(heading.recorded, heading.step_bounds)
    brokers = heading.step_bounds["brokers"]
    state = twin.initial()
    steps: list[ReplayStep] = []
    early: list[str] = []

    def take(command: StoryCommand, is_early: bool) -> None:
        nonlocal state
        before = ModelStateView(twin, state, brokers)
        state = twin.successor(_step(heading, command), state, command.arguments)
        after = ModelStateView(twin, state, brokers)
        steps.append(ReplayStep(len(steps) + 1, command, before, after, is_early))

    for command in story.commands:
        if command.is_step:
            if command.label in early:
                early.remove(command.label)
                continue
            try:
                take(command, False)
            except (ProtocolError, BeyondBound, ImpossibleValue) as error:
                raise NotReplayable(f"{story.source}:{command.line}: {error}") from error
            following = _leader_steps_with(heading, command) if at_once else []
            for one in following:
                step = _step(heading, one)
                if twin.possible(step, state, one.arguments) is None:
                    take(one, True)
                    early.append(one.label)
        elif command.verb == "check" and _is_of_a_state(heading, command.what):
            view = ModelStateView(twin, state, brokers)
            steps.append(ReplayStep(len(steps) + 1, command, view, view))
    return steps


def _step(heading: StoryHeading, command: StoryCommand) -> Recorded:
    return step_named(heading.recorded, command.what)


def _is_of_a_state(heading: StoryHeading, claim: str) -> bool:
    """Not of more than one state, nor of what only the model sees."""
    recorded = heading.recorded
    return claim in recorded.claims and recorded.claim(claim)[0].kind == "always"


def _leader_steps_with(heading: StoryHeading, command: StoryCommand) -> list[StoryCommand]:
    """What a leader does of itself with a step, in Kafka's order."""
    if heading.recorded.system.name != REPLICATION:
        return []
    given = command.arguments
    if command.what in ANSWERED_FETCHES:
        leader, follower = given["leader"], given["follower"]
        wanted: list[tuple[str, Arguments]] = [
            ("leader_expands_isr", {"leader": leader, "replica": follower}),
            ("leader_learns_isr_is_written", {"leader": leader}),
            ("leader_advances_hw", {"broker": leader}),
        ]
    elif command.what in ("leader_appends", "leader_appends_acks_all", "broker_becomes_leader"):
        wanted = [("leader_advances_hw", {"broker": given["broker"]})]
    elif command.what in ("leader_shrinks_isr", "leader_expands_isr"):
        leader = given["leader"]
        wanted = [
            ("leader_learns_isr_is_written", {"leader": leader}),
            ("leader_advances_hw", {"broker": leader}),
        ]
    else:
        return []
    return [
        StoryCommand(
            command.line,
            STEP,
            name,
            arguments,
            step_text(step_named(heading.recorded, name), arguments),
        )
        for name, arguments in wanted
    ]

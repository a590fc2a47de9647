"""A run of the model, out of a story: its steps with the states around them, and its checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from model.language import ImpossibleValue, ProtocolError
from model.language.evaluate import BeyondBound, Evaluator, SparseState
from specs.reading import plain
from specs.story.commands import Command, step_named
from specs.story.heading import Heading
from specs.story.read import Story

SYSTEM = "replication"


class NotReplayable(Exception):
    """The story cannot be replayed on real brokers; the message says why."""


class Entry(NamedTuple):
    """One record of a log: the number of the record, and its leader epoch."""

    id: int
    epoch: int


class View:
    """A state of `replication`, read leaf by leaf."""

    def __init__(self, twin: Evaluator, state: SparseState, brokers: int) -> None:
        self.twin, self.state, self.brokers = twin, state, range(1, brokers + 1)

    def at(self, name: str, *index: int) -> Any:
        """A leaf as plain data: None for none."""
        sort = self.twin.recorded.fields[name].sort
        return plain(sort, self.twin.read(self.state, name, index))

    def members(self, name: str, *index: int) -> tuple[int, ...]:
        """A set of brokers."""
        return tuple(one for one in self.brokers if self.at(name, *index, one))

    def log(self, broker: int) -> list[Entry]:
        """A broker's log."""
        return [
            Entry(self.at("log.at.id", broker, offset), self.at("log.at.epoch", broker, offset))
            for offset in range(self.at("log.end", broker))
        ]


@dataclass
class Step:
    """A step or a check of the story, and the model's states before and after it."""

    number: int
    command: Command
    before: View
    after: View

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
    """What a story does. ``brokers``: how many replicas the partition has."""

    story: Story
    heading: Heading
    brokers: int
    steps: list[Step]

    def is_broken(self, claim: str, state: SparseState) -> bool:
        """Does the claim fail in a state?"""
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
    """The run of a story of `replication`; NotReplayable names the line that is in the way."""
    heading = story.heading
    if heading is None:
        raise NotReplayable(f"{story.source} has no step to replay")
    if heading.recorded.system.name != SYSTEM:
        raise NotReplayable(
            f"{story.source} is a story of {heading.recorded.system.name}; the lab "
            f"replays those of {SYSTEM}, in which each step is a message, a write or a "
            "mishap of one partition"
        )
    twin = Evaluator(heading.recorded, heading.step_bounds)
    brokers = heading.step_bounds["brokers"]
    state = twin.initial()
    steps: list[Step] = []
    for command in story.commands:
        before = View(twin, state, brokers)
        if command.is_step:
            step = step_named(heading.recorded, command.what)
            try:
                state = twin.successor(step, state, command.arguments)
            except (ProtocolError, BeyondBound, ImpossibleValue) as error:
                raise NotReplayable(f"{story.source}:{command.line}: {error}") from error
        elif command.verb != "check":
            continue
        elif command.what not in heading.recorded.claims:
            raise NotReplayable(f"{story.source}:{command.line}: {command.what} is no claim")
        elif heading.recorded.claim(command.what)[0].kind != "always":
            raise NotReplayable(
                f"{story.source}:{command.line}: {command.what} is not about a single state, and "
                "only such claims can be judged by what real brokers have"
            )
        steps.append(Step(len(steps) + 1, command, before, View(twin, state, brokers)))
    if not any(one.command.is_step for one in steps):
        raise NotReplayable(f"{story.source} has no step to replay")
    return ModelRun(story, heading, brokers, steps)

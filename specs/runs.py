"""A run: steps with their parameters from the initial state, as data and as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from model.versions import SWITCHES
from specs.lowering.grounding import Grounded
from specs.lowering.python_code import PythonCode
from specs.rendering import HIDDEN, parts
from specs.state_text import StateText, named, shown_arguments
from specs.verdict import Verdict


@dataclass
class RunStep:
    """One step of a run: its name, its parameters, and the leaves it changed."""

    step: str
    args: dict[str, Any]
    changes: dict[str, list[Any]]
    lines: list[str] = field(default_factory=list, metadata=HIDDEN)


@dataclass
class Run:
    """The run that `find` returns and that every trace in a report has.

    The steps from `loop` on repeat forever; if there are none, the run stays in its last state.
    """

    ALSO: ClassVar = parts("format", "depth")
    format: ClassVar = "insync.verdict/1"

    claim: str
    sentence: str
    system: str
    version: str
    without: dict[str, object]
    bounds: dict[str, int]
    verdict: Verdict
    steps: list[RunStep]
    replay: str
    loop: int | None = None

    @property
    def depth(self) -> int:
        """The number of states on the run, including the initial state."""
        return len(self.steps) + 1

    def as_text(self) -> str:
        """The run as readable text: one line for each step, with the leaves that changed."""
        lines = []
        width = len(str(len(self.steps)))
        for number, step in enumerate(self.steps, 1):
            lines.append(f"{number:>{width}}  {step.step}({named(step.args)})")
            lines += [f"{'':>{width}}      {line}" for line in step.lines]
        if self.loop is not None and self.loop == len(self.steps):
            lines.append("and so it stays: nothing that must happen can happen any more")
        elif self.loop is not None:
            lines.append(f"and again from step {self.loop + 1}, without end")
        return "\n".join(lines)


def replay_command(
    verb: str,
    system: str,
    version: str,
    without: Mapping[str, object],
    bounds: Mapping[str, int],
    claim: str | None = None,
) -> str:
    """The command that shows the same run again."""
    words = ["insync", verb]
    if claim:
        words.append(claim)
    words += [system, "--version", version]
    for name, value in sorted(without.items()):
        words += _switched(name, value)
    for name, number in bounds.items():
        words += ["--brokers"] if name == "brokers" else ["--bound"]
        words.append(str(number) if name == "brokers" else f"{name}={number}")
    return " ".join(words)


def _switched(name: str, value: object) -> list[str]:
    """A switch reverted to what it was before the fix has an option of its own."""
    before = SWITCHES[name].values[0] if name in SWITCHES else False
    if isinstance(value, bool) and value is before:
        return ["--without", name]
    return ["--set", f"{name}={value}"]


def build_run(
    grounded: Grounded,
    code: PythonCode,
    instances: list[int],
    claim: str,
    verdict: Verdict,
    loop: int | None = None,
    sentence: str | None = None,
) -> Run:
    """Replays instance numbers from the initial state; each must be possible.

    The steps from `loop` on must lead back to the state at `loop`. `sentence` is for a claim that
    the system does not have.
    """
    recorded = grounded.recorded
    reading = StateText(grounded)
    state = code.initial
    steps: list[RunStep] = []
    turn = state
    for position, number in enumerate(instances):
        turn = state if position == loop else turn
        instance = grounded.instances[number]
        after = code.attempt(instance, state)
        if after is None:
            raise AssertionError(f"a run of the explorer cannot be replayed at {instance.label}")
        changes = reading.changes(code.decode(state), code.decode(after))
        steps.append(
            RunStep(
                instance.step.transition.name,
                shown_arguments(instance),
                changes,
                [reading.change_text(path, pair) for path, pair in changes.items()],
            )
        )
        state = after
    if loop is not None and loop < len(instances) and state != turn:
        raise AssertionError(f"the loop of {claim} does not close")
    return Run(
        claim=claim,
        sentence=sentence or recorded.claim(claim)[0].sentence,
        system=recorded.system.name,
        version=recorded.version,
        without=dict(recorded.without),
        bounds=dict(grounded.bounds),
        verdict=verdict,
        steps=steps,
        replay=replay_command(
            "find", recorded.system.name, recorded.version, recorded.without, grounded.bounds, claim
        ),
        loop=loop,
    )

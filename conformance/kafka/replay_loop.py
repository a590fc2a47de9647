"""Runs the steps and checks of a replay on real Kafka, and reports the results.

Each system defines what a step does to real processes, and what is observed of them: `replay` for
`replication`, `election_replay` for `election`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from conformance.kafka.lab import ZOOKEEPER, Lab, processes_ended_at_last
from conformance.kafka.messages import Message
from conformance.kafka.proxy import Heard, Proxies
from conformance.kafka.releases import KafkaRelease
from conformance.kafka.run import ModelRun, ModelStateView, ReplayStep
from model.language.evaluate import SparseState
from specs.verdict import Verdict

WORDS = ("holds", "broken")


class KafkaDiffers(Exception):
    """Real Kafka did something other than the step; the message says what was seen."""


class StepNotForced(Exception):
    """The action had no effect, and nothing was seen that contradicts the step."""


class ReplayOutcome(Enum):
    """The outcome of a replay. The value is the word that is printed."""

    SHOWN = "shown"
    NOT_SHOWN = "not shown"
    FOLLOWED = "followed"
    UNKNOWN = "unknown"

    @property
    def verdict(self) -> Verdict:
        """Broken if the run was shown. Holds if real Kafka did otherwise, or all went as in a run
        that breaks nothing. Unknown if an action had no effect."""
        return _VERDICTS[self]


_VERDICTS = {
    ReplayOutcome.SHOWN: Verdict.BROKEN,
    ReplayOutcome.NOT_SHOWN: Verdict.HOLDS,
    ReplayOutcome.FOLLOWED: Verdict.HOLDS,
    ReplayOutcome.UNKNOWN: Verdict.UNKNOWN,
}


@dataclass
class ReplayedStep:
    """A step or a check that was replayed, and the evidence for it."""

    number: int
    label: str
    evidence: str


@dataclass
class ReplayedOnKafka:
    """The result of a replay. ``stopped``: the first step that Kafka did not follow, and why.

    ``acknowledged``: records that were acknowledged to a producer with acks=all.
    """

    story: str
    version: str
    answer: ReplayOutcome = ReplayOutcome.UNKNOWN
    done: list[ReplayedStep] = field(default_factory=list)
    stopped: ReplayedStep | None = None
    broken: list[str] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    logs: dict[str, list[str]] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def steps(self) -> int:
        """The number of steps and checks that were taken."""
        return len(self.done)


OnStep = Callable[[ReplayedStep], None]


@contextmanager
def lab_of_a_run(
    run: ModelRun,
    release: KafkaRelease,
    folder: Path,
    home: Path | None,
    settings: Mapping[str, str],
    heard: Heard = lambda what, message: None,
) -> Iterator[tuple[Lab, Proxies]]:
    """A new lab in ``folder``: ZooKeeper and the proxies run, no broker does; all end with it.

    Messages that pass the proxies go to ``heard``, and to ``messages.txt``, except idle ones.
    """
    began = time.monotonic()
    lab = Lab.create(folder, release, list(range(1, run.brokers + 1)), home, dict(settings))
    messages = (folder / "messages.txt").open("w", encoding="utf-8")

    def written(what: str, message: Message) -> None:
        heard(what, message)
        if message.api not in ("Ping", "Metadata"):
            messages.write(f"{time.monotonic() - began:9.3f} {what} {message.in_words()}\n")

    with messages, processes_ended_at_last(lab):
        lab.start_process(ZOOKEEPER)
        lab.await_zookeeper()
        proxies = Proxies(lab.proxied(), lab.state.zookeeper, written)
        try:
            yield lab, proxies
        finally:
            proxies.close()


class RunReplay(ABC):
    """The replay of one run. A subclass takes steps (`do`) and returns what is observed (`real`).

    ``observed``: fields observed of real processes. A claim reads all others from the model.
    """

    observed: tuple[str, ...] = ()

    def __init__(self, run: ModelRun, version: str) -> None:
        self.run, self.version = run, version

    @abstractmethod
    def do(self, step: ReplayStep) -> str:
        """Takes a step; returns the evidence. KafkaDiffers, StepNotForced."""

    @abstractmethod
    def compare(self, step: ReplayStep) -> None:
        """Raises KafkaDiffers unless what is observed becomes the model's state after the step."""

    @abstractmethod
    def real(self, view: ModelStateView, claim: str) -> SparseState:
        """The model's state, in which observed fields replace the model's."""

    def note(self, step: ReplayStep) -> None:  # noqa: B027 - most have nothing to note
        """Records that a step was taken."""

    @abstractmethod
    def finish(self, report: ReplayedOnKafka) -> None:
        """Reports the final state of the real processes."""

    def report(self, on_step: OnStep) -> ReplayedOnKafka:
        report = ReplayedOnKafka(self.run.story.source, self.version)
        breaks = shown = False
        for at, step in enumerate(self.run.steps):
            try:
                if step.command.is_step:
                    evidence = self.do(step)
                    following = self.run.steps[at + 1 : at + 2]
                    if not any(one.at_once for one in following):
                        self.compare(step)
                else:
                    broken, seen = self._check(step)
                    breaks, shown = breaks or broken, shown or (broken and seen)
                    if seen:
                        report.broken.append(step.name)
                    evidence = f"{WORDS[seen]} on real Kafka, {WORDS[broken]} in the model"
                    taken = sorted(self.run.reads(step.name) - set(self.observed))
                    if taken:
                        evidence += f" (of the model: {', '.join(taken)})"
            except (KafkaDiffers, StepNotForced) as error:
                report.stopped = ReplayedStep(step.number, _label(step), str(error))
                otherwise = isinstance(error, KafkaDiffers)
                report.answer = ReplayOutcome.NOT_SHOWN if otherwise else ReplayOutcome.UNKNOWN
                break
            self.note(step)
            done = ReplayedStep(step.number, _label(step), evidence)
            report.done.append(done)
            on_step(done)
        else:
            report.answer = ReplayOutcome.NOT_SHOWN if breaks else ReplayOutcome.FOLLOWED
        if shown:
            report.answer = ReplayOutcome.SHOWN
        self.finish(report)
        return report

    def _check(self, step: ReplayStep) -> tuple[bool, bool]:
        """Is a claim broken in the model, and of what real brokers have?"""
        broken = self.run.is_broken(step.name, step.after.state)
        return broken, self.run.is_broken(step.name, self.real(step.after, step.name))


def _label(step: ReplayStep) -> str:
    if not step.command.is_step:
        return f"check {step.name}"
    return step.command.label + (" at once" if step.at_once else "")

"""Grades an answer: by playing its story, exploring its changed system, or proving with it."""

from __future__ import annotations

import contextlib
import importlib
import resource
import runpy
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from model.language import ProtocolError
from model.language.evaluate import Evaluator, SparseState
from model.systems import system
from specs.explorer import explore as explored
from specs.explorer import with_companions
from specs.grading.answer import ExerciseAnswer, read_answer
from specs.grading.exercise import Exercise, ExerciseError
from specs.induction_counterexamples import counterexample_to_induction
from specs.invariants import Invariant, Proof
from specs.proofs.single_controller import PROOF as SINGLE_CONTROLLER
from specs.prover import prove
from specs.runs import Run
from specs.story import Story, parse, play
from specs.story.heading import StoryHeading, heading_line, read_heading
from specs.verdict import Verdict

Report = Callable[[str], None]

RULE = "----"

PROOFS = {one.claim: one for one in (SINGLE_CONTROLLER,)}
"""The proofs that are small enough to be an exercise."""


@dataclass
class Grade:
    """The grade of an answer: holds is right, broken is wrong; `lines` say why.

    `run` is the run that still breaks the claim, if there is one.
    """

    answer: ExerciseAnswer
    verdict: Verdict
    lines: list[str] = field(default_factory=list)
    run: Run | None = None

    @property
    def word(self) -> str:
        """The verdict in a teacher's words."""
        return {
            Verdict.HOLDS: "right",
            Verdict.BROKEN: "not right",
            Verdict.UNKNOWN: "cannot tell",
            Verdict.NOT_CHECKED: "nothing to judge",
        }[self.verdict]


def grade(path: Path, report: Report = lambda line: None) -> Grade:
    """Grades an answer's file.

    Raises ExerciseError or StoryError for a file that cannot be read, OSError for a missing file.
    """
    answer = read_answer(path)
    if answer.is_empty:
        return Grade(answer, Verdict.NOT_CHECKED, ["the file has no answer below its first line"])
    judge = {"reach": _played, "break": _played, "repair": _repaired, "prove": _proved}
    return judge[answer.exercise.task](answer, report)


# -- a run ----------------------------------------------------------------------------------


def _played(answer: ExerciseAnswer, report: Report) -> Grade:
    asked = answer.exercise
    # A story ends its lines with a rule; who answers an exercise has nothing to record there.
    ruled = any(line.strip() == RULE for line in answer.text.splitlines())
    text = answer.text if ruled else f"{answer.text.rstrip()}\n{RULE}\n"
    story = parse(text, str(answer.path))
    if story.heading is None or not any(one.is_step for one in story.commands):
        return Grade(answer, Verdict.NOT_CHECKED, ["it takes no step"])
    if heading_line(story.heading.recorded, story.heading.given) != heading_line(
        asked.heading.recorded, asked.heading.given
    ):
        wanted = f"it plays another system; the exercise is about: {asked.opening}"
        return Grade(answer, Verdict.BROKEN, [wanted])
    outcome = play(story)
    if outcome.failed is not None:
        line, why = outcome.failed
        return Grade(answer, Verdict.BROKEN, [f"{answer.path}:{line}: {why}"])
    states = _states(story, story.heading)
    met = _steps_until_shown(asked, story.heading, states)
    if met is None:
        return Grade(answer, Verdict.BROKEN, [_not_there(asked)])
    if asked.most is not None and met > asked.most:
        long = f"it gets there after {met} steps; {asked.most} are enough"
        return Grade(answer, Verdict.BROKEN, [long])
    sentence = story.heading.recorded.claim(asked.claim)[0].sentence
    end = "so it is" if asked.task == "reach" else "broken"
    return Grade(answer, Verdict.HOLDS, [f"after {met} steps, {end}: {sentence}"])


def _states(story: Story, heading: StoryHeading) -> list[SparseState]:
    twin = Evaluator(heading.recorded, heading.step_bounds)
    steps = {one.transition.name: one for one in heading.recorded.steps}
    states = [twin.initial()]
    for command in story.commands:
        if command.is_step:
            states.append(twin.successor(steps[command.what], states[-1], command.arguments))
    return states


def _steps_until_shown(
    asked: Exercise, heading: StoryHeading, states: list[SparseState]
) -> int | None:
    """The number of steps after which the run shows what is asked for."""
    claim = heading.recorded.claim(asked.claim)[0]
    judge = Evaluator(heading.recorded, heading.claim_bounds(len(states)))
    for number, state in enumerate(states):
        if claim.is_about_steps:
            if number and not judge.holds_of_step(asked.claim, states[number - 1], state):
                return number
        elif judge.holds(asked.claim, state) is (asked.task == "reach"):
            return number
    return None


def _not_there(asked: Exercise) -> str:
    sentence = asked.heading.recorded.claim(asked.claim)[0].sentence
    if asked.task == "reach":
        return f"every step is possible, but nowhere on the way is it so that {sentence}"
    return f"every step is possible, and to its end the claim holds: {sentence}"


# -- a design -------------------------------------------------------------------------------


def _repaired(answer: ExerciseAnswer, report: Report) -> Grade:
    asked = answer.exercise
    heading = _only_heading(answer)
    recorded, before = heading.recorded, asked.heading.recorded
    if recorded.system.name != before.system.name or heading.given != asked.heading.given:
        wanted = f"change switches only; the exercise is about: {asked.opening}"
        return Grade(answer, Verdict.BROKEN, [wanted])
    own, given = recorded.switches, before.switches
    changed = sorted(name for name in own if own[name] != given[name])
    if asked.most is not None and len(changed) > asked.most:
        many = f"it changes {len(changed)} switches ({', '.join(changed)}); {asked.most} is enough"
        return Grade(answer, Verdict.BROKEN, [many])
    bounds = recorded.system.limits(heading.given)
    claims = with_companions(recorded, [asked.claim])
    found = explored(recorded, bounds, claims, report=report)
    result = found.claims[asked.claim]
    if result.verdict is Verdict.BROKEN:
        run = found.run(asked.claim)
        still = f"still broken: {result.sentence}"
        steps = run.as_text().splitlines() if run else []
        return Grade(answer, Verdict.BROKEN, [still, *steps], run)
    if result.verdict is not Verdict.HOLDS:
        return Grade(answer, Verdict.UNKNOWN, [result.why or "the search was cut short"])
    lame = [name for name in claims if found.claims[name].verdict is not Verdict.HOLDS]
    if lame:
        why = f"it holds only because nothing happens: {', '.join(lame)} is never so"
        return Grade(answer, Verdict.BROKEN, [why])
    changes = ", ".join(changed) or "nothing"
    return Grade(
        answer, Verdict.HOLDS, [f"{changes} changed; {found.distinct:,} states, and none breaks it"]
    )


def _only_heading(answer: ExerciseAnswer) -> StoryHeading:
    lines = [
        (number, text.split("#", 1)[0].strip())
        for number, text in enumerate(answer.text.splitlines(), 1)
    ]
    kept = [(number, text) for number, text in lines if text]
    if len(kept) != 1:
        raise ExerciseError(
            f"{answer.path}:{kept[1][0]}: one line is the answer; write it such as: "
            f"{answer.exercise.opening}"
        )
    try:
        return read_heading(kept[0][1])
    except ProtocolError as error:
        raise ExerciseError(f"{answer.path}:{kept[0][0]}: {error}") from error


# -- a proof --------------------------------------------------------------------------------


def _proved(answer: ExerciseAnswer, report: Report) -> Grade:
    asked = answer.exercise
    whole = PROOFS[asked.claim]
    kept = tuple(one for one in whole.invariants if one.name not in asked.missing)
    own = _invariants(answer)
    clash = sorted({one.name for one in own} & {one.name for one in kept})
    if clash:
        taken = f"the proof has an invariant {clash[0]} already; give yours another name"
        return Grade(answer, Verdict.BROKEN, [taken])
    if not own:
        return Grade(answer, Verdict.NOT_CHECKED, ["it declares no @invariant"])
    proof = _with_invariants(whole, (*kept, *own))
    recorded = system(whole.system).recorded()
    try:
        with _blamed_on(answer):
            result = prove(proof, recorded, each=lambda one: report(f"{one.step}: {one.invariant}"))
    except ExerciseError:
        raise
    except ProtocolError as error:
        return Grade(answer, Verdict.BROKEN, [str(error)])
    if result.verdict is Verdict.HOLDS:
        count = f"{len(result.obligations)} obligations, all proved, for any number of brokers"
        return Grade(answer, Verdict.HOLDS, [count])
    lines = [f"not shown: {one.step} keeps {one.invariant}" for one in result.open[:3]]
    shown = counterexample_to_induction(proof, recorded, result.open)
    if shown is None:
        return Grade(answer, Verdict.UNKNOWN, [*lines, "and no small state refutes it"])
    return Grade(answer, Verdict.BROKEN, [*lines, *shown.lines])


def _with_invariants(whole: Proof, invariants: tuple[Invariant, ...]) -> Proof:
    """The claim by other invariants; what hints at the old ones goes with them."""
    return replace(
        whole, invariants=invariants, hints={}, groups={}, lemmas=(), step_claims={}, entails={}
    )


def _invariants(answer: ExerciseAnswer) -> tuple[Invariant, ...]:
    """What the file declares; it is run, as any program of who answers."""
    with _blamed_on(answer), _memory_limited():
        found: dict[str, Any] = runpy.run_path(str(answer.path))
    return tuple(one for one in found.values() if isinstance(one, Invariant))


@contextlib.contextmanager
def _blamed_on(answer: ExerciseAnswer) -> Iterator[None]:
    """What an answer's own lines raise, while it is read or asked, is reported with the line."""
    try:
        yield
    except ProtocolError:
        raise
    except (Exception, SystemExit) as error:
        frames = [one for one in traceback.extract_tb(error.__traceback__)
                  if one.filename == str(answer.path)]  # fmt: skip
        own = isinstance(error, SyntaxError) and error.filename == str(answer.path)
        if not frames and not own:
            raise
        line = error.lineno if isinstance(error, SyntaxError) and own else frames[-1].lineno
        said = error.msg if isinstance(error, SyntaxError) else str(error) or "no reason given"
        raise ExerciseError(
            f"{answer.path}:{line}: {type(error).__name__}: {said}; {_hint_for(answer, error)}"
        ) from error


def _hint_for(answer: ExerciseAnswer, error: BaseException) -> str:
    """What to write instead."""
    if isinstance(error, NameError) and error.name is not None:
        homes = ["model.language", "specs.invariants"]
        homes.append(f"model.{PROOFS[answer.exercise.claim].system}.state")
        for home in homes:
            if hasattr(importlib.import_module(home), error.name):
                return f"add the line: from {home} import {error.name}"
    if isinstance(error, SystemExit):
        return "an answer only declares: leave out what ends the program"
    return "an answer is Python that declares an @invariant"


MEMORY = 2 << 30
"""Bytes that an answer's own lines may take; none needs a hundredth of it."""


@contextlib.contextmanager
def _memory_limited() -> Iterator[None]:
    """While an answer is run, it gets no more than `MEMORY` on top of what is in use."""
    if not Path("/proc/self/statm").exists():
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))

"""Runs cases against the model, the implementation, or both, and reports the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from conformance.vectors.cases import Case
from conformance.vectors.compare import ByRule, agrees
from conformance.vectors.not_applicable import (
    EXCEPTIONS,
    NOT_APPLICABLE,
    NOT_COMPARED,
    NOTHING_SAID,
    Except,
)
from conformance.vectors.questions import NotInModel
from conformance.vectors.shapes import completed
from impl.releases import Release
from specs.verdict import Verdict

Answers = Mapping[tuple[str, str], Callable[[Mapping[str, Any]], Any]]
SIDES = ("model", "impl")


class Outcome(Enum):
    """The outcome of a case on one side."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"
    UNANSWERED = "unanswered"

    @property
    def checked(self) -> bool:
        """Whether it was answered, correctly or not."""
        return self in (Outcome.PASSED, Outcome.FAILED)


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """One case on one side; ``got`` is the answer, or the defect if there was no answer."""

    case: Case
    outcome: Outcome
    got: Any = None


@dataclass(slots=True)
class FileResult:
    """The results of one file on one side."""

    file: str
    on: str
    judged: list[JudgedCase] = field(default_factory=list)

    def count(self, outcome: Outcome) -> int:
        """How many cases had this outcome."""
        return sum(one.outcome is outcome for one in self.judged)

    @property
    def by_rule(self) -> int:
        """How many answers of the model's side come from a plain rule, not from a transition."""
        return sum(isinstance(one.got, ByRule) for one in self.judged)

    @property
    def verdict(self) -> Verdict:
        """Broken by one failure; unknown with a case unanswered; not checked if nothing was."""
        if self.count(Outcome.FAILED):
            return Verdict.BROKEN
        if self.count(Outcome.UNANSWERED):
            return Verdict.UNKNOWN
        return Verdict.HOLDS if self.count(Outcome.PASSED) else Verdict.NOT_CHECKED


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A case for which model and implementation had different outcomes."""

    case: Case
    model: JudgedCase
    impl: JudgedCase


def answers_of(side: str) -> Answers:
    """The answer functions of a side."""
    if side == "model":
        from conformance.vectors import model

        return model.ANSWERS
    from conformance.vectors import implementation

    return implementation.ANSWERS


def judge(file: str, cases: Sequence[Case], side: str, answers: Answers) -> FileResult:
    """Runs a file's cases on a side."""
    declared = NOT_APPLICABLE[side]
    silent, apart = NOT_COMPARED[side], EXCEPTIONS[side]
    return FileResult(
        file, side, [_judged(case, answers, declared, apart, silent) for case in cases]
    )


def not_answered(
    apart: Sequence[Except], key: tuple[str, str], release: str, given: Mapping[str, Any]
) -> str | None:
    """Why a side does not answer an input of an operation that it answers; None if it does."""
    asked = completed(*key, given, release)
    for one in apart:
        earlier = not one.before or not Release.of(release).since(one.before)
        if (one.file, one.operation) == key and earlier and one.when(asked):
            return one.why
    return None


def _judged(
    case: Case,
    answers: Answers,
    declared: Mapping[tuple[str, str], str],
    apart: Sequence[Except],
    silent: frozenset[str],
) -> JudgedCase:
    key = (case.file, case.operation)
    if key not in answers:
        why = declared.get(key)
        return JudgedCase(case, Outcome.UNANSWERED if why is None else Outcome.NOT_APPLICABLE, why)
    try:
        why = not_answered(apart, key, case.release, case.input)
        if why is not None:
            return JudgedCase(case, Outcome.NOT_APPLICABLE, why)
        expected = _compared(case.expected, silent)
        if not expected:  # a case that expects nothing checks nothing
            outcome = Outcome.NOT_APPLICABLE if case.expected else Outcome.FAILED
            return JudgedCase(
                case, outcome, NOTHING_SAID if case.expected else "nothing is expected"
            )
        got = answers[key](case.question)
        passed = agrees(expected, got, case)
    except NotInModel as reason:
        return JudgedCase(case, Outcome.NOT_APPLICABLE, str(reason))
    except Exception as defect:
        # A case that makes an answer stumble has failed; the run goes on to the other cases.
        return JudgedCase(case, Outcome.FAILED, f"{type(defect).__name__}: {defect}")
    return JudgedCase(case, Outcome.PASSED if passed else Outcome.FAILED, got)


def _compared(expected: Any, silent: frozenset[str]) -> Any:
    """An expectation without the fields that a side says nothing about."""
    if isinstance(expected, dict):
        kept = {name: one for name, one in expected.items() if name not in silent}
        return {name: _compared(one, silent) for name, one in kept.items()}
    return [_compared(one, silent) for one in expected] if isinstance(expected, list) else expected


def disagreements(model: FileResult, impl: FileResult) -> list[Disagreement]:
    """The cases that both sides checked, and that only one of them answered correctly."""
    return [
        Disagreement(one.case, one, other)
        for one, other in zip(model.judged, impl.judged, strict=True)
        if one.outcome.checked and other.outcome.checked and one.outcome is not other.outcome
    ]


def overall(rows: Sequence[FileResult]) -> Verdict:
    """The verdict of a run: if nothing was checked, it is not green."""
    verdicts = [row.verdict for row in rows]
    for verdict in (Verdict.BROKEN, Verdict.UNKNOWN):
        if verdict in verdicts:
            return verdict
    return Verdict.HOLDS if Verdict.HOLDS in verdicts else Verdict.NOT_CHECKED


def plain(value: Any) -> Any:
    """A value as JSON can express it."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(plain(one) for one in value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)

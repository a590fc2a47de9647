"""Answers as files: a story, one line that opens one, or Python; each names its exercise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from model.language import ProtocolError
from specs.grading.exercise import Exercise, ExerciseError, exercise

_NAMED = re.compile(r"^#\s*exercise\s+(\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class ExerciseAnswer:
    """A file as read, and the exercise that it answers."""

    path: Path
    text: str
    exercise: Exercise

    @property
    def is_empty(self) -> bool:
        """Does the file have nothing but comments?"""
        return not any(
            line.strip() and not line.lstrip().startswith("#") for line in self.text.splitlines()
        )


def read_answer(path: Path) -> ExerciseAnswer:
    """Reads an answer. Raises ExerciseError for a file that names no exercise, and OSError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ExerciseError(f"{path}:1: is not text; an answer is a text file in UTF-8") from error
    named = _NAMED.findall(text)
    if len(named) != 1:
        said = "names no exercise" if not named else f"names {len(named)} exercises"
        raise ExerciseError(
            f"{path}:1: {said}; write one line such as: # exercise two-leaders "
            "(insync grade lists them)"
        )
    try:
        return ExerciseAnswer(path, text, exercise(named[0]))
    except ProtocolError as error:
        line = text[: _NAMED.search(text).start()].count("\n") + 1  # type: ignore[union-attr]
        raise ExerciseError(f"{path}:{line}: {error}") from error

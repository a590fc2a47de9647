"""What solvers answered in each round of a search, in a file: so that it can go on from there.

A search is a function of these answers: one that goes on does again all that it did, but for the
asking. Each round has a solver of its own, so that an answer hangs on no round before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model.language import ProtocolError

Answer = Any
"""Lists, numbers and texts: what a file of JSON can have."""


class Answers:
    """By round: what was answered, in the order in which it was asked."""

    def __init__(self, path: Path | None, question: str) -> None:
        """Raises ProtocolError where the file is none of the same question."""
        self._path, self._question = path, question
        self._rounds: list[list[Answer]] = []
        self._left: list[Answer] | None = None
        """Of a round that was played before: what is still to be answered."""
        self._number = 0
        if path is not None and path.exists():
            self._rounds = _read(path, question)

    def begin(self) -> None:
        """The next round. What was answered in the one before is kept now, whole or not at all."""
        if self._number and self._left is None:
            self._write()
        self._number += 1
        if self._number <= len(self._rounds):
            self._left = list(self._rounds[self._number - 1])
        else:
            self._left = None
            self._rounds.append([])

    def of(self, ask: Callable[..., Answer], *about: Any) -> Answer:
        """The answer to what is asked next."""
        if self._left is not None:
            return self._left.pop(0)
        said = ask(*about)
        self._rounds[-1].append(said)
        return said

    def _write(self) -> None:
        if self._path is not None:
            part = self._path.with_name(self._path.name + ".part")
            said = {"question": self._question, "rounds": self._rounds}
            part.write_text(json.dumps(said), encoding="utf-8")
            part.replace(self._path)


def _read(path: Path, question: str) -> list[list[Answer]]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        is_of_it, rounds = said["question"] == question, said["rounds"]
        if not all(isinstance(one, list) for one in rounds):
            raise TypeError
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ProtocolError(
            f"{path} is no file that a search for invariants left; remove it, or name another "
            "with --resume"
        ) from error
    if not is_of_it:
        raise ProtocolError(
            f"{path} is of another claim, version or effort: name another with --resume"
        )
    return list(rounds)

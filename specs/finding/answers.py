"""Keeps the solvers' answers in each round of a search in a file, so that it can be resumed.

A search is a function of these answers: a resumed search repeats all of its steps except the
questions. Each round has its own solver, so that no answer depends on earlier rounds.
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
    """The answers of each round, in the order of the questions."""

    def __init__(self, path: Path | None, question: str) -> None:
        """Raises ProtocolError if the file belongs to another question."""
        self._path, self._question = path, question
        self._rounds: list[list[Answer]] = []
        self._left: list[Answer] | None = None
        """The answers of a recorded round that are not used yet; None in a new round."""
        self._number = 0
        if path is not None and path.exists():
            self._rounds = _read(path, question)

    def begin(self) -> None:
        """Begins the next round and writes the answers of the previous round atomically."""
        if self._number and self._left is None:
            self._write()
        self._number += 1
        if self._number <= len(self._rounds):
            self._left = list(self._rounds[self._number - 1])
        else:
            self._left = None
            self._rounds.append([])

    def of(self, ask: Callable[..., Answer], *about: Any) -> Answer:
        """The answer to the next question: from the file, or by `ask`."""
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

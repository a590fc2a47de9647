"""A file of finished trials, so that an interrupted run continues where it stopped.

One JSON object a line: a head that identifies the code by a digest of the implementation's text,
then the trials in order. Trials of another text say nothing about this one.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
from pathlib import Path
from typing import Any

from conformance.mutants.mutate import MODULES
from conformance.mutants.trial import MutantTrial
from specs.rendering import as_data

FORMAT = "insync.mutants/1"


class NoSuchTrials(ValueError):
    """The file holds no trials of this implementation; the message names the line."""


def digest() -> str:
    """The digest of the text that is mutated."""
    texts = [inspect.getsource(importlib.import_module(module)) for module in MODULES]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


class KeptTrials:
    """Trials by key; each one that is added is written to the file at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trials: dict[str, MutantTrial] = {}
        if path.exists():
            self._read()
        else:
            head = {"format": FORMAT, "implementation": digest()}
            path.write_text(json.dumps(head) + "\n", encoding="utf-8")

    def _read(self) -> None:
        text = self.path.read_text(encoding="utf-8")
        whole, _, cut = text.rpartition("\n")
        lines = whole.splitlines()
        head = self._object(1, lines[0] if lines else cut)
        if head.get("format") != FORMAT:
            raise NoSuchTrials(
                f"{self.path}:1: is no {FORMAT}; name a file that does not exist yet"
            )
        if head.get("implementation") != digest():
            raise NoSuchTrials(
                f"{self.path}:1: its trials are of another text of the implementation; "
                "name a file that does not exist yet"
            )
        for number, line in enumerate(lines[1:], 2):
            fields = self._object(number, line)
            try:
                trial = MutantTrial(
                    fields["key"], fields["mutant"], fields["by"], fields["why"], fields["seconds"]
                )
            except KeyError as missing:
                raise NoSuchTrials(f"{self.path}:{number}: has no {missing}") from None
            self.trials[trial.key] = trial
        if cut:  # the run was interrupted in the middle of a line: that trial is made again
            self.path.write_text(whole + "\n", encoding="utf-8")

    def _object(self, number: int, line: str) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            found = None
        if not isinstance(found, dict):
            raise NoSuchTrials(f"{self.path}:{number}: is no JSON object")
        return found

    def add(self, trial: MutantTrial) -> None:
        """Adds a trial that was just made."""
        self.trials[trial.key] = trial
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(as_data(trial), ensure_ascii=False) + "\n")

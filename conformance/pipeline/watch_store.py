"""The folder of a watch: Spark's checkpoint, the result of each trigger, and the state."""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.ingest.files import LogSources
from conformance.ingest.growing import closed, discover_now, logs_by_name
from conformance.pipeline.corpus import JudgedCorpus, corpus_without_logs
from conformance.pipeline.report import check_result
from conformance.pipeline.rules import Finding
from conformance.pipeline.store import NotOursError
from conformance.pipeline.streaming_state import ReportedFinding, StreamingState

FORMAT = "insync.watch/4"
_INDEX, _REPORTED, _STATE, _LOCK = "watch.json", "told", "standing.json", "in-use"
_GONE = re.compile(r"@[0-9a-f]{8}(?:\+\d+)?(?=:\d|$)")  # what `growing.logs_by_name` has added

ReportFinding = Callable[[ReportedFinding], None]


class WatchStore:
    """The folder of a watch: Spark's checkpoint, each trigger's report, and the current state."""

    def __init__(self, folder: str, logs: str) -> None:
        """Opens or begins a watch of the folder `logs`. Raises NotOursError."""
        self.folder = Path(folder).resolve()
        self._given, self._logs = logs, os.path.abspath(logs)
        index = self.folder / _INDEX
        said = {"format": FORMAT, "logs": self._logs}
        if index.exists():
            known = json.loads(index.read_text(encoding="utf-8"))
            if known.get("format") != FORMAT:
                raise NotOursError(f"{index} has another format; this insync continues {FORMAT}")
            if known.get("logs") != self._logs:
                raise NotOursError(f"{folder} is of a watch of {known.get('logs')}; name another")
        elif self.folder.exists() and any(self.folder.iterdir()):
            raise NotOursError(f"{folder} is not empty and no checkpoint of a watch; name another")
        (self.folder / _REPORTED).mkdir(parents=True, exist_ok=True)
        self._take()
        _write(index, said)

    @property
    def checkpoint(self) -> str:
        """The folder in which Spark keeps offsets and state."""
        return str(self.folder / "spark")

    def states(self) -> list[StreamingState]:
        """The state of each cluster after the last trigger, without its events."""
        try:
            known = json.loads((self.folder / _STATE).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return []
        return [StreamingState.of_book(book) for _, book in sorted(known.items())]

    def every_word(self) -> list[ReportedFinding]:
        """Everything that was reported so far, in order."""
        return [each for path in self._files() for each in _read(path)]

    def keep(
        self, number: int, said: list[ReportedFinding], books: dict[str, str], tell: ReportFinding
    ) -> None:
        """Keeps a trigger's report, and reports it; does nothing if it was reported before."""
        file = self.folder / _REPORTED / f"{number:09d}.json"
        mark = file.with_suffix(".told")
        if said and not file.exists():
            _write(file, [each.as_row() for each in said])
        if books:
            path = self.folder / _STATE
            known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            _write(path, known | books)
        if file.exists() and not mark.exists():
            for each in _read(file):
                tell(self.shown(each))
            mark.touch()

    def _files(self) -> list[Path]:
        return sorted((self.folder / _REPORTED).glob("*.json"))

    def shown(self, said: ReportedFinding) -> ReportedFinding:
        """Replaces the names that files keep by the names that they have now."""
        return ReportedFinding(said.what, _renamed(said.finding, self._paths_by_log_name()))

    def close(self) -> None:
        """Releases the checkpoint, so that another watch can continue with it."""
        os.close(self._lock)

    def result(self) -> dict[str, Any]:
        """The result of `insync check` for everything that was read so far."""
        names, states = self._paths_by_log_name(), self.states()
        corpora, judged = [], JudgedCorpus()
        for state in states:
            corpus = state.corpus()
            corpus.files = [row | {"file": _now(row["file"], names)} for row in corpus.files]
            figures = corpus.figures
            figures.unknown = [
                replace(each, file=_now(each.file, names)) for each in figures.unknown
            ]
            corpora.append(corpus)
            found = state.judged()
            found.findings = [_renamed(finding, names) for finding in found.findings]
            judged.add(found)
        # Read is what was read; what cannot be opened is found by looking.
        nothing = corpus_without_logs(LogSources())
        nothing.closed = tuple(closed(self._logs))
        return check_result([*corpora, nothing], judged, unread_too=False)

    def _paths_by_log_name(self) -> dict[str, str]:
        found = logs_by_name(discover_now(self._logs))
        return {
            name: os.path.join(self._given, os.path.relpath(log.path, self._logs))
            for name, log in found.items()
        }

    def _take(self) -> None:
        """Locks the checkpoint: two watches that continue the same one would break it."""
        self._lock = os.open(self.folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise NotOursError(f"{self.folder} is in use by another watch; end it first") from error


def _now(text: str, names: Mapping[str, str]) -> str:
    if "@" not in text:
        return text
    for name, path in names.items():
        text = text.replace(name, path)
    return _GONE.sub("", text)


def _renamed(finding: Finding, names: Mapping[str, str]) -> Finding:
    return replace(
        finding,
        file=_now(finding.file, names),
        why=_now(finding.why, names),
        positions=tuple(_now(place, names) for place in finding.positions),
    )


def said_from_row(row: dict[str, Any]) -> ReportedFinding:
    """Restores the result of `ReportedFinding.as_row`."""
    finding = {name: value for name, value in row.items() if name != "what"}
    return ReportedFinding(row["what"], Finding(**finding | {"positions": tuple(row["positions"])}))


def _read(path: Path) -> list[ReportedFinding]:
    return [said_from_row(row) for row in json.loads(path.read_text(encoding="utf-8"))]


def _write(path: Path, content: object) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(content) + "\n", encoding="utf-8")
    part.replace(path)

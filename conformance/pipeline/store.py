"""The output folder of an ingestion: written completely or not at all, and marked as ours."""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from conformance.ingest.files import Skipped
from conformance.ingest.reader import PACKED
from conformance.pipeline.corpus import Corpus, Figures, UnknownShape

SMALL = 256 << 20  # bytes of text that one process reads and judges sooner than Spark does
FORMAT = "insync.ingest/2"
SUMMARY = "summary.json"
_INDEX = "index.json"
_PACKED = 12  # how many times a log is larger when it is unpacked
_LINE = 200  # bytes of a line, about
_LEFT = re.compile(r"\.(?P<pid>\d{1,9})\.(?P<what>part|old)")


class NotOursError(Exception):
    """The folder holds something else; the message says what to do."""


def is_ours(folder: str) -> bool:
    """Whether a folder was written by `insync ingest`. Raises NotOursError for another version."""
    try:
        found = json.loads(Path(folder, SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(found, dict):
        return False
    format_name = str(found.get("format", ""))
    if format_name.startswith("insync.ingest/") and format_name != FORMAT:
        raise NotOursError(
            f"{folder} has the format {format_name}; this insync reads {FORMAT}: ingest again"
        )
    return format_name == FORMAT


def refuse(out: str, logs: list[str], force: bool) -> None:
    """Raises NotOursError when `out` must not be replaced."""
    target = Path(out).resolve()
    for log in logs:
        if target in Path(log).resolve().parents:
            raise NotOursError(f"--out {out} holds the logs themselves; name another folder")
    if not target.parent.is_dir():
        raise NotOursError(f"--out {out}: there is no folder {target.parent}; create it first")
    if target.exists() and not target.is_dir():
        raise NotOursError(f"--out {out} is a file; name a folder")
    if force or not target.exists() or not any(target.iterdir()) or is_ours(out):
        return
    raise NotOursError(
        f"--out {out} is not empty and not an output of insync; name another, or add --force"
    )


def write(
    out: str, corpus: Corpus, summary: dict[str, Any], save: Callable[[Corpus, str], None]
) -> None:
    """Writes everything beside `out` under a temporary name, then moves it to `out`."""
    target = Path(out).resolve()
    _sweep(target)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    part.mkdir()
    try:
        save(corpus, str(part))
        said = {
            "kinds": dict(sorted(corpus.figures.kinds.items())),
            "distinct": corpus.figures.distinct,
            "unknown": [asdict(each) for each in corpus.figures.unknown],
        }
        left = {
            "skipped": [asdict(each) for each in corpus.skipped],
            "closed": [asdict(each) for each in corpus.closed],
        }
        index = {"logs": corpus.logs, "files": corpus.files, "figures": said} | left
        _write(part / _INDEX, index)
        _write(part / SUMMARY, {"format": FORMAT} | summary)
        old = target.with_name(f".{target.name}.{os.getpid()}.old")
        if target.exists():
            target.rename(old)
        part.rename(target)
    finally:
        _sweep(target, os.getpid())


def _sweep(target: Path, ours: int | None = None) -> None:
    """Removes what ended writers of `target` (or this one, `ours`) have left beside it.

    A folder that was moved aside is moved back if nothing has taken its place.
    """
    for left in sorted(target.parent.glob(f".{glob.escape(target.name)}.*")):
        found = _LEFT.fullmatch(left.name.removeprefix(f".{target.name}"))
        if found is None or (int(found["pid"]) != ours and runs(int(found["pid"]))):
            continue
        if found["what"] == "old" and not target.exists():
            left.rename(target)
        else:
            shutil.rmtree(left, ignore_errors=True)


def runs(pid: int) -> bool:
    """Whether another process with this id runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return pid != os.getpid()


def kept(folder: str) -> Corpus:
    """The index of an output folder, without its tables."""
    index = json.loads(Path(folder, _INDEX).read_text(encoding="utf-8"))
    said = index["figures"]
    figures = Figures(
        Counter(said["kinds"]), said["distinct"], [UnknownShape(**each) for each in said["unknown"]]
    )
    skipped, closed = (
        tuple(Skipped(**each) for each in index[name]) for name in ("skipped", "closed")
    )
    return Corpus(index["logs"], index["files"], None, None, figures, skipped, closed)


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def size_of(path: str) -> int:
    """The size of a file in bytes; 0 if it cannot be read."""
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def text_bytes(path: str) -> int:
    """The approximate bytes of text in a log, uncompressed."""
    return size_of(path) * (_PACKED if PACKED.search(path) else 1)


def text_ingested(folder: str) -> int:
    """The approximate bytes of text in the logs that were ingested into `folder`."""
    return _LINE * sum(int(row["read"]) for row in kept(folder).files)

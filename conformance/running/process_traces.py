"""Reads traces of a cluster's processes, compares them, and names missing parts.

A file is one start of one process (`impl.server.trace`). A truncated last line comes from a process
that was killed, and is left out. After any other fault the rest of the file is not trusted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from impl.world.trace import FORMAT

ZOOKEEPER = "zookeeper"
Process = tuple[str, int]
"""Which process: ("broker", id), or ("zookeeper", 0)."""

IDS = "/brokers/ids/"
STARTED = "process_started"
_HEADER = {"run": str, "process": str, "start": int}


class TraceProblem(NamedTuple):
    """The reason why something cannot be judged: file and line, why, and what would help."""

    file: str
    line: int
    why: str
    wanted: str
    broker: int | None = None
    """The broker of which lines are missing, if that is it."""


class MissingField(KeyError):
    """A line lacks a field that its step has; the text is the field's name."""

    def __str__(self) -> str:
        return str(self.args[0])


class TraceFields(dict[str, Any]):
    """An object of a line; reading a field that it lacks raises MissingField."""

    def __missing__(self, name: str) -> Any:
        raise MissingField(name)


@dataclass(eq=False, slots=True)
class TraceLine:
    """One line of one file; the header counts as the line at which a process starts."""

    file: str
    number: int
    process: Process
    start: int
    step: str
    args: dict[str, Any]

    @property
    def broker(self) -> int:
        """The broker that wrote it, 0 for ZooKeeper."""
        return self.process[1]

    @property
    def partition(self) -> str | None:
        """The partition that it is about, if it names one."""
        found = self.args.get("partition")
        return found if isinstance(found, str) else None


@dataclass
class ProcessStart:
    """One start of a process: its file."""

    path: str
    process: Process
    number: int
    cluster: str
    version: str
    settings: dict[str, Any]
    lines: list[TraceLine]
    cut: int = 0
    """Lines left out since the file ends within one."""


@dataclass
class ClusterTraces:
    """All that was read of one cluster."""

    starts: list[ProcessStart] = field(default_factory=list)
    troubles: list[TraceProblem] = field(default_factory=list)
    read: int = 0

    @property
    def version(self) -> str:
        """The release that the brokers behave like."""
        return next((one.version for one in self.starts if one.process[0] == "broker"), "")

    @property
    def missing(self) -> set[int]:
        """Brokers of which lines are missing."""
        return {one.broker for one in self.troubles if one.broker is not None}


def is_process_trace(path: str | Path) -> bool:
    """Whether this is the trace of a running process; False for what cannot be read."""
    try:
        with Path(path).open(encoding="utf-8") as lines:
            text = lines.readline(65_536)
            header = json.loads(text) if text.startswith("{") else None
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and header.get("format") == FORMAT and "process" in header


def read_process_traces(paths: Iterable[str | Path]) -> ClusterTraces:
    """Reads files of one cluster; files that do not belong together are left out and named."""
    found = ClusterTraces()
    for path in sorted({str(one) for one in paths}, key=_by_number):
        start = _read(path, found)
        if start is not None:
            found.starts.append(start)
    found.starts = _without_strangers(found)
    found.starts = _without_twins(found)
    _look_for_the_missing(found)
    return found


def _by_number(path: str) -> tuple[str, int, str]:
    head, _, tail = Path(path).stem.rpartition("-")
    return (head, int(tail), path) if tail.isdecimal() else (path, 0, path)


def _read(path: str, found: ClusterTraces) -> ProcessStart | None:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        found.troubles.append(TraceProblem(path, 1, str(error.strerror), "a file that can be read"))
        return None
    whole, newline, rest = data.rpartition(b"\n")
    texts = (whole + newline).splitlines()
    start = _start(path, texts[0] if texts else b"", found)
    if start is None:
        return None
    start.cut = 1 if rest else 0
    for number, text in enumerate(texts[1:], 2):
        found.read += 1
        why = _take(start, number, text)
        if why == "end":
            break
        if why:
            who = start.process[1] or None
            found.troubles.append(
                TraceProblem(path, number, f"{why}; what follows is not believed",
                        "the file as it was written", who)
            )  # fmt: skip
            break
    return start


def _start(path: str, text: bytes, found: ClusterTraces) -> ProcessStart | None:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        found.troubles.append(
            TraceProblem(path, 1, "no header of a process's trace", f"a header of {FORMAT}")
        )
        return None
    for name, kind in _HEADER.items():
        if not isinstance(header.get(name), kind):
            found.troubles.append(
                TraceProblem(path, 1, f"the header's {name} is {header.get(name)!r}",
                        "the header as insync cluster start --trace writes it")
            )  # fmt: skip
            return None
    node = header.get("node")
    is_broker = header["process"] == "broker"
    if is_broker and not isinstance(node, int):
        found.troubles.append(TraceProblem(path, 1, f"node is {node!r}", "the broker's id"))
        return None
    process: Process = ("broker", int(node)) if is_broker else (ZOOKEEPER, 0)  # type: ignore[arg-type]
    start = ProcessStart(
        path, process, header["start"], str(header.get("cluster") or ""),
        str(header.get("version") or ""), header.get("settings") or {}, [],
    )  # fmt: skip
    unseen = [str(one) for one in header.get("not_seen") or ()]
    start.lines.append(
        TraceLine(path, 1, process, start.number, STARTED, TraceFields(not_seen=unseen))
    )
    start.settings.setdefault("run", header["run"])
    return start


def _take(start: ProcessStart, number: int, text: bytes) -> str:
    """Add a line; why it cannot be believed, "end" for the last one."""
    try:
        fields = json.loads(text, object_hook=TraceFields)
    except (ValueError, RecursionError):
        return "not JSON"
    if not isinstance(fields, dict) or fields.get("run") != start.settings["run"]:
        return "a line of another run"
    if fields.get("end") is True:
        seen = len(start.lines) - 1
        counted = fields.get("events")
        return "end" if counted == seen else f"the end counts {counted} lines, there are {seen}"
    expected = len(start.lines)
    if fields.get("seq") != expected:
        return f"seq is {fields.get('seq')!r} where {expected} is next: a line is missing"
    step, args = fields.get("step"), fields.get("args")
    if not isinstance(step, str) or not isinstance(args, dict):
        return "no step with its args"
    start.lines.append(TraceLine(start.path, number, start.process, start.number, step, args))
    return ""


def _without_strangers(found: ClusterTraces) -> list[ProcessStart]:
    """Files of one cluster: that of ZooKeeper's file, else the one that most brokers name."""
    ours = ""
    for start in found.starts:
        for line in start.lines:
            for op in line.args.get("ops", ()) if start.process[0] == ZOOKEEPER else ():
                if op.get("path") == "/cluster/id" and "data" in op:
                    ours = ours or _json(op["data"]).get("id", "")
    named = Counter(one.cluster for one in found.starts if one.cluster)
    if not ours and named:
        ours = named.most_common(1)[0][0]
    kept: list[ProcessStart] = []
    for start in found.starts:
        if start.cluster and start.cluster != ours:
            found.troubles.append(
                TraceProblem(start.path, 1,
                             f"it is of cluster {start.cluster}, the others of {ours}: "
                        "it is left out", "files of one cluster")
            )  # fmt: skip
        else:
            kept.append(start)
    versions = Counter(one.version for one in kept if one.version)
    for start in kept:
        if start.version and start.version != versions.most_common(1)[0][0]:
            found.troubles.append(
                TraceProblem(start.path, 1, f"it is of release {start.version}, the others of "
                        f"{versions.most_common(1)[0][0]}: the model is of one release",
                        "brokers of one release", start.process[1])
            )  # fmt: skip
    return kept


def _without_twins(found: ClusterTraces) -> list[ProcessStart]:
    """No two files are one start of one process."""
    seen: dict[tuple[Process, int], ProcessStart] = {}
    twins: set[tuple[Process, int]] = set()
    for start in found.starts:
        key = (start.process, start.number)
        if key in seen:
            twins.add(key)
            name = f"{start.process[0]} {start.process[1]}".removesuffix(" 0")
            found.troubles.append(
                TraceProblem(start.path, 1,
                             f"it says that it is start {start.number} of {name}, and so "
                        f"does {seen[key].path}: neither is believed", "one file a start",
                        start.process[1] or None)
            )  # fmt: skip
        seen.setdefault(key, start)
    return [one for one in found.starts if (one.process, one.number) not in twins]


def _look_for_the_missing(found: ClusterTraces) -> None:
    """Registrations in ZooKeeper that no broker's file names, and gaps between starts."""
    stores = [one for one in found.starts if one.process[0] == ZOOKEEPER]
    folder = str(Path(found.starts[0].path).parent) if found.starts else ""
    if not stores:
        found.troubles.append(
            TraceProblem(folder, 1, "there is no trace of ZooKeeper: in which order states were "
                    "written is not known", "zookeeper-1.ndjson of the same cluster")
        )  # fmt: skip
        return
    reported = {
        (one.process[1], line.args.get("epoch"))
        for one in found.starts
        for line in one.lines
        if line.step == "registered"
    }
    for store in stores:
        for line in store.lines:
            for op in line.args.get("ops", ()):
                path = str(op.get("path", ""))
                if op.get("op") != "Create" or not path.startswith(IDS):
                    continue
                broker = int(path.removeprefix(IDS))
                if (broker, line.args["zxid"]) not in reported and broker not in found.missing:
                    found.troubles.append(
                        TraceProblem(store.path, line.number,
                                     f"broker {broker} registers here, and no "
                                "file of it tells of that", f"each broker{broker}-N.ndjson",
                                broker)
                    )  # fmt: skip
    _look_for_gaps(found, found.starts)


def _look_for_gaps(found: ClusterTraces, starts: Sequence[ProcessStart]) -> None:
    numbers: dict[Process, list[ProcessStart]] = {}
    for start in starts:
        numbers.setdefault(start.process, []).append(start)
    for process, mine in sorted(numbers.items()):
        there = {one.number for one in mine}
        for number in range(1, max(there)):
            if number not in there and process[1] not in found.missing:
                name = f"{process[0]}{process[1] or ''}"
                found.troubles.append(
                    TraceProblem(mine[0].path, 1, f"start {number} of {name} has no file",
                            f"{name}-{number}.ndjson", process[1] or None)
                )  # fmt: skip


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}

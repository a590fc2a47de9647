"""Answers about the epoch cache and the checkpoint files (leader_epoch_cache, checkpoint_files)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.vectors.questions import Answer, Question, given, release
from impl.disk import MemoryDisk, replace_file
from impl.disk.atomic import read_file
from impl.log.by_release import epoch_cache_of
from impl.log.checkpoint_file import (
    LazyOffsetCheckpoint,
    OffsetCheckpoint,
    TopicPartition,
    parse_epochs,
    parse_lines,
    parse_offsets,
)
from impl.log.errors import MalformedCheckpoint
from impl.log.leader_epoch_cache import UNDEFINED, LeaderEpochFileCache
from impl.log.leader_epoch_file import NAME as LEADER_EPOCHS
from impl.log.leader_epoch_file import LeaderEpochFile

PATH = "/d/t-0"


def epoch_cache(question: Question) -> dict[str, Any]:
    """Operations on a cache with its file: answers of those that read, and the final entries."""
    under = release(question).parts
    file = LeaderEpochFile(_disk(), PATH, epoch_cache_of(under))
    results: list[Any] = []
    log_end = 0
    try:
        for op in given(question)["ops"]:
            if op["do"] == "leo":
                log_end = op["value"]
            elif op["do"] in _ASKING:
                results.append(_ASKING[op["do"]](file, op, log_end, under))
            else:
                _apply(file, op, under)
    except ValueError:
        return {"error": "IllegalArgumentException"}
    stored = LeaderEpochFile(file.disk, PATH, LeaderEpochFileCache())
    stored.load()
    return {"results": results, "entries": [list(entry) for entry in stored.entries]}


def _apply(file: LeaderEpochFile, op: dict[str, Any], under: tuple[int, ...]) -> None:
    match op["do"]:
        case "assign":
            if op["offset"] < 0 and under >= (2, 7):
                raise ValueError(f"an epoch starts at offset 0 or higher, not {op['offset']}")
            file.assign(op["epoch"], op["offset"])
        case "truncateFromEnd":
            file.truncate_from_end(op["offset"])
        case "truncateFromStart":
            file.truncate_from_start(op["offset"])
        case "clear":
            file.clear()
        case "reopen":
            file.load()
        case unknown:
            raise KeyError(f"the epoch cache has no operation {unknown!r}")


def _latest_epoch(
    file: LeaderEpochFile, op: dict[str, Any], log_end: int, under: tuple[int, ...]
) -> int | None:
    """An empty cache has none: -1 before 2.1.1 (KAFKA-7897), no value since."""
    found = file.latest_epoch
    older = under < (2, 1) or under == (2, 1, 0)
    return None if found == UNDEFINED and not older else found


def _previous_epoch(
    file: LeaderEpochFile, op: dict[str, Any], log_end: int, under: tuple[int, ...]
) -> int | None:
    found = file.cache.previous_epoch
    return None if found == UNDEFINED else found


def _end_offset_for(
    file: LeaderEpochFile, op: dict[str, Any], log_end: int, under: tuple[int, ...]
) -> Any:
    """Epoch and end; the end alone before 2.0."""
    epoch, end = file.end_offset_for(op["epoch"], log_end)
    return end if under < (2, 0) else [epoch, end]


_ASKING: dict[str, Callable[[LeaderEpochFile, dict[str, Any], int, tuple[int, ...]], Any]] = {
    "latestEpoch": _latest_epoch,
    "previousEpoch": _previous_epoch,
    "endOffsetFor": _end_offset_for,
}


def checkpoint(question: Question) -> dict[str, Any]:
    """A checkpoint file's content, or why it is refused; what was written is read again."""
    asked = given(question)
    try:
        if "fetch" in asked:
            return _fetched(asked)
        if "fileContent" in asked:
            return _parsed(asked)
        return _written(asked["writes"])
    except MalformedCheckpoint as error:
        thrown = f"IOException ({_reason(error)})"
        # Since 1.0 the directory counts as failed, and what is thrown is wrapped (KIP-112).
        kip_112 = release(question).since("1.0")
        return {"error": thrown, "wrapped": "KafkaStorageException" if kip_112 else thrown}


def _reason(error: MalformedCheckpoint) -> str:
    if "announced" in error.why:
        return "wrong number of entries"
    return "unrecognized version" if error.why.startswith("version") else "malformed line"


def _fetched(asked: dict[str, Any]) -> dict[str, Any]:
    if asked.get("logDir") not in (None, *asked.get("logDirs", ())):
        return {"error": "IllegalArgumentException"}  # there is one file for each directory
    file = OffsetCheckpoint(_disk(), f"{PATH}/x")
    file.write(_keyed(asked["file"]))
    lazy = LazyOffsetCheckpoint(file)
    results = [lazy.fetch(_partition(name)) for name in asked["fetch"]]
    return {"results": results, "fileReads": file.reads}


def _parsed(asked: dict[str, Any]) -> dict[str, Any]:
    """The kind of a file is known by its entries: of two words, or of three."""
    content = asked["fileContent"].encode()
    disk = _disk()
    replace_file(disk, f"{PATH}/x", content)
    file = OffsetCheckpoint(disk, f"{PATH}/x")
    if "thenWrite" in asked:
        before = _named(file.read())
        file.write(_keyed(asked["thenWrite"]))
        return {"read": before, "readAfter": _named(file.read())}
    lines = parse_lines(file.path, content)
    if lines and len(lines[0][1]) == 2:
        return {"entries": [list(entry) for entry in parse_epochs(file.path, content)]}
    read = _named(parse_offsets(file.path, content))
    return {"entries": read, "read": read}


def _written(writes: list[Any]) -> dict[str, Any]:
    disk = _disk()
    reads: list[Any] = []
    for content in writes:
        if isinstance(content, list):
            epochs = LeaderEpochFile(disk, PATH, LeaderEpochFileCache(_pairs(content)))
            epochs.write()
            epochs.load()
            reads.append([list(entry) for entry in epochs.entries])
        else:
            file = OffsetCheckpoint(disk, f"{PATH}/x")
            file.write(_keyed(content))
            reads.append(_named(file.read()))
    name = "x" if isinstance(writes[-1], dict) else LEADER_EPOCHS
    content = read_file(disk, f"{PATH}/{name}")
    return {
        "reads": reads,
        "lineCount": len(parse_lines(name, content)),
        "fileContent": content.decode(),
    }


def _pairs(entries: list[list[int]]) -> tuple[tuple[int, int], ...]:
    return tuple((epoch, start) for epoch, start in entries)


def _disk() -> MemoryDisk:
    disk = MemoryDisk()
    disk.make_directory(PATH)
    return disk


def _partition(name: str) -> TopicPartition:
    topic, _, number = name.rpartition("-")
    return topic, int(number)


def _keyed(offsets: dict[str, int]) -> dict[TopicPartition, int]:
    return {_partition(name): offset for name, offset in offsets.items()}


def _named(offsets: dict[TopicPartition, int]) -> dict[str, int]:
    return {f"{topic}-{number}": offset for (topic, number), offset in offsets.items()}


ANSWERS: dict[tuple[str, str], Answer] = {
    ("leader_epoch_cache", "epochCache"): epoch_cache,
    ("checkpoint_files", "checkpoint"): checkpoint,
}
"""By file and operation; the cases of these two files name no operation, so it is called so."""

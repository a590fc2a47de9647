"""Changes to files that say nothing of the protocol never make a result worse than `incomplete`.

What they are applied to holds, and has what real clusters have: several controllers, leaders that
change, a topic that is made again, restarts, rolled files, gzip. Each change may also fall on a
corpus with a fault in it, which may then be doubted, and is never blamed on another line for sure.
"""

from __future__ import annotations

import gzip
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.test_real_logs import cluster
from tests.pipeline.written import checked

SHIPPED = Path(__file__).parents[1] / "data" / "logs" / "correct"
BREAKS = ("violation", "impossible", "known bug")

Change = Callable[[Path, random.Random], None]


def logs(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if re.search(r"\.log", path.name))


def plain(folder: Path) -> None:
    """Unpack what is packed, so that text can be changed."""
    for path in logs(folder):
        if path.suffix == ".gz":
            path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
            path.unlink()


def one(folder: Path, chosen: random.Random) -> Path:
    return chosen.choice([path for path in logs(folder) if path.stat().st_size])


def crlf(folder: Path, _: random.Random) -> None:
    for path in logs(folder):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def latin_1(folder: Path, chosen: random.Random) -> None:
    path = one(folder, chosen)
    lines = path.read_bytes().split(b"\n")
    lines.insert(len(lines) // 2, b"\tcaf\xe9 d\xe9j\xe0 vu")
    path.write_bytes(b"\n".join(lines))


def last_line_cut(folder: Path, chosen: random.Random) -> None:
    path = one(folder, chosen)
    data = path.read_bytes().rstrip(b"\n")
    path.write_bytes(data[: len(data) - chosen.randrange(1, 60)])


def nul_bytes(folder: Path, chosen: random.Random) -> None:
    path = one(folder, chosen)
    data = path.read_bytes()
    at = chosen.randrange(len(data))
    path.write_bytes(data[:at] + b"\0" * 512 + data[at + 512 :])


def swapped(folder: Path, chosen: random.Random) -> None:
    """Lines of one millisecond, which threads may write in either order."""
    _swap(folder, chosen, 0.2, lambda line, then: _logger(line) != _logger(then))


def _swap(folder: Path, chosen: random.Random, share: float,
          may: Callable[[bytes, bytes], bool]) -> None:  # fmt: skip
    path = one(folder, chosen)
    lines = path.read_bytes().split(b"\n")
    for n in range(len(lines) - 1):
        one_moment = lines[n][:25] == lines[n + 1][:25] and lines[n].startswith(b"[")
        if one_moment and may(lines[n], lines[n + 1]) and chosen.random() < share:
            lines[n], lines[n + 1] = lines[n + 1], lines[n]
    path.write_bytes(b"\n".join(lines))


def _logger(line: bytes) -> bytes:
    """Lines of one logger come from one thread, as a rule, and are in order."""
    return line.rsplit(b"(", 1)[-1]


def _shifted(path: Path, milliseconds: int, since: float = 0.0) -> None:
    from datetime import datetime, timedelta

    lines = path.read_text(errors="replace").split("\n")
    for n in range(int(len(lines) * since), len(lines)):
        found = re.match(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3})\]", lines[n])
        if found:
            at = datetime.fromisoformat(found[1]) + timedelta(
                milliseconds=int(found[2]) + milliseconds
            )
            stamp = f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03}]"
            lines[n] = stamp + lines[n][found.end() :]
    path.write_text("\n".join(lines))


def skew(folder: Path, chosen: random.Random) -> None:
    """The clock of one broker is off, in all its files."""
    folders = sorted({path.parent for path in logs(folder)})
    whose = chosen.choice(folders)
    by = chosen.choice((-300_000, -20_000, -700, 700, 20_000, 300_000, 3_600_000))
    for path in logs(folder):
        if path.parent == whose:
            _shifted(path, by)


def dst(folder: Path, chosen: random.Random) -> None:
    """Clocks are set back by an hour, in all files at about the same time."""
    for path in logs(folder):
        _shifted(path, -3_600_000, since=0.6)


def turned_names(folder: Path, chosen: random.Random) -> None:
    """A log in three rolled files, numbered either way."""
    path = one(folder, chosen)
    lines = path.read_bytes().split(b"\n")
    third = len(lines) // 3 + 1
    parts = [lines[n : n + third] for n in range(0, len(lines), third)]
    path.unlink()
    for number, part in enumerate(parts if chosen.random() < 0.5 else parts[::-1], 1):
        path.with_name(f"{path.name}.{number}").write_bytes(b"\n".join(part) + b"\n")


def copied(folder: Path, chosen: random.Random) -> None:
    path = one(folder, chosen)
    shutil.copy(path, path.with_name(f"{path.name}.{chosen.choice(('1', 'copy', 'bak'))}"))


def missing(folder: Path, chosen: random.Random) -> None:
    one(folder, chosen).unlink()


def flipped_gzip(folder: Path, chosen: random.Random) -> None:
    path = one(folder, chosen)
    data = bytearray(gzip.compress(path.read_bytes(), mtime=0))
    data[chosen.randrange(12, len(data))] ^= 1 << chosen.randrange(8)
    path.unlink()
    path.with_name(f"{path.name}.gz").write_bytes(bytes(data))


def sent_twice(folder: Path, chosen: random.Random) -> None:
    """A stretch of lines stands there again after itself, as who ships logs may send it twice."""
    path = one(folder, chosen)
    lines = path.read_bytes().split(b"\n")
    end = chosen.randrange(min(20, len(lines) - 1), len(lines))
    lines[end:end] = lines[max(0, end - chosen.randrange(20, 200)) : end]
    path.write_bytes(b"\n".join(lines))


def in_one_file(folder: Path, chosen: random.Random) -> None:
    """A log's files were put together in one, in any order."""
    path = one(folder, chosen)
    base = path.name.split(".")[0]
    parts = [each for each in logs(path.parent) if each.name.split(".")[0] == base]
    chosen.shuffle(parts)
    text = b"".join(part.read_bytes() for part in parts)
    for part in parts:
        part.unlink()
    path.write_bytes(text)


def many_missing(folder: Path, chosen: random.Random) -> None:
    for path in logs(folder):
        if chosen.random() < 0.5 and len(logs(folder)) > 1:
            path.unlink()


def cut_gzip(folder: Path, chosen: random.Random) -> None:
    path = one(folder, chosen)
    data = gzip.compress(path.read_bytes(), mtime=0)
    path.unlink()
    path.with_name(f"{path.name}.gz").write_bytes(data[: chosen.randrange(30, len(data))])


def a_long_line(folder: Path, chosen: random.Random) -> None:
    path = one(folder, chosen)
    lines = path.read_bytes().split(b"\n")
    lines.insert(chosen.randrange(len(lines)), b"x" * 2_000_000)
    path.write_bytes(b"\n".join(lines))


def one_file_shifted(folder: Path, chosen: random.Random) -> None:
    """One file alone has other stamps: it was written, or put in, with another time zone."""
    by = chosen.choice((-7_200_000, -3_600_000, -60_000, -5_000, 5_000, 60_000, 3_600_000))
    _shifted(one(folder, chosen), by)


def repeated_line(folder: Path, chosen: random.Random) -> None:
    """A line comes again, at once or after a few others of its moment."""
    path = one(folder, chosen)
    lines = path.read_bytes().split(b"\n")
    for _ in range(3):
        at = chosen.randrange(len(lines) - 1)
        lines.insert(min(len(lines) - 1, at + chosen.randrange(4)), lines[at])
    path.write_bytes(b"\n".join(lines))


def swapped_moments(folder: Path, chosen: random.Random) -> None:
    """Lines of one millisecond in another order, those of one logger as well."""
    _swap(folder, chosen, 0.1, lambda line, then: True)


def head_missing(folder: Path, chosen: random.Random) -> None:
    path = one(folder, chosen)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join(lines[chosen.randrange(len(lines) // 2 + 1) :]))


def broker_missing(folder: Path, chosen: random.Random) -> None:
    folders = sorted({path.parent for path in logs(folder)})
    if len(folders) > 1:
        shutil.rmtree(chosen.choice(folders))


def byte_order_mark(folder: Path, chosen: random.Random) -> None:
    path = one(folder, chosen)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


CHANGES: tuple[Change, ...] = (
    one_file_shifted, repeated_line, swapped_moments, head_missing, broker_missing, byte_order_mark,
    crlf, latin_1, last_line_cut, nul_bytes, swapped, skew, dst, turned_names, copied, missing,
    flipped_gzip, sent_twice, in_one_file, many_missing, cut_gzip, a_long_line,
)  # fmt: skip


def broken(result: dict[str, Any]) -> list[tuple[str, str, str, int]]:
    return [
        (row["kind"], row["rule"], Path(row["file"]).name, row["line"])
        for row in result["findings"]
        if row["kind"] in BREAKS
    ]


def changed(source: Path, into: Path, change: Change, seed: int) -> dict[str, Any]:
    shutil.copytree(source, into)
    for path in [into, *into.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    plain(into)
    change(into, random.Random(seed))
    return checked(into)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_neutral_change_to_our_logs_is_never_called_broken(tmp_path: Path, change: Change):
    for seed in range(4):
        result = changed(SHIPPED, tmp_path / str(seed), change, seed)

        assert (seed, broken(result)) == (seed, [])
        assert result["verdict"] in ("holds", "unknown")


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", ["kafka-2.7.0-b"])
def test_a_neutral_change_to_real_logs_is_never_called_broken(
    tmp_path: Path, change: Change, name: str
):
    source = cluster(name)
    for seed in range(4):
        result = changed(source, tmp_path / str(seed), change, seed)

        assert (seed, broken(result)) == (seed, [])
        assert result["verdict"] in ("holds", "unknown")


@pytest.mark.deep
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", ["kafka-1.0.0-a", "kafka-2.7.0-a", "kafka-2.5.0-a"])
def test_a_neutral_change_to_large_real_logs_is_never_called_broken(
    tmp_path: Path, change: Change, name: str
):
    source = cluster(name)
    for seed in range(3):
        result = changed(source, tmp_path / str(seed), change, seed)

        assert (seed, broken(result)) == (seed, [])


@pytest.mark.parametrize("seed", [102, 1])
def test_a_new_zookeeper_in_hours_whose_files_are_missing_is_not_called_broken(
    tmp_path: Path, seed: int
):
    """Czxids that went on growing are no evidence where a new ZooKeeper may have come so far, nor
    is the one replica of a former life where the next one's replicas are in no line."""
    result = changed(cluster("kafka-2.7.0-a"), tmp_path / "logs", many_missing, seed)

    assert broken(result) == []
    assert result["verdict"] == "unknown"


@pytest.mark.parametrize("change, seed", [(in_one_file, 100), (sent_twice, 100)])
def test_lines_of_a_file_put_together_of_parts_are_in_no_order(
    tmp_path: Path, change: Change, seed: int
):
    result = changed(cluster("kafka-2.5.0-a"), tmp_path / "logs", change, seed)

    assert broken(result) == []

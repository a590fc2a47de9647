"""Ctrl-C at a real terminal: every command ends soon, with one line, and leaves nothing."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_S, eventually

ROOT = Path(__file__).resolve().parents[2]
LOGS = "tests/data/logs/planted"
LONG_LOG_BYTES = 60_000_000
CTRL_C = b"\x03"
LINE = "insync: interrupted; no verdict"
WIPED = re.compile(r"[^\n]*\r\x1b\[K")
"""What stood in a line before it was wiped, as progress is."""


def soon_s() -> float:
    """Two seconds on a machine that has a core for each process that would run; they share it."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return 2.0 * max(1.0, max(workers, os.getloadavg()[0]) / (os.cpu_count() or 1))


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, what it printed after Ctrl-C, and how long that took."""

    code: int
    lines: list[str]
    seconds: float
    left: list[int]


def interrupted(words: list[str], after_s: float, temporary: Path, begun: bytes = b"") -> Ended:
    """Runs a command as the leader of a terminal's session, and types Ctrl-C after a while.

    The while counts from when it has printed `begun`.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        environment = {**os.environ, "TERM": "xterm", "TMPDIR": str(temporary)}
        command = [sys.executable, "-m", "conformance.cli", *words]
        os.execve(sys.executable, command, environment)
    try:
        if begun:
            assert begun in _read_until(terminal, time.monotonic() + 60, begun)
        _read_until(terminal, time.monotonic() + after_s)
        assert os.waitpid(pid, os.WNOHANG) == (0, 0), "it ended by itself: give it longer work"
        os.write(terminal, CTRL_C)
        typed = time.monotonic()
        said = _read_until(terminal, typed + 60)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        seconds = time.monotonic() - typed
    except BaseException:
        os.killpg(pid, signal.SIGKILL)
        raise
    finally:
        os.close(terminal)
    text = WIPED.sub("", said.decode().replace("^C", ""))
    lines = [line for line in text.splitlines() if line.strip()]
    return Ended(code, lines, seconds, _alive(pid))


def _read_until(terminal: int, deadline: float, text: bytes | None = None) -> bytes:
    """What is printed until then, or up to `text`, or until nobody has the terminal any more."""
    said = b""
    while (left := deadline - time.monotonic()) > 0 and (text is None or text not in said):
        if select.select([terminal], [], [], left)[0]:
            try:
                more = os.read(terminal, 65536)
            except OSError:
                break
            if not more:
                break
            said += more
    return said


def _alive(session: int, patience_s: float = PATIENCE_S) -> list[int]:
    """The processes of a session; who was killed still has to die, as soon as it has a core."""
    deadline = time.monotonic() + patience_s
    while (found := _living(session)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _living(session: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


LONG = {
    "explore": (["explore", "cluster", "--bound", "crashes=2"], 2),
    "find by Z3": (["find", "strong_isr", "classic", "--engine", "z3"], 2.5),
    "prove": (["prove", "no_message_loss"], 3),
    "verify": (["verify"], 3),
    "simulate": (["simulate", "--seeds", "0..9999", "--steps", "400"], 2),
    "check": (["check", "{logs}", "--engine", "local"], 2),
    "docs": (["docs", "--out", "{out}"], 3),
    "test": (["test", "tests/house"], 3),
}
FURTHER = {
    "explore with the plain engine": (["explore", "election", "--engine", "python"], 2),
    "prove by cvc5": (["prove", "no_message_loss", "--solver", "cvc5"], 3),
    "prove --refinement": (["prove", "--refinement"], 2),
    "bugs": (["bugs", "--all"], 3),
    "surgery": (["surgery", "replication"], 3),
    "story": (["story", "specs/stories"], 2),
    "lockstep": (["lockstep", "--seeds", "0..999", "--steps", "500"], 3),
    "edges": (["edges", "--bound", "versions=2", "--bound", "expiries=1"], 3),
    "mutants": (["mutants", "--all"], 3),
    "check on Spark": (["check", LOGS, "--engine", "spark"], 12),
    "ingest on Spark": (["ingest", LOGS, "--out", "{out}", "--engine", "spark"], 12),
    "explore on Spark": (["explore", "classic", "--engine", "spark"], 12),
    "verify, with Spark in a process of its own": (["verify"], 15),
}


def write_long_log(folder: Path) -> None:
    """A broker's log whose check lasts on any machine: a planted one, many times over."""
    folder.mkdir()
    lines = (ROOT / LOGS / "broker1" / "server.log").read_text()
    with (folder / "server.log").open("w") as log:
        while log.tell() < LONG_LOG_BYTES:
            log.write(lines)


def everything_in(folder: Path) -> list[str]:
    """All files and folders, but for those of earlier tests that pytest keeps to be looked at."""
    names = (str(path.relative_to(folder)) for path in folder.rglob("*"))
    return sorted(name for name in names if "pytest-of-" not in name)


def ends_soon_and_leaves_nothing(words: list[str], after_s: float, folder: Path) -> None:
    temporary, out = folder / "temporary", folder / "out"
    temporary.mkdir()
    if "{logs}" in words:
        write_long_log(folder / "logs")
    before = everything_in(folder)

    words = [word.format(out=out, logs=folder / "logs") for word in words]
    ended = interrupted(words, after_s, temporary)

    own = ended.lines[-1:] if words[0] == "test" else ended.lines  # what pytest said comes before
    assert (ended.code, own) == (130, [LINE])
    assert ended.left == []
    after = everything_in(folder)
    if words[0] == "test":  # commands that its tests had started were killed with it
        after = [name for name in after if "insync-run-" not in name]
    assert after == before
    assert ended.seconds < soon_s()


AMID_AN_ARGUMENT = """
import ctypes, os, signal
from conformance.cli.main import LazyGroup
from conformance.cli.__main__ import run

class Argument:
    @classmethod
    def from_param(cls, value):
        os.kill(os.getpid(), signal.SIGINT)

def read():
    strlen = ctypes.CDLL(None).strlen
    strlen.argtypes = [Argument]
    strlen(b"")

LazyGroup.invoke = lambda *_: read()
run()
"""


WHILE_AN_OBJECT_IS_MADE = """
import os, signal
import click
from conformance.cli.__main__ import run

class Context:
    def __init__(self):
        os.kill(os.getpid(), signal.SIGINT)
        self.owner = True

    def __del__(self):
        self.owner

click.Group.invoke = lambda *_: Context()
run()
"""

AMID_A_TEXT = """
import click
from conformance.cli.__main__ import run

click.Group.invoke = lambda *_: exec("import os, signal; os.kill(os.getpid(), signal.SIGINT)")
run()
"""

WHILE_THE_END_IS_SETTLED = """
import os, signal
from conformance.cli.common import WrongUse
from conformance.cli.__main__ import run

WrongUse.show = lambda *_: os.kill(os.getpid(), signal.SIGINT)
run()
"""


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (AMID_AN_ARGUMENT, ["versions"]),
        (WHILE_AN_OBJECT_IS_MADE, ["versions"]),
        (WHILE_THE_END_IS_SETTLED, ["versions", "--nonsense"]),
    ],
    ids=["amid an argument", "while an object is made", "while the end is settled"],
)
def test_ctrl_c_at_an_awkward_moment_ends_as_any_other(code: str, words: list[str]):
    ended = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stderr.splitlines()) == (130, [LINE])


def test_ctrl_c_while_a_text_is_executed_ends_as_any_other(tmp_path: Path):
    # As a module: Python ends otherwise there, and remembers in which way Ctrl-C went through it.
    (tmp_path / "amid.py").write_text(AMID_A_TEXT)
    ended = subprocess.run(
        [sys.executable, "-m", "amid", "versions"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stderr.splitlines()) == (130, [LINE])


@pytest.mark.parametrize("what", LONG)
def test_ctrl_c_ends_a_command_soon_with_one_line_and_nothing_left(what: str, tmp_path: Path):
    ends_soon_and_leaves_nothing(*LONG[what], tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize("what", FURTHER)
def test_ctrl_c_ends_the_other_long_commands_as_well(what: str, tmp_path: Path):
    ends_soon_and_leaves_nothing(*FURTHER[what], tmp_path)


def test_the_page_is_closed_by_ctrl_c(tmp_path: Path):
    ended = interrupted(["play"], 3, tmp_path)

    assert (ended.code, ended.lines) == (130, ["insync: interrupted; the page is closed"])
    assert ended.left == []


def test_a_visit_that_keeps_its_levels_says_where(tmp_path: Path):
    kept = tmp_path / "kept"
    words = ["explore", "election", "--brokers", "3", "--bound", "epoch=3", "--checkpoint"]

    ended = interrupted([*words, str(kept)], 1, tmp_path, begun=b"states")

    assert ended.code == 130
    assert ended.lines == [
        f"insync: interrupted; what was visited is kept in {kept}; "
        "the same command goes on from there"
    ]
    assert any(kept.iterdir())


def _catches(pid: int, number: signal.Signals) -> bool:
    """The process has set a handler for the signal; before, it would just end."""
    found = re.search(r"^SigCgt:\s+(\w+)", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return found is not None and bool(int(found[1], 16) >> (number - 1) & 1)


def test_a_request_to_end_is_taken_like_ctrl_c(tmp_path: Path):
    # What a system sends that shuts down, or `timeout`: the same line, and nothing left either.
    command = [sys.executable, "-m", "conformance.cli", "prove", "no_message_loss"]
    process = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )  # fmt: skip
    assert eventually(lambda: _catches(process.pid, signal.SIGTERM))
    time.sleep(1)  # it is at work
    process.terminate()

    out, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, out, err) == (130, "", f"{LINE}\n")
    assert list(tmp_path.iterdir()) == []

"""Starts, finds, signals and stops the processes that belong to a directory.

A process is identified by the lock that it inherited, never by its process id alone: another
process may reuse the id, but not a held lock. Suspended processes hold it too.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO


class ClusterError(Exception):
    """An operation that is not possible in this directory; the message says what to do instead."""


class Processes(ABC):
    """The processes of one directory, by name; each live process holds ``run/NAME.pid``."""

    start_command = "insync cluster start"
    """What starts such a directory's processes, for messages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def names(self) -> list[str]:
        """The process names, in the order in which they start."""

    def running(self) -> list[str]:
        """The names of the live processes."""
        return [name for name in self.names() if self.pid(name) is not None]

    def name_of(self, process: int | str) -> str:
        """The process name for a user's name: a broker's id, or a name as it is."""
        return f"broker{process}" if str(process).isdecimal() else str(process)

    def living(self, process: int | str) -> str:
        """The name of a live process. ClusterError if it does not run."""
        name = self.name_of(process)
        if self.pid(name) is None:
            raise ClusterError(f"{name} does not run; write: {self.start_command} {self.folder}")
        return name

    def kill(self, process: int | str) -> None:
        """Kill a process (SIGKILL)."""
        name = self.living(process)
        self.signal(name, signal.SIGKILL)
        self.wait_gone([name], 10.0)

    def pause(self, process: int | str) -> None:
        """Suspend a process (SIGSTOP), as a long GC pause would."""
        self.signal(self.living(process), signal.SIGSTOP)

    def resume(self, process: int | str) -> None:
        """Resume a process (SIGCONT)."""
        self.signal(self.living(process), signal.SIGCONT)

    def pid(self, name: str) -> int | None:
        """The id of a live process, None if it does not run."""
        path = self._pid_file(name)
        try:
            with path.open("r", encoding="utf-8") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except OSError:
                    text = file.read().strip()
                    return int(text) if text.isdecimal() else None
        except FileNotFoundError:
            pass
        return None

    def _pid_file(self, name: str) -> Path:
        return self.folder / "run" / f"{name}.pid"

    def paused(self, name: str) -> bool:
        """Whether the process is suspended (SIGSTOP)."""
        pid = self.pid(name)
        return pid is not None and _process_state(pid) in ("T", "t")

    def spawn(self, name: str, command: Sequence[str]) -> None:
        """Start a process; its output goes to NAME/printed.out. ClusterError if it runs already."""
        path = self._pid_file(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        out = self.folder / name / "printed.out"
        out.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+", encoding="utf-8") as file, out.open("ab") as printed:
            if not _try_lock(file):
                raise ClusterError(f"{name} of {self.folder} runs already")
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                cwd=out.parent,
                env={**os.environ, "PYTHONPATH": _python_path()},
                start_new_session=True,  # an interrupt at the terminal is for the command alone
                pass_fds=(file.fileno(),),  # the lock lives as long as the process does
            )
            file.truncate(0)
            file.write(f"{process.pid}\n")
            _CHILDREN.append(process)

    def last_printed(self, name: str) -> str:
        """The last line that a process printed."""
        path = self.folder / name / "printed.out"
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        return lines[-1] if lines else "nothing"

    def end(
        self,
        names: Sequence[str] | Iterator[str],
        number: int,
        patience_s: float,
        in_turn: bool = False,
    ) -> None:
        """Send a signal to each process and wait for its end; kills it after ``patience_s``.

        ``in_turn``: wait for each one before signalling the next, so that leaders can move away.
        """
        waiting = list(names)
        for name in waiting:
            self.signal(name, number)
            if in_turn:
                self.wait_gone([name], patience_s)
        self.wait_gone(waiting, patience_s)

    def wait_gone(self, names: Sequence[str], patience_s: float) -> None:
        """Wait until all of them have ended; kills the others after ``patience_s``."""
        deadline = time.monotonic() + patience_s
        waiting = list(names)
        while waiting:
            for child in _CHILDREN:
                child.poll()  # or an ended child of this process would linger
            waiting = [name for name in waiting if self.pid(name) is not None]
            if waiting and time.monotonic() > deadline:
                for name in waiting:
                    self.signal(name, signal.SIGKILL)
                deadline = time.monotonic() + 5.0
            if waiting:
                time.sleep(0.02)

    def signal(self, name: str, number: int) -> None:
        """Send a signal to a process, if it is alive."""
        pid = self.pid(name)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


@contextlib.contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a cluster's directory; ClusterError while another process does."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ClusterError(
                f"{folder} is being changed by another process; wait until that is done"
            ) from None
        yield


def _try_lock(file: IO[str]) -> bool:
    """Take a lock; whoever only looks whether it is held holds it for a moment himself."""
    deadline = time.monotonic() + 1.0
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)


def _process_state(pid: int) -> str:
    """The letter that the system shows for a process; empty if it is gone."""
    shown = subprocess.run(
        ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return shown.stdout.strip()[:1]


def _python_path() -> str:
    """The path from which a process that starts elsewhere imports ``impl``."""
    root = str(Path(__file__).resolve().parents[2])
    before = os.environ.get("PYTHONPATH")
    return root if not before else f"{root}{os.pathsep}{before}"


_CHILDREN: list[subprocess.Popen[bytes]] = []

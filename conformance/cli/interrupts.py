"""Ctrl-C: a command ends within two seconds, whatever it is doing.

Python raises KeyboardInterrupt only between two of its own steps. A command that is inside a
solver, machine code or a call to the JVM does not see it until that returns. So a thread is woken
by the signal itself: it asks Z3 to give up, waits for the command to unwind, and where that takes
too long ends the process. Before that it ends the processes that the command started and removes
its temporary files.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from types import FrameType
from typing import Any

INTERRUPTED = 130  # 128 + SIGINT, as a shell would report it
GRACE_S = 1.4
"""For a command to unwind by itself; what is left of two seconds is for ending it."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """What is done about SIGINT and SIGTERM in this process; `install` once, in the main thread."""

    def __init__(self) -> None:
        self.asked = False
        self._as_usual = False
        self._said = False
        self._swallowed = False
        self._folder: str | None = None
        self._children: dict[int, str] = {}

    def install(self) -> None:
        """Handle both signals, and give temporary files a folder that is removed with this
        process."""
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            return  # started in the background of a script: whoever did so wants no Ctrl-C here
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, self._raise)
        sys.unraisablehook = self._unraisable
        os.register_at_fork(after_in_child=_leave_it_to_the_parent)
        self._folder = tempfile.tempdir = tempfile.mkdtemp(prefix="insync-run-")
        atexit.register(self._sweep)  # the first to be registered is the last to run
        threading.Thread(target=self._watch, args=(reading,), daemon=True).start()

    def end_as_usual(self) -> None:
        """Let this command end by Ctrl-C in its own time: a server, or one that saves its state."""
        self._as_usual = True

    def report(self, why: str = "") -> None:
        """Print the line about the interrupt, once, on standard error; `why` says what was kept.

        A second signal must not change how: Python gives signals back to the system at its end. And
        where Ctrl-C came while a text was executed, as a dataclass is made, Python would kill
        itself by it in the end, whatever the exit code, unless another text was executed since.
        """
        if self._folder is not None and threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_IGN)
        exec("")
        if self._said:
            return
        self._said = True
        wiped = "\r\x1b[K" if sys.stderr.isatty() else ""
        sys.stderr.write(f"{wiped}insync: interrupted; {why or 'no verdict'}\n")
        sys.stderr.flush()

    def _watch(self, reading: int) -> None:
        while signal.Signals(os.read(reading, 1)[0]) not in _SIGNALS:
            pass
        if self._as_usual:
            return
        self.asked = True
        deadline = time.monotonic() + GRACE_S
        self._children = _descendants()
        if "z3" in sys.modules:
            _interrupt_z3()
        while time.monotonic() < deadline:
            time.sleep(0.05)
            if self._as_usual:
                return
            if self._swallowed and not self._said:
                self._swallowed = False
                signal.raise_signal(signal.SIGINT)
        self.report()
        self._sweep()
        os._exit(INTERRUPTED)

    def _raise(self, _number: int, _frame: FrameType | None) -> None:
        """Unwind the command; whatever ends it from now on, a signal did."""
        self.asked = not self._as_usual
        raise KeyboardInterrupt

    def _unraisable(self, what: sys.UnraisableHookArgs) -> None:
        """Ctrl-C came while an object was being freed, where nothing can be raised: once more.

        What fails afterwards was left half made by it (a context of Z3, say), and is no news.
        """
        if issubclass(what.exc_type, KeyboardInterrupt):
            self._swallowed = True
        elif not self.asked:
            sys.__unraisablehook__(what)

    def _sweep(self) -> None:
        if self.asked:
            # Those of now, and those of then that have lost their parent meanwhile.
            for pid, born in (self._children | _descendants()).items():
                if _start_time(pid) == born:
                    _kill(pid)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _leave_it_to_the_parent() -> None:
    """A terminal sends Ctrl-C to all of a group; a forked worker is ended by its parent."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _interrupt_z3() -> None:
    z3: Any = sys.modules["z3"]
    try:
        z3.main_ctx().interrupt()
    except Exception:  # it is being imported, or has no context yet
        return


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return


def _start_time(pid: int) -> str | None:
    """When a process began, by the system's own count; None where there is none such."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def _descendants() -> dict[int, str]:
    """The processes that this one has started, and theirs; each with when it began."""
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return {}  # no /proc here: children end by a signal, or by their pipes
    parents: dict[int, int] = {}
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                parents[pid] = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
    found: dict[int, str] = {}
    wanted = [os.getpid()]
    while wanted:
        parent = wanted.pop()
        for pid, of in parents.items():
            if of == parent and pid not in found:
                born = _start_time(pid)
                if born is not None:
                    found[pid] = born
                    wanted.append(pid)
    return found


interrupts = Interrupts()
"""Of this process."""

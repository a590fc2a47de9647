"""Runs searches for goals in processes of their own, so that they never slow down the page.

Recording, grounding and compiling hold Python's interpreter lock for up to a tenth of a second; in
the page's own process each step would wait for that. Parent and child exchange lines of JSON over
the child's standard input and output. Requests are: a run with a goal; `{"prepare": HEADING}`, to
load and compile in advance, between searches; `{"cancel": true}`, to end the search. A child exits
at the end of its input, so it never outlives the server.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from model.language import ProtocolError

if TYPE_CHECKING:
    from specs.exploration import Report

NICENESS = 5
"""Niceness of a search process: steps on the page have priority when processors are busy."""

SECONDS_QUIET = 0.5
"""Seconds without a request after which preparation resumes: users often start the next search at
once, and it would have to wait for the preparation step in progress."""


class Searches:
    """The child processes of one server: it starts one at once, and others when several searches
    run at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[subprocess.Popen[str]] = []
        self._all: list[subprocess.Popen[str]] = []

    def prepare(self, heading: str) -> None:
        """Loads and compiles, in the background, what the first goals of a game need."""
        child = self._take()
        _send(child, {"prepare": heading})
        self._put(child)

    def way(self, asked: dict[str, Any], report: Report = lambda line: None) -> dict[str, Any]:
        """Runs `answers.way` in a child. An exception of `report` ends the search; it is raised."""
        child = self._take()
        try:
            _send(child, asked)
            return _receive(child, report)
        finally:
            self._put(child)

    def end(self) -> None:
        """Ends every child."""
        with self._lock:
            ending, self._all, self._idle = self._all, [], []
        for child in ending:
            child.kill()
        for child in ending:
            child.wait()

    def _take(self) -> subprocess.Popen[str]:
        with self._lock:
            while self._idle:
                child = self._idle.pop(0)
                if child.poll() is None:
                    return child
                self._all.remove(child)
            child = subprocess.Popen(
                [sys.executable, "-m", "conformance.web.searches"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
            )  # fmt: skip
            self._all.append(child)
            return child

    def _put(self, child: subprocess.Popen[str]) -> None:
        with self._lock:
            if child in self._all:
                self._idle.append(child)


def _send(child: subprocess.Popen[str], message: dict[str, Any]) -> None:
    assert child.stdin is not None
    try:
        child.stdin.write(json.dumps(message) + "\n")
        child.stdin.flush()
    except (BrokenPipeError, ValueError):
        raise ProtocolError(_ended(child)) from None


def _receive(child: subprocess.Popen[str], report: Report) -> dict[str, Any]:
    """The answer to what was asked. After a cancellation the rest is read, and not reported."""
    assert child.stdout is not None
    ending: BaseException | None = None
    for line in child.stdout:
        message = json.loads(line)
        if "progress" not in message:
            if ending is not None:
                raise ending
            if "error" in message:
                raise ProtocolError(message["error"])
            return dict(message["found"])
        if ending is None:
            try:
                report(message["progress"])
            except BaseException as error:
                ending = error
                _send(child, {"cancel": True})
    raise ending or ProtocolError(_ended(child))


def _ended(child: subprocess.Popen[str]) -> str:
    code = child.wait()
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    return f"the process of the search ended {how}; ask again, with smaller bounds if it recurs"


class _CancelledError(Exception):
    """Nobody waits for this search any more."""


def _search(asked: dict[str, Any], cancelled: threading.Event, say: Callable[[Any], None]) -> None:
    from conformance.web.answers import way

    def report(line: str) -> None:
        if cancelled.is_set():
            raise _CancelledError
        say({"progress": line})

    try:
        say({"found": way(asked, report)})
    except ProtocolError as error:
        say({"error": str(error)})
    except _CancelledError:
        say({"error": "cancelled"})
    except Exception as error:
        say({"error": f"the search failed, a fault of insync: {type(error).__name__}: {error}"})
        raise


def _main() -> None:
    """A child: answers one search after the other; in between it prepares for others."""
    from conformance.web.answers import preparations

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the page's, whose end is ours
    os.nice(NICENESS)
    messages: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    cancelled = threading.Event()

    def listen() -> None:
        for line in sys.stdin:
            message = json.loads(line)
            if "cancel" in message:
                cancelled.set()
                continue
            if "prepare" not in message:
                cancelled.clear()
            messages.put(message)
        os._exit(0)  # the page has ended

    threading.Thread(target=listen, daemon=True).start()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # no other line gets among the answers

    def say(message: Any) -> None:
        answers.write(json.dumps(message) + "\n")

    unfinished: list[Iterator[None]] = []
    pause = 0.0
    while True:
        try:
            message = messages.get(timeout=pause if unfinished else None)
        except queue.Empty:
            pause = 0.0
            try:
                next(unfinished[0])
            except StopIteration:
                unfinished.pop(0)
            continue
        if "prepare" in message:
            unfinished.append(preparations(str(message["prepare"])))
        else:
            _search(message, cancelled, say)
            pause = SECONDS_QUIET


if __name__ == "__main__":
    _main()

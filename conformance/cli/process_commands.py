"""Commands for the processes of one directory, as `insync cluster` and `insync kafka` have them."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click

from conformance.cli.common import WrongUse, emit_json, json_option, say
from impl.server.processes import Processes, lock_folder

FOLDER = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
BROKER = click.argument("broker", metavar="BROKER|zookeeper")
ONE_OR_ALL = click.argument("broker", metavar="[BROKER|zookeeper]", required=False)

P = TypeVar("P", bound=Processes)


def add_process_commands(
    group: click.Group,
    found_in: Callable[[Path], P],
    changing: Callable[[Path], AbstractContextManager[None]],
    title_of: Callable[[P], str],
    status_of: Callable[[P], dict[str, Any]],
    stopped: Callable[[P, str | None], list[str]],
) -> None:
    """Add ``stop``, ``status``, ``kill``, ``pause`` and ``resume`` to a group of commands.

    ``stopped`` ends one process cleanly, or all, and says which. ``status_of`` is what ``--json``
    shows, and ``title_of`` the first line of ``status``.
    """

    @group.command()
    @FOLDER
    @ONE_OR_ALL
    @json_option
    def stop(folder: Path, broker: str | None, json_target: str | None) -> None:
        processes = found_in(folder)
        with changing(folder):
            ended = stopped(processes, broker)
        for name in ended:
            say(f"{name}: ended", json_target)
        if not ended:
            say("nothing runs", json_target)
        emit_json(json_target, status_of(processes))

    stop.help = (
        "End every process in DIR cleanly, or one of them; what is on the disk stays.\n\n\b\n"
        f"Example:\n  insync {group.name} stop DIR\n  insync {group.name} stop DIR 2\n"
    )

    @group.command()
    @FOLDER
    @json_option
    def status(folder: Path, json_target: str | None) -> None:
        processes = found_in(folder)
        found = status_of(processes)
        say(title_of(processes), json_target)
        for name, one in found["processes"].items():
            where = "" if one["pid"] is None else f", process {one['pid']}"
            at = f", port {one['port']}" if one["port"] else ""
            whose = ", ours" if one.get("ours") else ""
            say(f"{name}: {one['state']}{where}{at}{whose}", json_target)
        controller = found["controller"]
        say("controller: " + ("nobody" if controller is None else str(controller)), json_target)
        emit_json(json_target, found)

    status.help = (
        "Say which processes run, which are paused, and who is controller.\n\n\b\nExample:\n"
        f"  insync {group.name} status DIR\n  insync {group.name} status DIR --json -\n"
    )

    def add(what: str, done: str, help_: str) -> None:
        @group.command(what, help=f"{help_}\n\n\b\nExample:\n  insync {group.name} {what} DIR 1\n")
        @FOLDER
        @BROKER
        @json_option
        def command(folder: Path, broker: str, json_target: str | None) -> None:
            processes = found_in(folder)
            with changing(folder):
                getattr(processes, what)(broker)
            say(f"{processes.name_of(broker)}: {done}", json_target)
            emit_json(json_target, status_of(processes))

    add("kill", "killed", "End a broker at once, as a crash does (SIGKILL).")
    add("pause", "paused", "Pause a broker (SIGSTOP), as a long GC pause does.")
    add("resume", "resumed", "Let a paused broker go on (SIGCONT).")


def states_of(processes: Processes, names: list[str]) -> dict[str, dict[str, Any]]:
    """Of each process its number, and whether it runs, is paused, or has ended."""
    found = {}
    for name in names:
        pid = processes.pid(name)
        state = "ended" if pid is None else "paused" if processes.paused(name) else "runs"
        found[name] = {"state": state, "pid": pid, "port": None}
    return found


@contextlib.contextmanager
def locked(folder: Path, state: str, *wrong: type[Exception]) -> Iterator[None]:
    """Hold the directory's lock; what is ``wrong`` becomes one line.

    A directory that was made for nothing, without the file ``state``, is removed again.
    """
    made, had_lock = not folder.exists(), (folder / ".lock").exists()
    try:
        with ends_as_interrupt(), lock_folder(folder):
            yield
    except wrong as error:
        raise WrongUse(str(error)) from error
    finally:
        if not had_lock and not (folder / state).exists():
            with contextlib.suppress(OSError):
                (folder / ".lock").unlink(missing_ok=True)
                if made:
                    folder.rmdir()


@contextlib.contextmanager
def ends_as_interrupt() -> Iterator[None]:
    """A request to end, SIGTERM, is taken like Ctrl-C, so that what was started is ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

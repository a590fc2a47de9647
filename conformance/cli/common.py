"""Functions for every command: wrong use, `--json`, printing, progress, and the exit code."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import stat
import sys
import textwrap
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn, Self, TypeVar

import click

from specs.rendering import Table, as_data, as_lines, terminal_width
from specs.verdict import Verdict

WRONG_USE = 64
STDOUT = "-"
LEAST_WIDTH = 40
"""Columns; on a terminal that is narrower, words are left as they come."""

_CODE = re.compile("`[^`]+`")
_NO_BREAK = "\ufffe"  # a character that no text has

Command = TypeVar("Command", bound=Callable[..., Any])


OUTPUT_FAILED = 74  # EX_IOERR: what was to be printed could not be, so there is no verdict


class OutputFailedError(click.ClickException):
    """Standard output cannot be written: exit code 74 and one line."""

    exit_code = OUTPUT_FAILED

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output: {error.strerror or error}; no verdict")

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line on standard error, and let nothing try the output again."""
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        click.echo(f"insync: {self.message}", file=file, err=file is None)


class RenamedOption(click.Option):
    """An option that had another name: the former one still works, and no help shows it."""

    def __init__(self, *args: Any, former: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.former = former

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser know both names."""
        shown, self.opts = self.opts, [*self.opts, self.former]
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.opts = shown


@contextlib.contextmanager
def output() -> Iterator[None]:
    """Wraps every write to standard output; a reader that has closed the pipe is no error."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailedError(error) from error


class WrongUse(click.ClickException):
    """The command was called wrongly: exit code 64 and one line that says what to write instead."""

    exit_code = WRONG_USE

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the line, on standard error by default."""
        click.echo(f"insync: {self.message}", file=file, err=file is None)


def nearest(word: str, choices: Iterable[str]) -> str:
    """The half sentence that helps after an unknown name.

    "did you mean 'election'? one of: classic, election", without the question where nothing
    is near.
    """
    names = sorted(choices)
    if not names:
        return "there is none to choose from"
    lowered = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.5)
    question = f"did you mean '{lowered[close[0]]}'? " if close else ""
    return f"{question}one of: {', '.join(names)}"


def unknown(kind: str, word: str, choices: Iterable[str]) -> WrongUse:
    """The refusal of an unknown name, to be raised: `raise unknown("system", name, SYSTEMS)`."""
    return WrongUse(f"unknown {kind} '{word}': {nearest(word, choices)}")


def finish(verdict: Verdict) -> NoReturn:
    """End the command with the exit code of its verdict."""
    raise click.exceptions.Exit(verdict.exit_code)


def _writable_target(
    _context: click.Context, _parameter: click.Parameter, target: str | None
) -> str | None:
    # Refused before the work starts: a report that cannot be written should not cost an hour.
    if target is None or target == STDOUT:
        return target
    path = Path(target)
    if path.is_dir():
        raise WrongUse(f"--json {target}: is a folder; name a file in it, or - for standard output")
    if not path.resolve().parent.is_dir():
        raise WrongUse(f"--json {target}: there is no folder {path.parent}; create it first")
    return target


def json_option(command: Command) -> Command:
    """Add `--json FILE` to a click command; the value arrives as `json_target: str | None`."""
    return click.option(
        "--json",
        "json_target",
        metavar="FILE",
        callback=_writable_target,
        help="Also write the result as JSON to FILE (- for standard output, and nothing else).",
    )(command)


def emit_json(target: str | None, payload: object) -> None:
    """Write `payload` to a file, or to standard output for "-"; do nothing for None.

    Keys keep the order in which the command built them; an object that names no `format` gets that
    of its command, such as `insync.explore/1`. Reports in it are written as `specs.rendering` says;
    anything else that JSON does not know raises TypeError. A file is written under a temporary name
    and then renamed, so that nobody ever reads half of it.
    Raises WrongUse where the file cannot be written.
    """
    if target is None:
        return
    if isinstance(payload, dict) and "format" not in payload:
        payload = {"format": f"insync.{_command()}/1", **payload}
    text = json.dumps(as_data(payload), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if target == STDOUT:
        with output():
            sys.stdout.write(text)
            sys.stdout.flush()
        return
    try:
        write_atomically(Path(target), text)
    except OSError as error:
        raise WrongUse(f"--json {target}: {error.strerror}; name a file you may write") from error


def _command() -> str:
    """The command that runs, as `insync --help` has it."""
    context = click.get_current_context(silent=True)
    name = "json"
    while context is not None and context.parent is not None:
        name, context = context.info_name or name, context.parent
    return name


def write_atomically(path: Path, text: str) -> None:
    """Write a text file so that it is either whole or untouched. Raises OSError."""
    path = path.resolve()
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        # A pipe or a device, as in `--json >(jq .)` or /dev/null: to be written to, not replaced.
        path.write_text(text, encoding="utf-8")
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def say(text: str, json_target: str | None = None) -> None:
    """Print a line of the human report, unless standard output belongs to the JSON."""
    if json_target != STDOUT:
        with output():
            click.echo(fitted(text, terminal_width()))


def show_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    json_target: str | None = None,
    *,
    right: Collection[str] = (),
    prose: Collection[str] = (),
) -> None:
    """Print a `specs.rendering.Table`, unless standard output is for the JSON."""
    if json_target != STDOUT:
        table = Table(columns, list(rows), right=right, prose=prose)
        say("\n".join(["", *as_lines(table), ""]))


def fitted(text: str, width: int | None) -> str:
    """Break lines of prose between words where a terminal would break them anywhere.

    Code in backquotes stays whole, for copying; so do lines in columns and coloured ones.
    """
    if width is None or width < LEAST_WIDTH:
        return text
    return "\n".join(_broken(line, width) for line in text.split("\n"))


def _broken(line: str, width: int) -> str:
    body = line.lstrip(" ")
    if len(line) <= width or "  " in body or "\x1b" in body:
        return line
    indent = " " * (len(line) - len(body))
    whole = _CODE.sub(lambda code: code[0].replace(" ", _NO_BREAK), body)
    lines = textwrap.wrap(
        whole,
        width,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines).replace(_NO_BREAK, " ")


class Progress:
    """One line on standard error that overwrites itself; silent unless that is a terminal.

    Use as a context manager, so that the line is wiped when the work ends, however it ends.
    """

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._next = 0.0

    def __call__(self, text: str) -> None:
        """Show `text`, at most ten times a second."""
        if self._shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + 0.1
            self._write(text)

    def wipe(self) -> None:
        """Make room for a line of the report; the next text is shown at once."""
        if self._shown:
            self._write("")
            self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._shown:
            self._write("")

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

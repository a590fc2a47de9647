"""The entry point of the command line: a table of commands, each imported when it is used."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import click

from conformance.cli.common import (
    OUTPUT_FAILED,
    WRONG_USE,
    OutputFailedError,
    WrongUse,
    output,
    unknown,
)
from conformance.cli.interrupts import INTERRUPTED, interrupts
from specs.verdict import Verdict

READER_GONE = 141  # 128 + SIGPIPE: the reader of our output has closed the pipe
DEFECT = 70  # EX_SOFTWARE: a fault of insync itself, which must not look like "broken"


class CommandEntry(NamedTuple):
    """One command: where it lives, its line in `insync --help`, and under which heading."""

    module: str
    attribute: str
    help: str
    group: str = ""


def _group(heading: str, **lines: str) -> dict[str, CommandEntry]:
    """The commands under one heading; each is in the module of its name, except those in
    `_ELSEWHERE`."""
    return {
        name: CommandEntry(
            f"conformance.cli.{_ELSEWHERE.get(name, name).replace('-', '_')}",
            name.replace("-", "_"),
            line,
            heading,
        )
        for name, line in lines.items()
    }


_ELSEWHERE = {"produce": "records", "consume": "records"}
_FORMER_NAMES = {"zoo": "bugs"}  # they still work, and no help shows them

# In the order of --help. A command is written in one module and named here, nowhere else.
COMMANDS: dict[str, CommandEntry] = {
    **_group(
        "Start here",
        verify="Check every claim; print one table.",
        play="Play the model in the browser.",
        find="Print the shortest run that breaks a claim.",
        explore="Visit every reachable state.",
        bugs="Show historic bugs, and that their fixes work.",
        story="Play stories; compare with their recording.",
        check="Judge traces, events, or broker logs.",
    ),
    **_group(
        "The model",
        prove="Prove claims for any number of brokers.",
        surgery="Delete guards one by one; say what breaks.",
        reference="Print a system's transitions.",
        export="Write a system for TLC to check.",
    ),
    **_group(
        "History",
        versions="List versions and switches.",
        compare="Show two runs side by side.",
    ),
    **_group(
        "The implementation",
        cluster="Run a cluster of the implementation.",
        chaos="Break a cluster while clients use it.",
        topics="Create, describe, alter, delete topics.",
        reassign="Move partitions to other replicas.",
        elect="Elect preferred leaders.",
        produce="Send lines as records.",
        consume="Print the records of a topic.",
        offsets="Print offsets by time.",
        configs="Describe and alter configurations.",
        **{
            "delete-records": "Delete the records below offsets.",
            "dump-log": "Print the files of a log.",
        },
        inspect="Compare the log directories of brokers.",
        simulate="Run and record the implementation.",
    ),
    **_group(
        "Conformance of the two",
        lockstep="Walk both sides, step by step.",
        edges="Walk every edge on the implementation.",
        mutants="Plant faults; count those detected.",
        vectors="Run test vectors on model and implementation.",
    ),
    **_group(
        "Logs of real brokers",
        ingest="Turn broker logs into events.",
        watch="Judge broker logs while they grow.",
    ),
    **_group(
        "Apache Kafka itself",
        kafka="Run releases; replay runs of the model.",
    ),
    **_group(
        "Learning and teaching",
        lessons="Check the runs of the lessons.",
        grade="Judge answers to exercises.",
        explain="Show a run as a page or a picture.",
        docs="Build the documentation as a site.",
        pictures="Take screenshots of the explorer.",
    ),
    **_group(
        "The project",
        new="Write the files of a new system, claim or bug.",
        test="Run the project's own gates and tests.",
    ),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and help line, and imports one when it runs.

    It also settles every exit code: the verdict a command returned, 64 for wrong use, 130 for
    Ctrl-C, 141 where the reader of the output has gone, 70 for a defect of insync itself.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command called `cmd_name`; None where the table has no such name."""
        entry = COMMANDS.get(_FORMER_NAMES.get(cmd_name, cmd_name))
        if entry is None:
            return None
        command = getattr(importlib.import_module(entry.module), entry.attribute)
        assert isinstance(command, click.Command), f"{entry} is not a click command"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Like click, but an unknown command is answered with the nearest name."""
        if args[0] not in {*COMMANDS, *_FORMER_NAMES} and not args[0].startswith("-"):
            raise unknown("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands from the table alone, so that help imports nothing."""
        width = max(map(len, COMMANDS))
        for heading in dict.fromkeys(entry.group for entry in COMMANDS.values()):
            with formatter.section(heading or "Commands"):
                formatter.write_dl(
                    [
                        (name.ljust(width), entry.help)
                        for name, entry in COMMANDS.items()
                        if entry.group == heading
                    ]
                )

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> NoReturn:
        """Run one command line and leave with its exit code."""
        extra["standalone_mode"] = False
        try:
            code = _exit_code(super().main(args, prog_name="insync", **extra))
            if interrupts.asked:  # some code caught the interrupt; its result does not count
                raise KeyboardInterrupt
            sys.exit(code)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            sys.exit(WRONG_USE)
        except click.UsageError as error:
            WrongUse(_usage_message(error)).show()
            sys.exit(WRONG_USE)
        except click.ClickException as error:
            error.show()
            sys.exit(error.exit_code)
        except (_CommandInterrupted, click.Abort, KeyboardInterrupt) as error:
            interrupts.report(str(error))
            sys.exit(INTERRUPTED)
        except Exception as error:
            if interrupts.asked:  # ctypes tells Ctrl-C amid an argument as an error of its own
                interrupts.report()
                sys.exit(INTERRUPTED)
            if isinstance(error, OSError) and _was_printing(error):
                OutputFailedError(error).show()
                sys.exit(OUTPUT_FAILED)
            if _is_of_the_model(error):  # a file of the model, read for the first time
                WrongUse(str(error)).show()
                sys.exit(WRONG_USE)
            traceback.print_exc()
            click.echo("insync: this is a defect of insync itself, not a verdict", err=True)
            sys.exit(DEFECT)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Like click; prints help and version, to a reader that may close the pipe."""
        with _reader_may_leave(), output():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that the line names."""
        try:
            with _reader_may_leave():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise _CommandInterrupted(
                *error.args
            ) from None  # click would add an empty line of its own
        except click.UsageError as error:
            # click forgets which command it was reading when an option lacks its argument.
            name = ctx.invoked_subcommand or ""
            command = self.get_command(ctx, name)
            if error.ctx is None and command is not None:
                error.ctx = click.Context(command, parent=ctx, info_name=name)
            raise


def _is_of_the_model(error: Exception) -> bool:
    """Does the notation refuse a text of the model? Its errors say what to write instead."""
    notation = sys.modules.get("model.language.errors")
    return notation is not None and isinstance(error, notation.ProtocolError)


def _was_printing(error: OSError) -> bool:
    """Did click fail to print, as it does the help of a command?"""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename == click.utils.__file__


class _CommandInterrupted(Exception):
    """Ctrl-C while a command ran; its message says what was kept."""


@contextlib.contextmanager
def _reader_may_leave() -> Iterator[None]:
    """End quietly, and with no verdict's exit code, where `insync … | head` has read enough."""
    try:
        yield
        with output():
            sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes again at exit; give it somewhere harmless to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(READER_GONE)


def _exit_code(result: object) -> int:
    if isinstance(result, Verdict):
        return result.exit_code
    return result if isinstance(result, int) else 0


def _usage_message(error: click.UsageError) -> str:
    message = error.format_message().rstrip(".")
    message = message[:1].lower() + message[1:]
    if error.ctx is None:
        return f"{message}; see insync --help"
    usage = " ".join([error.ctx.command_path, *error.ctx.command.collect_usage_pieces(error.ctx)])
    return f"{message}; write: {usage} (see {error.ctx.command_path} --help)"


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="insync", prog_name="insync")
def main() -> None:
    """Kafka's ZooKeeper-era controller and replication protocol: specified, proved, checked.

    Exit codes: 0 holds, 1 broken, 2 unknown, 3 not checked, 64 wrong use.

    \b
    Example:
      insync verify
      insync explore election --json -
    """

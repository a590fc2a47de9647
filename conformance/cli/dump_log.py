"""`insync dump-log`: the files of a log as text, as `kafka-dump-log.sh` prints them."""

from __future__ import annotations

import mmap
from pathlib import Path

import click

from conformance.cli.common import WrongUse, emit_json, json_option, say
from impl.log.crc32c import Buffer
from impl.log.dump import Dump, DumpOptions


@click.command("dump-log")
@click.argument("paths", metavar="FILE...", nargs=-1)
@click.option("--files", metavar="FILE,...", help="As kafka-dump-log.sh takes them.")
@click.option("--deep-iteration", is_flag=True, help="Print each record, not only batches.")
@click.option("--print-data-log", is_flag=True, help="Each record with its key and value.")
@click.option("--index-sanity-check", is_flag=True, help="Check an index; do not print it.")
@click.option("--verify-index-only", is_flag=True, help="Compare an index; do not print it.")
@json_option
def dump_log(
    paths: tuple[str, ...],
    files: str | None,
    deep_iteration: bool,
    print_data_log: bool,
    index_sanity_check: bool,
    verify_index_only: bool,
    json_target: str | None,
) -> None:
    """Print segments (.log), indexes (.index, .timeindex) and producers' state (.snapshot).

    The lines are those of kafka-dump-log.sh, 2.8. What does not fit together, and where a
    file is damaged, is said on standard error.

    Exit code 0: all of it is sound; 1: something is damaged, or an index is not its segment's.

    \b
    Example:
      insync dump-log DIR/broker1/data/orders-0/00000000000000000000.log
      insync dump-log --print-data-log DIR/broker1/data/orders-0/*.log
      insync dump-log --verify-index-only DIR/broker1/data/orders-0/*.index
    """
    chosen = [*paths, *(part.strip() for part in (files or "").split(",") if part.strip())]
    if not chosen:
        raise WrongUse("dump-log: name a file; write insync dump-log DIR/t-0/*.log")
    options = DumpOptions(deep_iteration, print_data_log, index_sanity_check, verify_index_only)
    found = []
    unsound = False
    for path in chosen:
        try:
            _read(path)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise WrongUse(f"{path}: {why}; name a file of a log") from error
        dump = Dump(path, _read, options)
        kept: list[str] = []
        for line in dump.lines():
            say(line, json_target)
            if json_target is not None:
                kept.append(line)
        if not dump.known:
            click.echo(f"Ignoring unknown file {path}", err=True)
        for line in dump.findings:
            click.echo(line, err=True)
        for line in dump.damage:
            click.echo(f"insync: {line}", err=True)
        unsound |= not dump.sound
        found.append(
            {"file": path, "known": dump.known, "lines": kept, "findings": dump.findings,
             "damage": dump.damage}
        )  # fmt: skip
    emit_json(json_target, {"files": found, "sound": not unsound})
    if unsound:
        raise click.exceptions.Exit(1)


def _read(path: str) -> Buffer:
    """A file's content, mapped: a segment may be larger than memory."""
    with Path(path).open("rb") as file:
        if not file.seek(0, 2):
            return b""
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

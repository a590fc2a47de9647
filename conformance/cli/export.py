"""`insync export`: the protocol's text for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.chosen_system import Size, Variant, described, listed, refusals, system_named
from conformance.cli.common import (
    WrongUse,
    emit_json,
    json_option,
    say,
    unknown,
    write_atomically,
)
from conformance.cli.options import size_options, system_argument, variant_options
from specs.tla import Export, exported

FORMATS = ("tla",)


def _known(context: click.Context, _parameter: click.Parameter, name: str | None) -> str:
    if name is None:
        wanted = " ".join(context.command.collect_usage_pieces(context))
        raise WrongUse(
            f"name a format, one of {', '.join(FORMATS)}; write: {context.command_path} {wanted}"
        )
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)
    return name


@click.command()
@click.argument("form", metavar="FORMAT", required=False, callback=_known)
@system_argument
@variant_options
@size_options
@click.option(
    "--symmetry", is_flag=True, help="Let TLC use the symmetry of brokers, if the system has it."
)
@click.option(
    "--out", default=".", metavar="DIR", show_default=True, help="Where to write the two files."
)
@json_option
def export(
    form: str,
    system: str,
    variant: Variant,
    size: Size,
    symmetry: bool,
    out: str,
    json_target: str | None,
) -> None:
    """Write SYSTEM for another tool; FORMAT is tla.

    tla: a TLA+ module, and a configuration for TLC, which checks it. They are named by system,
    version and switches, and replaced if they are there. The module is the protocol's own text:
    an action a transition, with its reasons; an invariant a claim that always holds. Within the
    same bounds TLC finds as many distinct states as insync explore.

    \b
    Example:
      insync export tla election
      insync export tla election --without zk_writes_fenced --out specs
      insync export tla classic --version kip_101 --brokers 3 --bound log=2
      java -cp tla2tools.jar tlc2.TLC -continue classic_kip_101
    """
    chosen = system_named(system)
    recorded = variant.recorded(chosen)
    limits = size.limits(chosen)
    with refusals():
        made = exported(recorded, limits, symmetry=symmetry)
    written = _write(made, Path(out), out)
    say(f"{described(recorded)}: {listed(limits)}", json_target)
    for path in written:
        say(f"written: {path}", json_target)
    say(f"to check it: java -cp tla2tools.jar tlc2.TLC {made.name}", json_target)
    payload = {
        "form": form,
        "system": chosen.name,
        "version": recorded.version,
        "without": recorded.without,
        "bounds": limits,
        "symmetry": symmetry,
        "module": made.name,
        "constants": made.constants,
        "invariants": list(made.invariants),
        "files": written,
    }
    emit_json(json_target, payload)


def _write(made: Export, folder: Path, typed: str) -> list[Path]:
    """Both files, each whole or not at all; the module first, as the other needs it."""
    if typed == "":
        raise WrongUse("--out '': name a folder, such as --out specs")
    if folder.exists() and not folder.is_dir():
        raise WrongUse(f"--out {typed}: is a file; name a folder, such as --out {folder.parent}")
    files = {
        folder / f"{made.name}.tla": made.module,
        folder / f"{made.name}.cfg": made.configuration,
    }
    for path in files:
        if path.is_dir():
            raise WrongUse(f"--out {typed}: {path.name} is a folder there; name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in files.items():
            write_atomically(path, text)
    except OSError as error:
        raise WrongUse(
            f"--out {typed}: {error.strerror}; name a folder that you may write"
        ) from error
    return list(files)

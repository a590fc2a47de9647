"""`insync convert`: recorded runs as columns, which are smaller and quicker to check."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from conformance.cli.common import Progress, WrongUse, emit_json, finish, json_option, say
from conformance.cli.ingest import find
from conformance.columns.magic import FORMS, is_columns
from specs.verdict import Verdict

_EXAMPLE = """
\b
Example:
  insync simulate --seeds 1..20 --out runs
  insync convert runs --out columns --form parquet
  insync check columns
"""


@click.command(epilog=_EXAMPLE)
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@click.option("--out", required=True, metavar="DIR", help="Where to write, as NAME.arrow.")
@click.option("--form", type=click.Choice(list(FORMS)), default="arrow", show_default=True)
@json_option
def convert(paths: tuple[str, ...], out: str, form: str, json_target: str | None) -> None:
    """Write recorded traces as columns, which any tool that knows Arrow or Parquet can read.

    PATHS are traces (insync.trace/1) or folders of them. A column is a field of the model, as an
    observation shows it; `insync check` reads columns as it does lines, many times as fast, with
    the same verdict at the same line. Files that are there are replaced. A trace that cannot be
    vouched for, or shows what no column can say, is named with its line, and nothing is written
    of it: exit 3.
    """
    sources = _sources(paths)
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUse(f"--out {out}: {error.strerror}; name a folder you may write") from error
    files: list[dict[str, Any]] = []
    findings: list[dict[str, Any]] = []
    with Progress() as progress:
        for source in sources:
            progress(f"{source.name}, {len(files)} of {len(sources)} done")
            made = _converted(source, folder / f"{source.name.split('.')[0]}.{form}")
            (findings if "why" in made else files).append(made)
    for one in files:
        say(f"{one['out']}: {one['lines']:,} lines, {one['bytes']:,} bytes", json_target)
    for one in findings:
        say(f"{one['file']}:{one['line']}: {one['why']}", json_target)
    emit_json(json_target, {"form": form, "files": files, "findings": findings})
    finish(Verdict.NOT_CHECKED if findings else Verdict.HOLDS)


def _sources(paths: tuple[str, ...]) -> list[Path]:
    found = [Path(path) for path in find(paths).traces if not is_columns(path)]
    if not found:
        raise WrongUse(f"no trace in {', '.join(paths)}; record some: insync simulate --out DIR")
    times = Counter(path.name.split(".")[0] for path in found)
    twice = [path for path in found if times[path.name.split(".")[0]] > 1]
    if twice:
        raise WrongUse(f"{twice[0]} and {twice[1]} would be one file; convert them one by one")
    return found


def _converted(source: Path, target: Path) -> dict[str, Any]:
    from conformance.columns.writing import convert as write
    from impl import TraceError

    try:
        lines = write(source, target)
    except TraceError as error:
        why = str(error).removeprefix(f"{source}:{error.line}: ")
        return {"file": str(source), "line": error.line, "why": why}
    except OSError as error:
        raise WrongUse(f"{target}: {error.strerror}; name a folder you may write") from error
    size = target.stat().st_size
    return {"file": str(source), "out": str(target), "lines": lines, "bytes": size}

"""`insync pictures`: screenshots of the explorer for the README and the documentation."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.common import Progress, WrongUse, emit_json, finish, json_option, say
from specs.verdict import Verdict

_EXAMPLE = """
\b
Example:
  insync pictures --check
  insync pictures --out docs/pictures
"""


@click.command(epilog=_EXAMPLE)
@click.option(
    "--out", default="docs/pictures", show_default=True, metavar="DIR", help="The output folder."
)
@click.option("--check", is_flag=True, help="Say which are not current, and take none.")
@json_option
def pictures(out: str, check: bool, json_target: str | None) -> None:
    """Take five screenshots of the explorer, in Chromium.

    Beside them goes pictures.json, by which --check tells without a browser whether the explorer
    still shows what is on them; then exit code 1 says that it does not.
    """
    try:
        from conformance.web.pictures import MOMENTS, NoBrowserError, stale, take
    except ImportError as error:
        raise WrongUse("the page needs starlette and uvicorn: install insync[play]") from error

    folder = Path(out)
    wrong: list[str] = []
    if check:
        wrong = stale(folder)
        for line in wrong:
            say(line, json_target)
    else:
        try:
            with Progress() as progress:
                taken = take(folder, progress)
            for path in taken:
                say(f"written to {path}", json_target)
        except (NoBrowserError, OSError) as error:
            raise WrongUse(f"--out {out}: {error}") from error
    verdict = Verdict.BROKEN if wrong else Verdict.HOLDS
    say(f"{verdict}: {len(MOMENTS)} pictures in {out}", json_target)
    names = [moment.name for moment in MOMENTS]
    emit_json(json_target, {"verdict": verdict, "pictures": names, "wrong": wrong})
    finish(verdict)

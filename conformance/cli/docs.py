"""`insync docs`: the documentation as a site, made from the repository, without network."""

from __future__ import annotations

import logging
import tempfile
from importlib.util import find_spec
from pathlib import Path

import click

from conformance.cli.common import Progress, WrongUse, emit_json, json_option, say

_EXAMPLE = """
\b
Example:
  insync docs --out site
  insync docs --out pages --markdown
"""
_OURS = "mkdocs.yml", "index.html"


@click.command(epilog=_EXAMPLE)
@click.option("--out", default="site", show_default=True, metavar="DIR", help="The output folder.")
@click.option("--markdown", is_flag=True, help="Write the pages as Markdown, and build no site.")
@json_option
def docs(out: str, markdown: bool, json_target: str | None) -> None:
    """Build the documentation: texts, commands, transitions, lessons, pictures.

    Commands are described in their own words and transitions as the model has them, when this is
    run. Lessons and stories play in the site without a server, from runs that are recorded now
    (about a minute). Nothing is fetched, and the site fetches nothing: any static host will do.
    """
    try:
        from conformance.web.site import build, write
    except ImportError as error:
        raise WrongUse("the lessons' pages need insync[play]: install it") from error
    if not markdown and find_spec("mkdocs") is None:
        raise WrongUse("the site needs mkdocs: install insync[docs], or write --markdown")
    to = Path(out)
    _refuse_what_is_not_ours(to, out)
    logging.getLogger("mkdocs").setLevel(logging.WARNING)
    try:
        with Progress() as progress:
            if markdown:
                written = write(to, _commands(), report=progress)
            else:
                with tempfile.TemporaryDirectory() as room:
                    written = write(Path(room), _commands(), report=progress)
                    build(Path(room), to)
    except (OSError, ValueError) as error:
        raise WrongUse(f"--out {out}: {error}") from error
    say(f"written to {out}: {len(written)} pages", json_target)
    emit_json(json_target, {"out": out, "pages": sorted(path.name for path in written)})


def _refuse_what_is_not_ours(to: Path, out: str) -> None:
    """A folder that the site replaces must be an older one of it, or empty."""
    if to.is_dir() and any(to.iterdir()) and not any((to / name).exists() for name in _OURS):
        raise WrongUse(f"--out {out}: holds other things than a site; name a folder of its own")
    if to.exists() and not to.is_dir():
        raise WrongUse(f"--out {out}: is a file; name a folder")


def _commands() -> dict[str, click.Command]:
    from conformance.cli.main import COMMANDS, main

    context = click.Context(main)
    found = {name: main.get_command(context, name) for name in COMMANDS}
    return {name: one for name, one in found.items() if one is not None}

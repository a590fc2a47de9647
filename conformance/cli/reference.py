"""`insync reference`: every transition of a system, with its guards, releases, bugs and stories."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.chosen_system import refusals, system_named
from conformance.cli.common import WrongUse, emit_json, json_option, say, unknown, write_atomically
from specs.rendering import as_data

_EXAMPLE = """
\b
Example:
  insync reference election
  insync reference replication leader_shrinks_isr
  insync reference reassignment --out reassignment.md
"""


@click.command(epilog=_EXAMPLE)
@click.argument("system", metavar="SYSTEM")
@click.argument("step", metavar="[TRANSITION]", required=False)
@click.option("--out", metavar="FILE.md", help="Write the text to FILE.md.")
@json_option
def reference(system: str, step: str | None, out: str | None, json_target: str | None) -> None:
    """Print what the model says of a system: its claims, and each transition.

    For each transition: what makes it possible, in which releases, what it writes, which historic
    bugs changed it, which stories play it, and where its text stands. All of it is read off the
    model when the command runs.
    """
    from specs.reference import markdown, pages

    with refusals():
        chosen = system_named(system)
        found = pages(chosen)
    if step is not None:
        kept = [page for page in found if page.name == step]
        if not kept:
            raise unknown(f"transition of {system}", step, [page.name for page in found])
        found = kept
    emit_json(
        json_target,
        {
            "format": "insync.reference/1",
            "system": chosen.name,
            "about": chosen.about,
            "transitions": [
                {**as_data(page), "bugs": [bug.id for bug in page.bugs]} for page in found
            ],
        },
    )
    text = markdown(chosen, found, with_claims=step is None)
    if out is None:
        say(text.rstrip("\n"), json_target)
        return
    try:
        write_atomically(Path(out), text)
    except OSError as error:
        raise WrongUse(f"--out {out}: {error.strerror}; name a file you may write") from error
    say(f"written to {out}: {len(found)} transitions of {chosen.name}", json_target)

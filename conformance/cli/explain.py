"""`insync explain`: a run as one self-contained page, picture or text."""

from __future__ import annotations

import html
from pathlib import Path

import click

from conformance.cli.common import WrongUse, emit_json, json_option, say, write_atomically
from conformance.cli.keep_results import open_option, show, show_file

_EXAMPLE = """
\b
Example:
  insync find strong_isr classic --version kip_101 --json run.json
  insync explain run.json --out run.html
  insync explain specs/stories/m2_is_lost.story --out m2.svg
  insync explain run-17.ndjson --open
  insync explain specs/stories/m2_is_lost.story --cards --out cards.html
  insync explain specs/stories/m2_is_lost.story --embed --out lost.html
"""

FORMS = (".html", ".svg", ".md", ".mmd", ".py")


@click.command(epilog=_EXAMPLE)
@click.argument("run", metavar="RUN")
@click.option(
    "--out", metavar="FILE", help="FILE.html, .svg, .md, .mmd, .py; else text is printed."
)
@click.option("--claim", metavar="CLAIM", help="Which run, where the file holds several.")
@click.option("--cards", "as_cards", is_flag=True, help="Cards to print and cut out, as .html.")
@click.option("--embed", "to_embed", is_flag=True, help="A page for an iframe of yours, as .html.")
@open_option
@json_option
def explain(
    run: str,
    out: str | None,
    claim: str | None,
    as_cards: bool,
    to_embed: bool,
    opens: bool,
    json_target: str | None,
) -> None:
    """Show a run: a story, a trace, or what find, explore, bugs or check wrote with --json.

    Each step is reported with what it changed and the claims that break by it. The page needs no
    network and can be read on paper; .mmd is a sequence diagram for Mermaid, .py a test for pytest
    that plays the run again. A trace that does not fit is reported up to its last line that does,
    with the diagnosis. --embed writes one file that plays the run in a page of yours, and says what
    to put there. --open shows the run in the explorer, and a trace beside the model.
    """
    from conformance.web.board import board
    from conformance.web.cards import cards
    from conformance.web.explain import embedded, frames_of, markdown, page
    from conformance.web.printed_run import svg
    from conformance.web.run_exports import mermaid, pytest_of
    from conformance.web.run_files import NoRunError, read_run
    from model.language import ProtocolError

    if as_cards and (out is None or Path(out).suffix != ".html"):
        raise WrongUse("--cards makes a page to print; write: --cards --out FILE.html")
    if to_embed and (as_cards or out is None or Path(out).suffix != ".html"):
        raise WrongUse("--embed makes a page; write: --embed --out FILE.html, without --cards")
    if out is not None and Path(out).suffix not in FORMS:
        raise WrongUse(f"--out {out}: write a file that ends in {', '.join(FORMS)}")
    try:
        played = read_run(Path(run), claim)
        frames = frames_of(board(played.heading), played.lines)
    except NoRunError as error:
        raise WrongUse(str(error)) from error
    except ProtocolError as error:
        raise WrongUse(f"{run}: {error}") from error
    except OSError as error:
        raise WrongUse(f"{run}: {error.strerror}; name a story or the JSON of a run") from error
    emit_json(
        json_target,
        {"title": played.title, "heading": played.heading, "lines": list(played.lines),
         "loop": played.loop, "frames": frames},
    )  # fmt: skip
    if opens:
        show_file(Path(run)) if claim is None else show(played)
        return
    if out is None:
        say(markdown(played, frames).rstrip("\n"), json_target)
        return
    forms = {".html": page, ".svg": svg, ".md": markdown, ".mmd": mermaid, ".py": pytest_of}
    form = cards if as_cards else embedded if to_embed else forms[Path(out).suffix]
    try:
        write_atomically(Path(out), form(played, frames))
    except OSError as error:
        raise WrongUse(f"--out {out}: {error.strerror}; name a file you may write") from error
    say(f"written to {out}: {len(frames) - 1} steps", json_target)
    if to_embed:
        name = html.escape(Path(out).name)
        said = html.escape(played.title)
        say(f'<iframe src="{name}" title="{said}" width="100%" height="560"></iframe>', json_target)

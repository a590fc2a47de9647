"""`insync compare`: two runs in lock-step, and the first difference between them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cli.common import (
    WrongUse,
    emit_json,
    finish,
    json_option,
    say,
    write_atomically,
)
from specs.rendering import as_data
from specs.verdict import Verdict

if TYPE_CHECKING:
    from conformance.web.compare import Comparison
    from conformance.web.run_files import ReplayedRun

MODEL = "model"
_EXAMPLE = """
\b
Example:
  insync compare specs/stories/m2_is_lost.story 0.11
  insync compare specs/stories/m2_is_lost.story specs/stories/m2_is_saved.story
  insync compare lost.json "with truncation=hw" --out both.html
  insync compare model run-17.ndjson --open
  insync compare model /var/log/kafka
"""


@click.command(epilog=_EXAMPLE)
@click.argument("left", metavar="A")
@click.argument("right", metavar="B")
@click.option("--out", metavar="FILE.html", help="Write one self-contained page.")
@click.option("--open", "opens", is_flag=True, help="Show both in the browser.")
@json_option
def compare(left: str, right: str, out: str | None, opens: bool, json_target: str | None) -> None:
    """Show two runs side by side, step by step, the first difference in the middle.

    A is a run: a story, a trace, or what find, explore or bugs wrote with --json. B is another run
    of the same system, or the world to play the same steps in: a version, or words of a heading
    such as "without fetch_fencing". `model TRACE` lays a trace beside what the model says, and
    `model LOGS` the logs of brokers beside what is allowed. A step that is refused on one side is
    passed over there, with its reason. Exit code 0 says that both are alike, 1 that they differ.
    """
    from conformance.web.compare import as_text, packed, page

    if out is not None and Path(out).suffix != ".html":
        raise WrongUse(f"--out {out}: a comparison is a page; name a FILE.html")
    result, opened, verdict = _compared(left, right)
    say(as_text(result), json_target)
    emit_json(json_target, as_data(result))
    if out is not None:
        try:
            write_atomically(Path(out), page(result))
        except OSError as error:
            raise WrongUse(f"--out {out}: {error.strerror}; name a file you may write") from error
        say(f"written to {out}", json_target)
    if opens:
        from conformance.cli.play import serve

        game: dict[str, object] = {"heading": "system replication brokers 3", "lines": []}
        if opened is not None:
            game = {"heading": opened.heading, "lines": list(opened.lines)}
        serve(game, 0, opens=True, comparison=packed(result))
    finish(verdict)


def _verdict(result: Comparison, anything: bool = True) -> Verdict:
    if result.first is not None:
        return Verdict.BROKEN
    return Verdict.HOLDS if anything and len(result.rows) > 1 else Verdict.NOT_CHECKED


def _compared(left: str, right: str) -> tuple[Comparison, ReplayedRun | None, Verdict]:
    from conformance.web.compare import NoComparisonError
    from conformance.web.run_files import NoRunError
    from model.language import ProtocolError

    try:
        if MODEL in (left, right):
            return _beside_the_model(Path(right if left == MODEL else left))
        result, run = _two_runs(left, right)
        return result, run, _verdict(result)
    except (NoRunError, NoComparisonError) as error:
        raise WrongUse(str(error)) from error
    except ProtocolError as error:
        raise WrongUse(f"{right}: is no file, and as a version: {error}") from error
    except OSError as error:
        raise WrongUse(
            f"{error.filename}: {error.strerror}; name a story, a trace, or the JSON of a run"
        ) from error


def _two_runs(left: str, right: str) -> tuple[Comparison, ReplayedRun]:
    from conformance.web.compare import compared, under
    from conformance.web.run_files import read_run

    run = read_run(Path(left))
    if Path(right).exists():
        return compared(run, read_run(Path(right))), run
    if Path(right).suffix in (".story", ".json", ".ndjson") or "/" in right:
        _ = Path(right).read_bytes()  # says what is wrong with the file
    return compared(run, under(run, right)), run


def _beside_the_model(path: Path) -> tuple[Comparison, ReplayedRun | None, Verdict]:
    """A trace, or logs. Nothing compared is never alike."""
    from conformance.web.compare import with_trace
    from conformance.web.trace_as_run import is_trace, traced

    if is_trace(path):
        run, observed = traced(path)
        result = with_trace(run, observed)
        # What a search gave up is no difference yet.
        gave_up = run.diagnosis is not None and ": unknown: " in run.diagnosis
        return result, run, Verdict.UNKNOWN if gave_up else _verdict(result)
    if not path.exists():
        _ = path.read_bytes()  # says what is wrong with it
    from conformance.web.log_comparison import with_logs  # Arrow takes a moment to load

    judged = with_logs(path)
    return judged.comparison, None, _verdict(judged.comparison, judged.compared > 0)

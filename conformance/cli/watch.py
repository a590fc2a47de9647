"""`insync watch`: judge the logs of brokers while they grow, and report a violation at once."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from typing import TYPE_CHECKING

import click

from conformance.cli.common import Progress, WrongUse, emit_json, finish, json_option, say
from conformance.cli.ingest import check_release, layout_option, started
from conformance.cli.interrupts import interrupts
from conformance.cli.keep_results import open_option, show_checked
from specs.rendering import as_data
from specs.verdict import Verdict

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

    from conformance.pipeline.streaming_state import ReportedFinding

_EXAMPLE = """
\b
Example:
  insync watch /var/log/kafka --checkpoint kafka-watch
  insync watch /var/log/kafka --checkpoint kafka-watch --once
"""


@click.command(epilog=_EXAMPLE)
@click.argument("folder", metavar="DIR")
@click.option("--checkpoint", metavar="DIR", help="Save the progress in DIR, and continue from it.")
@click.option(
    "--every",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=2.0,
    show_default=True,
    help="Time between two looks at the files.",
)
@click.option("--once", is_flag=True, help="Judge the present content, and end.")
@click.option("--version", "release", metavar="V", help="The release that writes the lines.")
@layout_option
@click.option("--master", metavar="URL", help="The Spark master; local[2] when none is given.")
@open_option
@json_option
def watch(
    folder: str,
    checkpoint: str | None,
    every: float,
    once: bool,
    release: str | None,
    layout: str | None,
    master: str | None,
    opens: bool,
    json_target: str | None,
) -> None:
    """Read the broker logs in DIR as they grow, and report each finding when it has stood twice.

    Files may be rolled and compressed meanwhile. A finding that a later line explains is taken
    back. With --checkpoint, a watch that was ended, or killed, goes on where it was: nothing is
    lost, and nothing reported twice. Ends at Ctrl-C (or SIGTERM, or --once) with the verdict of
    `insync check` on all that was read: 0 holds, 1 broken, 2 unknown, 3 not checked; --open then
    lays the logs beside what is allowed.
    """
    if not os.path.isdir(folder):
        what = "is no folder; insync check reads files" if os.path.exists(folder) else (
            "does not exist; name the folder that the brokers log to"
        )  # fmt: skip
        raise WrongUse(f"{folder} {what}")
    check_release(release, layout)
    kept = checkpoint or tempfile.mkdtemp(prefix="insync-watch-")
    try:
        with Progress() as progress, started("spark"):
            progress("starting Spark, which takes some seconds")
            result = _watched(
                folder, kept, every, once, release, layout, master, json_target, progress
            )
    finally:
        if checkpoint is None:
            shutil.rmtree(kept, ignore_errors=True)
    emit_json(json_target, result)
    if opens:
        show_checked([folder], result)
    finish(Verdict(result["verdict"]))


def _watched(
    folder: str,
    kept: str,
    every: float,
    once: bool,
    release: str | None,
    layout: str | None,
    master: str | None,
    json_target: str | None,
    progress: Progress,
) -> dict[str, object]:
    from conformance.pipeline import stream
    from conformance.pipeline.store import NotOursError
    from conformance.pipeline.tables import show_finding, show_left_out, show_lines
    from conformance.pipeline.watch_store import WatchStore

    def line(text: str) -> None:
        progress.wipe()
        say(text, json_target)

    def report(said: ReportedFinding) -> None:
        back = "" if said.what == "finding" else "taken back: "
        show_finding(as_data(said.finding), line, back)

    try:
        watching = WatchStore(kept, folder)
    except (NotOursError, OSError) as error:
        raise WrongUse(f"--checkpoint {kept}: {error}") from error
    query = stream.watch(
        folder,
        watching,
        report,
        seconds=every,
        final=once,
        release=release,
        layout=layout,
        master=master,
    )
    interrupts.end_as_usual()
    try:
        _run(query, once, folder, progress)
    except KeyboardInterrupt:
        line("ended; what was read so far:")
    finally:
        query.stop()
        watching.close()
    result = watching.result()
    show_left_out(result, line)
    show_lines(result, line)
    stand = Counter(finding["kind"] for finding in result["findings"])
    for kind, count in sorted(stand.items()):
        line(f"findings that stand: {count} {kind}")
    line(f"verdict: {result['headline']}")
    return result


def _run(query: StreamingQuery, once: bool, folder: str, progress: Progress) -> None:
    """Until it rests, or is ended."""
    progress(f"reading what is in {folder}")
    if once:
        query.processAllAvailable()
        return
    looks = 0
    while not query.awaitTermination(1):
        if query.lastProgress is not None:
            looks = query.lastProgress["batchId"] + 1
        if looks:
            times = "once" if looks == 1 else f"{looks} times"
            progress(f"watching {folder}, read {times}; Ctrl-C ends it with the verdict")

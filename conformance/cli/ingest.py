"""`insync ingest`: logs of real brokers as typed events, and rejected lines with reasons."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.common import Command, Progress, WrongUse, emit_json, finish, json_option, say
from specs.verdict import Verdict

if TYPE_CHECKING:
    from conformance.ingest.files import LogSources
    from conformance.pipeline.corpus import Engine

_EXAMPLE = """
\b
Example:
  insync ingest /var/log/kafka --out events
  insync check events
  insync ingest --templates
"""


def _show_templates(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or context.resilient_parsing:
        return
    from conformance.ingest.dialects import DIALECTS

    shown: set[str] = set()
    for dialect in DIALECTS.values():
        click.echo(f"{dialect.name}: releases {', '.join(dialect.releases)}")
        for template in dialect.templates:
            if template.name not in shown:
                shown.add(template.name)
                click.echo(f"  {template.kind} ({template.logger})\n    {template.text}")
                click.echo(f"    such as: {template.example}" if template.example else "")
    context.exit()


AUTO, LOCAL, SPARK = "auto", "local", "spark"


def engine_option(command: Command) -> Command:
    """Add --engine to a command that reads logs."""
    return click.option(
        "--engine",
        type=click.Choice([AUTO, LOCAL, SPARK]),
        default=AUTO,
        show_default=True,
        help="auto: this process, and Spark when --master is given or the logs are large.",
    )(command)


def layout_option(command: Command) -> Command:
    """Add --layout to a command that reads logs."""
    return click.option(
        "--layout",
        metavar="PATTERN",
        help="The log4j pattern of the lines, such as '%d{ISO8601} [%t] %p %c - %m%n', where it is "
        "not recognised. Containers' prefixes and JSON are.",
    )(command)


@click.command(epilog=_EXAMPLE)
@click.option(
    "--templates",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_templates,
    help="Print the kinds of lines that are understood, and end.",
)
@click.argument("logs", nargs=-1, required=True, metavar="LOGS...")
@click.option("--out", required=True, metavar="DIR", help="Where to write the Parquet tables.")
@click.option("--force", is_flag=True, help="Replace DIR even when it holds something else.")
@click.option("--version", "release", metavar="V", help="The release that wrote the lines.")
@layout_option
@engine_option
@click.option("--master", metavar="URL", help="The Spark master; local[2] when none is given.")
@json_option
def ingest(
    logs: tuple[str, ...],
    out: str,
    force: bool,
    release: str | None,
    layout: str | None,
    engine: str,
    master: str | None,
    json_target: str | None,
) -> None:
    """Read broker logs, plain or gzip, into DIR: events, rejected lines, and summary.json.

    LOGS are files or folders; a folder is a cluster, or holds one folder a cluster. Every line
    is an event, a continuation of one, or rejected with a reason. Exits 3 when a file could not
    be read (to its end), or when nothing was recognised.
    """
    from conformance.ingest.files import Skipped
    from conformance.pipeline import store
    from conformance.pipeline.report import ingest_summary
    from conformance.pipeline.tables import show_ingest

    found = find(logs)
    check_release(release, layout)
    if found.traces and not found.logs:
        raise WrongUse(f"{found.traces[0]} is a recorded trace, no log; insync check reads it")
    try:
        store.refuse(out, [log.path for log in found.logs], force)
    except store.NotOursError as error:
        raise WrongUse(str(error)) from error
    engine = suited(engine, master, found)
    with Progress() as progress, started(engine):
        runner = start(engine, master, Share(progress))
        corpus = runner.ingest(found, release, layout)
        corpus.skipped += tuple(
            Skipped(trace, "is a recorded trace; insync check reads it") for trace in found.traces
        )
        summary = ingest_summary([corpus])
        store.write(out, corpus, summary, runner.save)
    show_ingest(summary, lambda text: say(text, json_target))
    say(f"written to {out}", json_target)
    emit_json(json_target, summary)
    complete = summary["lines"]["events"] > 0 and not summary["unreadable"]
    finish(Verdict.HOLDS if complete else Verdict.NOT_CHECKED)


def find(paths: tuple[str, ...]) -> LogSources:
    """The logs and traces under `paths`. Raises WrongUse for a path that does not exist."""
    from conformance.ingest.files import NotAFileError, discover

    try:
        return discover(paths)
    except NotAFileError as error:
        raise WrongUse(f"{error.args[0]} is a pipe or a device; name a file or a folder") from error
    except FileNotFoundError as error:
        raise WrongUse(f"{error.args[0]} does not exist; name a log file or a folder") from error


def check_release(release: str | None, layout: str | None = None) -> None:
    """Raise WrongUse when no dialect is known for the release, or the layout is no pattern."""
    from conformance.ingest.dialects import dialect_for
    from conformance.ingest.layouts import LayoutError, pattern

    try:
        dialect_for(release)
    except KeyError as error:
        raise WrongUse(f"--version {release}: {error.args[0]}") from error
    try:
        if layout is not None:
            pattern(layout)
    except LayoutError as error:
        raise WrongUse(f"--layout {layout}: {error}") from error


def suited(engine: str, master: str | None, found: LogSources, ingested: Sequence[str] = ()) -> str:
    """The engine for `auto`: Spark takes 10 s to start, and is faster for many lines."""
    if engine != AUTO:
        return engine
    if master is not None:
        return SPARK
    from conformance.pipeline.store import SMALL, text_bytes, text_ingested

    text = sum(text_bytes(log.path) for log in found.logs)
    return LOCAL if text + sum(map(text_ingested, ingested)) <= SMALL else SPARK


class Share:
    """How much of each step of an engine is done, as a line of progress with the time that is left.

    A step takes as long for the rest as it took for what is done.
    """

    def __init__(self, progress: Progress) -> None:
        self._show = progress
        self._what, self._began = "", 0.0

    def __call__(self, what: str, share: float) -> None:
        """Say how much of a step is done, from 0 to 1."""
        if what != self._what:
            self._what, self._began = what, time.monotonic()
        took = time.monotonic() - self._began
        left = took * (1 - share) / share if share > 0 else 0.0
        about = f", about {left:.0f} s left" if took > _TELLING and left >= 1 else ""
        self._show(f"{_STEPS[what]}: {100 * share:.0f} %{about}")


_STEPS = {"read": "reading the logs", "merge": "merging repeated lines", "check": "checking"}
_TELLING = 2.0  # seconds after which a step's pace is known


def start(engine: str, master: str | None, share: Share | None = None) -> Engine:
    """The engine by name; `share` is called with how far it is. Raises WrongUse for a master, no
    Spark.
    """
    if engine == LOCAL:
        if master is not None:
            raise WrongUse("--master is for --engine spark; leave one of the two out")
        from conformance.pipeline.local import LocalEngine

        return LocalEngine(share)
    from conformance.pipeline.spark import SparkEngine

    return SparkEngine(master)


class started:
    """Run an engine: a failure to start becomes one line that says what to do.

    A request to end, SIGTERM, is taken like Ctrl-C, so that nothing half-written is left.
    """

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._before: Any = None

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGTERM, _end)

    def __exit__(self, kind: object, error: BaseException | None, _trace: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)
        if error is None or self._engine == LOCAL:
            return
        from conformance.pipeline.java import NoJavaError
        from conformance.pipeline.session import SparkFailedError

        if isinstance(error, NoJavaError | SparkFailedError):
            raise WrongUse(f"{error} (--engine local does without)") from error


def _end(_number: int, frame: FrameType | None) -> None:
    interrupt = signal.getsignal(signal.SIGINT)
    if callable(interrupt):
        interrupt(signal.SIGINT, frame)  # PySpark's own ends its jobs
    raise KeyboardInterrupt

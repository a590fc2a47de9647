"""`insync check`: did these brokers obey the protocol, and if not, which line shows it, and why?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from conformance.cli.common import (
    Progress,
    WrongUse,
    emit_json,
    finish,
    json_option,
    say,
    write_atomically,
)
from conformance.cli.ingest import (
    Share,
    check_release,
    engine_option,
    find,
    layout_option,
    start,
    started,
    suited,
)
from conformance.cli.keep_results import keep_checked, open_option, show_checked, story_option
from conformance.running.process_traces import is_process_trace
from specs.verdict import Verdict

if TYPE_CHECKING:
    from conformance.pipeline.corpus import Corpus, Engine, JudgedCorpus
    from conformance.pipeline.timeline import Timeline
    from conformance.trace_report import TraceReport

_EXAMPLE = """
\b
Example:
  insync check /var/log/kafka
  insync check /var/log/kafka --report kafka.html --report kafka.parquet
  insync check /archive/kafka --engine spark --master spark://host:7077
  insync check run-17.ndjson --json -
  insync check DIR/trace
"""


@click.command(epilog=_EXAMPLE)
@click.argument("paths", nargs=-1, required=True, metavar="PATHS...")
@click.option("--version", "release", metavar="V", help="The release that wrote the lines.")
@layout_option
@engine_option
@click.option("--master", metavar="URL", help="The Spark master; local[2] when none is given.")
@click.option(
    "--hidden",
    metavar="N",
    type=click.IntRange(min=0),
    help="Steps that may be missing before a line of a partial trace; default: as its "
    "header says, else 8.",
)
@click.option(
    "--report",
    "reports",
    metavar="FILE",
    multiple=True,
    help="Also write FILE.html, one page that shows it all; FILE.json; or NAME.parquet, a folder "
    "of Parquet tables. May be given several times.",
)
@story_option
@open_option
@json_option
def check(
    paths: tuple[str, ...],
    release: str | None,
    layout: str | None,
    engine: str,
    master: str | None,
    hidden: int | None,
    reports: tuple[str, ...],
    save_story: str | None,
    opens: bool,
    json_target: str | None,
) -> None:
    """Check broker logs, the output of `insync ingest`, or recorded traces against the protocol.

    The traces of one cluster's processes, in one folder (insync cluster start DIR --trace), are
    merged and replayed on the model line by line: each partition, and who is the controller.

    A finding is a violation (no run of the protocol writes these lines, whatever lines may be
    missing), impossible (no step of the model fits), a known bug (one fits if a fix is reverted),
    incomplete (a value went back, and lines that could say why may be missing), not judged (KRaft,
    which has no ZooKeeper) or explained. Exits 0 when all that was compared holds, 1 when broken,
    2 when there are incomplete findings or a file could not be read, and 3 when nothing was
    compared. The verdict's line names what was not judged. --open shows the first finding in the
    explorer; --save-story keeps the run of its trace as a story, with what the model does at that
    line.
    """
    from conformance.pipeline.tables import show_check

    for report in reports:
        _refuse_report(report)
    result = checked(paths, release, engine, master, reports, hidden, layout)
    show_check(result, lambda text: say(text, json_target))
    for report in reports:
        say(f"the report is in {report}", json_target)
    emit_json(json_target, result)
    if save_story is not None:
        keep_checked(save_story, paths, result, json_target)
    if opens:
        show_checked(paths, result)
    finish(Verdict(result["verdict"]))


def _refuse_report(report: str) -> None:
    """Before the work starts: a report that cannot be written should not cost an hour."""
    from conformance.pipeline import export
    from conformance.pipeline.store import NotOursError

    suffix = Path(report).suffix
    if suffix not in (".html", ".json", ".parquet"):
        raise WrongUse(
            f"--report {report}: a report is a page, JSON or tables; name a FILE.html, a FILE.json "
            "or a NAME.parquet"
        )
    if not Path(report).resolve().parent.is_dir():
        raise WrongUse(f"--report {report}: there is no such folder; create it first")
    if suffix != ".parquet" and Path(report).is_dir():
        raise WrongUse(f"--report {report} is a folder; name a file")
    if suffix == ".parquet":
        try:
            export.refuse(report)
        except NotOursError as error:
            raise WrongUse(f"--report {error}") from error


def checked(
    paths: Sequence[str],
    release: str | None = None,
    engine: str = "spark",
    master: str | None = None,
    reports: Sequence[str] = (),
    hidden: int | None = None,
    layout: str | None = None,
) -> dict[str, Any]:
    """The result of `insync check`, as plain data. Raises WrongUse for unusable paths."""
    from conformance.pipeline.corpus import JudgedCorpus, corpus_without_logs
    from conformance.pipeline.report import check_result

    ingested, others = _sorted_out(paths)
    found = find(others)
    check_release(release, layout)
    traces = running_traces(found.traces)
    in_folders = {path for path in found.traces if is_process_trace(path)}
    traces += [replay_file(path, hidden) for path in found.traces if path not in in_folders]
    corpora: list[Corpus] = []
    judged = JudgedCorpus()
    drawn: list[Timeline] = []
    if found.logs or ingested:
        engine = suited(engine, master, found, ingested)
        with Progress() as progress, started(engine):
            runner = start(engine, master, Share(progress))
            corpora = [runner.load(folder) for folder in ingested]
            if found.logs:
                corpora.append(runner.ingest(found, release, layout))
            judged = _judge(runner, corpora)
            drawn = _timelines(corpora) if reports else []
    if not found.logs:
        corpora.append(corpus_without_logs(found))
    result = check_result(corpora, judged, traces)
    for report in reports:
        _write_report(report, result, drawn, corpora)
    return result


def _timelines(corpora: list[Corpus]) -> list[Timeline]:
    from conformance.pipeline.timeline import timelines

    return [line for corpus in corpora for line in timelines(corpus.events)]


def _write_report(
    report: str, result: dict[str, Any], drawn: list[Timeline], corpora: list[Corpus]
) -> None:
    from conformance.pipeline import export
    from conformance.pipeline.page import page

    paths = {log["name"]: log["path"] for corpus in corpora for log in corpus.logs}
    try:
        if report.endswith(".parquet"):
            export.write(report, result, drawn)
        elif report.endswith(".json"):
            write_atomically(Path(report), export.as_json(result, drawn))
        else:
            write_atomically(Path(report), page(result, drawn, paths))
    except OSError as error:
        raise WrongUse(f"--report {report}: {error.strerror}; name a file you may write") from error


def _sorted_out(paths: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Outputs of an ingestion, and the rest."""
    from conformance.pipeline import store

    try:
        ingested = [path for path in paths if store.is_ours(path)]
    except store.NotOursError as error:
        raise WrongUse(str(error)) from error
    return ingested, tuple(path for path in paths if path not in ingested)


def _judge(runner: Engine, corpora: list[Corpus]) -> JudgedCorpus:
    from conformance.pipeline.corpus import JudgedCorpus

    together = JudgedCorpus()
    for corpus in corpora:
        together.add(runner.judge(corpus))
    return together


def running_traces(paths: Sequence[str]) -> list[TraceReport]:
    """What processes of a cluster traced: the files of one folder are judged together."""
    from conformance.running.running_report import judge_running

    folders: dict[str, list[str]] = {}
    for path in paths:
        if is_process_trace(path):
            folders.setdefault(str(Path(path).parent), []).append(path)
    return [judge_running(inside, folder) for folder, inside in sorted(folders.items())]


def replay_file(path: str, hidden: int | None = None) -> TraceReport:
    """Replay one trace.

    A trace whose header says that parts are missing is searched for a run that fits; `hidden` then
    overrides how many steps may be missing before a line.
    """
    from conformance.partial import check_partial, is_partial
    from conformance.replay import check_trace

    return check_partial(path, hidden) if is_partial(path) else check_trace(path)

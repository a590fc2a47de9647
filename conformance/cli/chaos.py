"""`insync chaos`: real brokers under faults while clients write and read, and what they saw."""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.chaos.clients import CLIENTS, OURS, WrongClients, clients_named
from conformance.chaos.schedule import KINDS, UNTRACED, faults
from conformance.cli.common import (
    Progress,
    WrongUse,
    emit_json,
    finish,
    json_option,
    say,
    unknown,
    write_atomically,
)
from conformance.cli.kafka_tool import published_release
from conformance.cli.process_commands import ends_as_interrupt
from impl.releases import DEFAULT, Release
from impl.server.processes import ClusterError
from specs.rendering import as_data

if TYPE_CHECKING:
    from conformance.chaos.run import ChaosReport

SHOWN = 20
LEAST_BROKERS, MOST_BROKERS = 2, 9


@click.command()
@click.option("--rounds", type=click.IntRange(min=1), default=20, show_default=True, metavar="N",
              help="How many faults, one after the other.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, metavar="S",
              help="The seed of the faults: their kinds, brokers and durations.")  # fmt: skip
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    metavar="M",
    help="Start no further fault after M minutes, and judge the run so far.",
)
@click.option("--version", default=DEFAULT, show_default=True, metavar="V", help="The release.")
@click.option("--brokers", type=click.IntRange(LEAST_BROKERS, MOST_BROKERS), default=3,
              show_default=True, metavar="N", help="The number of brokers.")  # fmt: skip
@click.option("--partitions", type=click.IntRange(1, 20), default=2, show_default=True,
              metavar="N", help="Of the topic that is written.")  # fmt: skip
@click.option("--min-isr", type=click.IntRange(1, 9), default=2, show_default=True, metavar="N",
              help="min.insync.replicas.")  # fmt: skip
@click.option("--faults", "named", metavar="F,F", help=f"Of {', '.join(KINDS)}; all by default.")
@click.option("--clients", "clients", default=OURS, show_default=True, metavar="C,C",
              help=f"Client libraries: {', '.join(CLIENTS)}; or all.")  # fmt: skip
@click.option("--unclean", is_flag=True, help="Allow unclean leader election.")
@click.option("--trace", is_flag=True, help="Also replay the brokers' traces on the model.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR",
              help="Keep the cluster, its logs and traces, and what clients saw.")  # fmt: skip
@json_option
def chaos(
    rounds: int,
    seed: int,
    minutes: float | None,
    version: str,
    brokers: int,
    partitions: int,
    min_isr: int,
    named: str | None,
    clients: str,
    unclean: bool,
    trace: bool,
    out: Path | None,
    json_target: str | None,
) -> None:
    """Break a cluster of real processes while clients use it, and judge what the clients saw.

    Plain and idempotent producers write numbered records, a group reads them, and one broker after
    the other is killed, stopped, paused, cut off, slowed down, deposed, or has a directory that
    fails or is full. Then everything is read. No record that acks=all acknowledged may be lost, no
    record of an idempotent producer may be there twice or out of order, no batch may be torn, no
    record may be read that was never written, no reader may go back or skip a record, and no two
    replicas may differ. The seed determines the faults; their effects depend on the machine. Each
    of --clients writes with acks=all, acks=1, and as an idempotent producer (the real ones with
    acks=0 too), and reads as a group of its own.

    Exit code 0: nothing is wrong; 1: something is, and where a release has it by a known bug, its
    historic bug is named; 2: the cluster did not recover; 3: nothing was written or read, or
    nothing by one of the clients.

    \b
    Example:
      insync chaos --rounds 20 --seed 1
      insync chaos --rounds 100 --seed 7 --faults kill,pause --out chaos
      insync chaos --rounds 10 --trace --json -
      insync chaos --rounds 20 --clients librdkafka,kafka-python,aiokafka,ours
      insync chaos --rounds 10000 --minutes 480 --seed 3 --out night
      insync chaos --version 0.10 --rounds 10 --faults cascade
    """
    from conformance.chaos.run import ChaosPlan, run_chaos

    kinds = _kinds(named, trace)
    release = published_release(version)
    if min_isr > min(3, brokers):
        raise WrongUse(f"--min-isr {min_isr}: a partition has {min(3, brokers)} replicas here")
    if trace and Release.of(release).since("2.7"):
        raise WrongUse(
            f"--trace: the model has no brokers that compare logs at each fetch, as {release} has "
            "them; write --version 2.4, or leave out --trace"
        )
    try:
        chosen = clients_named(clients)
    except WrongClients as error:
        raise WrongUse(f"--clients: {error}") from error
    plan = ChaosPlan(
        tuple(faults(rounds, seed, brokers, kinds)), seed, release, brokers, partitions, min_isr,
        unclean, trace, minutes, chosen,
    )  # fmt: skip
    began = time.monotonic()
    with ends_as_interrupt(), _folder(out) as folder, Progress() as progress:
        try:
            report = run_chaos(folder / "cluster", plan, progress)
        except (ClusterError, OSError) as error:
            raise WrongUse(f"the cluster cannot run: {error}") from error
        if out is not None:
            kept = json.dumps(as_data(report.history), separators=(",", ":"))
            write_atomically(folder / "history.json", kept + "\n")
    seconds = round(time.monotonic() - began, 1)
    emit_json(json_target, {"command": "chaos", **as_data(report), "seconds": seconds})
    for line in _lines(report, seconds):
        say(line, json_target)
    finish(report.verdict)


def _kinds(named: str | None, trace: bool) -> tuple[str, ...]:
    if named is None:
        return tuple(one for one in KINDS if not (trace and one in UNTRACED))
    found = tuple(dict.fromkeys(part.strip() for part in named.split(",")))
    for name in found:
        if name not in KINDS:
            raise unknown("fault", name, KINDS)
        if trace and name in UNTRACED:
            raise WrongUse(f"--faults {name}: the model has no such step; leave out --trace")
    return found


@contextlib.contextmanager
def _folder(out: Path | None) -> Iterator[Path]:
    """Where the cluster is: kept if it is named, else gone at the end."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="insync-chaos-") as folder:
            yield Path(folder)
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise WrongUse(f"--out {out} is there, and not empty; name an empty directory")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUse(f"--out {out}: {error.strerror}; name a folder you may write") from error
    yield out


def _lines(report: ChaosReport, seconds: float) -> Iterator[str]:
    counts = report.history.counts()
    carried_out = [one for one in report.befell if one["carried_out"]]
    kinds = Counter(one["kind"] for one in carried_out)
    befell = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
    yield (
        f"{len(carried_out)} faults on {report.plan.brokers} brokers of {report.plan.version}"
        f"{f' ({befell})' if befell else ''}, {seconds:.0f} s"
    )
    if left := [one for one in report.befell if not one["carried_out"]]:
        yield f"{len(left)} more could not be carried out; the last: {left[-1]['said']}"
    yield (
        f"{counts['acknowledged']:,} of {counts['sent']:,} records acknowledged "
        f"({counts['acknowledged_by_all']:,} by all), {counts['found']:,} in the log, "
        f"{counts['read']:,} read by a group in {counts['joins']} memberships"
    )
    if len(report.plan.clients) > 1:
        for name, by in report.history.by_client().items():
            yield (
                f"{name}: {by['acknowledged']:,} acknowledged "
                f"({by['acknowledged_by_all']:,} by all), {by['read']:,} read"
            )
    for what, number in sorted(report.allowed.items()):
        yield f"allowed: {number:,} {what}"
    for one in report.anomalies[:SHOWN]:
        where = f"partition {one.partition}" + (f" offset {one.offset}" if one.offset >= 0 else "")
        yield f"{one.kind}: {where}: {one.why}"
        if one.entry:
            yield f"    {one.entry} (insync bugs {one.entry}): {one.because}"
    if len(report.anomalies) > SHOWN:
        yield f"... and {len(report.anomalies) - SHOWN} more; --json has them all"
    if report.unfinished:
        yield f"unknown: {report.unfinished}"
    if report.trace is not None:
        yield (
            f"the model: {report.trace.verdict}, {report.trace.events:,} traced lines, "
            f"{sum(report.trace.fired.values()):,} steps"
        )
        for found in report.trace.findings[:SHOWN]:
            yield f"    {found.file}:{found.line}: {found.why}"
    explained = sum(bool(one.entry) for one in report.anomalies)
    as_history = ""
    if report.anomalies:
        as_history = f": {len(report.anomalies)} anomalies, {explained} of them known bugs of it"
    yield f"{report.verdict}{as_history}"

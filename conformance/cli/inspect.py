"""`insync inspect`: the log directories of several brokers compared, running or not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from conformance.cli.common import (
    Progress,
    WrongUse,
    emit_json,
    finish,
    json_option,
    say,
    show_table,
)
from specs.rendering import as_data

if TYPE_CHECKING:
    from conformance.disks.compare_replicas import InspectedPartition
    from conformance.disks.inspect_directories import Inspection

LOCAL, SPARK = "local", "spark"
_SHOWN = 40  # partitions in the table; --json has them all


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="LOG_DIRS...")
@click.option(
    "--version", "release", metavar="V", default="2.7", show_default=True,
    help="The release whose rules of truncation apply.",
)  # fmt: skip
@click.option(
    "--engine", type=click.Choice([LOCAL, SPARK]), default=LOCAL, show_default=True,
    help="This process, or Spark with one task per partition.",
)  # fmt: skip
@click.option("--master", metavar="URL", help="The Spark master; local[2] when none is given.")
@json_option
def inspect(
    paths: tuple[str, ...], release: str, engine: str, master: str | None, json_target: str | None
) -> None:
    """Compare the log directories of several brokers, and report what does not fit.

    LOG_DIRS are log directories (log.dirs) of brokers, running or stopped, or folders that hold
    them. Segments, indexes, checkpoints, leader epochs and producers' snapshots are read; nothing
    is written. The model says where a replica would truncate its log if it restarted under each
    other replica as leader, by the rules of --version.

    A finding is broken (a damaged batch, replicas with other records at a committed offset, a high
    watermark above the log, epochs that do not fit batches), at risk (the protocol allows it, and
    what is committed may be lost: only one disk has it), or usual (a killed broker leaves it, and
    its next start repairs it). Exits 0 when nothing is broken or at risk, 1 when something is
    broken, 2 when something is at risk or could not be read, and 3 when there was no replica.

    \b
    Example:
      insync inspect /var/lib/kafka-1 /var/lib/kafka-2 /var/lib/kafka-3
      insync inspect DIR --version 1.1
      insync inspect /mnt/disks --engine spark --json disks.json
    """
    from conformance.disks.inspect_directories import TwoClustersError
    from conformance.disks.inspect_directories import inspect as inspect_all
    from conformance.disks.predicted_truncation import preset_for
    from conformance.disks.read_directories import NothingHereError
    from conformance.pipeline.java import NoJavaError
    from conformance.pipeline.session import SparkFailedError

    if master is not None and engine != SPARK:
        raise WrongUse("--master is for --engine spark; leave it out, or add --engine spark")
    if not all(part.isdigit() for part in release.split(".")) or "." not in release:
        raise WrongUse(f"--version {release}: name a release such as 2.7, from 0.10 on")
    try:
        with Progress() as progress:
            found = inspect_all(paths, preset_for(release), progress, master, spark=engine == SPARK)
    except (NothingHereError, TwoClustersError) as error:
        raise WrongUse(str(error)) from error
    except (NoJavaError, SparkFailedError) as error:
        raise WrongUse(f"{error}; without Spark: --engine local") from error
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise WrongUse(f"{error.filename}: {why}; name folders that may be read") from error
    _show(found, json_target)
    emit_json(json_target, as_data(found))
    finish(found.verdict)


def _show(found: Inspection, json_target: str | None) -> None:
    for each in found.directories:
        ended = "was shut down" if each.clean else "runs, or was killed"
        cluster = f" of cluster {each.cluster}" if each.cluster else ""
        who = "a broker without a number" if each.broker is None else f"broker {each.broker}"
        say(f"{each.path}: {who}{cluster}, {len(each.replicas)} replicas; it {ended}", json_target)
    notable = [each for each in found.partitions if each.findings or each.cuts]
    shown = (notable or found.partitions)[:_SHOWN]
    show_table(
        ("partition", "broker", "start", "end", "high watermark", "epoch", "a start cuts to"),
        [row for each in shown for row in _rows(each)],
        json_target,
        right=("broker", "start", "end", "high watermark", "epoch"),
    )
    more = len(found.partitions) - len(shown)
    if more:
        alike = (
            "of which there is nothing to say" if len(notable) <= _SHOWN else "--json has them all"
        )
        say(f"{more} more partitions; {alike}\n", json_target)
    for finding in found.findings:
        name = "" if finding.topic is None else f"{finding.topic}-{finding.partition}: "
        say(f"{finding.kind}: {name}{finding.why}", json_target)
        say(f"    {finding.where}  ({finding.rule})", json_target)
    replicas = sum(len(each.replicas) for each in found.partitions)
    say(
        f"{found.verdict}: {len(found.partitions)} partitions, {replicas} replicas, "
        f"{len(found.findings)} findings; cuts by the rules of {found.preset}",
        json_target,
    )


def _rows(inspected: InspectedPartition) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for number, each in enumerate(inspected.replicas):
        cuts = [cut for cut in inspected.cuts if cut.follower == each.broker]
        said = ", ".join(
            f"{cut.to} (broker {cut.leader} leads{'' if cut.clean else ', uncleanly'})"
            for cut in cuts
        )
        name = f"{inspected.topic}-{inspected.partition}" if not number else ""
        broker = each.broker if each.broker is not None else os.path.dirname(each.folder)
        rows.append(
            (name, broker, each.start, each.end, each.high_watermark, each.leader_epoch, said)
        )
    return rows

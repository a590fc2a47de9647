"""`insync elect`: elections of leaders, with the options of Kafka's own scripts."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.common import WrongUse, json_option
from conformance.cli.kafka_tool import (
    INT,
    ToolFailed,
    ToolRefused,
    admin_at,
    cannot_be_used,
    print_lines,
    refusals,
    release_at,
    zookeeper,
)
from impl.admin.elect_command import elect_by_brokers, elect_preferred, parse_partitions
from impl.admin.errors import AdminCommandFailed
from impl.admin.failure_output import of_elections, unrecognized
from impl.releases import Release
from impl.znodes import TopicPartition

_SELECTORS = "topic, all-topic-partitions, path-to-json-file"


@click.command()
@click.option("--zookeeper", "where", metavar="HOST:PORT|DIR", help="An address, or a cluster.")
@click.option("--bootstrap-server", "brokers", metavar="HOST:PORT|DIR",
              help="Ask the controller (2.2 and later).")  # fmt: skip
@click.option("--election-type", "kind", type=click.Choice(["preferred", "unclean"]),
              help="With --bootstrap-server, since 2.4.")  # fmt: skip
@click.option("--path-to-json-file", "file", metavar="FILE", help="The partitions.")
@click.option("--topic", metavar="NAME", help="One partition's topic, with --partition.")
@click.option("--partition", type=INT, metavar="N", help="One partition, with --topic.")
@click.option("--all-topic-partitions", "everything", is_flag=True, help="All partitions.")
@click.option("--version", metavar="V", help="The release whose messages are printed.")
@json_option
def elect(
    where: str | None,
    brokers: str | None,
    kind: str | None,
    file: str | None,
    topic: str | None,
    partition: int | None,
    everything: bool,
    version: str | None,
    json_target: str | None,
) -> None:
    """Give leadership back to preferred replicas, or to any, as Kafka's own scripts do.

    \b
    Example:
      insync elect --zookeeper DIR
      insync elect --zookeeper DIR --topic orders --partition 0
      insync elect --bootstrap-server DIR --election-type unclean --topic orders --partition 0
      insync elect --bootstrap-server DIR --election-type preferred --all-topic-partitions
    """
    release = release_at(where or brokers, version)
    given = {
        "zookeeper": where is not None, "bootstrap-server": brokers is not None,
        "election-type": kind is not None, "all-topic-partitions": everything,
    }  # fmt: skip
    if _is_newer_tool(release, given):
        _check_new(kind, file, topic, partition, everything)
    else:
        _check_old(release, given, file, topic, partition)
    ending = of_elections(release)
    if where is not None:
        with zookeeper(where, version) as client, refusals(ending):
            outcome = elect_preferred(client, _wanted(file, topic, partition, any_leader=False))
    else:
        with refusals(ending), admin_at(brokers) as admin:
            newer = release.since("2.4")
            wanted = None if everything else _wanted(file, topic, partition, any_leader=newer)
            outcome = elect_by_brokers(admin, (kind or "preferred").upper(), wanted, release)
    print_lines(outcome.lines, json_target)
    for line in outcome.logged:
        click.echo(line, err=True)
    if outcome.failure:
        raise ToolFailed(ending.lines(AdminCommandFailed(outcome.failure)), ending.code, err=True)


def _is_newer_tool(release: Release, given: dict[str, bool]) -> bool:
    """kafka-leader-election (2.4), which knows brokers alone."""
    return release.since("2.4") and not given["zookeeper"]


def _check_old(
    release: Release, given: dict[str, bool], file: str | None, topic: str | None,
    partition: int | None,
) -> None:  # fmt: skip
    """kafka-preferred-replica-election. That one partition may be named is an option of ours."""
    for option in ("election-type", *(() if release.since("2.2") else ("bootstrap-server",))):
        if given[option]:
            raise ToolRefused(unrecognized(option))
    if not release.since("2.2"):
        if not given["zookeeper"]:
            raise ToolRefused('Missing required argument "[zookeeper]"')
    elif given["zookeeper"] == given["bootstrap-server"]:
        raise ToolRefused("Exactly one of '[bootstrap-server]' or '[zookeeper]' must be provided")
    if (topic is None) != (partition is None):
        missing = "topic" if topic is None else "partition"
        raise ToolRefused(f'Missing required argument "[{missing}]"')
    if file is not None and topic is not None:
        raise ToolRefused(cannot_be_used("path-to-json-file", "topic", release))


def _check_new(
    kind: str | None, file: str | None, topic: str | None, partition: int | None, everything: bool
) -> None:
    if kind is None:
        raise _uncaught("Missing required option(s): election-type")
    if [topic is not None, everything, file is not None].count(True) != 1:
        raise _uncaught(f"One and only one of the following options is required: {_SELECTORS}")
    if topic is not None and partition is None:
        raise _uncaught("Missing required option(s): partition")
    if topic is None and partition is not None:
        raise _uncaught("Option partition is only allowed if topic is used")


def _uncaught(text: str) -> ToolRefused:
    name = "kafka.common.AdminCommandFailedException"
    return ToolRefused(f'Exception in thread "main" {name}: {text}')


def _wanted(
    file: str | None, topic: str | None, partition: int | None, any_leader: bool
) -> list[TopicPartition] | None:
    if file is not None:
        try:
            return parse_partitions(Path(file).read_text(encoding="utf-8"), any_leader)
        except (OSError, UnicodeDecodeError) as error:
            raise WrongUse(f"--path-to-json-file {file}: {error}; name a JSON file") from error
    if topic is not None and partition is not None:
        return [TopicPartition(topic, partition)]
    return None

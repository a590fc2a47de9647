"""`insync elect`: leaders, as Kafka's own scripts for elections ask for them."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.common import WrongUse, json_option
from conformance.cli.kafka_tool import (
    Refused,
    admin_at,
    print_lines,
    refusals,
    release_at,
    zookeeper,
)
from impl.admin.elect_command import Elections, elect_by_brokers, elect_preferred, parse_partitions
from impl.releases import Release
from impl.znodes import TopicPartition

_FAILED = "Failed to start preferred replica election: "
_SELECTORS = "topic, all-topic-partitions, path-to-json-file"


@click.command()
@click.option("--zookeeper", "where", metavar="HOST:PORT|DIR", help="An address, or a cluster.")
@click.option("--bootstrap-server", "brokers", metavar="HOST:PORT|DIR",
              help="Ask the controller (2.2 and later).")  # fmt: skip
@click.option("--election-type", "kind", type=click.Choice(["preferred", "unclean"]),
              help="With --bootstrap-server, since 2.4.")  # fmt: skip
@click.option("--path-to-json-file", "file", metavar="FILE", help="The partitions.")
@click.option("--topic", metavar="NAME", help="One partition's topic, with --partition.")
@click.option("--partition", type=int, metavar="N", help="One partition, with --topic.")
@click.option("--all-topic-partitions", "everything", is_flag=True, help="All; --zookeeper: as is.")
@click.option("--version", metavar="V", help="The release whose words are used.")
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
    if where is not None or brokers is None:
        if kind is not None:
            raise Refused('Option "[election-type]" can\'t be used with option "[zookeeper]"')
        _check_old(file, topic, partition)
        with zookeeper(where, version) as client, refusals(_FAILED):
            wanted = _wanted(file, topic, partition)
            told = Elections(elect_preferred(client, wanted))
    else:
        release = release_at(brokers, version)
        _check_new(release, kind, file, topic, partition, everything)
        with admin_at(brokers, "") as admin, refusals(""):
            wanted = None if everything else _wanted(file, topic, partition)
            told = elect_by_brokers(admin, (kind or "preferred").upper(), wanted, release)
    print_lines(told.lines, json_target)
    if told.failure:
        raise Refused(told.failure)


def _check_old(file: str | None, topic: str | None, partition: int | None) -> None:
    if (topic is None) != (partition is None):
        missing = "topic" if topic is None else "partition"
        raise Refused(f'Missing required argument "[{missing}]"')
    if file is not None and topic is not None:
        raise Refused('Option "[path-to-json-file]" can\'t be used with option "[topic]"')


def _check_new(
    release: Release, kind: str | None, file: str | None, topic: str | None,
    partition: int | None, everything: bool,
) -> None:  # fmt: skip
    if not release.since("2.2"):
        raise Refused(f"--bootstrap-server: elections are asked for by --zookeeper in {release}")
    if not release.since("2.4"):
        if kind == "unclean":
            raise Refused(f"--election-type unclean came with 2.4; the cluster is {release}")
        _check_old(file, topic, partition)
        return
    if kind is None:
        raise Refused("Missing required option(s): election-type")
    if [topic is not None, everything, file is not None].count(True) != 1:
        raise Refused(f"One and only one of the following options is required: {_SELECTORS}")
    if topic is not None and partition is None:
        raise Refused("Missing required option(s): partition")
    if topic is None and partition is not None:
        raise Refused("Option partition is only allowed if topic is used")


def _wanted(
    file: str | None, topic: str | None, partition: int | None
) -> list[TopicPartition] | None:
    if file is not None:
        try:
            return parse_partitions(Path(file).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise WrongUse(f"--path-to-json-file {file}: {error}; name a JSON file") from error
    if topic is not None and partition is not None:
        return [TopicPartition(topic, partition)]
    return None

"""`insync elect`: preferred leaders, as Kafka's kafka-preferred-replica-election asks for them."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.common import WrongUse, json_option
from conformance.cli.kafka_tool import Refused, print_lines, refusals, zookeeper
from impl.admin.elect_command import elect_preferred, parse_partitions
from impl.znodes import TopicPartition

_FAILED = "Failed to start preferred replica election: "


@click.command()
@click.option("--zookeeper", "where", metavar="HOST:PORT|DIR", help="An address, or a cluster.")
@click.option("--path-to-json-file", "file", metavar="FILE", help="Partitions; without it all.")
@click.option("--topic", metavar="NAME", help="One partition's topic, with --partition.")
@click.option("--partition", type=int, metavar="N", help="One partition, with --topic.")
@click.option("--version", metavar="V", help="The release whose words are used.")
@json_option
def elect(
    where: str | None,
    file: str | None,
    topic: str | None,
    partition: int | None,
    version: str | None,
    json_target: str | None,
) -> None:
    """Give leadership back to preferred replicas, as Kafka's own script does.

    \b
    Example:
      insync elect --zookeeper DIR
      insync elect --zookeeper DIR --topic orders --partition 0
      insync elect --zookeeper DIR --path-to-json-file partitions.json
    """
    if (topic is None) != (partition is None):
        missing = "topic" if topic is None else "partition"
        raise Refused(f'Missing required argument "[{missing}]"')
    if file is not None and topic is not None:
        raise Refused('Option "[path-to-json-file]" can\'t be used with option "[topic]"')
    with zookeeper(where, version) as client, refusals(_FAILED):
        wanted = None
        if file is not None:
            try:
                wanted = parse_partitions(Path(file).read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                raise WrongUse(f"--path-to-json-file {file}: {error}; name a JSON file") from error
        elif topic is not None and partition is not None:
            wanted = [TopicPartition(topic, partition)]
        lines = elect_preferred(client, wanted)
    print_lines(lines, json_target)

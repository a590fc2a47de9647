"""`insync offsets`: Kafka's GetOffsetShell."""

from __future__ import annotations

import time

import click

from conformance.cli.common import WrongUse, emit_json, json_option, say
from conformance.cli.kafka_tool import LONG, ToolRefused, brokers_at, release_at
from impl.server.clients import ClientError, Consumer


@click.command()
@click.option("--broker-list", "--bootstrap-server", "where", metavar="HOST:PORT|DIR",
              help="Brokers, or a cluster.")  # fmt: skip
@click.option("--topic", metavar="NAME", help="The topic.")
@click.option("--partitions", metavar="N,...", help="Of these partitions; all by default.")
@click.option("--time", "when", type=LONG, default=-1, show_default=True, metavar="MS",
              help="-1 is the latest, -2 the earliest.")  # fmt: skip
@click.option("--offsets", "most", type=click.IntRange(min=1), default=1, show_default=True,
              metavar="N", help="Up to 1.1: at most N offsets.")  # fmt: skip
@click.option("--version", metavar="V", help="The release whose tool this is.")
@json_option
def offsets(
    where: str | None,
    topic: str | None,
    partitions: str | None,
    when: int,
    most: int,
    version: str | None,
    json_target: str | None,
) -> None:
    """Print TOPIC:PARTITION:OFFSET: where records of a time begin.

    Since 2.0 it is the first record of that time or later, nothing if all are older. The tool up to
    1.1 knows segments alone: it prints where those begin that were written up to then.

    Exit code 0: every partition answered; 1: there is no such topic or partition, or no leader.

    \b
    Example:
      insync offsets --broker-list DIR --topic orders
      insync offsets --broker-list DIR --topic orders --time -2 --partitions 0,2
      insync offsets --broker-list DIR --topic orders --time 1700000000000
    """
    if topic is None:
        raise ToolRefused('Missing required argument "[topic]"')
    chosen = _numbers(partitions)
    found: dict[int, list[int]] = {}
    failed: list[str] = []
    with Consumer(brokers_at(where, "broker-list"), timeout_s=10.0) as consumer:
        segments_alone = not release_at(where or "", version).since("2.0")
        try:
            known = consumer.partitions(topic, time.monotonic() + 2)
        except ClientError as error:
            if error.code != "UNKNOWN_TOPIC_OR_PARTITION":
                raise ToolRefused(str(error)) from error
            click.echo(f"Topic {topic} does not exist", err=True)
            raise click.exceptions.Exit(1) from error
        for number in known if chosen is None else chosen:
            if number not in known:
                failed.append(f"Error: partition {number} does not exist")
                continue
            if consumer.topics[topic].get(number, -1) < 0:
                failed.append(
                    f"Error: partition {number} does not have a leader. Skip getting offsets"
                )
                continue
            try:
                found[number] = (
                    consumer.offsets_before(topic, number, when, most) if segments_alone
                    else [one for one in [consumer.offset(topic, number, when)] if one >= 0]
                )  # fmt: skip
            except ClientError as error:
                failed.append(f"Error: partition {number}: {error.code}")
                continue
            say(f"{topic}:{number}:{','.join(map(str, found[number]))}", json_target)
    for line in failed:
        click.echo(line, err=True)
    emit_json(json_target, {"topic": topic, "time": when, "offsets": found, "errors": failed})
    if failed:
        raise click.exceptions.Exit(1)


def _numbers(text: str | None) -> list[int] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(part.isdecimal() for part in parts):
        raise WrongUse(f"--partitions {text}: write numbers with commas, such as 0,1")
    return [int(part) for part in parts]

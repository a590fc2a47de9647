"""`insync delete-records`: Kafka's own tool (0.11)."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from conformance.cli.common import WrongUse, emit_json, json_option, say
from conformance.cli.kafka_tool import ToolRefused, brokers_at
from impl.server.clients import ClientError, Consumer
from impl.znodes import TopicPartition


@click.command("delete-records")
@click.option("--bootstrap-server", "where", metavar="HOST:PORT|DIR", help="Brokers, or a cluster.")
@click.option("--offset-json-file", "file", metavar="FILE", help="Partitions and offsets.")
@json_option
def delete_records(where: str | None, file: str | None, json_target: str | None) -> None:
    """Delete the records of partitions below offsets; -1 is the high watermark.

    FILE is such as {"partitions":[{"topic":"orders","partition":0,"offset":3}],"version":1}.

    \b
    Example:
      insync delete-records --bootstrap-server DIR --offset-json-file offsets.json
    """
    for name, given in (("bootstrap-server", where), ("offset-json-file", file)):
        if given is None:
            raise ToolRefused(f'Missing required argument "[{name}]"')
    offsets = _offsets(str(file))
    say("Executing records delete operation", json_target)
    found: dict[str, int | str] = {}
    with Consumer(brokers_at(where, "bootstrap-server"), timeout_s=10.0) as client:
        client.refresh()
        for one, offset in offsets.items():
            try:
                client.partitions(one.topic, time.monotonic() + 2)
                found[str(one)] = client.delete_records(one.topic, one.partition, offset)
            except ClientError as error:
                found[str(one)] = error.code
    say("Records delete operation completed:", json_target)
    for name, came in found.items():
        what = "low_watermark" if isinstance(came, int) else "error"
        say(f"partition: {name}\t{what}: {came}", json_target)
    emit_json(json_target, found)


def _offsets(file: str) -> dict[TopicPartition, int]:
    found: dict[TopicPartition, int] = {}
    twice: list[str] = []
    try:
        for one in json.loads(Path(file).read_text(encoding="utf-8"))["partitions"]:
            partition = TopicPartition(str(one["topic"]), int(one["partition"]))
            if partition in found:
                twice.append(str(partition))
            found[partition] = int(one["offset"])
    except OSError as error:
        raise WrongUse(f"--offset-json-file {file}: {error}; name a JSON file") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise WrongUse(
            f"--offset-json-file {file}: it is not such as "
            '{"partitions":[{"topic":"orders","partition":0,"offset":3}],"version":1}'
        ) from error
    if twice:
        named = ",".join(twice)
        raise ToolRefused(f"Offset json file contains duplicate topic partitions: {named}")
    return found

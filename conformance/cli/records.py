"""`insync produce` and `insync consume`: Kafka's console producer and consumer."""

from __future__ import annotations

import sys
import time

import click

from conformance.cli.common import WrongUse, emit_json, json_option, say
from conformance.cli.kafka_tool import Refused, brokers_at
from impl.server.clients import ClientError, Consumer, Producer, Sent

_ACKS = {"all": -1, "-1": -1, "0": 0, "1": 1}


@click.command()
@click.option("--broker-list", "--bootstrap-server", "where", metavar="HOST:PORT|DIR")
@click.option("--topic", metavar="NAME", help="Where the lines go.")
@click.option("--partition", type=click.IntRange(min=0), metavar="N", help="To this one only.")
@click.option("--request-required-acks", "acks", default="1", show_default=True, metavar="ACKS",
              help="0, 1, or all.")  # fmt: skip
@click.option("--timeout", "timeout_s", type=click.FloatRange(min=0, min_open=True), default=30.0,
              show_default=True, metavar="S", help="How long a record is tried.")  # fmt: skip
@click.option("--key-separator", metavar="TEXT", help="Lines are KEY TEXT VALUE.")
@json_option
def produce(
    where: str | None,
    topic: str | None,
    partition: int | None,
    acks: str,
    timeout_s: float,
    key_separator: str | None,
    json_target: str | None,
) -> None:
    """Send each line of standard input as a record; say on standard error where the last ones went.

    Exit code 0: every line was acknowledged; 1: one was not, and nothing after it was sent.

    \b
    Example:
      seq 100 | insync produce --broker-list DIR --topic orders --request-required-acks all
      echo "k:v" | insync produce --broker-list 127.0.0.1:9092 --topic orders --key-separator :
    """
    if topic is None:
        raise Refused('Missing required argument "[topic]"')
    if acks not in _ACKS:
        raise WrongUse(f"--request-required-acks {acks}: write 0, 1 or all")
    sent: list[Sent] = []
    failed = ""
    with Producer(brokers_at(where, "broker-list"), _ACKS[acks], timeout_s=timeout_s) as producer:
        try:
            for line in sys.stdin:
                key, value = _parted(line.rstrip("\n"), key_separator)
                sent += producer.send(topic, [value], key, partition)
        except ClientError as error:
            failed = f"{error.code}: {error}"
    ends: dict[int, int] = {}
    for one in sent:
        ends[one.partition] = max(one.offset, ends.get(one.partition, -1))
    result = {"topic": topic, "acknowledged": len(sent), "last_offsets": ends, "error": failed}
    emit_json(json_target, result)
    where_to = ", ".join(
        f"{topic}-{number} to offset {end}" for number, end in sorted(ends.items())
    )
    click.echo(f"{len(sent)} records acknowledged ({where_to or 'none'})", err=True)
    if failed:
        click.echo(f"insync: {failed}", err=True)
        raise click.exceptions.Exit(1)


def _parted(line: str, separator: str | None) -> tuple[bytes | None, bytes]:
    if separator is None:
        return None, line.encode()
    key, found, value = line.partition(separator)
    if not found:
        raise Refused(f"No key found on line: {line}")
    return key.encode(), value.encode()


@click.command()
@click.option("--bootstrap-server", "--broker-list", "where", metavar="HOST:PORT|DIR")
@click.option("--topic", metavar="NAME", help="What to read.")
@click.option("--partition", type=click.IntRange(min=0), metavar="N", help="This one only.")
@click.option("--offset", default="latest", show_default=True, metavar="N",
              help="A number, earliest or latest; needs --partition.")  # fmt: skip
@click.option("--from-beginning", is_flag=True, help="From the earliest record on.")
@click.option("--max-messages", type=click.IntRange(min=1), metavar="N", help="End after so many.")
@click.option("--timeout-ms", type=click.IntRange(min=1), metavar="MS",
              help="End when nothing comes for so long.")  # fmt: skip
@click.option("--print-offsets", is_flag=True, help="PARTITION, OFFSET and VALUE, tabs between.")
@json_option
def consume(
    where: str | None,
    topic: str | None,
    partition: int | None,
    offset: str,
    from_beginning: bool,
    max_messages: int | None,
    timeout_ms: int | None,
    print_offsets: bool,
    json_target: str | None,
) -> None:
    """Print the records of a topic, as far as they are committed, until it is interrupted.

    \b
    Example:
      insync consume --bootstrap-server DIR --topic orders --from-beginning --timeout-ms 2000
      insync consume --bootstrap-server DIR --topic orders --partition 0 --offset 10
    """
    if topic is None:
        raise Refused('Missing required argument "[topic]"')
    if offset not in ("earliest", "latest") and not offset.isdecimal():
        raise Refused(
            f"The provided offset value '{offset}' is incorrect. Valid values are 'earliest', "
            "'latest', or a non-negative long."
        )
    if offset != "latest" and partition is None:
        raise Refused("The partition is required when offset is specified.")
    count = 0
    records: list[dict[str, object]] = []
    try:
        with Consumer(brokers_at(where, "bootstrap-server")) as consumer:
            known = consumer.partitions(topic, time.monotonic() + 10)
            if partition is not None and partition not in known:
                raise Refused(f"{topic}-{partition}: UNKNOWN_TOPIC_OR_PARTITION")
            places = {}
            for number in known if partition is None else [partition]:
                first = offset == "earliest" or from_beginning
                places[number] = (
                    int(offset) if offset.isdecimal()
                    else consumer.offset(topic, number, -2 if first else -1)
                )  # fmt: skip
            last = time.monotonic()
            while max_messages is None or count < max_messages:
                if timeout_ms is not None and time.monotonic() - last > timeout_ms / 1000:
                    break
                for number in places:
                    for record in consumer.read(topic, number, places[number], wait_ms=100):
                        if max_messages is not None and count >= max_messages:
                            break
                        value = (record.value or b"").decode(errors="replace")
                        shown = f"{number}\t{record.offset}\t{value}" if print_offsets else value
                        say(shown, json_target)
                        if json_target is not None:
                            records.append({"partition": number, "offset": record.offset,
                                            "value": value})  # fmt: skip
                        places[number] = record.offset + 1
                        count, last = count + 1, time.monotonic()
    except ClientError as error:
        raise Refused(str(error)) from error
    finally:
        click.echo(f"Processed a total of {count} messages", err=True)
    emit_json(json_target, {"topic": topic, "records": records})

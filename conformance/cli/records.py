"""`insync produce` and `insync consume`: Kafka's console producer and consumer."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Iterable, Iterator

import click

from conformance.cli.common import WrongUse, emit_json, json_option, say
from conformance.cli.kafka_tool import ToolRefused, brokers_at
from impl.server.clients import BATCH_BYTES, ClientError, Consumer, Keyed, Producer, RecordMetadata

_ACKS = {"all": -1, "-1": -1, "0": 0, "1": 1}


@click.command()
@click.option("--broker-list", "--bootstrap-server", "where", metavar="HOST:PORT|DIR",
              help="Brokers, or a cluster.")  # fmt: skip
@click.option("--topic", metavar="NAME", help="The topic.")
@click.option("--partition", type=click.IntRange(min=0), metavar="N", help="This partition only.")
@click.option("--request-required-acks", "acks", metavar="ACKS",
              help="0, 1, or all.  [default: 1; all if idempotent]")  # fmt: skip
@click.option("--timeout", "timeout_s", type=click.FloatRange(min=0, min_open=True), default=30.0,
              show_default=True, metavar="S", help="Retry a record for S seconds.")  # fmt: skip
@click.option("--idempotent", is_flag=True, help="No record twice, and none out of order (0.11).")
@click.option("--batch-size", type=click.IntRange(min=1), default=200, show_default=True,
              metavar="N", help="Records that are sent together.")  # fmt: skip
@click.option("--linger-ms", type=click.IntRange(min=0), default=100, show_default=True,
              metavar="MS", help="How long a batch waits for further lines.")  # fmt: skip
@click.option("--max-partition-memory-bytes", "batch_bytes", type=click.IntRange(min=1),
              default=BATCH_BYTES, show_default=True, metavar="B",
              help="The largest batch, in bytes.")  # fmt: skip
@click.option("--key-separator", metavar="TEXT", help="Lines are KEY, TEXT and VALUE.")
@click.option(
    "--null-marker",
    metavar="TEXT",
    help="Lines with this value have a null value, which deletes the key.",
)
@json_option
def produce(
    where: str | None,
    topic: str | None,
    partition: int | None,
    acks: str | None,
    timeout_s: float,
    idempotent: bool,
    batch_size: int,
    linger_ms: int,
    batch_bytes: int,
    key_separator: str | None,
    null_marker: str | None,
    json_target: str | None,
) -> None:
    """Send each line of standard input as a record; say on standard error where the last ones went.

    Lines that come within --linger-ms of each other are sent together, --batch-size at most.

    Exit code 0: every line was acknowledged; 1: one was not, and no line was sent after its batch.

    \b
    Example:
      seq 100 | insync produce --broker-list DIR --topic orders --request-required-acks all
      seq 100 | insync produce --broker-list DIR --topic orders --idempotent
      echo "k:v" | insync produce --broker-list 127.0.0.1:9092 --topic orders --key-separator :
    """
    if topic is None:
        raise ToolRefused('Missing required argument "[topic]"')
    acks = acks or ("all" if idempotent else "1")
    if acks not in _ACKS:
        raise WrongUse(f"--request-required-acks {acks}: write 0, 1 or all")
    if idempotent and _ACKS[acks] != -1:
        raise ToolRefused("Must set acks to all in order to use the idempotent producer.")
    sent: list[RecordMetadata] = []
    failed = ""
    with Producer(
        brokers_at(where, "broker-list"), _ACKS[acks], timeout_s=timeout_s, idempotent=idempotent,
        batch_bytes=batch_bytes,
    ) as producer:  # fmt: skip
        try:
            for lines in batches(sys.stdin, batch_size, linger_ms / 1000):
                records = [_parted(line.rstrip("\n"), key_separator, null_marker) for line in lines]
                sent += producer.send_records(topic, records, partition)
        except ClientError as error:
            sent += error.sent
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


def batches(lines: Iterable[str], most: int, linger_s: float) -> Iterator[list[str]]:
    """Lines in groups: a group is full, or nothing followed in time, or the input is over."""
    waiting: queue.Queue[str | OSError | ValueError | None] = queue.Queue(maxsize=4 * most)

    def read() -> None:
        try:
            for line in lines:
                waiting.put(line)
            waiting.put(None)
        except (OSError, ValueError) as error:
            waiting.put(error)

    threading.Thread(target=read, name="lines", daemon=True).start()
    group: list[str] = []
    due = 0.0
    while True:
        try:
            left = due - time.monotonic() if group else 3600.0
            line = waiting.get(timeout=max(left, 0.0)) if left > 0 else waiting.get_nowait()
        except queue.Empty:
            if group:
                yield group
            group = []
            continue
        if isinstance(line, ValueError):
            raise WrongUse(f"standard input is no UTF-8 text: {line}") from line
        if isinstance(line, OSError):
            raise line
        if line is None:
            break
        if not group:
            due = time.monotonic() + linger_s
        group.append(line)
        if len(group) >= most:
            yield group
            group = []
    if group:
        yield group


def _parted(line: str, separator: str | None, null_marker: str | None) -> Keyed:
    key: bytes | None = None
    value = line
    if separator is not None:
        before, found, value = line.partition(separator)
        if not found:
            raise ToolRefused(f"No key found on line: {line}")
        key = before.encode(errors="surrogateescape")
    return key, None if value == null_marker else value.encode(errors="surrogateescape")


@click.command()
@click.option("--bootstrap-server", "--broker-list", "where", metavar="HOST:PORT|DIR",
              help="Brokers, or a cluster.")  # fmt: skip
@click.option("--topic", metavar="NAME", help="The topic.")
@click.option("--partition", type=click.IntRange(min=0), metavar="N", help="This partition only.")
@click.option("--offset", default="latest", show_default=True, metavar="N",
              help="A number, earliest or latest; needs --partition.")  # fmt: skip
@click.option("--from-beginning", is_flag=True, help="From the earliest record on.")
@click.option(
    "--max-messages", type=click.IntRange(min=1), metavar="N", help="End after N records."
)
@click.option("--timeout-ms", type=click.IntRange(min=1), metavar="MS",
              help="End if no record arrives for MS milliseconds.")  # fmt: skip
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
        raise ToolRefused('Missing required argument "[topic]"')
    if offset not in ("earliest", "latest") and not offset.isdecimal():
        raise ToolRefused(
            f"The provided offset value '{offset}' is incorrect. Valid values are 'earliest', "
            "'latest', or a non-negative long."
        )
    if offset != "latest" and partition is None:
        raise ToolRefused("The partition is required when offset is specified.")
    count = 0
    records: list[dict[str, object]] = []
    try:
        with Consumer(brokers_at(where, "bootstrap-server")) as consumer:
            known = consumer.partitions(topic, time.monotonic() + 10)
            if partition is not None and partition not in known:
                raise ToolRefused(f"{topic}-{partition}: UNKNOWN_TOPIC_OR_PARTITION")
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
                    found, following = consumer.poll(topic, number, places[number], wait_ms=100)
                    for record in found:
                        if max_messages is not None and count >= max_messages:
                            break
                        value = (record.value or b"").decode(errors="replace")
                        shown = f"{number}\t{record.offset}\t{value}" if print_offsets else value
                        say(shown, json_target)
                        if json_target is not None:
                            records.append({"partition": number, "offset": record.offset,
                                            "value": value})  # fmt: skip
                        count, last = count + 1, time.monotonic()
                    places[number] = following
    except ClientError as error:
        raise ToolRefused(str(error)) from error
    finally:
        click.echo(f"Processed a total of {count} messages", err=True)
    emit_json(json_target, {"topic": topic, "records": records})

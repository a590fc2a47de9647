"""`insync reassign`: Kafka's kafka-reassign-partitions, with its options, files and lines."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import click

from conformance.cli.common import WrongUse, json_option
from conformance.cli.kafka_tool import Refused, print_lines, refusals, zookeeper
from impl.admin.errors import AdminError
from impl.admin.reassign_command import ReassignCommand

_FAILED = "Partitions reassignment failed due to "


@click.command()
@click.option("--generate", is_flag=True, help="Propose a placement; change nothing.")
@click.option("--execute", is_flag=True, help="Start the moves that the file asks for.")
@click.option("--verify", is_flag=True, help="Say how far they are; remove throttles at the end.")
@click.option("--zookeeper", "where", metavar="HOST:PORT|DIR", help="An address, or a cluster.")
@click.option("--reassignment-json-file", "plan", metavar="FILE", help="Partitions and replicas.")
@click.option("--topics-to-move-json-file", "movable", metavar="FILE", help="Topics to move.")
@click.option("--broker-list", metavar="B,B", help="Brokers to move to.")
@click.option("--throttle", type=int, metavar="N", help="Bytes a second between brokers.")
@click.option("--disable-rack-aware", is_flag=True, help="Do not look at racks.")
@click.option("--seed", type=int, metavar="N", help="Draw proposals from this seed.")
@click.option("--version", metavar="V", help="The release whose words are used.")
@json_option
def reassign(
    generate: bool,
    execute: bool,
    verify: bool,
    where: str | None,
    plan: str | None,
    movable: str | None,
    broker_list: str | None,
    throttle: int | None,
    disable_rack_aware: bool,
    seed: int | None,
    version: str | None,
    json_target: str | None,
) -> None:
    """Move partitions to other replicas, as Kafka's own script does.

    \b
    Example:
      insync reassign --generate --zookeeper DIR --topics-to-move-json-file t.json --broker-list 1,2
      insync reassign --execute --zookeeper DIR --reassignment-json-file plan.json
      insync reassign --verify --zookeeper DIR --reassignment-json-file plan.json
    """
    if generate + execute + verify != 1:
        raise Refused("Command must include exactly one action: --generate, --execute or --verify")
    if generate and (movable is None or broker_list is None):
        raise Refused(
            "If --generate option is used, command must include both --topics-to-move-json-file "
            "and --broker-list options"
        )
    if execute and plan is None:
        raise Refused(
            "If --execute option is used, command must include --reassignment-json-file that was "
            "output during the --generate option"
        )
    if verify and plan is None:
        raise Refused(
            "If --verify option is used, command must include --reassignment-json-file that was "
            "used during the --execute option"
        )
    text = _read("topics-to-move-json-file" if generate else "reassignment-json-file",
                 movable if generate else plan)  # fmt: skip
    with zookeeper(where, version) as client:
        before = "Error: " if client.release.since("2.6") else _FAILED
        with refusals(before):
            command = ReassignCommand(client, random.Random(seed))
            if generate:
                assert broker_list is not None, "required above"
                lines = command.generate(broker_list, _topics(text), not disable_rack_aware)
            elif execute:
                lines = command.execute(text, throttle)
            else:
                lines = command.verify(text)
    print_lines(lines, json_target)


def _read(option: str, path: str | None) -> str:
    assert path is not None, "required above"
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"--{option} {path}: cannot be read ({error}); name a JSON file") from error


def _topics(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
        for entry in fields["topics"]:
            str(entry["topic"])
    except (ValueError, KeyError, TypeError) as error:
        raise AdminError(
            'the file is not such as {"topics":[{"topic":"orders"}],"version":1}'
        ) from error
    found: dict[str, Any] = fields
    return found

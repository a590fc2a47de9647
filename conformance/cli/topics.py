"""`insync topics`: Kafka's kafka-topics, with its options, messages and printed lines."""

from __future__ import annotations

import random

import click

from conformance.cli.common import json_option
from conformance.cli.kafka_tool import Refused, print_lines, refusals, zookeeper
from impl.admin.topic_command import Filters, TopicCommand, parse_configs
from impl.server.properties import TOPIC_KEYS

ACTIONS = ("list", "describe", "create", "alter", "delete")
_FAILED = "Error while executing topic command : "


@click.command()
@click.option("--create", is_flag=True, help="Create a new topic.")
@click.option("--list", "list_", is_flag=True, help="List all available topics.")
@click.option("--describe", is_flag=True, help="List details for the given topics.")
@click.option("--alter", is_flag=True, help="Alter the number of partitions, or configuration.")
@click.option("--delete", is_flag=True, help="Delete a topic.")
@click.option("--zookeeper", "where", metavar="HOST:PORT|DIR", help="An address, or a cluster.")
@click.option("--topic", metavar="NAME", help="The topic; but for --create a pattern of names.")
@click.option("--partitions", type=int, metavar="N", help="How many partitions.")
@click.option("--replication-factor", "factor", type=int, metavar="N", help="Replicas of each.")
@click.option("--replica-assignment", "by_hand", metavar="B:B,B:B", help="Brokers by hand.")
@click.option("--config", "configs", multiple=True, metavar="NAME=VALUE", help="Override.")
@click.option("--delete-config", "drop", multiple=True, metavar="NAME", help="No override.")
@click.option("--if-exists", is_flag=True, help="Only if the topic exists.")
@click.option("--if-not-exists", is_flag=True, help="Only if the topic does not exist.")
@click.option("--disable-rack-aware", is_flag=True, help="Do not look at racks.")
@click.option("--under-replicated-partitions", "under", is_flag=True, help="Only those.")
@click.option("--unavailable-partitions", "unavailable", is_flag=True, help="Only those.")
@click.option("--topics-with-overrides", "overrides", is_flag=True, help="Only those.")
@click.option("--exclude-internal", is_flag=True, help="Leave out Kafka's own topics.")
@click.option("--seed", type=int, metavar="N", help="Draw placements from this seed.")
@click.option("--version", metavar="V", help="The release whose words are used.")
@json_option
def topics(
    create: bool,
    list_: bool,
    describe: bool,
    alter: bool,
    delete: bool,
    where: str | None,
    topic: str | None,
    partitions: int | None,
    factor: int | None,
    by_hand: str | None,
    configs: tuple[str, ...],
    drop: tuple[str, ...],
    if_exists: bool,
    if_not_exists: bool,
    disable_rack_aware: bool,
    under: bool,
    unavailable: bool,
    overrides: bool,
    exclude_internal: bool,
    seed: int | None,
    version: str | None,
    json_target: str | None,
) -> None:
    """Create, delete, describe, or change a topic, as Kafka's own script does.

    \b
    Example:
      insync topics --create --zookeeper DIR --topic orders --partitions 3 --replication-factor 3
      insync topics --describe --zookeeper DIR --topic orders
      insync topics --delete --zookeeper 127.0.0.1:2181 --topic orders
    """
    given = dict(zip(ACTIONS, (list_, describe, create, alter, delete), strict=True))
    action = _action(given)
    _required(action, topic, partitions, factor, by_hand)
    _together(
        action,
        {
            "config": bool(configs), "delete-config": bool(drop), "partitions": bool(partitions),
            "replication-factor": factor is not None, "replica-assignment": by_hand is not None,
            "under-replicated-partitions": under, "unavailable-partitions": unavailable,
            "topics-with-overrides": overrides, "if-exists": if_exists,
            "if-not-exists": if_not_exists,
        },
    )  # fmt: skip
    with zookeeper(where, version) as client, refusals(_FAILED):
        command = TopicCommand(client, where or "", random.Random(seed))
        wanted = parse_configs(configs, TOPIC_KEYS)
        if action == "create":
            assert topic is not None, "required above"
            lines = command.create(
                topic, partitions or 0, factor or 0, by_hand, wanted, if_not_exists,
                not disable_rack_aware,
            )  # fmt: skip
        elif action == "list":
            lines = [*command.list(topic, exclude_internal)]
        elif action == "describe":
            only = Filters(under, unavailable, overrides)
            lines = [*command.describe(topic, only, exclude_internal)]
        elif action == "alter":
            assert topic is not None, "required above"
            lines = [*command.alter(topic, partitions, by_hand, wanted, drop, if_exists)]
        else:
            assert topic is not None, "required above"
            lines = [*command.delete(topic, if_exists)]
    print_lines(lines, json_target)


def _action(given: dict[str, bool]) -> str:
    chosen = [name for name, wanted in given.items() if wanted]
    if len(chosen) != 1:
        raise Refused(
            "Command must include exactly one action: --list, --describe, --create, --alter or "
            "--delete"
        )
    return chosen[0]


def _required(
    action: str, topic: str | None, partitions: int | None, factor: int | None, by_hand: str | None
) -> None:
    missing = None
    if action not in ("list", "describe") and topic is None:
        missing = "topic"
    elif action == "create" and by_hand is None:
        missing = "partitions" if partitions is None else None
        missing = missing or ("replication-factor" if factor is None else None)
    if missing is not None:
        raise Refused(f'Missing required argument "[{missing}]"')


_FITS = {
    "config": ("create", "alter"),
    "delete-config": ("alter",),
    "partitions": ("create", "alter"),
    "replication-factor": ("create",),
    "replica-assignment": ("create", "alter"),
    "under-replicated-partitions": ("describe",),
    "unavailable-partitions": ("describe",),
    "topics-with-overrides": ("describe",),
    "if-exists": ("alter", "delete", "describe"),
    "if-not-exists": ("create",),
}


def _together(action: str, options: dict[str, bool]) -> None:
    for option, used in options.items():
        if used and action not in _FITS[option]:
            raise Refused(f'Option "[{action}]" can\'t be used with option "[{option}]"')
    if action == "create" and options["replica-assignment"]:
        for option in ("partitions", "replication-factor"):
            if options[option]:
                raise Refused(
                    f'Option "[replica-assignment]" can\'t be used with option "[{option}]"'
                )

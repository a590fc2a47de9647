"""`insync topics`: Kafka's kafka-topics, with its options, messages and printed lines."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import click

from conformance.cli.common import json_option
from conformance.cli.kafka_tool import (
    INT,
    ToolRefused,
    admin_at,
    cannot_be_used,
    print_lines,
    refusals,
    release_at,
    zookeeper,
)
from impl.admin.failure_output import of_topics, unrecognized
from impl.admin.topic_command import Filters, TopicCommand, parse_configs
from impl.admin.topics_by_brokers import TopicsByBrokers
from impl.releases import Release
from impl.server.properties import TOPIC_KEYS

ACTIONS = ("list", "describe", "create", "alter", "delete")


@click.command()
@click.option("--create", is_flag=True, help="Create a new topic.")
@click.option("--list", "list_", is_flag=True, help="List all available topics.")
@click.option("--describe", is_flag=True, help="List details for the given topics.")
@click.option("--alter", is_flag=True, help="Alter the number of partitions, or configuration.")
@click.option("--delete", is_flag=True, help="Delete a topic.")
@click.option("--zookeeper", "where", metavar="HOST:PORT|DIR", help="An address, or a cluster.")
@click.option("--bootstrap-server", "brokers", metavar="HOST:PORT|DIR",
              help="Ask the brokers (2.2 and later).")  # fmt: skip
@click.option(
    "--topic", metavar="NAME", help="The topic; except with --create, a pattern of names."
)
@click.option("--partitions", type=INT, metavar="N", help="How many partitions.")
@click.option("--replication-factor", "factor", type=INT, metavar="N", help="Replicas of each.")
@click.option(
    "--replica-assignment", "by_hand", metavar="B:B,B:B", help="The brokers of each replica."
)
@click.option("--config", "configs", multiple=True, metavar="NAME=VALUE", help="Override a config.")
@click.option(
    "--delete-config", "drop", multiple=True, metavar="NAME", help="Remove a config's override."
)
@click.option("--if-exists", is_flag=True, help="Only if the topic exists.")
@click.option("--if-not-exists", is_flag=True, help="Only if the topic does not exist.")
@click.option("--disable-rack-aware", is_flag=True, help="Do not look at racks.")
@click.option("--under-replicated-partitions", "under", is_flag=True, help="Only those.")
@click.option("--unavailable-partitions", "unavailable", is_flag=True, help="Only those.")
@click.option("--under-min-isr-partitions", "under_min_isr", is_flag=True, help="Only those (2.3).")
@click.option("--at-min-isr-partitions", "at_min_isr", is_flag=True, help="Only those (2.3).")
@click.option("--topics-with-overrides", "overrides", is_flag=True, help="Only those.")
@click.option("--exclude-internal", is_flag=True, help="Leave out Kafka's own topics.")
@click.option("--seed", type=int, metavar="N", help="Draw placements from this seed.")
@click.option("--version", metavar="V", help="The release whose messages are printed.")
@json_option
def topics(
    create: bool,
    list_: bool,
    describe: bool,
    alter: bool,
    delete: bool,
    where: str | None,
    brokers: str | None,
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
    under_min_isr: bool,
    at_min_isr: bool,
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
      insync topics --describe --bootstrap-server DIR --under-replicated-partitions
    """
    release = release_at(where or brokers, version)
    options = {
        **dict(zip(ACTIONS, (list_, describe, create, alter, delete), strict=True)),
        "zookeeper": where is not None, "bootstrap-server": brokers is not None,
        "topic": topic is not None, "config": bool(configs), "delete-config": bool(drop),
        "partitions": partitions is not None, "replication-factor": factor is not None,
        "replica-assignment": by_hand is not None, "under-replicated-partitions": under,
        "unavailable-partitions": unavailable, "topics-with-overrides": overrides,
        "under-min-isr-partitions": under_min_isr, "at-min-isr-partitions": at_min_isr,
        "if-exists": if_exists, "if-not-exists": if_not_exists,
        "exclude-internal": exclude_internal,
    }  # fmt: skip
    action = _check(release, options)
    name, only = topic or "", Filters(under, unavailable, overrides, under_min_isr, at_min_isr)
    lines: Sequence[str]
    if brokers is not None:
        with refusals(of_topics(release)), admin_at(brokers) as admin:
            asking = TopicsByBrokers(admin, release)
            wanted = parse_configs(configs, TOPIC_KEYS, release)
            match action:
                case "create":
                    lines = asking.create(name, partitions, factor, by_hand, wanted, if_not_exists)
                case "list":
                    lines = asking.names(topic, exclude_internal)
                case "describe":
                    lines = asking.describe(topic, only, exclude_internal, if_exists)
                case "alter":
                    lines = asking.alter(name, partitions or 0, by_hand, if_exists)
                case _:
                    lines = asking.delete(name, if_exists)
        print_lines(lines, json_target)
        return
    with zookeeper(where, version) as client, refusals(of_topics(release)):
        command = TopicCommand(client, where or "", random.Random(seed))
        wanted = parse_configs(configs, TOPIC_KEYS, client.release)
        match action:
            case "create":
                lines = command.create(
                    name, partitions or 0, factor or 0, by_hand, wanted, if_not_exists,
                    not disable_rack_aware,
                )  # fmt: skip
            case "list":
                lines = command.list(topic, exclude_internal)
            case "describe":
                lines = command.describe(topic, only, exclude_internal, if_exists)
            case "alter":
                lines = command.alter(name, partitions, by_hand, wanted, drop, if_exists)
            case _:
                lines = command.delete(name, if_exists)
    print_lines(lines, json_target)


def _check(release: Release, given: dict[str, bool]) -> str:
    """The action, if the other options go with it (``TopicCommandOptions.checkArgs``)."""
    for option, since in _SINCE.items():
        if given[option] and not release.since(since):
            raise ToolRefused(unrecognized(option))
    chosen = [name for name in ACTIONS if given[name]]
    if len(chosen) != 1:
        raise ToolRefused(
            "Command must include exactly one action: --list, --describe, --create, --alter or "
            "--delete"
        )
    (action,) = chosen
    if release.since("2.2") and given["zookeeper"] == given["bootstrap-server"]:
        said = "Only one of --bootstrap-server or --zookeeper must be specified"
        raise ToolRefused(f'Exception in thread "main" java.lang.IllegalArgumentException: {said}')
    for option in _required(release, action, given):
        if not given[option]:
            raise ToolRefused(f'Missing required argument "[{option}]"')
    if action == "alter" and given["bootstrap-server"] and given["config"]:
        raise ToolRefused(
            'Option combination "[bootstrap-server],[config]" can\'t be used with option "[alter]"'
        )
    _check_combinations(release, action, given)
    return action


_BY_MIN_ISR = ("under-min-isr-partitions", "at-min-isr-partitions")
_SINCE = {
    "bootstrap-server": "2.2", "exclude-internal": "2.1", **dict.fromkeys(_BY_MIN_ISR, "2.3"),
}  # fmt: skip
"""By option, the release that brought it, where not every one has it."""


def _required(release: Release, action: str, given: dict[str, bool]) -> Iterator[str]:
    by_brokers = given["bootstrap-server"]
    if not by_brokers:
        yield "zookeeper"
    described_if = release.since("2.2") and action == "describe" and given["if-exists"]
    if action not in ("list", "describe") or described_if:
        yield "topic"
    may_leave_out = by_brokers and release.since("2.4")
    if action == "create" and not given["replica-assignment"] and not may_leave_out:
        yield from ("partitions", "replication-factor")
    if action == "alter" and by_brokers:
        yield "partitions"


_FITS = {
    "config": ("create", "alter"),
    "delete-config": ("alter",),
    "partitions": ("create", "alter"),
    "replication-factor": ("create",),
    "replica-assignment": ("create", "alter"),
    "under-replicated-partitions": ("describe",),
    **dict.fromkeys(_BY_MIN_ISR, ("describe",)),
    "unavailable-partitions": ("describe",),
    "topics-with-overrides": ("describe",),
    "if-exists": ("alter", "delete", "describe"),
    "if-not-exists": ("create",),
    "exclude-internal": ("list", "describe"),
}
"""By option, in the order in which they are looked at, the actions that it goes with."""
_REPORTS = (
    "under-replicated-partitions", *_BY_MIN_ISR, "unavailable-partitions", "topics-with-overrides",
)  # fmt: skip


def _check_combinations(release: Release, action: str, given: dict[str, bool]) -> None:
    for option, fits in _FITS.items():
        if not given[option]:
            continue
        if option == "if-exists" and not release.since("2.2"):
            fits = ("alter", "delete")
        unfit = [name for name in ACTIONS if name not in fits]
        if option == "delete-config":
            unfit.append("bootstrap-server")
        if option in ("if-exists", "if-not-exists") and not release.since("2.6"):
            unfit.append("bootstrap-server")
        if option == "replica-assignment" and action == "create":
            unfit += ["partitions", "replication-factor"]
        if option in _REPORTS:
            unfit += [one for one in _REPORTS if one != option]
        if option in _BY_MIN_ISR:
            unfit.append("zookeeper")
        for other in unfit:
            if given[other]:
                raise ToolRefused(cannot_be_used(option, other, release))

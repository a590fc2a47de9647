"""`insync configs`: Kafka's kafka-configs, for topics and brokers."""

from __future__ import annotations

import click

from conformance.cli.common import WrongUse, json_option
from conformance.cli.kafka_tool import (
    ToolRefused,
    admin_at,
    print_lines,
    refusals,
    release_at,
    zookeeper,
)
from impl.admin.config_command import KINDS, ConfigCommand, parse_added
from impl.admin.failure_output import CONFIGS
from impl.admin.port import RequestFailed
from impl.releases import Release
from impl.server.admin_client import AdminClient
from impl.server.dynamic_configs import EVERY_BROKER, RATES, invalid_value_reason, settable
from impl.server.properties import TOPIC_KEYS


@click.command()
@click.option("--zookeeper", "where", metavar="HOST:PORT|DIR", help="An address, or a cluster.")
@click.option("--bootstrap-server", "brokers", metavar="HOST:PORT|DIR", help="Ask the brokers.")
@click.option("--entity-type", "kind", metavar="KIND", help="topics or brokers.")
@click.option("--entity-name", "name", metavar="NAME", help="A topic, or a broker's id.")
@click.option("--entity-default", "every", is_flag=True, help="Every broker (1.1).")
@click.option("--describe", is_flag=True, help="Print the configs that are set.")
@click.option("--alter", is_flag=True, help="Set and unset configs.")
@click.option(
    "--add-config", "added", metavar="K=V,...", help="Set; [V,V] for a value with commas."
)
@click.option("--delete-config", "dropped", metavar="K,...", help="Unset.")
@click.option("--version", metavar="V", help="The release whose messages are printed.")
@json_option
def configs(
    where: str | None,
    brokers: str | None,
    kind: str | None,
    name: str | None,
    every: bool,
    describe: bool,
    alter: bool,
    added: str | None,
    dropped: str | None,
    version: str | None,
    json_target: str | None,
) -> None:
    """Describe or alter what is set for topics and for running brokers.

    A broker hears of it at once, through /config/changes. A running broker's own settings are
    altered with --bootstrap-server (1.1), its throttles and topics with --zookeeper too.

    \b
    Example:
      insync configs --zookeeper DIR --entity-type topics --entity-name orders --alter \\
          --add-config retention.ms=60000,cleanup.policy=[compact,delete]
      insync configs --zookeeper DIR --entity-type topics --describe
      insync configs --bootstrap-server DIR --entity-type brokers --entity-name 1 --alter \\
          --add-config log.retention.ms=60000
    """
    if describe == alter:
        raise ToolRefused("Command must include exactly one action: --describe, --alter")
    if (where is None) == (brokers is None):
        raise ToolRefused("Only one of --bootstrap-server or --zookeeper must be specified")
    if kind not in KINDS:
        raise ToolRefused(f"Invalid entity-type {kind}. Here are {', '.join(KINDS)}")
    if every and (kind != "brokers" or name is not None):
        raise WrongUse("--entity-default is for brokers, without --entity-name")
    entity = EVERY_BROKER if every else name
    if alter and entity is None:
        raise ToolRefused("an entity name must be specified with --alter")
    if alter and not added and not dropped:
        raise ToolRefused("At least one of --add-config or --delete-config must be specified")
    if kind == "brokers" and name is not None and not name.isdecimal():
        raise ToolRefused(
            f"The entity name for {kind} must be a valid integer broker id, but it is: {name}"
        )
    gone = [part.strip() for part in (dropped or "").split(",") if part.strip()]
    if where is not None:
        with zookeeper(where, version) as client, refusals(CONFIGS):
            known = settable(client.release)
            keys = {"topics": TOPIC_KEYS, "brokers": known}
            command = ConfigCommand(client, keys, known - RATES, invalid_value_reason)
            if alter:
                assert entity is not None
                lines = command.alter(kind, entity, parse_added(added or ""), gone)
            else:
                lines = command.describe(kind, entity)
            print_lines(lines, json_target)
        return
    assert brokers is not None
    release = release_at(brokers, version)
    if not release.since("1.1") or (kind == "topics" and not release.since("2.5")):
        raise ToolRefused(f"{release} has no --bootstrap-server for {kind}; use --zookeeper")
    if entity is None:
        raise WrongUse("--bootstrap-server: name the entity, with --entity-name")
    with refusals(CONFIGS), admin_at(brokers) as admin:
        if alter:
            lines = _altered(admin, release, kind, entity, parse_added(added or ""), gone)
        else:
            lines = _described(admin, release, kind, entity)
        print_lines(lines, json_target)


def _altered(
    admin: AdminClient, release: Release, kind: str, name: str, added: dict[str, str],
    dropped: list[str],
) -> list[str]:  # fmt: skip
    known = admin.describe_configs(kind, name)
    missing = [one for one in dropped if one not in known]
    if missing:
        raise RequestFailed("INVALID_CONFIG", f"Invalid config(s): {','.join(missing)}")
    changes: dict[str, str | None] = {**dict.fromkeys(dropped), **added}
    incremental = kind == "topics" and release.since("2.5")
    if not incremental:  # all that is to be set is named
        kept = {key: value for key, (value, _) in known.items() if key not in dropped}
        changes = {**kept, **added}
        hidden = [key for key, value in changes.items() if value is None]
        if hidden:
            raise RequestFailed(
                "INVALID_CONFIG",
                "All sensitive broker config entries must be "
                f"specified for --alter, missing entries: Set({', '.join(hidden)})",
            )
    admin.alter_configs({(kind, name): changes}, incremental)
    if name == EVERY_BROKER:
        return ["Completed updating default config for brokers in the cluster."]
    colon = "" if release.since("2.5") else ":"
    return [f"Completed updating config for {KINDS[kind]}{colon} {name}."]


def _described(admin: AdminClient, release: Release, kind: str, name: str) -> list[str]:
    begin = "Dynamic configs" if release.since("2.5") else "Configs"
    if name == EVERY_BROKER:
        lines = ["Default configs for brokers in the cluster are:"]
    else:
        lines = [f"{begin} for {KINDS[kind]} {name} are:"]
    for key, (value, synonyms) in sorted(admin.describe_configs(kind, name).items()):
        known = ", ".join(f"{source}:{named}={_shown(text)}" for source, named, text in synonyms)
        sensitive = "true" if value is None else "false"
        lines.append(f"  {key}={_shown(value)} sensitive={sensitive} synonyms={{{known}}}")
    return lines


def _shown(value: str | None) -> str:
    return "null" if value is None else value

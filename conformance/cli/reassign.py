"""`insync reassign`: Kafka's kafka-reassign-partitions, with its options, files and lines."""

from __future__ import annotations

import contextlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from impl.admin.errors import AdminError
from impl.admin.port import Admin
from impl.admin.reassign_by_brokers import ReassignByBrokers
from impl.admin.reassign_command import ReassignCommand
from impl.znodes.client import ZnodeClient

_FAILED = "Partitions reassignment failed due to "
ACTIONS = ("generate", "execute", "verify", "cancel", "list")


@dataclass(frozen=True)
class _Given:
    """What was asked for, the files read."""

    action: str
    text: str
    broker_list: str
    throttle: int | None
    move_throttle: int | None
    additional: bool
    preserve_throttles: bool
    rack_aware: bool
    seed: int | None


@click.command()
@click.option("--generate", is_flag=True, help="Propose a placement; change nothing.")
@click.option("--execute", is_flag=True, help="Start the moves that the file asks for.")
@click.option("--verify", is_flag=True, help="Say how far they are; remove throttles at the end.")
@click.option("--cancel", is_flag=True, help="Turn back the moves of the file (2.4 and later).")
@click.option("--list", "list_", is_flag=True, help="List what moves (2.4 and later).")
@click.option("--zookeeper", "where", metavar="HOST:PORT|DIR", help="An address, or a cluster.")
@click.option("--bootstrap-server", "brokers", metavar="HOST:PORT|DIR",
              help="Ask the controller (2.4); with --zookeeper, for log_dirs.")  # fmt: skip
@click.option("--reassignment-json-file", "plan", metavar="FILE", help="Partitions and replicas.")
@click.option("--topics-to-move-json-file", "movable", metavar="FILE", help="Topics to move.")
@click.option("--broker-list", metavar="B,B", help="Brokers to move to.")
@click.option("--throttle", type=int, metavar="N", help="Bytes a second between brokers.")
@click.option("--replica-alter-log-dirs-throttle", "move_throttle", type=int, metavar="N",
              help="Bytes a second between directories of a broker.")  # fmt: skip
@click.option("--additional", is_flag=True, help="Move these besides what moves already.")
@click.option("--preserve-throttles", is_flag=True, help="Leave throttles as they are.")
@click.option("--disable-rack-aware", is_flag=True, help="Do not look at racks.")
@click.option("--seed", type=int, metavar="N", help="Draw proposals from this seed.")
@click.option("--version", metavar="V", help="The release whose words are used.")
@json_option
def reassign(
    generate: bool,
    execute: bool,
    verify: bool,
    cancel: bool,
    list_: bool,
    where: str | None,
    brokers: str | None,
    plan: str | None,
    movable: str | None,
    broker_list: str | None,
    throttle: int | None,
    move_throttle: int | None,
    additional: bool,
    preserve_throttles: bool,
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
      insync reassign --cancel --bootstrap-server DIR --reassignment-json-file plan.json
      insync reassign --list --bootstrap-server DIR
    """
    chosen = [
        name
        for name, given in zip(ACTIONS, (generate, execute, verify, cancel, list_), strict=True)
        if given
    ]
    _check(chosen, movable, broker_list, plan)
    action = chosen[0]
    text = ""
    if action != "list":
        file = movable if action == "generate" else plan
        option = "topics-to-move-json-file" if action == "generate" else "reassignment-json-file"
        text = _read(option, file)
    given = _Given(
        action, text, broker_list or "", throttle, move_throttle, additional, preserve_throttles,
        not disable_rack_aware, seed,
    )  # fmt: skip
    if where is None and brokers is not None:
        lines = _by_brokers(brokers, version, given)
    elif action in ("cancel", "list"):
        raise Refused('Missing required argument "[bootstrap-server]"')
    else:
        lines = _by_zookeeper(where, brokers, version, given)
    print_lines(lines, json_target)


def _check(
    chosen: Sequence[str], movable: str | None, broker_list: str | None, plan: str | None
) -> None:
    if len(chosen) != 1:
        listed = ", ".join(f"--{name}" for name in ACTIONS[:-1])
        raise Refused(f"Command must include exactly one action: {listed} or --{ACTIONS[-1]}")
    (action,) = chosen
    if action == "generate" and (movable is None or broker_list is None):
        raise Refused(
            "If --generate option is used, command must include both --topics-to-move-json-file "
            "and --broker-list options"
        )
    if action == "execute" and plan is None:
        raise Refused(
            "If --execute option is used, command must include --reassignment-json-file that was "
            "output during the --generate option"
        )
    if action == "verify" and plan is None:
        raise Refused(
            "If --verify option is used, command must include --reassignment-json-file that was "
            "used during the --execute option"
        )
    if action == "cancel" and plan is None:
        raise Refused('Missing required argument "[reassignment-json-file]"')


def _by_brokers(brokers: str, version: str | None, given: _Given) -> Sequence[str]:
    release = release_at(brokers, version)
    if not release.since("2.4"):
        raise Refused(f"--bootstrap-server: moves are asked for by --zookeeper in {release}")
    with admin_at(brokers, "Error: ") as admin, refusals("Error: "):
        command = ReassignByBrokers(admin, random.Random(given.seed))
        match given.action:
            case "generate":
                topics = _topics(given.text)
                return command.generate(given.broker_list, topics, given.rack_aware)
            case "execute":
                return command.execute(
                    given.text, given.throttle, given.move_throttle, given.additional
                )
            case "verify":
                return command.verify(given.text, given.preserve_throttles)
            case "cancel":
                return command.cancel(given.text, given.preserve_throttles)
            case _:
                return command.list()


def _by_zookeeper(
    where: str | None, brokers: str | None, version: str | None, given: _Given
) -> Sequence[str]:
    with zookeeper(where, version) as client:
        before = "Error: " if client.release.since("2.6") else _FAILED
        with contextlib.ExitStack() as held:
            admin = held.enter_context(admin_at(brokers, before)) if brokers else None
            held.enter_context(refusals(before))
            return _told(client, admin, given)


def _told(client: ZnodeClient, admin: Admin | None, given: _Given) -> Sequence[str]:
    command = ReassignCommand(client, random.Random(given.seed), admin)
    match given.action:
        case "generate":
            return command.generate(given.broker_list, _topics(given.text), given.rack_aware)
        case "execute":
            return command.execute(given.text, given.throttle, given.move_throttle)
        case _:
            return command.verify(given.text)


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

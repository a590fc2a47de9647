"""`insync reassign`: Kafka's kafka-reassign-partitions, with its options, files and lines."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from conformance.cli.common import WrongUse, json_option, say
from conformance.cli.kafka_tool import (
    LONG,
    ToolRefused,
    admin_at,
    cannot_be_used,
    print_lines,
    refusals,
    release_at,
    zookeeper,
)
from impl.admin.failure_output import of_reassignments, unrecognized
from impl.admin.port import Admin
from impl.admin.reassign_by_brokers import ReassignByBrokers
from impl.admin.reassign_command import ReassignCommand
from impl.releases import Release
from impl.znodes.client import ZnodeClient

ACTIONS = ("generate", "execute", "verify", "cancel", "list")
_DEPRECATED = (
    "Warning: --zookeeper is deprecated, and will be removed in a future version of Kafka."
)
_IGNORED = (
    "Warning: ignoring deprecated --zookeeper option because --bootstrap-server was specified.  "
    "The --zookeeper option will be removed in a future version of Kafka."
)


@dataclass(frozen=True)
class _ReassignOptions:
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
@click.option("--execute", is_flag=True, help="Start the reassignments in the file.")
@click.option("--verify", is_flag=True, help="Report their progress; remove throttles at the end.")
@click.option(
    "--cancel", is_flag=True, help="Cancel the reassignments in the file (2.4 and later)."
)
@click.option(
    "--list", "list_", is_flag=True, help="List reassignments in progress (2.4 and later)."
)
@click.option("--zookeeper", "where", metavar="HOST:PORT|DIR", help="An address, or a cluster.")
@click.option("--bootstrap-server", "brokers", metavar="HOST:PORT|DIR",
              help="Ask the controller (2.4); with --zookeeper, for log_dirs.")  # fmt: skip
@click.option("--reassignment-json-file", "plan", metavar="FILE", help="Partitions and replicas.")
@click.option("--topics-to-move-json-file", "movable", metavar="FILE", help="Topics to move.")
@click.option("--broker-list", metavar="B,B", help="Brokers to move to.")
@click.option("--throttle", type=LONG, metavar="N", help="Bytes a second between brokers.")
@click.option("--replica-alter-log-dirs-throttle", "move_throttle", type=LONG, metavar="N",
              help="Bytes a second between directories of a broker.")  # fmt: skip
@click.option("--additional", is_flag=True, help="Start these in addition to those in progress.")
@click.option("--preserve-throttles", is_flag=True, help="Leave throttles as they are.")
@click.option("--disable-rack-aware", is_flag=True, help="Do not look at racks.")
@click.option("--seed", type=int, metavar="N", help="Draw proposals from this seed.")
@click.option("--version", metavar="V", help="The release whose messages are printed.")
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
    options = {
        **dict(zip(ACTIONS, (generate, execute, verify, cancel, list_), strict=True)),
        _PLAN: plan is not None, _TOPICS: movable is not None, _BROKERS: broker_list is not None,
        _RATE: throttle is not None, _MOVE_RATE: move_throttle is not None,
        "additional": additional, "preserve-throttles": preserve_throttles,
        _RACKS: disable_rack_aware,
    }  # fmt: skip
    release = release_at(where or brokers, version)
    action = _check(release, options, where is not None, brokers is not None)
    text = ""
    if action != "list":
        file = movable if action == "generate" else plan
        text = _read(_TOPICS if action == "generate" else _PLAN, file)
    given = _ReassignOptions(
        action, text, broker_list or "", throttle, move_throttle, additional, preserve_throttles,
        not disable_rack_aware, seed,
    )  # fmt: skip
    newer = release.since("2.6")
    if newer and brokers is not None:
        if where is not None:
            say(_IGNORED, json_target)
        with refusals(of_reassignments(release)):
            lines = _by_brokers(brokers, given, release)
    else:
        assert where is not None, "required above"
        if newer:
            say(_DEPRECATED, json_target)
        lines = _by_zookeeper(where, brokers, version, given)
    print_lines(lines, json_target)


def _check(release: Release, given: dict[str, bool], zookeeper: bool, brokers: bool) -> str:
    """The action, if the other options go with it; ToolRefused in Kafka's words, of the release."""
    actions = ACTIONS if release.since("2.6") else ACTIONS[:3]
    for name in ACTIONS[len(actions) :]:
        if given[name]:
            raise ToolRefused(unrecognized(name))
    chosen = [name for name in actions if given[name]]
    if len(chosen) != 1:
        listed = [f"--{name}" for name in actions]
        text = f"{', '.join(listed[:-1])} or {listed[-1]}"
        if release.since("2.6"):
            text = ", ".join(listed)
        raise ToolRefused(f"Command must include exactly one action: {text}")
    (action,) = chosen
    if not release.since("2.6"):
        if not zookeeper:
            raise ToolRefused('Missing required argument "[zookeeper]"')
        _check_older(action, given, release)
        return action
    if not (zookeeper or brokers):
        raise ToolRefused("Please specify --bootstrap-server")
    for name in _REQUIRED[action]:
        if not given[name]:
            raise ToolRefused(f'Missing required argument "[{name}]"')
    for name, used in given.items():
        if used and name not in (*ACTIONS, *_REQUIRED[action], *_PERMITTED[action]):
            raise ToolRefused(f'Option "[{name}]" can\'t be used with action "[{action}]"')
    for name in ("additional", "cancel", "replica-alter-log-dirs-throttle", "list"):
        if given[name] and not brokers:
            said = f'You must specify --bootstrap-server when using "[{name}]"'
            raise ToolRefused(f'Exception in thread "main" java.lang.RuntimeException: {said}')
    return action


_PLAN, _TOPICS, _BROKERS = "reassignment-json-file", "topics-to-move-json-file", "broker-list"
_RATE, _MOVE_RATE, _RACKS = "throttle", "replica-alter-log-dirs-throttle", "disable-rack-aware"
_REQUIRED = {"verify": (_PLAN,), "generate": (_TOPICS, _BROKERS), "execute": (_PLAN,),
             "cancel": (_PLAN,), "list": ()}  # fmt: skip
_PERMITTED: dict[str, tuple[str, ...]] = {
    "verify": ("preserve-throttles",), "generate": (_RACKS,),
    "execute": ("additional", _RATE, _MOVE_RATE), "cancel": ("preserve-throttles",), "list": (),
}  # fmt: skip
"""By action, the options that go with it since 2.6."""
_UNFIT = {
    "verify": (_RATE, _MOVE_RATE, _TOPICS, _RACKS, _BROKERS),
    "generate": (_RATE, _MOVE_RATE, _PLAN),
    "execute": (_TOPICS, _RACKS, _BROKERS),
}  # fmt: skip
"""By action, the options that do not go with it up to 2.5."""


def _check_older(action: str, given: dict[str, bool], release: Release) -> None:
    for name in ("additional", "preserve-throttles"):
        if given[name]:
            raise ToolRefused(unrecognized(name))
    if action == "generate" and not (given[_TOPICS] and given[_BROKERS]):
        raise ToolRefused(
            "If --generate option is used, command must include both --topics-to-move-json-file "
            "and --broker-list options"
        )
    if action != "generate" and not given[_PLAN]:
        before = {"verify": "used during the --execute option",
                  "execute": "output during the --generate option"}  # fmt: skip
        raise ToolRefused(
            f"If --{action} option is used, command must include --reassignment-json-file that was "
            f"{before[action]}"
        )
    for name in _UNFIT[action]:
        if given[name]:
            raise ToolRefused(cannot_be_used(action, name, release))


def _by_brokers(brokers: str, given: _ReassignOptions, release: Release) -> Sequence[str]:
    with admin_at(brokers) as admin:
        command = ReassignByBrokers(admin, random.Random(given.seed), release=release)
        match given.action:
            case "generate":
                return command.generate(given.broker_list, given.text, given.rack_aware)
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
    where: str, brokers: str | None, version: str | None, given: _ReassignOptions
) -> Sequence[str]:
    with zookeeper(where, version) as client, contextlib.ExitStack() as held:
        held.enter_context(refusals(of_reassignments(client.release)))
        admin = held.enter_context(admin_at(brokers)) if brokers else None
        return _carried_out(client, admin, given)


def _carried_out(
    client: ZnodeClient, admin: Admin | None, given: _ReassignOptions
) -> Sequence[str]:
    command = ReassignCommand(client, random.Random(given.seed), admin)
    match given.action:
        case "generate":
            return command.generate(given.broker_list, given.text, given.rack_aware)
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

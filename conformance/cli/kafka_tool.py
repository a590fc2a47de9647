"""Functions for commands that behave as Kafka's own scripts: ZooKeeper, brokers, refusals."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import click

from conformance.cli.common import STDOUT, WrongUse, emit_json, say
from impl.admin.errors import AdminError, BrokerRefused, NumberFormat, ZooKeeperRefused
from impl.admin.failure_output import USAGE, FailureOutput, no_zookeeper_answers
from impl.admin.port import RequestFailed
from impl.releases import DEFAULT, PRESETS, Release
from impl.server.admin_client import AdminClient
from impl.server.cluster import Cluster
from impl.server.processes import ClusterError
from impl.server.sessions import open_session
from impl.znodes import MalformedZnode
from impl.znodes.client import ZnodeClient
from impl.znodes.text import NumberFormatException
from impl.zookeeper.errors import ConnectionLoss, ZooKeeperError


class ToolRefused(click.ClickException):
    """Arguments that Kafka's tool refuses: its line on standard error, and its exit code 1."""

    exit_code = USAGE

    def show(self, file: IO[Any] | None = None) -> None:
        """Print Kafka's line, on standard error by default."""
        click.echo(self.message, file=file, err=file is None)


class ToolFailed(click.ClickException):
    """A failure during work: Kafka's lines, on its tool's stream and with its exit code."""

    exit_code: int  # type: ignore[misc]  # of each, where click has one a class

    def __init__(self, lines: Sequence[str], code: int, err: bool) -> None:
        super().__init__("\n".join(lines))
        self.exit_code = code
        self.err = err

    def show(self, file: IO[Any] | None = None) -> None:
        """Print Kafka's lines; on standard error where the other stream belongs to the JSON."""
        click.echo(self.message, file=file, err=self.err and file is None)


class _Whole(click.ParamType[int]):
    """A whole number of so many bits; ToolRefused, as by joptsimple, for anything else."""

    name = "integer"

    def __init__(self, bits: int) -> None:
        self.least = -(1 << bits - 1)

    def convert(
        self, value: object, param: click.Parameter | None, context: click.Context | None
    ) -> int:
        """The number. ToolRefused."""
        text = str(value)
        if re.fullmatch("-?[0-9]+", text) and self.least <= int(text) < -self.least:
            return int(text)
        option = param.opts[0].lstrip("-") if param is not None else ""
        raise ToolRefused(
            'Exception in thread "main" joptsimple.OptionArgumentConversionException: '
            f"Cannot parse argument '{text}' of option {option}"
        )


INT, LONG = _Whole(32), _Whole(64)
"""Java's types of an option's number."""


@contextlib.contextmanager
def refusals(ending: FailureOutput) -> Iterator[None]:
    """Ends the tool as Kafka's tool ends, on an admin error or a refusal of brokers or
    ZooKeeper.
    """
    try:
        yield
    except AdminError as error:
        raise _failed(ending, error) from error
    except RequestFailed as error:
        raise _failed(ending, BrokerRefused(error.code, str(error))) from error
    except NumberFormatException as error:
        raise _failed(ending, NumberFormat(str(error))) from error
    except (MalformedZnode, ZooKeeperError) as error:
        raise _failed(ending, ZooKeeperRefused(f"{type(error).__name__}: {error}")) from error


def _failed(ending: FailureOutput, error: AdminError) -> ToolFailed:
    """What was said before it came to that, as JSON too, and what the tool ends with."""
    context = click.get_current_context(silent=True)
    json_target = None if context is None else context.params.get("json_target")
    for line in error.said:
        say(line, json_target)
    lines = ending.lines(error)
    emit_json(json_target, {"lines": list(error.said), "error": lines, "exit_code": ending.code})
    on_stderr = ending.on_stderr or not ending.is_caught or json_target == STDOUT
    return ToolFailed(lines, ending.code, on_stderr)


def release_of(text: str | None) -> Release:
    """A release by name. Raises WrongUse for what is none."""
    try:
        return Release.of(text or DEFAULT)
    except ValueError as error:
        raise WrongUse(f"--version {text}: {error}; known are {', '.join(PRESETS)}") from error


def published_release(text: str) -> str:
    """A release that a cluster can have. Raises WrongUse for another."""
    try:
        Release.published(text)
    except ValueError as error:
        raise WrongUse(f"--version {text}: {error}") from error
    return text


def cluster_in(folder: str | Path) -> Cluster:
    """The cluster of a directory. Raises WrongUse if it is none."""
    try:
        return Cluster(Path(folder))
    except ClusterError as error:
        raise WrongUse(str(error)) from error


@contextlib.contextmanager
def zookeeper(where: str | None, version: str | None) -> Iterator[ZnodeClient]:
    """A client of the ZooKeeper that ``--zookeeper`` names: a cluster's directory, or an address.

    The release is the cluster's own, unless --version says otherwise.
    """
    if where is None:
        raise ToolRefused('Missing required argument "[zookeeper]"')
    connect, release = where, release_of(version)
    if Path(where).is_dir():
        cluster = cluster_in(where)
        if cluster.has_own_zookeeper and cluster.pid("zookeeper") is None:
            raise WrongUse(f"the cluster in {where} does not run; insync cluster start {where}")
        connect = cluster.state.connect
        release = cluster.release if version is None else release
    elif ":" not in where:
        raise WrongUse(f"--zookeeper {where}: write HOST:PORT, or a cluster's directory")
    try:
        port = open_session(connect, 6000, answer_ms=5000)
    except ConnectionLoss as error:
        raise ToolRefused(no_zookeeper_answers(release)) from error
    except (ValueError, ImportError) as error:
        raise WrongUse(f"--zookeeper {where}: {error}") from error
    try:
        yield ZnodeClient(port, release)
    finally:
        port.close()


def admin_at(where: str | None) -> AdminClient:
    """A client of the brokers that ``--bootstrap-server`` names."""
    return AdminClient(brokers_at(where, "bootstrap-server"), timeout_s=10.0)


def cannot_be_used(used: str, other: str, release: Release) -> str:
    """``CommandLineUtils.checkInvalidArgs``, which lacked a blank up to 2.1."""
    blank = " " if release.since("2.2") else ""
    return f'Option "[{used}]" can\'t be used with option{blank}"[{other}]"'


def release_at(where: str | None, version: str | None) -> Release:
    """The release of the cluster in a directory, unless --version says otherwise."""
    if version is None and where is not None and Path(where).is_dir():
        return cluster_in(where).release
    return release_of(version)


def brokers_at(where: str | None, option: str) -> list[tuple[str, int]]:
    """The brokers that an option names: HOST:PORT,... or a cluster's directory."""
    if where is None:
        raise ToolRefused(f'Missing required argument "[{option}]"')
    if Path(where).is_dir():
        return cluster_in(where).addresses()
    found = []
    for part in where.split(","):
        host, _, port = part.strip().rpartition(":")
        if not host or not port.isdecimal():
            raise WrongUse(f"--{option} {where}: write HOST:PORT,..., or a cluster's directory")
        found.append((host, int(port)))
    return found


def print_lines(lines: Sequence[str], json_target: str | None) -> None:
    """What the tool prints, and as JSON."""
    for line in lines:
        say(line, json_target)
    emit_json(json_target, {"lines": list(lines)})

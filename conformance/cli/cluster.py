"""`insync cluster`: brokers and ZooKeeper as processes of their own, in one directory."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import click

from conformance.cli.common import WrongUse, emit_json, json_option, say
from conformance.cli.kafka_tool import cluster_in, published_release
from conformance.cli.process_commands import (
    FOLDER,
    ONE_OR_ALL,
    add_process_commands,
    locked,
    states_of,
)
from impl.releases import DEFAULT, Release
from impl.server.cluster import KINDS, STATE, Cluster, new_state
from impl.server.processes import ClusterError
from impl.server.properties import (
    WrongProperties,
    address_of,
    parse_properties,
    settings_in,
)
from impl.zookeeper.errors import ZooKeeperError
from impl.zookeeper.port import wait
from impl.zookeeper.server import NoServer

QUICK = {"controlled.shutdown.retry.backoff.ms": "500"}
"""A cluster that is stopped whole has nobody to move leaders to: it should not wait for long."""

OFFSETS_REPLICAS = 3
"""``offsets.topic.replication.factor``, where nobody sets it."""

MOST_BROKERS = 20


@click.group()
def cluster() -> None:
    """Run a reference cluster: one process a broker, on loopback, with everything in one directory.

    Every command below takes --json FILE (or - for standard output).

    \b
    Example:
      insync cluster start DIR --brokers 3 --version 2.3
      insync topics --create --zookeeper DIR --topic orders --partitions 3 --replication-factor 3
      insync cluster pause DIR 1
      insync cluster stop DIR
    """


@cluster.command()
@FOLDER
@ONE_OR_ALL
@click.option("--broker-ids", "ids", metavar="N,N", help="Their ids, from 0 on; 1 to N by default.")
@click.option("--brokers", type=click.IntRange(1, MOST_BROKERS), default=None, metavar="N",
              help="How many, for a new cluster; 3 by default.")  # fmt: skip
@click.option("--version", metavar="V", help=f"The release, for a new one; {DEFAULT} by default.")
@click.option("--zookeeper", "kind", metavar="KIND",
              help=f"For a new one: {', '.join(KINDS)} or an address.")  # fmt: skip
@click.option("--racks", metavar="R,R", help="A rack for each broker.")
@click.option("--listeners", metavar="L,L",
              help="Where each listens, HOST:PORT; on loopback by default.")  # fmt: skip
@click.option("--config", "properties", metavar="FILE", type=click.Path(path_type=Path),
              help="For a new one: a server.properties for all brokers.")  # fmt: skip
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE",
              help="A broker's property, by Kafka's name, for a new cluster.")  # fmt: skip
@click.option("--request-log", is_flag=True,
              help="For a new one: brokers write kafka-request.log too.")  # fmt: skip
@click.option("--trace", is_flag=True,
              help="For a new one: each process traces what it does, into DIR/trace.")  # fmt: skip
@json_option
def start(
    folder: Path,
    broker: str | None,
    ids: str | None,
    brokers: int | None,
    version: str | None,
    kind: str | None,
    racks: str | None,
    listeners: str | None,
    properties: Path | None,
    settings: tuple[str, ...],
    request_log: bool,
    trace: bool,
    json_target: str | None,
) -> None:
    """Start the cluster in DIR, a new one if there is none; or one of its processes.

    Without --listeners nobody but this machine can reach the brokers. Of a --config, what Kafka's
    brokers know has its effect, or is said to have none; any other name is warned of and left out.
    What runs already goes on. If anything fails, everything that was started here is ended. The
    last line is what any client of Kafka's is to be given: bootstrap.servers=HOST:PORT,...

    \b
    Example:
      insync cluster start DIR --brokers 3 --version 2.3 --zookeeper real
      insync cluster start DIR --broker-ids 0,1,2 --version 0.10.2
      insync cluster start DIR 2
      insync cluster start DIR zookeeper
      insync cluster start DIR --brokers 1 --listeners 127.0.0.1:9092
      insync cluster start DIR --config server.properties --set num.partitions=3
      insync cluster start DIR --trace
    """
    with _changing(folder):
        if (folder / STATE).exists():
            new = (
                ids,
                brokers,
                version,
                kind,
                racks,
                listeners,
                properties,
                settings or None,
                request_log or None,
                trace or None,
            )
            if any(given is not None for given in new):
                raise WrongUse(
                    f"{folder} has a cluster already: --brokers, --broker-ids, --version, "
                    "--zookeeper, --racks, --listeners, --config, --set, --request-log and "
                    "--trace are for a new one; "
                    f"write: insync cluster start {folder}"
                )
            found = Cluster(folder)
        else:
            if broker is not None:
                raise WrongUse(f"{folder} has no cluster yet; write: insync cluster start {folder}")
            found = _new(folder, _ids(ids, brokers), version or DEFAULT, kind or "embedded", racks,
                         listeners, properties, settings, request_log, trace)  # fmt: skip
        only = None if broker is None else found.name_of(broker)
        before = found.running()
        found.start(only=only)
    for name in found.running():
        known = "runs already" if name in before else "started"
        say(f"{name}: {known}, process {found.pid(name)}", json_target)
    say(f"bootstrap.servers={found.bootstrap_servers}", json_target)
    emit_json(json_target, _status(found))


def _ids(ids: str | None, brokers: int | None) -> list[int]:
    """The ids of a new cluster's brokers."""
    if ids is None:
        return list(range(1, (brokers or 3) + 1))
    parts = [part.strip() for part in ids.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise WrongUse(f"--broker-ids {ids}: write whole numbers from 0 on, such as 0,1,2")
    found = [int(part) for part in parts]
    if len(set(found)) != len(found) or len(found) > MOST_BROKERS:
        raise WrongUse(f"--broker-ids {ids}: name up to {MOST_BROKERS} ids, each once")
    if brokers is not None and brokers != len(found):
        raise WrongUse(f"--broker-ids {ids} are {len(found)}; leave out --brokers {brokers}")
    return found


def _new(
    folder: Path, ids: list[int], version: str, kind: str, racks: str | None,
    listeners: str | None, properties: Path | None, settings: tuple[str, ...],
    request_log: bool, trace: bool,
) -> Cluster:  # fmt: skip
    if folder.exists() and any(one.name != ".lock" for one in folder.iterdir()):
        raise WrongUse(f"{folder} is no cluster and not empty; name an empty directory")
    if kind not in KINDS and ":" not in kind:
        raise WrongUse(f"--zookeeper {kind}: write {', '.join(KINDS)} or HOST:PORT")
    if trace and kind != "embedded":
        raise WrongUse(
            f"--trace needs --zookeeper embedded: {kind} does not report the order of its writes"
        )
    named = [part.strip() for part in racks.split(",")] if racks else []
    if named and len(named) != len(ids):
        raise WrongUse(f"--racks {racks}: name {len(ids)} racks, one a broker")
    chosen = dict(QUICK)
    if len(ids) < OFFSETS_REPLICAS:  # else nobody could ever belong to a group
        chosen["offsets.topic.replication.factor"] = str(len(ids))
    release, said = published_release(version), list[str]()
    if properties is not None:
        try:
            given, said = settings_in(properties, Release.of(release))
        except WrongProperties as error:
            raise WrongUse(f"--config {error}") from error
        chosen |= given
    for text in settings:
        name, equals, value = text.partition("=")
        if not equals:
            raise WrongUse(f"--set {text}: write NAME=VALUE")
        chosen[name.strip()] = value.strip()
    text = "".join(f"{name}={value}\n" for name, value in chosen.items())
    try:
        parse_properties("--set", f"zookeeper.connect=h:1\nlog.dirs=d\n{text}", Release.of(release))
    except WrongProperties as error:
        raise WrongUse(re.sub(r"^--set:\d+", "--set", str(error))) from error  # it has no lines
    state = new_state(ids, release, kind, dict(zip(ids, named, strict=False)), chosen)
    state.request_log, state.trace = request_log, trace
    if listeners is not None:
        for broker, (host, port) in zip(ids, _listening(listeners, len(ids)), strict=True):
            state.hosts[broker], state.ports[broker] = host, port
    for line in said:
        click.echo(f"warning: {line}", err=True)
    return Cluster.create(folder, state)


def _listening(listeners: str, brokers: int) -> list[tuple[str, int]]:
    """Where each broker is to listen, and to say so."""
    found = []
    for part in (one.strip() for one in listeners.split(",")):
        try:
            host, port = address_of(part if "://" in part else f"PLAINTEXT://{part}")
        except ValueError as error:
            raise WrongUse(
                f"--listeners {part}: {error}; write HOST:PORT,HOST:PORT, one a broker"
            ) from error
        if host == "0.0.0.0" or not port:
            raise WrongUse(
                f"--listeners {part}: name an address that clients can connect to, "
                "such as 127.0.0.1:9092"
            )
        found.append((host, port))
    if len(found) != brokers or len(set(found)) != brokers:
        raise WrongUse(f"--listeners {listeners}: name {brokers} listeners, one a broker")
    return found


@cluster.command()
@FOLDER
@click.argument("broker", type=click.IntRange(0))
@click.option("--rack", metavar="R", help="Its rack, where the others have racks.")
@json_option
def add(folder: Path, broker: int, rack: str | None, json_target: str | None) -> None:
    """Add a broker to the cluster in DIR, and start it; partitions come to it by reassignment.

    \b
    Example:
      insync cluster add DIR 4
      insync cluster add DIR 0 --rack b
    """
    found = cluster_in(folder)
    with _changing(folder):
        if len(found.brokers) >= MOST_BROKERS:
            raise WrongUse(f"{folder} has {MOST_BROKERS} brokers, and more do not fit one machine")
        name = found.add(broker, rack)
        if found.running():
            found.start(only=name)
    pid = found.pid(name)
    say(f"{name}: " + ("added; nothing runs" if pid is None else f"started, process {pid}"),
        json_target)  # fmt: skip
    emit_json(json_target, _status(found))


def _status(found: Cluster) -> dict[str, Any]:
    processes = states_of(found, found.names())
    for broker, port in found.state.ports.items():
        processes[f"broker{broker}"]["port"] = port
    return {
        "folder": str(found.folder),
        "version": found.state.version,
        "zookeeper": found.state.zookeeper,
        "connect": found.state.connect,
        "bootstrap_servers": found.bootstrap_servers,
        "processes": processes,
        "controller": _controller(found),
        "logs": str(found.folder / "logs"),
    }


def _controller(found: Cluster) -> int | None:
    if found.has_own_zookeeper and found.pid("zookeeper") is None:
        return None
    from impl.znodes.client import ZnodeClient

    try:
        port = found.session()
    except (ZooKeeperError, ImportError):
        return None
    try:
        return wait(ZnodeClient(port, found.release).controller())
    finally:
        port.close()


def _changing(folder: Path) -> AbstractContextManager[None]:
    return locked(folder, STATE, ClusterError, NoServer, OSError)


def _title(found: Cluster) -> str:
    state = found.state
    return f"release {state.version}, ZooKeeper {state.zookeeper} at {state.connect}"


def _stopped(found: Cluster, broker: str | None) -> list[str]:
    if broker is None:
        return found.stop()
    found.stop_one(broker)
    return [found.name_of(broker)]


add_process_commands(cluster, cluster_in, _changing, _title, _status, _stopped)

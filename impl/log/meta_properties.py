"""``meta.properties``: the broker and the cluster to which a log directory belongs.

Source: BrokerMetadataCheckpoint, KafkaServer.getBrokerIdAndOfflineDirs; the fact sheet, h.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from impl.disk import Disk, replace_file
from impl.disk.atomic import read_file
from impl.log.checkpoint_file import TornCheckpoint
from impl.log.errors import MalformedCheckpoint

NAME = "meta.properties"
VERSION = 0
NUL = b"\0"


class InconsistentBrokerId(Exception):
    """The directories of a broker name different broker ids, or another than its own."""


class InconsistentClusterId(Exception):
    """A directory that belongs to another cluster (2.4+)."""


@dataclass(frozen=True)
class MetaProperties:
    """Broker id, and from 2.4 on the cluster's."""

    broker_id: int
    cluster_id: str | None = None


def read_meta(disk: Disk, directory: str) -> MetaProperties | None:
    """The content of the file; None if it has no ids. MalformedCheckpoint names the line."""
    path = f"{directory}/{NAME}"
    if not disk.exists(path):
        return None
    found: dict[str, tuple[int, str]] = {}
    content = read_file(disk, path)
    if not content or b"\0" in content:
        raise TornCheckpoint(path, f"byte {len(content.rstrip(NUL))}", "the file is cut off")
    text = content.decode("latin-1")
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.strip()
        if bare and bare[0] not in "#!":
            name, _, value = bare.partition("=")
            found[name.strip()] = number, value.strip()
    version = _number(path, found, "version")
    if version != VERSION:
        line_number = found["version"][0]
        raise MalformedCheckpoint(path, f"line {line_number}", f"version {version}; 0 is read")
    cluster = found.get("cluster.id")
    return MetaProperties(_number(path, found, "broker.id"), cluster[1] if cluster else None)


def write_meta(disk: Disk, directory: str, meta: MetaProperties) -> None:
    """Replace the file."""
    lines = [f"version={VERSION}", f"broker.id={meta.broker_id}"]
    if meta.cluster_id is not None:
        lines.append(f"cluster.id={meta.cluster_id}")
    content = "".join(f"{line}\n" for line in ("#", *lines))
    replace_file(disk, f"{directory}/{NAME}", content.encode())


def agreed(
    found: Mapping[str, MetaProperties], broker_id: int | None, cluster_id: str | None
) -> int | None:
    """The broker id of directories and configuration, which must agree; None without any.

    ``broker_id`` None: none is configured. ``cluster_id`` None: it is not compared (before 2.4).
    """
    named = {meta.broker_id: directory for directory, meta in sorted(found.items(), reverse=True)}
    if len(named) > 1:
        reported = ", ".join(
            f"{number} in {directory}" for number, directory in sorted(named.items())
        )
        raise InconsistentBrokerId(f"the log directories belong to several brokers: {reported}")
    for number, directory in named.items():
        if broker_id is not None and number != broker_id:
            raise InconsistentBrokerId(
                f"broker.id is configured as {broker_id}; {directory}/{NAME} says {number}"
            )
    for directory, meta in sorted(found.items()):
        if cluster_id is not None and meta.cluster_id not in (None, cluster_id):
            raise InconsistentClusterId(
                f"the cluster is {cluster_id}; {directory}/{NAME} says {meta.cluster_id}"
            )
    return next(iter(named), broker_id)


def _number(path: str, found: Mapping[str, tuple[int, str]], name: str) -> int:
    if name not in found:
        raise TornCheckpoint(path, "", f"{name} is missing")
    line, value = found[name]
    try:
        return int(value)
    except ValueError:
        raise MalformedCheckpoint(path, f"line {line}", f"{name} is {value!r}") from None

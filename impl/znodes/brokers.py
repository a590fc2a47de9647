"""``/brokers/ids/N``: a broker's registration and endpoints, versions 1 to 5 (fact sheet a.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from impl.releases import Release
from impl.znodes import paths
from impl.znodes.text import ZnodeFields, write

VERSIONS = range(1, 6)
PLAINTEXT = "PLAINTEXT"
NO_PORT = -1
_ENDPOINT = re.compile(r"(?P<listener>[^:/]+)://(?P<host>\[[^]]*\]|[^:/]*):(?P<port>-?\d+)")


@dataclass(frozen=True, slots=True)
class BrokerInfo:
    """A registration. ``endpoints`` are "LISTENER://host:port"; ``timestamp`` is ms since 1970.

    ``security`` maps each listener to its security protocol (version 4 and later).
    """

    endpoints: tuple[str, ...]
    timestamp: int
    jmx_port: int = NO_PORT
    rack: str | None = None
    security: dict[str, str] = field(default_factory=dict)
    features: dict[str, object] = field(default_factory=dict)

    @property
    def plaintext(self) -> tuple[str | None, int]:
        """InMemoryBroker and port of the first PLAINTEXT endpoint; (None, -1) if there is none."""
        for endpoint in self.endpoints:
            found = _ENDPOINT.fullmatch(endpoint)
            if found and self.security.get(found["listener"], found["listener"]) == PLAINTEXT:
                return found["host"].strip("[]"), int(found["port"])
        return None, NO_PORT


def broker_version(protocol: Release) -> int:
    """The version written under an inter.broker.protocol.version (``BrokerIdZNode``)."""
    if protocol.since("2.7"):
        return 5
    if protocol.since("0.10.2"):
        return 4
    return 3 if protocol.since("0.10.0") else 2


def encode_broker(info: BrokerInfo, version: int = 4) -> str:
    """The text of a registration; ValueError for an unknown version."""
    if version not in VERSIONS:
        raise ValueError(f"no broker znode of version {version}; there are 1 to 5")
    host, port = info.plaintext
    fields: dict[str, object] = {}
    if version >= 4:
        fields["listener_security_protocol_map"] = info.security or {
            listener: listener for listener in _listeners(info.endpoints)
        }
    if version >= 2:
        fields["endpoints"] = list(info.endpoints)
    if version >= 3 and info.rack is not None:
        fields["rack"] = info.rack
    fields |= {"jmx_port": info.jmx_port, "host": host, "timestamp": str(info.timestamp)}
    fields |= {"port": port, "version": version}
    if version >= 5:
        fields["features"] = info.features
    return write(fields)


@lru_cache(maxsize=256)  # controllers read the same few again and again
def decode_broker(broker_id: int, text: str) -> BrokerInfo:
    """Decode a registration of any version; MalformedZnode names the wrong part."""
    reader = ZnodeFields.of(paths.broker(broker_id), text, VERSIONS)
    version = reader.whole("version")
    timestamp = reader.string("timestamp") if reader.has("timestamp") else "-1"
    if not re.fullmatch(r"-?\d+", timestamp):
        raise reader.wrong("timestamp", f"is {timestamp!r}, not milliseconds in digits")
    if version == 1:
        endpoints: tuple[str, ...] = (
            f"{PLAINTEXT}://{reader.string('host')}:{reader.whole('port')}",
        )
    else:
        endpoints = tuple(str(endpoint) for endpoint in reader.sequence("endpoints"))
    for number, endpoint in enumerate(endpoints):
        if not _ENDPOINT.fullmatch(endpoint):
            raise reader.wrong(f"endpoints[{number}]", f"is {endpoint!r}, not LISTENER://host:port")
    security = "listener_security_protocol_map"
    return BrokerInfo(
        endpoints=endpoints,
        timestamp=int(timestamp),
        jmx_port=reader.whole("jmx_port") if reader.has("jmx_port") else NO_PORT,
        rack=reader.string("rack") if version >= 3 and reader.has("rack") else None,
        security=reader.string_map(security) if version >= 4 and reader.has(security) else {},
        features=dict(reader.inner("features").fields) if reader.has("features") else {},
    )


def _listeners(endpoints: tuple[str, ...]) -> list[str]:
    return [endpoint.partition("://")[0] for endpoint in endpoints]

"""The version of a request that brokers use, and the fetcher that a partition belongs to.

Source: ApiKeys and ApiVersion (0.10 to 2.8) for the versions; AbstractFetcherManager.getFetcherId.
"""

from __future__ import annotations

VERSIONS: dict[str, dict[tuple[int, ...], int]] = {
    "LeaderAndIsr": {
        (0,): 0,
        (1, 0): 1,
        (2, 2): 2,
        (2, 4): 3,
        (2, 4, 0, 1): 4,
        (2, 8, 0, 1): 5,
        (3, 2): 6,
    },
    "UpdateMetadata": {
        (0,): 0,
        (0, 9): 1,
        (0, 10, 0): 2,
        (0, 10, 2): 3,
        (1, 0): 4,
        (2, 2): 5,
        (2, 4, 0, 1): 6,
        (2, 8, 0, 1): 7,
    },
    "StopReplica": {(0,): 0, (2, 2): 1, (2, 4, 0, 1): 2, (2, 6): 3},
    "ControlledShutdown": {(0,): 1, (2, 2): 2, (2, 4, 0, 1): 3},
}
"""By request: since which inter.broker.protocol.version it has which version, from 0.9.0 on.

A fourth number is that of an internal version: (2, 4, 0, 1) is 2.4-IV1.
"""
LAST = 99
"""The internal version of a release: the last one of its line."""

BITS = 32


def protocol_of(text: str) -> tuple[int, ...]:
    """Parses an inter.broker.protocol.version: ``2.3``, or an internal one, ``2.4-IV1``."""
    line, _, internal = text.partition("-IV")
    protocol = tuple(int(part) for part in line.split("."))
    return (*(*protocol, 0)[:3], int(internal)) if internal else protocol


def version_of(kind: str, protocol: tuple[int, ...]) -> int:
    """The version of a request under an inter.broker.protocol.version: (2, 3), (2, 4, 0, 1)."""
    if len(protocol) < 4:
        protocol = (*(*protocol, 0, 0)[:3], LAST)
    return max(version for since, version in VERSIONS[kind].items() if since <= protocol)


def as_int(value: int) -> int:
    """A whole number as Java's int would hold it."""
    half = 1 << (BITS - 1)
    return (value + half) % (1 << BITS) - half


def hash_of(text: str) -> int:
    """Java's hash of a text, over its UTF-16 units."""
    found, units = 0, text.encode("utf-16-be")
    for at in range(0, len(units), 2):
        found = as_int(31 * found + int.from_bytes(units[at : at + 2], "big"))
    return found


def fetcher_of(topic: str, partition: int, fetchers: int) -> int:
    """The number of the fetcher; the least int, which has no absolute value, counts as 0."""
    mixed = as_int(31 * hash_of(topic) + partition)
    return 0 if mixed == as_int(-(2 ** (BITS - 1))) else abs(mixed) % fetchers

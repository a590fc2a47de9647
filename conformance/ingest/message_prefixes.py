"""Reads the prefix of a Kafka message, `[Controller id=1 epoch=9] `, and the ids in it.

Up to 0.11 the lines of state-change.log and of `Partition` have a prefix without brackets, after
which the message begins in lower case: `Broker 0 received LeaderAndIsr request ...`; and
partitions are written `[orders,0]`. The result has the form of later releases.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_HEAD = re.compile(r"\[([^\[\]]{1,400})\][:,]? (.*)", re.DOTALL)

# The first form that fits wins. Heads of clients inside the broker (`clientId=`) name nobody.
_FORMS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(form)
    for form in (
        r"Controller id=(?P<broker>\d+) epoch=(?P<controller_epoch>\d+)",
        r"Controller (?:id=)?(?P<broker>\d+)(?:, .*)?",
        r"Broker id=(?P<broker>\d+)",
        r"Partition (?P<topic>[\w.-]+)-(?P<partition>\d+) broker=(?P<broker>\d+)",
        r"(?:Merged|Unified|Local)?Log(?:Loader)? partition=(?P<topic>[\w.-]+)-(?P<partition>\d+)"
        r", dir=.*",
        r"LeaderEpochCache (?P<topic>[\w.-]+)-(?P<partition>\d+)",
        r"ReplicaFetcher replicaId=(?P<broker>\d+), leaderId=(?P<leader>\d+), fetcherId=\d+",
        r"Kafka ?Server (?:id=)?(?P<broker>\d+)",
        r"Replica ?Manager (?:broker=|on Broker )(?P<broker>\d+)",
        r"\w*(?:Machine|Thread|Selector) (?:controllerId|brokerId|on broker|on Controller)"
        r"[= ](?P<broker>\d+).*",
        r"(?:Channel manager on controller|Topic Deletion Manager) (?P<broker>\d+)",
        r"[\w ]+ (?:on [Bb]roker|on Controller) (?P<broker>\d+)",
        r"GroupCoordinator (?P<broker>\d+)",
        r"ExpirationReaper-(?P<broker>\d+)-\w+",
        r"(?:\w+ )?(?:brokerId|controllerId)=(?P<broker>\d+).*",
        r"TransactionCoordinator id=(?P<broker>\d+)",
        r"Transaction (?:State Manager|Marker Channel Manager) (?P<broker>\d+)",
        r"(?:ProducerId Manager|Admin Manager on Broker) (?P<broker>\d+)",
        r"\w+ on (?P<broker>\d+)",
        r"ReplicaFetcherThread-\d+-(?P<leader>\d+)",
    )
)
_BEFORE_1_0: dict[str, re.Pattern[str]] = {
    "C": re.compile(r"Controller (?P<broker>\d+) epoch (?P<controller_epoch>\d+) (?=[a-z])"),
    "B": re.compile(r"Broker (?P<broker>\d+):? (?=[a-z])"),
    "P": re.compile(
        r"Partition \[(?P<topic>[\w.-]+),(?P<partition>\d+)\] on broker (?P<broker>\d+): "
    ),
}
_OLD_NAME = re.compile(  # that begins with a literal is found fast
    r"\[(?:(?<=artition \[)|(?<=cache for \[)|(?<=reassigned \[))([\w.-]+),(\d+)\]"
)
_TOO_LARGE = 1 << 31  # for a column of numbers
_TEXT_COLUMNS = frozenset(("topic",))


def split_prefix(message: str) -> tuple[dict[str, Any], str]:
    """The columns in the prefix, and the message without it."""
    if not message.startswith("["):
        return _split_before_1_0(message)
    found = _HEAD.match(message)
    if found is None:
        return {}, message
    return _said(found[1]), _renamed(found[2])


def _split_before_1_0(message: str) -> tuple[dict[str, Any], str]:
    form = _BEFORE_1_0.get(message[:1])
    found = form.match(message) if form is not None else None
    if found is None:
        return {}, _renamed(message)
    rest = message[found.end() :]
    return _said_before_1_0(found[0]), _renamed(_capitalised(rest, found))


def _capitalised(rest: str, head: re.Match[str]) -> str:
    """Text begins with a capital since 1.0, except for a partition's name."""
    said = head.groupdict()
    if rest.startswith(f"{said.get('topic')}-{said.get('partition')} "):
        return rest
    return rest[:1].upper() + rest[1:]


def _renamed(text: str) -> str:
    """Writes partitions as since 1.0: `orders-0` for `[orders,0]`."""
    return _OLD_NAME.sub(_partition_name, text) if "[" in text else text


def _partition_name(found: re.Match[str]) -> str:
    return f"{found[1]}-{found[2]}"


@lru_cache(maxsize=65536)
def _said(head: str) -> dict[str, Any]:
    for form in _FORMS:
        found = form.fullmatch(head)
        if found:
            return _columns(found)
    return {}


@lru_cache(maxsize=65536)
def _said_before_1_0(head: str) -> dict[str, Any]:
    found = _BEFORE_1_0[head[0]].match(f"{head}x")
    return _columns(found) if found is not None else {}


def _columns(found: re.Match[str]) -> dict[str, Any]:
    said = {
        name: value if name in _TEXT_COLUMNS else int(value)
        for name, value in found.groupdict().items()
    }
    if any(isinstance(value, int) and value >= _TOO_LARGE for value in said.values()):
        return {}
    if "controller_epoch" in said:
        said["controller"] = said["broker"]
    return said

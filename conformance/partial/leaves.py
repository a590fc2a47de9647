"""Maps single values of an observation to cells of the model, blank ones included.

`conformance.mapping` maps a whole observation; here each leaf is mapped alone, because the others
may be missing. What no single leaf can show is not judged, and is listed with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from conformance.trace_report import UnknownLeaf
from impl.world.trace import is_end

Place = tuple[str, tuple[int, ...]]


@dataclass
class ObservedLeaves:
    """The content of leaves: cells, complete fields, and cells seen only for a leader."""

    cells: dict[Place, int] = field(default_factory=dict)
    whole: dict[str, dict[tuple[int, ...], int]] = field(default_factory=dict)
    leading: dict[int, dict[Place, int]] = field(default_factory=dict)
    unjudged: set[str] = field(default_factory=set)


NOT_JUDGED: tuple[tuple[str, str], ...] = (
    (r"zookeeper\.epoch_version", "the model fences by the epoch itself"),
    (r"zookeeper\.broker_epochs", "the model keeps which registrations are still the same"),
    (r"brokers\.\d+\.session_alive", "the registration says it"),
    (r"brokers\.\d+\.controller\.(epoch_version|read|reply|won)", "a campaign needs all of them"),
)  # fmt: skip
"""Paths that alone say nothing of the model, with the reason."""

_SLOTS = {
    "idle": 0, "asked_epoch": 1, "answered_epoch": 2, "asked_records": 3, "answered_records": 4,
    "fenced": 5,
}  # fmt: skip
_ROLES = {"none": 0, "leader": 1, "follower": 2}
_LEADER = 1


def observed_leaves(observed: dict[str, Any], brokers: int) -> ObservedLeaves:
    """Maps leaves to the model. Raises UnknownLeaf with the first that has no meaning."""
    found = ObservedLeaves()
    for path, value in observed.items():
        try:
            _leaf(found, path, value, brokers)
        except UnknownLeaf:
            raise
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise UnknownLeaf(f"{path} is {value!r}, which it never is") from error
    return found


def _leaf(found: ObservedLeaves, path: str, value: Any, brokers: int) -> None:
    if path in _ZOOKEEPER:
        _ZOOKEEPER[path](found, value, brokers)
        return
    parts = path.split(".")
    if parts[0] == "brokers" and len(parts) >= 3 and _broker(parts[1], brokers):
        rule = _BROKER.get(".".join(parts[2:]))
        if rule is not None:
            rule(found, int(parts[1]), value, brokers)
            return
    of_slot = parts[:2] == ["network", "fetch"] and len(parts) == 4
    if of_slot and all(_broker(part, brokers) for part in parts[2:]):
        _slot(found, (int(parts[2]), int(parts[3])), value)
        return
    if any(re.fullmatch(pattern, path) for pattern, _ in NOT_JUDGED):
        found.unjudged.add(path)
        return
    raise UnknownLeaf(f"{path} is no leaf of an observation of {brokers} brokers")


def _broker(text: str, brokers: int) -> bool:
    return text.isascii() and text.isdigit() and 1 <= int(text) <= brokers


def _whole_number(value: Any, least: int = -1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(value)
    return value


def _number(name: str, least: int | None = None) -> Callable[[ObservedLeaves, Any, int], None]:
    def put(found: ObservedLeaves, value: Any, brokers: int) -> None:
        code = _whole_number(value)
        found.cells[name, ()] = code if least is None else max(code, least)

    return put


def _set_leaf(name: str) -> Callable[[ObservedLeaves, Any, int], None]:
    def put(found: ObservedLeaves, value: Any, brokers: int) -> None:
        _members(found, name, (), value, brokers)

    return put


def _members(
    found: ObservedLeaves, name: str, at: tuple[int, ...], value: Any, brokers: int
) -> None:
    members = {_whole_number(one, 1) for one in value}
    if members - set(range(1, brokers + 1)):
        raise ValueError(value)
    for broker in range(1, brokers + 1):
        found.cells[name, (*at, broker)] = int(broker in members)


def _controller(found: ObservedLeaves, value: Any, brokers: int) -> None:
    found.cells["zk.controller", ()] = 0 if value is None else _whole_number(value, 1)


def _requests(found: ObservedLeaves, value: Any, brokers: int) -> None:
    parts: dict[str, dict[tuple[int, ...], int]] = {
        "request.in_flight": {}, "request.isr": {}, "request.version": {},
    }  # fmt: skip
    for one in value:
        at = (one["leader_epoch"], one["controller_epoch"], one["target"])
        parts["request.in_flight"][at] = 1
        parts["request.isr"].update({(*at, member): 1 for member in one["isr"]})
        if one["zk_version"]:
            parts["request.version"][at] = one["zk_version"]
    found.whole.update(parts)


_ZOOKEEPER: dict[str, Callable[[ObservedLeaves, Any, int], None]] = {
    "zookeeper.controller": _controller,
    "zookeeper.controller_epoch": _number("zk.epoch"),
    "zookeeper.state.leader": _number("zk.leader", least=0),
    "zookeeper.state.leader_epoch": _number("zk.leader_epoch"),
    "zookeeper.state.isr": _set_leaf("zk.isr"),
    "zookeeper.state.controller_epoch": _number("zk.state_epoch"),
    "zookeeper.state.version": _number("zk.version"),
    "zookeeper.registered": _set_leaf("zk.registered"),
    "network.leader_and_isr": _requests,
    "next_record": _number("next_record"),
}

_OfBroker = Callable[[ObservedLeaves, int, Any, int], None]


def _number_leaf(name: str, least: int | None = None) -> _OfBroker:
    def put(found: ObservedLeaves, broker: int, value: Any, brokers: int) -> None:
        code = _whole_number(value)
        found.cells[name, (broker,)] = code if least is None else max(code, least)

    return put


def _boolean_leaf(name: str) -> _OfBroker:
    def put(found: ObservedLeaves, broker: int, value: Any, brokers: int) -> None:
        if not isinstance(value, bool):
            raise ValueError(value)
        found.cells[name, (broker,)] = int(value)

    return put


def _role(found: ObservedLeaves, broker: int, value: Any, brokers: int) -> None:
    found.cells["replica.role", (broker,)] = _ROLES[value]


def _believes(found: ObservedLeaves, broker: int, value: Any, brokers: int) -> None:
    found.cells["belief", (broker,)] = 0 if value is None else _whole_number(value)


def _isr(found: ObservedLeaves, broker: int, value: Any, brokers: int) -> None:
    _members(found, "replica.isr", (broker,), value, brokers)


def _known_end(found: ObservedLeaves, broker: int, value: Any, brokers: int) -> None:
    cells = found.leading.setdefault(broker, {})
    for other, end in value.items():  # what a former leader still remembers means nothing
        cells["known_end", (broker, int(other))] = _whole_number(end)


def _isr_write(found: ObservedLeaves, broker: int, value: Any, brokers: int) -> None:
    write = value or {"isr": [], "version": 0}
    state = 0 if value is None else 2 if value["version"] is None else 1
    found.cells["isr_write.state", (broker,)] = state
    _members(found, "isr_write.isr", (broker,), write["isr"], brokers)
    found.cells["isr_write.version", (broker,)] = write["version"] or 0


def _log(found: ObservedLeaves, broker: int, value: Any, brokers: int) -> None:
    first, value = _start_and_entries(value)
    found.cells["log.end", (broker,)] = first + len(value)
    for offset, (record, epoch) in enumerate(value, first):
        found.cells["log.at.id", (broker, offset)] = _whole_number(record)
        found.cells["log.at.epoch", (broker, offset)] = _whole_number(epoch)


def _epochs(found: ObservedLeaves, broker: int, value: Any, brokers: int) -> None:
    first, value = _start_and_entries(value)
    if value or not first:  # else it is an entry that no line shows again
        found.cells["replica.latest_epoch", (broker,)] = value[-1][0] if value else -1


def _start_and_entries(value: Any) -> tuple[int, list[Any]]:
    """The start of the visible part of a list, and its entries; the part before it is unchanged."""
    if not is_end(value):
        return 0, value
    return _whole_number(value["from"], least=0), value["then"]


def _cached(found: ObservedLeaves, broker: int, value: Any, brokers: int) -> None:
    cached = value or {"leader": 0, "isr": [], "version": 0, "live": {}}
    found.cells["cache.held", (broker,)] = int(value is not None)
    found.cells["cache.leader", (broker,)] = max(cached["leader"], 0)
    _members(found, "cache.isr", (broker,), cached["isr"], brokers)
    found.cells["cache.version", (broker,)] = cached["version"]
    _members(found, "cache.live", (broker,), [int(one) for one in cached["live"]], brokers)


_BROKER: dict[str, _OfBroker] = {
    "up": _boolean_leaf("up"),
    "believes": _believes,
    "seen_controller_epoch": _number_leaf("replica.controller_epoch"),
    "role": _role,
    "leader": _number_leaf("replica.leader", least=0),
    "leader_epoch": _number_leaf("replica.epoch"),
    "isr": _isr,
    "zk_version": _number_leaf("replica.zk_version", least=0),
    "epoch_start": _number_leaf("replica.epoch_start", least=0),
    "known_end": _known_end,
    "truncating": _boolean_leaf("replica.truncating"),
    "isr_write": _isr_write,
    "log": _log,
    "epoch_cache": _epochs,
    "hw": _number_leaf("replica.hw"),
    "checkpoint": _number_leaf("replica.checkpoint"),
    "controller.cached": _cached,
}


def _slot(found: ObservedLeaves, at: tuple[int, int], slot: Any) -> None:
    state = slot["slot"]
    record = slot.get("record") if state == "answered_records" else None
    records = state in ("asked_records", "answered_records")
    codes = {
        "state": _SLOTS[state],
        "epoch": slot.get("leader_epoch", -1),
        "last_epoch": slot["epoch"] if state == "asked_epoch" else -1,
        "answer_epoch": slot["epoch"] if state == "answered_epoch" else -1,
        "answer_end": slot["end"] if state == "answered_epoch" else -1,
        "offset": slot["offset"] if records else 0,
        "hw": slot["hw"] if state == "answered_records" else 0,
        "has_record": int(record is not None),
        "id": 0 if record is None else record[0],
        "record_epoch": 0 if record is None else record[1],
    }
    for name, code in codes.items():
        found.cells[f"fetch.{name}", at] = _whole_number(code)

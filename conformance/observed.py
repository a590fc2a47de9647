"""Holds the observations of a whole trace as facts of the model, updated line by line.

A line shows the leaves that changed. Only the parts that contain them are read again, so a line
costs in proportion to its changes, not to the size of the state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from conformance.mapping import Facts, FactTable, section_facts
from conformance.trace_report import UnknownLeaf
from impl.world.trace import is_end, nested_observation, prefix_length

Place = tuple[str, tuple[int, ...]]
LOG = ".log"


class ObservedFacts:
    """An observation that grows with the lines of its trace."""

    def __init__(self, initial: Mapping[str, Any]) -> None:
        own = {path: [*leaf] if type(leaf) is list else leaf for path, leaf in initial.items()}
        self.whole = nested_observation(own)
        try:
            self._read = section_facts(self.whole)
            self.sections = {name: self._facts_of(name) for name in self._read}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UnknownLeaf(f"the first observation is not whole: {error!r}") from error
        self._logs = {name: self._log_of(name) for name in self.sections if name.endswith(LOG)}
        for name in self._logs:  # a log may be long: its facts are made when they are asked for
            self.sections[name] = {}
        self._ends: dict[str, int] = {}
        self._caches = [name for name in self.sections if name.endswith(".controller")]
        self._leaves = {path: self._leaf(path) for path in initial}

    @property
    def facts(self) -> Facts:
        """All facts."""
        parts = [self._facts_of(name) if name in self._logs else part
                 for name, part in self.sections.items()]  # fmt: skip
        return {place: code for part in parts for place, code in part.items()}

    def leader_of(self, broker: int) -> int:
        """The leader that a broker follows; the broker itself if it leads."""
        return int(self.whole["brokers"][broker]["leader"])

    def show(self, leaves: Mapping[str, Any]) -> dict[Place, int | None]:
        """Applies changed leaves; returns the changed places and their codes, None if blank now."""
        touched: dict[str, None] = {}
        for path, value in leaves.items():
            where = self._leaves.get(path)
            if where is None:
                raise UnknownLeaf(f"{path} is no leaf of the first observation")
            parent, key, section = where
            if is_end(value):
                self._show_end(path, parent, key, value)
            else:
                parent[key] = value
                self._ends.pop(section, None)
            touched[section] = None
        if "zookeeper" in touched and "zookeeper.broker_epochs" in leaves:
            touched.update(dict.fromkeys(self._caches))
        try:
            return self._changed(touched)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            shown = ", ".join(leaves)
            raise UnknownLeaf(f"{shown}: a value that it never has ({error!r})") from error

    def _show_end(
        self, path: str, parent: dict[Any, Any], key: object, end: dict[str, Any]
    ) -> None:
        """A list has a new end: the elements before it are neither copied nor compared."""
        try:
            first = prefix_length(parent[key], end)
        except ValueError as error:
            raise UnknownLeaf(f"{path}: {error}") from error
        parent[key][first:] = end["then"]
        if path in self._logs:
            self._ends[path] = first

    def _changed(self, touched: Iterable[str]) -> dict[Place, int | None]:
        changed: dict[Place, int | None] = {}
        for name in touched:
            if name in self._logs:
                self._log_changed(name, changed)
                continue
            before, after = self.sections[name], self._facts_of(name)
            self.sections[name] = after
            for place, _ in before.items() ^ after.items():
                changed[place] = after.get(place)
        return changed

    def _log_changed(self, name: str, changed: dict[Place, int | None]) -> None:
        """A log grows at its end, or is cut: its unchanged beginning is not compared again."""
        broker = int(name.split(".")[1])
        known, log = self._logs[name], self.whole["brokers"][broker]["log"]
        first = self._ends.pop(name, None)
        if first is None:
            first = _same_in_front(known, log)
        before, after = known[first:], list(log[first:])
        for offset in range(max(len(before), len(after))):
            was, entry = (one[offset] if offset < len(one) else (0, 0) for one in (before, after))
            if was == entry:
                continue
            at = broker, first + offset
            for field, old, code in zip(("log.at.id", "log.at.epoch"), was, entry, strict=True):
                if int(code) != int(old):
                    changed[field, at] = int(code) or None
        if len(before) != len(after):
            changed["log.end", (broker,)] = len(log) or None
        known[first:] = after

    def _log_of(self, name: str) -> list[list[int]]:
        return list(self.whole["brokers"][int(name.split(".")[1])]["log"])

    def _facts_of(self, name: str) -> Facts:
        table = FactTable()
        self._read[name](table)
        return table.found

    def _leaf(self, path: str) -> tuple[dict[Any, Any], Any, str]:
        """Where a leaf is kept, and which part it belongs to."""
        *parents, last = path.split(".")
        inner: Any = self.whole
        for part in parents:
            inner = inner[_key(part)]
        section = path
        while section not in self._read:
            section = section.rpartition(".")[0]
            if not section:
                raise UnknownLeaf(f"{path} is no leaf of an observation")
        # What a controller believes and campaigns for is among its broker's facts.
        if section.endswith(".controller") and last != "cached":
            section = section.removesuffix(".controller")
        return inner, _key(last), section


def _same_in_front(one: list[Any], other: list[Any]) -> int:
    same = min(len(one), len(other))
    if one[:same] == other[:same]:
        return same
    return next(at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])


def _key(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() else text

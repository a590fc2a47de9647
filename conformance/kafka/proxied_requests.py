"""Requests between brokers with their responses, as the proxies saw them, by sender and receiver.

A broker logs the connection of a request that it handles: the proxy's port on it and the
correlation id identify the request. A fetch in a session (KIP-227) asks for the same as the fetches
before it on its connection, unless it says otherwise.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ZOOKEEPER = "zookeeper"
APIS = ("Fetch", "OffsetForLeaderEpoch", "Produce")
EARLY_S = 0.1
LATE_S = 5.0
SAME_MS = 0.001
_SESSION_EPOCH = re.compile(r"session(?:_?[eE]poch|_id=\d+,epoch)=(-?\d+)")
_OFFSET = re.compile(r"fetch_?[oO]ffset=(-?\d+)")
Parts = dict[str, dict[str, Any]]


@dataclass(eq=False)
class SeenRequest:
    """One request; its ``number`` is unique. ``answer`` is empty until one was seen."""

    number: int
    sender: str
    to: str
    api: str
    correlation: int
    at: float
    asked: Parts
    acks: int = 0
    session_epoch: int = -1
    """Which one of its session a fetch is (KIP-227); 0 for the first, which asks for everything."""
    answer: Parts = field(default_factory=dict)
    answered: bool = False
    sent: bool = False
    """A line of its sender is about it already."""

    @property
    def in_session(self) -> bool:
        """Whether this is a fetch that is not the first of its session."""
        return self.session_epoch > 0

    def is_in_words(self, text: str) -> bool:
        """Whether this may be the request in the sender's log line. An earlier request with that
        number may never have reached the proxy."""
        session = _SESSION_EPOCH.search(text)
        if self.api != "Fetch" or session is None:
            return True
        if int(session[1]) != self.session_epoch:
            return False
        if self.in_session:  # which asks for what has changed alone
            return True
        asked = sorted(one["offset"] for one in self.asked.values())
        return asked == sorted(int(one) for one in _OFFSET.findall(text))


class ProxiedRequests:
    """All requests in a file that the proxies wrote. ``ours``: brokers of ours, whose fetchers
    number their requests themselves, each with another number."""

    def __init__(self, path: Path, ours: Collection[int] = ()) -> None:
        self.ours = {str(one) for one in ours}
        self.of: dict[tuple[int, int], list[SeenRequest]] = defaultdict(list)
        self._by_sender: dict[tuple[str, str, str, int], list[SeenRequest]] = defaultdict(list)
        self._sessions: dict[int, Parts] = {}
        self._read: dict[str, list[tuple[float, str, int]]] = defaultdict(list)
        seen: set[int] = set()
        for line in _lines(path):
            if line.get("to") == ZOOKEEPER and "zxid" in line and line["what"] == "passed":
                about = line.get("about", "")
                self._read[line["from"]].append((line["at"], about, line["zxid"]))
            if line.get("api") not in APIS or line["number"] in seen:
                continue
            seen.add(line["number"])
            if line["kind"] == "request":
                self._request(line)
            else:
                self._answer(line)

    def _request(self, line: dict[str, Any]) -> None:
        asked: Parts = line.get("parts", {})
        if line["api"] == "Fetch":
            asked = self._in_session(line, asked)
        number = line["correlation"] if line["from"] in self.ours else line["number"]
        one = SeenRequest(
            number, line["from"], line["to"], line["api"], line["correlation"],
            line["at"], asked, line.get("acks", 0), line.get("session_epoch", -1),
        )  # fmt: skip
        self.of[line.get("port", 0), one.correlation].append(one)
        self._by_sender[one.sender, one.to, one.api, one.correlation].append(one)

    def _in_session(self, line: dict[str, Any], asked: Parts) -> Parts:
        connection = line["connection"]
        if line.get("session_epoch", -1) <= 0:  # a full fetch
            self._sessions[connection] = {}
        session = self._sessions.setdefault(connection, {})
        for one in line.get("forgotten", ()):
            session.pop(one, None)
        session.update(asked)
        return {name: dict(part) for name, part in sorted(session.items())}

    def _answer(self, line: dict[str, Any]) -> None:
        for one in reversed(self.of.get((line.get("port", 0), line["correlation"]), ())):
            if not one.answered:
                one.answer, one.answered = line.get("parts", {}), True
                return

    def handled(self, port: int, correlation: int, at: float) -> SeenRequest | None:
        """The newest request with that port and id that had been seen when the broker logged it."""
        there = [one for one in self.of.get((port, correlation), ()) if one.at <= at + EARLY_S]
        return there[-1] if there else None

    def requests_to_our_brokers(self) -> dict[tuple[int, int], list[SeenRequest]]:
        """Fetchers' requests to our brokers, by follower and leader, in order."""
        found: dict[tuple[int, int], list[SeenRequest]] = defaultdict(list)
        for some in self._by_sender.values():
            for one in some:
                if one.to in self.ours and one.sender.isdecimal():
                    found[int(one.sender), int(one.to)].append(one)
        for some in found.values():
            some.sort(key=lambda one: one.at)
        return found

    def heard_of(self, broker: int, path: str, at: float) -> int | None:
        """The zxid of ZooKeeper's answer to a broker's last read of a path, or of one below it;
        None if it had not read by then."""
        return next(
            (zxid for when, about, zxid in reversed(self._read.get(str(broker), ()))
             if when <= at + SAME_MS and about.startswith(path)), None,
        )  # fmt: skip

    def sent_by(
        self, sender: int, to: int, api: str, correlation: int, at: float, text: str,
        later: float | None = None,
    ) -> SeenRequest | None:  # fmt: skip
        """The request that a broker logs as sent; None if it did not come to the proxy.

        ``later``: the time at which it logs another request with that number.
        """
        key = (str(sender), str(to), api, correlation)
        for one in self._by_sender.get(key, ()):
            in_time = -EARLY_S <= one.at - at <= LATE_S and (later is None or one.at < later)
            if not one.sent and in_time and one.is_in_words(text):
                one.sent = True
                return one
        return None


def _lines(path: Path) -> list[dict[str, Any]]:
    found = []
    with path.open(encoding="utf-8") as lines:
        for raw in lines:
            try:
                line = json.loads(raw)
            except ValueError:
                continue  # the last one, cut
            if "number" in line:
                found.append(line)
    return found

"""Rewrites traces of our own brokers in a mixed cluster, beside those made from Kafka's logs.

Each new fetcher of Kafka counts correlation ids from 0 again, so they do not identify a request. On
Kafka's side a request has the number that the proxy gave it. This module matches our brokers' lines
about Kafka's fetchers, in order, with the requests that the proxy passed on, and writes these
numbers instead. The original files are renamed to ``brokerN-S.own``.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from typing import Any

from conformance.kafka.proxied_requests import ProxiedRequests, SeenRequest
from impl.server.trace import SUFFIX

OWN = ".own"
_FETCHER = re.compile(r"broker-(\d+)-fetcher-\d+")
_SERVED = {"fetch_served": ("Fetch", "offset"), "epoch_served": ("OffsetForLeaderEpoch", "epoch")}


def keep_own(folder: Path, ours: Collection[int]) -> list[Path]:
    """Renames the files that our brokers wrote, and lists them by broker and start."""
    found: list[Path] = []
    for one in sorted(ours):
        for path in folder.glob(f"broker{one}-*{SUFFIX}"):
            aside = path.with_suffix(OWN)
            if not aside.exists():
                path.rename(aside)
        found += sorted(folder.glob(f"broker{one}-*{OWN}"), key=_start)
    return found


def _start(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])


def write_own(
    folder: Path, own: Collection[Path], questions: ProxiedRequests, protocol: str
) -> None:  # fmt: skip
    """Writes each file beside the other brokers', with their request numbers; ``protocol`` is the
    inter-broker protocol of all brokers."""
    asked = _Asked(questions)
    for path in own:
        with path.open(encoding="utf-8") as lines:
            text = _headed(next(lines, ""), protocol)
            text += "".join(asked.renumbered(raw) for raw in lines)
        (folder / f"{path.stem}{SUFFIX}").write_text(text, encoding="utf-8")


def _headed(raw: str, protocol: str) -> str:
    """The header, which names the protocol as the others' do, and not the release."""
    try:
        header = json.loads(raw)
    except ValueError:
        return raw
    return json.dumps(header | {"version": protocol}, separators=(",", ":")) + "\n"


class _Asked:
    """Requests of Kafka's fetchers to our brokers; each is found once, when its line is read."""

    def __init__(self, questions: ProxiedRequests) -> None:
        self.of = questions.requests_to_our_brokers()
        self.ours = questions.ours
        self.at: dict[tuple[int, int], int] = defaultdict(int)

    def renumbered(self, raw: str) -> str:
        """A line with the proxy's number; a cut line, or one of no Kafka fetcher, is unchanged."""
        if '_served"' not in raw:
            return raw
        try:
            line = json.loads(raw)
        except ValueError:
            return raw
        api = _SERVED.get(line.get("step"))
        args: dict[str, Any] = line.get("args", {})
        fetcher = _FETCHER.fullmatch(str(args.get("client", "")))
        if api is None or fetcher is None or fetcher[1] in self.ours:
            return raw
        question = self._question((int(fetcher[1]), int(line["node"])), args, *api)
        if question is None:
            return raw
        args["correlation"] = question.number
        return json.dumps(line, separators=(",", ":")) + "\n"

    def _question(
        self, way: tuple[int, int], args: dict[str, Any], api: str, named: str
    ) -> SeenRequest | None:
        """The next request that asked for this under that correlation id."""
        there = self.of.get(way, [])
        for at in range(self.at[way], len(there)):
            one = there[at]
            part = one.asked.get(args["partition"])
            if part is None or (one.api, one.correlation) != (api, args["correlation"]):
                continue
            if part[named] == args["asked"][named]:
                self.at[way] = at
                return one
        return None

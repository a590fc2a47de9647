"""The model's answers about leaders and their followers (partition_replication.json)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.plain_rules.leaders import Follower, LeaderRules, LeaderSwitches, starts_fetcher
from impl.releases import Release

Question = Mapping[str, Any]

START_MS = 1_000_000


class Life:
    """A leader with a clock, taken through the steps of a question."""

    def __init__(self, question: Question) -> None:
        asked, release = question["input"], Release.of(question["release"])
        end = asked.get("log", {}).get("records", 0)
        self.now = START_MS
        switches = LeaderSwitches(*(release.since(since) for since in ("2.7", "2.0", "2.1", "2.2")))
        self.leader = LeaderRules(
            asked["self"], asked["replicas"], asked["replicaLagTimeMaxMs"], switches, end,
            max(0, min(asked.get("hwCheckpoint") or 0, end)),
        )  # fmt: skip
        self.leader.lead(asked["isr"], self.now)
        self.seen: Follower | None = None
        self.offsets: list[int | str] = []

    def do(self, step: Mapping[str, Any]) -> None:
        """One step."""
        leader, now = self.leader, self.now
        match step["do"]:
            case "sleep":
                self.now += step["ms"]
            case "leaderAppend":
                leader.append(step["count"], now)
            case "followerFetch":
                replica, end = step["replica"], step.get("leaderEnd", leader.end)
                leader.fetched(replica, step["offset"], end, now)
                self.seen = leader.followers.get(replica, self.seen)
            case "expandIsr":
                leader.change((*leader.isr, step["replica"]), now)
            case "shrinkIsr":
                leader.shrink(step["replicas"], now)
            case "maybeShrink":
                leader.shrink(leader.late(now), now)
            case "isrUpdateSucceeds":
                leader.answered("NONE", now)
            case "isrUpdateFails":
                leader.answered(step["error"], now)
            case "becomeLeader":
                leader.refused = False
                leader.lead(step["isr"], now)
            case "becomeFollower":
                leader.follow()
            case "listOffset":
                for_client = step["isolation"] != "none"
                self.offsets.append(leader.offset(step["what"] == "earliest", for_client))
            case other:
                raise ValueError(f"no step of a leader's life is called {other!r}")

    def observe(self) -> dict[str, Any]:
        """The leader now, and the follower that fetched last."""
        leader = self.leader
        known = self.seen or next(iter(leader.followers.values()), Follower())
        return {
            "isr": list(leader.isr),
            "maximalIsr": list(leader.counted),
            "hw": leader.hw,
            "remoteLeo": known.end,
            "remoteLogStart": known.start,
            "lastCaughtUpSinceStart": max(0, known.caught_up - START_MS),
            "isrRequests": len(leader.asked),
            "requestedIsr": list(leader.asked[-1]) if leader.asked else None,
            "expands": leader.expands,
            "shrinks": leader.shrinks,
            "failures": leader.failures,
        }


def leader(question: Question) -> dict[str, Any]:
    """A leader's life."""
    life, seen, before = Life(question), [], 0
    initial = life.observe()
    steps = question["input"].get("steps", ())
    for step, following in zip(steps, [*steps, {}][1:], strict=True):
        life.leader.refused |= following.get("do") == "isrUpdateFails"
        before = len(life.leader.asked)
        life.do(step)
        seen.append(life.observe())
    return life.observe() | {
        "initial": initial,
        "afterStep": seen,
        "isrRequestsQueuedAfterFailure": len(life.leader.asked) - before,
        "listOffsetResults": life.offsets,
        **{f"hwAfterStep{number}": one["hw"] for number, one in enumerate(seen, 1)},
    }


def make_follower(question: Question) -> dict[str, Any]:
    """Whether a follower needs another fetcher, at each LeaderAndIsr that makes it follow."""
    release = Release.of(question["release"])
    way = "epoch" if release.since("2.1") else "missed" if release.since("2.0") else "leader"
    before, found = None, list[bool]()
    for step in question["input"]["steps"]:
        found.append(starts_fetcher(before, step["leader"], step["epoch"], way))
        before = step["leader"], step["epoch"]
    return {"returns": found}

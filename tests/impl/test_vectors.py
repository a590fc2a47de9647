"""Cases drawn from Kafka's own tests. Those outside this slice are not collected.

The slice: the epoch cache of 2.0 and later, the follower's truncation, clean Offline elections.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from impl.core.truncation import EpochEnd, follower_truncation
from impl.log import LeaderEpochFileCache
from impl.releases import DEFAULT, Release
from impl.world.partition_controller import assignment_order

VECTORS = Path(__file__).parents[1] / "data" / "vectors"

Case = dict[str, Any]


def cases(file: str, in_slice: Callable[[Case], bool]) -> list[Any]:
    path = VECTORS / file
    loaded = json.loads(path.read_text(encoding="utf-8"))
    return [
        pytest.param(case, id=f"{case['case']}-{number}")
        for number, case in enumerate(loaded)
        if in_slice(case)
    ]


def of_2_0(case: Case) -> bool:
    return bool(case["versions"] != "0.11-1.1")


def of_one_decision(case: Case) -> bool:
    return bool(case["input"]["op"] == "offsetTruncationState")


def clean_and_offline(case: Case) -> bool:
    given = case["input"]
    clean = not given.get("uncleanEnabled") or bool(set(given["isr"]) & set(given["live"]))
    return given["strategy"] == "Offline" and clean


@pytest.mark.parametrize("case", cases("leader_epoch_cache.json", of_2_0))
def test_the_epoch_cache_answers_as_kafkas(case: Case) -> None:
    cache, log_end = LeaderEpochFileCache(), 0
    results: list[object] = []

    if "error" in case["expected"]:
        with pytest.raises(ValueError, match="0 or higher"):
            cache.assign(case["input"]["ops"][0]["epoch"], case["input"]["ops"][0]["offset"])
        return
    for op in case["input"]["ops"]:
        match op["do"]:
            case "assign":
                cache.assign(op["epoch"], op["offset"])
            case "leo":
                log_end = op["value"]
            case "truncateFromEnd":
                cache.truncate_from_end(op["offset"])
            case "truncateFromStart":
                cache.truncate_from_start(op["offset"])
            case "clear":
                cache.clear()
            case "endOffsetFor":
                results.append(list(cache.end_offset_for(op["epoch"], log_end)))
            case "latestEpoch":
                results.append(none_if_undefined(cache.latest_epoch))
            case "previousEpoch":
                results.append(none_if_undefined(cache.previous_epoch))
            case other:
                raise AssertionError(f"no such operation: {other}")

    assert [list(entry) for entry in cache.entries] == case["expected"]["entries"]
    assert results == case["expected"]["results"]


def none_if_undefined(epoch: int) -> int | None:
    return None if epoch == -1 else epoch


class KnownEnds(LeaderEpochFileCache):
    """A follower's epoch cache of which only some answers are given."""

    def __init__(self, latest: int | None, answers: dict[str, list[int]]) -> None:
        super().__init__(() if latest is None else ((latest, 0),))
        self.answers = answers

    def end_offset_for(self, epoch: int, log_end: int) -> tuple[int, int]:
        known, end = self.answers.get(str(epoch), (-1, -1))
        return known, end


@pytest.mark.parametrize("case", cases("truncation.json", of_one_decision))
def test_the_follower_truncates_where_kafkas_does(case: Case) -> None:
    given = case["input"]
    known = KnownEnds(given["followerLatestEpoch"], given["followerEndOffsetFor"])
    reply = EpochEnd(given["leaderReply"]["epoch"], given["leaderReply"]["endOffset"])

    cut = follower_truncation(
        reply, given["followerLeo"], given["followerHw"], given["followerLatestEpoch"],
        lambda epoch: known.end_offset_for(epoch, given["followerLeo"]), Release.of(DEFAULT),
    )  # fmt: skip

    assert cut.offset == case["expected"]["truncateTo"]
    assert cut.done == case["expected"]["completed"]


@pytest.mark.parametrize("case", cases("election.json", clean_and_offline))
def test_the_offline_strategy_chooses_as_kafkas(case: Case) -> None:
    given = case["input"]

    chosen = assignment_order(tuple(given["assignment"]), tuple(given["isr"]), given["live"])

    leader = case["expected"].get("leader")
    assert chosen == (() if leader is None else (leader,))

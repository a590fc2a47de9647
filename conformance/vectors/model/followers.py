"""The model's answers about leader epochs: where one ends, and where a follower truncates.

The transitions `leader_answers_epoch` and `follower_truncates` of `replication` are run in the
state that a question describes. Offsets and epochs are ranks: the steps only compare them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.plain_rules.epoch_cache import UNKNOWN as NO_END
from conformance.plain_rules.epoch_cache import where_to_cut
from conformance.vectors.model.stage import ModelStage, Place, Ranks
from impl.releases import Release

Question = Mapping[str, Any]

FOLLOWER, LEADER = 1, 2
UNKNOWN = -1
BOUNDS = {
    "brokers": 2, "log": 5, "records": 5, "epoch": 6, "controllers": 1, "versions": 1,
}  # fmt: skip
STEP = "follower_truncates"
ANSWER = "leader_answers_epoch"


def truncation(question: Question) -> dict[str, Any]:
    """Where a follower truncates its log after its leader's answer."""
    asked = question["input"]
    reply = asked["leaderReply"]
    known = {int(epoch): tuple(end) for epoch, end in asked["followerEndOffsetFor"].items()}
    return _cut(question, reply["epoch"], reply["endOffset"], known)


def old_truncation(question: Question) -> dict[str, Any]:
    """The same by the rules of KIP-101: the epoch in the answer is ignored."""
    asked = question["input"]
    if not Release.of(question["release"]).since("0.11"):  # no leader is asked (KIP-101)
        end, hw = asked["followerLeo"], asked["followerHw"]
        cut, done = where_to_cut(NO_END, end, hw, None, lambda _: NO_END)
        return {"truncateTo": cut, "completed": done}
    latest, end = asked["followerLatestEpoch"], asked["leaderReplyEndOffset"]
    known = {latest: (latest, asked["followerLeo"])}
    return _cut(question, latest if end != UNKNOWN else UNKNOWN, end, known)


def _cut(
    question: Question, epoch: int, end: int, known: Mapping[int, tuple[int, ...]]
) -> dict[str, Any]:
    asked = question["input"]
    log_end, latest = asked["followerLeo"], asked["followerLatestEpoch"]
    mine = known.get(epoch, (latest, log_end))
    offsets = Ranks([0, log_end, asked["followerHw"], mine[1], *([end] if end >= 0 else [])])
    epochs = Ranks([latest, mine[0], *([epoch] if epoch >= 0 else [])], first=1)
    release = question["release"]
    stage = ModelStage.of("replication", release, (STEP,), BOUNDS)
    cells: dict[Place, object] = {
        ("replica.role", (FOLLOWER,)): "follower",
        ("replica.leader", (FOLLOWER,)): LEADER,
        ("replica.epoch", (FOLLOWER,)): epochs.last,
        ("replica.latest_epoch", (FOLLOWER,)): epochs.of(latest),
        ("replica.truncating", (FOLLOWER,)): True,
        ("replica.hw", (FOLLOWER,)): offsets.of(asked["followerHw"]),
        ("log.end", (FOLLOWER,)): offsets.of(log_end),
        ("fetch.state", (FOLLOWER, LEADER)): "epoch_is_answered",
        ("fetch.epoch", (FOLLOWER, LEADER)): epochs.last,
        ("fetch.answer_epoch", (FOLLOWER, LEADER)): epochs.of(epoch) if epoch >= 0 else None,
        ("fetch.answer_end", (FOLLOWER, LEADER)): offsets.of(end) if end >= 0 else None,
    }
    for rank in range(offsets.of(log_end)):
        older = rank < offsets.of(mine[1])
        cells["log.at.epoch", (FOLLOWER, rank)] = epochs.of(mine[0] if older else latest)
    after = stage.step(STEP, stage.state(cells), FOLLOWER, LEADER)
    cut = offsets.value(stage.read(after, "log.end", FOLLOWER))
    return {"truncateTo": cut, "completed": not stage.read(after, "replica.truncating", FOLLOWER)}


def is_of_one_log(given: Mapping[str, Any]) -> bool:
    """Whether epochs of one growing log begin one after the other, and only ends are read."""
    begun: list[tuple[int, int]] = []
    asked, log_end = False, 0
    for op in given["ops"]:
        if op["do"] == "assign":
            epoch, offset = op["epoch"], op["offset"]
            if epoch < 0 or (begun and (epoch < begun[-1][0] or offset <= begun[-1][1])):
                return False
            begun.append((epoch, offset))
        elif op["do"] == "leo":
            log_end = op["value"]
        elif op["do"] not in ("endOffsetFor", "latestEpoch") or not begun:
            return False
        elif log_end < begun[-1][1] and op.get("epoch") == begun[-1][0]:
            return False  # no log ends before its newest epoch begins
        asked = asked or op["do"] == "endOffsetFor"
    return asked


def epoch_cache(question: Question) -> dict[str, Any]:
    """Where epochs end in a leader's log that grew as the operations say."""
    begun: dict[int, int] = {}
    end, results = 0, list[Any]()
    bare = not Release.of(question["release"]).since("2.0")  # up to 1.1 an answer names no epoch
    for op in question["input"]["ops"]:
        match op["do"]:
            case "assign":
                begun.setdefault(op["epoch"], op["offset"])
            case "leo":
                end = op["value"]
            case "latestEpoch":
                results.append(max(begun, default=None))
            case _:
                found = epoch_end(question["release"], op["epoch"], begun, end)
                results.append(found[1] if bare else found)
    return {"results": results}


def epoch_end(release: str, asked: int, begun: Mapping[int, int], end: int) -> list[int]:
    """A leader's answer where an epoch ends, in a log whose epochs begin as given."""
    if asked < 0:
        return [UNKNOWN, UNKNOWN]  # a follower of the model does not ask without an epoch
    log_end = max([end, *begun.values()])
    offsets = Ranks([*begun.values(), log_end])
    epochs = Ranks([asked, *begun], first=1)
    latest = epochs.of(max(begun)) if begun else None
    bounds = {
        **BOUNDS, "log": max(BOUNDS["log"], offsets.last),
        "records": max(BOUNDS["records"], offsets.last), "epoch": max(BOUNDS["epoch"], epochs.last),
    }  # fmt: skip
    stage = ModelStage.of("replication", release, (ANSWER,), bounds)
    cells: dict[Place, object] = {
        ("up", (LEADER,)): True,
        ("replica.role", (LEADER,)): "leader",
        ("replica.leader", (LEADER,)): LEADER,
        ("replica.epoch", (LEADER,)): epochs.last,
        ("replica.latest_epoch", (LEADER,)): latest,
        ("log.end", (LEADER,)): offsets.of(log_end),
        ("fetch.state", (FOLLOWER, LEADER)): "asks_epoch",
        ("fetch.epoch", (FOLLOWER, LEADER)): epochs.last,
        ("fetch.last_epoch", (FOLLOWER, LEADER)): epochs.of(asked),
    }
    starts = {offsets.of(start): epochs.of(epoch) for epoch, start in begun.items()}
    for rank in range(offsets.of(log_end)):
        cells["log.at.epoch", (LEADER, rank)] = max(e for s, e in starts.items() if s <= rank)
    after = stage.step(ANSWER, stage.state(cells), LEADER, FOLLOWER)
    epoch = stage.read(after, "fetch.answer_epoch", FOLLOWER, LEADER)
    found = stage.read(after, "fetch.answer_end", FOLLOWER, LEADER)
    if found is None:
        return [UNKNOWN, UNKNOWN]
    return [UNKNOWN if epoch is None else epochs.value(epoch), offsets.value(found)]

"""Answers about a follower's fetcher, round by round (truncation.json)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.vectors.implementation.batch_log import BatchLog
from conformance.vectors.implementation.simulated_fetcher import (
    PARTITION,
    SimulatedFetcher,
    SimulatedLeader,
    log_of,
    scripted_pair,
)
from conformance.vectors.questions import Answer, Question, given, release, under
from conformance.vectors.releases import bounds
from impl.core.fetcher_thread import EARLIEST, LATEST, FetchErrorCode, UnrequestedPartition
from impl.core.truncation import EpochEnd
from impl.zookeeper.port import wait

MOST_ROUNDS = 50


def _on_fetch(question: Question) -> bool:
    """The leader compares epochs at every fetch: in cases of 2.8, which may hold from 2.7 on.

    A case that holds for earlier releases too is played as they work, with an epoch request first;
    so is one of 2.7 alone.
    """
    first, last = bounds(question["versions"])
    return first >= (2, 7) and last >= (2, 8) and "IBP" not in question["versions"]


class FetchScene:
    """A follower and a leader, as a question describes them."""

    def __init__(self, question: Question, on_fetch: bool | None = None) -> None:
        asked = given(question)
        self.asked = asked
        follower = asked.get("follower", {})
        self.log = log_of(follower)
        said = asked.get("leader", asked.get("leaderAfter", follower))
        self.leader_log = log_of(said)
        self.release = release(question)
        self.epoch = said.get("epoch", asked.get("leaderEpoch", follower.get("epoch", 0)))
        self.leader = SimulatedLeader({PARTITION: self.leader_log}, self.epoch)
        self.leads_in(self.epoch)
        self.on_fetch = _on_fetch(question) if on_fetch is None else on_fetch
        self.fetcher = SimulatedFetcher(
            self.leader, {PARTITION: self.log}, self.release, self.on_fetch
        )
        if "latestEpoch" in asked:
            self.fetcher.epochs = {PARTITION: asked["latestEpoch"]}
        self.last_fetched: list[int | None] = []
        self.add(follower.get("fetchOffset", self.log.log_end), follower.get("epoch", 0))

    def leads_in(self, epoch: int) -> None:
        """The leader begins an epoch, and caches it at once since 2.0.1 (KAFKA-7415)."""
        self.leader.epoch = epoch
        latest = self.leader_log.latest_epoch()
        if self.release.since("2.0.1") and self.leader_log.batches and epoch > (latest or 0):
            self.leader_log.epochs.assign(epoch, self.leader_log.log_end)

    def add(self, offset: int, epoch: int) -> None:
        """Follow the leader, for the first time or again."""
        self.fetcher.add({PARTITION: (offset, epoch)})
        self._note()

    def round(self) -> None:
        """One round of the fetcher."""
        wait(self.fetcher.do_work())
        self._note()

    def _note(self) -> None:
        state = self.fetcher.states.get(PARTITION)
        if state is None or not self.fetcher.on_fetch:
            return
        if not self.last_fetched or self.last_fetched[-1] != state.last_fetched_epoch:
            self.last_fetched.append(state.last_fetched_epoch)

    def rounds_until(self, reached: Callable[[], bool]) -> int:
        """Runs rounds until a condition holds."""
        for number in range(1, MOST_ROUNDS + 1):
            self.round()
            if reached():
                return number
        return MOST_ROUNDS + 1

    def observe(self) -> dict[str, Any]:
        """The follower's present state."""
        state = self.fetcher.states.get(PARTITION)
        return {
            "leo": self.log.log_end,
            "hw": self.log.high_watermark,
            "logStart": self.log.log_start,
            "log": _batches(self.log),
            "tracked": state is not None,
            "failed": PARTITION in self.fetcher.failed,
            "truncations": self.fetcher.truncations,
            "truncateTo": self.fetcher.truncated_to,
            "state": None if state is None else state.phase.value,
            "currentLeaderEpoch": None if state is None else state.leader_epoch,
            "fetchOffset": None if state is None else state.offset,
            "ready": state is not None and state.phase.value == "Fetching",
        }


def _batches(log: BatchLog) -> list[list[int]]:
    return [list(batch) for batch in log.batches]


def scenario(question: Question) -> dict[str, Any]:
    """A fetcher at work; the question's fields select the scene."""
    asked = given(question)
    for sign, play in _SCENES.items():
        if sign in asked:
            return play(question)
    if asked["offsetErrors"]:
        return _refused_offsets(question)
    if len(asked.get("follower", {}).get("log", ())) > 1:
        return _until_equal(question)
    if _begins_above_the_follower(asked):
        return _until_equal(question)
    if asked.get("follower", {}).get("fetchOffset") is not None:
        return _out_of_range_low(question)
    return _one_round(question)


def _begins_above_the_follower(asked: Mapping[str, Any]) -> bool:
    """The first round finds where the leader's log begins, and a later one fetches from there."""
    end = max(
        (base + count for base, _, count in asked.get("follower", {}).get("log", ())), default=0
    )
    fetches = asked.get("follower", {}).get("fetchOffset") is None
    return fetches and bool(asked.get("leader", {}).get("logStart", 0) > end)


def _one_round(question: Question) -> dict[str, Any]:
    scene = FetchScene(question)
    scene.round()
    seen = scene.observe()
    scene.rounds_until(lambda: scene.log.batches == scene.leader_log.batches)
    return seen | {"finalLog": _batches(scene.log)}


def _until_equal(question: Question) -> dict[str, Any]:
    scene = FetchScene(question)
    scene.rounds_until(lambda: scene.log.batches == scene.leader_log.batches)
    final = _batches(scene.log)
    return scene.observe() | {"finalLog": final, "lastFetchedEpoch": scene.last_fetched}


def _without_leader(question: Question) -> dict[str, Any]:
    """Only the follower's side is given: what it does before it fetches."""
    scene = FetchScene(question)
    if scene.asked.get("removedDuringTruncation"):
        scene.fetcher.epochs = {PARTITION: None}
        scene.fetcher.before_truncating = lambda: scene.fetcher.remove([PARTITION])
    wait(scene.fetcher.maybe_truncate())
    return scene.observe() | {"truncateTo": scene.log.log_end}


def _leader_moves_on(question: Question) -> dict[str, Any]:
    scene = FetchScene(question)
    scene.round()
    first = scene.observe()
    scene.leads_in(scene.asked["thenLeaderEpoch"])
    scene.round()
    second = scene.observe()
    return second | {"leoBeforeBump": first["leo"], "round1": first, "round2": second}


def _leader_epochs(question: Question) -> dict[str, Any]:
    scene, seen = FetchScene(question), []
    for epoch in scene.asked["leaderEpochs"]:
        scene.leads_in(epoch)
        scene.round()
        seen.append(scene.observe())
    return {"leo": [one["leo"] for one in seen], "state": [one["state"] for one in seen]}


def _added_again(question: Question) -> dict[str, Any]:
    scene = FetchScene(question)
    scene.round()
    first = scene.observe()
    scene.add(scene.asked["readdWithFetchOffset"], scene.epoch)
    scene.round()
    return {"afterRound1": first, "afterReaddRound": scene.observe()}


def _corrupt(question: Question) -> dict[str, Any]:
    scene, ends = FetchScene(question), []
    scene.leader.corrupt = int(scene.asked["corruptFirstFetch"])
    for _ in range(2):
        scene.round()
        ends.append(scene.log.log_end)
    return {"leoAfterRound": ends}


def _out_of_range_high(question: Question) -> dict[str, Any]:
    """The leader has what the follower has; then its log is cut."""
    scene = FetchScene(question)
    after = scene.leader_log
    scene.leader.logs[PARTITION] = log_of(scene.asked["follower"])
    scene.round()
    scene.leader.logs[PARTITION] = after
    scene.round()
    return scene.observe()


def _out_of_range_low(question: Question) -> dict[str, Any]:
    rounds, scene, reset = {}, FetchScene(question), {}
    for name, on_fetch in (("truncateOnFetch", True), ("otherwise", False)):
        scene = FetchScene(question, on_fetch)
        start = scene.leader_log.log_start
        rounds[name] = scene.rounds_until(lambda s=scene, o=start: s.log.log_start == o)  # type: ignore[misc]
        reset = {"logStartAfterReset": scene.log.log_start, "logAfterReset": _batches(scene.log)}
    scene.rounds_until(lambda: scene.log.batches == scene.leader_log.batches)
    return scene.observe() | reset | {"finalLog": _batches(scene.log), "roundsNeeded": rounds}


def _refused_offsets(question: Question) -> dict[str, Any]:
    """Where the leader's log begins or ends is refused once: fenced, or tried again."""
    scene = FetchScene(question)
    for which, error in scene.asked["offsetErrors"].items():
        timestamp = EARLIEST if which == "earliest" else LATEST
        scene.leader.offset_errors[timestamp] = [FetchErrorCode(error)]
    scene.round()
    first = scene.observe()
    if not first["failed"]:
        scene.rounds_until(lambda: scene.log.batches == scene.leader_log.batches)
    return scene.observe() | {"afterRound1": first, "finalLog": _batches(scene.log)}


def _follows_anew_meanwhile(question: Question) -> dict[str, Any]:
    """While the follower's question is on its way it begins to follow in a newer epoch."""
    scene = FetchScene(question)
    first, second = scene.asked["followerEpochs"]
    scene.leader.logs[PARTITION] = log_of(scene.asked["leader"])
    scene.fetcher.remove([PARTITION])
    scene.add(0, first)
    scene.leader.meanwhile = lambda: scene.add(0, second)
    wait(scene.fetcher.maybe_truncate())
    after = scene.observe()
    scene.leader.epoch = second  # the controller has sent it by then
    wanted = scene.leader.logs[PARTITION].batches
    scene.rounds_until(lambda: scene.log.batches == wanted)
    equal, final = scene.log.batches == wanted, scene.observe()
    words = "logs equal" if equal else "logs differ"
    return {**final, "afterRound1": after, "afterRound2": words, "finalLog": final["log"]}


def _removed_meanwhile(question: Question, on_fetch: bool | None = None) -> dict[str, Any]:
    """An answer about a partition that is no longer followed is ignored, a diverging epoch too."""
    scene = FetchScene(question, on_fetch)
    scene.leader.meanwhile = lambda: scene.fetcher.remove([PARTITION])
    scene.round()
    return scene.observe()


def _unrequested(question: Question) -> dict[str, Any]:
    scene = FetchScene(question)
    scene.leader.also_about = "u-0"
    try:
        scene.round()
    except UnrequestedPartition:
        return {"error": "IllegalStateException"}
    return {"error": None}


def _one_of_several_fails(question: Question) -> dict[str, Any]:
    asked = given(question)
    keys = [f"t-{number}" for number in range(asked["partitions"])]
    short, long = [[0, 0, 1]], [[0, 0, 1], [1, 2, 1]]
    cuts = str(asked["phase"]).startswith("truncat")
    mine, theirs = (long, short) if cuts else (short, long)
    logs = {key: log_of({"log": mine, "hw": 1}) for key in keys}
    leader = SimulatedLeader({key: log_of({"log": theirs, "hw": 1}) for key in keys}, 4)
    fetcher = SimulatedFetcher(leader, logs, release(question), _on_fetch(question))
    failing = frozenset({f"t-{asked['failing']}"})
    if cuts:
        fetcher.failing = failing
    else:
        fetcher.failing_appends = failing
    fetcher.add(dict.fromkeys(keys, (logs[keys[0]].log_end, 4)))
    wait(fetcher.do_work())
    failed = sorted(int(key.rpartition("-")[2]) for key in fetcher.failed)
    others = {fetcher.states[key].phase.value for key in keys if key not in fetcher.failed}
    fetcher.add(dict.fromkeys(sorted(fetcher.failed), (2, 5)))
    again = {fetcher.states[key].phase.value for key in sorted(failing)}
    return {"failed": failed, "other": "/".join(others), "reAddState": "/".join(again)}


def _removed_afterwards(question: Question) -> dict[str, Any]:
    scene = FetchScene(question)
    scene.round()
    scene.fetcher.remove([PARTITION])
    return scene.observe()


_SCENES: dict[str, Callable[[Question], dict[str, Any]]] = {
    "removedDuringEpochFetch": _removed_meanwhile,
    "removedDuringFetch": lambda question: _removed_meanwhile(question, on_fetch=True),
    "removedDuringTruncation": _without_leader,
    "removedAfterwards": _removed_afterwards,
    "latestEpoch": _without_leader,
    "unrequestedInReply": _unrequested,
    "thenLeaderEpoch": _leader_moves_on,
    "leaderEpochs": _leader_epochs,
    "readdWithFetchOffset": _added_again,
    "corruptFirstFetch": _corrupt,
    "leaderAfter": _out_of_range_high,
    "followerEpochs": _follows_anew_meanwhile,
    "failing": _one_of_several_fails,
}
"""By a name that only this scene has."""


def loops(question: Question) -> dict[str, Any]:
    """How often epochs and records are requested, round by round."""
    asked = given(question)
    said = {key: EpochEnd(*reply) for key, reply in asked["reply"].items()}
    leader, fetcher = scripted_pair(release(question), asked["partitionsLatestEpoch"], said, 0)
    leader.errors = {key: FetchErrorCode(error) for key, error in asked["errors"].items()}
    leader.meanwhile = lambda: fetcher.remove(asked["left"])
    epoch_fetches, fetches = [], []
    for _ in range(asked["loops"]):
        wait(fetcher.do_work())
        epoch_fetches.append(leader.epoch_fetches)
        fetches.append(leader.fetches)
    return {
        "epochFetchCount": epoch_fetches,
        "fetchCount": fetches,
        "truncations": fetcher.truncations,
    }


def fetch_state(question: Question) -> dict[str, Any]:
    """A partition's fetch state before and after its leader's answer about epochs."""
    asked = given(question)
    said = {PARTITION: EpochEnd(*asked["reply"])}
    epochs: dict[str, int | None] = {PARTITION: asked["latestEpoch"]}
    leader, fetcher = scripted_pair(release(question), epochs, said, asked["followerLeo"])
    leader.error = FetchErrorCode(asked.get("error", "NONE"))
    before = fetcher.states[PARTITION].phase.value
    wait(fetcher.maybe_truncate())
    after = fetcher.states.get(PARTITION)
    if after is None:
        return {"before": before, "after": None, "tracked": False, "failed": True}
    cut = after.offset if fetcher.truncated_to is not None else None
    return {"before": before, "after": after.phase.value, "truncateTo": cut}


def fetch_offset_out_of_range(question: Question) -> dict[str, Any]:
    """Where a follower continues whose fetch offset its leader's log lacks (fact sheet g.9)."""
    asked = given(question)
    end, start, leader_end = (
        asked[name] for name in ("followerLeo", "leaderLogStart", "leaderLeo")
    )
    mine = [[offset, 0, 1] for offset in range(end)]
    theirs = [[offset, 0, 1] for offset in range(start, leader_end)]
    log = log_of({"log": mine, "hw": end})
    leader = SimulatedLeader({PARTITION: log_of({"log": theirs, "hw": leader_end})}, 0)
    leader.logs[PARTITION].log_start = start
    fetcher = SimulatedFetcher(leader, {PARTITION: log}, release(question), on_fetch=False)
    fetcher.epochs = {PARTITION: None}  # so that its first fetch is what finds out
    fetcher.add({PARTITION: (end, 0)})
    wait(fetcher.do_work())
    cut, anew = log.log_end < end, log.log_start > 0
    return {
        "truncateTo": log.log_end if cut and not anew else None,
        "truncateFullyAndStartAt": log.log_start if anew else None,
        "fetchOffset": fetcher.states[PARTITION].offset,
        "logStart": log.log_start,
        "leo": log.log_end,
    }


def epoch_fetches(question: Question) -> dict[str, Any]:
    """Whether epochs are requested separately."""
    on_fetch = given(question).get("truncationOnFetch", _on_fetch(question))
    if "ibp" in given(question):  # the protocol alone does not say it of followers of 2.7
        on_fetch = on_fetch and bounds(question["versions"])[1] >= (2, 8)
    log = log_of({"log": [[0, 4, 1]], "hw": 1})
    leader = SimulatedLeader({PARTITION: log_of({"log": [[0, 4, 1]], "hw": 1})}, 5)
    fetcher = SimulatedFetcher(leader, {PARTITION: log}, release(question), on_fetch)
    if not given(question).get("epochRequestSupported", True):
        fetcher.epochs = {PARTITION: None}
    fetcher.add({PARTITION: (1, 5)})
    wait(fetcher.do_work())
    return {"epochFetchCountAfterFirstLoop": leader.epoch_fetches}


ANSWERS: dict[tuple[str, str], Answer] = under(
    "truncation",
    scenario=scenario,
    loops=loops,
    fetchState=fetch_state,
    epochFetches=epoch_fetches,
    fetchOffsetOutOfRange=fetch_offset_out_of_range,
)

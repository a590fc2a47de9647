"""The model's answers about the epoch cache as a list of entries, and about fetches against it.

If the operations are those of one growing log, the transition `leader_answers_epoch` answers too
(`followers.epoch_cache`), and must give the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.plain_rules import epoch_cache
from conformance.plain_rules.epoch_cache import End, Entries, NoSuchEntry
from conformance.vectors.compare import ByRule
from conformance.vectors.model import fetching, followers
from conformance.vectors.model.stage import TwoAnswers
from conformance.vectors.questions import refused_truncation
from impl.releases import Release

Question = Mapping[str, Any]

KIP_279, RISING_OFFSETS = "2.0", "2.7"
"""Releases: of today's rules; that refuse a negative offset."""


def epoch_cache_respects_message_format(release: Release) -> bool:
    """Whether the cache follows the message format: without epochs in it there is no cache, not -1.

    KAFKA-7897, 2.1.1.
    """
    return release.since("2.1") and release.parts != (2, 1, 0)


class _Cache:
    def __init__(self, release: Release) -> None:
        self.release, self.kip_279 = release, release.since(KIP_279)
        self.first = not release.since("1.0")
        self.has_transition = release.since("0.11")
        self.entries: Entries = ()
        self.log_end = 0

    def do(self, op: Mapping[str, Any]) -> list[Any]:
        """The answer in a list, or nothing for an operation that reads nothing."""
        match op["do"]:
            case "leo":
                self.log_end = op["value"]
            case "assign":
                self._assign(op["epoch"], op["offset"])
            case "truncateFromEnd":
                self.entries = epoch_cache.cut_at_end(self.entries, op["offset"])
            case "truncateFromStart":
                cut = epoch_cache.cut_at_start
                if not self.kip_279:
                    cut = epoch_cache.cut_at_start_before
                self.entries = cut(self.entries, op["offset"])
            case "reopen":
                pass  # what was assigned is what its file says
            case "clear":
                self.entries = ()
            case "endOffsetFor":
                return [self._end_of(op["epoch"])]
            case "latestEpoch":
                latest = epoch_cache.latest(self.entries)
                none = (
                    None if epoch_cache_respects_message_format(self.release) else epoch_cache.NONE
                )
                return [none if latest is None else latest]
            case "previousEpoch":
                return [epoch_cache.previous(self.entries)]
            case other:
                raise ValueError(f"the epoch cache has no operation {other!r}")
        return []

    def _assign(self, epoch: int, offset: int) -> None:
        if offset < 0 and self.release.since(RISING_OFFSETS):
            raise NoSuchEntry(f"an epoch begins at 0 or later, not at {offset}")
        assign = epoch_cache.assigned if self.kip_279 else epoch_cache.assigned_before
        self.entries = assign(self.entries, epoch, offset)

    def _end_of(self, epoch: int) -> int | list[int]:
        if self.kip_279:
            return list(epoch_cache.end_of(self.entries, epoch, self.log_end))
        if self.first and epoch == epoch_cache.NONE and not self.entries:
            return self.log_end  # no epoch was the latest of an empty cache, and was not looked at
        return epoch_cache.end_before(self.entries, epoch, self.log_end)


def cache(question: Question) -> dict[str, Any]:
    """The answers of the operations that read, and the final entries."""
    asked = _Cache(Release.of(question["release"]))
    results: list[Any] = []
    try:
        for op in question["input"]["ops"]:
            results += asked.do(op)
    except NoSuchEntry:
        return ByRule(error="IllegalArgumentException")
    if asked.has_transition and followers.is_of_one_log(question["input"]):
        by_transition = followers.epoch_cache(question)["results"]
        if by_transition != results:
            raise TwoAnswers(f"the cache says {results}, the log {by_transition}")
        return {"results": results, "entries": [list(entry) for entry in asked.entries]}
    return ByRule(results=results, entries=[list(entry) for entry in asked.entries])


def fetch_validation(question: Question) -> dict[str, Any]:
    """The leader's answer to a fetch that names the follower's last epoch.

    The transition `leader_answers_epoch` answers too where that epoch ends.
    """
    asked = question["input"]
    entries = [(epoch, start) for epoch, start in asked["epochCache"]]
    log = asked.get("logStart", 0), asked["leo"]
    if asked["lastFetchedEpoch"] is None:
        inside = log[0] <= asked["fetchOffset"] <= log[1]
        return ByRule({"diverging": None} if inside else {"error": "OFFSET_OUT_OF_RANGE"})
    last, offset = asked["lastFetchedEpoch"], asked["fetchOffset"]
    try:
        found = epoch_cache.diverging_epoch(entries, log, last, offset)
        answer: dict[str, Any] = {"diverging": None if found is None else list(found)}
    except LookupError:
        answer = {"error": "OFFSET_OUT_OF_RANGE"}
    if last < 0 or not entries or not Release.of(question["release"]).since(KIP_279):
        return ByRule(answer)
    known = epoch_cache.end_of(tuple(entries), last, log[1])
    by_step = followers.epoch_end(question["release"], last, dict(entries), log[1])
    if by_step != list(known):
        raise TwoAnswers(f"the cache says that the epoch ends at {known}, the step {by_step}")
    return answer


def old_format(question: Question) -> dict[str, Any]:
    """A leader whose log has records of an epoch, or is of a message format without epochs.

    Since 2.0.1 (KAFKA-7415) it adds its own epoch at once, up to 2.1.0 in an old format too.
    """
    asked, release = question["input"], Release.of(question["release"])
    log, epoch = asked["log"], asked["becomeLeaderEpoch"]
    has_epochs = log.get("format", "v2") == "v2"
    entries: Entries = ()
    for start, written_in, _ in log["batches"] if has_epochs else ():
        entries = epoch_cache.assigned(entries, written_in, start)
    if release.since("2.0.1") and (has_epochs or not epoch_cache_respects_message_format(release)):
        entries = epoch_cache.assigned(entries, epoch, log["records"])
    end = epoch_cache.end_of(entries, asked["query"], log["records"])
    return ByRule(
        leo=log["records"], latestEpoch=epoch_cache.latest(entries), endOffsetFor=list(end)
    )


def truncation(question: Question) -> dict[str, Any]:
    """Where a follower truncates its log; the transition answers too, where it can."""
    asked = question["input"]
    if "error" in asked:
        return refused_truncation(question, fetching.fetch_state)
    reply, latest = asked["leaderReply"], asked["followerLatestEpoch"]
    known = {int(epoch): End(*end) for epoch, end in asked["followerEndOffsetFor"].items()}
    kip_279 = Release.of(question["release"]).since(KIP_279)
    answer = End(reply["epoch"] if kip_279 else epoch_cache.NONE, reply["endOffset"])
    cut, done = epoch_cache.where_to_cut(
        answer, asked["followerLeo"], asked["followerHw"], latest,
        lambda epoch: known.get(epoch, epoch_cache.UNKNOWN),
    )  # fmt: skip
    found = {"truncateTo": cut, "completed": done}
    # The steps have no log without epochs, and no answer with an offset and without an epoch.
    named = answer.epoch >= 0 and known.get(answer.epoch, epoch_cache.UNKNOWN).epoch >= 0
    if kip_279 and latest is not None and (named or answer.end < 0):
        by_transition = followers.truncation(question)
        if by_transition != found:
            raise TwoAnswers(f"the rule says {found}, the step {by_transition}")
        return found
    return ByRule(found)

"""Fetch sessions (KIP-227): what a leader keeps of a fetch, and what its fetcher says next."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

import pytest

from impl.core.fetcher_thread import FetchErrorCode, FetchQuestion, FetchReply
from impl.core.truncation import EpochEnd
from impl.releases import Release
from impl.server.fetch_sessions import (
    EVICTION_MS,
    FINAL_EPOCH,
    ID_NOT_FOUND,
    INITIAL_EPOCH,
    INVALID_EPOCH,
    NO_SESSION,
    FetchContext,
    FetchedPart,
    FetchSessionHandler,
    FetchSessions,
    next_epoch,
)

NOTHING = FetchReply(FetchErrorCode.NONE, None, 3, 0)
MISSING = FetchReply(FetchErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None, -1, -1)


def part(offset: int = 3, epoch: int | None = 1) -> FetchedPart:
    return FetchedPart(FetchQuestion(epoch, offset, None), 100)


def parts(names: str, offset: int = 3, epoch: int = 1) -> dict[str, FetchedPart]:
    return {name: part(offset, epoch) for name in names}


class LeaderSessions:
    """Sessions, numbered from 1 on, and the time in milliseconds."""

    def __init__(self, release: str = "2.7", slots: int = 1000) -> None:
        self.sessions: FetchSessions[str] = FetchSessions(
            Release.of(release), count(1).__next__, slots
        )
        self.now = 0

    def context(
        self, number: int, epoch: int, asked: Mapping[str, FetchedPart] | None = None,
        forgotten: str = "", follower: bool = True,
    ) -> FetchContext[str]:  # fmt: skip
        return self.sessions.context(number, epoch, asked or {}, forgotten, follower, self.now)

    def begins(self, names: str, follower: bool = True, **replies: FetchReply) -> int:
        """A full fetch that wants a session: its number."""
        context = self.context(NO_SESSION, INITIAL_EPOCH, parts(names), follower=follower)
        error, number, named = context.answered({one: replies.get(one, NOTHING) for one in names})
        assert (error, named) == ("NONE", list(names))
        return number

    def goes_on(
        self, number: int, epoch: int, asked: Mapping[str, FetchedPart] | None = None,
        forgotten: str = "", **replies: FetchReply,
    ) -> str:  # fmt: skip
        """An incremental fetch: what its answer names."""
        context = self.context(number, epoch, asked, forgotten)
        assert context.error == "NONE"
        error, result, named = context.answered(
            {one: replies.get(one, NOTHING) for one in context.questions}
        )
        assert (error, result) == ("NONE", number)
        return "".join(named)

    @property
    def known(self) -> list[int]:
        return list(self.sessions.known)


def test_an_incremental_fetch_is_about_all_of_the_session_and_its_answer_about_what_is_new():
    leader = LeaderSessions()
    number = leader.begins("abc")

    assert leader.goes_on(number, 1) == ""
    assert leader.goes_on(number, 2, b=NOTHING._replace(batch="records")) == "b"
    assert leader.goes_on(number, 3, a=NOTHING._replace(high_watermark=4)) == "a"
    assert leader.goes_on(number, 4, a=NOTHING._replace(high_watermark=4)) == ""
    assert leader.goes_on(number, 5, c=NOTHING._replace(log_start=1), a=MISSING) == "ca"


def test_what_diverges_and_what_failed_is_named_each_time_and_once_more_when_it_is_over():
    leader = LeaderSessions()
    number = leader.begins("ab", a=MISSING)
    diverging = NOTHING._replace(diverging=EpochEnd(0, 2))

    assert leader.goes_on(number, 1, a=MISSING) == "a"
    assert leader.goes_on(number, 2) == "a"
    assert [leader.goes_on(number, epoch, b=diverging) for epoch in (3, 4)] == ["b", "b"]
    assert leader.goes_on(number, 5) == ""


def test_what_an_answer_names_comes_last_the_next_time():
    leader = LeaderSessions()
    number = leader.begins("abc")

    leader.goes_on(number, 1, a=NOTHING._replace(batch="records"))

    assert list(leader.context(number, 2).questions) == ["b", "c", "a"]


def test_partitions_are_added_moved_on_and_forgotten():
    leader = LeaderSessions()
    number = leader.begins("ab")

    context = leader.context(number, 1, {"b": part(7), "c": part(9)}, "a")

    assert {one: asked.offset for one, asked in context.questions.items()} == {"b": 7, "c": 9}
    assert context.limits == {"b": 100, "c": 100}
    assert context.answered({"b": NOTHING, "c": NOTHING}) == ("NONE", number, ["c"])


def test_a_session_ends_when_its_last_partition_is_forgotten():
    leader = LeaderSessions()
    number = leader.begins("a")

    context = leader.context(number, 1, forgotten="a")

    assert context.answered({}) == ("NONE", NO_SESSION, [])
    assert leader.context(number, 2).error == ID_NOT_FOUND


@pytest.mark.parametrize(("epoch", "after"), [(FINAL_EPOCH, []), (INITIAL_EPOCH, [2])])
def test_a_full_fetch_ends_the_session_that_it_names(epoch: int, after: list[int]):
    leader = LeaderSessions()
    number = leader.begins("a")

    context = leader.context(number, epoch, parts("b"))

    assert context.answered({"b": NOTHING}) == ("NONE", sum(after), ["b"])
    assert leader.known == after


def test_a_session_that_is_not_known_and_a_wrong_epoch_are_refused():
    leader = LeaderSessions()
    number = leader.begins("a")

    assert leader.context(number + 1, 1).error == ID_NOT_FOUND
    assert [leader.context(number, epoch).error for epoch in (2, 1, 1)] == [
        INVALID_EPOCH, "NONE", INVALID_EPOCH
    ]  # fmt: skip


def test_a_fetch_that_another_of_its_session_has_overtaken_is_refused_when_it_is_answered():
    leader = LeaderSessions()
    number = leader.begins("a")
    waits = leader.context(number, 1)
    leader.goes_on(number, 2)

    assert waits.answered({"a": NOTHING}) == (INVALID_EPOCH, number, [])


def test_the_epochs_of_a_session_go_round_without_0():
    assert [next_epoch(one) for one in (-1, 0, 1, 2**31 - 1)] == [-1, 1, 2, 1]


@pytest.mark.parametrize(
    ("release", "full", "named", "kept"),
    [("2.0", 1, 2, 2), ("2.1", 1, None, None), ("2.4", 1, None, None), ("2.5", 1, 2, 2)],
)
def test_the_leader_epochs_of_a_session_are_kept_but_from_2_1_to_2_4(
    release: str, full: int, named: int | None, kept: int | None
):
    leader = LeaderSessions(release)
    first = leader.context(NO_SESSION, INITIAL_EPOCH, parts("a"))
    _, number, _ = first.answered({"a": NOTHING})

    second = leader.context(number, 1, parts("a", epoch=2))
    third = leader.context(number, 2)

    found = [one.questions["a"].leader_epoch for one in (first, second, third)]
    assert found == [full, named, kept]


# Where there is no room


def test_without_slots_there_are_no_sessions():
    assert LeaderSessions(slots=0).begins("a") == NO_SESSION


def test_a_follower_takes_the_place_of_a_consumer_and_not_the_other_way_round():
    leader = LeaderSessions(slots=1)

    assert leader.begins("abc", follower=False) == 1
    assert leader.begins("a") == 2
    assert leader.begins("abc", follower=False) == NO_SESSION
    assert leader.begins("abc") == NO_SESSION
    assert leader.known == [2]


def test_of_followers_a_bigger_one_takes_the_place_of_one_that_is_not_new():
    leader = LeaderSessions(slots=1)
    number = leader.begins("ab")
    leader.now = EVICTION_MS + 1
    leader.goes_on(number, 1)

    assert leader.begins("a") == NO_SESSION
    assert leader.begins("abc", follower=False) == NO_SESSION
    assert leader.begins("abc") == 2


@pytest.mark.parametrize(("release", "after"), [("2.4", [2]), ("2.5", [1])])
def test_a_stale_one_goes_first_and_up_to_2_4_one_is_stale_that_was_used_just_now(
    release: str, after: list[int]
):
    leader = LeaderSessions(release, slots=1)
    number = leader.begins("ab")
    leader.now = EVICTION_MS + 1
    leader.goes_on(number, 1)

    leader.begins("a", follower=False)

    assert leader.known == after


# The fetcher


def test_a_fetcher_names_all_first_and_then_what_changed():
    handler: FetchSessionHandler[str] = FetchSessionHandler()

    assert str(handler) == "(sessionId=INVALID, epoch=INITIAL)"
    assert handler.next(parts("abc")) == (parts("abc"), [])
    assert handler.answered("NONE", 9, "abc") == ""
    assert str(handler) == "(sessionId=9, epoch=1)"

    named, forgotten = handler.next({"a": part(3), "c": part(4), "d": part(1)})

    assert ([*named.items()], forgotten) == ([("d", part(1)), ("c", part(4))], ["b"])
    assert handler.answered("NONE", 9, "c") == ""
    assert handler.next({"a": part(3), "c": part(4), "d": part(1)}) == ({}, [])
    assert str(handler) == "(sessionId=9, epoch=2)"


def test_a_fetcher_that_gets_no_session_asks_in_full_again():
    handler: FetchSessionHandler[str] = FetchSessionHandler()
    handler.next(parts("a"))

    assert handler.answered("NONE", NO_SESSION, "a") == ""

    assert handler.next(parts("a")) == (parts("a"), [])


@pytest.mark.parametrize(("error", "number"), [(ID_NOT_FOUND, NO_SESSION), (INVALID_EPOCH, 9)])
def test_after_an_error_a_fetcher_begins_another_session_and_ends_its_own(error: str, number: int):
    handler: FetchSessionHandler[str] = FetchSessionHandler()
    handler.next(parts("a"))
    handler.answered("NONE", 9, "a")
    handler.next(parts("a"))

    assert handler.answered(error, NO_SESSION, "") == (
        f"was unable to process the fetch request with (sessionId=9, epoch=1): {error}."
    )

    assert (handler.number, handler.epoch) == (number, INITIAL_EPOCH)
    assert handler.next(parts("a")) == (parts("a"), [])


def test_a_fetcher_that_heard_nothing_ends_its_session():
    handler: FetchSessionHandler[str] = FetchSessionHandler()
    handler.next(parts("a"))
    handler.answered("NONE", 9, "a")

    handler.failed()

    assert (handler.number, handler.epoch) == (9, INITIAL_EPOCH)


def test_an_answer_about_what_was_not_asked_is_not_taken():
    handler: FetchSessionHandler[str] = FetchSessionHandler()
    handler.next(parts("ab"))

    assert "omitted=(b), extra=(c)" in handler.answered("NONE", 9, "ac")
    handler.next(parts("ab"))
    handler.answered("NONE", 9, "ab")
    handler.next(parts("ab"))
    assert "extra=(c)" in handler.answered("NONE", 9, "c")
    assert (handler.number, handler.epoch) == (9, INITIAL_EPOCH)

"""Kafka's rules as plain functions: against what they stand for, and at their edges."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from conformance.plain_rules import answers, epoch_cache
from conformance.plain_rules.moves import Assignment, refusal

LOGS = st.lists(st.integers(0, 6), max_size=12).map(sorted)
"""The epochs of a log's records, which never fall."""


def entered(log: list[int]) -> epoch_cache.Entries:
    entries: epoch_cache.Entries = ()
    for offset, epoch in enumerate(log):
        entries = epoch_cache.assigned(entries, epoch, offset)
    return entries


@given(LOGS, st.integers(0, 7))
def test_the_cache_says_where_an_epoch_ends_as_the_log_does(log: list[int], asked: int):
    found = epoch_cache.end_of(entered(log), asked, len(log))

    older = [epoch for epoch in log if epoch <= asked]
    if not log or asked > log[-1]:
        assert found == epoch_cache.UNKNOWN
    else:
        assert found == (older[-1] if older else asked, len(older))


@given(LOGS, st.integers(0, 12))
def test_a_cache_that_is_cut_is_the_cache_of_the_log_that_is_cut(log: list[int], end: int):
    assert epoch_cache.cut_at_end(entered(log), end) == entered(log[:end])


@given(LOGS, st.integers(0, 11))
def test_the_first_epoch_that_is_left_covers_the_logs_new_start(log: list[int], start: int):
    left = epoch_cache.cut_at_start(entered(log), start)

    for offset in range(start, len(log)):
        assert max(epoch for epoch, begun in left if begun <= offset) == log[offset]


def test_the_first_design_enters_an_epoch_without_records_and_answers_no_epoch_from_before():
    entries = epoch_cache.assigned_before(((2, 9),), 3, 9)

    assert entries == ((2, 9), (3, 9))
    assert epoch_cache.assigned(((2, 9),), 3, 9) == ((3, 9),)
    assert epoch_cache.end_before(entries, 1, 20) == epoch_cache.NONE
    assert epoch_cache.end_of(((3, 9),), 1, 20) == (1, 9)


@given(st.lists(st.integers(1, 6), unique=True, min_size=1), st.permutations(range(1, 7)))
def test_a_move_leads_to_its_target_and_back_to_where_it_began(old: list[int], order: list[int]):
    target = order[: len(old)]

    moving = Assignment(tuple(old)).towards(target)

    assert moving.target == tuple(target)
    assert sorted(moving.origin) == sorted(old)
    assert moving.towards(old) == Assignment(tuple(old))
    assert moving.moves == (set(old) != set(target))


def test_a_replica_that_comes_must_live_and_one_that_stays_need_not():
    assert refusal([1, 3], [1, 2], {3}) == "NONE"
    assert refusal([1, 3], [1, 2], {1, 2}) == "INVALID_REPLICA_ASSIGNMENT"
    assert refusal([-1], [1], {1}) == "INVALID_REPLICA_ASSIGNMENT"


@given(st.integers(0, 9), st.lists(st.tuples(st.integers(-1, 9), st.integers(0, 99))), st.data())
def test_a_high_watermark_never_falls_nor_passes_a_member(end, ends, data):
    known = dict(enumerate(ends, 1))
    isr = data.draw(st.sets(st.sampled_from(sorted(known) or [0])))
    before = data.draw(st.integers(0, end))

    found = answers.high_watermark(end, isr, known, 1_000, 10, before, isr_alone=False)

    assert found >= before
    if found > before:
        assert found == min([end, *(known[one][0] for one in isr if one in known)])


def test_an_equal_leader_epoch_stops_a_replica_from_3_5_on():
    assert answers.of_stop_replica(4, 4, disk_failed=False, fenced=True) == "FENCED_LEADER_EPOCH"
    assert answers.of_stop_replica(4, 4, False, True, may_be_equal=True) == "NONE"
    assert answers.of_stop_replica(3, 4, False, True, may_be_equal=True) == "FENCED_LEADER_EPOCH"
    assert answers.of_stop_replica(3, 4, disk_failed=False, fenced=False) == "NONE"


def test_a_share_of_exactly_the_limit_is_no_imbalance():
    assert not answers.is_imbalanced(1, 10, 10)
    assert answers.is_imbalanced(2, 19, 10)
    assert not answers.is_imbalanced(0, 0, 0)

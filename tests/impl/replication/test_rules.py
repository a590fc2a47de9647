"""Replication's rules beyond the cases drawn from Kafka's own tests."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.vectors.implementation.batch_log import BatchLog, LogBatch, LogEnds
from conformance.vectors.implementation.leaders import Requests
from conformance.vectors.implementation.simulated_fetcher import SimulatedLeader
from impl.core import answers
from impl.core.fetcher_thread import (
    FetchErrorCode,
    FetcherThread,
    FetchReply,
    FetchState,
    Phase,
    truncates_on_fetch,
)
from impl.core.partition import Partition, high_watermark, keeps_fetching
from impl.core.requests import LeaderAndIsrPartitionState
from impl.core.truncation import EpochEnd, follower_truncation
from impl.log.errors import CorruptRecord, InvalidBatch, StorageError
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.znodes.states import encode_state
from impl.zookeeper import EmbeddedSession, ZooKeeper
from impl.zookeeper.port import wait

T0 = TopicPartition("t", 0)
R23, R27 = Release.of("2.3"), Release.of("2.7")


def partition_of(
    replicas: tuple[int, ...], release: Release, log_end: int, requests: Requests | None = None
) -> Partition[LogEnds]:
    """Broker 1's replica; whoever is silent for 10 s lags."""
    client = ZnodeClient(EmbeddedSession(ZooKeeper()), release)
    state = LeaderIsrAndControllerEpoch(1, 0, replicas, 0)
    wait(client.make_path(paths.state(*T0), encode_state(state)))
    return Partition(
        1, T0, LogEnds(log_end), 10_000, release, lambda: client, requests, replicas=replicas
    )


def leads(partition: Partition[LogEnds], epoch: int, isr: tuple[int, ...]) -> None:
    state = LeaderIsrAndControllerEpoch(1, epoch, isr, 0)
    partition.become_leader(LeaderAndIsrPartitionState(state, partition.replicas, False), 0)


def test_a_replica_that_was_caught_up_lately_is_waited_for_though_it_left_the_isr():
    def reached(caught_up: int, release: Release) -> int:
        remotes = {1: (10, 0), 2: (8, caught_up)}
        return high_watermark(10, [0, 1], remotes, 100_000, 30_000, 5, release)

    assert (reached(95_000, R23), reached(69_999, R23)) == (8, 10)
    assert reached(95_000, Release.of("0.10.1")) == 10


def test_up_to_2_6_an_isr_change_counts_at_once_and_since_2_7_when_it_is_agreed():
    changed = []
    for release in (R23, R27):
        requests = Requests()
        asks = requests if release.since("2.7") else None
        partition = partition_of((1, 2), release, 4, asks)
        leads(partition, 0, (1,))
        wait(partition.follower_fetched(2, 4, 5))
        changed.append((partition.isr, partition.maximal_isr, len(requests.asked)))

    assert changed == [((1, 2), (1, 2), 0), ((1,), (1, 2), 1)]


def test_a_follower_joins_at_the_start_of_the_leaders_epoch_and_not_before_since_2_0_1():
    joined = []
    for name in ("1.1", "2.0.0", "2.0"):
        partition = partition_of((1, 2, 3), Release.of(name), 6)
        partition.log.high_watermark = 2
        leads(partition, 1, (1, 3))
        wait(partition.follower_fetched(2, 4, 5))
        joined.append(2 in partition.isr)

    assert joined == [True, True, False]


def test_a_leader_enters_its_epoch_before_it_appends_since_2_0_1():
    entered = []
    for name in ("2.0.0", "2.0.1", "2.0"):
        partition = partition_of((1, 2), Release.of(name), 6)
        leads(partition, 4, (1, 2))
        entered.append((4, 6) in partition.log.epochs.entries)

    assert entered == [False, True, True]


def test_a_leader_may_drop_who_is_in_the_isr_and_no_replica_any_more():
    partition = partition_of((1,), Release.of("2.3"), 3)
    leads(partition, 1, (1, 2))

    late = partition.lagging(now_ms=20_000)
    wait(partition.maybe_shrink(now_ms=20_000))

    assert (late, partition.isr, partition.hw) == ([2], (1,), 3)


def test_a_follower_is_caught_up_by_what_the_leader_had_when_its_fetch_was_read():
    """Kafka's producers append meanwhile, in other threads."""
    partition = partition_of((1, 2), R23, 10)
    leads(partition, 0, (1, 2))
    wait(partition.follower_fetched(2, 8, 9_000, leader_end=8))

    assert partition.remotes[2].last_caught_up == 9_000


def test_what_a_new_leader_had_when_it_began_is_no_end_that_a_follower_was_shown():
    """It forgets the last fetches of its followers; one that led before does not
    (``resetLastCaughtUpTime``, then ``updateFetchState`` with unknown offsets)."""
    partition, caught_up = partition_of((1, 2), R23, 10), []
    for epoch in (0, 1):
        state = LeaderIsrAndControllerEpoch(1, epoch, (1,), 0)
        entry = LeaderAndIsrPartitionState(state, partition.replicas, False)
        partition.become_leader(entry, 1_000)
        wait(partition.follower_fetched(2, 10, 2_000, leader_end=12))
        caught_up.append(partition.remotes[2].last_caught_up)

    assert caught_up == [0, 1_000]


def test_since_2_1_a_silent_follower_that_has_everything_stays_in_the_isr():
    left = []
    for name in ("2.0", "2.1"):
        partition = partition_of((1, 2), Release.of(name), 3)
        leads(partition, 0, (1, 2))
        wait(partition.follower_fetched(2, 3, 1))
        wait(partition.maybe_shrink(20_000))
        left.append(partition.isr)

    assert left == [(1,), (1, 2)]


@pytest.mark.parametrize(
    ("release", "kept"),
    [
        ("1.1", [True, True, True]),
        ("2.0.0", [True, True, True]),
        ("2.0", [True, True, False]),
        ("2.0.1", [True, True, False]),
        ("2.3", [True, False, False]),
    ],
)
def test_when_a_fetcher_may_go_on_as_it_is(release: str, kept: list[bool]):
    assert [keeps_fetching(3, epoch, Release.of(release)) for epoch in (3, 4, 5)] == kept


@given(st.text(max_size=8), st.integers(0, 100), st.integers(1, 9))
def test_a_fetchers_number_is_always_one_of_them(topic: str, partition: int, fetchers: int):
    assert 0 <= answers.fetcher_id(topic, partition, fetchers) < fetchers


def test_javas_hash_wraps_around_and_its_least_number_has_fetcher_0():
    assert answers.java_hash("__consumer_offsets") == -970371369
    assert answers.java_hash("polygenelubricants") == -(2**31)
    assert answers.fetcher_id("", -(2**31), 3) == 0


EPOCHS = st.lists(st.integers(0, 4), min_size=0, max_size=8).map(sorted)


def a_log(epochs: list[int]) -> BatchLog:
    return BatchLog(tuple(LogBatch(offset, epoch, 1) for offset, epoch in enumerate(epochs)))


def some_of(*epochs: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.sampled_from(epochs), max_size=5).map(sorted)


@given(EPOCHS, some_of(6, 8, 10), some_of(5, 7, 9))
def test_cutting_until_the_leader_agrees_leaves_what_both_have(
    common: list[int], led: list[int], followed: list[int]
):
    leader, follower = a_log([*common, *led]), a_log([*common, *followed])
    leader.epochs.assign(11, leader.log_end)  # as it does when it is elected
    for _ in range(12):
        latest = follower.latest_epoch()
        if latest is None:
            break
        reply = EpochEnd(*leader.end_offset_for(latest))
        cut = follower_truncation(reply, follower.log_end, 0, latest, follower.end_offset_for, R23)
        wait(follower.truncate_to(cut.offset))
        if cut.done:
            break

    kept = [batch.epoch for batch in follower.batches]
    assert kept == common


@pytest.mark.parametrize(
    ("release", "protocol", "on_fetch"),
    [("2.6", "2.6", False), ("2.7", "2.7", False), ("2.8", "2.6", False), ("2.8", "2.7", True)],
)
def test_followers_truncate_by_what_fetches_answer_since_2_8_under_the_protocol_of_2_7(
    release: str, protocol: str, on_fetch: bool
):
    assert truncates_on_fetch(Release.of(release), Release.of(protocol)) is on_fetch


@pytest.mark.parametrize(
    ("error", "follows"),
    [
        (CorruptRecord(0, "a wrong checksum"), True),
        (InvalidBatch("CORRUPT_MESSAGE", "no offset"), True),
        (InvalidBatch("UNEXPECTED_APPEND_OFFSET", "offsets go back"), False),
        (StorageError("/logs/t-0", "", "no space"), False),
    ],
)
def test_what_came_corrupt_is_fetched_again_and_other_failures_wait_for_the_controller(
    monkeypatch: pytest.MonkeyPatch, error: Exception, follows: bool
) -> None:
    """AbstractFetcherThread.processFetchRequest, markPartitionFailed (KAFKA-8346)."""

    async def refuses(batch: LogBatch) -> None:
        raise error

    log = BatchLog()
    monkeypatch.setattr(log, "append", refuses)
    fetcher = FetcherThread[str](SimulatedLeader({}, 0), {"t": log}, R23, on_fetch=False)
    fetcher.follow({"t": 0})
    fetcher.states["t"] = asked = replace(fetcher.states["t"], phase=Phase.FETCHING)

    wait(
        fetcher.on_fetched({"t": asked}, {"t": FetchReply(FetchErrorCode.NONE, LogBatch(0, 0, 1))})
    )

    assert ("t" in fetcher.states, "t" in fetcher.failed) == (follows, not follows)


def test_a_follower_that_begins_anew_at_its_leaders_start_names_no_epoch_that_it_has_forgotten():
    """fetchOffsetAndTruncate: ``lastFetchedEpoch = latestEpoch(topicPartition)`` (2.8)."""
    leader = SimulatedLeader({"t": BatchLog((LogBatch(9, 3, 3),))}, 3)
    fetcher = FetcherThread[str](leader, {"t": a_log([0, 0])}, Release.of("2.8"), on_fetch=True)
    fetcher.follow({"t": 3})

    wait(fetcher.do_work())

    assert fetcher.states["t"] == FetchState(9, 3, Phase.FETCHING, None)

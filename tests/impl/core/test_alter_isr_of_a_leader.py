"""A leader of 2.7 that asks for its ISR: what counts until it is answered, and which answers do."""

from __future__ import annotations

import pytest

from conformance.vectors.implementation.batch_log import LogEnds, no_client
from impl.core.alter_isr import AlterIsrManager
from impl.core.partition import Partition
from impl.core.replica_events import IsrUpdated, ReplicaEvent
from impl.core.requests import LeaderAndIsrPartitionState
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.zookeeper.port import wait

T0 = TopicPartition("t", 0)
R27 = Release.of("2.7")


class LeaderOfThree:
    """Broker 1 leads in epoch 4 with an ISR of 1 and 2; replica 3 lags. ``now`` is in ms."""

    def __init__(self) -> None:
        self.requests = AlterIsrManager()
        self.observed: list[TopicPartition] = []
        self.hosted = Partition(
            1, T0, LogEnds(3), 1000, R27, no_client, self.requests, self.observe
        )
        self.leads(4)

    def observe(self, event: ReplicaEvent) -> None:
        if isinstance(event, IsrUpdated):
            self.observed.append(event.partition)

    def leads(self, epoch: int, *isr: int) -> None:
        state = LeaderIsrAndControllerEpoch(1, epoch, isr or (1, 2), 9, 6)
        self.hosted.become_leader(LeaderAndIsrPartitionState(state, (1, 2, 3), False), 10_000)

    def answered(self, error: str, state: LeaderIsrAndControllerEpoch | None = None) -> None:
        """The answer to what waits; it waits no more."""
        self.requests.answered(self.requests.batch(), {T0: (error, state)}, 20_000)

    @property
    def asked(self) -> LeaderIsrAndControllerEpoch | None:
        found = self.requests.waiting.get(T0)
        return None if found is None else found.state


@pytest.fixture
def leader() -> LeaderOfThree:
    return LeaderOfThree()


def state(isr: tuple[int, ...], epoch: int = 4, version: int = 7) -> LeaderIsrAndControllerEpoch:
    return LeaderIsrAndControllerEpoch(1, epoch, isr, 9, version)


def test_who_is_about_to_join_holds_the_high_watermark_and_who_is_about_to_leave_does_too(
    leader: LeaderOfThree,
):
    hosted = leader.hosted
    hosted.log.log_end = 5
    wait(hosted.follower_fetched(3, 3, 20_000))  # it reached the epoch's start: it may join
    joining = leader.asked, hosted.isr, hosted.maximal_isr
    wait(hosted.follower_fetched(2, 5, 20_010))
    held_by_3 = hosted.hw
    leader.answered("NONE", state((1, 2, 3)))
    wait(hosted.maybe_shrink(20_020))  # 3 has not caught up for too long
    leaving = leader.asked
    wait(hosted.follower_fetched(2, 5, 20_030))
    held_still = hosted.hw
    leader.answered("NONE", state((1, 2), version=8))

    assert joining == (state((1, 2, 3), version=6), (1, 2), (1, 2, 3))
    assert (held_by_3, held_still, hosted.hw) == (3, 3, 5)
    assert leaving == state((1, 2), version=7)
    assert (hosted.isr, hosted.zk_version, hosted.pending) == ((1, 2), 8, None)
    assert leader.observed == [T0, T0]


def test_one_change_is_asked_for_at_a_time(leader: LeaderOfThree):
    wait(leader.hosted.shrink([2], 10_010))

    wait(leader.hosted.follower_fetched(3, 3, 10_020))

    assert leader.asked == state((1,), version=6)
    assert leader.hosted.isr == (1, 2)


def test_a_change_that_an_answer_leaves_out_goes_on_waiting(leader: LeaderOfThree):
    """The leader hears nothing of it (DefaultAlterIsrManager.handleAlterIsrResponse, 2.7.0)."""
    wait(leader.hosted.shrink([2], 10_010))
    asked = leader.requests.batch()

    leader.requests.answered(asked, {}, 20_000)

    assert leader.requests.batch() == asked
    assert leader.hosted.failures == 0


def test_what_a_leader_and_isr_said_is_not_undone_by_a_late_answer(leader: LeaderOfThree):
    wait(leader.hosted.shrink([2], 10_010))
    late = leader.requests.batch()
    leader.leads(5)
    void = leader.asked
    wait(leader.hosted.shrink([2], 10_020))

    leader.requests.answered(late, {T0: ("NONE", state((1,), version=7))}, 10_030)
    leader.requests.answered(late, {T0: ("UNKNOWN_SERVER_ERROR", None)}, 10_030)

    assert void is None
    assert (leader.hosted.isr, leader.hosted.pending) == ((1, 2), (1,))
    assert leader.asked == state((1,), epoch=5, version=6)
    assert leader.hosted.failures == 0


@pytest.mark.parametrize("old", [state((1,), epoch=3), state((1,), version=6)])
def test_a_state_that_is_older_than_ones_own_is_not_taken(
    leader: LeaderOfThree, old: LeaderIsrAndControllerEpoch
):
    wait(leader.hosted.shrink([2], 10_010))

    leader.answered("NONE", old)

    assert (leader.hosted.isr, leader.hosted.zk_version) == ((1, 2), 6)

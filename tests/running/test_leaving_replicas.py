"""Replicas that a move takes away, and that are brought back: traces made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from conformance.running.partition import TAKEN_AWAY, UNCOUNTED
from conformance.running.result import ReplayResult
from tests.running.handmade import Step, judged, registers, zk

SENDER = {"controller": 1, "epoch": 1, "correlation": 0}
QUESTION = {"leader_epoch": 0, "last_fetched_epoch": None}
REPLY = {"error": "NONE", "high_watermark": 0, "log_start": 0, "diverging": None}


def state(zxid: int, version: int, isr: Sequence[int] = (1, 2, 3)) -> Step:
    """Broker 1 writes the state of t-0: each version is of the next leader epoch."""
    data = {"controller_epoch": 1, "leader": 1, "leader_epoch": version, "isr": [*isr]}
    path = "/brokers/topics/t/partitions/0/state"
    return zk(zxid, 1, ("SetData" if version else "Create", path, version, data))


def sent(version: int, replicas: Sequence[int], isr: Sequence[int] = (1, 2, 3)) -> Step:
    order = {"leader": 1, "leader_epoch": version, "isr": [*isr], "controller_epoch": 1,
             "zk_version": version, "replicas": [*replicas]}  # fmt: skip
    return "leader_and_isr_received", {"partition": "t-0", "order": order, "sender": SENDER}


def leads(epoch: int, start: int) -> Step:
    return "became_leader", {"partition": "t-0", "leader_epoch": epoch, "start": start,
                             "previous_epoch": epoch - 1, "high_watermark": 0}  # fmt: skip


def asks(offset: int, epoch: int = 0) -> Step:
    return "records_asked", {
        "partition": "t-0", "leader": 1, "correlation": 10 * epoch + 10 + offset,
        "asked": {**QUESTION, "leader_epoch": epoch, "offset": offset},
    }  # fmt: skip


def serves(offset: int) -> Step:
    return "fetch_served", {
        "partition": "t-0", "reader": 2, "asked": {**QUESTION, "offset": offset}, "waited": False,
        "reply": {**REPLY, "end": 1}, "client": "broker-2-fetcher-0", "correlation": 10 + offset,
    }  # fmt: skip


STORE = [
    registers(1, 1), registers(2, 2), registers(3, 3),
    zk(4, 1, ("Create", "/controller", 0, {}), ("SetData", "/controller_epoch", 1, 1)),
    zk(5, 9, ("Create", "/brokers/topics/t", 0, {"partitions": {"0": [1, 2, 3]}})),
    state(6, 0),
    zk(7, 9, ("Create", "/admin/reassign_partitions", 0,
              {"partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2]}]})),
    state(8, 1),
]  # fmt: skip
RAISED: Step = ("high_watermark_raised", {"partition": "t-0", "before": 0, "now": 1})
HAS_ONE: Step = ("records_replicated", {"partition": "t-0", "offset": 0, "log_end": 1,
                                        "high_watermark": 0})  # fmt: skip
FOLLOWS = [sent(0, [1, 2, 3]), ("became_follower", {"partition": "t-0", "leader": 1,
                                                    "leader_epoch": 0})]  # fmt: skip


def replayed(replicas: Sequence[int], fetched: int, *last: Step) -> ReplayResult:
    """Broker 1 leads with three in its ISR; of one record broker 2 has fetched as far as that, and
    broker 3 nothing. Then it leads anew, of these replicas, and does what comes last."""
    asked = range(fetched + 1)
    leader = [
        ("controller_elected", {"epoch": 1, "epoch_version": 1}), sent(0, [1, 2, 3]), leads(0, 0),
        ("records_appended", {"partition": "t-0", "leader_epoch": 0, "first": 0, "end": 1}),
        *map(serves, asked), sent(1, replicas), leads(1, 1), *last,
    ]  # fmt: skip
    follower = [*FOLLOWS, asks(0), *[one for at in asked[1:] for one in (HAS_ONE, asks(at))]]
    return judged(STORE, leader, follower, [])


def test_a_high_watermark_does_not_wait_for_who_is_in_the_isr_and_no_replica_any_more() -> None:
    done = replayed([1, 2], 1, RAISED)

    assert done.misfit is None, done.misfit
    assert not done.unknown
    assert done.explained == done.lines
    assert done.forced[UNCOUNTED]


@pytest.mark.parametrize(
    ("replicas", "fetched"),
    [pytest.param([1, 2, 3], 1, id="all of the ISR are replicas"),
     pytest.param([1, 2], 0, id="another replica has not fetched it")],
)  # fmt: skip
def test_it_waits_for_every_member_of_the_isr_that_is_a_replica(
    replicas: list[int], fetched: int
) -> None:
    done = replayed(replicas, fetched, RAISED)

    assert done.misfit is not None
    assert done.at is not None
    assert done.at.step == "high_watermark_raised"


def test_who_leads_by_no_request_is_named() -> None:
    done = replayed([1, 2], 1, leads(2, 1))

    assert done.misfit is not None
    assert done.misfit.why.startswith("became_leader, and no LeaderAndIsr for t-0 was received")


MOVED_BACK = [
    *STORE, state(9, 2, [1, 2]),
    zk(10, 9, ("SetData", "/brokers/topics/t", 1, {"partitions": {"0": [1, 2]}})),
    zk(11, 9, ("SetData", "/brokers/topics/t", 2, {"partitions": {"0": [1, 2, 3]}})),
    state(12, 3, [1, 2]),
]  # fmt: skip
COMES_BACK = [
    sent(3, [1, 2, 3], [1, 2]),
    ("became_follower", {"partition": "t-0", "leader": 1, "leader_epoch": 3}), asks(0, 3),
]  # fmt: skip
STOPPED: Step = ("stop_replica_completed", {"partition": "t-0", "delete": True, "error": "NONE"})
AFTER_THE_MOVE: Step = (STOPPED[0], {**STOPPED[1], "zxid": 9})
CREATED: Step = ("log_created", {"partition": "t-0", "directory": "/data"})


def moved_back(*third: Step) -> ReplayResult:
    """Broker 3 has what broker 1 has, and a move takes it away and brings it back."""
    leader: list[Step] = [
        ("controller_elected", {"epoch": 1, "epoch_version": 1}), sent(0, [1, 2, 3]), leads(0, 0),
        ("records_appended", {"partition": "t-0", "leader_epoch": 0, "first": 0, "end": 1}),
        ("fetch_served", {**serves(0)[1], "reader": 3, "client": "broker-3-fetcher-0"}),
    ]  # fmt: skip
    return judged(MOVED_BACK, leader, [], [*FOLLOWS, asks(0), HAS_ONE, *third])


@pytest.mark.parametrize(
    "stopped", [pytest.param(AFTER_THE_MOVE, id="after its write"),
                pytest.param(STOPPED, id="nothing says when")],
)  # fmt: skip
def test_a_replica_that_a_move_took_away_and_another_brings_back_begins_with_an_empty_log(
    stopped: Step,
) -> None:
    done = moved_back(stopped, CREATED, *COMES_BACK)

    assert done.misfit is None, done.misfit
    assert not done.unknown
    assert done.explained == done.lines
    assert done.forced[TAKEN_AWAY]


def test_a_log_that_was_not_deleted_is_not_made_anew() -> None:
    done = moved_back(CREATED, *COMES_BACK)

    assert done.misfit is not None
    assert done.misfit.rule == "a log outlives its process"


def test_a_log_that_was_deleted_is_gone() -> None:
    done = moved_back(AFTER_THE_MOVE, *COMES_BACK[:-1], asks(1, 3))

    assert done.misfit is not None
    assert done.at is not None
    assert done.at.step == "records_asked"


REFUSED: Step = ("fetch_served", {
    **serves(1)[1], "reply": {**REPLY, "error": "NOT_LEADER_FOR_PARTITION", "end": 1},
})  # fmt: skip


@pytest.mark.parametrize("answer", [serves(1), REFUSED])
def test_a_leader_that_is_asked_to_stop_and_not_deleted_may_answer_as_one(answer: Step) -> None:
    """Kafka's stops its fetchers alone (`ReplicaManager.stopReplica`); ours leads no more."""
    stops = STOPPED[0], {**STOPPED[1], "delete": False}
    done = judged(STORE, [
        ("controller_elected", {"epoch": 1, "epoch_version": 1}), sent(0, [1, 2, 3]), leads(0, 0),
        ("records_appended", {"partition": "t-0", "leader_epoch": 0, "first": 0, "end": 1}),
        serves(0), stops, answer,
    ], [*FOLLOWS, asks(0), HAS_ONE, asks(1)], [])  # fmt: skip

    assert done.misfit is None, done.misfit
    assert done.explained == done.lines

"""What several threads, a failed directory and a sudden end do to a trace: made by hand."""

from __future__ import annotations

import pytest

from conformance.running.order import order_lines
from conformance.running.partition import COUNTED_MEANWHILE, FROM_FOLLOWER, OFFLINE
from conformance.running.process_traces import STARTED, ClusterTraces
from conformance.running.result import ReplayResult
from tests.running.handmade import Step, judged, registers, start, zk

QUESTION = {"leader_epoch": None, "last_fetched_epoch": None}
STATE = "/brokers/topics/t/partitions/0/state"
FIRST = {"controller_epoch": 1, "leader": 1, "leader_epoch": 0, "isr": [1, 2]}
STORE = [
    registers(1, 1), registers(2, 2),
    zk(4, 1, ("Create", "/controller", 0, {}), ("SetData", "/controller_epoch", 1, 1)),
    zk(5, 9, ("Create", "/brokers/topics/t", 0, {"partitions": {"0": [1, 2]}})),
    zk(6, 1, ("Create", STATE, 0, FIRST)),
]  # fmt: skip
SENT: Step = (
    "leader_and_isr_received",
    {
        "partition": "t-0", "order": {**FIRST, "zk_version": 0, "replicas": [1, 2]},
        "sender": {"controller": 1, "epoch": 1, "correlation": 0},
    },
)  # fmt: skip


def asks(offset: int) -> Step:
    return "records_asked", {
        "partition": "t-0", "leader": 1, "correlation": 10 + offset,
        "asked": {**QUESTION, "leader_epoch": 0, "offset": offset},
    }  # fmt: skip


def serves(offset: int, end: int, reader: int = 2, error: str = "NONE", hw: int = 0) -> Step:
    reply = {"error": error, "high_watermark": hw, "log_start": 0, "diverging": None, "end": end}
    return "fetch_served", {
        "partition": "t-0", "reader": reader, "asked": {**QUESTION, "offset": offset},
        "waited": False, "reply": reply, "client": f"broker-{reader}-fetcher-0",
        "correlation": 10 + offset,
    }  # fmt: skip


def takes(offset: int, hw: int = 0) -> Step:
    args = {"partition": "t-0", "offset": offset, "log_end": offset + 1, "high_watermark": hw}
    return "records_replicated", args


def appends(first: int) -> Step:
    args = {"partition": "t-0", "leader_epoch": 0, "first": first, "end": first + 1}
    return "records_appended", args


def raises(before: int, now: int) -> Step:
    return "high_watermark_raised", {"partition": "t-0", "before": before, "now": now}


def leader(*steps: Step) -> list[Step]:
    became = {"partition": "t-0", "leader_epoch": 0, "start": 0, "previous_epoch": -1,
              "high_watermark": 0}  # fmt: skip
    return [("controller_elected", {"epoch": 1, "epoch_version": 1}), SENT,
            ("became_leader", became), *steps]  # fmt: skip


def follower(*steps: Step) -> list[Step]:
    became = {"partition": "t-0", "leader": 1, "leader_epoch": 0}
    return [SENT, ("became_follower", became), *steps]


@pytest.mark.parametrize(("records", "holds"), [(2, True), (3, False)])
def test_a_high_watermark_may_be_computed_before_the_last_fetch_is_counted(
    records: int, holds: bool
) -> None:
    fetches = [serves(at, min(at + 1, records)) for at in range(records + 1)]
    asked = [one for at in range(records) for one in (asks(at), takes(at))]

    done = judged(
        STORE,
        leader(*map(appends, range(records)), *fetches, raises(0, 1)),
        follower(*asked, asks(records)),
    )

    assert (done.misfit is None) is holds
    assert done.forced[COUNTED_MEANWHILE] == int(holds)


@pytest.mark.parametrize(
    ("version", "hw", "holds"), [("2.4", 1, True), ("2.4", 0, False), ("2.3", 1, False)]
)
def test_since_2_4_a_follower_shows_consumers_what_it_knows_to_be_committed(
    version: str, hw: int, holds: bool
) -> None:
    led = leader(appends(0), serves(0, 1), appends(1), serves(1, 2), raises(0, 1),
                 appends(2), serves(2, 3, hw=hw))  # fmt: skip
    followed = follower(asks(0), takes(0), asks(1), takes(1), asks(2), takes(2, hw),
                        serves(0, 1, reader=-1, hw=1))  # fmt: skip

    done = judged(STORE, led, followed, version=version)

    assert (done.misfit is None) is holds, done.misfit
    assert done.forced[FROM_FOLLOWER] == int(holds)


def test_who_asks_a_leader_whose_directory_has_failed_hears_nothing() -> None:
    failed = serves(1, 1, error="KAFKA_STORAGE_ERROR", hw=-1)

    done = judged(
        STORE, leader(appends(0), serves(0, 1), failed), follower(asks(0), takes(0), asks(1))
    )

    assert done.misfit is None, done.misfit
    assert done.forced[OFFLINE] == 1


def test_what_a_process_appended_before_its_sudden_end_was_answered_before_the_next_start() -> None:
    order = order_lines(ClusterTraces([
        start(("zookeeper", 0), STORE),
        start(("broker", 1), [*[appends(9)] * 20, serves(1, 2)]),
        start(("broker", 2), [asks(0), takes(0), asks(1)]),
        start(("broker", 2), [
            ("log_loaded", {"partition": "t-0", "log_end": 2, "high_watermark": 0})
        ], number=2),
    ]))  # fmt: skip
    steps = [(line.step, line.process[1], line.start) for line in order.lines]

    assert steps.index(("fetch_served", 1, 1)) < steps.index((STARTED, 2, 2))


SECOND = {**FIRST, "leader_epoch": 1}


def while_another_waits(asked_in: int) -> ReplayResult:
    """Epoch 1 begins; the handler that has a follower in it still waits for another partition, and
    the fetcher takes an answer, and asks in ``asked_in``."""
    sent: Step = (
        "leader_and_isr_received",
        {**SENT[1], "order": {**SECOND, "zk_version": 1, "replicas": [1, 2]}},
    )
    again: Step = ("became_leader", {"partition": "t-0", "leader_epoch": 1, "start": 1,
                                     "previous_epoch": 0, "high_watermark": 0})  # fmt: skip
    follows: Step = ("became_follower", {"partition": "t-0", "leader": 1, "leader_epoch": 1})
    name, asked = asks(1)
    late: Step = (name, {**asked, "asked": {**asked["asked"], "leader_epoch": asked_in}})
    return judged(
        [*STORE, zk(7, 1, ("SetData", STATE, 1, SECOND))],
        leader(appends(0), serves(0, 1), sent, again, serves(1, 1)),
        follower(asks(0), sent, follows, takes(0), late),
        version="2.3",
    )


def test_a_fetcher_goes_on_in_the_epoch_before_until_the_whole_request_was_handled() -> None:
    assert while_another_waits(asked_in=0).misfit is None


def test_it_takes_no_answer_of_the_epoch_before_and_asks_in_the_new_one_at_once() -> None:
    misfit = while_another_waits(asked_in=1).misfit

    assert misfit is not None

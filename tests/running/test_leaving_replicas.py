"""Members of an ISR that are no replicas any more, as a move tells its leader: traces by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from conformance.running.order import ordered
from conformance.running.partition import UNCOUNTED, ReplicationJudge
from conformance.running.reading import STARTED, Gathered, Process, ProcessStart, TraceLine
from conformance.running.result import Replayed
from tests.running.test_what_a_controller_read import SESSION, Step, registers, zk

SENDER = {"controller": 1, "epoch": 1, "correlation": 0}
QUESTION = {"leader_epoch": 0, "last_fetched_epoch": None}
REPLY = {"error": "NONE", "high_watermark": 0, "log_start": 0, "diverging": None}


def state(zxid: int, version: int) -> Step:
    """Broker 1 writes the state of t-0: each version is of the next leader epoch, with one ISR."""
    data = {"controller_epoch": 1, "leader": 1, "leader_epoch": version, "isr": [1, 2, 3]}
    path = "/brokers/topics/t/partitions/0/state"
    return zk(zxid, 1, ("SetData" if version else "Create", path, version, data))


def told(version: int, replicas: Sequence[int]) -> Step:
    order = {"leader": 1, "leader_epoch": version, "isr": [1, 2, 3], "controller_epoch": 1,
             "zk_version": version, "replicas": [*replicas]}  # fmt: skip
    return "leader_and_isr_received", {"partition": "t-0", "order": order, "sender": SENDER}


def leads(epoch: int, start: int) -> Step:
    return "became_leader", {"partition": "t-0", "leader_epoch": epoch, "start": start,
                             "previous_epoch": epoch - 1, "high_watermark": 0}  # fmt: skip


def asks(offset: int) -> Step:
    return "records_asked", {"partition": "t-0", "leader": 1, "correlation": 10 + offset,
                             "asked": {**QUESTION, "offset": offset}}  # fmt: skip


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
FOLLOWS = [told(0, [1, 2, 3]), ("became_follower", {"partition": "t-0", "leader": 1,
                                                    "leader_epoch": 0})]  # fmt: skip


def replayed(replicas: Sequence[int], fetched: int, *last: Step) -> Replayed:
    """Broker 1 leads with three in its ISR; of one record broker 2 has fetched as far as that, and
    broker 3 nothing. Then it leads anew, of these replicas, and does what comes last."""
    asked = range(fetched + 1)
    leader = [
        ("controller_elected", {"epoch": 1, "epoch_version": 1}), told(0, [1, 2, 3]), leads(0, 0),
        ("records_appended", {"partition": "t-0", "leader_epoch": 0, "first": 0, "end": 1}),
        *map(serves, asked), told(1, replicas), leads(1, 1), *last,
    ]  # fmt: skip
    follower = [*FOLLOWS, asks(0), *[one for at in asked[1:] for one in (HAS_ONE, asks(at))]]
    steps: dict[int, Sequence[Step]] = {1: leader, 2: follower, 3: []}
    starts = [_start(("zookeeper", 0), STORE)]
    starts += [
        _start(("broker", one), [("registered", {"epoch": one, "session": SESSION + one}), *mine])
        for one, mine in steps.items()
    ]
    order = ordered(Gathered(starts))
    assert not order.stuck
    return ReplicationJudge(order, steps, "2.3", {}).replay("t-0")


def _start(process: Process, steps: Sequence[Step]) -> ProcessStart:
    name = f"{process[0]}{process[1] or ''}-1.ndjson"
    found: list[tuple[str, dict[str, Any]]] = [(STARTED, {}), *steps]
    lines = [
        TraceLine(name, number, process, 1, step, args)
        for number, (step, args) in enumerate(found, 1)
    ]
    return ProcessStart(name, process, 1, "c", "2.3", {}, lines)


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

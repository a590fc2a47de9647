"""What a thread logs twice agrees: each relation once as it is, and once with one line changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.written import (
    CONTROLLER,
    PARTITION,
    STATE,
    checked,
    incomplete,
    line,
    starting,
    violations,
    write,
)

GROUPS = "kafka.coordinator.group."
LOG, MANAGER = "kafka.log.Log", "kafka.log.LogManager"
FETCHERS = "kafka.server.ReplicaFetcherManager"
PRODUCERS = "kafka.coordinator.transaction.ProducerIdManager"
ACTIVE = "[Controller id=5] Currently active brokers in the cluster: Set(4, 5, 6)"
NONE = "No checkpointed highwatermark is found for partition {tp}"


def loads(number: int, name: str, log: int = 0, end: int = 0) -> list[str]:
    """A log is made and its replica leads; partition `log` is the one that is made."""
    tp, logged = f"{name}-{number}", f"[Log partition={name}-{number}, dir=/data] "
    head, second = f"[Partition {tp} broker=5] ", 10 + number
    return [
        line(second, f"[ReplicaFetcherManager on broker 5] Removed fetcher for partitions "
             f"Set({tp})", FETCHERS),
        line(second, f"{logged}Loading producer state till offset 0 with message format version 2",
             LOG),
        line(second, f"{logged}Completed load of log with 1 segments, log start offset 0 and log "
             f"end offset {end} in 1 ms", LOG),
        line(second, f"Created log for partition {name}-{log or number} in /data with properties "
             "{}", MANAGER),
        line(second, head + NONE.format(tp=tp), PARTITION),
        line(second, f"{head}Log loaded for partition {tp} with initial high watermark 0",
             PARTITION),
        line(second, f"{head}{tp} starts at leader epoch 0 from offset 0 with high watermark 0. "
             "Previous leader epoch was -1.", PARTITION),
    ]  # fmt: skip


def coordinates(*done: str) -> list[str]:
    """A coordinator loads four partitions, in this order."""
    head = "[GroupMetadataManager brokerId=5] "
    return [
        *(line(20, f"{head}Scheduling loading of offsets and group metadata from {tp}",
               f"{GROUPS}GroupMetadataManager") for tp in map(offsets, "3142")),
        *(line(21, f"{head}Finished loading offsets and group metadata from {tp} in 4 "
               "milliseconds.", f"{GROUPS}GroupMetadataManager") for tp in done),
    ]  # fmt: skip


def offsets(number: str) -> str:
    return f"__consumer_offsets-{number}"


def rebalances(*generations: int) -> list[str]:
    """A group that a member joins, and leaves."""
    first, then, last, after = generations
    where = "(__consumer_offsets-7)"
    texts = (
        f"Preparing to rebalance group shop in state PreparingRebalance with old generation {first}"
        f" {where} (reason: a member)",
        f"Stabilized group shop generation {then} {where}",
        f"Preparing to rebalance group shop in state PreparingRebalance with old generation {last} "
        f"{where} (reason: a member)",
        f"Group shop with generation {after} is now empty {where}",
    )
    return [
        line(30 + number, f"[GroupCoordinator 5]: {text}", f"{GROUPS}GroupCoordinator")
        for number, text in enumerate(texts)
    ]


def producers(start: int, version: int = 3) -> list[str]:
    text = (
        f"[ProducerId Manager 5]: Acquired new producerId block (brokerId:5,blockStartProducerId:"
        f"{start},blockEndProducerId:2999) by writing to Zk with path version {version}"
    )
    return [line(40, text, PRODUCERS)]


def leaves(broker: int, left: str = "4") -> list[str]:
    head = "[Controller id=5] "
    texts = (
        f"Shutting down broker {broker}", "All shutting down brokers: 6", f"Live brokers: {left}"
    )  # fmt: skip
    return [line(50, head + text, CONTROLLER, "DEBUG") for text in texts]


def balance(shown: str, ratio: str, broker: int = 5) -> list[str]:
    head = "[Controller id=5] "
    return [
        line(60, f"{head}Topics not in preferred replica for broker 5 {shown}", CONTROLLER),
        line(60, f"{head}Leader imbalance ratio for broker {broker} is {ratio}", CONTROLLER),
    ]


def raises(deleted: int, to: int) -> list[str]:
    head = "[Log partition=orders-0, dir=/data] "
    return [
        line(70, f"{head}Found deletable segments with base offsets [{deleted}] due to retention "
             "time 604800000ms breach", LOG),
        line(70, f"{head}Rolled new log segment at offset 16 in 3 ms.", LOG),
        line(70, f"{head}Incrementing log start offset to {to}", LOG),
    ]  # fmt: skip


def cuts(to: int) -> list[str]:
    return [
        line(80, "[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] Truncating partition "
             "orders-0 to local high watermark 16", "kafka.server.ReplicaFetcherThread"),
        line(80, f"[Log partition=orders-0, dir=/data] Truncating to {to} has no effect as the "
             "largest offset in the log is 15", LOG),
    ]  # fmt: skip


def answers(*numbers: int) -> list[str]:
    return [
        line(90 + place, "[Controller id=5 epoch=7] Received response {error_code=0} for request "
             f"UPDATE_METADATA with correlation id {number} sent to broker h:9092 (id: 4 rack: "
             "null)", STATE, "TRACE")
        for place, number in enumerate(numbers)
    ]  # fmt: skip


def handles(*numbers: int) -> list[str]:
    return [
        line(100 + place, f"[Broker id=5] Handling LeaderAndIsr request correlationId {number} "
             "from controller 4 epoch 7 starting the become-leader transition for partition "
             f"a-{place}", STATE, "TRACE")
        for place, number in enumerate(numbers)
    ]  # fmt: skip


def judged(folder: Path, lines: list[str], log: str = "server") -> dict[str, Any]:
    files = {f"broker5/{log}.log": [*(starting(0, 5) if log == "server" else []), *lines]}
    return checked(write(folder, files))


RIGHT = {
    "server": [
        *loads(0, "orders"), *loads(1, "orders"), *coordinates(*map(offsets, "3142")),
        *rebalances(2, 3, 3, 4), *producers(2000), *raises(9, 16), *cuts(16),
    ],
    "controller": [line(45, ACTIVE, CONTROLLER), *leaves(6), *balance("Map()", "0.0")],
    "state-change": [*answers(3, 4, 5, 6), *handles(3, 3, 4, 4)],
}  # fmt: skip


@pytest.mark.parametrize("log", RIGHT)
def test_lines_that_go_together_break_nothing(tmp_path: Path, log: str):
    result = judged(tmp_path, RIGHT[log], log)

    assert violations(result) + incomplete(result) == []


@pytest.mark.parametrize(
    "lines, log, at",
    [
        pytest.param([*loads(0, "orders"), *loads(1, "orders", log=7)], "server", 13, id="made"),
        pytest.param(loads(0, "orders", end=2), "server", 5, id="the end of a log"),
        pytest.param(coordinates(*map(offsets, "3147")), "server", 10, id="loaded"),
        pytest.param(coordinates(*map(offsets, "3145")), "server", 10, id="the last one"),
        pytest.param(rebalances(2, 5, 3, 4), "server", 4, id="a generation"),
        pytest.param(rebalances(2, 3, 3, 6), "server", 6, id="the last generation"),
        pytest.param(producers(2001), "server", 3, id="producer ids"),
        pytest.param(producers(2000, version=4), "server", 3, id="their version"),
        pytest.param(raises(17, 16), "server", 3, id="deleted segments"),
        pytest.param(raises(9, 19), "server", 5, id="the start of a log"),
        pytest.param(cuts(13), "server", 4, id="a cut"),
        pytest.param(leaves(4), "controller", 1, id="who leaves"),
        pytest.param(leaves(6, left="4,6"), "controller", 3, id="who stays"),
        pytest.param(balance("Map()", "0.25"), "controller", 2, id="the balance"),
        pytest.param(balance("Map()", "0.0", 4), "controller", 2, id="whose balance"),
        pytest.param(answers(3, 4, 9, 6), "state-change", 3, id="a response"),
        pytest.param(handles(3, 3, 4, 3, 3), "state-change", 3, id="a request"),
    ],
)
def test_a_line_that_does_not_go_with_the_other_is_reported(
    tmp_path: Path, lines: list[str], log: str, at: int
):
    result = judged(tmp_path, lines, log)

    assert at in {number for _, _, number in [*violations(result), *incomplete(result)]}


def test_lines_of_one_millisecond_may_stand_in_another_order(tmp_path: Path):
    made = loads(0, "orders")
    turned = coordinates(*map(offsets, "3124"))

    result = judged(tmp_path, [*made[:4], made[5], made[4], *made[6:], *turned])

    assert violations(result) + incomplete(result) == []


def test_a_missing_line_breaks_nothing(tmp_path: Path):
    every = [*loads(0, "orders"), *loads(1, "orders"), *RIGHT["server"][14:]]

    for number in range(len(every)):
        lines = every[:number] + every[number + 1 :]

        assert violations(judged(tmp_path / str(number), lines)) == []


def test_brokers_that_write_one_log_at_once_are_not_compared(tmp_path: Path):
    one, other = loads(0, "orders"), loads(1, "orders")
    other = [each.replace("broker=5", "broker=6").replace("broker 5", "broker 6") for each in other]
    both = [text for pair in zip(one, other, strict=True) for text in pair]

    result = judged(tmp_path, both)

    assert [rule for rule, _, _ in violations(result) if "twice" in rule] == []
    assert [rule for rule, _, _ in incomplete(result) if "twice" in rule] == []


def sends(epoch: int, replicas: str, second: int, offline: str = "") -> str:
    return line(
        second,
        "[Controller id=5 epoch=7] Sending UpdateMetadata request UpdateMetadataPartitionState("
        "topicName='orders', partitionIndex=0, controllerEpoch=7, leader=4, "
        f"leaderEpoch={epoch}, "
        f"isr=[4], zkVersion={epoch}, replicas=[{replicas}], offlineReplicas=[{offline}]) to "
        "brokers Set(4) for partition orders-0",
        level="TRACE",
    )


def test_a_controller_keeps_the_replicas_of_a_leader_epoch(tmp_path: Path):
    lines = [sends(1, "4, 5", 1), sends(1, "4, 6", 2), sends(1, "4, 5", 3), sends(2, "4, 6", 9)]

    result = judged(tmp_path, lines, "state-change")

    assert violations(result) == [("replicas_change_with_the_leader_epoch", "state-change.log", 2)]


def test_an_offline_replica_is_one_of_the_replicas(tmp_path: Path):
    lines = [sends(1, "4, 5", 1, offline="5"), sends(1, "4, 5", 2, offline="6")]

    result = judged(tmp_path, lines, "state-change")

    assert violations(result) == [("a_line_agrees_with_itself", "state-change.log", 2)]


@pytest.mark.parametrize("replica, doubts", [(5, 0), (6, 1)])
def test_a_replica_that_comes_up_is_one_of_the_assigned(tmp_path: Path, replica: int, doubts: int):
    up = (
        f"[Controller id=5 epoch=7] Changed state of replica {replica} for partition orders-0 from "
        "NewReplica to OnlineReplica"
    )

    result = judged(tmp_path, [sends(1, "4, 5", 1), line(2, up, level="TRACE")], "state-change")

    rules = [rule for rule, _, _ in incomplete(result)]
    assert rules == ["replicas_change_with_the_leader_epoch"] * doubts

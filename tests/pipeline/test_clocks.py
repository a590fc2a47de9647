"""How far apart clocks are, from requests, their handling and their answers."""

from __future__ import annotations

from pathlib import Path

from conformance.cli.check import check
from conformance.ingest.schema import Event
from conformance.pipeline.clocks import clocks as of_events
from conformance.pipeline.clocks import joined
from tests.pipeline.written import (
    CONTROLLER,
    PARTITION,
    changed,
    checked,
    elected,
    leads,
    line,
    starting,
    violations,
    write,
)

SENT = (
    "[Controller id=1 epoch=4] Sending become-follower LeaderAndIsr request "
    "LeaderAndIsrPartitionState(topicName='orders', partitionIndex=0, controllerEpoch=4, leader=1, "
    "leaderEpoch=7, isr=[1, 2], zkVersion=6, replicas=[1, 2], addingReplicas=[], "
    "removingReplicas=[], isNew=false) to broker 2 for partition orders-0"
)
RECEIVED = (
    "[Broker id=2] Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName='orders', "
    "partitionIndex=0, controllerEpoch=4, leader=1, leaderEpoch=7, isr=[1, 2], zkVersion=6, "
    "replicas=[1, 2], addingReplicas=[], removingReplicas=[], isNew=false) correlation id 3 from "
    "controller 1 epoch 4"
)
ANSWER = (
    "[Controller id=1 epoch=4] Received response {error_code=0} for request LEADER_AND_ISR with "
    "correlation id 3 sent to broker host2:9092 (id: 2 rack: null)"
)


def clocks(tmp_path: Path, sent: int, received: int, answered: int | None):
    first = [line(sent, SENT)] + ([] if answered is None else [line(answered, ANSWER)])
    files = {"b1/state-change.log": first, "b2/state-change.log": [line(received, RECEIVED)]}
    return checked(write(tmp_path, files))["clocks"]


def test_a_clock_is_ahead_by_what_lies_between_a_request_and_its_answer(tmp_path: Path):
    (clock,) = clocks(tmp_path, sent=10, received=75, answered=13)

    assert (clock["broker"], clock["against"]) == (2, 1)
    assert (clock["least"], clock["most"], clock["pairs"]) == (62_000, 65_000, 2)


def test_without_the_answer_only_the_most_is_known(tmp_path: Path):
    (clock,) = clocks(tmp_path, sent=10, received=8, answered=None)

    assert (clock["least"], clock["most"]) == (None, -2_000)


def test_clocks_that_are_apart_change_no_verdict_and_are_shown(tmp_path: Path):
    from click.testing import CliRunner

    clocks(tmp_path, sent=3000, received=10, answered=3001)

    said = CliRunner().invoke(check, [str(tmp_path), "--engine", "local"])

    assert said.exit_code == 0
    assert "-2991" in said.output.replace(",", "")


def test_lines_apart_by_controller_epoch_give_the_clocks_of_all_together():
    events = [
        Event(kind=kind, at=at, broker=broker, controller=controller, controller_epoch=epoch,
              replica=replica, correlation=7, topic="orders", partition=0, version=epoch)
        for epoch, controller, late in ((4, 1, 65), (5, 3, 20), (6, 1, 90))
        for kind, at, broker, replica in (
            ("leader_and_isr_sent", 10, controller, 2),
            ("leader_and_isr_received", late, 2, None),
            ("response_received", 13, controller, 2),
        )
    ]  # fmt: skip
    parts = [[each for each in events if each.controller_epoch == epoch] for epoch in (6, 4, 5)]

    together = joined(map(of_events, parts))

    assert together == of_events(events)
    assert [(each.broker, each.against, each.pairs) for each in together] == [(2, 1, 4), (3, 2, 2)]


def test_one_of_a_logs_files_may_be_shifted_alone(tmp_path: Path):
    """The election is 6 s early, and so before the line that the process began anew."""
    begins = [10, 900, 1800, 3700]
    elections = [elected(second + 1 - 6 * (second > 3600), 1, n + 1)
                 for n, second in enumerate(begins)]  # fmt: skip
    files = {
        "server.log": [text for second in begins for text in starting(second, 1)],
        "controller.log.2024-03-01-10": elections[:3],
        "controller.log": elections[3:],
        "state-change.log": [
            changed(second + 2, (1, n + 1), 1, n, "1") for n, second in enumerate(begins)
        ],
    }

    result = checked(write(tmp_path, files))

    assert {row["kind"] for row in result["findings"]} == {"incomplete"}


def test_a_controller_that_finds_nothing_to_do_first_acts_when_a_topic_is_made(tmp_path: Path):
    """Minutes after its election: its two logs are not shifted for that, and are compared."""
    topic = ("[Controller id=1] New topics: [Set(orders)], deleted topics: [Set()], new partition "
             "replica assignment [Map(orders-0 -> Vector(1))]")  # fmt: skip
    new = ("[Controller id=1 epoch=1] Changed partition orders-0 state from NonExistentPartition "
           "to NewPartition with assigned replicas 1")  # fmt: skip
    mark = "[Partition orders-0 broker=1] Log loaded for partition orders-0 with initial high "

    def found(made: int, loaded: int) -> list[tuple[str, str, int]]:
        folder = tmp_path / f"{made}-{loaded}"
        loads = line(302, f"{mark}watermark {loaded}", PARTITION)
        files = {
            "server.log": [*starting(0, 1), loads],
            "controller.log": [elected(1, 1, 1), line(made, topic, CONTROLLER)],
            "state-change.log": [line(300, new), leads(302, 1, 0, -1)],
        }
        return violations(checked(write(folder, files)))

    assert found(300, 9) == []
    assert found(300, 10) == [("no_high_watermark_above_the_log", "server.log", 3)]
    assert found(200, 10) == []  # one of the logs is shifted

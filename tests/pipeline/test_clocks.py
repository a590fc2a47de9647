"""How far apart clocks are, from requests, their handling and their answers."""

from __future__ import annotations

from pathlib import Path

from conformance.cli.check import check
from tests.pipeline.written import checked, line, write

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

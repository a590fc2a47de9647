"""Steps in one log: a line without the step before it, and the twin in which nothing is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.pipeline.rules import BREAKS
from conformance.running.simulated_log_files import run_with_log_files
from tests.pipeline.written import (
    CONTROLLER,
    PARTITION,
    SERVER,
    THREAD,
    changed,
    checked,
    elected,
    leads,
    line,
    starting,
    state,
    violations,
    write,
)

FOLLOWS = "steps_are_logged_in_their_order"
GOES_ON = "written_isr_is_the_logged_one"


def request(second: int, number: int, left_out: str = "", broker: int = 2) -> list[str]:
    """A request about one partition, from its receipt to its end."""
    head, tail = f"[Broker id={broker}]", f"correlationId {number} from controller 1 epoch 4"
    lines = {
        "received": f"{head} Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName="
        f"'orders', partitionIndex=0, controllerEpoch=4, leader=1, leaderEpoch={number}, "
        f"isr=[1, 2], zkVersion={number}, replicas=[1, 2], addingReplicas=[], removingReplicas=[], "
        f"isNew=false) correlation id {number} from controller 1 epoch 4",
        "handled": f"{head} Handling LeaderAndIsr request {tail} starting the become-follower "
        "transition for partition orders-0 with leader 1",
        "completed": f"{head} Completed LeaderAndIsr request {tail} for the become-follower "
        "transition for partition orders-0 with leader 1",
    }
    return [
        line(second + place, text, level="TRACE")
        for place, (name, text) in enumerate(lines.items())
        if name != left_out
    ]


def requests(left_out: str = "", of: tuple[int, ...] = (9,)) -> list[str]:
    return [
        text
        for number in range(1, 12)
        for text in request(10 * number, number, left_out if number in of else "")
    ]


@pytest.mark.parametrize("left_out, at", [("received", 25), ("handled", 26)])
def test_a_request_that_is_handled_was_received_before(tmp_path: Path, left_out: str, at: int):
    assert violations(state(tmp_path / "a", *requests())) == []
    assert violations(state(tmp_path / "b", *requests(left_out))) == [
        (FOLLOWS, "state-change.log", at)
    ]


def test_the_first_request_about_a_partition_was_received_if_one_about_another_was(tmp_path: Path):
    first = [text.replace("orders", "payments") for text in request(200, 20, "received")]

    result = state(tmp_path, *requests(), *first, *request(300, 21))

    assert violations(result) == [(FOLLOWS, "state-change.log", 34)]


def test_a_request_is_completed_once(tmp_path: Path):
    again = request(107, 10, "received")[-1]

    result = state(tmp_path, *requests()[:30], again, *requests()[30:])

    assert violations(result) == [(FOLLOWS, "state-change.log", 31)]


def test_a_log_from_which_lines_were_left_out_lacks_no_step(tmp_path: Path):
    assert violations(state(tmp_path, *requests("received", (3, 6, 9)))) == []


def test_a_line_that_fits_no_template_may_be_the_one_that_is_missing(tmp_path: Path):
    lines = requests("received")
    lines.insert(24, line(90, "[Broker id=2] Took LeaderAndIsr request 9 for orders-0"))

    assert violations(state(tmp_path, *lines)) == []


def test_the_first_request_of_a_log_may_have_begun_in_the_file_before(tmp_path: Path):
    assert violations(state(tmp_path, *requests("received", (1,)))) == []


def replica(second: int, frm: str, to: str) -> str:
    text = f"Changed state of replica 2 for partition orders-0 from {frm}Replica to {to}Replica"
    return line(second, f"[Controller id=1 epoch=4] {text}", level="TRACE")


def test_a_replica_changes_from_the_state_that_it_was_moved_into(tmp_path: Path):
    lines = [
        replica(5 * n + k, frm, to)
        for n in range(4)
        for k, (frm, to) in enumerate([("Offline", "Online"), ("Online", "Offline")])
    ]
    wrong = [*lines[:5], replica(11, "New", "Offline"), *lines[6:]]

    assert violations(state(tmp_path / "a", *lines)) == []
    assert violations(state(tmp_path / "b", *wrong)) == [(FOLLOWS, "state-change.log", 6)]


def test_who_is_ready_as_controller_was_elected(tmp_path: Path):
    ready = line(60, "[Controller id=1] Ready to serve as the new controller with epoch 5",
                 CONTROLLER)  # fmt: skip
    started = line(50, "[ControllerEventThread controllerId=1] Starting", THREAD)
    right = {"controller.log": [started, elected(55, 1, 5), ready]}
    wrong = {"controller.log": [elected(1, 1, 4), started, ready]}

    assert violations(checked(write(tmp_path / "a", right))) == []
    assert violations(checked(write(tmp_path / "b", wrong))) == [
        ("controller_epochs_strictly_grow", "controller.log", 3)
    ]


def isr(second: int, text: str) -> str:
    return line(second, f"[Partition orders-0 broker=1] {text}", PARTITION)


def leading(before: str, received_again: bool = False) -> dict[str, list[str]]:
    return {
        "server.log": [
            *starting(0, 1),
            isr(20, "Shrinking ISR from 1,2,3 to 1,2"),
            isr(21, "ISR updated to [1,2] and zkVersion updated to [4]"),
            isr(40, f"Shrinking ISR from {before} to 1"),
            isr(41, "ISR updated to [1] and zkVersion updated to [5]"),
            line(60, "[KafkaServer id=1] started", SERVER),
        ],
        "state-change.log": [
            leads(10, 1, 3, -1),
            *([leads(30, 1, 4, 3)] if received_again else []),
            changed(90, (1, 4), 1, 7, "1"),
        ],
    }


def test_a_leader_changes_the_isr_that_it_wrote_last(tmp_path: Path):
    assert violations(checked(write(tmp_path / "a", leading("1,2")))) == []
    assert violations(checked(write(tmp_path / "b", leading("1,2,3", received_again=True)))) == []
    assert violations(checked(write(tmp_path / "c", leading("1,2,3")))) == [
        (GOES_ON, "server.log", 5)
    ]


def test_each_conditional_write_raises_the_version(tmp_path: Path):
    files = leading("1,2")
    files["server.log"][4:6] = [isr(41, "ISR updated to [1,2] and zkVersion updated to [4]")]

    assert violations(checked(write(tmp_path, files))) == [
        ("versions_strictly_grow", "server.log", 5)
    ]


def test_a_new_partition_is_not_elected_under_epoch_0(tmp_path: Path):
    made = line(1, "[Controller id=1 epoch=4] Changed partition orders-0 state from "
                "NonExistentPartition to NewPartition with assigned replicas 1,2")  # fmt: skip
    right = changed(2, (1, 4), 1, 0, "1,2", frm="NewPartition")
    wrong = changed(2, (1, 4), 1, 0, "1,2", frm="OfflinePartition")

    assert violations(state(tmp_path / "a", made, right)) == []
    assert violations(state(tmp_path / "b", made, wrong)) == [
        ("partition_state_changes_are_valid", "state-change.log", 2)
    ]


@pytest.mark.parametrize(
    "release, seed",
    [("1.1", 101), pytest.param("1.1", 103, marks=pytest.mark.deep), ("2.3", 7)],
)
def test_what_a_controller_kept_or_wrote_late_breaks_nothing(
    tmp_path: Path, release: str, seed: int
):
    """A broker that restarts is sent what the controller kept; a deposed one goes on writing."""
    topics, steps = (2, 1500) if release == "2.3" else (3, 2500)
    run_with_log_files(tmp_path, seed, steps, release=release, topics=topics)

    kinds = {row["kind"] for row in checked(tmp_path)["findings"]}

    assert not kinds & {kind.value for kind in BREAKS}

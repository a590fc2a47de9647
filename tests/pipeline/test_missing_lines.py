"""Lines that one thread always logs together: one that is not there is missed, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.test_rules_of_channels import LEADERS, METADATA, REQUESTS, came, sent
from tests.pipeline.written import (
    CONTROLLER,
    SERVER,
    ZK,
    checked,
    elected,
    incomplete,
    leads,
    line,
    starting,
    write,
)

TOGETHER = "paired_lines_are_complete"


def missing(result: dict[str, Any]) -> list[tuple[str, int]]:
    """File name and line of each line that lacks another."""
    return [(file, number) for rule, file, number in incomplete(result) if rule == TOGETHER]


def without(lines: Iterable[str], *dropped: int) -> list[str]:
    return [text for number, text in enumerate(lines, 1) if number not in dropped]


# --- what a broker makes of a request


def request(second: int, number: int, leaders: int, refused: int = 0) -> list[str]:
    """All that broker 1 logs at INFO of a LeaderAndIsr request."""
    count = leaders + refused
    about = f"correlationId {number} from controller 1"
    lines = [line(second, f"[Broker id=1] Handling LeaderAndIsr request {about} for {count} "
                  "partitions")]  # fmt: skip
    lines += [
        line(second + 1, f"[Broker id=1] Ignoring LeaderAndIsr request from controller 1 with "
             f"correlation id {number} epoch 5 for partition old-{n} since its associated leader "
             "epoch 4 matches the current leader epoch")
        for n in range(refused)
    ]  # fmt: skip
    lines.append(line(
        second + 2, f"[Broker id=1] Stopped fetchers as part of LeaderAndIsr request {about} epoch "
        f"5 as part of the become-leader transition for {leaders} partitions"))  # fmt: skip
    lines += [leads(second + 3 + n, 1, number + 1, number, f"orders-{n}") for n in range(leaders)]
    lines.append(line(
        second + 9, f"[Broker id=1] Finished LeaderAndIsr request in 9ms {about} for {count} "
        "partitions"))  # fmt: skip
    return lines


def requests(count: int = 5) -> list[str]:
    return [each for n in range(count) for each in request(20 * n, n, 2, refused=1)]


def handled(folder: Path, lines: Iterable[str]) -> list[tuple[str, int]]:
    return missing(checked(write(folder, {"b1/state-change.log": lines})))


def test_requests_of_which_everything_is_logged_lack_nothing(tmp_path: Path):
    assert handled(tmp_path, requests()) == []


@pytest.mark.parametrize(
    ("dropped", "shown"),
    [
        (25, 25),  # the beginning of the fifth request: what was done of it is left
        (26, 28),  # a refusal: fewer partitions have a line than the request names
        (27, 28),  # the line that counts the leaders, of which the last is shown
        (28, 27),  # a leader that starts: the line that counts them is shown
        (24, 23),  # the end of the fourth request
    ],
)
def test_a_line_of_a_request_that_is_not_there_is_shown(tmp_path: Path, dropped: int, shown: int):
    assert handled(tmp_path, without(requests(), dropped)) == [("state-change.log", shown)]


def test_a_log_in_which_more_than_two_requests_lack_a_line_was_filtered(tmp_path: Path):
    assert handled(tmp_path, without(requests(), 6, 12, 18)) == []


def test_a_release_that_logs_no_starts_beside_requests_tells_of_refusals_alone(tmp_path: Path):
    handles = [text for text in request(200, 9, 2) if "Leader orders" not in text]
    refuses = [each for n in range(5) for each in without(request(20 * n, n, 0, 2), 4)]

    assert handled(tmp_path, [*refuses, *handles]) == []


def test_a_request_at_which_its_process_ended_need_not_be_finished(tmp_path: Path):
    lines = [*requests(4), *request(100, 0, 2)[:-1], *request(200, 0, 2)]
    began = [*starting(-2, 1), *starting(150, 1)]

    files = {"b1/state-change.log": lines, "b1/server.log": began}

    assert missing(checked(write(tmp_path, files))) == []


def test_a_request_that_failed_need_not_be_finished(tmp_path: Path):
    failed = line(
        105,
        "[Broker id=1] Error while processing LeaderAndIsr request with correlationId 0 received "
        "from controller 1 epoch 5",
        level="ERROR",
    )

    lines = [*requests(4), *request(100, 0, 2)[:-1], failed, *request(200, 1, 2)]

    assert handled(tmp_path, lines) == []


def of_0_11(second: int, number: int, steps: Iterable[str]) -> list[str]:
    """What broker 1 of a release before 1.0 logs of a request about one partition."""
    about = f"LeaderAndIsr request correlationId {number} from controller 1 epoch 5"
    role = "for partition orders-0"
    said = {
        "handled": f"handling {about} starting the become-leader transition {role}",
        "completed": f"completed {about} for the become-leader transition {role}",
        "failed": "",
    }
    failed = (f"Error on broker 1 while processing LeaderAndIsr request correlationId {number} "
              f"received from controller 1 epoch 5 {role}")  # fmt: skip
    return [line(second + n, f"Broker 1 {said[step]}" if said[step] else failed, level="TRACE")
            for n, step in enumerate(steps)]  # fmt: skip


@pytest.mark.parametrize("last, lacks", [("completed", False), ("failed", False), (None, True)])
def test_before_1_0_a_request_is_completed_unless_it_failed(
    tmp_path: Path, last: str | None, lacks: bool
):
    ends = ["completed" if n != 5 else last for n in range(9)]
    lines = [
        each
        for n, end in enumerate(ends)
        for each in of_0_11(100 * n, n, ["handled", end] if end else ["handled"])
    ]

    assert bool(handled(tmp_path, lines)) is lacks


def steps(second: int, number: int, *names: str) -> list[str]:
    """What broker 2 logs at TRACE of a request to follow about one partition."""
    about = f"correlation id {number} from controller 1 epoch 4"
    of = f"LeaderAndIsr request {about.replace('lation id', 'lationId')}"
    said = {
        "received": "Received LeaderAndIsr request LeaderAndIsrPartitionState(topicName='orders', "
        f"partitionIndex=0, controllerEpoch=4, leader=-1, leaderEpoch={number}, isr=[1], zkVersion="
        f"{number}, replicas=[1, 2], addingReplicas=[], removingReplicas=[], isNew=false) {about}",
        "handled": f"Handling {of} starting the become-follower transition for partition orders-0 "
        "with leader -1",
        "no leader": f"Received LeaderAndIsrRequest with {about} for partition orders-0 (last "
        "update controller epoch 4) but cannot become follower since the new leader -1 is "
        "unavailable.",
        "completed": f"Completed {of} for the become-follower transition for partition orders-0 "
        "with leader -1",
    }
    return [line(second + n, f"[Broker id=2] {said[name]}", level="TRACE")
            for n, name in enumerate(names)]  # fmt: skip


@pytest.mark.parametrize(
    ("fifth", "shown"),
    [
        (("received", "handled", "no leader", "completed"), []),
        (("received", "no leader", "completed"), [("state-change.log", 17)]),
        (("received", "received", "handled", "no leader", "completed"), [("state-change.log", 18)]),
    ],
)
def test_a_follower_whose_leader_is_away_handles_what_it_received_once(
    tmp_path: Path, fifth: tuple[str, ...], shown: list[tuple[str, int]]
):
    every = ("received", "handled", "no leader", "completed")
    lines = [text for n in range(9) for text in steps(20 * n, n + 1, *(fifth if n == 4 else every))]

    assert handled(tmp_path, lines) == shown


# --- what a controller does about brokers


def change(second: int, new: str, gone: str, live: str) -> list[str]:
    """All that controller 1 logs of brokers that come or go."""
    head = "[Controller id=1] "
    lines = [f"{head}Newly added brokers: {new}, deleted brokers: {gone}, bounced brokers: , all "
             f"live brokers: {live}"]  # fmt: skip
    lines += [f"{head}New broker startup callback for {new}"] if new else []
    lines += [f"{head}Broker failure callback for {gone}"] if gone else []
    lines.append(f"{head}Updated broker epochs cache: HashMap(1 -> 31)")
    return [line(second + n, text, CONTROLLER) for n, text in enumerate(lines)]


CHANGES = [
    text
    for n in range(4)
    for text in (*change(20 * n, "2", "", "1,2"), *change(20 * n + 8, "", "2", "1"))
]


def controller(folder: Path, lines: Iterable[str]) -> list[tuple[str, int]]:
    return missing(checked(write(folder, {"b1/controller.log": lines})))


def test_a_controller_that_logs_what_it_does_about_each_broker_lacks_nothing(tmp_path: Path):
    assert controller(tmp_path, CHANGES) == []


@pytest.mark.parametrize(("dropped", "shown"), [(7, 7), (8, 7), (9, 7), (11, 10), (10, 10)])
def test_what_a_controller_does_about_a_broker_stands_after_the_news_of_it(
    tmp_path: Path, dropped: int, shown: int
):
    assert controller(tmp_path, without(CHANGES, dropped))[:1] == [("controller.log", shown)]


def test_a_controller_that_says_later_that_it_has_started_says_that_it_is_ready(tmp_path: Path):
    ready = line(2, "[Controller id=1] Ready to serve as the new controller with epoch 1",
                 CONTROLLER)  # fmt: skip
    gone = line(5, "[Controller id=1] Resigned", CONTROLLER)
    files = {
        "b1/controller.log": [elected(1, 1, 1), ready, gone, elected(60, 1, 2),
                              *change(80, "2", "", "1,2")],
        "b1/server.log": [*starting(0, 1), line(50, "starting", SERVER), starting(70, 1)[1]],
    }  # fmt: skip

    assert missing(checked(write(tmp_path, files))) == [("controller.log", 4)]


def test_a_line_that_stands_before_the_one_that_it_comes_of_is_shown(tmp_path: Path):
    lines = list(CHANGES)
    lines[6], lines[7] = (
        lines[6][:26] + lines[7][26:],
        lines[7][:26] + lines[6][26:],
    )

    assert ("controller.log", 7) in controller(tmp_path, lines)


def test_lines_of_one_millisecond_may_stand_in_any_order(tmp_path: Path):
    lines = [text.replace(text[:26], CHANGES[0][:26]) for text in change(0, "2", "", "1,2")]
    lines = [lines[1], lines[0], lines[2], *CHANGES[3:]]

    assert controller(tmp_path, lines) == []


def test_a_change_at_which_the_controller_failed_is_not_dealt_with(tmp_path: Path):
    failed = line(121, "[Controller id=1] Error processing event BrokerChange", CONTROLLER, "ERROR")

    assert controller(tmp_path, [*CHANGES, CHANGES[0], failed, *change(200, "2", "", "1,2")]) == []


# --- leader epochs


def written(second: int, epoch: int) -> str:
    return line(
        second,
        f"[Controller id=1 epoch=5] Partition orders-0 state changed to (Leader:1,ISR:1,LeaderEpoch"
        f":{epoch},ControllerEpoch:5) after removing replica 2 from the ISR as part of transition "
        "to OfflineReplica",
    )


def test_a_leader_epoch_that_a_controller_left_out_was_written_in_a_line_that_is_not_there(
    tmp_path: Path,
):
    epochs = [1, 2, 3, 4, 6, 7]

    found = missing(checked(write(tmp_path, {
        "b1/state-change.log": [written(n, epoch) for n, epoch in enumerate(epochs)]
    })))  # fmt: skip

    assert found == [("state-change.log", 5)]


def raised(second: int, epoch: int) -> str:
    return line(
        second,
        f"[Controller id=1 epoch=5] Sent LeaderAndIsr request (Leader:1,ISR:1,LeaderEpoch:{epoch},"
        "ControllerEpoch:5) with new replica assignment ReplicaAssignment(replicas=1,2, "
        "addingReplicas=2, removingReplicas=) to leader 1 for partition being reassigned orders-0",
    )


def test_a_leader_epoch_that_is_raised_for_a_move_is_in_a_line_of_its_own(tmp_path: Path):
    lines = [*(written(n, n + 1) for n in range(4)), raised(4, 5), written(6, 6), written(7, 7)]

    assert missing(checked(write(tmp_path / "a", {"b1/state-change.log": lines}))) == []
    found = missing(checked(write(tmp_path / "b", {"b1/state-change.log": without(lines, 5)})))
    assert found == [("state-change.log", 5)]


def test_a_move_may_raise_the_leader_epoch_in_the_millisecond_of_another_write(tmp_path: Path):
    lines = [
        *(written(n, n) for n in range(1, 5)),
        raised(4, 5),
        *(written(n, n) for n in (6, 7, 8)),
    ]

    assert missing(checked(write(tmp_path, {"b1/state-change.log": lines}))) == []


# --- states of partitions


@pytest.mark.parametrize(("level", "shown"), [("TRACE", [7]), ("INFO", [])])
def test_a_partition_that_leaves_the_offline_state_was_moved_there(
    tmp_path: Path, level: str, shown: list[int]
):
    def moved(second: int, frm: str, to: str, level: str = level) -> str:
        text = f"Changed partition orders-0 state from {frm}Partition to {to}Partition"
        return line(second, f"[Controller id=1 epoch=5] {text}", level=level)

    lines = [
        text
        for n in range(5)
        for text in (
            moved(20 * n, "Online", "Offline", "TRACE"),
            moved(20 * n + 10, "Offline", "Online"),
        )
    ]

    whole = missing(checked(write(tmp_path / "a", {"b1/state-change.log": lines})))
    found = missing(checked(write(tmp_path / "b", {"b1/state-change.log": without(lines, 7)})))

    assert whole == []
    assert found == [("state-change.log", number) for number in shown]


def test_a_partition_that_is_made_goes_online_and_a_new_controller_finds_some_made(tmp_path: Path):
    def first(second: int, partition: int) -> list[str]:
        about = f"[Controller id=1 epoch=5] Changed partition orders-{partition} "
        return [
            line(second, f"{about}state from NonExistentPartition to NewPartition with assigned "
                 "replicas 1,2"),
            line(second, f"{about}from NewPartition to OnlinePartition with state LeaderAndIsr("
                 "leader=1, leaderEpoch=0, isr=List(1, 2), zkVersion=0)"),
        ]  # fmt: skip

    lines = [text for n in range(4) for text in first(20 * n, n)]

    whole = missing(checked(write(tmp_path / "a", {"b1/state-change.log": lines})))
    found = missing(checked(write(tmp_path / "b", {"b1/state-change.log": without(lines, 6)})))
    before = missing(checked(write(tmp_path / "c", {"b1/state-change.log": without(lines, 5)})))

    assert (whole, found, before) == ([], [("state-change.log", 5)], [])


# --- requests by their numbers


def channel(folder: Path, there: Callable[[list[str]], list[str]],
            here: Callable[[list[str]], list[str]]) -> list[tuple[str, int]]:  # fmt: skip
    """What is missing of a controller's requests to broker 2, on one side or the other."""
    many = [*REQUESTS, *REQUESTS]
    sends = [sent(10 + 2 * n, *each) for n, each in enumerate(many)]
    comes = [text for n, each in enumerate(many) for text in came(10 + 2 * n, *each, n)]
    return missing(checked(write(folder, {
        "b1/controller.log": [line(0, "[Controller id=1] Registering handlers", CONTROLLER),
                              elected(1, 1, 5)],
        "b2/server.log": starting(2, 2),
        "b1/state-change.log": there(sends), "b2/state-change.log": here(comes),
        "b1/server.log": [*starting(0, 1), line(90, "[KafkaServer id=1] started", SERVER)],
    })))  # fmt: skip


def test_all_requests_came_that_were_sent(tmp_path: Path):
    assert channel(tmp_path, list, list) == []


def test_a_request_of_which_only_the_broker_logs_anything_was_sent(tmp_path: Path):
    place = 1 + next(n for n, each in enumerate(REQUESTS) if each == (METADATA, 4))

    found = channel(tmp_path, lambda lines: without(lines, place), list)

    assert found == [("state-change.log", place)]


def test_a_request_between_two_that_came_came_as_well(tmp_path: Path):
    found = channel(tmp_path, list, lambda lines: without(lines, 4))

    assert found == [("state-change.log", 4)]
    assert REQUESTS[1][0] == LEADERS


# --- processes


def life(second: int, broker: int) -> list[str]:
    """All that a process of a broker logs of itself."""
    head = f"[KafkaServer id={broker}] "
    return [
        line(second, "starting", SERVER),
        line(second + 1, "Cluster ID = q8Xn2YpPQbOe7Xk1mG4d-w", SERVER),
        line(second + 2, "Kafka version: 2.7.0", "org.apache.kafka.common.utils.AppInfoParser"),
        line(
            second + 3,
            f"Registered broker {broker} at path /brokers/ids/{broker} with "
            f"addresses: PLAINTEXT://h:9092, czxid (broker epoch): {second + 31}",
            ZK,
        ),
        line(second + 4, f"{head}started", SERVER),
        line(second + 30, f"{head}shutting down", SERVER),
        line(second + 31, f"{head}shut down completed", SERVER),
    ]


@pytest.mark.parametrize(
    ("dropped", "shown"),
    [((), []), ((8,), [8]), ((9,), [8]), ((10,), [11]), ((12,), [11]), ((13,), [13])],
)
def test_a_process_logs_what_the_others_do(
    tmp_path: Path, dropped: tuple[int, ...], shown: list[int]
):
    lines = [*life(0, 1), *life(60, 1), *life(120, 1)]

    found = missing(checked(write(tmp_path, {"b1/server.log": without(lines, *dropped)})))

    assert found == [("server.log", number) for number in shown]


def test_a_process_that_registers_again_after_its_session_expired_has_started_before(
    tmp_path: Path,
):
    again = life(200, 1)[3].replace("epoch): 231", "epoch): 290")
    lines = [*life(0, 1), *life(60, 1), *without(life(120, 1), 6, 7), again, *life(290, 1)[5:]]

    whole = missing(checked(write(tmp_path / "whole", {"b1/server.log": lines})))
    cut = missing(checked(write(tmp_path / "cut", {"b1/server.log": lines[19:] + life(400, 1)})))

    assert (whole, cut) == ([], [])

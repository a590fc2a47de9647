"""Requests as a whole, at INFO: what a controller sends, and what comes with which number."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.written import (
    CONTROLLER,
    SERVER,
    checked,
    elected,
    incomplete,
    line,
    starting,
    violations,
    write,
)

SENT = "a_request_is_handled_as_it_was_sent"
LEADERS, METADATA, STOP = "LeaderAndIsr", "UpdateMetadata", "StopReplica"
REQUESTS = [(METADATA, 3), (LEADERS, 3), (METADATA, 4), (LEADERS, 1), (METADATA, 0), (STOP, 2),
            (METADATA, 5), (LEADERS, 2), (METADATA, 2)]  # fmt: skip


def sent(second: int, name: str, count: int, brokers: Sequence[int] = (2,)) -> str:
    to = ", ".join(map(str, brokers))
    text = {
        LEADERS: f"{LEADERS} request to broker {to} with 1 become-leader and {count - 1} "
        "become-follower partitions",
        METADATA: f"{METADATA} request to brokers HashSet({to}) for {count} partitions",
        STOP: f"{STOP} request for {count} replicas to broker {to}",
    }[name]
    return line(second, f"[Controller id=1 epoch=5] Sending {text}")


def came(second: int, name: str, count: int, number: int, broker: int = 2) -> list[str]:
    head = f"[Broker id={broker}] "
    if name == METADATA:
        text = f"Add {count} partitions and deleted 0 partitions from metadata cache in response "
        text += f"to {METADATA} request sent by controller 1 epoch 5 with correlation id {number}"
        return [line(second, head + text)] if count else []
    whole = f"{name} request correlationId {number} from controller 1 for {count} partitions"
    lines = [line(second, f"{head}Handling {whole}")]
    if name == LEADERS:
        lines.append(line(second, head + whole.replace("request", "request in 3ms").replace(
            LEADERS, f"Finished {LEADERS}", 1)))  # fmt: skip
    return lines


def logs(folder: Path, there: Sequence[tuple[str, int]], here: Sequence[tuple[str, int]],
         numbers: Sequence[int] | None = None,
         more: Sequence[str] = (), again: bool = False) -> dict[str, Any]:  # fmt: skip
    """The check of what a controller says it sent, and what broker 2 says came.

    `again`: it is sent in the same controller epoch five hours later as well.
    """
    given = numbers or range(len(here))
    theirs = [line(0, "[Controller id=1] Registering handlers", CONTROLLER), elected(1, 1, 5)]
    lines = [each for n, request in enumerate(here)
             for each in came(10 + 2 * n, *request, given[n])]  # fmt: skip
    return checked(write(folder, {
        "b1/controller.log": theirs, "b2/server.log": [*starting(2, 2), *more],
        "b1/state-change.log": [
            sent(hours * 3600 + 10 + 2 * n, *request)
            for hours, requests in ((0, there), (5, REQUESTS if again else ()))
            for n, request in enumerate(requests)
        ],
        "b2/state-change.log": lines,
        "b1/server.log": [*starting(0, 1), line(90, "[KafkaServer id=1] started", SERVER)],
    }))  # fmt: skip


def with_count(place: int, count: int) -> list[tuple[str, int]]:
    return [(name, count if n == place else each) for n, (name, each) in enumerate(REQUESTS)]


def test_requests_that_come_as_they_were_sent_hold_whatever_number_they_begin_with(tmp_path: Path):
    right = logs(tmp_path / "a", REQUESTS, REQUESTS)
    later = logs(tmp_path / "b", REQUESTS, REQUESTS[2:], range(2, len(REQUESTS)))
    again = logs(tmp_path / "c", REQUESTS, REQUESTS, range(40, 40 + len(REQUESTS)))

    assert [each["findings"] for each in (right, later, again)] == [[], [], []]


def test_a_request_of_another_count_than_came_is_found_where_the_other_side_has_it_twice(
    tmp_path: Path,
):
    """Another ZooKeeper counts controller epochs anew, and the same may be sent in it."""
    for again in (False, True):
        found = logs(tmp_path / str(again), with_count(1, 6), REQUESTS, again=again)

        assert violations(found) == [(SENT, "state-change.log", 2)]
        assert found["findings"][0]["file"].endswith("b1/state-change.log")


def test_of_two_lines_that_stand_alone_both_are_named(tmp_path: Path):
    found = logs(tmp_path, REQUESTS, with_count(5, 1))

    files = [(Path(each["file"]).parent.name, each["line"]) for each in found["findings"]]
    assert files == [("b1", 6), ("b2", 7)]
    assert found["verdict"] == "broken"


@pytest.mark.parametrize("number", [8, 6, 30, 2])
def test_a_number_that_is_not_between_those_around_it_is_wrong(tmp_path: Path, number: int):
    found = logs(tmp_path, REQUESTS, REQUESTS, [number if n == 5 else n for n in range(9)])

    assert [each[:2] for each in violations(found)] == [(SENT, "state-change.log")]
    assert found["findings"][0]["line"] == 7


def test_at_the_end_of_a_log_a_request_may_have_been_sent_again(tmp_path: Path):
    found = logs(tmp_path, with_count(8, 9), REQUESTS)

    assert violations(found) == []
    assert {each[0] for each in incomplete(found)} == {SENT}


def test_what_differs_on_one_side_of_a_request_that_was_sent_again_had_other_numbers(
    tmp_path: Path,
):
    """Its answer was lost, so that the broker handled it twice."""
    there = [(METADATA, 2), (METADATA, 2), (LEADERS, 2), *REQUESTS[2:]]
    found = logs(tmp_path, there, [*there[:3], *there[2:]])

    assert violations(found) == []


def test_nothing_is_said_where_the_two_sides_do_not_go_together(tmp_path: Path):
    few = logs(tmp_path / "a", REQUESTS[:3], with_count(1, 9)[:3])
    other = logs(tmp_path / "b", [(name, 9 - count) for name, count in REQUESTS], REQUESTS)

    assert few["findings"] == other["findings"] == []


def test_what_comes_before_a_controller_is_obeyed_in_another_epoch_may_be_of_either(tmp_path: Path):
    lines = [each for n, request in enumerate(REQUESTS) for each in came(10 + 2 * n, *request, n)]
    newer = [each.replace("epoch 5", "epoch 6") for each in came(62, METADATA, 7, 2)]
    files = {
        "b1/controller.log": [elected(1, 1, 5), elected(50, 1, 6)],
        "b1/state-change.log": [sent(10 + 2 * n, *each) for n, each in enumerate(REQUESTS)],
        "b2/state-change.log": [*lines, *came(60, LEADERS, 7, 1), *newer],
    }

    found = checked(write(tmp_path, files))["findings"]

    assert SENT not in {each["rule"] for each in found}


def test_a_broker_with_a_new_session_gets_a_channel_of_which_the_numbers_begin_anew(
    tmp_path: Path,
):
    anew = line(
        11,
        "Registered broker 2 at path /brokers/ids/2 with addresses: PLAINTEXT://h:9092, czxid "
        "(broker epoch): 77",
        "kafka.zk.KafkaZkClient",
    )
    numbers = [3, *range(8)]

    unseen = logs(tmp_path / "a", REQUESTS, REQUESTS, numbers)
    seen = logs(tmp_path / "b", REQUESTS, REQUESTS, numbers, (anew,))

    assert [each[0] for each in violations(unseen) + incomplete(unseen)] == [SENT]
    assert seen["findings"] == []


def test_numbers_that_begin_again_and_go_on_are_of_another_channel(tmp_path: Path):
    """As in a state-change.log alone, where another process begins in a new ZooKeeper."""
    lines = [line(0, "[Controller id=1 epoch=5] Changed partition t-0 state from "
                  "NonExistentPartition to NewPartition with assigned replicas 1")]  # fmt: skip
    for n, request in enumerate(REQUESTS):
        number = n if n < 7 else n - 6
        lines += [sent(10 + 2 * n, *request, [1]), *came(11 + 2 * n, *request, number, 1)]

    result = checked(write(tmp_path, {"state-change.log": lines}))

    assert result["findings"] == []

"""What brokers say of fetches and logs at DEBUG and TRACE, and in the request log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.pipeline.rules_data_plane import appended
from tests.pipeline.written import PARTITION, checked, line, starting, write

RELEASE = "org.apache.kafka.common.utils.AppInfoParser"
FETCHER = "kafka.server.ReplicaFetcherThread"
HEAD = "[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] Follower "
OLD = "[ReplicaFetcherThread-0-4], Follower 5 "


def fetched(
    second: int, end: int, after: int, reported: int, became: int, head: str = HEAD
) -> list[str]:
    """One answer to a follower, from its fetch to its high watermark."""
    texts = [f"has replica log end offset {end} for partition orders-0. Received 70 messages and "
             f"leader hw {reported}"]  # fmt: skip
    if after != end:
        texts.append(f"has replica log end offset {after} after appending 70 bytes of messages for "
                     "partition orders-0")  # fmt: skip
    texts.append(f"set replica high watermark for partition orders-0 to {became}")
    return [line(second, head + text, FETCHER, "TRACE") for text in texts]


def raised(second: int, mark: int) -> str:
    text = f"[Partition orders-0 broker=4] High watermark updated to (offset={mark} segment=[0:9])"
    return line(second, text, PARTITION, "DEBUG")


def completed(
    second: int, api: str, correlation: int, asked: dict[str, int], answered: dict[str, int],
    as_json: bool = True, session_epoch: int = 0,
) -> str:  # fmt: skip
    """A request of broker 5 to broker 4, as 2.8 writes it, or 2.3."""
    client = "broker-5-fetcher-0"
    inside = "responses" if api == "FETCH" else "topics"
    if as_json:
        head = {"requestApiKeyName": api, "correlationId": correlation, "clientId": client}
        request = {"topics": [{"topic": "orders", "partitions": [{"partition": 0} | asked]}]}
        answer = {inside: [{"topic": "orders", "partitions": [{"partition": 0} | answered]}]}
        whole = {"requestHeader": head, "request": request, "response": answer}
        text = json.dumps(whole, separators=(",", ":"))
    else:
        reported, said = _struct(asked), _struct(answered)
        text = (
            f"RequestHeader(apiKey={api}, apiVersion=11, clientId={client}, correlationId="
            f"{correlation}) -- {{replica_id=5,session_epoch={session_epoch},topics=["
            f"{{topic=orders,partitions=[{{partition=0,{reported}}}]}}],rack_id=}},response:{{throttle_time_ms=0,responses=[{{topic=orders,"
            f"partition_responses=[{{partition_header={{partition=0,{said}}},record_set="
            "FileRecords(size=0, file=/data/orders-0/0.log, start=0, end=0)}]}]} from connection "
            "127.0.0.1:9092-127.0.0.1:5001-0;totalTime:3"
        )
    return line(second, f"Completed request:{text}", "kafka.request.logger", "DEBUG")


def _struct(fields: dict[str, int]) -> str:
    names = {"currentLeaderEpoch": "current_leader_epoch", "fetchOffset": "fetch_offset",
             "errorCode": "error_code", "highWatermark": "high_watermark"}  # fmt: skip
    return ",".join(f"{names[name]}={value}" for name, value in fields.items())


def judged(tmp_path: Path, follower: list[str], leader: list[str]) -> dict[str, Any]:
    files = {"b5/server.log": [*starting(0, 5), *follower], "b4/server.log": starting(0, 4)}
    if leader:
        files["b4/kafka-request.log"] = leader
    return checked(write(tmp_path, files))


def found(result: dict[str, Any]) -> list[tuple[str, str, str, int]]:
    return [
        (row["kind"], row["rule"], Path(row["file"]).name, row["line"])
        for row in result["findings"]
    ]


@pytest.mark.parametrize("head", [HEAD, OLD])
def test_a_follower_that_takes_what_it_is_answered_is_right(head: str, tmp_path: Path):
    lines = fetched(1, 5, 7, 5, 5, head) + fetched(2, 7, 7, 9, 7, head)

    result = judged(tmp_path, lines, [])

    assert not found(result)
    assert result["coverage"]["rules"]["follower_takes_the_answered_high_watermark"] == 2
    assert result["coverage"]["rules"]["follower_fetches_from_its_log_end"] == 1
    assert "3 comparisons of the data plane" in result["headline"]


def test_a_high_watermark_above_the_followers_log_is_a_violation(tmp_path: Path):
    result = judged(tmp_path, fetched(1, 5, 7, 9, 9), [])

    rule = "follower_takes_the_answered_high_watermark"
    assert found(result) == [("violation", rule, "server.log", 5)]


def test_a_high_watermark_above_its_leaders_may_be_where_the_log_begins(tmp_path: Path):
    kinds = {row[0] for row in found(judged(tmp_path, fetched(1, 5, 7, 3, 6), []))}

    assert kinds == {"incomplete"}


def test_a_log_that_ends_elsewhere_than_the_fetch_before_left_it_is_a_violation(tmp_path: Path):
    result = judged(tmp_path, fetched(1, 5, 7, 5, 5) + fetched(2, 6, 6, 5, 5), [])

    rule = "follower_fetches_from_its_log_end"
    assert found(result) == [("violation", rule, "server.log", 6)]


def test_a_leaders_high_watermark_that_falls_is_a_violation(tmp_path: Path):
    files = {"b4/server.log": [*starting(0, 4), raised(1, 9), raised(2, 7)]}

    (row,) = checked(write(tmp_path, files))["findings"]

    assert (row["kind"], row["rule"], row["line"]) == (
        "violation", "a_leaders_high_watermark_never_falls", 4
    )  # fmt: skip


@pytest.mark.parametrize("as_json", [True, False])
def test_the_request_log_tells_what_followers_are_answered(as_json: bool, tmp_path: Path):
    asked = {"currentLeaderEpoch": 3, "fetchOffset": 14}
    leader = [
        completed(number, "FETCH", number, asked, {"errorCode": 0, "highWatermark": mark}, as_json)
        for number, mark in enumerate((12, 14, 13), 1)
    ]

    result = judged(tmp_path, [], leader)

    rule = "a_leaders_high_watermark_never_falls"
    assert found(result) == [("violation", rule, "kafka-request.log", 3)]
    assert result["coverage"]["rules"][rule] == 2


def test_a_topic_that_fetches_name_by_its_id_alone_is_compared(tmp_path: Path):
    asked = {"currentLeaderEpoch": 3, "fetchOffset": 14}

    def leader(name: str) -> list[str]:
        return [
            completed(n, "FETCH", n, asked, {"errorCode": 0, "highWatermark": mark}).replace(
                '"topic":"orders"', f'"topicId":"{name}"'
            )
            for n, mark in enumerate((12, 14, 13), 1)
        ]

    by_id = found(judged(tmp_path / "a", [], leader("q8Xn2YpPQbOe7Xk1mG4dqA")))
    without = found(judged(tmp_path / "b", [], leader("AAAAAAAAAAAAAAAAAAAAAA")))

    rule = "a_leaders_high_watermark_never_falls"
    assert by_id == [("violation", rule, "kafka-request.log", 3)]
    assert without == []


def test_a_fetch_within_a_session_says_nothing_of_its_leaders_epoch_up_to_2_4(tmp_path: Path):
    asked = {"currentLeaderEpoch": 3, "fetchOffset": 14}
    leader = [
        completed(
            number, "FETCH", number, asked, {"errorCode": 0, "highWatermark": mark},
            as_json=False, session_epoch=number,
        )
        for number, mark in enumerate((12, 14, 13), 1)
    ]  # fmt: skip

    reported = {
        release: found(
            judged(tmp_path / release, [line(1, f"Kafka version: {release}", RELEASE)], leader)
        )
        for release in ("2.4.1", "2.5.0")
    }

    rule = "a_leaders_high_watermark_never_falls"
    assert reported == {"2.4.1": [], "2.5.0": [("violation", rule, "kafka-request.log", 3)]}


def served(*rows: tuple[int, int, int] | tuple[int, int, int, int]) -> list[str]:
    """Fetches of one connection: leader epoch, offset, high watermark; and ends of epochs: leader
    epoch, the epoch that is asked, its end, -1.
    """
    lines = []
    for number, row in enumerate(rows, 4):
        epoch, one, other = row[:3]
        if len(row) == 3:
            asked = {"currentLeaderEpoch": epoch, "fetchOffset": one}
            answer = {"errorCode": 0, "highWatermark": other, "recordsSizeInBytes": 70}
            lines.append(completed(number, "FETCH", number, asked, answer))
        else:
            asked = {"currentLeaderEpoch": epoch, "leaderEpoch": one}
            answer = {"errorCode": 0, "leaderEpoch": one, "endOffset": other}
            lines.append(completed(number, "OFFSET_FOR_LEADER_EPOCH", number, asked, answer))
    return lines


STARTS = line(
    3, "[Broker id=4] Leader orders-0 starts at leader epoch 3 from offset 9 with high watermark 8 "
    "ISR [4,5] addingReplicas [] removingReplicas []. Previous leader epoch was 2."
)  # fmt: skip
ENDS = line(
    20, "[Broker id=4] Follower orders-0 starts at leader epoch 4 from offset 14 with high "
    "watermark 13. Previous leader epoch was 3."
)  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "wrong", "rule"),
    [
        (((2, 1, 1), (3, 1, 1), (2, 1, 1), (3, 1, 1)), 3, "leader_refuses_other_epochs"),
        (((2, 1, 1), (4, 1, 1), (2, 1, 1), (2, 2, 1)), 2, "leader_refuses_other_epochs"),
        (((3, 9, 8), (3, 10, 12), (3, 11, 10), (3, 12, 11)), 2,
         "a_leaders_high_watermark_never_falls"),
        (((3, 9, 8), (3, 14, 14)), 2, "a_leaders_high_watermark_never_falls"),
        (((3, 9, 8), (3, 10, 99)), 2, "nothing_is_fetched_above_the_leaders_log_end"),
        (((3, 9, 8), (3, 13, 10), (3, 11, 10), (3, 12, 10)), 2,
         "follower_fetches_from_its_log_end"),
        (((3, 9, 8), (3, 99, 10), (3, 11, 10)), 2, "nothing_is_fetched_above_the_leaders_log_end"),
        (((3, 9, 8), (3, 15, 10)), 2, "nothing_is_fetched_above_the_leaders_log_end"),
        (((3, 9, 8), (3, 10, 9), (3, 3, 9, -1)), 3, "nothing_is_fetched_above_the_leaders_log_end"),
        (((3, 2, 10, -1), (3, 9, 8)), 1, "leader_answers_where_epochs_ended"),
        (((3, 2, 9, -1), (3, 2, 8, -1)), 2, "leader_answers_where_epochs_ended"),
        (((3, 2, 8, -1), (3, 9, 8)), 2, "follower_truncates_to_the_answered_offset"),
    ],
)  # fmt: skip
def test_a_leaders_requests_are_a_run_in_the_order_of_their_connections(
    rows: Any, wrong: int, rule: str, tmp_path: Path
):
    files = {
        "b4/server.log": [*starting(0, 4), STARTS, ENDS],
        "b4/kafka-request.log": served(*rows),
    }

    result = checked(write(tmp_path, files))

    assert found(result) == [("violation", rule, "kafka-request.log", wrong)]


def test_requests_that_no_connection_puts_in_an_order_are_in_any(tmp_path: Path):
    one, other = served((3, 12, 12)), served((3, 9, 8))[0].replace("broker-5", "broker-6")
    files = {"b4/server.log": [*starting(0, 4), STARTS], "b4/kafka-request.log": [*one, other]}

    assert not found(checked(write(tmp_path, files)))


def test_a_fetch_goes_on_where_nothing_was_answered(tmp_path: Path):
    lines = [each.replace('"recordsSizeInBytes":70', '"recordsSizeInBytes":0')
             for each in served((3, 9, 8), (3, 10, 8))]  # fmt: skip

    rows = found(judged(tmp_path, [], lines))

    assert rows == [("violation", "follower_fetches_from_its_log_end", "kafka-request.log", 2)]


def test_a_request_that_is_missing_may_have_changed_everything(tmp_path: Path):
    lines = served((3, 9, 8), (3, 10, 8), (3, 2, 3, -1), (3, 3, 8))

    assert not found(judged(tmp_path, [], [lines[0], lines[1], lines[3]]))


def test_a_cut_beyond_what_the_leader_answered_is_a_violation(tmp_path: Path):
    assert _cut_kinds(tmp_path / "whole", early=True) == ["violation"]
    assert _cut_kinds(tmp_path / "late", early=False) == ["incomplete"]


def _cut_kinds(folder: Path, early: bool) -> list[str]:
    """What a cut is called, where the request log begins long before it, or just then."""
    folder.mkdir()
    became = "[Broker id=5] Follower orders-0 starts at leader epoch 3 from offset 9 with high "
    cut = "[Log partition=orders-0, dir=/data] Truncating to offset "
    follower = [
        line(2001, became + "watermark 3. Previous leader epoch was 2."),
        line(2002, f"{cut}6", "kafka.log.Log"),
    ]
    asked, answered = {"currentLeaderEpoch": 3, "leaderEpoch": 2}, {"leaderEpoch": 2}
    answered |= {"errorCode": 0, "endOffset": 5}
    leader = [completed(2002, "OFFSET_FOR_LEADER_EPOCH", 9, asked, answered)]
    if early:
        fetched_then = {"currentLeaderEpoch": 2, "fetchOffset": 4}
        reported = {"errorCode": 0, "highWatermark": 3}
        leader.insert(0, completed(1, "FETCH", 1, fetched_then, reported))
    rows = found(judged(folder, follower, leader))
    return [row[0] for row in rows if row[1] == "follower_truncates_to_the_answered_offset"]


def test_a_request_line_of_another_form_is_no_finding(tmp_path: Path):
    strange = [
        line(1, f"Completed request:{text}", "kafka.request.logger", "DEBUG")
        for text in ("{", "{}", '{"requestHeader":{}}', "RequestHeader(apiKey=FETCH", "[1,2]",
                     '{"requestHeader":{"requestApiKeyName":"FETCH","correlationId":1},'
                     '"request":{"topics":[{"topic":"t","partitions":[{}]}]}}')
    ]  # fmt: skip

    result = judged(tmp_path, fetched(1, 5, 7, 5, 5), strange)

    assert not found(result)
    assert result["lines"]["rejected"] == 0


@pytest.mark.parametrize(
    ("end", "after", "reported", "mark"),
    [
        (5, 7, 5, 5),
        (5, 7, 6, 6),
        (5, 7, 9, 7),
        (0, 0, 0, 0),
        (7, 7, 9, 7),
        (10**9, 10**9 + 4, 1, 1),
    ],
)
def test_the_model_says_what_a_followers_high_watermark_becomes(
    end: int, after: int, reported: int, mark: int
):
    assert appended(end, after, reported) == mark

"""Requests on their way, what a line says twice, and whose log it stands in: faults at their line.

Most start from the logs that hold, and change one value in one line of them.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.test_real_logs import judged
from tests.pipeline.written import (
    CONTROLLER,
    PARTITION,
    SERVER,
    ZK,
    checked,
    elected,
    incomplete,
    leads,
    line,
    starting,
    violations,
    write,
)
from tests.pipeline.written import changed as state_changed

HOLDS = "replica_has_the_epoch_of_its_last_request"
SHIPPED = Path(__file__).parents[1] / "data" / "logs" / "correct"


def changed(into: Path, file: str, pattern: str, text: str, which: int = 0) -> tuple[Any, int]:
    """The check of the shipped logs with one line changed, and that line's number."""
    shutil.copytree(SHIPPED, into / "logs")
    path = into / "logs" / file
    path.parent.chmod(0o755)
    path.chmod(0o644)
    lines = path.read_text().split("\n")
    number = [n for n, each in enumerate(lines) if re.search(pattern, each)][which]
    lines[number] = re.sub(pattern, text, lines[number], count=1)
    path.write_text("\n".join(lines))
    return checked(into / "logs"), number + 1


def at(result: Any) -> set[tuple[str, str, int]]:
    return set(violations(result))


STATES, SERVERS = "state-change.log", "server.log"
TWICE = "a_line_agrees_with_itself"
SENT = "a_request_is_handled_as_it_was_sent"
ZNODE = "controller_epoch_and_its_version_rise_together"
ANNOUNCED = "written_isr_is_the_logged_one"
HELD = "replica_has_the_epoch_of_its_last_request"


@pytest.mark.parametrize(
    "file, pattern, text, which, rule",
    [
        # what a line says twice
        (
            "broker1/server.log",
            r"(Registered broker 1 at path /brokers/ids/)1",
            r"\g<1>2",
            0,
            TWICE,
        ),
        ("broker2/controller.log", r"\] 2 successfully", "] 3 successfully", 0, TWICE),
        (
            "broker1/server.log",
            r"Shrinking ISR from 1,2,3 to 1,2\b",
            "Shrinking ISR from 1,2 to 1,2",
            0,
            TWICE,
        ),
        (
            "broker2/server.log",
            r"Expanding ISR from 2 to 2,1",
            "Expanding ISR from 2 to 3,1",
            0,
            TWICE,
        ),
        (
            "broker2/state-change.log",
            r"become-follower (LeaderAndIsr request Part)",
            r"become-leader \1",
            0,
            TWICE,
        ),
        (
            "broker2/state-change.log",
            r"from OfflinePartition to Online",
            "from NonExistentPartition to Online",
            0,
            TWICE,
        ),
        (
            "broker1/state-change.log",
            r"(from OfflinePartition to) Online",
            r"\1 Offline",
            0,
            TWICE,
        ),
        ("broker2/server.log", r"(\[Partition \S+)-0 (.*starts at)", r"\1-1 \2", 0, TWICE),
        # from the controller to the replica
        ("broker2/state-change.log", r"(Received .* replicas=)1,2,3", r"\g<1>1,2,7", 3, SENT),
        (
            "broker1/state-change.log",
            r"(starting the become-)(leader|follower)",
            r"\1none",
            0,
            SENT,
        ),
        ("broker2/state-change.log", r"(Completed .* with leader )\d", r"\g<1>7", 0, SENT),
        ("broker1/state-change.log", r"\[Broker id=1\] (Completed)", r"[Broker id=7] \1", 0, SENT),
        (
            "broker1/state-change.log",
            r"(Handling LeaderAndIsr request correlationId )\d+",
            r"\g<1>99",
            0,
            SENT,
        ),
        (
            "broker1/state-change.log",
            r"(associated leader epoch )\d+ matches",
            r"\g<1>3 matches",
            0,
            SENT,
        ),
        # what a replica holds
        ("broker2/server.log", r"(starts at Leader Epoch )\d+", r"\g<1>0", 0, HELD),
        # the epoch's znode
        ("broker1/controller.log", r"(epoch zk version is now )\d+", r"\g<1>9", 0, ZNODE),
        # an ISR and its write
        ("broker2/server.log", r"(Expanding ISR from 2 to )2,1", r"\g<1>2,3", 0, ANNOUNCED),
    ],
)
def test_one_value_changed_in_one_line_is_found_at_that_line(
    tmp_path: Path, file: str, pattern: str, text: str, which: int, rule: str
):
    result, number = changed(tmp_path, file, pattern, text, which)

    assert (rule, Path(file).name, number) in at(result)
    assert {(name, where) for _, name, where in at(result)} == {(Path(file).name, number)}
    assert result["verdict"] == "broken"


# --- whose log it is


def test_a_line_of_another_broker_is_found_where_that_ones_own_log_lacks_it(tmp_path: Path):
    result, number = changed(
        tmp_path, "broker1/state-change.log", r"\[Broker id=1\] (Ignoring)", r"[Broker id=2] \1"
    )

    assert ("a_process_writes_its_own_log", STATES, number) in at(result)
    assert result["verdict"] == "broken"


def test_a_line_of_a_broker_whose_log_is_not_here_is_doubted_only(tmp_path: Path):
    result, number = changed(
        tmp_path, "broker1/state-change.log", r"\[Broker id=1\] (Ignoring)", r"[Broker id=8] \1"
    )

    assert ("a_process_writes_its_own_log", STATES, number) in incomplete(result)
    assert at(result) == set()


def test_a_log_of_few_lines_is_that_of_the_broker_that_writes_the_rest_of_its_folder(
    tmp_path: Path,
):
    def lines(broker: int, *named: int) -> dict[str, list[str]]:
        return {
            f"b{broker}/server.log": [line(n, f"[KafkaServer id={broker}] started", SERVER)
                                      for n in range(40)],
            f"b{broker}/controller.log": [line(5 * n, f"[Controller id={each}] Resigned",
                                               CONTROLLER) for n, each in enumerate(named)],
        }  # fmt: skip

    found = checked(write(tmp_path, {**lines(1, 1, 1, 2, 1, 1), **lines(2, 2, 2, 2, 2, 2)}))

    assert ("a_process_writes_its_own_log", "controller.log", 3) in at(found)


def test_a_follower_fetches_from_no_leader_that_is_itself(tmp_path: Path):
    fetcher = "kafka.server.ReplicaFetcherThread"
    head = "[ReplicaFetcher replicaId=3, leaderId={}, fetcherId=0] "
    text = "Truncating partition orders-0 to local high watermark 0"
    lines = [line(n, head.format(leader) + text, fetcher) for n, leader in enumerate((1, 3))]

    found = checked(write(tmp_path, {"server.log": [*starting(0, 3), *lines]}))

    assert at(found) == {(TWICE, "server.log", 4)}


def test_a_log_that_three_brokers_write_is_nobodys():
    rules = {row["rule"] for row in judged("kafka-2.5.0-a")["findings"]}

    assert "a_process_writes_its_own_log" not in rules


# --- members that no line tells the replicas of


def test_an_unknown_broker_that_enters_an_isr_is_doubted_where_no_line_tells_replicas(
    tmp_path: Path,
):
    files = {
        "b1/controller.log": [
            elected(0, 1, 4),
            line(1, "[Controller id=1] Newly added brokers: 2, deleted brokers: , bounced "
                 "brokers: , all live brokers: 1,2", CONTROLLER),
        ],
        "b1/server.log": [
            line(9, "[Partition orders-0 broker=1] ISR updated to [1] and zkVersion updated to "
                 "[5]", PARTITION),
            line(20, "[Partition orders-0 broker=1] ISR updated to [1,7] and zkVersion updated to "
                 "[6]", PARTITION),
        ],
    }  # fmt: skip

    found = incomplete(checked(write(tmp_path / "a", files)))
    files["b1/server.log"] = [each.replace("1,7", "1,2") for each in files["b1/server.log"]]

    assert found == [("isr_members_are_replicas", SERVERS, 2)]
    assert incomplete(checked(write(tmp_path / "b", files))) == []


# --- between controllers


def cached(second: int, epoch: int, leader_epoch: int) -> str:
    return line(second, "[Broker id=2] Cached leader info UpdateMetadataPartitionState(topicName="
                f"'orders', partitionIndex=0, controllerEpoch={epoch}, leader=1, leaderEpoch="
                f"{leader_epoch}, isr=[1], zkVersion={leader_epoch + 9}, replicas=[1, 2], "
                "offlineReplicas=[]) for partition orders-0 in response to UpdateMetadata request "
                f"sent by controller 3 epoch {epoch} with correlation id 4")  # fmt: skip


@pytest.mark.parametrize("reported, rules", [(6, set()), (5, set()), (4, {"no_older"})])
def test_the_first_metadata_of_an_older_leader_epoch_than_was_written_before_is_found(
    tmp_path: Path, reported: int, rules: set[str]
):
    release = line(0, "Kafka version: 2.7.0", "org.apache.kafka.common.utils.AppInfoParser")
    files = {
        "b1/server.log": [release, *starting(1, 1), line(90, "[KafkaServer id=1] x", SERVER)],
        "b1/state-change.log": [state_changed(2, (1, 4), 1, 5, "1")],
        "b2/server.log": [release, *starting(1, 2), line(90, "[KafkaServer id=2] x", SERVER)],
        "b2/state-change.log": [cached(8, 5, reported)],
    }

    result = checked(write(tmp_path, files))

    assert {rule[:8] for rule, _, _ in at(result)} == rules


def test_a_request_of_many_partitions_is_handled_and_finished_as_one(tmp_path: Path):
    def lines(controller: int, at: int) -> list[str]:
        handled = f"Handling LeaderAndIsr request correlationId {at} from controller {controller}"
        finished = f"Finished LeaderAndIsr request in 5ms correlationId {at} from controller 1"
        return [line(at, f"[Broker id=2] {handled} for 3 partitions"),
                line(at, f"[Broker id=2] {finished} for 3 partitions")]  # fmt: skip

    right = [*lines(1, 1), *lines(1, 2), *lines(1, 3)]
    wrong = [*lines(1, 1), *lines(7, 2), *lines(1, 3)]
    both = [
        checked(write(tmp_path / name, {"b2/state-change.log": [elected(0, 1, 4), *some]}))
        for name, some in (("a", right), ("b", wrong))
    ]

    assert [violations(each) for each in both] == [
        [],
        [("a_request_is_handled_as_it_was_sent", "state-change.log", 4)],
    ]


@pytest.mark.parametrize("later, verdict", [(2000, "broken"), (60, "unknown")])
def test_a_start_above_what_is_written_later_is_found_where_clocks_cannot_explain_it(
    tmp_path: Path, later: int, verdict: str
):
    states = [state_changed(n, (1, 4), 2, epoch, "2,1") for n, epoch in ((1, 1), (later, 2))]
    files = {
        "b1/controller.log": [elected(0, 1, 4)],
        "b1/state-change.log": states,
        "b2/state-change.log": [leads(20, 2, 7, 0)],
    } | {
        f"b{n}/server.log": [*starting(0, n), line(3000, f"[KafkaServer id={n}] hello", SERVER)]
        for n in (1, 2)
    }

    result = checked(write(tmp_path, files))

    assert result["verdict"] == verdict
    assert [(row["rule"], row["line"]) for row in result["findings"]] == [
        ("replica_has_the_epoch_of_its_last_request", 1)
    ]


@pytest.mark.parametrize("epoch, broken", [(2, False), (3, False), (5, True)])
def test_a_controller_starts_in_its_own_log_in_no_epoch_above_what_it_writes_later(
    tmp_path: Path, epoch: int, broken: bool
):
    lines = [
        state_changed(1, (1, 4), 1, 2, "1,2"),
        leads(3, 1, epoch, 0),
        state_changed(5, (1, 4), 1, 3, "1,2"),
        state_changed(7, (1, 4), 1, 4, "1,2"),
    ]

    found = violations(checked(write(tmp_path, {"b1/state-change.log": lines})))

    assert {where[1:] for where in found} == ({(STATES, 2)} if broken else set())


# --- one thread writes both


@pytest.mark.parametrize("head, sent, broken", [(4, 4, False), (5, 4, True), (4, 3, True)])
def test_a_failed_change_tells_its_controllers_epoch_twice(
    tmp_path: Path, head: int, sent: int, broken: bool
):
    text = (
        f"[Controller id=1 epoch={head}] Controller 1 epoch {sent} failed to change state for "
        "partition orders-0 from OfflinePartition to OnlinePartition"
    )

    result = checked(write(tmp_path, {"b1/state-change.log": [line(1, text, level="ERROR")]}))

    assert violations(result) == ([(TWICE, STATES, 1)] if broken else [])


def obeyed(second: int, controller: int = 1, epoch: int = 4) -> str:
    return line(second, "[Broker id=2] Add 1 partitions and deleted 0 partitions from metadata "
                f"cache in response to UpdateMetadata request sent by controller {controller} "
                f"epoch {epoch} with correlation id {second}")  # fmt: skip


@pytest.mark.parametrize("what", ["StopReplica", "LeaderAndIsr"])
@pytest.mark.parametrize("controller, refused, broken", [(1, 0, 0), (3, 0, 1), (3, 1, 0)])
def test_what_is_handled_between_lines_that_obey_one_controller_is_its_own(
    tmp_path: Path, what: str, controller: int, refused: int, broken: int
):
    server = [*starting(0, 2), line(90, "[KafkaServer id=2] x", SERVER)]
    refusal = line(5, f"[Broker id=2] Ignoring {what} request from controller {controller} with "
                   "correlation id 9 since its controller epoch 3 is old. Latest known controller "
                   "epoch is 4")  # fmt: skip
    lines = [
        obeyed(2),
        line(4, f"[Broker id=2] Handling {what} request correlationId 9 from controller "
             f"{controller} for 3 partitions"),
        *([refusal] if refused else []),
        obeyed(7),
    ]  # fmt: skip

    result = checked(write(tmp_path, {"b2/server.log": server, "b2/state-change.log": lines}))

    assert violations(result) == [("one_owner_per_controller_epoch", STATES, 2)] * broken


@pytest.mark.parametrize("number, broken", [(6, False), (5, True)])
def test_what_is_refused_of_a_request_while_it_is_handled_is_of_that_one(
    tmp_path: Path, number: int, broken: bool
):
    lines = [
        line(4, "[Broker id=2] Handling LeaderAndIsr request correlationId 6 from controller 1 for "
             "3 partitions"),
        line(5, "[Broker id=2] Ignoring LeaderAndIsr request from controller 1 with correlation id "
             f"{number} epoch 4 for partition orders-0 since its associated leader epoch 1 matches "
             "the current leader epoch"),
        line(6, "[Broker id=2] Finished LeaderAndIsr request in 2000ms correlationId 6 from "
             "controller 1 for 3 partitions"),
    ]  # fmt: skip

    result = checked(write(tmp_path, {"b2/state-change.log": lines}))

    assert violations(result) == ([(SENT, STATES, 2)] if broken else [])


@pytest.mark.parametrize("number, partitions, at", [(6, 3, ()), (5, 3, (2,)), (6, 4, (1, 3))])
def test_fetchers_are_stopped_for_the_request_that_is_handled_which_counts_its_partitions_alike(
    tmp_path: Path, number: int, partitions: int, at: tuple[int, ...]
):
    lines = [
        line(4, "[Broker id=2] Handling LeaderAndIsr request correlationId 6 from controller 1 for "
             f"{partitions} partitions"),
        line(5, "[Broker id=2] Stopped fetchers as part of become-follower request from controller "
             f"1 epoch 4 with correlation id {number} for 2 partitions"),
        line(6, "[Broker id=2] Finished LeaderAndIsr request in 2000ms correlationId 6 from "
             "controller 1 for 3 partitions"),
    ]  # fmt: skip

    result = checked(write(tmp_path, {"b2/state-change.log": lines}))

    assert violations(result) == [(SENT, STATES, each) for each in at]


@pytest.mark.parametrize("leader, broken", [(2, False), (1, True), (7, True)])
def test_a_preferred_election_tells_the_leader_that_was_written(
    tmp_path: Path, leader: int, broken: bool
):
    done = (
        "[Controller id=1] Partition orders-0 completed preferred replica leader election. New "
        f"leader is {leader}"
    )
    files = {
        "b1/controller.log": [elected(0, 1, 4), line(2, done, CONTROLLER)],
        "b1/state-change.log": [state_changed(2, (1, 4), 2, 5, "1,2"), obeyed(9)],
    }

    result = checked(write(tmp_path, files))

    rule = "one_leader_per_leader_epoch"
    assert violations(result) == ([(rule, "controller.log", 2)] if broken else [])


NEWS = [
    "New topics: [Set(orders)], deleted topics: [Set()], new partition replica assignment "
    "[Map(orders-0 -> Vector(1, 2))]",
    "New partition creation callback for orders-0",
    "Newly added brokers: 2, deleted brokers: , bounced brokers: , all live brokers: 1,2",
    "New broker startup callback for 2",
]


@pytest.mark.parametrize("wrong", [None, 0, 1, 2, 3])
def test_what_is_new_and_what_is_done_of_it_are_of_one_controller(
    tmp_path: Path, wrong: int | None
):
    heads = [3 if number == wrong else 1 for number in range(4)]
    lines = [
        line(3 + 5 * (number // 2), f"[Controller id={head}] {text}", CONTROLLER)
        for number, (head, text) in enumerate(zip(heads, NEWS, strict=True))
    ]

    result = checked(write(tmp_path, {"b1/controller.log": [elected(1, 1, 4), *lines]}))

    rule = "a_process_writes_its_own_log"
    assert violations(result) == ([] if wrong is None else [(rule, "controller.log", wrong + 2)])


@pytest.mark.parametrize("found, acted", [
    (NEWS[0], "New partition creation callback for orders-{}"),
    ("New topics: [Set(orders)], deleted topics: [Set()], new partition replica assignment "
     "[Map([orders,0] -> List(1, 2))]", "New partition creation callback for [orders,{}]"),
    ("Newly added brokers: 2, deleted brokers: 0, bounced brokers: 3, all live brokers: 1,2,3",
     "Broker failure callback for {}"),
    ("Newly added brokers: 0, deleted brokers: , all live brokers: 0,1",
     "New broker startup callback for {}"),
])  # fmt: skip
def test_a_callback_is_for_what_the_controller_has_just_found(
    tmp_path: Path, found: str, acted: str
):
    def wrong(named: int, *before: str) -> list[tuple[str, str, int]]:
        lines = [line(3, f"[Controller id=1] {text}", CONTROLLER)
                 for text in (*before, acted.format(named), found)]  # fmt: skip
        log = {"b1/controller.log": [elected(1, 1, 4), *lines]}
        return violations(checked(write(tmp_path / f"{named}{len(before)}", log)))

    others = found.replace("0", "5").replace("orders", "logs")

    assert wrong(0, found) == wrong(0, others) == []  # of one moment, in any order
    assert wrong(7, found) == [("steps_are_logged_in_their_order", "controller.log", 3)]


@pytest.mark.parametrize("beside, wrong", [(False, True), (True, False)])
def test_a_process_starts_as_the_broker_that_it_registered_as(
    tmp_path: Path, beside: bool, wrong: bool
):
    """In a log that two brokers share another one may have started beside it."""

    def registered(second: int, broker: int) -> str:
        return line(second, f"Registered broker {broker} at path /brokers/ids/{broker} with "
                    "addresses: PLAINTEXT://h:9092, czxid (broker epoch): 2", ZK)  # fmt: skip

    begins, one = starting(2, 1)
    begins_too, other = starting(3, 7)
    lines = [begins, *([begins_too] if beside else []), registered(3, 1), other]
    whole = [*starting(0, 1)[:1], registered(0, 1), one]

    result = checked(write(tmp_path, {"server.log": [*whole, *lines]}))

    rule = ("a_process_writes_its_own_log", "server.log", len(whole) + 3)
    assert violations(result) == ([rule] if wrong else [])


def test_a_controllers_channel_names_the_controller_twice(tmp_path: Path):
    lines = [line(3, f"[RequestSendThread controllerId=1] Controller {each} connected to h:9092 "
                  "(id: 2 rack: null) for sending state change requests",
                  "kafka.controller.RequestSendThread") for each in (1, 7)]  # fmt: skip

    result = checked(write(tmp_path, {"b1/controller.log": [elected(1, 1, 4), *lines]}))

    assert violations(result) == [(TWICE, "controller.log", 3)]


def test_two_controllers_that_share_a_log_may_both_tell_of_a_change(tmp_path: Path):
    lines = [line(3, f"[Controller id={each}] {text}", CONTROLLER)
             for text in NEWS[:2] for each in (3, 1)]  # fmt: skip

    result = checked(write(tmp_path, {"controller.log": [elected(1, 1, 4), *lines]}))

    assert violations(result) == []


def test_a_start_of_another_broker_is_blamed_at_the_line_that_names_it(tmp_path: Path):
    own = [line(n, "[KafkaServer id=1] x", SERVER) for n in range(20, 60)]
    other = [*starting(0, 2), *(line(n, "[KafkaServer id=2] x", SERVER) for n in range(20, 60))]
    release = line(1, "Kafka version: 2.7.0", "org.apache.kafka.common.utils.AppInfoParser")
    started = [line(1, "starting", SERVER), release, line(3, "[KafkaServer id=2] started", SERVER)]
    files = {"b1/server.log": [*own[:20], *started, *own[20:]], "b2/server.log": other}

    result = checked(write(tmp_path, files))

    assert violations(result) == [("a_process_writes_its_own_log", "server.log", 23)]


# --- brokers and folders that a line names twice

_KEPT = "0123456789abcdef0123456789abcdef"
_NEWS = "Newly added brokers: {}, deleted brokers: {}, bounced brokers: , all live brokers: {}"
LISTS = [
    (_NEWS.format("3", "", "1,2,3"), None),
    (_NEWS.format("3", "", "3,2,3"), "a broker stands twice among the live ones"),
    (_NEWS.format("4", "", "1,2,3"), "of the new brokers {4}, not all are among the live {1,2,3}"),
    (_NEWS.format("", "2", "1,2"), "of the deleted brokers {2}, some are among the live {1,2}"),
    ("Updated broker epochs cache: HashMap(1 -> 30, 2 -> 41)", None),
    ("Updated broker epochs cache: HashMap(1 -> 30, 1 -> 41)", "a broker stands twice among"),
]


@pytest.mark.parametrize("text, wrong", LISTS)
def test_brokers_that_a_controller_lists_twice_or_against_itself_are_found(
    tmp_path: Path, text: str, wrong: str | None
):
    lines = [elected(1, 1, 4), line(3, f"[Controller id=1] {text}", CONTROLLER)]

    result = checked(write(tmp_path, {"controller.log": lines}))

    found = [
        (each["rule"], each["line"], wrong in each["why"]) for each in result["findings"] if wrong
    ]
    assert found == ([(TWICE, 2, True)] if wrong else [])
    assert violations(result) == ([(TWICE, "controller.log", 2)] if wrong else [])


@pytest.mark.parametrize(
    "folder, wrong",
    [
        ("/data/orders-0", False),
        ("/data/orders-1", True),
        ("/data/sales-0", True),
        ("C:\\data\\ord-0", False),  # of a long name the folder has the beginning
    ],
)
def test_a_log_is_renamed_to_a_folder_of_its_own_partition(
    tmp_path: Path, folder: str, wrong: bool
):
    name = f"{folder}.{_KEPT}-delete"
    text = f"Log for partition orders-0 is renamed to {name} and is scheduled for deletion"
    lines = [line(1, "[KafkaServer id=1] started", SERVER), line(2, text, "kafka.log.LogManager")]

    result = checked(write(tmp_path, {"server.log": lines}))

    assert violations(result) == ([(TWICE, "server.log", 2)] if wrong else [])


@pytest.mark.parametrize("other, found", [(1, 0), (2, 1), (3, 0)])
def test_a_note_that_names_another_writer_is_found_like_any_line(
    tmp_path: Path, other: int, found: int
):
    """`other`: who writes line 31; 3 has more lines in that log, so that it is shared."""
    note = "[GroupCoordinator {}]: Starting up."
    logger = "kafka.coordinator.group.GroupCoordinator"
    own = [line(n, note.format(1), logger) for n in range(60)]
    own[30] = line(30, note.format(other), logger)
    if other == 3:
        own[40:44] = [line(n, note.format(3), logger) for n in range(40, 44)]

    result = checked(write(tmp_path, {"b1/server.log": own}))

    rule = "a_process_writes_its_own_log"
    assert incomplete(result) == [(rule, "server.log", 31)] * found
    assert violations(result) == []


def test_brokers_that_write_one_folder_of_logs_share_each_of_them(tmp_path: Path):
    logger = "kafka.coordinator.group.GroupCoordinator"
    started = [line(n, f"[GroupCoordinator {1 + n % 2}]: Starting up.", logger) for n in range(40)]
    controls = [line(n, "[Controller id=1] x", CONTROLLER) for n in range(40)]
    controls[30] = line(30, "[Controller id=2] x", CONTROLLER)

    result = checked(write(tmp_path, {"server.log": started, "controller.log": controls}))

    assert "a_process_writes_its_own_log" not in {each["rule"] for each in result["findings"]}


def begins(second: int, epoch: int, isr: str, before: int = 1) -> str:
    return leads(second, 1, epoch, before).replace("ISR [1]", f"ISR [{isr}]")


OLD = begins(8, 5, "1,2,3")  # of a request that was sent before


@pytest.mark.parametrize(
    "starts, number",
    [
        ([begins(9, 6, "1,2")], None),
        ([OLD, begins(9, 6, "1,2", 5)], None),
        ([begins(9, 6, "1")], 2),
        ([begins(9, 4, "1,2")], 2),
    ],
    ids=["as written", "and before", "another ISR", "another leader epoch"],
)
def test_a_leader_starts_with_the_leader_epoch_and_the_isr_that_were_written(
    tmp_path: Path, starts: list[str], number: int | None
):
    states = [state_changed(6, (1, 4), 1, 6, "1,2", frm="OfflinePartition")]
    server = [*starting(0, 1), line(60, "[KafkaServer id=1] hello", SERVER)]
    later = line(60, "[Controller id=1 epoch=4] Sending UpdateMetadata request to brokers Set(1) "
                 "for 0 partitions")  # fmt: skip

    result = checked(write(tmp_path, {
        "b1/state-change.log": [*states, *starts, later], "b1/server.log": server
    }))  # fmt: skip

    found = {(row["rule"], row["line"]) for row in result["findings"]}
    assert found == (set() if number is None else {(HOLDS, number)})


@pytest.mark.parametrize("held, wrong", [(3, True), (4, False), (6, False), (7, True)])
@pytest.mark.parametrize("in_step", [True, False])
def test_a_refusal_names_an_epoch_between_two_starts_of_the_replica(
    tmp_path: Path, held: int, wrong: bool, in_step: bool
):
    """Up to 2.7 the starts of leaders stand in server.log; what it holds never falls in between.

    That one of the two logs was not shifted in time, what causes what in both has to tell.
    """
    made = line(8, "Created log for partition orders-1 in /d with properties {}",
                "kafka.log.LogManager")  # fmt: skip
    led = line(8, "[Broker id=5] Completed LeaderAndIsr request correlationId 2 from controller 4 "
               "epoch 7 for the become-leader transition for partition orders-1")  # fmt: skip
    refusal = line(20, "[Broker id=5] Ignoring LeaderAndIsr request from controller 4 with "
                   "correlation id 3 epoch 7 for partition orders-0 since its associated leader "
                   f"epoch {held} matches the current leader epoch")  # fmt: skip
    starts = [line(second, f"[Partition orders-0 broker=5] orders-0 starts at Leader Epoch {epoch} "
                   f"from offset 0. Previous Leader Epoch was: {before}", PARTITION)
              for second, epoch, before in ((10, 4, 2), (30, 8, 6))]  # fmt: skip
    files = {"server.log": [*starting(0, 5), made, *starts],
             "state-change.log": [led, refusal] if in_step else [refusal]}  # fmt: skip

    found = checked(write(tmp_path, files))

    expected = [(HOLDS, "state-change.log", 2 if in_step else 1)] if wrong else []
    assert violations(found) == (expected if in_step else [])
    assert incomplete(found) == ([] if in_step else expected)


@pytest.mark.parametrize("raised, wrong", [(5, False), (8, True), (4, True)])
@pytest.mark.parametrize("more", ["", ", zkVersion=6"])
def test_a_leader_starts_in_the_epoch_that_is_raised_for_a_move(
    tmp_path: Path, raised: int, wrong: bool, more: str
):
    said = f"[Controller id=4] Updated leader epoch for partition orders-0 to {raised}{more}"
    starts = [line(second, f"[Partition orders-0 broker=5] orders-0 starts at Leader Epoch {epoch} "
                   f"from offset 0. Previous Leader Epoch was: {epoch - 1}", PARTITION)
              for second, epoch in ((4, 4), (31, 5))]  # fmt: skip
    files = {"b4/controller.log": [elected(0, 4, 7), line(30, said, CONTROLLER)],
             "b5/server.log": [*starting(0, 5), *starts]}  # fmt: skip

    found = incomplete(checked(write(tmp_path, files)))

    assert found == ([(HOLDS, "controller.log", 2)] if wrong else [])


def test_what_is_written_of_some_topics_or_brokers_names_one(tmp_path: Path) -> None:
    """Kafka's conditions: ``topicsToBeDeleted.nonEmpty``, ``newBrokerIds.nonEmpty``."""
    texts = ("Starting topic deletion for topics ", "New broker startup callback for ")
    lines = [elected(10, 1, 1)]
    lines += [line(11, f"[Controller id=1] {text}{named}", CONTROLLER)
              for text, named in zip(texts, ("orders", "2"), strict=True)]  # fmt: skip
    lines += [line(12, f"[Controller id=1] {text}", CONTROLLER) for text in texts]

    found = checked(write(tmp_path, {"b1/controller.log": lines}))

    assert at(found) == {(TWICE, "controller.log", 4), (TWICE, "controller.log", 5)}

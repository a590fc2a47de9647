"""What one partition's states have in common: each fault is found at its line, and what is right is
not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.ingest.schema import Event
from conformance.pipeline.history import History
from conformance.pipeline.places import Place
from conformance.pipeline.resets import Reset
from tests.pipeline.written import (
    CONTROLLER,
    PARTITION,
    SERVER,
    changed,
    checked,
    incomplete,
    leads,
    line,
    starting,
    violations,
    write,
)

LOG_MANAGER = "kafka.log.LogManager"
DELETION = "kafka.controller.TopicDeletionManager"


def new(second: int, replicas: str = "1,2", by: tuple[int, int] = (1, 4)) -> str:
    return line(second, f"[Controller id={by[0]} epoch={by[1]}] Changed partition orders-0 state "
                f"from NonExistentPartition to NewPartition with assigned replicas {replicas}"
                )  # fmt: skip


def online(second: int, leader: int, epoch: int, version: int, isr: str, frm: str) -> str:
    return line(second, f"[Controller id=1 epoch=4] Changed partition orders-0 from {frm} to "
                f"OnlinePartition with state LeaderAndIsr(leader={leader}, leaderEpoch={epoch}, "
                f"isr=List({isr}), zkVersion={version})")  # fmt: skip


def sent(second: int, leader: int, epoch: int, version: int, isr: str, replicas: str) -> str:
    role = "leader" if leader == 1 else "follower"
    return line(second, f"[Controller id=1 epoch=4] Sending become-{role} LeaderAndIsr request "
                "LeaderAndIsrPartitionState(topicName='orders', partitionIndex=0, "
                f"controllerEpoch=4, leader={leader}, leaderEpoch={epoch}, isr=[{isr}], "
                f"zkVersion={version}, replicas=[{replicas}], addingReplicas=[], "
                "removingReplicas=[], isNew=false) to broker 1 for partition orders-0"
                )  # fmt: skip


def updated(second: int, broker: int, isr: str, version: int) -> str:
    return line(second, f"[Partition orders-0 broker={broker}] ISR updated to [{isr}] and "
                f"zkVersion updated to [{version}]", PARTITION)  # fmt: skip


def shrinks(second: int, broker: int, old: str, now: str) -> str:
    return line(second, f"[Partition orders-0 broker={broker}] Shrinking ISR from {old} to {now}",
                PARTITION)  # fmt: skip


def follows(second: int, broker: int, epoch: int, before: int) -> str:
    return line(second, f"[Broker id={broker}] Follower orders-0 starts at leader epoch {epoch} "
                f"from offset 9 with high watermark 9. Previous leader epoch was {before}."
                )  # fmt: skip


def starts(second: int, broker: int, epoch: int, before: int, offset: int) -> str:
    return line(second, f"[Partition orders-0 broker={broker}] orders-0 starts at leader epoch "
                f"{epoch} from offset {offset} with high watermark {offset}. Previous leader epoch "
                f"was {before}.", PARTITION)  # fmt: skip


def found(tmp_path: Path, **files: Sequence[str]) -> list[tuple[str, str, int]]:
    return violations(result(tmp_path, **files))


def result(tmp_path: Path, **files: Sequence[str]) -> dict[str, Any]:
    named = {
        f"{name.replace('__', '/').replace('_', '-')}.log": each for name, each in files.items()
    }
    return checked(write(tmp_path, named))


STATES = "state-change.log"


# --- members of the ISR are replicas


def test_an_isr_that_names_a_broker_which_is_no_replica_is_found(tmp_path: Path):
    wrong = [
        new(1),
        online(2, 1, 0, 0, "1,2,7", "NewPartition"),
        sent(3, 1, 0, 0, "1, 2, 7", "1, 2"),
    ]

    assert ("isr_members_are_replicas", STATES, 2) in found(tmp_path, b1__state_change=wrong)


def test_a_broker_that_enters_the_isr_and_is_no_replica_is_found(tmp_path: Path):
    wrong = [
        sent(1, 1, 3, 6, "1", "1, 2"), updated(2, 1, "1,7", 7), sent(3, 1, 3, 7, "1, 7", "1, 2"),
    ]  # fmt: skip

    assert ("isr_members_are_replicas", STATES, 2) in found(tmp_path, b1__state_change=wrong)


def test_an_old_replica_may_still_be_in_the_isr_while_a_partition_moves(tmp_path: Path):
    right = [
        sent(1, 1, 3, 6, "1, 2, 3", "1, 2, 3"), sent(2, 3, 4, 7, "1, 2, 3", "3"),
        sent(3, 3, 5, 8, "2, 3", "3"), sent(4, 3, 6, 9, "3", "3"),
    ]  # fmt: skip

    assert found(tmp_path, b1__state_change=right) == []
    assert found(tmp_path / "later", b1__state_change=right[1:]) == []


# --- versions


def test_a_leaders_isr_write_whose_version_goes_back_is_found(tmp_path: Path):
    wrong = [starts(1, 1, 3, 2, 9), updated(2, 1, "1", 8), updated(9, 1, "1,2", 5)]
    right = [starts(1, 1, 3, 2, 9), updated(2, 1, "1", 8), updated(9, 1, "1,2", 9)]

    assert found(tmp_path / "a", b1__server=wrong) == [("versions_strictly_grow", "server.log", 3)]
    assert found(tmp_path / "b", b1__server=right) == []


def test_a_leader_of_a_later_epoch_writes_a_higher_version_whatever_its_process_is(tmp_path: Path):
    """No line says whether the broker was started again between its two writes."""
    lines = [starts(1, 1, 3, 2, 9), updated(20, 1, "1,2", 8), starts(40, 1, 4, 3, 9)]

    wrong = result(tmp_path / "a", server=[*lines, updated(60, 1, "1,2", 8)])
    right = result(tmp_path / "b", server=[*lines, updated(60, 1, "1,2", 10)])

    assert [(row["rule"], row["line"]) for row in wrong["findings"]] == [
        ("versions_strictly_grow", 4)
    ]
    assert right["findings"] == []


@pytest.mark.parametrize("release, broken", [("2.7.0", [5]), ("2.8.0", [5]), ("2.8.1", [])])
def test_an_answer_to_alter_isr_tells_a_newer_version_before_kafka_12751(
    tmp_path: Path, release: str, broken: list[int]
):
    text = "ISR updated to {} and version updated to [{}]"
    if release == "2.7.0":
        text = text.replace("updated to", "updated from AlterIsr to", 1)
    lines = [
        *starting(0, 1),
        line(1, f"Kafka version: {release}", "org.apache.kafka.common.utils.AppInfoParser"),
        *(line(n, f"[Partition orders-0 broker=1] {text.format('1,2', 7)}", PARTITION)
          for n in (20, 40)),
        line(60, "[KafkaServer id=1] hello", SERVER),
    ]  # fmt: skip

    assert [at for _, _, at in found(tmp_path, b1__server=lines)] == broken


def test_with_one_replica_a_version_rises_with_the_leader_epoch_alone(tmp_path: Path):
    lines = [sent(n, 1, epoch, epoch, "1", "1") for n, epoch in ((1, 0), (50, 1), (90, 2))]
    wrong = [*lines[:1], sent(50, 1, 1, 6, "1", "1"), *lines[2:]]

    assert found(tmp_path / "a", b1__state_change=wrong) == [("versions_strictly_grow", STATES, 2)]
    assert found(tmp_path / "b", b1__state_change=lines) == []


def test_an_isr_that_is_written_under_the_version_of_a_creation_is_found(tmp_path: Path):
    wrong = [starts(1, 1, 3, 2, 9), updated(2, 1, "1", 0)]

    assert found(tmp_path, b1__server=wrong) == [("versions_strictly_grow", "server.log", 2)]


def test_versions_of_a_topic_that_is_made_again_begin_anew(tmp_path: Path):
    right = [
        starts(1, 1, 3, 2, 9), updated(2, 1, "1", 8),
        line(5, "Log for partition orders-0 is renamed to /d/orders-0.8f-delete and is scheduled "
             "for deletion", LOG_MANAGER),
        starts(20, 1, 0, -1, 0), updated(22, 1, "1,2", 1),
    ]  # fmt: skip

    assert found(tmp_path, b1__server=right) == []


def test_a_topic_of_a_name_that_an_elected_controller_finds_has_states_of_its_own(tmp_path: Path):
    """Its partition goes online from New, and no line says that it became New."""
    first = [
        new(1), online(2, 1, 0, 0, "1,2", "NewPartition"),
        online(40, 2, 1, 3, "1,2", "OnlinePartition"),
    ]  # fmt: skip
    then = [
        online(200, 2, 0, 0, "2", "NewPartition"), online(210, 1, 1, 1, "1", "OfflinePartition"),
    ]  # fmt: skip
    second = [each.replace("id=1 epoch=4", "id=2 epoch=5") for each in then]
    wrote = [
        updated(20, 1, "1,2", 2),
        line(100, "Log for partition orders-0 is renamed to /d/orders-0.8f-delete and is scheduled "
             "for deletion", LOG_MANAGER),
    ]  # fmt: skip

    judged = result(tmp_path, b1__state_change=first, b2__state_change=second, b1__server=wrote,
                    b1__controller=[deleted(101)])  # fmt: skip

    assert "each_state_write_is_a_step_of_the_model" not in [
        one["rule"] for one in judged["findings"]
    ]


# --- who changes an ISR

LOG_MADE = line(8, "Created log for partition orders-1 in /d with properties {}",
                "kafka.log.LogManager")  # fmt: skip
ITS_ROLE = leads(8, 2, 0, -1, tp="orders-1")


def test_an_isr_that_is_shrunk_by_a_broker_that_was_told_to_follow_is_found(tmp_path: Path):
    """That one of its two logs was not shifted in time, what causes what in both has to tell."""
    roles = [follows(10, 2, 4, 3), follows(500, 2, 5, 4)]
    quiet = [*starting(0, 2), LOG_MADE, line(600, "[KafkaServer id=2] hello", SERVER)]
    server = [*quiet[:3], shrinks(60, 2, "1,2,3", "1,2"), quiet[3]]

    wrong = found(tmp_path / "a", b2__state_change=[ITS_ROLE, *roles], b2__server=server)
    right = found(tmp_path / "b", b2__server=server,
                  b2__state_change=[ITS_ROLE, leads(10, 2, 4, 3), *roles[1:]])  # fmt: skip
    perhaps = result(tmp_path / "c", b2__state_change=roles, b2__server=server)["findings"]

    rule = "only_the_leader_changes_its_isr"
    assert wrong == [(rule, "server.log", 4)]
    assert right == []
    assert [(each["kind"], each["rule"]) for each in perhaps] == [("incomplete", rule)]


def test_who_is_sent_a_leader_that_it_does_not_know_goes_on_as_the_leader(tmp_path: Path):
    by = "from controller 3 epoch 4"
    refused = line(30, f"[Broker id=2] Received LeaderAndIsrRequest with correlation id 6 {by} for "
                   "partition orders-0 (last update controller epoch 4) but cannot become follower "
                   "since the new leader -1 is unavailable.", level="ERROR")  # fmt: skip
    completed = [
        line(second, f"[Broker id=2] Completed LeaderAndIsr request correlationId {correlation} "
             f"{by} for the become-{role} transition for partition orders-0{leader}", level="TRACE")
        for second, correlation, role, leader in
        ((31, 6, "follower", " with leader -1"), (500, 8, "leader", ""))
    ]  # fmt: skip
    quiet = [*starting(0, 2), line(600, "[KafkaServer id=2] hello", SERVER)]
    server = [*quiet[:2], LOG_MADE, shrinks(60, 2, "1,2,3", "1,2"), quiet[2]]
    completed.insert(0, ITS_ROLE)

    wrong = found(tmp_path / "a", b2__state_change=completed, b2__server=server)
    right = found(tmp_path / "b", b2__state_change=[refused, *completed], b2__server=server)

    who = "only_the_leader_changes_its_isr"
    assert [one for one, *_ in wrong if one == who] == [who]
    assert who not in [one for one, *_ in right]


def test_a_write_of_the_isr_over_another_leaders_version_is_found(tmp_path: Path):
    states = [sent(1, 1, 3, 6, "1, 2", "1, 2"), sent(4, 1, 3, 8, "1, 2", "1, 2")]

    wrong = found(tmp_path, b1__state_change=states, b2__server=[updated(2, 2, "2", 7)])

    assert ("only_the_leader_changes_its_isr", "server.log", 1) in wrong


# --- starts


def test_a_leader_that_starts_again_in_its_epoch_with_less_is_found(tmp_path: Path):
    server = [*starting(0, 1), starts(5, 1, 3, 2, 90), starts(60, 1, 3, -1, 40),
              line(600, "[KafkaServer id=1] hello", SERVER)]  # fmt: skip

    assert found(tmp_path, b1__server=server) == [
        ("a_replica_starts_once_in_a_leader_epoch", "server.log", 4)
    ]


@pytest.mark.parametrize("epoch, lines", [(3, [4]), (4, [])])
def test_a_follower_that_starts_again_in_its_leader_epoch_is_found(
    tmp_path: Path, epoch: int, lines: list[int]
):
    hello = line(600, "[KafkaServer id=1] hello", SERVER)
    server = [*starting(0, 1), follows(5, 1, 3, 2), follows(60, 1, epoch, 3), hello]

    assert [at for _, _, at in found(tmp_path, b1__server=server)] == lines


@pytest.mark.parametrize("before, line_at_fault", [(1, None), (-1, None), (3, 2), (2, 1)])
def test_a_replica_that_starts_held_the_leader_epoch_in_which_it_started_last(
    tmp_path: Path, before: int, line_at_fault: int | None
):
    states = [follows(1, 1, 1, -1), leads(9, 1, 4, before)]
    others = [follows(5, 2, 2, -1)]  # so that leader epoch 2 is known of

    wrong = found(tmp_path, b1__state_change=states, b2__state_change=others)

    rule = "replica_has_the_epoch_of_its_last_request"
    assert wrong == ([(rule, STATES, line_at_fault)] if line_at_fault else [])


def test_a_new_zookeeper_that_began_within_hours_began_not_between_two_lines_of_one_second():
    def at(moment: int, line: int, file: str = "server.log") -> Event:
        return Event(cluster="c", file=file, line=line, at=moment, kind="leader_started", broker=1)

    one, soon, apart = at(1_000_000, 1), at(1_000_200, 2), at(1_500_000, 3)
    elsewhere = at(1_000_200, 1, "state-change.log")
    logs = ("server.log", "state-change.log")
    history = History([one, soon, apart, elsewhere], {name: Place(name, "b1", 0) for name in logs})
    history.resets = (Reset(0, 5_000_000, "the cluster id changes", apart, strong=True),)

    assert history.reset(one, soon) is None
    assert history.reset(one, apart) is not None
    assert history.reset(one, elsewhere) is not None


def test_a_leader_whose_process_began_anew_may_start_again_and_its_loss_is_reported(tmp_path: Path):
    server = [*starting(0, 1), starts(5, 1, 3, 2, 90), *starting(50, 1), starts(60, 1, 3, -1, 40)]

    rows = result(tmp_path, b1__server=server)["findings"]

    assert [(row["kind"], row["rule"], row["line"]) for row in rows] == [
        ("explained", "no_truncation_below_the_high_watermark", 6)
    ]
    assert "what its disk lost is lost" in rows[0]["why"]


def test_two_brokers_that_start_as_leader_in_one_epoch_are_found(tmp_path: Path):
    one, two = ([line(600, f"[KafkaServer id={n}] hello", SERVER)] for n in (1, 2))
    files = {
        "b1__server": [*starting(0, 1), starts(5, 1, 3, 2, 90), *one],
        "b2__server": [*starting(0, 2), starts(60, 2, 3, 2, 90), *two],
    }
    right = files | {"b2__server": [*starting(0, 2), starts(60, 2, 4, 3, 90), *two]}

    assert found(tmp_path / "a", **files) == [("one_leader_per_leader_epoch", "server.log", 3)]
    assert found(tmp_path / "b", **right) == []


def test_two_leaders_of_one_epoch_are_found_in_the_topics_second_life(tmp_path: Path):
    again = [deleted(100), line(101, "[Controller id=1] hello", CONTROLLER)]
    one = [*starting(0, 1), starts(5, 1, 0, -1, 0), starts(300, 1, 0, -1, 0)]
    other = [*starting(0, 2), starts(301, 2, 0, -1, 0)]
    files = {"b1__server": one, "b2__server": other, "b1__controller": again}

    (row,) = [each for each in result(tmp_path, **files)["findings"]
              if each["rule"] == "one_leader_per_leader_epoch"]  # fmt: skip
    assert (Path(row["file"]).parent.name, row["line"]) == ("b2", 3)


# --- states of partitions


def deleted(second: int) -> str:
    return line(second, "[Topic Deletion Manager 1] Deletion of topic orders successfully "
                "completed", DELETION)  # fmt: skip


@pytest.mark.parametrize("frm", ["OnlinePartition", "OfflinePartition", "NewPartition"])
def test_a_deleted_topics_partition_that_goes_online_with_no_creation_is_found(
    tmp_path: Path, frm: str
):
    states = [new(1), online(2, 1, 0, 0, "1,2", "NewPartition"), online(90, 2, 1, 1, "1,2", frm)]
    if frm == "NewPartition":
        states[2] = online(90, 1, 0, 0, "1,2", frm)

    server = [*starting(0, 1), line(100, "[KafkaServer id=1] hello", SERVER)]
    logs = {"b1__state_change": states, "b1__controller": [deleted(40)]}

    wrong = found(tmp_path / "whole", **logs, b1__server=server)
    doubtful = result(tmp_path / "without", **logs)

    assert ("partition_state_changes_are_valid", STATES, 3) in wrong
    assert doubtful["verdict"] == "unknown"


def test_a_deleted_topic_that_is_made_again_may_go_online(tmp_path: Path):
    states = [
        new(1), online(2, 1, 0, 0, "1,2", "NewPartition"), new(89),
        online(90, 1, 0, 0, "1,2", "NewPartition"), online(95, 2, 1, 1, "1,2", "OfflinePartition"),
    ]  # fmt: skip

    assert found(tmp_path, b1__state_change=states, b1__controller=[deleted(40)]) == []


def test_of_a_topic_made_anew_the_head_of_a_rolled_file_may_be_missing(tmp_path: Path):
    """As where it was cut: within one file each line of a creation would be there."""
    first = [new(1), online(2, 1, 0, 0, "1,2", "NewPartition")]
    again = [online(90, 1, 0, 0, "1,2", "NewPartition")]
    quiet = line(200, "[KafkaServer id=1] shutting down", SERVER)
    logs = {"b1/state-change.log": [*first, *again], "b1/controller.log": [deleted(40)],
            "b1/server.log": [*starting(0, 1), quiet]}  # fmt: skip
    rolled = {**logs, "b1/state-change.log.1": first, "b1/state-change.log": again}

    one = checked(write(tmp_path / "one", logs))
    two = checked(write(tmp_path / "two", rolled))

    rule = "partition_state_changes_are_valid"
    assert (rule, "state-change.log", 3) in violations(one)
    assert (two["verdict"], rule in {row["rule"] for row in two["findings"]}) == ("unknown", True)


# --- how a partition begins, and what a removal leaves


def removed(second: int, replica: int, leader: int, epoch: int, isr: str) -> str:
    return line(second, f"[Controller id=1 epoch=4] Partition orders-0 state changed to (Leader:"
                f"{leader},ISR:{isr},LeaderEpoch:{epoch},ControllerEpoch:4) after removing replica "
                f"{replica} from the ISR as part of transition to OfflineReplica")  # fmt: skip


@pytest.mark.parametrize(
    "first, rule",
    [
        ((2, 0, 0, "1,2"), "new_partition_is_led_by_its_first_live_replica"),
        ((1, 3, 0, "1,2"), "new_partition_is_led_by_its_first_live_replica"),
        ((1, 0, 2, "1,2"), "new_partition_is_led_by_its_first_live_replica"),
        ((1, 0, 0, "1,1"), "a_line_agrees_with_itself"),
        ((1, 0, 0, "1,2"), None),
        ((2, 0, 0, "2"), None),
    ],
)
def test_a_new_partition_is_led_by_the_first_of_its_replicas_that_are_alive(
    tmp_path: Path, first: tuple[int, int, int, str], rule: str | None
):
    states = [new(1), online(2, *first, "NewPartition")]

    assert found(tmp_path, b1__state_change=states) == ([(rule, STATES, 2)] if rule else [])


def test_the_replicas_that_a_partition_is_made_with_have_its_first_isr(tmp_path: Path):
    made = [
        new(1, "1,7"),
        online(2, 1, 0, 0, "1,2", "NewPartition"),
        sent(3, 1, 0, 0, "1, 2", "1, 2"),
    ]

    wrong = found(tmp_path, b1__state_change=made)

    assert wrong == [("isr_members_are_replicas", STATES, 1)]


@pytest.mark.parametrize(
    "last, lines",
    [((2, 1, 1, "1"), []), ((2, 2, 1, "2"), [3]), ((1, -1, 1, "2"), []), ((1, 1, 1, "2"), [3])],
)
def test_a_removal_from_the_isr_keeps_the_leader_unless_that_one_is_removed(
    tmp_path: Path, last: tuple[int, int, int, str], lines: list[int]
):
    states = [new(1), online(2, 1, 0, 0, "1,2", "NewPartition"), removed(9, *last)]

    assert [at for _, _, at in found(tmp_path, b1__state_change=states)] == lines


@pytest.mark.parametrize(
    "isr, shrunk, release, wrong",
    [("1,2", [], "2.6.0", 0), ("1", [], "2.6.0", 1), ("1", [3], "2.6.0", 0), ("1", [], "2.7.0", 0)],
)
def test_a_removal_leaves_the_isr_before_it_without_that_replica_unless_the_leader_changed_it(
    tmp_path: Path, isr: str, shrunk: list[int], release: str, wrong: int
):
    states = [
        new(1, "1,2,3"),
        online(2, 1, 0, 0, "1,2,3", "NewPartition"),
        removed(9, 3, 1, 1, isr),
    ]
    server = [
        *starting(0, 1),
        line(0, f"Kafka version: {release}", "org.apache.kafka.common.utils.AppInfoParser"),
        line(1, "[Partition orders-0 broker=1] Log loaded for partition orders-0 with initial high "
                "watermark 0", PARTITION),
        *(shrinks(second, 1, "1,2,3", "1,3") for second in shrunk),
        line(60, "[KafkaServer id=1] x", SERVER),
    ]  # fmt: skip

    assert len(found(tmp_path, b1__state_change=states, b1__server=server)) == wrong


def test_a_removal_is_not_compared_with_what_was_written_of_an_earlier_topic_of_that_name(
    tmp_path: Path,
):
    earlier = [new(1), online(2, 1, 0, 0, "1,2", "NewPartition"), removed(9, 2, 1, 1, "1")]
    again = [new(60), online(61, 1, 0, 0, "1,2", "NewPartition"), removed(68, 2, 2, 1, "2")]
    logs = {"b1__controller": [deleted(40)], "b1__state_change": [*earlier, *again]}

    assert ("each_state_write_is_a_step_of_the_model", STATES, 6) in found(tmp_path, **logs)


def test_a_last_member_that_is_taken_out_is_written_under_the_next_leader_epoch(tmp_path: Path):
    states = [new(1), online(2, 1, 0, 0, "1", "NewPartition"), removed(4, 1, -1, 1, "1")]
    right, wrong = (removed(6, 1, -1, epoch, "1") for epoch in (2, 1))

    assert found(tmp_path / "a", b1__state_change=[*states, right]) == []
    assert found(tmp_path / "b", b1__state_change=[*states, wrong]) == [
        ("leader_epochs_never_go_back", STATES, 4)
    ]


def test_an_election_for_an_offline_partition_has_an_isr_of_live_brokers(tmp_path: Path):
    brokers = line(0, "[Controller id=1] Newly added brokers: 1,2, deleted brokers: , bounced "
                   "brokers: , all live brokers: 1,2", CONTROLLER)  # fmt: skip
    for isr, kinds in (("1,2", []), ("1,9", ["incomplete"])):
        logs = {"b1__controller": [brokers],
                "b1__state_change": [online(5, 1, 3, 3, isr, "OfflinePartition")]}  # fmt: skip
        assert [row["kind"] for row in result(tmp_path / isr, **logs)["findings"]] == kinds


def test_a_removal_of_who_is_in_no_isr_writes_nothing(tmp_path: Path):
    states = [new(1, "1,2,3"), online(2, 1, 0, 0, "1,2", "NewPartition"), removed(9, 1, -1, 1, "2"),
              removed(9, 3, -1, 1, "2")]  # fmt: skip

    assert found(tmp_path, b1__state_change=states) == []


def test_a_leader_epoch_under_a_lower_version_is_wrong_beside_lines_that_go_together(
    tmp_path: Path,
):
    before, after = (online(n, 1, 3 + n, 5 + n, "1,2", "OfflinePartition") for n in (1, 3))
    low = online(2, 1, 5, 2, "1,2", "OfflinePartition")

    wrong = found(tmp_path / "a", b1__state_change=[before, low, after])
    alone = result(tmp_path / "b", b1__state_change=[low])

    assert ("versions_strictly_grow", STATES, 2) in wrong
    assert [row["kind"] for row in alone["findings"]] == ["incomplete"]


def test_a_leader_epoch_that_one_line_alone_raises_is_blamed_and_not_those_after_it(
    tmp_path: Path,
):
    states = [online(n, 1, epoch, n, "1,2", "OfflinePartition")
              for n, epoch in ((1, 1), (2, 2), (3, 8), (9, 4), (10, 5))]  # fmt: skip

    wrong = found(tmp_path, b1__state_change=states)

    assert ("leader_epochs_never_go_back", STATES, 3) in wrong
    assert {at for _, _, at in wrong} == {3}


def test_a_leader_that_takes_in_a_broker_that_it_was_never_given_is_found(tmp_path: Path):
    def grows(second: int, to: str) -> str:
        return line(second, f"[Partition orders-0 broker=1] Expanding ISR from 1 to {to}",
                    PARTITION)  # fmt: skip

    request = line(5, "[Broker id=1] Received LeaderAndIsr request PartitionState(controllerEpoch=4"
                   ", leader=1, leaderEpoch=3, isr=1, zkVersion=6, replicas=1,2, isNew=false) "
                   "correlation id 7 from controller 1 epoch 4 for partition orders-0")  # fmt: skip
    end = line(600, "[KafkaServer id=1] hello", SERVER)

    def lines(to: str) -> dict[str, list[str]]:
        own = [request, sent(590, 1, 3, 6, "1", "1, 2")]
        return {"b1__state_change": own, "b1__server": [*starting(0, 1), grows(60, to), end]}

    assert found(tmp_path / "a", **lines("1,8")) == [("isr_members_are_replicas", "server.log", 3)]
    assert found(tmp_path / "b", **lines("1,2")) == []


# --- unclean elections


@pytest.mark.parametrize("name", ["[orders,0]", "orders-0"])
def test_an_unclean_election_that_the_log_tells_is_in_the_report(tmp_path: Path, name: str):
    said = line(9, f"[OfflinePartitionLeaderSelector]: No broker in ISR is alive for {name}. Elect "
                "leader 2 from live brokers 2. There's potential data loss.",
                "kafka.controller.OfflinePartitionLeaderSelector", "WARN")  # fmt: skip

    rows = result(tmp_path, b1__controller=[said])["findings"]

    assert [(row["kind"], row["rule"], row["line"]) for row in rows] == [
        ("explained", "no_leader_from_outside_the_isr", 1)
    ]
    assert "broker 2 is elected from outside it" in rows[0]["why"]


@pytest.mark.parametrize("restarted", [True, False])
def test_a_refused_write_may_be_of_an_older_version_after_a_restart_only(tmp_path, restarted):
    refused = line(9, "[Partition orders-0 broker=1] Cached zkVersion 3 not equal to that in "
                   "zookeeper, skip updating ISR", PARTITION)  # fmt: skip
    server = [
        *starting(0, 1),
        shrinks(1, 1, "1,2", "1"),
        updated(2, 1, "1", 4),
        *(starting(5, 1) if restarted else []),
        refused,
    ]

    rules = {rule for rule, _, _ in found(tmp_path, broker1__server=server)}

    assert ("versions_strictly_grow" in rules) is not restarted


@pytest.mark.parametrize(
    "named, broken, open_",
    [("1, 2", 0, 0), ("2, 1", 0, 0), ("1, 2, 3", 0, 2), ("1, 3", 1, 0)],
)
def test_the_news_of_a_topic_tell_the_replicas_that_its_partitions_are_made_with(
    tmp_path: Path, named: str, broken: int, open_: int
):
    news = line(1, "[Controller id=1] New topics: [Set(orders)], deleted topics: [Set()], new "
                f"partition replica assignment [Map(orders-0 -> Vector({named}))]",
                CONTROLLER)  # fmt: skip
    lines = [
        line(2, "[Controller id=1 epoch=4] Changed partition orders-0 state from "
             "NonExistentPartition to NewPartition with assigned replicas 1,2"),
        changed(3, (1, 4), 1, 0, "1,2", frm="NewPartition"),
    ]  # fmt: skip

    result = checked(write(tmp_path, {"b1/controller.log": [news], "b1/state-change.log": lines}))

    rule = "new_partition_is_led_by_its_first_live_replica"
    assert violations(result) == [(rule, "controller.log", 1)] * broken
    assert [each for each, _, _ in incomplete(result)] == [rule] * open_


@pytest.mark.parametrize("version, broken", [(7, 0), (6, 1), (4, 1)])
def test_each_isr_that_a_controller_accepts_has_a_higher_version(
    tmp_path: Path, version: int, broken: int
):
    lines = [
        line(n, f"[Controller id=1] ISR for partition orders-0 updated to [{isr}] and zkVersion "
             f"updated to [{number}]", CONTROLLER, "DEBUG")
        for n, isr, number in ((1, "1", 6), (2, "1,2", version))
    ]  # fmt: skip

    found = violations(checked(write(tmp_path, {"b1/controller.log": lines})))

    assert {where[1:] for where in found} == ({("controller.log", 2)} if broken else set())

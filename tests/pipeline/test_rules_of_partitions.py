"""What controllers write of partitions: a line that breaks a rule, and its twin that does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.written import (
    PARTITION,
    changed,
    checked,
    incomplete,
    leads,
    line,
    obeys,
    starting,
    state,
    violations,
    write,
)

GROWS = "leader_epochs_never_go_back"


# --- leader epochs as controllers write them


def test_a_leader_epoch_that_goes_back_is_found_at_its_line(tmp_path: Path):
    result = state(
        tmp_path,
        changed(1, (1, 4), 1, 6, "1,2"),
        changed(2, (1, 4), 2, 5, "1,2"),
        changed(3, (1, 4), 1, 7, "1,2"),
    )

    assert violations(result) == [(GROWS, "state-change.log", 2)]
    assert result["verdict"] == "broken"


def test_leader_epochs_that_grow_hold(tmp_path: Path):
    result = state(
        tmp_path,
        changed(1, (1, 4), 1, 5, "1,2"),
        changed(2, (1, 4), 2, 6, "1,2"),
        changed(3, (1, 4), 1, 7, "1,2"),
    )

    assert result["findings"] == []
    assert result["verdict"] == "holds"


def test_an_election_that_leaves_the_epoch_as_it_was_is_found(tmp_path: Path):
    result = state(tmp_path, changed(1, (1, 4), 1, 5, "1,2"), changed(2, (1, 4), 1, 5, "1"))

    assert violations(result) == [(GROWS, "state-change.log", 2)]


def test_a_topic_that_is_created_anew_starts_at_zero(tmp_path: Path):
    result = state(
        tmp_path,
        changed(1, (1, 4), 1, 5, "1,2"),
        line(
            2,
            "[Controller id=1 epoch=4] Changed partition orders-0 state from NonExistentPartition "
            "to NewPartition with assigned replicas 1,2",
        ),
        changed(3, (1, 4), 1, 0, "1,2", frm="NewPartition"),
    )

    assert result["findings"] == []


def test_starting_a_deletion_is_no_excuse_for_an_older_epoch(tmp_path: Path):
    result = state(
        tmp_path,
        changed(1, (1, 4), 1, 5, "1,2"),
        changed(3, (1, 4), 1, 4, "1,2"),
        b1__controller=[
            line(
                2,
                "[Topic Deletion Manager 1] Handling deletion for topics orders",
                "kafka.controller.TopicDeletionManager",
            )
        ],
    )

    assert violations(result) == [(GROWS, "state-change.log", 2)]


def test_removals_from_the_isr_count_as_writes(tmp_path: Path):
    removal = (
        "[Controller id=1 epoch=4] Partition orders-0 state changed to (Leader:1,ISR:1,LeaderEpoch:"
        "{},ControllerEpoch:4) after removing replica 2 from the ISR as part of transition to "
        "OfflineReplica"
    )

    result = state(
        tmp_path, changed(1, (1, 4), 1, 5, "1,2"), line(2, removal.format(3)), obeys(3, 1, 1, 4)
    )

    assert violations(result) == [(GROWS, "state-change.log", 2)]


def test_the_next_controller_continues_where_the_last_one_stopped(tmp_path: Path):
    first, second = changed(9, (1, 4), 1, 6, "1,2"), changed(2, (2, 5), 2, 5, "2")

    result = checked(
        write(tmp_path, {"b1/state-change.log": [first], "b2/state-change.log": [second]})
    )

    # Ordered by controller epochs: the clock of the second broker is behind.
    assert violations(result) == [(GROWS, "state-change.log", 1)]
    assert "b2" in result["findings"][0]["file"]


def test_what_an_absent_controller_wrote_in_between_is_unknown(tmp_path: Path):
    first, second = changed(1, (1, 4), 1, 6, "1,2"), changed(2, (2, 6), 2, 5, "1,2")

    result = checked(
        write(tmp_path, {"b1/state-change.log": [first], "b2/state-change.log": [second]})
    )

    assert violations(result) == []
    assert incomplete(result) == [(GROWS, "state-change.log", 1)]
    assert result["verdict"] == "unknown"


def test_across_a_missing_rolled_file_an_older_epoch_is_unknown(tmp_path: Path):
    result = checked(
        write(
            tmp_path,
            {
                "b1/state-change.log.3": [changed(1, (1, 4), 1, 9, "1,2")],
                "b1/state-change.log.1": [changed(5, (1, 4), 1, 3, "1,2")],
            },
        )
    )

    assert violations(result) == []
    assert incomplete(result) == [(GROWS, "state-change.log.1", 1)]


def test_a_value_that_returns_in_one_stride_never_left(tmp_path: Path):
    result = checked(
        write(
            tmp_path,
            {
                "b1/state-change.log.3": [changed(1, (1, 4), 1, 9, "1,2")],
                "b1/state-change.log.1": [
                    changed(5, (1, 4), 1, 3, "1,2"),
                    changed(6, (1, 4), 1, 10, "1,2"),
                ],
            },
        )
    )

    assert violations(result) == [(GROWS, "state-change.log.1", 1)]


def test_brokers_that_share_a_log_lose_rolled_files_but_no_lines_within_one(tmp_path: Path):
    shared = [obeys(0, 2, 1, 4)]
    across = checked(
        write(
            tmp_path / "across",
            {
                "state-change.log.1": [*shared, changed(1, (1, 4), 1, 9, "1,2")],
                "state-change.log": [changed(5, (1, 4), 1, 8, "1,2")],
            },
        )
    )
    within = checked(
        write(
            tmp_path / "within",
            {
                "state-change.log": [
                    *shared,
                    changed(1, (1, 4), 1, 9, "1,2"),
                    changed(5, (1, 4), 1, 8, "1,2"),
                ]
            },
        )
    )

    assert (violations(across), len(incomplete(across))) == ([], 1)
    assert violations(within) == [(GROWS, "state-change.log", 3)]


# --- leaders and their in-sync sets


def test_a_leader_outside_its_isr_is_found(tmp_path: Path):
    wrong = state(tmp_path / "a", changed(1, (1, 4), 3, 5, "1,2"))
    right = state(tmp_path / "b", changed(1, (1, 4), 2, 5, "1,2"))

    assert violations(wrong) == [("leader_is_in_its_isr", "state-change.log", 1)]
    assert right["verdict"] == "holds"


def test_a_partition_without_a_leader_keeps_its_isr(tmp_path: Path):
    removed = line(
        1,
        "[Controller id=1 epoch=4] Partition orders-0 state changed to (Leader:-1,ISR:2,LeaderEpoch"
        ":3,ControllerEpoch:4) after removing replica 2 from the ISR as part of transition to "
        "OfflineReplica",
    )

    assert state(tmp_path, removed)["findings"] == []


def test_a_leader_never_drops_itself(tmp_path: Path):
    def shrinks(to: str) -> str:
        return line(1, f"[Partition orders-0 broker=2] Shrinking ISR from 2,1 to {to}", PARTITION)

    wrong = checked(write(tmp_path / "a", {"server.log": [shrinks("1")]}))
    right = checked(write(tmp_path / "b", {"server.log": [shrinks("2")]}))

    assert violations(wrong) == [("leader_is_in_its_isr", "server.log", 1)]
    assert right["verdict"] == "holds"


def test_one_leader_epoch_has_one_leader(tmp_path: Path):
    removal = (
        "[Controller id=1 epoch=4] Partition orders-0 state changed to (Leader:{},ISR:1,2,"
        "LeaderEpoch:5,ControllerEpoch:4) after removing replica 3 from the ISR as part of "
        "transition to OfflineReplica"
    )
    before = changed(1, (1, 4), 1, 5, "1,2")

    wrong = state(tmp_path / "a", before, line(2, removal.format(2)))
    right = state(tmp_path / "b", before, line(2, removal.format(1)))

    assert violations(wrong) == [("one_leader_per_leader_epoch", "state-change.log", 2)]
    assert right["findings"] == []


def test_who_starts_as_leader_is_whom_the_controller_wrote(tmp_path: Path):
    wrote = changed(1, (1, 4), 1, 5, "1")

    wrong = state(tmp_path / "a", wrote, **{"b2__state-change": [leads(2, 2, 5, 4)]})
    right = state(tmp_path / "b", wrote, leads(2, 1, 5, 4))

    assert violations(wrong) == [("one_leader_per_leader_epoch", "state-change.log", 1)]
    assert right["findings"] == []


# --- a leader epoch that a controller raised and did not keep (KAFKA-9212)


def _passes_on(release: str, *after: str) -> list[str]:
    """A partition that moves: its controller raises the leader epoch to 6, and tells 5 again."""
    head = "[Controller id=1 epoch=4] Sending"
    raised = "PartitionState(controllerEpoch=4, leader=1, leaderEpoch={}, isr={}, zkVersion={}, "
    transition = raised.format(5, "[1, 2]", 5) + "replicas=[3, 1, 2], offlineReplicas=[])"
    moved = "replicas=3,1,2, isNew={}) to broker {} for partition orders-0"
    return [
        line(0, f"Kafka version: {release}", "org.apache.kafka.common.utils.AppInfoParser"),
        changed(1, (1, 4), 1, 5, "1,2"),
        line(2, f"{head} become-leader LeaderAndIsr request "
                f"{raised.format(6, '1,2', 6)}{moved.format('false', 1)}", level="TRACE"),
        line(3, f"{head} UpdateMetadata request {transition} to brokers Set(1, 2, 3) for partition "
                "orders-0", level="TRACE"),
        line(4, f"{head} become-follower LeaderAndIsr request "
                f"{raised.format(5, '1,2', 5)}{moved.format('true', 3)}", level="TRACE"),
        line(5, f"{head} become-follower LeaderAndIsr request "
                f"{raised.format(5, '1,2', 5)}{moved.format('false', 2)}", level="TRACE"),
        *after,
    ]  # fmt: skip


def test_up_to_2_3_a_controller_tells_the_epoch_before_the_one_that_it_raised(tmp_path: Path):
    result = state(tmp_path, *_passes_on("2.3.1", changed(6, (1, 4), 3, 7, "1,2,3")))

    assert [finding for finding in result["findings"] if finding["rule"] == GROWS] == []


def test_it_tells_so_of_a_topic_that_it_created_anew(tmp_path: Path):
    """What it knew of the topic that was deleted, it knows no more: it may tell 0 again after 1."""
    isr = "leader=1, leaderEpoch={0}, isr={1}1, 2{2}, zkVersion={0}, replicas=[3, 1, 2], "
    said = "[Controller id=1 epoch=4] Sending {} request PartitionState(controllerEpoch=4, {}"
    anew = [
        line(7, "[Controller id=1 epoch=4] Changed partition orders-0 state from "
                "NonExistentPartition to NewPartition with assigned replicas 1,2"),
        changed(8, (1, 4), 1, 0, "1,2", frm="NewPartition"),
        line(9, said.format("become-leader LeaderAndIsr", isr.format(1, "", ""))
                + "isNew=false) to broker 1 for partition orders-0", level="TRACE"),
        line(10, said.format("UpdateMetadata", isr.format(0, "[", "]"))
                 + "offlineReplicas=[]) to brokers Set(1, 2, 3) for partition orders-0",
             level="TRACE"),
    ]  # fmt: skip

    up_to_2_3, later = (
        state(tmp_path / release, *_passes_on(release, changed(6, (1, 4), 3, 7, "1,2,3"), *anew))
        for release in ("2.3.1", "2.4.1")
    )

    assert [one for one in up_to_2_3["findings"] if one["rule"] == GROWS] == []
    assert (GROWS, "state-change.log", 10) in violations(later)


def test_from_2_4_it_tells_what_it_raised(tmp_path: Path):
    result = state(tmp_path, *_passes_on("2.4.1", changed(6, (1, 4), 3, 7, "1,2,3")))

    assert [rule for rule, _, _ in violations(result)] == [GROWS]


def test_of_no_release_does_it_tell_an_older_epoch_than_it_had_kept(tmp_path: Path):
    older = line(
        6,
        "[Controller id=1 epoch=4] Sending UpdateMetadata request PartitionState(controllerEpoch=4,"
        " leader=1, leaderEpoch=4, isr=[1, 2], zkVersion=4, replicas=[3, 1, 2], "
        "offlineReplicas=[]) to brokers Set(1, 2, 3) for partition orders-0",
        level="TRACE",
    )

    result = state(tmp_path, *_passes_on("2.3.1", older, changed(7, (1, 4), 3, 7, "1,2,3")))

    assert (GROWS, "state-change.log", 7) in violations(result)


def test_what_it_elects_is_above_what_it_raised(tmp_path: Path):
    result = state(tmp_path, *_passes_on("2.3.1", changed(6, (1, 4), 3, 6, "1,2,3")))

    assert (GROWS, "state-change.log", 7) in violations(result)


def test_a_broker_that_is_in_no_isr_changes_none(tmp_path: Path):
    def expands(broker: int) -> str:
        text = f"[Partition orders-0 broker={broker}] Expanding ISR from 1 to 1,2"
        return line(1, text, "kafka.cluster.Partition")

    assert violations(state(tmp_path / "a", b1__server=[expands(1)])) == []
    assert violations(state(tmp_path / "b", b2__server=[expands(2)])) == [
        ("leader_is_in_its_isr", "server.log", 1)
    ]


def test_a_shared_log_shows_who_starts_as_leader_whatever_lives_its_topic_had(tmp_path: Path):
    """Three brokers write one log: its order is no question of their clocks."""
    dropped = "[Topic Deletion Manager 1] Deletion of topic orders successfully completed"
    before = line(1, dropped, "kafka.controller.TopicDeletionManager")

    def states(leader: int) -> list[str]:
        return [changed(60, (1, 4), leader, 5, "2,3"), leads(61, 3, 5, 4), leads(90, 2, 6, 5)]

    found = [
        violations(checked(write(tmp_path / str(leader), {
            "controller.log": [before], "state-change.log": states(leader)})))
        for leader in (2, 3)
    ]  # fmt: skip

    assert ("one_leader_per_leader_epoch", "state-change.log", 1) in found[0]
    assert not any(rule == "one_leader_per_leader_epoch" for rule, _, _ in found[1])


# --- whom a follower fetches from

FETCHERS = "kafka.server.ReplicaFetcherManager"


@pytest.mark.parametrize("form", [
    "BrokerEndPoint(id={}, host=h:9092) for partitions Map(logs-1 -> (offset=4, leaderEpoch=0), "
    "orders-0 -> (offset=0, leaderEpoch={}))",
    "{} for partitions HashMap(orders-0 -> InitialFetchState(Some(aB3-d_),BrokerEndPoint(id=1, "
    "host=h:9092),{},0))",
])  # fmt: skip
def test_a_follower_fetches_from_the_leader_of_the_epoch_and_in_no_older_one(
    tmp_path: Path, form: str
):
    head = "[ReplicaFetcherManager on broker 2] Added fetcher to broker "

    def found(*fetched: tuple[int, int]) -> list[tuple[str, str, int]]:
        folder = tmp_path / str(fetched)
        texts = (head + form.format(*each) for each in fetched)
        lines = [line(11 + number, text, FETCHERS) for number, text in enumerate(texts)]
        files = {"b1/state-change.log": [leads(10, 1, 5, 4)],
                 "b1/server.log": starting(0, 1),
                 "b2/server.log": [*starting(0, 2), *lines]}  # fmt: skip
        return violations(checked(write(folder, files)))

    assert found((1, 5)) == found((3, 6), (3, 7)) == []
    assert found((3, 5)) == [("one_leader_per_leader_epoch", "server.log", 3)]
    assert found((3, 6), (4, 6)) == [("one_leader_per_leader_epoch", "server.log", 4)]
    assert found((2, 9)) == [("a_line_agrees_with_itself", "server.log", 3)]
    assert found((3, 7), (3, 6)) == [("no_older_leader_epoch_is_applied", "server.log", 4)]


def test_two_followers_of_one_wrong_leader_are_both_found(tmp_path: Path):
    text = ("[ReplicaFetcherManager on broker {}] Added fetcher to broker BrokerEndPoint(id=4, "
            "host=h:9092) for partitions Map(orders-0 -> (offset=0, leaderEpoch=5))")  # fmt: skip
    files = {"b1/state-change.log": [leads(10, 1, 5, 4)], "b1/server.log": starting(0, 1)}
    for broker in (2, 3):
        fetches = line(11, text.format(broker), FETCHERS)
        files[f"b{broker}/server.log"] = [*starting(0, broker), fetches]

    assert (
        violations(checked(write(tmp_path, files)))
        == [("one_leader_per_leader_epoch", "server.log", 3)] * 2
    )


def test_in_a_topic_that_lived_twice_the_leader_of_its_other_life_is_none(tmp_path: Path):
    """Nor is one that leads in that epoch in no life of it."""

    def fetched(second: int, leader: int) -> str:
        said = f"BrokerEndPoint(id={leader}, host=h:9092) for partitions Map(orders-0 -> "
        head = "[ReplicaFetcherManager on broker 2] Added fetcher to broker "
        return line(second, f"{head}{said}(offset=0, leaderEpoch=5))", FETCHERS)

    renamed = line(30, "Log for partition orders-0 is renamed to /d/orders-0.8f-delete and is "
                   "scheduled for deletion", "kafka.log.LogManager")  # fmt: skip
    made = line(31, "Created log for partition orders-0 in /d with properties {}",
                "kafka.log.LogManager")  # fmt: skip

    def found(folder: str, *lines: str) -> Any:
        files = {"b1/state-change.log": [leads(10, 1, 5, 4)], "b1/server.log": starting(0, 1),
                 "b2/state-change.log": [leads(40, 2, 5, 4)],
                 "b3/state-change.log": [leads(10, 3, 9, 8, tp="logs-0")],
                 "b2/server.log": [*starting(0, 2), *lines]}  # fmt: skip
        return checked(write(tmp_path / folder, files))

    other = found("other", renamed, made, fetched(45, 1))
    nobody = found("nobody", fetched(11, 3), renamed, made)

    assert ("one_leader_per_leader_epoch", "server.log", 5) in violations(other)
    assert ("one_leader_per_leader_epoch", "server.log", 3) in incomplete(nobody)
    assert violations(nobody) == []

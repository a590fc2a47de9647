"""Each rule: a line that breaks it, and its twin that does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.written import (
    CONTROLLER,
    PARTITION,
    SERVER,
    THREAD,
    ZK,
    changed,
    checked,
    elected,
    incomplete,
    leads,
    line,
    obeys,
    starting,
    violations,
    write,
)

GROWS = "leader_epochs_never_go_back"


def state(tmp_path: Path, *lines: str, **others: list[str]) -> dict[str, Any]:
    files = {"b1/state-change.log": list(lines)}
    files |= {f"{name.replace('__', '/')}.log": more for name, more in others.items()}
    return checked(write(tmp_path, files))


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
    first, second = changed(1, (1, 4), 1, 6, "1,2"), changed(2, (2, 6), 2, 5, "2")

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
    wrote = changed(1, (1, 4), 1, 5, "1,2")

    wrong = state(tmp_path / "a", wrote, **{"b2__state-change": [leads(2, 2, 5, 4)]})
    right = state(tmp_path / "b", wrote, leads(2, 1, 5, 4))

    assert violations(wrong) == [("one_leader_per_leader_epoch", "state-change.log", 1)]
    assert right["findings"] == []


# --- controllers


def test_a_controller_epoch_has_one_owner(tmp_path: Path):
    files = {
        "b1/controller.log": [elected(1, 1, 4)],
        "b1/state-change.log": [changed(2, (1, 4), 1, 5, "1,2")],
    }

    wrong = checked(write(tmp_path / "a", files | {"b2/controller.log": [elected(9, 2, 4)]}))
    right = checked(write(tmp_path / "b", files | {"b2/controller.log": [elected(9, 2, 5)]}))

    assert violations(wrong) == [("one_owner_per_controller_epoch", "controller.log", 1)]
    assert "b2" in wrong["findings"][0]["file"]
    assert right["findings"] == []


def test_controller_epochs_strictly_grow(tmp_path: Path):
    wrong = checked(write(tmp_path / "a", {"controller.log": [elected(1, 1, 4), elected(2, 1, 4)]}))
    right = checked(write(tmp_path / "b", {"controller.log": [elected(1, 1, 4), elected(2, 1, 6)]}))

    assert violations(wrong) == [("controller_epochs_strictly_grow", "controller.log", 2)]
    assert right["verdict"] == "holds"


def test_a_controller_is_ready_with_the_epoch_that_it_took(tmp_path: Path):
    ready = line(
        2, "[Controller id=1] Ready to serve as the new controller with epoch 4", CONTROLLER
    )
    writes = {"state-change.log": [changed(3, (1, 4), 1, 5, "1,2")]}

    result = checked(write(tmp_path, {"controller.log": [elected(1, 1, 3), ready]} | writes))

    assert violations(result) == [("controller_epochs_strictly_grow", "controller.log", 1)]


def test_a_writer_goes_on_with_its_own_epoch(tmp_path: Path):
    result = state(tmp_path, changed(1, (1, 4), 1, 5, "1,2"), changed(2, (1, 3), 2, 6, "1,2"))

    assert violations(result) == [("controller_epochs_strictly_grow", "state-change.log", 2)]


@pytest.mark.parametrize("inside, broken", [(4, False), (3, True), (5, True)])
def test_a_state_carries_the_epoch_of_its_writer(tmp_path: Path, inside: int, broken: bool):
    removed = line(
        1,
        "[Controller id=1 epoch=4] Partition orders-0 state changed to (Leader:1,ISR:1,LeaderEpoch"
        f":3,ControllerEpoch:{inside}) after removing replica 2 from the ISR as part of transition "
        "to OfflineReplica",
    )

    result = state(tmp_path, removed)

    found = [("state_carries_its_writers_epoch", "state-change.log", 1)]
    assert violations(result) == (found if broken else [])


# --- a new ZooKeeper


def lower_epoch(tmp_path: Path, *between: str) -> dict[str, Any]:
    lines = [elected(1, 1, 4), *between, elected(500, 1, 1)]
    return checked(write(tmp_path, {"b1/controller.log": lines}))


def test_the_first_epoch_again_without_any_evidence_is_unknown(tmp_path: Path):
    result = lower_epoch(tmp_path)

    assert incomplete(result) == [("controller_epochs_strictly_grow", "controller.log", 2)]
    assert result["verdict"] == "unknown"


@pytest.mark.parametrize(
    "evidence",
    [
        [
            line(2, "Cluster ID = aaaaaaaaaaaaaaaaaaaaaa", SERVER),
            line(499, "Cluster ID = bbbbbbbbbbbbbbbbbbbbbb", SERVER),
        ],
        [
            line(499, "Successfully created /controller_epoch with initial epoch 0", ZK),
        ],
        [
            line(2, "[Controller id=1] Initialized broker epochs cache: Map(1 -> 99)", CONTROLLER),
            line(499, "[Controller id=1] Updated broker epochs cache: Map(1 -> 24)", CONTROLLER),
        ],
        [
            line(2, "[Controller id=1] Updated broker epochs cache: Map(1 -> 24)", CONTROLLER),
            line(3, "[ControllerEventThread controllerId=1] Stopped", THREAD),
            line(498, "[ControllerEventThread controllerId=1] Starting", THREAD),
            line(499, "[Controller id=1] Updated broker epochs cache: Map(1 -> 24)", CONTROLLER),
        ],
    ],
    ids=["cluster id", "znode created", "older czxid", "same czxid after a restart"],
)
def test_evidence_of_a_new_zookeeper_explains_the_first_epoch(tmp_path: Path, evidence: list[str]):
    result = lower_epoch(tmp_path, *evidence)

    kinds = [finding["kind"] for finding in result["findings"]]
    assert kinds == ["explained"]
    assert result["verdict"] == "holds"


def test_registrations_that_go_on_growing_deny_a_new_zookeeper(tmp_path: Path):
    epochs = "[Controller id=1] Updated broker epochs cache: Map(1 -> {})"
    lines = [
        line(0, epochs.format(24), CONTROLLER),
        elected(1, 1, 4),
        elected(500, 1, 1),
        line(501, epochs.format(31), CONTROLLER),
    ]

    result = checked(write(tmp_path, {"controller.log": lines}))

    assert violations(result) == [("controller_epochs_strictly_grow", "controller.log", 3)]


def test_after_a_new_zookeeper_epochs_and_owners_start_again(tmp_path: Path):
    new = [
        line(400, "Cluster ID = bbbbbbbbbbbbbbbbbbbbbb", SERVER),
    ]
    result = checked(
        write(
            tmp_path,
            {
                "b1/server.log": [line(0, "Cluster ID = aaaaaaaaaaaaaaaaaaaaaa", SERVER), *new],
                "b1/controller.log": [elected(1, 1, 1)],
                "b1/state-change.log": [changed(2, (1, 1), 1, 5, "1,2"), obeys(3, 1, 1, 1)],
                "b2/controller.log": [elected(410, 2, 1)],
                "b2/state-change.log": [changed(411, (2, 1), 2, 0, "2"), obeys(412, 2, 2, 1)],
            },
        )
    )

    assert violations(result) == []
    assert result["verdict"] == "holds"


# --- brokers


def test_a_broker_obeys_no_older_controller(tmp_path: Path):
    server = starting(0, 2)

    wrong = checked(
        write(
            tmp_path / "a",
            {"server.log": server, "state-change.log": [obeys(1, 2, 1, 5), obeys(2, 2, 1, 4)]},
        )
    )
    right = checked(
        write(
            tmp_path / "b",
            {
                "server.log": [*server, *starting(2, 2)],
                "state-change.log": [obeys(1, 2, 1, 5), obeys(3, 2, 1, 4)],
            },
        )
    )

    assert violations(wrong) == [("no_older_controller_is_obeyed", "state-change.log", 2)]
    assert right["findings"] == []


def test_a_restart_that_cannot_be_seen_may_have_been_one(tmp_path: Path):
    result = checked(write(tmp_path, {"state-change.log": [obeys(1, 2, 1, 5), obeys(2, 2, 1, 4)]}))

    assert incomplete(result) == [("no_older_controller_is_obeyed", "state-change.log", 2)]


def test_an_older_controller_that_is_refused_is_as_it_should_be(tmp_path: Path):
    refused = (
        "[Broker id=2] Ignoring LeaderAndIsr request from controller 1 with correlation id 3 since "
        "its controller epoch {} is old. Latest known controller epoch is 5"
    )

    right = state(tmp_path / "a", obeys(1, 2, 1, 5), line(2, refused.format(4)))
    wrong = state(tmp_path / "b", obeys(1, 2, 1, 5), line(2, refused.format(6)))

    assert right["findings"] == []
    assert ("only_the_old_is_refused", "state-change.log", 2) in violations(wrong)


@pytest.mark.parametrize("epoch, broken", [(6, False), (5, True), (4, True)])
def test_a_replica_applies_a_leader_epoch_above_the_one_it_held(
    tmp_path: Path, epoch: int, broken: bool
):
    result = state(tmp_path, leads(1, 2, epoch, before=5))

    found = [("no_older_leader_epoch_is_applied", "state-change.log", 1)]
    assert violations(result) == (found if broken else [])


def test_a_replica_that_was_loaded_again_still_applies_no_older_epoch(tmp_path: Path):
    server = [*starting(0, 2), *starting(50, 2)]

    wrong = checked(
        write(
            tmp_path / "a",
            {"server.log": server, "state-change.log": [leads(1, 2, 5, 4), leads(60, 2, 3, -1)]},
        )
    )
    right = checked(
        write(
            tmp_path / "b",
            {"server.log": server, "state-change.log": [leads(1, 2, 5, 4), leads(60, 2, 5, -1)]},
        )
    )

    assert violations(wrong) == [("no_older_leader_epoch_is_applied", "state-change.log", 2)]
    assert right["findings"] == []


def test_a_replica_whose_log_was_removed_begins_anew(tmp_path: Path):
    removed = line(
        30,
        "Log for partition orders-0 is renamed to /d/orders-0.1-delete and is scheduled for "
        "deletion",
        "kafka.log.LogManager",
    )

    result = checked(
        write(
            tmp_path,
            {
                "server.log": [*starting(0, 2), removed],
                "state-change.log": [leads(1, 2, 5, 4), leads(60, 2, 0, -1)],
            },
        )
    )

    assert result["findings"] == []

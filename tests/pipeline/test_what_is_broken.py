"""Broken is only what no completion of the logs obeys; no false new beginning excuses a fault."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from conformance.pipeline.rules import JUDGING
from tests.pipeline.written import (
    CONTROLLER,
    SERVER,
    THREAD,
    ZK,
    changed,
    checked,
    elected,
    leads,
    line,
    obeys,
    starting,
    violations,
    write,
)

DEFINITION = Path(__file__).parents[2] / "docs" / "what-broken-means.md"


def test_the_definition_says_of_every_rule_that_compares_why_it_has_no_completion():
    described = re.findall(r"^### `(\w+)`\n\n- .{40,}$", DEFINITION.read_text(), re.MULTILINE)

    assert sorted(described) == sorted(rule.name for rule in JUDGING)


def kinds(result: dict[str, Any]) -> set[tuple[str, str]]:
    return {(row["kind"], row["rule"]) for row in result["findings"]}


def resigned(second: int, broker: int = 1) -> str:
    return line(second, f"[Controller id={broker}] Resigned", CONTROLLER)


def cluster_id(second: int, name: str) -> str:
    return line(second, f"Cluster ID = {name * 22}", SERVER)


# --- evidence that fits a fresh ZooKeeper, a missing file, or an order that files alone decide


def test_a_broker_alone_that_acts_again_in_epoch_1_may_have_a_fresh_zookeeper(tmp_path: Path):
    files = {
        "controller.log": [elected(1, 1, 1), resigned(600)],
        "state-change.log": [changed(2, (1, 1), 1, 0, "1"), changed(900, (1, 1), 1, 1, "1")],
        "server.log": [*starting(0, 1), *starting(880, 1)],
    }

    result = checked(write(tmp_path, files))

    assert kinds(result) == {("incomplete", "controller_lines_are_a_run_of_the_model")}
    assert result["verdict"] == "unknown"


def test_a_rolled_file_whose_name_is_later_than_its_lines_breaks_nothing(tmp_path: Path):
    first = [elected(1, 1, 1), resigned(50)]
    second = [elected(100, 1, 2), resigned(150)]
    files = {
        "controller.log.2024-03-01-12": first,  # rolled late, with lines of ten o'clock
        "controller.log.2024-03-01-11": second,
        "state-change.log": [changed(2, (1, 1), 1, 0, "1"), changed(110, (1, 2), 1, 1, "1")],
    }

    result = checked(write(tmp_path, files))

    assert kinds(result) == {("explained", "files_are_in_the_order_of_their_names")}
    assert result["verdict"] == "holds"


@pytest.mark.parametrize("names", [("log.2", "log.1", "log"), ("log.1", "log.2", "log.3")])
def test_numbers_of_rolled_files_may_count_up_or_down(tmp_path: Path, names: tuple[str, ...]):
    lines = [changed(n, (1, 4), 1, n, "1,2") for n in range(9)]
    parts = [lines[:3], lines[3:6], lines[6:]]

    files = {f"b1/state-change.{name}": part for name, part in zip(names, parts, strict=True)}
    result = checked(write(tmp_path, files))

    assert violations(result) == []
    assert result["coverage"]["rules"]["leader_epochs_never_go_back"] == 8


def test_files_of_one_log_that_overlap_are_in_no_order(tmp_path: Path):
    files = {
        "b1/state-change.log.1": [changed(n, (1, 4), 1, n, "1,2") for n in (1, 5, 9)],
        "b1/state-change.log": [changed(n, (1, 4), 1, n, "1,2") for n in (3, 7)],
    }

    result = checked(write(tmp_path, files))

    assert violations(result) == []
    assert ("explained", "files_are_in_the_order_of_their_names") in kinds(result)


def test_a_topic_may_be_made_again_by_a_controller_whose_log_is_missing(tmp_path: Path):
    lines = [
        changed(1, (1, 4), 1, 0, "1,2", frm="NewPartition"),
        changed(900, (1, 6), 2, 0, "1,2"),
    ]

    result = checked(write(tmp_path, {"b1/state-change.log": lines}))

    assert violations(result) == []


def test_a_server_log_that_ends_before_does_not_show_that_nothing_began_anew(tmp_path: Path):
    files = {
        "b1/server.log.2024-03-01-10": [*starting(0, 1), cluster_id(1, "a")],
        "b1/state-change.log": [obeys(10, 1, 2, 9), obeys(90, 1, 2, 5)],
    }

    assert {kind for kind, _ in kinds(checked(write(tmp_path, files)))} == {"incomplete"}


def test_two_leaders_of_one_epoch_may_be_of_two_lives_where_clocks_are_apart(tmp_path: Path):
    made = [
        line(n, "[Controller id=1 epoch=4] Changed partition orders-0 state from "
             "NonExistentPartition to NewPartition with assigned replicas 1,2")
        for n in (1, 400)
    ]  # fmt: skip
    files = {
        "b1/state-change.log": [
            made[0], changed(2, (1, 4), 1, 0, "1", frm="NewPartition"), leads(3, 1, 0, -1),
            made[1], changed(401, (1, 4), 2, 0, "2", frm="NewPartition"),
        ],
        "b2/state-change.log": [leads(5, 2, 0, -1)],  # its clock is 400 s behind
    }  # fmt: skip

    assert violations(checked(write(tmp_path, files))) == []


# --- what looks like a new ZooKeeper and is none


def falling(second: int) -> list[str]:
    return [
        changed(second, (1, 4), 1, 15, "1,2"),
        changed(second + 90, (1, 4), 1, 5, "1,2"),
    ]


def test_an_upgrade_that_creates_the_feature_znode_is_no_new_zookeeper(tmp_path: Path):
    feature = line(100, "[Controller id=1] Creating FeatureZNode at path: /feature with contents: "
                   "FeatureZNode(2,Enabled,Map())", CONTROLLER)  # fmt: skip
    files = {
        "b1/controller.log": [elected(1, 1, 4), elected(99, 1, 5), feature],
        "b1/server.log": [
            *starting(0, 1), cluster_id(0, "a"), *starting(98, 1), cluster_id(98, "a"),
            line(300, "[KafkaServer id=1] started", SERVER),
        ],
        "b1/state-change.log": falling(60),
    }  # fmt: skip

    result = checked(write(tmp_path, files))

    assert ("leader_epochs_never_go_back", "state-change.log", 2) in violations(result)
    assert "new ZooKeeper" not in str([row["why"] for row in result["findings"]])


def test_a_controller_that_has_not_yet_heard_of_a_restart_is_no_new_zookeeper(tmp_path: Path):
    cache = "[Controller id=1] Updated broker epochs cache: HashMap(1 -> 31, 2 -> 48)"
    files = {
        "b1/controller.log": [
            elected(1, 1, 4), line(50, cache, CONTROLLER), line(104, cache, CONTROLLER),
        ],
        "b1/server.log": [
            *starting(0, 1), cluster_id(0, "a"), line(300, "[KafkaServer id=1] started", SERVER),
        ],
        "b2/controller.log": [
            line(100, "[ControllerEventThread controllerId=2] Stopped", THREAD),
            line(102, "[ControllerEventThread controllerId=2] Starting", THREAD),
        ],
        "b1/state-change.log": falling(60),
    }  # fmt: skip

    result = checked(write(tmp_path, files))

    assert ("leader_epochs_never_go_back", "state-change.log", 2) in violations(result)


def test_a_new_zookeeper_is_believed_by_its_cluster_id_and_by_the_epoch_znode(tmp_path: Path):
    proofs = {
        "id": [cluster_id(110, "b")],
        "znode": [line(110, "Successfully created /controller_epoch with initial epoch 0", ZK)],
    }
    for name, proof in proofs.items():
        files = {
            "b1/controller.log": [elected(1, 1, 4), elected(111, 1, 1)],
            "b1/server.log": [*starting(0, 1), cluster_id(0, "a"), *starting(109, 1), *proof],
            "b1/state-change.log": [
                changed(60, (1, 4), 1, 15, "1,2"), changed(150, (1, 1), 1, 5, "1,2"),
            ],
        }  # fmt: skip

        result = checked(write(tmp_path / name, files))

        assert kinds(result) == {("explained", "controller_epochs_strictly_grow")}


def test_a_weak_sign_that_nothing_supports_leaves_a_fall_incomplete(tmp_path: Path):
    feature = line(100, "[Controller id=1] Creating FeatureZNode at path: /feature with contents: "
                   "FeatureZNode(2,Enabled,Map())", CONTROLLER)  # fmt: skip
    files = {"b1/controller.log": [feature], "b1/state-change.log": falling(60)}

    result = checked(write(tmp_path, files))

    assert violations(result) == []
    assert ("incomplete", "leader_epochs_never_go_back") in kinds(result)


@pytest.mark.parametrize(
    "end, kind", [("", "incomplete"), (" hello (kafka.server.X)", "violation")]
)
def test_a_live_server_log_that_is_cut_in_the_middle_shows_nothing_of_what_came_later(
    tmp_path: Path, end: str, kind: str
):
    files = {
        "b1/server.log": [
            *starting(0, 1),
            cluster_id(1, "a"),
            f"[2024-03-01 10:00:05,000] INFO{end}",
        ],
        "b1/state-change.log": [obeys(10, 1, 2, 9), obeys(90, 1, 2, 5), obeys(300, 1, 2, 9)],
    }  # fmt: skip
    write(tmp_path, files)
    path = tmp_path / "b1/server.log"
    path.write_text(path.read_text().rstrip("\n"))

    rows = checked(tmp_path)["findings"]

    assert kind in {row["kind"] for row in rows if row["rule"] == "no_older_controller_is_obeyed"}


# --- streams into which several logs were put


@pytest.mark.parametrize(("at_once", "kind"), [(False, "incomplete"), (True, "violation")])
def test_logs_put_together_by_their_stamps_may_lack_files_unless_one_process_wrote_the_stream(
    at_once: bool, kind: str, tmp_path: Path
):
    """Lines of both loggers in turns within a millisecond are those of one process."""
    elects = "[Controller id=1] Processing automatic preferred replica leader election"
    turns = [
        each
        for second in range(20, 60, 5)
        for each in (line(second, elects, CONTROLLER), obeys(second + 1, 1, 1, 5))
    ]
    if at_once:
        turns += [leads(70, 1, 0, -1), line(70, elects, CONTROLLER), obeys(70, 1, 1, 5)]
    stream = [*starting(0, 1), elected(9, 1, 5), *turns, obeys(900, 1, 1, 3)]

    result = checked(write(tmp_path, {"kafka.log": [f"kafka-1  | {each}" for each in stream]}))

    assert (kind, "no_older_controller_is_obeyed") in kinds(result)

"""A real cluster's logs: every line accounted for, nothing wrong, and what is planted is found."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.written import REALLOGS, checked, incomplete, violations

CLUSTERS = ["kafka-0.10.2.1-a", "kafka-1.0.0-a", "kafka-2.5.0-a", "kafka-2.7.0-a", "kafka-2.7.0-b"]


def cluster(name: str) -> Path:
    folder = REALLOGS / name
    if not folder.is_dir():
        pytest.skip("the real logs are not beside this repository")
    return folder


@cache
def judged(name: str) -> dict[str, Any]:
    return checked(cluster(name))


@pytest.mark.parametrize("name", CLUSTERS)
def test_lines_read_are_events_and_continuation_and_rejected_lines(name: str):
    folder = cluster(name)
    lines = sum(gzip.decompress(path.read_bytes()).count(b"\n") for path in folder.rglob("*.gz"))

    found = judged(name)["lines"]

    assert found["read"] == lines
    assert found["read"] == found["events"] + found["continuation"] + found["rejected"]


@pytest.mark.parametrize("name", CLUSTERS)
def test_no_real_cluster_is_said_to_have_broken_the_protocol(name: str):
    assert violations(judged(name)) == []


@pytest.mark.parametrize("name", ["kafka-2.5.0-a", "kafka-2.7.0-a", "kafka-2.7.0-b"])
def test_every_line_of_release_2_is_understood(name: str):
    result = judged(name)

    assert result["rejected_by_reason"] == {}
    assert incomplete(result) == []
    assert result["verdict"] == "holds"


def test_every_line_of_release_1_0_is_understood_but_those_of_the_shell_that_started_it():
    result = judged("kafka-1.0.0-a")

    assert result["rejected_by_reason"] == {"no stamped line before it": 30}
    assert result["verdict"] == "holds"


def test_every_line_of_release_0_10_is_understood_and_one_fall_of_epochs_has_no_evidence():
    result = judged("kafka-0.10.2.1-a")

    assert result["rejected_by_reason"] == {}
    assert incomplete(result) == [("controller_epochs_strictly_grow", "controller.log.gz", 4)]
    assert result["verdict"] == "unknown"


def test_a_cluster_whose_zookeeper_was_wiped_four_times_is_explained():
    result = judged("kafka-2.7.0-a")

    assert [finding["kind"] for finding in result["findings"]] == ["explained"] * 4


def planted(
    folder: Path, into: Path, file: str, pattern: str, change: Callable[[re.Match[str]], str]
) -> tuple[Path, int]:
    """A copy with the last line that fits the pattern changed, and that line's number."""
    copy = into / "copy"
    shutil.copytree(folder, copy)
    path = copy / file
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    number = max(n for n, each in enumerate(lines) if re.search(pattern, each))
    lines[number] = re.sub(pattern, change, lines[number], count=1)
    path.chmod(0o644)
    path.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    return copy, number + 1


@pytest.mark.parametrize(
    "file, pattern, text, rule",
    [
        (
            "broker1/logs/state-change.log.gz",
            r"LeaderEpoch:3,ControllerEpoch:9",
            "LeaderEpoch:0,ControllerEpoch:9",
            "leader_epochs_never_go_back",
        ),
        (
            "broker1/logs/state-change.log.gz",
            r"LeaderAndIsr\(leader=\d+",
            "LeaderAndIsr(leader=8",
            "leader_is_in_its_isr",
        ),
        (
            "broker1/logs/state-change.log.gz",
            r"id=1 epoch=9\] Partition",
            "id=1 epoch=8] Partition",
            "controller_epochs_strictly_grow",
        ),
        (
            "broker1/logs/state-change.log.gz",
            r"ControllerEpoch:9",
            "ControllerEpoch:10",
            "state_carries_its_writers_epoch",
        ),
        (
            "broker3/logs/state-change.log.gz",
            r"sent by controller 1 epoch 9",
            "sent by controller 2 epoch 9",
            "one_owner_per_controller_epoch",
        ),
        (
            "broker2/logs/state-change.log.gz",
            r"sent by controller 1 epoch 9",
            "sent by controller 1 epoch 8",
            "no_older_controller_is_obeyed",
        ),
        (
            "broker2/logs/state-change.log.gz",
            r"Previous leader epoch was -1",
            "Previous leader epoch was 1",
            "no_older_leader_epoch_is_applied",
        ),
    ],
)
def test_a_violation_planted_into_a_copy_is_found_at_its_line(
    real_2_7: Path, tmp_path: Path, file: str, pattern: str, text: str, rule: str
):
    copy, number = planted(real_2_7, tmp_path, file, pattern, lambda _: text)

    result = checked(copy)

    found = violations(result)
    assert {(name, where) for _, name, where in found} == {(Path(file).name, number)}
    assert rule in {name for name, _, _ in found}
    assert result["verdict"] == "broken"


SHARED_FILES = "kafka/logs/state-change.log.gz"  # three brokers write to it


@pytest.mark.parametrize(
    "file, pattern, change, rule",
    [
        (
            SHARED_FILES,
            r"(Sending become-leader .*leaderEpoch=)\d+",
            lambda found: f"{found[1]}0",
            "leader_epochs_never_go_back",
        ),
        pytest.param(
            SHARED_FILES,
            r"(Changed partition .*LeaderAndIsr\(leader=)\d+",
            lambda found: f"{found[1]}7",
            "leader_is_in_its_isr",
            marks=pytest.mark.deep,
        ),
        pytest.param(
            "kafka/logs/controller.log.gz",
            r"(Epoch incremented to )(\d+)",
            lambda found: f"{found[1]}{int(found[2]) - 1}",
            "controller_epochs_strictly_grow",
            marks=pytest.mark.deep,
        ),
        pytest.param(
            SHARED_FILES,
            r"(Cached leader info .* sent by controller )(\d+)( epoch \d+)",
            lambda found: f"{found[1]}{int(found[2]) + 1}{found[3]}",
            "one_owner_per_controller_epoch",
            marks=pytest.mark.deep,
        ),
        (
            SHARED_FILES,
            r"(Completed LeaderAndIsr request .* controller \d+ epoch )(\d+)",
            lambda found: f"{found[1]}{int(found[2]) - 1}",
            "no_older_controller_is_obeyed",
        ),
        pytest.param(
            "kafka/logs/server.log.2022-10-04-14.gz",
            r"(first-topic-0 broker=0\] ISR updated to \[0,1),2(\] and zkVersion updated to \[39)",
            lambda found: found[1] + found[2],
            "one_state_per_version",
            marks=pytest.mark.deep,
        ),
        (
            "kafka/logs/server.log.2022-09-13-09.gz",
            r"(\[ReplicaFetcher replicaId=\d, leaderId=0, fetcherId=0\]) .* (\(kafka)",
            lambda found: (
                f"{found[1]} Truncating ssl-topic-0 to offset 1 below high watermark 3 {found[2]}"
            ),
            "no_truncation_below_the_high_watermark",
        ),
    ],
)
def test_a_violation_planted_where_brokers_share_their_files_is_found_at_its_line(
    tmp_path: Path, file: str, pattern: str, change: Callable[[re.Match[str]], str], rule: str
):
    copy, number = planted(cluster("kafka-2.5.0-a"), tmp_path, file, pattern, change)

    found = violations(checked(copy))

    assert (rule, Path(file).name, number) in found
    assert {where[1:] for where in found} == {(Path(file).name, number)}


WON = "1 successfully elected as the controller. Epoch incremented to 10 and epoch zk version is"


@pytest.mark.parametrize(
    "file, pattern, text, kind, why",
    [
        (
            "broker1/logs/controller.log.gz",
            r"Updated broker epochs cache: \S+ -> 439\)",
            f"{WON} now 10",
            "impossible",
            "has not resigned since its last election",
        ),
        (
            "broker1/logs/controller.log.gz",
            r"Epoch incremented to 9",
            "Epoch incremented to 8",
            "impossible",
            "requires that /controller_epoch is as it was read",
        ),
        (
            "broker3/logs/state-change.log.gz",
            r"sent by controller 1 epoch 9",
            "sent by controller 2 epoch 9",
            "impossible",
            "requires that the request was sent",
        ),
        (
            "broker2/logs/state-change.log.gz",
            r"sent by controller 1 epoch 9",
            "sent by controller 1 epoch 8",
            "known bug",
            "only without requests_fenced (KAFKA-532",
        ),
    ],
)
def test_what_is_planted_of_a_controller_is_what_the_model_has_not(
    real_2_7: Path, tmp_path: Path, file: str, pattern: str, text: str, kind: str, why: str
):
    copy, number = planted(real_2_7, tmp_path, file, pattern, lambda _: text)

    (row,) = [
        finding
        for finding in checked(copy)["findings"]
        if finding["rule"] == "controller_lines_are_a_run_of_the_model"
    ]

    assert (row["kind"], Path(row["file"]).name, row["line"]) == (kind, Path(file).name, number)
    assert why in row["why"]


@pytest.mark.parametrize("name", CLUSTERS)
def test_all_that_real_controllers_do_is_a_run_of_the_model(name: str):
    result = judged(name)

    reported = result["coverage"]["election"]["steps"]
    assert reported["broker_wins_election"] >= 1
    assert reported["broker_handles_request"] + reported["write_is_applied"] > 50
    assert "controller_lines_are_a_run_of_the_model" not in {
        row["rule"] for row in result["findings"]
    }


@pytest.mark.parametrize(
    "name, writes",
    [("kafka-0.10.2.1-a", 1445), ("kafka-1.0.0-a", 115), ("kafka-2.5.0-a", 909)],
)
def test_every_write_of_a_state_is_a_step_of_the_model(name: str, writes: int):
    coverage = judged(name)["coverage"]

    assert coverage["rules"]["each_state_write_is_a_step_of_the_model"] == writes
    assert sum(coverage["steps"].values()) == writes


def test_a_cut_to_more_than_the_leader_had_is_found_at_its_line(tmp_path: Path):
    file, pattern = "kafka_2.11-1.0.0/server2.log.gz", r"(Truncating log \S+-12 to offset )38"
    change: Callable[[re.Match[str]], str] = lambda found: f"{found[1]}39"  # noqa: E731
    copy, number = planted(cluster("kafka-1.0.0-a"), tmp_path, file, pattern, change)

    found = [(row["rule"], row["line"]) for row in checked(copy)["findings"]]

    assert found == [("follower_truncates_to_the_end_of_its_epoch", number)]


def test_what_a_leader_lost_with_its_disk_is_reported_and_no_broker_is_blamed():
    losses = [
        finding
        for finding in judged("kafka-2.5.0-a")["findings"]
        if finding["rule"] == "no_truncation_below_the_high_watermark"
    ]

    assert [(loss["kind"], loss["line"]) for loss in losses] == [
        ("explained", 1391),
        ("explained", 1421),
        ("explained", 1451),
        ("explained", 2959),
        ("explained", 2965),
    ]
    assert "with a log that ends at 0, and ended at 124" in losses[0]["why"]
    assert "began with a log that ended at 0" in losses[3]["why"]


def test_unclean_elections_that_a_real_controller_logged_are_in_the_report():
    reported = [
        finding
        for finding in judged("kafka-0.10.2.1-a")["findings"]
        if finding["rule"] == "no_leader_from_outside_the_isr"
    ]

    assert {finding["kind"] for finding in reported} == {"explained"}
    assert len(reported) == 53


PARTS: dict[str, Callable[[str], bool]] = {
    "only state-change.log": lambda name: name.startswith("state-change"),
    "only controller.log": lambda name: name.startswith("controller"),
    "only server.log": lambda name: name.startswith("server"),
    "no controller.log": lambda name: not name.startswith("controller"),
    "no server.log": lambda name: not name.startswith("server"),
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_the_logs_of_a_cluster_that_was_wiped_raises_no_false_alarm(
    tmp_path: Path, part: str
):
    for path in cluster("kafka-2.7.0-a").rglob("*.gz"):
        if PARTS[part](path.name):
            shutil.copy(path, tmp_path)

    result = checked(tmp_path)

    assert result["lines"]["events"] > 0
    assert violations(result) == []

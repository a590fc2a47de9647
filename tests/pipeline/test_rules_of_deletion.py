"""What is deleted: a line that breaks a rule, and what a completion of the logs may explain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.written import CONTROLLER, checked, elected, line, starting, violations, write
from tests.pipeline.written import incomplete as doubted

NAMED, ENDED = "a_deleted_log_is_renamed", "topic_deletion_ends_after_all_logs_are_deleted"
DELETION = "kafka.controller.TopicDeletionManager"


def renamed(second: int, to: str) -> str:
    text = f"Log for partition orders-0 is renamed to {to} and is scheduled for deletion"
    return line(second, text, "kafka.log.LogManager")


def not_renamed(second: int, logger: str = "kafka.server.LogDirFailureChannel") -> str:
    text = "Error while renaming dir for orders-0 in log dir /data"
    return line(second, text, logger, "ERROR")


def restarted(second: int) -> str:
    return line(second, "[Topic Deletion Manager 4] Deletion of topic orders (re)started", DELETION)


def ended(second: int) -> str:
    text = "[Topic Deletion Manager 4] Deletion of topic orders successfully completed"
    return line(second, text, DELETION)


def asked(second: int) -> list[str]:
    words = "stop replica (delete=true) for partition orders-0"
    return [
        line(second, f"[Broker id=5] {verb} {words}", level="TRACE")
        for verb in ("Handling", "Finished handling")
    ]


STARTED = line(
    3,
    "[Controller id=4 epoch=7] Changed state of replica 5 for partition orders-0 from "
    "OfflineReplica to ReplicaDeletionStarted",
    level="TRACE",
)
AFTER = line(30, "Cluster ID = q8Xn2YpPQbOe7Xk1mG4d-w", "kafka.server.Other")


def found(
    folder: Path, server: list[str], ends: list[str], asks: list[str] | None = None
) -> tuple[list[tuple[str, str, int]], list[tuple[str, str, int]]]:
    """What breaks the two rules, and what is in doubt."""
    files = {
        "broker5/server.log": [*starting(0, 5), *server, AFTER],
        "broker5/state-change.log": asked(4) if asks is None else asks,
        "broker4/controller.log": [elected(0, 4, 7), *ends],
        "broker4/state-change.log": [STARTED],
    }
    result = checked(write(folder, files))
    return tuple(  # type: ignore[return-value]
        [each for each in kind(result) if each[0] in (NAMED, ENDED)]
        for kind in (violations, doubted)
    )


@pytest.mark.parametrize("to", ["/data/orders-0", "C:\\data\\orders-0"])
def test_a_log_that_is_renamed_to_its_own_name_was_not_renamed(tmp_path: Path, to: str):
    assert found(tmp_path, [renamed(4, to)], []) == ([(NAMED, "server.log", 3)], [])


def test_a_log_with_a_new_name_is_deleted(tmp_path: Path):
    assert found(tmp_path, [renamed(4, "/data/orders-0.8f3d-delete")], []) == ([], [])


@pytest.mark.parametrize(
    "logger",
    [
        "kafka.server.LogDirFailureChannel",
        "org.apache.kafka.storage.internals.log.LogDirFailureChannel",
    ],
)
def test_a_deletion_that_ends_without_one_of_the_logs_is_a_violation(tmp_path: Path, logger: str):
    broken = found(tmp_path, [not_renamed(4, logger)], [restarted(2), ended(6)])

    assert broken == ([(ENDED, "controller.log", 3)], [])


def test_a_topic_that_waits_for_its_log_is_right(tmp_path: Path):
    assert found(tmp_path, [not_renamed(4)], [restarted(2)]) == ([], [])


def test_a_new_process_may_have_renamed_it(tmp_path: Path):
    server = [not_renamed(4), *starting(5, 5)]

    assert found(tmp_path, server, [restarted(2), ended(9)]) == ([], [])


def test_a_deletion_that_was_started_again_asked_again(tmp_path: Path):
    ends = [restarted(2), restarted(5), ended(9)]

    assert found(tmp_path, [not_renamed(4)], ends) == ([], [])


@pytest.mark.parametrize("asks", [[], [*asked(4), *asked(5)]], ids=["not asked for", "asked twice"])
def test_where_the_broker_may_have_been_asked_again_it_is_incomplete(
    tmp_path: Path, asks: list[str]
):
    doubt = found(tmp_path, [not_renamed(4)], [restarted(2), ended(6)], asks)

    assert doubt == ([], [(ENDED, "controller.log", 3)])


def test_where_the_beginning_of_the_deletion_is_missing_it_is_incomplete(tmp_path: Path):
    assert found(tmp_path, [not_renamed(4)], [ended(6)]) == ([], [(ENDED, "controller.log", 2)])


def test_where_the_topic_was_deleted_twice_it_may_have_been_the_other_life(tmp_path: Path):
    ends = [restarted(2), ended(6), restarted(20), ended(21)]

    assert found(tmp_path, [not_renamed(4)], ends) == ([], [(ENDED, "controller.log", 3)])


def test_no_two_logs_are_renamed_to_one_name(tmp_path: Path):
    one, other = (f"/data/orders-0.{digit * 32}-delete" for digit in "ab")

    same, _ = found(tmp_path / "same", [renamed(5, one), renamed(25, one)], [])
    right, _ = found(tmp_path / "right", [renamed(5, one), renamed(25, other)], [])

    assert same == [(NAMED, "server.log", 4)]
    assert right == []


def test_a_log_is_made_again_only_after_it_was_renamed(tmp_path: Path):
    def made(second: int, folder: str) -> str:
        text = f"Created log for partition orders-0 in {folder} with properties {{}}."
        return line(second, text, "kafka.log.LogManager")

    def judged(name: str, *between: str) -> Any:
        lines = [made(5, "/data"), *between, made(25, "/data")]
        return found(tmp_path / name, lines, [])

    release = line(6, "Kafka version: 2.3.1", "org.apache.kafka.common.utils.AppInfoParser")

    assert judged("twice", release) == ([(NAMED, "server.log", 5)], [])
    assert judged("perhaps in 0.9") == ([], [(NAMED, "server.log", 4)])
    # Up to 0.10.1 a log is deleted at once, and not renamed.
    assert judged("removed", release.replace("2.3", "0.10.1")) == ([], [(NAMED, "server.log", 5)])
    assert judged("deleted", release, renamed(9, "/data/orders-0.8f-delete")) == ([], [])
    assert judged("anew", release, *starting(20, 5)) == ([], [])
    assert judged("moved", release, made(15, "/more")) == ([], [])


def test_a_deletion_that_ends_again_was_started_again(tmp_path: Path):
    wrong, _ = found(tmp_path / "wrong", [], [restarted(2), ended(9), ended(20)])
    right, _ = found(tmp_path / "right", [], [restarted(2), ended(9), restarted(15), ended(20)])
    untold, _ = found(tmp_path / "untold", [], [ended(9), ended(20)])
    empty = line(12, "[Controller id=4] New topics: [Set(orders)], deleted topics: [Set()], new "
                 "partition replica assignment [Map()]", CONTROLLER)  # fmt: skip
    made, _ = found(tmp_path / "made", [], [restarted(2), ended(9), empty, ended(20)])

    assert wrong == [(ENDED, "controller.log", 4)]
    assert right == untold == made == []

"""Whose file it is, what order files are in, and which files are no logs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance.ingest.files import NotAFileError, discover
from conformance.pipeline.places import is_live
from tests.pipeline.written import line, obeys, write


def names(folder: Path) -> list[str]:
    return [Path(log.name).name for log in discover([str(folder)]).logs]


def clusters(*folders: Path) -> set[str]:
    return {log.cluster for log in discover([str(folder) for folder in folders]).logs}


def test_dated_files_come_in_the_order_of_their_dates_and_the_bare_one_last(tmp_path: Path):
    write(
        tmp_path,
        {
            name: [obeys(1, 1, 1, 1)]
            for name in ("a.log", "a.log.2024-03-01-11.gz", "a.log.2024-03-01-09")
        },
    )

    assert names(tmp_path) == ["a.log.2024-03-01-09", "a.log.2024-03-01-11.gz", "a.log"]


@pytest.mark.parametrize(
    ("rolled", "live"),
    [
        ("server.log.{}.txt", "server.log.txt"),
        ("server.log.txt.{}", "server.log.txt"),
        ("server-{}.log", "server.log"),
        ("server.{}.log.gz", "server.log"),
    ],
)
def test_dates_before_the_ending_and_another_ending_are_understood(
    tmp_path: Path, rolled: str, live: str
):
    older, newer = rolled.format("2024-03-01-09"), rolled.format("2024-03-01-11")
    write(tmp_path, {name: [obeys(1, 1, 1, 1)] for name in (live, newer, older)})

    logs = discover([str(tmp_path)]).logs

    assert names(tmp_path) == [older, newer, live]
    assert len({each.stream for each in logs}) == 1
    assert [is_live(each.name) for each in logs] == [False, False, True]


def test_numbered_files_come_from_the_highest_and_a_missing_one_is_a_gap(tmp_path: Path):
    write(tmp_path, {f"a.log{end}": [obeys(1, 1, 1, 1)] for end in ("", ".1", ".2", ".10", ".9")})

    logs = discover([str(tmp_path)]).logs

    assert [Path(log.name).name for log in logs] == [
        "a.log.10",
        "a.log.9",
        "a.log.2",
        "a.log.1",
        "a.log",
    ]
    assert [log.gap_before for log in logs] == [False, False, True, False, False]


def test_folders_of_one_broker_each_are_one_cluster(tmp_path: Path):
    write(tmp_path, {f"n{n}/server.log": [obeys(1, n, 1, 1)] for n in (1, 2, 3)})

    assert clusters(tmp_path) == {tmp_path.name}
    assert len(clusters(*(tmp_path / f"n{n}" for n in (1, 2, 3)))) == 1


def test_folders_that_share_a_broker_are_clusters_of_their_own(tmp_path: Path):
    write(tmp_path, {f"{name}/server.log": [obeys(1, 1, 1, 1)] for name in ("east", "west")})

    assert clusters(tmp_path) == {"east", "west"}


def test_folders_that_name_different_clusters_are_apart(tmp_path: Path):
    server = "kafka.server.KafkaServer"
    write(
        tmp_path,
        {
            f"{name}/server.log": [
                line(1, f"Cluster ID = {name * 22}", server),
                obeys(1, number, 1, 1),
            ]
            for number, name in enumerate("ab")
        },
    )

    assert clusters(tmp_path) == {"a", "b"}


def test_files_that_are_no_logs_are_skipped_with_the_reason(tmp_path: Path):
    write(
        tmp_path,
        {
            "server.log": [obeys(1, 1, 1, 1)],
            "README.md": ["# Kafka"],
            "kafkaServer-gc.log.0.current": ["[0.1s] GC"],
            "00000000000000000200.log.deleted": ["a segment"],
            "zookeeper.out": [line(1, "binding", "org.apache.zookeeper.server.Server")],
            "kafka-authorizer.log": [],
            "protocol-1.log": ["1 TRACE x"],
            ".hidden": ["x"],
        },
    )

    found = discover([str(tmp_path)])

    assert [Path(log.name).name for log in found.logs] == ["server.log"]
    assert {Path(each.name).name: each.reason for each in found.skipped} == {
        "README.md": "is no log",
        "kafkaServer-gc.log.0.current": "is the log of the garbage collector",
        "00000000000000000200.log.deleted": "is a segment of a partition; see `insync inspect`",
        "zookeeper.out": "is ZooKeeper's own log",
        "kafka-authorizer.log": "is empty, and says nothing of the protocol",
        "protocol-1.log": "is what `insync kafka trace` reads",
        ".hidden": "is hidden",
    }


def test_a_log_under_another_name_is_known_by_its_lines(tmp_path: Path):
    write(tmp_path, {"broker-output.txt": [obeys(1, 1, 1, 1)]})

    assert names(tmp_path) == ["broker-output.txt"]


def test_a_file_given_twice_is_read_once(tmp_path: Path):
    write(tmp_path, {"server.log": [obeys(1, 1, 1, 1)]})

    assert len(discover([str(tmp_path), str(tmp_path / "server.log")]).logs) == 1


def test_a_recorded_trace_is_no_log(tmp_path: Path):
    write(tmp_path, {"run.ndjson": ['{"format":"insync.trace/1"}', "{}"]})

    found = discover([str(tmp_path)])

    assert [Path(path).name for path in found.traces] == ["run.ndjson"]
    assert found.logs == ()


def test_a_path_that_does_not_exist_is_named(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        discover([str(tmp_path / "nowhere")])


def test_a_pipe_is_refused_by_name_and_skipped_in_a_folder(tmp_path: Path):
    write(tmp_path, {"server.log": [obeys(1, 1, 1, 1)]})
    os.mkfifo(tmp_path / "pipe.log")

    found = discover([str(tmp_path)])

    assert [each.reason for each in found.skipped] == ["is no regular file"]
    with pytest.raises(NotAFileError, match=r"pipe\.log"):
        discover([str(tmp_path / "pipe.log")])


def test_a_link_to_a_folder_elsewhere_is_followed(tmp_path: Path):
    write(tmp_path / "var", {"server.log": [obeys(1, 1, 1, 1)]})
    (tmp_path / "kafka").mkdir()
    (tmp_path / "kafka" / "logs").symlink_to(tmp_path / "var")

    found = discover([str(tmp_path / "kafka")])

    assert [log.name for log in found.logs] == [str(tmp_path / "kafka" / "logs" / "server.log")]


def test_links_that_lead_round_in_a_circle_end(tmp_path: Path):
    write(tmp_path, {"a/server.log": [obeys(1, 1, 1, 1)], "b/server.log": [obeys(1, 2, 1, 1)]})
    (tmp_path / "a" / "self").symlink_to(tmp_path / "a")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "other").symlink_to(tmp_path / "b")
    (tmp_path / "b" / "back").symlink_to(tmp_path / "a")

    found = discover([str(tmp_path / "a")])

    assert [Path(log.path).relative_to(tmp_path / "a").as_posix() for log in found.logs] == [
        "other/server.log",
        "server.log",
    ]
    assert sorted(Path(each.name).name for each in found.skipped) == ["back", "self", "up"]


def test_a_folder_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path, {"b1/server.log": [obeys(1, 1, 1, 1)], "b2/server.log": [obeys(1, 2, 1, 1)]})
    listed = os.listdir

    def refuses(path: str) -> list[str]:
        # The superuser, whom tests may run as, is let in everywhere.
        if str(path).endswith("b2"):
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr("conformance.ingest.files.os.listdir", refuses)

    found = discover([str(tmp_path)])

    assert [Path(log.path).parent.name for log in found.logs] == ["b1"]
    assert [(Path(each.name).name, each.reason.split(";")[0]) for each in found.closed] == [
        ("b2", "permission denied")
    ]


def test_archives_and_hidden_folders_are_listed_as_skipped(tmp_path: Path):
    write(
        tmp_path,
        {"server.log": [obeys(1, 1, 1, 1)], ".old/server.log": ["x"], "old.tar.gz": ["x"]},
    )

    found = discover([str(tmp_path)])

    assert {Path(each.name).name: each.reason for each in found.skipped} == {
        ".old": "is hidden",
        "old.tar.gz": "is an archive; unpack it first",
    }

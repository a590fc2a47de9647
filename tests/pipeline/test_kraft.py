"""KRaft is no ZooKeeper cluster: said in one line, not judged; a migration is, until it happens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.written import (
    CONTROLLER,
    SERVER,
    ZK,
    changed,
    checked,
    elected,
    line,
    obeys,
    run_check,
    write,
)

QUORUM = "org.apache.kafka.controller.QuorumController"
RAFT = "org.apache.kafka.raft.QuorumState"
LOADER = "org.apache.kafka.image.loader.MetadataLoader"


def kraft_leads(second: int, broker: int, epoch: int, before: int) -> str:
    return line(
        second,
        f"[Broker id={broker}] Leader orders-0 with topic id Some(q8Xn2YpPQbOe7Xk1mG4dqA) starts "
        f"at leader epoch {epoch} from offset 9 with partition epoch {epoch}, high watermark 9, "
        f"ISR [{broker}], adding replicas [] and removing replicas [] . Previous leader "
        f"Some({broker}) and previous leader epoch was {before}.",
    )


def transition(second: int, broker: int, what: str = "leaders") -> str:
    return line(second, f"[Broker id={broker}] Transitioning 1 partition(s) to local {what}.")


def kraft_broker(folder: str) -> dict[str, list[str]]:
    return {
        f"{folder}/server.log": [
            line(1, "[BrokerServer id=1] Transition from SHUTDOWN to STARTING",
                 "kafka.server.BrokerServer"),
            line(1, "[RaftManager id=1] Completed transition to Unattached(epoch=0)", RAFT),
            line(2, "[MetadataLoader id=1] initializeNewPublishers: the loader is still catching "
                 "up", LOADER),
        ],
        f"{folder}/state-change.log": [
            transition(3, 1), kraft_leads(3, 1, 4, -1), transition(4, 1), kraft_leads(4, 1, 4, 4),
            transition(5, 1), kraft_leads(5, 1, 3, 4),
        ],
    }  # fmt: skip


def kinds(result: dict[str, Any]) -> list[tuple[str, str, int]]:
    return [(row["kind"], Path(row["file"]).name, row["line"]) for row in result["findings"]]


def test_a_kraft_cluster_is_named_in_one_line_and_not_judged(tmp_path: Path):
    result = checked(write(tmp_path, kraft_broker("b1")))

    assert kinds(result) == [("not judged", "server.log", 1)]
    assert "runs in KRaft mode, without a ZooKeeper" in result["findings"][0]["why"]
    assert result["coverage"]["rules"] == {}
    assert result["verdict"] == "not checked"


@pytest.mark.parametrize("name", ["server.log", "state-change.log"])
def test_any_one_of_its_logs_is_enough_to_know_kraft(tmp_path: Path, name: str):
    files = {file: lines for file, lines in kraft_broker("b1").items() if file.endswith(name)}

    result = checked(write(tmp_path, files))

    assert [kind for kind, _, _ in kinds(result)] == ["not judged"]
    assert result["verdict"] == "not checked"


def test_the_controllers_of_a_kraft_cluster_are_known_alone(tmp_path: Path):
    lines = [
        line(n, f"[QuorumController id=3000] In the new epoch {n}, the leader is 3000.", QUORUM)
        for n in range(1, 5)
    ]

    result = checked(write(tmp_path, {"controller.log": lines}))

    assert kinds(result) == [("not judged", "controller.log", 1)]
    assert result["verdict"] == "not checked"


def test_a_file_of_kraft_that_begins_in_the_middle_is_not_judged(tmp_path: Path):
    lines = [kraft_leads(1, 1, 4, 4), kraft_leads(2, 1, 3, 4), transition(3, 1)]

    assert checked(write(tmp_path, {"state-change.log": lines}))["verdict"] == "not checked"


def migrating(fault: bool) -> dict[str, list[str]]:
    """Broker 1 is the controller until node 3000 takes over at second 100."""
    written = [changed(n, (1, 7), 1, n - 9, "1,2") for n in range(10, 20)]
    if fault:
        written.append(changed(30, (1, 7), 1, 3, "1,2"))
    return {
        "b1/controller.log": [elected(5, 1, 7)],
        "b1/server.log": [
            line(1, "[RaftManager id=1] Completed transition to Unattached(epoch=0)", RAFT),
            line(2, "[KafkaServer id=1] started", SERVER),
        ],
        "b1/state-change.log": [*written, transition(400, 1), kraft_leads(401, 1, 2, 2)],
        "b2/state-change.log": [
            obeys(20, 2, 1, 7), obeys(101, 2, 3000, 8), obeys(102, 2, 3000, 8),
            obeys(103, 2, 3001, 7),
        ],
        "c3000/controller.log": [
            line(3, "[QuorumController id=3000] Becoming the active controller at epoch 2, next "
                 "write offset 5.", QUORUM),
            line(100, "Successfully registered KRaft controller 3000 with ZK epoch 8", ZK),
            line(101, "[KRaftMigrationDriver id=3000] 3000 transitioning from BECOME_CONTROLLER to "
                 "ZK_MIGRATION state",
                 "org.apache.kafka.metadata.migration.KRaftMigrationDriver"),
        ],
    }  # fmt: skip


def test_a_cluster_that_migrates_is_judged_until_kraft_takes_over(tmp_path: Path):
    result = checked(write(tmp_path, migrating(fault=False)))

    assert kinds(result) == [("not judged", "controller.log", 2)]
    assert "KRaft takes over here" in result["findings"][0]["why"]
    assert result["coverage"]["rules"]["leader_epochs_never_go_back"] == 9
    assert result["verdict"] == "holds"


def test_a_fault_before_kraft_takes_over_is_found(tmp_path: Path):
    result = checked(write(tmp_path, migrating(fault=True)))

    assert ("violation", "state-change.log", 11) in kinds(result)
    assert result["verdict"] == "broken"


def test_a_migration_that_is_only_prepared_is_judged_to_the_end(tmp_path: Path):
    files = migrating(fault=False)
    files["c3000/controller.log"] = files["c3000/controller.log"][:1]
    files["b1/state-change.log"] = [*files["b1/state-change.log"][:10],
                                    changed(200, (1, 7), 1, 2, "1,2")]  # fmt: skip
    files["b2/state-change.log"] = files["b2/state-change.log"][:1]
    files["b1/server.log"] += [line(300, "[KafkaServer id=1] hello", SERVER)]

    result = checked(write(tmp_path, files))

    assert ("violation", "state-change.log", 11) in kinds(result)


def test_a_zookeeper_cluster_has_no_line_of_kraft(tmp_path: Path):
    lines = [line(1, "[Controller id=1] Resigned", CONTROLLER), obeys(2, 1, 1, 1)]

    found = kinds(checked(write(tmp_path, {"a.log": lines})))

    assert "not judged" not in {kind for kind, _, _ in found}


def test_the_command_says_so_and_exits_with_3(tmp_path: Path):
    said = run_check(str(write(tmp_path, kraft_broker("b1"))))

    assert said.exit_code == 3
    assert "without a ZooKeeper" in said.output
    assert "verdict: not checked" in said.output

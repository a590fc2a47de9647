"""States of a partition by their versions: one state each, and one write of the model between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.written import PARTITION, ZK, elected, line, starting, state

ONE, FITS = "one_state_per_version", "each_state_write_is_a_step_of_the_model"
GROW = "versions_strictly_grow"
RELEASE = "org.apache.kafka.common.utils.AppInfoParser"


def wrote(
    second: int, version: int, leader: int, epoch: int, isr: str, by: tuple[int, int] = (1, 4)
) -> str:
    controller, controller_epoch = by
    return line(
        second,
        f"[Controller id={controller} epoch={controller_epoch}] Changed partition orders-0 from "
        f"OnlinePartition to OnlinePartition with state LeaderAndIsr(leader={leader}, "
        f"leaderEpoch={epoch}, isr=List({isr}), zkVersion={version})",
    )


def received(second: int, version: int, leader: int, epoch: int, isr: str, broker: int = 1) -> str:
    return line(
        second,
        f"[Broker id={broker}] Received LeaderAndIsr request LeaderAndIsrPartitionState("
        f"topicName='orders', partitionIndex=0, controllerEpoch=4, leader={leader}, "
        f"leaderEpoch={epoch}, isr=[{isr}], zkVersion={version}, replicas=[1, 2, 3], "
        "addingReplicas=[], removingReplicas=[], isNew=false) correlation id 3 from controller 1 "
        "epoch 4",
    )


def updated(second: int, isr: str, version: int, broker: int = 1) -> str:
    return line(
        second,
        f"[Partition orders-0 broker={broker}] ISR updated to [{isr}] and zkVersion updated to "
        f"[{version}]",
        PARTITION,
    )


def server(version: str = "2.3.1") -> list[str]:
    """The server.log of broker 1, from before its other lines to after them."""
    registered = "Registered broker 1 at path /brokers/ids/1, czxid (broker epoch): 48"
    return [
        line(0, f"Kafka version: {version}", RELEASE),
        *starting(0, 1),
        line(0, registered, ZK),
        line(500, "[KafkaServer id=1] something", "kafka.server.KafkaServer"),
    ]


def found(tmp_path: Path, *lines: str, version: str = "2.3.1") -> list[tuple[str, str, int]]:
    return [
        (row["kind"], row["rule"], row["line"])
        for row in judged(tmp_path, *lines, version=version)["findings"]
    ]


def judged(tmp_path: Path, *lines: str, version: str = "2.3.1") -> dict[str, Any]:
    return state(tmp_path, *lines, b1__server=server(version))


def test_shrinks_elections_and_expansions_fit_and_are_counted(tmp_path: Path):
    result = judged(
        tmp_path,
        received(1, 6, 1, 7, "1, 2, 3"),
        updated(2, "1,2", 7),
        received(3, 8, 2, 8, "2"),
        received(4, 9, 2, 8, "2, 3"),
    )

    assert result["findings"] == []
    assert result["coverage"]["steps"] == {
        "controller_elects_leader": 1,
        "leader_expands_isr": 1,
        "leader_shrinks_isr": 1,
    }
    assert result["coverage"]["rules"][FITS] == 3


def test_an_isr_write_that_the_next_request_does_not_know_is_found_at_the_request(tmp_path: Path):
    lines = (received(1, 6, 1, 7, "1, 2, 3"), received(2, 7, 1, 7, "1, 2"))

    assert found(tmp_path, *lines, wrote(3, 8, 3, 8, "3, 2")) == [("impossible", FITS, 3)]


def test_an_isr_write_that_the_leader_logged_and_the_controller_lost_is_found(tmp_path: Path):
    lines = (received(1, 6, 1, 7, "1, 2, 3"), updated(2, "1,2", 7))

    assert found(tmp_path, *lines, wrote(3, 8, 3, 8, "3, 2")) == [("impossible", FITS, 3)]


def test_what_a_leader_wrote_is_what_the_controller_sends(tmp_path: Path):
    lines = (received(1, 6, 1, 7, "1, 2, 3"), updated(2, "1,2", 7))

    assert found(tmp_path, *lines, received(3, 7, 1, 7, "1, 2, 3")) == [("violation", ONE, 3)]


def test_one_line_against_several_is_the_one_that_is_wrong(tmp_path: Path):
    lines = [received(n, 6, 1, 7, "1, 2", broker=n % 2 + 1) for n in range(4)]
    lines[2] = received(2, 6, 2, 7, "1, 2")

    assert ("violation", ONE, 3) in found(tmp_path, *lines)


def test_an_older_controllers_write_is_a_known_bug_and_before_its_fix_none(tmp_path: Path):
    lines = (
        elected(1, 1, 9),
        wrote(2, 6, 1, 7, "1, 2", by=(1, 9)),
        wrote(3, 7, 2, 8, "2", by=(2, 8)),
    )

    after = found(tmp_path / "after", *lines)
    before = found(tmp_path / "before", *lines, version="2.0.0")

    assert ("known bug", FITS, 3) in after
    assert FITS not in {rule for _, rule, _ in before}


def test_an_election_outside_the_isr_is_explained_by_what_was_configured(tmp_path: Path):
    result = judged(tmp_path, wrote(1, 6, 1, 7, "1, 2"), wrote(2, 7, 3, 8, "3"))

    (finding,) = [row for row in result["findings"] if row["rule"] == FITS]
    assert finding["kind"] == "explained"
    assert "where unclean_leader_election is configured otherwise" in finding["why"]
    assert result["verdict"] == "holds"


def test_where_a_new_topic_would_not_be_seen_nothing_is_called_impossible(tmp_path: Path):
    lines = (wrote(1, 6, 1, 7, "1, 2"), wrote(4000, 7, 3, 8, "3, 2"))

    (finding,) = state(tmp_path, *lines)["findings"]

    assert (finding["kind"], finding["line"]) == ("incomplete", 2)


@pytest.mark.parametrize("epoch", [6, 9])
def test_a_write_raises_the_leader_epoch_by_one_or_leaves_it(tmp_path: Path, epoch: int):
    kinds = found(tmp_path, wrote(1, 6, 1, 7, "1, 2"), wrote(2, 7, 2, epoch, "2"))

    assert any(rule in (FITS, "leader_epochs_never_go_back") for _, rule, _ in kinds)
    assert all(line == 2 for *_, line in kinds)


def test_the_version_of_a_topic_that_was_made_again_begins_anew(tmp_path: Path):
    new = line(
        50,
        "[Controller id=1 epoch=4] Changed partition orders-0 state from NonExistentPartition to "
        "NewPartition with assigned replicas 1,2",
    )
    lines = (wrote(1, 0, 1, 0, "1, 2"), wrote(2, 1, 2, 1, "2"), new, wrote(51, 0, 3, 0, "3"))

    assert [kind for kind, rule, _ in found(tmp_path, *lines) if rule in (ONE, FITS)] == []


def test_writes_of_a_partition_without_a_leader_follow_each_other_by_its_leader_epoch(
    tmp_path: Path,
):
    """Up to 2.7.0 what takes a replica out of an ISR does not tell the zkVersion."""

    def removed(second: int, replica: int, leader: int, epoch: int, isr: str) -> str:
        return line(
            second,
            "[Controller id=1 epoch=4] Partition orders-0 state changed to "
            f"(Leader:{leader},ISR:{isr},LeaderEpoch:{epoch},ControllerEpoch:4) after removing "
            f"replica {replica} from the ISR as part of transition to OfflineReplica",
        )

    first = removed(1, 1, -1, 8, "3")
    elects = wrote(9, 12, 3, 9, "3").replace("from OnlinePartition", "from OfflinePartition")

    assert found(tmp_path / "a", first, elects, version="2.6.0") == []
    assert found(tmp_path / "b", first, removed(9, 3, -1, 9, "2"), version="2.6.0") == [
        ("impossible", FITS, 2)
    ]
    assert found(tmp_path / "c", first, removed(9, 1, -1, 8, "2"), version="2.6.0") == [
        ("violation", ONE, 2)
    ]


@pytest.mark.parametrize("later, wrong", [(9, []), (8, [("violation", GROW, 2)])])
def test_what_a_controller_sends_goes_back_to_no_version_before_it(
    tmp_path: Path, later: int, wrong: list[tuple[str, str, int]]
):
    lines = [
        received(1, 8, 1, 7, "1, 2"),
        received(2, 9, 1, 7, "1, 2, 3"),
        received(3, later, 1, 7, "1, 2, 3" if later == 9 else "1, 2"),
    ]

    assert found(tmp_path, *lines, version="2.4.0") == wrong


def test_up_to_2_3_a_controller_forgets_the_write_of_a_move(tmp_path: Path):
    lines = [received(1, 8, 1, 7, "1"), received(2, 9, 1, 8, "1"), received(3, 8, 1, 7, "1")]

    assert GROW not in {rule for _, rule, _ in found(tmp_path, *lines)}


def test_a_state_is_compared_with_its_own_brokers_lines_where_the_topic_lives_twice(
    tmp_path: Path,
):
    states = [received(n, 8, 1, 7, "1, 2") for n in (2, 3, 5, 6)]
    deleted = line(
        90,
        "[Topic Deletion Manager 1] Deletion of topic orders successfully completed",
        "kafka.controller.TopicDeletionManager",
    )
    files = {"b1__server": server(), "b1__controller": [deleted]}
    others = {"b2__state-change": [received(4, 8, 1, 7, "1, 2", broker=2)] * 4}

    result = state(tmp_path, *states, received(4, 8, 1, 7, "1"), **files, **others)

    assert [(row["kind"], row["rule"]) for row in result["findings"]] == [("violation", ONE)]

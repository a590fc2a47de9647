"""What sound clusters of Kafka wrote under faults, which rules once took for wrong."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from conformance.ingest.dialects import dialect_for
from conformance.ingest.files import discover
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.places import places_of
from tests.pipeline.test_rules_of_the_data_plane import (
    ENDS,
    STARTS,
    completed,
    fetched,
    judged,
)
from tests.pipeline.test_rules_of_truncation import cut_to, cutting, starts
from tests.pipeline.written import (
    CONTROLLER,
    PARTITION,
    SERVER,
    checked,
    incomplete,
    line,
    starting,
    violations,
    write,
)

FETCHER = "kafka.server.ReplicaFetcherThread"
LOG = "kafka.log.Log"
APP_INFO = "org.apache.kafka.common.utils.AppInfoParser"
IDS = ("aaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbb", "cccccccccccccccccccccc")


def of_release(name: str) -> str:
    return line(0, f"Kafka version : {name}", APP_INFO)


def identified(second: int, name: str) -> str:
    return line(second, f"Cluster ID = {name}", SERVER)


# --- which folders are one cluster


def folders(tmp_path: Path, **ids: str) -> list[str]:
    """The clusters that folders of brokers are, by the ids that each logged, one after another."""
    files = {
        f"{broker}/server.log": [
            *starting(0, int(broker[1:])),
            *(identified(100 * at + 5, IDS[int(one)]) for at, one in enumerate(names)),
        ]
        for broker, names in ids.items()
    }
    return sorted({each.cluster for each in discover([str(write(tmp_path, files))]).logs})


def test_brokers_that_tell_of_the_id_before_and_of_the_one_after_are_of_one_cluster(tmp_path: Path):
    assert folders(tmp_path, b1="01", b2="1", b3="01") == [tmp_path.name]


def test_brokers_whose_ids_nothing_links_are_of_clusters_of_their_own(tmp_path: Path):
    assert folders(tmp_path, b1="0", b2="1") == ["b1", "b2"]


# --- a topic that is made again


def cached(second: int, broker: int, epoch: int, leader: int, isr: str) -> str:
    return line(
        second,
        f"[Broker id={broker}] Cached leader info PartitionState(controllerEpoch={epoch}, leader="
        f"{leader}, leaderEpoch=0, isr=[{isr}], zkVersion=0, replicas=[{isr}], offlineReplicas=[]) "
        f"for partition orders-0 in response to UpdateMetadata request sent by controller 3 epoch "
        f"{epoch} with correlation id 4",
        level="TRACE",
    )


def received(
    second: int, broker: int, leader: int, epoch: int, isr: str, version: int = 0,
    replicas: str = "",
) -> str:  # fmt: skip
    return line(
        second,
        f"[Broker id={broker}] Received LeaderAndIsr request PartitionState(controllerEpoch=4, "
        f"leader={leader}, leaderEpoch={epoch}, isr={isr}, zkVersion={version}, "
        f"replicas={replicas or isr}, isNew=true) correlation id {second} from controller 3 "
        "epoch 4 for partition orders-0",
        level="TRACE",
    )


def of_one_broker(folder: Path, *lines: str) -> dict[str, Any]:
    server = [*starting(0, 1), line(90, "[KafkaServer id=1] x", SERVER)]
    return checked(write(folder, {"server.log": server, "state-change.log": lines}))


def test_who_had_no_replica_of_a_deleted_topic_is_not_told_that_it_was_deleted(tmp_path: Path):
    found = of_one_broker(tmp_path, cached(3, 1, 4, 2, "2"), received(40, 1, 3, 0, "3, 1, 2"))

    assert violations(found) == []


def test_who_had_a_replica_would_have_been_told(tmp_path: Path):
    found = of_one_broker(tmp_path, cached(3, 1, 4, 2, "2, 1"), received(40, 1, 3, 0, "3, 1, 2"))

    assert {rule for rule, _, _ in violations(found)} == {"one_state_per_version"}


def test_a_partition_that_is_dropped_from_the_metadata_may_come_back_as_another(tmp_path: Path):
    dropped = line(
        20,
        "[Broker id=1] Deleted partition orders-0 from metadata cache in response to "
        "UpdateMetadata request sent by controller 3 epoch 4 with correlation id 9",
        level="TRACE",
    )

    found = of_one_broker(
        tmp_path, cached(3, 1, 4, 2, "2, 1"), dropped, received(40, 1, 3, 0, "3, 1, 2")
    )

    assert found["findings"] == []


# --- controllers and leaders up to 2.0


def notified(second: int, writer: tuple[int, int], leader_epoch: int) -> str:
    controller, epoch = writer
    return line(
        second,
        f"Controller {controller} epoch {epoch} sending UpdateMetadata request (Leader:2,ISR:2,1,"
        f"LeaderEpoch:{leader_epoch},ControllerEpoch:1) to brokers Set(1, 2) for partition "
        "orders-0",
        level="TRACE",
    )


def won(second: int, broker: int, epoch: int) -> str:
    return line(second, f"[Controller {broker}]: Controller {broker} incremented epoch to {epoch}",
                CONTROLLER)  # fmt: skip


@pytest.mark.parametrize("at, broken", [(25, False), (15, True)])
def test_a_new_controller_has_not_read_what_the_deposed_one_wrote_after(
    tmp_path: Path, at: int, broken: bool
):
    files = {
        "b1/server.log": [of_release("0.11.0.3"), *starting(0, 1),
                          line(90, "[Kafka Server 1], x", SERVER)],
        "b2/server.log": [of_release("0.11.0.3"), *starting(0, 2),
                          line(90, "[Kafka Server 2], x", SERVER)],
        "b1/controller.log": [won(20, 1, 2)],
        "b2/controller.log": [won(2, 2, 1)],
        "b2/state-change.log": [notified(4, (2, 1), 1), notified(at, (2, 1), 2)],
        "b1/state-change.log": [notified(30, (1, 2), 1)],
    }  # fmt: skip

    found = checked(write(tmp_path, files))

    rules = {rule for rule, _, _ in [*violations(found), *incomplete(found)]}
    assert ("leader_epochs_never_go_back" in rules) is broken


def test_a_leader_that_is_cached_in_0_11_names_its_partition_in_brackets():
    text = (
        "[Partition state machine on Controller 1]: After leader election, leader cache for "
        "[orders,3] is updated to (Leader:3,ISR:3,LeaderEpoch:4,ControllerEpoch:7)"
    )

    read = dialect_for("0.11").read("kafka.controller.PartitionStateMachine", text)

    assert read is not None
    assert (read[0], read[2]["partition"], read[2]["leader_epoch"]) == ("leadership_cached", 3, 4)


# --- what a follower does with its log


def of_fetcher(second: int, text: str) -> str:
    return line(second, f"[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] {text}", FETCHER)


def test_a_follower_whose_offset_is_out_of_range_cuts_to_where_its_leader_ends_by_then(
    tmp_path: Path,
):
    reset = of_fetcher(
        9, "Reset fetch offset for partition orders-0 from 30 to current leader's latest offset 22"
    )
    leader = [starts(5, 20, 16)]

    assert cutting(tmp_path / "reset", [reset, cut_to(9, 22)], leader) == []
    assert cutting(tmp_path / "answered", [cut_to(9, 22)], leader) != []


def test_a_cut_below_the_high_watermark_is_explained_by_an_unclean_election(tmp_path: Path):
    def state(leader: int, epoch: int, isr: str, recovery: str) -> str:
        return line(
            4 + epoch,
            "[Controller id=1 epoch=7] Changed partition orders-0 from OfflinePartition to "
            f"OnlinePartition with state LeaderAndIsr(leader={leader}, leaderEpoch={epoch}, "
            f"isr=List({isr}), leaderRecoveryState={recovery}, partitionEpoch={epoch + 3})",
        )

    mark = line(
        1,
        "[Partition orders-0 broker=5] Log loaded for partition orders-0 with initial high "
        "watermark 16",
        PARTITION,
    )
    cut = cut_to(9, 12)

    def kinds(folder: str, *states: str) -> list[str]:
        files = {
            "b5/server.log": [*starting(0, 5), mark, cut],
            "b4/server.log": [starts(8, 20, 12)],
            "b1/state-change.log": states,
        }
        found = checked(write(tmp_path / folder, files))["findings"]
        rule = "no_truncation_below_the_high_watermark"
        return [each["kind"] for each in found if each["rule"] == rule]

    recovered = state(4, 3, "4", "RECOVERED")
    assert kinds("clean", state(4, 2, "4, 5", "RECOVERED"), recovered) == ["violation"]
    assert kinds("states", state(5, 2, "5", "RECOVERED"), recovered) == ["explained"]
    assert kinds("word", state(4, 3, "4", "RECOVERING")) == ["explained"]


def raised_start(second: int, offset: int) -> str:
    text = f"[Log partition=orders-0, dir=/data] Incrementing log start offset to {offset}"
    return line(second, text, LOG)


def test_retention_may_tell_of_a_new_log_start_amid_an_answer(tmp_path: Path):
    asked, took, mark = fetched(2, 4, 5, 4, 4)

    found = judged(tmp_path, [asked, raised_start(2, 4), took, mark, *fetched(3, 5, 5, 5, 5)], [])

    assert found["findings"] == []


def test_a_high_watermark_is_not_below_the_log_start_that_was_logged(tmp_path: Path):
    below = fetched(2, 12, 12, 3, became=6)

    found = judged(tmp_path / "a", [raised_start(1, 6), *below], [])

    assert found["findings"] == []
    assert judged(tmp_path / "b", below, [])["findings"] != []


def test_a_log_that_begins_anew_at_its_leaders_start_ends_there(tmp_path: Path):
    reset = of_fetcher(
        3,
        "Current offset 4 for partition orders-0 is out of range, which typically implies a leader "
        "change. Reset fetch offset to 17",
    )

    found = judged(tmp_path, [*fetched(2, 4, 4, 4, 4), reset, *fetched(4, 17, 17, 17, 17)], [])

    assert found["findings"] == []


def test_a_fetch_whose_log_parts_from_its_leaders_may_begin_above_the_leaders_end(tmp_path: Path):
    def kinds(folder: str, answer: dict[str, Any]) -> list[str]:
        asked = {"currentLeaderEpoch": 3, "fetchOffset": 30, "lastFetchedEpoch": 1}
        fetch = completed(5, "FETCH", 4, asked, {"errorCode": 0, "highWatermark": 8} | answer)
        files = {"server.log": starting(0, 4), "kafka-request.log": [fetch],
                 "state-change.log": [STARTS, ENDS]}  # fmt: skip
        found = checked(write(tmp_path / folder, files))["findings"]
        return [each["rule"] for each in found]

    assert kinds("whole", {}) == ["nothing_is_fetched_above_the_leaders_log_end"]
    assert kinds("parts", {"divergingEpoch": {"epoch": 1, "endOffset": 8}}) == []


def test_a_log_that_is_rolled_by_the_minute_may_lack_a_minute(tmp_path: Path):
    def of(folder: str, *minutes: int) -> list[bool]:
        files = {
            f"state-change.log.2024-03-01-10-{at:02}": [received(60 * at, 1, 1, 5, "1")]
            for at in minutes
        }
        found = discover([str(write(tmp_path / folder, files))])
        logs = [asdict(each) for each in found.logs]
        placed = places_of(logs, LocalEngine().ingest(found, None).files)
        return [placed[each["name"]].gap_before for each in logs]

    assert of("whole", 3, 4, 5) == [False, False, False]
    assert of("lacks", 3, 4, 6) == [False, False, True]

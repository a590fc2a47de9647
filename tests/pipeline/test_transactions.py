"""ZooKeeper's transaction log beside brokers' logs: every write in one order."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from conformance.cli.check import check, checked
from conformance.ingest.files import discover
from conformance.ingest.transaction_log import TransactionLogReader
from conformance.pipeline.corpus import Engine
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.rules import Finding
from impl.zookeeper.transaction_log import TransactionLog as Writer
from impl.zookeeper.transaction_log import WrittenOperation
from impl.zookeeper.znode import NO_SESSION, Znode
from tests.pipeline.written import PARTITION, SERVER, line

RECORDED = Path(__file__).parents[1] / "data" / "zookeeper"
REQUEST = "/admin/reassign_partitions"
CONTROLLER, OPERATOR, OTHER = 7, 8, 9  # sessions


class Ensemble:
    """A transaction log that is written by hand: znodes and their versions."""

    def __init__(self, folder: Path, root: str = "", zxid: int = 0) -> None:
        self.log, self.root, self.zxid = Writer(folder), root, zxid
        self.versions: dict[str, int] = {}

    def create(self, session: int, path: str, data: Any = "", ephemeral: bool = False) -> None:
        self.versions[path] = 0
        self._write(session, "Create", path, data, session if ephemeral else NO_SESSION)

    def set(self, session: int, path: str, data: Any) -> None:
        self.versions[path] += 1
        self._write(session, "SetData", path, data)

    def delete(self, session: int, path: str) -> None:
        self.zxid += 1
        self.log.transaction(self.zxid, session, [WrittenOperation("Delete", self.root + path)])

    def end(self, session: int) -> None:
        self.zxid += 1
        self.log.session_closed(self.zxid, session, by_client=False)

    def _write(self, session: int, op: str, path: str, data: Any, owner: int = NO_SESSION) -> None:
        self.zxid += 1
        text = data if isinstance(data, str) else json.dumps(data)
        znode = Znode(text, self.versions[path], owner, self.zxid, self.zxid)
        self.log.transaction(self.zxid, session, [WrittenOperation(op, self.root + path, znode)])

    # What the protocol writes

    def elected(self, epoch: int = 1, session: int = CONTROLLER, broker: int = 1) -> None:
        self.create(session, "/controller", {"version": 1, "brokerid": broker}, ephemeral=True)
        if epoch == 1:
            self.create(session, "/controller_epoch", "1")
        else:
            self.set(session, "/controller_epoch", str(epoch))

    def topic(self, name: str, session: int = CONTROLLER) -> None:
        """An operator makes a topic, and the controller its partition."""
        self.create(OPERATOR, f"/brokers/topics/{name}", {"version": 1, "partitions": {"0": [1]}})
        self.made(name, session)

    def made(self, name: str, session: int = CONTROLLER, epoch: int = 1) -> None:
        at = f"/brokers/topics/{name}/partitions"
        self.create(session, at)
        self.create(session, f"{at}/0")
        self.create(session, f"{at}/0/state", state(epoch, 0))

    def state(self, name: str, session: int, **fields: Any) -> None:
        self.set(session, f"/brokers/topics/{name}/partitions/0/state", state(**fields))

    def notification(self, number: int, session: int = CONTROLLER) -> None:
        """A leader tells of its ISR, and the controller takes note."""
        self.create(OTHER, f"/isr_change_notification/isr_change_{number:010}")
        self.delete(session, f"/isr_change_notification/isr_change_{number:010}")

    def requested(self, *topics: str, session: int = OPERATOR) -> None:
        moves = [{"topic": name, "partition": 0, "replicas": [2, 1]} for name in topics]
        self.create(session, REQUEST, {"version": 1, "partitions": moves})


def state(epoch: int, leader_epoch: int, leader: int = 1, isr: tuple[int, ...] = (1,)) -> Any:
    return {"controller_epoch": epoch, "leader": leader, "version": 1,
            "leader_epoch": leader_epoch, "isr": list(isr)}  # fmt: skip


@pytest.fixture
def ensemble(tmp_path: Path) -> Ensemble:
    made = Ensemble(tmp_path)
    made.elected()
    made.topic("t")
    return made


def judged(ensemble: Ensemble, *more: Path) -> dict[str, Any]:
    ensemble.log.close()
    folder = ensemble.log.folder.parent
    return checked([str(folder), *map(str, more)], engine="local")


def about(result: dict[str, Any], rule: str) -> list[tuple[str, str]]:
    return [(one["kind"], one["why"]) for one in result["findings"] if one["rule"] == rule]


def runs(release: str) -> str:
    return (
        line(0, f"Kafka version: {release}", "org.apache.kafka.common.utils.AppInfoParser") + "\n"
    )


SEEN = "reassignment_request_is_handled"


# Requests for moves


def test_a_request_that_three_later_topics_have_overtaken_was_missed(ensemble: Ensemble) -> None:
    ensemble.requested("t")
    at = ensemble.zxid
    for name in "abc":
        ensemble.topic(name)
    result = judged(ensemble)

    assert result["verdict"] == "broken"
    ((kind, why),) = about(result, SEEN)
    assert kind == "violation"
    assert f"t-0: requested in transaction {at:#x}" in why
    assert "broker 1 was the controller" in why
    assert "c (0x" in why


def test_two_later_topics_may_have_been_queued_before_the_request(ensemble: Ensemble) -> None:
    ensemble.requested("t")
    for name in "ab":
        ensemble.topic(name)

    assert [kind for kind, _ in about(judged(ensemble), SEEN)] == ["incomplete"]


def test_since_2_4_two_later_topics_are_enough_since_nobody_else_watches_the_list(
    ensemble: Ensemble, tmp_path: Path
) -> None:
    ensemble.requested("t")
    for name in "ab":
        ensemble.topic(name)
    (tmp_path / "server.log").write_text(runs("2.8.2"))

    assert [kind for kind, _ in about(judged(ensemble), SEEN)] == ["violation"]


def test_topics_made_before_and_deleted_leave_room_for_more_in_the_queue(
    ensemble: Ensemble,
) -> None:
    for name in "ab":
        ensemble.create(OPERATOR, f"/brokers/topics/{name}", "{}")
    for name in "ab":
        ensemble.made(name)
    ensemble.requested("t")
    for name in "cde":
        ensemble.topic(name)

    assert [kind for kind, _ in about(judged(ensemble), SEEN)] == ["incomplete"]


def test_a_topic_that_was_made_before_the_request_tells_nothing(ensemble: Ensemble) -> None:
    for name in "abcdef":
        ensemble.create(OPERATOR, f"/brokers/topics/{name}", "{}")
    ensemble.requested("t")
    for name in "abcdef":
        ensemble.made(name)
    result = judged(ensemble)

    assert about(result, SEEN) == []
    assert SEEN not in result["coverage"]["rules"]


def test_two_later_notifications_of_isr_changes_have_overtaken_a_missed_request(
    ensemble: Ensemble,
) -> None:
    ensemble.requested("t")
    ensemble.notification(1)
    ensemble.notification(2)

    assert [kind for kind, _ in about(judged(ensemble), SEEN)] == ["violation"]


def test_one_later_notification_may_have_been_read_with_one_before(ensemble: Ensemble) -> None:
    ensemble.requested("t")
    ensemble.notification(1)

    assert [kind for kind, _ in about(judged(ensemble), SEEN)] == ["incomplete"]


@pytest.mark.parametrize("by", ["assignment", "state", "rewritten", "deleted"])
def test_any_write_of_the_controller_for_a_request_shows_that_it_was_seen(
    ensemble: Ensemble, by: str
) -> None:
    ensemble.requested("t")
    match by:
        case "assignment":
            ensemble.set(CONTROLLER, "/brokers/topics/t", {"partitions": {"0": [2, 1]}})
        case "state":
            ensemble.state("t", CONTROLLER, epoch=1, leader_epoch=1)
        case "rewritten":
            ensemble.set(CONTROLLER, REQUEST, {"version": 1, "partitions": []})
        case "deleted":
            ensemble.delete(CONTROLLER, REQUEST)
    for name in "abcd":
        ensemble.topic(name)
    result = judged(ensemble)

    assert result["verdict"] == "holds"
    assert result["coverage"]["rules"][SEEN] == 1


@pytest.mark.parametrize("by", ["hand", "change", "failover", "deposed"])
def test_a_request_that_was_taken_back_or_outlived_its_controller_is_not_judged(
    ensemble: Ensemble, by: str
) -> None:
    ensemble.requested("t")
    match by:
        case "hand":
            ensemble.delete(OPERATOR, REQUEST)
        case "change":
            ensemble.set(OPERATOR, REQUEST, {"version": 1, "partitions": []})
        case "failover":
            ensemble.end(CONTROLLER)
            ensemble.elected(2, OTHER, 2)
        case "deposed":
            ensemble.delete(OPERATOR, "/controller")
            ensemble.elected(2, OTHER, 2)
    writer = OTHER if by in ("failover", "deposed") else CONTROLLER
    for name in "abcd":
        at = f"/brokers/topics/{name}"
        ensemble.create(OPERATOR, at, "{}")
        ensemble.made(name, writer, 2 if writer == OTHER else 1)

    assert about(judged(ensemble), SEEN) == []


def test_a_request_after_one_that_was_deleted_by_hand_need_not_be_seen(ensemble: Ensemble) -> None:
    ensemble.requested("t")
    ensemble.set(CONTROLLER, "/brokers/topics/t", "{}")
    ensemble.delete(OPERATOR, REQUEST)  # with the watch on it
    ensemble.requested("t")
    for name in "abcd":
        ensemble.topic(name)

    assert about(judged(ensemble), SEEN) == []


def test_a_request_for_what_is_moving_already_need_not_be_written(ensemble: Ensemble) -> None:
    moving = {"partitions": {"0": [2, 1]}, "adding_replicas": {"0": [2]}}
    ensemble.set(CONTROLLER, "/brokers/topics/t", moving)
    ensemble.requested("t")
    for name in "abcd":
        ensemble.topic(name)

    assert about(judged(ensemble), SEEN) == []


@pytest.mark.parametrize("data", ["no JSON", '{"version": 1, "partitions": []}', "[1]"])
def test_a_request_that_asks_for_nothing_is_not_judged(ensemble: Ensemble, data: str) -> None:
    ensemble.create(OPERATOR, REQUEST, data)
    for name in "abcd":
        ensemble.topic(name)

    assert about(judged(ensemble), SEEN) == []


def test_a_hole_in_the_transactions_may_hold_what_became_of_a_request(ensemble: Ensemble) -> None:
    ensemble.requested("t")
    ensemble.zxid += 1
    for name in "abcd":
        ensemble.topic(name)

    assert about(judged(ensemble), SEEN) == []


def test_clusters_of_two_chroots_are_judged_each_by_itself(tmp_path: Path) -> None:
    ensemble = Ensemble(tmp_path, "/one")
    ensemble.elected()
    ensemble.topic("t")
    ensemble.requested("t")
    ensemble.root = "/two"
    ensemble.elected(session=OTHER)
    for name in "abcd":
        ensemble.topic(name, OTHER)
    result = judged(ensemble)

    assert about(result, SEEN) == []
    assert result["verdict"] == "holds"


def test_what_kraft_writes_into_zookeeper_is_not_judged(ensemble: Ensemble) -> None:
    ensemble.requested("t")
    ensemble.create(OTHER, "/migration", "{}")
    for name in "abcd":
        ensemble.topic(name)

    assert [kind for kind, _ in about(judged(ensemble), SEEN)] == []


# Controller epochs


def test_a_controller_epoch_that_is_raised_by_two_is_named(ensemble: Ensemble) -> None:
    ensemble.end(CONTROLLER)
    ensemble.elected(3, OTHER, 2)

    rule = "controller_epoch_and_its_version_rise_together"
    ((kind, why),) = about(judged(ensemble), rule)
    assert kind == "violation"
    assert "/controller_epoch is 3 under version 1" in why


@pytest.mark.parametrize(
    ("release", "kind"), [("", "incomplete"), ("1.1.1", "explained"), ("2.8.2", "violation")]
)
def test_a_deposed_controllers_write_is_named_and_is_that_of_releases_without_a_fence(
    ensemble: Ensemble, tmp_path: Path, release: str, kind: str
) -> None:
    ensemble.delete(OPERATOR, "/controller")
    ensemble.elected(2, OTHER, 2)
    ensemble.create(OPERATOR, "/brokers/topics/late", "{}")
    ensemble.made("late")
    if release:
        started = line(
            0, f"Kafka version: {release}", "org.apache.kafka.common.utils.AppInfoParser"
        )
        (tmp_path / "server.log").write_text(f"{started}\n")

    ((found, why),) = about(judged(ensemble), "controller_epochs_strictly_grow")
    assert found == kind
    assert "late-0: written under controller epoch 1" in why
    assert ("KAFKA-6082" in why) == (kind != "violation")


def test_a_leader_that_does_not_know_the_new_controller_may_write_its_isr(
    ensemble: Ensemble,
) -> None:
    ensemble.delete(OPERATOR, "/controller")
    ensemble.elected(2, OTHER, 2)
    ensemble.state("t", CONTROLLER, epoch=1, leader_epoch=0, isr=(1, 2))

    assert judged(ensemble)["verdict"] == "holds"


# Writes, by the model


def test_writes_of_a_partition_are_judged_by_the_model(ensemble: Ensemble) -> None:
    ensemble.state("t", OTHER, epoch=1, leader_epoch=0, isr=(1, 2))
    ensemble.state("t", CONTROLLER, epoch=1, leader_epoch=1, leader=2, isr=(2,))
    ensemble.state("t", CONTROLLER, epoch=1, leader_epoch=3, leader=3, isr=(3,))
    result = judged(ensemble)

    ((kind, why),) = about(result, "each_state_write_is_a_step_of_the_model")
    assert kind == "impossible"
    assert "zkVersion 2 is leader 2, leader epoch 1" in why
    assert result["coverage"]["steps"]["leader_expands_isr"] == 1


def test_a_topic_that_is_made_again_begins_anew(ensemble: Ensemble) -> None:
    ensemble.state("t", CONTROLLER, epoch=1, leader_epoch=1)
    for path in ("/partitions/0/state", "/partitions/0", "/partitions", ""):
        ensemble.delete(CONTROLLER, f"/brokers/topics/t{path}")
    ensemble.topic("t")

    assert judged(ensemble)["verdict"] == "holds"


def test_what_a_broker_logs_is_compared_with_what_was_written(
    ensemble: Ensemble, tmp_path: Path
) -> None:
    ensemble.state("t", OTHER, epoch=1, leader_epoch=0, isr=(1, 2))
    lines = [
        line(0, "[KafkaServer id=1] started", SERVER),
        line(1, "[Partition t-0 broker=1] ISR updated to [1,3] and zkVersion updated to [1]",
             PARTITION),
    ]  # fmt: skip
    (tmp_path / "server.log").write_text("".join(f"{each}\n" for each in lines))

    ((_, why),) = about(judged(ensemble), "one_state_per_version")
    assert "under zkVersion 1 stands leader 1, ISR {1,3} here" in why


# Files


def test_recorded_logs_of_real_clusters_hold_and_every_request_in_them_was_seen() -> None:
    for release in ("0.10.2.2", "2.3.1"):
        result = checked([str(RECORDED / f"kafka-{release}")], engine="local")
        assert result["verdict"] == "holds"
        assert result["coverage"]["rules"][SEEN] == 3
        assert result["coverage"]["rules"]["each_state_write_is_a_step_of_the_model"] >= 16


def test_a_recorded_cluster_that_missed_a_request_is_broken_by_name() -> None:
    result = CliRunner().invoke(check, [str(RECORDED / "unseen-2.3"), "--engine", "local"])

    assert result.exit_code == 1
    assert "u-0: requested in transaction 0x2c" in " ".join(result.output.split())


def test_logs_of_three_servers_of_an_ensemble_are_one(tmp_path: Path) -> None:
    for server in "123":
        shutil.copytree(RECORDED / "kafka-2.3.1", tmp_path / f"zookeeper-{server}")
    alone = checked([str(RECORDED / "kafka-2.3.1")], engine="local")["coverage"]["rules"]

    assert checked([str(tmp_path)], engine="local")["coverage"]["rules"] == alone


def test_transactions_lie_beside_the_logs_of_the_one_cluster_that_is_there(
    ensemble: Ensemble, tmp_path: Path
) -> None:
    for broker in (1, 2):
        (tmp_path / f"broker{broker}").mkdir()
        started = line(0, f"[KafkaServer id={broker}] started", SERVER)
        (tmp_path / f"broker{broker}" / "server.log").write_text(f"{started}\n")

    assert len(judged(ensemble)["clusters"]) == 1


def test_transactions_of_two_zookeepers_are_told_apart_and_not_judged(tmp_path: Path) -> None:
    for name, broker in (("one", 1), ("two", 2)):
        ensemble = Ensemble(tmp_path / name)
        ensemble.elected(broker=broker, session=broker)
        ensemble.log.close()
    result = checked([str(tmp_path / "one" / "version-2" / "log.1"),
                      str(tmp_path / "two" / "version-2" / "log.1")], engine="local")  # fmt: skip

    ((kind, why),) = about(result, "one_cluster_in_a_folder")
    assert kind == "not judged"
    assert "two ZooKeepers lie together" in why


def answers(engine: Engine) -> tuple[list[Finding], dict[str, int]]:
    corpus = engine.ingest(discover([str(RECORDED / "unseen-2.3")]), None)
    found = engine.judge(corpus)
    return found.findings, dict(found.checked)


def test_of_a_cluster_that_is_judged_in_parts_every_transaction_is_looked_at() -> None:
    whole, parts = answers(LocalEngine()), answers(LocalEngine(whole=10, part=3000))

    assert [one.rule for one in whole[0]] == [SEEN]
    assert parts[0] == whole[0]
    assert parts[1][SEEN] == whole[1][SEEN] == 3


def damaged(tmp_path: Path, name: str, data: bytes) -> TransactionLogReader:
    path = tmp_path / name
    path.write_bytes(data)
    log = TransactionLogReader(str(path))
    list(log)
    return log


def test_a_cut_or_preallocated_end_is_the_end_and_damage_is_named(tmp_path: Path) -> None:
    whole = (RECORDED / "kafka-2.3.1" / "version-2" / "log.1").read_bytes().rstrip(b"\0")
    count = damaged(tmp_path, "whole", whole).read

    for cut in (whole[:-1], whole[:-40], whole[:-40] + bytes(500), whole[:-1] + bytes(1)):
        log = damaged(tmp_path, "cut", cut)
        assert (log.reason, log.read) == (None, count - 1)
    for rest in (bytes(3), bytes(4000)):
        log = damaged(tmp_path, "padded", whole + rest)
        assert (log.reason, log.read) == (None, count)

    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    log = damaged(tmp_path, "flipped", bytes(flipped))
    assert log.reason is not None
    assert "is damaged" in log.reason
    assert log.read == count - 1
    assert log.whole_since > 1  # a hole, before what could be read again


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"hello", "is no transaction log of ZooKeeper"), (b"ZKLG\0\0\0\3" + bytes(8), "version 3")],
)
def test_what_is_no_such_log_is_said_in_a_line(tmp_path: Path, data: bytes, why: str) -> None:
    assert why in (damaged(tmp_path, "log.1", data).reason or "")


def test_damage_is_told_and_what_is_behind_it_is_not_put_together_with_what_was_before(
    ensemble: Ensemble, tmp_path: Path
) -> None:
    ensemble.requested("t")
    ensemble.topic("a")
    middle = (ensemble.log.folder / "log.1").stat().st_size - 20
    for name in "bcd":
        ensemble.topic(name)
    ensemble.log.close()
    path = ensemble.log.folder / "log.1"
    data = bytearray(path.read_bytes())
    data[middle] ^= 1
    path.write_bytes(bytes(data))
    result = judged(ensemble)

    assert result["verdict"] == "unknown"
    assert "damaged" in result["unreadable"][0]["reason"]
    assert [kind for kind, _ in about(result, SEEN)] == ["incomplete"]

"""`insync inspect`: what lies on several brokers' disks, left by our brokers, and planted."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from conformance.disks.inspect_directories import inspect
from conformance.disks.predicted_truncation import EpochRuns, truncated_end
from conformance.pipeline.spark import SparkEngine
from impl.log.record import StoredRecord
from impl.log.record_batch import batches_in, encode_batch
from impl.server.cluster import Cluster
from specs.rendering import as_data
from tests.cli.clusters import SETTINGS, done, eventually

LOG = "orders-0/00000000000000000000.log"


def _tells(file: Path, words: str) -> bool:
    return words in file.read_text()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Three brokers' disks: 2 was killed while it followed, 1 and 3 wrote on and were stopped."""
    folder = tmp_path_factory.mktemp("outer") / "cluster"
    lines = "".join(f"line {number}\n" for number in range(60))
    try:
        done(f"cluster start {folder} --brokers 3 --version 2.3 {SETTINGS} "
             "--set replica.high.watermark.checkpoint.interval.ms=200 "
             "--set log.index.interval.bytes=100")  # fmt: skip
        done(f"topics --create --zookeeper {folder} --topic orders "
             "--replica-assignment 1:2:3")  # fmt: skip
        done(f"produce --broker-list {folder} --topic orders --batch-size 5 --idempotent", lines)
        mark = folder / "broker2/data/replication-offset-checkpoint"
        eventually(lambda: mark.exists() and "orders 0 60" in mark.read_text(), "60 replicated")
        done(f"cluster kill {folder} 2")
        # Records come once 2 has left the ISR: within a fetch session a leader tells a high
        # watermark once, and a follower that hears of a new leader epoch meanwhile ignores it.
        eventually(lambda: "Isr: 1,3" in done(f"topics --describe --zookeeper {folder}"), "2 left")
        done(f"produce --broker-list {folder} --topic orders --batch-size 5", lines)
        for number in (1, 3):
            mark = folder / f"broker{number}/data/replication-offset-checkpoint"
            eventually(partial(_tells, mark, "orders 0 120"), "120 committed")
        done(f"cluster stop {folder}")
        yield folder
    finally:
        found = Cluster(folder)
        found.stop(10)
        assert not found.running()


@pytest.fixture
def disks(written: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "disks"
    for number in (1, 2, 3):
        shutil.copytree(written / f"broker{number}/data", folder / f"broker{number}/data")
    return folder


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["inspect", *map(str, arguments)])


def inspected(*arguments: object) -> Any:
    result = run(*arguments, "--json", "-")
    found = json.loads(result.stdout)
    assert (
        result.exit_code
        == {"holds": 0, "broken": 1, "unknown": 2, "not checked": 3}[found["verdict"]]
    )
    return found


def changed(path: Path, change: Callable[[bytearray], None]) -> None:
    data = bytearray(path.read_bytes())
    change(data)
    path.write_bytes(bytes(data))


def batch(path: Path, number: int) -> tuple[int, Any]:
    return list(batches_in(path.read_bytes()))[number]


# --- what brokers leave


def test_disks_of_a_killed_follower_and_two_stopped_brokers_hold(disks: Path):
    before = digest(disks)

    found = inspected(disks)

    assert found["verdict"] == "holds"
    assert found["findings"] == []
    (partition,) = found["partitions"]
    assert [(each["broker"], each["end"], each["high_watermark"]) for each in
            partition["replicas"]] == [(1, 120, 120), (2, 60, 60), (3, 120, 120)]  # fmt: skip
    assert [each["clean_shutdown"] for each in found["directories"]] == [True, False, True]
    assert digest(disks) == before  # nothing is written, nor made


def test_what_a_follower_would_cut_is_shown_for_each_leader_and_an_unclean_one_is_named(
    disks: Path,
):
    found = inspected(disks)["partitions"][0]["cuts"]

    assert {(each["leader"], each["follower"], each["clean"]) for each in found} == {
        (2, 1, False), (2, 3, False)
    }  # fmt: skip
    assert all(each["end"] == 120 and each["to"] <= 60 for each in found)
    assert "(broker 2 leads, uncleanly)" in run(disks).stdout


def test_up_to_0_10_a_follower_cuts_to_its_own_high_watermark(disks: Path):
    mark = disks / "broker3/data/replication-offset-checkpoint"
    mark.write_text(mark.read_text().replace("orders 0 120", "orders 0 90"))

    old, new = inspected(disks, "--version", "0.10"), inspected(disks, "--version", "2.7")

    assert {each["rule"] for each in old["findings"]} == {"a_restart_keeps_what_is_committed"}
    assert old["verdict"] == "unknown"
    assert new["verdict"] == "holds"


def test_spark_finds_the_same(disks: Path, spark: SparkEngine):
    changed(disks / f"broker1/data/{LOG}", lambda data: data.__setitem__(-3, data[-3] ^ 1))
    changed(disks / f"broker3/data/{LOG}", lambda data: data.__delitem__(slice(-30, None)))

    here, there = (
        inspect([str(disks)], "2.7", lambda text: None, spark=spark) for spark in (False, True)
    )

    assert here.findings
    assert as_data(here) == as_data(there)


# --- planted damage


def flip(data: bytearray) -> None:
    data[-3] ^= 1


def another_epoch(path: Path, since: int, epoch: int) -> None:
    """Batches from one on get another leader epoch, which lies outside their checksums."""
    places = list(batches_in(path.read_bytes()))

    def change(data: bytearray) -> None:
        for at, _ in places[since:]:
            data[at + 12 : at + 16] = epoch.to_bytes(4, "big")

    changed(path, change)


def other_records(path: Path, number: int) -> None:
    """One batch has other records, of the same offsets and epoch, and a right checksum."""
    at, old = batch(path, number)
    records = [
        StoredRecord(offset, old.max_timestamp, None, b"other %d" % offset, ())
        for offset in range(old.base_offset, old.next_offset)
    ]
    new = encode_batch(records, old.leader_epoch)
    changed(path, lambda data: data.__setitem__(slice(at, at + old.size), new))


def shorter(disks: Path, broker: int, batches: int) -> int:
    """A log that ends after so many batches, with checkpoints that fit; where it ends."""
    data = disks / f"broker{broker}/data"
    at, first = batch(data / LOG, batches)
    changed(data / LOG, lambda content: content.__delitem__(slice(at, None)))
    for name in ("replication-offset-checkpoint", "recovery-point-offset-checkpoint"):
        path = data / name
        path.write_text(path.read_text().replace("orders 0 120", f"orders 0 {first.base_offset}"))
    for path in (data / "orders-0").glob("*.*index"):
        path.write_bytes(b"")
    return int(first.base_offset)


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def mark_above(data: Path) -> None:
    edited(data / "replication-offset-checkpoint", "orders 0 120", "orders 0 131")


def recovery_above(data: Path) -> None:
    edited(data / "recovery-point-offset-checkpoint", "orders 0 120", "orders 0 131")


def epoch_elsewhere(data: Path) -> None:
    path = data / "orders-0/leader-epoch-checkpoint"
    path.write_text("0\n2\n0 0\n1 33\n")


def epochs_turned(data: Path) -> None:
    (data / "orders-0/leader-epoch-checkpoint").write_text("0\n2\n3 0\n1 60\n")


def epoch_falls(data: Path) -> None:
    another_epoch(data / LOG, 5, 7)
    at, _ = batch(data / LOG, 9)
    changed(data / LOG, lambda content: content.__setitem__(slice(at + 12, at + 16), b"\0" * 4))


def index_elsewhere(data: Path) -> None:
    changed(data / LOG.replace(".log", ".index"),
            lambda content: content.__setitem__(slice(8, 16), b"\0\0\0\x09\0\0\0\x03"))  # fmt: skip


def torn_checkpoint(data: Path) -> None:
    (data / "replication-offset-checkpoint").write_bytes(b"\0" * 20)


def torn_meta(data: Path) -> None:
    (data / "meta.properties").write_bytes(b"")


def torn_epochs(data: Path) -> None:
    (data / "orders-0/leader-epoch-checkpoint").write_text("0\n4\n0 0\n")


@pytest.mark.parametrize(
    "plant, rule, file",
    [
        (lambda data: changed(data / LOG, flip), "batches_are_whole", LOG),
        (mark_above, "high_watermark_is_in_the_log", "replication-offset-checkpoint"),
        (recovery_above, "checkpoints_are_in_the_log", "recovery-point-offset-checkpoint"),
        (epoch_elsewhere, "epochs_fit_batches", "orders-0/leader-epoch-checkpoint"),
        (epochs_turned, "epochs_fit_batches", "orders-0/leader-epoch-checkpoint"),
        (epoch_falls, "epochs_grow", LOG),
        (index_elsewhere, "indexes_fit_segments", LOG.replace(".log", ".index")),
        (torn_checkpoint, "files_can_be_read", "replication-offset-checkpoint"),
        (torn_meta, "files_can_be_read", "meta.properties"),
        (torn_epochs, "files_can_be_read", "orders-0/leader-epoch-checkpoint"),
        (lambda data: another_epoch(data / LOG, 4, 9), "replicas_agree", "orders-0"),
        (lambda data: other_records(data / LOG, 3), "replicas_agree", "orders-0"),
    ],
)  # fmt: skip
def test_planted_damage_of_a_stopped_broker_is_found_in_its_file(
    disks: Path, plant: Callable[[Path], None], rule: str, file: str
):
    data = disks / "broker1/data"
    plant(data)

    found = inspected(disks)

    assert found["verdict"] == "broken"
    broken = [each for each in found["findings"] if each["kind"] == "broken"]
    assert rule in {each["rule"] for each in broken}
    files = {each["file"] for each in broken if each["rule"] == rule}
    assert files <= {str(disks / f"broker{n}/data" / file) for n in (1, 2, 3)}


def test_a_damaged_batch_is_reported_with_its_byte_and_the_last_good_offset(disks: Path):
    log = disks / f"broker3/data/{LOG}"
    at, one = batch(log, 6)
    changed(log, lambda data: data.__setitem__(at + 70, data[at + 70] ^ 4))

    (finding,) = inspected(disks)["findings"]

    assert finding["place"] == f"byte {at + 17}"
    assert f"the last offset before it is {one.base_offset - 1}" in finding["why"]


def test_divergence_is_reported_by_offset_and_epochs(disks: Path):
    log = disks / f"broker3/data/{LOG}"
    _, one = batch(log, 4)
    another_epoch(log, 4, 9)

    found = [f for f in inspected(disks)["findings"] if f["rule"] == "replicas_agree"]

    assert {each["place"] for each in found} == {f"offset {one.base_offset}"}
    assert all("leader epoch 0 and 9" in each["why"] for each in found)


def test_what_is_committed_and_lies_on_one_disk_is_at_risk(disks: Path):
    end = shorter(disks, 3, 15)

    found = inspected(disks)

    (finding,) = found["findings"]
    assert found["verdict"] == "unknown"
    assert (finding["kind"], finding["rule"]) == ("at risk", "more_than_one_has_it")
    assert finding["place"] == f"offsets {max(end, 60)} to 119"


def test_a_batch_that_a_kill_cut_is_usual_and_the_start_that_cuts_it_is_reported(disks: Path):
    log = disks / f"broker2/data/{LOG}"
    first, _ = batch(log, 0)
    log.write_bytes(log.read_bytes() + log.read_bytes()[first : first + 40])

    found = inspected(disks)

    (finding,) = found["findings"]
    assert found["verdict"] == "holds"
    assert finding["kind"] == "usual"
    assert "the next start cuts the log to 60" in finding["why"]


def test_a_start_that_cuts_below_the_high_watermark_is_at_risk(disks: Path):
    log = disks / f"broker2/data/{LOG}"
    changed(log, lambda data: data.__delitem__(slice(-30, None)))

    found = inspected(disks)

    rules = {(each["kind"], each["rule"]) for each in found["findings"]}
    assert ("at risk", "batches_are_whole") in rules
    assert ("broken", "high_watermark_is_in_the_log") in rules


def test_a_damaged_snapshot_and_what_a_cleaning_left_are_usual(disks: Path):
    data = disks / "broker1/data/orders-0"
    (snapshot,) = data.glob("*.snapshot")
    changed(snapshot, flip)
    (data / "00000000000000000000.log.cleaned").write_bytes(b"")

    found = inspected(disks)

    assert found["verdict"] == "holds"
    assert {(each["kind"], each["rule"]) for each in found["findings"]} == {
        ("usual", "snapshots_are_whole"), ("usual", "nothing_is_left_over"),
    }  # fmt: skip


def test_a_partition_in_two_directories_of_a_broker_is_broken(disks: Path):
    shutil.copytree(disks / "broker1/data", disks / "broker1/more")

    found = inspected(disks)

    assert {each["rule"] for each in found["findings"]} == {"one_replica_a_broker"}


# --- wrong use


def test_bad_input_is_one_line(disks: Path, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    other = disks / "broker3/data/meta.properties"
    for number in (1, 2):
        path = disks / f"broker{number}/data/meta.properties"
        path.write_text(path.read_text() + "cluster.id=aaaaaaaaaaaaaaaaaaaaaa\n")
    other.write_text(other.read_text() + "cluster.id=bbbbbbbbbbbbbbbbbbbbbb\n")
    cases = {
        (tmp_path / "empty",): "holds no log directory",
        (tmp_path / "nowhere",): "is not there",
        (other,): "is a file",
        (disks,): "name the directories of one cluster",
        (disks, "--master", "local[2]"): "--master is for --engine spark",
        (disks, "--version", "new"): "name a release such as 2.7",
    }
    for arguments, said in cases.items():
        result = run(*arguments)
        assert result.exit_code == 64
        assert said in result.stderr
        assert result.stderr.count("\n") == 1


def digest(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found.update(str((path.relative_to(folder), path.stat().st_mtime_ns)).encode())
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


# --- the model's truncation


@pytest.mark.parametrize(
    "preset, ends",
    [("0.10", (5, 5)), ("0.11", (8, 6)), ("1.1", (8, 6)), ("2.0", (8, 5)), ("2.7", (8, 5))],
)
def test_each_release_cuts_by_its_own_rules(preset: str, ends: tuple[int, int]):
    # KIP-101: the leader's epoch 0 ends at 8. KIP-279: it never had the follower's epoch 1.
    one = truncated_end(
        EpochRuns(((0, 0, 10),), 0, 10, 5), EpochRuns(((0, 0, 8), (1, 8, 12)), 0, 12, 8), preset
    )
    two = truncated_end(
        EpochRuns(((0, 0, 5), (1, 5, 9)), 0, 9, 5),
        EpochRuns(((0, 0, 6), (2, 6, 12)), 0, 12, 6),
        preset,
    )

    assert (one, two) == ends


def test_many_offsets_are_no_more_work_than_few():
    began = time.process_time()
    held = EpochRuns(((3, 0, 10**12), (900, 10**12, 10**12 + 7)), 0, 10**12 + 7, 10**12)
    leader = EpochRuns(((3, 0, 10**12), (901, 10**12, 10**12 + 2)), 0, 10**12 + 2, 10**12)

    assert truncated_end(held, leader, "2.7") == 10**12
    assert time.process_time() - began < 5

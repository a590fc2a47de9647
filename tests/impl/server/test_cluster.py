from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from impl.server.clients import Client, ClientError, Consumer, Producer
from impl.server.cluster import Cluster, new_state
from impl.server.processes import ClusterError, lock_folder
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.impl.server.conftest import SETTINGS, Start
from tests.waiting import PATIENCE_S, eventually


def registered(client: ZnodeClient) -> LeaderIsrAndControllerEpoch:
    found = wait(client.state(TopicPartition("t", 0)))
    assert found is not None
    return found


def values(cluster: Cluster, topic: str, partition: int = 0) -> list[bytes | None]:
    with Consumer(cluster.addresses()) as consumer:
        consumer.partitions(topic, time.monotonic() + PATIENCE_S)
        return [record.value for record in consumer.read_all(topic, partition)]


def test_what_was_acknowledged_survives_its_leaders_sudden_end_and_a_restart(start: Start):
    cluster = start(3)
    client = ZnodeClient(cluster.session(), cluster.release)
    wait(client.create_topic("t", {0: [1, 2, 3]}))

    with Producer(cluster.addresses()) as producer:
        sent = [b"%d" % number for number in range(20)]
        producer.send("t", sent[:10])
        cluster.kill(1)
        producer.send("t", sent[10:])
    after_the_kill = registered(client)
    cluster.start()
    rejoined = eventually(lambda: set(registered(client).isr) == {1, 2, 3})
    read = values(cluster, "t")
    cluster.stop()
    cluster.start()
    again = values(cluster, "t")

    assert after_the_kill.leader != 1
    assert 1 not in after_the_kill.isr
    assert rejoined
    assert read == again == sent
    client.port.close()


def isr_in_metadata(client: Client) -> list[int]:
    """The ISR of t-0 as a broker tells it."""
    [topic] = [one for one in client.refresh().topics if one.name == "t"]
    return list(topic.partitions[0].isr_nodes)


def test_too_small_an_isr_refuses_a_record_that_all_must_have(start: Start):
    cluster = start(2, min_insync_replicas="2")
    client = ZnodeClient(cluster.session(), cluster.release)
    wait(client.create_topic("t", {0: [1, 2]}))

    with Producer(cluster.addresses(), timeout_s=2) as producer:
        producer.send("t", [b"both"])
        cluster.kill(2)
        # The leader was notified as well: of it, every broker hears after the leader's own order.
        assert eventually(lambda: isr_in_metadata(producer) == [1])
        with pytest.raises(ClientError) as refused:
            producer.send("t", [b"one alone"])

    assert refused.value.code == "NOT_ENOUGH_REPLICAS"
    assert values(cluster, "t") == [b"both"]
    client.port.close()


def test_a_corrupt_segment_takes_its_partition_offline_and_the_rest_goes_on(start: Start):
    cluster = start(1, num_network_threads="2")
    client = ZnodeClient(cluster.session(), cluster.release)
    wait(client.create_topic("t", {0: [1], 1: [1], 2: [1]}))
    with Producer(cluster.addresses()) as producer:
        for partition in (0, 1, 2):
            producer.send("t", [b"x"], partition=partition)
    cluster.stop()

    data = cluster.folder / "broker1" / "data"
    (data / "t-0" / "leader-epoch-checkpoint").write_text("0\nmany\n")
    (data / "t-2" / f"{0:020}.log").write_bytes(b"\0" * 100)
    cluster.start()

    assert values(cluster, "t", 1) == [b"x"]
    reported = (cluster.folder / "logs" / "broker1" / "insync.log").read_text()
    offline = [line for line in reported.splitlines() if " is offline: " in line]
    assert len(offline) == 2
    assert f"Partition t-0 is offline: {data}/t-0/leader-epoch-checkpoint: line 2" in offline[0]
    assert f"Partition t-2 is offline: {data}/t-2/{0:020}.log: byte 8: " in offline[1]
    assert (
        "The configuration 'num.network.threads' was supplied but has no effect here: a thr"
        in reported
    )
    client.port.close()


def test_a_failed_directory_gives_its_leaders_away_and_the_others_stay(start: Start):
    cluster = start(
        2, log_dirs="d1,d2", replica_high_watermark_checkpoint_interval_ms="200",
        auto_leader_rebalance_enable="false",
    )  # fmt: skip
    client = ZnodeClient(cluster.session(), cluster.release)
    wait(client.create_topic("t", {number: [1, 2] for number in range(4)}))
    with Producer(cluster.addresses()) as producer:
        for partition in range(4):
            producer.send("t", [b"x"], partition=partition)
    failed = cluster.folder / "broker1" / "d1"
    gone = {int(one.name[2:]) for one in failed.iterdir() if one.is_dir()}
    shutil.rmtree(failed)

    def leaders() -> dict[int, int]:
        found = {}
        for number in range(4):
            state = wait(client.state(TopicPartition("t", number)))
            found[number] = -1 if state is None else state.leader
        return found

    expected = {number: 2 if number in gone else 1 for number in range(4)}
    moved = eventually(lambda: leaders() == expected)

    assert 0 < len(gone) < 4
    assert moved, f"{leaders()} instead of {expected}"
    assert [values(cluster, "t", number) for number in range(4)] == [[b"x"]] * 4
    client.port.close()


def test_up_to_0_11_one_failed_directory_ends_the_broker(start: Start):
    cluster = start(
        2, "0.11", log_dirs="d1,d2", replica_high_watermark_checkpoint_interval_ms="200",
    )  # fmt: skip
    client = ZnodeClient(cluster.session(), cluster.release)
    wait(client.create_topic("t", {0: [1, 2]}))
    with Producer(cluster.addresses()) as producer:
        producer.send("t", [b"x"])
    (cluster.folder / "broker1" / "d1").rename(cluster.folder / "broker1" / "taken away")
    (cluster.folder / "broker1" / "d1").write_text("no directory")

    ended = eventually(lambda: cluster.pid("broker1") is None)
    led = eventually(lambda: registered(client).leader == 2)
    with pytest.raises(ClusterError) as refused:
        cluster.start(15)

    reported = (cluster.folder / "logs" / "broker1" / "insync.log").read_text()
    assert ended
    assert "Halting due to unrecoverable I/O error" in reported
    assert led
    assert "a log directory cannot be used" in str(refused.value)
    assert values(cluster, "t") == [b"x"]
    client.port.close()


def test_a_second_process_on_one_directory_is_refused(start: Start, tmp_path: Path):
    cluster = start(1)
    twin = new_state([1], "2.3", cluster.state.connect, settings=SETTINGS)
    twin.ports = {1: new_state([1]).ports[1]}
    other = Cluster.create(tmp_path / "other", twin)
    (tmp_path / "other" / "broker1").mkdir()
    (tmp_path / "other" / "broker1" / "data").symlink_to(cluster.folder / "broker1" / "data")

    with pytest.raises(ClusterError) as refused:
        other.start(15)
    with lock_folder(cluster.folder), pytest.raises(ClusterError, match="is being changed by"):
        with lock_folder(cluster.folder):
            pass

    assert "another broker uses this directory" in str(refused.value)
    assert not other.running()


def test_a_start_that_fails_leaves_nothing_running(tmp_path: Path):
    state = new_state([1, 2], settings=SETTINGS)
    state.ports[2] = state.ports[1]
    cluster = Cluster.create(tmp_path / "c", state)

    with pytest.raises(ClusterError, match=r"broker\d ended at once; it said: .*Address already"):
        cluster.start()

    assert cluster.running() == []


def test_a_broker_without_an_id_gets_one_and_keeps_it(start: Start):
    cluster = start(1)
    cluster.state.settings["broker.id"] = "-1"
    cluster.stop_one(1)
    for left in (cluster.folder / "broker1" / "data").iterdir():
        left.unlink()

    cluster._launch("broker1", 20)
    client = ZnodeClient(cluster.session(), cluster.release)
    generated = eventually(lambda: list(wait(client.brokers())) == [1001])
    cluster.stop_one(1)
    cluster._launch("broker1", 20)
    kept = eventually(lambda: list(wait(client.brokers())) == [1001])

    assert generated
    assert kept
    client.port.close()

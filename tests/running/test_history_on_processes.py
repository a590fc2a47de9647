"""A follower of 0.10 cuts away what was committed, on real processes, and is elected (KIP-101)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli.check import check
from impl.server.clients import Consumer, Producer
from impl.server.cluster import TRACE, Cluster, new_state
from impl.znodes import TopicPartition
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.waiting import eventually

SESSION_S = 9.0
SETTINGS = {
    "zookeeper.session.timeout.ms": str(int(SESSION_S * 1000)),
    "controlled.shutdown.enable": "false",  # so that a follower that restarts stays in the ISR
    "replica.fetch.wait.max.ms": "60000",  # the high watermark comes with the next record
    "replica.socket.timeout.ms": "90000",
    "replica.lag.time.max.ms": "90000",
}
T0 = TopicPartition("t", 0)


class LostRecord:
    """What a producer was told, and what consumers find afterwards; the cluster's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        state = new_state([1, 2, 3], "0.10", "embedded", settings=SETTINGS)
        state.trace = True
        cluster = Cluster.create(folder, state)
        try:
            self._play(cluster)
        finally:
            for one in cluster.brokers:
                if cluster.paused(f"broker{one}"):
                    cluster.resume(one)
            cluster.stop(20)

    def _play(self, cluster: Cluster) -> None:
        cluster.start()
        port = cluster.session(60_000)
        zk = ZnodeClient(port, cluster.release)
        controller = wait(zk.controller())
        leader, follower = (one for one in (1, 2, 3) if one != controller)
        assert controller is not None
        wait(zk.create_topic("t", {0: [leader, follower]}))
        with Producer(cluster.addresses(), acks=-1, request_ms=20_000) as producer:
            producer.partitions("t", time.monotonic() + 20)
            self.acknowledged = [producer.send("t", [one])[0].offset for one in (b"m1", b"m2")]
        # The controller is suspended, and so nobody is told that the follower restarts; then the
        # leader is, before it could send the follower what that cuts away.
        cluster.pause(controller)
        time.sleep(SESSION_S / 2)
        cluster.stop_one(follower)
        cluster.pause(leader)
        cluster.start(only=f"broker{follower}")  # it becomes controller, and tells itself to follow

        def leads() -> bool:
            state = wait(zk.state(T0))
            return state is not None and state.leader == follower

        assert eventually(leads, 60)
        port.close()
        with Consumer([cluster._address(follower)]) as consumer:
            consumer.partitions("t", time.monotonic() + 20)
            self.left = [one.value for one in consumer.read("t", 0, 0, wait_ms=100)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> LostRecord:
    return LostRecord(tmp_path_factory.mktemp("history") / "cluster")


def test_a_record_that_the_whole_isr_had_acknowledged_is_lost(run: LostRecord) -> None:
    assert run.acknowledged == [0, 1]
    assert run.left == [b"m1"]
    cut = "Truncating log t-0 to offset 1."
    assert any(cut in one.read_text() for one in run.folder.glob("logs/*/server.log"))


def test_check_says_of_its_logs_that_they_hold_as_far_as_the_control_plane_goes(
    run: LostRecord,
) -> None:
    done = CliRunner().invoke(check, [str(run.folder / "logs")])

    assert "verdict: holds (control plane only; except: " in done.output


def test_check_names_the_lost_record_by_the_traces_which_tell_of_fetches(run: LostRecord) -> None:
    done = CliRunner().invoke(check, [str(run.folder / TRACE)])

    assert done.exit_code == 1
    assert "no_message_loss: a leader has every committed record" in done.output
    assert "has no more than offset 1; below 2 is committed" in done.output

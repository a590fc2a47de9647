"""How long a partition has no leader that answers, after a kill and after a controlled shutdown.

    python -m tests.bench.failover                    # a minute; on a quiet machine
    python -m tests.bench.failover --rounds 20 --version 2.7 --json failover.json

The leader of a partition with 3 replicas is killed (SIGKILL), or instructed to end (SIGTERM), in
turn, while every broker is sent a record every few milliseconds. Of a kill counts the time from
when ZooKeeper has let go of the broker (its session is over) until another broker has taken a
record; of a shutdown the time between the last record that the old leader took and the first of the
new one. Leaves with 1 if a median is longer than the aim (1 s, and 0.3 s).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from impl.log import StoredRecord, encode_batch
from impl.server.cluster import Cluster, new_state
from impl.server.connection import Connection, Disconnected
from impl.wire import Fields
from impl.znodes import TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.clients.conftest import SETTINGS

PARTITION = TopicPartition("failover", 0)
KILL, SHUTDOWN = "kill", "shutdown"
AIMS_S = {KILL: 1.0, SHUTDOWN: 0.3}
EVERY_S = 0.005
PATIENCE_S = 30.0


class ProbeThread(threading.Thread):
    """Sends records to one broker, whether it leads or not, and notes when it took one."""

    def __init__(self, address: tuple[str, int]) -> None:
        super().__init__(daemon=True)
        self.address = address
        self.taken: list[float] = []
        self.ended = threading.Event()

    def run(self) -> None:
        """On and on."""
        records = encode_batch([StoredRecord(0, int(time.time() * 1000), None, b"x")])
        topic = Fields(
            name=PARTITION.topic,
            partition_data=[Fields(index=PARTITION.partition, records=records)],
        )
        body = Fields(transactional_id=None, acks=1, timeout=timedelta(seconds=1),
                      topic_data=[topic])  # fmt: skip
        connection = Connection(self.address, timeout_s=2.0, client_id="failover")
        while not self.ended.wait(EVERY_S):
            with contextlib.suppress(Disconnected):
                answer = connection.ask("Produce", 3, body)
                if not answer.responses[0].partition_responses[0].error_code:
                    self.taken.append(time.monotonic())
        connection.close()


@contextlib.contextmanager
def sending(cluster: Cluster) -> Iterator[dict[int, ProbeThread]]:
    """Senders to all brokers, by broker."""
    senders = dict(zip(cluster.brokers, map(ProbeThread, cluster.addresses()), strict=True))
    for one in senders.values():
        one.start()
    try:
        yield senders
    finally:
        for one in senders.values():
            one.ended.set()
        for one in senders.values():
            one.join()


def one_round(cluster: Cluster, client: ZnodeClient, kind: str) -> float:
    """Seconds without a leader that answers. TimeoutError."""
    until(lambda: len(isr(client)) == 3)
    state = wait(client.state(PARTITION))
    assert state is not None, "the topic is there"
    leader = state.leader
    with sending(cluster) as senders:
        until(lambda: bool(senders[leader].taken))
        began = time.monotonic()
        if kind == KILL:
            cluster.signal(f"broker{leader}", signal.SIGKILL)
            until(lambda: wait(client.port.exists(paths.broker(leader))) is None)
            began = time.monotonic()
        else:
            cluster.signal(f"broker{leader}", signal.SIGTERM)
        others = [one for broker, one in senders.items() if broker != leader]
        until(lambda: any(one.taken for one in others))
    first = min(one.taken[0] for one in others if one.taken)
    cluster.wait_gone([f"broker{leader}"], PATIENCE_S)
    cluster.start(only=f"broker{leader}")
    last = senders[leader].taken[-1] if kind == SHUTDOWN else began
    return max(0.0, first - last)


def isr(client: ZnodeClient) -> tuple[int, ...]:
    """Who is in sync."""
    state = wait(client.state(PARTITION))
    return () if state is None else tuple(state.isr)


def until(holds: Callable[[], bool]) -> None:
    """Wait; TimeoutError."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {PATIENCE_S:.0f} s")
        time.sleep(0.002)


def measured(version: str, rounds: int) -> dict[str, list[float]]:
    """Seconds of each round, by kind."""
    found: dict[str, list[float]] = {KILL: [], SHUTDOWN: []}
    with tempfile.TemporaryDirectory(prefix="insync-failover-") as folder:
        state = new_state((1, 2, 3), version, settings=SETTINGS)
        cluster = Cluster.create(Path(folder) / "c", state)
        cluster.start()
        port = cluster.session()
        try:
            client = ZnodeClient(port, cluster.release)
            wait(client.create_topic(PARTITION.topic, {PARTITION.partition: [1, 2, 3]}))
            for _ in range(rounds):
                for kind, values in found.items():
                    values.append(one_round(cluster, client, kind))
        finally:
            port.close()
            cluster.stop(20)
    return found


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and say whether it is fast enough."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.failover", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--version", default="2.3", help="of the brokers")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    load = os.getloadavg()[0]
    found = measured(given.version, given.rounds)
    print(f"load {load:.2f}; seconds without a leader that answers")
    for kind, values in found.items():
        print(f"{kind:9} median {statistics.median(values):.3f}, worst {max(values):.3f}, "
              f"aim {AIMS_S[kind]:.1f}")  # fmt: skip
    if given.json is not None:
        given.json.write_text(json.dumps({"load": load, **found}, indent=2) + "\n")
    return 0 if all(statistics.median(found[kind]) <= AIMS_S[kind] for kind in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

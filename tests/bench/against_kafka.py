"""How fast our brokers are beside Apache Kafka's: the same client, one cluster after the other.

    python -m tests.bench.against_kafka                       # two minutes; on a quiet machine
    python -m tests.bench.against_kafka --records 200000 --rounds 3
    python -m tests.bench.against_kafka --only ours --json ours.json

Kafka's own producer-perf-test sends records of 1 KB with acks=all to a topic of 3 partitions on 3
brokers, and its consumer-perf-test reads them, of the release that the brokers are of too. First
one cluster and then the other, round after round, each after as many records to warm up; the
median counts. Brokers have Kafka's defaults, and nobody stands between them and the client. On a
machine that others use as well, MB a second mean little: the processor's time that all brokers
together need for a MB, which is measured too, means more. Leaves with 1 if a record is missing,
with 64 where Kafka's jars or a Java for them are not here.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from conformance.kafka.download import NotDownloaded
from conformance.kafka.java import NoJava
from conformance.kafka.lab import LOOPBACK, PROXIES, Lab
from impl.server.cluster import Cluster, new_state
from impl.server.processes import Processes
from tests.clients.scripts import Scripts

RECORD_BYTES = 1024
TOPIC = "bench"
BROKERS = (1, 2, 3)
HEAP = ("-Xms1g", "-Xmx1g", "-XX:+UseG1GC")
SETTINGS = {
    "num.partitions": "3",
    "default.replication.factor": "3",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
}
OURS, KAFKAS = "insync", "kafka"
_SENT = re.compile(r"^(\d+) records sent, [\d.]+ records/sec \(([\d.]+) MB/sec\).* ([\d.]+) ms avg",
                   re.MULTILINE)  # fmt: skip


@dataclass(frozen=True)
class RoundFigures:
    """Of one round: MB are of 1024 * 1024 bytes, as the tests have them; ``read`` are records.

    ``write_cpu_ms`` and ``read_cpu_ms`` are the brokers' for a MB, all three together.
    """

    brokers: str
    load: float
    write_mb_s: float
    latency_ms: float
    read_mb_s: float
    write_cpu_ms: float
    read_cpu_ms: float
    sent: int
    read: int


class PlainLab(Lab):
    """Kafka's brokers without proxies before them, and with the logging that they come with."""

    def names(self) -> list[str]:
        """Its processes, without the proxies."""
        return [name for name in super().names() if name != PROXIES]

    @property
    def bootstrap_servers(self) -> str:
        """Where its brokers listen."""
        return ",".join(f"{LOOPBACK}:{self.own_port(one)}" for one in self.brokers)

    def _broker_command(self, number: int) -> list[str]:
        _, *rest = super()._broker_command(number)
        folder = self.folder / f"broker{number}"
        (folder / "log4j.properties").write_text(
            "log4j.rootLogger=INFO, server\nlog4j.appender.server=org.apache.log4j.FileAppender\n"
            f"log4j.appender.server.File={self.logs(number) / 'server.log'}\n"
            "log4j.appender.server.layout=org.apache.log4j.PatternLayout\n"
            "log4j.appender.server.layout.ConversionPattern=[%d] %p %m (%c)%n\n",
            encoding="utf-8",
        )
        java = self._java(self._libs())[0]
        return [java, *HEAP, *rest[next(at for at, one in enumerate(rest) if "log4j" in one) :]]

    def _properties(self, number: int) -> str:
        lines = {
            "broker.id": str(number),
            "listeners": f"PLAINTEXT://{LOOPBACK}:{self.own_port(number)}",
            "zookeeper.connect": f"{LOOPBACK}:{self.state.zookeeper}",
            "log.dirs": str(self.data(number)),
            **SETTINGS,
        }
        return "".join(f"{name}={value}\n" for name, value in lines.items())


@contextlib.contextmanager
def kafkas(folder: Path, scripts: Scripts) -> Iterator[tuple[Processes, str]]:
    """Kafka's brokers, and where they listen."""
    lab = PlainLab(Lab.create(folder, scripts.release, BROKERS).folder)
    try:
        lab.start()
        yield lab, lab.bootstrap_servers
    finally:
        lab.kill_all()


@contextlib.contextmanager
def ours(folder: Path, scripts: Scripts) -> Iterator[tuple[Processes, str]]:
    """Our brokers of the same release, and where they listen."""
    version = ".".join(map(str, scripts.release.parts[:2]))
    cluster = Cluster.create(folder, new_state(BROKERS, version, settings=SETTINGS))
    try:
        cluster.start()
        yield cluster, cluster.bootstrap_servers
    finally:
        cluster.stop(20)


CLUSTERS = {OURS: ours, KAFKAS: kafkas}


def measured(name: str, scripts: Scripts, records: int, folder: Path) -> RoundFigures:
    """One round on a new cluster, whose brokers have warmed up on another topic."""
    with CLUSTERS[name](folder, scripts) as (processes, servers):
        _send(scripts, servers, "warm", records)
        load, began = os.getloadavg()[0], cpu_s(processes)
        sent, rate, latency = _send(scripts, servers, TOPIC, records)
        written = cpu_s(processes)
        out = scripts.run(
            "kafka-consumer-perf-test", "--broker-list", servers, "--topic", TOPIC,
            "--messages", str(records), "--timeout", "60000", patience_s=600,
        ).out  # fmt: skip
        whole = cpu_s(processes)
        heads, values = (line.split(", ") for line in out.splitlines()[-2:])
        read = dict(zip(heads, values, strict=True))
    megabytes = records * RECORD_BYTES / 2**20
    return RoundFigures(
        name, load, rate, latency, float(read["fetch.MB.sec"]),
        1000 * (written - began) / megabytes, 1000 * (whole - written) / megabytes,
        sent, int(read["data.consumed.in.nMsg"]),
    )  # fmt: skip


def cpu_s(processes: Processes) -> float:
    """Seconds of processor time that the brokers have used."""
    ticks = 0
    for number in BROKERS:
        stat = Path(f"/proc/{processes.pid(f'broker{number}')}/stat").read_text(encoding="utf-8")
        user, system = stat.rpartition(")")[2].split()[11:13]
        ticks += int(user) + int(system)
    return ticks / os.sysconf("SC_CLK_TCK")


def _send(scripts: Scripts, servers: str, topic: str, records: int) -> tuple[int, float, float]:
    """Records that were acknowledged, MB a second, and milliseconds that one took."""
    ran = scripts.run(
        "kafka-producer-perf-test", "--topic", topic, "--num-records", str(records),
        "--record-size", str(RECORD_BYTES), "--throughput", "-1", "--producer-props", "acks=all",
        f"bootstrap.servers={servers}", patience_s=900,
    )  # fmt: skip
    found = _SENT.findall(ran.out)
    if ran.code or not found:
        raise RuntimeError(f"the producer failed: {ran.said[-500:]}")
    sent, rate, latency = found[-1]
    return int(sent), float(rate), float(latency)


def summary(found: Sequence[RoundFigures]) -> dict[str, float]:
    """The ratios of the medians, ours to Kafka's; none where one of them did not run."""
    ratios = {}
    for what in ("write_mb_s", "read_mb_s", "write_cpu_ms", "read_cpu_ms"):
        middle = {
            name: statistics.median(values)
            for name in CLUSTERS
            if (values := [getattr(one, what) for one in found if one.brokers == name])
        }
        if len(middle) == len(CLUSTERS):
            ratios[what] = middle[OURS] / middle[KAFKAS]
    return ratios


def main(arguments: Sequence[str]) -> int:
    """Measure, print, and say whether anything is missing."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.against_kafka", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--version", default="2.3.1", help="the release of both")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", choices=sorted(CLUSTERS), help="one of both clusters alone")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args(arguments)
    try:
        scripts = Scripts(given.version, ("-Xms256m", "-Xmx512m", "-XX:+UseG1GC"))
    except (NotDownloaded, NoJava, ValueError) as error:
        print(error, file=sys.stderr)
        return 64
    names = [given.only] if given.only else list(CLUSTERS)
    found: list[RoundFigures] = []
    print("brokers    load  write MB/s  latency ms  read MB/s  write CPU ms/MB  read CPU ms/MB")
    with tempfile.TemporaryDirectory(prefix="insync-against-") as folder:
        for number in range(given.rounds):
            for name in names if number % 2 == 0 else reversed(names):
                one = measured(name, scripts, given.records, Path(folder) / f"{name}-{number}")
                found.append(one)
                print(f"{name:8} {one.load:6.2f} {one.write_mb_s:11.2f} {one.latency_ms:11.1f} "
                      f"{one.read_mb_s:10.2f} {one.write_cpu_ms:16.1f} {one.read_cpu_ms:15.1f}",
                      flush=True)  # fmt: skip
    ratios = summary(found)
    for what, ratio in ratios.items():
        print(f"{what}: {ratio:.3f} of Kafka's")
    if given.json is not None:
        kept = {"records": given.records, "rounds": [asdict(one) for one in found], **ratios}
        given.json.write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    whole = all(one.sent == given.records and one.read >= given.records for one in found)
    return 0 if whole else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

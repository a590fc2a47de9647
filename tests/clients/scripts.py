"""Kafka's own scripts, run as their main classes on the jars of a release.

`insync kafka fetch 3.9.1` has Maven get them, to where $INSYNC_KAFKA_CACHE says.
"""

from __future__ import annotations

import functools
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

from conformance.kafka.download import NotDownloaded, cache_folder, has_tools, libs_of
from conformance.kafka.java import java_for
from conformance.kafka.releases import KafkaRelease, release_of

JVM = ("-Xms32m", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

CLASSES = {
    "kafka-topics": ("kafka.admin.TopicCommand", "org.apache.kafka.tools.TopicCommand"),
    "kafka-reassign-partitions": (
        "kafka.admin.ReassignPartitionsCommand",
        "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    ),
    "kafka-configs": ("kafka.admin.ConfigCommand",),
    "kafka-preferred-replica-election": ("kafka.admin.PreferredReplicaLeaderElectionCommand",),
    "kafka-leader-election": (
        "kafka.admin.LeaderElectionCommand", "org.apache.kafka.tools.LeaderElectionCommand",
    ),
    "kafka-console-producer": ("kafka.tools.ConsoleProducer",),
    "kafka-console-consumer": (
        "kafka.tools.ConsoleConsumer", "org.apache.kafka.tools.consumer.ConsoleConsumer",
    ),
    "kafka-verifiable-producer": ("org.apache.kafka.tools.VerifiableProducer",),
    "kafka-verifiable-consumer": ("org.apache.kafka.tools.VerifiableConsumer",),
    "kafka-producer-perf-test": ("org.apache.kafka.tools.ProducerPerformance",),
    "kafka-consumer-perf-test": (
        "kafka.tools.ConsumerPerformance", "org.apache.kafka.tools.ConsumerPerformance",
    ),
    "kafka-consumer-groups": (
        "kafka.admin.ConsumerGroupCommand",
        "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    ),
    "kafka-log-dirs": ("kafka.admin.LogDirsCommand", "org.apache.kafka.tools.LogDirsCommand"),
    "kafka-broker-api-versions": ("kafka.admin.BrokerApiVersionsCommand",),
    "kafka-run-class GetOffsetShell": (
        "kafka.tools.GetOffsetShell", "org.apache.kafka.tools.GetOffsetShell",
    ),
}  # fmt: skip
"""By script, the class that it runs: where it began, and where it went (KAFKA-14525)."""


@dataclass(frozen=True)
class Ran:
    """What a script printed, and how it left."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """All that it printed."""
        return f"{self.out}\n{self.err}"


class Scripts:
    """Those of a release. NotFetched, NoJava, NoRelease if they cannot be run here."""

    def __init__(self, version: str, jvm: tuple[str, ...] = JVM) -> None:
        self.release: KafkaRelease = release_of(version)
        self.libs = libs_of(self.release)
        if not has_tools(self.release, self.libs):
            raise NotDownloaded(
                f"the jars of Kafka {version} in the cache are without its tools; "
                f"write: insync kafka fetch {version}"
            )
        self.java = java_for(self.release, cache_folder())
        self.jvm = jvm

    def has(self, script: str) -> bool:
        """The release has such a script."""
        return any(one in _classes(self.libs) for one in CLASSES[script])

    def command(self, script: str, *arguments: str) -> list[str]:
        """How to run it. KeyError if the release has no such script."""
        for name in CLASSES[script]:
            if name in _classes(self.libs):
                path = str(self.libs / "*")
                return [str(self.java), *self.jvm, "-cp", path, name, *arguments]
        raise KeyError(f"Kafka {self.release.text} has no {script}")

    def run(self, script: str, *arguments: str, given: str = "", patience_s: float = 90) -> Ran:
        """Run it to its end; ``given`` is its standard input. TimeoutExpired."""
        done = subprocess.run(
            self.command(script, *arguments), input=given, capture_output=True, text=True,
            timeout=patience_s, check=False,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr)


@functools.cache
def _classes(libs: Path) -> frozenset[str]:
    """Kafka's classes in a folder of jars, by their full names."""
    found: set[str] = set()
    for jar in sorted(libs.glob("kafka*.jar")):
        with zipfile.ZipFile(jar) as packed:
            found |= {
                name.removesuffix(".class").replace("/", ".")
                for name in packed.namelist()
                if name.endswith(".class") and "$" not in name
            }
    return frozenset(found)

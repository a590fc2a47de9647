"""Releases of Apache Kafka in ZooKeeper mode: coordinates, the Java that fits, request versions.

Source: the releases' own POMs, `ApiKeys`, `KafkaController.doWork` (which version of LeaderAndIsr a
controller sends at which inter-broker protocol), and ZooKeeper's release notes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

RELEASES = (
    "0.10.2.2", "0.11.0.3", "1.0.2", "1.1.1", "2.0.0", "2.0.1", "2.1.0", "2.1.1", "2.2.2", "2.3.1",
    "2.4.1", "2.5.1", "2.6.3", "2.7.2", "2.8.2", "3.3.2", "3.9.1",
)  # fmt: skip
"""Releases that the lab was made for; `fetch` takes any other of 0.10.2 to 3.9 too."""

FIRST, LAST = (0, 10, 2), (3, 9)
TOOLS = "kafka-tools"
"""The artifact of what its scripts run beside the classes of its core."""


class NoRelease(ValueError):
    """The text names no release that the lab can run; the message lists those that it can."""


@dataclass(frozen=True)
class KafkaRelease:
    """One release. ``text`` is its version as published, such as 2.3.1."""

    text: str

    @property
    def parts(self) -> tuple[int, ...]:
        """The numbers of its version, comparable."""
        return tuple(int(part) for part in self.text.split("."))

    def since(self, text: str) -> bool:
        """Whether this release is that one or a later one."""
        return self.parts >= tuple(int(part) for part in text.split("."))

    @property
    def why_no_trace(self) -> str | None:
        """Why its log cannot be traced: only the log lines of 1.1 to 2.8 are known."""
        if self.since("1.1") and not self.since("3.0"):
            return None
        return f"what Kafka {self.text} did is not traced: its lines are known from 1.1 to 2.8"

    @property
    def scala(self) -> str:
        """The Scala version that its artifact is named after."""
        return "2.13" if self.since("2.6") else "2.12" if self.since("2.1") else "2.11"

    @property
    def dependencies(self) -> list[tuple[str, str, str]]:
        """Maven coordinates: group, artifact, version.

        Kafka's POM leaves out what its own archive adds: the logging back end, the tools, what they
        read and print with, and for 0.10 to 1.1 `javax.xml.bind`, which Java has no more since 11.
        """
        found = [
            ("org.apache.kafka", f"kafka_{self.scala}", self.text),
            ("org.apache.kafka", TOOLS, self.text),
            ("net.sourceforge.argparse4j", "argparse4j", "0.7.0"),
        ]
        if not self.since("1.0"):
            found += [("com.fasterxml.jackson.core", "jackson-databind", "2.8.5")]
        if self.since("3.2"):
            found += [("org.slf4j", "slf4j-reload4j", "1.7.36")]
        else:
            found += [("org.slf4j", "slf4j-log4j12", "1.7.30"), ("log4j", "log4j", "1.2.17")]
        if not self.since("2.0"):
            found += [("javax.xml.bind", "jaxb-api", "2.3.1")]
        return found

    @property
    def newest_java(self) -> int:
        """The newest usable Java: ZooKeeper's client 3.4 (to Kafka 2.3) fails on Java 14 and up."""
        return 21 if self.since("2.4") else 13

    @property
    def protocol(self) -> str:
        """The inter-broker protocol.

        Releases from 2.7 on use 2.6, as while a cluster is upgraded: leaders then write the ISR to
        ZooKeeper themselves, and logs are truncated by OffsetsForLeaderEpoch, as in the model.
        """
        if self.since("2.7"):
            return "2.6"
        count = 3 if self.parts[0] == 0 else 2
        return ".".join(self.text.split(".")[:count])

    @property
    def produce(self) -> int:
        """A version of Produce whose records are of the release's own format."""
        return 3 if self.since("0.11") else 2

    @property
    def caches_epochs(self) -> bool:
        """Whether the leader stores leader epochs of fetches within a session (KAFKA-9338)."""
        return self.since("2.5") or not self.since("2.1")


def release_of(text: str) -> KafkaRelease:
    """Reads a version such as 2.3.1, or a line such as 2.3 for its listed release. NoRelease."""
    listed = ", ".join(RELEASES)
    if not re.fullmatch(r"\d+(\.\d+){1,3}", text):
        raise NoRelease(f"{text!r} is no release of Kafka; write one such as 2.3.1 ({listed})")
    if text not in RELEASES:
        of_line = [one for one in RELEASES if one.startswith(f"{text}.")]
        if of_line:
            return KafkaRelease(of_line[-1])
    found = KafkaRelease(text)
    length = 4 if found.parts[0] == 0 else 3
    if not found.parts[:3] >= FIRST or found.parts[:2] > LAST or len(found.parts) != length:
        raise NoRelease(
            f"Kafka {text} does not run here: releases with ZooKeeper from 0.10.2 to 3.9 do, "
            f"by their whole number ({listed})"
        )
    return found

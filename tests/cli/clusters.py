"""What the tests of running clusters share: commands as typed, waiting with an end."""

from __future__ import annotations

import importlib.util
import json
import shlex
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main
from impl.server.clients import ClientError, Producer
from impl.server.cluster import Cluster
from impl.zookeeper.server import NoServer, find_jars, find_java
from tests import waiting

SETTINGS = (
    "--set zookeeper.session.timeout.ms=6000 --set replica.fetch.backoff.ms=100 "
    "--set controlled.shutdown.max.retries=1"
)


def need_real_zookeeper() -> None:
    """Skip where a real ZooKeeper cannot be started."""
    if importlib.util.find_spec("kazoo") is None:
        pytest.skip("kazoo is not installed, so nothing here can talk to a real ZooKeeper")
    try:
        find_java()
        find_jars()
    except NoServer as why:
        pytest.skip(f"no real ZooKeeper here: {why}")


def typed(line: str, sent: str | None = None) -> Result:
    """Run a command as typed, with lines on standard input."""
    return CliRunner().invoke(main, shlex.split(line), input=sent)


def done(line: str, sent: str | None = None) -> str:
    """As ``typed``, and it must go well; what it prints."""
    result = typed(line, sent)
    assert result.exit_code == 0, f"insync {line}: {result.output}"
    return result.stdout


def answer(line: str) -> Any:
    """As ``done``, read as JSON."""
    return json.loads(done(f"{line} --json -"))


@contextmanager
def cluster(folder: Path, options: str) -> Iterator[Path]:
    """A cluster that is started with these options; nothing of it runs afterwards."""
    try:
        done(f"cluster start {folder} {options} {SETTINGS}")
        yield folder
    finally:
        found = Cluster(folder)
        found.stop(10)
        assert not found.running()


def eventually(holds: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Wait until something holds; it has to."""
    assert waiting.eventually(holds, seconds), f"not within {seconds:.0f} s: {what}"


def isrs(folder: Path, topic: str) -> list[tuple[int, set[int]]]:
    """Leader and ISR of each partition, as --describe prints them."""
    rows = done(f"topics --describe --zookeeper {folder} --topic {topic}").splitlines()[1:]
    found = []
    for row in rows:
        fields = dict(part.split(": ") for part in row.lstrip("\t").split("\t"))
        members = {int(one) for one in fields["Isr"].split(",") if one}
        found.append((-1 if fields["Leader"] == "none" else int(fields["Leader"]), members))
    return found


class SenderThread(threading.Thread):
    """Sends numbered records with acks=all, one after the other, until it is asked to end."""

    def __init__(self, cluster: Cluster, topic: str) -> None:
        super().__init__(name="sender", daemon=True)
        self.cluster = cluster
        self.topic = topic
        self.acknowledged: list[bytes] = []
        self.failed = 0
        self.ended = threading.Event()

    def run(self) -> None:
        number = 0
        with Producer(self.cluster.addresses(), request_ms=1000, timeout_s=3) as producer:
            while not self.ended.wait(0.005):
                value = b"%d" % number
                number += 1
                try:
                    producer.send(self.topic, [value])
                    self.acknowledged.append(value)
                except ClientError:
                    self.failed += 1

    def end(self) -> None:
        self.ended.set()
        self.join(15)
        assert not self.is_alive()

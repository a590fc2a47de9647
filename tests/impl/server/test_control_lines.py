"""What the controller of a broker logs when the broker ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from impl.releases import Release
from impl.server.control import Control
from impl.server.log4j_files import Log4jFiles
from impl.server.properties import parse_properties
from impl.server.topic_configs import TopicConfigs
from impl.znodes import BrokerInfo
from impl.zookeeper import EmbeddedSession, ZooKeeper

PROPERTIES = "zookeeper.connect=h:1\nlog.dirs=a\n"


@pytest.mark.parametrize("elected", [False, True])
@pytest.mark.parametrize(
    ("release", "last"),
    [
        ("0.11", ["[Controller 4]: Broker 4 resigned as the controller"]),
        ("2.3", ["[ControllerEventThread controllerId=4] Stopped", "[Controller id=4] Resigned"]),
    ],
)
def test_every_broker_resigns_once_its_event_thread_has_stopped(
    tmp_path: Path, release: str, last: list[str], elected: bool
) -> None:
    version, session = Release.of(release), EmbeddedSession(ZooKeeper())
    info = BrokerInfo(("PLAINTEXT://h:9092",), 0)
    control = Control(
        4, session, parse_properties("p", PROPERTIES, version), Log4jFiles(tmp_path, 4, version),
        info, TopicConfigs(print), lambda: session, lambda kind, name: None,
    )  # fmt: skip
    control.controller.active = elected
    control.stop()
    control.run()

    lines = (tmp_path / "controller.log").read_text().splitlines()
    said = [line.split("INFO ", 1)[1].rsplit(" (", 1)[0] for line in lines]
    assert said[-len(last) :] == last

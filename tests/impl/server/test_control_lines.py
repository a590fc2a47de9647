"""What the controller of a broker logs when the broker ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from impl.releases import Release
from impl.server.controller_event_thread import ControllerEventThread
from impl.server.log4j_files import Log4jFiles
from impl.server.properties import parse_properties
from impl.server.topic_configs import TopicConfigs
from impl.znodes import BrokerInfo
from impl.zookeeper import EmbeddedSession, ZooKeeper, wait

PROPERTIES = "zookeeper.connect=h:1\nlog.dirs=a\n"


class LoggedControl:
    """Broker 4's event thread, not started, and what it logs."""

    def __init__(self, folder: Path, release: str) -> None:
        version, session = Release.of(release), EmbeddedSession(ZooKeeper())
        info = BrokerInfo(("PLAINTEXT://h:9092",), 0)
        self.log = folder / "controller.log"
        self.control = ControllerEventThread(
            4, session, parse_properties("p", PROPERTIES, version),
            Log4jFiles(folder, 4, version), info, TopicConfigs(print, version), lambda: session,
            lambda kind, name: None,
        )  # fmt: skip

    def said(self) -> list[str]:
        """Its lines, without time and logger."""
        lines = [line for line in self.log.read_text().splitlines() if line.startswith("[")]
        return [line.split("] ", 1)[1].rsplit(" (", 1)[0] for line in lines]


@pytest.mark.parametrize(
    ("release", "head"),
    [
        ("0.11", "[controller-event-thread]: "),
        ("1.1", "[ControllerEventThread controllerId=4] "),
        ("2.3", "[Controller id=4] "),
    ],
)
@pytest.mark.parametrize(
    ("heard", "event"),
    [
        ("/brokers/ids", "BrokerChange"),
        ("/brokers/ids/7", "BrokerModifications(7)"),
        ("/brokers/topics/t", "PartitionModifications(t)"),
        ("topics_changed", "TopicChange"),
    ],
)
def test_an_event_that_fails_is_named_as_kafka_names_it(
    tmp_path: Path, release: str, head: str, heard: str, event: str
) -> None:
    broker = LoggedControl(tmp_path, release)
    wait(broker.control.lines.event_failed(heard, "ValueError: abc"))

    assert broker.said() == [f"ERROR {head}Error processing event {event}"]
    assert broker.log.read_text().endswith("\nValueError: abc\n")


def test_up_to_0_10_the_listener_says_that_it_failed(tmp_path: Path) -> None:
    broker = LoggedControl(tmp_path, "0.10")
    for heard in ("/brokers/ids", "/brokers/topics", "/brokers/topics/t"):
        wait(broker.control.lines.event_failed(heard, "ValueError: abc"))

    assert broker.said() == [
        "ERROR [BrokerChangeListener on Controller 4]: Error while handling broker changes",
        "ERROR [TopicChangeListener on Controller 4]: Error while handling new topic",
        "ERROR [PartitionModificationsListener on Controller 4]: Error while handling add "
        "partitions for data path /brokers/topics/t",
    ]


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
    broker = LoggedControl(tmp_path, release)
    broker.control.current_controller.active = elected
    broker.control.stop()
    broker.control.run()

    assert broker.said()[-len(last) :] == [f"INFO {line}" for line in last]

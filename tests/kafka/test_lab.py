"""A lab that cannot start: the port, or what the process said, in one line."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli.main import main
from conformance.kafka.lab import Lab
from impl.server.processes import ClusterError
from impl.zookeeper.server import free_ports

NAMES = ["zookeeper", "proxies", "broker1", "proxies", "proxies"]


def lab_in(folder: Path) -> tuple[Lab, list[int]]:
    """One of one broker, and its five ports."""
    zookeeper, control, *ports = free_ports(5)
    state = {"format": "insync.kafka_lab/1", "version": "2.3.1", "home": None, "settings": {},
             "zookeeper": zookeeper, "control": control, "ports": {"1": ports}}  # fmt: skip
    (folder / "lab.json").write_text(json.dumps(state))
    return Lab(folder), [zookeeper, control, *ports]


@pytest.mark.parametrize("which", range(len(NAMES)))
def test_a_port_that_is_taken_is_named_before_anything_is_started(
    which: int, tmp_path: Path
) -> None:
    lab, ports = lab_in(tmp_path)

    with socket.create_server(("127.0.0.1", ports[which])):
        with pytest.raises(ClusterError) as error:
            lab.start()

    assert f"port {ports[which]}, which {NAMES[which]} has here, is taken" in str(error.value)
    assert lab.running() == []
    assert not (tmp_path / "zookeeper").exists()


def test_the_last_lines_of_a_broker_begin_with_the_error_of_its_last_start(tmp_path: Path) -> None:
    lab, _ = lab_in(tmp_path)
    log = lab.logs(1) / "server.log"
    log.parent.mkdir(parents=True)
    log.write_text(
        "[1] INFO starting (kafka.server.KafkaServer)\n[2] ERROR another (x)\n"
        "[3] INFO starting (kafka.server.KafkaServer)\n[4] ERROR Fatal error (x)\n"
        "some.Exception: broker.id 7\n\tat some.Class\n[5] INFO shutting down (x)\n[6] INFO (x)\n"
    )
    assert lab.last_lines("broker1") == (
        "[4] ERROR Fatal error (x) | some.Exception: broker.id 7 | [5] INFO shutting down (x)"
    )

    log.write_text("[1] INFO a\n[2] INFO b\n[3] INFO c\n[4] INFO d\n")
    assert lab.last_lines("broker1") == "[2] INFO b | [3] INFO c | [4] INFO d"
    assert lab.last_lines("zookeeper") == "nothing"


def test_a_new_lab_whose_start_is_interrupted_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(lab: Lab, only: str | None = None) -> None:
        (lab.folder / "run").mkdir()
        raise KeyboardInterrupt

    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "kafka_2.12-2.3.1.jar").touch()
    monkeypatch.setattr(Lab, "start", interrupted)
    monkeypatch.setattr("conformance.kafka.lab.java_for", lambda release, cache: Path("java"))
    words = ["kafka", "start", str(tmp_path / "lab"), "--home", str(tmp_path / "home")]

    for _ in range(2):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 130, done.output
        assert not (tmp_path / "lab").exists()

"""Brokers that count a log which they could not rename as deleted: their logs say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from impl.server.cluster import Cluster, new_state
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.impl.server.conftest import SETTINGS
from tests.pipeline.written import checked
from tests.running.planted_broker import brokers_with
from tests.waiting import PATIENCE_S, eventually

RELEASES = ["2.3", *(pytest.param(one, marks=pytest.mark.deep) for one in ("1.1", "2.7"))]
"""Up to 0.11 a directory that fails ends the broker."""
NAMED, ENDED = "a_deleted_log_is_renamed", "topic_deletion_ends_after_all_logs_are_deleted"


def deletion(
    folder: Path, release: str = "2.3", patience_s: float = PATIENCE_S
) -> tuple[bool, dict[str, Any]]:
    """A topic is deleted whose one folder on broker 2 is not there; whether it goes, the check."""
    cluster = Cluster.create(
        folder, new_state([1, 2], release, "embedded", settings=SETTINGS | {"log.dirs": "d1,d2"})
    )
    try:
        cluster.start()
        port = cluster.session()
        client = ZnodeClient(port, cluster.release)
        log = folder / "logs" / "broker2" / "server.log"
        wait(client.create_topic("t", {0: [1, 2]}))
        assert eventually(lambda: "Created log for partition t-0" in log.read_text())
        (here,) = (folder / "broker2").glob("d?/t-0")
        here.rename(here.parent.parent / "taken away")
        wait(client.request_deletion("t"))
        assert eventually(lambda: "Stopping serving logs in dir" in log.read_text())
        gone = eventually(lambda: "t" not in topics(client), patience_s)
        port.close()
    finally:
        cluster.stop(10)
    return gone, checked(folder / "logs")


def topics(client: ZnodeClient) -> list[str]:
    return list(wait(client.topics()))


def findings(result: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Kind, rule, file and its line, as it stands there."""
    return [
        (row["kind"], row["rule"], Path(row["file"]).name, said(row))
        for row in result["findings"]
        if row["rule"] in (NAMED, ENDED)
    ]


def said(row: dict[str, Any]) -> str:
    line: str = Path(row["file"]).read_text(encoding="utf-8").splitlines()[row["line"] - 1]
    return line


def test_a_topic_stays_while_a_log_of_it_cannot_be_renamed_and_the_check_holds(tmp_path: Path):
    gone, result = deletion(tmp_path / "c", patience_s=2.0)

    assert not gone
    assert findings(result) == []
    assert "violation" not in {row["kind"] for row in result["findings"]}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("fault", "rule", "file", "says"),
    [("a-failed-rename-is-reported-as-done", NAMED, "server.log",
      "Log for partition t-0 is renamed to "),
     ("a-failed-rename-is-answered-as-done", ENDED, "controller.log",
      "Deletion of topic t successfully completed")],
)  # fmt: skip
def test_a_topic_that_goes_though_a_log_could_not_be_renamed_is_found_at_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, rule: str, file: str, says: str,
    release: str,
):  # fmt: skip
    brokers_with(monkeypatch, fault)

    gone, result = deletion(tmp_path / "c", release)

    assert (gone, result["verdict"]) == (True, "broken")
    ((*found, line),) = findings(result)
    assert found == ["violation", rule, file]
    assert says in line

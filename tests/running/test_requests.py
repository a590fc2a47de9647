"""A request to move partitions that the controller passes over: ZooKeeper's trace says so."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conformance.cli.check import checked
from conformance.running.requests import RULE
from conformance.running.running_report import RunningReport, judge_running
from impl.server.cluster import TRACE, Cluster, new_state
from impl.znodes import TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.znodes.partitions import encode_reassignment
from impl.zookeeper.port import wait
from specs.verdict import Verdict
from tests.impl.server.conftest import SETTINGS
from tests.running.planted_broker import brokers_with
from tests.waiting import eventually

SEEN = "reassignment_request_is_handled"
LATER, OLDER = "a-request-after-a-move-is-not-looked-for", "a-request-is-heard-of-once"
"""Who has removed a request looks for the next; up to 0.11 there is a watch for it as well."""
PLANTED = [
    ("2.3", LATER), pytest.param("1.1", LATER, marks=pytest.mark.deep),
    pytest.param("0.11", OLDER, marks=pytest.mark.deep),
    pytest.param("0.10", OLDER, marks=pytest.mark.deep),
    pytest.param("2.7", LATER, marks=pytest.mark.deep),
]  # fmt: skip


def known(client: ZnodeClient, topic: str) -> bool:
    return wait(client.state(TopicPartition(topic, 0))) is not None


def is_taken_up(client: ZnodeClient) -> bool:
    """There is no request for moves any more."""
    return wait(client.port.exists(paths.REASSIGN_PARTITIONS, watch=False)) is None


def two_requests(folder: Path, deletes: bool = False, release: str = "2.3") -> RunningReport:
    """Two partitions are moved, and turned round by another request; two topics are made then, and
    the first may be deleted."""
    state = new_state([1, 2, 3], release, "embedded", settings=SETTINGS)
    state.trace = True
    cluster = Cluster.create(folder, state)
    both = [TopicPartition("t", number) for number in (0, 1)]
    try:
        cluster.start()
        port = cluster.session()
        client = ZnodeClient(port, cluster.release)
        wait(client.create_topic("t", {0: [1, 2], 1: [1, 2]}))
        assert eventually(lambda: all(wait(client.state(one)) for one in both))
        for number, target in enumerate(((2, 3), (3, 2))):
            text = encode_reassignment(dict.fromkeys(both, target))
            wait(port.create(paths.REASSIGN_PARTITIONS, text))
            if number == 0:
                assert eventually(partial(is_taken_up, client))
        for newer in ("u", "v", "w"):
            wait(client.create_topic(newer, {0: [1]}))
            assert eventually(partial(known, client, newer))
        if deletes:
            assert eventually(partial(is_taken_up, client))
            wait(client.request_deletion("t"))
            assert eventually(lambda: "t" not in wait(client.topics()))
        port.close()
    finally:
        cluster.stop(10)
    return judge_running(sorted((folder / TRACE).iterdir()), str(folder))


def by_logs(folder: Path) -> dict[str, Any]:
    """What `insync check` says of the logs and of ZooKeeper's transactions, without the trace."""
    return checked([str(folder / "logs"), str(folder / "zookeeper")], engine="local")


def test_each_of_two_requests_is_taken_up_and_who_lives_leaves_isrs_for_moves_and_deletions(
    tmp_path: Path,
):
    assert two_requests(tmp_path / "c", deletes=True).verdict is Verdict.HOLDS
    logs = by_logs(tmp_path / "c")
    assert logs["verdict"] == "holds"
    assert logs["coverage"]["rules"][SEEN] == 2


@pytest.mark.parametrize(("release", "fault"), PLANTED)
def test_a_second_request_that_is_never_seen_breaks_the_trace_at_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, fault: str
):
    brokers_with(monkeypatch, fault)

    report = two_requests(tmp_path / "c", release=release)

    assert report.verdict is Verdict.BROKEN
    (found,) = report.findings
    assert found.rule == RULE
    line = json.loads(Path(found.file).read_text().splitlines()[found.line - 1])
    ((asked,),) = [line["args"]["ops"]]
    assert (asked["op"], asked["path"]) == ("Create", paths.REASSIGN_PARTITIONS)
    assert json.loads(asked["data"])["partitions"][0]["replicas"] == [3, 2]
    assert "states of topics u and v" in found.why
    logs = by_logs(tmp_path / "c")
    assert logs["verdict"] == "broken"
    (missed,) = [one for one in logs["findings"] if one["kind"] == "violation"]
    assert missed["rule"] == SEEN
    assert "t-0, t-1: requested in transaction" in missed["why"]
    assert "controller.log" in missed["why"]

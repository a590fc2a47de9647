"""What controllers do, line by line on `cluster`: whom they tell what, after which watch."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conformance.running.partition import NEW_SESSION
from conformance.running.result import ReplayResult
from conformance.running.running_report import RunningReport, judge_running
from conformance.running.simulated import traced_run
from impl.core.broker_changes import BrokerChanges
from impl.core.event_controller import EventController
from impl.core.replica_manager import ReplicaManager
from impl.core.request_batch import RequestBatch
from impl.world.simulated_broker import SimulatedBroker
from impl.zookeeper.port import wait
from specs.verdict import Verdict
from tests.impl.planted import plant

STEPS = 900


def judged(seed: int, release: str = "2.3", faults: str = "failures") -> RunningReport:
    """A run of three brokers, judged."""
    with TemporaryDirectory() as folder:
        traced_run(Path(folder), seed, STEPS, faults, release)
        return judge_running(sorted(Path(folder).iterdir()))


def on_cluster(report: RunningReport) -> ReplayResult:
    """What became of the lines on `cluster`."""
    return next(one for one in report.replayed if one.name == "cluster")


@pytest.mark.parametrize("release", ["0.11", "2.1", "2.8"])
def test_each_line_of_controllers_and_of_who_obeys_them_is_explained(release: str) -> None:
    done = on_cluster(judged(1, release))
    assert done.misfit is None, done.misfit
    assert not done.unknown
    assert not done.beyond
    assert done.explained == done.lines > 200
    assert done.fired["broker_updates_metadata"] > 50
    assert done.fired["controller_sees_dead_brokers"]


NOTIFIED = Path(__file__).parents[1] / "data" / "traces" / "notified_before_registered.tar.gz"


def test_a_broker_may_write_a_notification_in_its_new_session_before_it_registers(
    tmp_path: Path,
) -> None:
    """Three processes of 2.3, of which one was paused until its session was over: what it had noted
    of an ISR it wrote as soon as it had a session, while it registered (ZooKeeperClient lets other
    threads go on before the callbacks of a new session are done)."""
    with tarfile.open(NOTIFIED) as files:
        files.extractall(tmp_path, filter="data")

    report = judge_running(sorted(tmp_path.iterdir()))

    assert report.verdict is Verdict.HOLDS
    assert on_cluster(report).forced[NEW_SESSION] == 2


def test_a_broker_may_be_refused_an_isr_in_its_new_session_before_it_registers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its leader's thread goes on meanwhile, and ZooKeeper has another leader's state."""
    opens = SimulatedBroker.open_session

    def open_session(broker: SimulatedBroker) -> None:
        opens(broker)
        if broker.up:
            wait(broker.replicas.maybe_shrink_isrs(broker.now_ms() + 60_000))

    monkeypatch.setattr(SimulatedBroker, "open_session", open_session)

    report = judged(1)

    assert report.verdict is Verdict.HOLDS, report.findings
    assert sum(one.forced[NEW_SESSION] for one in report.replayed) == 4


PLANTED: dict[str, tuple[Callable[..., object], str, str, str]] = {
    "a request to an earlier registration is obeyed": (
        ReplicaManager.handle,
        "error = answers.broker_epoch_error(request.broker_epoch, broker_epoch, self.release)",
        "error = NONE",
        "a request names the registration of the broker that obeys it (KIP-380)",
    ),
    "a request of a deposed controller is obeyed": (
        ReplicaManager.handle,
        "error = answers.controller_epoch_error(request.controller_epoch, self.controller_epoch)",
        "error = NONE",
        "a broker refuses a controller only if it knows a newer one",
    ),
    "the registrations are read without a watch": (
        BrokerChanges.changed,
        "registered = await self.core.client.brokers(watch=True)",
        "registered = await self.core.client.brokers()",
        "a controller handles notifications in the order in which they arrived",
    ),
    "an ISR change is read and nobody hears of it": (
        EventController.isrs_changed,
        "await self.core.update_metadata_for(partitions)",
        "pass",
        "a controller sends the same requests as in the model",
    ),
    "who is shutting down hears of no election": (
        RequestBatch.add_leader_and_isr,
        "self.add_update_metadata(self.context.live_or_shutting_down, [partition])",
        "self.add_update_metadata(self.context.live, [partition])",
        "a controller sends the same requests as in the model",
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_fault_in_what_controllers_say_is_named(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, line, otherwise, rule = PLANTED[name]
    plant(monkeypatch, function, line, otherwise)
    found = (on_cluster(judged(seed)).misfit for seed in range(12))
    assert next(one for one in found if one is not None).rule == rule

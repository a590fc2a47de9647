"""What a controller writes of transitions that fail, as the articles quote it; ingest reads it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.ingest.dialects import ANY
from conformance.vectors.implementation.stage import NOW_MS, ControllerStage
from impl.core.controller_parts import ControllerConfig
from impl.core.event_controller import EventController
from impl.core.requests import LeaderAndIsr
from impl.releases import Release
from impl.server.controller_lines import ControllerLines
from impl.server.log4j_files import CONTROLLER, STATE_CHANGE, Log4jFiles
from impl.znodes import TopicPartition, encode_state, paths
from impl.zookeeper.port import wait

LINE = re.compile(r"\[[^]]*\] (\w+) (.*) \((\S+)\)")
T0 = TopicPartition("t", 0)
RELEASES = ["0.10", "0.11", "1.0", "1.1", "2.3", "2.4"]


class Failing:
    """A controller of epoch 1 whose partition t-0, on brokers 2 and 3, loses its leader."""

    def __init__(self, folder: Path, version: str, deletes: bool = True) -> None:
        self.folder, self.stage = folder, ControllerStage(Release.of(version))
        for broker in (1, 2, 3):
            self.stage.start_broker(broker)
        files = Log4jFiles(folder, 1, self.stage.release)
        self.controller = EventController(
            1, self.stage.sessions[1], self.stage.release, self.stage.send,
            ControllerConfig(delete_topics=deletes), ControllerLines(files),
        )  # fmt: skip
        wait(self.controller.elect(NOW_MS))
        self.stage.create_topic("t", {0: (2, 3)})
        self.stage.run(self.controller)
        self.old = files.old
        self.form = "new" if self.stage.release.since("1.1") else "old" if self.old else "1.0"
        self.name = files.name(T0)

    def a_newer_controller_writes(self) -> None:
        """The partition's state has a controller epoch above the controller's own."""
        state = self.stage.state(T0)
        assert state is not None
        newer = encode_state(replace(state, controller_epoch=5))
        wait(self.stage.admin.port.set_data(paths.state("t", 0), newer))

    def leader_dies(self) -> None:
        """And the controller hears of it."""
        self.stage.stop_broker(2)
        self.stage.run(self.controller)

    def errors(self) -> tuple[list[str], list[str]]:
        """The messages of state-change.log's errors, all read by ingest, and what was thrown."""
        lines = (self.folder / STATE_CHANGE).read_text(encoding="utf-8").splitlines()
        found = [(one, LINE.fullmatch(one)) for one in lines]
        errors = [one[2] for _, one in found if one is not None and one[1] == "ERROR"]
        for text in errors:
            assert ANY.read("state.change.logger", text) is not None, text
        return errors, [line for line, one in found if one is None]


@pytest.mark.parametrize("version", RELEASES)
def test_an_election_that_meets_a_newer_controllers_state_is_reported_as_a_soft_failure(
    tmp_path: Path, version: str
):
    failing = Failing(tmp_path, version)
    failing.a_newer_controller_writes()
    failing.leader_dies()

    errors, thrown = failing.errors()
    name = failing.name
    why = (
        f"borted leader election for partition {name} since the LeaderAndIsr path was already "
        "written by another controller. This probably means that the current controller 1 went "
        "through a soft failure and another controller was elected with epoch 5."
    )
    change = f"partition {name} from OfflinePartition to OnlinePartition"
    mine, met = "[Controller id=1 epoch=1] ", f"while electing leader for partition {name} due to: "
    about = [one for one in errors if "of replica" not in one]

    assert (
        about[: 1 if failing.form == "new" else 3]
        == {
            "old": [
                f"Controller 1 epoch 1 a{why}",
                f"Controller 1 epoch 1 encountered error {met}a{why}.",
                f"Controller 1 epoch 1 initiated state change for {change} failed",
            ],
            "1.0": [
                f"{mine}A{why}",
                f"{mine}Encountered error {met}{mine}A{why}",
                f"{mine}Initiated state change for {change} failed",
            ],
            "new": [f"{mine}Controller 1 epoch 1 failed to change state for {change}"],
        }[failing.form]
    )
    assert any(one.startswith("kafka.common.") and why in one for one in thrown)


@pytest.mark.parametrize("version", RELEASES)
def test_a_replica_that_cannot_leave_a_newer_controllers_isr_is_reported_as_a_soft_failure(
    tmp_path: Path, version: str
):
    failing = Failing(tmp_path, version)
    failing.a_newer_controller_writes()
    failing.leader_dies()

    errors, thrown = failing.errors()
    change = (
        f"nitiated state change of replica 2 for partition {failing.name} from OnlineReplica to "
        "OfflineReplica failed"
    )
    blank = " " if failing.stage.release.since("2.4") else ""
    why = (
        f"This probably{blank}means the current controller with epoch 1 went through a soft failure"
        " and another controller was elected with epoch 5. Aborting state change by this controller"
    )

    assert [one for one in errors if "of replica" in one] == [
        {
            "old": f"Controller 1 epoch 1 i{change}",
            "1.0": f"[Controller id=1 epoch=1] I{change}",
            "new": f"[Controller id=1 epoch=1] Controller 1 epoch 1 i{change}",
        }[failing.form]
    ]
    assert any(why in one for one in thrown)


@pytest.mark.parametrize("version", RELEASES)
def test_an_election_of_a_partition_without_a_state_is_reported_with_the_state_it_is_in(
    tmp_path: Path, version: str
):
    failing = Failing(tmp_path, version)
    wait(failing.stage.admin.port.delete(paths.state("t", 0)))
    failing.leader_dies()

    errors, thrown = failing.errors()
    why = (
        f"LeaderAndIsr information doesn't exist for partition {failing.name} in OfflinePartition "
        "state"
    )

    assert any(one.startswith("kafka.common.") and why in one for one in thrown)
    assert [one for one in errors if "of replica" not in one][-1].endswith(
        f"failed to change state for partition {failing.name} from OfflinePartition to "
        "OnlinePartition"
        if failing.form == "new"
        else f"nitiated state change for partition {failing.name} from OfflinePartition to "
        "OnlinePartition failed"
    )
    assert failing.form == "new" or any(f"due to: {why}" in one for one in errors)


def test_replicas_whose_disk_failed_are_marked_offline_in_the_log_of_state_changes(tmp_path: Path):
    failing = Failing(tmp_path, "2.3")
    orders = [one for _, one in failing.stage.sent if isinstance(one, LeaderAndIsr)]

    refused = {T0: "KAFKA_STORAGE_ERROR"}
    wait(failing.controller.leader_and_isr_answered(3, orders[-1], "NONE", refused))

    marked = "[Controller id=1] Mark replicas t-0 on broker 3 as offline"
    lines = (tmp_path / STATE_CHANGE).read_text(encoding="utf-8").splitlines()
    assert [one[2] for one in map(LINE.fullmatch, lines) if one and "Mark" in one[2]] == [marked]
    assert ANY.read("state.change.logger", marked) is not None


@pytest.mark.parametrize("version", ["0.10.1", "0.10", "0.11", "1.1", "2.4"])
def test_where_deletion_is_disabled_its_requests_go_since_0_10_2_and_the_log_says_so(
    tmp_path: Path, version: str
):
    failing = Failing(tmp_path, version, deletes=False)
    stage, controller = failing.stage, failing.controller
    wait(stage.admin.request_deletion("t"))
    stage.run(controller)
    left = wait(stage.admin.deletions())
    if not left:
        wait(stage.admin.port.delete(paths.CONTROLLER, -1))
        wait(stage.admin.request_deletion("t"))
        stage.run(controller)

    lines = (tmp_path / CONTROLLER).read_text(encoding="utf-8").splitlines()
    found = [one for one in map(LINE.fullmatch, lines) if one and "elet" in one[2]]
    removals = [(one[2], one[3]) for one in found if "Removing" in one[2] and "Set()" not in one[2]]

    assert not any("Starting topic deletion" in one[2] for one in found)
    if version == "0.10.1":
        assert (left, removals) == (["t"], [])
        return
    assert wait(stage.admin.deletions()) == []
    what = "Set(t)" if stage.release.since("1.1") else "/admin/delete_topics/t"
    text, comma = f"Removing {what} since delete topic is disabled", "" if version == "2.4" else ","
    head, logger = {
        "0.10": (
            "[DeleteTopicsListener on Controller 1]: ",
            "kafka.controller.PartitionStateMachine$DeleteTopicsListener",
        ),
        "0.11": ("[Controller 1]: ", "kafka.controller.KafkaController"),
    }.get(version, ("[Controller id=1] ", "kafka.controller.KafkaController"))
    manager = f"[Topic Deletion Manager 1]{comma} {text}", "kafka.controller.TopicDeletionManager"
    assert removals == [(head + text, logger), manager]
    assert all(ANY.read(logger, line) is not None for line, logger in removals)

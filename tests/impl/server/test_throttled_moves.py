"""The older tool, by ZooKeeper: throttles and directories, in the words of each release."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

import pytest

from impl.admin.errors import AdminError
from impl.admin.port import Admin, Errors, LogDir
from impl.admin.reassign_command import ReassignCommand
from impl.admin.topic_command import TopicCommand
from impl.znodes import TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.impl.server.test_admin import client

T0 = TopicPartition("t", 0)


class Directories:
    """Brokers that can only be asked where replicas are: broker 2 has /d1 and /d2."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[int, dict[TopicPartition, str]]] = []
        self.dirs = [LogDir("/d1", "NONE"), LogDir("/d2", "NONE")]

    def alter_log_dirs(self, broker: int, wanted: Mapping[TopicPartition, str]) -> Errors:
        self.asked.append((broker, dict(wanted)))
        return dict.fromkeys(wanted, self.answers.pop(0))

    def describe_log_dirs(self, broker: int) -> list[LogDir]:
        return self.dirs


def a_topic(version: str) -> ZnodeClient:
    known = client({1: None, 2: None}, version)
    TopicCommand(known, "").create("t", by_hand="1")
    return known


def plan(replicas: list[int], dirs: list[str] | None = None) -> str:
    entry: dict[str, object] = {"topic": "t", "partition": 0, "replicas": replicas}
    if dirs is not None:
        entry["log_dirs"] = dirs
    return json.dumps({"version": 1, "partitions": [entry]})


def arrived(known: ZnodeClient, *replicas: int) -> None:
    """What the controller does in the end."""
    wait(known.port.delete(paths.REASSIGN_PARTITIONS))
    text = json.dumps({"version": 1, "partitions": {"0": list(replicas)}})
    wait(known.port.set_data(paths.topic("t"), text))


@pytest.mark.parametrize(("version", "between"), [("0.11", ""), ("1.1", "inter-broker ")])
def test_a_throttle_is_set_changed_while_it_runs_and_taken_away_at_the_end(
    version: str, between: str
):
    known = a_topic(version)
    command = ReassignCommand(known)

    begun = command.execute(plan([2]), 100)
    topic = wait(known.port.get("/config/topics/t")).data
    changed = command.execute(plan([2]), 200)
    rate = wait(known.port.get("/config/brokers/2")).data
    running = command.verify(plan([2]))
    arrived(known, 2)
    done = command.verify(plan([2]))
    again = command.verify(plan([2]))

    assert begun[-3].startswith("Warning: You must run Verify periodically, until")
    assert begun[-2:] == [
        f"The {between}throttle limit was set to 100 B/s",
        "Successfully started reassignment of partitions.",
    ]
    assert changed == [
        "There is an existing assignment running.",
        f"The {between}throttle limit was set to 200 B/s",
    ]
    assert '"leader.replication.throttled.rate":"200"' in rate
    assert wait(known.port.get("/config/topics/t")).data != topic
    assert '"leader.replication.throttled.replicas":"0:1"' in topic
    assert running[-1] == "Reassignment of partition t-0 is still in progress"
    assert done[-1] == "Throttle was removed."
    assert again[-1] == "Reassignment of partition t-0 completed successfully"
    assert "throttled" not in wait(known.port.get("/config/brokers/1")).data


def test_a_move_that_failed_keeps_its_throttle_up_to_2_5():
    known = a_topic("2.3")
    command = ReassignCommand(known)
    command.execute(plan([2]), 100)

    arrived(known, 1)
    reported = command.verify(plan([2]))

    assert reported[-1] == "Reassignment of partition t-0 failed"
    assert "throttled" in wait(known.port.get("/config/brokers/1")).data


def test_directories_are_asked_for_before_the_move_and_until_it_has_come_there():
    known = a_topic("2.3")
    brokers = Directories("REPLICA_NOT_AVAILABLE", "REPLICA_NOT_AVAILABLE", "NONE")
    command = ReassignCommand(known, admin=cast(Admin, brokers))

    begun = command.execute(plan([2], ["/d2"]))
    brokers.dirs = [LogDir("/d1", "NONE", future=frozenset()), LogDir("/d2", "NONE")]
    missing = command.verify(plan([2], ["/d2"]))
    brokers.dirs = [LogDir("/d1", "NONE", frozenset([T0])), LogDir("/d2", "NONE")]
    elsewhere = command.verify(plan([2], ["/d2"]))
    brokers.dirs[1] = LogDir("/d2", "NONE", future=frozenset([T0]))
    moving = command.verify(plan([2], ["/d2"]))
    wrongly = command.verify(plan([2], ["/d3"]))
    brokers.dirs = [LogDir("/d1", "NONE"), LogDir("/d2", "NONE", frozenset([T0]))]
    done = command.verify(plan([2], ["/d2"]))

    assert begun[-1] == "Successfully started reassignment of partitions."
    assert brokers.asked == [(2, {T0: "/d2"})] * 3
    assert missing[2:] == [
        "Partition t-0 is not found in any live log dir on broker 2. There is likely offline log "
        "directory on the broker.",
        "Reassignment of replica t-0-2 failed",
    ]
    assert elsewhere[2:] == [
        "Partition t-0 on broker 2 is not being moved from log dir /d1 to /d2",
        "Reassignment of replica t-0-2 failed",
    ]
    assert moving[2:] == ["Reassignment of replica t-0-2 is still in progress"]
    assert wrongly[2:] == [
        "Partition t-0 on broker 2 is being moved to log dir /d2 instead of /d3",
        "Reassignment of replica t-0-2 failed",
    ]
    assert done[2:] == ["Reassignment of replica t-0-2 completed successfully"]


def test_directories_need_brokers_to_ask_a_release_that_has_them_and_a_good_answer():
    never = cast(Admin, Directories("REPLICA_NOT_AVAILABLE", "REPLICA_NOT_AVAILABLE"))
    unknown = cast(Admin, Directories("LOG_DIR_NOT_FOUND"))
    late = ReassignCommand(a_topic("2.3"), admin=never, patience_s=0.0)
    text = plan([2], ["/d2"])

    with pytest.raises(AdminError, match="bootstrap-server needs to be provided in order to"):
        ReassignCommand(a_topic("2.3")).execute(text)
    with pytest.raises(AdminError, match=r"since 1\.1"):
        ReassignCommand(a_topic("0.11")).execute(text)
    with pytest.raises(AdminError, match="t-0-2: The user-specified log directory is not found"):
        ReassignCommand(a_topic("2.3"), admin=unknown).execute(text)
    assert late.execute(text)[-1] == "Failed to reassign partitions t-0"

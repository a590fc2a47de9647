from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from impl.admin.elect_command import parse_partitions
from impl.admin.errors import AdminError, AdminOperation
from impl.admin.port import Admin, DescribedPartition
from impl.admin.reassign_command import ReassignCommand
from impl.admin.topic_command import Filters, TopicCommand
from impl.admin.topics_by_brokers import TopicsByBrokers
from impl.releases import Release
from impl.server.admin_client import AdminClient
from impl.wire import Fields
from impl.znodes import BrokerInfo, TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.errors import NoNode
from impl.zookeeper.port import wait
from impl.zookeeper.session import EmbeddedSession
from impl.zookeeper.store import ZooKeeper


def client(racks: dict[int, str | None], version: str = "2.3") -> ZnodeClient:
    """Brokers that are registered, and nobody who acts."""
    found = ZnodeClient(EmbeddedSession(ZooKeeper()), Release.of(version))
    for path in paths.persistent(found.release):
        wait(found.make_path(path))
    for broker, rack in racks.items():
        wait(found.register_broker(broker, BrokerInfo((f"PLAINTEXT://h:{broker}",), 0, rack=rack)))
    return found


def test_replicas_go_to_other_racks_unless_racks_are_not_looked_at():
    known = client({1: "a", 2: "a", 3: "b", 4: "b"})
    command = TopicCommand(known, "", random.Random(1))

    command.create("spread", 8, 2)
    placed = wait(known.topic("spread"))

    assert placed is not None
    assert all(
        len({one > 2 for one in assignment.replicas}) == 2
        for assignment in placed.partitions.values()
    )


def test_incomplete_racks_are_refused_unless_racks_are_not_looked_at():
    command = TopicCommand(client({1: "a", 2: None}), "", random.Random(1))

    with pytest.raises(AdminOperation, match=r"Not all brokers have rack information\. Add"):
        command.create("t", 1, 1)

    assert command.create("t", 1, 1, rack_aware=False) == ["Created topic t."]


def test_what_is_created_is_written_as_kafka_does():
    known = client({1: None})
    TopicCommand(known, "").create("t", 1, 1, configs={"retention.ms": "5"})

    assert wait(known.port.get(paths.config("topics", "t"))).data == (
        '{"version":1,"config":{"retention.ms":"5"}}'
    )
    assert wait(known.port.get(paths.topic("t"))).data == '{"version":1,"partitions":{"0":[1]}}'
    assert wait(known.names(paths.CONFIG_CHANGES)) == []


def test_a_topic_that_is_there_is_left_alone_only_if_that_is_asked_for():
    command = TopicCommand(client({1: None}), "")
    command.create("a.b", 1, 1)

    with pytest.raises(AdminError, match=r"^Topic 'a\.b' already exists\.$"):
        command.create("a.b", 1, 1)
    with pytest.raises(AdminError, match=r"Topic 'a_b' collides with existing topics: a\.b"):
        command.create("a_b", 1, 1)
    assert len(command.create("a.b", 1, 1, if_not_exists=True)) == 1  # the warning alone


def test_a_pattern_names_several_topics():
    known = client({1: None})
    command = TopicCommand(known, "")
    for name in ("apple", "avocado", "pear"):
        command.create(name, 1, 1)

    assert command.list("a.*") == ["apple", "avocado"]
    assert command.list("apple,pear") == ["apple", "pear"]
    command.delete("a.*")
    assert command.list() == [
        "apple - marked for deletion", "avocado - marked for deletion", "pear"
    ]  # fmt: skip
    assert command.delete("apple") == ["Topic apple is already marked for deletion."]


def test_a_deletion_that_zookeeper_refuses_names_the_topic_and_keeps_what_was_done(monkeypatch):
    known = client({1: None})
    command = TopicCommand(known, "")
    for name in ("apple", "pear"):
        command.create(name, 1, 1)
    ask = ZnodeClient.request_deletion

    async def refuses(self, topic):
        if topic == "pear":
            raise NoNode(paths.DELETE_TOPICS)
        await ask(self, topic)

    monkeypatch.setattr(ZnodeClient, "request_deletion", refuses)

    with pytest.raises(AdminOperation, match=r"^Error while deleting topic pear$"):
        command.delete("apple|pear")
    assert command.list() == ["apple - marked for deletion", "pear"]


def test_filters_leave_out_what_is_well():
    known = client({1: None})
    command = TopicCommand(known, "")
    command.create("plain", 1, 1)
    command.create("special", 1, 1, configs={"retention.ms": "5"})

    assert [line.split("\t")[0] for line in command.describe(filters=Filters(with_overrides=True))
            ] == ["Topic:special"]  # fmt: skip
    assert len(command.describe(filters=Filters(unavailable=True))) == 2  # nobody made leaders
    assert len(command.describe()) == 4


class _ThreePartitions:
    """Three partitions of a topic with ``min.insync.replicas=2``; the last has no leader."""

    def describe_topics(self) -> dict[str, list[DescribedPartition]]:
        leaders_and_isrs = ((1, (1,)), (2, (1, 2)), (None, (1, 2, 3)))
        return {"t": [
            DescribedPartition(number, leader, (1, 2, 3), isr)
            for number, (leader, isr) in enumerate(leaders_and_isrs)
        ]}  # fmt: skip

    def brokers(self) -> dict[int, str | None]:
        return {1: None, 2: None}

    def topic_configs(self, topics: Collection[str]) -> dict[str, tuple[dict[str, str], int]]:
        return {"t": ({}, 2)}


@pytest.mark.parametrize(
    ("release", "filters", "partitions"),
    [
        ("2.3", Filters(under_min_isr=True), [0]), ("2.4", Filters(under_min_isr=True), [0, 2]),
        ("2.4", Filters(at_min_isr=True), [1]), ("2.4", Filters(), [0, 1, 2]),
    ],
)  # fmt: skip
def test_partitions_with_too_few_in_sync_or_just_enough_are_described_alone(
    release: str, filters: Filters, partitions: list[int]
):
    command = TopicsByBrokers(cast(Admin, _ThreePartitions()), Release.of(release))

    lines = [line for line in command.describe(filters=filters) if line.startswith("\t")]

    assert [int(line.split("\t")[2].removeprefix("Partition: ")) for line in lines] == partitions


@pytest.mark.parametrize(
    ("release", "whole", "rows"),
    [("0.10.2", [False, False], [False]), ("0.11", [True, False], [True]),
     ("2.3", [True, False], [True]), ("2.4", [True, True], [True])],
)  # fmt: skip
def test_a_topic_that_goes_is_marked_in_its_own_line_and_up_to_2_3_else_in_those_of_partitions(
    release: str, whole: list[bool], rows: list[bool]
):
    command = TopicCommand(client({1: None}, release), "")
    command.create("t", 1, 1)
    command.delete("t")

    def marked(lines: Sequence[str]) -> list[bool]:
        return ["MarkedForDeletion" in line for line in lines]

    assert marked(command.describe("t")) == whole
    assert marked(command.describe("t", Filters(unavailable=True))) == rows


def test_a_running_move_is_not_replaced_and_what_is_asked_for_must_exist():
    known = client({1: None, 2: None})
    TopicCommand(known, "").create("t", by_hand="1")
    command = ReassignCommand(known)
    plan = '{"version":1,"partitions":[{"topic":"t","partition":0,"replicas":[%s]}]}'

    first, second = command.execute(plan % "2"), command.execute(plan % "1")
    waiting = command.verify(plan % "2")

    assert first[-1] == "Successfully started reassignment of partitions."
    assert second == ["There is an existing assignment running."]
    assert wait(known.reassignments()) == {TopicPartition("t", 0): (2,)}
    assert waiting[-1] == "Reassignment of partition t-0 is still in progress"
    with pytest.raises(AdminError, match="non-existent brokerIDs: 9"):
        command.execute(plan % "9")


@pytest.mark.parametrize("text", ["", "[]", "{}"])
def test_an_election_without_partitions_is_refused(text: str):
    with pytest.raises(AdminOperation, match="Preferred replica election data is empty"):
        parse_partitions(text)


def test_an_election_of_no_partition_is_none_and_an_entry_that_is_none_is_named():
    assert parse_partitions('{"partitions":[]}') == []
    with pytest.raises(AdminOperation, match="has an entry that is not such as"):
        parse_partitions('{"partitions":[{}]}')


def test_the_configs_of_many_topics_are_asked_for_in_one_request(monkeypatch: pytest.MonkeyPatch):
    """``TopicCommand.describeTopics`` hands all resources to ``describeConfigs`` at once."""
    asked: list[list[str]] = []

    def answers(_: AdminClient, broker: int | None, api: str, known: int, body: Fields) -> Any:
        names = [one.resource_name for one in body.resources]
        asked.append(names)
        least = SimpleNamespace(
            name="min.insync.replicas", value="2", config_source=1, is_sensitive=False
        )
        return SimpleNamespace(results=[
            SimpleNamespace(resource_name=one, configs=[least], error_code=0) for one in names
        ])  # fmt: skip

    monkeypatch.setattr(AdminClient, "_broker", answers)
    admin = AdminClient.__new__(AdminClient)

    assert admin.topic_configs(["b", "a"]) == {
        one: ({"min.insync.replicas": "2"}, 2) for one in ("a", "b")
    }
    assert admin.topic_configs([]) == {}
    assert asked == [["a", "b"]]

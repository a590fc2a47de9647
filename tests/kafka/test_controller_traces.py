"""What a real controller did, out of its own words: of 2.3, which is silent of some requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conformance.kafka.controller_trace import ControllerTraceReader, states_in, stops_in
from conformance.kafka.protocol_log import LogLine
from conformance.kafka.proxied_requests import ProxiedRequests

EVENTS = "controller-event-thread"
HISTORY = [(5, {1: 5}), (9, {1: 5, 2: 9}), (20, {1: 5}), (30, {1: 5, 2: 30})]
ELECTED = "[Controller id=1] 1 successfully elected as the controller. Epoch incremented to 4 and"
STATE = "controllerEpoch=4, leader=1, leaderEpoch=3, isr=1,2, zkVersion=7, replicas=1,2"
ORDER = f"Sending become-follower LeaderAndIsr request PartitionState({STATE}, isNew=false) to"


def connects(to: int) -> tuple[str, str]:
    return (
        EVENTS,
        f"[Channel manager on controller 1]: Controller 1 trying to connect to broker {to}",
    )


def sends(to: int, number: int, kind: str = "UPDATE_METADATA", parts: str = "") -> tuple[str, str]:
    body = f"{{controller_id=1,controller_epoch=4,broker_epoch=9,topic_states=[{parts}]"
    live = "live_brokers=[{id=1,end_points=[]},{id=2,end_points=[]}]}"
    return (
        f"Controller-1-to-broker-{to}-send-thread",
        f"[Controller id=1, targetBrokerId={to}] Sending {kind} {body},{live} with correlation id "
        f"{number} to node {to}",
    )


def answered(to: int, number: int) -> tuple[str, str]:
    return (
        f"Controller-1-to-broker-{to}-send-thread",
        f"[Controller id=1 epoch=4] Received response {{error_code=0}} for request X with "
        f"correlation id {number} sent to broker 127.0.0.1:1 (id: {to} rack: null)",
    )


def events_of(folder: Path, *reported: tuple[str, str]) -> list[tuple[str, dict[str, Any]]]:
    messages = folder / "messages.jsonl"
    messages.write_text("")
    lines = [
        LogLine(at, float(at), thread, text, "") for at, (thread, text) in enumerate(reported, 1)
    ]
    return [
        event
        for _, event in ControllerTraceReader(1, HISTORY, ProxiedRequests(messages)).run(lines)
    ]


def test_a_request_that_only_its_sending_tells_of_stands_where_such_are_made(
    tmp_path: Path,
) -> None:
    found = events_of(
        tmp_path, (EVENTS, ELECTED), connects(2),
        (EVENTS, "[Controller id=1] Sending update metadata request"),
        (EVENTS, "[Controller id=1] Starting the controller scheduler"),
        (EVENTS, "[Controller id=1] New topics: [Set()]"),
        sends(2, 0),
    )  # fmt: skip

    assert [step for step, _ in found] == ["request_sent", "event_begun"]
    assert found[0][1]["partitions"] == {}
    assert found[0][1]["live"] == [1, 2]


def test_what_is_not_answered_is_sent_again_under_another_number(tmp_path: Path) -> None:
    parts = (
        "{topic=t,partition_states=[{partition=0,controller_epoch=4,leader=1,leader_epoch=3,"
        "isr=[1,2],zk_version=7,replicas=[1,2],is_new=false}]}"
    )
    order = (EVENTS, f"[Controller id=1 epoch=4] {ORDER} broker 2 for partition t-0")
    kind = "LEADER_AND_ISR"
    found = events_of(
        tmp_path, (EVENTS, ELECTED), connects(2), order, (EVENTS, "else"), order,
        sends(2, 0, kind, parts), sends(2, 1, kind, parts), answered(2, 1),
        sends(2, 2, kind, parts),
    )  # fmt: skip

    assert [(args["correlation"], args["again"]) for _, args in found] == [(0, [1]), (2, [])]
    assert found[0][1]["partitions"] == {"t-0": [3, 7]}
    assert found[0][1]["registration"] == 9


def test_what_was_never_sent_has_no_number(tmp_path: Path) -> None:
    order = (EVENTS, f"[Controller id=1 epoch=4] {ORDER} broker 2 for partition t-0")
    ((_, args),) = events_of(tmp_path, (EVENTS, ELECTED), connects(2), order)

    assert args["correlation"] is None


def test_which_registration_was_read_is_found_in_zookeepers_own_log(tmp_path: Path) -> None:
    words = (
        "Newly added brokers: {}, deleted brokers: {}, bounced brokers: {}, all live brokers: {}"
    )
    found = events_of(
        tmp_path, (EVENTS, ELECTED),
        (EVENTS, "[Controller id=1] Initialized broker epochs cache: Map(1 -> 5, 2 -> 9)"),
        (EVENTS, words.format("", "", "2", "1,2")),
        (EVENTS, words.format("", "2", "", "1")),
    )  # fmt: skip
    read = [(args["registrations"], args.get("zxid"))
            for step, args in found if step == "registrations_read"]  # fmt: skip

    assert read == [({"1": 5, "2": 9}, 9), ({"1": 5, "2": 30}, 30), ({"1": 5}, None)]


def test_a_broker_that_leaves_is_answered_what_it_still_leads(tmp_path: Path) -> None:
    found = events_of(
        tmp_path, (EVENTS, ELECTED), (EVENTS, "[Controller id=1] Shutting down broker 2"),
        (EVENTS, "[Controller id=1] All leaders = t-0 -> (Leader:2,ISR:2,LeaderEpoch:1),t-1 -> "
         "(Leader:1,ISR:1,LeaderEpoch:1)"),
    )  # fmt: skip

    assert found == [
        ("shutdown_begun", {"epoch": 4, "subject": 2}),
        ("shutdown_answered", {"epoch": 4, "subject": 2, "remaining": ["t-0"]}),
    ]


def test_partitions_are_read_out_of_requests_of_any_release() -> None:
    struct = (
        "topic_states=[{topic=a,partition_states=[{partition=0,controller_epoch=1,leader=2,"
        "leader_epoch=3,isr=[2,1],zk_version=4,replicas=[1,2]}]}]"
    )
    data = (
        "partitionStates=[UpdateMetadataPartitionState(topicName='a', partitionIndex=0, "
        "controllerEpoch=1, leader=2, leaderEpoch=3, isr=[2, 1], zkVersion=4, replicas=[1, 2])]"
    )
    assert states_in(struct) == states_in(data) == {"a-0": [3, 4]}
    older = "{delete_partitions=true,partitions=[{topic=a,partition=1}]}"
    newer = (
        "deletePartitions=false, topicStates=[StopReplicaTopicState(topicName='a', "
        "partitionStates=[StopReplicaPartitionState(partitionIndex=1, leaderEpoch=3, "
        "deletePartition=true)])]"
    )
    assert stops_in(older) == stops_in(newer) == {"a-1": True}

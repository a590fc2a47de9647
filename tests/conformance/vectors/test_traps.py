"""Thirty places where Kafka is easily misunderstood (fact sheet n), each held in the core."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.vectors.implementation import answer
from conformance.vectors.implementation.batch_log import LogEnds
from conformance.vectors.implementation.hosted import ME, OTHER, PARTITION, HostedBroker
from conformance.vectors.implementation.stage import NOW_MS, ControllerStage
from impl.core.cluster_context import ClusterContext
from impl.core.fetcher_thread import FetchQuestion
from impl.core.imbalance import candidates
from impl.core.partition import Partition
from impl.core.requests import LeaderAndIsrPartitionState
from impl.disk import replace_file
from impl.log import LogConfig
from impl.log.loading import load_log
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch
from impl.releases import Release
from impl.znodes import LeaderIsrAndControllerEpoch, TopicPartition, encode_state, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper import EmbeddedSession, ZooKeeper
from impl.zookeeper.port import wait

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def ask(file: str, operation: str, release: str = "2.3", **given: Any) -> Any:
    """The core's answer to an input."""
    return answer(file, operation, {"input": given, "release": release, "versions": release})


def state(leader: int, isr: list[int], epoch: int = 7, version: int = 3) -> dict[str, Any]:
    return {"leader": leader, "isr": isr, "leaderEpoch": epoch, "zkVersion": version}


def goes_offline(release: str = "2.3", **more: Any) -> Any:
    """Replica 5 goes offline."""
    given: dict[str, Any] = {"replica": 5, "target": "OfflineReplica", **more}
    return ask("replica_state_machine", "effects", release, **given)


@pytest.mark.parametrize("release", ["0.10", "1.1", "2.7"])
@pytest.mark.parametrize("epoch", [4, 5])
def test_1_an_older_or_equal_leader_epoch_is_called_a_stale_controller(release: str, epoch: int):
    reported = ask("replica_manager", "leaderAndIsr", release, currentLeaderEpoch=5,
               requestLeaderEpoch=epoch, inReplicas=True)  # fmt: skip

    assert (reported["topError"], reported["partitionError"]) == ("NONE", "STALE_CONTROLLER_EPOCH")
    assert reported["leaderEpochAfter"] == 5


def test_2_controllers_writes_raise_the_epoch_and_leaders_writes_do_not():
    reported = ask("controller_flow", "leaders", assignment=[0, 1, 2], steps=["stop 2", "start 2"])

    assert reported["isrs"] == [[0, 1], [0, 1, 2]]
    assert reported["leaderEpochs"] == [1, 1]


def test_3_all_others_hear_of_a_replica_that_goes_offline_though_nothing_changes():
    reported = goes_offline(assignment=[4, 5, 6], zkState=state(4, [4, 6]))

    assert reported["zkSetState"] is None
    assert [(one["to"], one["leaderEpoch"]) for one in reported["leaderAndIsr"]] == [([4, 6], 7)]


@pytest.mark.parametrize(
    ("release", "unclean", "isr"),
    [("1.0", True, []), ("1.0", False, [5]), ("1.1", True, [5]), ("2.7", False, [5])],
)
def test_4_the_last_isr_member_stays_since_1_1(release: str, unclean: bool, isr: list[int]):
    reported = goes_offline(release, assignment=[5, 6], zkState=state(5, [5]), unclean=unclean)

    written = reported["zkSetState"]
    assert (written["leader"], written["isr"], written["leaderEpoch"]) == (-1, isr, 8)


def test_5_an_offline_election_keeps_the_isrs_order_and_picks_by_the_assignments():
    reported = ask("election", "elect", strategy="Offline", assignment=[3, 1, 2], isr=[2, 4, 1, 3],
               live=[1, 2], leaderEpoch=0)  # fmt: skip

    assert (reported["leader"], reported["isr"]) == (1, [2, 1])


def test_6_only_offline_and_controlled_shutdown_elections_touch_the_isr():
    given: dict[str, Any] = {
        "assignment": [1, 2, 3], "isr": [3, 1, 2], "live": [1, 2], "leaderEpoch": 0,
    }  # fmt: skip
    kinds: dict[str, dict[str, Any]] = {
        "Preferred": {}, "Reassign": {"target": [2, 1]}, "Offline": {},
        "ControlledShutdown": {"shuttingDown": [1]},
    }  # fmt: skip

    isrs = {
        kind: ask("election", "elect", strategy=kind, **given, **more)["isr"]
        for kind, more in kinds.items()
    }

    assert isrs == {"Preferred": [3, 1, 2], "Reassign": [3, 1, 2], "Offline": [1, 2],
                    "ControlledShutdown": [3, 2]}  # fmt: skip


def test_7_the_high_watermark_waits_for_who_was_caught_up_lately_and_for_unknown_ends():
    def hw(**remotes: tuple[int, int]) -> int:
        ends = {name[1:]: {"leo": end, "lastCaughtUp": at} for name, (end, at) in remotes.items()}
        reported: int = ask("partition_replication", "hw", leaderLeo=10, isr=[0, 1], remotes=ends,
                        now=100_000, lagMs=30_000, oldHw=2)["hw"]  # fmt: skip
        return reported

    assert hw(r1=(10, 0), r2=(8, 70_000)) == 8
    assert hw(r1=(10, 0), r2=(8, 69_999)) == 10
    assert hw(r1=(-1, 100_000)) == 2


def fetches(*offsets: int, release: str = "2.3", epoch: int = 5, **more: Any) -> list[Any]:
    """Broker 2 is no member of the ISR of leader 1, and fetches at offsets."""
    given = {"self": 1, "replicas": [1, 2, 3], "isr": [1, 3], "leaderEpoch": epoch,
             "log": {"records": 10}, **more}  # fmt: skip
    steps = [{"do": "followerFetch", "replica": 3, "offset": 4}]
    steps += [{"do": "followerFetch", "replica": 2, "offset": one} for one in offsets]
    reported = ask("partition_replication", "leader", release, steps=steps, **given)
    return [one["isr"] for one in reported["afterStep"][1:]]


def test_8_a_follower_joins_at_the_high_watermark_since_2_0_from_the_epochs_begin_on():
    assert fetches(3, 4, release="1.1") == [[1, 3], [1, 3, 2]]
    assert fetches(4, 9, 10) == [[1, 3], [1, 3], [1, 3, 2]]


@pytest.mark.parametrize(("release", "isr"), [("2.0", [1]), ("2.1", [1, 2])])
def test_9_a_silent_follower_at_the_log_end_stays_since_2_1(release: str, isr: list[int]):
    steps = [{"do": "followerFetch", "replica": 2, "offset": 10},
             {"do": "sleep", "ms": 30_001}, {"do": "maybeShrink"}]  # fmt: skip
    reported = ask("partition_replication", "leader", release, self=1, replicas=[1, 2], isr=[1, 2],
               log={"records": 10}, steps=steps, replicaLagTimeMaxMs=30_000)  # fmt: skip

    assert reported["isr"] == isr


def test_10_to_reach_what_the_last_fetch_was_shown_is_to_be_caught_up_then():
    steps = [{"do": "sleep", "ms": 100}, {"do": "followerFetch", "replica": 2, "offset": 4},
             {"do": "sleep", "ms": 100}, {"do": "leaderAppend", "count": 5},
             {"do": "followerFetch", "replica": 2, "offset": 10}]  # fmt: skip
    reported = ask("partition_replication", "leader", self=1, replicas=[1, 2], isr=[1, 2],
               log={"records": 10}, steps=steps)  # fmt: skip

    assert reported["lastCaughtUpSinceStart"] == 100


def test_11_the_high_watermark_in_an_answer_is_that_of_before_the_fetch():
    broker = HostedBroker(Release.of("2.3"))
    broker.ordered(0, ME, 0)
    broker.appends(3)
    asked = {PARTITION: FetchQuestion(None, 3, None)}

    reported = [
        wait(broker.manager.fetch(OTHER, asked, 1 << 20, 0))[PARTITION].high_watermark
        for _ in range(2)
    ]

    assert reported == [0, 3]


@pytest.mark.parametrize(
    ("release", "entries", "below"), [("1.1", [[3, 0], [5, 9]], -1), ("2.0", [[3, 0], [4, 9]], 0)]
)
def test_12_epochs_that_conflict_delete_entries_since_2_0_and_are_ignored_before(
    release: str, entries: list[list[int]], below: int
):
    ops: list[dict[str, Any]] = [
        {"do": "assign", "epoch": e, "offset": o} for e, o in ((3, 0), (5, 9), (4, 9))
    ]
    ops += [{"do": "leo", "value": 12}, {"do": "endOffsetFor", "epoch": 2}]
    reported = ask("leader_epoch_cache", "epochCache", release, ops=ops)
    leads = ask("partition_replication", "oldFormat", release, log={"records": 4},
                becomeLeaderEpoch=8, query=8)  # fmt: skip

    assert reported["entries"] == entries
    assert reported["results"] == ([below] if release == "1.1" else [[2, below]])
    assert (leads["latestEpoch"] == 8) is (release == "2.0")


def test_13_an_epoch_that_the_follower_does_not_know_makes_it_ask_again():
    reported = ask("truncation", "offsetTruncationState", leaderReply=[4, 143], followerLeo=200,
               followerHw=100, followerLatestEpoch=5,
               followerEndOffsetFor={"4": [3, 120]})  # fmt: skip

    assert reported == {"truncateTo": 120, "completed": False}


def test_14_no_partitions_means_all_of_them_up_to_2_1():
    meanings = {
        release: ask("request_sequences", "emptyPartitions", release)["meaning"]
        for release in ("0.10", "2.1", "2.2")
    }

    assert meanings == {
        "0.10": "all partitions", "2.1": "all partitions", "2.2": "no partitions"
    }  # fmt: skip


def test_15_a_new_controller_tells_of_brokers_first_and_a_follower_needs_to_know_its_leader():
    reported = ask("request_sequences", "sequence", "2.3", brokers=[0], controller=0,
               event="startup of broker 0")  # fmt: skip
    unknown = ask("replica_manager", "leaderAndIsr", currentLeaderEpoch=1, requestLeaderEpoch=2,
                  leader=7, aliveBrokers=[0, 1], inReplicas=True)  # fmt: skip

    assert reported["toBroker0"] == [
        "UpdateMetadata(no partitions)",
        "LeaderAndIsr",
        "UpdateMetadata",
    ]
    assert unknown["partitionError"] == "NONE"
    assert (unknown["leaderEpochAfter"], unknown["fetcherAdded"]) == (1, False)


@pytest.mark.parametrize(("release", "version"), [("2.0", 0), ("2.1", 1)])
def test_16_the_first_controllers_epoch_is_1_in_a_znode_of_version_0_or_since_2_1_of_1(
    release: str, version: int
):
    stage = ControllerStage(Release.of(release))
    stage.start_broker(1)
    stage.controller(1)

    node = wait(stage.admin.read(paths.CONTROLLER_EPOCH))

    assert node is not None
    assert (node.data, node.version) == ("1", version)


@pytest.mark.parametrize(
    ("lost", "result"), [(True, "elected"), (False, "ControllerMovedException")]
)
def test_17_a_candidate_that_finds_itself_won_only_if_the_epoch_is_its_own(lost: bool, result: str):
    more = {"epochZnode": [6, 8], "readEpoch": [5, 7], "retryAfterConnectionLoss": True}
    reported = ask("controller_flow", "registerController", me=1, controllerZnode=1,
               **(more if lost else {"epochZnode": [5, 7]}))  # fmt: skip

    assert reported["result"] == result


def test_18_while_a_replica_is_being_deleted_those_that_failed_are_not_tried_again():
    steps = [{"do": "enqueue"}, {"do": "brokerDownAndFailReplicaDeletion", "broker": 2},
             {"do": "brokerUpAndResume", "broker": 2}]  # fmt: skip
    reported = ask("topic_deletion", "scenario", "2.3", brokers=[1, 2, 3], steps=steps,
               topics={"foo": {"partitions": 1, "rf": 3}})["afterStep"]  # fmt: skip

    assert reported[1]["ineligible"] == ["foo"]
    assert reported[2]["ineligible"] == []
    assert reported[2]["replicas"]["ReplicaDeletionIneligible"] == [[0, 2]]


@pytest.mark.parametrize(("release", "removed"), [("0.10.0", False), ("0.10.1", True)])
def test_19_where_topics_may_not_be_deleted_the_request_goes_since_0_10_1(
    release: str, removed: bool
):
    reported = ask("topic_deletion", "deleteDisabled", release, topic="t")

    assert (reported["deleteZnodeRemoved"], reported["topicExists"]) == (removed, True)


def test_20_another_order_of_the_same_replicas_is_a_move_and_the_same_order_is_none():
    def started(target: list[int]) -> bool:
        reported: bool = ask("reassignment", "guard", current=[1, 2], target=target)["started"]
        return reported

    assert started([2, 1])
    assert not started([1, 2])


def test_21_the_twelve_steps_raise_the_epoch_once_for_each_replica_that_leaves_the_isr():
    reported = ask("reassignment", "reassignTrace", oar=[1, 2, 3], rar=[4, 5, 6], leader=1,
               isr=[1, 2, 3], leaderEpoch=0)  # fmt: skip

    epochs = [row["leaderEpoch"] for row in reported["rows"]]
    assert epochs[-1] == 5  # both lists, the leader's move, and three that leave


@pytest.mark.parametrize(
    ("release", "shapes"),
    [
        ("1.0", [(False, ["b-0"]), (True, ["a-0"])]),
        ("2.2", [(False, []), (True, ["a-0"]), (False, ["b-0"])]),
        ("2.5", [(True, ["a-0"]), (False, ["b-0"])]),
        ("2.6", [(True, ["a-0", "b-0"])]),
    ],
)
def test_22_stop_replica_has_its_shape_by_release(
    release: str, shapes: list[tuple[bool, list[str]]]
):
    call = {"add": "stopReplica", "to": [2], "partitions": {"a-0": True, "b-0": False}}
    reported = ask("request_batch", "batch", release, live=[2], calls=[call])

    assert [
        (one["deletePartitions"], [*one["partitions"]]) for one in reported["broker2"]
    ] == shapes


@pytest.mark.parametrize("epoch", [1, 2])
def test_22_a_stop_in_the_same_leader_epoch_is_fenced_and_one_without_is_not(epoch: int):
    def error(sent: int) -> str:
        reported: str = ask("replica_manager", "stopReplica", "2.6", currentLeaderEpoch=2,
                        requestLeaderEpoch=sent, delete=True)["partitionError"]  # fmt: skip
        return reported

    assert [error(one) for one in (epoch, -1, -2)] == ["FENCED_LEADER_EPOCH", "NONE", "NONE"]


def test_23_the_shift_grows_at_every_round_of_brokers_and_for_later_partitions_too():
    reported = ask("assignment", "assign", brokers=[0, 1, 2], nPartitions=2, rf=2, startIndex=0,
               replicaShift=0, startPartitionId=3)  # fmt: skip

    assert reported["assignment"] == {"3": [0, 2], "4": [1, 0]}


def test_24_the_search_for_another_rack_goes_on_where_the_replica_before_ended():
    reported = ask("assignment", "assign", racks={"0": "a", "1": "a", "2": "b", "3": "c"},
               nPartitions=1, rf=3, startIndex=1, replicaShift=0)  # fmt: skip

    assert reported["assignment"] == {"0": [2, 3, 1]}


def test_25_leaders_are_given_back_above_the_share_and_not_while_anything_moves():
    context = ClusterContext()
    context.broker_epochs = {1: 1, 2: 1}
    for number in range(10):
        one = TopicPartition("t", number)
        context.assign(one, (1, 2))
        leader = 2 if number == 0 else 1
        context.leadership[one] = LeaderIsrAndControllerEpoch(leader, 0, (1, 2), 1)

    assert candidates(context, 10, ()) == {}  # one of ten is just the share
    assert candidates(context, 9, ()) == {1: [T0]}
    assert candidates(context, 9, [TopicPartition("u", 0)]) == {}


def test_26_a_controlled_shutdown_leaves_partitions_of_one_replica_alone():
    reported = ask("controller_flow", "leaders", assignment=[1], steps=["shutdown 1"])

    assert reported["partitionsRemaining"] == [0]
    assert (reported["leader"], reported["leaderEpoch"]) == (1, 0)


def test_27_isr_changes_are_announced_when_they_have_settled_or_after_a_minute():
    def due(changed: int, reported: int) -> bool:
        found: bool = ask("controller_flow", "isrPropagation", now=100_000, lastChange=changed,
                          lastPropagation=reported)["propagate"]  # fmt: skip
        return found

    assert [due(95_000, 99_999), due(94_999, 99_999)] == [False, True]
    assert [due(99_999, 40_000), due(99_999, 39_999)] == [False, True]


@pytest.mark.parametrize(("there", "isr"), [([1], (1,)), ([1, 3], (1, 2))])
def test_28_a_conflict_leaves_the_isr_unless_the_znode_says_what_was_wanted(
    there: list[int], isr: tuple[int, ...]
):
    store = ZooKeeper()
    client = ZnodeClient(EmbeddedSession(store), Release.of("2.3"))
    registered = LeaderIsrAndControllerEpoch(1, 0, (1, 2), 1)
    wait(client.make_path(paths.state("t", 0), encode_state(registered)))
    partition = _led(client)
    changed = LeaderIsrAndControllerEpoch(1, 0, tuple(there), 1)
    wait(client.port.set_data(paths.state("t", 0), encode_state(changed)))

    wait(partition.shrink([2], NOW_MS))
    again = partition.isr
    wait(partition.shrink([2], NOW_MS))

    assert again == partition.isr == isr


def _led(client: ZnodeClient) -> Partition[Any]:
    partition: Partition[Any] = Partition(
        1, T0, LogEnds(), 30_000, Release.of("2.3"), client=lambda: client, replicas=(1, 2)
    )
    state = LeaderIsrAndControllerEpoch(1, 0, (1, 2), 1)
    partition.become_leader(LeaderAndIsrPartitionState(state, (1, 2), False), NOW_MS)
    return partition


def test_29_a_recovery_does_not_enter_epoch_0_again():
    broker = HostedBroker(Release.of("2.3"))
    broker.disk.make_directory("/e/t-0")
    batches = [
        encode_batch([StoredRecord(at, 0, None, b"x"), StoredRecord(at + 1, 0, None, b"y")], at)
        for at in (0, 2)  # in leader epochs 0 and 2
    ]
    replace_file(broker.disk, f"/e/t-0/{0:020}.log", b"".join(batches))

    log, _ = load_log(broker.disk, "/e/t-0", LogConfig(), lambda: 0, clean=False)

    assert log.log_end == 4
    assert log.epochs.entries == [(2, 2)]


def test_30_the_fetcher_of_a_partition_is_counted_with_javas_ints():
    reported = ask("replica_manager", "fetcherId", topic="polygenelubricants", numFetchers=7)

    assert reported["topicHash"] == -(2**31)
    assert reported["fetcherId"] == 0  # 31 times that is that again, and it has no absolute value

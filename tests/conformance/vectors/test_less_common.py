"""What Kafka does in corners that no public case reaches, asked in the files' own words."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.vectors.implementation import answer
from impl.releases import Release
from impl.znodes import (
    MalformedZnode,
    decode_controller,
    decode_controller_epoch,
    decode_reassignment,
    decode_state,
    decode_topic,
)


def ask(file: str, operation: str, release: str, **given: Any) -> Any:
    """The implementation's answer to an input."""
    return answer(file, operation, {"input": given, "release": release, "versions": release})


# The last member of an ISR (fact sheet c.2)


@pytest.mark.parametrize(
    ("release", "unclean", "isr"),
    [
        ("0.10", True, []),
        ("0.11", True, []),
        ("0.11", False, [5]),
        ("1.1", True, [5]),
        ("2.3", True, [5]),
    ],
)
def test_the_last_member_leaves_the_isr_up_to_1_0_where_unclean_elections_are_allowed(
    release: str, unclean: bool, isr: list[int]
):
    reported = ask(
        "replica_state_machine", "effects", release, replica=5, assignment=[5, 6],
        target="OfflineReplica", unclean=unclean,
        zkState={"leader": 5, "isr": [5], "leaderEpoch": 3, "zkVersion": 2},
    )  # fmt: skip

    assert reported["zkSetState"]["leader"] == -1
    assert reported["zkSetState"]["isr"] == isr
    assert reported["zkSetState"]["leaderEpoch"] == 4


# Racks

PLACES = {"foo-0": [0, 1], "foo-1": [1, 2]}
SOME_RACKS = {"0": "a", "1": "a", "3": "b"}


def test_a_proposal_over_brokers_of_which_some_have_no_rack_is_refused():
    reported = ask("reassignment", "generate", "2.6", current=PLACES, brokers="0,1,2,3",
               racks=SOME_RACKS)  # fmt: skip

    assert reported["error"] == "AdminOperationException"
    assert reported["message"].startswith(
        "Not all brokers have rack information. Add --disable-rack"
    )


@pytest.mark.parametrize("more", [{"brokers": "0,1,3"}, {"disableRackAware": True}])
def test_racks_of_others_do_not_matter_nor_do_any_where_they_are_disabled(more: dict[str, Any]):
    given = {"current": PLACES, "brokers": "0,1,2,3", "racks": SOME_RACKS, **more}

    assert set(ask("reassignment", "generate", "2.6", **given)["assignment"]) == set(PLACES)


# Truncation

AHEAD = [[0, 0, 1], [1, 2, 1], [2, 4, 1]]


def test_before_leader_epochs_a_follower_cuts_at_its_high_watermark():
    reported = {
        release: ask("truncation", "offsetTruncationStateOld", release, leaderReplyEndOffset=150,
                     followerLeo=200, followerHw=100, followerLatestEpoch=5)["truncateTo"]
        for release in ("0.10", "0.11")
    }  # fmt: skip

    assert reported == {"0.10": 100, "0.11": 150}


def test_a_fetcher_of_0_10_asks_nobody_where_epochs_end():
    reported = ask("truncation", "scenario", "0.10", latestEpoch=4,
               follower={"log": AHEAD, "epoch": 5, "hw": 1})  # fmt: skip

    assert reported["leo"] == 1


def test_a_diverging_epoch_of_a_partition_that_was_removed_cuts_nothing():
    reported = ask("truncation", "scenario", "2.7", removedDuringFetch=True,
               follower={"log": AHEAD, "epoch": 5, "hw": 1},
               leader={"log": [[0, 0, 1], [1, 5, 1]], "epoch": 5, "hw": 2})  # fmt: skip

    assert reported["log"] == AHEAD
    assert not reported["tracked"]
    assert reported["truncations"] == 0


@pytest.mark.parametrize("error", ["NOT_LEADER_FOR_PARTITION", "UNKNOWN_SERVER_ERROR"])
def test_an_error_in_an_epoch_answer_leaves_the_follower_truncating(error: str):
    reported = ask("truncation", "fetchState", "2.3", latestEpoch=4, followerLeo=3, error=error)

    assert reported == {"before": "Truncating", "after": "Truncating", "truncateTo": 3}


def test_a_fenced_follower_waits_for_the_controller():
    reported = ask("truncation", "fetchState", "2.3", latestEpoch=4, error="FENCED_LEADER_EPOCH")

    assert reported["failed"]


# Leaders


def test_a_fetcher_that_is_no_replica_changes_nothing():
    reported = ask("partition_replication", "leader", "2.3", self=1, replicas=[1, 2], isr=[1],
               log={"records": 5, "epoch": 0},
               steps=[{"do": "followerFetch", "replica": 9, "offset": 5}])  # fmt: skip

    assert reported["isr"] == [1]
    assert reported["afterStep"][0]["isrRequests"] == 0
    assert reported["expands"] == 0


# Deletions

FAILS = [
    {"do": "enqueue", "topics": ["foo", "bar"]},
    {"do": "completeReplicaDeletion", "topics": ["foo", "bar"], "brokers": [1, 2]},
    {"do": "failReplicaDeletion", "topics": ["foo", "bar"], "brokers": [3]},
]


def test_a_replica_that_could_not_be_deleted_goes_offline_and_its_topic_waits():
    reported = ask("topic_deletion", "scenario", "2.3", steps=FAILS)["afterStep"][-1]

    assert reported["ineligible"] == ["bar", "foo"]
    assert reported["replicas"]["OfflineReplica"] == [[0, 3]]
    assert reported["replicas"]["ReplicaDeletionSuccessful"] == [[0, 1], [0, 2]]


def test_topics_that_may_be_tried_again_are_tried_in_one_round():
    resumed = [*FAILS, {"do": "resume", "topics": ["foo", "bar"]}]

    before = ask("topic_deletion", "scenario", "2.3", steps=FAILS)["stateMachineCalls"]
    reported = ask("topic_deletion", "scenario", "2.3", steps=resumed)

    assert reported["afterStep"][-1]["ineligible"] == []
    assert reported["afterStep"][-1]["replicas"]["ReplicaDeletionStarted"] == [[0, 3]]
    after = reported["stateMachineCalls"]
    assert after["replica.DeletionStarted"] - before["replica.DeletionStarted"] == 1


# Znodes (fact sheet a)


def text(release: str, what: Any) -> str:
    """The text of a znode."""
    reported: str = ask("zk_store", "encode", release, encode=what)["json"]
    return reported


def test_the_controller_epoch_is_a_bare_number():
    assert text("2.3", {"controllerEpoch": 7}) == "7"
    assert decode_controller_epoch("7") == 7


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("2.3", '{"version":1,"partitions":{"0":[1,2]}}'),
        (
            "2.4",
            '{"version":2,"partitions":{"0":[1,2]},"adding_replicas":{},"removing_replicas":{}}',
        ),
    ],
)
def test_a_topic_is_written_as_its_release_does(release: str, expected: str):
    written = text(release, {"partitions": {"0": [1, 2]}})

    assert written == expected
    assert decode_topic("t", written).partitions[0].replicas == (1, 2)


@pytest.mark.parametrize("data", ["", "no JSON", "[1]", "{"])
def test_a_znode_that_is_no_json_is_named(data: str):
    for decode in (
        lambda: decode_topic("t", data),
        lambda: decode_state("t", 0, data, 0),
        lambda: decode_controller(data),
        lambda: decode_controller_epoch(data),
        lambda: decode_reassignment(data, Release.of("2.7")),
    ):
        with pytest.raises(MalformedZnode):
            decode()

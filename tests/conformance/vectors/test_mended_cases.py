"""Cases of our own that a side got wrong at first; of each one that shows what was mended."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.vectors.cases import Case, read_cases
from conformance.vectors.judge import SIDES, Outcome, answers_of, judge
from conformance.vectors.shapes import completed

MORE = Path(__file__).parents[2] / "data" / "vectors" / "more"
MENDED = {
    "a follower whose log has two foreign epochs is cut twice": (
        "truncation", "two foreign epochs, one cut more"),
    "and where it asks for epochs too": (
        "truncation", "two foreign epochs, epochs are asked for"),
    "a follower of 2.7 asks where its epoch ends": ("truncation", "2.7 asks where the epoch ends"),
    "one of 2.8 has its fetches say so": ("truncation", "2.8 does not"),
    "a fetch may name no epoch": ("truncation", "no epoch named, beyond the end"),
    "a leader enters its epoch with the first append up to 1.1": (
        "partition_replication", "entered with the first append up to 1.1"),
    "and since 2.0 at once, in an old message format too up to 2.1.0": (
        "partition_replication", "entered in an old format"),
    "an ISR that was not written is a failure in ZooKeeper's releases too": (
        "partition_replication", "the ISR was written by another"),
    "followers may lag for 10 s up to 2.4": (
        "partition_replication", "one joins within the epoch, and lags after the default time"),
    "a preferred election names a dead follower": (
        "election", "preferred, a dead follower is told too"),
    "whom the batch has up to 2.1": (
        "partition_state_machine", "preferred, the batch has a dead follower too"),
    "an empty epoch cache has no epoch since 2.1.1": (
        "leader_epoch_cache", "nothing is known of an empty one, as an Option"),
    "a move to who is in sync has no first half": (
        "reassignment", "shrinks to who is in sync from the start"),
    "of several topics the first that is left is shown": (
        "topic_deletion", "of two topics one waits for a dead broker"),
    "a broker that is not said to be dead leads": ("topic_admin", "nobody leads"),
    "a controller that lives moves a partition to the dead": (
        "controller_flow", "both targets are dead, one of a smaller id"),
    "who stops what is not there has no log": ("replica_manager", "nothing is there"),
    "several leave an ISR with one write": ("partition_replication", "two leave with one write"),
    "up to 1.1 each UpdateMetadata tells of the topics that go": (
        "request_batch", "topics that go are told each time up to 1.1"),
    "up to 2.1 a broker does not replace what its last session left": (
        "zk_store", "an earlier session's, up to 2.1"),
    "a topic that goes is marked in its own line up to 2.3": ("topic_admin", "marked for deletion"),
}  # fmt: skip


def case_of(file: str, name: str) -> Case:
    return next(case for case in read_cases(MORE / f"{file}.json") if case.name == name)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("told", MENDED)
def test_it_is_right_on_each_side_that_answers(told: str, side: str):
    case = case_of(*MENDED[told])

    (found,) = judge(case.file, [case], side, answers_of(side)).judged

    right = {Outcome.PASSED} if side == "impl" else {Outcome.PASSED, Outcome.NOT_APPLICABLE}
    assert found.outcome in right, found.got


def test_how_long_a_follower_may_lag_is_the_releases_default():
    given = {"self": 1, "replicas": [1, 2], "steps": []}

    lags = [
        completed("partition_replication", "leader", given, release)["replicaLagTimeMaxMs"]
        for release in ("2.4", "2.5", None)
    ]

    assert lags == [10_000, 30_000, 30_000]

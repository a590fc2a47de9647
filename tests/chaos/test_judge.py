"""Histories of clients with one thing wrong in each: the judge names it, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from conformance.chaos import client_anomalies as kinds
from conformance.chaos.client_anomalies import find_anomalies
from conformance.chaos.history import (
    ClientHistory,
    OffsetCommit,
    ProduceAttempt,
    ReadRecords,
    RestoredPosition,
)
from conformance.chaos.run import LoggedTruncation, kept_epoch
from conformance.disks.compare_replicas import InspectedPartition, ReplicaRow
from impl.releases import Release
from specs.rendering import as_data


def right() -> ClientHistory:
    """Three writers, one reader; nothing is wrong."""
    return ClientHistory(
        sends=[
            ProduceAttempt("idempotent", 0, 0, 2, -1, True, 0.1, 0.2, 0),
            ProduceAttempt("plain", 0, 0, 1, -1, False, 0.2, 0.3, 2),
            ProduceAttempt("idempotent", 0, 2, 1, -1, True, 0.3, 0.4, 3),
            ProduceAttempt("leader", 0, 0, 2, 1, False, 0.4, 0.5, 4),
            ProduceAttempt("plain", 0, 1, 1, -1, False, 0.6, 2.0, -1, "REQUEST_TIMED_OUT"),
        ],
        reads=[
            ReadRecords("reader 1", 1, 0, 0, ((0, "idempotent-0"), (1, "idempotent-1")), 0.5),
            ReadRecords("reader 1", 1, 0, 2, ((2, "plain-0"), (3, "idempotent-2")), 0.6),
        ],
        commits=[OffsetCommit("reader 1", 0, 2, 0.55, 0.6), OffsetCommit("reader 1", 0, 4, 0.7,
                                                                         0.8)],
        restored=[RestoredPosition("reader 2", 0, 4, 0.9)],
        final={0: {0: "idempotent-0", 1: "idempotent-1", 2: "plain-0", 3: "idempotent-2",
                   4: "leader-0", 5: "leader-1"}},
    )  # fmt: skip


def test_a_history_is_read_as_it_was_kept():
    kept = json.loads(json.dumps(as_data(right())))

    found = ClientHistory.from_json(kept)

    assert as_data(found) == as_data(right())
    assert find_anomalies(found) == find_anomalies(right())
    assert found.final == right().final


def lose(history: ClientHistory) -> None:
    del history.final[0][2]
    history.reads.pop()


def lose_what_was_read(history: ClientHistory) -> None:
    history.reads.append(ReadRecords("reader 1", 2, 0, 6, ((6, "plain-1"),), 1.0))


def write_twice(history: ClientHistory) -> None:
    history.final[0][6] = "idempotent-2"


def turn_round(history: ClientHistory) -> None:
    log = history.final[0]
    log[1], log[3] = log[3], log[1]
    history.reads.clear()
    history.sends[0] = replace(history.sends[0], count=1)
    history.sends.insert(1, ProduceAttempt("idempotent", 0, 1, 1, -1, True, 0.2, 0.25, 3))
    history.sends[3].offset = 1


def tear(history: ClientHistory) -> None:
    del history.final[0][5]


def invent(history: ClientHistory) -> None:
    history.final[0][6] = "nobody-0"


def disagree(history: ClientHistory) -> None:
    history.reads[1] = replace(history.reads[1], records=((2, "plain-0"), (3, "plain-1")))


def answer_wrongly(history: ClientHistory) -> None:
    history.sends[1].offset = 1


def go_back(history: ClientHistory) -> None:
    history.reads.append(ReadRecords("reader 1", 1, 0, 3, ((3, "idempotent-2"),), 1.0))


def forget_the_commit(history: ClientHistory) -> None:
    history.restored = [RestoredPosition("reader 2", 0, 2, 0.9)]


def pass_over(history: ClientHistory) -> None:
    history.reads[1] = replace(history.reads[1], records=((3, "idempotent-2"),))


def nothing(history: ClientHistory) -> None:
    """All is as it was."""


def write_a_plain_record_twice(history: ClientHistory) -> None:
    history.final[0][6] = "plain-0"


def write_again_what_was_behind_one_given_up(history: ClientHistory) -> None:
    history.sends.append(
        ProduceAttempt("idempotent", 0, 3, 1, -1, True, 0.35, 9.0, -1, "_MSG_TIMED_OUT")
    )
    history.final[0][6] = "idempotent-2"


def lose_what_the_leader_alone_had(history: ClientHistory) -> None:
    del history.final[0][4], history.final[0][5]


def join_again_further_back(history: ClientHistory) -> None:
    history.reads.append(ReadRecords("reader 1", 2, 0, 2, ((2, "plain-0"),), 1.0))


def commit_at_the_same_time(history: ClientHistory) -> None:
    history.commits.append(OffsetCommit("reader 2", 0, 3, 0.75, 0.85))
    history.restored = [RestoredPosition("reader 1", 0, 3, 0.9)]


def commit_in_another_group(history: ClientHistory) -> None:
    history.commits.append(OffsetCommit("other", 0, 6, 0.75, 0.85, "other"))
    history.restored.append(RestoredPosition("other", 0, 6, 0.9, "other"))


def forget_the_commit_of_another_group(history: ClientHistory) -> None:
    commit_in_another_group(history)
    history.restored[-1] = RestoredPosition("other", 0, 4, 0.9, "other")


def lose_what_is_somewhere(history: ClientHistory) -> None:
    lose(history)
    history.sends[1].offset = -1


def ask_for_no_acknowledgement(history: ClientHistory) -> None:
    history.sends.append(ProduceAttempt("none", 0, 0, 1, 0, False, 0.4, 0.5))


def be_answered_that_it_is_out_of_range(history: ClientHistory) -> None:
    history.reads += [
        ReadRecords("reader 1", 1, 0, 4, (), 1.0, "OFFSET_OUT_OF_RANGE"),
        ReadRecords("reader 1", 1, 0, 3, ((3, "idempotent-2"),), 1.1),
    ]


@pytest.mark.parametrize(
    "wrong, kind",
    [
        (lose, kinds.LOST),
        (lose_what_was_read, kinds.LOST_READ),
        (write_twice, kinds.DUPLICATE),
        (turn_round, kinds.REORDERED),
        (tear, kinds.TORN),
        (invent, kinds.UNWRITTEN),
        (disagree, kinds.DIVERGED),
        (answer_wrongly, kinds.DIVERGED),
        (go_back, kinds.WENT_BACK),
        (forget_the_commit, kinds.WENT_BACK),
        (forget_the_commit_of_another_group, kinds.WENT_BACK),
        (lose_what_is_somewhere, kinds.LOST),
        (pass_over, kinds.SKIPPED),
    ],
)
def test_what_is_wrong_is_found_and_named(wrong: Callable[[ClientHistory], None], kind: str):
    history = right()
    wrong(history)

    found = find_anomalies(history)

    assert [one.kind for one in found.anomalies] == [kind]


@pytest.mark.parametrize(
    "change, allowed",
    [
        (nothing, 0),
        (write_a_plain_record_twice, 1),
        (write_again_what_was_behind_one_given_up, 1),
        (lose_what_the_leader_alone_had, 2),
        (join_again_further_back, 0),
        (commit_at_the_same_time, 0),
        (commit_in_another_group, 0),
        (ask_for_no_acknowledgement, 0),
        (be_answered_that_it_is_out_of_range, 1),
    ],
)
def test_what_may_happen_is_counted_and_no_anomaly(
    change: Callable[[ClientHistory], None], allowed: int
):
    history = right()
    change(history)

    found = find_anomalies(history)

    assert found.anomalies == []
    assert found.allowed.total() == allowed


def replica(broker: int, *epochs: tuple[int, int]) -> ReplicaRow:
    return ReplicaRow(broker, f"broker{broker}", 0, 20, 20, epochs[-1][0], epochs, 1, 1)


@pytest.mark.parametrize(
    ("release", "later", "to", "explained"),
    [
        ("0.11", (9, 12), 12, True),
        ("1.1", (9, 12), 12, True),
        ("2.0", (9, 12), 12, False),
        ("0.11", (9, 12), 13, False),
        ("0.11", (8, 12), 12, False),
    ],
    ids=[
        "up to 1.1", "1.1 too", "mended in 2.0", "truncated to another offset",
        "the leader had the epoch",
    ],
)  # fmt: skip
def test_records_of_an_epoch_that_the_leader_never_had_are_kept_up_to_1_1(
    release: str, later: tuple[int, int], to: int, explained: bool
):
    partition = InspectedPartition(
        "chaos", 1, (replica(1, (7, 3), later), replica(2, (7, 3), (8, 10), (9, 12))), (), ()
    )
    cut = LoggedTruncation("server.log:4", "broker2", "chaos", 1, to)

    because = kept_epoch(partition, Release.of(release), [cut])

    assert because == (
        "server.log:4: broker 2 truncated chaos-1 to offset 12, where leader epoch 9 begins, and "
        "kept what it wrote from offset 10 on in leader epoch 8, which broker 1 never had"
        if explained
        else ""
    )

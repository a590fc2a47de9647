"""What replicas cut from their logs: never what they knew to be committed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.pipeline.written import (
    PARTITION,
    checked,
    incomplete,
    line,
    starting,
    violations,
    write,
)

RULE = "no_truncation_below_the_high_watermark"
FETCHER = "kafka.server.ReplicaFetcherThread"


def loaded(second: int, broker: int, mark: int) -> str:
    head = f"[Partition orders-0 broker={broker}]"
    text = f"Log loaded for partition orders-0 with initial high watermark {mark}"
    return line(second, f"{head} {text}", PARTITION)


def began(second: int, broker: int, end: int) -> str:
    return line(
        second,
        f"[Partition orders-0 broker={broker}] orders-0 starts at leader epoch 3 from offset {end} "
        f"with high watermark {min(end, 16)}. Previous leader epoch was 2.",
        PARTITION,
    )


def cuts(second: int, offset: int, own_words: bool = False) -> str:
    text = (
        f"Truncating orders-0 to offset {offset} below high watermark 16"
        if own_words
        else f"Truncating partition orders-0 to local high watermark {offset}"
    )
    head = "[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0]"
    return line(second, f"{head} {text}", FETCHER)


def found(tmp_path: Path, follower: list[str], leader: list[str]) -> list[tuple[str, int]]:
    files = {"b5/server.log": [*starting(0, 5), *follower], "b4/server.log": leader}
    return [
        (row["kind"], row["line"])
        for row in checked(write(tmp_path, files))["findings"]
        if row["rule"] == RULE
    ]


def test_a_cut_below_the_high_watermark_is_a_violation_where_the_leader_had_more(tmp_path: Path):
    assert found(tmp_path, [loaded(8, 5, 16), cuts(9, 12)], [began(5, 4, 20)]) == [("violation", 4)]


def test_who_cuts_to_its_own_high_watermark_may_have_taken_its_leaders_meanwhile(tmp_path: Path):
    assert found(tmp_path, [loaded(1, 5, 16), cuts(9, 12)], [began(5, 4, 20)]) == [
        ("incomplete", 4)
    ]


def test_a_cut_at_the_high_watermark_or_above_is_right(tmp_path: Path):
    assert found(tmp_path, [loaded(1, 5, 16), cuts(9, 16)], [began(5, 4, 20)]) == []


def test_a_broker_that_says_it_itself_is_taken_at_its_word(tmp_path: Path):
    assert found(tmp_path, [cuts(9, 12, own_words=True)], [began(5, 4, 20)]) == [("violation", 3)]


def test_where_the_leader_lost_its_log_the_loss_is_reported_and_no_follower_blamed(tmp_path: Path):
    kinds = found(tmp_path, [loaded(1, 5, 16), cuts(9, 0)], [began(5, 4, 0)])

    assert kinds == [("explained", 4)]


def test_where_the_leaders_log_is_not_here_it_is_incomplete(tmp_path: Path):
    assert found(tmp_path, [loaded(1, 5, 16), cuts(9, 12)], []) == [("incomplete", 4)]


def test_a_new_process_may_know_less_than_the_one_before(tmp_path: Path):
    follower = [loaded(1, 5, 16), *starting(5, 5), loaded(6, 5, 10), cuts(9, 10)]

    assert found(tmp_path, follower, [began(5, 4, 20)]) == []


CUT, MARK = "follower_truncates_to_the_end_of_its_epoch", "no_high_watermark_above_the_log"


def follows(second: int, leader: int, epoch: int = 3) -> str:
    return line(
        second,
        "[Broker id=5] Received LeaderAndIsr request LeaderAndIsrPartitionState("
        f"topicName='orders', partitionIndex=0, controllerEpoch=4, leader={leader}, "
        f"leaderEpoch={epoch}, isr=[4, 5], zkVersion=6, replicas=[4, 5], addingReplicas=[], "
        "removingReplicas=[], isNew=false) correlation id 3 from controller 1 epoch 4",
    )


def cut_to(second: int, offset: int) -> str:
    text = f"[Log partition=orders-0, dir=/data] Truncating to offset {offset}"
    return line(second, text, "kafka.log.Log")


def starts(second: int, end: int, mark: int, broker: int = 4) -> str:
    return line(
        second,
        f"[Broker id={broker}] Leader orders-0 starts at leader epoch 3 from offset {end} with "
        f"high watermark {mark} ISR [4,5] addingReplicas [] removingReplicas []. Previous leader "
        "epoch was 2.",
    )


def cutting(
    tmp_path: Path,
    follower: list[str],
    leader: list[str],
    more: tuple[str, ...] = (),
    controller: tuple[str, ...] = (),
    earlier: tuple[str, ...] = (),
) -> list[tuple[str, str, int]]:
    files = {
        "b5/server.log": [*starting(0, 5), *follower, cut_to(900, 0), *more],
        "b5/state-change.log": [*earlier, follows(3, 4)],
        "b4/state-change.log": leader,
        "b1/state-change.log": [*controller],
    }
    return [
        (row["kind"], row["rule"], row["line"])
        for row in checked(write(tmp_path, files))["findings"]
        if row["rule"] in (CUT, MARK)
    ]


def test_a_follower_cuts_to_what_its_leader_says_and_to_no_more(tmp_path: Path):
    leader = [starts(5, 20, 16)]

    assert cutting(tmp_path / "at", [cut_to(9, 20)], leader) == []
    assert cutting(tmp_path / "below", [cut_to(9, 17)], leader) == []
    assert cutting(tmp_path / "above", [cut_to(9, 21)], leader) == [("violation", CUT, 3)]


def test_a_request_of_an_earlier_leader_epoch_that_is_late_makes_nobody_follow(tmp_path: Path):
    assert (
        cutting(tmp_path, [cut_to(9, 21)], [starts(5, 20, 16)], earlier=(follows(2, 4, 4),)) == []
    )


def test_where_retention_took_all_epochs_before_they_end_where_the_log_begins(tmp_path: Path):
    text = "[Log partition=orders-0, dir=/data] Incrementing log start offset to 22"
    leader = [starts(5, 20, 16), line(7, text, "kafka.log.Log")]

    assert cutting(tmp_path / "at", [cut_to(9, 22)], leader) == []
    assert cutting(tmp_path / "above", [cut_to(9, 23)], leader) == [("violation", CUT, 3)]


def test_a_follower_that_cuts_to_its_own_high_watermark_was_answered_nothing(tmp_path: Path):
    assert cutting(tmp_path, [cuts(8, 21), cut_to(9, 21)], [starts(5, 20, 16)]) == []


def test_a_leader_that_began_twice_in_an_epoch_may_have_answered_either(tmp_path: Path):
    leader = [starts(5, 10, 10), starts(8, 20, 16)]

    assert cutting(tmp_path, [cut_to(9, 21)], leader) == []


def test_a_log_that_is_left_of_an_earlier_topic_of_the_name_may_end_in_any_epoch(tmp_path: Path):
    """Its replica was moved away while its broker was down, the topic deleted and made again."""
    created = "Created log for partition orders-0 in /data/orders-0 with properties {}."
    made, again = (line(second, created, "kafka.log.LogManager") for second in (0, 2))
    new = line(
        1,
        "[Controller id=1 epoch=4] Changed partition orders-0 state from NonExistentPartition to "
        "NewPartition with assigned replicas 4,5",
        level="TRACE",
    )
    leader = [starts(5, 0, 0)]

    left = cutting(tmp_path / "left", [made, cut_to(9, 4)], leader, controller=(new,))
    fresh = cutting(tmp_path / "new", [made, again, cut_to(9, 4)], leader, controller=(new,))

    assert left == []
    assert fresh == [("violation", CUT, 5)]


def test_what_another_leader_said_is_not_compared(tmp_path: Path):
    assert cutting(tmp_path, [cut_to(9, 21)], [starts(5, 20, 16, broker=6)]) == []


def test_a_high_watermark_above_the_log_is_found_at_its_line(tmp_path: Path):
    assert cutting(tmp_path / "at", [], [starts(5, 20, 20)]) == []
    assert cutting(tmp_path / "above", [], [starts(5, 20, 21)]) == [("violation", MARK, 1)]


# --- a replica's first start in a process


def test_a_replica_is_loaded_with_no_high_watermark_above_the_log_that_it_starts_from(
    tmp_path: Path,
):
    """A checkpoint above the end of the log is cut to it; what a future log has is its own."""
    first = starts_as(9, 5, "Leader", 3, 16).replace("epoch was 2", "epoch was -1")

    def with_mark(*marks: int) -> Any:
        folder = tmp_path / str(marks)
        log = [*starting(0, 5), *(loaded(9, 5, mark) for mark in marks)]
        return violations(checked(write(folder, {"server.log": log, "state-change.log": [first]})))

    assert with_mark(16) == with_mark(16, 40) == []
    assert with_mark(17) == [(MARK, "server.log", 3)]


def begun(
    folder: Path, offset: int, mark: int, cut: int, before: int = -1, at: int = 11, end: int = 0
) -> Any:
    """The check of a replica that is loaded at 10 s, up to `end`, starts at `at`, and then cuts."""
    start = (f"[Broker id=5] Follower orders-0 starts at leader epoch 3 from offset {offset} with "
             f"high watermark {mark}. Previous leader epoch was {before}.")  # fmt: skip
    chosen = ("[ReplicaFetcher replicaId=5, leaderId=4, fetcherId=0] Truncating partition orders-0 "
              f"to local high watermark {cut}")  # fmt: skip
    made = line(10, "Created log for partition orders-0 in /d with properties {}",
                "kafka.log.LogManager")  # fmt: skip
    loaded = line(10, f"[Log partition=orders-0, dir=/d] Loading producer state till offset {end} "
                  "with message format version 2", "kafka.log.Log")  # fmt: skip
    log = [*starting(0, 5), loaded, made, line(at + 1, chosen, "kafka.server.ReplicaFetcherThread")]
    return checked(write(folder, {"server.log": log, "state-change.log": [line(at, start)]}))


def test_a_replica_starts_from_the_log_that_was_loaded_for_it(tmp_path: Path):
    rule = "replica_starts_at_its_log_end"

    right = begun(tmp_path / "a", 0, 0, 0)
    offset = begun(tmp_path / "b", 7, 0, 0)
    cut = begun(tmp_path / "c", 0, 0, 5)
    others = [begun(tmp_path / "d", 7, 7, 7, at=20), begun(tmp_path / "e", 7, 7, 3, before=2)]

    assert violations(right) == []
    assert violations(offset) == [(rule, "state-change.log", 1)]
    assert violations(cut) == [(rule, "server.log", 5)]
    assert rule not in {each["rule"] for other in others for each in other["findings"]}


def test_a_replica_starts_where_its_log_was_loaded_however_long_the_process_takes(tmp_path: Path):
    """As with Kafka 3.1, whose companion object writes the line, seven seconds before."""
    loaded = line(3, "[LogLoader partition=orders-0, dir=/d] Loading producer state till offset 3 "
                  "with message format version 2", "kafka.log.UnifiedLog$")  # fmt: skip
    begins = line(0, "starting", "kafka.server.KafkaServer")
    began = line(9, "[KafkaServer id=5] started", "kafka.server.KafkaServer")
    quiet = line(12, "[Partition orders-1 broker=5] No checkpointed highwatermark is found for "
                 "partition orders-1", PARTITION)  # fmt: skip

    def starting_at(end: int) -> Any:
        folder = tmp_path / str(end)
        start = starts_as(10, 5, "Leader", 3, end).replace("epoch was 2", "epoch was -1")
        logs = {"server.log": [begins, loaded, began, quiet], "state-change.log": [start]}
        return violations(checked(write(folder, logs)))

    assert starting_at(3) == []
    assert starting_at(53) == [("replica_starts_at_its_log_end", "state-change.log", 1)]


def test_a_folder_that_could_not_be_renamed_is_the_log_of_the_topic_made_again(tmp_path: Path):
    """As on Windows, where open files are not renamed: "Created log" says nothing of its end."""
    assert violations(begun(tmp_path, 7, 0, 0, end=7)) == []


# --- what leaders say as they shrink the ISR, and where logs end


def shrinks(second: int, leader: int, isr: str, mark: int, end: int) -> str:
    text = (f"[Partition orders-0 broker={leader}] Shrinking ISR from {isr},6 to {isr}. Leader: "
            f"(highWatermark: {mark}, endOffset: {end}). Out of sync replicas: (brokerId: 6, "
            "endOffset: 9).")  # fmt: skip
    return line(second, text, PARTITION)


def starts_as(second: int, broker: int, role: str, epoch: int, end: int, mark: int = 0) -> str:
    isr = " ISR [4,5] addingReplicas [] removingReplicas []" if role == "Leader" else ""
    return line(
        second,
        f"[Broker id={broker}] {role} orders-0 starts at leader epoch {epoch} from offset {end} "
        f"with high watermark {mark}{isr}. Previous leader epoch was {epoch - 1}.",
    )


def judged(folder: Path, own: list[str], roles: list[str], of_leader: list[str]) -> Any:
    """The check of broker 5, and of a broker 4 that leads in epoch 2 as of second 10."""
    alive = line(900, "[KafkaServer id=5] x", "kafka.server.KafkaServer")
    files = {
        "b5/server.log": [*starting(0, 5), *own, alive],
        "b5/state-change.log": roles,
        "b4/server.log": [*starting(0, 4), *of_leader, alive.replace("=5", "=4")],
        "b4/state-change.log": [starts_as(10, 4, "Leader", 2, 20), starts_as(
            800, 4, "Follower", 9, 30).replace("was 8", "was 2")],
    }  # fmt: skip
    return checked(write(folder, files))


FOLLOWS = [starts_as(5, 5, "Follower", 1, 8), starts_as(10, 5, "Follower", 2, 9)]


def test_what_a_leader_says_to_be_committed_all_members_of_its_isr_keep(tmp_path: Path):
    shrinks_to_5 = [shrinks(30, 4, "4,5", 16, 20)]
    leads = starts_as(60, 5, "Leader", 3, 12)

    below = judged(tmp_path / "below", [], [*FOLLOWS, leads], shrinks_to_5)
    at = judged(tmp_path / "at", [], [*FOLLOWS, starts_as(60, 5, "Leader", 3, 16)], shrinks_to_5)
    alone = judged(tmp_path / "alone", [], [*FOLLOWS, leads], [shrinks(30, 4, "4", 16, 20)])
    anew = judged(tmp_path / "anew", starting(40, 5), [*FOLLOWS, leads], shrinks_to_5)
    late = judged(tmp_path / "late", [], [FOLLOWS[1], leads], shrinks_to_5)

    assert incomplete(below) == [(RULE, "state-change.log", 3)]  # clocks may be apart
    assert [each["findings"] for each in (at, alone, anew, late)] == [[], [], [], []]


def test_a_leader_that_told_its_high_watermark_never_cuts_below_it(tmp_path: Path):
    of_follower = [starts_as(60, 4, "Leader", 4, 20)]
    files = {
        "b5/server.log": [*starting(0, 5), shrinks(30, 5, "5,4", 16, 20), cut_to(61, 12)],
        "b5/state-change.log": [starts_as(10, 5, "Leader", 3, 12)],
        "b4/state-change.log": of_follower,
    }

    assert violations(checked(write(tmp_path, files))) == [(RULE, "server.log", 4)]


ENDS = "replica_starts_at_its_log_end"


def test_a_log_is_shortened_by_nothing_but_a_cut(tmp_path: Path):
    roles = [*FOLLOWS, starts_as(50, 5, "Leader", 3, 14), starts_as(60, 5, "Follower", 4, 12)]

    cut = judged(tmp_path / "cut", [cut_to(55, 12)], roles, [])
    lost = judged(tmp_path / "lost", starting(55, 5), roles, [])
    fallen = judged(tmp_path / "fallen", [], roles, [])

    assert violations(cut) == violations(lost) == []
    assert violations(fallen) == [(ENDS, "state-change.log", 4)]


def test_a_follower_that_had_no_fetcher_cuts_below_its_logs_end(tmp_path: Path):
    roles = [starts_as(50, 5, "Leader", 3, 14), starts_as(60, 5, "Follower", 4, 20)]

    below = judged(tmp_path / "below", [cut_to(61, 19)], roles, [])
    above = judged(tmp_path / "above", [cut_to(61, 20)], roles, [])
    fetched = judged(tmp_path / "fetched", [cut_to(61, 20)],
                     [starts_as(50, 5, "Follower", 3, 14), roles[1]], [])  # fmt: skip

    assert incomplete(below) == incomplete(fetched) == []
    assert incomplete(above) == [(ENDS, "server.log", 3)]  # in two logs


def test_up_to_2_3_a_replica_is_loaded_with_its_high_watermark_and_remote_ones_with_0(
    tmp_path: Path,
):
    def replica(second: int, mark: int) -> str:
        text = f"Replica loaded for partition orders-0 with initial high watermark {mark}"
        return line(second, text, "kafka.cluster.Replica")

    log = [replica(3, 0), replica(3, 16), replica(3, 0)]

    assert found(tmp_path / "at", [*log, cut_to(9, 16)], [began(5, 4, 20)]) == []
    assert found(tmp_path / "below", [*log, cut_to(9, 12)], [began(5, 4, 20)]) == [("violation", 6)]

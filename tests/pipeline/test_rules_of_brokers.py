"""What brokers obey and apply: a line that breaks a rule, and its twin that does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.written import (
    CONTROLLER,
    SERVER,
    ZK,
    changed,
    checked,
    incomplete,
    leads,
    line,
    obeys,
    starting,
    state,
    violations,
    write,
)


def test_a_broker_obeys_no_older_controller(tmp_path: Path):
    server = starting(0, 2)

    wrong = checked(
        write(
            tmp_path / "a",
            {"server.log": server, "state-change.log": [obeys(1, 2, 1, 5), obeys(2, 2, 1, 4)]},
        )
    )
    right = checked(
        write(
            tmp_path / "b",
            {
                "server.log": [*server, *starting(2, 2)],
                "state-change.log": [obeys(1, 2, 1, 5), obeys(3, 2, 1, 4)],
            },
        )
    )

    assert violations(wrong) == [("no_older_controller_is_obeyed", "state-change.log", 2)]
    assert right["findings"] == []


def test_a_restart_that_cannot_be_seen_may_have_been_one(tmp_path: Path):
    later = state(tmp_path / "a", obeys(1, 2, 1, 5), obeys(60, 2, 1, 4))
    at_once = state(tmp_path / "b", obeys(1, 2, 1, 5), obeys(2, 2, 1, 4))

    assert incomplete(later) == [("no_older_controller_is_obeyed", "state-change.log", 2)]
    assert violations(at_once) == [("no_older_controller_is_obeyed", "state-change.log", 2)]


def test_a_replica_that_may_have_been_deleted_unseen_is_unknown(tmp_path: Path):
    stopped = line(1, "[Broker id=2] Handling StopReplica request correlationId 6 from controller "
                   "4 for 2 partitions")  # fmt: skip

    unseen = state(tmp_path / "a", leads(0, 2, 5, 4), stopped, leads(1, 2, 0, -1))
    later = state(tmp_path / "b", leads(0, 2, 5, 4), leads(90, 2, 0, -1))
    at_once = state(tmp_path / "c", leads(0, 2, 5, 4), leads(1, 2, 0, -1))

    rule = "no_older_leader_epoch_is_applied"
    assert incomplete(unseen) == [(rule, "state-change.log", 3)]
    assert incomplete(later) == [(rule, "state-change.log", 2)]
    assert violations(at_once) == [(rule, "state-change.log", 2)]


def test_an_older_controller_that_is_refused_is_as_it_should_be(tmp_path: Path):
    refused = (
        "[Broker id=2] Ignoring LeaderAndIsr request from controller 1 with correlation id 3 since "
        "its controller epoch {} is old. Latest known controller epoch is 5"
    )

    right = state(tmp_path / "a", obeys(1, 2, 1, 5), line(2, refused.format(4)))
    wrong = state(tmp_path / "b", obeys(1, 2, 1, 5), line(2, refused.format(6)))

    assert right["findings"] == []
    assert ("only_older_epochs_are_refused", "state-change.log", 2) in violations(wrong)


@pytest.mark.parametrize("epoch, broken", [(6, False), (5, True), (4, True)])
def test_a_replica_applies_a_leader_epoch_above_the_one_it_held(
    tmp_path: Path, epoch: int, broken: bool
):
    result = state(tmp_path, leads(1, 2, epoch, before=5))

    found = [("no_older_leader_epoch_is_applied", "state-change.log", 1)]
    assert violations(result) == (found if broken else [])


FOLLOWS_3_6 = (
    "[Broker id=2] Follower orders-0 starts at leader epoch {0} from offset 17 with partition "
    "epoch 3 and high watermark 16. Current leader is 4. Previous leader Some(4) and previous "
    "leader epoch was {0}."
)


@pytest.mark.parametrize("epochs, broken", [((5, 6), False), ((6, 5), True)])
def test_a_follower_from_3_6_logs_the_epoch_that_it_takes_as_the_one_before(
    tmp_path: Path, epochs: tuple[int, int], broken: bool
):
    lines = [line(second, FOLLOWS_3_6.format(epoch)) for second, epoch in enumerate(epochs, 1)]

    result = state(tmp_path, *lines)

    found = [("no_older_leader_epoch_is_applied", "state-change.log", 2)]
    assert violations(result) == (found if broken else [])


def test_a_replica_that_was_loaded_again_still_applies_no_older_epoch(tmp_path: Path):
    server = [*starting(0, 2), *starting(50, 2), line(90, "[KafkaServer id=2] hello", SERVER)]

    wrong = checked(
        write(
            tmp_path / "a",
            {"server.log": server, "state-change.log": [leads(1, 2, 5, 4), leads(60, 2, 3, -1)]},
        )
    )
    right = checked(
        write(
            tmp_path / "b",
            {"server.log": server, "state-change.log": [leads(1, 2, 5, 4), leads(60, 2, 5, -1)]},
        )
    )

    assert violations(wrong) == [("no_older_leader_epoch_is_applied", "state-change.log", 2)]
    assert right["findings"] == []


def test_up_to_1_1_who_is_sent_a_leader_that_it_does_not_know_keeps_its_epoch(tmp_path: Path):
    """Its line names the controller epoch of the state, and not that of the request."""

    def applied(second: int, epoch: int, correlation: int) -> list[str]:
        by = f"correlationId {correlation} from controller 1 epoch 4"
        return [
            line(second, "Broker 5 received LeaderAndIsr request PartitionState(controllerEpoch=3, "
                 f"leader=4, leaderEpoch={epoch}, isr=[4], zkVersion=9, replicas=[5, 4]) "
                 f"correlation id {correlation} from controller 1 epoch 4 for partition [t,0]"),
            line(second, f"Broker 5 handling LeaderAndIsr request {by} starting the "
                 "become-follower transition for partition t-0"),
        ]  # fmt: skip

    unknown = line(3, "Broker 5 received LeaderAndIsrRequest with correlation id 6 from "
                   "controller 1 epoch 3 for partition t-0 but cannot become follower since the "
                   "new leader 4 is unavailable.")  # fmt: skip

    def fall(folder: Path, *between: str) -> list[str]:
        lines = [*applied(2, 8, 6), *between, *applied(5, 7, 7)]
        found = checked(write(folder, {"b5/state-change.log": lines}))["findings"]
        return [one["rule"] for one in found if "leader epoch applied" in one["why"]]

    assert fall(tmp_path / "applied") == ["no_older_leader_epoch_is_applied"]
    assert fall(tmp_path / "kept", unknown) == []


def test_a_replica_whose_log_was_removed_begins_anew(tmp_path: Path):
    removed = line(
        30,
        "Log for partition orders-0 is renamed to /d/orders-0.1-delete and is scheduled for "
        "deletion",
        "kafka.log.LogManager",
    )

    result = checked(
        write(
            tmp_path,
            {
                "server.log": [*starting(0, 2), removed],
                "state-change.log": [leads(1, 2, 5, 4), leads(60, 2, 0, -1)],
            },
        )
    )

    assert result["findings"] == []


def test_of_two_leader_epochs_of_a_replica_the_one_that_other_lines_have_is_right(tmp_path: Path):
    """The later start is wrong in both of its epochs; the earlier one is as it was written."""
    states = [changed(9, (1, 4), 5, 4, "5"), leads(10, 5, 4, -1), leads(60, 5, 3, 2)]
    quiet = line(90, "[KafkaServer id=5] shutting down", SERVER)
    files = {"state-change.log": states, "server.log": [*starting(0, 5), quiet]}

    found = violations(checked(write(tmp_path, files)))

    assert ("no_older_leader_epoch_is_applied", "state-change.log", 3) in found
    assert "state-change.log" not in {name for _, name, at in found if at == 2}


# --- the epoch of a registration

EPOCHS = "a_broker_has_the_epoch_of_its_registration"
ZK_CLIENT = "kafka.zookeeper.ZooKeeperClient"


def registered(second: int, broker: int, czxid: int) -> str:
    return line(second, f"Registered broker {broker} at path /brokers/ids/{broker} with addresses: "
                f"PLAINTEXT://h:9092, czxid (broker epoch): {czxid}", ZK)  # fmt: skip


def knows(second: int, verb: str, brokers: str) -> str:
    return line(second, f"[Controller id=1] {verb} broker epochs cache: HashMap({brokers})",
                CONTROLLER)  # fmt: skip


def known(folder: Path, *lines: str, own: int = 40, quiet: int = 2000) -> dict[str, Any]:
    """The check of what controller 1 knows, where brokers 1 and 2 register with 31 and `own`."""
    last = line(quiet, "[KafkaServer id=2] shutting down", SERVER)
    files = {"b1/server.log": [*starting(0, 1), registered(1, 1, 31)],
             "b2/server.log": [*starting(2, 2), registered(3, 2, own), last],
             "b1/controller.log": lines}  # fmt: skip
    return checked(write(folder, files))


def test_a_controller_knows_a_broker_by_no_epoch_under_which_it_never_registered(tmp_path: Path):
    before = [knows(2, "Initialized", "1 -> 31"), knows(4, "Updated", "1 -> 31, 2 -> 40")]
    right = known(tmp_path / "a", *before, knows(5, "Updated", "1 -> 31, 2 -> 40"))
    wrong = known(tmp_path / "b", *before, knows(5, "Updated", "1 -> 31, 2 -> 45"))
    apart = known(tmp_path / "c", *before, knows(5, "Updated", "1 -> 31, 2 -> 45"), quiet=9)

    assert right["findings"] == []
    assert violations(wrong) == [(EPOCHS, "controller.log", 3)]
    assert (EPOCHS, "controller.log", 3) in incomplete(apart)
    assert violations(apart) == []


def test_one_registration_against_several_lines_of_the_controller_is_the_wrong_one(tmp_path: Path):
    lines = [knows(2, "Initialized", "1 -> 31"), knows(4, "Updated", "1 -> 31, 2 -> 40"),
             knows(5, "Updated", "1 -> 31, 2 -> 40")]  # fmt: skip

    found = known(tmp_path, *lines, own=42)

    assert incomplete(found) == [(EPOCHS, "server.log", 3)]


def test_a_controller_may_know_the_registration_before_of_which_no_line_is_left(tmp_path: Path):
    lines = [knows(2, "Initialized", "1 -> 31, 2 -> 20"), knows(4, "Updated", "1 -> 31, 2 -> 20")]

    assert known(tmp_path, *lines)["findings"] == []


@pytest.mark.parametrize("last, wrong", [(40, True), (44, False)])
def test_no_epoch_of_a_broker_comes_back(tmp_path: Path, last: int, wrong: bool):
    """Each is the czxid of a znode that goes with its session."""
    lines = [knows(at, "Updated", f"1 -> 31, 2 -> {czxid}") for at, czxid in
             ((4, 40), (5, 38), (6, last))]  # fmt: skip

    found = violations(known(tmp_path, *lines))

    assert ((EPOCHS, "controller.log", 2) in found) is wrong


def test_no_two_brokers_have_one_epoch(tmp_path: Path):
    lines = [knows(2, "Initialized", "1 -> 31"), knows(4, "Updated", "1 -> 31, 7 -> 40"),
             knows(5, "Updated", "1 -> 31, 2 -> 40")]  # fmt: skip

    assert violations(known(tmp_path, *lines)) == [(EPOCHS, "controller.log", 2)]


@pytest.mark.parametrize("czxids, ids, at", [
    ((20, 31, 40), "aaa", 0),
    ((20, 31, 24), "aaa", 12),
    ((20, 90, 31, 40), "aaaa", 8),
    ((20, 31, 24), "aab", 0),
])  # fmt: skip
def test_in_one_cluster_a_broker_registers_with_no_older_czxid_again(
    tmp_path: Path, czxids: tuple[int, ...], ids: str, at: int
):
    """Where it logs the same cluster id before each, ZooKeeper was not replaced in between."""
    log = []
    for number, (czxid, name) in enumerate(zip(czxids, ids, strict=True)):
        second = number * 100
        begins, began = starting(second, 2)
        id_line = line(second + 1, f"Cluster ID = {name * 22}", SERVER)
        log += [begins, id_line, registered(second + 2, 2, czxid), began]

    found = checked(write(tmp_path, {"b2/server.log": log}))

    assert violations(found) == ([(EPOCHS, "server.log", at - 1)] if at else [])


def test_an_epoch_of_another_zookeeper_is_none_under_which_a_broker_registered(tmp_path: Path):
    """Each of two new ZooKeepers counts from the beginning, which lies before the id read there."""

    def life(second: int, name: str, czxid: int) -> list[str]:
        begins, began = starting(second, 1)
        id_line = line(second, f"Cluster ID = {name * 22}", SERVER)
        made = line(second + 2, "Successfully created /controller_epoch with initial epoch 0", ZK)
        return [begins, id_line, registered(second + 1, 1, czxid), made, began]

    files = {"server.log": [*life(0, "a", 9), *life(3000, "b", 24)],
             "controller.log": [knows(3, "Initialized", "1 -> 24"),
                                knows(3003, "Initialized", "1 -> 24")]}  # fmt: skip

    assert violations(checked(write(tmp_path, files))) == [(EPOCHS, "server.log", 3)]


@pytest.mark.parametrize("client", ["Session expired.", "Initializing a new session to h:2181."])
def test_a_process_registers_once_in_a_session(tmp_path: Path, client: str):
    (begins, _), (_, began) = starting(0, 2), starting(3, 2)
    names = "[ZooKeeperClient Kafka server] "
    first = line(1, f"{names}Initializing a new session to h:2181.", ZK_CLIENT)
    again = line(20, f"{names}{client}", ZK_CLIENT)
    log = [begins, first, registered(2, 2, 20), began, registered(21, 2, 31)]

    twice = checked(write(tmp_path / "twice", {"b2/server.log": log}))
    anew = checked(write(tmp_path / "anew", {"b2/server.log": [*log[:4], again, log[4]]}))
    quiet = checked(write(tmp_path / "quiet", {"b2/server.log": [begins, *log[2:]]}))

    assert violations(twice) == [(EPOCHS, "server.log", 5)]
    assert violations(anew) == violations(quiet) == []

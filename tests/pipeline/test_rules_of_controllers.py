"""Controllers and new ZooKeepers: a line that breaks a rule, and its twin that does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.written import (
    CONTROLLER,
    SERVER,
    THREAD,
    ZK,
    changed,
    checked,
    elected,
    incomplete,
    line,
    obeys,
    state,
    violations,
    write,
)


def test_a_controller_epoch_has_one_owner(tmp_path: Path):
    files = {
        "b1/controller.log": [elected(1, 1, 4)],
        "b1/state-change.log": [changed(2, (1, 4), 1, 5, "1,2")],
    }

    wrong = checked(write(tmp_path / "a", files | {"b2/controller.log": [elected(9, 2, 4)]}))
    right = checked(write(tmp_path / "b", files | {"b2/controller.log": [elected(9, 2, 5)]}))

    assert violations(wrong) == [("one_owner_per_controller_epoch", "controller.log", 1)]
    assert "b2" in wrong["findings"][0]["file"]
    assert right["findings"] == []


def test_controller_epochs_strictly_grow(tmp_path: Path):
    wrong = checked(write(tmp_path / "a", {"controller.log": [elected(1, 1, 4), elected(2, 1, 4)]}))
    left = line(2, "[Controller id=1] Resigned", CONTROLLER)
    lines = [elected(1, 1, 4), left, elected(2, 1, 6)]
    right = checked(write(tmp_path / "b", {"controller.log": lines}))

    assert violations(wrong) == [("controller_epochs_strictly_grow", "controller.log", 2)]
    assert right["verdict"] == "holds"


def test_a_controller_is_ready_with_the_epoch_that_it_took(tmp_path: Path):
    ready = line(
        2, "[Controller id=1] Ready to serve as the new controller with epoch 4", CONTROLLER
    )
    writes = {"state-change.log": [changed(3, (1, 4), 1, 5, "1,2")]}

    result = checked(write(tmp_path, {"controller.log": [elected(1, 1, 3), ready]} | writes))

    assert violations(result) == [("controller_epochs_strictly_grow", "controller.log", 1)]


def test_of_two_epochs_in_one_term_the_one_that_was_written_with_is_right(tmp_path: Path):
    ready = "[Controller id=1] Ready to serve as the new controller with epoch {}"
    # Epoch 3 was used far more often, in the term before.
    before = [elected(1, 1, 3), line(2, ready.format(3), CONTROLLER)]
    writes = [changed(3 + n, (1, 3), 1, 5 + n, "1,2") for n in range(9)]
    now = [elected(20, 1, 4), line(21, ready.format(3), CONTROLLER)]

    unused = {"controller.log": before + now, "state-change.log": writes}
    used = {**unused, "state-change.log": [*writes, changed(22, (1, 4), 1, 20, "1,2")]}

    for name, files in (("a", unused), ("b", used)):
        result = checked(write(tmp_path / name, files))
        assert violations(result) == [("controller_epochs_strictly_grow", "controller.log", 4)]


def test_an_election_that_goes_back_behind_a_new_zookeeper_is_found_by_its_term(tmp_path: Path):
    ready = "[Controller id=1] Ready to serve as the new controller with epoch {}"
    lines = [
        elected(1, 1, 7),
        line(400, "Successfully created /controller_epoch with initial epoch 0", ZK),
        elected(401, 1, 0, version=1),
        line(402, ready.format(1), CONTROLLER),
    ]

    result = checked(write(tmp_path, {"controller.log": lines}))

    assert violations(result) == [("controller_epochs_strictly_grow", "controller.log", 3)]


def test_a_writer_goes_on_with_its_own_epoch(tmp_path: Path):
    result = state(tmp_path, changed(1, (1, 4), 1, 5, "1,2"), changed(2, (1, 3), 2, 6, "1,2"))

    assert violations(result) == [("controller_epochs_strictly_grow", "state-change.log", 2)]


@pytest.mark.parametrize("inside, broken", [(4, False), (3, True), (5, True)])
def test_a_state_carries_the_epoch_of_its_writer(tmp_path: Path, inside: int, broken: bool):
    removed = line(
        1,
        "[Controller id=1 epoch=4] Partition orders-0 state changed to (Leader:1,ISR:1,LeaderEpoch"
        f":3,ControllerEpoch:{inside}) after removing replica 2 from the ISR as part of transition "
        "to OfflineReplica",
    )

    result = state(tmp_path, removed)

    found = [("state_carries_its_writers_epoch", "state-change.log", 1)]
    assert violations(result) == (found if broken else [])


@pytest.mark.parametrize("elected_at", [3, None])
def test_a_deposed_controller_may_send_what_its_successor_wrote(
    tmp_path: Path, elected_at: int | None
):
    """It reads states with an IsrChangeNotification, and is fenced by its next write only."""

    def sends(leader_epoch: int, state: int, by: tuple[int, int], second: int) -> str:
        return line(
            second,
            f"[Controller id={by[0]} epoch={by[1]}] Sending UpdateMetadata request "
            f"UpdateMetadataPartitionState(topicName='orders', partitionIndex=0, controllerEpoch="
            f"{state}, leader=1, leaderEpoch={leader_epoch}, isr=[1], zkVersion={leader_epoch}, "
            "replicas=[1, 2], offlineReplicas=[]) to brokers Set(1, 2) for partition orders-0",
            level="TRACE",
        )

    others = [] if elected_at is None else [elected(elected_at, 2, 5)]
    first = sends(7, 4, (2, 5), 4)

    result = state(
        tmp_path, sends(8, 5, (1, 4), 6), b2__controller=others, **{"b2__state-change": [first]}
    )

    found = [("state_carries_its_writers_epoch", "state-change.log", 1)]
    assert violations(result) == ([] if elected_at else found)


# --- a new ZooKeeper


def lower_epoch(tmp_path: Path, *between: str) -> dict[str, Any]:
    lines = [elected(1, 1, 4), *between, elected(500, 1, 1)]
    return checked(write(tmp_path, {"b1/controller.log": lines}))


def test_the_first_epoch_again_without_any_evidence_is_unknown(tmp_path: Path):
    result = lower_epoch(tmp_path)

    assert incomplete(result) == [("controller_epochs_strictly_grow", "controller.log", 2)]
    assert result["verdict"] == "unknown"


@pytest.mark.parametrize(
    "evidence",
    [
        [
            line(2, "Cluster ID = aaaaaaaaaaaaaaaaaaaaaa", SERVER),
            line(499, "Cluster ID = bbbbbbbbbbbbbbbbbbbbbb", SERVER),
        ],
        [
            line(499, "Successfully created /controller_epoch with initial epoch 0", ZK),
        ],
        [
            line(2, "[Controller id=1] Initialized broker epochs cache: Map(1 -> 99)", CONTROLLER),
            line(499, "[Controller id=1] Updated broker epochs cache: Map(1 -> 24)", CONTROLLER),
        ],
        [
            line(2, "[Controller id=1] Updated broker epochs cache: Map(1 -> 24)", CONTROLLER),
            line(3, "[ControllerEventThread controllerId=1] Stopped", THREAD),
            line(498, "[ControllerEventThread controllerId=1] Starting", THREAD),
            line(499, "[Controller id=1] Updated broker epochs cache: Map(1 -> 24)", CONTROLLER),
        ],
        [
            line(2, "[Controller id=1] Updated broker epochs cache: Map(1 -> 24)", CONTROLLER),
            line(498, "[ControllerEventThread controllerId=1] Starting", THREAD),
            line(499, "[Controller id=1] Updated broker epochs cache: Map(1 -> 24)", CONTROLLER),
        ],
    ],
    ids=[
        "cluster id",
        "znode created",
        "older czxid",
        "same czxid after a restart",
        "same czxid after a kill",
    ],
)
def test_evidence_of_a_new_zookeeper_explains_the_first_epoch(tmp_path: Path, evidence: list[str]):
    result = lower_epoch(tmp_path, *evidence)

    kinds = [finding["kind"] for finding in result["findings"]]
    assert kinds == ["explained"]
    assert result["verdict"] == "holds"


def test_registrations_that_go_on_growing_deny_a_new_zookeeper(tmp_path: Path):
    epochs = "[Controller id=1] Updated broker epochs cache: Map(1 -> {})"
    lines = [
        line(0, epochs.format(24), CONTROLLER),
        elected(1, 1, 4),
        elected(500, 1, 1),
        line(501, epochs.format(31), CONTROLLER),
    ]

    result = checked(write(tmp_path, {"controller.log": lines}))

    assert violations(result) == [("controller_epochs_strictly_grow", "controller.log", 3)]


def test_after_a_new_zookeeper_epochs_and_owners_start_again(tmp_path: Path):
    new = [
        line(400, "Cluster ID = bbbbbbbbbbbbbbbbbbbbbb", SERVER),
    ]
    result = checked(
        write(
            tmp_path,
            {
                "b1/server.log": [line(0, "Cluster ID = aaaaaaaaaaaaaaaaaaaaaa", SERVER), *new],
                "b1/controller.log": [elected(1, 1, 1)],
                "b1/state-change.log": [changed(2, (1, 1), 1, 5, "1,2"), obeys(3, 1, 1, 1)],
                "b2/controller.log": [elected(410, 2, 1)],
                "b2/state-change.log": [changed(411, (2, 1), 2, 0, "2"), obeys(412, 2, 2, 1)],
            },
        )
    )

    assert violations(result) == []
    assert result["verdict"] == "holds"


def test_brokers_whose_clocks_differ_show_no_new_zookeeper(tmp_path: Path):
    registered = "Registered broker {} at path /brokers/ids/{}, czxid (broker epoch): {}"

    result = checked(
        write(
            tmp_path,
            {
                "b1/server.log": [line(600, registered.format(1, 1, 50), ZK)],
                "b1/controller.log": [
                    elected(601, 1, 1),
                    line(
                        603,
                        "[Controller id=1] Updated broker epochs cache: Map(1 -> 50, 2 -> 70)",
                        CONTROLLER,
                    ),
                ],
                # Its clock is ten minutes behind, and it registered second.
                "b2/server.log": [line(2, registered.format(2, 2, 70), ZK)],
                "b2/controller.log": [elected(30, 2, 2)],
            },
        )
    )

    assert result["findings"] == []


def writes_again(second: int) -> list[str]:
    """Broker 1 writes with epoch 9, and then with epoch 2 for good."""
    return [
        *(changed(n, (1, 9), 1, n, "1") for n in (1, 2)),
        changed(second, (1, 2), 1, 0, "1", frm="NewPartition"),
        changed(second + 1, (1, 2), 1, 1, "1"),
    ]


@pytest.mark.parametrize("second, broken", [(5, True), (300, False)])
def test_without_its_server_log_only_the_clock_denies_a_new_zookeeper(
    tmp_path: Path, second: int, broken: bool
):
    result = state(tmp_path, *writes_again(second))

    found = violations(result) if broken else incomplete(result)
    assert ("controller_epochs_strictly_grow", "state-change.log", 3) in found
    assert result["verdict"] == ("broken" if broken else "unknown")


def test_a_server_log_from_before_until_after_denies_a_new_zookeeper(tmp_path: Path):
    server = [line(0, "[KafkaServer id=1] started", SERVER), line(400, "hello", SERVER)]

    whole = state(tmp_path / "a", *writes_again(300), b1__server=server)
    late = state(
        tmp_path / "b",
        *writes_again(300),
        b1__server=[line(200, "[KafkaServer id=1] started", SERVER)],
    )

    rule = ("controller_epochs_strictly_grow", "state-change.log", 3)
    assert violations(whole) == [rule]
    assert violations(late) == []
    assert rule in incomplete(late)


def test_files_put_together_out_of_order_are_no_evidence(tmp_path: Path):
    old = [changed(n, (1, 3), 1, n, "1,2") for n in range(10, 14)]
    new = [changed(900 + n, (1, 4), 1, 20 + n, "1,2") for n in range(4)]

    result = state(tmp_path, *new, *old)

    assert violations(result) == []
    assert result["verdict"] == "unknown"


# --- one line of several: the one that is wrong is blamed


def sends(milli: int, epoch: int, to: int = 1) -> str:
    text = line(5, f"[Controller id=1 epoch={epoch}] Sending LeaderAndIsr request to broker {to} "
                "with 1 become-leader and 0 become-follower partitions")  # fmt: skip
    return text.replace(",000]", f",{milli:03}]")


@pytest.mark.parametrize("wrong", [0, 2, 6, 9])
@pytest.mark.parametrize("milli", [2, 3])
def test_a_controller_epoch_between_two_lines_of_another_is_found_at_its_line(
    tmp_path: Path, wrong: int, milli: int
):
    lines = [sends(1, 4), sends(milli, 4), sends(2, wrong), sends(3, 4), sends(4, 4)]
    lines.sort(key=lambda each: each[20:25])
    number = next(n for n, each in enumerate(lines, 1) if f"epoch={wrong}]" in each)
    registered = {"b1/controller.log": [elected(1, 1, 4)]}

    result = checked(write(tmp_path, registered | {"b1/state-change.log": lines}))

    rule = "controller_epochs_strictly_grow"
    assert (rule, "state-change.log", number) in violations(result)
    assert {where[1:] for where in violations(result)} == {("state-change.log", number)}


def test_a_controller_that_left_and_was_elected_again_has_another_epoch(tmp_path: Path):
    lines = [sends(1, 4), sends(2, 0), sends(3, 7)]
    left = [elected(1, 1, 4), line(4, "[Controller id=1] Resigned", CONTROLLER), elected(5, 1, 7)]

    result = checked(write(tmp_path, {"b1/controller.log": left, "b1/state-change.log": lines}))

    assert violations(result) == []


@pytest.mark.parametrize("ready, found", [(1, []), (3, ["controller.log"])])
def test_who_gets_ready_is_who_was_elected(tmp_path: Path, ready: int, found: list[str]):
    last = line(2, f"[Controller id={ready}] Ready to serve as the new controller with epoch 4",
                CONTROLLER)  # fmt: skip
    files = {
        "b1/controller.log": [elected(1, 1, 4), last],
        "b1/state-change.log": [changed(3, (1, 4), 1, 5, "1,2")],
    }

    result = checked(write(tmp_path, files))

    assert [(name, where) for _, name, where in violations(result)] == [(f, 2) for f in found]


@pytest.mark.parametrize("version, broken", [(3, False), (4, False), (5, True), (9, True)])
def test_no_version_of_the_epochs_znode_is_above_its_epoch(
    tmp_path: Path, version: int, broken: bool
):
    result = checked(write(tmp_path, {"b1/controller.log": [elected(1, 1, 4, version)]}))

    rule = "controller_epoch_and_its_version_rise_together"
    assert violations(result) == ([(rule, "controller.log", 1)] if broken else [])


@pytest.mark.parametrize("to, kinds", [(1, set()), (2, set()), (7, {"violation"})])
def test_a_controller_sends_to_brokers_that_it_knows_as_alive(
    tmp_path: Path, to: int, kinds: set[str]
):
    epochs = "[Controller id=1] Initialized broker epochs cache: HashMap(1 -> 31, 2 -> 48)"
    files = {
        "b1/controller.log": [
            elected(1, 1, 4),
            line(2, epochs, CONTROLLER),
            line(9, epochs.replace("Initialized", "Updated"), CONTROLLER),
        ],
        "b1/server.log": [
            line(0, "Kafka version: 2.7.0", "org.apache.kafka.common.utils.AppInfoParser")
        ],
        "b1/state-change.log": [sends(1, 4, to), sends(900, 4, 2)],
    }

    found = checked(write(tmp_path, files))["findings"]

    assert {(row["kind"], row["rule"], row["line"]) for row in found} == {
        (kind, "a_request_is_handled_as_it_was_sent", 1) for kind in kinds
    }


def test_who_stops_its_election_names_a_broker_that_some_line_knows_as_controller(tmp_path: Path):
    def found(named: int, *more: str) -> Any:
        text = f"[Controller id=3] Broker {named} has been elected as the controller, so stopping "
        acts = [elected(1, 1, 5), line(30, "[Controller id=1 epoch=5] Sending UpdateMetadata "
                                       "request to brokers Set(1) for 0 partitions")]  # fmt: skip
        stops = line(10, f"{text}the election process.", CONTROLLER, "DEBUG")
        files = {"b1/controller.log": [*acts, *more], "b3/controller.log": [stops]}
        return checked(write(tmp_path / f"{named}-{len(more)}", files))

    rule = "one_owner_per_controller_epoch"
    assert [incomplete(found(named)) for named in (1, 4)] == [[], [(rule, "controller.log", 1)]]
    assert (rule, "controller.log", 1) not in incomplete(found(4, obeys(40, 1, 4, 6)))

"""Who comes to the controllership, acts in it, is obeyed: one run of `election`, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.pipeline.controllership_model import (
    ControllershipModel,
    reverted_switches,
    steps_and_reasons,
)
from conformance.pipeline.streaming_state import FINDING, StreamingState
from tests.pipeline.test_growing import FolderReader
from tests.pipeline.written import (
    CONTROLLER,
    changed,
    checked,
    elected,
    line,
    obeys,
    starting,
    write,
)

RULE = "controller_lines_are_a_run_of_the_model"
RELEASE = "org.apache.kafka.common.utils.AppInfoParser"


def resigned(second: int, broker: int) -> str:
    return line(second, f"[Controller id={broker}] Resigned", CONTROLLER)


def ready(second: int, broker: int, epoch: int) -> str:
    said = f"[Controller id={broker}] Ready to serve as the new controller with epoch {epoch}"
    return line(second, said, CONTROLLER)


def finds(second: int, broker: int, other: int) -> str:
    return line(
        second,
        f"[Controller id={broker}] Broker {other} has been elected as the controller, so stopping "
        "the election process.",
        CONTROLLER,
    )


def moved(second: int, broker: int) -> str:
    said = "Controller moved to another broker when processing BrokerChange."
    return line(second, f"[Controller id={broker}] {said}", CONTROLLER)


def refuses(second: int, broker: int, controller: int, epoch: int, known: int) -> str:
    return line(
        second,
        f"[Broker id={broker}] Ignoring LeaderAndIsr request from controller {controller} with "
        f"correlation id 3 since its controller epoch {epoch} is old. Latest known controller "
        f"epoch is {known}",
        level="WARN",
    )


def judged(tmp_path: Path, /, version: str = "2.3.1", **files: Any) -> dict[str, Any]:
    """Logs by names such as `b1__controller`; every broker has a server.log from end to end."""
    logs = {f"{name.replace('__', '/')}.log": lines for name, lines in files.items()}
    for broker in sorted({name.partition("__")[0] for name in files}):
        logs.setdefault(f"{broker}/server.log", []).extend(
            [
                line(0, f"Kafka version: {version}", RELEASE),
                *starting(0, int(broker[1:])),
                line(500, f"[KafkaServer id={broker[1:]}] something", "kafka.server.KafkaServer"),
            ]
        )
        logs[f"{broker}/server.log"].sort()
    return checked(write(tmp_path, logs))


def found(tmp_path: Path, **given: Any) -> list[tuple[str, str, int]]:
    return [
        (row["kind"], Path(row["file"]).parent.name, row["line"])
        for row in judged(tmp_path, **given)["findings"]
        if row["rule"] == RULE
    ]


def test_controllerships_that_are_taken_and_left_in_turn_have_a_run(tmp_path: Path):
    result = judged(
        tmp_path,
        b1__controller=[elected(10, 1, 7), ready(11, 1, 7), resigned(30, 1), finds(31, 1, 2)],
        b2__controller=[finds(12, 2, 1), elected(30, 2, 8), ready(31, 2, 8)],
        b2__state=[obeys(12, 2, 1, 7), changed(33, (2, 8), 2, 6, "1,2"), obeys(34, 2, 2, 8)],
    )

    election = result["coverage"]["election"]
    assert result["findings"] == []
    assert election["steps"]["broker_wins_election"] == 2
    assert election["steps"]["controller_resigns_and_deletes_znode"] == 1
    assert election["steps"]["write_is_applied"] == 1
    assert election["steps"]["broker_handles_request"] == 2
    assert election["hidden"]["broker_reads_epoch"] == 2
    assert result["coverage"]["rules"][RULE] == 10


def test_clocks_of_brokers_that_are_hours_apart_change_nothing(tmp_path: Path):
    late = 3 * 3600

    assert (
        found(
            tmp_path,
            b1__controller=[elected(10 + late, 1, 7), resigned(30 + late, 1)],
            b2__controller=[elected(10, 2, 8), ready(11, 2, 8)],
            b3__state=[obeys(9000, 3, 1, 7), obeys(9001, 3, 2, 8)],
        )
        == []
    )


def test_an_election_without_the_loss_of_the_former_controllership_is_impossible(tmp_path: Path):
    logs = [elected(10, 1, 7), ready(11, 1, 7), elected(30, 1, 8), ready(31, 1, 8)]

    result = judged(tmp_path, b1__controller=logs)

    (finding,) = result["findings"]
    assert (finding["kind"], finding["rule"], finding["line"]) == ("impossible", RULE, 3)
    assert "has not resigned since its last election" in finding["why"]
    assert finding["why"].endswith("the broker does not believe it is the controller")


@pytest.mark.parametrize(
    "between",
    [
        resigned(20, 1),
        line(
            20,
            "Registered broker 1 at path /brokers/ids/1, czxid (broker epoch): 48",
            "kafka.zk.KafkaZkClient",
        ),
        starting(20, 1)[1],
    ],
)
def test_a_resignation_a_new_session_or_a_new_process_lies_between_two_elections(
    tmp_path: Path, between: str
):
    logs = [elected(10, 1, 7), between, elected(30, 1, 8)]

    assert found(tmp_path, b1__controller=logs) == []


def test_two_owners_of_one_epoch_are_found_where_the_fewer_lines_are(tmp_path: Path):
    lines: dict[str, Any] = {
        "b1__controller": [elected(10, 1, 7), ready(11, 1, 7)],
        "b2__controller": [elected(12, 2, 7)],
        "b3__state": [obeys(13, 3, 1, 7)],
    }

    assert found(tmp_path, **lines) == [("impossible", "b2", 1)]


def test_an_epoch_that_goes_back_is_found_at_its_line_and_what_follows_is_not(tmp_path: Path):
    lines: dict[str, Any] = {
        "b1__controller": [elected(10, 1, 7), resigned(20, 1)],
        "b2__controller": [elected(21, 2, 6), ready(22, 2, 8)],
        "b2__state": [changed(23, (2, 8), 2, 6, "1,2")],
        "b3__state": [obeys(13, 3, 1, 7), obeys(24, 3, 2, 8)],
    }

    assert found(tmp_path, **lines) == [("impossible", "b2", 1)]


def test_acts_of_a_broker_that_was_never_elected_are_reported_once(tmp_path: Path):
    acts = [changed(second, (1, 8), 1, 6 + second, "1,2") for second in range(31, 40)]
    lines: dict[str, Any] = {
        "b1__controller": [elected(10, 1, 7), ready(11, 1, 7), finds(60, 1, 2), resigned(70, 1)],
        "b1__state": acts,
        "b3__state": [obeys(41, 3, 1, 8)],
    }

    result = judged(tmp_path, **lines)

    rows = [row for row in result["findings"] if row["rule"] == RULE]
    assert [(row["kind"], row["line"]) for row in rows] == [("impossible", 1)]
    assert "and in 8 lines after it, and no line says that it was elected" in rows[0]["why"]


def test_acts_after_it_resigned_are_impossible(tmp_path: Path):
    lines: dict[str, Any] = {
        "b1__controller": [elected(10, 1, 7), resigned(20, 1)],
        "b1__state": [changed(15, (1, 7), 1, 6, "1,2"), changed(30, (1, 7), 1, 7, "1")],
    }

    assert found(tmp_path / "now", **lines) == [("impossible", "b1", 2)]
    assert found(tmp_path / "then", version="0.10.0.1", **lines) == [("explained", "b1", 2)]


def test_what_is_sent_in_the_millisecond_of_a_resignation_was_sent_before_it(tmp_path: Path):
    assert found(
        tmp_path,
        b1__controller=[elected(10, 1, 7), resigned(20, 1)],
        b1__state=[changed(15, (1, 7), 1, 6, "1,2"), changed(20, (1, 7), 1, 7, "1")],
    ) == []  # fmt: skip


def test_an_election_that_two_logs_tell_of_under_other_stamps_is_one(tmp_path: Path):
    lines: dict[str, Any] = {
        "b1__controller": [elected(10, 1, 7), resigned(20, 1), elected(30, 1, 8)],
        "b1__kafkaServer": [elected(3610, 1, 7), elected(3630, 1, 8)],
    }

    assert found(tmp_path, **lines) == []


def test_what_follows_an_election_of_perhaps_another_zookeeper_is_not_judged(tmp_path: Path):
    days = 3 * 24 * 3600 // 60
    lines: dict[str, Any] = {
        "b1__controller": [elected(10, 1, 7), resigned(20, 1)],
        "b2__controller": [elected(days, 2, 3), resigned(days + 1, 2), elected(days + 2, 2, 4)],
        "b3__state": [obeys(13, 3, 1, 7), obeys(days, 3, 2, 3), obeys(days + 3, 3, 2, 4)],
    }
    logs = {f"{name.replace('__', '/')}.log": text for name, text in lines.items()}

    rows = checked(write(tmp_path, logs))["findings"]

    assert {row["kind"] for row in rows} == {"incomplete"}
    assert len([row for row in rows if row["rule"] == RULE]) <= 1


def test_logs_that_tell_of_no_election_hide_them(tmp_path: Path):
    lines: dict[str, Any] = {
        "b1__controller": [resigned(10, 1), finds(11, 1, 2), resigned(50, 1), finds(90, 1, 2)],
        "b1__state": [changed(20, (1, 7), 1, 6, "1,2"), changed(60, (1, 9), 1, 7, "1")],
    }

    assert found(tmp_path, **lines) == []


def test_an_older_controller_that_is_obeyed_is_a_known_bug(tmp_path: Path):
    lines: dict[str, Any] = {
        "b1__controller": [elected(10, 1, 7)],
        "b2__controller": [elected(20, 2, 8)],
        "b3__state": [obeys(21, 3, 2, 8), obeys(22, 3, 1, 7)],
    }

    result = judged(tmp_path, **lines)

    (row,) = [row for row in result["findings"] if row["rule"] == RULE]
    assert (row["kind"], row["line"]) == ("known bug", 2)
    assert "does that only without requests_fenced" in row["why"]


def test_a_process_that_began_anew_has_forgotten_and_is_not_blamed(tmp_path: Path):
    lines: dict[str, Any] = {
        "b1__controller": [elected(10, 1, 7)],
        "b2__controller": [elected(20, 2, 8)],
        "b3__state": [obeys(21, 3, 2, 8), obeys(40, 3, 1, 7)],
        "b3__server": starting(30, 3),
    }

    assert found(tmp_path / "after", **lines) == [("explained", "b3", 2)]
    assert found(tmp_path / "before", version="2.1.0", **lines) == []


def test_a_write_of_an_older_controller_after_a_newer_ones_is_a_known_bug(tmp_path: Path):
    lines: dict[str, Any] = {
        "b1__controller": [elected(10, 1, 7)],
        "b1__state": [changed(12, (1, 7), 1, 3, "1,2"), changed(40, (1, 7), 1, 6, "1,2")],
        "b2__controller": [elected(20, 2, 8)],
        "b2__state": [changed(21, (2, 8), 2, 5, "1,2")],
    }

    result = judged(tmp_path / "after", **lines)

    (row,) = [row for row in result["findings"] if row["rule"] == RULE]
    assert (row["kind"], Path(row["file"]).parent.name, row["line"]) == ("known bug", "b1", 2)
    assert "only without zk_writes_fenced" in row["why"]
    assert "KAFKA-6082" in row["why"]
    assert found(tmp_path / "before", version="2.0.0", **lines) == []


def test_a_refused_write_and_a_refused_request_are_refusals_of_the_model(tmp_path: Path):
    result = judged(
        tmp_path,
        b1__controller=[elected(10, 1, 7), moved(30, 1), resigned(31, 1)],
        b2__controller=[elected(20, 2, 8)],
        b3__state=[obeys(21, 3, 2, 8), refuses(22, 3, 1, 7, 8)],
    )

    election = result["coverage"]["election"]
    assert result["findings"] == []
    assert election["refused"] == {
        "broker_handles_request: the broker knows no newer controller": 1,
        "write_is_applied: /controller_epoch is as it was won": 1,
    }


def test_a_refusal_of_what_is_not_older_is_impossible(tmp_path: Path):
    lines: dict[str, Any] = {
        "b2__controller": [elected(20, 2, 8)],
        "b3__state": [obeys(21, 3, 2, 8), refuses(22, 3, 2, 8, 8)],
    }

    assert found(tmp_path, **lines) == [("impossible", "b3", 2)]


def test_who_is_found_as_controller_was_elected(tmp_path: Path):
    logs = [elected(10, 1, 7), finds(20, 1, 3), resigned(21, 1)]
    other = [elected(3, 3, 6), resigned(4, 3), finds(400, 3, 2)]

    assert found(tmp_path, b1__controller=logs, b3__controller=other) == []


def test_where_logs_begin_late_or_have_a_hole_nothing_is_called_impossible(tmp_path: Path):
    lines: dict[str, Any] = {
        "b1__state": [changed(15, (1, 7), 1, 6, "1,2"), changed(30, (1, 9), 1, 7, "1")],
        "b3__state": [obeys(13, 3, 2, 6), obeys(14, 3, 1, 7), obeys(31, 3, 4, 12)],
    }

    assert found(tmp_path, **lines) == []


def test_an_act_in_anothers_epoch_does_not_spoil_the_elections_after_it(tmp_path: Path):
    """Where no line tells of elections, those come after what their winner did before."""
    lines: dict[str, Any] = {
        "b1__state": [changed(15, (1, 7), 1, 6, "1,2"), changed(25, (1, 8), 1, 7, "1"),
                      changed(40, (1, 9), 1, 8, "1"), changed(60, (1, 10), 1, 9, "1")],
        "b2__controller": [elected(20, 2, 8), resigned(30, 2)],
        "b3__state": [obeys(21, 3, 2, 8), obeys(22, 3, 2, 8), obeys(41, 3, 1, 9),
                      obeys(61, 3, 1, 10)],
    }  # fmt: skip

    assert found(tmp_path, **lines) == [("impossible", "b1", 2)]


def test_an_epoch_that_is_read_may_be_one_of_which_no_other_line_tells(tmp_path: Path):
    reads = "[Controller id=1] Initialized controller epoch to 8 and zk version 7"
    lines: dict[str, Any] = {
        "b1__controller": [line(30, reads, CONTROLLER), elected(31, 1, 9)],
        "b1__state": [changed(32, (1, 9), 1, 6, "1,2")],
        "b3__state": [obeys(13, 3, 2, 5), obeys(33, 3, 1, 9)],
    }

    assert found(tmp_path, **lines) == []


def test_every_step_of_election_is_known_and_every_switch_can_be_thrown_back():
    assert len(steps_and_reasons()) == 13
    assert reverted_switches("2.3") == ("broker_epoch", "requests_fenced", "zk_writes_fenced")
    assert reverted_switches("2.1") == ("requests_fenced", "zk_writes_fenced")


def test_epochs_of_a_run_are_as_large_as_they_come():
    model = ControllershipModel(2, "2.3")
    model.jump(10**9)

    steps = ("broker_connects", "broker_reads_epoch", "broker_wins_election")
    assert all(model.take(step, 1) for step in (*steps, "broker_learns_it_won"))
    assert model.belief(1) == model.epoch == 10**9 + 1
    assert model.refusal("broker_wins_election", 2) == "the broker has a session"


def test_an_election_without_a_loss_of_controllership_is_reported_while_watched(tmp_path: Path):
    logs = [elected(10, 1, 7), ready(11, 1, 7)]
    write(tmp_path, {"b1/controller.log": logs})
    state, reader = StreamingState("logs"), FolderReader(tmp_path)
    said = [each for _ in range(3) for each in state.advance(reader.trigger())]
    write(tmp_path, {"b1/controller.log": [*logs, elected(30, 1, 8), ready(31, 1, 8)]})

    said += [each for _ in range(3) for each in state.advance(reader.trigger())]

    assert [(each.what, each.finding.rule, each.finding.line) for each in said] == [
        (FINDING, RULE, 3)
    ]
    assert state.judged().election_steps["broker_wins_election"] == 2

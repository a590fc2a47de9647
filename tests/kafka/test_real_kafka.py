"""Runs of the model on real Kafka. Skipped where the release is not in the cache."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.chaos.clients import OURS
from conformance.kafka import requests
from conformance.kafka.carry_out_schedule import do_line, move_controller
from conformance.kafka.download import NotDownloaded, cache_folder, libs_of
from conformance.kafka.java import NoJava, java_for
from conformance.kafka.lab import Lab, processes_ended_at_last
from conformance.kafka.mixed import MixedClusterSteps, MixedReport, run_mixed_cluster
from conformance.kafka.releases import release_of
from conformance.kafka.replay import ReplayedOnKafka, ReplayOutcome, replay
from conformance.kafka.run import run_of
from conformance.kafka.soak import SoakPlan, rounds_in, soak
from impl.wire import error_name
from specs.story import read_story
from specs.verdict import Verdict

pytestmark = pytest.mark.deep
STORIES = Path("specs/stories")


def needs(version: str) -> None:
    try:
        libs_of(release_of(version))
        java_for(release_of(version), cache_folder())
    except (NotDownloaded, NoJava) as error:
        pytest.skip(str(error))


def replayed(story: str, version: str, folder: Path) -> ReplayedOnKafka:
    needs(version)
    return replay(run_of(read_story(STORIES / f"{story}.story")), release_of(version), folder)


@pytest.mark.parametrize(
    ("story", "bug", "fixed"),
    [
        ("m2_is_lost", "0.10.2.2", "0.11.0.3"),  # KIP-101, scenario 1
        ("power_loss_parts_the_logs", "0.10.2.2", "0.11.0.3"),  # KIP-101, scenario 2
        ("two_fast_elections_diverge", "1.1.1", "2.0.1"),  # KAFKA-6361, KIP-279
        ("rejoins_too_early", "1.1.1", "2.0.1"),  # KAFKA-7128
        ("epoch_is_not_recorded", "2.0.0", "2.0.1"),  # KAFKA-7415
        ("same_leader_is_not_asked", "2.0.0", "2.0.1"),  # KAFKA-7164
        ("zombie_fetcher_is_counted_in_its_session", "2.4.1", "2.5.1"),  # KAFKA-9338
        ("deposed_controller_writes_unfenced", "2.0.1", "2.1.1"),  # KAFKA-6082
        ("restarted_broker_obeys", "2.1.1", "2.2.2"),  # KIP-380
    ],
)
def test_a_bug_is_shown_on_the_release_that_has_it_and_not_on_the_one_that_fixed_it(
    story: str, bug: str, fixed: str, tmp_path: Path
) -> None:
    needs(fixed)
    assert replayed(story, bug, tmp_path / "bug").answer is ReplayOutcome.SHOWN
    report = replayed(story, fixed, tmp_path / "fixed")
    assert report.answer is ReplayOutcome.NOT_SHOWN
    assert report.stopped is not None
    assert report.broken == []


def test_the_lesson_shows_what_its_replays_show_now(tmp_path: Path) -> None:
    text = (Path("specs/lessons") / "17-the-same-run-on-real-kafka.md").read_text()
    story = tmp_path / "lost.story"
    (found,) = (block for block in read_lesson_text(text) if block.startswith("# The shortest"))
    story.write_text(found)
    for version in ("0.10.2.2", "0.11.0.3"):
        needs(version)
        report = replay(run_of(read_story(story)), release_of(version), tmp_path / version)
        for done in report.done[11:]:
            assert f"{done.number:3}  {done.label}:" in text
        assert report.answer is (
            ReplayOutcome.SHOWN if version == "0.10.2.2" else ReplayOutcome.NOT_SHOWN
        )


def read_lesson_text(text: str) -> list[str]:
    return [part.partition("```")[0] for part in text.split("```story\n")[1:]]


def test_a_soak_of_real_kafka_is_judged_line_by_line(tmp_path: Path) -> None:
    needs("2.8.2")
    plan = SoakPlan(release_of("2.8.2"), 1, 3, 3)

    (found,) = soak(tmp_path, plan)

    assert found.lines > 500
    assert found.explained >= 0.9 * found.lines
    assert [one.number for one in rounds_in(tmp_path, plan)] == [1]
    assert list(soak(tmp_path, plan)) == []


def test_a_controller_of_kafka_that_is_deposed_is_fenced_as_in_the_model(tmp_path: Path) -> None:
    report = replayed("deposed_controller_writes_fenced", "2.1.1", tmp_path / "lab")

    assert report.answer is ReplayOutcome.FOLLOWED
    assert (report.state["controller"], report.state["state_version"]) == (2, 0)


def test_clients_of_real_kafka_are_at_work_and_judged(tmp_path: Path) -> None:
    needs("2.3.1")

    (found,) = soak(tmp_path, SoakPlan(release_of("2.3.1"), 1, 4, 2, clients=(OURS,)))

    assert found.clients["verdict"] == Verdict.HOLDS.value, found.clients["anomalies"]
    assert found.clients["counts"]["read"] > 10
    assert found.lines > 500


@pytest.mark.parametrize(
    ("version", "kafka", "ours"),
    [("0.10.2.2", 2, 1), ("1.1.1", 2, 1), ("2.3.1", 1, 2), ("2.3.1", 2, 1), ("2.7.2", 2, 1)],
)
def test_brokers_of_kafka_and_ours_are_one_cluster(
    version: str, kafka: int, ours: int, tmp_path: Path
) -> None:
    needs(version)

    report = run_mixed_cluster(tmp_path / "lab", release_of(version), kafka, ours)

    assert report.wrong == []
    assert report.verdict is Verdict.HOLDS
    assert {step["controller"] for step in report.steps} >= {1, kafka + 1}
    assert report.consumed >= report.acknowledged > 1000


SCHEDULED = {"zookeeper.session.timeout.ms": "60000", "replica.lag.time.max.ms": "3000"}


@contextmanager
def led_by_broker_1(version: str, folder: Path, **settings: str) -> Iterator[MixedClusterSteps]:
    """A lab with broker 3 as controller, and a topic `t` that takes records."""
    needs(version)
    release = release_of(version)
    lab = Lab.create(folder, release, (1, 2, 3), None, SCHEDULED | settings)
    with processes_ended_at_last(lab):
        lab.start()
        move_controller(lab, 3)
        course = MixedClusterSteps(lab, MixedReport(version, [1, 2, 3], []), lambda _text: None, [])
        course.make_topic("t", [[1, 2]])
        course.until("broker 1 does not lead", lambda: produced(lab, -1) == 0)
        yield course


def do_schedule(lab: Lab, name: str) -> None:
    """What the document has below this name."""
    text = Path("docs/apache-kafka.md").read_text()
    (lines,) = (part for part in text.split("```schedule\n") if part.startswith(f"# {name}\n"))
    for line in lines.partition("```")[0].splitlines()[1:]:
        do_line(lab, line)


@contextmanager
def led_astray(bug: str, version: str, folder: Path) -> Iterator[MixedClusterSteps]:
    with led_by_broker_1(version, folder) as course:
        do_schedule(course.lab, bug)
        assert produced(course.lab, 1) == 0
        yield course


def produced(lab: Lab, acks: int, broker: int = 1) -> int:
    return requests.produce(lab.release, lab.own_port(broker), "t", b"v", acks, 10_000)[0]


def shown(lab: Lab, broker: int) -> tuple[int, int]:
    """The error code, and the end of the topic that consumers see at a broker."""
    return requests.high_watermark(lab.own_port(broker), "t")


def test_a_bounce_is_overlooked_until_registrations_are_distinguished(tmp_path: Path) -> None:
    with led_astray("KAFKA-7235", "2.1.1", tmp_path / "bug") as course:
        course.until("broker 2 is in the ISR", lambda: course.states("t")[0].isr == (1,))
        time.sleep(10.0)
        assert course.states("t")[0].isr == (1,)
    with led_astray("KAFKA-7235", "2.2.2", tmp_path / "fixed") as course:
        course.until(
            "broker 2 is not back", lambda: logged(course.lab, 2, "Received LeaderAndIsr", 2)
        )
        course.until("broker 2 is not in the ISR", lambda: len(course.states("t")[0].isr) == 2)
        assert produced(course.lab, -1) == 0


def logged(lab: Lab, broker: int, words: str, times: int) -> bool:
    text = (lab.logs(broker) / "state-change.log").read_text(errors="replace")
    return text.count(words) >= times


@pytest.mark.parametrize("version", ["1.1.1", "2.0.1"])
def test_a_version_is_cached_for_ever_while_deposed_controllers_write(
    version: str, tmp_path: Path
) -> None:
    with led_astray("KAFKA-2729", version, tmp_path / "bug") as course:
        state = course.states("t")[0]
        assert (state.isr, state.leader_epoch) == ((1,), 1)
        log = course.lab.logs(1) / "server.log"
        course.until("the leader does not say so", lambda: log.read_text(
            errors="replace"
        ).count("not equal to that in zookeeper, skip updating ISR") >= 3)  # fmt: skip
        assert error_name(produced(course.lab, -1)) == "REQUEST_TIMED_OUT"


def test_a_fenced_controller_leaves_the_version_to_the_leader(tmp_path: Path) -> None:
    with led_astray("KAFKA-2729", "2.1.1", tmp_path / "fixed") as course:
        course.until("broker 2 is in the ISR", lambda: course.states("t")[0].isr == (1,))
        assert course.states("t")[0].leader_epoch == 0
        assert produced(course.lab, -1) == 0


def test_a_replica_that_was_added_again_is_deleted_until_leader_epochs_are_named(
    tmp_path: Path,
) -> None:
    with led_astray("KAFKA-9539", "2.5.1", tmp_path / "bug") as course:
        log = course.lab.data(2) / "t-0"
        course.until("broker 2 keeps its log", lambda: not log.exists())
        assert course.states("t")[0].isr == (1, 2)
    with led_astray("KAFKA-9539", "2.6.3", tmp_path / "fixed") as course:
        words = "is smaller than the current leader epoch"
        course.until("the request is not refused", lambda: logged(course.lab, 2, words, 1))
        time.sleep(5.0)
        assert (course.lab.data(2) / "t-0").exists()
        assert sorted(course.states("t")[0].isr) == [1, 2]


@pytest.mark.parametrize("version", ["0.10.2.2", "2.3.1", "2.8.2", "3.9.1"])
def test_a_leader_of_a_move_acknowledges_what_a_member_of_its_isr_lacks(
    version: str, tmp_path: Path
) -> None:
    """With 2.8.2 a look for the TRACE line that the lab asks for ends with an error instead."""
    minimum = {"min.insync.replicas": "2", "replica.lag.time.max.ms": "30000"}
    with led_by_broker_1(version, tmp_path / "lab", **minimum) as course:
        lab = course.lab
        _, before = shown(lab, 1)
        do_schedule(lab, "acknowledged without the ISR")
        assert course.states("t")[0].isr == (1, 2)
        answer = "NOT_LEADER_OR_FOLLOWER" if version == "2.8.2" else "NONE"
        assert error_name(produced(lab, -1, 2)) == answer
        assert shown(lab, 2) == (0, before + 1)

        do_schedule(lab, "then its session ends")
        course.until(
            "broker 1 does not answer",
            lambda: requests.high_watermark(lab.own_port(1), "t")[0] == 0,
        )
        assert requests.high_watermark(lab.own_port(1), "t") == (0, before)
        assert course.states("t")[0].isr == (1,)


def test_a_move_of_real_kafkas_controller_is_that_of_the_model(tmp_path: Path) -> None:
    report = replayed("reassign_twelve_steps", "2.3.1", tmp_path / "lab")

    assert report.answer is ReplayOutcome.FOLLOWED
    assert report.state["assignment"] == [2, 3, 4]
    assert report.state["leader epoch"] == 3


def test_clients_are_given_an_epoch_that_is_no_more_until_2_4(tmp_path: Path) -> None:
    story = "reassign_clients_know_the_old_epoch"

    assert replayed(story, "2.3.1", tmp_path / "bug").answer is ReplayOutcome.SHOWN
    assert replayed(story, "2.4.1", tmp_path / "fixed").answer is ReplayOutcome.NOT_SHOWN


def test_what_the_model_assumes_of_known_log_ends_kafka_does_not_do(tmp_path: Path) -> None:
    report = replayed("known_ends_outlive_an_epoch", "2.3.1", tmp_path / "lab")

    assert report.answer is ReplayOutcome.SHOWN
    assert report.acknowledged == ["r0"]


def test_a_cluster_starts_takes_a_schedule_and_leaves_nothing(tmp_path: Path) -> None:
    needs("2.3.1")
    folder = tmp_path / "lab"

    def insync(*words: str, text: str = "") -> str:
        return subprocess.run(
            [sys.executable, "-m", "conformance.cli", "kafka", *words],
            input=text, capture_output=True, text=True, check=True, timeout=200,
        ).stdout  # fmt: skip

    try:
        insync("start", str(folder), "--version", "2.3.1", "--brokers", "2")
        insync("schedule", str(folder), "-", text="hold Fetch from 2\nkill 2\nstart 2\nexpire 1\n")
        status = json.loads(insync("status", str(folder), "--json", "-"))
        assert {one["state"] for one in status["processes"].values()} == {"runs"}
        assert status["controller"] in (1, 2)
    finally:
        insync("stop", str(folder))
    pids = [one["pid"] for one in json.loads(
        insync("status", str(folder), "--json", "-")
    )["processes"].values()]  # fmt: skip
    assert set(pids) == {None}
    assert (folder / "trace" / "messages.jsonl").read_text().count("\n") > 10
    assert "/controller" in (folder / "trace" / "znodes.jsonl").read_text()

"""Runs out of stories, as real brokers take them; what a disk holds; what actions there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.kafka import disk
from conformance.kafka.election_replay import STEP_ACTIONS as LEVERS_OF_ELECTION
from conformance.kafka.forced_steps import STEP_ACTIONS
from conformance.kafka.log4j import log4j_of
from conformance.kafka.reassignment_replay import OBSERVED as OBSERVED_OF_MOVES
from conformance.kafka.replay import forceable, settings_for
from conformance.kafka.run import ModelRun, NotReplayable, run_of
from impl.log.legacy_messages import encode_message
from impl.log.record import StoredRecord
from impl.log.record_batch import encode_batch
from model.systems import system
from specs.story import parse, read_story

STORIES = Path("specs/stories")


def named(name: str) -> ModelRun:
    return run_of(read_story(STORIES / f"{name}.story"))


def test_a_leader_moves_its_high_watermark_while_it_answers() -> None:
    run = named("two_fast_elections_diverge")
    steps = [one.name for one in run.steps]
    answers = [at for at, name in enumerate(steps) if name == "leader_answers_fetch"]

    assert [run.steps[at + 1].at_once for at in answers] == [False, True, True]
    assert steps[-1] == "isr_holds_committed"
    assert run.is_broken("isr_holds_committed", run.steps[-1].after.state)


def test_a_leader_takes_a_follower_back_while_it_answers() -> None:
    run = named("rejoins_too_early")
    at = [one.name for one in run.steps].index("leader_expands_isr")

    assert (run.steps[at - 1].name, run.steps[at].at_once) == ("leader_answers_fetch", True)
    assert run.steps[at].after.broker_set("zk.isr") == (1, 2, 3)


@pytest.mark.parametrize(
    "name",
    ["m2_is_lost", "two_fast_elections_diverge", "rejoins_too_early", "zombie_fetcher_is_counted",
     "epoch_is_not_recorded", "known_ends_outlive_an_epoch", "last_replica_standing"],
)  # fmt: skip
def test_a_run_breaks_in_that_form_what_it_breaks_as_the_story_has_it(name: str) -> None:
    run = named(name)
    forceable(run)
    checks = [one for one in run.steps if not one.command.is_step]

    assert any(run.is_broken(one.name, one.after.state) for one in checks)


def test_every_lever_is_a_transition_of_replication() -> None:
    assert set(STEP_ACTIONS) <= {one.name for one in system("replication").transitions}


def test_every_step_of_election_has_a_lever() -> None:
    assert set(LEVERS_OF_ELECTION) == {one.name for one in system("election").transitions}


@pytest.mark.parametrize("name", ["deposed_controller_writes_unfenced", "restarted_broker_obeys"])
def test_a_run_of_election_breaks_what_it_breaks_as_the_story_has_it(name: str) -> None:
    run = named(name)
    forceable(run)
    checks = [one for one in run.steps if not one.command.is_step]

    assert run.system == "election"
    assert all(run.is_broken(one.name, one.after.state) for one in checks)


def test_what_the_lab_cannot_force_is_named_before_anything_starts() -> None:
    run = named("own_write_looks_failed")

    with pytest.raises(NotReplayable, match=r"no action for .*isr_answer_is_lost"):
        forceable(run)
    with pytest.raises(NotReplayable, match="is a story of cluster; the lab replays those of rep"):
        named("late_stop_replica")
    with pytest.raises(NotReplayable, match="has no step to replay"):
        run_of(parse("# nothing\n"))


def test_brokers_shrink_and_checkpoint_only_where_the_run_does() -> None:
    quiet = settings_for(named("two_fast_elections_diverge"))
    lost, shrunk = settings_for(named("m2_is_lost")), settings_for(named("rejoins_too_early"))

    assert quiet["replica.lag.time.max.ms"] == lost["replica.lag.time.max.ms"] == "3600000"
    assert shrunk["replica.lag.time.max.ms"] == "3000"
    assert quiet["replica.high.watermark.checkpoint.interval.ms"] == "3600000"
    assert lost["replica.high.watermark.checkpoint.interval.ms"] == "100"


def record(offset: int) -> StoredRecord:
    return StoredRecord(offset, 0, None, f"r{offset}".encode())


def test_a_log_is_read_from_its_segments_in_either_format(tmp_path: Path) -> None:
    segment = tmp_path / "t-0" / "00000000000000000000.log"
    segment.parent.mkdir()
    whole = encode_batch([record(0)], 1) + encode_batch([record(1)], 4)
    segment.write_bytes(whole + whole[:20])
    assert disk.log_of(tmp_path, "t") == [("r0", 1), ("r1", 4)]
    segment.write_bytes(encode_message(record(0), 1) + encode_message(record(1), 1))
    assert disk.log_of(tmp_path, "t") == [("r0", None), ("r1", None)]
    assert disk.log_of(tmp_path, "u") == []


def test_a_tail_that_was_not_flushed_is_cut_where_the_record_begins(tmp_path: Path) -> None:
    segment = tmp_path / "t-0" / "00000000000000000000.log"
    segment.parent.mkdir()
    segment.write_bytes(encode_batch([record(0)], 1) + encode_batch([record(1)], 1))

    disk.cut_log(tmp_path, "t", 1)

    assert disk.log_of(tmp_path, "t") == [("r0", 1)]


def test_a_checkpoint_is_read_and_put_back(tmp_path: Path) -> None:
    assert disk.checkpoint_of(tmp_path, "t") is None
    disk.write_checkpoint(tmp_path, "t", 3)
    assert disk.checkpoint_of(tmp_path, "t") == 3
    assert disk.checkpoint_of(tmp_path, "u") is None


def test_brokers_log_as_kafka_does_and_the_data_plane_besides(tmp_path: Path) -> None:
    text = log4j_of(tmp_path)

    for name in ("server", "controller", "state-change", "data-plane", "kafka-request"):
        assert f"{tmp_path / name}.log" in text
    assert "log4j.logger.state.change.logger=TRACE, stateChange" in text
    assert "log4j.additivity.kafka.cluster.Partition=true" in text


def test_what_is_seen_of_a_move_is_what_the_model_calls_so() -> None:
    fields = system("reassignment").recorded("2.3").fields

    assert set(OBSERVED_OF_MOVES) <= set(fields)


def test_a_story_with_a_step_that_the_lab_cannot_force_says_which() -> None:
    forceable(named("reassign_twelve_steps"))
    with pytest.raises(NotReplayable, match=r"no action for .*controller_node_is_deleted"):
        forceable(named("reassign_failover"))

"""A simulated cluster of whole brokers traces, and the model judges each line: faults are found."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from conformance.running.partition import UNTRACED
from conformance.running.profiles import TRACED_PROFILES
from conformance.running.running_report import judge_running
from conformance.running.simulated import judged_run, traced_run
from impl.core.api import ControllerApi
from impl.core.channels import Channel
from impl.core.fetcher_thread import FetcherThread
from impl.core.partition import Partition
from impl.core.replica_manager import DelayedProduce, ReplicaManager
from specs.verdict import Verdict
from tests.impl.planted import plant
from tests.impl.test_planted_faults import PLANTED

STEPS = 500


@pytest.mark.parametrize("faults", TRACED_PROFILES)
def test_every_line_of_a_simulated_cluster_is_a_step_of_the_model(faults: str) -> None:
    report = judged_run(1, STEPS, faults)

    assert report.verdict is Verdict.HOLDS, report.findings
    assert {one.name for one in report.replayed} == {"/controller", "cluster", "t0-0", "t0-1"}
    assert report.fired["follower_appends"] > 10
    assert (report.fired["broker_crashes"] > 0) is (faults in ("crashes", "failures"))


@pytest.mark.parametrize(
    ("seed", "faults", "release"),
    [
        (3200, "failures", "0.10.0"),  # a follower cuts where the log of an unclean leader ends
        (3207, "failures", "0.10.0"),  # a failover makes partitions, and announces them last
        (3209, "failures", "0.10.1"),  # it announces after a request for preferred leaders, too
        (1, "failures", "1.1"),  # an epoch is asked of which no other line shows a record
        (3200, "none", "0.10.0"),  # LeaderAndIsr goes before UpdateMetadata (KAFKA-4443)
        (3200, "sessions", "2.0.0"),  # what KAFKA-7415 and others mended in 2.0.1
        (3200, "sessions", "2.2"),  # UpdateMetadata is about no partition (KIP-380)
        (3201, "sessions", "2.8"),  # a follower compares by an epoch in which nothing was written
        (3204, "failures", "2.8"),  # preferred leaders of a topic that the controller has not read
    ],
)
def test_each_published_release_is_judged_by_itself(seed: int, faults: str, release: str) -> None:
    report = judged_run(seed, 300, faults, release, settles=False)

    assert report.verdict is Verdict.HOLDS, report.findings


@pytest.mark.parametrize("release", ["0.10", "0.11", "2.4", "2.6", "2.7"])
def test_other_releases_are_judged_as_well(release: str) -> None:
    """Before KIP-380 (2.2) a broker that bounced may be left alone: its end is not asked."""
    report = judged_run(0, STEPS, "failures", release, settles=release not in ("0.10", "0.11"))

    assert report.verdict is Verdict.HOLDS, report.findings
    assert report.version.startswith(release), "the newest patch of the line"


@pytest.mark.parametrize(
    ("seed", "faults"),
    [
        (36, "crashes"),  # an answer comes when it follows the same leader in a new epoch
        (59, "failures"),
        (10, "crashes"),  # its preferred leader is elected, and a member of its ISR is dead
    ],
)
def test_what_a_fetcher_and_an_isr_keep_up_to_1_1_is_no_fault(seed: int, faults: str) -> None:
    report = judged_run(seed, STEPS, faults, "1.1", settles=False)

    assert report.verdict is Verdict.HOLDS, report.findings


def test_the_controller_writes_isrs_and_fetches_say_where_logs_part_since_2_7() -> None:
    fired = Counter[str]()
    for seed in range(3):
        report = judged_run(seed, STEPS, "failures", "2.7")
        assert report.verdict is Verdict.HOLDS, report.findings
        fired += report.fired

    assert fired["leader_expands_isr"] > 5
    assert fired["follower_truncates"] > 2
    assert fired["leader_answers_epoch"] >= fired["follower_truncates"]


def test_the_same_seed_leaves_the_same_lines(tmp_path: Path) -> None:
    for name in ("one", "other"):
        assert traced_run(tmp_path / name, 5, STEPS) == (STEPS, None, "")

    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert "zookeeper-1.ndjson" in files
    for name in files:
        first, second = (tmp_path / one / name for one in ("one", "other"))
        assert first.read_bytes() == second.read_bytes()


def test_a_line_that_is_taken_out_is_missed(tmp_path: Path) -> None:
    traced_run(tmp_path, 5, STEPS)
    file = tmp_path / "broker2-1.ndjson"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:20] + lines[21:]))

    report = judge_running(sorted(tmp_path.iterdir()))

    assert report.verdict is Verdict.UNKNOWN
    assert any("a line is missing" in one.why for one in report.findings)


def cut_before_the_last(step: str, file: Path) -> None:
    """The process was killed before it came to trace that."""
    lines = file.read_bytes().splitlines(keepends=True)
    at = max(number for number, one in enumerate(lines) if json.loads(one).get("step") == step)
    assert at > len(lines) - 6
    file.write_bytes(b"".join(lines[:at]))


@pytest.mark.parametrize("seed, step", [(1, "records_replicated"), (2, "records_appended")])
def test_what_a_killed_process_had_appended_and_not_traced_is_explained_by_its_next_start(
    seed: int, step: str, tmp_path: Path
) -> None:
    traced_run(tmp_path, seed, STEPS, "crashes")
    cut_before_the_last(step, tmp_path / "broker3-1.ndjson")

    report = judge_running(sorted(tmp_path.iterdir()))

    assert report.verdict is Verdict.HOLDS, report.findings
    assert report.details["by_force"][UNTRACED] == 1


def test_more_than_a_follower_was_answered_is_found_in_the_log_of_its_next_start(
    tmp_path: Path,
) -> None:
    traced_run(tmp_path, 1, STEPS, "crashes")
    cut_before_the_last("records_replicated", tmp_path / "broker3-1.ndjson")
    file = tmp_path / "broker3-2.ndjson"
    lines = [json.loads(one) for one in file.read_text().splitlines()]
    loaded = next(
        one["args"] for one in lines
        if one.get("step") == "log_loaded" and one["args"]["partition"] == "t0-0"
    )  # fmt: skip
    loaded["log_end"] += 1
    file.write_text("".join(json.dumps(one) + "\n" for one in lines))

    report = judge_running(sorted(tmp_path.iterdir()))

    assert report.verdict is Verdict.BROKEN
    assert "the log end is" in report.findings[0].why


def test_profiles_that_change_topics_are_refused() -> None:
    with pytest.raises(ValueError, match="no profile 'operators' of what is judged; there are"):
        judged_run(0, STEPS, "operators")


FAULTS = {
    **{name: PLANTED[name][:3] for name in (
        "the controller epoch is never noted", "no leader epoch is sent",
        "consumers read above the high watermark",
        "a follower of another leader epoch is not fenced",
        "the high watermark does not wait for the ISR", "a follower cuts its log to nothing",
        "a replica that is sent an older leader epoch obeys",
        "a deposed leader adopts a foreign zkVersion", "no check of the broker epoch (KIP-380)",
    )},
    "a producer is acknowledged before its records are committed": (
        DelayedProduce.outcome, "reached = replica.hw >= self.end", "reached = True",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_code_that_serves_is_found(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, *FAULTS[name])

    assert any(judged_run(seed, STEPS).verdict is Verdict.BROKEN for seed in range(12))


RARE = {
    "a producer is acknowledged across a lost leadership": (
        DelayedProduce.outcome, "or replica.generation != self.generation", "", "2.3",
    ),
    "a stale fetch answer, of an older leader epoch, is appended": (
        FetcherThread.on_fetched,
        "if state is None or not self._is_of(asked[key], state):",
        "if state is None:", "2.7",
    ),
    "the high watermark does not wait for an ISR that is asked for": (
        Partition.next_high_watermark, "self.maximal_isr", "self.isr", "2.7",
    ),
    "the controller refuses what it has agreed to, as the answer was lost": (
        ControllerApi._altered, "elif _says_the_same(state, known):", "elif False:", "2.7",
    ),
}  # fmt: skip


@pytest.mark.deep
@pytest.mark.parametrize("name", RARE)
def test_a_fault_that_shows_seldom_is_found_in_longer_runs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, line, otherwise, release = RARE[name]
    plant(monkeypatch, function, line, otherwise)

    runs = (judged_run(seed, 3 * STEPS, "failures", release) for seed in range(32))
    assert any(run.verdict is Verdict.BROKEN for run in runs)


ANSWERS = {
    "who leads already is elected again": (ControllerApi._needs, "leader !=", "leader ==",),
    "a client hears a high watermark that may be stale": (
        Partition.list_offset, "if self.hw_may_be_stale:", "if False:",
    ),
    "a consumer hears the log end": (
        ReplicaManager.list_offset, "found is None or found.offset >= replica.hw", "found is None",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_what_clients_and_tools_are_answered_is_held_to_the_model(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, *ANSWERS[name])

    runs = (judged_run(seed, 2 * STEPS, "failures", "2.4") for seed in range(8))
    assert any(run.verdict is Verdict.BROKEN for run in runs)


# What must happen in the end

STUCK = {
    "a request is dropped when its connection breaks": (
        Channel.lose, "if self.orphan:", "if True:",
    ),
    "a follower asks for nothing": (FetcherThread.maybe_fetch, "if not asked:", "if True:"),
    "a leader takes nobody into the ISR": (
        Partition.follower_fetched, "if self.may_join(replica, offset):", "if False:",
    ),
    "a replica that is instructed to follow asks nobody": (
        ReplicaManager._make_followers, "if self.fetchers is not None and here:", "if False:",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STUCK)
def test_what_does_not_happen_any_more_is_missed_in_the_end(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line is a step of the model; but some steps must be taken once faults are over."""
    plant(monkeypatch, *STUCK[name])

    found = (one.rule for seed in range(6) for one in judged_run(seed, STEPS).findings)
    rules = ("once faults are over", "requests of a controller arrive in the order")
    assert any(rule in one for one in found for rule in rules)


def test_a_broker_that_knows_something_else_than_the_model_is_found_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant(
        monkeypatch, Partition._take, "self.zk_version = entry.state.zk_version",
        "self.zk_version = entry.state.zk_version + 1",
    )  # fmt: skip

    report = judged_run(0, STEPS, "none")

    assert report.verdict is Verdict.BROKEN

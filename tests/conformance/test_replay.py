"""Recorded runs are replayed on the model; a changed line is named, with what was allowed."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from conformance.replay import TraceReport, check_trace, judge
from impl import PROFILES, Trace, simulate, write_trace
from impl.broker import Partition
from impl.world.trace import Event
from specs.verdict import Verdict


def with_event(trace: Trace, index: int, **changes: object) -> Trace:
    """The trace with one event changed; events get the lines that they would have in a file."""
    events = [dataclasses.replace(event, line=at) for at, event in enumerate(trace.events, 2)]
    events[index] = dataclasses.replace(events[index], **changes)  # type: ignore[arg-type]
    return dataclasses.replace(trace, events=tuple(events))


def first(trace: Trace, step: str) -> tuple[int, Event]:
    return next((at, event) for at, event in enumerate(trace.events) if event.step == step)


@pytest.mark.parametrize("faults", sorted(PROFILES))
def test_runs_of_every_profile_of_faults_fit(faults: str) -> None:
    report = judge(simulate(5, 250, faults, 3))

    assert (report.verdict, report.accepted) == (Verdict.HOLDS, 250)
    assert sum(report.fired.values()) + report.silent == 250


def test_runs_with_one_two_and_five_brokers_fit() -> None:
    verdicts = [judge(simulate(1, 150, "everything", brokers)).verdict for brokers in (2, 5)]

    assert verdicts == [Verdict.HOLDS, Verdict.HOLDS]


def test_an_offset_that_the_protocol_does_not_give_is_named_with_the_right_one() -> None:
    trace = simulate(5, 250, "everything", 3)
    at, event = first(trace, "leader_advances_hw")
    path, value = next((p, v) for p, v in event.observed.items() if p.endswith("hw"))

    report = judge(with_event(trace, at, observed={**event.observed, path: value + 1}))

    (finding,) = report.findings
    assert (report.verdict, report.accepted) == (Verdict.BROKEN, at)
    assert finding.line == at + 2
    assert "leader_advances_hw" in finding.rule
    assert f"is {value + 1}, where the model has {value}" in finding.why


def test_a_step_that_is_not_possible_is_refused_with_the_reason() -> None:
    trace = simulate(5, 250, "everything", 3)
    at, event = first(trace, "leader_appends")
    other = next(broker for broker in (1, 2, 3) if broker != event.args["broker"])

    report = judge(with_event(trace, at, args={"broker": other}))

    (finding,) = report.findings
    assert finding.line == at + 2
    assert "leader_appends" in finding.why
    assert "the broker believes it leads" in finding.why


def test_a_step_that_does_not_exist_is_refused_with_those_that_do() -> None:
    trace = simulate(5, 20, "none", 3)

    report = judge(with_event(trace, 7, step="leader_prays"))

    assert report.findings[0].why == "unknown step leader_prays"
    assert "leader_appends" in report.findings[0].allowed


def test_a_line_that_is_left_out_is_noticed_where_it_is_missed() -> None:
    trace = simulate(5, 250, "none", 3)
    at, _ = first(trace, "follower_truncates")
    shorter = dataclasses.replace(trace, events=trace.events[:at] + trace.events[at + 1 :])

    assert judge(shorter).verdict is Verdict.BROKEN


def test_a_run_of_a_faulty_implementation_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Partition, "high_watermark_candidate", lambda self: self.log.end)

    verdicts = [judge(simulate(seed, 200, "everything", 3)).verdict for seed in range(10)]

    assert Verdict.BROKEN in verdicts


def test_an_empty_run_is_not_checked() -> None:
    trace = simulate(5, 20, "none", 3)

    assert judge(dataclasses.replace(trace, events=())).verdict is Verdict.NOT_CHECKED


def test_a_file_gives_the_same_answer_as_the_run_in_memory(tmp_path: Path) -> None:
    trace = simulate(8, 120, "everything", 3)
    write_trace(tmp_path / "run.ndjson", trace)

    report = check_trace(tmp_path / "run.ndjson")

    assert (report.verdict, report.fired) == (Verdict.HOLDS, judge(trace).fired)
    assert report.lines["read"] == report.lines["events"] == 120


def cut(whole: bytes) -> bytes:
    return whole[: len(whole) * 2 // 3]


@pytest.mark.parametrize(
    "damage", [cut, lambda _: b"", lambda _: b"\x00\x01\xff", lambda _: b"{}\n"]
)
def test_a_damaged_file_is_not_checked_and_says_how_to_record_again(
    damage: object, tmp_path: Path
) -> None:
    path = tmp_path / "run.ndjson"
    write_trace(path, simulate(8, 60, "none", 3))
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]

    report: TraceReport = check_trace(path)

    assert report.verdict is Verdict.NOT_CHECKED
    assert report.findings[0].kind == "unreadable"
    assert "insync simulate" in report.findings[0].allowed

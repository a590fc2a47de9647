"""Recorded runs are replayed on the model; a changed line is named, with what was allowed."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conformance.replay import TraceReport, check_trace, judge
from impl.world.faults import PROFILES
from impl.world.partition_simulator import PartitionSimulator, simulate
from impl.world.trace import Trace, TraceEvent, write_events, write_trace
from specs.verdict import Verdict
from tests.planting import commits_alone


def with_event(trace: Trace, index: int, **changes: object) -> Trace:
    """The trace with one event changed; events get the lines that they would have in a file."""
    events = [dataclasses.replace(event, line=at) for at, event in enumerate(trace.events, 2)]
    events[index] = dataclasses.replace(events[index], **changes)  # type: ignore[arg-type]
    return dataclasses.replace(trace, events=tuple(events))


def first(trace: Trace, step: str) -> tuple[int, TraceEvent]:
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
    commits_alone(monkeypatch)

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


def edited(line: str, **fields: object) -> str:
    return json.dumps({**json.loads(line), **fields}) + "\n"


@pytest.mark.parametrize(
    ("damage", "line", "why"),
    [
        (lambda lines: [*lines[:4], lines[4][:20]], 5, "truncated in the middle of a line"),
        (lambda lines: lines[:-1], 61, "truncated after 60 events"),
        (lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]], 5, "missing or moved"),
        (lambda lines: [*lines[:4], lines[3], *lines[4:]], 5, "out of order: clock 3"),
        (lambda lines: [*lines[:4], edited(lines[4], seq=9), *lines[5:]], 5, "gap: seq 9 of node"),
        (lambda lines: [*lines[:4], *lines[5:]], 5, "gap: clock 5 where 4 is next"),
        (lambda lines: [edited(lines[0], version="9.9"), *lines[1:]], 1, "unknown version '9.9'"),
        (lambda lines: [edited(lines[0], system="x"), *lines[1:]], 1, "unknown system 'x'"),
        (lambda lines: [edited(lines[0], brokers=0), *lines[1:]], 1, "0 brokers"),
        (lambda lines: [edited(lines[0], format="x/7"), *lines[1:]], 1, "unknown format 'x/7'"),
        (lambda lines: [*lines[:4], edited(lines[4], run="x"), *lines[5:]], 5, "two runs mixed"),
        (lambda lines: [*lines, *lines], 63, "a line after the end"),
        (lambda lines: [lines[0], edited(lines[-1], events=0)], 1, "the run has no events"),
        (lambda lines: [], 1, "empty"),
    ],
)  # fmt: skip
def test_what_cannot_be_vouched_for_is_not_checked_and_named_by_its_line(
    damage: object, line: int, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.ndjson"
    write_trace(path, simulate(8, 60, "none", 3))
    lines = path.read_text().splitlines(keepends=True)

    path.write_text("".join(damage(lines)))  # type: ignore[operator]
    report = check_trace(path)

    assert report.verdict is Verdict.NOT_CHECKED
    assert (report.findings[0].kind, report.findings[0].line) == ("unreadable", line)
    assert why in report.findings[0].why


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"args": {}}, "the step has no argument 'broker'"),
        ({"args": {"broker": "one"}}, "broker is 'one', and arguments are whole numbers"),
        ({"observed": {"brokers.1.age": 1}}, "brokers.1.age is no leaf of the first observation"),
        ({"observed": {"brokers.1.hw": "x"}}, "brokers.1.hw: a value that it never has"),
        ({"observed": {"brokers.1.hw": 1}}, "replica[1].hw is 1, where the model has 0"),
    ],
)
def test_a_line_that_shows_what_no_run_does_is_refused(fields: dict[str, object], why: str) -> None:
    trace = simulate(8, 60, "none", 3)

    report = judge(with_event(trace, 0, **fields))

    assert (report.verdict, report.accepted, report.findings[0].line) == (Verdict.BROKEN, 0, 2)
    assert why in report.findings[0].why


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_leaf_that_is_changed_or_left_out_is_noticed_at_its_line(data: st.DataObject) -> None:
    trace = simulate(data.draw(st.integers(0, 5)), 120, "everything", 3)
    at = data.draw(st.sampled_from([i for i, event in enumerate(trace.events) if event.observed]))
    observed = dict(trace.events[at].observed)
    seen = [path for path in observed if path.endswith((".hw", ".role", ".log", ".leader_epoch"))]
    assume(seen)
    path = data.draw(st.sampled_from(seen))

    if data.draw(st.booleans()):
        del observed[path]
    else:
        value = observed[path]
        observed[path] = value + 3 if type(value) is int else [] if value else [[9, 9]]
    assume(observed != trace.events[at].observed)
    report = judge(with_event(trace, at, observed=observed))

    assert report.verdict is Verdict.BROKEN
    assert report.findings[0].line == at + 2


def test_many_traces_of_one_kind_do_not_disturb_each_other() -> None:
    runs = [simulate(seed, 60, "everything", 3) for seed in range(4)]
    alone = [judge(run).fired for run in runs]

    broken = judge(with_event(runs[0], 30, observed={"next_record": 99}))
    again = [judge(run).fired for run in reversed(runs)]

    assert broken.verdict is Verdict.BROKEN
    assert again == alone[::-1]


def test_two_events_are_in_memory_however_long_a_run_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is recorded, and while it is judged."""
    assert events_at_once(tmp_path, 400, monkeypatch) == 2


def events_at_once(folder: Path, steps: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """The most events of a run that were there at one time, while it was recorded and judged."""
    alive: WeakValueDictionary[int, TraceEvent] = WeakValueDictionary()
    most = [0]
    with monkeypatch.context() as patches:
        was = TraceEvent.__init__

        def noted(self: TraceEvent, *args: Any, **named: Any) -> None:
            was(self, *args, **named)
            alive[id(self)] = self
            most[0] = max(most[0], len(alive))

        patches.setattr(TraceEvent, "__init__", noted)
        write_events(folder / "run.ndjson", *PartitionSimulator(3).recorded(steps))
        recorded = most[0]
        report = check_trace(folder / "run.ndjson")
    assert (report.verdict, report.accepted, recorded) == (Verdict.HOLDS, steps, 2)
    return most[0]

"""Long runs are followed natively: the report is, to the word, the one of the compiled Python."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter

import pytest

from conformance import replay
from conformance.replay import Replay, TraceReport, judge
from impl import PROFILES, Step, Trace, World, simulate
from impl.world.observation import Changes
from impl.world.trace import TraceEvent
from specs.native import unbounded
from specs.verdict import Verdict
from tests.conformance.faults import FAULTS, harmed


def both(trace: Trace, monkeypatch: pytest.MonkeyPatch, batch: int = 64) -> TraceReport:
    """The report of both, which is one."""
    plain = judge(trace)
    monkeypatch.setattr(replay, "NATIVE_FROM", 1)
    monkeypatch.setattr(replay, "BATCH", batch)
    native = judge(trace)
    monkeypatch.undo()

    assert native == plain
    return native


@pytest.mark.parametrize("faults", sorted(PROFILES))
def test_runs_of_every_profile_fit_and_fire_the_same_steps(
    faults: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = both(simulate(9, 200, faults, 3), monkeypatch)

    assert (report.verdict, report.accepted) == (Verdict.HOLDS, 200)
    assert sum(report.fired.values()) + report.silent == 200


def test_runs_of_more_brokers_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = [both(simulate(2, 150, "everything", n), monkeypatch).verdict for n in (2, 5)]

    assert verdicts == [Verdict.HOLDS, Verdict.HOLDS]


def logs_are_cut(run: Trace) -> bool:
    lengths: dict[str, int] = {}
    for event in run.events:
        for path in [path for path in event.observed if path.endswith(".log")]:
            end = event.observed[path]
            before, lengths[path] = lengths.get(path, 0), end["from"] + len(end["then"])
            if lengths[path] < before:
                return True
    return False


@pytest.mark.parametrize("brokers", [2, 3, 4])
def test_no_line_of_a_run_that_fits_is_left_to_the_compiled_python(
    brokers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [simulate(seed, 250, "everything", brokers) for seed in range(4)]
    left: list[int] = []
    monkeypatch.setattr(Replay, "_line", lambda _, batch, number: left.append(batch.line(number)))
    monkeypatch.setattr(replay, "NATIVE_FROM", 1)

    accepted = [judge(run).accepted for run in runs]

    assert (left, accepted) == ([], [250] * 4)
    assert any(logs_are_cut(run) for run in runs)


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_planted_fault_is_found_at_the_same_line_in_the_same_words(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chooser, reports = random.Random(fault), []
    for seed in range(4):
        trace, _ = harmed(simulate(seed, 160, "everything", 3), fault, chooser)
        reports.append(both(trace, monkeypatch, batch=chooser.choice((7, 50, 1000))))

    assert Verdict.BROKEN in [report.verdict for report in reports]


def test_a_run_goes_on_in_python_where_the_native_state_has_no_room_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unbounded, "FURTHEST", 1)
    trace = grown(90)

    report = both(trace, monkeypatch)

    assert (report.verdict, report.accepted) == (Verdict.HOLDS, len(trace.events))


def grown(records: int) -> Trace:
    """A run whose leader's log has more records than a native state has room for at first."""
    world = World(3)
    trace = simulate(1, 60, "none", 3)
    for event in trace.events:
        world.do(Step(event.step, tuple(event.args.values())))
    changes, events, seqs = Changes(world), list(trace.events), Counter[object]()
    seqs.update(event.node for event in events)
    leader = next(n for n, one in world.brokers.items() if one.replicas.role == "leader")
    for _ in range(records):
        world.do(Step("leader_appends", (leader,)))
        seqs[leader] += 1
        event = TraceEvent(
            trace.header.run, len(events) + 1, leader, seqs[leader], "leader_appends",
            {"broker": leader}, changes.look(),
        )  # fmt: skip
        events.append(event)
    return dataclasses.replace(trace, events=tuple(events))

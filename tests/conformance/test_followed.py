"""Long runs are followed natively: the report is, to the word, the one of the compiled Python."""

from __future__ import annotations

import dataclasses
import random

import pytest

from conformance import replay
from conformance.replay import TraceReport, judge
from impl import PROFILES, Trace, simulate
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


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_planted_fault_is_found_at_the_same_line_in_the_same_words(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chooser, reports = random.Random(fault), []
    for seed in range(4):
        trace, _ = harmed(simulate(seed, 160, "everything", 3), fault, chooser)
        reports.append(both(trace, monkeypatch, batch=chooser.choice((7, 50, 1000))))

    assert Verdict.BROKEN in [report.verdict for report in reports]


def test_a_line_that_only_the_compiled_python_can_take_does_not_end_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace = simulate(4, 120, "everything", 3)
    beyond = {"offset": 2**70}  # of no meaning to most steps, and of no array
    events = [
        dataclasses.replace(event, args={**beyond, **event.args}) if at % 60 == 59 else event
        for at, event in enumerate(trace.events)
    ]

    report = both(dataclasses.replace(trace, events=tuple(events)), monkeypatch)

    assert (report.verdict, report.accepted) == (Verdict.HOLDS, 120)

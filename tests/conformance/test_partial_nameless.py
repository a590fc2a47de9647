"""Traces that name no step: leader, ISR and epochs alone are enough to find a run that fits."""

from __future__ import annotations

import dataclasses
import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.mapping import AS_RELEASED
from conformance.partial import judge_partial
from conformance.partial.leaves import observed_leaves
from conformance.partial.read_partial import PartialTrace
from conformance.trace_report import TraceReport
from impl.world.partition_simulator import simulate
from model.language.evaluate import Evaluator, SparseState
from model.systems import system
from specs.verdict import Verdict
from tests.conformance.thinning import LEADER_ISR_EPOCHS, thinned

HIDDEN = 8


@cache
def nameless(seed: int, steps: int) -> PartialTrace:
    trace = simulate(seed, steps, "everything", 3)
    return thinned(trace, LEADER_ISR_EPOCHS, keeps_step=lambda event: False)


def with_leaf(trace: PartialTrace, at: int, path: str, value: object) -> PartialTrace:
    events = list(trace.events)
    events[at] = dataclasses.replace(events[at], observed={**events[at].observed, path: value})
    return dataclasses.replace(trace, events=tuple(events))


def shows(state: SparseState, observed: dict[str, object]) -> bool:
    cells = observed_leaves(observed, 3).cells.items()
    return all(
        state.get(name, {}).get(at, -1 if "latest" in name else 0) == code
        for (name, at), code in cells
    )


def assert_a_run_fits(trace: PartialTrace, report: TraceReport) -> None:
    """Deliberately dumb: the twin takes every step of the run, line after line."""
    recorded = system("replication").recorded(trace.version, AS_RELEASED)
    twin = Evaluator(recorded, {"brokers": trace.brokers})
    steps = {step.transition.name: step for step in recorded.steps}
    state = twin.initial()
    for event in trace.events:
        taken = [text for line, text, _ in report.run if line == event.line]
        assert len(taken) <= HIDDEN + 1
        for text in taken:
            name, _, inside = text.rstrip(")").partition("(")
            values = [int(one) for one in inside.split(", ") if one]
            state = twin.successor(
                steps[name], state, dict(zip(steps[name].parameters, values, strict=True))
            )
        assert shows(state, event.observed), event.line


def test_a_run_is_found_from_leader_isr_and_epochs_alone() -> None:
    trace = nameless(3, 1_500)

    report = judge_partial(trace)

    assert (report.verdict, report.accepted) == (Verdict.HOLDS, 1_500)
    assert_a_run_fits(trace, report)


def test_who_became_controller_is_guessed_again_where_a_later_line_shows_it_wrong() -> None:
    """A controller never takes itself out of the ISR: the removal at line 56 says who it was not.

    Whoever is guessed at line 40 goes on without trouble up to there.
    """
    trace = nameless(5, 120)
    before = dataclasses.replace(trace, events=trace.events[:54])

    report, earlier = judge_partial(trace), judge_partial(before)

    def winner(found: TraceReport) -> list[str]:
        return [s for line, s, _ in found.run if line == 40 and "becomes_controller" in s]

    assert (earlier.verdict, report.verdict) == (Verdict.HOLDS, Verdict.HOLDS)
    assert winner(earlier) != winner(report)
    assert_a_run_fits(trace, report)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("zookeeper.state.leader", 1),
        ("zookeeper.state.leader_epoch", 1),
        ("zookeeper.controller_epoch", 99),
        ("zookeeper.state.controller_epoch", 0),
    ],
)
def test_a_wrong_value_is_rejected_though_no_step_is_named(path: str, value: object) -> None:
    trace = nameless(7, 600)

    report = judge_partial(with_leaf(trace, 500, path, value))

    assert report.verdict is Verdict.BROKEN
    assert report.findings[0].line == 502


@settings(max_examples=5, deadline=None, derandomize=True)
@given(seed=st.sampled_from([3, 13]), chance=st.integers(0, 99), share=st.sampled_from([0.5, 0.8]))
def test_any_subset_of_what_was_seen_stays_accepted(seed: int, chance: int, share: float) -> None:
    trace, chooser = nameless(seed, 90), random.Random(chance)
    events = tuple(
        dataclasses.replace(
            event, observed={p: v for p, v in event.observed.items() if chooser.random() < share}
        )
        for event in trace.events
    )

    report = judge_partial(dataclasses.replace(trace, events=events))

    assert report.verdict is Verdict.HOLDS

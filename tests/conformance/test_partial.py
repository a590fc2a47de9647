"""Traces with parts missing: subsets of what was seen stay accepted, what cannot be is refused."""

from __future__ import annotations

import dataclasses
import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.cli.check import replay_file
from conformance.mapping import AS_RELEASED, ROWS, UNOBSERVED
from conformance.partial import check_partial, judge_partial
from conformance.partial.laws import BY_ONE, CHANGES, NEVER_FALLS, ONE_LEADER, WRITTEN
from conformance.partial.leaves import NOT_JUDGED, observed_leaves
from conformance.partial.read_partial import PartialTrace
from conformance.trace_report import UnknownLeaf
from impl.world.partition_simulator import simulate
from impl.world.trace import Trace
from model.language.sorts import Numbers
from model.systems import system
from specs.exploration import grounded_for
from specs.partial import CompiledSteps
from specs.plain import PlainSearch
from specs.verdict import Verdict
from tests.conformance.test_replay import edited
from tests.conformance.thinning import LEADER_ISR_EPOCHS, lines_of_partial, thinned


@cache
def run(seed: int = 5, steps: int = 150) -> Trace:
    return simulate(seed, steps, "everything", 3)


def moves() -> CompiledSteps:
    recorded = system("replication").recorded(None, AS_RELEASED)
    return CompiledSteps(recorded, {"brokers": 3}, frozenset(UNOBSERVED))


def with_leaf(trace: PartialTrace, index: int, path: str, value: object) -> PartialTrace:
    events = list(trace.events)
    there = events[index]
    events[index] = dataclasses.replace(there, observed={**there.observed, path: value})
    return dataclasses.replace(trace, events=tuple(events))


# -- the steps ------------------------------------------------------------------------------------


FAULTS = ("broker_crashes", "session_expires", "controller_node_is_deleted",
          "reply_to_registration_is_lost",
          "leader_and_isr_is_lost", "fetch_is_lost", "isr_answer_is_lost")  # fmt: skip


def test_compiled_steps_refuse_and_change_what_the_twin_says() -> None:
    compiled, chooser = moves(), random.Random(1)
    twin, ledger = compiled.twin, compiled.ledger
    state = twin.initial()
    steps = {step.transition.name: step for step in compiled.recorded.steps}

    taken = 0
    for _ in range(400):
        possible = []
        for move in compiled.by_name.values():
            if move.name in FAULTS and chooser.random() < 0.9:
                continue
            arguments = tuple(chooser.randint(s.bottom if isinstance(s, Numbers) else 1, 3)
                              for s in move.sorts)  # fmt: skip
            named = dict(zip(move.parameters, arguments, strict=True))
            refused = twin.possible(steps[move.name], state, named)
            lacking = move.refusal(*arguments)
            assert (refused is None) == (lacking < 0)
            assert refused is None or steps[move.name].requires[lacking] is refused
            if refused is None:
                possible.append((move, arguments, named))
        if possible:
            move, arguments, named = chooser.choice(possible)
            state = twin.successor(steps[move.name], state, named)
            compiled.take(move, arguments)
            taken += 1
            kept = {name: cells for name, cells in state.items() if name in compiled.numbers}
            assert ledger.state() == kept

    assert taken > 250


def test_taking_back_gives_the_state_and_its_key_again() -> None:
    compiled = moves()
    ledger = compiled.ledger
    before, key = ledger.state(), ledger.key

    compiled.take(compiled.by_name["broker_crashes"], (2,))
    compiled.take(compiled.by_name["session_expires"], (2,))
    changed = ledger.key
    ledger.undo(0)

    assert changed != key
    assert (ledger.state(), ledger.key) == (before, key)


# -- what fits ------------------------------------------------------------------------------------


def test_a_whole_trace_is_a_partial_one_that_holds_without_hidden_steps() -> None:
    report = judge_partial(thinned(run(), hidden=0))

    assert (report.verdict, report.accepted, report.hidden) == (Verdict.HOLDS, 150, 0)


def test_leader_isr_and_epochs_of_a_long_run_are_enough_to_follow_it() -> None:
    report = judge_partial(thinned(run(7, 1500), LEADER_ISR_EPOCHS))

    assert (report.verdict, report.accepted) == (Verdict.HOLDS, 1500)


LOGGED = {
    "controller_elects_leader", "controller_removes_replica", "leader_shrinks_isr",
    "leader_expands_isr", "controller_registers", "controller_learns_outcome",
    "leader_and_isr_arrives", "broker_crashes", "broker_starts", "session_expires",
    "broker_reconnects",
}  # fmt: skip


def test_steps_that_no_log_tells_of_are_found() -> None:
    trace = thinned(run(), LEADER_ISR_EPOCHS, keeps_line=lambda event: event.step in LOGGED)

    report = judge_partial(trace)

    assert (report.verdict, report.accepted) == (Verdict.HOLDS, len(trace.events))
    assert report.hidden > 0
    assert any(
        step.startswith("controller_issues_leader_and_isr")
        for _, step, hidden in report.run
        if hidden
    )


def test_the_first_election_is_found_from_what_is_registered_alone() -> None:
    trace = thinned(run(), LEADER_ISR_EPOCHS, keeps_step=lambda event: False)
    first = dataclasses.replace(trace, events=trace.events[:22])

    report = judge_partial(first)

    assert report.verdict is Verdict.HOLDS
    assert "controller_elects_leader" in report.fired


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_any_subset_of_the_leaves_stays_accepted(data: st.DataObject) -> None:
    trace = thinned(run(data.draw(st.integers(1, 4)), 80), hidden=0)
    chooser = data.draw(st.randoms(use_true_random=False))
    share = data.draw(st.sampled_from([0.0, 0.2, 0.6]))

    events = tuple(
        dataclasses.replace(
            event, observed={p: v for p, v in event.observed.items() if chooser.random() < share}
        )
        for event in trace.events
    )

    report = judge_partial(dataclasses.replace(trace, events=events))
    assert report.verdict is Verdict.HOLDS


@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_what_lacks_lines_and_names_of_steps_is_never_called_broken(data: st.DataObject) -> None:
    chooser = data.draw(st.randoms(use_true_random=False))
    trace = thinned(
        run(data.draw(st.integers(1, 4)), 30),
        data.draw(st.sampled_from([None, LEADER_ISR_EPOCHS])),
        keeps_line=lambda event: chooser.random() < 0.8,
        keeps_step=lambda event: chooser.random() < 0.8,
    )

    assert judge_partial(trace, tried=3000).verdict is not Verdict.BROKEN


def test_a_thousand_lines_without_a_single_name_are_followed() -> None:
    trace = thinned(run(5, 1_000), keeps_step=lambda event: False)

    report = judge_partial(trace)

    assert (report.verdict, report.accepted, report.hidden) == (Verdict.HOLDS, 1_000, 0)


@pytest.mark.parametrize("hidden", [0, 8])
def test_a_line_without_a_name_may_be_a_step_of_its_own(hidden: int) -> None:
    trace = thinned(run(3, 200), keeps_step=lambda event: False, hidden=hidden)

    assert judge_partial(trace).verdict is Verdict.HOLDS


@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_names_that_are_missing_break_nothing_though_nothing_is_hidden(data: st.DataObject) -> None:
    chooser = data.draw(st.randoms(use_true_random=False))
    trace = thinned(
        run(data.draw(st.integers(1, 4)), 60), keeps_step=lambda event: chooser.random() < 0.5,
        hidden=0,
    )  # fmt: skip

    assert judge_partial(trace).verdict is Verdict.HOLDS


@pytest.mark.parametrize("path", ["brokers.1.hw", "zookeeper.state.version", "next_record"])
def test_a_wrong_value_is_not_accepted_for_want_of_names(path: str) -> None:
    trace = thinned(run(5, 60), keeps_step=lambda event: False, hidden=0)

    report = judge_partial(with_leaf(trace, 30, path, 77), tried=2_000)

    assert report.verdict is not Verdict.HOLDS
    assert report.accepted <= 30


# -- what does not --------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["leader_advances_hw", "controller_elects_leader"])
def test_a_wrong_value_is_rejected_at_its_line(step: str) -> None:
    trace = thinned(run(5, 300), hidden=0)
    at = next(i for i, event in enumerate(trace.events) if event.step == step)
    path, value = next((p, v) for p, v in trace.events[at].observed.items() if type(v) is int)

    report = judge_partial(with_leaf(trace, at, path, value + 1))

    assert report.verdict is Verdict.BROKEN
    assert report.findings[0].line >= at + 2
    assert f"{value + 1}" in report.findings[0].why


def test_a_value_that_no_later_line_contradicts_is_accepted() -> None:
    """Who asks for records last may have asked at any offset: nobody sees it."""
    trace = thinned(run(), hidden=0)
    unseen = dataclasses.replace(trace.events[-1], observed={})

    report = judge_partial(dataclasses.replace(trace, events=(*trace.events[:-1], unseen)))

    assert report.verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("path", "value", "rule"),
    [
        ("zookeeper.state.leader_epoch", 0, "never goes back"),
        ("zookeeper.controller_epoch", 10**6, "grows by one a step"),
        ("zookeeper.state.leader", 2, "has one leader"),
    ],
)
def test_hidden_steps_excuse_no_break_of_a_law(path: str, value: object, rule: str) -> None:
    trace = thinned(run(), LEADER_ISR_EPOCHS)

    report = judge_partial(with_leaf(trace, 120, path, value))

    assert report.verdict is Verdict.BROKEN
    assert rule in report.findings[0].rule
    assert report.findings[0].line == 122


def test_where_a_limit_ends_the_search_the_answer_is_unknown() -> None:
    trace = thinned(run(), LEADER_ISR_EPOCHS, keeps_line=lambda event: event.step in LOGGED)

    report = judge_partial(trace, tried=10)

    assert report.verdict is Verdict.UNKNOWN
    assert "10 steps were tried" in report.findings[0].why


@pytest.mark.parametrize("controllers", [1, 2])
def test_the_laws_hold_on_every_edge_of_a_small_space(controllers: int) -> None:
    recorded = system("replication").recorded(None, AS_RELEASED)
    bounds = {
        "brokers": 2, "log": 1, "records": 1, "epoch": 2, "controllers": controllers,
        "versions": 3, "crashes": 0, "expiries": 1, "losses": 0,
    }  # fmt: skip
    grounded = grounded_for(recorded, bounds, [])
    search = PlainSearch(grounded, 6_000, lambda line: None, None)
    search.run()
    names = {cell.number: (cell.field.name, cell.index) for cell in grounded.cells}
    fired, refused = [0] * len(grounded.instances), bytearray(len(grounded.reasons))
    edges, moved = 0, set[str]()

    for state in search.states:
        before = {names[i]: code for i, code in enumerate(search.code.decode(state))}
        for number, then in search.code.successors(state, fired, refused, {}):
            after = {names[i]: code for i, code in enumerate(search.code.decode(then))}
            step = grounded.instances[number].step.transition.name
            edges += 1
            for name in NEVER_FALLS:
                grown = after[name, ()] - before[name, ()]
                assert 0 <= grown <= (1 if name in BY_ONE else 9), step
            epoch, leader = (((name, ())) for name in ONE_LEADER)
            assert before[epoch] != after[epoch] or before[leader] == after[leader], step
            for cell, code in after.items():
                if code == before[cell]:
                    continue
                assert cell[0] not in WRITTEN[1] or before[WRITTEN[0], ()] != after[WRITTEN[0], ()]
                allowed = CHANGES.get(step, {}).get(cell[0])
                assert allowed is None or code in allowed, step
                if allowed:
                    moved.add(step)

    assert edges > 10_000
    assert {"controller_elects_leader", "leader_shrinks_isr"} <= moved


# -- files ----------------------------------------------------------------------------------------


def written(path: Path, change: object = lambda lines: lines) -> Path:
    lines = [f"{line}\n" for line in lines_of_partial(thinned(run(), LEADER_ISR_EPOCHS))]
    path.write_text("".join(change(lines)), encoding="utf-8")  # type: ignore[operator]
    return path


def test_a_partial_file_is_judged_by_the_command_as_in_memory(tmp_path: Path) -> None:
    result = replay_file(str(written(tmp_path / "run.ndjson")))

    assert (result.verdict, result.events) == (Verdict.HOLDS, 150)
    assert result.coverage["accepted"] == 150


@pytest.mark.parametrize(
    ("damage", "line", "why"),
    [
        (lambda lines: [*lines[:4], lines[4][:20]], 5, "truncated in the middle of a line"),
        (lambda lines: lines[:-1], 151, "truncated after 150 events"),
        (lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]], 6, "out of order"),
        (lambda lines: [*lines[:4], edited(lines[4], seq=9), *lines[5:]], 5, "gap: seq 9"),
        (lambda lines: [edited(lines[0], version="9.9"), *lines[1:]], 1, "unknown version '9.9'"),
        (lambda lines: [edited(lines[0], format="x/7"), *lines[1:]], 1, "unknown format"),
        (lambda lines: [*lines[:4], edited(lines[4], run="x"), *lines[5:]], 5, "two runs mixed"),
        (lambda lines: [], 1, "empty"),
        (
            lambda lines: [*lines[:4], edited(lines[4], step="leader_prays"), *lines[5:]],
            5, "unknown step 'leader_prays'",
        ),
        (
            lambda lines: [*lines[:4], edited(lines[4], observed={"brokers.9.hw": 1}), *lines[5:]],
            5, "brokers.9.hw is no leaf",
        ),
        (
            lambda lines: [*lines[:4], edited(lines[4], observed={"brokers.1.hw": ""}), *lines[5:]],
            5, "brokers.1.hw is '', which it never is",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_vouched_for_is_not_checked_and_named_by_its_line(
    damage: object, line: int, why: str, tmp_path: Path
) -> None:
    report = check_partial(written(tmp_path / "run.ndjson", damage))

    assert report.verdict is Verdict.NOT_CHECKED
    assert report.findings[0].line == line
    assert why in report.findings[0].why


def test_a_trace_without_events_is_not_checked() -> None:
    trace = dataclasses.replace(thinned(run()), events=())

    assert judge_partial(trace).verdict is Verdict.NOT_CHECKED


def test_lines_that_show_nothing_are_not_checked() -> None:
    trace = thinned(run(), leaves=(), keeps_step=lambda event: False)

    report = judge_partial(trace)

    assert report.verdict is Verdict.NOT_CHECKED
    assert "none names a step or shows a leaf" in report.findings[0].why


def test_every_leaf_of_an_observation_is_judged_or_has_a_reason() -> None:
    found = observed_leaves(run().header.initial, 3)

    assert len(found.unjudged) < len(run().header.initial)
    assert all(reason for _, reason in NOT_JUDGED)
    with pytest.raises(UnknownLeaf, match="no leaf"):
        observed_leaves({"brokers.4.hw": 0}, 3)


def test_hints_name_steps_that_exist() -> None:
    transitions = {name for row in ROWS.values() for name in row.transitions}

    assert set(CHANGES) <= transitions

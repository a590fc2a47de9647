"""Traces: what is written can be read, rebuilt and replayed; what is damaged is named."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from impl.sim.simulation import Step
from impl.world.observation import leaves, observe
from impl.world.partition_simulator import PartitionSimulator, simulate
from impl.world.partition_steps import partition_cluster
from impl.world.trace import (
    Trace,
    TraceError,
    apply_observation,
    lines_of,
    nested_observation,
    parse_trace,
    read_trace,
    write_events,
    write_trace,
)

RUN = simulate(seed=5, steps=120)


def test_a_trace_survives_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"

    write_trace(path, RUN)

    assert read_trace(path) == RUN
    assert [event.line for event in read_trace(path).events] == list(range(2, 122))
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.ndjson"]


def test_a_packed_trace_is_read_and_one_that_is_cut_off_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson.gz"
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines_of(RUN)).encode()))

    assert read_trace(path) == RUN

    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(TraceError, match=r"run\.ndjson\.gz:1: damaged, or truncated"):
        read_trace(path)


def test_every_observation_can_be_rebuilt_and_replayed(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    write_trace(path, RUN)
    trace = read_trace(path)
    world = partition_cluster(trace.header.brokers, trace.header.seed)

    observations = list(trace.observations())

    assert observations[0] == observe(world)
    for event, observation in zip(trace.events, observations[1:], strict=True):
        world.do(Step(event.step, tuple(event.args.values())))
        assert observation == observe(world)


def test_an_event_shows_the_leaves_that_changed_and_no_other() -> None:
    before = dict(RUN.header.initial)

    for event in RUN.events:
        after = dict(before)
        apply_observation(after, event.observed)
        assert all(before[path] != after[path] for path in event.observed)
        before = after

    assert len(RUN.events) == 120


def test_leaves_and_rebuild_are_inverse() -> None:
    simulator = PartitionSimulator(3)
    for _ in range(200):
        simulator.advance()
    seen = observe(simulator.world)

    assert nested_observation(leaves(seen)) == seen


def test_sessions_expire_and_nodes_go_at_zookeeper_and_everything_else_at_a_broker() -> None:
    there = {"session_expires", "controller_node_is_deleted"}
    nodes = {event.node for event in RUN.events if event.step in there}
    others = {event.node for event in RUN.events if event.step not in there}

    assert nodes == {"zookeeper"}
    assert others == {1, 2, 3}


def damaged(damage: Callable[[list[str]], list[str]]) -> list[str]:
    return [f"{line}\n" for line in damage(lines_of(RUN))]


def other_run(line: str) -> str:
    return json.dumps({**json.loads(line), "run": "another"})


def edited(line: str, **fields: object) -> str:
    return json.dumps({**json.loads(line), **fields})


@pytest.mark.parametrize(
    ("damage", "line", "message"),
    [
        (lambda lines: [], 1, "empty; a trace begins with a header"),
        (lambda lines: lines[:-1], 121, "truncated after 120 events"),
        (lambda lines: lines[:1], 1, "truncated after 0 events"),
        (lambda lines: [*lines[:5], *lines[6:]], 6, "gap: clock 6 where 5 is next"),
        (lambda lines: [lines[0], edited(lines[1], seq=7)], 2, "gap: seq 7 of node"),
        (
            lambda lines: [edited(lines[0], format="insync.trace/9")],
            1,
            "knows insync.trace/1 alone",
        ),
        (lambda lines: lines[1:], 1, "unknown format None"),
        (lambda lines: [*lines[:9], other_run(lines[9])], 10, "two runs mixed: 'another'"),
        (lambda lines: [*lines[:9], *lines], 10, "two runs mixed"),
        (lambda lines: [*lines, lines[-1]], 123, "a line after the end"),
        (
            lambda lines: [*lines[:9], edited(lines[-1], events=9)],
            10,
            "counts 9 events, there are 8",
        ),
        (lambda lines: [lines[0], '{"clock":'], 2, "not JSON"),
        (lambda lines: [lines[0], "[]"], 2, "not a JSON object"),
        (lambda lines: [lines[0], edited(lines[1], node=[1])], 2, "the event's node is [1]"),
        (lambda lines: [edited(lines[0], brokers="3")], 1, "the header's brokers is '3'"),
        (lambda lines: ['{"format":"insync.trace/1","run":"x"}'], 1, "the header lacks seed"),
    ],
)
def test_a_damaged_trace_is_refused_by_file_and_line(
    damage: Callable[[list[str]], list[str]], line: int, message: str
) -> None:
    path = Path("run.ndjson")

    with pytest.raises(TraceError) as refused:
        parse_trace(damaged(damage), path)

    assert str(refused.value).startswith(f"run.ndjson:{line}: ")
    assert message in str(refused.value)


def test_a_file_cut_in_the_middle_of_a_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    write_trace(path, RUN)
    path.write_bytes(path.read_bytes()[:-10])

    with pytest.raises(TraceError, match=r":122: truncated in the middle of a line"):
        read_trace(path)


def test_a_binary_file_is_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    path.write_bytes(b"\x1f\x8b\xff\xfe")

    with pytest.raises(TraceError, match=":1: not text in UTF-8"):
        read_trace(path)


def test_the_header_says_what_was_run() -> None:
    trace: Trace = simulate(seed=2, steps=3, faults="none", brokers=2)

    header = trace.header
    assert (header.seed, header.brokers, header.faults) == (2, 2, "none")
    assert (header.version, header.system, header.strategy) == ("2.3", "replication", "any")


def test_a_run_that_is_written_as_it_goes_is_the_run_that_is_kept(tmp_path: Path) -> None:
    kept, streamed = tmp_path / "kept.ndjson", tmp_path / "streamed.ndjson"

    write_trace(kept, simulate(4, 150, "crashes"))
    events = write_events(streamed, *PartitionSimulator(4, "crashes").recorded(150))

    assert events == 150
    assert streamed.read_bytes() == kept.read_bytes()


def test_a_line_shows_what_is_new_of_a_log_however_long_that_is(tmp_path: Path) -> None:
    """It is not the step's number that decides how long its line is: logs of 400 records."""
    path = tmp_path / "run.ndjson"
    write_events(path, *PartitionSimulator(1).recorded(3_000))
    _, *lines, _ = path.read_text().splitlines()

    longest = [max(map(len, part)) for part in (lines[:1_000], lines[-1_000:])]

    assert longest[1] < longest[0] + 200


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ({"from": 9_000, "then": []}, "9000"),
        ({"from": -1, "then": []}, "-1"),
        ({"from": True, "then": []}, "True"),
        ({"from": 0, "then": 4}, "4"),
    ],
)
def test_the_end_of_a_log_that_is_not_so_long_is_refused(end: dict[str, object], why: str) -> None:
    facts = dict(RUN.header.initial)

    with pytest.raises(ValueError, match=why):
        apply_observation(facts, {"brokers.1.log": end})
    with pytest.raises(ValueError, match="lists"):
        apply_observation(facts, {"brokers.1.hw": {"from": 0, "then": []}})

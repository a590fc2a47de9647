"""Which lines of the core are compared with the model is measured, kept and added up honestly."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from conformance import coverage, line_recorder
from conformance.cli.edges import edges
from conformance.cli.lockstep import lockstep
from conformance.cli.vectors import vectors
from conformance.coverage import CoreCoverage, read, reasons
from conformance.vectors.implementation.stage import ControllerStage
from impl.core import leader_election
from impl.core.event_controller import EventController
from impl.releases import Release
from specs.rendering import as_data

STRATEGIES = "impl.core.leader_election"


def lines_of(function: object) -> set[int]:
    text, first = inspect.getsourcelines(function)  # type: ignore[arg-type]
    return set(range(first, first + len(text)))


def test_a_line_counts_once_it_has_run_and_not_before() -> None:
    with CoreCoverage() as found:
        leader_election.preferred((1, 2), (2,), {2})

    walked = found.walked[STRATEGIES]
    assert walked
    assert walked <= lines_of(leader_election.preferred)
    last = max(lines_of(leader_election.preferred))
    assert last not in walked, "the first replica is not in sync, so it is not elected"
    assert 0 < found.share < 0.05


def test_lines_of_coroutines_count_and_nothing_counts_outside() -> None:
    stage = ControllerStage(Release.of("2.3"))
    stage.start_broker(1)
    with CoreCoverage() as found:
        stage.controller(1)
    before = found.share
    leader_election.preferred((1,), (1,), {1})

    assert lines_of(EventController.fail_over) & found.walked["impl.core.event_controller"]
    assert found.share == before
    assert not found.walked[STRATEGIES]


def test_what_two_commands_walked_adds_up_in_a_file(tmp_path: Path) -> None:
    kept = tmp_path / "coverage.json"
    first, second = CoreCoverage(), CoreCoverage()
    with first:
        leader_election.preferred((1,), (1,), {1})
    kept.write_text(json.dumps(as_data(first)))
    with second:
        leader_election.reassign((1,), (1,), {1})

    again = read(kept)
    with again:
        leader_election.reassign((1,), (1,), {1})

    assert again.walked[STRATEGIES] == first.walked[STRATEGIES] | second.walked[STRATEGIES]
    assert again.share > first.share


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module with every kind of statement, that nothing else imports."""
    (tmp_path / "noted_sample.py").write_text(SAMPLE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("noted_sample")
    del sys.modules["noted_sample"]
    line_recorder.lines_of.cache_clear()
    line_recorder._instrumented.cache_clear()


SAMPLE = """
import asyncio
from functools import cache


class Base:
    def hears(self, what):
        return what


class Sample(Base):
    \"\"\"Of everything.\"\"\"

    def hears(self, what):
        return super().hears(
            what
            or "nothing"
            or "never",
        )

    @property
    def is_odd(self):
        "Read as an attribute."
        for number in range(3):
            if number == 7:
                break
        else:
            number = 1
        while number > 5:
            number -= 1
        return bool(number)

    def only_described(self):
        "Nothing to run."


@cache
def chosen(what):
    match what:
        case 1:
            return "one"
        case 2 if what > 3:
            return "never"
        case [first, _]:
            return first
    try:
        raise KeyError(what)
    except (
        IndexError
    ):
        return "index"
    except KeyError:
        return "key"
    finally:
        what = None


async def waited(numbers):
    odd = [
        one
        for one in numbers
        if one % 2
    ]
    none = [
        one
        for one in ()
    ]
    later = lambda: (
        1,
        2,
    )
    await asyncio.sleep(0)
    return (
        odd
        if odd
        else none
    )


def run():
    one = Sample()
    one.hears(1), one.is_odd, one.only_described()
    chosen(1), chosen(2), chosen((3, 4)), chosen(None)
    asyncio.run(waited((1, 2)))
"""


def test_lines_that_are_noted_are_those_that_a_trace_function_sees(sample: ModuleType) -> None:
    counted = {line for _, lines in line_recorder.lines_of(sample.__name__) for line in lines}
    traced: set[int] = set()

    def called(frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename != sample.__file__:
            return None
        if event == "line":
            traced.add(frame.f_lineno)
        return called

    sys.settrace(called)
    sample.run()
    sys.settrace(None)
    sample.chosen.cache_clear()
    with line_recorder.LineRecorder([sample.__name__]) as noted:
        sample.run()

    (walked,) = noted.walked.values()
    assert walked & counted == traced & counted
    text = SAMPLE.splitlines()
    left = {text[line - 1].strip() for line in counted - walked}
    assert left == {
        'or "nothing"', "break", "number -= 1", 'return "never"', 'return "index"', "one",
        "else none",
    }  # fmt: skip


def test_functions_are_as_they_were_afterwards(sample: ModuleType) -> None:
    before = {one: one.__code__ for one in line_recorder.functions_in(sample)}
    with line_recorder.LineRecorder([sample.__name__]) as noted:
        sample.Sample().hears(2)
        first = noted.take()
        second = noted.take()

    assert {one: one.__code__ for one in before} == before
    assert first != second
    assert second == {sample.__name__: set()}


@pytest.mark.parametrize(("text", "why"), [("{", "is no JSON"), ('{"format": 1}', "is no insync")])
def test_another_file_is_refused_by_name(text: str, why: str, tmp_path: Path) -> None:
    kept = tmp_path / "other.json"
    kept.write_text(text)

    with pytest.raises(ValueError, match=why):
        read(kept)
    done = CliRunner().invoke(edges, ["--max-states", "5", "--coverage", str(kept)])

    assert done.exit_code == 64
    assert kept.read_text() == text


def test_every_function_that_has_a_reason_is_there() -> None:
    there = {
        f"{module} {function.replace('.<locals>', '')}"
        for module in coverage.modules()
        for function, _ in line_recorder.lines_of(module)
    }

    assert set(reasons()) <= there
    assert all(len(why) > 10 for why in reasons().values())


def test_the_command_names_the_lines_that_no_walk_reached() -> None:
    done = CliRunner().invoke(edges, ["election", "--max-states", "20", "--coverage"])

    assert "lines of impl/core ran under comparison with the model" in done.output
    assert "not walked: impl.core.leader_election offline" in done.output


def test_a_reason_that_nothing_needs_is_reported_and_a_line_without_one_too() -> None:
    found = CoreCoverage()
    explained = {f"{one.module} {one.function}" for one in found.missing if one.why}

    assert explained == set(reasons())
    assert found.needless() == []
    for module, function in (one.split(" ", 1) for one in sorted(reasons())[:1]):
        lines = dict(line_recorder.lines_of(module))
        name = next(one for one in lines if one.replace(".<locals>", "") == function)
        found.walked[module] |= lines[name]
        assert found.needless() == [f"{module} {function}"]


@pytest.mark.deep
def test_every_line_of_the_core_is_walked_or_has_a_reason(tmp_path: Path) -> None:
    kept = tmp_path / "coverage.json"
    cases = [str(path) for path in sorted(Path("tests/data/vectors").glob("*.json"))]
    for command, given in (
        (vectors, [*cases, "--on", "both"]),
        (lockstep, ["--all", "--seeds", "0..2"]),
        (edges, ["--all", "--max-states", "3000"]),
    ):
        done = CliRunner().invoke(command, [*given, "--coverage", str(kept)])
        assert done.exit_code in (0, 2), done.output

    found = read(kept)
    assert [one for one in found.missing if not one.why] == []
    assert found.needless() == []
    assert found.share > 0.93

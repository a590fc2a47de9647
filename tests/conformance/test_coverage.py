"""Which lines of the core are compared with the model is measured, kept and added up honestly."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance import coverage
from conformance.cli.edges import edges
from conformance.coverage import CoreCoverage, read, reasons
from impl.core import strategies
from impl.core.event_controller import EventController
from impl.releases import Release
from impl.vectors.stage import Stage

STRATEGIES = "impl.core.strategies"


def lines_of(function: object) -> set[int]:
    text, first = inspect.getsourcelines(function)  # type: ignore[arg-type]
    return set(range(first, first + len(text)))


def test_a_line_counts_once_it_has_run_and_not_before() -> None:
    with CoreCoverage() as found:
        strategies.preferred((1, 2), (2,), {2})

    walked = found.walked[STRATEGIES]
    assert walked
    assert walked <= lines_of(strategies.preferred)
    last = max(lines_of(strategies.preferred))
    assert last not in walked, "the first replica is not in sync, so it is not elected"
    assert 0 < found.share < 0.05


def test_lines_of_coroutines_count_and_nothing_counts_outside() -> None:
    stage = Stage(Release.of("2.3"))
    stage.start_broker(1)
    with CoreCoverage() as found:
        stage.controller(1)
    before = found.share
    strategies.preferred((1,), (1,), {1})

    assert lines_of(EventController.fail_over) & found.walked["impl.core.event_controller"]
    assert found.share == before
    assert not found.walked[STRATEGIES]


def test_what_two_commands_walked_adds_up_in_a_file(tmp_path: Path) -> None:
    kept = tmp_path / "coverage.json"
    first, second = CoreCoverage(), CoreCoverage()
    with first:
        strategies.preferred((1,), (1,), {1})
    kept.write_text(json.dumps(first.as_json()))
    with second:
        strategies.reassign((1,), (1,), {1})

    again = read(kept)
    with again:
        strategies.reassign((1,), (1,), {1})

    assert again.walked[STRATEGIES] == first.walked[STRATEGIES] | second.walked[STRATEGIES]
    assert again.share > first.share


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
        for function, _ in coverage._functions(module)
    }

    assert set(reasons()) <= there
    assert all(len(why) > 10 for why in reasons().values())


def test_the_command_names_the_lines_that_no_walk_reached() -> None:
    done = CliRunner().invoke(edges, ["election", "--max-states", "20", "--coverage"])

    assert "lines of impl/core ran under comparison with the model" in done.output
    assert "not walked: impl.core.strategies offline" in done.output

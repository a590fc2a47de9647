"""`insync check` on damaged partial traces: each is named by its line, none is accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli.main import main
from impl.world.partition_simulator import simulate
from tests.conformance.test_replay import edited
from tests.conformance.thinning import LEADER_ISR_EPOCHS, lines_of_partial, thinned


@pytest.mark.parametrize(
    ("damage", "line", "why"),
    [
        (lambda lines: [*lines[:6], lines[6][:25]], 7, "truncated in the middle of a line"),
        (lambda lines: lines[:-1], 41, "truncated after 40 events"),
        (lambda lines: [*lines[:6], lines[7], lines[6], *lines[8:]], 8, "out of order"),
        (lambda lines: [*lines[:6], edited(lines[6], seq=9), *lines[7:]], 7, "gap: seq 9"),
        (lambda lines: [edited(lines[0], version="9.9"), *lines[1:]], 1, "unknown version '9.9'"),
        (lambda lines: [*lines[:6], edited(lines[6], run="x"), *lines[7:]], 7, "two runs mixed"),
        (lambda lines: [*lines, *lines], 43, "a line after the end"),
        (lambda lines: [lines[0], edited(lines[-1], events=0)], 1, "of 0 lines none names a step"),
    ],
)
def test_a_damaged_partial_trace_is_not_checked_and_reported_by_its_line(
    damage: Callable[[list[str]], list[str]], line: int, why: str, tmp_path: Path
) -> None:
    seen = thinned(simulate(3, 40), LEADER_ISR_EPOCHS, keeps_step=lambda _: False)
    lines = [f"{one}\n" for one in lines_of_partial(seen)]
    path = tmp_path / "run.ndjson"
    path.write_text("".join(damage(lines)), encoding="utf-8")

    result = CliRunner().invoke(main, ["check", str(path)])

    assert result.exit_code == 3
    assert f"run.ndjson:{line}" in result.output
    assert why in " ".join(result.output.split())


def test_an_empty_file_is_not_checked(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    path.write_text("", encoding="utf-8")

    assert CliRunner().invoke(main, ["check", str(path), "--engine", "local"]).exit_code == 3

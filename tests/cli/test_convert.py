"""`insync convert`: runs become columns, and `insync check` says the same of either."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conformance.partial import thinned
from conformance.partial.thinning import lines_of_partial
from impl import simulate, write_trace
from tests.conformance.faults import harmed


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    for seed in (1, 2):
        write_trace(folder / f"seed-{seed}.ndjson", simulate(seed, 80, "everything", 3))
    return folder


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_a_folder_of_runs_is_converted_and_checked_with_logs_nowhere(answer, runs, tmp_path, form):
    out = tmp_path / "columns"
    code, made = answer(f"convert {runs} --out {out} --form {form}")
    checked, result = answer(f"check {out}")

    assert (code, made["findings"]) == (0, [])
    assert [(Path(one["out"]).name, one["lines"]) for one in made["files"]] == [
        (f"seed-1.{form}", 80), (f"seed-2.{form}", 80),
    ]  # fmt: skip
    assert (checked, result["verdict"], result["lines"]["read"]) == (0, "holds", 160)


def test_a_broken_run_is_broken_at_the_same_line_in_columns(answer, runs, tmp_path):
    trace, _ = harmed(
        simulate(3, 80, "everything", 3), "shows more than happened", random.Random(4)
    )
    write_trace(runs / "seed-3.ndjson", trace)
    answer(f"convert {runs / 'seed-3.ndjson'} --out {tmp_path}")

    code, by_line = answer(f"check {runs / 'seed-3.ndjson'}")
    again, by_column = answer(f"check {tmp_path / 'seed-3.arrow'}")

    assert (code, again) == (1, 1)
    one, other = by_line["findings"][0], by_column["findings"][0]
    assert [one[key] for key in ("kind", "line", "rule", "why", "allowed")] == [
        other[key] for key in ("kind", "line", "rule", "why", "allowed")
    ]


def test_what_cannot_be_vouched_for_is_named_and_the_others_are_converted(answer, runs, tmp_path):
    text = (runs / "seed-1.ndjson").read_text().splitlines(keepends=True)
    (runs / "seed-1.ndjson").write_text("".join([*text[:5], *text[6:]]))

    code, made = answer(f"convert {runs} --out {tmp_path / 'columns'}")

    assert code == 3
    assert [Path(one["out"]).name for one in made["files"]] == ["seed-2.arrow"]
    assert [(one["line"], one["why"][:12]) for one in made["findings"]] == [(6, "gap: clock 6")]
    assert [path.name for path in (tmp_path / "columns").iterdir()] == ["seed-2.arrow"]


def test_columns_that_are_cut_off_are_not_checked(answer, runs, tmp_path):
    answer(f"convert {runs} --out {tmp_path}")
    path = tmp_path / "seed-1.arrow"
    path.write_bytes(path.read_bytes()[:-40])

    code, result = answer(f"check {path}")

    assert (code, result["verdict"]) == (3, "not checked")
    assert result["findings"][0]["why"].startswith("truncated after 80 events")


def test_wrong_use_says_what_to_write(insync, runs, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    write_trace(other / "seed-1.ndjson", simulate(1, 20, "none", 3))

    nothing = insync(f"convert {tmp_path / 'nothing'} --out {tmp_path}")
    twice = insync(f"convert {runs} {other} --out {tmp_path / 'columns'}")
    a_file = insync(f"convert {runs} --out {runs / 'seed-1.ndjson'}")
    insync(f"convert {runs} --out {tmp_path}")
    opened = insync(f"check {tmp_path / 'seed-1.arrow'} --open")

    assert [one.exit_code for one in (nothing, twice, a_file, opened)] == [64] * 4
    assert "name the trace that they were made of" in opened.stderr
    assert "does not exist" in nothing.stderr
    assert "would be one file" in twice.stderr
    assert "name a folder you may write" in a_file.stderr


def test_a_trace_with_parts_missing_has_no_columns(answer, tmp_path):
    lines = lines_of_partial(thinned(simulate(1, 20, "none", 3)))
    (tmp_path / "seen.ndjson").write_text("\n".join([*lines, ""]))

    code, made = answer(f"convert {tmp_path} --out {tmp_path}")

    assert (code, made["files"]) == (3, [])
    assert made["findings"][0]["why"].startswith("a trace with parts missing")

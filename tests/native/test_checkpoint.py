"""Checkpoints: a search goes on to the very same end, from its own checkpoint and no other."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path
from typing import Any

import pytest

from specs.native.search import NativeSearch
from tests.native.stopping import WHOLE, refused, visited


@pytest.fixture(scope="module")
def in_one_go() -> dict[str, Any]:
    """What an uninterrupted search says."""
    found = visited(None)
    assert found["distinct"] == WHOLE
    return found


@pytest.fixture
def shared_early(monkeypatch):
    """Several workers, small batches: many places to be interrupted at."""
    monkeypatch.setattr("specs.native.search.WORTH_SHARING", 50)
    monkeypatch.setattr("specs.native.search.BATCH", 64)
    monkeypatch.setattr("specs.native.search.OUTBOX", 64)


# -- going on ---------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 10, 500, 5000, WHOLE - 1, WHOLE])
def test_a_search_that_was_stopped_goes_on_to_the_same_end(tmp_path, in_one_go, limit):
    stopped = visited(tmp_path, max_states=limit)
    went_on = visited(tmp_path)

    assert stopped["complete"] is (limit == WHOLE)
    assert went_on == in_one_go


@pytest.mark.parametrize("symmetry", [False, True], ids=["plain", "orbits"])
def test_a_search_goes_on_as_often_as_it_is_stopped(tmp_path, symmetry):
    in_one_go = visited(None, symmetry=symmetry)

    for limit in range(500, WHOLE + 500, 4000):
        visited(tmp_path, max_states=limit, symmetry=symmetry)

    assert visited(tmp_path, symmetry=symmetry) == in_one_go
    assert len(list(tmp_path.iterdir())) == 2, "the description and one file of states"


def test_a_finished_search_is_reported_again_without_searching(tmp_path):
    steps: list[str] = []

    first = visited(tmp_path)
    again = visited(tmp_path, report=steps.append)

    assert again == first
    assert [one for one in steps if not one.startswith("preparing")] == []


@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1), (2, 3)])
def test_the_number_of_workers_may_change_on_the_way(tmp_path, shared_early, before, after):
    visited(tmp_path, max_states=5000, workers=before)

    assert visited(tmp_path, workers=after) == visited(None, workers=1)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("after", [1, 2, 17, 30])
def test_an_interrupted_search_leaves_a_checkpoint_that_goes_on(
    tmp_path, in_one_go, shared_early, workers, after
):
    reports = 0

    def interrupt(line: str) -> None:
        nonlocal reports
        reports += not line.startswith("preparing")  # machine code is made, or was
        if reports == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        visited(tmp_path, workers=workers, report=interrupt)
    left = json.loads((tmp_path / "checkpoint.json").read_text())
    went_on = visited(tmp_path, workers=workers)

    assert 1 <= sum(left["levels"]) < WHOLE
    assert went_on == in_one_go


@pytest.mark.parametrize("line", ["before", "after"])
@pytest.mark.parametrize("level", [1, 6, 9])
def test_an_interrupt_while_a_level_is_added_up_loses_no_verdict_and_counts_nothing_twice(
    tmp_path, in_one_go, monkeypatch, level, line
):
    settle = NativeSearch._settle_claims

    def interrupted(search: NativeSearch, bits: int, depth: int) -> None:
        if depth != level + 1:
            settle(search, bits, depth)
            return
        if line == "after":
            settle(search, bits, depth)
        raise KeyboardInterrupt

    monkeypatch.setattr(NativeSearch, "_settle_claims", interrupted)
    with pytest.raises(KeyboardInterrupt):
        visited(tmp_path)
    monkeypatch.setattr(NativeSearch, "_settle_claims", settle)

    assert visited(tmp_path) == in_one_go


def test_a_checkpoint_is_written_on_the_way_as_well(tmp_path, monkeypatch, shared_early):
    monkeypatch.setattr("specs.native.checkpoint.EVERY_SECONDS", -1.0)
    kept: set[str] = set()

    def look(line: str) -> None:
        names = {path.name for path in tmp_path.iterdir()}
        assert len(names) in (0, 2), names
        kept.update(names)

    visited(tmp_path, workers=3, report=look)

    assert len(kept) > 15, "one file of states for each level, and the description"


def test_a_folder_that_is_not_there_yet_is_made(tmp_path):
    folder = tmp_path / "a" / "b"

    visited(folder, max_states=100)

    assert (folder / "checkpoint.json").exists()


# -- no room ----------------------------------------------------------------------------------


@pytest.fixture
def little_disk():
    """No file may become larger than twenty thousand bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_is_full_leaves_the_last_good_checkpoint(tmp_path, little_disk):
    visited(tmp_path, max_states=1000)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    message = refused(tmp_path)

    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert "the checkpoint could not be written (File too large)" in message
    assert "the last good one is untouched; free some space" in message
    assert after == before
    assert visited(tmp_path, max_states=1001)["stopped"] is not None


def test_after_a_full_disk_the_search_goes_on_to_the_same_end(tmp_path, monkeypatch):
    visited(tmp_path, max_states=1000)
    whole = os.fsync

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "(No space left on device)" in refused(tmp_path)
    monkeypatch.setattr(os, "fsync", whole)

    assert not list(tmp_path.glob("*.part"))
    assert visited(tmp_path) == visited(None)


def test_a_crash_between_the_two_files_leaves_the_last_good_checkpoint(tmp_path, monkeypatch):
    visited(tmp_path, max_states=1000)
    replace = os.replace

    def die(source: str, target: Path) -> None:
        if Path(target).name == "checkpoint.json":
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", die)
    with pytest.raises(KeyboardInterrupt):
        visited(tmp_path, max_states=5000)
    monkeypatch.setattr(os, "replace", replace)

    assert visited(tmp_path) == visited(None)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    folder = tmp_path / "kept"
    folder.mkdir(mode=0o500)

    assert "could not be written (Permission denied)" in refused(folder)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").write_text("")

    assert "could not be written (Not a directory)" in refused(tmp_path / "file" / "kept")

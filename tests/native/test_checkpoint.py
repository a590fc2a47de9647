"""Checkpoints: a search goes on to the very same end, from its own checkpoint and no other."""

from __future__ import annotations

import json
import os
import resource
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.classic import SYSTEM as CLASSIC
from model.election import SYSTEM as ELECTION
from model.language import ProtocolError, RecordedSystem
from model.replication import SYSTEM as REPLICATION
from specs.explorer import explore
from specs.native.search import Search
from tests.language.small import BROKERS, system
from tests.native.test_agreement import common

KIP_101 = CLASSIC.limits({"log": 1})
WHOLE = 12_217
"""States of kip_101 with logs of one record."""


def visited(
    folder: Path | None,
    recorded: RecordedSystem | None = None,
    bounds: dict[str, int] | None = None,
    **more: Any,
) -> dict[str, Any]:
    found = explore(
        recorded or CLASSIC.recorded("kip_101"), bounds or KIP_101, checkpoint=folder, **more
    )
    return common(found.as_json())


def refused(folder: Path, *given: Any, **more: Any) -> str:
    with pytest.raises(ProtocolError) as error:
        visited(folder, *given, **more)
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the checkpoint of a search that was stopped; not to be changed."""
    folder = tmp_path_factory.mktemp("checkpoint")
    assert not visited(folder, max_states=5000)["complete"]
    return folder


@pytest.fixture
def started(kept: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(kept, tmp_path / "kept")


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
    monkeypatch.setattr("specs.native.search.LETTERS", 64)


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


def test_a_finished_search_is_told_again_without_searching(tmp_path):
    steps: list[str] = []

    first = visited(tmp_path)
    again = visited(tmp_path, report=steps.append)

    assert again == first
    assert steps == []


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
        reports += 1
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
    settle = Search._settle

    def interrupted(search: Search, bits: int, depth: int) -> None:
        if depth != level + 1:
            settle(search, bits, depth)
            return
        if line == "after":
            settle(search, bits, depth)
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "_settle", interrupted)
    with pytest.raises(KeyboardInterrupt):
        visited(tmp_path)
    monkeypatch.setattr(Search, "_settle", settle)

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


# -- checkpoints of something else ------------------------------------------------------------


def test_a_checkpoint_of_another_system_is_refused_with_both_names(started):
    message = refused(started, ELECTION.recorded(), ELECTION.limits({}))

    assert f"{started} holds a checkpoint of classic kip_101 (brokers=3, log=1" in message
    assert "and this is election 2.3 (brokers=2, epoch=2, writes=1): its system is" in message
    assert message.endswith("; choose another folder")


def test_a_checkpoint_of_another_version_is_refused_with_both_names(started):
    message = refused(started, CLASSIC.recorded("kip_320"))

    assert 'its version is "kip_101", here it is "kip_320"' in message


def test_a_checkpoint_of_other_bounds_is_refused_with_both(started):
    message = refused(started, None, CLASSIC.limits({"log": 1, "epoch": 2}))

    assert "kip_101 (brokers=3, log=1, records=2, epoch=1), and this is classic" in message
    assert "(brokers=3, log=1, records=2, epoch=2): its bounds is" in message


def test_a_checkpoint_with_a_switch_thrown_back_is_refused(tmp_path):
    limits = REPLICATION.limits({"epoch": 1, "versions": 1})
    visited(tmp_path, REPLICATION.recorded(), limits, max_states=100)

    unfenced = REPLICATION.recorded(changed={"fetch_fencing": False})

    assert 'its without is {}, here it is {"fetch_fencing": false}' in refused(
        tmp_path, unfenced, limits
    )


def test_a_checkpoint_that_judged_other_claims_is_refused(started):
    message = refused(started, claims=["leader_in_isr"])

    assert "its claims is" in message
    assert '"strong_isr"' in message


def test_a_checkpoint_of_orbits_is_no_checkpoint_of_states(started):
    assert "its symmetry is false, here it is true" in refused(started, symmetry=True)


def _takes(minimum: int) -> Callable[..., None]:
    def takes(now, new, broker):
        """A broker takes it while nobody, or somebody early, has it."""
        new.owner = broker
        new.epoch = minimum

    return takes


def _at(epoch: int) -> Callable[..., None]:
    def initially(new):
        """The epoch is not nought."""
        new.epoch = epoch

    return initially


def test_a_checkpoint_of_an_older_text_is_refused(tmp_path):
    bounds = {"brokers": 2, "epoch": 2, "log": 1, "hottest": 1}
    visited(tmp_path, system(_takes(1), broker=BROKERS), bounds)

    changed = system(_takes(2), broker=BROKERS)

    assert "the protocol's text, or its lowering, has changed since" in refused(
        tmp_path, changed, bounds
    )


def test_a_checkpoint_that_began_elsewhere_is_refused(tmp_path):
    bounds = {"brokers": 2, "epoch": 2, "log": 1, "hottest": 1}
    visited(tmp_path, system(_takes(0), broker=BROKERS, initial=_at(1)), bounds)

    elsewhere = system(_takes(0), broker=BROKERS, initial=_at(2))

    assert "has changed since" in refused(tmp_path, elsewhere, bounds)
    assert visited(None, elsewhere, bounds)["distinct"] == 3


# -- damage -----------------------------------------------------------------------------------


def states_of(folder: Path) -> Path:
    (path,) = folder.glob("states-*.npy")
    return path


def described(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        path = folder / "checkpoint.json"
        told = json.loads(path.read_text())
        path.write_text(json.dumps(change(told) or told))

    return damage


def cut_short(name: str, keep: int) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        (path,) = folder.glob(name)
        path.write_bytes(path.read_bytes()[:keep])

    return damage


def flip_a_bit(folder: Path) -> None:
    path = states_of(folder)
    whole = bytearray(path.read_bytes())
    whole[-9] ^= 4
    path.write_bytes(whole)


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "no description at all": lambda folder: (folder / "checkpoint.json").write_text(""),
    "half a description": cut_short("checkpoint.json", 100),
    "another file": lambda folder: (folder / "checkpoint.json").write_bytes(b"\x89PNG\x00\xff"),
    "a list": described(lambda told: [1, 2]),
    "another format": described(lambda told: told.update(format="insync.checkpoint/0")),
    "no levels": described(lambda told: told.pop("levels") and None),
    "other levels": described(lambda told: told["levels"].append(1)),
    "words for levels": described(lambda told: told.update(levels=["many"])),
    "counts that are too few": described(lambda told: told.update(fired=[1, 2])),
    "no seal": described(lambda told: told.pop("seal") and None),
    "no states": lambda folder: states_of(folder).unlink(),
    "empty states": cut_short("states-*.npy", 0),
    "half a head": cut_short("states-*.npy", 20),
    "half of the states": cut_short("states-*.npy", 5000),
    "other numbers": lambda folder: np.save(
        states_of(folder), np.load(states_of(folder)).astype(np.float64)
    ),
    "objects": lambda folder: np.save(
        states_of(folder), np.array([{}] * 9, object), allow_pickle=True
    ),
    "a flipped bit": flip_a_bit,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_checkpoint_is_refused_with_its_file_and_what_to_do(started, damage):
    damage(started)

    message = refused(started)

    assert message.startswith(f"{started / 'checkpoint.json'}: no checkpoint to go on from: ")
    assert message.endswith("; remove it to start anew")


def test_without_the_damaged_description_the_search_starts_anew(started):
    (started / "checkpoint.json").unlink()

    assert visited(started) == visited(None)


def test_a_file_where_a_folder_should_be_is_refused(tmp_path):
    path = tmp_path / "kept"
    path.write_text("mine")

    assert refused(path) == f"{path} is a file; name a folder for --checkpoint"
    assert path.read_text() == "mine"


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

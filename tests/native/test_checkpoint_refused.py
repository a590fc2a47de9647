"""Checkpoints of another search, damaged ones, and what is no folder: refused with what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model.classic import SYSTEM as CLASSIC
from model.election import SYSTEM as ELECTION
from model.replication import SYSTEM as REPLICATION
from tests.language.small import BROKERS, system
from tests.native.stopping import refused, visited


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
        reported = json.loads(path.read_text())
        path.write_text(json.dumps(change(reported) or reported))

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
    "a list": described(lambda header: [1, 2]),
    "another format": described(lambda header: header.update(format="insync.checkpoint/0")),
    "no levels": described(lambda header: header.pop("levels") and None),
    "other levels": described(lambda header: header["levels"].append(1)),
    "words for levels": described(lambda header: header.update(levels=["many"])),
    "counts that are too few": described(lambda header: header.update(fired=[1, 2])),
    "no seal": described(lambda header: header.pop("seal") and None),
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
    assert message.endswith("; remove it to start again")


def test_without_the_damaged_description_the_search_starts_anew(started):
    (started / "checkpoint.json").unlink()

    assert visited(started) == visited(None)


def test_a_file_where_a_folder_should_be_is_refused(tmp_path):
    path = tmp_path / "kept"
    path.write_text("mine")

    assert refused(path) == f"{path} is a file; name a folder for --checkpoint"
    assert path.read_text() == "mine"

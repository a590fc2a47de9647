"""The loops that numba keeps on disk: never older than the files that made them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from specs.native import compiled_loops, driver
from specs.native.compiled_loops import loops_folder, sources_key

NATIVE = Path(compiled_loops.__file__).parent


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of the files of the engine."""
    for path in NATIVE.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.mark.parametrize(
    "name", ["driver.py", "table.py", "calls.py", "graph.py", "fingerprints.py"]
)
def test_a_change_in_any_file_with_loops_makes_all_loops_anew(sources, name):
    before = sources_key(sources)
    path = sources / name

    path.write_text(path.read_text().replace("np.uint64(29)", "np.uint64(31)") + "\n")

    assert before == sources_key(NATIVE)
    assert sources_key(sources) != before


def test_a_change_elsewhere_keeps_them(sources):
    before = sources_key(sources)

    (sources / "search.py").write_text("")

    assert sources_key(sources) == before


def test_every_loop_is_kept_in_the_folder_of_this_version():
    kept = Path(str(driver.run.stats.cache_path))

    assert Path(str(vars(numba.config)["CACHE_DIR"])) in kept.parents
    assert kept.parents[0].name == sources_key(NATIVE)


def test_the_folder_is_beside_the_machine_code_unless_numba_is_given_another(tmp_path, monkeypatch):
    monkeypatch.setenv("INSYNC_CACHE", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    assert loops_folder().parent == tmp_path / "loops"

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "other"))
    assert loops_folder().parent == tmp_path / "other"


ASK = """
import numba
import specs.native.driver
print(numba.config.CACHE_DIR)
"""


def test_where_nothing_can_be_kept_a_process_compiles_for_itself_and_leaves_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "temporary").mkdir()

    said = subprocess.run(
        [sys.executable, "-c", ASK],
        env={
            **os.environ,
            "NUMBA_CACHE_DIR": str(tmp_path / "file" / "loops"),
            "TMPDIR": str(tmp_path / "temporary"),
        },
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=True,
        text=True,
    ).stdout.strip()

    assert Path(said).parent == tmp_path / "temporary"
    assert list((tmp_path / "temporary").iterdir()) == []

"""Limits of states and memory end a search as they say; kept machine code serves its own text."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import main
from model.classic import SYSTEM as CLASSIC
from model.election import SYSTEM as ELECTION
from model.language import ProtocolError
from specs.explorer import explore
from specs.lowering.grounding import Grounded
from specs.native import jit
from specs.native.kernel import Kernel, kernel_of
from specs.native.search import NativeSearch, SearchOptions
from specs.native.store import OutOfMemory, StateStore
from specs.verdict import Verdict

LARGER = CLASSIC.limits({"epoch": 2})
"""737,794 states in a full visit."""


def answered(line: str):
    result = CliRunner().invoke(main, [*line.split(" "), "--json", "-"])
    return result.exit_code, json.loads(result.stdout)


# -- states -----------------------------------------------------------------------------------


def test_a_bound_on_states_is_kept_to_the_level_and_leaves_verdicts_unknown():
    code, found = answered("explore classic --bound epoch=2 --max-states 100000")

    assert (code, found["verdict"], found["complete"]) == (2, "unknown", False)
    assert found["stopped"] == "the bound of 100000 states is reached"
    assert 50_000 < found["distinct"] <= 100_000
    assert found["claims"]["strong_isr"]["verdict"] == "unknown"
    assert found["claims"]["strong_isr"]["why"] == found["stopped"]


# -- memory -----------------------------------------------------------------------------------


def test_too_little_memory_is_unknown_and_says_how_much_there_was():
    code, found = answered("explore classic --bound epoch=2 --memory 0.004")

    assert (code, found["verdict"], found["complete"]) == (2, "unknown", False)
    assert found["stopped"].startswith("memory: ")
    assert found["stopped"].endswith("and 4.0 MB are allowed")
    assert found["distinct"] == sum(found["levels"]) > 10_000
    assert found["claims"]["strong_isr"]["verdict"] == "unknown"


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("megabytes", [1, 2, 5, 7, 11])
def test_states_and_table_never_take_more_than_is_allowed(monkeypatch, workers, megabytes):
    monkeypatch.setattr("specs.native.search.WORTH_SHARING", 5000)
    monkeypatch.setattr("specs.native.store.FIRST_TABLE", 1 << 10)
    kernel = kernel_of(Grounded(CLASSIC.recorded(), LARGER))
    allowed = megabytes * 10**6
    search = NativeSearch(
        kernel, SearchOptions(workers=workers, memory_bytes=allowed), lambda line: None
    )

    search.run()

    assert search.stopped is not None
    assert search.stopped.startswith("memory: ")
    assert search.store.peak_bytes <= allowed
    assert search.store.bytes_used <= allowed
    assert search.store.count * 60 > allowed / 3, "most of what is allowed is used"


def test_what_broke_before_the_memory_ran_out_stays_broken_with_its_run():
    recorded = CLASSIC.recorded("hw_truncation")

    short = explore(recorded, LARGER, memory_bytes=4 * 10**6)
    whole = explore(recorded, CLASSIC.limits({}))

    assert not short.complete
    assert short.claims["strong_isr"].verdict is Verdict.BROKEN
    assert short.claims["strong_isr"].depth == whole.claims["strong_isr"].depth == 9
    assert short.claims["leader_in_isr"].verdict is Verdict.UNKNOWN


def test_a_search_that_ran_out_of_memory_goes_on_where_there_is_more(tmp_path):
    recorded = CLASSIC.recorded()

    stopped = explore(recorded, LARGER, memory_bytes=4 * 10**6, checkpoint=tmp_path)
    went_on = explore(recorded, LARGER, checkpoint=tmp_path)

    assert stopped.stopped is not None
    assert stopped.stopped.startswith("memory: ")
    assert (went_on.distinct, went_on.complete) == (737_794, True)
    assert went_on.levels[: stopped.depth] == stopped.levels


def test_a_checkpoint_that_does_not_fit_is_refused_with_what_to_do(tmp_path):
    explore(CLASSIC.recorded(), LARGER, max_states=200_000, checkpoint=tmp_path)

    with pytest.raises(ProtocolError, match="more than 1 MB can take; allow more with --memory"):
        explore(CLASSIC.recorded(), LARGER, memory_bytes=10**6, checkpoint=tmp_path)


def test_a_shard_s_states_stay_below_what_an_index_can_name():
    for shards in (1, 2, 3, 64):
        store = StateStore.__new__(StateStore)
        store.words, store.shards, store.memory_bytes = 1, shards, 10**13
        store.peak_bytes = 0
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("specs.native.store.np.empty", lambda size, kind: None)
            store.__post_init__()
        assert 2**31 < store.region * shards <= 2**32 - 2


def test_a_table_that_may_not_grow_says_what_it_would_have_taken():
    store = StateStore(2, 600_000)

    wanted = r"take 0\.5 MB, the next table would make it 1\.0 MB, and 0\.6"
    with pytest.raises(OutOfMemory, match=wanted):
        store.grow()


def test_the_json_tells_the_bytes_of_a_state():
    _, found = answered("explore classic --bound epoch=2 --claim strong_isr")

    assert found["distinct"] == 737_794
    assert 16 < found["bytes_per_state"] <= 45


# -- the machine code that is kept ------------------------------------------------------------


def kernel(folder: Path, symmetry: bool = False, **bounds: int) -> Kernel:
    limits = ELECTION.limits({"epoch": 1, **bounds})
    return kernel_of(Grounded(ELECTION.recorded(), limits), symmetry, folder)


def objects(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.o"))


def test_the_second_build_comes_from_the_cache(tmp_path):
    first, second = kernel(tmp_path), kernel(tmp_path)

    assert (first.machine.from_cache, second.machine.from_cache) == (False, True)
    assert [path.stem for path in objects(tmp_path)] == [first.machine.key]
    assert not list(tmp_path.rglob("*.part"))


def test_large_code_is_made_at_once_and_made_best_where_a_search_is_long(monkeypatch, tmp_path):
    best = NativeSearch(kernel(tmp_path), SearchOptions(), lambda line: None)
    best.run()
    monkeypatch.setattr("specs.native.jit.LARGE", 0)
    monkeypatch.setattr("specs.native.search.WORTH_COMPILING", 100)
    other = tmp_path / "other"

    at_once = kernel(other)
    made = [at_once.has_best_code(), len(objects(other))]
    search = NativeSearch(at_once, SearchOptions(), lambda line: None)
    search.run()

    assert made == [False, 1]
    assert (at_once.has_best_code(), len(objects(other))) == (True, 2)
    assert search.store.count == best.store.count > 100
    assert (search.fired == best.fired).all()
    assert kernel(other).machine.from_cache
    assert kernel(other).has_best_code()


def test_another_text_has_another_key():
    text = "define i64 @expand(ptr %s) {\n  ret i64 0\n}\n"

    assert jit.code_key(text) == jit.code_key(text)
    assert jit.code_key(text) != jit.code_key(text.replace("i64 0", "i64 1"))


def test_code_is_the_same_whatever_was_recorded_before_in_the_process():
    # What is kept on disk would else be found only by a process that did the same before.
    script = (
        "import sys\n"
        "from specs.lowering.constant_cells import ConstantCells\n"
        "from specs.lowering.grounding import Grounded\n"
        "from specs.lowering.native_code import NativeCode\n"
        "from specs.lowering.packing import Packing\n"
        "from model.systems import SYSTEMS\n"
        "from specs.native.jit import code_key\n"
        "for name in sys.argv[1:]:\n"
        "    system = SYSTEMS[name]\n"
        "    grounded = Grounded(system.recorded(), system.limits({}))\n"
        "    frozen = ConstantCells(grounded)\n"
        "    code = NativeCode(grounded, frozen, Packing(grounded, frozen.values))\n"
        "print(code_key(code.text))\n"
    )

    keys = [
        subprocess.run(
            [sys.executable, "-c", script, *names], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for names, seed in ((("replication",), "1"), (("election", "classic", "replication"), "2"))
    ]  # fmt: skip

    assert keys[0] == keys[1] != ""


def test_bounds_symmetry_and_claims_each_have_code_of_their_own(tmp_path):
    kernels = [
        kernel(tmp_path),
        kernel(tmp_path, writes=2),
        kernel(tmp_path, symmetry=True),
        kernel_of(
            Grounded(ELECTION.recorded(), ELECTION.limits({"epoch": 1}), ["single_writer"]),
            cache=tmp_path,
        ),
        kernel_of(
            Grounded(ELECTION.recorded("2.1"), ELECTION.limits({"epoch": 1})), cache=tmp_path
        ),
    ]

    assert not any(one.machine.from_cache for one in kernels)
    assert len(objects(tmp_path)) == len(kernels) == 5


@pytest.mark.parametrize("keep", [0, 10, 32, 33, 500, -1])
def test_a_file_cut_short_is_compiled_anew(tmp_path, keep):
    first = kernel(tmp_path)
    (path,) = objects(tmp_path)
    path.write_bytes(path.read_bytes()[:keep])

    second, third = kernel(tmp_path), kernel(tmp_path)

    assert (second.machine.from_cache, third.machine.from_cache) == (False, True)
    assert first.machine.key == second.machine.key == third.machine.key


@pytest.mark.parametrize("at", [0, 31, 32, 1000, -1])
def test_a_file_with_one_byte_changed_is_compiled_anew(tmp_path, at):
    kernel(tmp_path)
    (path,) = objects(tmp_path)
    whole = bytearray(path.read_bytes())
    whole[at] ^= 1
    path.write_bytes(whole)

    assert not kernel(tmp_path).machine.from_cache


def test_the_cache_is_where_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("INSYNC_CACHE", str(tmp_path / "chosen"))

    explore(ELECTION.recorded(), ELECTION.limits({"brokers": 1, "epoch": 1}))

    assert len(objects(tmp_path / "chosen" / "native")) == 1


def test_without_a_choice_the_cache_is_the_user_s(tmp_path, monkeypatch):
    monkeypatch.delenv("INSYNC_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert jit.cache_folder() == tmp_path / "insync"

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert jit.cache_folder() == tmp_path / "home" / ".cache" / "insync"


def test_a_cache_that_cannot_be_written_only_costs_time(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("INSYNC_CACHE", str(tmp_path / "file" / "cache"))

    found = [
        explore(ELECTION.recorded(), ELECTION.limits({"epoch": 1}), ["single_writer"]).distinct
        for _ in range(2)
    ]

    assert found[0] == found[1] > 100
    assert (tmp_path / "file").read_text() == ""


def test_text_that_llvm_refuses_is_an_error_and_is_not_kept(tmp_path):
    with pytest.raises(RuntimeError, match="parsing error"):
        jit.build("define i64 @expand( {", ("expand",), tmp_path)

    assert objects(tmp_path) == []


def test_code_that_lacks_a_function_is_an_error():
    with pytest.raises(RuntimeError, match="judge"):
        jit.build("define i64 @expand(ptr %s) {\n  ret i64 0\n}\n", ("expand", "judge"))


BUILD = """
from model.classic import SYSTEM
from specs.lowering.grounding import Grounded
from specs.native.kernel import kernel_of
print(kernel_of(Grounded(SYSTEM.recorded(), SYSTEM.limits({}))).machine.key)
"""


def test_two_processes_may_fill_the_same_cache_at_once(tmp_path):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", BUILD],
            env={**os.environ, "INSYNC_CACHE": str(tmp_path)},
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [one.communicate()[0].strip() for one in running]

    assert said[0] == said[1]
    assert [path.stem for path in objects(tmp_path)] == said[:1]
    assert not list(tmp_path.rglob("*.part"))

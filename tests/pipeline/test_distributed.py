"""Exploration on Spark: the same counts as one process, whatever is tried twice."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
import pytest
from click.testing import CliRunner

from conformance.cli.main import main
from conformance.distributed import ExplorationTask, Segments, task
from conformance.distributed.task import STATS, OpenClaims
from model.systems import system
from specs.explorer import explore
from specs.native.store import Words

SMALL = {"classic": {"epoch": 1, "log": 1, "records": 1}, "election": {"brokers": 2, "epoch": 2}}
TINY = ["--brokers", "2", "--bound", "log=1", "--bound", "records=1", "--bound", "epoch=0"]


def question(name: str, symmetry: bool = False, shards: int = 3) -> ExplorationTask:
    limits = system(name).limits(SMALL[name])
    version = system(name).default_version
    return ExplorationTask(name, version, "{}", json.dumps(limits), None, symmetry, shards)


def levels_of(asked: ExplorationTask, segments: Segments, attempts: int = 1) -> list[int]:
    """All levels, the tasks of Spark called one by one; each merge is tried so many times."""
    kernel, sizes, level = asked.kernel(), [1], 0
    first = task.first_state(kernel)
    shard = task.owner(kernel, first, asked.shards)
    segments.commit(0, [(shard, segments.attempt(shard, first))])
    while sizes[-1]:
        blocks: dict[int, list[bytes]] = defaultdict(list)
        for shard in range(asked.shards):
            states = segments.level(shard, level)
            if states is not None:
                for owner, block in task.expanded(asked, states, OpenClaims(0, 0)):
                    blocks[owner].append(block)
        blocks.pop(STATS)
        rows = [
            task.merged(asked, segments, shard, sent, OpenClaims(0, 0))
            for _ in range(attempts)
            for shard, sent in sorted(blocks.items())
        ][-len(blocks) :]
        level += 1
        segments.commit(level, [(row["shard"], row["file"]) for row in rows if row["file"]])
        sizes.append(sum(row["states"] for row in rows))
    return sizes[:-1]


@pytest.mark.parametrize(
    ("name", "symmetry"), [("classic", False), ("classic", True), ("election", True)]
)
def test_shards_in_files_find_the_levels_that_one_table_finds(name, symmetry, tmp_path):
    recorded, limits = system(name).recorded(), system(name).limits(SMALL[name])

    sizes = levels_of(question(name, symmetry), Segments(str(tmp_path)))

    assert sizes == explore(recorded, limits, symmetry=symmetry).levels


def test_a_task_that_ran_twice_inserts_nothing_twice_and_leaves_nothing_behind(tmp_path):
    once, twice = Segments(str(tmp_path / "once")), Segments(str(tmp_path / "twice"))

    sizes = levels_of(question("classic"), once)

    assert levels_of(question("classic"), twice, attempts=2) == sizes
    assert not list((tmp_path / "twice" / "attempts").iterdir())
    for shard in range(3):
        assert np.array_equal(once.visited(shard), twice.visited(shard))


def test_what_a_task_writes_does_not_depend_on_who_sent_first(tmp_path):
    asked = question("classic")
    kernel = asked.kernel()
    rows = task.expanded(asked, task.first_state(kernel), OpenClaims(0, 0))
    sent = [block for shard, block in rows if shard != STATS]

    def written(blocks: list[bytes], name: str) -> Words:
        segments = Segments(str(tmp_path / name))
        row = task.merged(asked, segments, 0, blocks, OpenClaims(0, 0))
        segments.commit(1, [(0, row["file"])])
        found = segments.level(0, 1)
        assert found is not None
        return found

    assert np.array_equal(written(sent, "one"), written(sent[::-1], "other"))


def test_spark_gives_the_report_of_the_native_engine(spark, tmp_path):
    arguments = ["explore", "classic", "--version", "hw_truncation", *TINY, "--json", "-"]
    native = CliRunner().invoke(main, arguments)

    there = CliRunner().invoke(
        main, [*arguments, "--engine", "spark", "--shards", "2", "--segments", str(tmp_path / "v")]
    )

    expected, found = json.loads(native.stdout), json.loads(there.stdout)
    own = {"engine", "workers", "seconds", "setup_seconds", "peak_memory_mb", "bytes_per_state",
           "replay"}  # fmt: skip
    assert {key for key in expected if expected[key] != found[key]} <= own
    assert (found["engine"], there.exit_code) == ("spark", native.exit_code)
    assert len(found["levels"]) > 3


def test_a_folder_with_segments_of_another_visit_is_refused(tmp_path):
    (tmp_path / "visited").mkdir()

    result = CliRunner().invoke(
        main, ["explore", "classic", "--engine", "spark", "--segments", str(tmp_path)]
    )

    assert result.exit_code == 64
    assert "already holds visited; name a new folder" in result.output

"""Spark and the plain engine give exactly the same answer, on our logs and on real ones."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark import java_gateway

from conformance.ingest.files import discover
from conformance.pipeline import java, session, store
from conformance.pipeline.corpus import Engine
from conformance.pipeline.local import LocalEngine
from conformance.pipeline.report import check_result, ingest_summary
from conformance.pipeline.session import spark_session
from conformance.pipeline.spark import SparkEngine
from tests.pipeline.written import changed, write

SHIPPED = Path(__file__).parents[1] / "data" / "logs"
UNSEEN = SHIPPED.parent / "zookeeper" / "unseen-2.3"  # transactions of a ZooKeeper


def answer(engine: Engine, *folders: Path) -> str:
    found = discover([str(folder) for folder in folders])
    corpus = engine.ingest(found, None)
    result = check_result([corpus], engine.judge(corpus))
    return json.dumps(result, sort_keys=True)


@pytest.mark.spark
def test_both_engines_agree_on_the_shipped_logs(spark: SparkEngine):
    folders = SHIPPED / "correct", SHIPPED / "planted", UNSEEN

    local, distributed = answer(LocalEngine(), *folders), answer(spark, *folders)

    assert '"violation"' in local
    assert "reassignment_request_is_handled" in local
    assert distributed == local


@pytest.mark.spark
def test_both_engines_agree_on_real_logs(spark: SparkEngine, real_2_7: Path):
    assert answer(spark, real_2_7) == answer(LocalEngine(), real_2_7)


@pytest.mark.spark
def test_both_engines_agree_on_bad_files_and_repeated_lines(spark: SparkEngine, tmp_path: Path):
    repeated = changed(2, (1, 4), 1, 6, "1,2")
    write(
        tmp_path,
        {
            "state-change.log.1": [changed(1, (1, 4), 1, 7, "1,2"), repeated],
            "state-change.log": [repeated, "orphan"],
            "server.log": [],
        },
    )
    (tmp_path / "controller.log.gz").write_bytes(gzip.compress(b"x" * 999)[:-5])

    assert answer(spark, tmp_path) == answer(LocalEngine(), tmp_path)


@pytest.mark.spark
def test_each_engine_reads_what_the_other_has_written(spark: SparkEngine, tmp_path: Path):
    found = discover([str(SHIPPED / "planted")])
    answers = set()

    for writer, reader in ((spark, LocalEngine()), (LocalEngine(), spark)):
        corpus = writer.ingest(found, None)
        out = str(tmp_path / type(writer).__name__)
        store.write(out, corpus, ingest_summary([corpus]), writer.save)
        kept = reader.load(out)
        answers.add(json.dumps(check_result([kept], reader.judge(kept)), sort_keys=True))

    assert len(answers) == 1
    assert pq.read_table(tmp_path / "SparkEngine" / "events").num_rows > 100


@pytest.mark.spark
def test_there_is_one_session(spark: SparkEngine):
    spark.ingest(discover([str(SHIPPED / "correct")]), None)

    assert spark_session() is spark_session("local[1]")


def test_an_interrupted_start_leaves_no_process_and_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    started: list[subprocess.Popen[bytes]] = []

    def is_interrupted(_master: str, _home: Path, *_settings: object) -> None:
        started.append(vars(java_gateway)["Popen"](["sleep", "600"]))
        raise KeyboardInterrupt

    for name in ("SPARK_CONF_DIR", "PYTHONPATH", "SPARK_LOCAL_IP"):
        monkeypatch.setenv(name, os.environ.get(name, ""))  # put back afterwards
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(session, "_build", is_interrupted)

    with pytest.raises(KeyboardInterrupt):
        session._start("local[1]")

    assert started[0].returncode is not None
    assert list(tmp_path.iterdir()) == []


def test_what_workers_compile_is_kept_in_our_environment_where_python_keeps_nothing():
    reported = {"PYTHONDONTWRITEBYTECODE": "1"}
    given = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "/elsewhere"}
    nothing: dict[str, str] = {}

    for environment in (reported, given, nothing):
        session.keep_compiled(environment)

    assert reported == {"PYTHONPYCACHEPREFIX": os.path.join(sys.prefix, "compiled")}
    assert given == {"PYTHONPYCACHEPREFIX": "/elsewhere"}
    assert nothing == {}


def test_a_machine_without_java_gets_the_wrapped_one(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))

    java.ensure_java(tmp_path / "cache")

    said = subprocess.run(
        [
            Path(os.environ["JAVA_HOME"], "bin", "java"),
            "--add-modules=jdk.incubator.vector",
            "-version",
        ],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin"},
        check=True,
    )
    assert "version" in said.stderr


def test_a_java_of_the_machine_is_left_alone(tmp_path: Path, monkeypatch):
    home = tmp_path / "jdk"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text("#!/bin/sh\n")
    (home / "bin" / "java").chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))

    java.ensure_java(tmp_path / "cache")

    assert os.environ["JAVA_HOME"] == str(home)
    assert not (tmp_path / "cache").exists()


def test_the_command_line_says_its_help_without_loading_the_engines():
    code = (
        "import sys; from conformance.cli.check import check; from conformance.cli.ingest import "
        "ingest; print([n for n in ('pyspark', 'pandas', 'pyarrow', 'rich') if n in sys.modules])"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.strip() == "[]"

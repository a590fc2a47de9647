"""Creates Spark sessions: quiet, local by default, stopped at exit."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.pipeline.class_archive import ClassArchive
from conformance.pipeline.java import ensure_java

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

LOCAL = "local[2]"
SHUFFLED = 4  # tasks after a shuffle; what is large asks for more
_ROOT = Path(__file__).resolve().parents[2]
_SILENCE = """rootLogger.level = off
rootLogger.appenderRef.none.ref = none
appender.none.type = Null
appender.none.name = none
"""
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_FOR_FEW = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
_session: SparkSession | None = None


class SparkFailedError(RuntimeError):
    """Spark did not start; the message ends with Spark's last output."""


def spark_session(master: str | None = None, brief: bool = False) -> SparkSession:
    """The session of this process, started at the first call on `master` (default local[2]).

    A `brief` session has little to do: Java compiles its code fast rather than well. Raises
    SparkFailedError when Spark does not start, NoJavaError when there is no Java.
    """
    global _session
    if _session is None:
        _session = _start(master or LOCAL, brief)
    return _session


def in_brief(session: SparkSession, brief: bool) -> None:
    """Makes Spark plan for few rows, or for many, since code generated for a query is compiled."""
    for name, value in _FOR_FEW.items():
        if brief:
            session.conf.set(name, value)
        else:
            session.conf.unset(name)


def _start(master: str, brief: bool = False) -> SparkSession:
    ensure_java()
    home = Path(tempfile.mkdtemp(prefix="insync-spark-"))
    conf = home / "conf"
    ours = not os.path.isdir(os.environ.get("SPARK_CONF_DIR", ""))
    given = _given(conf)
    silence = conf / "log4j2.properties"
    silence.write_text(_SILENCE, encoding="utf-8")
    archive = None
    if brief and ours and master.startswith("local"):
        archive = ClassArchive.of(Path(sys.prefix, "compiled"))
    if archive is not None:
        conf = archive.conf
    quick = [] if archive is None else [f"-Dlog4j2.configurationFile={silence}", *archive.options]
    paths = [str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ |= {
        "SPARK_CONF_DIR": str(conf),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)),
    }
    if master.startswith("local"):
        keep_compiled(os.environ)
    # Py4J logs a stack trace for each call that Ctrl-C cuts short; the error itself is raised.
    logging.getLogger().addHandler(logging.NullHandler())
    said = home / "stderr.txt"
    # The JVM keeps the standard error that it is started with, so all it says goes to this file.
    with _standard_error_to(said), _launched() as processes:
        try:
            session = _build(master, home, given, [*_QUICK, *quick] if brief else [])
        except BaseException as error:
            # An interrupted start leaves a JVM that waits for ever, and that nobody knows of.
            for process in processes:
                process.kill()
                process.wait()
            reason = _reason(said.read_text(errors="replace"), str(error))
            shutil.rmtree(home, ignore_errors=True)
            if not isinstance(error, Exception):
                raise
            raise SparkFailedError(f"Spark did not start on {master}: {reason}") from error
    atexit.register(_end, session, home, archive)
    return session


@contextlib.contextmanager
def _launched() -> Iterator[list[subprocess.Popen[bytes]]]:
    """The processes that PySpark starts meanwhile; PySpark forgets them when it is interrupted."""
    from pyspark import java_gateway

    processes: list[subprocess.Popen[bytes]] = []

    def noted(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        options.setdefault("stdout", 2)  # ours is closed when we end, whoever goes on
        processes.append(subprocess.Popen(*arguments, **options))
        return processes[-1]

    names = vars(java_gateway)
    kept = names["Popen"]
    names["Popen"] = noted
    try:
        yield processes
    finally:
        names["Popen"] = kept


def _reason(said: str, error: str) -> str:
    """The first line in which an exception names the fault, without its class."""
    for line in (error + "\n" + said).splitlines():
        found = re.search(
            r"(?:Exception|Error)(?: in thread \S+)?: (?!An error occurred)(.+)", line
        )
        if found is not None:
            return re.sub(r"^(?:[\w.]+(?:Exception|Error): )+", "", found[1])
    return error.splitlines()[0] if error else "it said nothing"


def _given(conf: Path) -> frozenset[str]:
    """Makes our settings folder, from the one in SPARK_CONF_DIR if there is one.

    The settings in its spark-defaults.conf, for an existing cluster, take precedence over ours.
    Returns the names of those settings.
    """
    theirs = os.environ.get("SPARK_CONF_DIR", "")
    if not os.path.isdir(theirs):
        conf.mkdir()
        return frozenset()
    shutil.copytree(theirs, conf)
    defaults = conf / "spark-defaults.conf"
    lines = defaults.read_text(encoding="utf-8").splitlines() if defaults.is_file() else []
    words = (re.split(r"[\s=]", line.strip(), maxsplit=1)[0] for line in lines)
    return frozenset(word for word in words if word and not word.startswith("#"))


def keep_compiled(environment: MutableMapping[str, str]) -> None:
    """Lets new Python processes share compiled modules, inside our .venv and nowhere else.

    If Python may not write them, each worker compiles Arrow and NumPy anew, which takes seconds.
    """
    if environment.pop("PYTHONDONTWRITEBYTECODE", None) is not None:
        environment.setdefault("PYTHONPYCACHEPREFIX", str(Path(sys.prefix, "compiled")))


def _build(
    master: str, home: Path, given: frozenset[str], java_options: Sequence[str] = ()
) -> SparkSession:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.local.dir": str(home / "local"),
        "spark.sql.warehouse.dir": str(home / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(SHUFFLED),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",
        "spark.python.worker.reuse": "true",
    }
    if master.startswith("local"):
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.python.daemon.module": "conformance.pipeline.daemon",
        }
        if java_options:
            settings["spark.driver.extraJavaOptions"] = " ".join(java_options)
    builder = SparkSession.builder.appName("insync").master(master)
    for name, value in settings.items():
        if name not in given:
            builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    if not master.startswith("local"):
        session.sparkContext.addPyFile(str(_shipped(home)))
    return session


def _shipped(home: Path) -> Path:
    """Our own packages, for executors on other machines, which also need pyarrow."""
    archive = home / "insync.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        for package in ("conformance", "model", "specs", "impl"):
            for kind in ("*.py", "*.tsv"):
                for path in sorted((_ROOT / package).rglob(kind)):
                    zipped.write(path, path.relative_to(_ROOT))
    return archive


def _end(session: SparkSession, home: Path, archive: ClassArchive | None) -> None:
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    with contextlib.suppress(Exception):
        session.sparkContext.cancelAllJobs()  # else a run that was ended goes on to its end
        session.stop()
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if gateway is not None and process is not None:
        left = False
        with contextlib.suppress(Exception):
            gateway.shutdown()
            if process.stdin is not None:
                process.stdin.close()  # what the JVM waits for
            left = archive is not None and archive.leave(process.pid)
            if not left:
                process.wait(timeout=10)
        if not left and process.poll() is None:
            process.kill()
    shutil.rmtree(home, ignore_errors=True)


def spark_schema(schema: pa.Schema) -> StructType:
    """Converts an Arrow schema to Spark's."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


@contextlib.contextmanager
def _standard_error_to(path: Path) -> Iterator[None]:
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with open(path, "wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)

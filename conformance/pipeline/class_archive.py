"""Keeps an archive of Spark's loaded Java classes (JEP 350, dynamic CDS), for a quicker start.

Half of the time that Java needs to start Spark and plan its first query goes into loading, checking
and laying out 15,000 classes from 280 JAR files. The first short session has Java write the classes
that it loaded to a file (160 MB); later sessions map that file. Nobody waits for the write: the
command ends, and Java ends after a few more seconds of processor time at the lowest priority. Java
compares its version and the class path with the file, and ignores the file where they differ.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from conformance.pipeline.store import runs

_PREFIX = "spark-"
_QUIET = "-Xlog:disable"  # what Java says of such files goes to standard output otherwise
_WRITES = "-XX:ArchiveClassesAtExit="
_LEAST_PRIORITY = 19

State = Literal["there", "missing", "being written"]


@dataclass(frozen=True)
class ClassArchive:
    """The archive of one Java and one Spark. `conf` is the empty settings folder that it needs.

    `conf` is first in the class path; Java would refuse the archive if it held files.
    """

    file: Path
    conf: Path
    state: State

    @classmethod
    def of(cls, folder: Path) -> ClassArchive | None:
        """The archive of this machine's Java in `folder`; None where it cannot be kept."""
        java = _java()
        if java is None:
            return None
        conf = folder / "no-settings"
        try:
            conf.mkdir(parents=True, exist_ok=True)
            if any(conf.iterdir()) or not os.access(folder, os.W_OK):
                return None
            file = folder / f"{_PREFIX}{_digest(java)}.jsa"
            written = _put_in_place(file)
        except OSError:
            return None
        return cls(file, conf, "there" if file.is_file() else written)

    @property
    def options(self) -> list[str]:
        """The Java options that use the archive, or that write it when Java ends."""
        if self.state == "there":
            return [_QUIET, f"-XX:SharedArchiveFile={self.file}"]
        return [] if self.state == "being written" else [_QUIET, f"{_WRITES}{self._part}"]

    def leave(self, process: int) -> bool:
        """Whether Java, after it was asked to end, still writes; then do not wait for it.

        `process` is its process id; a later `of` installs what it writes.
        """
        if self.state != "missing":
            return False
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process, _LEAST_PRIORITY)
            _writer(self.file).write_text(f"{process} {self._part.name}\n", encoding="utf-8")
            return True
        return False

    @property
    def _part(self) -> Path:
        return self.file.with_suffix(f".{os.getpid()}.part")


def _put_in_place(file: Path) -> State:
    """Installs an archive that an earlier session's Java wrote completely, and removes the rest."""
    left: Path | None = None
    with suppress(FileNotFoundError, ValueError):
        number, name = _writer(file).read_text(encoding="utf-8").split()
        left = file.with_name(name)
        if _writes(int(number)):
            return "being written"
        if _is_whole(left):
            for old in file.parent.glob(f"{_PREFIX}*.jsa"):
                old.unlink(missing_ok=True)
            left.replace(file)
    _writer(file).unlink(missing_ok=True)
    for part in file.parent.glob(f"{_PREFIX}*.part"):
        owner = part.suffixes[-2].lstrip(".")
        if part == left or (owner.isdigit() and not runs(int(owner)) and int(owner) != os.getpid()):
            part.unlink(missing_ok=True)
    return "missing"


def _writer(file: Path) -> Path:
    """Says which process writes the archive, and under which name."""
    return file.with_suffix(".writer")


def _writes(process: int) -> bool:
    """Whether this process exists and is such a Java, since process ids are reused."""
    try:
        return _WRITES.encode() in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return not Path("/proc/self").exists() and runs(process)


def _is_whole(part: Path) -> bool:
    """Whether the archive is complete: Java writes its beginning last."""
    with suppress(OSError), part.open("rb") as file:
        return any(file.read(4))
    return False


def _java() -> Path | None:
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home, "bin", "java")) if home else shutil.which("java")
    return Path(found).resolve() if found else None


def _digest(java: Path) -> str:
    """A digest of everything that may make another archive necessary."""
    import pyspark

    jars = Path(pyspark.__file__).parent / "jars"
    states = [os.stat(each) for each in (java, jars)]
    parts = [str(java), str(jars), *(f"{each.st_mtime_ns} {each.st_size}" for each in states)]
    parts += [pyspark.__version__, sys.version, os.environ.get("SPARK_HOME", "")]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]

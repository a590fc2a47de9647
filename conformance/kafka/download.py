"""Downloads a release of Apache Kafka and its dependencies, by coordinates, into a cache.

CACHE/VERSION/libs/*.jar is complete if CACHE/VERSION exists: Maven copies into a folder of another
name, which is renamed at the end. Maven keeps its downloads in its own repository, so an
interrupted download continues where it stopped. A Kafka that the user has is used from its folder
(``home``), which has ``libs`` too.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

from conformance.kafka.releases import TOOLS, KafkaRelease, NoRelease, release_of

CACHE = "INSYNC_KAFKA_CACHE"
GOAL = "dependency:copy-dependencies"


class NotDownloaded(RuntimeError):
    """The release is missing and cannot be downloaded; the message says what to do."""


def cache_folder() -> Path:
    """The folder of downloaded releases: $INSYNC_KAFKA_CACHE, else insync/kafka in the user's
    cache.
    """
    named = os.environ.get(CACHE)
    if named:
        return Path(named).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "insync" / "kafka"


def pom_of(release: KafkaRelease) -> str:
    """A Maven project that depends on a release, and on what its archive adds."""
    wanted = "\n".join(
        f"    <dependency><groupId>{escape(group)}</groupId>"
        f"<artifactId>{escape(artifact)}</artifactId><version>{escape(version)}</version>"
        f"{_ALONE if artifact == TOOLS else ''}</dependency>"
        for group, artifact, version in release.dependencies
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0">\n'
        "  <modelVersion>4.0.0</modelVersion>\n"
        "  <groupId>insync</groupId><artifactId>kafka-lab</artifactId>"
        f"<version>{escape(release.text)}</version><packaging>pom</packaging>\n"
        f"  <dependencies>\n{wanted}\n  </dependencies>\n</project>\n"
    )


_ALONE = (
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
)
"""Without what it depends on: of that only Trogdor and Connect need what is not named here."""


def downloaded_releases() -> list[KafkaRelease]:
    """The releases in the cache, oldest first."""
    folder = cache_folder()
    found = []
    for one in sorted(folder.iterdir()) if folder.is_dir() else []:
        if (one / "libs").is_dir():
            try:
                found.append(release_of(one.name))
            except NoRelease:
                continue
    return sorted(found, key=lambda release: release.parts)


def libs_of(release: KafkaRelease, home: Path | None = None, cache: Path | None = None) -> Path:
    """The folder of a release's jars; NotDownloaded if they are missing, or are another
    release's.
    """
    if home is None:
        libs = (cache or cache_folder()) / release.text / "libs"
        if not libs.is_dir():
            raise NotDownloaded(
                f"Kafka {release.text} is not here; write: insync kafka fetch {release.text}"
            )
    else:
        libs = home / "libs" if (home / "libs").is_dir() else home
    pattern = f"kafka_*-{release.text}.jar"
    if not any(libs.glob(pattern)):
        has = sorted(one.name for one in libs.glob("kafka_*.jar") if one.stem[-1:].isdigit())
        raise NotDownloaded(
            f"{libs} has no {pattern}" + (f" but {has[0]}" if has else "")
            + "; name the folder of an unpacked Kafka of that release"
        )  # fmt: skip
    return libs


def has_tools(release: KafkaRelease, libs: Path) -> bool:
    """Whether the jars include what Kafka's scripts run; older caches do not have them."""
    return (libs / f"{TOOLS}-{release.text}.jar").exists()


def download(
    release: KafkaRelease,
    cache: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Path:
    """Downloads a release into the cache if it is not there; the folder of its jars.

    ``progress`` gets Maven's output, line by line. NotDownloaded if there is no Maven, no release,
    or no way to it.
    """
    folder = cache or cache_folder()
    try:
        if has_tools(release, libs := libs_of(release, cache=folder)):
            return libs
    except NotDownloaded:
        pass
    maven = shutil.which("mvn")
    if maven is None:
        raise NotDownloaded(
            f"Kafka {release.text} is fetched by Maven, and there is no mvn here: install Maven, "
            f"or name a Kafka that you have: --home DIR"
        )
    part = folder / f".{release.text}.{os.getpid()}.part"
    try:
        (part / "libs").mkdir(parents=True)
        (part / "pom.xml").write_text(pom_of(release), encoding="utf-8")
        _maven([maven, "-B", GOAL, f"-DoutputDirectory={part / 'libs'}"], part, release, progress)
        _install(part, folder / release.text)
    except OSError as error:
        raise NotDownloaded(
            f"{folder}: {error.strerror or error}; set {CACHE} to a folder"
        ) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return libs_of(release, cache=folder)


def _install(part: Path, place: Path) -> None:
    """What was fetched is the release; one that is there, maybe in use, gets what it lacks."""
    if (place / "libs").is_dir():
        for jar in sorted((part / "libs").glob("*.jar")):
            if not (place / "libs" / jar.name).exists():
                jar.replace(place / "libs" / jar.name)
        return
    shutil.rmtree(place, ignore_errors=True)
    part.replace(place)


def _maven(
    command: list[str], folder: Path, release: KafkaRelease, progress: Callable[[str], None]
) -> None:
    """Run Maven; its last error, in one line, as NotDownloaded."""
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    errors: list[str] = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if "ERROR" in line:
                errors.append(line.split("ERROR", 1)[1].strip(" ]:\n"))
            progress(line.strip())
        process.wait()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()
    if process.returncode:
        raise NotDownloaded(_failure_message(release, " ".join(errors)))


def _failure_message(release: KafkaRelease, errors: str) -> str:
    artifact = f"kafka_{release.scala}"
    if f"{artifact}:jar:{release.text}" in errors.replace("org.apache.kafka:", "") and (
        "Could not find artifact" in errors or "was not found in" in errors
    ):
        return (
            f"there is no release {release.text} of Kafka ({artifact}) where Maven looks; "
            "`insync kafka versions` lists those that there are"
        )
    first = errors.split(" -> ")[0].split(" http")[0][:300] or "nothing about why"
    return f"Maven cannot get Kafka {release.text}; it said: {first}"

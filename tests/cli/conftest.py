"""One way to run a command in these tests: as typed, in this process."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result

from conformance.cli import main

Insync = Callable[..., Result]


def command(*words: str) -> Result:
    """Run a command, word by word."""
    return CliRunner().invoke(main, list(words))


@pytest.fixture
def insync() -> Insync:
    def run(line: str) -> Result:
        return command(*shlex.split(line))

    return run


@pytest.fixture
def answer(insync: Insync) -> Callable[[str], tuple[int, dict[str, Any]]]:
    """Exit code and JSON of a line; standard output must hold nothing but the JSON."""

    def run(line: str) -> tuple[int, dict[str, Any]]:
        result = insync(f"{line} --json -")
        return result.exit_code, json.loads(result.stdout)

    return run

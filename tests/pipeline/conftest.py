"""Logs of real clusters, where they are beside this repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipeline.written import REALLOGS


@pytest.fixture
def real_2_7() -> Path:
    folder = REALLOGS / "kafka-2.7.0-b"
    if not folder.is_dir():
        pytest.skip("the real logs are not beside this repository")
    return folder

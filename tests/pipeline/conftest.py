"""One Spark session for all tests, started by the first that needs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.pipeline.spark import SparkEngine
from tests.pipeline.written import REALLOGS


@pytest.fixture(scope="session")
def spark() -> SparkEngine:
    return SparkEngine("local[2]")


@pytest.fixture
def real_2_7() -> Path:
    folder = REALLOGS / "kafka-2.7.0-b"
    if not folder.is_dir():
        pytest.skip("the real logs are not beside this repository")
    return folder

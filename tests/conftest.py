"""Options and profiles that every test shares."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

SPARK = "tests/pipeline"

# Derandomised: the same commit gives the same answer. A deep run looks at fresh examples each
# time, and prints the blob that brings a failure back.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("deep", max_examples=2000, deadline=None, print_blob=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--deep", action="store_true", help="also run the tests that take minutes")


def pytest_configure(config: pytest.Config) -> None:
    # Where the tests are started in the background, an interrupt is ignored, by them and by every
    # process that they start; some tests are about interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    profile = "deep" if config.getoption("--deep") else "ci"
    settings.load_profile(os.environ.get("INSYNC_HYPOTHESIS", profile))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--deep"):
        return
    for item in items:
        if item.get_closest_marker("deep"):
            item.add_marker(pytest.mark.skip(reason="takes minutes; runs with --deep"))


class WholeFiles(LoadScopeScheduling):  # type: ignore[misc]  # it ships no types
    """A worker takes a whole file, whose tests share fixtures and may build on one another.

    All of tests/pipeline goes to one: there is one Spark session in a run of the tests.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        return SPARK if file.startswith(f"{SPARK}/") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> WholeFiles:
    return WholeFiles(config, log)

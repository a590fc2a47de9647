"""Options and profiles that every test shares."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings

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


@pytest.hookimpl(tryfirst=True)  # before the groups become part of the names
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_group(item)))
    if config.getoption("--deep"):
        return
    for item in items:
        if item.get_closest_marker("deep"):
            item.add_marker(pytest.mark.skip(reason="takes minutes; runs with --deep"))


def _group(item: pytest.Item) -> str:
    """What one worker takes whole: a file, whose fixtures are shared; and all that needs Spark.

    There is one Spark session in a run of the tests.
    """
    folder = item.path.parent
    return (
        "spark" if folder.name == "pipeline" else str(item.path.relative_to(item.config.rootpath))
    )

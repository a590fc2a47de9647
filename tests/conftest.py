"""Options and profiles that every test shares."""

from __future__ import annotations

import gc
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from conformance.pipeline.spark import SparkEngine

SPARK = "tests/pipeline/", "tests/disks/"
CLIENTS = ("tests/clients/",)

LONGEST = (
    *SPARK,
    *CLIENTS,
    "tests/proofs/test_no_message_loss.py",
    "tests/specs/test_planted_bugs.py",
    "tests/web/test_browser.py",
    "tests/house/test_readme.py",
    "tests/native/test_agreement.py",
    "tests/specs/test_tla.py",
    "tests/bugs/test_searches.py",
    "tests/story/test_stories.py",
    "tests/walks/test_walks.py",
    "tests/web/test_pages.py",
    "tests/cli/test_interrupts.py",
    "tests/impl/server/test_alter_isr.py",
    "tests/theorems/test_theorems.py",
    "tests/cli/test_refinement.py",
    "tests/impl/server/test_cluster.py",
    "tests/language/test_z3.py",
    "tests/proofs/test_refinement.py",
    "tests/proofs/test_planted_in_the_chain.py",
    "tests/topics/test_exploration.py",
    "tests/cli/test_cluster_commands.py",
    "tests/native/test_workers.py",
    "tests/conformance/test_mutants.py",
    "tests/cli/test_moves_by_brokers.py",
    "tests/language/test_agreement.py",
    "tests/conformance/test_storyteller.py",
    "tests/cli/test_tour.py",
)
"""Files that take a quarter of a minute and more, longest first (`insync test --durations=0`): who
began with one at the end would leave the other workers idle."""

# Derandomised: the same commit gives the same answer. A deep run looks at fresh examples each
# time, and prints the blob that brings a failure back.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("deep", max_examples=2000, deadline=None, print_blob=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--deep", action="store_true", help="also run the tests that take minutes")


def pytest_configure(config: pytest.Config) -> None:
    config.option.loadscopereorder = False  # by `LONGEST`, not by how many tests a file has
    # Where the tests are started in the background, an interrupt is ignored, by them and by every
    # process that they start; some tests are about interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    profile = "deep" if config.getoption("--deep") else "ci"
    settings.load_profile(os.environ.get("INSYNC_HYPOTHESIS", profile))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    gc.freeze()  # what was loaded for the tests stays until their end, and need not be searched
    gc.set_threshold(50_000, 20, 50)
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: _turn(item.nodeid))
    if config.getoption("--deep"):
        return
    for item in items:
        if item.get_closest_marker("deep"):
            item.add_marker(pytest.mark.skip(reason="takes minutes; runs with --deep"))


def _turn(nodeid: str) -> int:
    """When its file has its turn among the workers: that of `LONGEST`, then as collected."""
    return next((at for at, file in enumerate(LONGEST) if nodeid.startswith(file)), len(LONGEST))


class WholeFiles(LoadScopeScheduling):  # type: ignore[misc]  # it ships no types
    """A worker takes a whole file, whose tests share fixtures and may build on one another.

    All of `SPARK` goes to one: there is one Spark session in a run of the tests. So does all of
    `CLIENTS`, which share a cluster of three brokers.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", 1)[0]
        return next((one[0] for one in (SPARK, CLIENTS) if file.startswith(one)), file)


@pytest.fixture(scope="session")
def spark() -> SparkEngine:
    """One Spark session for all tests, started by the first that needs it.

    Brief, as they have little to do: a Java that compiles all its code well took half as much
    again.
    """
    from conformance.pipeline.session import in_brief, spark_session
    from conformance.pipeline.spark import SparkEngine

    in_brief(spark_session("local[2]", brief=True), True)
    return SparkEngine("local[2]")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> WholeFiles:
    return WholeFiles(config, log)

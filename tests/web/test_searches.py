"""Goals are looked for in processes of their own, which end with the page."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.web.searches import Searches
from model.language import ProtocolError

GOAL = {"heading": "system classic version hw_truncation brokers 3", "claim": "strong_isr"}
LONG = {
    "heading": "system replication version 2.5 brokers 3 crashes 2",
    "goal": "zk.leader == 2 and zk.leader == 1",
}


@pytest.fixture(scope="module")
def searches() -> Iterator[Searches]:
    found = Searches()
    yield found
    found.end()


def children(searches: Searches) -> list[subprocess.Popen[str]]:
    return list(searches._all)


def test_a_goal_is_found_after_getting_ready_by_the_same_process(searches: Searches):
    searches.prepare("system classic brokers 3")
    assert searches.way(GOAL)["lines"]
    assert len(children(searches)) == 1


def test_what_makes_no_sense_is_said_as_in_the_page_s_own_process(searches: Searches):
    with pytest.raises(ProtocolError, match="nope"):
        searches.way({"heading": "system classic", "claim": "nope"})
    assert searches.way(GOAL)["lines"]


def test_a_search_that_nobody_waits_for_ends_and_its_process_serves_on(searches: Searches):
    class NobodyListens(Exception):
        pass

    def gone(_line: str) -> None:
        raise NobodyListens

    with pytest.raises(NobodyListens):
        searches.way(LONG, gone)
    assert searches.way(GOAL)["lines"]
    assert len(children(searches)) == 1


def test_a_search_whose_process_dies_says_so_and_the_next_gets_another(searches: Searches):
    searches.way(GOAL)
    (child,) = children(searches)

    def kill(_line: str) -> None:
        child.kill()

    with pytest.raises(ProtocolError, match="ended by signal 9; ask again"):
        searches.way(LONG, kill)
    assert searches.way(GOAL)["lines"]
    assert child.wait(timeout=10) == -signal.SIGKILL


def test_a_process_ends_when_the_page_does_however_that_ends():
    asks = f"""
import os
from conformance.web.searches import Searches
one = Searches()
one.way({GOAL!r})
print(one._all[0].pid, flush=True)
os._exit(9)
"""
    page: Any = subprocess.run(
        [sys.executable, "-c", asks], stdout=subprocess.PIPE, text=True, timeout=120
    )
    until = time.monotonic() + 10
    while Path(f"/proc/{int(page.stdout)}").exists():
        assert time.monotonic() < until, "the search outlives its page"
        time.sleep(0.02)

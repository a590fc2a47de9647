"""What a broker tells of its fetchers, in the words of each release."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from impl.core.fetcher_thread import FetchState, Phase
from impl.releases import Release
from impl.server.fetching import FetcherManager
from impl.server.log4j_files import Log4jFiles
from impl.znodes import TopicPartition

T0, U1 = TopicPartition("t", 0), TopicPartition("u", 1)


def lines(folder: Path, version: str) -> list[str]:
    """A manager with two partitions of leader 1 and one of leader 2 tells of them; stops two."""
    release = Release.of(version)
    files = Log4jFiles(folder, 3, release)
    brokers = {1: ("a", 9091), 2: ("b", 9092)}
    manager = SimpleNamespace(
        release=release, files=files, metadata=SimpleNamespace(brokers=brokers)
    )
    fetchers = FetcherManager(cast(Any, manager), cast(Any, None))
    states = {one: FetchState(5, 7, Phase.FETCHING) for one in (T0, U1)}
    rounds = SimpleNamespace(states=states, remove=lambda _: None)
    remote = SimpleNamespace(not_before={}, leader_hw={})
    thread = SimpleNamespace(rounds=rounds, remote=remote, stop=lambda: None)
    fetchers.threads = {(1, 0): cast(Any, thread), (2, 0): cast(Any, thread)}

    fetchers._tell_of_added({(2, 0): [T0], (1, 0): [T0, U1]})
    fetchers.remove([T0, U1])
    fetchers.remove([])

    text = (folder / "server.log").read_text(encoding="utf-8")
    return [line.partition("broker 3")[2].partition(" (kafka")[0] for line in text.splitlines()]


FIRST = ", initOffset 5 to broker BrokerEndPoint(1,a,9091)] "
SECOND = ", initOffset 5 to broker BrokerEndPoint(2,b,9092)] "
ENDS = "(offset=5, leaderEpoch=7)"


@pytest.mark.parametrize(
    ("version", "reported"),
    [
        (
            "0.10.0",
            [
                "] Added fetcher for partitions "
                f"List([[t,0]{FIRST}, [[u,1]{FIRST}, [[t,0]{SECOND})",
                "] Removed fetcher for partitions [t,0],[u,1]",
                "] Removed fetcher for partitions ",
            ],
        ),
        (
            "2.0",
            [
                f"] Added fetcher for partitions List([t-0{FIRST}, [u-1{FIRST}, [t-0{SECOND})",
                "] Removed fetcher for partitions t-0,u-1",
                "] Removed fetcher for partitions ",
            ],
        ),
        (
            "2.3",
            [
                "] Added fetcher to broker BrokerEndPoint(id=1, host=a:9091) for partitions "
                f"Map(t-0 -> {ENDS}, u-1 -> {ENDS})",
                "] Added fetcher to broker BrokerEndPoint(id=2, host=b:9092) for partitions "
                f"Map(t-0 -> {ENDS})",
                "] Removed fetcher for partitions Set(t-0, u-1)",
            ],
        ),
        (
            "2.7",
            [
                f"] Added fetcher to broker 1 for partitions Map(t-0 -> {ENDS}, u-1 -> {ENDS})",
                f"] Added fetcher to broker 2 for partitions Map(t-0 -> {ENDS})",
                "] Removed fetcher for partitions Set(t-0, u-1)",
            ],
        ),
    ],
)
def test_fetchers_that_are_added_and_removed_are_logged_in_the_releases_words(
    tmp_path: Path, version: str, reported: list[str]
):
    assert lines(tmp_path, version) == reported

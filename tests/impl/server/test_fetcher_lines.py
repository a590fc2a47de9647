"""What a broker tells of its fetchers, in the words of each release."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from impl.core.fetcher_thread import FetchState, Phase
from impl.log.errors import CorruptRecord, StorageError
from impl.releases import Release
from impl.server.fetching import FetcherManager, RemoteLeader, ReplicaFetcher
from impl.server.log4j_files import Log4jFiles
from impl.wire import Fields
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


BODY = Fields(
    replica_id=3, max_wait=timedelta(milliseconds=500), min_bytes=1, max_bytes=99, session_id=0,
    session_epoch=0, forgotten_topics_data=[],
    topics=[
        Fields(topic="t", partitions=[
            Fields(partition=0, fetch_offset=5, log_start_offset=2, partition_max_bytes=7,
                   current_leader_epoch=4, leader_epoch=3),
        ]),
    ],
)  # fmt: skip
ALL = "replicaId=3, maxWait=500, minBytes=1, maxBytes=99, fetchData={t-0="
PART, EPOCH = "offset=5, logStartOffset=2, maxBytes=7", ", currentLeaderEpoch=Optional[4]"
SESSION = (
    ", isolationLevel=READ_UNCOMMITTED, toForget=, metadata=(sessionId=INVALID, epoch=INITIAL)"
)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("0.10", ["[ReplicaFetcherThread-0-1], Error in fetch (type:FetchRequest, "
                  f"{ALL}(offset=5, maxBytes=7)}})",
                  "[ReplicaFetcherThread-0-1], Error getting offset for partition [t,0] to broker "
                  "1"]),
        ("0.11", ["[ReplicaFetcherThread-0-1]: Error in fetch to broker 1, request "
                  f"(type=FetchRequest, {ALL}({PART})}})",
                  "[ReplicaFetcherThread-0-1]: Error getting offset for partition [t,0] to broker "
                  "1",
                  "[ReplicaFetcherThread-0-1]: Error when sending leader epoch request for "
                  "Map(t-0 -> 3)"]),
        ("1.1", ["Error in response for fetch request (type=FetchRequest, "
                 f"{ALL}({PART})}}{SESSION})",
                 "Error getting offset for partition t-0",
                 "Error when sending leader epoch request for Map(t-0 -> 3)"]),
        ("2.3", ["Error in response for fetch request (type=FetchRequest, "
                 f"{ALL}(fetchO{PART[1:]}{EPOCH})}}{SESSION}, rackId=)",
                 "Error getting offset for partition t-0",
                 "Error when sending leader epoch request for Map(t-0 -> "
                 "(currentLeaderEpoch=Optional[4], leaderEpoch=3))"]),
    ],
)  # fmt: skip
def test_a_leader_that_does_not_answer_is_reported_with_what_was_asked(
    tmp_path: Path, version: str, said: list[str]
):
    files = Log4jFiles(tmp_path, 3, Release.of(version))
    manager = SimpleNamespace(release=files.release, files=files)
    remote = SimpleNamespace(manager=manager, leader=1, fetcher=0, trouble="")
    remote.log_line = lambda *given, **named: RemoteLeader.log_line(
        cast(Any, remote), *given, **named
    )
    asked = ["Fetch", "Fetch", "ListOffsets", "OffsetForLeaderEpoch"]
    for api in asked[: len(said) + 1]:
        RemoteLeader._tell_of_no_answer(cast(Any, remote), api, BODY, [T0])

    head = "" if files.old else "[ReplicaFetcher replicaId=3, leaderId=1, fetcherId=0] "
    found = (tmp_path / "server.log").read_text(encoding="utf-8").splitlines()
    logged = [one.partition("] ")[2].split(" ", 1)[1].partition(" (kafka")[0] for one in found[::2]]
    assert logged == [head + one for one in said]
    assert {*found[1::2]} == {
        "java.io.IOException: Connection to 1 was disconnected before the response was read"
    }


@pytest.mark.parametrize(
    ("version", "corrupt", "stored"),
    [
        ("0.11", "invalid messages during fetch for partition [t,0] offset 5 error byte 0: no",
         "due to "),
        ("1.0", "invalid messages during fetch for partition t-0 offset 5 error byte 0: no",
         "while processing data for partition t-0"),
        ("1.1", "invalid messages during fetch for partition t-0 offset 5",
         "while processing data for partition t-0"),
        ("2.3", "invalid messages during fetch for partition t-0 offset 5",
         "while processing data for partition t-0 at offset 5"),
    ],
)  # fmt: skip
def test_records_that_cannot_be_appended_are_reported_with_why(
    tmp_path: Path, version: str, corrupt: str, stored: str
):
    files = Log4jFiles(tmp_path, 3, Release.of(version))
    manager = SimpleNamespace(release=files.release, files=files, traced=lambda event: None)
    thread = cast(Any, SimpleNamespace(manager=manager, who=(1, 0)))
    ReplicaFetcher.append_failed(thread, T0, CorruptRecord(0, "no"), 5)
    ReplicaFetcher.append_failed(thread, T0, StorageError("/d", "", "no"), 5)

    text = (tmp_path / "server.log").read_text(encoding="utf-8")
    assert f"Found {corrupt} (kafka" in text
    assert f"Error {stored} (kafka" in text

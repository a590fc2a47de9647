"""The tour: everything that may befall a cluster of three brokers, and no acknowledged record lost.

On a real ZooKeeper, with real processes that are killed and stopped, while records are sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import Result

from impl.server.cluster import Cluster
from tests.cli.clusters import (
    SETTINGS,
    SenderThread,
    answer,
    done,
    eventually,
    isrs,
    need_real_zookeeper,
    typed,
)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    found = tmp_path / "cluster"
    yield found
    if (found / "cluster.json").exists():
        Cluster(found).stop(10)
        assert not Cluster(found).running()


class Toured(NamedTuple):
    """What a tour left: how many were acknowledged, which of them are lost, the logs' verdict."""

    acknowledged: int
    lost: list[bytes]
    judged: Result


def tour(folder: Path, kind: str, version: str) -> Toured:
    """A cluster lives through kills, moves, pauses and a deletion, while a producer is at work."""
    done(f"cluster start {folder} --brokers 3 --version {version} --zookeeper {kind} {SETTINGS} "
         "--set delete.topic.enable=true")  # fmt: skip
    for topic in ("orders", "doomed"):
        done(f"topics --create --zookeeper {folder} --topic {topic} "
             "--replica-assignment 1:2:3,2:3:1,3:1:2")  # fmt: skip
    sender = SenderThread(Cluster(folder), "orders")
    sender.start()
    try:
        kill_the_controller(folder)
        reassign(folder, "bootstrap-server" if version == "2.7" else "zookeeper")
        pause_a_leader_past_its_session(folder)
        delete_with_a_dead_broker(folder)
    finally:
        sender.end()
    before = len(sender.acknowledged)
    done(f"cluster stop {folder}")
    done(f"cluster start {folder}")

    read = answer(f"consume --bootstrap-server {folder} --topic orders --from-beginning "
                  "--timeout-ms 1000")  # fmt: skip
    done(f"cluster stop {folder}")
    judged = typed(f"check {folder / 'logs'} --version {version} --engine local")

    found = {record["value"].encode() for record in read["records"]}
    return Toured(before, [one for one in sender.acknowledged if one not in found], judged)


def ends_well(ended: Toured) -> bool:
    """Enough was sent at every stop of the tour, and the logs tell a run of the protocol."""
    result = ended.judged
    return ended.acknowledged > 20 and result.exit_code == 0 and "0 rejected" in result.output


def kill_the_controller(folder: Path) -> None:
    first = answer(f"cluster status {folder}")["controller"]
    done(f"cluster kill {folder} {first}")

    def another_is() -> bool:
        return answer(f"cluster status {folder}")["controller"] not in (None, first)

    eventually(another_is, "another controller")
    eventually(lambda: all(first not in isr for _, isr in isrs(folder, "orders")), "a smaller ISR")
    done(f"cluster start {folder} {first}")
    all_in_sync(folder)


def all_in_sync(folder: Path) -> None:
    """Partition 0 has two replicas at last: with one in sync, that one would stay in the ISR."""

    def they_are() -> bool:
        (_, first), *others = isrs(folder, "orders")
        return len(first) >= 2 and all(len(isr) >= 3 for _, isr in others)

    eventually(they_are, "every replica in sync")


def reassign(folder: Path, by: str) -> None:
    plan = folder / "plan.json"
    moved = {"topic": "orders", "partition": 0, "replicas": [3, 2]}
    plan.write_text(json.dumps({"version": 1, "partitions": [moved]}))
    done(f"reassign --execute --{by} {folder} --reassignment-json-file {plan}")

    def verified() -> bool:
        result = done(f"reassign --verify --{by} {folder} --reassignment-json-file {plan}")
        return "completed successfully" in result or "is complete" in result

    eventually(verified, "the move done")
    assert isrs(folder, "orders")[0] in ((3, {2, 3}), (2, {2, 3}))


def pause_a_leader_past_its_session(folder: Path) -> None:
    leader = isrs(folder, "orders")[1][0]
    done(f"cluster pause {folder} {leader}")
    eventually(lambda: isrs(folder, "orders")[1][0] != leader, "another leader")
    done(f"cluster resume {folder} {leader}")
    all_in_sync(folder)


def delete_with_a_dead_broker(folder: Path) -> None:
    done(f"cluster kill {folder} 3")
    eventually(lambda: all(3 not in isr for _, isr in isrs(folder, "orders")), "3 out of sync")
    done(f"topics --delete --zookeeper {folder} --topic doomed")
    gone = [folder / f"broker{number}" / "data" / "doomed-0" for number in (1, 2)]
    eventually(lambda: not any(path.exists() for path in gone), "the copies that can go")
    listed = done(f"topics --list --zookeeper {folder}")

    done(f"cluster start {folder} 3")
    eventually(
        lambda: "doomed" not in done(f"topics --list --zookeeper {folder}"), "the topic gone"
    )
    all_in_sync(folder)

    assert listed.splitlines() == ["doomed - marked for deletion", "orders"]
    assert not (folder / "broker3" / "data" / "doomed-0").exists()


def test_no_acknowledged_record_is_lost_on_the_tour(folder: Path):
    need_real_zookeeper()

    ended = tour(folder, "real", "2.3")

    assert ended.lost == []
    assert ends_well(ended), ended.judged.output


@pytest.mark.deep  # each takes half a minute, for the most part of waiting
@pytest.mark.parametrize("version", ["0.10", "0.11", "1.1", "2.0", "2.1", "2.3", "2.4", "2.7"])
def test_the_tour_ends_well_in_every_release(folder: Path, version: str):
    ended = tour(folder, "embedded", version)

    assert ended.lost == []
    assert ends_well(ended), ended.judged.output

from __future__ import annotations

import pytest

from impl.admin.configs import (
    FOLLOWER_RATE,
    FOLLOWERS,
    LEADER_RATE,
    LEADERS,
    MOVE_RATE,
    edit_config,
)
from impl.releases import Release
from impl.server.dynamic_configs import DynamicConfigs
from impl.server.properties import parse_properties
from impl.server.quotas import Quotas, ReplicationQuota
from impl.znodes import TopicPartition, paths
from impl.znodes.client import ZnodeClient
from impl.zookeeper.port import wait
from tests.impl.server.test_admin import client

PROPERTIES = parse_properties("p", "zookeeper.connect=h:1\nlog.dirs=a\n", Release.of("2.3"))
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def quotas() -> tuple[Quotas, list[str]]:
    trouble: list[str] = []
    return Quotas(PROPERTIES, trouble.append), trouble


def read_rates(quotas: Quotas, known: ZnodeClient, broker: int) -> None:
    dynamic = DynamicConfigs(PROPERTIES, PROPERTIES.log, quotas.trouble)
    dynamic.read(known, broker)
    quotas.set_rates(dynamic.overrides)


def test_a_rate_is_measured_over_the_seconds_that_are_kept():
    now = [100.0]
    quota = ReplicationQuota(windows=3, clock=lambda: now[0])
    quota.bound = 500

    quota.record(1000)
    at_once = quota.rate, quota.exceeded
    now[0] += 2.0
    after_two = quota.rate, quota.exceeded
    quota.record(1000)
    again = quota.rate
    now[0] += 1.0
    oldest_gone = quota.rate
    now[0] += 3.0

    assert at_once == (1000.0, True)
    assert after_two == (500.0, False)  # as much as is allowed is not too much
    assert again == 1000.0
    assert oldest_gone == 1000.0
    assert quota.rate == 0.0


def test_without_a_bound_nothing_is_held_back():
    quota = ReplicationQuota()

    quota.record(10**12)

    assert not quota.exceeded


def test_rates_are_read_for_the_broker_and_for_every_broker_and_go_when_they_are_unset():
    known, (found, trouble) = client({1: None, 2: None}), quotas()
    edit_config(known, "brokers", "<default>", {LEADER_RATE: "5", MOVE_RATE: "7"})
    edit_config(known, "brokers", "1", {LEADER_RATE: "100", FOLLOWER_RATE: "200"})

    read_rates(found, known, 1)
    mine = found.leader.bound, found.follower.bound, found.moves.bound
    read_rates(found, known, 2)
    others = found.leader.bound, found.follower.bound, found.moves.bound
    edit_config(known, "brokers", "<default>", {LEADER_RATE: None, MOVE_RATE: None})
    read_rates(found, known, 2)

    assert mine == (100, 200, 7)
    assert others == (5, None, 7)
    assert (found.leader.bound, found.moves.bound) == (None, None)
    assert trouble == []


def test_replicas_are_throttled_that_the_topic_names_for_this_broker():
    found, trouble = quotas()

    found.mark("t", {LEADERS: "0:1, 1:2", FOLLOWERS: "*"}, 1)
    marked = [quota.is_throttled(one) for quota in (found.leader, found.follower)
              for one in (T0, T1)]  # fmt: skip
    found.mark("t", {}, 1)

    assert marked == [True, False, True, True]
    assert not any(quota.is_throttled(T0) for quota in (found.leader, found.follower))
    assert trouble == []


@pytest.mark.parametrize("text", ["0", "0:1:2", "a:1", "0:1;1:1"])
def test_throttled_replicas_that_cannot_be_read_are_named(text: str):
    found, trouble = quotas()

    found.mark("t", {LEADERS: text}, 1)

    assert not found.leader.is_throttled(T0)
    assert trouble == [
        f"topic t: throttled replicas are written as 0:1,1:2 or *, not {text!r}"
    ]  # fmt: skip


def test_rates_that_cannot_be_read_are_named_and_the_others_hold():
    known, (found, trouble) = client({1: None}), quotas()
    edit_config(known, "brokers", "1", {LEADER_RATE: "much", FOLLOWER_RATE: "3"})

    dynamic = DynamicConfigs(PROPERTIES, PROPERTIES.log, trouble.append)
    dynamic.read(known, 1)
    found.set_rates(dynamic.overrides)
    wait(known.port.set_data(paths.config("brokers", "1"), "{"))
    dynamic.read(known, 1)
    found.set_rates(dynamic.overrides)

    assert (found.leader.bound, found.follower.bound) == (None, 3)
    assert (
        trouble[0] == f"{LEADER_RATE} is a number of bytes a second, not 'much'; there is no limit"
    )
    assert trouble[1].startswith("/config/brokers/1: ")

"""A broker that says something else of itself: everybody hears of other endpoints, and once."""

from __future__ import annotations

import pytest

from conformance.vectors.implementation.stage import NOW_MS
from impl.core.broker_changes import ShutdownRefused
from impl.core.requests import UpdateMetadata
from impl.znodes import BrokerInfo, encode_broker, paths
from impl.zookeeper.port import wait
from tests.impl.controller.controlled import ControlledCluster


def says(stage: ControlledCluster, broker: int, host: str, jmx: int = -1) -> None:
    text = encode_broker(BrokerInfo((f"PLAINTEXT://{host}:9092",), NOW_MS, jmx), 4)
    wait(stage.admin.port.set_data(paths.broker(broker), text))


@pytest.mark.parametrize("release", ["1.1", "2.3", "2.7"])
def test_other_endpoints_are_sent_to_every_broker(release: str) -> None:
    stage = ControlledCluster(release)

    says(stage, 2, "elsewhere")
    stage.handle()
    first = stage.take_sent()
    says(stage, 2, "farther")
    stage.handle()
    second = stage.take_sent()

    for sent in (first, second):
        assert [broker for broker, _ in sent] == [1, 2, 3]
        assert all(isinstance(request, UpdateMetadata) for _, request in sent)
    assert stage.elected.core.context.broker_infos[2].endpoints == ("PLAINTEXT://farther:9092",)


@pytest.mark.parametrize(("release", "host"), [("2.3", "b2"), ("0.11", "elsewhere")])
def test_what_is_no_endpoint_is_not_sent_and_up_to_1_0_nobody_looks(
    release: str, host: str
) -> None:
    stage = ControlledCluster(release)

    says(stage, 2, host, jmx=7)
    stage.handle()

    assert stage.take_sent() == []


def test_a_broker_that_comes_back_elsewhere_is_a_matter_of_its_registration() -> None:
    stage = ControlledCluster()

    stage.stop_broker(2)
    stage.start_broker(2)
    says(stage, 2, "elsewhere")
    stage.handle()

    assert stage.elected.core.context.broker_infos[2].endpoints == ("PLAINTEXT://elsewhere:9092",)


def test_other_endpoints_are_sent_though_brokers_came_and_went_meanwhile() -> None:
    """What a BrokerChange reads of those who stayed is not taken for known (KIP-226)."""
    stage = ControlledCluster()

    says(stage, 2, "elsewhere")
    stage.stop_broker(3)
    wait(stage.elected.guarded(stage.elected.brokers.changed))
    stage.take_sent()
    stage.handle()

    reported = [
        broker for broker, request in stage.take_sent() if isinstance(request, UpdateMetadata)
    ]
    assert reported == [1, 2]


def test_who_is_taken_for_dead_is_not_watched_before_the_controller_has_seen_it_start() -> None:
    """Its handler goes with the failure, and comes with the start (unregisterBrokerModifications-
    Handler): an event that still waits reads without a watch."""
    stage = ControlledCluster()
    says(stage, 2, "elsewhere")
    stage.stop_broker(2)
    wait(stage.elected.guarded(stage.elected.brokers.changed))

    stage.start_broker(2)
    wait(stage.elected.guarded(lambda: stage.elected.brokers.modified(2)))
    unseen = stage.zookeeper.watches.data.get(paths.broker(2))
    wait(stage.elected.guarded(stage.elected.brokers.changed))

    assert unseen is None
    assert stage.zookeeper.watches.data[paths.broker(2)]


def test_a_registration_that_is_over_cannot_shut_its_broker_down() -> None:
    controller = ControlledCluster().elected
    known = controller.core.context.broker_epochs[2]

    with pytest.raises(ShutdownRefused, match=f"an old broker epoch {known - 1} for broker 2"):
        wait(controller.brokers.shut_down(2, known - 1))
    wait(controller.brokers.shut_down(2, known))

    assert controller.core.context.shutting_down == {2}

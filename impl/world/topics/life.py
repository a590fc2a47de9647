"""One topic by its name, under controllers that are stepped batch by batch (`grain`).

The controllers are those of a running broker. Processes crash, sessions end, `/controller` is
deleted, replies and requests are lost, disks fail, leaders write first, brokers ask to go.
Source: fact sheet b.3 to b.6, c, d, e, f.2, i, k.1 to k.3.
"""

from __future__ import annotations

from impl.world.topics.admin import Administrators
from impl.world.topics.brokers import Brokers
from impl.world.topics.controllers import Controllers
from impl.world.topics.faults import Faults
from impl.world.topics.world import TOPIC, RequestInFlight

__all__ = ["TOPIC", "RequestInFlight", "TopicLife"]


class TopicLife(Faults, Brokers, Controllers, Administrators):
    """Brokers 1..N and a topic that may come to have ``partitions``; as of a release since 2.3."""

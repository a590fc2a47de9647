"""A cluster whose controllers a grain suspends: every event, request and fault is a step.

The controllers and the brokers are those that serve clients (`impl.core`), over logs of numbered
records. A grain says how finely a run is seen: batch by batch in the life of a topic (`BATCHES`),
write by write where a partition moves (`WRITES`), or by registrations and by what the winners write
(`ELECTIONS`). Source: fact sheet b to k.
"""

from __future__ import annotations

from impl.world.processes import PROCESSES
from impl.world.stepped import admin, controllers, elections, faults, moves, records, requests
from impl.world.stepped.batches import BATCHES
from impl.world.stepped.controller_run import FIRST, TOPIC
from impl.world.stepped.elections import ELECTIONS
from impl.world.stepped.state import SteppedState
from impl.world.stepped.writes import WRITES

__all__ = ["BATCHES", "ELECTIONS", "FIRST", "TOPIC", "WRITES", "SteppedCluster"]

STEPPED = (admin, controllers, elections, faults, moves, records, requests)


class SteppedCluster(SteppedState):
    """Brokers 1..N, the topic t with its partitions, and for moves another topic of one."""

    all_kinds = {one.name: one for part in STEPPED for one in part.KINDS} | PROCESSES

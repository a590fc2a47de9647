"""The systems of the project, by the name that commands use.

A step is called by what happens in Kafka, in each system that has it. Where the state is kept
alike it is one function (`model/protocol`). Some thirty names stand in several systems with texts
of their own, because each system keeps another part of Kafka's state: a LeaderAndIsr is the head of
a connection in `cluster`, and one for each leader epoch in `replication`; an ISR is written and
answered in one step in `reassignment`, and in several in `replication`. Conditions and writes that
are the same in all of them are functions of `model/protocol`, which the texts call.

One name says less than it might: in `election` a controller that resigns deletes `/controller`, as
in Kafka when its event fails; in the others it has read that `/controller` is another's.
"""

from __future__ import annotations

from model.classic import SYSTEM as CLASSIC
from model.cluster import SYSTEM as CLUSTER
from model.election import SYSTEM as ELECTION
from model.language import ProtocolError, System
from model.language.errors import unknown_name
from model.reassignment import SYSTEM as REASSIGNMENT
from model.replication import SYSTEM as REPLICATION
from model.replication.history import SYSTEM as HISTORY
from model.topics import SYSTEM as TOPICS

SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (CLASSIC, ELECTION, REPLICATION, HISTORY, REASSIGNMENT, CLUSTER, TOPICS)
}


def system(name: str) -> System:
    """A system by name; an unknown name is refused with the nearest."""
    if name not in SYSTEMS:
        raise ProtocolError(unknown_name("system", name, SYSTEMS))
    return SYSTEMS[name]

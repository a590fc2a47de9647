"""The systems of the project, by the name that commands use."""

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

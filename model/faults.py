"""Faults by name, and the transitions that each of them stands for in every system.

A fault is a set of switches with values that an assumption rules out, of bounds that allow it at
least once, or both; or a system always has it, without a limit on how often it happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from model.language import ProtocolError, System
from model.language.errors import unknown_name


@dataclass(frozen=True)
class FaultSettings:
    """How a system has a fault: switches and their values, and bounds with the least for each."""

    switches: Mapping[str, object] = field(default_factory=dict)
    bounds: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class FaultClass:
    """One kind of fault, and the systems that have it, by name."""

    name: str
    about: str
    systems: Mapping[str, FaultSettings]


IN_ANY_CASE = FaultSettings()
_CRASH = FaultSettings(bounds={"crashes": 1})
_EXPIRY = FaultSettings(bounds={"expiries": 1})
_LOSS = FaultSettings(bounds={"losses": 1})
_ANY_OF_THEM = FaultSettings(bounds={"faults": 1})  # of `reassignment`, which counts them together

FAULTS: dict[str, FaultClass] = {
    fault.name: fault
    for fault in (
        FaultClass(
            "broker_crash", "a process dies, and may be started again",
            {"election": IN_ANY_CASE, "replication_history": IN_ANY_CASE, "replication": _CRASH,
             "reassignment": _CRASH, "topics": _CRASH, "cluster": _CRASH},
        ),
        FaultClass(
            "session_expiry", "ZooKeeper ends the session of a process that goes on",
            {"election": IN_ANY_CASE, "replication": _EXPIRY, "topics": _EXPIRY,
             "cluster": _EXPIRY, "reassignment": _ANY_OF_THEM},
        ),
        FaultClass(
            "message_loss", "a request or an answer is lost on its way",
            {"replication_history": IN_ANY_CASE, "replication": _LOSS, "topics": _LOSS,
             "cluster": _LOSS, "reassignment": _ANY_OF_THEM},
        ),
        FaultClass(
            "lost_fsync", "a crash takes records from the log that were never forced to disk",
            {"replication": FaultSettings({"log_survives_crash": False}, {"crashes": 1})},
        ),
        FaultClass(
            "disk_loss", "a broker comes back under its old id with an empty disk",
            {"replication": FaultSettings({"disk_lost": "by_any"}, {"crashes": 1})},
        ),
        FaultClass(
            "disk_failure", "a broker cannot delete a directory that it is instructed to delete",
            {"topics": FaultSettings(bounds={"failures": 1})},
        ),
        FaultClass(
            "log_dir_failure", "a log directory fails under a broker that has others",
            {"cluster": FaultSettings(bounds={"directories": 1})},
        ),
        FaultClass(
            "lingering_node", "ZooKeeper keeps the nodes of a session for a while after its end",
            {"cluster": FaultSettings(bounds={"lingering": 1})},
        ),
        FaultClass(
            "careless_move", "an administrator moves replicas away from a broker that is dead",
            {"topics": FaultSettings({"dead_brokers_keep_their_replicas": False}, {"moves": 1})},
        ),
    )
}  # fmt: skip
"""Every fault that a command line may name."""


def faults_of(system: System) -> list[str]:
    """The faults that a system has."""
    return [name for name, fault in FAULTS.items() if system.name in fault.systems]


def fault_settings(system: System, name: str) -> FaultSettings:
    """The switches and bounds of a fault in a system; ProtocolError for a fault that it lacks."""
    if name not in FAULTS:
        raise ProtocolError(unknown_name("fault", name, FAULTS))
    found = FAULTS[name].systems.get(system.name)
    if found is None:
        known = faults_of(system)
        has = f"the system has {', '.join(known)}" if known else "nothing goes wrong in the system"
        users = ", ".join(FAULTS[name].systems)
        raise ProtocolError(f"{name} is no fault of {system.name}, but of {users}; {has}")
    return found

"""Subgraphs of `topics` that are walked completely, one family of faults each.

The graph of two controllers, a crash and an expired session has millions of edges. Each family
leaves out what its fault cannot interfere with: a family about deletions under failover does not
need the topic to be created again and again.
"""

from __future__ import annotations

from conformance.mapping.rows import Family
from impl.sim.simulation import Step


def _steps(text: str) -> tuple[Step, ...]:
    """Steps, each a name with its arguments; `;` parts them."""
    words = [part.split() for part in text.split(";")]
    return tuple(Step(name, tuple(map(int, arguments))) for name, *arguments in words)


def _elected(broker: int) -> str:
    return f"broker_runs_for_controller {broker}" + 4 * f"; controller_continues_event {broker}"


def _led(broker: int, replicas: str = "1 2") -> str:
    """A topic that is created under a controller, and that its brokers host."""
    ids = replicas.split()
    lists = " ".join((*ids, *["0"] * (3 - len(ids))))
    created = f"admin_creates_topic {lists} 1; controller_handles_topic_change {broker}"
    orders = "; ".join(f"leader_and_isr_arrives {one} 1" for one in ids)
    return f"{_elected(broker)}; {created}{4 * f'; controller_continues_event {broker}'}; {orders}"


_CREATED = ("admin_creates_topic",)
_ONCE = _steps(_led(1))

FAMILIES: dict[str, Family] = {
    "growing": Family("a topic gets a partition more", {"brokers": 1, "partitions": 2}),
    "disk": Family("a disk that cannot delete a directory", {"failures": 1}, _ONCE, _CREATED),
    "preferred": Family("an election of a preferred replica", {"elections": 1}, _ONCE, _CREATED),
    "shutdown": Family(  # in 1.1 and 2.0 who goes got no request (KAFKA-7482): `cluster` has that
        "a broker that asks to go", {"shutdowns": 1}, _ONCE, _CREATED, since="2.1"
    ),
    "returning": Family(
        "a process that crashes, a session that expires: who failed may be back at once",
        {"crashes": 1, "expiries": 1},
        _ONCE,
        _CREATED,
    ),
    "lost reply": Family(
        "a winner that must look for itself in ZooKeeper, and may find another",
        {"losses": 1, "expiries": 1, "controllers": 2},
        without=_CREATED,
    ),
    "deposed": Family(
        "a controller that is deposed, and does not know it, while a topic of another is deleted",
        {"expiries": 1, "controllers": 2},
        _steps(_led(1, "2")),
        (*_CREATED, "session_expires"),
        since="2.0",  # in 1.1 two that delete one topic at once read its nodes in other orders
    ),
    "conflict": Family(
        "a leader writes the ISR before the controller does",
        {"brokers": 3, "expiries": 2, "conflicts": 1},
        _steps(
            f"{_led(3)}; session_expires 2; broker_failure_is_handled 3 2; "
            "controller_continues_event 3; controller_continues_event 3; broker_reconnects 2; "
            "broker_startup_is_handled 3 2; controller_continues_event 3; "
            "leader_and_isr_arrives 1 1; leader_and_isr_arrives 2 1"
        ),
        (*_CREATED, "admin_deletes_topic", "controller_node_is_deleted"),
    ),
}
"""Together they have every transition that can be driven."""

LARGE: dict[str, Family] = {
    "none": Family("a topic's life where nothing fails", {}),
    "disks": Family("a disk that fails, from a topic to its successor", {"failures": 1}),
    "elections": Family("the same, and a preferred replica is elected", {"elections": 1}),
    "shutdowns": Family("the same, and a broker asks to go", {"shutdowns": 1}, since="2.1"),
    "crashes": Family("the same, and a process crashes while its session lives", {"crashes": 1}),
    "restart": Family(
        "one broker, controller of its own topic, that crashes and starts",
        {"brokers": 1, "crashes": 1, "expiries": 1, "controllers": 2},
    ),
    "failing": Family(
        "a crash, an expired session and a disk that fails, while a topic is deleted",
        {"crashes": 1, "expiries": 1, "failures": 1},
        _ONCE,
        _CREATED,
    ),
    "expiry": Family("a session that expires, from a topic to its successor", {"expiries": 1}),
    "failover": Family(
        "another controller while a topic is created, and a reply that is lost",
        {"losses": 1, "expiries": 1, "controllers": 2},
        without=("admin_deletes_topic",),
    ),
    "two deleters": Family(
        "a topic of both brokers is deleted under two controllers, in any order of their steps",
        {"expiries": 1, "controllers": 2},
        _ONCE,
        _CREATED,
    ),
    "from the beginning": Family(
        "the same of a topic of one broker, before anybody is the controller",
        {"expiries": 1, "controllers": 2},
        _steps("admin_creates_topic 2 0 0 1"),
        _CREATED,
    ),
}
"""The same without what keeps them small: seconds to minutes each."""

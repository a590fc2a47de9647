"""Steps of processes, sessions, disks, brokers' timers, and refused ZooKeeper operations."""

from __future__ import annotations

import contextlib

from impl.core.broker_changes import ShutdownRefused
from impl.core.partition import NotAssignedReplica, RemoteReplica
from impl.core.replica_events import IsrShrinking
from impl.core.replica_manager import Replica
from impl.sim.simulation import Act, Arguments, Candidates, StepKind, offered
from impl.world.simulated_cluster import (
    broker_stops,
    brokers_that,
    leaders_are_rebalanced,
)
from impl.world.whole_cluster import messages
from impl.world.whole_cluster.observations import IsrChangesPropagated, IsrsShrunk, ShutdownAnswered
from impl.world.whole_cluster.whole_cluster import WholeCluster
from impl.zookeeper.errors import SessionExpired, ZooKeeperError
from impl.zookeeper.port import wait

BROKER = "broker"
MOST_DENIED = 13
"""The operation that is refused is one of the first so many."""
MOST_BEFORE = 6, 5
"""The operations before the one that is overtaken: a product of two numbers up to these, so
that most are few."""


def power_fails(world: WholeCluster, broker: int) -> None:
    """Its machine loses power: what was not synced to disk may be lost, or torn."""
    world.crash(broker, power=True)


def _with_disk_to_lose(world: WholeCluster) -> Arguments:
    nodes = world.nodes.items()
    return [(number,) for number, node in nodes if not node.up and node.disk.changes]


def disk_is_lost(world: WholeCluster, broker: int) -> None:
    """A broker that is down comes back with an empty disk."""
    world.nodes[broker].fresh_disk()


def _failing(world: WholeCluster) -> Arguments:
    """One of several log directories, of which one is left."""
    return [
        (number, at)
        for number, node in world.running()
        if world.release.since("1.0") and not node.disk.failing
        for at in range(len(node.folders) * (len(node.folders) > 1))
    ]


def log_directory_fails(world: WholeCluster, broker: int, directory: int) -> None:
    """Every use of it fails from now on; the next use notices the failure (KIP-112)."""
    node = world.nodes[broker]
    node.disk.failing.add(node.folders[directory])


def _runs(world: WholeCluster) -> Arguments:
    return [(number,) for number, _ in world.running()]


def broker_pauses(world: WholeCluster, broker: int) -> None:
    """A long GC pause: the process does nothing, and its session may expire."""
    world.nodes[broker].paused = True


def broker_resumes(world: WholeCluster, broker: int) -> None:
    """A paused broker resumes, with its beliefs unchanged."""
    world.nodes[broker].paused = False


def _active(world: WholeCluster) -> int | None:
    """The broker that is running and believes that it is controller, if there is one."""
    return next((number for number, node in world.running() if node.controller.active), None)


def _leaving(world: WholeCluster) -> Arguments:
    active = _active(world)
    return [] if active is None or len(world.running()) < 2 else _runs(world)


def broker_shuts_down(world: WholeCluster, broker: int) -> None:
    """Controlled shutdown: its leaders move first, then its process and session end."""
    active = _active(world)
    assert active is not None, "somebody is the controller"
    controller = world.nodes[active].controller

    async def go() -> None:
        left = await controller.brokers.shut_down(broker, world.nodes[broker].epoch)
        known = {one: controller.core.context.replicas(one) for one in left}
        world.happened.append((active, ShutdownAnswered(known)))

    with contextlib.suppress(ShutdownRefused, SessionExpired, ZooKeeperError):
        # If the controller has not heard of the broker yet it goes all the same.
        wait(controller.guarded(go))
    world.nodes[active].events.close_channels()
    world.nodes[broker].logs.stop()
    broker_stops(world, broker)


# By the clock


def hw_is_checkpointed(world: WholeCluster, broker: int) -> None:
    """``replication-offset-checkpoint``, every 5 s in Kafka."""
    world.nodes[broker].logs.checkpoint_high_watermarks()


def logs_are_kept_small(world: WholeCluster, broker: int) -> None:
    """Rolled segments are flushed, old ones deleted, and files that are due removed."""
    logs = world.nodes[broker].logs
    logs.flush_rolled()
    logs.apply_retention()
    logs.remove_due()
    logs.checkpoint()


def with_lagging(world: WholeCluster) -> Arguments:
    """Leaders with a lagging ISR member."""
    now = world.now_ms()
    return [
        (number,)
        for number, node in world.running()
        if node.alive and any(late_members(one, now) for one in node.replicas.leading())
    ]


def late_members(leader: Replica, now_ms: int) -> list[int]:
    """The ISR members that have not been caught up for too long; since 2.1 not those that have all
    records. None if a member's state is unknown (see ``leader_shrinks_isrs``)."""
    members, known = [one for one in leader.isr if one != leader.broker], leader.remotes
    release = leader.release
    if release.since("2.4") and not known.keys() >= {*members}:
        return []
    return [
        one
        for one in members
        if (its := known.get(one, RemoteReplica())) and now_ms - its.last_caught_up > leader.lag_ms
        and not (release.since("2.1") and its.end == leader.log_end)
    ]  # fmt: skip


def leader_shrinks_isrs(world: WholeCluster, broker: int) -> None:
    """Members that lag for too long leave its ISRs (``maybeShrinkIsr``). The change is announced
    later, once it has settled.

    From 2.4 to 2.8 the task ends at a member that is no replica, and runs again (KAFKA-9672).
    """
    replicas, now, before = world.nodes[broker].replicas, world.now_ms(), len(world.happened)
    late = {
        one.partition: members
        for one in replicas.leading()
        if one.pending is None and (members := late_members(one, now))
    }
    with contextlib.suppress(NotAssignedReplica):
        wait(replicas.maybe_shrink_isrs(now))
        said = {
            its.partition: [member for member, _ in its.late]
            for one, its in world.happened[before:]
            if one == broker and isinstance(its, IsrShrinking)
        }
        world.happened.append((broker, IsrsShrunk(late, said)))
    if not replicas.has_isr_changes_to_propagate(now):
        changed = {*replicas.isr_changes}
        wait(replicas.maybe_propagate_isr_changes(now))
        announced = IsrChangesPropagated(changed, {*replicas.isr_changes})
        world.happened.append((broker, announced))


def with_news(world: WholeCluster) -> Arguments:
    """Leaders with changed ISRs of which the controller has not been notified."""
    now = world.now_ms()
    return [
        (number,)
        for number, node in world.running()
        if node.alive and node.replicas.has_isr_changes_to_propagate(now)
    ]


def isr_changes_are_propagated(world: WholeCluster, broker: int) -> None:
    """Changed ISRs are announced to the controller through ZooKeeper."""
    replicas = world.nodes[broker].replicas
    kept = {*replicas.isr_changes}
    try:
        wait(replicas.maybe_propagate_isr_changes(world.now_ms()))
        kept.clear()
    finally:
        world.happened.append((broker, IsrChangesPropagated(kept, {*replicas.isr_changes})))


def _denied(name: str, candidates: Candidates, act: Act, fault: str) -> StepKind:
    """The step, with one of its operations refused by ZooKeeper for an ACL, if it has so many.

    What Kafka does then depends on where it happens: an event of the controller fails, a controller
    that has just been elected lets another one try, one partition of several is left as it was, an
    ISR is written later. What an event would have done is lost with it, watches that it would have
    left included: in the end such a broker is started again.
    """

    def is_refused(world: WholeCluster, broker: int) -> None:
        node = world.nodes[broker]
        world.moves += 1
        node.session.deny(world.moves % MOST_DENIED)
        with contextlib.suppress(ZooKeeperError):  # a task of the scheduler fails, and comes again
            act(world, broker)
        was_refused = not node.session.faults
        node.session.faults.clear()
        node.was_denied = node.was_denied or was_refused

    return offered(name, "broker", candidates, is_refused, 0, fault)


def happens_meanwhile(world: WholeCluster, broker: int, other: int) -> None:
    """Steps that may happen in the middle of a broker's work: its session or another one expires;
    another leader drops lagging ISR members; another controller handles its next event."""
    if other == broker or world.moves % 3 == 0:
        world.expire(other)
    elif (other,) in with_lagging(world):
        leader_shrinks_isrs(world, other)
    elif (other,) in messages.with_events(world):
        messages.event_is_handled(world, other)


def _overtaken(name: str, candidates: Candidates, act: Act) -> StepKind:
    """The step, and before one of its operations arrives at ZooKeeper, if it has so many, something
    else (``happens_meanwhile``)."""

    def pairs(world: WholeCluster) -> Arguments:
        return [(one, other) for (one,) in candidates(world) for other in world.nodes]

    def is_overtaken(world: WholeCluster, broker: int, other: int) -> None:
        session = world.nodes[broker].session
        world.moves += 1
        one, two = (world.moves % (most + 1) for most in MOST_BEFORE)
        session.overtake(one * two, lambda: happens_meanwhile(world, broker, other))
        act(world, broker)
        session.faults.clear()

    return offered(name, "broker other", pairs, is_overtaken, 0, "races")


KINDS = (
    offered("power_fails", BROKER, brokers_that(lambda one: one.up), power_fails, 0, "power"),
    offered(
        "disk_is_lost",
        BROKER,
        _with_disk_to_lose,
        disk_is_lost,
        0,
        "disks",
    ),
    offered(
        "log_directory_fails", "broker directory", _failing, log_directory_fails, 0, "directories"
    ),
    offered("broker_pauses", BROKER, _runs, broker_pauses, 0, "pauses"),
    offered(
        "broker_resumes",
        BROKER,
        brokers_that(lambda one: one.up and one.paused),
        broker_resumes,
        20,
    ),
    offered("broker_shuts_down", BROKER, _leaving, broker_shuts_down, 0, "shutdowns"),
    offered("hw_is_checkpointed", BROKER, _runs, hw_is_checkpointed, 4),
    offered("logs_are_kept_small", BROKER, _runs, logs_are_kept_small, 2),
    offered("leader_shrinks_isrs", BROKER, with_lagging, leader_shrinks_isrs, 60),
    offered("isr_changes_are_propagated", BROKER, with_news, isr_changes_are_propagated, 60),
    offered(
        "leaders_are_rebalanced", BROKER,
        brokers_that(lambda one: one.running and one.alive and one.has_begun),
        leaders_are_rebalanced, 4,
    ),
    _denied("event_is_denied", messages.with_events, messages.event_is_handled, "denials"),
    _denied("isr_write_is_denied", with_lagging, leader_shrinks_isrs, "isr_denials"),
    _denied("isr_news_are_denied", with_news, isr_changes_are_propagated, "isr_denials"),
    _overtaken("event_is_overtaken", messages.with_events, messages.event_is_handled),
    _overtaken("isr_write_is_overtaken", with_lagging, leader_shrinks_isrs),
)  # fmt: skip

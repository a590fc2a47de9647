"""Steps of leaders and followers: appends, fetches, and ISR changes."""

from __future__ import annotations

from dataclasses import replace

from impl.sim.simulation import Arguments, refusable
from impl.world.processes import each_broker
from impl.world.stepped.controller_run import FIRST, TOPIC, is_to_write
from impl.world.stepped.requests import lost_response_unmet
from impl.world.stepped.stepped_cluster import SteppedCluster, Unmet, each_two
from impl.znodes import LeaderIsrAndControllerEpoch, paths
from impl.znodes.states import encode_state
from impl.zookeeper.port import wait

MOST_ROUNDS = 8
"""Fetches of a follower until it has everything: it cuts, it fetches, and that is noted."""


def each_member(world: SteppedCluster) -> Arguments:
    """(leader, replica, partition), for each broker that believes that it leads."""
    for leader in world.brokers:
        led = [number for number in world.partitions if world.role(leader, number) == "leader"]
        for replica in world.brokers if led else ():
            yield from ((leader, replica, number) for number in led)


def each_member_and_controller(world: SteppedCluster) -> Arguments:
    """(leader, replica, partition, broker)."""
    return ((*one, broker) for one in each_member(world) for broker in world.brokers)


# Records


def _leader_appends_unmet(world: SteppedCluster, leader: int) -> Unmet:
    if world.role(leader) != "leader":
        return "the broker believes it leads"
    return lost_response_unmet(world, leader)


def leader_appends(world: SteppedCluster, leader: int) -> None:
    """A producer's record is appended, which no follower has yet."""
    world.replica(leader).produce(world.next_record)
    world.next_record += 1


def _fetch_unmet(world: SteppedCluster, leader: int, follower: int) -> Unmet:
    if world.role(leader) != "leader":
        return "the broker believes it leads"
    if world.role(follower) != "follower":
        return "the replica follows"
    unmet = lost_response_unmet(world, leader)
    if unmet is not None:
        return unmet
    mine, theirs = world.replica(leader), world.replica(follower)
    if theirs.leader != leader:
        return "it follows this leader"
    if theirs.leader_epoch != mine.leader_epoch:
        return "both are in the same epoch"
    return None if follower in mine.replicas else "the leader knows it as a replica"


def _follower_catches_up_unmet(world: SteppedCluster, leader: int, follower: int) -> Unmet:
    unmet = _fetch_unmet(world, leader, follower)
    if unmet is not None:
        return unmet
    mine, theirs = world.replica(leader), world.replica(follower)
    same = theirs.has_log_of(mine)
    return "it lacks records, or credit" if same and mine.knows_caught_up(follower) else None


def follower_catches_up(world: SteppedCluster, leader: int, follower: int) -> None:
    """A follower fetches until it has all of its leader's records, and the leader knows it."""
    mine, theirs = world.replica(leader), world.replica(follower)
    for _ in range(MOST_ROUNDS):
        world.hosts[follower].fetch(FIRST, world.hosts[leader].replicas, 0)
        if theirs.has_log_of(mine) and mine.knows_caught_up(follower):
            break


# The ISR, by a leader that knows what it registered last


def _leads_with_session(world: SteppedCluster, leader: int) -> Unmet:
    if world.role(leader) != "leader":
        return "the broker believes it leads"
    if not world.has_session(leader):
        return "it has a ZooKeeper session"
    return lost_response_unmet(world, leader)


def _leader_expands_isr_unmet(world: SteppedCluster, leader: int, replica: int) -> Unmet:
    unmet = _leads_with_session(world, leader)
    if unmet is not None:
        return unmet
    mine = world.replica(leader)
    if replica in mine.isr:
        return "the replica is not in the leader's ISR"
    unmet = _fetch_unmet(world, leader, replica)
    if unmet is not None:
        return unmet
    same = world.replica(replica).has_log_of(mine)
    return None if same else "its log is the leader's"


def leader_expands_isr(world: SteppedCluster, leader: int, replica: int) -> None:
    """A replica that has all records fetches again: its leader writes the larger ISR."""
    world.hosts[replica].fetch(FIRST, world.hosts[leader].replicas, 0)
    world.replica(leader).write_isr(replica, joins=True)


def _leader_shrinks_isr_unmet(world: SteppedCluster, leader: int, replica: int) -> Unmet:
    unmet = _leads_with_session(world, leader)
    if unmet is not None:
        return unmet
    lags = replica in world.replica(leader).out_of_sync_replicas()
    return None if lags else "the replica is in the leader's ISR, and lags"


def leader_shrinks_isr(world: SteppedCluster, leader: int, replica: int) -> None:
    """The leader checks its ISR and writes the smaller one, unless the check throws."""
    if world.replica(leader).isr_member_without_replica is None:
        world.replica(leader).write_isr(replica, joins=False)


# Answers that are lost: what was written is done, and the leader sends it again


def _version_unmet(world: SteppedCluster, leader: int) -> Unmet:
    state = world.state()
    current = state is not None and world.replica(leader).zk_version == state.zk_version
    return None if current else "the cached version is current"


def _leader_loses_response_to_isr_shrink_unmet(
    world: SteppedCluster, leader: int, replica: int
) -> Unmet:
    unmet = _leader_shrinks_isr_unmet(world, leader, replica)
    if unmet is None and world.replica(leader).isr_member_without_replica is not None:
        return "the leader knows every member of the ISR as a replica"
    return unmet or _version_unmet(world, leader)


def leader_loses_response_to_isr_shrink(world: SteppedCluster, leader: int, replica: int) -> None:
    """A smaller ISR is written, and the response is lost."""
    world.replica(leader).begin_isr_write(replica, joins=False)
    world.replica(leader).lose_isr_answer()


def _leader_loses_response_to_isr_expand_unmet(
    world: SteppedCluster, leader: int, replica: int
) -> Unmet:
    unmet = _leader_expands_isr_unmet(world, leader, replica)
    return unmet or _version_unmet(world, leader)


def leader_loses_response_to_isr_expand(world: SteppedCluster, leader: int, replica: int) -> None:
    """A larger ISR is written, and the response is lost."""
    world.hosts[replica].fetch(FIRST, world.hosts[leader].replicas, 0)
    world.replica(leader).begin_isr_write(replica, joins=True)
    world.replica(leader).lose_isr_answer()


def _leader_reads_isr_back_unmet(world: SteppedCluster, leader: int) -> Unmet:
    if world.role(leader) != "leader":
        return "the broker believes it leads"
    if world.replica(leader).isr_write is None:
        return "its write was not answered"
    return None if world.has_session(leader) else "it has a ZooKeeper session"


def leader_reads_isr_back(world: SteppedCluster, leader: int) -> None:
    """Its write is sent again and refused; it reads the registered state (KAFKA-1382)."""
    world.replica(leader).end_isr_write()


# The ISR, by a leader that has just read what is registered


def _returner(
    world: SteppedCluster, leader: int, replica: int, number: int
) -> LeaderIsrAndControllerEpoch | str:
    if world.role(leader, number) != "leader":
        return "the broker believes it leads"
    if not world.has_session(leader):
        return "it has a ZooKeeper session"
    state = world.state(number)
    if state is None or state.leader != leader:
        return "the state names it"
    if world.role(replica, number) != "follower":
        return "the replica follows"
    return "it is not in the ISR" if replica in state.isr else state


def _isr_is_expanded_unmet(world: SteppedCluster, leader: int, replica: int, number: int) -> Unmet:
    found = _returner(world, leader, replica, number)
    return found if isinstance(found, str) else None


def isr_is_expanded(world: SteppedCluster, leader: int, replica: int, number: int) -> None:
    """A follower has caught up; the ISR write is conditional on the state's version."""
    state = _returner(world, leader, replica, number)
    assert not isinstance(state, str), "the step was possible"
    larger = replace(state, isr=(*state.isr, replica))
    path = paths.state(TOPIC, number)
    wait(world.admin.port.set_data(path, encode_state(larger), state.zk_version))


def _isr_is_expanded_first_unmet(
    world: SteppedCluster, leader: int, replica: int, number: int, broker: int
) -> Unmet:
    reason = _isr_is_expanded_unmet(world, leader, replica, number)
    if reason is not None:
        return reason
    if world.place(broker) is None or not world.has_session(broker):
        return "the controller is about to write the state"
    return None if _comes_to_write(world, broker) else "the controller is about to write it"


def _comes_to_write(world: SteppedCluster, broker: int) -> bool:
    """Gone on with, the controller comes to a write over a state that it has read."""
    if is_to_write(world.place(broker)):
        return True
    before = world.snapshot()
    world.controllers[broker].resume(to_write=True)
    writes = is_to_write(world.place(broker))
    world.restore(before)
    return writes


def isr_is_expanded_first(
    world: SteppedCluster, leader: int, replica: int, number: int, broker: int
) -> None:
    """The same, after a controller has read the state that it is about to overwrite."""
    if not is_to_write(world.place(broker)):
        world.controllers[broker].resume(to_write=True)
    isr_is_expanded(world, leader, replica, number)


KINDS = (
    refusable(leader_appends, each_broker, _leader_appends_unmet, "leader"),
    refusable(follower_catches_up, each_two, _follower_catches_up_unmet, "leader follower"),
    refusable(leader_expands_isr, each_two, _leader_expands_isr_unmet, "leader replica"),
    refusable(leader_shrinks_isr, each_two, _leader_shrinks_isr_unmet, "leader replica"),
    refusable(
        leader_loses_response_to_isr_shrink,
        each_two,
        _leader_loses_response_to_isr_shrink_unmet,
        "leader replica",
    ),
    refusable(
        leader_loses_response_to_isr_expand,
        each_two,
        _leader_loses_response_to_isr_expand_unmet,
        "leader replica",
    ),
    refusable(leader_reads_isr_back, each_broker, _leader_reads_isr_back_unmet, "leader"),
    refusable(isr_is_expanded, each_member, _isr_is_expanded_unmet, "leader replica number"),
    refusable(
        isr_is_expanded_first,
        each_member_and_controller,
        _isr_is_expanded_first_unmet,
        "leader replica number broker",
    ),
)

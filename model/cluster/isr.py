"""A leader changes the ISR by conditional writes with its cached zkVersion.

Source: Partition.maybeShrinkIsr, maybeExpandIsr (2.3)
"""

from model.cluster.data import fetches_from, leads, state_of_replica
from model.language import all_of, any_of, not_, require, some, transition, version
from model.protocol.isr import (
    require_cached_version,
    require_leadership,
    require_member,
    require_outdated_version,
    require_outsider,
)
from model.protocol.state import BROKERS


def require_leader(now, leader):
    require_leadership(now, leader, leads(now, leader))


def require_current(now, leader):
    require_cached_version(now.replica[leader].version, now.version)


def write_isr(now, new, leader, isr):
    """No new leader epoch, and the controller epoch that the leader was sent."""
    after = now.version + 1
    new.version      = after
    new.state[after] = state_of_replica(now, leader).but(isr=isr)
    new.replica[leader].version    = after
    new.replica[leader].unreported = True


def is_laggard(now, leader, replica):
    """The replica does not fetch, or lags; since 2.1 a replica that is at the leader's log end is
    not removed."""
    return not_(all_of(fetches_from(now, replica, leader), now.complete.has(replica)))


def may_join(now, leader, replica):
    """The replica fetches and has all committed records; since 3.3 it must be live, too."""
    joins = all_of(
        now.replicas.has(replica), not_(state_of_replica(now, leader).isr.has(replica)),
        fetches_from(now, replica, leader), now.complete.has(replica))
    if version.isr_expansion_checks_liveness:       # KAFKA-14140
        joins = all_of(joins, now.alive[leader].has(replica))
    return joins


def is_to_leave(now, leader, replica):
    """The replica is in the ISR and lags."""
    return all_of(leader != replica, state_of_replica(now, leader).isr.has(replica),
                  is_laggard(now, leader, replica))


@transition(leader=BROKERS, replica=BROKERS)
def leader_shrinks_isr(now, new, leader, replica):
    """A leader removes a lagging replica from the ISR."""
    require_leader(now, leader)
    require_member(leader, replica, state_of_replica(now, leader).isr)
    require(is_laggard(now, leader, replica),       "the replica lags behind")
    require_current(now, leader)

    write_isr(now, new, leader, state_of_replica(now, leader).isr.without(replica))


@transition(leader=BROKERS, replica=BROKERS)
def leader_expands_isr(now, new, leader, replica):
    """A leader adds a replica that has caught up to the ISR."""
    require_leader(now, leader)
    require(now.replicas.has(replica),              "the replica is assigned")
    require_outsider(replica, state_of_replica(now, leader).isr)
    require(fetches_from(now, replica, leader),     "the replica fetches from the leader")
    require(now.complete.has(replica),              "the replica has all that was committed")
    if version.isr_expansion_checks_liveness:       # KAFKA-14140
        require(now.alive[leader].has(replica),     "the leader knows the replica to be alive")
    require_current(now, leader)

    write_isr(now, new, leader, state_of_replica(now, leader).isr.including(replica))


@transition(ends="refused", shows="refused_write", leader=BROKERS)
def leader_isr_write_is_refused(now, new, leader):
    """The write is refused, and nothing changes: "Cached zkVersion not equal to that in zookeeper".

    The leader was not notified of the newest state. It will try again.

    The leader was not notified of the newest state. It will try again.
    """
    require_leader(now, leader)
    require(some(BROKERS, lambda one: any_of(
        is_to_leave(now, leader, one), may_join(now, leader, one))),
                                                    "a replica is to leave the ISR, or to join it")
    require_outdated_version(now.replica[leader].version, now.version)

"""Steps of the controller: read the state, elect, write it conditionally, send LeaderAndIsr.

Every write is a multi that checks /controller_epoch, so only the newest controller's writes pass.
"""

from model.language import (
    BLANK,
    all_of,
    any_of,
    implies,
    is_none,
    lam,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.protocol.controllership import (
    is_fenced,
    register_state,
    require_controllership,
    require_deposed,
    require_fence,
    require_state_as_read,
    require_state_changed,
    resign,
)
from model.protocol.state import BROKERS
from model.replication.state import CONTROLLERS, ELECTED


@transition(shows="read", broker=BROKERS)
def controller_reads_partition(now, new, broker):
    """The controller reads the partition's state, its version, and which brokers are alive."""
    require_controllership(now, broker)

    zk = now.zk
    new.cache[broker] = {
        "held": True, "leader": zk.leader, "isr": zk.isr, "version": zk.version,
        "live": zk.registered, "reached": zk.registered}


def send(now, new, sender, to, epoch, isr, state_version):
    """Puts one LeaderAndIsr of a controller epoch in flight to each broker of a set."""
    new.request[epoch][sender] = lam(BROKERS, lambda target: when(
        to.has(target),
        now.request[epoch][sender][target].but(in_flight=True, isr=isr, version=state_version),
        now.request[epoch][sender][target]))


def write_state(now, new, broker, leader, isr, to):
    """The fenced, conditional write of the state under the next leader epoch; then the requests."""
    epoch, version_after = now.zk.leader_epoch + 1, now.zk.version + 1
    register_state(now, new, leader, isr)
    new.zk.state_epoch = now.belief[broker]
    new.elected[epoch] = leader
    new.cache[broker]  = now.cache[broker].but(
        leader=leader, isr=isr, version=version_after)
    send(now, new, now.belief[broker], to, epoch, isr, version_after)


def require_candidate(now, broker, leader):
    # redundant "the broker believes it is the controller", because who does not has forgotten what
    # it read.
    cache = now.cache[broker]
    eligible = cache.isr.has(leader)
    if version.unclean_leader_election:             # any live replica, if no ISR member is alive
        eligible = any_of(eligible, not_(some(BROKERS, lambda member: all_of(
            cache.isr.has(member), cache.live.has(member)))))
    # redundant because who has read nothing knows nobody alive.
    require(cache.held,                             "it has read the partition's state")
    require(eligible,                               "the candidate is in the ISR that it read")
    require(cache.live.has(leader),                 "the candidate was alive when it read")


@transition(broker=BROKERS, leader=BROKERS)
def controller_elects_leader(now, new, broker, leader):
    """The controller makes a live ISR member the leader, and keeps the live part of the ISR.

    Any live ISR member may win here; which one is up to the election strategy, and does not matter
    for safety.
    Kafka: ZkPartitionStateMachine.doElectLeaderForPartitions, Election.leaderForOffline
    Refused: controller_election_conflicts
    """
    cache = now.cache[broker]
    require_controllership(now, broker)
    require_candidate(now, broker, leader)
    require_fence(now, broker)
    require_state_as_read(now, broker)

    isr = cache.isr.within(cache.live)
    if version.unclean_leader_election:
        isr = isr.including(leader)
    write_state(now, new, broker, leader, isr, to=cache.reached)


@transition(shows="refused_write", broker=BROKERS, leader=BROKERS)
def controller_election_conflicts(now, new, broker, leader):
    """The state changed since the controller read it: the write is refused.

    The controller must read the state again.
    """
    require_controllership(now, broker)
    require_candidate(now, broker, leader)
    require_fence(now, broker)
    require_state_changed(now, broker)

    new.cache[broker] = BLANK


@transition(shows="refused_write", only=is_fenced, broker=BROKERS, leader=BROKERS)
def controller_election_is_fenced(now, new, broker, leader):
    """A deposed controller's write fails at the check of /controller_epoch, and it resigns.

    Kafka: ControllerMovedException, KAFKA-6082
    """
    require_controllership(now, broker)
    require_candidate(now, broker, leader)
    require_deposed(now, broker)

    resign(new, broker)


def require_removable(now, broker, replica):
    # redundant "the broker believes it is the controller", because who does not has forgotten what
    # it read.
    cache = now.cache[broker]
    # redundant because who has read nothing knows of no ISR.
    require(cache.held,                             "it has read the partition's state")
    require(cache.isr.has(replica),                 "the replica is in the ISR that it read")
    require(not_(cache.live.has(replica)),          "the replica was dead when it read")
    if version.isr_keeps_last_member:
        require(implies(cache.isr.is_only(replica), cache.leader == replica),
                                                    "leader or ISR change by it")


@transition(broker=BROKERS, replica=BROKERS)
def controller_removes_replica(now, new, broker, replica):
    """A dead replica loses its leadership and leaves the ISR; the last ISR member is kept.

    Why:   with an empty ISR nobody could ever be elected; before 0.8 it became empty (KAFKA-708).

    Kafka: ZkReplicaStateMachine.removeReplicasFromIsr (1.1)
    Refused: controller_removal_conflicts
    """
    cache = now.cache[broker]
    require_controllership(now, broker)
    require_removable(now, broker, replica)
    require_fence(now, broker)
    require_state_as_read(now, broker)

    isr = cache.isr.without(replica)
    if version.isr_keeps_last_member:
        isr = when(cache.isr.is_only(replica), cache.isr, isr)
    write_state(
        now, new, broker, when(cache.leader == replica, None, cache.leader), isr,
        to=cache.reached.without(replica))


@transition(shows="refused_write", broker=BROKERS, replica=BROKERS)
def controller_removal_conflicts(now, new, broker, replica):
    """The state changed since the controller read it: the write is refused.

    The controller must read the state again.
    """
    # redundant "leader or ISR change by it", because of a partition without a leader only the
    # controller itself writes the state.
    require_controllership(now, broker)
    require_removable(now, broker, replica)
    require_fence(now, broker)
    require_state_changed(now, broker)

    new.cache[broker] = BLANK


@transition(shows="refused_write", only=is_fenced, broker=BROKERS, replica=BROKERS)
def controller_removal_is_fenced(now, new, broker, replica):
    """A deposed controller's removal fails at the check of /controller_epoch, and it resigns."""
    require_controllership(now, broker)
    require_removable(now, broker, replica)
    require_deposed(now, broker)

    resign(new, broker)


@transition(broker=BROKERS, replica=BROKERS)
def controller_issues_leader_and_isr(now, new, broker, replica):
    """The controller sends a registered broker the state as it is now.

    Why:   at failover, and when a broker has started. Leader epoch and zkVersion are the registered
           ones.
    Kafka: ReplicaStateMachine.startup, KafkaController.onBrokerStartup
    """
    zk, mine = now.zk, now.belief[broker]
    # redundant "it has a ZooKeeper session", because /controller goes with its owner's session.
    require_controllership(now, broker)
    require(zk.controller == broker,                "/controller is its own")
    require(not_(is_none(zk.leader)),               "the partition has a leader")
    require(zk.registered.has(replica),             "the replica is registered")
    require(not_(now.request[zk.leader_epoch][mine][replica].in_flight),
                                                    "no such request is in flight to it already")

    new.request[zk.leader_epoch][mine][replica] = {
        "in_flight": True, "isr": zk.isr, "version": zk.version}


@transition(ends="lost", fault=True, broker=BROKERS, epoch=ELECTED, controller=CONTROLLERS)
def leader_and_isr_is_lost(now, new, broker, epoch, controller):
    """A LeaderAndIsr in flight never arrives."""
    require(now.request[epoch][controller][broker].in_flight,   "the request is in flight")

    new.request[epoch][controller][broker] = BLANK
    new.spent.losses = now.spent.losses + 1

"""The controller's hand on the partition: read, decide, write by version, send LeaderAndIsr.

Every write is a multi that checks /controller_epoch, so only the owner of /controller writes.
"""

from model.language import (
    BLANK,
    implies,
    is_none,
    lam,
    not_,
    require,
    transition,
    when,
)
from model.replication.state import BROKERS, CONTROLLERS, ELECTED


def require_controller(now, broker):
    require(now.zk.controller == broker,            "the broker owns /controller")
    require(now.up.has(broker),                     "its process runs")


@transition(broker=BROKERS)
def broker_becomes_controller(now, new, broker):
    """A registered broker creates /controller together with the next controller epoch.

    Kafka: KafkaZkClient.registerControllerAndIncrementControllerEpoch; `election` has its steps.
    """
    require(is_none(now.zk.controller),             "/controller does not exist")
    require(now.zk.registered.has(broker),          "the broker has a session")
    require(now.up.has(broker),                     "its process runs")

    new.zk = now.zk.but(controller=broker, epoch=now.zk.epoch + 1)
    new.cache[broker] = BLANK


@transition(broker=BROKERS)
def controller_reads_partition(now, new, broker):
    """The controller reads the partition's state, its version, and which brokers are alive."""
    require_controller(now, broker)

    zk = now.zk
    new.cache[broker] = {
        "held": True, "leader": zk.leader, "isr": zk.isr, "version": zk.version,
        "live": zk.registered, "reached": zk.registered}


def send(now, new, to, epoch, isr, version):
    """Puts one LeaderAndIsr in flight to each broker of a set."""
    sender = now.zk.epoch
    new.request[epoch][sender] = lam(BROKERS, lambda target: when(
        to.has(target),
        now.request[epoch][sender][target].but(in_flight=True, isr=isr, version=version),
        now.request[epoch][sender][target]))


def write_state(now, new, broker, leader, isr, to):
    """The fenced, conditional write of the state under the next leader epoch; then the requests."""
    epoch, version = now.zk.leader_epoch + 1, now.zk.version + 1
    new.zk = now.zk.but(
        leader=leader, leader_epoch=epoch, isr=isr, state_epoch=now.zk.epoch, version=version)
    new.elected[epoch] = leader
    new.cache[broker]  = now.cache[broker].but(leader=leader, isr=isr, version=version)
    send(now, new, to, epoch, isr, version)


def require_candidate(now, broker, leader):
    cache = now.cache[broker]
    require(cache.held,                             "it has read the partition's state")
    require(cache.isr.has(leader),                  "the candidate is in the ISR that it read")
    require(cache.live.has(leader),                 "the candidate was alive when it read")


@transition(broker=BROKERS, leader=BROKERS)
def controller_elects_leader(now, new, broker, leader):
    """The controller makes a live ISR member the leader, and keeps the live part of the ISR.

    Any live ISR member may win here; which one is the strategy's affair, not safety's.
    Kafka: ZkPartitionStateMachine.doElectLeaderForPartitions, Election.leaderForOffline
    Refused: controller_election_conflicts
    """
    cache = now.cache[broker]
    require_controller(now, broker)
    require_candidate(now, broker, leader)
    require(cache.version == now.zk.version,        "the version that it read is current")

    write_state(now, new, broker, leader, cache.isr.within(cache.live), to=cache.reached)


@transition(broker=BROKERS, leader=BROKERS)
def controller_election_conflicts(now, new, broker, leader):
    """The state changed since the controller read it: the write is refused, it must read again."""
    require_controller(now, broker)
    require_candidate(now, broker, leader)
    require(now.cache[broker].version != now.zk.version,  "the version that it read is out of date")

    new.cache[broker] = BLANK


def require_removable(now, broker, replica):
    cache = now.cache[broker]
    require(cache.held,                             "it has read the partition's state")
    require(cache.isr.has(replica),                 "the replica is in the ISR that it read")
    require(not_(cache.live.has(replica)),          "the replica was dead when it read")
    require(implies(cache.isr.is_only(replica), cache.leader == replica),
                                                    "leader or ISR change by it")


@transition(broker=BROKERS, replica=BROKERS)
def controller_removes_replica(now, new, broker, replica):
    """A dead replica is taken out of office and out of the ISR; the last ISR member is kept.

    Kafka: ZkReplicaStateMachine.removeReplicasFromIsr (1.1)
    Refused: controller_removal_conflicts
    """
    cache = now.cache[broker]
    require_controller(now, broker)
    require_removable(now, broker, replica)
    require(cache.version == now.zk.version,        "the version that it read is current")

    write_state(
        now, new, broker,
        leader=when(cache.leader == replica, None, cache.leader),
        isr=when(cache.isr.is_only(replica), cache.isr, cache.isr.without(replica)),
        to=cache.reached.without(replica))


@transition(broker=BROKERS, replica=BROKERS)
def controller_removal_conflicts(now, new, broker, replica):
    """The state changed since the controller read it: it is refused, and must read again."""
    require_controller(now, broker)
    require_removable(now, broker, replica)
    require(now.cache[broker].version != now.zk.version,  "the version that it read is out of date")

    new.cache[broker] = BLANK


@transition(broker=BROKERS, replica=BROKERS)
def controller_informs(now, new, broker, replica):
    """The controller sends a registered broker the state as it is now.

    Why:   at failover, and when a broker has started. Leader epoch and version are the current.
    Kafka: ReplicaStateMachine.startup, KafkaController.onBrokerStartup
    """
    zk = now.zk
    require_controller(now, broker)
    require(not_(is_none(zk.leader)),               "the partition has a leader")
    require(zk.registered.has(replica),             "the replica is registered")
    require(not_(now.request[zk.leader_epoch][zk.epoch][replica].in_flight),
                                                    "no such request is in flight to it already")

    new.request[zk.leader_epoch][zk.epoch][replica] = {
        "in_flight": True, "isr": zk.isr, "version": zk.version}


@transition(broker=BROKERS, epoch=ELECTED, controller=CONTROLLERS)
def request_is_lost(now, new, broker, epoch, controller):
    """A LeaderAndIsr in flight never arrives."""
    require(now.request[epoch][controller][broker].in_flight,   "the request is in flight")

    new.request[epoch][controller][broker] = BLANK
    new.spent.losses = now.spent.losses + 1

"""The partition state machine: an offline partition comes Online with a leader, or stays.

A strategy takes the first replica of the assignment that may lead, so that there is one outcome.

Source: PartitionStateMachine.doElectLeaderForPartitions, PartitionLeaderElectionAlgorithms (2.3)
"""

from model.cluster.batch import batch
from model.cluster.state import PARTITIONS
from model.cluster.thread import at, keep, online, own, require_acting, require_writing
from model.language import (
    all_of,
    any_of,
    every,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.protocol.state import BROKERS


def write_state(now, new, broker, leader, isr):
    """The fenced, conditional write of the state under the next leader epoch; what was written is
    cached, and waits for the batch."""
    after = now.version + 1
    new.version = after
    new.state[after] = {
        "leader": leader, "epoch": now.state[now.version].epoch + 1, "isr": isr,
        "controller": now.belief[broker]}
    new.context[broker].version = after
    new.context[broker].batched = True


def bring_online(now, new, broker, leader, isr):
    """The partition has a leader: what an election writes."""
    new.context[broker].due     = False
    new.context[broker].offline = False
    write_state(now, new, broker, leader, isr)


def require_not_written_by_a_newer(now, broker):
    require(now.state[now.version].controller <= now.belief[broker],
                                                    "no newer controller has written the state")


def may_lead(now, broker, one):
    """Live, a replica, and in the ISR of the state that is read; out of it, if that is allowed and
    nobody of the ISR is live."""
    isr, live = now.state[now.version].isr, online(now, broker)
    eligible = isr.has(one)
    if version.unclean_leader_election:
        eligible = any_of(eligible, not_(some(BROKERS, lambda member: all_of(
            isr.has(member), live.has(member)))))
    return all_of(now.replicas.has(one), live.has(one), eligible)


def is_first(now, leader, may):
    """No replica that may lead as well stands before it in the assignment."""
    return every(BROKERS, lambda other: any_of(
        not_(may(other)), now.place[other] >= now.place[leader]))


def elects(stage):
    return any_of(stage == "electing", stage == "retrying")


def require_election(now, broker):
    require(elects(now.cache[broker].stage),        "it brings offline partitions online")
    require(now.context[broker].due,                "the partition is offline")


@transition(broker=BROKERS, leader=BROKERS)
def controller_elects_leader(now, new, broker, leader):
    """The first live ISR member of the assignment becomes the leader; the ISR keeps who is live.

    Kafka: OfflinePartitionLeaderElectionStrategy
    """
    require_writing(now, broker)
    require_election(now, broker)
    require_not_written_by_a_newer(now, broker)
    require(may_lead(now, broker, leader),          "the replica is live, and in the ISR")
    require(is_first(now, leader, lambda other: may_lead(now, broker, other)),
                                                    "no such replica stands before it")

    isr = now.state[now.version].isr.within(online(now, broker))
    if version.unclean_leader_election:
        isr = isr.including(leader)
    bring_online(now, new, broker, leader, isr)


@transition(broker=BROKERS)
def controller_finds_no_leader(now, new, broker):
    """Nobody may lead: the partition stays offline, and nothing is written."""
    require_acting(now, broker)
    require_election(now, broker)
    require(not_(some(BROKERS, lambda one: may_lead(now, broker, one))),
                                                    "no replica is live and in the ISR")

    new.context[broker].due = False


@transition(broker=BROKERS)
def controller_tells_elections(now, new, broker):
    """The batch of the elections: LeaderAndIsr to the live replicas, UpdateMetadata to all.

    After a broker's failure its replicas are next; else the event is done.
    """
    cache = now.cache[broker]
    require_acting(now, broker)
    require(elects(cache.stage),                    "it brings offline partitions online")
    require(every(PARTITIONS, lambda partition: not_(own(now, broker, partition).due)),
                                                    "no partition waits for an election")

    new.cache[broker] = cache.but(
        stage=when(not_(some_is_gone(now, broker)), at("idle"),
              when(cache.stage == "retrying", at("removing_followers"), at("removing"))),
        queue=batch(now, broker,
            goes=lambda partition, target: all_of(
                own(now, broker, partition).batched, not_(cache.shutting.has(target))),
            tells=lambda partition: own(now, broker, partition).batched))
    keep(now, new, broker, lambda partition: own(now, broker, partition).but(batched=False))


def some_is_gone(now, broker):
    return some(PARTITIONS, lambda partition: not_(own(now, broker, partition).gone.is_empty()))

"""The initial state: brokers are up and know their leaders, and the controller has just failed."""

from functools import reduce

from model.cluster.state import PARTITIONS
from model.language import (
    ALL,
    BLANK,
    all_of,
    any_of,
    lam,
    limit,
    literal,
    not_,
    those,
    when,
)
from model.protocol.state import BROKERS, ZK_VERSIONS

MOST = 6
"""Brokers that can be numbered; more are refused, and so are more partitions than brokers."""


def number(broker):
    """The broker's number from 1; 0 for none."""
    return reduce(
        lambda rest, n: when(
            all_of(broker == literal(BROKERS, n), limit("brokers") >= n), n, rest),
        range(1, MOST + 1), 0)


def exists(partition):
    return all_of(partition >= 0, partition < limit("partitions"))


def prefers(partition, broker):
    """Partition 0 prefers broker 1, partition 1 broker 2, and so on."""
    return all_of(exists(partition), number(broker) > 0, number(broker) - 1 == partition)


def place(partition, broker):
    """The preferred broker stands first in the assignment, the others in their order."""
    after = number(broker) > partition + 1
    return when(any_of(not_(exists(partition)), prefers(partition, broker)), 0,
           when(after, number(broker) - 1, number(broker)))


def is_replica(partition, broker):
    return all_of(exists(partition), number(broker) > 0,
                  place(partition, broker) < limit("replicas"))


def initial(new):
    """Every broker runs, is registered and knows of all partitions; each partition is led by the
    first of its replicas, with all of them in the ISR, and there is no controller."""
    new.zk.registered = ALL
    new.up            = ALL
    new.alive         = lam(BROKERS, lambda broker: ALL)
    new.partition     = lam(PARTITIONS, started)


def started(partition):
    replicas = those(BROKERS, lambda one: is_replica(partition, one))
    brokers = [literal(BROKERS, n) for n in range(1, MOST + 1)]
    first = reduce(lambda rest, one: when(prefers(partition, one), one, rest), brokers, None)
    too_many = any_of(limit("brokers") > MOST, limit("partitions") > limit("brokers"))
    return {
        "version": when(too_many, literal(ZK_VERSIONS, -1), 0),
        "state": lam(ZK_VERSIONS, lambda at: {
            "leader": when(at == 0, first, None), "epoch": 0, "controller": 0,
            "isr": replicas.such_that(lambda one: at == 0)}),
        "replicas": replicas,
        "place": lam(BROKERS, lambda one: place(partition, one)),
        "noted": False,
        "wanted": False,
        "replica": lam(BROKERS, lambda one: {
            "version": when(replicas.has(one), literal(ZK_VERSIONS, 0), None),
            "fetching": all_of(replicas.has(one), not_(prefers(partition, one))),
            "unreported": False}),
        "known": lam(BROKERS, lambda one: 0),
        "context": lam(BROKERS, lambda one: BLANK),
        "complete": replicas}

"""Where a cluster starts: up, led and told, and its controller has just gone."""

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
    """Broker 1 is 1, and so on."""
    return reduce(
        lambda rest, n: when(broker == literal(BROKERS, n), n, rest), range(1, MOST + 1), 0)


def prefers(partition, broker):
    """Partition 0 prefers broker 1, partition 1 broker 2, and so on."""
    return number(broker) - 1 == partition


def place(partition, broker):
    """The preferred broker stands first in the assignment, the others in their order."""
    return when(prefers(partition, broker), 0,
           when(number(broker) - 1 < partition, number(broker), number(broker) - 1))


def initial(new):
    """Every broker runs, is registered and knows of all partitions; each partition is led by the
    first of its replicas, with all of them in the ISR, and there is no controller."""
    new.zk.registered = ALL
    new.up            = ALL
    new.alive         = lam(BROKERS, lambda broker: ALL)
    new.partition     = lam(PARTITIONS, started)


def started(partition):
    replicas = those(BROKERS, lambda one: place(partition, one) < limit("replicas"))
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
        "replica": lam(BROKERS, lambda one: {
            "version": when(replicas.has(one), literal(ZK_VERSIONS, 0), None),
            "fetching": all_of(replicas.has(one), not_(prefers(partition, one))),
            "unreported": False}),
        "known": lam(BROKERS, lambda one: 0),
        "context": lam(BROKERS, lambda one: BLANK),
        "complete": replicas}

"""ZooKeeper expires sessions and removes their ephemeral nodes."""

from model.language import (
    NOBODY,
    lam,
    transition,
    version,
    when,
)
from model.protocol.processes import expire
from model.protocol.state import BROKERS


def without_nodes_of(zk, broker):
    """ZooKeeper's state without a broker's ephemeral znodes."""
    return zk.but(
        registered=zk.registered.without(broker),
        controller=when(zk.controller == broker, None, zk.controller))


@transition(actor=NOBODY, fault=True, broker=BROKERS)
def session_expires(now, new, broker):
    """ZooKeeper ends a session: the registration and /controller are deleted.

    A live process does not notice, keeps its beliefs, and obeys controllers until it registers
    again.
    """
    expire(now, new, broker)

    new.zk = without_nodes_of(now.zk, broker)


def is_reached_no_longer(now, new, broker):
    """The broker registers again: the requests of other controllers name its last registration,
    and are refused (KIP-380)."""
    if version.broker_epoch:                          # else a request reaches who has the id
        new.cache = lam(BROKERS, lambda other: now.cache[other].but(reached=when(
            other == broker, [], now.cache[other].reached.without(broker))))

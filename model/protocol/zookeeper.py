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
    """ZooKeeper ends a session: the registration and /controller are deleted; a live process does
    not notice, and keeps its beliefs.

    Since 2.2 nothing is sent to it until it registers again. In Kafka it obeys what is sent under
    the registration that it had, as in `reassignment`.
    """
    expire(now, new, broker)

    new.zk = without_nodes_of(now.zk, broker)
    if version.broker_epoch:                          # else a request reaches who has the id
        new.cache = lam(BROKERS, lambda other: now.cache[other].but(
            reached=now.cache[other].reached.without(broker)))

"""Processes and sessions: crash, restart, expiry while the process lives on, reconnection."""

from model.cluster.state import PARTITIONS
from model.cluster.thread import with_one
from model.language import BLANK, lam, not_, require, transition, version, when
from model.protocol.office import leave_office
from model.protocol.state import BROKERS


@transition(broker=BROKERS)
def broker_crashes(now, new, broker):
    """A process dies: all that it had in memory is gone. Its session lasts until it expires."""
    require(now.up.has(broker),                     "the process runs")

    new.spent.crashes = now.spent.crashes + 1
    new.up            = now.up.without(broker)
    new.seen[broker]  = 0
    new.alive[broker] = []
    leave_office(new, broker)
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(
        replica=with_one(now.partition[partition].replica, broker, BLANK),
        known=with_one(now.partition[partition].known, broker, None),
        context=with_one(now.partition[partition].context, broker, BLANK)))


@transition(broker=BROKERS)
def broker_starts(now, new, broker):
    """A process starts, and registers; it knows nothing until a controller tells it."""
    require(not_(now.up.has(broker)),               "the process does not run")
    require(not_(now.zk.registered.has(broker)),    "the old registration is gone")

    new.up            = now.up.including(broker)
    new.zk.registered = now.zk.registered.including(broker)
    new.cache         = lam(BROKERS, lambda other: without_old_requests(now, other, broker))


@transition(broker=BROKERS)
def broker_reconnects(now, new, broker):
    """A live process whose session expired opens a new one, leaves office and registers again."""
    require(now.up.has(broker),                     "the process runs")
    require(not_(now.zk.registered.has(broker)),    "its session has expired")

    new.zk.registered      = now.zk.registered.including(broker)
    new.campaign[broker]   = 0
    new.reply_lost[broker] = False
    new.belief[broker]     = 0
    new.cache = lam(BROKERS, lambda other: when(
        other == broker, BLANK, without_old_requests(now, other, broker)))
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(
        context=with_one(now.partition[partition].context, broker, BLANK)))


def without_old_requests(now, controller, broker):
    """What is under way to the last registration of a broker is refused, so it goes (KIP-380);
    until 2.1 it reached whoever had the id."""
    cache = now.cache[controller]
    if not version.broker_epoch:
        return cache
    return cache.but(queue=lam(BROKERS, lambda target: when(
        target == broker, BLANK, cache.queue[target])))

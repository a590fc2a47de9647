"""Processes and their sessions: a crash, a start, a new session, a session that expires.

The rest of a process's memory, and the requests in flight to it, differ from system to system: each
has its own transition, which calls these functions first. `election` has sessions without
processes, and `replication.history` processes without sessions.
"""

from model.language import not_, require
from model.protocol.controllership import forget_controllership


def crash(now, new, broker):
    """A process dies, and its memory as a controller is lost. Its session lasts until it expires.
    """
    require(now.up.has(broker),                     "the process runs")

    new.spent.crashes = now.spent.crashes + 1
    new.up            = now.up.without(broker)
    forget_controllership(new, broker)


def start(now, new, broker):
    """A process starts, and registers under a new session once the znode of the last session is
    gone."""
    require(not_(now.up.has(broker)),               "the process does not run")
    require(not_(now.zk.registered.has(broker)),    "the old registration is gone")

    new.up            = now.up.including(broker)
    new.zk.registered = now.zk.registered.including(broker)


def require_expired(now, broker):
    """The process runs, and its session has ended."""
    require(now.up.has(broker),                     "the process runs")
    require(not_(now.zk.registered.has(broker)),    "its session has expired")


def reconnect(now, new, broker):
    """A live process opens a new session, resigns as controller, and registers again.

    Kafka: KafkaController.Expire and RegisterBrokerAndReelect
    """
    require_expired(now, broker)

    forget_controllership(new, broker)
    new.zk.registered = now.zk.registered.including(broker)


def expire(now, new, broker):
    """ZooKeeper ends a session; the caller says which znodes are deleted with it."""
    require(now.zk.registered.has(broker),          "the broker is registered")

    new.spent.expiries = now.spent.expiries + 1

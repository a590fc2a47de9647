"""Processes and sessions: crash, restart, expiry while the process keeps running, reconnection."""

from model.cluster.events import is_queued, notified, unwatched
from model.cluster.state import PARTITIONS
from model.cluster.thread import with_one
from model.language import (
    BLANK,
    NOBODY,
    any_of,
    lam,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.protocol.controllership import forget_election
from model.protocol.processes import crash, expire, require_expired, start
from model.protocol.state import BROKERS
from model.protocol.zookeeper import without_nodes_of


def clear_memory(now, new, broker):
    """The broker's memory is cleared; what it wrote stays."""
    new.seen[broker]       = 0
    new.alive[broker]      = []
    new.addresses[broker]  = BLANK
    new.leaving[broker]    = "stays"
    new.failure_unreported = now.failure_unreported.without(broker)
    new.mistaken           = now.mistaken.without(broker)
    new.resigned           = now.resigned.without(broker)
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(
        replica=with_one(now.partition[partition].replica, broker, BLANK),
        known=with_one(now.partition[partition].known, broker, None),
        context=with_one(now.partition[partition].context, broker, BLANK)))


@transition(actor=NOBODY, ends="lost", fault=True, broker=BROKERS)
def broker_crashes(now, new, broker):
    """A process dies: all that it had in memory is gone. Its session lasts until it expires."""
    crash(now, new, broker)

    clear_memory(now, new, broker)


def without_watches(now, other, broker):
    """The controller's memory when a session has ended: the watches on the broker's znode have
    fired, and those of the broker's own session are gone."""
    cache = unwatched(now.cache[other], broker)
    if version.broker_data_watched:
        cache = cache.but(watched=when(other == broker, [], cache.watched))
    return cache


@transition(actor=NOBODY, fault=True, broker=BROKERS)
def session_expires(now, new, broker):
    """ZooKeeper ends a session: its ephemeral znodes are deleted, and their watches fire.

    A live process does not notice, keeps its beliefs, and obeys controllers until it registers
    again.
    """
    expire(now, new, broker)

    end_session(now, new, broker)


def end_session(now, new, broker):
    """The session's znodes are deleted, and those of an earlier session that was known to have
    ended."""
    new.zk    = without_nodes_of(now.zk, broker).but(outlived=now.zk.outlived.without(broker))
    new.cache = notified(
        now, "broker_change", but=broker,
        caches=lambda other: without_watches(now, other, broker))


@transition(ends="lost", broker=BROKERS)
def broker_starts(now, new, broker):
    """A process starts and registers; it hosts nothing until it gets a LeaderAndIsr.

    Why:   it knows no controller epoch, so it obeys even a deposed controller that is the first to
           send it a request (`controller_epoch_kept`).
    Story: specs/stories/restarted_broker_obeys_the_deposed.story
    """
    start(now, new, broker)

    if version.controller_epoch_kept:
        new.seen[broker] = now.zk.epoch
    new.cache = notified(now, "broker_change", but=broker,
        caches=lambda other: without_old_requests(now, other, broker))
    mark_outdated(now, new, broker)


def mark_outdated(now, new, broker):
    """Marks requests in flight with the last broker epoch as outdated: a ControlledShutdown, or a
    copy of a request to the broker. From 2.2 they are refused (KIP-380)."""
    pending = any_of(now.asked.has(broker), some(BROKERS, lambda one: is_queued(
        now.cache[one].events, "controlled_shutdown", broker)))
    new.former = when(pending, now.former.including(broker), now.former.without(broker))
    if version.broker_epoch:
        new.late[broker] = BLANK


@transition(ends="lost", broker=BROKERS)
def broker_reconnects(now, new, broker):
    """A live process whose session expired opens a new one, resigns and registers again."""
    require_expired(now, broker)
    require(not_(now.mistaken.has(broker)),         "it does not take itself for registered")

    new.zk.registered = now.zk.registered.including(broker)
    register_anew(now, new, broker)


@transition(actor=NOBODY, fault=True, broker=BROKERS)
def session_ends_before_its_nodes(now, new, broker):
    """A session ends, and its ephemeral znodes remain visible for a while.

    Why: a client may have its new session before the server has removed what the old one left.
    """
    require(now.zk.registered.has(broker),          "the broker is registered")
    require(not_(now.zk.outlived.has(broker)),      "its node is that of its session")
    require(now.up.has(broker),                     "its process runs")

    new.spent.lingering = now.spent.lingering + 1
    new.zk.outlived     = now.zk.outlived.including(broker)


@transition(actor=NOBODY, broker=BROKERS)
def node_of_expired_session_is_deleted(now, new, broker):
    """The server deletes the ephemeral znodes of the ended session."""
    require(now.zk.outlived.has(broker),            "a node of an ended session is there")

    end_session(now, new, broker)


def replaces_its_old_node(v):
    """Since 2.2. Before, the attempt failed with NodeExists: the znode had to be deleted first."""
    return v.znode_owner_checked and v.broker_epoch


@transition(only=replaces_its_old_node, broker=BROKERS)
def broker_replaces_its_old_registration(now, new, broker):
    """The znode belongs to the broker's own last session: it is deleted, and created again.

    Kafka: KafkaZkClient.CheckedEphemeral (KAFKA-7165, 2.2)
    """
    require(now.zk.outlived.has(broker),            "a node of its last session is there")
    require(now.up.has(broker),                     "its process runs")

    new.zk = now.zk.but(
        outlived=now.zk.outlived.without(broker),
        controller=when(now.zk.controller == broker, None, now.zk.controller))
    register_anew(now, new, broker)


@transition(only=lambda v: not v.znode_owner_checked, broker=BROKERS)
def broker_keeps_registration_of_old_session(now, new, broker):
    """The znode has the broker's id: it believes that it is registered (KAFKA-1387)."""
    require(now.zk.outlived.has(broker),            "a node of its last session is there")
    require(now.up.has(broker),                     "its process runs")
    require(not_(now.mistaken.has(broker)),         "it has not looked yet")

    new.mistaken = now.mistaken.including(broker)


def register_anew(now, new, broker):
    """The broker resigns, clears its event queue, and registers under a new broker epoch; its
    partition states stay.

    Kafka: KafkaController.Expire, put before all other events, and RegisterBrokerAndReelect
    """
    forget_election(new, broker)
    new.resigned = now.resigned.without(broker)
    new.cache = notified(now, "broker_change", but=broker, caches=lambda other: when(
        other == broker, BLANK, without_old_requests(now, other, broker)))
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(
        context=with_one(now.partition[partition].context, broker, BLANK)))
    mark_outdated(now, new, broker)


def without_old_requests(now, controller, broker):
    """Requests in flight to the last registration of a broker will be refused, so they are dropped
    (KIP-380); up to 2.1 they reached the broker with that id. Controllers can see that the
    registration has changed."""
    cache = unwatched(now.cache[controller], broker)
    if version.broker_epoch or version.bounced_brokers_detected:
        cache = cache.but(reached=cache.reached.without(broker))
    if not version.broker_epoch:
        return cache
    return cache.but(queue=lam(BROKERS, lambda target: when(
        target == broker, BLANK, cache.queue[target])))

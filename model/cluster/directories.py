"""Failures of single log directories: each replica of a broker is in a directory of its own.

The broker creates a notification in ZooKeeper. The controller then sends the broker LeaderAndIsr
for every replica, and learns from the response which replicas are offline. They count as dead until
the broker restarts, or handles a LeaderAndIsr for them without an error.

Source: ReplicaManager.handleLogDirFailure, KafkaController.processLogDirEventNotification and
processLeaderAndIsrResponseReceived (2.3, KIP-112)
"""

from model.cluster.batch import batch
from model.cluster.events import dequeued, notified, require_next, with_event
from model.cluster.membership import take_offline
from model.cluster.state import PARTITIONS
from model.cluster.thread import context_of, require_acting, require_writing, write_contexts
from model.language import (
    all_of,
    not_,
    require,
    some,
    transition,
    when,
)
from model.protocol.controllership import require_controllership
from model.protocol.state import BROKERS

EVENT = "a LogDirEventNotification is next in its queue"
RESPONSE = "a response of the broker is next in its queue"


def are_notified(v):
    return v.log_dirs_fail_alone


@transition(fault=True, only=are_notified, broker=BROKERS)
def log_directory_fails(now, new, broker):
    """The replica is offline at once: it neither leads nor fetches.

    The broker keeps its other directories; up to 0.11 it halted.
    """
    require(now.up.has(broker),                     "the process runs")
    require(now.replicas.has(broker),               "it has a replica of the partition")
    require(not_(now.failed.has(broker)),           "the replica's log directory works")

    new.spent.directories = now.spent.directories + 1
    new.failed            = now.failed.including(broker)
    new.failure_unreported = now.failure_unreported.including(broker)
    new.replica[broker].version  = None
    new.replica[broker].fetching = False


@transition(only=are_notified, broker=BROKERS)
def log_directory_is_repaired(now, new, broker):
    """While the broker is stopped, its directory is mounted again, with all that was in it."""
    require(now.failed.has(broker),                 "the replica's log directory has failed")
    require(not_(now.up.has(broker)),               "the process does not run")

    new.failed = now.failed.without(broker)


@transition(only=are_notified, broker=BROKERS)
def broker_reports_log_dir_failure(now, new, broker):
    """The broker creates a /log_dir_event_notification, which names only the broker."""
    require(now.failure_unreported.has(broker),     "its log directory failed, and it has not "
                                                    "reported that yet")
    require(now.zk.registered.has(broker),          "it has a ZooKeeper session")

    new.failure_unreported = now.failure_unreported.without(broker)
    new.zk.log_dir_events = now.zk.log_dir_events.including(broker)
    new.cache             = notified(now, "log_dir_event")


@transition(only=are_notified, broker=BROKERS)
def controller_sends_leader_and_isr_for_log_dirs(now, new, broker):
    """LeaderAndIsr, with the cached states, for every replica of the brokers that are named.

    A broker whose replica is online knows its leader epoch already. Then the notifications are
    deleted, in the same step, as for ISR changes.
    """
    named = now.zk.log_dir_events
    require_writing(now, broker)
    require_next(now, broker, "log_dir_event",      EVENT)
    require(not_(named.is_empty()),                 "a notification is there")

    new.zk.log_dir_events = []
    new.cache[broker]  = with_event(dequeued(now.cache[broker]), "log_dir_event").but(
        queue=batch(now, broker,
            goes=lambda partition, target: named.has(target),
            tells=lambda partition: some(BROKERS, lambda one: all_of(
                named.has(one), now.partition[partition].replicas.has(one)))))


@transition(only=are_notified, broker=BROKERS)
def controller_finds_no_log_dir_event(now, new, broker):
    """The event was caused by a deletion, or by a notification that was read with the event before.
    """
    require_controllership(now, broker)
    require_next(now, broker, "log_dir_event",      EVENT)
    require(now.zk.log_dir_events.is_empty(),       "no notification is there")

    new.cache[broker] = dequeued(now.cache[broker])


def is_newly_offline(now, broker, partition, subject):
    """The next response reports the replica as offline, which the controller did not know."""
    mine = context_of(now, broker, partition)
    return all_of(mine.refusing.has(subject), not_(mine.lost.has(subject)))


@transition(only=are_notified, broker=BROKERS, subject=BROKERS)
def controller_marks_replicas_offline(now, new, broker, subject):
    """Replicas that the response names go offline as if their broker had died.

    The broker is alive, so it is sent StopReplica for them.
    """
    require_acting(now, broker)
    require_next(now, broker, "leader_and_isr_response", RESPONSE, subject)
    require(some(PARTITIONS, lambda partition: is_newly_offline(now, broker, partition, subject)),
                                                    "it names a failed log directory that is news")

    def context(partition):
        mine = context_of(now, broker, partition)
        return mine.but(
            refusing=mine.refusing.without(subject),
            lost=when(mine.refusing.has(subject), mine.lost.including(subject), mine.lost),
            gone=now.partition[partition].replicas.such_that(lambda one: all_of(
                one == subject, is_newly_offline(now, broker, partition, subject))))

    cache = dequeued(now.cache[broker])
    obeyed = some(
        PARTITIONS, lambda partition: context_of(now, broker, partition).obeying.has(subject))
    take_offline(now, new, broker, cache.but(
        subject=subject,
        events=when(obeyed, with_event(cache, "leader_and_isr_response", subject).events,
                    cache.events)), context)


@transition(only=are_notified, broker=BROKERS, subject=BROKERS)
def controller_finds_log_dirs_unchanged(now, new, broker, subject):
    """The response reports only what the controller knows; or a replica works again.

    A replica that was on a failed directory and is reported without an error counts as live again.
    """
    require_acting(now, broker)
    require_next(now, broker, "leader_and_isr_response", RESPONSE, subject)
    require(not_(some(
        PARTITIONS, lambda partition: is_newly_offline(now, broker, partition, subject))),
                                                    "it names no failed log directory that is news")

    new.cache[broker] = dequeued(now.cache[broker])
    write_contexts(now, new, broker, lambda partition: context_of(now, broker, partition).but(
        refusing=context_of(now, broker, partition).refusing.without(subject),
        obeying=context_of(now, broker, partition).obeying.without(subject),
        lost=context_of(now, broker, partition).lost.such_that(lambda one: not_(all_of(
            one == subject, context_of(now, broker, partition).obeying.has(subject))))))

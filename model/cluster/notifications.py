"""ISR change notifications: leaders write them, and the controller sends the new ISR to all.

Source: KafkaController.processIsrChangeNotification, ReplicaManager.maybePropagateIsrChanges (2.3)
"""

from model.cluster.batch import update_metadata
from model.cluster.events import dequeued, notified, require_next, with_event
from model.cluster.state import PARTITIONS
from model.cluster.thread import context_of, require_writing, with_one
from model.language import lam, not_, require, some, transition, when
from model.protocol.controllership import require_controllership
from model.protocol.state import BROKERS

CHANGED = "an IsrChangeNotification is next in its queue"


def is_noted(now):
    return some(PARTITIONS, lambda partition: now.partition[partition].noted)


@transition(broker=BROKERS)
def broker_reports_isr_change(now, new, broker):
    """A leader creates an /isr_change_notification; it may cover several changes."""
    require(now.zk.registered.has(broker),          "it has a ZooKeeper session")
    require(now.up.has(broker),                     "its process runs")
    require(now.replica[broker].unreported,         "its ISR change is not reported yet")

    new.replica[broker].unreported = False
    new.noted = True
    new.cache = notified(now, "isr_change")


@transition(shows="read", broker=BROKERS)
def controller_reads_isr_changes(now, new, broker):
    """The controller reads the states that notifications name, and sends UpdateMetadata.

    It deletes the notifications, which fires the watch that the read has set.

    Why: a crash before the deletion leaves the notifications to the next controller, which reads
    every state anyway; so the deletion is no step of its own.
    """
    require_writing(now, broker)
    require_next(now, broker, "isr_change",         CHANGED)
    require(is_noted(now),                          "a notification is there")

    new.cache[broker] = with_event(dequeued(now.cache[broker]), "isr_change").but(
        queue=update_metadata(
            now, broker, now.cache[broker].live, lambda partition, target: when(
                now.partition[partition].noted, now.partition[partition].version, None)))
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(
        noted=False,
        context=with_one(now.partition[partition].context, broker, when(
            now.partition[partition].noted,
            context_of(now, broker, partition).but(version=now.partition[partition].version),
            context_of(now, broker, partition)))))


@transition(broker=BROKERS)
def controller_finds_no_isr_change(now, new, broker):
    """The event was caused by a deletion, or by a notification that was read with the event before.
    """
    require_controllership(now, broker)
    require_next(now, broker, "isr_change",         CHANGED)
    require(not_(is_noted(now)),                    "no notification is there")

    new.cache[broker] = dequeued(now.cache[broker])

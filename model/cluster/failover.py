"""The failover of a new controller, in the order of its steps.

UpdateMetadata is sent before any LeaderAndIsr, because a broker does not follow a leader that is
not in its metadata cache (KAFKA-4443). The replicas follow, then the partitions.

Source: KafkaController.onControllerFailover (2.3)
"""

from model.cluster.batch import batch, update_metadata_of_live_brokers
from model.cluster.events import read_with_watches, with_event
from model.cluster.notifications import is_noted
from model.cluster.state import PARTITIONS
from model.cluster.thread import (
    at,
    context_of,
    require_acting,
    states_by,
    with_one,
    write_contexts,
)
from model.language import all_of, any_of, lam, not_, require, some, transition, version, when
from model.protocol.controllership import fence_is_passed, require_controllership
from model.protocol.state import BROKERS


@transition(shows="read", broker=BROKERS)
def controller_reads_context(now, new, broker):
    """The controller sets its watches, and reads the live brokers and every partition's state.

    It deletes all notifications.

    Why:   it reads all states anyway, so the notifications are not needed. Its own deletion fires
           the watch, and that event will find nothing. Only the deletion is fenced here: if there
           is nothing to delete, a deposed controller continues to read, and sends what it has read.
    Kafka: KafkaController.onControllerFailover, initializeControllerContext
    """
    require_controllership(now, broker)
    require(now.cache[broker].stage == "starting",   "it has read nothing yet")
    if version.zk_writes_fenced:
        require(any_of(fence_is_passed(now, broker), not_(has_notifications(now))),
                                                     "its epoch is the newest, or no notification "
                                                     "is to be deleted")

    cache = now.cache[broker]
    new.cache[broker] = cache.but(
        events=with_events_of_own_deletions(now, cache),
        stage="announcing" if version.update_metadata_first else "restoring",
        live=now.zk.registered, reached=now.zk.registered, watched=read_with_watches(now),
        endpoints=lam(BROKERS, lambda one: when(
            now.zk.registered.has(one), now.zk.endpoints[one], 0)))
    new.zk.log_dir_events = []
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(
        noted=False,
        context=with_one(now.partition[partition].context, broker,
            context_of(now, broker, partition).but(version=now.partition[partition].version))))


def has_notifications(now):
    """There is a notification of an ISR change or of a failed log directory."""
    return any_of(is_noted(now), not_(now.zk.log_dir_events.is_empty()))


def with_events_of_own_deletions(now, cache):
    """The events caused by the controller's own deletion of notifications."""
    of_directories = when(
        now.zk.log_dir_events.is_empty(), cache, with_event(cache, "log_dir_event"))
    return when(is_noted(now), with_event(of_directories, "isr_change"), of_directories).events


@transition(broker=BROKERS)
def controller_sends_initial_update_metadata(now, new, broker):
    """UpdateMetadata to every live broker, so that all know the live brokers before a LeaderAndIsr.

    Up to 0.10.1 it was sent at the end of a failover. It is left out there if a request for
    preferred leaders was handled, whose batch has the same contents.
    Kafka: KafkaController.onControllerFailover, KAFKA-4443
    """
    require_acting(now, broker)
    require(now.cache[broker].stage == "announcing", "no broker is sent the live brokers yet")

    new.cache[broker] = now.cache[broker].but(
        stage="restoring" if version.update_metadata_first else "idle",
        queue=update_metadata_of_live_brokers(now, broker))


@transition(broker=BROKERS)
def controller_starts_replica_state_machine(now, new, broker):
    """Every replica of a live broker goes Online: it is sent the state as the controller read it.

    Those of dead brokers, if there are any, go Offline next; until 2.2 they stayed as they were
    (KAFKA-3143). Then offline partitions are tried.
    Kafka: ReplicaStateMachine.startup
    """
    cache = now.cache[broker]
    require_acting(now, broker)
    require(cache.stage == "restoring",              "all brokers are sent the live brokers")

    def is_dead(partition):
        return now.partition[partition].replicas.such_that(lambda one: not_(cache.live.has(one)))

    starts = states_by(now, broker, cache.live)
    if version.dead_replicas_taken_offline:
        offlines = some(PARTITIONS, lambda partition: not_(is_dead(partition).is_empty()))
        stage = when(offlines, at("offlining"), at("onlining"))
        write_contexts(now, new, broker, lambda partition: when(
            offlines, context_of(now, broker, partition).but(gone=is_dead(partition)),
            starts(partition)))
    else:
        stage = "onlining"
        write_contexts(now, new, broker, starts)
    new.cache[broker] = cache.but(
        stage=stage,
        queue=batch(now, broker,
            goes=lambda partition, target: cache.live.has(target),
            tells=lambda partition: some(BROKERS, lambda one: all_of(
                cache.live.has(one), now.partition[partition].replicas.has(one)))))

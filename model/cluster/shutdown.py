"""Controlled shutdown: the controller moves leadership away before the broker stops.

Source: KafkaServer.controlledShutdown, KafkaController.doControlledShutdown (2.3)
"""

from model.cluster.batch import stop_replica
from model.cluster.elections import (
    Election,
    as_read,
    elect,
    find_no_leader,
    replica_order_of,
    send_batch,
    some_replica_is_gone,
)
from model.cluster.events import dequeued, is_queued, notified, require_next, with_event
from model.cluster.lifecycle import clear_memory, without_watches
from model.cluster.state import PARTITIONS
from model.cluster.thread import at, context_of, require_acting, with_their_log, write_contexts
from model.language import (
    BLANK,
    all_of,
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
from model.protocol.state import BROKERS
from model.protocol.strategies import controlled_shutdown
from model.protocol.zookeeper import without_nodes_of

MOVES = Election(
    ("moving",),
    lambda now, broker: controlled_shutdown(
        replica_order_of(now), as_read(now, broker).isr,
        with_their_log(now.cache[broker].live, now.context[broker]),
        now.cache[broker].shutting),
    at_it="it moves what a leaving broker leads",
    due="the leaving broker leads the partition",
    may="the replica is live, in the ISR, and stays",
    first="no such replica stands before it",
    nobody="nobody else of the ISR is live and stays",
    all_done="no partition waits to be moved")
QUEUED = "a ControlledShutdown of the broker is next in its queue"


def is_requesting_shutdown(now, broker):
    """A ControlledShutdown of the broker is in flight, or waits in a controller's event queue."""
    return any_of(now.asked.has(broker), some(BROKERS, lambda one: is_queued(
        now.cache[one].events, "controlled_shutdown", broker)))


@transition(broker=BROKERS)
def broker_asks_for_controlled_shutdown(now, new, broker):
    """A broker that is to be stopped sends ControlledShutdown to the controller."""
    require(now.up.has(broker),                     "the process runs")
    require(now.zk.registered.has(broker),          "it is registered")
    require(now.leaving[broker] == "stays",         "it was not to be stopped")
    require(not_(is_requesting_shutdown(now, broker)),
            "no earlier request of the broker is in flight")

    new.spent.shutdowns = now.spent.shutdowns + 1
    new.leaving[broker] = "asks"
    new.asked           = now.asked.including(broker)
    new.former          = now.former.without(broker)    # it names the registration of now


@transition(broker=BROKERS, subject=BROKERS)
def shutdown_request_arrives(now, new, broker, subject):
    """The request takes its place in the event queue of a controller."""
    require_acting(now, broker)
    require(now.asked.has(subject),                 "its ControlledShutdown is in flight")

    new.asked         = now.asked.without(subject)
    new.cache[broker] = with_event(now.cache[broker], "controlled_shutdown", subject)


def is_known_as_live(now, broker, subject):
    """The controller knows the broker, and from 2.2 under the registration that asked (KIP-380)."""
    cache = now.cache[broker]
    if not version.shutdown_fenced:
        return cache.live.has(subject)
    return all_of(cache.live.has(subject), not_(all_of(
        now.former.has(subject), cache.reached.has(subject))))


def may_be_outdated(now, broker, subject):
    """The broker has registered again since it sent the request, and perhaps once more since the
    controller read that. Which of the earlier registrations the controller knows is left open."""
    return all_of(now.former.has(subject), not_(now.cache[broker].reached.has(subject)))


@transition(broker=BROKERS, subject=BROKERS)
def controller_begins_controlled_shutdown(now, new, broker, subject):
    """The broker counts as shutting down at once: from now on it is not elected."""
    require_acting(now, broker)
    require_next(now, broker, "controlled_shutdown", QUEUED, subject)
    require(is_known_as_live(now, broker, subject),
                                                    "the controller counts the sender as live")

    def has_others(partition):
        return some(BROKERS, lambda one: all_of(
            now.partition[partition].replicas.has(one), one != subject))

    leads = led_by(now, broker, subject)
    cache = dequeued(now.cache[broker])
    new.former = now.former.without(subject)
    new.cache[broker] = cache.but(
        stage=when(some(PARTITIONS, leads), at("moving"), at("stopping")),
        shutting=cache.shutting.including(subject), subject=subject)
    write_contexts(now, new, broker, lambda partition: context_of(now, broker, partition).but(
        due=leads(partition),
        gone=now.partition[partition].replicas.such_that(
            lambda one: all_of(one == subject, not_(leads(partition)), has_others(partition)))))


@transition(ends="refused", broker=BROKERS, subject=BROKERS)
def controller_refuses_controlled_shutdown(now, new, broker, subject):
    """BrokerNotAvailable, or STALE_BROKER_EPOCH: the sender's registration has ended."""
    require_acting(now, broker)
    require_next(now, broker, "controlled_shutdown", QUEUED, subject)
    unknown = not_(is_known_as_live(now, broker, subject))
    if version.shutdown_fenced:
        unknown = any_of(unknown, may_be_outdated(now, broker, subject))
    require(unknown,                                "the controller does not know the sender")

    new.former        = now.former.without(subject)
    new.cache[broker] = dequeued(now.cache[broker])


def led_by(now, broker, subject):
    """Partitions with other replicas that it leads, as far as the controller knows."""
    return lambda partition: all_of(
        now.partition[partition].state[
            context_of(now, broker, partition).version].leader == subject,
        some(BROKERS, lambda one: all_of(
            now.partition[partition].replicas.has(one), one != subject)))


@transition(broker=BROKERS, leader=BROKERS)
def controller_moves_leader(now, new, broker, leader):
    """The first ISR member that stays becomes leader; members that shut down leave the ISR.

    Kafka: ControlledShutdownPartitionLeaderElectionStrategy
    """
    elect(now, new, broker, leader, MOVES)


@transition(broker=BROKERS)
def controller_finds_no_other_isr_member(now, new, broker):
    """No other ISR member is alive: the broker that shuts down remains the leader."""
    find_no_leader(now, new, broker, MOVES)


@transition(broker=BROKERS)
def controller_sends_shutdown_batch(now, new, broker):
    """LeaderAndIsr to all replicas, including the broker that shuts down, so that it stops leading.

    Why: in 1.1 and 2.0 that broker was left out, and kept its old leader epoch (KAFKA-7482).
    """
    shutting = now.cache[broker].shutting

    def is_notified(mine, target):
        reachable = not_(mine.lost.has(target))
        return reachable if version.leaving_leader_is_notified else all_of(
            reachable, not_(shutting.has(target)))

    send_batch(now, new, broker, MOVES, at("stopping"), is_notified)


@transition(broker=BROKERS)
def controller_stops_follower(now, new, broker):
    """StopReplica for the partitions that the broker follows, in a separate batch."""
    cache = now.cache[broker]
    require_acting(now, broker)
    require(cache.stage == "stopping",              "the partitions that it led are moved")

    new.cache[broker] = cache.but(
        stage=when(some_replica_is_gone(now, broker), at("retiring"), at("answering")),
        queue=lam(BROKERS, lambda target: stop_replica(
            now, broker, cache.queue[target], target,
            lambda partition, one: context_of(now, broker, partition).gone.has(one))))


@transition(broker=BROKERS)
def controller_answers_shutdown(now, new, broker):
    """The broker may stop if it leads nothing any more; otherwise it would ask again."""
    cache = now.cache[broker]
    require_acting(now, broker)
    require(cache.stage == "answering",             "all is done for the leaving broker")

    def may_go(one):
        return all_of(cache.subject == one, now.leaving[one] == "asks",
                      not_(some(PARTITIONS, led_by(now, broker, one))))

    new.cache[broker].stage   = "idle"
    new.cache[broker].subject = None
    new.leaving = lam(BROKERS, lambda one: when(may_go(one), "may_go", now.leaving[one]))


@transition(ends="lost", broker=BROKERS)
def broker_stops(now, new, broker):
    """The process stops cleanly: its session is closed, and its ephemeral znodes are deleted.

    Its event queue is dropped.

    Kafka: ShutdownEventThread, put first
    """
    require(now.up.has(broker),                     "the process runs")
    require(now.leaving[broker] == "may_go",        "the controller let it go")

    new.up = now.up.without(broker)
    forget_election(new, broker)
    clear_memory(now, new, broker)
    new.zk    = without_nodes_of(now.zk, broker).but(outlived=now.zk.outlived.without(broker))
    new.cache = notified(
        now, "broker_change", but=broker, fires=now.zk.registered.has(broker),
        caches=lambda other: when(other == broker, BLANK, without_watches(now, other, broker)))

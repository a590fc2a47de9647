"""Controlled shutdown: a broker asks to go, and the controller moves what it leads to others first.

Source: KafkaServer.controlledShutdown, KafkaController.doControlledShutdown (2.3)
"""

from model.cluster.batch import batch, stop_replica
from model.cluster.elections import (
    bring_online,
    is_first,
    require_not_written_by_a_newer,
    some_is_gone,
)
from model.cluster.lifecycle import forget_all
from model.cluster.state import PARTITIONS
from model.cluster.thread import (
    at,
    keep,
    online,
    own,
    require_acting,
    require_idle,
    require_writing,
)
from model.language import (
    BLANK,
    all_of,
    every,
    lam,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.protocol.state import BROKERS


@transition(broker=BROKERS)
def broker_asks_to_go(now, new, broker):
    """A broker that is to be stopped sends ControlledShutdown to the controller."""
    require(now.up.has(broker),                     "the process runs")
    require(now.zk.registered.has(broker),          "it is registered")
    require(now.leaving[broker] == "stays",         "it was not to be stopped")

    new.spent.shutdowns = now.spent.shutdowns + 1
    new.leaving[broker] = "asks"
    new.asked           = now.asked.including(broker)


@transition(broker=BROKERS, subject=BROKERS)
def controller_begins_shutdown(now, new, broker, subject):
    """The broker counts as shutting down at once: it leads nothing new from now on."""
    cache = now.cache[broker]
    require_acting(now, broker)
    require_idle(now, broker)
    require(now.asked.has(subject),                 "a ControlledShutdown of the broker is queued")
    require(cache.live.has(subject),                "the controller takes the broker for alive")

    leads = led_by(now, broker, subject)
    new.asked = now.asked.without(subject)
    new.cache[broker] = cache.but(
        stage=when(some(PARTITIONS, leads), at("moving"), at("stopping")),
        shutting=cache.shutting.including(subject), subject=subject)
    keep(now, new, broker, lambda partition: own(now, broker, partition).but(
        due=leads(partition),
        gone=now.partition[partition].replicas.such_that(
            lambda one: all_of(one == subject, not_(leads(partition))))))


def led_by(now, broker, subject):
    """Partitions with other replicas that it leads, as far as the controller knows."""
    return lambda partition: all_of(
        now.partition[partition].state[own(now, broker, partition).version].leader == subject,
        some(BROKERS, lambda one: all_of(
            now.partition[partition].replicas.has(one), one != subject)))


def may_succeed(now, broker, one):
    return all_of(now.replicas.has(one), now.state[now.version].isr.has(one),
                  online(now, broker).has(one))


def require_move(now, broker):
    require(now.cache[broker].stage == "moving",    "it moves what a leaving broker leads")
    require(now.context[broker].due,                "the leaving broker leads the partition")


@transition(broker=BROKERS, leader=BROKERS)
def controller_moves_leader(now, new, broker, leader):
    """The first ISR member that stays becomes the leader; who is leaving goes out of the ISR.

    Kafka: ControlledShutdownPartitionLeaderElectionStrategy
    """
    require_writing(now, broker)
    require_move(now, broker)
    require_not_written_by_a_newer(now, broker)
    require(may_succeed(now, broker, leader),       "the replica is live, in the ISR, and stays")
    require(is_first(now, leader, lambda other: may_succeed(now, broker, other)),
                                                    "no such replica stands before it")

    shutting = now.cache[broker].shutting
    bring_online(now, new, broker, leader, now.state[now.version].isr.such_that(
        lambda member: not_(shutting.has(member))))


@transition(broker=BROKERS)
def controller_finds_no_successor(now, new, broker):
    """No other ISR member lives: the leaving broker goes on leading."""
    require_acting(now, broker)
    require_move(now, broker)
    require(not_(some(BROKERS, lambda one: may_succeed(now, broker, one))),
                                                    "nobody else of the ISR is live and stays")

    new.context[broker].due = False


@transition(broker=BROKERS)
def controller_tells_moves(now, new, broker):
    """LeaderAndIsr to all replicas, to the leaving broker too, so that it stops leading.

    Why: in 1.1 and 2.0 it was left out, and went on in its old epoch (KAFKA-7482).
    """
    cache = now.cache[broker]
    require_acting(now, broker)
    require(cache.stage == "moving",                "it moves what a leaving broker leads")
    require(every(PARTITIONS, lambda partition: not_(own(now, broker, partition).due)),
                                                    "no partition waits to be moved")

    def goes(partition, target):
        batched = own(now, broker, partition).batched
        if version.leaving_leader_is_told:
            return batched
        return all_of(batched, not_(cache.shutting.has(target)))

    new.cache[broker] = cache.but(
        stage="stopping",
        queue=batch(now, broker, goes, lambda partition: own(now, broker, partition).batched))
    keep(now, new, broker, lambda partition: own(now, broker, partition).but(batched=False))


@transition(broker=BROKERS)
def controller_stops_follower(now, new, broker):
    """StopReplica for what the leaving broker follows, in a batch of its own."""
    cache = now.cache[broker]
    require_acting(now, broker)
    require(cache.stage == "stopping",              "what the leaving broker led is moved")

    new.cache[broker] = cache.but(
        stage=when(some_is_gone(now, broker), at("retiring"), at("answering")),
        queue=lam(BROKERS, lambda target: stop_replica(
            now, broker, cache.queue[target], target,
            lambda partition, one: own(now, broker, partition).gone.has(one))))


@transition(broker=BROKERS)
def controller_answers_shutdown(now, new, broker):
    """The broker may go if it leads nothing any more; else it would ask again."""
    cache = now.cache[broker]
    require_acting(now, broker)
    require(cache.stage == "answering",             "all is done for the leaving broker")

    def may_go(one):
        return all_of(cache.subject == one, now.leaving[one] == "asks",
                      not_(some(PARTITIONS, led_by(now, broker, one))))

    new.cache[broker].stage   = "idle"
    new.cache[broker].subject = None
    new.leaving = lam(BROKERS, lambda one: when(may_go(one), "may_go", now.leaving[one]))


@transition(broker=BROKERS)
def broker_stops(now, new, broker):
    """The process ends in order: its session is closed, and its nodes go with it."""
    require(now.up.has(broker),                     "the process runs")
    require(now.leaving[broker] == "may_go",        "the controller let it go")

    forget_all(now, new, broker)
    new.zk = now.zk.but(
        registered=now.zk.registered.without(broker),
        controller=when(now.zk.controller == broker, None, now.zk.controller))
    new.cache = lam(BROKERS, lambda other: when(
        other == broker, BLANK,
        now.cache[other].but(reached=now.cache[other].reached.without(broker))))

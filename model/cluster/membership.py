"""The controller handles starts and failures of brokers.

One BrokerChange event reads once, then handles new, bounced and dead brokers one after the other,
with no other event in between.

Source: KafkaController.processBrokerChange, onBrokerStartup, onBrokerFailure (2.3)
"""

from typing import Any, NamedTuple

from model.cluster.batch import batch, update_metadata_of_live_brokers
from model.cluster.events import is_next, read_with_watches
from model.cluster.state import PARTITIONS
from model.cluster.thread import (
    at,
    context_of,
    done,
    leader_is_among,
    offline_again,
    require_acting,
    with_their_log,
    write_contexts,
)
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
from model.protocol.state import BROKERS


def without_channels(now, broker, brokers):
    """The queues of these brokers are dropped with their channels."""
    return lam(BROKERS, lambda target: when(
        brokers.has(target), BLANK, now.cache[broker].queue[target]))


class MembershipChange(NamedTuple):
    """What one event found: new ids, ids under another registration (bounced), and ids that are
    gone."""

    new: Any
    bounced: Any
    dead: Any


def membership_change(now, broker):
    """The changes of the present event. They are read once, when the event is taken from the queue;
    those that are not handled yet are kept. Up to 2.1 only ids were compared (KIP-380)."""
    cache, registered = now.cache[broker], now.zk.registered
    taken_up = cache.stage == "comparing"
    bounced = cache.live.within(registered).such_that(lambda one: not_(cache.reached.has(one)))
    return MembershipChange(
        registered.such_that(lambda one: all_of(not_(taken_up), not_(cache.live.has(one)))),
        when(taken_up, cache.bounced, bounced),
        when(taken_up, cache.dead, cache.live.such_that(lambda one: not_(registered.has(one)))))


def require_change(now, broker):
    """The registrations are read when the event is taken; afterwards the remaining changes are in
    memory."""
    taken_up = now.cache[broker].stage == "comparing"
    require_acting(now, broker)
    require(any_of(taken_up, now.zk.registered.has(broker)), "it has a ZooKeeper session")
    require(any_of(taken_up, all_of(
        now.cache[broker].stage == "idle", is_next(now, broker, "broker_change"))),
                                                    "a BrokerChange is next in its queue, or is "
                                                    "worked on")


def with_change(now, broker, found, done_with=None):
    """The event is taken from the queue. Brokers that bounced or died have no channel any more, and
    are kept in memory, except those that the thread is `done_with`. Registrations and data of
    new and bounced brokers are read now, although they are handled later."""
    cache = now.cache[broker]
    cache = cache.but(
        events=when(cache.stage == "comparing", cache.events, cache.events.rest()),
        watched=when(cache.stage == "comparing", cache.watched, read_with_watches(now)),
        endpoints=lam(BROKERS, lambda one: when(
            any_of(found.new.has(one), found.bounced.has(one)),
            now.zk.endpoints[one], now.cache[broker].endpoints[one])))
    if not version.bounced_brokers_detected:        # `liveBrokers` is what was read, at once
        taken_up = cache.stage == "comparing"
        known    = when(taken_up, cache.live, now.zk.registered)
        return cache.but(
            dead=without_brokers(found.dead, done_with), live=known, reached=known,
            endpoints=lam(BROKERS, lambda one: when(
                all_of(not_(taken_up), known.has(one)),
                now.zk.endpoints[one], cache.endpoints[one])),
            queue=without_channels(now, broker, found.dead))
    reached = when(cache.stage == "comparing", cache.reached, without_brokers(
        cache.reached.joined(found.bounced), found.dead))
    return cache.but(
        reached=reached, bounced=without_brokers(found.bounced, done_with),
        dead=without_brokers(found.dead, done_with),
        queue=without_channels(now, broker, found.bounced.joined(found.dead)))


def without_brokers(brokers, gone):
    return brokers if gone is None else brokers.such_that(lambda one: not_(gone.has(one)))


@transition(broker=BROKERS)
def controller_sees_new_brokers(now, new, broker):
    """There are registered ids that the controller does not know: new brokers."""
    found = membership_change(now, broker)
    require_change(now, broker)
    require(not_(found.new.is_empty()),             "a registered broker is new to it")

    cache = with_change(now, broker, found)
    new.cache[broker] = cache.but(
        stage="announcing_new", started=found.new, live=cache.live.joined(found.new),
        reached=cache.reached.joined(found.new))


@transition(only=lambda v: v.bounced_brokers_detected, broker=BROKERS)
def controller_sees_bounced_brokers(now, new, broker):
    """A known id has a new registration: the broker failed and started again."""
    found = membership_change(now, broker)
    require_change(now, broker)
    require(found.new.is_empty(),                   "no registered broker is new to it")
    require(not_(found.bounced.is_empty()),         "a broker has registered again")

    on_broker_failure(now, new, broker, found, found.bounced, started=found.bounced)


@transition(broker=BROKERS)
def controller_sees_dead_brokers(now, new, broker):
    """Ids that are not registered any more: their replicas go offline."""
    found = membership_change(now, broker)
    require_change(now, broker)
    require(found.new.is_empty(),                   "no registered broker is new to it")
    if version.bounced_brokers_detected:
        require(found.bounced.is_empty(),           "no broker has registered again")
    require(not_(found.dead.is_empty()), "a broker that it counts as live is not registered")

    on_broker_failure(now, new, broker, found, found.dead)


@transition(broker=BROKERS)
def controller_finds_brokers_unchanged(now, new, broker):
    """The change was reverted, or was read with the event before."""
    found = membership_change(now, broker)
    require_change(now, broker)
    require(found.new.is_empty(),                   "no registered broker is new to it")
    require(found.bounced.is_empty(),               "no broker has registered again")
    require(found.dead.is_empty(), "every broker that it counts as live is registered")

    new.cache[broker] = with_change(now, broker, found)


@transition(only=lambda v: v.broker_epoch and not v.bounced_brokers_detected, broker=BROKERS)
def controller_misses_bounced_brokers(now, new, broker):
    """The watch fired, and the ids that are read are the known ones: the controller does nothing.

    Why:   until 2.1 no request names a registration, so that the new one is the old one to all, and
           this is `controller_finds_brokers_unchanged`; here the brokers know better.
    Kafka: KafkaController.BrokerChange until KIP-380
    """
    found = membership_change(now, broker)
    require_change(now, broker)
    require(found.new.is_empty(),                   "no registered broker is new to it")
    require(not_(found.bounced.is_empty()),         "a broker has registered again")
    require(found.dead.is_empty(), "every broker that it counts as live is registered")

    new.cache[broker] = with_change(now, broker, found)


def on_broker_failure(now, new, broker, found, failed, started=None):
    """onBrokerFailure: all replicas of these brokers go offline. Bounced brokers have `started`
    again, under the registration that was read with the event."""
    cache = with_change(now, broker, found, done_with=failed)
    live = without_brokers(cache.live, failed)
    reached = without_brokers(cache.reached, failed) if started is None else cache.reached
    take_offline(
        now, new, broker,
        cache.but(
            live=live, reached=reached, started=[] if started is None else started,
            shutting=without_brokers(cache.shutting, failed)),
        lambda partition: without_their_log_dirs(context_of(now, broker, partition), failed).but(
            gone=now.partition[partition].replicas.within(failed)), failed)


def without_their_log_dirs(mine, failed):
    """Forgets failed log directories of these brokers: a broker starts with the directories that
    work."""
    mine = mine.but(lost=without_brokers(mine.lost, failed))
    if not version.responses_fenced:                # a response that waits is believed all the same
        return mine
    return mine.but(
        refusing=without_brokers(mine.refusing, failed),
        obeying=without_brokers(mine.obeying, failed))


def take_offline(now, new, broker, cache, context, failed=None):
    """onReplicasBecomeOffline: elections for partitions without a live leader, then the replicas go
    offline. Partitions that had no leader before are included; up to 0.11 (onBrokerFailure) it was
    elected for them, too, but only those led by `failed` brokers counted as without a leader.

    `cache` and `context(partition)` are the controller's present memory, with the replicas that are
    `gone`.
    """
    def was_offline(partition):
        return context_of(now, broker, partition).offline

    def loses_its_leader(partition):
        if not version.log_dirs_fail_alone:         # up to 0.11
            return leader_is_among(now, broker, partition, failed)
        can_lead = with_their_log(without_brokers(cache.live, cache.shutting), context(partition))
        return not_(leader_is_among(now, broker, partition, can_lead))

    new.cache[broker] = cache.but(
        stage=when(some(PARTITIONS, loses_its_leader), at("electing"),
              when(some(PARTITIONS, was_offline), at("retrying"), at("removing_followers"))))
    write_contexts(now, new, broker, lambda partition: context(partition).but(
        offline=any_of(was_offline(partition), loses_its_leader(partition)),
        due=any_of(was_offline(partition), loses_its_leader(partition))))


@transition(broker=BROKERS)
def controller_sends_update_metadata_for_dead_brokers(now, new, broker):
    """No partition lost its leader: UpdateMetadata with the live brokers is sent all the same."""
    cache = now.cache[broker]
    require_acting(now, broker)
    require(cache.stage == "notifying",             "replicas that did not lead went offline")

    new.cache[broker] = cache.but(
        stage=when(cache.started.is_empty(), done(cache), at("announcing_new")),
        queue=update_metadata_of_live_brokers(now, broker))


@transition(broker=BROKERS)
def controller_sends_update_metadata_for_new_brokers(now, new, broker):
    """UpdateMetadata: with all partitions to the brokers that started, with none to the others.

    Up to 2.1 it contained all partitions for every broker.
    """
    cache = now.cache[broker]
    require_acting(now, broker)
    require(cache.stage == "announcing_new",        "brokers have started")

    live = cache.live.joined(cache.started)         # those that bounced were taken out before
    new.cache[broker] = cache.but(
        stage="instating", live=live,
        queue=update_metadata_of_live_brokers(now, broker, live, cache.started.has))


@transition(broker=BROKERS)
def controller_brings_replicas_online(now, new, broker):
    """Replicas of brokers that started go Online: LeaderAndIsr to them, UpdateMetadata to all.

    Then offline partitions are tried again.
    """
    cache = now.cache[broker]
    require_acting(now, broker)
    require(cache.stage == "instating",             "brokers have started, and all are notified")

    new.cache[broker] = cache.but(
        stage="electing", started=[],
        queue=batch(now, broker,
            goes=lambda partition, target: cache.started.has(target),
            tells=lambda partition: some(BROKERS, lambda one: all_of(
                cache.started.has(one), now.partition[partition].replicas.has(one)))))
    write_contexts(now, new, broker, offline_again(now, broker))

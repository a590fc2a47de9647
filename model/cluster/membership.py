"""Brokers that come and go, as the controller notices it.

The watch on /brokers/ids fires once, and is set again when the children are read: between the two
any number of changes collapse. So an event is pending exactly while what was read is not what is
there, and no flag is needed. New, bounced and dead brokers are an event each here; Kafka reads once
for the three.

Source: KafkaController.processBrokerChange, onBrokerStartup, onBrokerFailure (2.3)
"""

from model.cluster.batch import batch, live_brokers
from model.cluster.state import PARTITIONS
from model.cluster.thread import (
    at,
    keep,
    leader_is_among,
    offline_again,
    own,
    require_acting,
    require_idle,
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
    when,
)
from model.protocol.office import require_office
from model.protocol.state import BROKERS


def without_channels(now, broker, brokers):
    """The queues of these brokers are dropped with their channels."""
    return lam(BROKERS, lambda target: when(
        brokers.has(target), BLANK, now.cache[broker].queue[target]))


def bounced(now, broker):
    """The ids are the same, the registrations are not (KIP-380)."""
    cache = now.cache[broker]
    return cache.live.within(now.zk.registered).such_that(
        lambda one: not_(cache.reached.has(one)))


@transition(broker=BROKERS)
def controller_sees_new_brokers(now, new, broker):
    """Registered ids that it does not have: they are welcomed."""
    cache, registered = now.cache[broker], now.zk.registered
    arrived = registered.such_that(lambda one: not_(cache.live.has(one)))
    require_office(now, broker)
    require_idle(now, broker)
    require(not_(arrived.is_empty()),               "a registered broker is new to it")

    new.cache[broker] = cache.but(
        stage="welcoming", started=arrived, live=cache.live.joined(arrived),
        reached=cache.reached.joined(arrived))


@transition(broker=BROKERS)
def controller_sees_dead_brokers(now, new, broker):
    """Ids that are not registered any more: their replicas go offline."""
    cache, registered = now.cache[broker], now.zk.registered
    dead = cache.live.such_that(lambda one: not_(registered.has(one)))
    require_office(now, broker)
    require_idle(now, broker)
    require(not_(dead.is_empty()),                  "a broker that it takes for alive is gone")

    fail(now, new, broker, dead, started=[])


@transition(only=lambda v: v.bounces_seen, broker=BROKERS)
def controller_sees_bounced_brokers(now, new, broker):
    """A known id under a new registration: the broker failed, and it started."""
    back = bounced(now, broker)
    require_office(now, broker)
    require_idle(now, broker)
    require(not_(back.is_empty()),                  "a broker has registered anew")

    fail(now, new, broker, back, started=back)


@transition(only=lambda v: not v.bounces_seen, broker=BROKERS)
def controller_overlooks_bounced_brokers(now, new, broker):
    """The watch fired, the ids are read, and they are those that it has: nothing is to be done.

    Kafka: KafkaController.BrokerChange until KIP-380
    """
    cache = now.cache[broker]
    back = bounced(now, broker)
    require_office(now, broker)
    require_idle(now, broker)
    require(not_(back.is_empty()),                  "a broker has registered anew")

    new.cache[broker].reached = cache.reached.joined(back)


def fail(now, new, broker, failed, started):
    """onBrokerFailure: elections where a leader is lost, then its replicas go offline."""
    cache = now.cache[broker]
    live = cache.live.such_that(lambda one: not_(failed.has(one)))
    can_lead = live.such_that(lambda one: not_(cache.shutting.has(one)))

    def was_offline(partition):
        return own(now, broker, partition).offline

    def loses_its_leader(partition):
        return not_(any_of(
            was_offline(partition), leader_is_among(now, broker, partition, can_lead)))

    new.cache[broker] = cache.but(
        stage=when(some(PARTITIONS, loses_its_leader), at("electing"),
              when(some(PARTITIONS, was_offline), at("retrying"), at("removing_followers"))),
        live=live, started=started,
        shutting=cache.shutting.such_that(lambda one: not_(failed.has(one))),
        reached=cache.reached.such_that(lambda one: not_(failed.has(one))).joined(started),
        queue=without_channels(now, broker, failed))
    keep(now, new, broker, lambda partition: own(now, broker, partition).but(
        offline=any_of(was_offline(partition), loses_its_leader(partition)),
        due=any_of(was_offline(partition), loses_its_leader(partition)),
        gone=now.partition[partition].replicas.within(failed)))


@transition(broker=BROKERS)
def controller_notifies_brokers(now, new, broker):
    """No partition lost its leader: UpdateMetadata all the same, to say who is alive."""
    cache = now.cache[broker]
    require_acting(now, broker)
    require(cache.stage == "notifying",             "replicas went offline that did not lead")

    new.cache[broker] = cache.but(
        stage=when(cache.started.is_empty(), at("idle"), at("welcoming")),
        queue=live_brokers(now, broker))


@transition(broker=BROKERS)
def controller_welcomes_brokers(now, new, broker):
    """UpdateMetadata: to those that started about every partition, to the others about none.

    Until 2.1 every broker was told of every partition.
    """
    cache = now.cache[broker]
    require_acting(now, broker)
    require(cache.stage == "welcoming",             "brokers have started")

    live = cache.live.joined(cache.started)         # those that bounced were taken out before
    new.cache[broker] = cache.but(
        stage="instating", live=live,
        queue=live_brokers(now, broker, live, cache.started.has))


@transition(broker=BROKERS)
def controller_instates_replicas(now, new, broker):
    """Replicas of brokers that started go Online: LeaderAndIsr to them, UpdateMetadata to all.

    Then offline partitions are tried again.
    """
    cache = now.cache[broker]
    require_acting(now, broker)
    require(cache.stage == "instating",             "brokers have started, and all are told")

    new.cache[broker] = cache.but(
        stage="electing", started=[],
        queue=batch(now, broker,
            goes=lambda partition, target: cache.started.has(target),
            tells=lambda partition: some(BROKERS, lambda one: all_of(
                cache.started.has(one), now.partition[partition].replicas.has(one)))))
    keep(now, new, broker, offline_again(now, broker))

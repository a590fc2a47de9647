"""The controller handles failures and starts of brokers by its watch of /brokers/ids.

This watch needs no notification in the state: the controller compares the brokers it knows with the
registered brokers, however often the watch fired. Each broker is one event.

Source: KafkaController.BrokerChange, onBrokerFailure, onReplicasBecomeOffline, onBrokerStartup
"""

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
from model.protocol.controllership import require_task
from model.protocol.state import BROKERS
from model.topics.elections import elect, require_current, task, task_after_event, waits_for_leader
from model.topics.replicas import (
    going_offline,
    is_assigned,
    is_live_replica,
    leaders_after_leaving,
    may_go_online,
    moved_to,
    named,
    removes,
    states_without,
)
from model.topics.requests import send_leader_and_isr
from model.topics.state import PARTITIONS
from model.topics.tables import PARTITION_TABLE, state_after
from model.topics.zookeeper import has_partition, in_list


def hosts(cache, broker):
    """The broker is in some replica list that the controller knows."""
    return some(PARTITIONS, lambda p: in_list(cache.known[p], broker))


@transition(broker=BROKERS, failed=BROKERS)
def controller_sees_failure(now, new, broker, failed):
    """A broker is not registered any more, or is registered again: its partitions go offline.

    Requests in flight to it are dropped. If the topic is being deleted, its replicas become
    ineligible instead, and with them the topic.

    Why:   with KIP-380 a broker that is back before the controller looked is seen by its epoch, and
           starts in the same event; up to 2.1 it looks as if nothing had happened.
    """
    cache = now.cache[broker]
    require_task(now, broker, "waits",              "it is not in the middle of another event")
    require(any_of(cache.live.has(failed), cache.shutting.has(failed)),
                                                    "the broker is alive, as far as it knows")
    registered = now.zk.registered.has(failed)
    known = registered
    if version.broker_epoch:
        known = all_of(registered, cache.reached.has(failed))
    require(not_(known),                            "its registration is gone")

    def leads(p):
        others = cache.live.without(failed)
        return some(BROKERS, lambda b: all_of(cache.leader[p] == b, others.has(b)))

    hit = all_of(cache.queued, hosts(cache, failed))
    new.cache[broker] = cache.but(
        task=when(hit, "resumes", task(
            cache, all_of(has_partition(cache.known, 0), not_(cache.queued)),
            "elects_for_failed", task(cache, registered, "starts_returned", "waits"))),
        live=cache.live.without(failed), returns=when(registered, failed, None),
        reached=when(
            registered, cache.reached.including(failed), cache.reached.without(failed)),
        shutting=cache.shutting.without(failed),
        gone=when(all_of(has_partition(cache.known, 0), not_(cache.queued)), failed, None),
        partition=lam(PARTITIONS, lambda p: state_after(
            PARTITION_TABLE, cache.partition[p], "OfflinePartition",
            all_of(not_(cache.queued), cache.led[p], not_(leads(p))))),
        replica=moved_to(now, broker, "ReplicaDeletionIneligible", lambda p, b: all_of(
            hit, b == failed, is_assigned(now, broker, p, b))),
        ineligible=any_of(cache.ineligible, hit))
    new.request[now.belief[broker]][failed] = BLANK


@transition(broker=BROKERS)
def controller_elects_for_failed(now, new, broker):
    """Partitions whose leader failed get another, where a live member of the ISR is left."""
    require_task(now, broker, "elects_for_failed",  "a broker failed")
    require_current(now, broker, writes=some(
        PARTITIONS, lambda p: waits_for_leader(now, broker, p)))

    elect(now, new, broker, "takes_offline")


def is_of_failed(now, broker, partition, replica):
    """The replica is one of the broker whose failure is handled."""
    return all_of(now.cache[broker].gone == replica, is_assigned(now, broker, partition, replica))


@transition(broker=BROKERS)
def controller_takes_replicas_offline(now, new, broker):
    """The failed broker's replicas go offline and leave the ISR.

    The other live replicas are notified, whether that changed anything or not.
    """
    cache = now.cache[broker]
    require_task(now, broker, "takes_offline",      "its partitions were given to others")
    require_current(now, broker, writes=removes(
        now, broker, lambda p, b: is_of_failed(now, broker, p, b)))

    gone = going_offline(now, broker, lambda p, b: is_of_failed(now, broker, p, b))
    new.zk.state      = states_without(now, broker, gone)
    new.cache[broker] = cache.but(
        task=task_after_event(cache), gone=None,
        replica=moved_to(now, broker, "OfflineReplica", gone),
        leader=leaders_after_leaving(now, broker, gone))
    send_leader_and_isr(now, new, broker,
                to=lambda p, b: all_of(
                    cache.led[p], some(BROKERS, lambda g: gone(p, g)), cache.gone != b,
                    is_live_replica(now, broker, p, b)),
                leader=lambda p: named(now, p, gone))


@transition(broker=BROKERS, started=BROKERS)
def controller_sees_start(now, new, broker, started):
    """A broker registered: it is sent the state of every replica that it hosts.

    That includes a topic that is being deleted; its deletion may go on.

    Kafka: onBrokerStartup, TopicDeletionManager.resumeDeletionForTopics
    """
    cache = now.cache[broker]
    require_task(now, broker, "waits",              "it is not in the middle of another event")
    require(now.zk.registered.has(started),         "the broker is registered")
    require(not_(any_of(cache.live.has(started), cache.shutting.has(started))),
                                                    "it is dead, as far as the controller knows")

    handle_broker_startup(now, new, broker, started, cache.reached.including(started))


@transition(only=lambda v: v.broker_epoch, broker=BROKERS, started=BROKERS)
def controller_starts_bounced_broker(now, new, broker, started):
    """A broker that failed and registered again is started, in the same event.

    Its registration is the one that was read at the beginning of the event.

    Kafka: BrokerChange, bouncedBrokers (2.2)
    """
    cache = now.cache[broker]
    require_task(now, broker, "starts_returned",    "what it was missed for is done")
    require(cache.returns == started,               "it is the broker that was missed")

    handle_broker_startup(now, new, broker, started, cache.reached)


def handle_broker_startup(now, new, broker, started, reached):
    cache = now.cache[broker]

    def is_notified(p, b):
        return all_of(b == started, is_assigned(now, broker, p, b),
                      may_go_online(now, broker, p, b))

    hit = all_of(cache.queued, hosts(cache, started))
    new.cache[broker] = cache.but(
        task=when(hit, "resumes", task(
            cache, all_of(has_partition(cache.known, 0), not_(cache.queued)),
            "elects_for_started", "waits")),
        live=cache.live.including(started), reached=reached, returns=None,
        replica=moved_to(now, broker, "OnlineReplica", is_notified),
        ineligible=all_of(cache.ineligible, not_(hit)))
    send_leader_and_isr(now, new, broker,
                to=lambda p, b: all_of(is_notified(p, b), cache.led[p], reached.has(b)),
                leader=lambda p: cache.leader[p], returned=True)


@transition(broker=BROKERS)
def controller_elects_for_started(now, new, broker):
    """Partitions that wait for a leader get one, if the broker that started may lead them."""
    # redundant "the version that it read is current", because since 2.3 a state whose partition
    # waits for a leader names none: no leader is in the way.
    require_task(now, broker, "elects_for_started", "a broker started")
    require_current(now, broker, writes=some(
        PARTITIONS, lambda p: waits_for_leader(now, broker, p)))

    elect(now, new, broker, "waits")

"""Elections while the leader is alive: of the preferred replica, and at controlled shutdown.

Source: KafkaController.onPreferredReplicaElection, doControlledShutdown (2.3)
"""

from model.language import all_of, is_none, lam, not_, require, some, transition, version
from model.protocol.controllership import require_fence, require_task
from model.protocol.state import BROKERS
from model.protocol.strategies import controlled_shutdown, preferred_replica
from model.topics.elections import require_current, state_writer, write_leaders
from model.topics.replicas import (
    going_offline,
    is_assigned,
    is_live_replica,
    leaders_after_leaving,
    moved_to,
    named,
    removes,
    states_without,
)
from model.topics.requests import send_leader_and_isr, send_stop_replica
from model.topics.state import PARTITIONS
from model.topics.zookeeper import replica_order


@transition(broker=BROKERS, partition=PARTITIONS)
def controller_elects_preferred(now, new, broker, partition):
    """The head of a partition's list leads again, as an administrator or the imbalance wants it.

    What stands about it in /admin/preferred_replica_election is modelled in `cluster`. A broker
    that asked to go is sent nothing here after its StopReplica: of a connection's requests the last
    but one is a LeaderAndIsr (`state.py`).
    Story: specs/stories/leaders_are_moved.story
    """
    cache = now.cache[broker]
    choice = preferred_replica(
        replica_order(cache.known[partition]), now.zk.state[partition].isr, cache.live,
        version.preferred_needs_isr)
    require_task(now, broker, "waits",              "it is not in the middle of another event")
    require(not_(cache.queued),                     "the topic is not queued for deletion")
    require(choice.exists,                          "the head of the list is alive and in the ISR")
    require_fence(now, broker)

    write_leaders(now, new, broker, "waits", lambda p: p == partition, lambda p: choice,
                  recipients=cache.live)
    new.spent.elections = now.spent.elections + 1


def has_other_replicas(now, broker, partition):
    """The partition has a state and more than one replica."""
    cache = now.cache[broker]
    return all_of(
        cache.led[partition], not_(cache.queued), not_(is_none(cache.known[partition][1])))


@transition(broker=BROKERS, subject=BROKERS)
def controller_begins_controlled_shutdown(now, new, broker, subject):
    """A broker requests a controlled shutdown: from now on it is not elected.

    It does not count as alive.

    A topic of one replica is left alone, and so is one that is queued for deletion (2.1).
    Story: specs/stories/leaders_are_moved.story
    """
    cache = now.cache[broker]
    require_task(now, broker, "waits",              "it is not in the middle of another event")
    require(cache.live.has(subject),                "the broker is alive, as far as it knows")
    require(now.up.has(subject),                    "the broker runs")
    require(now.zk.registered.has(subject),         "the broker is registered")

    new.cache[broker] = cache.but(
        task="moves_leaders", gone=subject,
        live=cache.live.without(subject), shutting=cache.shutting.including(subject),
        followed=lam(PARTITIONS, lambda p: all_of(
            has_other_replicas(now, broker, p), is_assigned(now, broker, p, subject),
            not_(cache.leader[p] == subject))))
    new.spent.shutdowns = now.spent.shutdowns + 1


def is_led(now, broker, partition):
    """The broker that shuts down leads the partition."""
    cache = now.cache[broker]
    return all_of(has_other_replicas(now, broker, partition), some(BROKERS, lambda b: all_of(
        cache.gone == b, cache.leader[partition] == b)))


def successor(now, broker, partition):
    cache = now.cache[broker]
    return controlled_shutdown(
        replica_order(cache.known[partition]), now.zk.state[partition].isr,
        cache.live.joined(cache.shutting), cache.shutting)


def is_to_move(now, broker, partition):
    may_write, _ = state_writer(now, broker)
    return all_of(is_led(now, broker, partition), successor(now, broker, partition).exists,
                  may_write(partition))


@transition(broker=BROKERS)
def controller_moves_leaders(now, new, broker):
    """The first remaining ISR member becomes leader of what the broker leads.

    The broker leaves the ISR. If no member remains, the broker keeps leading.
    """
    cache = now.cache[broker]
    require_task(now, broker, "moves_leaders",      "a broker asked to go")
    require_current(now, broker, writes=some(
        PARTITIONS, lambda p: is_to_move(now, broker, p)))

    write_leaders(now, new, broker, "stops_followers",
                  lambda p: is_to_move(now, broker, p),
                  lambda p: successor(now, broker, p),
                  recipients=cache.live.joined(cache.shutting.such_that(lambda b: cache.gone == b)))


def is_followed(now, broker, partition, replica):
    """The replica on the broker that shuts down is a follower."""
    cache = now.cache[broker]
    return all_of(cache.followed[partition], cache.gone == replica)


@transition(broker=BROKERS)
def controller_stops_followers(now, new, broker):
    """The broker that shuts down is sent StopReplica for its followers, and leaves their ISRs.

    The other replicas are notified.

    Why:   since 2.6 it goes on following, whoever leads: the StopReplica has the leader epoch that
           it knows (KIP-570; fixed in 3.5). Only that of a partition without a leader is newer.
    """
    cache = now.cache[broker]
    require_task(now, broker, "stops_followers",    "what the broker led is moved")
    require_current(now, broker, writes=removes(
        now, broker, lambda p, b: is_followed(now, broker, p, b)))

    def has_leader(p):
        return not_(is_none(cache.leader[p]))

    gone = going_offline(now, broker, lambda p, b: is_followed(now, broker, p, b))
    new.zk.state      = states_without(now, broker, gone)
    new.cache[broker] = cache.but(
        task="waits", gone=None, followed=lam(PARTITIONS, lambda p: False),
        replica=moved_to(now, broker, "OfflineReplica", gone),
        leader=leaders_after_leaving(now, broker, gone))
    send_leader_and_isr(now, new, broker,
                to=lambda p, b: all_of(cache.followed[p], is_live_replica(now, broker, p, b)),
                leader=lambda p: named(now, p, gone))
    send_stop_replica(now, new, broker, kind="stop", to=lambda p, b: is_followed(now, broker, p, b),
               fenced=has_leader if version.stops_fenced else None)

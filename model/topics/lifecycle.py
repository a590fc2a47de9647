"""Processes crash and start, sessions end and begin, and a replica moves off a dead broker."""

from model.language import (
    BLANK,
    NOBODY,
    all_of,
    any_of,
    every,
    implies,
    lam,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.protocol.controllership import require_fence, require_task
from model.protocol.processes import crash, reconnect, start
from model.protocol.state import BROKERS
from model.protocol.strategies import ReplicaOrder, reassigned_partition
from model.protocol.zookeeper import is_reached_no_longer
from model.topics.elections import leader_of
from model.topics.state import CONTROLLERS, PARTITIONS, PLACES
from model.topics.zookeeper import has_partition, in_list, replica_order


def drop_requests(now, new, broker):
    """Requests to an earlier registration will be refused by the next (KIP-380), so they are
    dropped. Responses still arrive."""
    def left(request):
        return request.but(
            order=lam(PARTITIONS, lambda p: "none"), outdated=lam(PARTITIONS,
                                                                           lambda p: False),
            stop=lam(PARTITIONS, lambda p: when(any_of(
                request.stop[p] == "deleted", request.stop[p] == "failed"),
                request.stop[p], "none")))

    new.request = lam(CONTROLLERS, lambda c: lam(BROKERS, lambda b: when(
        b == broker, left(now.request[c][b]), now.request[c][b])))


@transition(actor=NOBODY, ends="lost", fault=True, broker=BROKERS)
def broker_crashes(now, new, broker):
    """A process dies with all it had in memory; its directories and its session stay."""
    crash(now, new, broker)

    new.seen[broker] = 0
    new.replica[broker] = lam(PARTITIONS, lambda p: now.replica[broker][p].but(role="none"))
    if version.broker_epoch:                        # its connections end, too
        new.request = lam(CONTROLLERS, lambda c: lam(BROKERS, lambda b: when(
            b == broker, BLANK, now.request[c][b])))


@transition(ends="lost", broker=BROKERS)
def broker_starts(now, new, broker):
    """A process starts, and registers under a new session.

    It knows no controller epoch, and obeys a deposed controller too, if that one is the first to
    notice the start (`controller_epoch_kept`).

    Story: specs/stories/deposed_controller_brings_a_topic_back.story
    """
    start(now, new, broker)
    is_reached_no_longer(now, new, broker)

    if version.controller_epoch_kept:
        new.seen[broker] = now.zk.epoch
    if version.broker_epoch:
        drop_requests(now, new, broker)


@transition(ends="lost", broker=BROKERS)
def broker_reconnects(now, new, broker):
    """A live process whose session expired opens another and registers again.

    It is no longer the controller; its replicas stay as they are.
    """
    reconnect(now, new, broker)
    is_reached_no_longer(now, new, broker)

    if version.broker_epoch:
        drop_requests(now, new, broker)


@transition(only=lambda v: not v.dead_brokers_keep_their_replicas, broker=BROKERS, replica=BROKERS)
def dead_replica_is_reassigned(now, new, broker, replica):
    """The controller moves a topic's replicas off a broker that is away, which is not notified.

    `reassignment` has its steps; here it is what becomes of it: the lists without the broker, and
    where nobody of them leads, a leader by the strategy of reassignments.
    """
    cache = now.cache[broker]
    require_task(now, broker, "waits",              "it is not in the middle of another event")
    require(not_(cache.queued),                     "the topic is not queued for deletion")
    require(not_(cache.live.has(replica)),          "the broker is dead, as far as it knows")
    require(some(PARTITIONS, lambda p: in_list(cache.known[p], replica)),
                                                    "it is in some replica list")

    def target(p):
        known = replica_order(cache.known[p])
        return ReplicaOrder(lambda b: all_of(known.has(b), b != replica), known.before)

    def stays(p):
        return some(BROKERS, lambda b: all_of(cache.leader[p] == b, target(p).has(b)))

    def elected(p):
        return reassigned_partition(target(p), now.zk.state[p].isr, cache.live)

    require(every(PARTITIONS, lambda p: implies(has_partition(cache.known, p), all_of(
        cache.led[p], any_of(stays(p), elected(p).exists)))),
                                                    "each partition is led by another, or can be")
    require_fence(now, broker)

    def shorter(lists, p, k):
        before = some(PLACES, lambda at: all_of(at <= k, lists[p][at] == replica))
        last   = not_(some(PLACES, lambda at: at == k + 1))
        return when(not_(before), lists[p][k], when(last, None, lists[p][k + 1]))

    new.zk.assignment = lam(PARTITIONS, lambda p: lam(PLACES, lambda k: shorter(
        now.zk.assignment, p, k)))
    def leader(p, was):
        return when(stays(p), was, leader_of(cache.known[p], elected(p)))

    new.zk.state = lam(PARTITIONS, lambda p: now.zk.state[p].but(
        leader=leader(p, now.zk.state[p].leader), isr=now.zk.state[p].isr.without(replica)))
    new.cache[broker].leader = lam(PARTITIONS, lambda p: leader(p, cache.leader[p]))
    new.cache[broker].known = lam(PARTITIONS, lambda p: lam(PLACES, lambda k: shorter(
        cache.known, p, k)))
    new.cache[broker].replica = lam(PARTITIONS, lambda p: lam(BROKERS, lambda b: when(
        b == replica, "NonExistentReplica", cache.replica[p][b])))
    new.left_behind = True
    new.spent.moves = now.spent.moves + 1

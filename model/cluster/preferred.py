"""Preferred leader election, requested by an administrator or started because of imbalance.

Source: KafkaController.onPreferredReplicaElection, checkAndTriggerAutoLeaderRebalance (2.3)
"""

from model.cluster.elections import (
    Election,
    as_read,
    elect,
    find_no_leader,
    replica_order_of,
    send_batch,
)
from model.cluster.events import dequeued, is_next, notified, require_next, with_event
from model.cluster.start import number
from model.cluster.state import PARTITIONS
from model.cluster.thread import (
    at,
    context_of,
    online,
    require_acting,
    require_writing,
    with_their_log,
    write_contexts,
)
from model.language import (
    all_of,
    any_of,
    lam,
    not_,
    require,
    some,
    those,
    transition,
    version,
    when,
)
from model.protocol.controllership import fence_is_passed, require_controllership
from model.protocol.state import BROKERS
from model.protocol.strategies import preferred_replica

PREFERRED = Election(
    ("preferring", "rebalancing"),
    lambda now, broker: preferred_replica(
        replica_order_of(now), as_read(now, broker).isr,
        with_their_log(online(now, broker), now.context[broker]),
        version.preferred_needs_isr),
    at_it="it elects preferred leaders",
    due="the partition is asked for",
    may="the replica is online, and in the ISR",
    first="it stands first in the assignment",
    nobody="the preferred replica cannot lead",
    all_done="no partition waits for its preferred leader")
ASKED = "the request's event is next in its queue, or its failover is over but for this"
TIMER = "the timer's event is next in its queue"


def is_wanted(now):
    return some(PARTITIONS, lambda partition: now.partition[partition].wanted)


@transition()
def admin_asks_for_preferred_leaders(now, new):
    """/admin/preferred_replica_election is created; while it exists there can be no second request.
    """
    require(not_(is_wanted(now)),                   "no such request is there")

    new.spent.requests = now.spent.requests + 1
    new.cache          = notified(now, "preferred_election")
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(wanted=True))


def require_request_check(now, broker):
    """The controller reads the request at the end of its failover, and when its event is handled.
    """
    cache = now.cache[broker]
    require(any_of(cache.stage == "looking", all_of(
        cache.stage == "idle", is_next(now, broker, "preferred_election"))), ASKED)


def dequeued_election(cache):
    """The queue without its first event, unless the failover (not an event) reads the request."""
    return cache.but(events=when(cache.stage == "looking", cache.events, cache.events.rest()))


def leads_as_preferred(now, broker, partition):
    """The preferred replica leads, as far as the controller knows."""
    mine = now.partition[partition]
    leader = mine.state[context_of(now, broker, partition).version].leader
    return some(BROKERS, lambda one: all_of(leader == one, mine.place[one] == 0))


@transition(broker=BROKERS)
def controller_begins_preferred_election(now, new, broker):
    """The controller reads the request for preferred leaders.

    Partitions that are led by their preferred replica are skipped up to 1.0, since 2.2, and at a
    failover in every release.

    Kafka: KafkaController.fetchPendingPreferredReplicaElections
    """
    require_controllership(now, broker)
    require_request_check(now, broker)
    require(is_wanted(now),                         "a request is there")

    def is_due(partition):
        stays = leads_as_preferred(now, broker, partition)
        if not version.preferred_leaders_stay:
            stays = all_of(stays, now.cache[broker].stage == "looking")
        return all_of(now.partition[partition].wanted, not_(stays))

    new.cache[broker] = dequeued_election(now.cache[broker]).but(stage="preferring")
    write_contexts(now, new, broker, lambda partition: context_of(now, broker, partition).but(
        due=is_due(partition)))


@transition(broker=BROKERS)
def controller_finds_no_request(now, new, broker):
    """The controller reads the path again after each request, and finds no further one.

    Why:   at the end of its failover it deletes the request even where there is none: nothing
           goes, and one that is deposed is fenced. Kafka looks and deletes in two steps.
    Kafka: KafkaController.onControllerFailover, removePartitionsFromPreferredReplicaElection
    """
    require_controllership(now, broker)
    require_request_check(now, broker)
    require(not_(is_wanted(now)),                   "no request is there")
    if version.zk_writes_fenced:
        require(any_of(fence_is_passed(now, broker), now.cache[broker].stage != "looking"),
                                                    "its epoch is the newest, or its failover is "
                                                    "over")

    then = at("idle")
    if not version.update_metadata_first:
        then = when(now.cache[broker].stage == "looking", at("announcing"), then)
    new.cache[broker] = dequeued_election(now.cache[broker]).but(stage=then)


def is_imbalanced(now, broker, partition, preferred):
    """Its preferred replica is on this broker and online, and another replica leads, or none."""
    mine = now.partition[partition]
    known = mine.state[context_of(now, broker, partition).version]
    can_lead = with_their_log(online(now, broker), mine.context[broker]).has(preferred)
    if version.rebalance_checks_isr:
        can_lead = all_of(can_lead, known.isr.has(preferred))
    return all_of(
        mine.replicas.has(preferred), mine.place[preferred] == 0, known.leader != preferred,
        can_lead)


def unbalanced(now, broker):
    """The brokers that do not lead all partitions whose preferred replica they have."""
    return those(BROKERS, lambda one: some(
        PARTITIONS, lambda partition: is_imbalanced(now, broker, partition, one)))


def lowest_id(brokers):
    """The set of the one broker with the lowest id."""
    return brokers.such_that(lambda one: not_(some(
        BROKERS, lambda other: all_of(brokers.has(other), number(other) < number(one)))))


def rebalance(now, broker, waiting):
    """The partitions of the next preferred broker are due; `waiting` are the brokers that follow.
    """
    turn = lowest_id(waiting)
    return (
        waiting.such_that(lambda one: not_(turn.has(one))),
        lambda partition: some(BROKERS, lambda one: all_of(
            turn.has(one), is_imbalanced(now, broker, partition, one))))


@transition(broker=BROKERS)
def rebalance_timer_fires(now, new, broker):
    """The timer, started at the end of the failover, queues AutoPreferredReplicaLeaderElection."""
    require_acting(now, broker)
    require(now.cache[broker].stage != "starting",  "it has begun its work as the controller")

    new.spent.requests = now.spent.requests + 1
    new.cache[broker]  = with_event(now.cache[broker], "rebalance")


@transition(broker=BROKERS)
def controller_begins_rebalance(now, new, broker):
    """Too many partitions are not led by their preferred broker: elections are held.

    They are held for one such broker after the other, with a batch each.
    """
    require_acting(now, broker)
    require_next(now, broker, "rebalance",          TIMER)
    require(not_(unbalanced(now, broker).is_empty()),
                                                    "a partition is led by another than preferred")

    waiting, due = rebalance(now, broker, unbalanced(now, broker))
    new.cache[broker] = dequeued(now.cache[broker]).but(stage="rebalancing", unbalanced=waiting)
    write_contexts(now, new, broker, lambda partition:
        context_of(now, broker, partition).but(due=due(partition)))


@transition(broker=BROKERS)
def controller_finds_no_imbalance(now, new, broker):
    """Each preferred replica leads, or cannot lead."""
    require_acting(now, broker)
    require_next(now, broker, "rebalance",          TIMER)
    require(unbalanced(now, broker).is_empty(),     "no partition is led by another than preferred")

    new.cache[broker] = dequeued(now.cache[broker])


@transition(broker=BROKERS, leader=BROKERS)
def controller_elects_preferred(now, new, broker, leader):
    """The preferred replica becomes the leader, under a new epoch even if it leads already.

    Kafka: PreferredReplicaPartitionLeaderElectionStrategy; the ISR is not changed
    """
    elect(now, new, broker, leader, PREFERRED)


@transition(broker=BROKERS)
def controller_cannot_elect_preferred(now, new, broker):
    """The preferred replica is dead, or not in the ISR: nothing is written."""
    find_no_leader(now, new, broker, PREFERRED)


@transition(broker=BROKERS)
def controller_sends_preferred_batch(now, new, broker):
    """LeaderAndIsr to all replicas, UpdateMetadata to all brokers.

    A rebalance continues with the next preferred broker.
    """
    cache = now.cache[broker]
    waiting, due = rebalance(now, broker, cache.unbalanced)
    send_batch(now, new, broker, PREFERRED,
         when(cache.stage == "preferring", at("cleaning"),
         when(cache.unbalanced.is_empty(), at("idle"), at("rebalancing"))),
         unbalanced=waiting, due=due)


@transition(broker=BROKERS)
def controller_deletes_preferred_request(now, new, broker):
    """The request is deleted, whatever its outcome, and the thread reads the path again.

    Up to 2.0 two controllers may have worked on it: for the second there is nothing to delete.
    """
    cache = now.cache[broker]
    require_writing(now, broker)
    require(cache.stage == "cleaning",              "the request is worked on")

    again = with_event(cache, "preferred_election")
    new.cache[broker] = cache.but(
        stage="idle", events=when(is_wanted(now), again.events, cache.events))
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(wanted=False))

"""Preferred leaders: as an administrator asks for them, or as the imbalance does.

Source: KafkaController.onPreferredReplicaElection, checkAndTriggerAutoLeaderRebalance (2.3)
"""

from model.cluster.elections import Election, as_read, elect, find_nobody, order_of, tell
from model.cluster.events import notified, require_next, taken, with_event
from model.cluster.state import PARTITIONS
from model.cluster.thread import (
    at,
    keep,
    online,
    own,
    require_acting,
    require_writing,
    with_their_log,
)
from model.language import all_of, lam, not_, require, some, transition, version, when
from model.protocol.office import require_office
from model.protocol.state import BROKERS
from model.protocol.strategies import preferred_replica

PREFERRED = Election(
    ("preferring", "rebalancing"),
    lambda now, broker: preferred_replica(
        order_of(now), as_read(now, broker).isr,
        with_their_log(online(now, broker), now.context[broker]),
        version.preferred_needs_isr),
    at_it="it elects preferred leaders",
    due="the partition is asked for",
    may="the replica is online, and in the ISR",
    first="it stands first in the assignment",
    nobody="the preferred replica cannot lead",
    all_done="no partition waits for its preferred leader")
ASKED = "the request's event is next in its queue"
TIMER = "the timer's event is next in its queue"


def is_wanted(now):
    return some(PARTITIONS, lambda partition: now.partition[partition].wanted)


@transition()
def admin_asks_for_preferred_leaders(now, new):
    """/admin/preferred_replica_election is created; while it is there it cannot be again."""
    require(not_(is_wanted(now)),                   "no such request is there")

    new.spent.requests = now.spent.requests + 1
    new.cache          = notified(now, "preferred_election")
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(wanted=True))


@transition(broker=BROKERS)
def controller_begins_preferred_election(now, new, broker):
    """It reads the request."""
    require_office(now, broker)
    require_next(now, broker, "preferred_election", ASKED)
    require(is_wanted(now),                         "a request is there")

    new.cache[broker] = taken(now.cache[broker]).but(stage="preferring")
    keep(now, new, broker, lambda partition: own(now, broker, partition).but(
        due=now.partition[partition].wanted))


@transition(broker=BROKERS)
def controller_finds_no_request(now, new, broker):
    """It looks once more after each request, for one that came before the watch was set again."""
    require_office(now, broker)
    require_next(now, broker, "preferred_election", ASKED)
    require(not_(is_wanted(now)),                   "no request is there")

    new.cache[broker] = taken(now.cache[broker])


def is_imbalanced(now, broker, partition):
    """The leader is known, and is not the preferred one, which is online."""
    mine = now.partition[partition]
    leader = mine.state[own(now, broker, partition).version].leader
    return all_of(
        some(BROKERS, lambda one: all_of(leader == one, mine.place[one] > 0)),
        some(BROKERS, lambda one: all_of(
            mine.replicas.has(one), mine.place[one] == 0,
            with_their_log(online(now, broker), mine.context[broker]).has(one))))


def some_is_imbalanced(now, broker):
    return some(PARTITIONS, lambda partition: is_imbalanced(now, broker, partition))


@transition(broker=BROKERS)
def rebalance_timer_fires(now, new, broker):
    """The timer, which runs from the end of the failover, queues a look at the imbalance."""
    require_acting(now, broker)
    require(now.cache[broker].stage != "starting",  "it has begun its work as the controller")

    new.spent.requests = now.spent.requests + 1
    new.cache[broker]  = with_event(now.cache[broker], "rebalance")


@transition(broker=BROKERS)
def controller_begins_rebalance(now, new, broker):
    """Too many partitions are not led by their preferred broker."""
    require_acting(now, broker)
    require_next(now, broker, "rebalance",          TIMER)
    require(some_is_imbalanced(now, broker),        "a partition is led by another than preferred")

    new.cache[broker] = taken(now.cache[broker]).but(stage="rebalancing")
    keep(now, new, broker, lambda partition: own(now, broker, partition).but(
        due=is_imbalanced(now, broker, partition)))


@transition(broker=BROKERS)
def controller_finds_balance(now, new, broker):
    """Who is preferred leads, or cannot."""
    require_acting(now, broker)
    require_next(now, broker, "rebalance",          TIMER)
    require(not_(some_is_imbalanced(now, broker)),  "no partition is led by another than preferred")

    new.cache[broker] = taken(now.cache[broker])


@transition(broker=BROKERS, leader=BROKERS)
def controller_elects_preferred(now, new, broker, leader):
    """The preferred replica becomes the leader, under a new epoch even if it leads already.

    Kafka: PreferredReplicaPartitionLeaderElectionStrategy; the ISR is not changed
    """
    elect(now, new, broker, leader, PREFERRED)


@transition(broker=BROKERS)
def controller_cannot_elect_preferred(now, new, broker):
    """The preferred replica is away, or not in the ISR: nothing is written."""
    find_nobody(now, new, broker, PREFERRED)


@transition(broker=BROKERS)
def controller_tells_preferred(now, new, broker):
    """LeaderAndIsr to all replicas, UpdateMetadata to all brokers."""
    tell(now, new, broker, PREFERRED,
         when(now.cache[broker].stage == "preferring", at("cleaning"), at("idle")))


@transition(broker=BROKERS)
def controller_deletes_preferred_request(now, new, broker):
    """The request goes in any case, whatever came of it, and the thread is to look again."""
    require_writing(now, broker)
    require(now.cache[broker].stage == "cleaning",  "the request is worked on")

    new.cache[broker] = with_event(now.cache[broker], "preferred_election").but(stage="idle")
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(wanted=False))

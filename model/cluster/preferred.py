"""Preferred leaders: as an administrator asks for them, or as the imbalance does.

Source: KafkaController.onPreferredReplicaElection, checkAndTriggerAutoLeaderRebalance (2.3)
"""

from model.cluster.batch import batch
from model.cluster.elections import bring_online, require_not_written_by_a_newer
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
    all_of,
    any_of,
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


@transition()
def admin_asks_for_preferred_leaders(now, new):
    """/admin/preferred_replica_election is created; while it is there it cannot be again."""
    require(every(PARTITIONS, lambda partition: not_(now.partition[partition].wanted)),
                                                    "no such request is there")

    new.spent.requests = now.spent.requests + 1
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(wanted=True))


@transition(broker=BROKERS)
def controller_begins_preferred_election(now, new, broker):
    """It reads the request."""
    require_acting(now, broker)
    require_idle(now, broker)
    require(some(PARTITIONS, lambda partition: now.partition[partition].wanted),
                                                    "a request is there")

    new.cache[broker].stage = "preferring"
    keep(now, new, broker, lambda partition: own(now, broker, partition).but(
        due=now.partition[partition].wanted))


def is_imbalanced(now, broker, partition):
    """The leader is known, and is not the preferred one, which is online."""
    mine = now.partition[partition]
    leader = mine.state[own(now, broker, partition).version].leader
    return all_of(
        some(BROKERS, lambda one: all_of(leader == one, mine.place[one] > 0)),
        some(BROKERS, lambda one: all_of(
            mine.replicas.has(one), mine.place[one] == 0, online(now, broker).has(one))))


@transition(broker=BROKERS)
def controller_begins_rebalance(now, new, broker):
    """The timer fires, and too many partitions are not led by their preferred broker."""
    require_acting(now, broker)
    require_idle(now, broker)
    require(some(PARTITIONS, lambda partition: is_imbalanced(now, broker, partition)),
                                                    "a partition is led by another than preferred")

    new.spent.requests = now.spent.requests + 1
    new.cache[broker].stage = "rebalancing"
    keep(now, new, broker, lambda partition: own(now, broker, partition).but(
        due=is_imbalanced(now, broker, partition)))


def may_be_preferred(now, broker, leader):
    """It stands first, is online and in the ISR; the ISR is not changed by this election."""
    fit = all_of(now.replicas.has(leader), now.place[leader] == 0, online(now, broker).has(leader))
    if version.preferred_needs_isr:
        fit = all_of(fit, now.state[now.version].isr.has(leader))
    return fit


def require_preferring(now, broker):
    stage = now.cache[broker].stage
    require(any_of(stage == "preferring", stage == "rebalancing"),
                                                    "it elects preferred leaders")


@transition(broker=BROKERS, leader=BROKERS)
def controller_elects_preferred(now, new, broker, leader):
    """The preferred replica becomes the leader, under a new epoch even if it leads already."""
    require_writing(now, broker)
    require_preferring(now, broker)
    require(now.context[broker].due,                "the partition is asked for")
    require_not_written_by_a_newer(now, broker)
    require(may_be_preferred(now, broker, leader),  "the preferred replica is online, in the ISR")

    bring_online(now, new, broker, leader, now.state[now.version].isr)


@transition(broker=BROKERS)
def controller_cannot_elect_preferred(now, new, broker):
    """The preferred replica is away, or not in the ISR: nothing is written."""
    require_acting(now, broker)
    require_preferring(now, broker)
    require(now.context[broker].due,                "the partition is asked for")
    require(not_(some(BROKERS, lambda one: may_be_preferred(now, broker, one))),
                                                    "the preferred replica cannot lead")

    new.context[broker].due = False


@transition(broker=BROKERS)
def controller_tells_preferred(now, new, broker):
    """LeaderAndIsr to all replicas, UpdateMetadata to all brokers."""
    cache = now.cache[broker]
    require_acting(now, broker)
    require_preferring(now, broker)
    require(every(PARTITIONS, lambda partition: not_(own(now, broker, partition).due)),
                                                    "no partition waits for its preferred leader")

    new.cache[broker] = cache.but(
        stage=when(cache.stage == "preferring", at("cleaning"), at("idle")),
        queue=batch(now, broker,
            goes=lambda partition, target: own(now, broker, partition).batched,
            tells=lambda partition: own(now, broker, partition).batched))
    keep(now, new, broker, lambda partition: own(now, broker, partition).but(batched=False))


@transition(broker=BROKERS)
def controller_deletes_preferred_request(now, new, broker):
    """The request goes in any case, whatever came of it."""
    require_writing(now, broker)
    require(now.cache[broker].stage == "cleaning",  "the request is worked on")

    new.cache[broker].stage = "idle"
    new.partition = lam(PARTITIONS, lambda partition: now.partition[partition].but(wanted=False))

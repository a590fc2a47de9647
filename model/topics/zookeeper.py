"""Definitions about the topic's znodes that several actors share: replica lists, one-shot watches.

A change sets a notification for each controller that watches. Further changes before the
notification is handled collapse into it, and the controller then reads the current state.
"""

from model.language import (
    all_of,
    any_of,
    every,
    implies,
    is_none,
    lam,
    not_,
    some,
    version,
    when,
)
from model.protocol.state import BROKERS
from model.protocol.strategies import ReplicaOrder
from model.topics.state import PARTITIONS, PLACES


def in_list(replicas, broker):
    """The broker is one of a list of replicas."""
    return some(PLACES, lambda place: replicas[place] == broker)


def replica_order(replicas):
    """A list of replicas as the election strategies take one."""
    def before(one, other):
        return some(PLACES, lambda at: all_of(replicas[at] == one, some(
            PLACES, lambda later: all_of(at < later, replicas[later] == other))))

    return ReplicaOrder(lambda broker: in_list(replicas, broker), before)


def has_partition(lists, partition):
    """The partition is in an assignment: it has a first replica."""
    return not_(is_none(lists[partition][0]))


def topic_exists(now):
    """/brokers/topics/T exists."""
    return has_partition(now.zk.assignment, 0)


def same_lists(one, other):
    return every(PARTITIONS, lambda p: every(PLACES, lambda k: one[p][k] == other[p][k]))


def watches(now, broker):
    """The broker acts as a controller, and the session that its watches belong to is alive."""
    return all_of(now.cache[broker].task != "reads_zookeeper", now.zk.registered.has(broker))


def watches_deletions(protocol):
    """Controllers watch /admin/delete_topics; up to 0.10.1 only where topics may be deleted."""
    return protocol.delete_topic_enable or protocol.disabled_deletions_removed


def fire(now, new, *nodes, writer=None, changed=None, **changes):
    """The watches on these nodes fire: topics, partitions or deletions; if `changed`, where given.

    A controller that is the writer also changes its own memory, by `changes`.
    """
    watched = [node for node in nodes if node != "deletions" or watches_deletions(version)]

    def fires(broker, node):
        fired = is_watched_by(now, broker, node)
        return fired if changed is None else all_of(changed, fired)

    def cache(broker):
        fired = now.cache[broker].fired.but(**{
            node: any_of(getattr(now.cache[broker].fired, node), fires(broker, node))
            for node in watched})
        after = now.cache[broker].but(fired=fired)
        return after if writer is None else when(broker == writer, after.but(**changes), after)

    new.cache = lam(BROKERS, cache)


def is_watched_by(now, broker, node):
    """A controller registers for a topic's own node only once it knows the topic."""
    knows = has_partition(now.cache[broker].known, 0)
    return all_of(watches(now, broker), knows) if node == "partitions" else watches(now, broker)


def every_replica(lists, rule):
    """The rule holds of every replica in an assignment: of its partition, and of its broker."""
    return every(PARTITIONS, lambda p: every(BROKERS, lambda b: implies(
        in_list(lists[p], b), rule(p, b))))


def some_replica(lists, rule):
    """The rule holds of a replica in an assignment."""
    return some(PARTITIONS, lambda p: some(BROKERS, lambda b: all_of(
        in_list(lists[p], b), rule(p, b))))

"""Requests that an administrator writes into ZooKeeper; watches notify the controller.

Source: kafka.admin.TopicCommand, AdminUtils / AdminZkClient
"""

from model.language import (
    all_of,
    any_of,
    below,
    every,
    implies,
    is_none,
    lam,
    not_,
    require,
    transition,
    when,
)
from model.protocol.assignment import assign_replicas
from model.protocol.state import BROKERS
from model.topics.state import CONTROLLERS, COUNTS, PARTITIONS, PLACES
from model.topics.zookeeper import fire, has_partition, topic_exists

TURNED = 4
"""Partitions that are turned at creation; any further ones are placed like the first."""


def listed(replicas, place):
    """A list of three parameters at a place; none beyond them."""
    first, second, third = replicas
    return when(place == 0, first, when(place == 1, second, when(place == 2, third, None)))


def rotated_placement(replicas, partition, place):
    """The replica list of a partition, if the first partition's list is `replicas`.

    Kafka's placement on exactly these brokers, so that each has a replica of each partition. After
    one round it starts again; Kafka would shift the followers."""
    first, second, third = replicas

    def lands(at, size):
        """The member at a place of the first list stands here, in a list of a size."""
        placed = assign_replicas(dict.fromkeys(range(size)), size, size, start=0, shift=0)
        return any_of(*(
            all_of(partition == number, place == there)
            for number in range(TURNED) for there in range(size)
            if placed[number % size][there] == at))

    two   = when(lands(0, 2), first, when(lands(1, 2), second, listed(replicas, place)))
    three = when(lands(0, 3), first, when(lands(1, 3), second, when(
        lands(2, 3), third, listed(replicas, place))))
    turn  = when(is_none(second), listed(replicas, place), when(is_none(third), two, three))
    return when(is_none(listed(replicas, place)), None, turn)


def require_valid_list(replicas):
    first, second, third = replicas
    require(all_of(first != second, first != third,
                   implies(second == third, is_none(third))),
                                                "no broker is twice in the list")
    require(implies(is_none(second), is_none(third)), "the list has no gap")


@transition(first=BROKERS, second=BROKERS.or_none, third=BROKERS.or_none, count=COUNTS)
def admin_creates_topic(now, new, first, second, third, count):
    """A topic is created: its assignment is written, and the controller does the rest.

    What is left of an earlier topic of that name is stale from here on.
    Kafka: AdminUtils.createOrUpdateTopicPartitionAssignmentPathInZK; TopicExistsException
    Story: specs/stories/topic_a_is_created.story
    """
    replicas = (first, second, third)
    require_valid_list(replicas)
    require(not_(topic_exists(now)),            "there is no topic of that name")

    new.zk.assignment = lam(PARTITIONS, lambda p: lam(PLACES, lambda k: when(
        p < count, rotated_placement(replicas, p, k), None)))
    new.replica = lam(BROKERS, lambda b: lam(PARTITIONS, lambda p: now.replica[b][p].but(
        directory=when(now.replica[b][p].directory == "none",
                       now.replica[b][p].directory, "stale"))))
    outdate_requests(now, new)
    fire(now, new, "topics")


def outdate_requests(now, new):
    """Marks the requests under way as requests about the earlier topic."""
    new.request = lam(CONTROLLERS, lambda c: lam(BROKERS, lambda b: now.request[c][b].but(
        outdated=lam(PARTITIONS, lambda p: now.request[c][b].order[p] != "none"))))


@transition(partition=PARTITIONS, first=BROKERS, second=BROKERS.or_none, third=BROKERS.or_none)
def admin_adds_partition(now, new, partition, first, second, third):
    """The topic's znode is written again, with one partition more.

    Nothing checks whether the topic is being deleted.

    Kafka: AdminUtils.addPartitions, TopicCommand --alter --partitions
    """
    replicas = (first, second, third)
    require_valid_list(replicas)
    require(topic_exists(now),                  "the topic exists")
    require(every(below(PARTITIONS, partition),
                  lambda p: has_partition(now.zk.assignment, p)),
                                                "partitions are numbered without a gap")
    require(not_(has_partition(now.zk.assignment, partition)),
                                                "there is no such partition yet")
    require(every(PLACES, lambda k: is_none(listed(replicas, k)) == is_none(
        now.zk.assignment[0][k])),              "it has as many replicas as the others")

    new.zk.assignment[partition] = lam(PLACES, lambda k: listed(replicas, k))
    fire(now, new, "partitions")


@transition()
def admin_deletes_topic(now, new):
    """A deletion is requested: nothing but a znode with the topic's name.

    Kafka: TopicCommand --delete; "marked for deletion"
    """
    require(topic_exists(now),                  "the topic exists")
    require(not_(now.zk.requested),             "it is not marked for deletion already")

    new.zk.requested = True
    fire(now, new, "deletions")

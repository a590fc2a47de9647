"""Creation of a topic or a partition in five batches; a failure between two loses the rest.

Source: KafkaController.TopicChange, PartitionModifications, onNewPartitionCreation
"""

from model.language import all_of, lam, not_, require, some, transition, when
from model.protocol.controllership import require_fence, require_task
from model.protocol.state import BROKERS
from model.topics.elections import elect, is_to_create, require_writer
from model.topics.replicas import is_assigned, moved_to
from model.topics.state import PARTITIONS, PLACES
from model.topics.tables import PARTITION_TABLE, state_after
from model.topics.zookeeper import fire, has_partition, topic_exists


def require_fired(now, broker, node, what):
    require_task(now, broker, "waits",              "it is not in the middle of another event")
    require(getattr(now.cache[broker].fired, node),  what)


def is_unknown(now, broker, partition):
    """ZooKeeper has a partition that the controller does not know."""
    return all_of(has_partition(now.zk.assignment, partition),
                  not_(has_partition(now.cache[broker].known, partition)))


def takes_up(now, new, broker, fired):
    """The controller reads the replica lists of unknown partitions; known lists do not change."""
    cache = now.cache[broker]
    new.cache[broker] = cache.but(
        task="makes_partitions", fired=fired,
        known=lam(PARTITIONS, lambda p: lam(PLACES, lambda k: when(
            is_unknown(now, broker, p), now.zk.assignment[p][k], cache.known[p][k]))))


@transition(broker=BROKERS)
def controller_sees_topic(now, new, broker):
    """A topic is new in /brokers/topics: its partitions are read, and watched from now on.

    Kafka: TopicChange, onNewTopicCreation
    """
    cache = now.cache[broker]
    require_fired(now, broker, "topics",             "its watch of /brokers/topics fired")
    require(topic_exists(now),                      "the topic exists")
    # redundant because what it knows already it does not take up again.
    require(not_(has_partition(cache.known, 0)),    "it does not know the topic")

    takes_up(now, new, broker, cache.fired.but(topics=False))


@transition(broker=BROKERS)
def controller_sees_topic_gone(now, new, broker):
    """A known topic is not in /brokers/topics: another controller or an operator deleted it.

    Why:   whoever deletes it as the controller forgets it at once; this is for one that is deposed
           and does not know.
    """
    cache = now.cache[broker]
    require_fired(now, broker, "topics",             "its watch of /brokers/topics fired")
    require(not_(topic_exists(now)),                "the topic does not exist")
    require(has_partition(cache.known, 0),          "it knows the topic")

    new.cache[broker] = {
        "task": "waits", "live": cache.live, "reached": cache.reached, "shutting": cache.shutting,
        "fired": cache.fired.but(topics=False, partitions=False),
        "queued": cache.queued, "started": cache.started, "ineligible": cache.ineligible}


@transition(broker=BROKERS)
def controller_finds_no_new_topic(now, new, broker):
    """The watch fired for what the controller knows already, or did itself."""
    cache = now.cache[broker]
    require_fired(now, broker, "topics",             "its watch of /brokers/topics fired")
    require(topic_exists(now) == has_partition(cache.known, 0),
                                                    "it knows whether the topic exists")

    new.cache[broker].fired.topics = False


@transition(broker=BROKERS)
def controller_sees_partitions(now, new, broker):
    """Partitions were added: they are created as those of a new topic are.

    Kafka: PartitionModifications
    """
    cache = now.cache[broker]
    require_fired(now, broker, "partitions",         "its watch of the topic's node fired")
    # redundant because of a topic that stays it is notified only when partitions were added.
    require(some(PARTITIONS, lambda p: is_unknown(now, broker, p)),
                                                    "there are partitions that it does not know")
    require(not_(cache.queued),                     "the topic is not queued for deletion")

    takes_up(now, new, broker, cache.fired.but(partitions=False))


@transition(only=lambda v: v.additions_undone, broker=BROKERS)
def controller_undoes_addition(now, new, broker):
    """Partitions were added to a topic that is to be deleted: its node is written without them.

    Why:   the write fires the controller's own watch once more, which brings nothing new then.
    Kafka: KafkaController.restorePartitionReplicaAssignment, KAFKA-6612 (2.0)
    """
    cache = now.cache[broker]
    require_fired(now, broker, "partitions",         "its watch of the topic's node fired")
    require(some(PARTITIONS, lambda p: is_unknown(now, broker, p)),
                                                    "there are partitions that it does not know")
    require(cache.queued,                           "the topic is queued for deletion")
    require_fence(now, broker)

    new.zk.assignment = lam(PARTITIONS, lambda p: cache.known[p])
    fire(now, new, "partitions")


@transition(only=lambda v: not v.additions_undone, broker=BROKERS)
def controller_skips_addition(now, new, broker):
    """Up to 1.1 the controller skips them, and ZooKeeper keeps them for the next to find."""
    cache = now.cache[broker]
    require_fired(now, broker, "partitions",         "its watch of the topic's node fired")
    # redundant because what the watch brings is passed over either way, new or not.
    require(some(PARTITIONS, lambda p: is_unknown(now, broker, p)),
                                                    "there are partitions that it does not know")
    require(cache.queued,                           "the topic is queued for deletion")

    new.cache[broker].fired.partitions = False


@transition(broker=BROKERS)
def controller_finds_no_new_partition(now, new, broker):
    """The watch fired for what the controller knows already, or did itself."""
    require_fired(now, broker, "partitions",         "its watch of the topic's node fired")
    require(not_(some(PARTITIONS, lambda p: is_unknown(now, broker, p))),
                                                    "it knows every partition")

    new.cache[broker].fired.partitions = False


@transition(broker=BROKERS)
def controller_creates_new_partitions(now, new, broker):
    """The new partitions become NewPartition, in memory."""
    cache = now.cache[broker]
    require_task(now, broker, "makes_partitions",   "it has read the new partitions")

    new.cache[broker] = cache.but(
        task="makes_replicas",
        partition=lam(PARTITIONS, lambda p: state_after(
            PARTITION_TABLE, cache.partition[p], "NewPartition", has_partition(cache.known, p))))


@transition(broker=BROKERS)
def controller_creates_new_replicas(now, new, broker):
    """Their replicas become NewReplica, in memory."""
    cache = now.cache[broker]
    require_task(now, broker, "makes_replicas",     "the new partitions are in the state machine")

    new.cache[broker] = cache.but(
        task="elects_new",
        replica=moved_to(
            now, broker, "NewReplica", lambda p, b: is_assigned(now, broker, p, b)))


@transition(broker=BROKERS)
def controller_brings_partitions_online(now, new, broker):
    """The states are written: the first live replica leads, the live ones are the ISR.

    They are sent by LeaderAndIsr. A partition without a live replica stays new.

    Kafka: initializeLeaderAndIsrForPartitions; NodeExists leaves the partition as it is
    """
    require_task(now, broker, "elects_new",         "the new replicas are in the state machine")
    require_writer(now, broker, writes=some(
        PARTITIONS, lambda p: is_to_create(now, broker, p)))

    elect(now, new, broker, "enlists", only_new=True)


@transition(broker=BROKERS)
def controller_brings_new_replicas_online(now, new, broker):
    """The new replicas become OnlineReplica, in memory: those of dead brokers as well."""
    cache = now.cache[broker]
    require_task(now, broker, "enlists",            "the states were written")

    new.cache[broker] = cache.but(
        task="waits",
        replica=moved_to(
            now, broker, "OnlineReplica", lambda p, b: cache.replica[p][b] == "NewReplica"))

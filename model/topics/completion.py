"""The last steps of a deletion, which the next controller completes if this one fails.

In order: the controller's memory, /brokers/topics/T/partitions/P/state of each partition,
/brokers/topics/T, and the request, /admin/delete_topics/T.

Source: TopicDeletionManager.completeDeleteTopic, KafkaZkClient.deleteTopicZNode
"""

from model.language import BLANK, CONTROLLER, any_of, lam, not_, require, some, transition, version
from model.protocol.controllership import require_fence, require_task
from model.protocol.state import BROKERS
from model.topics.deletion import all_deleted, partitions_gone, require_resumed
from model.topics.elections import task_after_event
from model.topics.replicas import moved_to
from model.topics.state import PARTITIONS
from model.topics.zookeeper import fire, topic_exists


@transition(actor=CONTROLLER, broker=BROKERS)
def deletion_is_complete(now, new, broker):
    """Every replica is deleted: the controller stops watching the topic, and forgets it.

    Why:   the watch goes first, or it would fire for a successor that is created meanwhile.
    """
    cache = now.cache[broker]
    require_resumed(now, broker)
    require(all_deleted(cache),                     "every replica is deleted")

    new.cache[broker] = cache.but(
        task="unregisters", fired=cache.fired.but(partitions=False),
        known=lam(PARTITIONS, lambda p: BLANK), led=lam(PARTITIONS, lambda p: False),
        leader=lam(PARTITIONS, lambda p: None),
        replica=moved_to(now, broker, "NonExistentReplica", lambda p, b: not_(
            cache.replica[p][b] == "NonExistentReplica")))
    if not version.partitions_removed_before_deletion:  # KAFKA-6753
        new.cache[broker].partition = partitions_gone(cache)


@transition(actor=CONTROLLER, broker=BROKERS, partition=PARTITIONS)
def partition_znode_is_deleted(now, new, broker, partition):
    """Of a node with children each is removed by itself: a topic may be left half deleted."""
    require_task(now, broker, "unregisters",        "the deletion is complete")
    require(now.zk.state[partition].exists,         "the partition has a state")
    require_fence(now, broker)

    new.zk.state[partition] = BLANK


@transition(actor=CONTROLLER, broker=BROKERS)
def topic_znode_is_deleted(now, new, broker):
    """/brokers/topics/T is deleted after its children; the request still exists."""
    require_task(now, broker, "unregisters",        "the deletion is complete")
    require(not_(some(PARTITIONS, lambda p: now.zk.state[p].exists)),
                                                    "no partition has a state")
    require_fence(now, broker)

    new.zk.assignment = lam(PARTITIONS, lambda p: BLANK)
    new.deleted_once = any_of(now.deleted_once, topic_exists(now))
    fire(now, new, "topics", writer=broker, changed=topic_exists(now), task="removes_request")


@transition(actor=CONTROLLER, broker=BROKERS)
def request_is_removed(now, new, broker):
    """/admin/delete_topics/T is deleted last, so that an interrupted deletion is resumed."""
    require_task(now, broker, "removes_request",    "the topic's node was removed")
    require_fence(now, broker)

    new.zk.requested = False
    fire(now, new, "deletions", writer=broker, changed=now.zk.requested,
         task=task_after_event(now.cache[broker]), queued=False, started=False, ineligible=False)

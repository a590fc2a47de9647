"""A new controller builds its context from ZooKeeper, then starts its state machines.

Source: KafkaController.onControllerFailover (2.4), ReplicaStateMachine.startup
"""

from model.language import (
    CONTROLLER,
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
from model.protocol.controllership import (
    fence_is_passed,
    require_controllership,
    require_replaced,
    require_task,
    resign,
)
from model.protocol.state import BROKERS
from model.topics.elections import elect, require_current, task, waits_for_leader
from model.topics.replicas import (
    going_offline,
    is_ineligible,
    leaders_after_leaving,
    moved_to,
    named,
    removes,
    states_without,
)
from model.topics.requests import send_leader_and_isr
from model.topics.state import PARTITIONS
from model.topics.zookeeper import has_partition, in_list, some_replica, watches_deletions


@transition(ends="lost", broker=BROKERS)
def controller_resigns(now, new, broker):
    """A deposed controller reads /controller and resigns.

    Or its session has expired, which ends its current event.

    Why:   the event thread handles one event at a time: while it handles one it does not read
           /controller, and only the check of /controller_epoch stops it.
    Kafka: KafkaController.ControllerChange, Expire
    """
    require_replaced(now, broker)
    require(any_of(now.cache[broker].task == "waits", not_(now.zk.registered.has(broker))),
                                                    "it waits for events, or its session is over")

    resign(new, broker)


@transition(shows="read", broker=BROKERS)
def controller_reads_context(now, new, broker):
    """All watches are set, then everything is read: brokers, replica lists, states, requests.

    Why:   nothing but ZooKeeper knows what the predecessor did; what was only in its memory is
           done again.
    Kafka: KafkaController.initializeControllerContext, fetchTopicDeletionsInProgress
    """
    zk = now.zk
    require_controllership(now, broker)
    require(now.cache[broker].task == "reads_zookeeper",   "it has not read ZooKeeper yet")

    def partition(p):
        live = some(BROKERS, lambda b: all_of(zk.state[p].leader == b, zk.registered.has(b)))
        blank = now.cache[broker].partition[p]
        return when(not_(has_partition(zk.assignment, p)), blank, when(
            not_(zk.state[p].exists), "NewPartition", when(
                live, "OnlinePartition", when(not_(live), "OfflinePartition", blank))))

    def replica(p, b):
        blank, live = now.cache[broker].replica[p][b], zk.registered.has(b)
        return when(not_(in_list(zk.assignment[p], b)), blank, when(
            live, "OnlineReplica", when(not_(live), "ReplicaDeletionIneligible", blank)))

    new.cache[broker] = {
        "task": "starts_replicas", "live": zk.registered, "reached": zk.registered,
        "known": zk.assignment,
        "led": lam(PARTITIONS, lambda p: zk.state[p].exists),
        "leader": lam(PARTITIONS, lambda p: zk.state[p].leader),
        "partition": lam(PARTITIONS, partition),
        "replica": lam(PARTITIONS, lambda p: lam(BROKERS, lambda b: replica(p, b))),
        **deletion_found(zk)}


def deletion_found(zk):
    """Whether a new controller queues a deletion request.

    If delete.topic.enable is false, the request is left for the TopicDeletion event, which removes
    it; up to 0.10.1 it is never removed.
    """
    if not watches_deletions(version):
        return {}
    if not version.delete_topic_enable:
        return {"fired": {"deletions": zk.requested}}
    some_dead = some_replica(zk.assignment, lambda p, b: not_(zk.registered.has(b)))
    return {"queued": zk.requested, "ineligible": all_of(zk.requested, some_dead)}


def is_found_dead(now, broker, partition, replica):
    """The replica was on no live broker when the context was read, and may go offline."""
    return going_offline(
        now, broker, lambda p, b: is_ineligible(now, broker, p, b))(partition, replica)


def sent_leader(now, broker, partition):
    """The leader in the first LeaderAndIsr: as it was read, or after dead replicas went offline.

    For a topic that is queued for deletion it is always the one that was read.
    """
    def dead(p, b):
        return is_found_dead(now, broker, p, b)

    return when(
        any_of(now.cache[broker].queued, not_(some(BROKERS, lambda b: dead(partition, b)))),
        now.cache[broker].leader[partition], named(now, partition, dead))


@transition(actor=CONTROLLER, broker=BROKERS)
def replica_state_machine_starts(now, new, broker):
    """LeaderAndIsr for every replica on a live broker.

    Since 2.3 replicas on dead brokers become OfflineReplica and leave the ISR.

    Kafka: ReplicaStateMachine.startup, KAFKA-3143
    """
    cache = now.cache[broker]
    require_task(now, broker, "starts_replicas",    "it has read ZooKeeper")
    if version.dead_replicas_taken_offline:
        require_current(now, broker, writes=removes(
            now, broker, lambda p, b: is_ineligible(now, broker, p, b)))

    def leader(p):
        is_sent = version.dead_replicas_taken_offline
        return sent_leader(now, broker, p) if is_sent else cache.leader[p]

    if version.dead_replicas_taken_offline:
        def gone(p, b):
            return is_found_dead(now, broker, p, b)

        new.zk.state              = states_without(now, broker, gone)
        new.cache[broker].replica = moved_to(now, broker, "OfflineReplica", gone)
        new.cache[broker].leader  = leaders_after_leaving(now, broker, gone)
    new.cache[broker].task = "starts_partitions"
    send_leader_and_isr(now, new, broker,
                to=lambda p, b: all_of(cache.replica[p][b] == "OnlineReplica", cache.led[p]),
                leader=leader)


@transition(actor=CONTROLLER, broker=BROKERS)
def partition_state_machine_starts(now, new, broker):
    """Partitions without a live leader get one; then a queued deletion continues.

    From 2.0 to 2.3 the controller first deletes /admin/reassign_partitions although it does not
    exist; this write is fenced, so a deposed controller resigns here.
    Kafka: PartitionStateMachine.startup, triggerOnlinePartitionStateChange; tryTopicDeletion
    """
    cache = now.cache[broker]
    # redundant "the version that it read is current", because since 2.3 a state whose partition
    # waits for a leader names none: no leader is in the way.
    require_task(now, broker, "starts_partitions",  "its replica state machine has started")
    require_current(now, broker, writes=some(
        PARTITIONS, lambda p: waits_for_leader(now, broker, p)))

    then = "waits"
    if version.deletion_resumed:                    # KAFKA-1681
        then = task(cache, cache.queued, "resumes", "waits")
    if version.zk_writes_fenced and not version.request_znode_not_rewritten:  # 2.1 to 2.3
        then = task(cache, fence_is_passed(now, broker), then, "rewrites")
    elect(now, new, broker, then)

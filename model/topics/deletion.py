"""The topic deletion manager: when a deletion starts, waits, is retried, and is complete.

Source: kafka.controller.TopicDeletionManager (2.4), KafkaController.TopicDeletion
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
from model.protocol.controllership import require_fence, require_task
from model.protocol.state import BROKERS
from model.topics.creation import require_fired
from model.topics.elections import require_current, task_after_event
from model.topics.replicas import (
    any_in,
    deletion_may_start,
    deletion_may_succeed,
    going_offline,
    is_dead_replica,
    is_ineligible,
    is_live_replica,
    leaders_after_leaving,
    may_be_ineligible,
    may_be_stopped,
    moved_to,
    removes,
    states_without,
)
from model.topics.requests import is_stop_replica_answer, send_stop_replica
from model.topics.state import PARTITIONS
from model.topics.tables import PARTITION_TABLE, state_after
from model.topics.zookeeper import (
    every_replica,
    fire,
    has_partition,
    some_replica,
    watches_deletions,
)


def all_deleted(cache):
    """Every replica is deleted; this also holds for a topic without partitions."""
    return every_replica(
        cache.known, lambda p, b: cache.replica[p][b] == "ReplicaDeletionSuccessful")


@transition(only=lambda v: v.delete_topic_enable, broker=BROKERS)
def controller_queues_deletion(now, new, broker):
    """A deletion of a topic that the controller knows was requested."""
    cache = now.cache[broker]
    require_fired(now, broker, "deletions",          "its watch of /admin/delete_topics fired")
    require(now.zk.requested,                       "a deletion is requested")
    require(has_partition(cache.known, 0),          "it knows the topic")

    new.cache[broker] = cache.but(
        task="resumes", queued=True, fired=cache.fired.but(deletions=False))


@transition(only=watches_deletions, broker=BROKERS)
def controller_drops_request(now, new, broker):
    """A deletion request is removed: the topic is unknown, or deletion is disabled.

    The topic stays, and only a log line reports it.

    Why:   that the node goes fires the controller's own watch once more.
    Kafka: TopicDeletion; delete.topic.enable (default false up to 0.11), KAFKA-3175 (0.10.2)
    """
    cache = now.cache[broker]
    require_fired(now, broker, "deletions",          "its watch of /admin/delete_topics fired")
    require(now.zk.requested,                       "a deletion is requested")
    if version.delete_topic_enable:
        require(not_(has_partition(cache.known, 0)),  "it does not know the topic")
    require_fence(now, broker)

    new.zk.requested = False
    fire(now, new, "deletions")


@transition(only=watches_deletions, broker=BROKERS)
def controller_sees_no_request(now, new, broker):
    """The watch fired for a request that does not exist any more."""
    require_fired(now, broker, "deletions",          "its watch of /admin/delete_topics fired")
    require(not_(now.zk.requested),                 "no deletion is requested")

    new.cache[broker].fired.deletions = False


def require_resumed(now, broker):
    require_task(now, broker, "resumes",            "it looks whether a deletion can go on")


def is_retried(now, broker):
    """The controller is about to retry failed deletions."""
    cache = now.cache[broker]
    return all_of(
        cache.task == "resumes", not_(all_deleted(cache)),
        not_(any_in(cache, "ReplicaDeletionStarted")), any_in(cache, "ReplicaDeletionIneligible"))


@transition(actor=CONTROLLER, broker=BROKERS)
def deletion_is_retried(now, new, broker):
    """No deletion of a replica is under way and some failed: those go offline, to be tried again.

    Kafka: retryDeletionForIneligibleReplicas
    """
    cache = now.cache[broker]
    require_resumed(now, broker)
    require(not_(all_deleted(cache)),               "some replica is not deleted yet")
    require(not_(any_in(cache, "ReplicaDeletionStarted")),
                                                    "no replica's deletion is under way")
    require(any_in(cache, "ReplicaDeletionIneligible"),
                                                    "a replica could not be deleted")
    require_current(now, broker, writes=removes(
        now, broker, lambda p, b: is_ineligible(now, broker, p, b)))

    stop_replicas(now, new, broker, "resumes",
                  lambda p, b: is_ineligible(now, broker, p, b))


def stop_replicas(now, new, broker, then, chosen):
    """Replicas go offline and leave the ISR; each on a live broker gets a StopReplica.

    The topic is queued, so no broker is notified of its ISR; the states in ZooKeeper shrink
    nevertheless.
    """
    cache, gone = now.cache[broker], going_offline(now, broker, chosen)
    new.zk.state      = states_without(now, broker, gone)
    new.cache[broker] = cache.but(
        task=then,
        replica=moved_to(now, broker, "OfflineReplica", gone),
        leader=leaders_after_leaving(now, broker, gone))
    send_stop_replica(now, new, broker, kind="stop", to=lambda p, b: all_of(
        chosen(p, b), may_be_stopped(now, broker, p, b),
        any_of(cache.live.has(b), cache.shutting.has(b))))


@transition(actor=CONTROLLER, broker=BROKERS)
def deletion_starts(now, new, broker):
    """The partitions leave their state machine, and every broker is notified of the deletion.

    The replicas of dead brokers are ineligible.

    Kafka: onTopicDeletion; UpdateMetadata with leader -2
    """
    cache = now.cache[broker]
    require_resumed(now, broker)
    require(not_(all_deleted(cache)),               "some replica is not deleted yet")
    require(not_(any_in(cache, "ReplicaDeletionStarted", "ReplicaDeletionIneligible")),
                                                    "no replica's deletion is under way or failed")
    require(not_(cache.ineligible),                 "the topic is eligible")

    def dead(p, b):
        return is_dead_replica(now, broker, p, b)

    new.cache[broker] = cache.but(
        task="stops", started=True,
        replica=moved_to(now, broker, "ReplicaDeletionIneligible", dead))
    if version.partitions_removed_before_deletion:  # KAFKA-6753
        new.cache[broker].partition = partitions_gone(cache)


def partitions_gone(cache):
    """The partitions after two batches: to Offline, and to NonExistent."""
    def gone(p):
        offline = state_after(PARTITION_TABLE, cache.partition[p], "OfflinePartition",
                              has_partition(cache.known, p))
        return state_after(PARTITION_TABLE, offline, "NonExistentPartition",
                           has_partition(cache.known, p))

    return lam(PARTITIONS, gone)


@transition(actor=CONTROLLER, broker=BROKERS)
def deletion_waits(now, new, broker):
    """A deletion of a replica is under way, or the topic is ineligible: there is nothing to do."""
    cache = now.cache[broker]
    require_resumed(now, broker)
    require(not_(all_deleted(cache)),               "some replica is not deleted yet")
    require(any_of(
        any_in(cache, "ReplicaDeletionStarted"),
        all_of(cache.ineligible, not_(any_in(cache, "ReplicaDeletionIneligible")))),
                                                    "it must wait for an answer or a broker")

    new.cache[broker].task = task_after_event(now.cache[broker])


def is_to_be_deleted(now, broker, partition, replica):
    """A replica on a live broker that is not deleted yet."""
    return all_of(
        is_live_replica(now, broker, partition, replica),
        now.cache[broker].replica[partition][replica] != "ReplicaDeletionSuccessful")


@transition(broker=BROKERS)
def controller_stops_replicas(now, new, broker):
    """The live replicas go offline: StopReplica, still without delete."""
    require_task(now, broker, "stops",              "the deletion has started")
    require_current(now, broker, writes=removes(
        now, broker, lambda p, b: is_to_be_deleted(now, broker, p, b)))

    stop_replicas(now, new, broker, "deletes", lambda p, b: is_to_be_deleted(now, broker, p, b))


@transition(broker=BROKERS)
def controller_deletes_replicas(now, new, broker):
    """Offline replicas on live brokers are sent StopReplica with delete; the response is awaited.

    Replicas of dead brokers make the topic ineligible.
    """
    cache = now.cache[broker]
    require_task(now, broker, "deletes",            "the live replicas were stopped")

    def starts(p, b):
        return all_of(is_to_be_deleted(now, broker, p, b), deletion_may_start(now, broker, p, b))

    new.cache[broker] = cache.but(
        task=task_after_event(cache),
        replica=moved_to(now, broker, "ReplicaDeletionStarted", starts),
        ineligible=any_of(cache.ineligible, some_replica(
            cache.known, lambda p, b: is_dead_replica(now, broker, p, b))))
    send_stop_replica(now, new, broker, to=starts, kind="delete")


@transition(broker=BROKERS, replica=BROKERS)
def controller_receives_stop_replica_response(now, new, broker, replica):
    """A StopReplica response arrives: deleted replicas are done, failed ones wait for a broker.

    Kafka: TopicDeletionStopReplicaResponseReceived
    """
    cache, answer = now.cache[broker], now.request[now.belief[broker]][replica]
    require_task(now, broker, "waits",              "it is not in the middle of another event")
    require(is_stop_replica_answer(answer),                      "the broker answered")

    def heard(p, b):
        state = cache.replica[p][b]
        deleted = all_of(answer.stop[p] == "deleted", deletion_may_succeed(now, broker, p, b))
        failed  = all_of(answer.stop[p] == "failed", may_be_ineligible(now, broker, p, b))
        return when(b != replica, state, when(deleted, "ReplicaDeletionSuccessful", when(
            failed, "ReplicaDeletionIneligible", state)))

    new.cache[broker] = cache.but(
        task="resumes",
        replica=lam(PARTITIONS, lambda p: lam(BROKERS, lambda b: heard(p, b))),
        ineligible=any_of(cache.ineligible, some(
            PARTITIONS, lambda p: answer.stop[p] == "failed")))
    new.request[now.belief[broker]][replica].stop = lam(PARTITIONS, lambda p: when(
        any_of(answer.stop[p] == "deleted", answer.stop[p] == "failed"), "none", answer.stop[p]))

"""Claims about a topic's life: a deleted topic is gone, and each request is carried out.

The claim that a deleted topic's data never comes back has a condition: up to 2.7 a topic is known
by its name only, and a broker that was down during the deletion may bring the topic back.
"""

from model.language import (
    all_of,
    always,
    always_step,
    any_of,
    every,
    implies,
    not_,
    some,
    sometimes,
    version,
)
from model.protocol.controllership import fence_is_passed
from model.protocol.state import BROKERS
from model.topics.state import CONTROLLERS, PARTITION_STATES, PARTITIONS, REPLICA_STATES
from model.topics.tables import PARTITION_TABLE, may_become, replica_table
from model.topics.zookeeper import has_partition, same_lists, topic_exists, watches_deletions


@always("no broker is made leader of a partition over what an earlier topic of that name left",
        companion="a_recreated_topic_is_led")
def deleted_data_is_never_served(now):
    return not_(now.risen)


@always("a deleted topic comes back under its successor's name only if a replica was reassigned "
        "away from a broker while that broker was dead",
        companion="a_recreated_topic_is_led")
def deleted_data_returns_only_after_reassignment(now):
    return implies(now.risen, now.left_behind)


@always_step("a topic leaves ZooKeeper only when no broker keeps its data, unless a replica was "
             "reassigned away from a dead broker before",
             companion="a_deletion_is_complete")
def deleted_topics_leave_no_data(now, after):
    kept = some(BROKERS, lambda b: some(PARTITIONS, lambda p: all_of(
        has_partition(now.zk.assignment, p), now.replica[b][p].directory == "current")))
    return implies(all_of(topic_exists(now), not_(topic_exists(after))),
                   any_of(now.left_behind, not_(kept)))


@always_step("a topic leaves ZooKeeper only while its deletion is requested",
             companion="a_deletion_is_complete")
def topics_are_deleted_only_on_request(now, after):
    return implies(all_of(topic_exists(now), not_(topic_exists(after))), now.zk.requested)


def stays_controller(now, after, broker):
    """The broker has the context of a controller before a step and after it, and one topic in it,
    or is about to forget it."""
    return all_of(
        now.belief[broker] == after.belief[broker],
        now.cache[broker].task != "reads_zookeeper", after.cache[broker].task != "reads_zookeeper",
        any_of(has_partition(after.cache[broker].known, 0),
               after.cache[broker].task == "unregisters"))


def follows(table, before, after, names):
    return any_of(before == after, *(
        all_of(after == target, may_become(table, before, target)) for target in names))


@always_step("the state machines of an active controller take the transitions of their tables "
             "and no other",
             companion="a_replica_is_ineligible")
def state_changes_are_valid(now, after):
    table = replica_table()

    def partition(b, p):
        was, becomes = now.cache[b].partition[p], after.cache[b].partition[p]
        left = all_of(becomes == "NonExistentPartition",    # two batches of one step
                      may_become(PARTITION_TABLE, was, "OfflinePartition"))
        return any_of(left, follows(PARTITION_TABLE, was, becomes, PARTITION_STATES.values))

    return every(BROKERS, lambda b: implies(stays_controller(now, after, b), all_of(
        every(PARTITIONS, lambda p: partition(b, p)),
        every(PARTITIONS, lambda p: every(BROKERS, lambda r: any_of(
            replica_was_moved_away(now, after, b, p),
            follows(table, now.cache[b].replica[p][r], after.cache[b].replica[p][r],
                    REPLICA_STATES.values)))))))


def replica_was_moved_away(now, after, broker, partition):
    """The partition's replica list has changed: `reassignment` has the steps of its replicas."""
    known, then = now.cache[broker].known, after.cache[broker].known
    return all_of(has_partition(known, partition), has_partition(then, partition),
                  not_(same_lists(known, then)))


@always_step("once a controller has started to delete a topic it sends LeaderAndIsr about it to "
             "nobody but a broker that starts, and never after a StopReplica that is under way",
             companion="a_broker_starts_during_a_deletion")
def no_leader_and_isr_for_topics_being_deleted(now, after):
    def is_sent(c, b, p):
        return all_of(now.request[c][b].order[p] == "none",
                      after.request[c][b].order[p] != "none")

    def may_be_sent(c, b, p):
        free = any_of(now.request[c][b].stop[p] == "none", now.request[c][b].stop[p] == "deleted",
                      now.request[c][b].stop[p] == "failed")
        return all_of(free, every(BROKERS, lambda sender: implies(
            all_of(now.belief[sender] == c, now.cache[sender].started),
            not_(now.cache[sender].live.has(b)))))

    return every(CONTROLLERS, lambda c: every(BROKERS, lambda b: every(PARTITIONS, lambda p:
        implies(is_sent(c, b, p), may_be_sent(c, b, p)))))


def is_at_rest(now, broker):
    """The newest controller waits, and has no notification that it has not handled."""
    cache = now.cache[broker]
    return all_of(
        now.belief[broker] > 0, now.belief[broker] == now.zk.epoch,
        now.zk.registered.has(broker), cache.task == "waits",
        not_(cache.fired.topics), not_(cache.fired.partitions), not_(cache.fired.deletions))


@always("a controller without pending notifications knows what is in ZooKeeper: the topic with "
        "each of its partitions, and whether its deletion is requested, if it watches such "
        "requests",
        companion="a_controller_is_idle")
def idle_controller_knows_zookeeper(now):
    def knows_request(b):
        if not watches_deletions(version):
            return not_(now.cache[b].queued)
        return now.cache[b].queued == now.zk.requested

    return every(BROKERS, lambda b: implies(is_at_rest(now, b), all_of(
        same_lists(now.cache[b].known, now.zk.assignment), knows_request(b))))


@sometimes("a broker leads a topic that was created again after one of that name was deleted")
def a_recreated_topic_is_led(now):
    return some(BROKERS, lambda b: some(PARTITIONS, lambda p: all_of(
        now.replica[b][p].role == "leader", now.deleted_once)))


@sometimes("every replica of a topic is deleted, and the controller is about to remove its node")
def a_deletion_is_complete(now):
    return some(BROKERS, lambda b: all_of(
        now.cache[b].task == "unregisters", topic_exists(now)))


@sometimes("a replica cannot be deleted for now")
def a_replica_is_ineligible(now):
    return some(BROKERS, lambda b: some(PARTITIONS, lambda p: some(BROKERS, lambda r:
        now.cache[b].replica[p][r] == "ReplicaDeletionIneligible")))


@sometimes("a broker that starts is sent what it hosts of a topic that is being deleted")
def a_broker_starts_during_a_deletion(now):
    # Of the newest controller: a deposed one leaves a state alone that a newer one has written,
    # and with it a replica that never stopped.
    return some(BROKERS, lambda b: some(CONTROLLERS, lambda c: some(BROKERS, lambda r: all_of(
        now.belief[b] == c, fence_is_passed(now, b),
        now.cache[b].started, now.cache[b].task != "stops",
        some(PARTITIONS, lambda p: all_of(
            now.cache[b].replica[p][r] == "OnlineReplica",
            now.request[c][r].order[p] != "none"))))))


@sometimes("a controller is idle, and knows a topic")
def a_controller_is_idle(now):
    return some(BROKERS, lambda b: all_of(
        is_at_rest(now, b), has_partition(now.cache[b].known, 0)))


@sometimes("every partition of a topic has a leader, and the broker leads")
def a_topic_is_led(now):
    return all_of(topic_exists(now), every(PARTITIONS, lambda p: implies(
        has_partition(now.zk.assignment, p), some(BROKERS, lambda b: all_of(
            now.zk.state[p].leader == b, now.replica[b][p].role == "leader")))))


@sometimes("a controller that is deposed, and does not know it, is in the middle of a deletion")
def a_deposed_controller_deletes_a_topic(now):
    return some(BROKERS, lambda b: all_of(
        now.belief[b] > 0, now.belief[b] < now.zk.epoch,
        now.cache[b].started))


CLAIMS = (
    deleted_data_is_never_served, deleted_data_returns_only_after_reassignment,
    deleted_topics_leave_no_data, topics_are_deleted_only_on_request, state_changes_are_valid,
    no_leader_and_isr_for_topics_being_deleted, idle_controller_knows_zookeeper,
    a_recreated_topic_is_led, a_deletion_is_complete, a_replica_is_ineligible,
    a_broker_starts_during_a_deletion, a_controller_is_idle, a_topic_is_led,
    a_deposed_controller_deletes_a_topic)

"""The twelve steps of a reassignment, from the request to UpdateMetadata.

OAR are the original replicas, RAR the target. Between two steps a controller may die; the next
controller starts again from the state in ZooKeeper. Only step 4 checks the ISR: if a leader drops a
target between step 4 and step 9, the controller does not react.

Source: KafkaController.onPartitionReassignment (2.3)
"""

from model.language import (
    BLANK,
    all_of,
    any_of,
    not_,
    require,
    transition,
    version,
    when,
)
from model.protocol.controllership import (
    fence_is_passed,
    register_state,
    require_controllership,
    require_fence,
    require_task,
)
from model.protocol.state import BROKERS
from model.protocol.strategies import reassigned_partition
from model.reassignment.kip_455 import after_update, is_kip_455, is_move
from model.reassignment.replica_lists import (
    all_within,
    brokers_if,
    brokers_where,
    empty_list,
    is_empty,
    is_same,
    joined,
    list_when,
    listed,
    members,
    replica_order,
)
from model.reassignment.state import NOBODY
from model.reassignment.writing import (
    goes_to,
    is_at,
    leader_stays,
    read_state,
    require_current,
    require_lost_response,
    rewrite_request,
    send,
    send_update_metadata,
    stop,
    task,
    write_state,
)


def old_and_new_replicas(cache):
    """Every replica of the old and the new list."""
    return brokers_where(lambda b: any_of(listed(cache.assignment, b), listed(cache.target, b)))


@transition(broker=BROKERS)
def controller_writes_union_of_replicas(now, new, broker):
    """Step 1: the union of RAR and OAR is written to the topic's znode, and kept in memory.

    The write names no version: it is sent again when its answer is lost, and changes nothing.
    """
    cache = now.cache[broker]
    require_task(now, broker, "assigning",          "a move begins")
    require_fence(now, broker)

    union = joined(cache.target, cache.assignment)
    new.zk.assignment = union
    if is_kip_455(version):
        new.zk.adding = brokers_where(lambda b: all_of(
            listed(union, b), not_(listed(cache.assignment, b))))
        new.zk.removing = brokers_where(lambda b: all_of(
            listed(union, b), not_(listed(cache.target, b))))
        new.cache[broker] = cache.but(
            assignment=union, **goes_to(
                now, cache, after_update(now.zk, cache.target), is_move(now.zk, cache.target)))
        return
    new.cache[broker] = cache.but(task="bumping", assignment=union)


@transition(broker=BROKERS)
def controller_bumps_epoch(now, new, broker):
    """Steps 2 and 3: a new leader epoch, the same leader and ISR; LeaderAndIsr to RAR and OAR.

    The controller then waits for the ISR. Step 3 sends RAR - OAR the same request again, in a batch
    of its own; brokers refuse it, because they know the epoch. It is no separate step here.
    Kafka: KafkaController.updateLeaderEpochAndSendRequest, startNewReplicasForReassignedPartition
    """
    cache = now.cache[broker]
    require_task(now, broker, "bumping",            "the epoch is to be raised")
    require_current(now, broker)

    write_state(
        now, new, broker, cache.leader, cache.isr,
        to=old_and_new_replicas(cache), replicas=old_and_new_replicas(cache),
        sent=sent_epoch(now, broker), task="idle", other=other_requests(now, broker),
        **rewrite_request(now, new, broker))


def other_requests(now, broker):
    """The entries of other partitions that are in memory; since KAFKA-6193 an entry is loaded
    when its turn comes."""
    return now.cache[broker].other if version.requests_loaded_whole else now.zk.other


def sent_epoch(now, broker):
    """The epoch that UpdateMetadata carries: the one in the controller's memory at that time."""
    if version.raised_epoch_cached:                 # else KAFKA-9212
        return now.zk.leader_epoch + 1
    return now.cache[broker].epoch


@transition(shows="write_without_response", fault=True, broker=BROKERS)
def controller_loses_response_to_epoch_bump(now, new, broker):
    """The leader epoch is raised (steps 2, 7), and the response is lost: it is raised twice."""
    cache = now.cache[broker]
    require_lost_response(now, broker, "bumping", "leading")
    require(any_of(cache.task == "bumping", leader_is_live_target(now, broker)),
                                                    "the leader stays")

    register_state(now, new, cache.leader, cache.isr)
    new.spent.expiries = now.spent.expiries + 1


@transition(broker=BROKERS)
def controller_sees_targets_in_sync(now, new, broker):
    """Step 4: the watch on the state fires, and the ISR that the controller reads contains RAR."""
    cache = now.cache[broker]
    require_task(now, broker, "idle",               "it waits for events")
    require(not_(is_empty(cache.target)),           "the partition is to move")
    require(all_within(cache.target, now.zk.isr),   "every target is in the registered ISR")

    new.cache[broker] = cache.but(**goes_to(now, cache, task("adopting")))


@transition(broker=BROKERS)
def controller_sets_target_in_memory(now, new, broker):
    """Steps 5 and 6: RAR goes online; in memory, and only there, RAR becomes the assignment.

    New replicas are not notified. Replicas that were online are sent the request of this leader
    epoch once more, and refuse it, because they know the epoch. It is no separate step here.
    """
    cache = now.cache[broker]
    require_task(now, broker, "adopting",           "every target was in the ISR")

    old = brokers_where(
        lambda b: all_of(listed(cache.assignment, b), not_(listed(cache.target, b))))
    new.cache[broker] = cache.but(task="leading", assignment=cache.target, old=old, leaving=old)
    send_update_metadata(now, new, broker, cache.epoch, cache.leader)


def leader_is_live_target(now, broker):
    """The leader is a live target replica."""
    return leader_stays(now.cache[broker])


def choice(cache):
    """The Reassign strategy: the first of RAR that is alive and in the ISR."""
    return reassigned_partition(replica_order(cache.target), cache.isr, cache.live)


@transition(broker=BROKERS)
def controller_keeps_leader(now, new, broker):
    """Step 7, the leader is a target: it stays leader, in a new epoch.

    LeaderAndIsr, with RAR as the replicas, goes to RAR and OAR up to 2.3, and to RAR alone since
    2.4 (updateLeaderEpochAndSendRequest).
    """
    cache = now.cache[broker]
    require_task(now, broker, "leading",            "the leader is to be a target")
    require(leader_is_live_target(now, broker),     "the leader is a target, and alive")
    require_current(now, broker)

    def is_sent(b):
        if is_kip_455(version):
            return listed(cache.target, b)
        return any_of(listed(cache.target, b), cache.old.has(b))

    write_state(
        now, new, broker, cache.leader, cache.isr, to=brokers_where(is_sent),
        replicas=members(cache.target), sent=sent_epoch(now, broker), task="leaving")


@transition(broker=BROKERS, leader=BROKERS)
def controller_moves_leader_to_target(now, new, broker, leader):
    """Step 7, the leader is no target: the first of RAR that is alive and in the ISR leads.

    Kafka: leaderForReassign; the ISR stays as it is, LeaderAndIsr goes to RAR
    """
    cache = now.cache[broker]
    require_task(now, broker, "leading",            "the leader is to be a target")
    require(not_(leader_is_live_target(now, broker)), "the leader is no target, or dead")
    require(choice(cache).leads(leader),            "the first live target of the ISR is chosen")
    require_current(now, broker)

    write_state(
        now, new, broker, leader, choice(cache).isr(leader), to=members(cache.target),
        replicas=members(cache.target), task="leaving")


@transition(shows="write_without_response", fault=True, broker=BROKERS, leader=BROKERS)
def controller_loses_response_to_leader_change(now, new, broker, leader):
    """The new leader is written, and the response is lost: the controller will elect it again."""
    cache = now.cache[broker]
    require_lost_response(now, broker, "leading")
    require(not_(leader_is_live_target(now, broker)), "the leader is no target, or dead")
    require(choice(cache).leads(leader),            "the first live target of the ISR is chosen")

    register_state(now, new, leader, choice(cache).isr(leader))
    new.spent.expiries = now.spent.expiries + 1


@transition(broker=BROKERS)
def controller_finds_no_target_to_lead(now, new, broker):
    """Step 7 fails: no target is alive and in the ISR any more.

    The failure is logged, and step 8 follows.
    Kafka: a StateChangeFailedException is logged, and does not end the procedure
    """
    cache = now.cache[broker]
    require_task(now, broker, "leading",            "the leader is to be a target")
    require(not_(leader_is_live_target(now, broker)), "the leader is no target, or dead")
    require(not_(choice(cache).exists),             "no target is alive and in the ISR")
    require_current(now, broker)

    new.cache[broker] = cache.but(task="leaving")


def require_old_replica(now, broker, replica):
    # redundant "the broker believes it is the controller", because nobody else has a task.
    require_controllership(now, broker)
    require(is_at(now, broker, "leaving", "replacing"), "old replicas are to go offline")
    require(now.cache[broker].leaving.has(replica), "the replica is one of them")


@transition(broker=BROKERS, replica=BROKERS)
def controller_takes_old_replica_offline(now, new, broker, replica):
    """Step 8: an old replica is removed from the ISR by a write of its own, in a new leader epoch.

    The last ISR member is kept. If the leader is removed, the partition has no leader. All requests
    are sent in one batch after the last removal: LeaderAndIsr, StopReplica, UpdateMetadata; for a
    topic that is queued for deletion only StopReplica.
    Kafka: ZkReplicaStateMachine.handleStateChanges, removeReplicasFromIsr
    """
    cache = now.cache[broker]
    require_old_replica(now, broker, replica)
    require(cache.isr.has(replica),                 "it is in the ISR that the controller read")
    require_current(now, broker)

    leader, isr = leader_and_isr_without(cache, replica)
    last        = cache.leaving.is_only(replica)
    write_state(
        now, new, broker, leader, isr, to=members(cache.assignment),
        replicas=members(cache.assignment), sends=all_of(last, not_(cache.deleting)),
        leaving=cache.leaving.without(replica), unsent=not_(last))
    stop(now, new, broker, brokers_if(last, cache.old), "stop", now.zk.leader_epoch + 1)


def leader_and_isr_without(cache, replica):
    """The leader and the ISR without a replica."""
    isr = cache.isr.without(replica)
    return (when(cache.leader == replica, None, cache.leader),
            when(cache.isr.is_only(replica), cache.isr, isr))


@transition(shows="write_without_response", fault=True, broker=BROKERS, replica=BROKERS)
def controller_loses_response_to_isr_removal(now, new, broker, replica):
    """The smaller ISR is written, and the response is lost: the next read shows it."""
    cache = now.cache[broker]
    require_lost_response(now, broker, "leaving", "replacing")
    require(cache.leaving.has(replica),             "the replica is to go offline")
    require(cache.isr.has(replica),                 "it is in the ISR that the controller read")

    register_state(now, new, *leader_and_isr_without(cache, replica))
    new.spent.expiries = now.spent.expiries + 1


@transition(broker=BROKERS, replica=BROKERS)
def controller_skips_old_replica_outside_isr(now, new, broker, replica):
    """Step 8 for a replica that is not in the ISR: nothing is written.

    After the last old replica the batch is sent.
    """
    cache = now.cache[broker]
    require_old_replica(now, broker, replica)
    require(not_(now.zk.isr.has(replica)),          "it is not in the registered ISR")

    # LeaderAndIsr to the others has an epoch that they know, and is refused; UpdateMetadata is not.
    # Nobody knows it where another was taken out before, or where the answer to that was lost.
    last, unsent = cache.leaving.is_only(replica), any_of(
        cache.unsent, cache.epoch < now.zk.leader_epoch)
    sends = all_of(last, not_(cache.deleting))
    send(now, new, broker, now.zk.leader_epoch, brokers_where(lambda b: all_of(
        sends, unsent, listed(cache.assignment, b), b != replica, cache.reached.has(b))), {
            "leader": now.zk.leader, "isr": now.zk.isr, "version": now.zk.version,
            "replicas": members(cache.assignment)})
    stop(now, new, broker, brokers_if(last, cache.old), "stop", now.zk.leader_epoch)
    new.cache[broker] = cache.but(
        leaving=cache.leaving.without(replica), unsent=all_of(unsent, not_(last)),
        **read_state(now))
    send_update_metadata(
        now, new, broker, now.zk.leader_epoch, now.zk.leader, to=brokers_if(sends, cache.reached))


@transition(broker=BROKERS)
def controller_deletes_old_replicas(now, new, broker):
    """Step 9: StopReplica with delete to OAR - RAR, without waiting for the responses."""
    cache = now.cache[broker]
    require_task(now, broker, "leaving",            "the old replicas are to go offline")
    require(cache.leaving.is_empty(),               "all old replicas are offline")

    stop(now, new, broker, cache.old, "delete", cache.epoch)
    new.cache[broker] = cache.but(task="settling", old=NOBODY)


@transition(broker=BROKERS)
def controller_writes_target_replicas(now, new, broker):
    """Step 10: the topic's znode gets RAR. Unconditional, like step 1."""
    cache = now.cache[broker]
    require_task(now, broker, "settling",           "the old replicas are deleted")
    require_fence(now, broker)

    new.zk.assignment = cache.target
    if is_kip_455(version):
        new.zk.adding   = BLANK
        new.zk.removing = BLANK
    new.cache[broker] = cache.but(task="closing")


@transition(broker=BROKERS)
def controller_removes_request_entry(now, new, broker):
    """Step 11: the entry leaves /admin/reassign_partitions; with the last one the znode is deleted.

    From 1.1 to 2.3 the remaining entries are written from memory, whatever the znode says; before
    and since they are read again.
    Kafka: KafkaController.removePartitionsFromReassignedPartitions
    """
    cache = now.cache[broker]
    require_task(now, broker, "closing",            "the target is the assignment")
    require_fence(now, broker)

    if is_kip_455(version):                         # what was asked for meanwhile stays
        done = is_same(now.zk.requested, cache.target)
        new.zk.requested = list_when(done, empty_list(), now.zk.requested)
    else:
        new.zk.requested = BLANK
        new.zk.other     = now.zk.other if version.requests_read_again else cache.other
    new.cache[broker] = cache.but(task="telling", target=BLANK)
    if not version.moves_forgotten_on_resign:
        new.kept[broker] = BLANK


@transition(broker=BROKERS)
def controller_sends_final_update_metadata(now, new, broker):
    """Step 12: UpdateMetadata to every broker."""
    cache = now.cache[broker]
    require_task(now, broker, "telling",            "the move is done")

    send_update_metadata(now, new, broker, cache.epoch, cache.leader)
    if version.request_znode_not_rewritten or not version.zk_writes_fenced:
        new.cache[broker] = cache.but(task="idle", **rewrite_request(now, new, broker))
        return
    ends = any_of(not_(cache.begins), fence_is_passed(now, broker))
    new.cache[broker] = cache.but(
        task=when(ends, task("idle"), task("rewriting")),
        **rewrite_request(now, new, broker, ends))


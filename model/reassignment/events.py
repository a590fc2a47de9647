"""The controller's steps after its election, and when brokers start and fail.

The controller is one thread: it handles one event at a time. Any live member of the ISR replaces a
dead leader, which covers every order of the assignment.

Source: KafkaController.onControllerFailover, onBrokerStartup, onReplicasBecomeOffline (2.3)
"""

from model.language import (
    all_of,
    any_of,
    every,
    implies,
    is_none,
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
    require_fence,
    require_state_changed,
    require_task,
)
from model.protocol.state import BROKERS
from model.reassignment.controller import leader_and_isr_without
from model.reassignment.kip_455 import is_kip_455, moves, next_phase, target_of
from model.reassignment.replica_lists import (
    all_within,
    brokers_where,
    empty_list,
    is_empty,
    list_when,
    listed,
    members,
)
from model.reassignment.writing import (
    finds_no_target,
    is_conditional,
    read_state,
    read_znode,
    require_current,
    rewrite_request,
    send,
    send_update_metadata,
    task,
    write_state,
)


def is_alive(leader, live):
    return some(BROKERS, lambda b: all_of(leader == b, live.has(b)))


def has_dead(isr, live):
    return some(BROKERS, lambda b: all_of(isr.has(b), not_(live.has(b))))


def can_elect(isr, live, assignment):
    """Some assigned ISR member is alive. If none is, nothing is written, and the next task follows
    at once."""
    return some(BROKERS, lambda b: all_of(isr.has(b), live.has(b), listed(assignment, b)))


def next_task(leader, isr, live, assignment):
    """The first task for a dead broker: elect another leader, or remove it from the ISR."""
    return when(
        all_of(not_(is_alive(leader, live)), can_elect(isr, live, assignment)), task("electing"),
        when(has_dead(isr, live), task("removing"), task("idle")))


def first_task(zk, then):
    """The first task about dead replicas: since 2.3 they leave the ISR before an election, earlier
    they stay in it.

    For a topic that is to be deleted no leader is elected.

    Kafka: ReplicaStateMachine.startup (KAFKA-3143), then PartitionStateMachine.startup
    """
    live   = zk.registered
    able   = all_of(not_(zk.deleting), can_elect(zk.isr, live, zk.assignment))
    elects = when(all_of(not_(is_alive(zk.leader, live)), able), task("electing"), then)
    if not version.dead_replicas_taken_offline:
        return elects
    return when(has_dead(zk.isr, live), task("removing"), elects)


def known_target(now, broker):
    """The target replicas that a controller knows after its failover.

    Up to 2.3 they are those of the request; they stay in memory, whatever happens to the znode.
    Since 2.4 they are those of the topic's znode.
    Kafka: KafkaController.initializePartitionReassignment, as part of initializeControllerContext
    """
    if is_kip_455(version):
        return target_of(now.zk)
    kept = empty_list() if version.moves_forgotten_on_resign else now.kept[broker]
    return list_when(is_empty(now.zk.requested), kept, now.zk.requested)


def takes_up(now, isr, target, other):
    """The next task of a new controller after the tasks about dead replicas, and its target: the
    request that it read.

    Since 2.4 the controller reads the request only at this point; without a request it resumes a
    reassignment that is recorded in the topic's znode.
    Kafka: maybeTriggerPartitionReassignment at the end of onControllerFailover;
    initializePartitionReassignments (2.4)
    """
    if not is_kip_455(version):
        asked = any_of(not_(is_empty(target)), other == "unknown")
        return when(asked, task("beginning"), task("idle")), target, other
    zk = now.zk
    asked   = any_of(not_(is_empty(zk.requested)), zk.other == "unknown")
    goes_on = when(moves(zk), next_phase(zk, isr), task("idle"))
    return (when(asked, task("beginning"), goes_on), list_when(asked, zk.requested, target),
            when(zk.other == "unknown", zk.other, other))


def is_about_dead_brokers(then):
    return any_of(then == "electing", then == "removing")


def next_work(now, cache, isr, first):
    """The next task: the `first` one if it is about dead replicas; else a failover continues,
    and any other event is done."""
    then, target, other = takes_up(now, isr, cache.target, cache.other)
    waits   = is_about_dead_brokers(first)
    goes_on = all_of(cache.resumes, not_(waits))
    return {
        "task": when(waits, first, when(goes_on, then, task("idle"))),
        "resumes": all_of(cache.resumes, waits),
        "target": list_when(goes_on, target, cache.target),
        "other": when(goes_on, other, cache.other)}


def writes_again(now, broker, first):
    """Whether the controller still has to delete the request although nothing is requested, and its
    first task.

    A deposed controller that has nothing else to do is fenced at this write.
    """
    if version.request_znode_not_rewritten:
        return False, first
    begins = all_of(is_empty(now.zk.requested), now.zk.other == "none")
    idle   = first == "idle"
    if not version.zk_writes_fenced:
        return all_of(begins, not_(idle)), first
    fenced = all_of(begins, idle, not_(fence_is_passed(now, broker)))
    return any_of(fenced, all_of(begins, not_(idle))), when(fenced, task("rewriting"), first)


def waits_for_move(zk, target):
    """A reassignment of the partition is recorded, and all of its replicas and ISR members are
    alive."""
    return all_of(not_(is_empty(target)), every(BROKERS, lambda b: implies(
        any_of(listed(zk.assignment, b), zk.isr.has(b)), zk.registered.has(b))))


@transition(shows="read", broker=BROKERS)
def controller_reads_context(now, new, broker):
    """A new controller reads ZooKeeper, and sends every live replica the state that it read.

    It handles a request that it read in the same event. Reads are not fenced: a deposed controller
    sends the leader epoch of its successor with a replica list that the successor is about to
    shorten; a leader takes the first request that arrives.

    A deletion of the topic waits for a reassignment that the controller finds. Without one the
    deletion begins, which is in `topics`, as is a deletion that waits for a dead broker.
    Kafka: fetchTopicDeletionsInProgress
    """
    zk = now.zk
    require_controllership(now, broker)
    require(now.cache[broker].task == "none",       "it has not read the cluster")
    require(some(BROKERS, lambda b: listed(zk.assignment, b)), "the partition exists")

    cache = now.cache[broker].but(target=known_target(now, broker))
    require(implies(zk.deleting, waits_for_move(zk, cache.target)),
                                                    "it does not begin to delete the topic")
    if not is_kip_455(version):
        cache = cache.but(other=zk.other)
    then, target, other = takes_up(now, zk.isr, cache.target, cache.other)
    begins, first = writes_again(now, broker, first_task(zk, then))
    waits = is_about_dead_brokers(first)
    new.cache[broker] = cache.but(
        task=first, deleting=zk.deleting, begins=begins, resumes=waits,
        other=when(waits, cache.other, other),
        live=zk.registered, reached=zk.registered, assignment=zk.assignment,
        target=list_when(waits, cache.target, target), **read_state(now))
    hosts = members(zk.assignment).within(zk.registered)
    send(now, new, broker, zk.leader_epoch, hosts, {
        "leader": zk.leader, "isr": zk.isr, "version": zk.version,
        "replicas": members(zk.assignment)})
    announced = None if version.announcement == "all_partitions" else not_(hosts.is_empty())
    send_update_metadata(
        now, new, broker, zk.leader_epoch, when(zk.deleting, None, zk.leader), to=zk.registered,
        says=announced)
    new.read_late = any_of(now.read_late, now.belief[broker] < zk.epoch)


@transition(broker=BROKERS, dead=BROKERS)
def controller_sees_broker_failure(now, new, broker, dead):
    """The watch on /brokers/ids fires: a broker that was alive is not registered."""
    cache = now.cache[broker]
    require_task(now, broker, "idle",               "it waits for events")
    require(not_(cache.deleting),                   "the topic is not queued for deletion")
    require(cache.live.has(dead),                   "the broker was alive")
    require(not_(now.zk.registered.has(dead)),      "the broker is not registered")

    live = cache.live.without(dead)
    new.cache[broker] = cache.but(
        live=live, reached=cache.reached.without(dead),
        task=when(any_of(now.zk.leader == dead, now.zk.isr.has(dead)),
                  next_task(now.zk.leader, now.zk.isr, live, cache.assignment), task("idle")),
        **read_state(now))


@transition(broker=BROKERS, started=BROKERS)
def controller_sees_broker_startup(now, new, broker, started):
    """A broker is registered that the controller does not count as live: it is sent its states.

    If the partition has no leader, the request says so, and an election is tried again. A
    reassignment to that broker is resumed; if the broker has not caught up, from step 1. With
    KIP-380 the controller also notices a broker that restarted between two reads. What starts and
    failures mean for a deletion is in `topics`.
    """
    cache, zk = now.cache[broker], now.zk
    require_task(now, broker, "idle",               "it waits for events")
    require(not_(cache.deleting),                   "the topic is not queued for deletion")
    require(zk.registered.has(started),             "the broker is registered")
    require(not_(cache.reached.has(started)),       "the controller does not reach the broker")

    live, reached = cache.live.including(started), cache.reached.including(started)
    lags = all_of(listed(cache.target, started), not_(all_within(cache.target, zk.isr)))
    new.cache[broker] = cache.but(
        live=live, reached=reached,
        task=when(all_of(is_none(zk.leader), can_elect(zk.isr, live, cache.assignment)),
                  task("electing"),
                  when(lags, task("bumping" if is_kip_455(version) else "assigning"),
                       task("idle"))),
        **read_state(now))
    send(now, new, broker, zk.leader_epoch,
         brokers_where(lambda b: all_of(b == started, listed(cache.assignment, b))), {
             "leader": zk.leader, "isr": zk.isr, "version": zk.version,
             "replicas": members(cache.assignment)})
    send_update_metadata(now, new, broker, zk.leader_epoch, zk.leader, to=reached)


def is_eligible(cache, broker):
    return all_of(
        cache.isr.has(broker), cache.live.has(broker), listed(cache.assignment, broker))


@transition(broker=BROKERS, leader=BROKERS)
def controller_elects_leader(now, new, broker, leader):
    """A live member of the ISR leads, and the live part of the ISR is kept.

    Kafka: leaderForOffline
    """
    cache = now.cache[broker]
    require_task(now, broker, "electing",           "the partition has no live leader")
    require(is_eligible(cache, leader),             "the candidate is alive, assigned, in the ISR")
    require_current(now, broker)

    isr = cache.isr.within(cache.live)
    then = next_work(now, cache, isr, task("idle"))
    write_state(
        now, new, broker, leader, isr, to=members(cache.assignment),
        replicas=members(cache.assignment), **then,
        **rewrite_request(now, new, broker, ends=then["task"] == "idle"))
    new.dropped = brokers_where(lambda b: any_of(
        now.dropped.has(b), all_of(cache.isr.has(b), not_(isr.has(b)))))


@transition(broker=BROKERS, dead=BROKERS)
def controller_removes_dead_replica(now, new, broker, dead):
    """A dead replica leaves the ISR, and loses its leadership; the last ISR member is kept."""
    cache = now.cache[broker]
    require_task(now, broker, "removing",           "a member of the ISR or the leader is dead")
    require(any_of(cache.isr.has(dead), cache.leader == dead),
                                                    "the replica leads or is in the ISR")
    require(not_(cache.live.has(dead)),             "the replica is dead")
    require_current(now, broker)

    leader, isr = leader_and_isr_without(cache, dead)
    then = next_work(now, cache, isr, when(
        cache.isr.is_only(dead), task("idle"), after_removal(cache, leader, isr)))
    write_state(
        now, new, broker, leader, isr,
        to=brokers_where(lambda b: all_of(listed(cache.assignment, b), b != dead)),
        replicas=members(cache.assignment), **then,
        **rewrite_request(now, new, broker, ends=then["task"] == "idle"))
    new.dropped = when(isr.has(dead), now.dropped, now.dropped.including(dead))


def after_removal(cache, leader, isr):
    """The task after a removal: the next dead replica; after the last one, a new controller elects
    a leader.

    A controller that handles a broker failure has held its election before the removals.
    """
    elects = all_of(cache.resumes, is_none(leader), can_elect(isr, cache.live, cache.assignment))
    return when(has_dead(isr, cache.live), task("removing"),
                when(elects, task("electing"), task("idle")))


@transition(shows="refused_write", broker=BROKERS)
def controller_write_conflicts(now, new, broker):
    """The state changed since the controller read it: it reads the state again, and retries.

    If no replica can lead by the new state, nothing is written: step 7 fails at once, and so does
    an election, after which dead replicas leave the ISR. Nor is anything written if they have left
    it.
    Kafka: BADVERSION, the retry in ZkPartitionStateMachine and ZkReplicaStateMachine (2.3)
    """
    # redundant "the broker believes it is the controller", because nobody else has a task.
    require_controllership(now, broker)
    require(is_conditional(now, broker),            "it is about to write the partition's state")
    require_fence(now, broker)
    require_state_changed(now, broker)

    cache = now.cache[broker]
    seen = cache.but(**read_znode(now))
    gone  = all_of(cache.task == "removing", not_(has_dead(seen.isr, cache.live)))
    fails = all_of(cache.task == "electing",
                   not_(can_elect(seen.isr, cache.live, cache.assignment)))
    stays = all_of(fails, any_of(cache.resumes, is_none(seen.leader)))
    then = next_work(now, seen, seen.isr, when(
        stays, task("idle"), after_removal(seen, seen.leader, seen.isr)))
    over  = any_of(gone, fails)
    # whether the leader is to be another was decided by the one that it had in memory
    new.cache[broker] = seen.but(
        leader=when(cache.task == "leading", cache.leader, seen.leader),
        task=when(over, then["task"],
                  when(finds_no_target(cache, now.zk.isr), task("leaving"), cache.task)),
        resumes=when(over, then["resumes"], cache.resumes),
        target=list_when(over, then["target"], cache.target),
        other=when(over, then["other"], cache.other),
        **rewrite_request(now, new, broker, ends=all_of(over, then["task"] == "idle")))

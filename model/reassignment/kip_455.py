"""Reassignments since 2.4: the topic's znode has them, and they can be changed and cancelled.

The znode has the replicas of both lists, and those being added and removed. A request goes to the
controller, which answers when it has written the znode; the znode under /admin is still obeyed.
Replicas that a changed reassignment no longer needs are taken offline before it continues.

Source: KafkaController.alterPartitionReassignments, updateCurrentReassignment (2.4), KIP-455
"""

from model.language import (
    BLANK,
    all_of,
    any_of,
    every,
    implies,
    not_,
    require,
    transition,
    when,
)
from model.protocol.controllership import require_fence, require_task
from model.protocol.state import BROKERS
from model.reassignment.replica_lists import (
    all_within,
    as_list,
    brokers_where,
    empty_list,
    is_empty,
    is_same,
    joined,
    left,
    list_when,
    listed,
    require_list,
    written,
)
from model.reassignment.writing import goes_to, stop, task


def is_kip_455(v):
    return v.reassignment == "kip_455"


def is_twelve_steps(v):
    return v.reassignment == "twelve_steps"


def is_original(zk, broker):
    """A replica that is not being added."""
    return all_of(listed(zk.assignment, broker), not_(zk.adding.has(broker)))


def is_target(zk, broker):
    """A replica that is not being removed."""
    return all_of(listed(zk.assignment, broker), not_(zk.removing.has(broker)))


def moves(zk):
    """The topic's znode records a reassignment of the partition."""
    return not_(all_of(zk.adding.is_empty(), zk.removing.is_empty()))


def target_of(zk):
    """The target replicas in the topic's znode: none if nothing is added or removed."""
    return left(zk.assignment, brokers_where(lambda b: any_of(not_(moves(zk)), zk.removing.has(b))))


def next_phase(zk, isr):
    """Phase B if the target of a move in the znode is within the ISR, else phase A."""
    in_sync = every(BROKERS, lambda b: implies(is_target(zk, b), isr.has(b)))
    return when(in_sync, task("adopting"), task("bumping"))


def after_update(zk, target):
    """Phase B if the target is within the ISR, or is the original replicas in any order; else A.

    Kafka: isReassignmentComplete (2.4)
    """
    done = any_of(not_(is_move(zk, target)), all_within(target, zk.isr))
    return when(done, task("adopting"), task("bumping"))


def is_move(zk, target):
    """Replicas come or go: the target is not the original replicas in some order."""
    return not_(every(BROKERS, lambda b: all_of(
        implies(listed(target, b), is_original(zk, b)),
        implies(is_original(zk, b), listed(target, b)))))


def update(now, new, broker, target, replicas):
    """Phase U: the topic's znode is written, then the memory; replicas in neither new list are
    removed first."""
    zk, cache = now.zk, now.cache[broker]
    needless = brokers_where(
        lambda b: all_of(listed(cache.assignment, b), not_(listed(replicas, b))))
    goes_on = needless.is_empty()                   # and looks whether the target is in the ISR
    then = when(goes_on, after_update(zk, target), task("replacing"))
    seen = {part: when(goes_on, value, getattr(cache, part))
            for part, value in goes_to(now, cache, then, is_move(zk, target)).items()}
    seen["task"] = then
    new.zk.assignment = replicas
    new.zk.adding = brokers_where(lambda b: all_of(listed(target, b), not_(is_original(zk, b))))
    new.zk.removing = brokers_where(lambda b: all_of(is_original(zk, b), not_(listed(target, b))))
    new.cache[broker] = cache.but(
        assignment=replicas, target=target, old=needless, leaving=needless, **seen)
    lags = brokers_where(lambda b: all_of(
        is_original(zk, b), not_(zk.isr.has(b)), not_(now.dropped.has(b))))
    changes = not_(is_empty(cache.target))
    # its old replicas were leaving, and now they are what it has to go back to
    new.slipped = any_of(now.slipped, all_of(changes, not_(lags.is_empty())))
    # who was no safe copy when a move began is none that it has to keep
    new.dropped = brokers_where(lambda b: any_of(
        now.dropped.has(b), all_of(not_(changes), lags.has(b))))
    new.origin  = left(zk.assignment, zk.adding)
    new.wanted  = target


@transition(only=is_kip_455,
            broker=BROKERS, first=BROKERS, second=BROKERS.or_none, third=BROKERS.or_none)
def controller_is_asked_to_reassign(now, new, broker, first, second, third):
    """AlterPartitionReassignments arrives; it replaces a reassignment in progress.

    Refused for a topic that is to be deleted, a list that names a broker twice, and a new replica
    on a dead broker.
    """
    cache, target = now.cache[broker], written(first, second, third)
    require_task(now, broker, "idle",               "it waits for events")
    require_list(first, second, third)
    require(not_(cache.deleting),                   "the topic is not queued for deletion")
    # redundant because nobody reads the cluster before the partition exists.
    require(not_(is_empty(cache.assignment)),       "the partition exists")
    require(is_empty(now.zk.requested),             "there is no request under /admin")
    require(every(BROKERS, lambda b: implies(
        all_of(listed(target, b), not_(is_original(now.zk, b))), cache.live.has(b))),
                                                    "every new replica is alive")
    require(not_(is_same(target, when_moving(cache))), "another list is asked for than it works on")
    require_fence(now, broker)

    original = as_list(lambda b: when(
        is_original(now.zk, b), now.zk.assignment[b], empty_list()[b]))
    update(now, new, broker, target, replicas=joined(target, original))
    new.spent.moves = now.spent.moves + 1


def when_moving(cache):
    """The target replicas while the partition is reassigned, else the assigned ones."""
    return list_when(is_empty(cache.target), cache.assignment, cache.target)


@transition(only=is_kip_455, broker=BROKERS)
def controller_cancels_move(now, new, broker):
    """The reassignment in progress is cancelled: the original list becomes its target.

    Kafka: NO_REASSIGNMENT_IN_PROGRESS is the answer if none is in progress
    """
    require_task(now, broker, "idle",               "it waits for events")
    require(not_(now.cache[broker].deleting),       "the topic is not queued for deletion")
    require(not_(is_empty(now.cache[broker].target)), "the partition is to move")
    require(is_empty(now.zk.requested),             "there is no request under /admin")
    require_fence(now, broker)

    original = left(now.zk.assignment, now.zk.adding)
    update(now, new, broker, original, replicas=original)
    new.spent.expiries = now.spent.expiries + 1


@transition(only=is_kip_455, broker=BROKERS)
def controller_deletes_cancelled_adding_replicas(now, new, broker):
    """Phase U ends: replicas that only the earlier target was adding are deleted."""
    cache = now.cache[broker]
    require_task(now, broker, "replacing",          "a move was changed")
    require(cache.leaving.is_empty(),               "replicas that are not needed are offline")

    stop(now, new, broker, cache.old, "delete", cache.epoch)
    new.cache[broker] = cache.but(
        old=BLANK, **goes_to(
            now, cache, after_update(now.zk, cache.target), is_move(now.zk, cache.target)))

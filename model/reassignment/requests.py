"""How a controller accepts or drops a request: the guards of a reassignment.

Source: KafkaController.maybeTriggerPartitionReassignment (2.3)
"""

from model.language import (
    BLANK,
    all_of,
    any_of,
    not_,
    require,
    some,
    transition,
    version,
    when,
)
from model.protocol.controllership import require_controllership, require_fence, require_task
from model.protocol.state import BROKERS
from model.reassignment.kip_455 import (
    after_update,
    is_kip_455,
    is_move,
    is_twelve_steps,
    moves,
    next_phase,
    target_of,
)
from model.reassignment.replica_lists import (
    all_within,
    empty_list,
    is_empty,
    is_same,
    list_when,
    listed,
)
from model.reassignment.writing import goes_to, is_at, task


def asked(now, broker):
    """The request that a controller handles: what it read at failover, or what the znode says
    now."""
    cache = now.cache[broker]
    return list_when(cache.task == "beginning", cache.target, now.zk.requested)


def require_request(now, broker):
    """A new controller handles the request that it read; or the watch on
    /admin/reassign_partitions fires, and a partition that is being moved is skipped."""
    # redundant "the broker believes it is the controller", because nobody else has a task.
    require_controllership(now, broker)
    found = is_at(now, broker, "beginning")
    require(any_of(found, is_at(now, broker, "idle")), "it waits for events, or has just begun")
    require(not_(is_empty(asked(now, broker))),     "the request names the partition")
    require(any_of(found, is_empty(now.cache[broker].target)),
                                                    "the partition does not move already")


def require_real(now, broker):
    require(not_(now.cache[broker].deleting),       "the topic is not queued for deletion")
    if is_twelve_steps(version):
        require(not_(is_same(asked(now, broker), now.cache[broker].assignment)),
                                                    "another list, or another order is asked for")
    if not version.waits_for_dead_targets:          # KAFKA-4214
        require(not_(some(BROKERS, lambda b: is_missing(now, broker, b))),
                                                    "every target is alive")


def is_missing(now, broker, target):
    return all_of(listed(asked(now, broker), target), not_(now.cache[broker].live.has(target)))


def take_up(now, new, broker, then, looks=None):
    """The target is kept in memory from now on; so are the other entries, where they are loaded
    together."""
    cache, target = now.cache[broker], asked(now, broker)
    known = cache.other
    if version.requests_loaded_whole:
        known = when(cache.task == "beginning", cache.other, now.zk.other)
    new.cache[broker] = cache.but(
        target=target, other=known, begins=not version.request_znode_not_rewritten,
        **goes_to(now, cache, then, looks))
    if not version.moves_forgotten_on_resign:
        new.kept[broker] = target


@transition(broker=BROKERS)
def controller_begins_move(now, new, broker):
    """The controller handles a request, and some target is not in the ISR: it begins with step 1.

    Since 2.4 it first writes the topic's znode, unless that has the target already: then the
    partition is already assigned as requested, and gets a new leader epoch all the same.
    """
    require_request(now, broker)
    require_real(now, broker)
    if is_twelve_steps(version):
        require(not_(all_within(asked(now, broker), now.zk.isr)), "a target is not in the ISR")
        take_up(now, new, broker, task("assigning"))
        return

    target = asked(now, broker)
    same = is_same(target, now.cache[broker].assignment)
    then = when(same, after_update(now.zk, target), task("assigning"))
    take_up(now, new, broker, then, any_of(not_(same), is_move(now.zk, target)))


@transition(only=is_twelve_steps, broker=BROKERS)
def controller_begins_with_targets_in_sync(now, new, broker):
    """The controller handles a request, and every target is in the ISR: it begins with step 5.

    The request changes the order, removes replicas, or was brought this far by an earlier
    controller.
    """
    require_request(now, broker)
    require_real(now, broker)
    require(all_within(asked(now, broker), now.zk.isr), "every target is in the ISR")

    take_up(now, new, broker, task("adopting"))


def drop(now, new, broker):
    """The entry is removed; other entries of the request stay, if the controller knows of them."""
    zk, cache = now.zk, now.cache[broker]
    new.zk.requested = BLANK
    if not version.requests_read_again:
        known = cache.other
        if version.requests_loaded_whole:
            known = when(cache.task == "beginning", cache.other, zk.other)
        new.zk.other = known
    new.cache[broker] = cache.but(**after_request(now, cache))
    if not version.moves_forgotten_on_resign:
        new.kept[broker] = BLANK


def after_request(now, cache):
    """The task after a refused request: since 2.4 a new controller resumes the reassignment in
    the topic's znode."""
    found = cache.task == "beginning"
    then, target = task("idle"), empty_list()
    if is_kip_455(version):
        then, target = when(moves(now.zk), next_phase(now.zk, now.zk.isr), then), target_of(now.zk)
    return {"task": when(found, then, cache.task), "target": list_when(found, target, cache.target)}


@transition(only=is_twelve_steps, broker=BROKERS)
def controller_drops_request_already_assigned(now, new, broker):
    """The requested list is the assignment, in the same order: the entry is removed.

    "Already assigned", up to 2.3: since KIP-455 the lists are not compared
    (KafkaController.maybeTriggerPartitionReassignment).
    """
    require_request(now, broker)
    require(not_(now.cache[broker].deleting),       "the topic is not queued for deletion")
    require(is_same(asked(now, broker), now.cache[broker].assignment),
                                                    "that is the assignment already")
    require_fence(now, broker)

    drop(now, new, broker)


@transition(broker=BROKERS)
def controller_drops_move_of_deleted_topic(now, new, broker):
    """The topic is queued for deletion: the entry is removed, and the assignment stays."""
    require_request(now, broker)
    require(now.cache[broker].deleting,             "the topic is queued for deletion")
    require_fence(now, broker)

    drop(now, new, broker)
    new.wanted = BLANK


@transition(only=lambda v: not v.waits_for_dead_targets, broker=BROKERS)
def controller_drops_move_to_dead_broker(now, new, broker):
    """A target is not alive: up to 0.10.0 the entry is removed, however far the reassignment was.

    Kafka: KAFKA-4214
    """
    require_request(now, broker)
    require(not_(now.cache[broker].deleting),       "the topic is not queued for deletion")
    require(some(BROKERS, lambda b: is_missing(now, broker, b)), "a target is not alive")
    require_fence(now, broker)

    drop(now, new, broker)
    new.wanted = BLANK


@transition(broker=BROKERS)
def controller_drops_unknown_partition(now, new, broker):
    """The request names a partition that does not exist: the entry is removed."""
    cache = now.cache[broker]
    # redundant "the broker believes it is the controller", because nobody else has a task.
    require_controllership(now, broker)
    found = is_at(now, broker, "beginning")
    require(any_of(found, is_at(now, broker, "idle")), "it waits for events, or has just begun")
    known = when(found, cache.other, now.zk.other)
    require(all_of(known == "unknown", any_of(not_(found), is_empty(cache.target))),
                                                    "the request names an unknown partition")
    require_fence(now, broker)

    new.zk.other = "none"
    new.cache[broker] = cache.but(other="none", **after_request(now, cache))


@transition(broker=BROKERS)
def controller_completes_other_reassignment(now, new, broker):
    """The other partition's reassignment ends, and its entry is removed; its steps are not here."""
    require_task(now, broker, "idle",               "it waits for events")
    require(now.zk.other == "moving",               "the request names another partition")
    require_fence(now, broker)
    require(any_of(is_empty(now.zk.requested), not_(is_empty(now.cache[broker].target))),
                                                    "the request has been taken up")

    new.zk.other = "none"
    new.cache[broker].other = "none"
    new.other_is_open = False

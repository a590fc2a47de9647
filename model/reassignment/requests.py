"""How a controller takes up a request, or drops it: the guards of a reassignment.

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
from model.protocol.controllership import require_fence, require_task
from model.protocol.state import BROKERS
from model.reassignment.kip_455 import after_update, is_twelve_steps
from model.reassignment.lists import all_within, is_empty, is_same, listed
from model.reassignment.writing import look, task


def require_request(now, broker):
    """The watch on /admin/reassign_partitions fires; a partition that moves already is skipped."""
    require_task(now, broker, "idle",               "it waits for events")
    require(not_(is_empty(now.zk.requested)),       "the request names the partition")
    require(is_empty(now.cache[broker].target),     "the partition does not move already")


def require_real(now, broker):
    require(not_(now.zk.deleting),                  "the topic is not to be deleted")
    if is_twelve_steps(version):
        require(not_(is_same(now.zk.requested, now.cache[broker].assignment)),
                                                    "another list, or another order is asked for")
    if not version.waits_for_dead_targets:          # KAFKA-4214
        require(not_(some(BROKERS, lambda b: is_missing(now, broker, b))),
                                                    "every target is alive")


def is_missing(now, broker, target):
    return all_of(listed(now.zk.requested, target), not_(now.cache[broker].live.has(target)))


def take_up(now, new, broker, name):
    """The target is in memory from here on; so are all other entries, where they were loaded."""
    known = now.zk.other if version.requests_loaded_whole else now.cache[broker].other
    new.cache[broker] = now.cache[broker].but(
        task=name, target=now.zk.requested, other=known,
        begins=not version.requests_left_alone, **look(now))
    if not version.moves_forgotten_on_resign:
        new.kept[broker] = now.zk.requested


@transition(broker=BROKERS)
def controller_begins_move(now, new, broker):
    """A request is taken up, and not every target is in the ISR: it begins with step 1.

    Since 2.4 it begins with what the topic's znode is to say, unless that says the same already:
    then the partition is where it is to go, and gets a new leader epoch all the same.
    """
    require_request(now, broker)
    require_real(now, broker)
    if is_twelve_steps(version):
        require(not_(all_within(now.zk.requested, now.zk.isr)), "a target is not in the ISR")
        take_up(now, new, broker, "assigning")
        return

    same = is_same(now.zk.requested, now.cache[broker].assignment)
    take_up(now, new, broker, when(
        same, after_update(now.zk.requested, now.zk.isr), task("assigning")))


@transition(only=is_twelve_steps, broker=BROKERS)
def controller_begins_with_targets_in_sync(now, new, broker):
    """A request is taken up, and every target is in the ISR: a reorder, a removal, or a move that
    an earlier controller had brought so far. It begins with step 5."""
    require_request(now, broker)
    require_real(now, broker)
    require(all_within(now.zk.requested, now.zk.isr), "every target is in the ISR")

    take_up(now, new, broker, "adopting")


def drop(now, new, broker):
    """The entry is removed; what else the request holds stays, if the controller knows of it."""
    new.zk.requested = BLANK
    if not version.requests_loaded_whole:
        new.zk.other = now.cache[broker].other


@transition(only=is_twelve_steps, broker=BROKERS)
def controller_drops_what_is_so_already(now, new, broker):
    """The same replicas in the same order: "already assigned". Nothing is asked for any more.

    Up to 2.3: since KIP-455 nobody compares (KafkaController.maybeTriggerPartitionReassignment).
    """
    require_request(now, broker)
    require(not_(now.zk.deleting),                  "the topic is not to be deleted")
    require(is_same(now.zk.requested, now.cache[broker].assignment),
                                                    "that is the assignment already")
    require_fence(now, broker)

    drop(now, new, broker)


@transition(broker=BROKERS)
def controller_drops_move_of_deleted_topic(now, new, broker):
    """The topic is queued for deletion: the entry is removed, and the assignment stays."""
    require_request(now, broker)
    require(now.zk.deleting,                        "the topic is to be deleted")
    require_fence(now, broker)

    drop(now, new, broker)
    new.wanted = BLANK


@transition(only=lambda v: not v.waits_for_dead_targets, broker=BROKERS)
def controller_drops_move_to_dead_broker(now, new, broker):
    """A target is not alive: up to 0.10.0 the entry is removed, wherever the move was by then.

    Kafka: KAFKA-4214
    """
    require_request(now, broker)
    require(not_(now.zk.deleting),                  "the topic is not to be deleted")
    require(some(BROKERS, lambda b: is_missing(now, broker, b)), "a target is not alive")
    require_fence(now, broker)

    drop(now, new, broker)
    new.wanted = BLANK


def require_other(now, broker, kind, about):
    require_task(now, broker, "idle",               "it waits for events")
    require(now.zk.other == kind,                   about)
    require_fence(now, broker)


@transition(broker=BROKERS)
def controller_drops_unknown_partition(now, new, broker):
    """The request names a partition that does not exist: the entry is removed."""
    require_other(now, broker, "unknown",           "the request names a partition nobody knows")

    new.zk.other = "none"
    new.cache[broker].other = "none"


@transition(broker=BROKERS)
def controller_moves_other_partition(now, new, broker):
    """The other partition's move is done, and its entry removed; its steps are not modelled
    here.
    """
    require_other(now, broker, "moving",            "the request names another partition")
    require(any_of(is_empty(now.zk.requested), not_(is_empty(now.cache[broker].target))),
                                                    "the request has been taken up")

    new.zk.other = "none"
    new.cache[broker].other = "none"
    new.other_is_open = False

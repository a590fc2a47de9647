"""How each keeps to its part: administrators, processes, and controllers that are none any more."""

from model.language import (
    all_of,
    always,
    always_step,
    any_of,
    below,
    every,
    implies,
    is_none,
    not_,
    some,
    sometimes,
)
from model.protocol.state import BROKERS
from model.topics.state import PARTITIONS, PLACES
from model.topics.zookeeper import has_partition


@always("replica lists name no broker twice and have no gap; all of a topic's have one length, and "
        "its partitions are numbered without a gap",
        companion="a_controller_rests")
def lists_are_sound(now):
    lists = now.zk.assignment

    def list_is_sound(p):
        return every(PLACES, lambda one: every(PLACES, lambda other: all_of(
            implies(all_of(one < other, is_none(lists[p][one])), is_none(lists[p][other])),
            implies(all_of(one < other, lists[p][one] == lists[p][other]),
                    is_none(lists[p][other])))))

    return every(PARTITIONS, lambda p: all_of(list_is_sound(p), implies(
        has_partition(lists, p), all_of(
            every(PLACES, lambda k: is_none(lists[p][k]) == is_none(lists[0][k])),
            every(below(PARTITIONS, p), lambda q: has_partition(lists, q))))))


@always("a process that does not run hosts nothing, and is no controller",
        companion="a_process_is_down")
def the_dead_do_nothing(now):
    return every(BROKERS, lambda b: any_of(now.up.has(b), all_of(
        now.belief[b] == 0, now.campaign[b] == 0, now.seen[b] == 0,
        every(PARTITIONS, lambda p: now.replica[b][p].role == "none"))))


@always("nobody has the context of a controller but who believes it is one",
        companion="a_controller_rests")
def context_is_of_controllers(now):
    return every(BROKERS, lambda b: any_of(
        now.belief[b] > 0, now.cache[b].task == "reads_zookeeper"))


def goes_on(now, after, broker):
    """The broker acts as a controller: with its next batch, or by what a watch told it."""
    before, then = now.cache[broker], after.cache[broker]
    return any_of(
        all_of(before.task != then.task, now.belief[broker] == after.belief[broker]),
        some(PARTITIONS, lambda p: before.leader[p] != then.leader[p]),
        all_of(before.told.topics, not_(then.told.topics)),
        all_of(before.told.partitions, not_(then.told.partitions)),
        all_of(before.told.deletions, not_(then.told.deletions)))


@always_step("a controller whose session is gone does nothing: ZooKeeper tells it nothing and does "
             "nothing for it",
             companion="a_controller_is_cut_off")
def the_cut_off_stand_still(now, after):
    return every(BROKERS, lambda b: implies(
        all_of(after.belief[b] > 0, goes_on(now, after, b)), now.zk.registered.has(b)))


@always_step("a controller that is deposed changes nothing in ZooKeeper",
             companion="a_zombie_deletes", only=lambda v: v.zk_writes_fenced)
def the_deposed_write_nothing(now, after):
    untouched = all_of(
        now.zk.requested == after.zk.requested,
        every(PARTITIONS, lambda p: all_of(
            now.zk.state[p] == after.zk.state[p],
            every(PLACES, lambda k: now.zk.assignment[p][k] == after.zk.assignment[p][k]))))
    removed = some(PARTITIONS, lambda p: all_of(
        now.zk.state[p].exists, not_(after.zk.state[p].exists)))
    by_the_newest = some(BROKERS, lambda b: all_of(
        now.belief[b] == now.zk.epoch, now.cache[b].task == "unregisters"))
    return all_of(implies(removed, by_the_newest), every(BROKERS, lambda b: implies(
        all_of(now.belief[b] > 0, now.belief[b] < now.zk.epoch, goes_on(now, after, b)),
        untouched)))


@sometimes("a process is down")
def a_process_is_down(now):
    return some(BROKERS, lambda b: not_(now.up.has(b)))


@sometimes("a broker acts as the controller, and does not know that its session is gone")
def a_controller_is_cut_off(now):
    return some(BROKERS, lambda b: all_of(
        now.cache[b].task != "reads_zookeeper", not_(now.zk.registered.has(b))))


CONDUCT = (
    lists_are_sound, the_dead_do_nothing, context_is_of_controllers, the_cut_off_stand_still,
    the_deposed_write_nothing, a_process_is_down, a_controller_is_cut_off)

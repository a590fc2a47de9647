"""Claims about single steps: of administrators, of processes, and of deposed controllers."""

from model.language import (
    all_of,
    always,
    any_of,
    below,
    every,
    implies,
    is_none,
    not_,
    some,
    sometimes,
)
from model.protocol.controller_claims import (
    deposed_claim,
    lost_session_claim,
    lost_session_companion,
    task_claim,
)
from model.protocol.state import BROKERS
from model.topics.state import PARTITIONS, PLACES
from model.topics.zookeeper import has_partition

NO_TASK = "reads_zookeeper"

@always("replica lists name no broker twice and have no gap; all of a topic's have one length, and "
        "its partitions are numbered without a gap",
        companion="a_controller_is_idle")
def replica_lists_are_valid(now):
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
def stopped_brokers_do_nothing(now):
    return every(BROKERS, lambda b: any_of(now.up.has(b), all_of(
        now.belief[b] == 0, now.campaign[b] == 0, now.seen[b] == 0,
        every(PARTITIONS, lambda p: now.replica[b][p].role == "none"))))


def acts_as_controller(now, after, broker):
    """The broker acts as a controller: it sends its next batch, or handles a watch event."""
    before, then = now.cache[broker], after.cache[broker]
    return any_of(
        all_of(before.task != then.task, now.belief[broker] == after.belief[broker]),
        some(PARTITIONS, lambda p: before.leader[p] != then.leader[p]),
        all_of(before.fired.topics, not_(then.fired.topics)),
        all_of(before.fired.partitions, not_(then.fired.partitions)),
        all_of(before.fired.deletions, not_(then.fired.deletions)))


def untouched(now, after):
    return all_of(
        now.zk.requested == after.zk.requested,
        every(PARTITIONS, lambda p: all_of(
            now.zk.state[p] == after.zk.state[p],
            every(PLACES, lambda k: now.zk.assignment[p][k] == after.zk.assignment[p][k]))))


def taken_away_by_the_newest(now, after):
    """Only the newest controller removes states and requests.

    States are removed one after the other in one task. A controller that removes a request is
    notified of that once more.
    """
    dropped = all_of(now.zk.requested, not_(after.zk.requested))
    return all_of(removed_by_the_newest(now, after), implies(dropped, some(
        BROKERS, lambda b: all_of(now.belief[b] == now.zk.epoch, any_of(
            now.cache[b].task == "removes_request",
            all_of(now.cache[b].task == "waits", now.cache[b].fired.deletions))))))


def removed_by_the_newest(now, after):
    removed = some(PARTITIONS, lambda p: all_of(
        now.zk.state[p].exists, not_(after.zk.state[p].exists)))
    return implies(removed, some(BROKERS, lambda b: all_of(
        now.belief[b] == now.zk.epoch, now.cache[b].task == "unregisters")))


@sometimes("a process is down")
def a_process_is_down(now):
    return some(BROKERS, lambda b: not_(now.up.has(b)))


STEP_CLAIMS = (
    replica_lists_are_valid, stopped_brokers_do_nothing,
    task_claim(NO_TASK, companion="a_controller_is_idle"), lost_session_claim(acts_as_controller),
    deposed_claim(
        acts_as_controller, untouched, companion="a_deposed_controller_deletes_a_topic",
        beside=taken_away_by_the_newest),
    a_process_is_down, lost_session_companion(NO_TASK))

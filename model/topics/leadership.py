"""Shared parts of all four kinds of election: the leader, the overwritten state, conflicts."""

from model.language import (
    all_of,
    always,
    always_step,
    every,
    implies,
    not_,
    some,
    sometimes,
)
from model.protocol.controller_claims import leads_from_isr
from model.protocol.state import BROKERS
from model.topics.conflicts import is_to_write
from model.topics.state import PARTITIONS


@always("the registered leader, if there is one, is in the registered ISR",
        companion="a_topic_is_led")
def leader_in_isr(now):
    return every(PARTITIONS, lambda p: leads_from_isr(now.zk.state[p]))


def task_advances(now, after, broker):
    """The controller takes its next task in the same controller epoch."""
    return all_of(
        now.belief[broker] == after.belief[broker],
        now.cache[broker].task != after.cache[broker].task)


@always_step("a controller writes no state over one that changed since it read it: it reads again",
             companion="leader_and_controller_are_to_write")
def state_writes_are_conditional(now, after):
    return every(BROKERS, lambda b: not_(all_of(
        now.cache[b].outdated, task_advances(now, after, b))))


@always_step("a broker that requested a controlled shutdown of the newest controller is not "
             "elected leader",
             companion="a_topic_is_led")
def brokers_shutting_down_are_not_elected(now, after):
    def asked(b):
        return some(BROKERS, lambda c: all_of(
            now.belief[c] == now.zk.epoch, now.cache[c].shutting.has(b)))

    return every(PARTITIONS, lambda p: every(BROKERS, lambda b: implies(
        all_of(asked(b), after.zk.state[p].leader == b), now.zk.state[p].leader == b)))


@sometimes("a controller is about to write a state, and its leader could take a follower in")
def leader_and_controller_are_to_write(now):
    return some(BROKERS, lambda b: some(PARTITIONS, lambda p: all_of(
        is_to_write(now, b, p), some(BROKERS, lambda leader: some(BROKERS, lambda one: all_of(
            now.zk.state[p].leader == leader, now.zk.registered.has(leader),
            now.replica[leader][p].role == "leader", now.replica[one][p].role == "follower",
            not_(now.zk.state[p].isr.has(one))))))))


LEADERSHIP = (
    leader_in_isr, state_writes_are_conditional, brokers_shutting_down_are_not_elected,
    leader_and_controller_are_to_write)

"""Claims about the five designs."""

from model.classic.definitions import presumes_leadership, same_record
from model.classic.state import OFFSETS, REPLICAS
from model.language import all_of, always, any_of, below, every, implies, not_, some, sometimes


def _holds_everything_committed(now, leader, members):
    return every(REPLICAS, lambda member: implies(
        members.has(member),
        every(below(OFFSETS, now.view[leader].hw),
              lambda offset: same_record(now, leader, member, offset))))


@always("what a presumed leader calls committed is in the log of every registered ISR member",
        companion="a_record_is_committed")
def strong_isr(now):
    return every(REPLICAS, lambda leader: implies(
        presumes_leadership(now, leader),
        _holds_everything_committed(now, leader, now.quorum.isr)))


@always("what a presumed leader calls committed is in the log of every member of its own ISR",
        companion="a_record_is_committed")
def weak_isr(now):
    return every(REPLICAS, lambda leader: implies(
        presumes_leadership(now, leader),
        _holds_everything_committed(now, leader, now.view[leader].isr)))


@always("the registered leader, if there is one, is in the registered ISR",
        companion="the_isr_has_shrunk")
def leader_in_isr(now):
    return every(REPLICAS, lambda replica: implies(
        now.quorum.leader == replica, now.quorum.isr.has(replica)))


@always("no two replicas presume leadership in one leader epoch",
        companion="two_brokers_believe_they_lead")
def leader_unique(now):
    return every(REPLICAS, lambda one: every(REPLICAS, lambda other: implies(
        all_of(presumes_leadership(now, one), presumes_leadership(now, other),
               now.view[one].epoch == now.view[other].epoch),
        one == other)))


@sometimes("a record is committed by a replica that presumes leadership")
def a_record_is_committed(now):
    return some(REPLICAS, lambda leader: all_of(
        presumes_leadership(now, leader), now.view[leader].hw > 0))


@sometimes("the registered ISR has lost a member")
def the_isr_has_shrunk(now):
    return some(REPLICAS, lambda replica: not_(now.quorum.isr.has(replica)))


@sometimes("two replicas presume leadership, and one of them calls a record committed")
def two_brokers_believe_they_lead(now):
    return some(REPLICAS, lambda one: some(REPLICAS, lambda other: all_of(
        one != other,
        presumes_leadership(now, one),
        presumes_leadership(now, other),
        any_of(now.view[one].hw > 0, now.view[other].hw > 0))))


CLAIMS = (
    strong_isr, weak_isr, leader_in_isr, leader_unique,
    a_record_is_committed, the_isr_has_shrunk, two_brokers_believe_they_lead)

"""How controllers keep to their part: out of office, without a session, and deposed."""

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
)
from model.protocol.office import is_fenced
from model.protocol.state import BROKERS
from model.reassignment.lists import is_same


@always("nobody has a task of a controller but who believes it is one",
        companion="a_deposed_controller_is_at_work")
def tasks_are_of_controllers(now):
    return every(BROKERS, lambda b: any_of(
        now.belief[b] > 0, now.cache[b].task == "none"))


def goes_on(now, after, broker):
    """The broker acts as a controller: a task begins or ends, or a replica of it is done."""
    before, then = now.cache[broker], after.cache[broker]
    return all_of(
        now.belief[broker] > 0, now.belief[broker] == after.belief[broker],
        any_of(before.task != then.task, before.leaving != then.leaving))


@always_step("a controller whose session is gone does nothing: ZooKeeper tells it nothing and does "
             "nothing for it",
             companion="a_controller_is_cut_off")
def the_cut_off_stand_still(now, after):
    return every(BROKERS, lambda b: implies(
        goes_on(now, after, b), now.zk.registered.has(b)))


@always_step("a controller that is deposed changes nothing in ZooKeeper",
             companion="a_deposed_controller_is_at_work", only=is_fenced)
def the_deposed_write_nothing(now, after):
    untouched = all_of(
        now.zk.version == after.zk.version, now.zk.other == after.zk.other,
        is_same(now.zk.assignment, after.zk.assignment),
        is_same(now.zk.requested, after.zk.requested))
    return every(BROKERS, lambda b: implies(
        all_of(goes_on(now, after, b), now.belief[b] < now.zk.epoch), untouched))


@sometimes("a broker acts as the controller, and does not know that its session is gone")
def a_controller_is_cut_off(now):
    return some(BROKERS, lambda b: all_of(
        now.cache[b].task != "none", not_(now.zk.registered.has(b))))


@sometimes("a controller that is deposed is in the middle of a move")
def a_deposed_controller_is_at_work(now):
    return some(BROKERS, lambda b: all_of(
        now.belief[b] < now.zk.epoch, now.cache[b].task != "none", now.cache[b].task != "idle"))


CONDUCT = (
    tasks_are_of_controllers, the_cut_off_stand_still, the_deposed_write_nothing,
    a_controller_is_cut_off, a_deposed_controller_is_at_work)

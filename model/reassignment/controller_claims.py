"""Claims about single steps of controllers: resigned, without a session, or deposed."""

from model.language import all_of, any_of, some, sometimes
from model.protocol.controller_claims import (
    deposed_claim,
    lost_session_claim,
    lost_session_companion,
    task_claim,
)
from model.protocol.state import BROKERS
from model.reassignment.replica_lists import is_same

NO_TASK = "none"
AT_WORK = "a_deposed_controller_is_at_work"


def acts_as_controller(now, after, broker):
    """The broker acts as a controller: a task begins or ends, or a part of it for one replica
    ends."""
    before, then = now.cache[broker], after.cache[broker]
    return all_of(
        now.belief[broker] > 0, now.belief[broker] == after.belief[broker],
        any_of(before.task != then.task, before.leaving != then.leaving))


def untouched(now, after):
    return all_of(
        now.zk.version == after.zk.version, now.zk.other == after.zk.other,
        is_same(now.zk.assignment, after.zk.assignment),
        is_same(now.zk.requested, after.zk.requested))


@sometimes("a controller that is deposed is in the middle of a move")
def a_deposed_controller_is_at_work(now):
    return some(BROKERS, lambda b: all_of(
        now.belief[b] < now.zk.epoch, now.cache[b].task != NO_TASK, now.cache[b].task != "idle"))


STEP_CLAIMS = (
    task_claim(NO_TASK, companion=AT_WORK), lost_session_claim(acts_as_controller),
    deposed_claim(acts_as_controller, untouched, companion=AT_WORK),
    lost_session_companion(NO_TASK), a_deposed_controller_is_at_work)

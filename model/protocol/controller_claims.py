"""Claims about single steps of controllers: resigned, without a session, or deposed.

Shared by every system with a controller whose memory is the record `cache`. A system defines the
controller's blank task, the steps that count as acting as controller, and the fields that a deposed
controller must not change.
"""

from collections.abc import Callable
from typing import Any

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
from model.language.properties import Claim
from model.protocol.controllership import is_fenced
from model.protocol.state import BROKERS

Rule = Callable[..., Any]


def task_claim(blank: str, companion: str) -> Claim:
    """`blank` is the task of a broker that is no controller, or has not read the cluster yet."""
    @always("nobody has a task of a controller but who believes it is one", companion=companion)
    def only_controllers_have_tasks(now):
        return every(BROKERS, lambda b: any_of(
            now.belief[b] > 0, now.cache[b].task == blank))

    return only_controllers_have_tasks


def lost_session_claim(acts: Rule) -> Claim:
    """`acts(now, after, broker)`: the broker acts as a controller in a step."""
    @always_step("a controller whose session is gone does nothing: ZooKeeper tells it nothing and "
                 "does nothing for it",
                 companion="a_controller_is_cut_off")
    def controllers_without_session_do_nothing(now, after):
        return every(BROKERS, lambda b: implies(
            all_of(after.belief[b] > 0, acts(now, after, b)), now.zk.registered.has(b)))

    return controllers_without_session_do_nothing


def lost_session_companion(blank: str) -> Claim:
    """The companion of `who_is_cut_off`."""
    @sometimes("a broker acts as the controller, and does not know that its session is gone")
    def a_controller_is_cut_off(now):
        return some(BROKERS, lambda b: all_of(
            now.cache[b].task != blank, not_(now.zk.registered.has(b))))

    return a_controller_is_cut_off


def deposed_claim(
    acts: Rule, untouched: Rule, companion: str, beside: Rule | None = None
) -> Claim:
    """A step in which a deposed controller acts (`acts`) keeps ZooKeeper `untouched`: the claim.

    `beside`: a further condition, on writes whose writer no step shows.
    """
    @always_step("a controller that is deposed changes nothing in ZooKeeper",
                 companion=companion, only=is_fenced)
    def deposed_controllers_write_nothing(now, after):
        stand_still = every(BROKERS, lambda b: implies(
            all_of(now.belief[b] > 0, now.belief[b] < now.zk.epoch, acts(now, after, b)),
            untouched(now, after)))
        return stand_still if beside is None else all_of(stand_still, beside(now, after))

    return deposed_controllers_write_nothing


def leads_from_isr(state):
    """The registered leader of a partition's state, if there is one, is in its ISR."""
    return every(BROKERS, lambda b: implies(state.leader == b, state.isr.has(b)))

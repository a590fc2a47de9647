"""In an action TLC looks at both sides of a disjunction: neither may read where nothing is."""

from __future__ import annotations

from model.language import (
    BOOL,
    Bound,
    Enumeration,
    Record,
    SetOf,
    System,
    Version,
    any_of,
    is_none,
    not_,
    per,
    require,
    transition,
)
from specs.tla import exported

BROKERS = Enumeration("broker", "brokers")


@transition(one=BROKERS)
def another_is_named(now, new, one):
    """Another broker is named in place of one that is neither busy nor a member."""
    require(any_of(is_none(now.named), not_(now.busy[now.named])), "who is named is not busy")
    require(any_of(is_none(now.named), not_(now.members.has(now.named))), "it is no member")

    new.named = one


def actions() -> str:
    state = Record(named=BROKERS.or_none, busy=per(BROKERS, BOOL), members=SetOf(BROKERS))
    system = System(
        name="small", about="small", state=state, initial=lambda new: None,
        transitions=(another_is_named,), claims=(), versions={"1": Version("1", {}, "one")},
        default_version="1", bounds={"brokers": Bound(2, 1, "brokers")})  # fmt: skip
    return exported(system.recorded(), {"brokers": 2}).module.split("Next ==")[0]


def test_what_is_read_at_none_is_read_under_the_condition_that_there_is_one():
    assert "/\\ named # None => ~busy[named]" in actions()


def test_a_set_may_be_asked_for_none():
    assert "/\\ named = None \\/ named \\notin members" in actions()

"""Lists of replicas, kept as the position of each broker: membership and concatenation.

`those` makes a set from a rule, for requests and for the controller's memory.
"""

from model.language import (
    ALL,
    all_of,
    any_of,
    every,
    how_many,
    implies,
    is_none,
    lam,
    limit,
    not_,
    require,
    when,
)
from model.language.scalars import scalar
from model.language.sets import as_set
from model.language.values import coerce
from model.protocol.state import BROKERS
from model.protocol.strategies import ReplicaOrder
from model.reassignment.state import LIST, PLACES


def brokers_where(rule):
    """The brokers that meet a rule, as a set."""
    return as_set((BROKERS,), ALL).such_that(rule)


def brokers_if(condition, brokers):
    """These brokers, or the empty set."""
    return brokers_where(lambda b: all_of(condition, brokers.has(b)))


def as_list(place):
    """A list from a rule that gives the place of each broker."""
    return coerce(LIST, lam(BROKERS, place))


def listed(places, broker):
    return not_(is_none(places[broker]))


def members(places):
    return brokers_where(lambda broker: listed(places, broker))


def is_empty(places):
    return every(BROKERS, lambda broker: is_none(places[broker]))


def is_same(one, other):
    """The same replicas in the same order."""
    return every(BROKERS, lambda broker: one[broker] == other[broker])


def all_within(places, brokers):
    """Every replica of the list is in the set."""
    return every(BROKERS, lambda broker: implies(listed(places, broker), brokers.has(broker)))


def joined(first, second):
    """The first list, followed by the members of the second that it lacks, in their order."""
    def place(broker):
        before = how_many(BROKERS, lambda other: any_of(
            listed(first, other),
            all_of(listed(second, other), second[other] < second[broker])))
        return when(
            listed(first, broker), first[broker], when(listed(second, broker), before, None))
    return as_list(place)


def left(places, gone):
    """The list without the given brokers."""
    def place(broker):
        before = how_many(BROKERS, lambda other: all_of(
            listed(places, other), not_(gone.has(other)), places[other] < places[broker]))
        return when(all_of(listed(places, broker), not_(gone.has(broker))), before, None)
    return as_list(place)


def list_when(condition, one, other):
    """One list if the condition holds, else the other."""
    return as_list(lambda broker: when(condition, one[broker], other[broker]))


def empty_list():
    """The list without members."""
    return as_list(lambda broker: scalar(None, PLACES.or_none))


def replica_order(places):
    """The list as the election strategies take one."""
    return ReplicaOrder(lambda b: listed(places, b), lambda one, other: places[one] < places[other])


def written(first, second, third):
    """The list of one to three replicas that the parameters of a step name."""
    def place(number):
        return scalar(number, PLACES.or_none)
    def is_it(broker, named):
        return all_of(not_(is_none(named)), broker == named)
    return as_list(lambda broker: when(
        broker == first, place(0), when(is_it(broker, second), place(1), when(
            is_it(broker, third), place(2), place(None)))))


def require_list(first, second, third):
    """A valid list of replicas: no gap, no broker twice, not longer than the bound."""
    require(first != second,                        "the second replica is another")
    require(not_(all_of(not_(is_none(third)), is_none(second))),
                                                    "there is no third replica without a second")
    require(all_of(first != third, implies(not_(is_none(third)), second != third)),
                                                    "the third replica is another")
    require(implies(not_(is_none(second)), limit("replicas") >= 2),
                                                    "the list may have two replicas")
    require(implies(not_(is_none(third)), limit("replicas") >= 3),
                                                    "the list may have three replicas")

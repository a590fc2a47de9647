"""The four leader election strategies, for systems whose assignments have an order.

A strategy gives a `Choice` over expressions. Every election raises the leader epoch by one, even if
the same leader is elected. `replication` lets any live ISR member win, so its claims hold for each
of these strategies.

Source: PartitionLeaderElectionAlgorithms and Election (2.4); the selectors of 0.10 to 1.0 agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from model.language import all_of, any_of, not_, some
from model.protocol.state import BROKERS


class ReplicaOrder(NamedTuple):
    """A list of replicas in the notation: its members and their order."""

    has: Callable[[Any], Any]
    before: Callable[[Any, Any], Any]


def placed(replicas, place):
    """The list of the set `replicas`, each at its `place[broker]`; the first is preferred."""
    return ReplicaOrder(replicas.has, lambda one, other: place[one] < place[other])


class Choice(NamedTuple):
    """The result of a strategy in a state, in the notation.

    `may(broker)`: it is eligible; `first(broker)`: no eligible broker precedes it; `exists`: some
    broker is elected; `isr(leader)`: the ISR that is written with the leader.
    """

    may: Callable[[Any], Any]
    first: Callable[[Any], Any]
    exists: Any
    isr: Callable[[Any], Any]

    def leads(self, broker):
        """The broker is the elected leader."""
        return all_of(self.may(broker), self.first(broker))


def first_of(order, fit, isr):
    """The first replica of a list that can lead."""
    def may(one):
        return all_of(order.has(one), fit(one))

    return Choice(may, before_all(order, may), some(BROKERS, may), isr)


def before_all(order, rule):
    """No member of the list that meets the rule precedes the broker."""
    return lambda one: not_(some(BROKERS, lambda other: all_of(
        rule(other), order.before(other, one))))


def offline_partition(order, isr, live, unclean=False):
    """OfflinePartition: the first live ISR member leads, and the ISR keeps its live members.

    Unclean: where no ISR member is alive, the first live replica leads, and is the whole ISR.
    """
    def fit(one):
        eligible = isr.has(one)
        if unclean:
            eligible = any_of(eligible, isr.within(live).is_empty())
        return all_of(live.has(one), eligible)

    living = isr.within(live)
    return first_of(order, fit, living.including if unclean else lambda leader: living)


def reassigned_partition(target, isr, live):
    """Reassign: the first replica of the target that is alive and in the ISR; the ISR stays."""
    return first_of(
        target, lambda one: all_of(live.has(one), isr.has(one)), lambda leader: isr)


def preferred_replica(order, isr, live, needs_isr=True):
    """PreferredReplica: the head of the list, if it is alive and in the ISR; the ISR stays.

    If `needs_isr` is false it is elected even if it is not in the ISR (KAFKA-9866).
    """
    def may(one):
        fit = all_of(order.has(one), live.has(one))
        return all_of(fit, isr.has(one)) if needs_isr else fit

    head = before_all(order, order.has)
    return Choice(
        may, head, some(BROKERS, lambda one: all_of(may(one), head(one))), lambda leader: isr)


def controlled_shutdown(order, isr, live_or_shutting_down, shutting_down):
    """ControlledShutdown: the first ISR member that is not shutting down; those that are leave the
    ISR.
    """
    def stays(one):
        return not_(shutting_down.has(one))

    return first_of(
        order, lambda one: all_of(live_or_shutting_down.has(one), isr.has(one), stays(one)),
        lambda leader: isr.such_that(stays))

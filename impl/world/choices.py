"""Candidates for leader: the core's election, with the choice left to the caller.

A strategy is a function from the assignment, the ISR and the live brokers to the replicas that may
be elected, in order of preference; empty when the partition must stay without a leader.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from impl.core import leader_election

Strategy = Callable[[tuple[int, ...], tuple[int, ...], Collection[int]], tuple[int, ...]]


def assignment_order(
    assignment: tuple[int, ...], isr: tuple[int, ...], live: Collection[int]
) -> tuple[int, ...]:
    """Kafka's choice: the first replica in assignment order that is live and in the ISR."""
    elected = leader_election.offline(assignment, isr, live, unclean=False)
    return () if elected is None else (elected.leader,)


def any_live_isr_member(
    assignment: tuple[int, ...], isr: tuple[int, ...], live: Collection[int]
) -> tuple[int, ...]:
    """Every replica that would be elected if it were the first of the assignment.

    Whatever holds for all of them holds for Kafka's choice.
    """
    return tuple(one for one in assignment if assignment_order((one,), isr, live))


STRATEGIES: dict[str, Strategy] = {
    "any": any_live_isr_member,
    "assignment order": assignment_order,
}


def strategy_named(name: str) -> Strategy:
    """An election strategy by name; ValueError lists the names."""
    if name not in STRATEGIES:
        raise ValueError(f"no election strategy {name!r}; there are {', '.join(STRATEGIES)}")
    return STRATEGIES[name]

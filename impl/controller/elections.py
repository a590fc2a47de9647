"""Who may lead: the Offline strategy as a port (semantics d; clean elections only).

A strategy is a pure function from the assignment, the ISR and the live brokers to the replicas that
may be elected, in order of preference; empty when the partition must stay without a leader.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

Strategy = Callable[[tuple[int, ...], tuple[int, ...], Collection[int]], tuple[int, ...]]


def assignment_order(
    assignment: tuple[int, ...], isr: tuple[int, ...], live: Collection[int]
) -> tuple[int, ...]:
    """Kafka's choice: the first replica in assignment order that is live and in the ISR."""
    return any_live_isr_member(assignment, isr, live)[:1]


def any_live_isr_member(
    assignment: tuple[int, ...], isr: tuple[int, ...], live: Collection[int]
) -> tuple[int, ...]:
    """Every replica that could be chosen safely: whatever holds for all holds for Kafka's."""
    return tuple(replica for replica in assignment if replica in isr and replica in live)


STRATEGIES: dict[str, Strategy] = {
    "any": any_live_isr_member,
    "assignment order": assignment_order,
}

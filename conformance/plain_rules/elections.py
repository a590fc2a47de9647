"""The four ways in which a controller chooses a leader, over plain lists of broker ids.

A strategy returns an `ElectedLeader`, or None: then nothing is written, and the partition stays as
it is. `model.protocol.strategies` has the same rules over expressions; tests check that they agree.

Source: PartitionLeaderElectionAlgorithms and Election (2.4); the selectors of 0.10 to 1.0 agree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

Brokers = tuple[int, ...]


class ElectedLeader(NamedTuple):
    """The state that is written, and who is notified: leader, ISR in its order, recipients of
    LeaderAndIsr."""

    leader: int
    isr: Brokers
    recipients: Brokers


def _first(replicas: Sequence[int], rule: Callable[[int], bool]) -> int | None:
    return next((replica for replica in replicas if rule(replica)), None)


def for_offline(
    assignment: Sequence[int], isr: Sequence[int], live: Collection[int], *, unclean: bool = False
) -> ElectedLeader | None:
    """For a partition whose leader is dead, or that never had one.

    Elects the first replica, in the order of the assignment, that is alive and in the ISR; the ISR
    keeps its live members. Unclean election applies if no ISR member is alive, assigned or not:
    then the first live replica is the whole ISR, and the records that it lacks are lost.
    """
    recipients = tuple(replica for replica in assignment if replica in live)
    leader = _first(recipients, lambda replica: replica in isr)
    if leader is not None:
        return ElectedLeader(leader, tuple(member for member in isr if member in live), recipients)
    if unclean and recipients and not any(member in live for member in isr):
        return ElectedLeader(recipients[0], (recipients[0],), recipients)
    return None


def for_reassignment(
    target: Sequence[int], isr: Sequence[int], live: Collection[int]
) -> ElectedLeader | None:
    """For a partition that has moved: the first of the target that is alive and in the ISR.

    The ISR stays as it is, the old replicas leave it later; the whole target is notified, dead
    replicas too.
    """
    leader = _first(target, lambda replica: replica in live and replica in isr)
    return None if leader is None else ElectedLeader(leader, tuple(isr), tuple(target))


def for_preferred(
    assignment: Sequence[int], isr: Sequence[int], live: Collection[int]
) -> ElectedLeader | None:
    """The head of the assignment, if it is alive and in the ISR; no other replica is elected."""
    leader = _first(assignment[:1], lambda replica: replica in live and replica in isr)
    return None if leader is None else ElectedLeader(leader, tuple(isr), tuple(assignment))


def for_controlled_shutdown(
    assignment: Sequence[int],
    isr: Sequence[int],
    live_or_shutting_down: Collection[int],
    shutting_down: Collection[int],
) -> ElectedLeader | None:
    """For a leader that shuts down: the first that stays; brokers that shut down leave the ISR.

    Brokers that shut down are notified as well (not so in 1.1 and 2.0, KAFKA-7482).
    """
    recipients = tuple(replica for replica in assignment if replica in live_or_shutting_down)
    leader = _first(recipients, lambda replica: replica in isr and replica not in shutting_down)
    if leader is None:
        return None
    return ElectedLeader(
        leader, tuple(member for member in isr if member not in shutting_down), recipients
    )

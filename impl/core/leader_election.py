"""The four leader election strategies, as pure functions (fact sheet d).

``live`` holds the brokers that count as alive, without those that are shutting down unless it is
said otherwise. A strategy answers None where nobody may lead: nothing is written then, and the
state stays. Kafka: ``PartitionLeaderElectionAlgorithms``, ``Election`` (1.1 and later).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from impl.releases import Release


@dataclass(frozen=True, slots=True)
class Elected:
    """The leader, the new ISR, the recipients; ``unclean`` if the leader was not in the ISR."""

    leader: int
    isr: tuple[int, ...]
    recipients: tuple[int, ...]
    unclean: bool = False


def offline(
    assignment: Sequence[int], isr: Sequence[int], live: Collection[int], unclean: bool
) -> Elected | None:
    """For a partition without a leader: the first live replica that is in sync.

    The order is the assignment's, the ISR keeps its own. Only when no member of the ISR lives, and
    if it is allowed, the first live replica leads, alone in the ISR: records may be lost.
    """
    alive = tuple(replica for replica in assignment if replica in live)
    in_sync = tuple(member for member in isr if member in live)
    if in_sync:
        leader = next((replica for replica in alive if replica in in_sync), None)
        return None if leader is None else Elected(leader, in_sync, alive)
    may_lose = unclean and alive
    return Elected(alive[0], (alive[0],), alive, unclean=True) if may_lose else None


def reassign(target: Sequence[int], isr: Sequence[int], live: Collection[int]) -> Elected | None:
    """For a reassignment: the first target replica that is live and in the ISR; the ISR stays."""
    leader = next((one for one in target if one in live and one in isr), None)
    return None if leader is None else Elected(leader, tuple(isr), tuple(target))


def preferred(
    assignment: Sequence[int], isr: Sequence[int], live: Collection[int]
) -> Elected | None:
    """The first replica of the assignment, if it is live and in the ISR; the ISR stays."""
    first = next(iter(assignment), None)
    if first is None or first not in live or first not in isr:
        return None
    return Elected(first, tuple(isr), tuple(assignment))


def leads_as_preferred(assignment: Sequence[int], leader: int | None, release: Release) -> bool:
    """Up to 1.0 a preferred election is not held where the first replica leads already.

    ``LeaderElectionNotNeededException`` of ``PreferredReplicaPartitionLeaderSelector``.
    """
    return leader is not None and not release.since("1.1") and leader in assignment[:1]


def controlled_shutdown(
    assignment: Sequence[int],
    isr: Sequence[int],
    live_or_shutting_down: Collection[int],
    shutting_down: Collection[int],
    release: Release,
) -> Elected | None:
    """For brokers that shut down: the first ISR member that does not; those that do leave the ISR.

    1.1 and 2.0 notified only the replicas that stay: the old leader got no request.
    """
    alive = tuple(replica for replica in assignment if replica in live_or_shutting_down)
    stays = [one for one in alive if one in isr and one not in shutting_down]
    if not stays:
        return None
    recipients = alive
    if release.since("1.1") and not release.since("2.1"):
        recipients = tuple(replica for replica in alive if replica not in shutting_down)
    return Elected(
        stays[0], tuple(member for member in isr if member not in shutting_down), recipients
    )

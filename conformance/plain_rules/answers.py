"""A broker's answers to controllers, followers and clients, as pure functions.

The systems refuse a request by a step of its own, without the name of the error; here each error
has Kafka's name. Where releases differ, the caller sets a parameter of the function.

Source: ReplicaManager, Partition, DelayedProduce and KafkaApis (0.10 to 2.8).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

NONE = "NONE"
NOT_GIVEN, TOPIC_GOES = -1, -2
"""Leader epochs of a StopReplica that are none."""

SETTLED_MS, AT_LEAST_EVERY_MS = 5_000, 60_000


class FromTheFuture(ValueError):
    """`IllegalStateException` (to 2.5.0): the broker never had the epoch that the request names."""


def of_controller_epoch(sent: int, seen: int) -> str:
    """A request of an older controller is refused as a whole."""
    return "STALE_CONTROLLER_EPOCH" if sent < seen else NONE


def of_broker_epoch(sent: int, own: int, takes_newer: bool = False) -> str:
    """A request for an earlier registration is refused (KIP-380); -1 names none.

    `takes_newer`: a request for a registration that the broker does not know yet is obeyed (2.5.1).
    """
    if sent > own and not takes_newer:
        raise FromTheFuture(f"broker epoch {sent}, and the broker's own is {own}")
    return "STALE_BROKER_EPOCH" if NOT_GIVEN < sent < own else NONE


def of_leader_and_isr(sent: int, own: int, assigned: bool, disk_failed: bool = False) -> str:
    """One partition: only a newer leader epoch is obeyed, and only by an assigned replica."""
    if disk_failed:
        return "KAFKA_STORAGE_ERROR"
    if sent <= own:
        return "STALE_CONTROLLER_EPOCH"
    return NONE if assigned else "UNKNOWN_TOPIC_OR_PARTITION"


def of_stop_replica(
    sent: int, own: int | None, disk_failed: bool, fenced: bool, may_be_equal: bool = False
) -> str:
    """One partition; `own` is None where the broker does not host it.

    `fenced`: leader epochs are checked (2.6). `may_be_equal`: the same epoch is accepted (3.5).
    """
    if disk_failed:
        return "KAFKA_STORAGE_ERROR"
    if not fenced or own is None or sent in (NOT_GIVEN, TOPIC_GOES):
        return NONE
    return NONE if sent > own - may_be_equal else "FENCED_LEADER_EPOCH"


def of_leader_epoch(
    sent: int | None, own: int, leads: bool, leader_only: bool, no_leader: str
) -> str:
    """A fetch or a request for offsets in a leader epoch (KIP-320): epochs are checked first.

    `no_leader` is the release's error of a broker that is not the leader.
    """
    if sent is not None and sent != own:
        return "FENCED_LEADER_EPOCH" if sent < own else "UNKNOWN_LEADER_EPOCH"
    return no_leader if leader_only and not leads else NONE


def before_append(acks: int, in_sync: int, least: int) -> str:
    """The error for which a producer's records are not appended."""
    if acks not in (-1, 0, 1):
        return "INVALID_REQUIRED_ACKS"
    return "NOT_ENOUGH_REPLICAS" if acks == -1 and in_sync < least else NONE


def after_append(acks: int, committed: bool, in_sync: int, least: int) -> str:
    """The error of a produce response, once the records are committed or the time is up."""
    if acks != -1:
        return NONE
    if not committed:
        return "REQUEST_TIMED_OUT"
    return NONE if in_sync >= least else "NOT_ENOUGH_REPLICAS_AFTER_APPEND"


def high_watermark(
    own_end: int,
    isr: Collection[int],
    known: Mapping[int, tuple[int, int]],
    now: int,
    lag: int,
    before: int,
    isr_alone: bool,
) -> int:
    """A leader's high watermark: the lowest end of the replicas it waits for; it never decreases.

    It waits for the ISR and, unless `isr_alone` (up to 0.10.1), for replicas that were caught up
    within the lag (ms): `known` has each follower's end, -1 if unknown, and when it was caught up.
    """
    ends = [
        end
        for one, (end, seen) in known.items()
        if one in isr or (now - seen <= lag and not isr_alone)
    ]
    return max(before, min(own_end, *ends)) if ends else max(before, own_end)


def is_out_of_sync(behind: bool, caught_up: int, now: int, lag: int, must_be_behind: bool) -> bool:
    """Whether a follower was not caught up for longer than the lag (ms).

    `must_be_behind`: a follower with all records stays in the ISR, however long ago that was (2.1).
    """
    return now - caught_up > lag and (behind or not must_be_behind)


def is_under_replicated(
    isr: Collection[int], replicas: Collection[int], adding: Collection[int]
) -> bool:
    """Whether the ISR is too small; replicas that are only being added do not count (2.4)."""
    return len(isr) < len([one for one in replicas if one not in adding])


def beside_the_least(in_sync: int, least: int) -> tuple[bool, bool]:
    """Whether the ISR is smaller than `min.insync.replicas`, and whether it is just as large."""
    return in_sync < least, in_sync == least


def tells_of_isr_changes(now: int, changed: int, reported: int) -> bool:
    """Whether to report ISR changes to the controller (ms): none is recent, or no report is."""
    return changed + SETTLED_MS < now or reported + AT_LEAST_EVERY_MS < now


def is_imbalanced(not_led: int, preferred: int, percentage: int) -> bool:
    """Whether a broker does not lead too large a share of the partitions that prefer it."""
    return 100 * not_led > percentage * preferred

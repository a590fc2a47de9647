"""Error codes of answers to controllers, followers and producers (fact sheet f, g.6, g.7)."""

from __future__ import annotations

from collections.abc import Collection

from impl.core.requests import LEADER_EPOCH_DURING_DELETE, NO_LEADER_EPOCH
from impl.error_codes import NONE as NONE
from impl.releases import Release


def current_leader_epoch_error(
    current: int, asked: int | None, leads: bool, only_leader: bool, release: Release
) -> str:
    """The check of KIP-320 (2.1): first the epochs, then whether this broker leads."""
    if asked is not None and asked < current:
        return "FENCED_LEADER_EPOCH"
    if asked is not None and asked > current:
        return "UNKNOWN_LEADER_EPOCH"
    if only_leader and not leads:
        return "NOT_LEADER_OR_FOLLOWER" if release.since("2.6") else "NOT_LEADER_FOR_PARTITION"
    return NONE


def broker_epoch_error(asked: int, current: int, release: Release) -> str:
    """The error for a request to an earlier registration of the broker (2.2); older controllers
    send -1.

    A controller may know of a registration before the broker does; since 2.5.1 it is obeyed.
    """
    if not release.since("2.2") or asked in (-1, current):
        return NONE
    if asked < current:
        return "STALE_BROKER_EPOCH"
    if release.since("2.5.1"):
        return NONE
    raise EpochFromTheFuture(f"broker epoch {asked} is not known yet, the latest is {current}")


class EpochFromTheFuture(Exception):
    """``IllegalStateException`` (to 2.5.0): the broker never had the epoch that is named."""


def controller_epoch_error(asked: int, known: int) -> str:
    """A request of an older controller is refused as a whole."""
    return "STALE_CONTROLLER_EPOCH" if asked < known else NONE


def leader_and_isr_error(
    current: int, asked: int, assigned: bool, offline_directory: bool, release: Release
) -> str:
    """The error for one partition of a LeaderAndIsr: its leader epoch must exceed the known one."""
    if offline_directory and release.since("1.0"):
        return "KAFKA_STORAGE_ERROR"
    if asked <= current:
        return "STALE_CONTROLLER_EPOCH"
    return NONE if assigned else "UNKNOWN_TOPIC_OR_PARTITION"


def leader_is_known(leader: int | None, alive: Collection[int] | None) -> bool:
    """Whether a follower can follow: its leader is among the brokers of the metadata cache.

    Otherwise it gets no request, and its leader epoch stays as it was.
    """
    return leader is None or alive is None or leader in alive


def stop_replica_error(
    current: int | None, asked: int, offline_directory: bool, release: Release
) -> str:
    """The error for one partition of a StopReplica; ``current`` is None if the broker does not host
    it.

    Since 2.6 the leader epoch must be newer, or -1 (not given), or -2 (the topic goes).
    """
    if offline_directory:
        return "KAFKA_STORAGE_ERROR"
    if current is None or not release.since("2.6"):
        return NONE
    free = asked in (LEADER_EPOCH_DURING_DELETE, NO_LEADER_EPOCH)
    newer = asked > current or (asked == current and release.since("3.5"))
    return NONE if free or newer else "FENCED_LEADER_EPOCH"


def produce_error_before(acks: int, isr: int, min_isr: int) -> str:
    """The error for which nothing is appended, or NONE."""
    if acks not in (-1, 0, 1):
        return "INVALID_REQUIRED_ACKS"
    return "NOT_ENOUGH_REPLICAS" if acks == -1 and isr < min_isr else NONE


def produce_error_after(reached: bool, isr: int, min_isr: int) -> str:
    """The error after an append with acks=all, once the high watermark passed it or the time is
    over."""
    if not reached:
        return "REQUEST_TIMED_OUT"
    return NONE if isr >= min_isr else "NOT_ENOUGH_REPLICAS_AFTER_APPEND"


def java_hash(text: str) -> int:
    """``String.hashCode``: 32 bits, signed; characters are UTF-16 code units."""
    value = 0
    units = text.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return _signed(value)


def fetcher_id(topic: str, partition: int, fetchers: int) -> int:
    """The number of the fetcher to which a partition belongs, in Java's arithmetic."""
    mixed = _signed((31 * java_hash(topic) + partition) & 0xFFFFFFFF)
    return (0 if mixed == -(2**31) else abs(mixed)) % fetchers


def propagates_isr_changes(now_ms: int, last_change_ms: int, last_propagation_ms: int) -> bool:
    """ISR changes are propagated when there was none for 5 s, and after 60 s in any case (g.5)."""
    return last_change_ms + 5_000 < now_ms or last_propagation_ms + 60_000 < now_ms


def _signed(value: int) -> int:
    return value - 2**32 if value >= 2**31 else value

"""Reasons why the implementation does not play a story, of three kinds.

*Design*: no release has what the story shows, for example a simplification of the model. *Older*:
the protocol precedes the first release that the implementation has. The implementation cannot play
either. *Beyond*: a release did it, and the implementation's worlds cannot show it. That is a gap,
and is counted as one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from impl.releases import PUBLISHED
from model.versions import SWITCHES

FIRST = next(iter(PUBLISHED))


class ReasonKind(StrEnum):
    """Which kind of reason it is, as the summary says it."""

    DESIGN = "show what no release does"
    OLDER = f"show Kafka before {FIRST}"
    BEYOND = "show what the implementation's worlds do not"


@dataclass(frozen=True)
class WhyNotPlayed:
    """One reason: its kind, and a sentence."""

    kind: ReasonKind
    text: str


NO_SYSTEM = WhyNotPlayed(ReasonKind.DESIGN, "the story names no system")

NO_RELEASE: Mapping[str, str] = {
    "isr_adopted_when_written":
        "a leader takes over a smaller ISR when it is written (to 2.6), or when the controller "
        "says so (2.7)",
    "epoch_taken_with_role":
        "what may fail, making the log, comes before the leader epoch is stored "
        "(Partition.makeFollower); KAFKA-9769 was about other partitions of the request",
    "requests_loaded_whole":
        "what is left of a request is what ZooKeeper says by then (to 1.0), or all that it asked "
        "for (1.1): KAFKA-6193 was between the two (removePartitionFromReassignedPartitions)",
    "controller_epoch_kept":
        "a broker that starts begins with the epoch before the first (ReplicaManager), and takes "
        "what the first controller sends that reaches it",
    "events_dropped":
        "who resigns forgets its epoch and stops its state machines (onControllerResignation), so "
        "that a broker change after it does nothing; up to 0.10.1 what else is queued is handled "
        "by a controller of epoch 0 (KAFKA-4447)",
    "winner_reads_controller_back":
        "who finds /controller looks whose session made it (to 2.0), or whether broker id and "
        "epoch are its own (2.1)",
}  # fmt: skip
"""Switch -> what every release from 0.10.0 to 2.8 does, and would not with the switch changed."""

NOT_HAD: Mapping[str, str] = {
    "topics_have_ids":
        "the implementation's brokers know a topic by its name: ids (KIP-516, 2.8) are in "
        "ZooKeeper alone, and in no request",
}  # fmt: skip
"""Switch -> what the implementation lacks of a release that changed it."""

BEFORE_THE_FIRST = frozenset({
    "requests_fenced", "leader_epoch_checked", "isr_write_conditional", "isr_write_read_back",
    "checkpoint_complete", "leader_knows_replicas", "deletion_resumed", "znode_owner_checked",
})  # fmt: skip
"""Switches that Kafka had changed before the first release that the implementation has."""


def of_switches(apart: Mapping[str, object]) -> WhyNotPlayed:
    """Why no release of the implementation has these values of the switches."""
    for name in apart:
        if name in NO_RELEASE:
            return WhyNotPlayed(ReasonKind.DESIGN, f"{NO_RELEASE[name]} ({name})")
    for name in apart:
        if name in BEFORE_THE_FIRST:
            about, source = SWITCHES[name].about, SWITCHES[name].source
            return WhyNotPlayed(ReasonKind.OLDER, f"by then {about} ({name}; {source})")
    names = ", ".join(apart)
    return WhyNotPlayed(
        ReasonKind.BEYOND, f"the implementation is as released, without a switch for {names}"
    )

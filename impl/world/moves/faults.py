"""What goes wrong in a world of moving partitions: answers to writes of the state that are lost.

A write whose answer is lost is done. Who wrote it sends it again, is refused, and looks: a
controller takes it for another's, a leader may find that it is its own (KAFKA-1382).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from impl.world.moves import brokers
from impl.world.moves.controllers import GOES_ON, Coming, coming
from impl.world.moves.grain import electing, going_offline, reads_state, writes_state
from impl.world.moves.kinds import MovesKind, each_broker, each_two

if TYPE_CHECKING:
    from impl.world.moves.world import MovesWorld


# Answers to a controller


def _may_write(world: MovesWorld, broker: int) -> str | None:
    place = world.threads[broker].place
    if place is None or not (reads_state(place) or writes_state(place)):
        return "it is about to write the partition's state"
    if world.deposed(broker):
        return "no newer controller was elected"
    return "the state that it knows is the registered one" if world.has_news(broker) else None


def _controller_raise_is_unheard_refusal(world: MovesWorld, broker: int) -> str | None:
    refusal = _may_write(world, broker)
    if refusal is not None:
        return refusal
    thread = world.threads[broker]
    raises = electing(thread) is None and going_offline(thread) is None
    return None if raises and coming(world, broker) == GOES_ON else "the leader stays"


def _controller_move_is_unheard_refusal(world: MovesWorld, broker: int, leader: int) -> str | None:
    if not world.moves_leader(broker):
        return "the leader is to be a target"
    return _is_written(world, broker, ("elects", leader))


def _controller_removal_is_unheard_refusal(
    world: MovesWorld, broker: int, replica: int
) -> str | None:
    if replica not in world.registered_isr():
        return "it is in the registered ISR"
    return _is_written(world, broker, ("takes_offline", replica))


def _is_written(world: MovesWorld, broker: int, what: Coming) -> str | None:
    refusal = _may_write(world, broker)
    if refusal is not None:
        return refusal
    return None if coming(world, broker) == what else "that is what it is about to write"


def answer_is_lost(world: MovesWorld, broker: int, *args: int) -> None:
    """The state is written, and the connection breaks: the write is about to be sent again."""
    world.loses_answer(broker)


# Answers to a leader


def _version_refusal(world: MovesWorld, leader: int) -> str | None:
    current = world.replica(leader).zk_version == world.registered().zk_version
    return None if current else "the cached version is current"


def _leader_shrink_is_unheard_refusal(world: MovesWorld, leader: int, replica: int) -> str | None:
    refusal = brokers.leader_shrinks_isr_refusal(world, leader, replica)
    return refusal or _version_refusal(world, leader)


def leader_shrink_is_unheard(world: MovesWorld, leader: int, replica: int) -> None:
    """A smaller ISR is written, and the answer is lost."""
    world.replica(leader).loses = True
    brokers.leader_shrinks_isr(world, leader, replica)


def _leader_expand_is_unheard_refusal(world: MovesWorld, leader: int, replica: int) -> str | None:
    refusal = brokers.leader_expands_isr_refusal(world, leader, replica)
    return refusal or _version_refusal(world, leader)


def leader_expand_is_unheard(world: MovesWorld, leader: int, replica: int) -> None:
    """A larger ISR is written, and the answer is lost."""
    world.replica(leader).loses = True
    brokers.leader_expands_isr(world, leader, replica)


def _leader_reads_back_refusal(world: MovesWorld, leader: int) -> str | None:
    if world.role(leader) != "leader":
        return "the broker believes it leads"
    if not world.replica(leader).unheard:
        return "its write was not answered"
    return None if world.threads[leader].port.alive else "it has a ZooKeeper session"


def leader_reads_back(world: MovesWorld, leader: int) -> None:
    """Its write is sent again, and refused; it reads what is there."""
    world.replica(leader).reads_back()


KINDS: tuple[MovesKind, ...] = (
    MovesKind("controller_raise_is_unheard", each_broker,
              _controller_raise_is_unheard_refusal, answer_is_lost),
    MovesKind("controller_move_is_unheard", each_two,
              _controller_move_is_unheard_refusal, answer_is_lost),
    MovesKind("controller_removal_is_unheard", each_two,
              _controller_removal_is_unheard_refusal, answer_is_lost),
    MovesKind("leader_shrink_is_unheard", each_two,
              _leader_shrink_is_unheard_refusal, leader_shrink_is_unheard),
    MovesKind("leader_expand_is_unheard", each_two,
              _leader_expand_is_unheard_refusal, leader_expand_is_unheard),
    MovesKind("leader_reads_back", each_broker, _leader_reads_back_refusal, leader_reads_back),
)  # fmt: skip

"""The controller: registration by version-checked multi, elections, removal from the ISR."""

from impl.controller.context import Belief, CachedPartition, EpochRead, Reply
from impl.controller.controller import KafkaController
from impl.controller.elections import STRATEGIES, Strategy, any_live_isr_member, assignment_order

__all__ = [
    "STRATEGIES",
    "Belief",
    "CachedPartition",
    "EpochRead",
    "KafkaController",
    "Reply",
    "Strategy",
    "any_live_isr_member",
    "assignment_order",
]

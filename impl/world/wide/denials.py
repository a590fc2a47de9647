"""Steps in which ZooKeeper refuses one operation of a broker because of an ACL.

What Kafka does then depends on where it happens: an event of the controller fails, a controller
that has just been elected lets another one try, one partition of several is left as it was, an ISR
is written later. What an event would have done is lost with it, watches that it would have left
included: in the end such a broker is started again.
"""

from __future__ import annotations

import contextlib

from impl.sim.steps import Act, Candidates, StepKind, offered
from impl.world.wide import lifecycle, messages
from impl.world.wide.world import WideWorld
from impl.zookeeper.errors import ZooKeeperError

MOST = 13
"""The operation that is refused is one of the first so many."""


def _refused(name: str, candidates: Candidates, act: Act, fault: str) -> StepKind:
    """The step, with one of its operations refused, if it has so many."""

    def is_refused(world: WideWorld, broker: int) -> None:
        node = world.nodes[broker]
        world.moves += 1
        node.session.deny(world.moves % MOST)
        with contextlib.suppress(ZooKeeperError):  # a task of the scheduler fails, and comes again
            act(world, broker)
        was_refused = not node.session.losses
        node.session.losses.clear()
        node.was_denied = node.was_denied or was_refused

    return offered(name, "broker", candidates, is_refused, 0, fault)


KINDS = (
    _refused("event_is_denied", messages.with_events, messages.event_is_handled, "denials"),
    _refused(
        "isr_write_is_denied", lifecycle.with_lagging, lifecycle.leader_shrinks_isrs, "isr_denials"
    ),
    _refused(
        "isr_news_are_denied", lifecycle.with_news, lifecycle.isr_changes_are_propagated,
        "isr_denials",
    ),
)  # fmt: skip

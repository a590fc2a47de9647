"""Every step of a wide world."""

from __future__ import annotations

from functools import partial

from impl.world import simulated_cluster
from impl.world.wide import client_questions, clients, isr_requests, lifecycle, messages
from impl.world.wide.wide_world import WideWorld

WIDE_KINDS = {
    one.name: one
    for one in sorted(
        (
            *simulated_cluster.KINDS,
            *lifecycle.KINDS,
            *messages.KINDS,
            *clients.KINDS,
            *client_questions.KINDS,
            *isr_requests.KINDS,
        ),
        key=lambda kind: kind.name,
    )
}
"""By name, sorted."""

wide_world = partial(WideWorld, WIDE_KINDS)
"""A world with these steps."""

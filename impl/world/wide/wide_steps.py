"""Every step of a wide world."""

from __future__ import annotations

from functools import partial

from impl.sim.world_of_steps import by_name
from impl.world import simulated_cluster
from impl.world.wide import client_questions, clients, isr_requests, lifecycle, messages
from impl.world.wide.wide_world import WideWorld

WIDE_KINDS = by_name(
    simulated_cluster.KINDS, lifecycle.KINDS, messages.KINDS, clients.KINDS, client_questions.KINDS,
    isr_requests.KINDS,
)  # fmt: skip

wide_world = partial(WideWorld, WIDE_KINDS)
"""A world with these steps."""

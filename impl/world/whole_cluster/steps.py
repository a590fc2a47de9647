"""Every step of a simulated whole cluster."""

from __future__ import annotations

from functools import partial

from impl.sim.simulation import by_name
from impl.world import simulated_cluster
from impl.world.whole_cluster import client_questions, clients, isr_requests, lifecycle, messages
from impl.world.whole_cluster.whole_cluster import WholeCluster

WHOLE_CLUSTER_STEPS = by_name(
    simulated_cluster.KINDS, lifecycle.KINDS, messages.KINDS, clients.KINDS, client_questions.KINDS,
    isr_requests.KINDS,
)  # fmt: skip

whole_cluster = partial(WholeCluster, WHOLE_CLUSTER_STEPS)
"""A world with these steps."""

"""A whole cluster with one scheduler: topics, reassignments, deletions, in-memory disks.

The world of one partition (``impl.world``) has finer steps and a model beside it. Here the
controller, the replication rules and the logs that brokers run as processes are joined in one
process, with every message, watch, answer and fault a step that the caller chooses.
"""

from impl.world import simulated_cluster
from impl.world.wide import client_questions, clients, isr_requests, lifecycle, messages
from impl.world.wide.claims import ClusterClaimBroken, WideClaims
from impl.world.wide.runs import WIDE_PROFILES, WideRun, WideSimulator, run_wide
from impl.world.wide.wide_world import WIDE_KINDS, WideWorld

_KINDS = (
    *simulated_cluster.KINDS, *lifecycle.KINDS, *messages.KINDS, *clients.KINDS,
    *client_questions.KINDS, *isr_requests.KINDS,
)  # fmt: skip
for _kind in sorted(_KINDS, key=lambda one: one.name):
    WIDE_KINDS[_kind.name] = _kind

__all__ = [
    "WIDE_KINDS",
    "WIDE_PROFILES",
    "WideClaims",
    "ClusterClaimBroken",
    "WideRun",
    "WideSimulator",
    "WideWorld",
    "run_wide",
]
